//! `sbl cv`: tables, JSON, exit statuses.

use super::cli_run::Place;

const KERNEL: &str = "\
use std.kernels.rbf
use std.priors.ard

model wave {
    let width = 2
    data x: real[N]
    data t: real[N]
    let phi = [1, rbf(x, width = width)]
    w ~ ard(cols(phi))
    tau ~ Gamma(0, 0)
    t ~ Normal(phi * w, precision = tau)
}
";

fn wave() -> Place {
    let place = Place::new();
    let mut data = String::from("x,t\n");
    for i in 0..40 {
        let x = f64::from(i) / 4.0;
        data += &format!("{x},{}\n", x.sin() + 0.1 * (f64::from(i + 1).powi(2) * 37.0).sin());
    }
    place.file("m.sbl", KERNEL).file("d.csv", data);
    place
}

#[test]
fn a_grid_is_a_table_with_the_best_marked() {
    let place = wave();
    let args = ["cv", "m.sbl", "--data", "d.csv", "--folds", "4", "--grid", "width=0.05,2"];
    let ran = place.run(&args).exits(0);
    assert!(!ran.err.contains('\r') && !ran.err.contains("failed"), "{}", ran.err);
    for says in ["wave: 4 folds of 40 rows, seed 0", "width", "nlpd", "mse", "±", "weights"] {
        assert!(ran.out.contains(says), "{says:?} is not in\n{}", ran.out);
    }
    let best: Vec<&str> = ran.out.lines().filter(|l| l.ends_with("best")).collect();
    assert!(best.len() == 1 && best[0].trim_start().starts_with("2 "), "{}", ran.out);
    let json = place.run(&[&args[..], &["--format", "json", "--threads", "1"]].concat()).exits(0).json();
    assert_eq!((json["schema"].as_u64(), json["complete"].as_bool()), (Some(1), Some(true)));
    assert_eq!(json["sbl"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["measures"], serde_json::json!(["nlpd", "mse"]));
    let settings = json["settings"].as_array().unwrap();
    assert_eq!([&settings[0]["set"]["width"], &settings[1]["set"]["width"]], [0.05, 2.0]);
    assert_eq!((settings[0]["best"].as_bool(), settings[1]["best"].as_bool()), (Some(false), Some(true)));
    assert_eq!(settings[1]["folds"].as_array().unwrap().len(), 4);
    assert!(settings[1]["error"]["mean"].as_f64().unwrap() < 0.05, "{json}");
    // another seed, another division
    let other = place.run(&[&args[..], &["--format", "json", "--seed", "1"]].concat()).exits(0).json();
    assert_ne!(other["settings"][1]["loss"], json["settings"][1]["loss"]);
}

/// A value that does not compile is named, and where it was given.
#[test]
fn a_wrong_value_of_a_grid_is_named() {
    let ran = wave().run(&["cv", "m.sbl", "--data", "d.csv", "--grid", "width=2,-1"]).exits(1);
    assert!(
        ran.err.contains("E0404") && ran.err.contains("width = -1, of the grid (`--grid`)"),
        "{}",
        ran.err
    );
}

#[test]
fn several_constants_are_all_combined_and_none_is_one_setting() {
    let place = Place::new();
    place.file("d.csv", "x,t\n0,0.1\n1,1.1\n2,1.9\n3,3.2\n4,3.9\n5,5.1\n").file(
        "m.sbl",
        "let a = 1\nlet b = 1\ndata x: real[N]\ndata t: real[N]\nw ~ Normal(0, precision = a)\n\
         t ~ Normal(x .* w, precision = b)\n",
    );
    let run = |extra: &[&str]| {
        let args = [&["cv", "m.sbl", "--data", "d.csv", "--folds", "3", "--format", "json"], extra].concat();
        place.run(&args).exits(0).json()["settings"].as_array().unwrap().clone()
    };
    let all = run(&["--grid", "a=1,2", "--grid", "b=3,4,5"]);
    let sets: Vec<String> = all.iter().map(|s| s["set"].to_string()).collect();
    assert_eq!(sets.len(), 6);
    assert_eq!(sets[1], r#"{"a":1.0,"b":4.0}"#);
    assert_eq!(run(&[]).len(), 1);
    let same = run(&["--set", "a=2", "--set", "b=5"]);
    assert_eq!(same[0]["loss"], all[5]["loss"]);
}

#[test]
fn levels_are_measured_as_levels() {
    let place = Place::new();
    let row = |i: i32| format!("{},{}\n", i - 15, if i + i % 4 > 16 { "b" } else { "a" });
    let data: String = (0..30).map(row).collect();
    place.file("d.csv", format!("x,c\n{data}")).file(
        "m.sbl",
        "data x: real[N]\ndata c: category[N]\nw ~ Normal(0, precision = 0.1)\nc ~ Bernoulli(logit = x .* w)\n",
    );
    let json = place.run(&["cv", "m.sbl", "--data", "d.csv", "--format", "json"]).exits(0).json();
    assert_eq!(json["measures"], serde_json::json!(["log_loss", "error_rate"]));
    assert!(json["settings"][0]["error"]["mean"].as_f64().unwrap() < 0.2, "{json}");
}

#[test]
fn a_fold_that_fails_is_told() {
    let place = Place::new();
    // without the last row the second slope is not determined
    place
        .file("d.csv", "x1,x2,t\n1,0,1\n2,0,2\n3,0,2.5\n4,1,4\n")
        .file("m.sbl", "data x: real[N, D]\ndata t: real[N]\nb ~ Flat() [D]\nt ~ Normal(x * b, sd = 1)\n");
    let ran = place.run(&["cv", "m.sbl", "--data", "d.csv", "--folds", "4", "-q"]).exits(3);
    assert!(ran.err.contains("failed: error[E0802]"), "{}", ran.err);
    assert!(ran.out.contains("1 of 4 folds not done") && !ran.out.contains("best"), "{}", ran.out);
    let json =
        place.run(&["cv", "m.sbl", "--data", "d.csv", "--folds", "4", "--format", "json"]).exits(3).json();
    let folds = json["settings"][0]["folds"].as_array().unwrap();
    assert_eq!(folds.iter().filter(|f| f["loss"].is_null() && f["failed"][0]["code"] == "E0802").count(), 1);
}

#[test]
fn what_is_wrong_is_said() {
    let place = wave();
    place.file("two.json", r#"{"x": [[1], [2], [3]], "t": [1, 2], "u": [1, 2, 3]}"#).file(
        "c.sbl",
        "data x: real[N, 1]\ndata t: real[M]\ndata u: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1)\n\
         u ~ Normal(mu, sd = 1)\n",
    );
    for (args, code) in [
        (&["m.sbl", "--data", "d.csv", "--folds", "1"][..], "E0830"),
        (&["m.sbl", "--data", "d.csv", "--folds", "41"], "E0830"),
        (&["c.sbl", "--data", "two.json", "--folds", "2"], "E0831"),
        (&["m.sbl", "--data", "d.csv", "--grid", "width=1", "--set", "width=2"], "E0833"),
        (&["m.sbl", "--data", "d.csv", "--grid", "width=1", "--grid", "width=2"], "E0833"),
        (&["m.sbl", "--data", "d.csv", "--grid", "depth=1"], "E0212"),
    ] {
        let ran = place.run(&[&["cv"], args].concat()).exits(1);
        assert!(ran.err.contains(code) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
}
