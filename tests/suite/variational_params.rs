//! Parameters learned under mean field: slopes of the bound against differences of it, a bound that never
//! falls, ends that are stationary, and agreement with the evidence where bound and evidence are one.

use nalgebra::DMatrix;
use sbl::design::adjoint::Bars;
use sbl::runtime::adjoint::Slope;
use sbl::runtime::evidence::Budget;
use sbl::runtime::learn::slope_at_start;
use sbl::session::bind::bind_training;
use sbl::{Data, Fit, Model, Options};

/// Between −1 and 1, without a pattern.
fn noise(i: usize) -> f64 {
    (37.0 * (i as f64 + 1.0).powi(2)).sin()
}

const N: usize = 24;

fn data() -> Data {
    let x = DMatrix::from_fn(N, 2, |i, j| 2.0 * noise(101 * j + i));
    let z: Vec<f64> = (0..N).map(|i| noise(i + 700)).collect();
    let t: Vec<f64> = (0..N)
        .map(|i| 0.7 + (1.3 * x[(i, 0)]).sin() - 0.3 * x[(i, 1)] + 0.4 * z[i] + 0.3 * noise(i + 900))
        .collect();
    let y: Vec<f64> = t.iter().map(|t| f64::from(*t > 0.7)).collect();
    let words: Vec<&str> = (0..N).map(|i| ["a", "b", "c"][i % 3]).collect();
    Data::new()
        .matrix("x", &x)
        .and_then(|d| d.vector("z", &z))
        .and_then(|d| d.vector("t", &t))
        .and_then(|d| d.vector("y", &y))
        .and_then(|d| d.vector("k", &(0..N).map(|i| 1.0 + (i % 2) as f64).collect::<Vec<_>>()))
        .and_then(|d| d.words("g", &words))
        .unwrap()
}

const HEAD: &str = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata z: real[N]\ndata t: real[N]\n\
                    data y: bool[N]\ndata k: count[N]\ndata g: category[N]\nparam p: positive = START\n";

