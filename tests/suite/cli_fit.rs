//! From a data file to predictions: `new`, `fit`, `show`, `predict`, `score`, `sample`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cli_run::{Place, ran};

/// A line through y = 1 + 2 x with noise of about 0.1; z does not matter.
const DATA: &str = "\
id,x,z,t
a,0,0.3,1.08
b,1,-1.2,2.95
c,2,0.7,5.11
d,3,1.9,6.93
e,4,-0.4,9.02
f,5,-0.8,10.95
g,6,0.1,13.06
h,7,1.1,14.90
";

const MODEL: &str = "\
use std.priors.ard

model line {
    data x: real[N, D] from columns(\"x\", \"z\")
    data t: real[N]
    mu ~ Flat()
    w ~ ard(D)
    tau ~ Gamma(0, 0)
    t ~ Normal(mu + x * w, precision = tau)
}
";

fn place() -> Place {
    let place = Place::new();
    place.file("d.csv", DATA).file("m.sbl", MODEL);
    place
}

fn fitted() -> Place {
    let place = place();
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    place
}

/// The columns of a CSV without quotes.
fn columns(csv: &str) -> Vec<(String, Vec<String>)> {
    let mut lines = csv.lines().map(|l| l.split(',').map(str::to_owned).collect::<Vec<String>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<String>> = lines.collect();
    header
        .into_iter()
        .enumerate()
        .map(|(j, name)| (name, rows.iter().map(|r| r[j].clone()).collect()))
        .collect()
}

fn numbers(csv: &str, name: &str) -> Vec<f64> {
    let columns = columns(csv);
    let (_, values) =
        columns.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name} in\n{csv}"));
    values.iter().map(|v| v.parse().unwrap()).collect()
}

/// The evidence and posterior of known precisions, as in closed form: design [[1, 0], [0, 1], …].
#[test]
fn fit_reports_the_evidence_in_closed_form() {
    let place = Place::new();
    place.file("d.csv", "x1,x2,y\n1,0,1\n0,1,2\n1,1,3\n");
    place.file(
        "m.sbl",
        "data x: real[N, D]\ndata y: real[N]\nlet a = [1, 2]\nw ~ Normal(0, precision = a)\n\
         y ~ Normal(x * w, precision = 4)\n",
    );
    let fit =
        place.run(&["fit", "m.sbl", "--data", "d.csv", "--format", "json", "-o", "m.sblfit"]).exits(0).json();
    // S⁻¹ = diag(1, 2) + 4 XᵀX = [[9, 4], [4, 10]], det 74; m = 4 S Xᵀy = 4 [[10, −4], [−4, 9]] (4, 5)ᵀ / 74
    let m = [4.0 * (40.0 - 20.0) / 74.0, 4.0 * (-16.0 + 45.0) / 74.0];
    let mean: Vec<f64> = serde_json::from_value(fit["nodes"]["w"]["mean"].clone()).unwrap();
    for (got, want) in mean.iter().zip(m) {
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
    // ln N(y; 0, C): ½ ln(1·2) − ½ ln 74 + 3/2 ln 4 − 3/2 ln 2π − ½ (4 Σ (y − X m)² + m₁² + 2 m₂²)
    let residuals = [1.0 - m[0], 2.0 - m[1], 3.0 - m[0] - m[1]];
    let energy = 4.0 * residuals.iter().map(|r| r * r).sum::<f64>() + m[0] * m[0] + 2.0 * m[1] * m[1];
    let tau = std::f64::consts::TAU;
    let want = 0.5 * 2f64.ln() - 0.5 * 74f64.ln() + 1.5 * 4f64.ln() - 1.5 * tau.ln() - 0.5 * energy;
    let got = fit["objective"]["value"].as_f64().unwrap();
    assert!((got - want).abs() < 1e-10, "{got} {want}");
    // At x = (1, −1): mean m₁ − m₂, variance of the function (10 + 9 + 8) / 74, of a draw 1/4 more.
    let csv = place
        .file("new.csv", "x1,x2\n1,-1\n")
        .run(&["predict", "m.sblfit", "--data", "new.csv"])
        .exits(0)
        .out;
    assert!((numbers(&csv, "mean")[0] - (m[0] - m[1])).abs() < 1e-12);
    assert!((numbers(&csv, "sd_mean")[0] - (27f64 / 74.0).sqrt()).abs() < 1e-12);
    assert!((numbers(&csv, "sd")[0] - (27f64 / 74.0 + 0.25).sqrt()).abs() < 1e-12);
}

#[test]
fn fit_prints_a_summary() {
    let place = place();
    let ran = place.run(&["fit", "m.sbl", "--data", "d.csv"]).exits(0);
    for says in [
        "line: converged in",
        "plan evidence",
        "8 rows, log evidence",
        "mu = 1.0",
        "tau = ",
        "w: 1 of 2 kept",
        "  x ",
        "±",
        "stopped: converged",
    ] {
        assert!(ran.out.contains(says), "{says:?} is not in\n{}", ran.out);
    }
    assert!(!ran.err.contains("not kept") && !ran.err.contains('\r'), "{}", ran.err);
    let ascii = super::cli_run::ran(
        place.command(&["fit", "m.sbl", "--data", "d.csv"]).env("LANG", "C").output().unwrap(),
    );
    assert!(ascii.out.is_ascii() && ascii.out.contains("+-"), "{}", ascii.out);
    let more = place.run(&["-v", "fit", "m.sbl", "--data", "d.csv"]).exits(0).out;
    assert!(
        more.contains("w.alpha") && more.contains("by iteration") && more.contains("largest gradient"),
        "{more}"
    );
}

#[test]
fn fit_prints_json_and_nothing_else() {
    let place = place();
    let ran = place.run(&["fit", "m.sbl", "--data", "d.csv", "--format", "json"]).exits(0);
    let fit = ran.json();
    assert_eq!(fit["sbl"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&fit["model"], &fit["rows"], &fit["converged"]), (&"line".into(), &8.into(), &true.into()));
    assert_eq!(fit["plan"]["method"], "evidence");
    assert_eq!(fit["objective"]["name"], "log_evidence");
    assert_eq!(fit["nodes"]["w"]["active"], serde_json::json!([0]));
    assert_eq!(fit["nodes"]["w"]["labels"], serde_json::json!(["x"]));
    assert_eq!(fit["nodes"]["t"]["family"], "Normal");
    assert_eq!(fit["report"]["stop"], "converged");
    // The same again, bit for bit, but for the clock.
    let timeless = |mut v: Value| {
        v["seconds"] = Value::Null;
        v
    };
    let again =
        place.run(&["fit", "m.sbl", "--data", "d.csv", "--format", "json", "--threads", "1"]).exits(0).json();
    assert_eq!(timeless(fit), timeless(again));
}

#[test]
fn fit_stops_where_told_and_says_so() {
    let place = place();
    let args = ["fit", "m.sbl", "--data", "d.csv", "--infer", "evidence(max_iter = 1)", "-o", "m.sblfit"];
    let ran = place.run(&args).exits(3);
    assert!(ran.out.contains("not converged (the budget of iterations is used up)"), "{}", ran.out);
    assert!(place.run(&["show", "m.sblfit"]).exits(0).out.contains("not converged"));
    let ran =
        place.run(&["fit", "m.sbl", "--data", "d.csv", "--max-time", "1e-9", "--format", "json"]).exits(3);
    assert_eq!(ran.json()["report"]["stop"], "max_time");
}

#[test]
fn fit_takes_one_basis_function_at_a_time_on_request() {
    let place = place();
    let ran = place.run(&["fit", "m.sbl", "--data", "d.csv", "--infer", "sequential"]).exits(0);
    assert!(ran.out.contains("plan evidence, sequential schedule"), "{}", ran.out);
    let json = |infer: &str| {
        place.run(&["fit", "m.sbl", "--data", "d.csv", "--infer", infer, "--format", "json"]).exits(0).json()
    };
    let (one, all) = (json("evidence(schedule = sequential)"), json("evidence"));
    assert_eq!((&one["plan"]["schedule"], &all["plan"]["schedule"]), (&"sequential".into(), &"batch".into()));
    let objective = |fit: &Value| fit["objective"]["value"].as_f64().unwrap();
    assert!((objective(&one) - objective(&all)).abs() < 1e-9);
    let plan = place.run(&["plan", "m.sbl", "--infer", "sequential"]).exits(0).out;
    assert!(plan.contains("the move of largest gain") && plan.contains("held for 10 moves"), "{plan}");
}

#[test]
fn fit_writes_a_trace() {
    let place = place();
    let fit = place
        .run(&["fit", "m.sbl", "--data", "d.csv", "--trace", "t.csv", "--format", "json"])
        .exits(0)
        .json();
    let trace = numbers(&place.text("t.csv"), "objective");
    let reported: Vec<f64> = serde_json::from_value(fit["objective"]["trace"].clone()).unwrap();
    assert_eq!(trace.last(), reported.last());
    assert!(columns(&place.text("t.csv")).iter().map(|(n, _)| n.as_str()).eq([
        "iteration",
        "objective",
        "active",
        "phase"
    ]));
}

#[test]
fn fit_is_wrong_in_many_ways() {
    let place = place();
    place.file("bad.sbl", "data t: real[N]\nt ~ Normal(0, sd = s)\n");
    place.file("text.csv", "x,z,t\n1,2,3\n2,b,4\n3,1,inf\n");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["fit", "none.sbl", "--data", "d.csv"], 1, "E0750"),
        (&["fit", "bad.sbl", "--data", "d.csv"], 1, "bad.sbl:2"),
        (&["fit", "m.sbl", "--data", "none.csv"], 1, "E0750"),
        (&["fit", "m.sbl", "--data", "text.csv"], 1, "line 3"),
        (&["fit", "m.sbl", "--data", "text.csv"], 1, "line 4"),
        (&["fit", "m.sbl", "--data", "d.csv", "--max-memory", "50"], 1, "E0762"),
        (&["fit", "m.sbl", "--data", "d.csv", "--infer", "magic"], 1, "E0601"),
        (&["fit", "m.sbl", "--data", "d.csv", "--model", "other"], 1, "line"),
        (&["fit", "m.sbl", "--data", "d.csv", "--set", "width=1"], 1, "width"),
        (&["fit", "m.sbl", "--data", "d.csv", "-o", "none/m.sblfit"], 4, "cannot write none/m.sblfit"),
        (&["fit", "m.sbl", "--data", "d.csv", "--trace", "none/t.csv"], 4, "cannot write none/t.csv"),
    ];
    for (args, code, says) in cases {
        let plain = place.run(args);
        assert_eq!(plain.code, *code, "{args:?}: {plain:?}");
        assert!(plain.err.contains(says), "{args:?}: {says:?} is not in\n{}", plain.err);
        let json = place.run(&[*args, &["--format", "json"]].concat());
        assert_eq!(json.code, *code, "{args:?}");
        let value = json.json();
        if *code == 1 {
            assert_eq!((json.err.as_str(), value.is_array()), ("", true), "{args:?}");
            assert!(value[0]["message"].is_string());
        } else {
            assert!(value["nodes"].is_object(), "the result is printed although a file could not be written");
        }
    }
}

