//! Healed predictions against refitting with the extra column in high precision (golden O31), through
//! the command line.

use std::process::Command;

use serde_json::{Value, json};

#[test]
fn healing_equals_refitting_with_one_more_column() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/O31_healed_prediction.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let inputs = &golden["inputs"];
    let want = |name: &str| -> Vec<f64> {
        let entry = golden["expected"].as_array().unwrap().iter().find(|e| e["name"] == name).unwrap();
        serde_json::from_value(entry["value"].clone()).unwrap()
    };
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(place.path().join(name), text).unwrap();
    write(
        "m.sbl",
        "use std.kernels.rbf\ndata x: real[N, D]\ndata c: real[K, D]\ndata alpha: positive[K + 1]\ndata t: real[N]\n\
         let phi = [1, rbf(x, width = 3, centres = c)]\nw ~ Normal(0, precision = alpha) [K + 1]\n\
         t ~ Normal(phi * w, precision = 50)\n"
            .to_owned(),
    );
    let train = json!({
        "x": inputs["X"], "c": inputs["basis"]["centres"], "alpha": inputs["alpha"], "t": inputs["t"],
    });
    write("train.json", train.to_string());
    write("new.json", json!({ "x": inputs["X_star"] }).to_string());
    let run = |args: &[&str]| {
        let out =
            Command::new(env!("CARGO_BIN_EXE_sbl")).args(args).current_dir(place.path()).output().unwrap();
        (
            out.status.code(),
            String::from_utf8_lossy(&out.stdout).into_owned(),
            String::from_utf8_lossy(&out.stderr).into_owned(),
        )
    };
    let fitted = run(&["fit", "m.sbl", "--data", "train.json", "-o", "m.sblfit"]);
    assert_eq!(fitted.0, Some(0), "{fitted:?}");
    let numbers = |value: &Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
    let close = |got: &[f64], want: &[f64], rtol: f64, atol: f64| {
        assert_eq!(got.len(), want.len());
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() <= atol + rtol * w.abs(), "{got:?}, expected {want:?}");
        }
    };
    let predict = |more: &[&str]| -> Value {
        let mut args = vec!["predict", "m.sblfit", "--data", "new.json", "--format", "json"];
        args.extend(more);
        let out = run(&args);
        assert_eq!(out.0, Some(0), "{out:?}");
        serde_json::from_str(&out.1).unwrap()
    };
    let plain = predict(&[]);
    close(&numbers(&plain["mean"]), &want("mean_plain"), 1e-10, 1e-12);
    let alpha = inputs["alpha_star"].to_string();
    let healed = predict(&["--heal", &alpha, "--train", "train.json"]);
    close(&numbers(&healed["mean"]), &want("mean_healed"), 1e-9, 1e-12);
    let variance = |p: &Value| -> Vec<f64> { numbers(&p["sd_mean"]).iter().map(|s| s * s).collect() };
    close(&variance(&plain), &want("var_weights_plain"), 1e-9, 1e-14);
    close(&variance(&healed), &want("var_weights_healed"), 1e-9, 1e-13);

    // other rows, and no kernel, are refused (E0819)
    let mut other = train;
    other["t"][0] = json!(9.0);
    write("other.json", other.to_string());
    let refused = run(&["predict", "m.sblfit", "--data", "new.json", "--heal", "1", "--train", "other.json"]);
    assert!(refused.0 == Some(1) && refused.2.contains("E0819"), "{refused:?}");
}

/// What is missing is said: a sum of kernels and literal centres are no linear model.
#[test]
fn what_cannot_be_healed_says_what_is_missing() {
    let head = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\n";
    let rows = (0..12).map(f64::from);
    let (x, t): (Vec<f64>, Vec<f64>) = rows.map(|x| (x, (x / 2.0).sin() + 0.1 * (x * 7.0).cos())).unzip();
    let data = sbl::Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap();
    for (design, says) in [
        ("[rbf(x, width = 1), rbf(x, width = 4)]", "the design has several"),
        ("rbf(x, width = 3, centres = [0, 5, 10])", "centres that are training rows or `data`"),
        ("[1, x]", "the design has none"),
    ] {
        let source = format!("{head}let phi = {design}\nw ~ ard(cols(phi))\nt ~ Normal(phi * w, sd = 0.2)\n");
        let fit = sbl::Model::compile(&source).unwrap().fit(&data, &sbl::Options::default()).unwrap();
        let refused = fit.predict_healed(&data, &data, 1.0).unwrap_err();
        let first = &refused.diagnostics()[0];
        assert!(first.code == "E0819" && first.message.contains(says), "{design}: {refused}");
        assert!(!refused.to_string().contains("linear model"), "{refused}");
    }
}
