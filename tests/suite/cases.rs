//! Small inputs on which other tools go wrong (`tests/cases/`), from a program on the command line to
//! a prediction.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const LINEAR: &str = "use std.priors.ard
data x: real[N, D]
data y: real[N]
w ~ ard(D)
tau ~ Gamma(0, 0)
y ~ Normal(x * w, precision = tau)
";

/// exp(−0.1 d²): width² = 10
const RBF: &str = "use std.kernels.rbf
use std.priors.ard
data x1: real[N]
data y: real[N]
let phi = rbf(x1, width = sqrt(10))
mu ~ Flat()
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
y ~ Normal(mu + phi * w, precision = tau)
";

struct Case {
    place: tempfile::TempDir,
    data: PathBuf,
}

impl Case {
    fn new(data: &str, program: &str) -> Case {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("m.sbl"), program).unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(format!("{data}.csv"));
        Case { place, data }
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sbl")).args(args).current_dir(self.place.path()).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let out = self.run(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }

    fn fit(&self) -> Value {
        self.json(&[
            "fit",
            "m.sbl",
            "--data",
            self.data.to_str().unwrap(),
            "-o",
            "m.sblfit",
            "--format",
            "json",
        ])
    }

    fn predict(&self, csv: &str) -> Value {
        std::fs::write(self.place.path().join("new.csv"), csv).unwrap();
        self.json(&["predict", "m.sblfit", "--data", "new.csv", "--format", "json"])
    }

