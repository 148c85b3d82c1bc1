//! Learned parameters: exact gradients against differences of the evidence, golden cases, closed forms,
//! and fits through the public interface.

use nalgebra::DMatrix;
use sbl::design::adjoint::Bars;
use sbl::plan::ir::Plan;
use sbl::runtime::adjoint::Slope;
use sbl::runtime::evidence::Budget;
use sbl::runtime::learn::slope_at_start;
use sbl::session::bind::bind_training;
use sbl::session::result::Role;
use sbl::{Data, Fit, Model, Options};

use crate::golden::Golden;
use crate::problems::Random;

/// Objective and derivatives at the start of the parameters, hyperparameters all given.
fn slope(text: &str, data: &Data, hypers: &[f64]) -> (Model, Slope, Bars) {
    let model = Model::compile(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let plan: &Plan = model.plan().unwrap_or_else(|e| panic!("{text}\n{e}"));
    let bound = bind_training(model.typed(), data).unwrap_or_else(|e| panic!("{text}\n{e:#?}")).value;
    let inputs = bound.inputs(model.typed());
    let (slope, bars) = slope_at_start(plan, inputs, &Budget::default(), hypers).unwrap();
    (model, slope, bars)
}

/// Everything that the programs below read.
struct Table {
    data: Data,
    x: DMatrix<f64>,
    z: Vec<f64>,
    t: Vec<f64>,
    u: Vec<f64>,
}

fn table(n: usize) -> Table {
    let mut r = Random(7);
    let x = r.matrix(n, 2);
    let z: Vec<f64> = (0..n).map(|_| r.normal()).collect();
    let t: Vec<f64> = (0..n)
        .map(|i| 1.5 + (x[(i, 0)] * 1.3).sin() - 0.4 * x[(i, 1)] + 0.5 * z[i] + 0.3 * r.normal())
        .collect();
    let u: Vec<f64> = (0..n).map(|i| 2.0 * t[i] + 0.2 * r.normal()).collect();
    let g: Vec<&str> = (0..n).map(|i| ["a", "b", "c"][i % 3]).collect();
    let data = Data::new()
        .matrix("x", &x)
        .unwrap()
        .vector("z", &z)
        .unwrap()
        .vector("t", &t)
        .unwrap()
        .vector("u", &u)
        .unwrap()
        .vector("k", &(0..n).map(|i| 1.0 + (i % 2) as f64).collect::<Vec<_>>())
        .unwrap()
        .vector("v", &(0..n).map(|i| 0.5 + (i % 4) as f64).collect::<Vec<_>>())
        .unwrap()
        .words("g", &g)
        .unwrap();
    Table { data, x, z, t, u }
}

fn fit(text: &str, data: &Data) -> Fit {
    let model = Model::compile(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    model.fit(data, &Options::default()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn value(fit: &Fit, name: &str) -> Vec<f64> {
    fit.node(name).unwrap().value().to_vec()
}

fn close(a: f64, b: f64, rtol: f64) {
    assert!((a - b).abs() <= rtol * (1.0 + b.abs()), "{a} is not {b}");
}

/// Each program has one parameter `p`, which starts at `START`; the hyperparameters are given.
#[test]
fn the_gradient_of_the_evidence_is_that_of_differences() {
    let programs: &[(&str, &[f64])] = &[
        // the width of a kernel; weights with a precision each
        (
            "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nparam p: positive = START\nlet phi = [1, rbf(x, width = p)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)",
            &[],
        ),
        // the mean, with an unpenalised effect beside
        (
            "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nparam p: real = START\na ~ Gamma(0, 0)\nw ~ Normal(0, precision = a) [D]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu + p * z + x * w, precision = tau)",
            &[0.7, 5.0],
        ),
        // known parts of the precisions of rows, with case weights
        (
            "data x: real[N, D]\ndata z: real[N]\ndata k: count[N]\ndata v: positive[N]\ndata t: real[N]\nparam p: real = START\na ~ Gamma(0, 0)\nw ~ Normal(0, precision = a) [D]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu + x * w, precision = tau * v .* exp(p * z)) weight k",
            &[0.7, 5.0],
        ),
        // several targets that share weights, one scaled by the parameter
        (
            "data x: real[N, D]\ndata t: real[N]\ndata u: real[N]\nparam p: positive = START\na ~ Gamma(0, 0)\nw ~ Normal(0, precision = a) [D]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nnu ~ Gamma(0, 0)\nt ~ Normal(mu + x * w, precision = tau)\nu ~ Normal(p * (mu + x * w), precision = nu)",
            &[0.7, 5.0, 2.0],
        ),
        // the prior: its mean and its known precision
        (
            "data x: real[N, D]\ndata t: real[N]\nparam p: positive = START\ntau ~ Gamma(0, 0)\nw ~ Normal(p, precision = 3 / p) [D]\nt ~ Normal(x * w, precision = tau)",
            &[4.0],
        ),
        // a hierarchy
        (
            "data g: category[N]\ndata z: real[N]\ndata t: real[N]\nparam p: positive = START\ntau ~ Gamma(0, 0)\nl ~ Gamma(0, 0)\nm ~ Normal(0, sd = 2 * p)\nv ~ Normal(p * m, precision = l * p) [levels(g)]\nt ~ Normal(v[g] + z * p, sd = p / sqrt(tau))",
            &[4.0, 1.5],
        ),
    ];
    let data = table(18).data;
    for (program, hypers) in programs {
        let start = 0.8;
        let model = Model::compile(&program.replace("START", "0.8")).unwrap();
        let hypers: Vec<f64> = match hypers.len() {
            // one for each kernel and the bias, and the noise
            0 => (0..20).map(|i| if i == 19 { 6.0 } else { 0.3 + 0.1 * f64::from(i) }).collect(),
            _ => hypers.to_vec(),
        };
        let at = |p: f64| slope(&program.replace("START", &format!("{p:?}")), &data, &hypers);
        let (_, _, bars) = at(start);
        let h = 1e-3;
        let objective = |p: f64| at(p).1.objective;
        let wanted = (8.0 * (objective(start + h) - objective(start - h))
            - (objective(start + 2.0 * h) - objective(start - 2.0 * h)))
            / (12.0 * h);
        let found = bars[&model.typed().find("p").unwrap()][0];
        assert!((found - wanted).abs() < 1e-7 * (1.0 + wanted.abs()), "{program}\n{found} {wanted}");
        assert!(wanted.abs() > 1e-3, "{program}\nsays nothing");
    }
}

fn column_names(d: usize) -> Vec<String> {
    (1..=d).map(|i| format!("x{i}")).collect()
}

fn inputs(x: &DMatrix<f64>) -> Data {
    let names = column_names(x.ncols());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Data::new().matrix_with_names("x", x, &names).unwrap()
}

#[test]
fn o26_gradient_by_input_scales() {
    let mut g = Golden::read("O26_eta_state");
    let (x, centres) = (g.matrix("X"), crate::golden::matrix(&g.input("basis")["centres"]));
    let text = "use std.kernels.rbf\ndata x: real[N, D]\ndata centres: real[M, D]\ndata alpha: positive[M + 1]\ndata t: real[N]\n\
                param eta: positive[D] = [0.7, 0.3]\nlet phi = [1, rbf(x, scale = eta, centres = centres)]\n\
                w ~ Normal(0, precision = alpha)\nt ~ Normal(phi * w, precision = 40)";
    let data = inputs(&x)
        .matrix("centres", &centres)
        .unwrap()
        .vector("alpha", &g.vector("alpha"))
        .unwrap()
        .vector("t", &g.vector("t"))
        .unwrap();
    let (model, slope, bars) = slope(text, &data, &[]);
    let eta = &bars[&model.typed().find("eta").unwrap()];
    g.check("log_evidence", &[slope.log_evidence]);
    g.check("D", slope.adjoint.design.transpose().as_slice());
    g.check("grad_eta", eta.as_slice());
    g.check("grad_log_eta", &[0.7 * eta[0], 0.3 * eta[1]]);
    g.finish(&[]);
}

#[test]
fn o33_converged_with_an_irrelevant_input() {
    let mut g = Golden::read("O33_eta_converged_irrelevant");
    let (x, centres) = (g.matrix("X"), crate::golden::matrix(&g.input("basis")["centres"]));
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata centres: real[M, D]\ndata t: real[N]\n\
                param eta: positive[D] = 0.5\nlet phi = rbf(x, scale = eta, centres = centres)\n\
                w ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)";
    let data = inputs(&x).matrix("centres", &centres).unwrap().vector("t", &g.vector("t")).unwrap();
    let fit = fit(text, &data);
    assert!(fit.converged(), "{:?}", fit.result().report);
    let eta = value(&fit, "eta");
    g.check("eta_relevant", &eta[..2]);
    g.check("eta_irrelevant_max", &eta[2..]);
    g.check("alpha", &value(&fit, "w.alpha"));
    g.check("beta", &value(&fit, "tau"));
    g.check("log_evidence", &[fit.objective()]);
    let p = fit.predict(&inputs(&g.matrix("X_star"))).unwrap();
    g.check("predictive_mean", p.mean());
    g.check("predictive_var_total", &p.sd().iter().map(|s| s * s).collect::<Vec<_>>());
    g.finish(&[]);
}

#[test]
fn a_param_in_the_mean_is_generalised_least_squares() {
    let Table { data, x, z, t, .. } = table(30);
    let text = "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nparam mu: real\nparam slope: real\n\
                a ~ Gamma(0, 0)\nw ~ Normal(0, precision = a) [D]\ntau ~ Gamma(0, 0)\n\
                t ~ Normal(mu + slope * z + x * w, precision = tau)";
    let f = fit(text, &data);
    assert!(f.converged(), "{:?}", f.result().report);
    // C = I/τ + X Xᵀ/a; b = (FᵀC⁻¹F)⁻¹FᵀC⁻¹t
    let (a, tau) = (value(&f, "a")[0], value(&f, "tau")[0]);
    let c = DMatrix::identity(30, 30) / tau + &x * x.transpose() / a;
    let inverse = c.try_inverse().unwrap();
    let design = DMatrix::from_fn(30, 2, |i, j| if j == 0 { 1.0 } else { z[i] });
    let t = nalgebra::DVector::from_vec(t);
    let information = design.transpose() * &inverse * &design;
    let b = information.try_inverse().unwrap() * design.transpose() * &inverse * t;
    close(value(&f, "mu")[0], b[0], 1e-7);
    close(value(&f, "slope")[0], b[1], 1e-7);
}

#[test]
fn units_and_offsets_of_targets_do_not_matter() {
    let Table { data, x, t, .. } = table(30);
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\n\
                param mu: real\nparam width: positive = 2\nlet phi = rbf(x, width = width)\nw ~ ard(cols(phi))\n\
                tau ~ Gamma(0, 0)\nt ~ Normal(mu + phi * w, precision = tau)";
    let base = fit(text, &data);
    for (scale, shift) in [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e4), (1e3, -1e6)] {
        let moved: Vec<f64> = t.iter().map(|t| scale * t + shift).collect();
        let other = Data::new().matrix("x", &x).unwrap().vector("t", &moved).unwrap();
        let f = fit(text, &other);
        assert!(f.converged(), "{scale} {shift}: {:?}", f.result().report);
        close(value(&f, "width")[0], value(&base, "width")[0], 1e-4);
        close((value(&f, "mu")[0] - shift) / scale, value(&base, "mu")[0], 1e-4);
        close(f.objective() + 30.0 * scale.ln(), base.objective(), 1e-6);
    }
}

#[test]
fn a_learned_width_beats_every_fixed_one_nearby() {
    let data = table(40).data;
    let head = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\n";
    let tail = "let phi = [1, rbf(x, width = s)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\n";
    let learned = fit(&format!("{head}param s: positive = 2\n{tail}"), &data);
    assert!(learned.converged(), "{:?}", learned.result().report);
    let s = value(&learned, "s")[0];
    for factor in [0.97, 0.99, 1.0, 1.01, 1.03] {
        let fixed = fit(&format!("{head}let s = {:?}\n{tail}infer evidence", s * factor), &data);
        assert!(
            fixed.objective() <= learned.objective() + 1e-6,
            "{factor}: {} {}",
            fixed.objective(),
            learned.objective()
        );
    }
}

#[test]
fn a_param_as_a_scale_has_the_closed_form() {
    let Table { data, t, .. } = table(25);
    let mean = t.iter().sum::<f64>() / 25.0;
    let squares: f64 = t.iter().map(|t| (t - mean).powi(2)).sum();
    // restricted likelihood: one degree of freedom for the mean that is integrated out
    let f = fit("data t: real[N]\nmu ~ Flat()\nparam s: positive\nt ~ Normal(mu, sd = s)", &data);
    assert!(f.converged());
    close(value(&f, "s")[0], (squares / 24.0).sqrt(), 1e-6);
    // and none if it is maximised
    let f = fit("data t: real[N]\nparam mu: real\nparam s: positive\nt ~ Normal(mu, variance = s)", &data);
    close(value(&f, "s")[0], squares / 25.0, 1e-6);
    close(value(&f, "mu")[0], mean, 1e-8);
}

#[test]
fn a_param_as_a_prior_precision_is_a_flat_hyperparameter() {
    let data = table(25).data;
    let program = |a: &str| {
        format!(
            "data x: real[N, D]\ndata t: real[N]\n{a}\nw ~ Normal(0, precision = a) [D]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu + x * w, precision = tau)\n"
        )
    };
    let (hyper, param) = (fit(&program("a ~ Gamma(0, 0)"), &data), fit(&program("param a: positive"), &data));
    assert!(param.converged());
    close(value(&param, "a")[0], value(&hyper, "a")[0], 1e-6);
    close(param.objective(), hyper.objective(), 1e-9);
}

#[test]
fn bounded_kinds_reach_least_squares_inside_their_sets() {
    let Table { data, z, t, u, .. } = table(24);
    // unit: t ≈ p u
    let f = fit(
        "data u: real[N]\ndata t: real[N]\nparam p: unit\ntau ~ Gamma(0, 0)\nt ~ Normal(p * u, precision = tau)",
        &data,
    );
    let p = u.iter().zip(&t).map(|(u, t)| u * t).sum::<f64>() / u.iter().map(|u| u * u).sum::<f64>();
    close(value(&f, "p")[0], p, 1e-7);
    // increasing: means of groups that ascend
    let groups: Vec<f64> = (0..6).map(|i| 1.0 + f64::from(i % 2)).collect();
    let f = fit(
        "data k: int[N]\ndata u: real[N]\nparam c: increasing[2]\ntau ~ Gamma(0, 0)\nu ~ Normal(c[k], precision = tau)",
        &Data::new().vector("k", &groups).unwrap().vector("u", &[1.0, 4.0, 1.5, 4.4, 0.5, 3.0]).unwrap(),
    );
    close(value(&f, "c")[0], 1.0, 1e-7);
    close(value(&f, "c")[1], 3.8, 1e-7);
    // simplex: t − z ≈ s_1 (u/2 − z): between the two
    let f = fit(
        "data z: real[N]\ndata u: real[N]\ndata t: real[N]\nparam s: simplex[2]\ntau ~ Gamma(0, 0)\nt ~ Normal([u / 2, z] * s, precision = tau)",
        &data,
    );
    let (mut above, mut below) = (0.0, 0.0);
    for i in 0..24 {
        let d = u[i] / 2.0 - z[i];
        above += d * (t[i] - z[i]);
        below += d * d;
    }
    let s = value(&f, "s");
    close(s[0] + s[1], 1.0, 1e-12);
    close(s[0], above / below, 1e-6);
}

#[test]
fn a_fit_with_params_predicts_and_travels() {
    let Table { data, x, .. } = table(40);
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nparam eta: positive[D] = 0.5\nparam mu: real\n\
                let total = sum(eta) + mu\nlet phi = rbf(x, scale = eta)\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(mu + phi * w, precision = tau)";
    let f = fit(text, &data);
    let node = f.node("eta").unwrap();
    assert_eq!(
        (node.role, node.shape.as_slice(), node.posterior.as_deref()),
        (Role::Param, &[2][..], Some("point"))
    );
    let eta = node.value().to_vec();
    close(value(&f, "total")[0], eta[0] + eta[1] + value(&f, "mu")[0], 1e-12);
    assert!(f.node("phi").is_err(), "a design is no quantity of interest");
    // by hand
    let kept = f.node("w").unwrap();
    let new = DMatrix::from_row_slice(2, 2, &[0.3, -0.2, 1.5, 0.7]);
    let active = kept.active.clone().unwrap();
    let wanted: Vec<f64> = (0..2)
        .map(|n| {
            let kernel =
                |m: usize| (0..2).map(|k| -eta[k] * (new[(n, k)] - x[(m, k)]).powi(2)).sum::<f64>().exp();
            value(&f, "mu")[0] + active.iter().zip(kept.mean()).map(|(m, w)| w * kernel(*m)).sum::<f64>()
        })
        .collect();
    let points = Data::new().matrix("x", &new).unwrap();
    let p = f.predict(&points).unwrap();
    for (a, b) in p.mean().iter().zip(&wanted) {
        close(*a, *b, 1e-12);
    }
    let back = Fit::from_bytes(&f.to_bytes().unwrap(), "here").unwrap();
    assert_eq!(back.predict(&points).unwrap(), p);
    assert_eq!(f.sample(Some(&points), 2, 1).unwrap(), back.sample(Some(&points), 2, 1).unwrap());
    assert!(f.sample(None, 2, 1).unwrap().columns.contains(&"eta.2".to_owned()));
    assert!(f.score(&data).unwrap().training_rows);
    // the same again is the same to the bit
    assert_eq!(fit(text, &data).result().nodes, f.result().nodes);
}

#[test]
fn the_host_may_stop_learning() {
    let data = table(40).data;
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nparam s: positive = 2\nlet phi = rbf(x, width = s)\n\
                w ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)";
    let model = Model::compile(text).unwrap();
    for limit in [1, 60] {
        let options =
            Options::default().on_step(move |p| if p.iteration < limit { p.go_on() } else { p.stop() });
        let f = model.fit(&data, &options).unwrap();
        assert_eq!(f.result().report.stop, "interrupted");
        assert!(f.objective().is_finite() && !f.converged());
    }
}

#[test]
fn starts_outside_the_set_are_told() {
    let data = table(10).data;
    let text = "data z: real[N]\ndata t: real[N]\nparam s: positive = sum(z) - 100\nmu ~ Flat()\nt ~ Normal(mu, sd = s)";
    match Model::compile(text) {
        // known to the checker
        Err(_) => {}
        Ok(model) => {
            let error = model.fit(&data, &Options::default()).unwrap_err().to_string();
            assert!(error.contains("E0720") && error.contains("positive"), "{error}");
        }
    }
}
