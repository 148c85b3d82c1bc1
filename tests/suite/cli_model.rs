//! Commands on programs, run right and wrong: `check`, `fmt`, `graph`, `plan`, `emit`, `doc`.

use super::cli_run::{Place, sbl};

const MODEL: &str = "\
use std.priors.ard

model line {
    data x: real[N, D]
    data t: real[N]
    let scale = 2
    mu ~ Flat()
    w ~ ard(D)
    tau ~ Gamma(0, 0)
    t ~ Normal(mu + x * w / scale, precision = tau)
}
";

const TWO: &str = "\
model a {
    data t: real[N]
    mu ~ Flat()
    t ~ Normal(mu, sd = 1)
}

model b {
    data t: real[N]
    mu ~ Flat()
    t ~ Normal(mu, sd = 2)
}
";

const DATA: &str = "x1,x2,t\n0,1,0.1\n1,0,1.2\n2,2,1.9\n3,1,3.2\n4,0,3.9\n";

fn place() -> Place {
    let place = Place::new();
    place.file("m.sbl", MODEL).file("two.sbl", TWO).file("d.csv", DATA);
    place.file("wrong.sbl", "data t: real[N]\nt ~ Normal(mo, sd = 1)\nmu ~ Flat(\n");
    place
}

#[test]
fn check_says_what_it_found() {
    let place = place();
    let ran = place.run(&["check", "m.sbl"]).exits(0);
    assert!(ran.out.is_empty() && ran.err.contains("m.sbl: 1 model ok (line)"), "{ran:?}");
    let ran = place.run(&["check", "m.sbl", "two.sbl", "--data", "d.csv"]).exits(0);
    assert!(ran.err.contains("line: 5 rows\n"), "{}", ran.err);
    assert!(ran.err.contains("line: x is x1, x2\n"), "{}", ran.err);
    assert!(ran.err.contains("two.sbl: 2 models ok (a, b)"), "{}", ran.err);
    assert_eq!(place.run(&["-q", "check", "m.sbl", "--data", "d.csv"]).exits(0).err, "");
    assert!(place.run(&["check", "two.sbl", "--model", "b"]).exits(0).err.contains("1 model ok (b)"));
}

#[test]
fn check_shows_every_error() {
    let place = place();
    place.file("names.sbl", "data t: real[N]\nt ~ Normal(mo, sd = si)\n");
    let ran = place.run(&["check", "wrong.sbl", "names.sbl", "none.sbl", "m.sbl"]).exits(1);
    for says in
        ["wrong.sbl:3", "names.sbl:2", "mo", "si", "error[E0750]: cannot read none.sbl", "m.sbl: 1 model ok"]
    {
        assert!(ran.err.contains(says), "{says:?} is not in\n{}", ran.err);
    }
    assert_eq!(ran.out, "");
    let ran = place.run(&["check", "names.sbl", "none.sbl", "--format", "json"]).exits(1);
    assert_eq!(ran.err, "");
    let found = ran.json();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 3, "{found:#?}");
    assert_eq!(found[0]["file"], "names.sbl");
    assert_eq!(found[0]["span"]["line"], 2);
    assert_eq!(found[0]["severity"], "error");
    assert_eq!(found[2]["code"], "E0750");
    assert_eq!(place.run(&["check", "m.sbl", "--format", "json"]).exits(0).json(), serde_json::json!([]));
}

#[test]
fn check_compares_with_data() {
    let place = place();
    place.file("short.csv", "x1,x2\n1,2\n").file("words.csv", "x1,x2,t\n1,2,a\n2,3,b\n");
    let ran = place.run(&["check", "m.sbl", "--data", "short.csv"]).exits(1);
    assert!(ran.err.contains("`t`") && ran.err.contains("short.csv"), "{}", ran.err);
    let ran = place.run(&["check", "m.sbl", "--data", "words.csv"]).exits(1);
    assert!(ran.err.contains("column `t`") && ran.err.contains("line 2"), "{}", ran.err);
    assert!(place.run(&["check", "m.sbl", "--data", "none.csv"]).exits(1).err.contains("E0750"));
}

