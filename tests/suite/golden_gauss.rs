//! Golden cases of Gaussian likelihoods: states, sparsity factors, greedy path, converged fits, MAP,
//! the full dictionary, equivariances.

use nalgebra::DMatrix;
use sbl::plan::ir::{HyperScale, Options};
use sbl::runtime::evidence::{Budget, solve};
use sbl::runtime::problem::{Hyper, Problem};
use sbl::runtime::state::{Action, at};

use crate::golden::Golden;
use crate::problems::{ard, fit_with, predict};

fn row_major(m: &DMatrix<f64>) -> Vec<f64> {
    m.transpose().iter().copied().collect()
}

fn squares(t: &[f64], fitted: &[f64]) -> f64 {
    t.iter().zip(fitted).map(|(t, f)| (t - f).powi(2)).sum()
}

/// The prior of the file on every precision.
fn with_prior(mut problem: Problem, g: &Golden) -> Problem {
    let prior = g.input("hyperprior");
    let value = |name: &str| prior[name].as_f64().unwrap();
    let last = problem.hypers.len() - 1;
    for (h, hyper) in problem.hypers.iter_mut().enumerate() {
        let (shape, rate) = if h == last { ("c", "d") } else { ("a", "b") };
        *hyper = Hyper { shape: value(shape), rate: value(rate), held: None };
    }
    problem
}

fn state(name: &str) {
    let mut g = Golden::read(name);
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let star = g.design(&g.matrix("X_star"));
    let m = phi.ncols();
    let problem = ard(&phi, &t, &[]);
    let mut hypers = g.vector("alpha");
    hypers.push(g.number("beta"));
    let s = at(&problem, &Options::default(), &hypers).unwrap();
    g.check("mean", s.mean.as_slice());
    g.check("Sigma", &row_major(&s.covariance));
    g.check("log_evidence", &[s.log_evidence]);
    g.check("gamma", &s.gamma);
    let fitted = &phi * &s.mean;
    g.check("rss", &[squares(&t, fitted.as_slice())]);
    g.check("mackay_alpha", &s.mackay[..m]);
    g.check("mackay_beta", &s.mackay[m..]);
    g.check("em_alpha", &s.em[..m]);
    g.check("em_beta", &s.em[m..]);
    g.check("grad_log_alpha", &s.gradient[..m]);
    g.check("grad_log_beta", &s.gradient[m..]);
    for (scale, prefix) in [(HyperScale::Density, "map_density"), (HyperScale::Log, "map_log")] {
        let options = Options { hyper_scale: scale, ..Options::default() };
        let problem = with_prior(problem.clone(), &g);
        let s = at(&problem, &options, &hypers).unwrap();
        g.check(&format!("{prefix}_objective"), &[s.objective]);
        g.check(&format!("{prefix}_alpha"), &s.mackay[..m]);
        g.check(&format!("{prefix}_beta"), &s.mackay[m..]);
        g.check(&format!("{prefix}_grad_log_alpha"), &s.gradient[..m]);
        g.check(&format!("{prefix}_grad_log_beta"), &s.gradient[m..]);
    }
    let mean = &star * &s.mean;
    let variance: Vec<f64> = (0..star.nrows())
        .map(|r| {
            let row = star.row(r).transpose();
            row.dot(&(&s.covariance * &row))
        })
        .collect();
    let noise = 1.0 / g.number("beta");
    g.check("predictive_mean", mean.as_slice());
    g.check("predictive_var_weights", &variance);
    g.check("predictive_var_noise", &[noise]);
    g.check("predictive_var_total", &variance.iter().map(|v| v + noise).collect::<Vec<_>>());
    g.finish(&[]);
}

#[test]
fn o01_state_of_a_tiny_model() {
    state("O01_gauss_state_tiny");
}

#[test]
fn o02_state_with_more_weights_than_rows() {
    state("O02_gauss_state_rbf");
}

#[test]
fn o03_state_with_extreme_precisions() {
    state("O03_gauss_state_extreme_alpha");
}

