//! NumPy and svmlight files through the program.

use std::fs;
use std::path::PathBuf;

use super::cli_run::Place;

const MODEL: &str = "use std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nw ~ ard(D)\nmu ~ Flat()\n\
                     t ~ Normal(mu + x * w, precision = 4)\ninfer evidence\n";

fn sample(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// Four rows, one without a target, as in `tests/data/write.py`.
fn place() -> Place {
    let place = Place::new();
    place
        .file("m.sbl", MODEL)
        .file("sparse.sbl", MODEL.replace("data t: real[N]", "data t: real[N] from column(\"y\")"))
        .file("d.csv", "x1,x2,x3,t\n1,0,-2.5,1.5\n0.5,3,0,-2\n0,0,1e-3,\n4,-1,0.25,1e6\n");
    for name in ["plain.npz", "packed.npz", "matrix.npy", "ones.svm", "zeros.svm", "objects.npy"] {
        place.file(name, sample(name));
    }
    place
}

#[test]
fn every_format_gives_the_same_fit() {
    let place = place();
    let fit = |args: &[&str]| {
        let ran = place.run(&[&["fit", "--format", "json"], args].concat()).exits(0);
        let json = ran.json();
        (json["objective"]["value"].as_f64().unwrap(), json["nodes"]["w"]["mean"].clone())
    };
    let csv = fit(&["m.sbl", "--data", "d.csv"]);
    for file in ["plain.npz", "packed.npz"] {
        let (objective, mean) = fit(&["m.sbl", "--data", file]);
        assert_eq!(mean, csv.1, "{file}");
        assert_eq!(objective, csv.0, "{file}");
    }
    // a column from another file, joined
    place.file("t.csv", "t\n1.5\n-2\nNA\n1e6\n").file("x.npy", sample("matrix.npy"));
    assert_eq!(fit(&["m.sbl", "--data", "x.npy", "--data", "t.csv"]), csv);
    // the third target of the svmlight file is 0: a sparse file has no missing ones
    place.file("zero.csv", place.text("d.csv").replace("1e-3,\n", "1e-3,0\n"));
    let sparse = fit(&["sparse.sbl", "--data", "ones.svm"]);
    assert_eq!(sparse, fit(&["m.sbl", "--data", "zero.csv"]));
}

#[test]
fn predictions_take_any_format() {
    let place = place();
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    let csv = place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out;
    assert_eq!(place.run(&["predict", "m.sblfit", "--data", "plain.npz"]).exits(0).out, csv);
    assert_eq!(place.run(&["predict", "m.sblfit", "--data", "ones.svm"]).exits(0).out, csv);
    let kept = place.run(&["predict", "m.sblfit", "--data", "plain.npz", "--keep", "g,x"]).exits(0).out;
    assert!(kept.starts_with("g,x.1,x.2,x.3,mean,sd,sd_mean,outside\nlow,1,0,-2.5,"), "{kept}");
    // a narrower sparse file: how wide it is only its largest index says
    place.file("narrow.svm", "0 1:1\n0 2:3\n").file("wide.svm", "0 1:1 3:0\n0 2:3\n");
    let ran = place.run(&["predict", "m.sblfit", "--data", "narrow.svm"]).exits(1);
    assert!(ran.err.contains("2 columns") && ran.err.contains('3'), "{}", ran.err);
    place.run(&["predict", "m.sblfit", "--data", "wide.svm"]).exits(0);
}

#[test]
fn what_is_wrong_is_named() {
    let place = place();
    let cut = sample("plain.npz");
    place
        .file("cut.npz", &cut[..cut.len() - 40])
        .file("named.csv", sample("matrix.npy"))
        .file("text.npy", "x,t\n1,2\n")
        .file("wide.svm", "1 1:1\n-1 900000000000:1\n");
    for (file, code, says) in [
        ("cut.npz", "E0764", "cannot unpack cut.npz: the end of the archive is missing"),
        ("named.csv", "E0763", "give it a name that ends in .npy"),
        ("text.npy", "E0771", "it does not begin as a NumPy array does"),
        ("objects.npy", "E0771", "objects.npy: found Python objects"),
        ("zeros.svm", "E0772", "zeros.svm, line 1: found index 0 in \"0:1\""),
        ("wide.svm", "E0762", "2 rows of 900000000000 columns need"),
        ("none.npz", "E0750", "cannot read none.npz: no such file"),
    ] {
        let ran = place.run(&["fit", "m.sbl", "--data", file]).exits(1);
        assert!(ran.err.contains(&format!("error[{code}]")) && ran.err.contains(says), "{}", ran.err);
    }
    // an array that is no data is told, and does not stop a model that has no use for it
    place.file("types.npz", sample("types.npz"));
    place.file("types.sbl", "data f4: real[N]\nmu ~ Flat()\nf4 ~ Normal(mu, sd = 1)\n");
    let ran = place.run(&["fit", "types.sbl", "--data", "types.npz"]).exits(0);
    assert!(ran.err.contains("warning[W0754]: types.npz: \"objects\" is Python objects"), "{}", ran.err);
}

#[test]
fn a_starter_model_from_any_format() {
    let place = place();
    for (file, target) in [("plain.npz", "t"), ("ones.svm", "y")] {
        let model = place.run(&["new", "--data", file, "--target", target]).exits(0).out;
        assert!(model.contains("data x: real[N, D1]"), "{model}");
        place.file("new.sbl", &model);
        place.run(&["check", "new.sbl", "--data", file]).exits(0);
    }
}

/// With the feature `arrow` predictions go out and come back; without, it is said how to get it.
#[test]
fn parquet_and_arrow() {
    let place = place();
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    place.file("table.parquet", sample("table.parquet")).file("table.arrow", sample("table.arrow"));
    for format in ["parquet", "arrow"] {
        let (table, out) = (format!("table.{format}"), format!("out.{format}"));
        let args = ["predict", "m.sblfit", "--data", "d.csv", "-o", &out, "--format", format];
        if cfg!(feature = "arrow") {
            let csv = place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out;
            assert_eq!(place.run(&["predict", "m.sblfit", "--data", &table]).exits(0).out, csv);
            place.run(&args).exits(0);
            let args = ["predict", "m.sblfit", "--data", "d.csv", "--data", &out, "--keep", "mean"];
            let clash = place.run(&args).exits(1);
            assert!(clash.err.contains("E0767"), "{}", clash.err);
            let back = place.run(&["new", "--data", &out, "--target", "mean"]).exits(0).out;
            assert!(back.contains("4 rows, target mean"), "{back}");
        } else {
            for (ran, what) in [
                (
                    place.run(&args),
                    format!("cannot write {}", ["Arrow", "Parquet"][usize::from(format == "parquet")]),
                ),
                (place.run(&["fit", "m.sbl", "--data", &table]), format!("cannot read {table}")),
            ] {
                let ran = ran.exits(1);
                let says = format!("error[E0773]: {what}: this sbl was built without Parquet and Arrow");
                assert!(
                    ran.err.contains(&says) && ran.err.contains("cargo install sbl --features arrow"),
                    "{}",
                    ran.err
                );
            }
            assert!(!place.names().contains(&out));
        }
    }
}
