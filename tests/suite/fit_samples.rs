//! Fit files of every version of the format, one a plan and family, which must load and predict what they
//! predicted when they were written.
//!
//! `WRITE_FITS=fits cargo test --test suite fit_samples` writes those of the present version. Do that only when
//! a new version is made: what is there is what users have. `WRITE_FITS=predictions` writes what all of them
//! predict now: for a change that is known to predict better.

use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use sbl::session::file::VERSION;
use sbl::{Data, Fit, Model, Options};
use serde_json::{Value, json};

const KERNEL: &str =
    "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\nlet phi = [1, rbf(x, width = 1.5)]\n";

/// Name, and what is below the design of a kernel; a program of its own if it says `use`.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "evidence_effects",
        "use std.priors.ard\ndata z: real[N, D] from columns(\"x\", \"z\")\ndata g: category[N]\ndata r: real[N]\n\
         let s = standardize(z)\nmu ~ Flat()\nw ~ ard(D)\nlambda ~ Gamma(0, 0)\n\
         u ~ Normal(0, precision = lambda) [levels(g)]\n\
         tau ~ Gamma(0, 0)\nr ~ Normal(mu + s * w + u[g], precision = tau)\ninfer evidence\n",
    ),
    (
        "evidence_normal",
        "data t: real[N]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer evidence\n",
    ),
    (
        "evidence_width",
        "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\nparam width: positive = 1\n\
         let phi = rbf(x, width = width)\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
         t ~ Normal(phi * w, precision = tau)\ninfer evidence\n",
    ),
    (
        "laplace_logit",
        "data yes: category{no, yes}[N]\nw ~ ard(cols(phi))\nyes ~ Bernoulli(logit = phi * w)\ninfer laplace\n",
    ),
    (
        "laplace_probit",
        "data yes: category{no, yes}[N]\nw ~ ard(cols(phi))\nyes ~ Bernoulli(probit = phi * w)\ninfer laplace\n",
    ),
    (
        "laplace_ordinal",
        "data grade: ordered[N]\nw ~ ard(cols(phi))\nparam cut: increasing[levels(grade) - 1]\n\
         grade ~ Ordinal(probit = phi * w, cutpoints = cut)\ninfer laplace\n",
    ),
    (
        "laplace_softmax",
        "data g: category[N]\nW ~ ard(cols(phi), levels(g))\ng ~ Categorical(softmax = phi * W)\ninfer laplace\n",
    ),
    ("laplace_poisson", "data n: count[N]\nw ~ ard(cols(phi))\nn ~ Poisson(log = phi * w)\ninfer laplace\n"),
    (
        "variational_normal",
        "data t: real[N]\nalpha ~ Gamma(1e-3, 1e-3) [cols(phi)]\nw ~ Normal(0, precision = alpha)\n\
         tau ~ Gamma(1e-3, 1e-3)\nt ~ Normal(phi * w, precision = tau)\ninfer variational\n",
    ),
    (
        "variational_student",
        "data t: real[N]\nalpha ~ Gamma(1e-3, 1e-3) [cols(phi)]\nw ~ Normal(0, precision = alpha)\n\
         tau ~ Gamma(1e-3, 1e-3)\nt ~ StudentT(mean = phi * w, precision = tau, dof = 4)\ninfer variational\n",
    ),
    (
        "variational_logit",
        "data yes: category{no, yes}[N]\nalpha ~ Gamma(1e-3, 1e-3) [cols(phi)]\nw ~ Normal(0, precision = alpha)\n\
         yes ~ Bernoulli(logit = phi * w)\ninfer variational\n",
    ),
    (
        "sequential_normal",
        "data t: real[N]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer sequential\n",
    ),
    (
        "sequential_logit",
        "data yes: category{no, yes}[N]\nw ~ ard(cols(phi))\nyes ~ Bernoulli(logit = phi * w)\ninfer sequential\n",
    ),
];