fn converged(name: &str, scale: Option<HyperScale>) {
    let mut g = Golden::read(name);
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let mut problem = ard(&phi, &t, &[]);
    let mut options = Options::default();
    if let Some(scale) = scale {
        problem = with_prior(problem, &g);
        options.hyper_scale = scale;
    }
    let s = fit_with(&problem, &options);
    let m = phi.ncols();
    g.check("active", &s.active.iter().map(|&i| i as f64).collect::<Vec<_>>());
    g.check("alpha", &s.active.iter().map(|&i| s.hypers[i]).collect::<Vec<_>>());
    g.check("beta", &s.hypers[m..]);
    g.check("noise_sd", &[s.hypers[m].powf(-0.5)]);
    g.check("log_evidence", &[s.log_evidence]);
    g.check("mean", s.mean.as_slice());
    g.check("gamma_sum", &[s.gamma.iter().sum()]);
    if scale.is_some() {
        g.check("objective", &[s.log_evidence + s.hyperprior.unwrap()]);
    }
    let (mean, variance) = predict(&s, &g.design(&g.matrix("X_star")));
    g.check("predictive_mean", &mean);
    g.check("predictive_var_total", &variance.iter().map(|v| v + 1.0 / s.hypers[m]).collect::<Vec<_>>());
    assert!(s.report.certificate.gradient < 1e-7, "{:?}", s.report);
    g.finish(&[]);
}

#[test]
fn o04_converged() {
    converged("O04_gauss_converged_a", None);
}

#[test]
fn o05_converged() {
    converged("O05_gauss_converged_b", None);
}

#[test]
fn o06_map_on_the_log_scale() {
    converged("O06_gauss_map_log", Some(HyperScale::Log));
}

#[test]
fn o07_map_on_the_density_scale() {
    converged("O07_gauss_map_density", Some(HyperScale::Density));
}

#[test]
fn o08_sparsity_factors_and_moves() {
    let mut g = Golden::read("O08_sparsity_factors");
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let problem = ard(&phi, &t, &[]);
    let m = phi.ncols();
    let mut hypers = vec![f64::INFINITY; m + 1];
    for (i, alpha) in g.vector("active").iter().zip(g.vector("alpha")) {
        hypers[*i as usize] = alpha;
    }
    hypers[m] = g.number("beta");
    let s = at(&problem, &Options::default(), &hypers).unwrap();
    g.check("log_evidence", &[s.log_evidence]);
    g.check("S", &s.big_s);
    g.check("Q", &s.big_q);
    g.check("s", &s.s);
    g.check("q", &s.q);
    let words: Vec<&str> = s.moves.iter().map(|m| m.map_or("none", |m| word(m.0))).collect();
    g.check_text("action", &words);
    g.check("alpha_new", &s.moves.iter().map(|m| m.map_or(f64::NAN, |m| m.1)).collect::<Vec<_>>());
    g.check("gain", &s.moves.iter().map(|m| m.map_or(f64::NAN, |m| m.2)).collect::<Vec<_>>());
    let best = s.best.unwrap();
    g.check("best_index", &[best as f64]);
    hypers[best] = s.moves[best].unwrap().1;
    let after = at(&problem, &Options::default(), &hypers).unwrap();
    g.check("after_active", &after.active.iter().map(|&i| i as f64).collect::<Vec<_>>());
    g.check("after_mean", after.mean.as_slice());
    g.check("after_Sigma", &row_major(&after.covariance));
    g.check("after_log_evidence", &[after.log_evidence]);
    // the gain is exact
    assert!((after.log_evidence - s.log_evidence - s.moves[best].unwrap().2).abs() < 1e-10);
    g.finish(&[]);
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Add => "add",
        Action::ReEstimate => "re-estimate",
        Action::Delete => "delete",
    }
}

#[test]
fn o09_greedy_path_at_held_noise() {
    let mut g = Golden::read("O09_sequential_path");
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let mut problem = ard(&phi, &t, &[]);
    let m = phi.ncols();
    problem.hypers[m].held = Some(g.number("beta"));
    let mut hypers = vec![f64::INFINITY; m + 1];
    hypers[m] = g.number("beta");
    let mut path: Vec<(usize, Action, f64, f64)> = Vec::new();
    loop {
        let s = at(&problem, &Options::default(), &hypers).unwrap();
        let Some(best) = s.best else { break };
        let (action, alpha, gain) = s.moves[best].unwrap();
        if gain <= 1e-6 {
            break;
        }
        hypers[best] = alpha;
        path.push((best, action, alpha, gain));
    }
    g.check("first_index", &[path[0].0 as f64]);
    let path = &path[1..];
    g.check_text("actions", &path.iter().map(|p| word(p.1)).collect::<Vec<_>>());
    g.check("indices", &path.iter().map(|p| p.0 as f64).collect::<Vec<_>>());
    g.check("alphas", &path.iter().map(|p| p.2).collect::<Vec<_>>());
    g.check("gains", &path.iter().map(|p| p.3).collect::<Vec<_>>());
    let support: Vec<usize> = (0..m).filter(|&i| hypers[i].is_finite()).collect();
    g.check("active", &support.iter().map(|&i| i as f64).collect::<Vec<_>>());
    // the limit is the maximum on the support of the path
    let mut on_support = ard(&phi.select_columns(&support), &t, &[]);
    on_support.hypers[support.len()].held = Some(g.number("beta"));
    let s = fit_with(&on_support, &Options::default());
    assert_eq!(s.active.len(), support.len());
    g.check("alpha_limit", &s.hypers[..support.len()]);
    g.check("log_evidence_limit", &[s.log_evidence]);
    g.finish(&[]);
}