#[test]
fn fmt_rewrites_only_what_needs_it() {
    let place = place();
    let messy = "mu~Flat( )   # why\n\n\n\ndata t:real[N];t~Normal(mu,sd=1)";
    place.file("messy.sbl", messy).file("done.sbl", TWO);
    let ran = place.run(&["fmt", "--check", "messy.sbl", "done.sbl"]).exits(1);
    assert_eq!(ran.out, "messy.sbl\n");
    assert_eq!(place.text("messy.sbl"), messy);
    let ran = place.run(&["fmt", "messy.sbl", "done.sbl"]).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "formatted messy.sbl\n"));
    assert!(place.text("messy.sbl").contains("mu ~ Flat()  # why\n"), "{}", place.text("messy.sbl"));
    assert_eq!(place.text("done.sbl"), TWO);
    place.run(&["fmt", "--check", "messy.sbl"]).exits(0);
    assert_eq!(place.pipe(&["fmt", "-"], messy).exits(0).out, place.text("messy.sbl"));
    let ran = place.run(&["fmt", "wrong.sbl", "none.sbl"]).exits(1);
    assert!(ran.err.contains("wrong.sbl") && ran.err.contains("none.sbl"), "{}", ran.err);
    assert!(place.names().iter().all(|n| !n.contains("tmp")));
}

#[test]
fn graph_is_drawn_and_asked() {
    let place = place();
    for (format, mark) in [
        ("text", "plate"),
        ("dot", "digraph"),
        ("mermaid", "flowchart"),
        ("svg", "<svg"),
        ("tikz", "tikzpicture"),
        ("json", "\"nodes\""),
    ] {
        let ran = place.run(&["graph", "m.sbl", "--format", format]).exits(0);
        assert!(ran.out.contains(mark) && ran.err.is_empty(), "{format}: {ran:?}");
    }
    place.run(&["graph", "m.sbl", "--format", "svg", "-o", "m.svg"]).exits(0);
    assert!(place.text("m.svg").contains("</svg>"));
    let ran = place.run(&["graph", "m.sbl", "--blanket", "w"]).exits(0);
    assert!(ran.out.starts_with("blanket of w: ") && ran.out.contains("parents: w.alpha"), "{}", ran.out);
    let json = place.run(&["graph", "m.sbl", "--blanket", "w", "--format", "json"]).exits(0).json();
    assert_eq!(json["parents"], serde_json::json!(["w.alpha"]));
    let ran = place.run(&["graph", "m.sbl", "--dsep", "w.alpha", "t", "--given", "w"]).exits(0);
    assert!(ran.out.starts_with("w.alpha and t are independent given w\n"), "{}", ran.out);
    let ran = place
        .run(&["graph", "m.sbl", "--dsep", "w.alpha", "tau", "--given", "t", "--format", "json"])
        .exits(0);
    assert_eq!(ran.json()["separated"], false);
    let ran = place.run(&["graph", "m.sbl", "--blanket", "v"]).exits(1);
    assert!(ran.out.is_empty() && ran.err.contains("E0551"), "{}", ran.err);
    let ran = place.run(&["graph", "two.sbl"]).exits(1);
    assert!(ran.err.contains("--model"), "{}", ran.err);
    place.run(&["graph", "two.sbl", "--model", "a"]).exits(0);
}