/// A fit file with what it predicted.
pub struct Sample {
    pub name: String,
    pub bytes: Vec<u8>,
    /// `inputs` by name, and the `predictions` at them.
    pub golden: Value,
}

impl Sample {
    /// The rows it was asked to predict.
    pub fn inputs(&self) -> Data {
        let mut data = Data::new();
        for (name, values) in self.golden["inputs"].as_object().unwrap() {
            let values = values.as_array().unwrap();
            data = match values[0].as_str() {
                Some(_) => {
                    let words: Vec<&str> = values.iter().map(|v| v.as_str().unwrap()).collect();
                    data.words(name, &words).unwrap()
                }
                None => {
                    let numbers: Vec<f64> = values.iter().map(|v| v.as_f64().unwrap()).collect();
                    data.vector(name, &numbers).unwrap()
                }
            };
        }
        data
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fits")
}

/// The samples of one version, by name; written first, if asked to.
pub fn samples(version: u32) -> Vec<Sample> {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| match std::env::var("WRITE_FITS").as_deref() {
        Ok("fits") => write(),
        Ok("predictions") => {
            (1..=VERSION).for_each(|v| read(v).into_iter().for_each(|s| write_predictions(v, s)))
        }
        _ => {}
    });
    read(version)
}

fn read(version: u32) -> Vec<Sample> {
    let folder = folder().join(version.to_string());
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|e| e.unwrap().file_name().to_str()?.strip_suffix(".sblfit").map(str::to_owned))
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| Sample {
            bytes: fs::read(folder.join(format!("{name}.sblfit"))).unwrap(),
            golden: serde_json::from_slice(&fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap(),
            name,
        })
        .collect()
}

/// Training rows: a bump, its sign, its size in steps; groups, and what depends on them.
fn training() -> Data {
    let noise = |i: usize| (i * 37 % 17) as f64 / 17.0 - 0.5;
    let x: Vec<f64> = (0..18).map(|i| i as f64 / 3.0 - 3.0).collect();
    let z: Vec<f64> = (0..18).map(|i| (i * 7 % 5) as f64).collect();
    let bump = |i: usize| 2.0 * (-x[i] * x[i] / 2.0).exp() - 0.8 + 0.2 * noise(i);
    let all = |f: &dyn Fn(usize) -> f64| (0..18).map(f).collect::<Vec<f64>>();
    let yes: Vec<&str> = (0..18).map(|i| if bump(i) + noise(i) > 0.0 { "yes" } else { "no" }).collect();
    let group = |i: usize| (i / 6 + usize::from(i % 5 == 4)) % 3;
    let g: Vec<&str> = (0..18).map(|i| ["a", "b", "c"][group(i)]).collect();
    Data::new()
        .vector("t", &all(&bump))
        .and_then(|d| d.vector("x", &x))
        .and_then(|d| d.vector("z", &z))
        .and_then(|d| d.vector("grade", &all(&|i| (bump(i) * 1.4 + noise(i) + 2.0).round().clamp(1.0, 4.0))))
        .and_then(|d| d.vector("r", &all(&|i| 0.8 * z[i] + [0.0, 2.0, -1.0][group(i)] + 0.3 * noise(i))))
        .and_then(|d| d.vector("n", &all(&|i| (2.5 * (bump(i) + 0.6).exp()).round())))
        .and_then(|d| d.words("yes", &yes))
        .and_then(|d| d.words("g", &g))
        .unwrap()
}

/// Inside, between rows, at the edge, outside.
fn new_rows(name: &str) -> Value {
    let mut inputs = json!({ "x": [-2.5, -0.1, 0.7, 3.2, 20.0] });
    if name == "evidence_effects" {
        inputs["z"] = json!([0.0, 1.5, 3.0, 4.0, -2.0]);
        inputs["g"] = json!(["a", "b", "c", "b", "unseen"]);
    }
    inputs
}

fn source(program: &str) -> String {
    if program.starts_with("use") { program.to_owned() } else { format!("{KERNEL}{program}") }
}