#[test]
fn show_prints_the_fit_again() {
    let place = place();
    let first = place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    assert_eq!(place.run(&["show", "m.sblfit"]).exits(0).out, first.out);
    assert_eq!(place.run(&["show", "m.sblfit", "--format", "json"]).exits(0).json()["model"], "line");
    let whole = std::fs::read(place.path("m.sblfit")).unwrap();
    place
        .file("cut.sblfit", &whole[..whole.len() / 2])
        .file("foreign.sblfit", "hello\n")
        .file("empty.sblfit", "");
    for (name, code) in
        [("cut.sblfit", "E0811"), ("foreign.sblfit", "E0812"), ("empty.sblfit", "E0812"), ("none", "E0750")]
    {
        for command in ["show", "predict", "score"] {
            let mut args = vec![command, name];
            args.extend(if command == "show" { &[][..] } else { &["--data", "d.csv"] });
            let ran = place.run(&args).exits(1);
            assert!(ran.out.is_empty() && ran.err.contains(code), "{command} {name}: {}", ran.err);
        }
    }
}

#[test]
fn predictions_need_the_fit_only() {
    let place = fitted();
    std::fs::remove_file(place.path("m.sbl")).unwrap();
    std::fs::remove_file(place.path("d.csv")).unwrap();
    place.file("new.csv", "z,id,x\n0,u,10\n1,\"v,w\",-1\n");
    let csv = place.run(&["predict", "m.sblfit", "--data", "new.csv"]).exits(0).out;
    assert_eq!(csv.lines().next(), Some("mean,sd,sd_mean,outside"));
    let mean = numbers(&csv, "mean");
    assert!((mean[0] - 21.0).abs() < 0.3 && (mean[1] + 1.0).abs() < 0.3, "{mean:?}");
    let kept = place.run(&["predict", "m.sblfit", "--data", "new.csv", "--keep", "id,x"]).exits(0).out;
    let lines: Vec<&str> = kept.lines().collect();
    assert!(
        lines[0].starts_with("id,x,mean,")
            && lines[1].starts_with("u,10,")
            && lines[2].starts_with("\"v,w\",-1,")
    );
    let json = place
        .run(&["predict", "m.sblfit", "--data", "new.csv", "--keep", "id", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(json["id"], serde_json::json!(["u", "v,w"]));
    assert_eq!(json["mean"], serde_json::json!(mean));
    assert_eq!(json["outside"], serde_json::json!([0, 0]));
    place.run(&["predict", "m.sblfit", "--data", "new.csv", "-o", "p.csv"]).exits(0);
    assert_eq!(place.text("p.csv"), csv);
    assert_eq!(place.pipe(&["predict", "m.sblfit", "--data", "-"], place.text("new.csv")).exits(0).out, csv);
    // One row at a time gives the same.
    let one =
        place.file("one.csv", "x,z\n10,0\n").run(&["predict", "m.sblfit", "--data", "one.csv"]).exits(0).out;
    assert_eq!(one.lines().nth(1), csv.lines().nth(1));
}

#[test]
fn predict_is_wrong_in_many_ways() {
    let place = fitted();
    place.file("short.csv", "x\n1\n").file("gap.csv", "x,z\n1,\n").file("clash.csv", "x,z,mean\n1,2,3\n");
    place.file("c.json", r#"{"x": [1, 2], "z": [0, 0], "k": [1, 2, 3]}"#);
    for (args, says) in [
        (&["--data", "short.csv"][..], "`z`"),
        (&["--data", "gap.csv"], "line 2"),
        (&["--data", "none.csv"], "E0750"),
        (&["--data", "d.csv", "--keep", "ida"], "did you mean \"id\"?"),
        (&["--data", "clash.csv", "--keep", "mean"], "E0767"),
        (&["--data", "c.json", "--keep", "k"], "E0767"),
    ] {
        let ran = place.run(&[&["predict", "m.sblfit"], args].concat()).exits(1);
        assert!(ran.out.is_empty() && ran.err.contains(says), "{args:?}: {says:?} is not in\n{}", ran.err);
    }
    place.run(&["predict", "m.sblfit", "--data", "d.csv", "-o", "none/p.csv"]).exits(4);
}

#[test]
fn scores_are_what_they_say() {
    let place = fitted();
    let csv = place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out;
    let (mean, sd, t) = (numbers(&csv, "mean"), numbers(&csv, "sd"), numbers(DATA, "t"));
    let n = t.len() as f64;
    let average = |f: &dyn Fn(usize) -> f64| (0..t.len()).map(f).sum::<f64>() / n;
    let rmse = average(&|i| (t[i] - mean[i]).powi(2)).sqrt();
    let nlpd = average(&|i| {
        0.5 * (std::f64::consts::TAU * sd[i] * sd[i]).ln() + 0.5 * ((t[i] - mean[i]) / sd[i]).powi(2)
    });
    let ran = place.run(&["score", "m.sblfit", "--data", "d.csv", "--format", "json"]).exits(0);
    assert!(ran.err.contains("fitted on"), "scores on the training rows say so: {}", ran.err);
    let scores = ran.json();
    assert!((scores["nodes"]["t"]["rmse"].as_f64().unwrap() - rmse).abs() < 1e-12);
    assert!((scores["nodes"]["t"]["nlpd"].as_f64().unwrap() - nlpd).abs() < 1e-12);
    let text = place.run(&["score", "m.sblfit", "--data", "d.csv"]).exits(0).out;
    for says in ["line: 8 rows", "rmse", "mae", "r2", "nlpd", "coverage 90 %"] {
        assert!(text.contains(says), "{says:?} is not in\n{text}");
    }
    place.file("other.csv", "x,z,t\n1,0,3.1\n2,0,4.9\n");
    assert_eq!(place.run(&["score", "m.sblfit", "--data", "other.csv"]).exits(0).err, "");
    place.file("blind.csv", "x,z\n1,0\n");
    place.run(&["score", "m.sblfit", "--data", "blind.csv"]).exits(1);
}

/// Numbers drawn for `bool` data are no levels: no class, and draws are numbers.
#[test]
fn a_bool_target_of_normal_is_a_number() {
    let place = Place::new();
    place
        .file("m.sbl", "data x: real[N]\ndata t: bool[N]\nmu ~ Flat()\nt ~ Normal(mu + 0.1 * x, sd = 0.5)\n");
    place.file("d.csv", "x,t\n1,0\n2,1\n3,0\n4,1\n");
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    let csv = place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out;
    assert!(csv.starts_with("mean,sd,sd_mean,outside\n"), "{csv}");
    let csv = place.run(&["sample", "m.sblfit", "--data", "d.csv", "-n", "5"]).exits(0).out;
    assert!(numbers(&csv, "t.1").iter().all(|t| t.fract() != 0.0), "{csv}");
}

#[test]
fn a_program_that_is_no_text_is_no_table() {
    let place = Place::new();
    place.file("m.sbl", "data t: real[N]\nt ~ Normal(0, sd = 1)\n\0").file("d.csv", "t\n1\n");
    for args in [&["check", "m.sbl"][..], &["sample", "m.sbl", "--data", "d.csv"], &["plot", "m.sbl"]] {
        let ran = place.run(args).exits(1);
        assert!(ran.err.contains("E0752") && ran.err.contains("a program is plain text"), "{}", ran.err);
        assert!(!ran.err.contains("table"), "{}", ran.err);
    }
}

#[test]
fn draws_repeat_with_their_seed() {
    let place = fitted();
    let args = ["sample", "m.sblfit", "-n", "200", "--seed", "7", "--data", "d.csv"];
    let csv = place.run(&args).exits(0).out;
    assert_eq!(csv.lines().count(), 201);
    assert_eq!(place.run(&args).exits(0).out, csv);
    let mu = numbers(&csv, "mu");
    let mean = mu.iter().sum::<f64>() / 200.0;
    assert!((mean - 1.0).abs() < 0.2, "{mean}");
    assert!(columns(&csv).iter().any(|(name, _)| name == "t.8"));
    place.run(&["sample", "m.sblfit", "-n", "2", "-o", "s.csv"]).exits(0);
    assert_eq!(place.text("s.csv").lines().count(), 3);
    // The prior of a program: N(3, 0.5²).
    place.file("p.sbl", "data t: real[N]\nmu ~ Normal(3, sd = 0.5)\nt ~ Normal(mu, sd = 1)\n");
    let csv = place.run(&["sample", "p.sbl", "-n", "2000", "--data", "d.csv"]).exits(0).out;
    let mu = numbers(&csv, "mu");
    let mean = mu.iter().sum::<f64>() / 2000.0;
    // Six standard errors.
    assert!((mean - 3.0).abs() < 6.0 * 0.5 / 2000f64.sqrt(), "{mean}");
    let ran = place.run(&["sample", "m.sbl", "--data", "d.csv"]).exits(1);
    assert!(ran.err.contains("improper"), "{}", ran.err);
    assert!(place.run(&["sample", "m.sblfit", "--set", "a=1"]).exits(1).err.contains("E0768"));
    place.run(&["sample", "m.sblfit", "-n", "0"]).exits(2);
}

/// Whatever the data look like, the starter model checks against them; a real target also fits.
#[test]
fn starter_models_check_and_fit() {
    let rows = |header: &str, row: &dyn Fn(usize) -> String| -> String {
        std::iter::once(header.to_owned()).chain((0..24).map(row)).collect::<Vec<_>>().join("\n") + "\n"
    };
    let wave = |i: usize| (i as f64 * 1.7).sin();
    let cases: Vec<(&str, String, bool)> = vec![
        ("one input", rows("x,t", &|i| format!("{i},{}", wave(i))), true),
        ("no input", rows("t", &|i| format!("{}", wave(i))), true),
        (
            "words",
            rows("site,x,t", &|i| format!("{},{},{}", ["a", "b", "c"][i % 3], wave(i + 9), wave(i))),
            true,
        ),
        (
            "awkward names",
            rows("my x,data,N,w,t", &|i| format!("{i},{},{},{},{}", i % 5, i % 7, i % 3, wave(i))),
            true,
        ),
        ("quotes", rows("\"a \"\"b\"\"\",back\\slash,t", &|i| format!("{i},{},{}", i % 5, wave(i))), true),
        (
            "useless columns",
            rows("id,one,gap,x,t", &|i| {
                format!("k{i},1,{},{i},{}", if i == 3 { "NA" } else { "2" }, wave(i))
            }),
            true,
        ),
        (
            "missing targets",
            rows("x,t", &|i| {
                format!("{i},{}", if i % 6 == 0 { "NA".to_owned() } else { wave(i).to_string() })
            }),
            true,
        ),
        ("few steps", rows("x,t", &|i| format!("{i},{}", i % 4 + 1)), true),
        ("counts", rows("x,t", &|i| format!("{i},{}", i * i)), true),
        ("constant target", rows("x,t", &|i| format!("{i},5")), true),
        (
            "wide",
            rows(&format!("{},t", (0..30).map(|j| format!("v{j}")).collect::<Vec<_>>().join(",")), &|i| {
                format!(
                    "{},{}",
                    (0..30).map(|j| wave(i * 31 + j).to_string()).collect::<Vec<_>>().join(","),
                    wave(i)
                )
            }),
            true,
        ),
        ("zero and one", rows("x,t", &|i| format!("{i},{}", i % 2)), false),
        ("yes and no", rows("x,t", &|i| format!("{i},{}", ["yes", "no"][i % 2])), false),
        ("two words", rows("x,t", &|i| format!("{i},{}", ["well", "very ill"][i % 2])), false),
        ("minus one and one", rows("x,t", &|i| format!("{i},{}", ["-1", "1"][i % 2])), false),
        ("three words", rows("x,t", &|i| format!("{i},{}", ["a", "b", "c"][i % 3])), false),
        ("three words, no input", rows("t", &|i| ["a", "b", "c"][i % 3].to_owned()), false),
    ];
    for (what, data, real) in cases {
        let place = Place::new();
        place.file("my data.csv", &data);
        place.run(&["new", "--data", "my data.csv", "--target", "t", "-o", "m.sbl"]).exits(0);
        let text = place.text("m.sbl");
        let ran = place.run(&["-q", "check", "m.sbl", "--data", "my data.csv", "--format", "json"]);
        let errors: Vec<Value> =
            ran.json().as_array().unwrap().iter().filter(|d| d["severity"] == "error").cloned().collect();
        let expected = errors.iter().all(|d| !real && d["code"].as_str().unwrap().starts_with("E06"));
        assert!(expected, "{what}: {errors:#?}\n{text}");
        place.run(&["fmt", "--check", "m.sbl"]).exits(0);
        if real {
            let ran = place.run(&["fit", "m.sbl", "--data", "my data.csv", "-o", "m.sblfit"]);
            assert_eq!(ran.code, 0, "{what}: {ran:?}\n{text}");
            place.run(&["predict", "m.sblfit", "--data", "my data.csv"]).exits(0);
        }
    }
}

/// Ctrl-C stops a fit, which writes what it has.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_keeps_what_it_has() {
    let place = Place::new();
    let (rows, width) = (700, 600);
    // Uniform numbers, by a multiplicative generator.
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    let mut csv: String = (0..width).map(|j| format!("v{j},")).collect::<String>() + "t\n";
    for _ in 0..rows {
        let x: Vec<f64> = (0..width).map(|_| next()).collect();
        let t: f64 = x.iter().step_by(2).enumerate().map(|(j, x)| x * (j as f64 * 0.7).sin()).sum();
        csv.extend(x.iter().map(|x| format!("{x:.4},")));
        csv.push_str(&format!("{:.4}\n", t + 3.0 * next()));
    }
    place.file("d.csv", csv);
    place.file(
        "m.sbl",
        "use std.priors.ard\ndata x: real[N, D] from except(\"t\")\ndata t: real[N]\nw ~ ard(D)\n\
         tau ~ Gamma(0, 0)\nt ~ Normal(x * w, precision = tau)\n\
         infer evidence(updates = em, max_iter = 1000000, tol = 1e-15)\n",
    );
    // Too early, and the data are still being read: there is nothing to keep yet.
    for wait in [700, 2000, 6000] {
        let mut child = place
            .command(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit", "--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        assert!(child.try_wait().unwrap().is_none(), "the fit ended by itself; make it harder");
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let asked = Instant::now();
        let ran = ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 130, "{ran:?}");
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
        if ran.out.is_empty() || ran.json()[0]["code"] == "E0821" {
            assert_eq!(place.names(), ["d.csv", "m.sbl"]);
            continue;
        }
        assert_eq!(ran.json()["report"]["stop"], "interrupted");
        let shown = place.run(&["show", "m.sblfit"]).exits(0).out;
        assert!(shown.contains("not converged (interrupted)"), "{shown}");
        return;
    }
    panic!("the fit never began");
}
