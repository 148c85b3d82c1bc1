//! What a fit says of its numbers: each code with the program and data that raise it.

use sbl::{Data, Fit, Model, Options};

fn xt(x: &[f64], t: &[f64]) -> Data {
    Data::new().vector("x", x).unwrap().vector("t", t).unwrap()
}

fn line(n: usize) -> Data {
    let x: Vec<f64> = (0..n).map(|i| i as f64 / 10.0).collect();
    let t: Vec<f64> = (0..n).map(|i| 2.0 * x[i] + (37.0 * (i * i) as f64).sin()).collect();
    xt(&x, &t)
}

const SLOPE: &str = "data x: real[N]\ndata t: real[N]\nalpha ~ Gamma(0, 0)\nw ~ Normal(0, precision = alpha)\n\
                     tau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";

fn fit(source: &str, data: &Data) -> Fit {
    Model::compile(source).unwrap().fit(data, &Options::default()).unwrap()
}

fn codes(fit: &Fit) -> Vec<String> {
    fit.result().warnings.iter().map(|w| w["code"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn warns(source: &str, data: &Data, code: &str) -> Fit {
    let fit = fit(source, data);
    assert!(codes(&fit).iter().any(|c| c == code), "{code} is not in {:?}", codes(&fit));
    fit
}

#[track_caller]
fn fails(result: Result<impl Sized, sbl::Error>, code: &str) {
    let error = result.map(|_| ()).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, code, "{error}");
    assert!(error.diagnostics()[0].help.is_some(), "{error}");
}

#[test]
fn failures() {
    let collinear = "data x: real[N]\ndata t: real[N]\nlet ones = x ./ x\nmu ~ Flat()\nb ~ Flat()\n\
                     t ~ Normal(mu + b .* ones, precision = 1)\n";
    let data = xt(&[1.0, 2.0, 3.0], &[1.0, 2.0, 2.5]);
    fails(Model::compile(collinear).unwrap().fit(&data, &Options::default()), "E0802");
    // the message names the node beside the level, and points at it
    let empty = Model::compile(
        "data z: real[N]\ndata c: category[N]\ndata y: bool[N]\nb ~ Flat() [levels(c)]\ny ~ Bernoulli(logit = b[c] .* z)\n",
    )
    .unwrap();
    let rows = Data::new().vector("z", &[1.0, 2.0, 0.0, 0.0, 1.0, 2.0]).unwrap();
    let rows = rows.words("c", &["p", "p", "q", "q", "p", "p"]).unwrap();
    let rows = rows.vector("y", &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0]).unwrap();
    let error = empty.fit(&rows, &Options::default()).map(|_| ()).unwrap_err();
    let told = &error.diagnostics()[0];
    assert!(told.code == "E0802" && told.message.ends_with("by the data: `b` at q"), "{error}");
    let span = told.primary.as_ref().unwrap().span;
    assert_eq!(error.sources().slice(span), "b");
    let density = format!("{SLOPE}infer evidence(hyper_scale = density)\n");
    let density =
        density.replace("Gamma(0, 0)", "Gamma(shape, 0)").replace("data x", "data shape: positive\ndata x");
    let shaped = line(20).scalar("shape", 0.25).unwrap();
    fails(Model::compile(&density).unwrap().fit(&shaped, &Options::default()), "E0805");
    let small = Model::compile(SLOPE).unwrap().fit(&line(20), &Options::default().max_memory(64));
    let code = small.map(|_| ()).unwrap_err().diagnostics()[0].code;
    // whichever estimate comes first: an expression, or the fit
    assert!(["E0804", "E0718"].contains(&code), "{code}");
}

#[test]
fn findings() {
    warns(SLOPE, &xt(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0]), "W0802");
    warns(SLOPE, &xt(&[1.0, 2.0, 3.0, 4.0], &[0.3, -0.4, 0.4, -0.25]), "W0806");
    let stopped = warns(&format!("{SLOPE}infer evidence(max_iter = 1)\n"), &line(30), "W0808");
    assert!(!stopped.converged());
    assert_eq!(stopped.result().report.stop, "max_iter");
    let pinned = "data a: real[N]\ndata b: real[N]\ndata t: real[N]\nw ~ Normal(0, precision = 1e-30) [2]\n\
                  t ~ Normal([a, b] * w, precision = 1)\n";
    let data = Data::new().vector("a", &[1.0, 2.0, 3.0]).unwrap();
    let data = data.vector("b", &[1.0, 2.0, 3.0]).unwrap().vector("t", &[1.0, 2.0, 2.0]).unwrap();
    warns(pinned, &data, "W0810");
    // far from 0 beside an intercept: 10³ deviations cost no digit that is seen, 10⁸ all of them
    let far = "data x: real[N]\ndata t: real[N]\nmu ~ Flat()\nb ~ Normal(0, precision = 1)\nt ~ Normal(mu + b * x, precision = 1)\n";
    let at = |shift: f64| {
        let x: Vec<f64> = (0..20).map(|i| shift + f64::from(i) / 8.0).collect();
        xt(&x, &(0..20).map(|i| f64::from(i * i % 7)).collect::<Vec<_>>())
    };
    warns(far, &at(2f64.powi(30)), "W0816");
    assert!(!codes(&fit(far, &at(1024.0))).iter().any(|c| c == "W0816"));
}