/// Writes the samples of the present version.
fn write() {
    let folder = folder().join(VERSION.to_string());
    fs::create_dir_all(&folder).unwrap();
    for (name, program) in PROGRAMS {
        let model = Model::compile(&source(program)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let fit = model.fit(&training(), &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(fit.converged(), "{name}");
        let bytes = fit.to_bytes().unwrap();
        fs::write(folder.join(format!("{name}.sblfit")), &bytes).unwrap();
        let sample = Sample { name: (*name).to_owned(), bytes, golden: json!({ "inputs": new_rows(name) }) };
        write_predictions(VERSION, sample);
    }
}

/// Writes what a sample predicts.
fn write_predictions(version: u32, mut sample: Sample) {
    let fit = Fit::from_bytes(&sample.bytes, &sample.name).unwrap();
    sample.golden["predictions"] = fit.predict(&sample.inputs()).unwrap().to_json();
    let golden = serde_json::to_string_pretty(&sample.golden).unwrap();
    fs::write(folder().join(format!("{version}/{}.json", sample.name)), golden + "\n").unwrap();
}

fn assert_close(name: &str, found: &Value, expected: &Value) {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{name}: found {a:e}, expected {b:e}");
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{name}");
            a.iter().zip(b).for_each(|(a, b)| assert_close(name, a, b));
        }
        (a, b) => assert_eq!(a, b, "{name}"),
    }
}

#[test]
fn fits_of_every_version_predict_what_they_predicted() {
    for version in 1..=VERSION {
        let samples = samples(version);
        assert!(samples.len() >= 13, "version {version}");
        for sample in &samples {
            let name = format!("{}.sblfit of version {version}", sample.name);
            let fit = Fit::from_bytes(&sample.bytes, &name).unwrap_or_else(|e| panic!("{name}:\n{e}"));
            let found = fit.predict(&sample.inputs()).unwrap().to_json();
            for (column, expected) in sample.golden["predictions"].as_object().unwrap() {
                // the version of the program may be another
                if column != "sbl" {
                    assert_close(&format!("{name}, {column}"), &found[column], expected);
                }
            }
        }
    }
}

#[test]
fn samples_cover_every_plan() {
    let of = |sample: &Sample| {
        let fit = Fit::from_bytes(&sample.bytes, &sample.name).unwrap();
        let plan = fit.result().plan.clone();
        format!("{} {}", plan.method, plan.schedule)
    };
    let plans: std::collections::BTreeSet<String> = samples(VERSION).iter().map(of).collect();
    let expected =
        ["evidence batch", "evidence sequential", "laplace batch", "laplace sequential", "variational batch"];
    assert!(plans.iter().eq(expected), "{plans:?}");
}

/// A fit keeps the training rows that carry weight, and no others.
#[test]
fn only_the_relevant_rows_are_kept() {
    let rows = 400;
    let secret = |i: usize| 0.012345678 + i as f64 / 40.0 + 1e-9 * ((i * 7919) % 1000) as f64;
    let x: Vec<f64> = (0..rows).map(secret).collect();
    let t: Vec<f64> = x.iter().map(|x| x.sin() + 0.05 * (x * 991.0).sin()).collect();
    let data = Data::new().vector("x", &x).and_then(|d| d.vector("t", &t)).unwrap();
    let (_, program) = PROGRAMS.iter().find(|(n, _)| *n == "sequential_normal").unwrap();
    let fit = Model::compile(&source(program)).unwrap().fit(&data, &Options::default()).unwrap();
    let text = String::from_utf8(fit.to_bytes().unwrap()).unwrap();
    let kept = x.iter().filter(|x| text.contains(&format!("{x}"))).count();
    // the bias is no row
    let relevant = fit.posterior().mean.len();
    assert!(kept <= relevant && kept + 1 >= relevant && relevant < 40, "{kept} rows for {relevant} weights");
    let targets = t.iter().filter(|t| text.contains(&format!("{t}"))).count();
    assert_eq!(targets, 0, "targets are no part of a fit");
}