/// The bound and its slopes at the start of the parameter, hyperparameters given.
fn slope(text: &str, start: f64, hypers: &[f64]) -> (Slope, f64) {
    let text = format!("{}{text}", HEAD.replace("START", &format!("{start:?}")));
    let model = Model::compile(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let bound = bind_training(model.typed(), &data()).unwrap_or_else(|e| panic!("{text}\n{e:#?}")).value;
    let inputs = bound.inputs(model.typed());
    let plan = model.plan().unwrap_or_else(|e| panic!("{text}\n{e}"));
    assert_eq!(plan.method, "variational");
    let (slope, bars): (Slope, Bars) = slope_at_start(plan, inputs, &Budget::default(), hypers).unwrap();
    let p = bars[&model.typed().find("p").unwrap()][0];
    (slope, p)
}

/// Each program has a parameter `p` in another place; how many hyperparameters there are.
const PROGRAMS: &[(&str, usize)] = &[
    // a kernel width
    (
        "let phi = [1, rbf(x, width = p)]\nw ~ ard(cols(phi), shape = 1e-2, rate = 1e-2)\ntau ~ Gamma(1, 0.1)\n\
         t ~ Normal(phi * w, precision = tau)\ninfer variational\n",
        N + 2,
    ),
    // the same with point precisions
    (
        "let phi = [1, rbf(x, width = p)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
         t ~ Normal(phi * w, precision = tau)\ninfer variational\n",
        N + 2,
    ),
    // two factors of weights, flat effect, offset, known part of a noise that two parts share, case weights
    (
        "mu ~ Flat()\na ~ Gamma(1, 1)\nw ~ Normal(0, precision = a) [D]\nl ~ Gamma(1, 2)\n\
         u ~ Normal(p, precision = l / p) [levels(g)]\ntau ~ Gamma(1, 0.1)\n\
         t ~ Normal(mu + p * z + x * w + u[g], precision = tau * exp(p * z)) weight k\n\
         infer variational(blocks = separate)\n",
        3,
    ),
    // a rate of a rate, and a deviation
    (
        "b ~ Gamma(1, 1)\na ~ Gamma(1, rate = b)\nw ~ Normal(0, precision = a * p) [D]\n\
         t ~ Normal(x * w, sd = p)\ninfer variational\n",
        2,
    ),
    // heavy tails: degrees of freedom
    (
        "a ~ Gamma(1, 1)\nw ~ Normal(0, precision = a) [D]\ntau ~ Gamma(1, 0.1)\n\
         t ~ StudentT(x * w, dof = 4 * p, precision = tau) weight k\ninfer variational\n",
        2,
    ),
    // heavy tails: mean, design and scale
    (
        "a ~ Gamma(1, 1)\nlet phi = rbf(x, width = p)\nw ~ Normal(0, precision = a) [cols(phi)]\n\
         t ~ StudentT(p + phi * w, dof = 4, sd = 0.5 * p)\ninfer variational\n",
        1,
    ),
    // classes by a bound
    (
        "let phi = [1, rbf(x, width = p)]\nw ~ ard(cols(phi), shape = 1e-2, rate = 1e-2)\n\
         y ~ Bernoulli(logit = p * z + phi * w) weight k\ninfer variational\n",
        N + 1,
    ),
    (
        "let phi = [1, rbf(x, width = p)]\na ~ Gamma(1, 1)\nw ~ Normal(0, precision = a) [cols(phi)]\n\
         y ~ Bernoulli(probit = phi * w)\ninfer variational\n",
        1,
    ),
    // several kinds of rows that share weights
    (
        "a ~ Gamma(1, 1)\nlet phi = rbf(x, width = p)\nw ~ Normal(0, precision = a) [cols(phi)]\ntau ~ Gamma(1, 0.1)\n\
         t ~ Normal(phi * w, precision = tau)\ny ~ Bernoulli(logit = p * (phi * w))\nz ~ StudentT(phi * w, dof = 3, precision = p * tau)\n\
         infer variational\n",
        2,
    ),
];

fn hypers(count: usize) -> Vec<f64> {
    (0..count).map(|h| (0.4 + 0.9 * noise(h + 40)).exp()).collect()
}

/// (8 (f(h) − f(−h)) − (f(2h) − f(−2h)))/12h
fn difference(h: f64, f: &dyn Fn(f64) -> f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

#[test]
fn the_slope_by_a_param_is_that_of_differences_of_the_bound() {
    for (text, count) in PROGRAMS {
        let hypers = hypers(*count);
        let found = slope(text, 0.8, &hypers).1;
        let wanted = difference(1e-3, &|h| slope(text, 0.8 + h, &hypers).0.objective);
        assert!((found - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{text}\n{found} {wanted}");
        assert!(wanted.abs() > 1e-3, "{text}\nsays nothing");
    }
}

#[test]
fn the_slopes_by_expectations_are_those_of_differences_of_the_bound() {
    for (text, count) in PROGRAMS {
        let hypers = hypers(*count);
        let found = slope(text, 0.8, &hypers).0.hypers;
        for h in (0..*count).step_by(7) {
            let moved = |by: f64| {
                let mut hypers = hypers.clone();
                hypers[h] *= by.exp();
                slope(text, 0.8, &hypers).0.objective
            };
            let wanted = difference(1e-3, &moved);
            assert!(
                (found[h] - wanted).abs() < 1e-6 * (1.0 + wanted.abs()),
                "{text}\n{h}: {} {wanted}",
                found[h]
            );
        }
    }
}

fn fit_with(text: &str, data: &Data) -> Fit {
    let model = Model::compile(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    model.fit(data, &Options::default()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// Every program learns: the bound never falls, and ends where it is stationary in everything.
#[test]
fn the_bound_never_falls_while_parameters_are_learned() {
    for (text, _) in PROGRAMS {
        let f = fit_with(&format!("{}{text}", HEAD.replace("START", "0.8")), &data());
        let result = f.result();
        assert!(f.converged(), "{text}\n{:?}", result.report);
        assert!(result.report.certificate.gradient < 1e-5, "{text}\n{:?}", result.report);
        let trace = &result.objective.trace;
        assert!(
            trace.len() > 1 && trace.windows(2).all(|w| w[1] >= w[0] - 1e-9 * (1.0 + w[0].abs())),
            "{text}\n{trace:?}"
        );
        assert!((trace[trace.len() - 1] - f.objective()).abs() < 1e-8 * (1.0 + f.objective().abs()));
        let p = f.node("p").unwrap();
        assert_eq!(p.posterior.as_deref(), Some("point"));
        assert!(p.value()[0] > 0.0 && p.value()[0] != 0.8);
    }
}

/// The learned value is a maximum: a fit at a value beside it has a lower bound, but for the slope that is left (the second
/// program has its maximum at infinity: Student's t that is a Gaussian).
#[test]
fn a_learned_value_beats_those_beside_it() {
    for (text, _) in &[PROGRAMS[0], PROGRAMS[4], PROGRAMS[6]] {
        let learned = fit_with(&format!("{}{text}", HEAD.replace("START", "0.8")), &data());
        let p = learned.node("p").unwrap().value()[0];
        let slope = learned.result().report.certificate.gradient;
        for factor in [0.9_f64, 0.98, 1.02, 1.1] {
            let fixed = HEAD.replace("param p: positive = START", &format!("let p = {:?}", p * factor));
            let f = fit_with(&format!("{fixed}{text}"), &data());
            assert!(
                f.objective() < learned.objective() + 1e-7 + slope * factor.ln().abs(),
                "{text}\n{factor}: {} {}",
                f.objective(),
                learned.objective()
            );
        }
    }
}

/// With improper hyperpriors the bound of a Gaussian model is its evidence at the points: the two plans,
/// which share no line of their objectives, learn the same scales of inputs.
#[test]
fn with_point_precisions_the_scales_are_those_of_the_evidence() {
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nparam eta: positive[D] = 0.3\n\
                let phi = rbf(x, scale = eta)\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\n";
    let evidence = fit_with(&format!("{text}infer evidence"), &data());
    let field = fit_with(&format!("{text}infer variational"), &data());
    assert!(field.converged() && evidence.converged());
    assert!(
        (evidence.objective() - field.objective()).abs() < 1e-6,
        "{} {}",
        evidence.objective(),
        field.objective()
    );
    let eta = |f: &Fit| f.node("eta").unwrap().value().to_vec();
    for (a, b) in eta(&evidence).iter().zip(eta(&field)) {
        assert!((a / b - 1.0).abs() < 1e-3 || a.max(b) < 1e-4, "{a} {b}");
    }
}

#[test]
fn restarts_of_parameters_are_honoured_and_cost_nothing() {
    let text = format!("{}{}", HEAD.replace("START", "0.05"), PROGRAMS[0].0);
    let once = fit_with(&text, &data());
    let more = fit_with(&text.replace("infer variational", "infer variational(restarts = 2)"), &data());
    assert_eq!((once.result().report.restarts, more.result().report.restarts), (0, 2));
    assert!(more.objective() >= once.objective() - 1e-9);
    assert!(more.result().iterations > once.result().iterations);
}

/// A `param` asks for a point plan; where none serves the likelihood, the mean field does.
#[test]
fn auto_takes_the_mean_field_where_no_point_plan_serves() {
    let text = "data t: real[N]\nparam nu: positive = 4\nmu ~ Normal(0, precision = 1e-2)\ntau ~ Gamma(1, 1)\n\
                t ~ StudentT(mu, dof = nu, precision = tau)\n";
    let model = Model::compile(text).unwrap();
    let plan = model.plan().unwrap();
    assert_eq!(plan.method, "variational");
    assert!(plan.why.join("; ").contains("param"), "{:?}", plan.why);
    assert!(plan.steps.iter().any(|s| s.does.contains("derivative of the bound by nu")));
    let t: Vec<f64> =
        (0..60).map(|i| noise(i) + if i % 15 == 3 { 9.0 * noise(i + 90) } else { 0.0 }).collect();
    let f = fit_with(text, &Data::new().vector("t", &t).unwrap());
    assert!(f.converged());
    let nu = f.node("nu").unwrap().value()[0];
    assert!(nu > 0.2 && nu < 10.0, "{nu}");
}

/// What the bound is not a smooth function of is still told.
#[test]
fn what_cannot_be_learned_is_told() {
    let programs = [
        "param s: positive = 1\ndata t: real[N]\ntau ~ Gamma(s, 1)\nt ~ Normal(0, precision = tau)\ninfer variational\n",
        "param s: positive = 1\ndata t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, precision = 2) weight s\ninfer variational\n",
    ];
    for text in programs {
        let told = match Model::compile(text) {
            Err(e) => e.to_string(),
            Ok(model) => model.plan().unwrap_err().to_string(),
        };
        assert!(told.contains("E0614"), "{text}\n{told}");
    }
}
