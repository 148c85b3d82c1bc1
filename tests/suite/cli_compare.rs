//! `sbl compare`: evidence side by side, and when it means nothing.

use super::cli_run::Place;

const TWO: &str = "\
model constant {
    data t: real[N]
    mu ~ Normal(0, precision = 1e-2)
    t ~ Normal(mu, sd = 0.3)
}

model line {
    data x: real[N]
    data t: real[N]
    mu ~ Normal(0, precision = 1e-2)
    w ~ Normal(0, precision = 1e-2)
    t ~ Normal(mu + x .* w, sd = 0.3)
}
";

fn place() -> Place {
    let place = Place::new();
    place.file("two.sbl", TWO).file("d.csv", "x,t\n0,1.1\n1,2.9\n2,5.2\n3,6.9\n4,9.1\n").file(
        "flat.sbl",
        "data x: real[N]\ndata t: real[N]\nmu ~ Flat()\nw ~ Normal(0, precision = 1e-2)\n\
         t ~ Normal(mu + x .* w, sd = 0.3)\n",
    );
    place
}

#[test]
fn programs_are_fitted_and_sorted() {
    let place = place();
    let ran = place.run(&["compare", "two.sbl", "--data", "d.csv"]).exits(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[1].contains("two.sbl: line") && lines[2].contains("two.sbl: constant"), "{}", ran.out);
    let json = place.run(&["compare", "two.sbl", "--data", "d.csv", "--format", "json"]).exits(0).json();
    assert_eq!((json["schema"].as_u64(), json["comparable"].as_bool()), (Some(1), Some(true)));
    let fits = json["fits"].as_array().unwrap();
    let value = |i: usize| fits[i]["value"].as_f64().unwrap();
    assert_eq!(fits[0]["difference"], 0.0);
    assert_eq!(fits[1]["difference"].as_f64(), Some(value(1) - value(0)));
    // fitted or read, the same
    for model in ["constant", "line"] {
        let fit = format!("{model}.sblfit");
        place.run(&["fit", "two.sbl", "--model", model, "--data", "d.csv", "-o", &fit, "-q"]).exits(0);
    }
    let read = place.run(&["compare", "constant.sblfit", "line.sblfit", "--format", "json"]).exits(0).json();
    assert_eq!(read["fits"][0]["name"], "line.sblfit");
    assert_eq!(read["fits"][1]["difference"], fits[1]["difference"]);
    // one of several models
    let one =
        place.run(&["compare", "two.sbl", "--model", "line", "--data", "d.csv", "--format", "json"]).exits(0);
    assert_eq!(one.json()["fits"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let place = place();
    place.file("fewer.csv", "x,t\n0,1.1\n1,2.9\n2,5.2\n").file("counts.csv", "x,t\n0,1\n1,2\n2,5\n");
    place
        .file("other.sbl", "data x: real[N]\nmu ~ Normal(0, precision = 1)\nx ~ Normal(mu, sd = 1)\n")
        .file("count.sbl", "data t: count[N]\nmu ~ Normal(0, precision = 1)\nt ~ Poisson(log = mu)\n");
    let fit = |program: &str, model: &str, data: &str, name: &str| {
        let mut args = vec!["fit", program, "--data", data, "-o", name, "-q"];
        if !model.is_empty() {
            args.extend(["--model", model]);
        }
        place.run(&args).exits(0);
    };
    fit("two.sbl", "line", "d.csv", "line.sblfit");
    fit("two.sbl", "line", "fewer.csv", "fewer.sblfit");
    fit("two.sbl", "line", "counts.csv", "number.sblfit");
    fit("count.sbl", "", "counts.csv", "count.sblfit");
    fit("flat.sbl", "", "d.csv", "flat.sblfit");
    fit("other.sbl", "", "d.csv", "other.sblfit");
    for (a, b, says) in [
        ("line", "fewer", "different rows"),
        ("number", "count", "a density and a probability"),
        ("number", "count", "different things"),
        ("line", "flat", "flat effects"),
        ("line", "other", "different targets"),
    ] {
        let (a, b) = (format!("{a}.sblfit"), format!("{b}.sblfit"));
        let ran = place.run(&["compare", &a, &b]).exits(0);
        assert!(ran.err.contains("W0830") && ran.err.contains(says), "{a} {b}: {}", ran.err);
        assert!(ran.out.contains('–'), "no difference is shown: {}", ran.out);
        let json = place.run(&["compare", &a, &b, "--format", "json"]).exits(0).json();
        assert_eq!(json["comparable"].as_bool(), Some(false));
    }
}

#[test]
fn programs_need_data_and_stopped_fits_are_named() {
    let place = place();
    assert!(place.run(&["compare", "two.sbl"]).exits(1).err.contains("E0832"));
    place.file(
        "slow.sbl",
        "use std.priors.ard\ndata x: real[N]\ndata t: real[N]\nlet X = [x, x .* x]\nw ~ ard(2)\ntau ~ Gamma(0, 0)\n\
         t ~ Normal(X * w, precision = tau)\ninfer evidence(max_iter = 1)\n",
    );
    let ran = place.run(&["compare", "slow.sbl", "flat.sbl", "--data", "d.csv"]).exits(3);
    assert!(ran.err.contains("W0831") && ran.out.contains("not converged"), "{}\n{}", ran.out, ran.err);
}