#[test]
fn o10_full_dictionary() {
    let mut g = Golden::read("O10_full_dictionary");
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let problem = ard(&phi, &t, &[]);
    for restarts in [0, 2] {
        let options = Options { restarts, ..Options::default() };
        let s = solve(&problem, &options, &Budget::default(), &mut |_| std::ops::ControlFlow::Continue(()))
            .unwrap();
        g.check("log_evidence_floor", &[s.log_evidence]);
        g.check("n_active_max", &[s.active.len() as f64]);
        let state = at(&problem, &Options::default(), &s.hypers).unwrap();
        let m = phi.ncols();
        let alpha = s.active.iter().map(|&i| state.gradient[i].abs()).fold(0.0, f64::max);
        let outside = (0..m)
            .filter(|i| !s.active.contains(i))
            .map(|i| state.q[i] * state.q[i] - state.s[i])
            .fold(f64::NEG_INFINITY, f64::max);
        g.check("certificate", &[alpha, state.gradient[m].abs(), outside]);
    }
    g.finish(&[]);
}

#[test]
fn o32_equivariance() {
    let mut g = Golden::read("O32_equivariance");
    let (phi, t) = (g.matrix("X"), g.vector("t"));
    let (alpha, beta) = (g.vector("alpha"), g.number("beta"));
    let state = |phi: &DMatrix<f64>, t: &[f64], alpha: &[f64], beta: f64| {
        let mut hypers = alpha.to_vec();
        hypers.push(beta);
        at(&ard(phi, t, &[]), &Options::default(), &hypers).unwrap()
    };
    let base = state(&phi, &t, &alpha, beta);
    g.check("log_evidence", &[base.log_evidence]);
    g.check("mean", base.mean.as_slice());
    let c = g.number("target_scale");
    let scaled: Vec<f64> = t.iter().map(|t| c * t).collect();
    let alpha_scaled: Vec<f64> = alpha.iter().map(|a| a / (c * c)).collect();
    g.check(
        "log_evidence_scaled_targets",
        &[state(&phi, &scaled, &alpha_scaled, beta / (c * c)).log_evidence],
    );
    let scales = g.vector("column_scales");
    let phi_scaled = DMatrix::from_fn(phi.nrows(), phi.ncols(), |n, j| phi[(n, j)] * scales[j]);
    let alpha_scaled: Vec<f64> = alpha.iter().zip(&scales).map(|(a, k)| a * k * k).collect();
    g.check("alpha_scaled_columns", &alpha_scaled);
    let columns = state(&phi_scaled, &t, &alpha_scaled, beta);
    g.check("log_evidence_scaled_columns", &[columns.log_evidence]);
    g.check("mean_scaled_columns", columns.mean.as_slice());
    g.finish(&[]);
}

/// One function: kept exactly if β t_∥² > 1, t_∥ = φ·t/|φ|, with α* = |φ|²/(t_∥² − 1/β).
#[test]
fn one_vector_geometry() {
    let mut g = Golden::read("O30_one_vector_geometry");
    let phi = g.vector("phi");
    let norm: f64 = phi.iter().map(|p| p * p).sum();
    let design = DMatrix::from_column_slice(phi.len(), 1, &phi);
    let (mut along, mut kept, mut alpha, mut evidence) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for t in g.matrix("t").row_iter() {
        let t: Vec<f64> = t.iter().copied().collect();
        along.push(phi.iter().zip(&t).map(|(p, t)| p * t).sum::<f64>() / norm.sqrt());
        let mut problem = ard(&design, &t, &[]);
        problem.hypers[1].held = Some(g.number("beta"));
        let s = fit_with(&problem, &Options { min_gain: 0.0, ..Options::default() });
        kept.push(f64::from(u8::from(!s.active.is_empty())));
        alpha.push(if s.hypers[0].is_finite() { s.hypers[0] } else { f64::NAN });
        evidence.push(s.log_evidence);
    }
    g.check("t_parallel", &along);
    let want: Vec<f64> = g
        .expected("kept")
        .as_array()
        .unwrap()
        .iter()
        .map(|k| f64::from(u8::from(k.as_bool().unwrap())))
        .collect();
    assert_eq!(kept, want);
    g.check("alpha_star", &alpha);
    g.check("log_evidence", &evidence);
    g.finish(&["kept"]);
}
