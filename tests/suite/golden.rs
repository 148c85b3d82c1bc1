//! Reader of golden files (schema sbl-golden/1): inputs, and expectations with their tolerances.

use std::path::Path;

use nalgebra::DMatrix;
use serde_json::Value;

/// A golden file.
pub struct Golden {
    pub json: Value,
    failures: Vec<String>,
    checked: Vec<String>,
}

impl Golden {
    pub fn read(name: &str) -> Golden {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        Golden { json: serde_json::from_str(&text).unwrap(), failures: Vec::new(), checked: Vec::new() }
    }

    pub fn input(&self, name: &str) -> &Value {
        &self.json["inputs"][name]
    }

    pub fn vector(&self, name: &str) -> Vec<f64> {
        numbers(self.input(name))
    }

    pub fn number(&self, name: &str) -> f64 {
        number(self.input(name))
    }

    pub fn matrix(&self, name: &str) -> DMatrix<f64> {
        matrix(self.input(name))
    }

    /// The design matrix that the `basis` of the inputs makes of `x`.
    pub fn design(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let basis = self.input("basis");
        if basis["kind"] == "columns" {
            return x.clone();
        }
        assert_eq!(basis["kind"], "rbf");
        let centres = matrix(&basis["centres"]);
        let width = number(&basis["width"]);
        let bias = usize::from(basis["bias"].as_bool().unwrap());
        DMatrix::from_fn(x.nrows(), centres.nrows() + bias, |n, j| {
            if j < bias {
                return 1.0;
            }
            let d2: f64 = (0..x.ncols()).map(|k| (x[(n, k)] - centres[(j - bias, k)]).powi(2)).sum();
            (-d2 / (width * width)).exp()
        })
    }

    /// The expected value of that name.
    pub fn expected(&self, name: &str) -> &Value {
        &self.entry(name)["value"]
    }

    /// Whether there is an entry of that name.
    pub fn has(&self, name: &str) -> bool {
        self.json["expected"].as_array().unwrap().iter().any(|e| e["name"] == name)
    }

    fn entry(&self, name: &str) -> &Value {
        let list = self.json["expected"].as_array().unwrap();
        list.iter().find(|e| e["name"] == name).unwrap_or_else(|| panic!("no entry {name}"))
    }

    /// Compares a number, vector or matrix (row-major) with the entry of that name, by its rule.
    pub fn check(&mut self, name: &str, got: &[f64]) {
        let entry = self.entry(name).clone();
        let (rtol, atol) = (number(&entry["rtol"]), number(&entry["atol"]));
        let want = flatten(&entry["value"]);
        self.checked.push(name.to_string());
        let rule = entry["compare"].as_str().unwrap();
        if got.len() != want.len() {
            self.failures.push(format!("{name}: {} numbers, expected {}", got.len(), want.len()));
            return;
        }
        let largest = want.iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (i, (g, w)) in got.iter().zip(&want).enumerate() {
            let good = match (rule, w) {
                ("info", _) => true,
                (_, Some(w)) if g == w => true,
                (_, None) => g.is_nan() || g.is_infinite(),
                ("each", Some(w)) => (g - w).abs() <= atol + rtol * w.abs(),
                ("max", Some(w)) => (g - w).abs() <= atol + rtol * largest,
                ("exact", Some(w)) => g == w,
                ("atleast", Some(w)) => *g >= w - atol,
                ("atmost", Some(w)) => *g <= w + atol,
                (other, _) => panic!("unknown comparison {other}"),
            };
            if !good {
                self.failures.push(format!("{name}[{i}] ({rule}, rtol {rtol:e}): {g:?}, expected {w:?}"));
            }
        }
    }

    /// Compares text, or a list of texts.
    pub fn check_text(&mut self, name: &str, got: &[&str]) {
        self.checked.push(name.to_string());
        let want: Vec<String> =
            self.expected(name).as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect();
        if want != got {
            self.failures.push(format!("{name}: {got:?}, expected {want:?}"));
        }
    }

    /// Fails with all that differed, or if an entry was not looked at.
    pub fn finish(self, skipped: &[&str]) {
        let mut failures = self.failures;
        for e in self.json["expected"].as_array().unwrap() {
            let name = e["name"].as_str().unwrap();
            if !self.checked.iter().any(|c| c == name) && !skipped.contains(&name) && e["compare"] != "info" {
                failures.push(format!("{name}: not checked"));
            }
        }
        assert!(failures.is_empty(), "{}:\n{}", self.json["id"], failures.join("\n"));
    }
}

pub fn number(v: &Value) -> f64 {
    match v {
        Value::String(s) => s.replace("Infinity", "inf").parse().unwrap(),
        v => v.as_f64().unwrap(),
    }
}

pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}

pub fn matrix(v: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = v.as_array().unwrap().iter().map(numbers).collect();
    DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn flatten(v: &Value) -> Vec<Option<f64>> {
    match v {
        Value::Array(list) => list.iter().flat_map(flatten).collect(),
        Value::Object(map) => map.values().flat_map(flatten).collect(),
        Value::Null => vec![None],
        v => vec![Some(number(v))],
    }
}