    fn r2(&self) -> f64 {
        let score =
            self.json(&["score", "m.sblfit", "--data", self.data.to_str().unwrap(), "--format", "json"]);
        score["nodes"]["y"]["r2"].as_f64().unwrap()
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn labels(fit: &Value) -> Vec<String> {
    serde_json::from_value(fit["nodes"]["w"]["labels"].clone()).unwrap()
}

fn codes(fit: &Value) -> Vec<&str> {
    fit["warnings"].as_array().unwrap().iter().filter_map(|w| w["code"].as_str()).collect()
}

#[track_caller]
fn close(got: f64, want: f64, rtol: f64) {
    assert!((got - want).abs() <= rtol * want.abs(), "{got}, expected {want}");
}

/// c01: units of targets and inputs change no relevance set and scale the answers.
#[test]
fn units_do_not_matter() {
    let mut files = vec![("c01_base".to_owned(), 1.0)];
    for (unit, factor) in [("1e-08", 1e-8), ("0.0001", 1e-4), ("10000", 1e4), ("1e+08", 1e8)] {
        files.push((format!("c01_x_{unit}"), 1.0 / factor));
        files.push((format!("c01_y_{unit}"), factor));
    }
    for (file, scale) in files {
        let case = Case::new(&file, LINEAR);
        let fit = case.fit();
        assert_eq!(labels(&fit), ["x1", "x3"], "{file}");
        let mean = numbers(&fit["nodes"]["w"]["mean"]);
        close(mean[0], 0.998 * scale, 1e-3);
        close(mean[1], 1.983 * scale, 1e-3);
        close(case.r2(), 0.998, 1e-3);
    }
}

/// sinc_rbf, c11: the unit and the offset of the target change nothing; far away, the prediction says so.
#[test]
fn sinc_in_any_unit_and_with_any_offset() {
    let mut sets = Vec::new();
    for file in ["sinc_rbf", "sinc_rbf_y_1e+06", "sinc_rbf_y_1e-06", "c11_sinc_plus_1e6"] {
        let case = Case::new(file, RBF);
        let fit = case.fit();
        let kept = labels(&fit).len();
        assert!((5..=8).contains(&kept), "{file}: {kept} vectors");
        sets.push(labels(&fit));
        assert!((case.r2() - 0.945).abs() < 0.004, "{file}: R² {}", case.r2());
        assert!(!codes(&fit).contains(&"W0804"), "{file}: an intercept takes the offset up");
        let far = case.predict("x1\n0\n100\n10000\n");
        assert_eq!(numbers(&far["outside"]), [0.0, 1.0, 1.0], "{file}");
    }
    let without = RBF.replace("mu ~ Flat()\n", "").replace("mu + ", "");
    assert!(sets.iter().all(|set| *set == sets[0]), "{sets:?}");
    // without an intercept no fit of such targets is good; whatever comes out, the reason is named
    let case = Case::new("c11_sinc_plus_1e6", &without);
    let out = case.run(&["fit", "m.sbl", "--data", case.data.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("W0804"), "{out:?}");
}

/// c02, c03: nothing to explain.
#[test]
fn constant_targets_have_no_relevance_vector() {
    for (file, program) in [("c02_zero_y", LINEAR), ("c03_const_y_rbf", RBF), ("c03_two_rows", LINEAR)] {
        let case = Case::new(file, program);
        let fit = case.fit();
        assert!(labels(&fit).is_empty(), "{file}: {:?}", labels(&fit));
        assert!(fit["objective"]["value"].as_f64().unwrap().is_finite(), "{file}");
        assert!(codes(&fit).contains(&"W0801"), "{file}: {:?}", codes(&fit));
    }
    let case = Case::new("c03_const_y_rbf", RBF);
    case.fit();
    close(numbers(&case.predict("x1\n3\n")["mean"])[0], 5.0, 1e-9);
}

/// c05: the reported evidence is log N(y | 0, C) at the reported hyperparameters.
#[test]
fn the_evidence_is_what_it_says() {
    let case = Case::new("c05_evidence", LINEAR);
    let fit = case.fit();
    let text = std::fs::read_to_string(&case.data).unwrap();
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    let n = rows.len();
    let active: Vec<usize> = fit["nodes"]["w"]
        .get("active")
        .map_or((0..3).collect(), |a| serde_json::from_value(a.clone()).unwrap());
    let alpha = numbers(&fit["nodes"]["w.alpha"]["value"]);
    let tau = fit["nodes"]["tau"]["value"].as_f64().unwrap();
    // C = I/τ + Σ_i φ_i φ_iᵀ/α_i
    let c = nalgebra::DMatrix::from_fn(n, n, |a, b| {
        let noise = if a == b { 1.0 / tau } else { 0.0 };
        noise + active.iter().zip(&alpha).map(|(i, alpha)| rows[a][*i] * rows[b][*i] / alpha).sum::<f64>()
    });
    let y = nalgebra::DVector::from_fn(n, |i, _| rows[i][3]);
    let chol = c.cholesky().unwrap();
    let log_det = 2.0 * chol.l().diagonal().iter().map(|d| d.ln()).sum::<f64>();
    let dense = -0.5 * (n as f64 * std::f64::consts::TAU.ln() + log_det + y.dot(&chol.solve(&y)));
    close(fit["objective"]["value"].as_f64().unwrap(), dense, 1e-8);
}

/// c07: more columns than rows: the noise is not identified, and that is said with a way out.
#[test]
fn more_columns_than_rows_is_said() {
    let fit = Case::new("c07_p_gg_n", LINEAR).fit();
    let warning = fit["warnings"].as_array().unwrap().iter().find(|w| w["code"] == "W0803");
    let warning = warning.unwrap_or_else(|| panic!("{:?}", codes(&fit)));
    assert!(warning["help"].as_str().unwrap().contains("precision"));
    for real in ["x1", "x2", "x3"] {
        assert!(labels(&fit).iter().any(|l| l == real), "{:?}", labels(&fit));
    }
}

/// c08: the predictive deviation is smallest at the data, not at the origin.
#[test]
fn deviations_grow_away_from_the_data() {
    let program = "data x1: real[N]\ndata y: real[N]\nmu ~ Flat()\nw ~ Flat()\ntau ~ Gamma(0, 0)\n\
                   y ~ Normal(mu + w .* x1, precision = tau)\n";
    let case = Case::new("c08_offset_std", program);
    case.fit();
    let sd = numbers(&case.predict("x1\n90\n0\n180\n")["sd"]);
    for (got, want) in sd.iter().zip([1.1208, 2.6471, 2.6471]) {
        close(*got, want, 1e-3);
    }
}

/// c12: 1500 linear kernel columns of rank 2.
#[test]
fn a_linear_kernel_is_of_low_rank() {
    let program = "use std.kernels.linear\nuse std.priors.ard\ndata x: real[N, 2]\ndata y: real[N]\n\
                   let phi = [1, linear(x)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
                   y ~ Normal(phi * w, precision = tau)\n";
    let case = Case::new("c12_linear_kernel", program);
    let fit = case.fit();
    assert!(labels(&fit).len() <= 3, "{:?}", labels(&fit));
    assert!(codes(&fit).contains(&"W0805"), "{:?}", codes(&fit));
    close(case.r2(), 0.995, 2e-3);
}

/// c14: equal columns are named, and their weights sum to the effect.
#[test]
fn equal_columns_are_named() {
    let case = Case::new("c14_dup_cols", LINEAR);
    let fit = case.fit();
    assert_eq!(labels(&fit), ["x1"]);
    close(numbers(&fit["nodes"]["w"]["mean"])[0], 3.0, 0.02);
    assert_eq!(fit["report"]["merged"], serde_json::json!([{"node": "w", "kept": "x1", "dropped": ["x2"]}]));
    assert!(codes(&fit).contains(&"W0807"));
    let mut again = case.fit();
    again["seconds"] = fit["seconds"].clone();
    assert_eq!(fit, again, "the same input gives the same bits");
}

const LOGIT: &str = "use std.priors.ard
data x: real[N, D]
data y: bool[N]
w ~ ard(D)
y ~ Bernoulli(logit = x * w)
";

/// Perfect separation by one column: finite weights under the prior, and said so.
#[test]
fn c17_separable_yes_no() {
    let case = Case::new("c17_separable_yes_no", LOGIT);
    let fit = case.fit();
    assert_eq!(fit["converged"], true, "{fit:#}");
    let warnings = fit["warnings"].as_array().unwrap();
    let said = warnings.iter().find(|w| w["code"] == "W0812").unwrap();
    assert!(said["message"].as_str().unwrap().contains("perfectly separated by x1"), "{said}");
    assert!(numbers(&fit["nodes"]["w"]["mean"]).iter().all(|w| w.is_finite() && w.abs() < 1e3));
    // averaged over the weights, the probability near the margin stays away from 1
    let near = case.predict("x1,x2,x3\n0.05,0,0\n");
    let p = near["p"][0].as_f64().unwrap();
    assert!(p > 0.4 && p < 0.99, "{p}");
}

const ORDERED: &str = "data x1: real[N]
data y: ordered{LEVELS}[N]
b ~ Flat()
param cut: increasing[levels(y) - 1]
y ~ Ordinal(probit = x1 * b, cutpoints = cut)
";

/// Text levels need a stated order; with it the slope has the right sign. Maximum likelihood: 5.881.
#[test]
fn c19_string_order() {
    let unstated = Case::new("c19_string_order", &ORDERED.replace("{LEVELS}", ""));
    let ran = unstated.run(&["fit", "m.sbl", "--data", unstated.data.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(1));
    let case = Case::new("c19_string_order", &ORDERED.replace("LEVELS", "low < medium < high"));
    let fit = case.fit();
    let slope = fit["nodes"]["b"]["mean"].as_f64().unwrap();
    assert!((slope - 5.881).abs() < 0.02 * 5.881, "{slope}");
    let text = case.predict("x1\n-3\n3\n");
    assert_eq!((text["class"][0].as_str(), text["class"][1].as_str()), (Some("low"), Some("high")));
}

/// Missing targets are reported, kept in place and predicted.
#[test]
fn c21_missing_y() {
    let case = Case::new("c21_missing_y", &ORDERED.replace("LEVELS", "none < mild < severe < critical"));
    let fit = case.fit();
    assert_eq!(fit["nodes"]["y"]["missing"], serde_json::json!([3, 17, 40]));
    assert_eq!(fit["nodes"]["cut"]["value"].as_array().unwrap().len(), 3);
    let data = case.data.to_str().unwrap();
    let all = case.json(&["predict", "m.sblfit", "--data", data, "--format", "json"]);
    assert_eq!(all["class"].as_array().unwrap().len() as u64, fit["rows"].as_u64().unwrap());
}

/// Near the maximum-likelihood fit: slope 4.901, thresholds −4.852, −0.080, 4.646.
#[test]
fn c_ord_ok() {
    let case = Case::new("c_ord_ok", &ORDERED.replace("LEVELS", "none < mild < severe < critical"));
    let fit = case.fit();
    assert_eq!(fit["converged"], true, "{fit:#}");
    let slope = fit["nodes"]["b"]["mean"].as_f64().unwrap();
    assert!((slope - 4.901).abs() < 0.1 * 4.901, "{slope}");
    let cut = numbers(&fit["nodes"]["cut"]["value"]);
    assert!(cut[0] < -4.0 && cut[1].abs() < 0.3 && cut[2] > 4.0, "{cut:?}");
}