#[test]
fn using_a_fit() {
    let fit = fit(SLOPE, &line(30));
    fails(fit.node("beta"), "E0815");
    let other = fit.predict(&Data::new().vector("z", &[1.0]).unwrap()).unwrap_err();
    let found = &other.diagnostics()[0];
    assert!(
        found.code == "E0702" && found.help.as_ref().unwrap().ends_with("trained on, by name: `x`"),
        "{other}"
    );
    fails(fit.score(&xt(&[1.0, 2.0], &[f64::NAN, f64::NAN])), "E0817");
    fails(Model::compile(SLOPE).unwrap().sample(&line(30), 2, 1), "E0818");
    let scores = fit.score(&line(30)).unwrap();
    assert!(scores.training_rows && scores.warnings.iter().any(|w| w["code"] == "W0811"));
    assert!(!fit.score(&line(29)).unwrap().training_rows);
    let two = "data x: real[N]\ndata z: real[M]\ndata t: real[N]\ndata u: real[M]\nw ~ Flat()\n\
               t ~ Normal(x .* w, precision = 1)\nu ~ Normal(z .* w, precision = 1)\n";
    let data = |z: &[f64]| xt(&[1.0, 2.0], &[1.0, 2.0]).vector("z", z).unwrap().vector("u", z).unwrap();
    let fit = Model::compile(two).unwrap().fit(&data(&[1.0, 2.0, 3.0]), &Options::default()).unwrap();
    assert_eq!(fit.predict(&data(&[1.0, 2.0])).unwrap().nodes.len(), 2);
    fails(fit.predict(&data(&[1.0, 2.0, 3.0])), "E0816");
}

/// E0814: a file whose model this version compiles to something else.
#[test]
fn fits_of_another_compiler_are_refused() {
    use sha2::Digest;
    let bytes = fit(SLOPE, &line(30)).to_bytes().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let body = text.splitn(4, '\n').nth(3).unwrap();
    let mut state: serde_json::Value = serde_json::from_str(body).unwrap();
    state["fingerprint"] = "0".into();
    let body = state.to_string();
    let sum: String = sha2::Sha256::digest(body.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
    let other = format!("sblfit 1\nsha256 {sum}\nbytes {}\n{body}", body.len());
    fails(Fit::from_bytes(other.as_bytes(), "old.sblfit"), "E0814");
    fails(Fit::from_bytes(&other.as_bytes()[..200], "old.sblfit"), "E0811");
    fails(Fit::from_bytes(b"x,t\n1,2\n", "d.csv"), "E0812");
    fails(Fit::from_bytes(b"sblfit 9\nsha256 x\nbytes 0\n", "d.csv"), "E0813");
}

fn xy(x: &[f64], y: &[f64]) -> Data {
    Data::new().vector("x", x).unwrap().vector("y", y).unwrap()
}

#[test]
fn separation_and_what_cutpoints_take_over() {
    let binary = "data x: real[N]\ndata y: bool[N]\nb ~ PRIOR\ny ~ Bernoulli(logit = x * b)\n";
    let split = xy(&[-2.0, -1.0, -0.5, 1.0, 1.5, 2.0], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let flat = Model::compile(&binary.replace("PRIOR", "Flat()")).unwrap();
    fails(flat.fit(&split, &Options::default()), "E0806");
    let weak = warns(&binary.replace("PRIOR", "Normal(0, precision = 0.01)"), &split, "W0812");
    assert!(weak.node("b").unwrap().mean()[0].is_finite());

    let ordinal = "data x: real[N]\ndata y: ordered[N]\nw ~ Normal(0, precision = 1) [2]\n\
                   param cut: increasing[levels(y) - 1]\nparam s: positive = 2\n\
                   y ~ Ordinal(probit = [1, x] * w, cutpoints = cut, sd = s)\n";
    let data = xy(&[-2.0, -1.0, -0.5, 0.3, 1.0, 1.5, 2.0, 2.5], &[1.0, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0]);
    warns(ordinal, &data, "W0813");
    let free = ordinal.replace(
        "w ~ Normal(0, precision = 1) [2]",
        "alpha ~ Gamma(0, 0)\nw ~ Normal(0, precision = alpha) [2]",
    );
    let held = warns(&free, &data, "W0814");
    assert_eq!(held.to_json()["nodes"]["s"]["held"], true);
    assert_eq!(held.to_json()["nodes"]["s"]["value"], 2.0);
}