#[test]
fn plan_says_why() {
    let place = place();
    let ran = place.run(&["plan", "m.sbl", "--data", "d.csv"]).exits(0);
    assert!(ran.out.contains("evidence") && ran.out.contains("why not"), "{}", ran.out);
    assert_eq!(place.run(&["plan", "m.sbl", "--format", "json"]).exits(0).json()["method"], "evidence");
    assert!(place.run(&["plan", "m.sbl", "--format", "latex"]).exits(0).out.contains('\\'));
    let ran = place.run(&["plan", "m.sbl", "--infer", "evidence(updates = em)"]).exits(0);
    assert!(ran.out.contains("updates = em"), "{}", ran.out);
    assert!(place.run(&["plan", "m.sbl", "--infer", "evidance"]).exits(1).err.contains("E0601"));
    assert!(place.run(&["plan", "m.sbl", "--infer", "evidence(steps = 3)"]).exits(1).err.contains("E0602"));
    let ran = place.run(&["plan", "m.sbl", "--infer", "evidence(", "--format", "json"]).exits(1);
    assert!(ran.err.is_empty() && ran.json()[0]["severity"] == "error", "{ran:?}");
    assert!(place.run(&["plan", "m.sbl", "--set", "scal=3"]).exits(1).err.contains("scale"));
    place.run(&["plan", "m.sbl", "--set", "scale=3"]).exits(0);
}

#[test]
fn plan_with_data_is_the_plan_that_a_fit_takes() {
    const KERNEL: &str = "data x: real[N]\ndata t: real[N]\nuse std.kernels.rbf\nuse std.priors.ard\n\
                          let phi = rbf(x, width = 1)\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\n";
    let rows = |n: usize| (0..n).fold("x,t\n".to_owned(), |all, i| all + &format!("{i},{}\n", i % 7));
    let place = Place::new();
    place.file("m.sbl", KERNEL).file("small.csv", rows(399)).file("large.csv", rows(400));
    let open = place.run(&["plan", "m.sbl"]).exits(0);
    assert!(open.out.starts_with("plan evidence, schedule auto, for"), "{}", open.out);
    assert!(
        open.out.contains("weights that can be pruned: below 400 the schedule is batch, which is shown here")
    );
    for (data, schedule, why) in [
        ("small.csv", "batch", "399 weights that can be pruned: below 400 the schedule is batch"),
        ("large.csv", "sequential", "400 weights that can be pruned: from 400 on the schedule is sequential"),
    ] {
        let text = place.run(&["plan", "m.sbl", "--data", data]).exits(0).out;
        assert!(text.starts_with(&format!("plan evidence, schedule {schedule}, for")), "{text}");
        assert!(text.contains(why), "{text}");
        assert_eq!(text.contains("the move of largest gain"), schedule == "sequential", "{text}");
        let json = place.run(&["plan", "m.sbl", "--data", data, "--format", "json"]).exits(0).json();
        assert_eq!((&json["schedule"], &json["why"][1]), (&schedule.into(), &why.into()));
    }
    // and that is what a fit says it did
    let fit = place.run(&[
        "fit",
        "m.sbl",
        "--data",
        "small.csv",
        "--infer",
        "auto(max_iter = 2)",
        "--format",
        "json",
    ]);
    assert_eq!(fit.json()["plan"]["schedule"], "batch");
    let fit = place.run(&[
        "fit",
        "m.sbl",
        "--data",
        "large.csv",
        "--infer",
        "auto(max_iter = 2)",
        "--format",
        "json",
    ]);
    assert_eq!(fit.json()["plan"]["schedule"], "sequential");
}

#[test]
fn emit_prints_every_form() {
    let place = place();
    for (form, mark) in [
        ("tokens", "Keyword"),
        ("ast", "model line"),
        ("typed", "latent w.alpha"),
        ("dag", "w.alpha"),
        ("plan", "evidence"),
    ] {
        let ran = place.run(&["emit", form, "m.sbl"]).exits(0);
        assert!(ran.out.contains(mark) && ran.out.ends_with('\n') && ran.err.is_empty(), "{form}: {ran:?}");
    }
    // Earlier forms are there although later stages fail.
    place.run(&["emit", "tokens", "wrong.sbl"]).exits(0);
    assert!(place.run(&["emit", "ast", "wrong.sbl"]).exits(1).err.contains("wrong.sbl"));
    assert!(place.run(&["emit", "typed", "two.sbl"]).exits(0).out.contains("model b"));
    assert_eq!(
        place.pipe(&["emit", "dag", "-"], MODEL).exits(0).out,
        place.run(&["emit", "dag", "m.sbl"]).out
    );
}

