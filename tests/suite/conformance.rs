//! Every case of `tests/conformance/` gives the expected numbers by every way in, and the ways agree
//! bit for bit.
//!
//! A case is a folder: `model.sbl`, `data.json`, `new.json` and `expected.json` with entries
//! `{path, value, rtol, atol, compare}`; `path` is a JSON pointer into the output of `sbl fit --format
//! json` (list `fit`) or `sbl predict --format json` (list `predict`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 6);
    cases
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The fit and the prediction through the library.
fn through_library(case: &Path) -> (Value, Value) {
    let source = std::fs::read_to_string(case.join("model.sbl")).unwrap();
    let model = sbl::Compiler::new().file("model.sbl").compile(&source).unwrap();
    let fit = model.fit(&data(&json(&case.join("data.json"))), &sbl::Options::default()).unwrap();
    let prediction = fit.predict(&data(&json(&case.join("new.json")))).unwrap();
    (fit.to_json(), prediction.to_json())
}

fn data(value: &Value) -> sbl::Data {
    let mut data = sbl::Data::new();
    for (name, column) in value.as_object().unwrap() {
        let items = column.as_array().unwrap();
        data = if items[0].is_array() {
            let rows: Vec<Vec<f64>> = serde_json::from_value(column.clone()).unwrap();
            data.rows(name, &rows).unwrap()
        } else {
            let numbers: Vec<f64> = serde_json::from_value(column.clone()).unwrap();
            data.vector(name, &numbers).unwrap()
        };
    }
    data
}

/// The fit and the prediction through the command line, by way of a fit file.
fn through_command_line(case: &Path) -> (Value, Value) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a.sblfit");
    let run = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_sbl")).args(args).current_dir(case).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice::<Value>(&out.stdout).unwrap()
    };
    let file = file.to_str().unwrap();
    let fit = run(&["fit", "model.sbl", "--data", "data.json", "-o", file, "--format", "json"]);
    let prediction = run(&["predict", file, "--data", "new.json", "--format", "json"]);
    (fit, prediction)
}

#[test]
fn every_way_in_gives_the_expected_numbers() {
    let mut wrong = Vec::new();
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let expected = json(&case.join("expected.json"));
        let (fit, prediction) = through_library(&case);
        for (list, got) in [("fit", &fit), ("predict", &prediction)] {
            for entry in expected[list].as_array().unwrap() {
                let path = entry["path"].as_str().unwrap();
                match got.pointer(path) {
                    Some(value) => {
                        if let Err(why) = agree(value, entry) {
                            wrong.push(format!("{name} {path}: {why}"));
                        }
                    }
                    None => wrong.push(format!("{name}: no {path}")),
                }
            }
        }
        let (mut other_fit, other_prediction) = through_command_line(&case);
        let mut fit = fit;
        // the clock, and where messages say the data came from
        for value in [&mut fit, &mut other_fit] {
            value["seconds"] = 0.into();
            value["warnings"] = Value::Null;
        }
        if fit != other_fit {
            wrong.push(format!("{name}: library and command line fit differently"));
        }
        if prediction != other_prediction {
            wrong.push(format!("{name}: library and command line predict differently"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn agree(got: &Value, entry: &Value) -> Result<(), String> {
    let numbers = |v: &Value| -> Vec<f64> {
        match v {
            Value::Array(items) => items.iter().map(|i| i.as_f64().unwrap_or(f64::NAN)).collect(),
            one => vec![one.as_f64().unwrap_or(f64::NAN)],
        }
    };
    let (got, want) = (numbers(got), numbers(&entry["value"]));
    if got.len() != want.len() {
        return Err(format!("{} values, expected {}", got.len(), want.len()));
    }
    let (rtol, atol) = (entry["rtol"].as_f64().unwrap(), entry["atol"].as_f64().unwrap());
    let largest = want.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    for (g, w) in got.iter().zip(&want) {
        let scale = if entry["compare"] == "max" { largest } else { w.abs() };
        let error = (g - w).abs();
        if error.is_nan() || error > atol + rtol * scale {
            return Err(format!("{g}, expected {w}"));
        }
    }
    Ok(())
}