#[test]
fn imports_are_relative_to_the_importing_file() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("lib/more")).unwrap();
    place.file("m.sbl", "use \"lib/a.sbl\"\ndata t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = twice(1))\n");
    place.file("lib/a.sbl", "use \"more/../more/b.sbl\"\nfn twice(x: real) -> real = double(x)\n");
    place.file("lib/more/b.sbl", "fn double(x: real) -> real = 2 * x\n");
    place.run(&["check", "m.sbl"]).exits(0);
    place.run(&["check", "./lib/../m.sbl"]).exits(0);
    std::fs::remove_file(place.path("lib/more/b.sbl")).unwrap();
    let err = place.run(&["check", "m.sbl"]).exits(1).err;
    assert!(err.contains("lib/a.sbl:1") && err.contains("no such file"), "{err}");
    place.file("lib/more/b.sbl", "use \"../a.sbl\"\nfn double(x: real) -> real = 2 * x\n");
    let err = place.run(&["check", "m.sbl"]).exits(1).err;
    assert!(err.contains("lib/more/b.sbl"), "{err}");
}

#[test]
fn doc_has_a_page_for_every_name() {
    let list = sbl(&["doc"]).exits(0).out;
    for (name, says) in [
        ("Normal", "precision ="),
        ("rbf", "use std.kernels.rbf"),
        ("std.kernels.rbf", "use std.kernels.rbf"),
        ("ard", "use std.priors.ard"),
        ("evidence", "max_iter"),
        ("standardize", "standardize(x)"),
    ] {
        let page = sbl(&["doc", name]).exits(0).out;
        assert!(page.contains(says), "{name}: {page}");
        assert!(list.contains(&format!("  {} ", name.rsplit('.').next().unwrap())), "{name} is not listed");
    }
    assert!(sbl(&["doc", "std.priors"]).exits(0).out.contains("ridge"));
    let ran = sbl(&["doc", "Norml"]).exits(1);
    assert!(ran.err.contains("error[E0781]") && ran.err.contains("did you mean Normal?"), "{}", ran.err);
    for family in sbl::dist::FAMILIES {
        assert!(sbl(&["doc", family.name]).exits(0).out.contains(family.example.lines().next().unwrap()));
    }
    for item in sbl::check::library() {
        assert!(sbl(&["doc", &item.name]).exits(0).out.contains(&item.signature), "{}", item.name);
    }
}

/// Every example checks and draws; W0601: a correct program without a plan does too.
#[test]
fn examples_check_with_or_without_a_plan() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in ["ripley", "ordinal", "friedman", "digits", "schools", "counts", "sinc_plates", "sinc"] {
        let file = folder.join(format!("{name}.sbl"));
        let file = file.to_str().unwrap();
        let ran = sbl(&["check", file]).exits(0);
        assert!(!ran.err.contains("W0601"), "{name}: {}", ran.err);
        sbl(&["graph", file]).exits(0);
    }
    let place = place();
    place.file(
        "planless.sbl",
        "data x: real[N]\ndata k: count[N]\nw ~ Normal(0, precision = 1)\nk ~ Poisson(rate = exp(x * w))\n",
    );
    assert!(place.run(&["check", "planless.sbl"]).exits(0).err.contains("warning[W0601]"));
    place.run(&["graph", "planless.sbl"]).exits(0);
    place.file(
        "asks.sbl",
        "data t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1)\ninfer evidence(max_itr = 3)\n",
    );
    assert!(place.run(&["check", "asks.sbl"]).exits(1).err.contains("E0602"));
}
