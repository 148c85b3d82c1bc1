//! Golden cases of the mean field: single cycles with every term of the bound, and converged fits.

use std::ops::ControlFlow;

use nalgebra::DMatrix;
use sbl::dist::FAMILIES;
use sbl::dist::bound::LinkBound;
use sbl::math::special::{normal_pdf, sigmoid};
use sbl::plan::ir::Options;
use sbl::runtime::evidence::Budget;
use sbl::runtime::solution::Solution;
use sbl::runtime::variational::cycle::cycle;
use sbl::runtime::variational::problem::{Hyper, Kind, Problem, Product, Row, WeightPrior};
use sbl::runtime::variational::solve;

use crate::golden::Golden;

/// The bound of the first family that has one in this argument.
pub fn link(predictor: &str) -> &'static LinkBound {
    let links = FAMILIES.iter().filter_map(|f| f.bound.as_ref()).flat_map(|b| b.links);
    links.into_iter().find(|l| l.predictor == predictor).unwrap()
}

pub fn times(hypers: &[usize]) -> Product {
    Product { ln_known: 0.0, hypers: hypers.to_vec() }
}

pub fn gamma(shape: f64, rate: f64) -> Hyper {
    Hyper { shape, rate: Product { ln_known: rate.ln(), hypers: Vec::new() } }
}

/// A precision for every weight (hyperparameters 0 …) and, where the rows have a scale, the last one for
/// the noise.
pub fn ard(phi: &DMatrix<f64>, t: &[f64], kind: Kind, weights: Hyper, noise: Option<Hyper>) -> Problem {
    let m = phi.ncols();
    let noise_scale = if noise.is_some() { times(&[m]) } else { times(&[]) };
    Problem {
        rows: t
            .iter()
            .map(|&target| Row { target, offset: 0.0, noise: noise_scale.clone(), count: 1.0, term: 0, kind })
            .collect(),
        design: phi.clone(),
        weights: (0..m).map(|i| WeightPrior::Normal(times(&[i]))).collect(),
        block: vec![0; m],
        hypers: std::iter::repeat_n(weights, m).chain(noise).collect(),
    }
}

pub fn fit(problem: &Problem, options: &Options) -> Solution {
    solve(problem, options, &Budget::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn prior(g: &Golden, names: [&str; 2]) -> Hyper {
    let value = |name: &str| g.input("hyperprior")[name].as_f64().unwrap();
    gamma(value(names[0]), value(names[1]))
}

fn row_major(m: &DMatrix<f64>) -> Vec<f64> {
    m.transpose().iter().copied().collect()
}

fn latent(star: &DMatrix<f64>, mean: &nalgebra::DVector<f64>, sigma: &DMatrix<f64>) -> (Vec<f64>, Vec<f64>) {
    let variance = (0..star.nrows()).map(|r| (star.row(r) * sigma).dot(&star.row(r))).collect();
    ((star * mean).iter().copied().collect(), variance)
}

#[test]
fn o18_one_cycle_of_regression() {
    let mut g = Golden::read("O18_vrvm_step");
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let m = phi.ncols();
    let problem = ard(&phi, &t, Kind::Gaussian, prior(&g, ["a", "b"]), Some(prior(&g, ["c", "d"])));
    let mut start = g.vector("mean_alpha");
    start.push(g.number("mean_tau"));
    let c = cycle(&problem, &Options::default(), &start, &[]).unwrap();
    let of = |k: usize| -> Vec<f64> { c.hypers[..m].iter().map(|h| h[k]).collect() };
    g.check("mu", c.mean.as_slice());
    g.check("Sigma", &row_major(&c.covariance));
    g.check("a_tilde", &[c.hypers[0][0]]);
    g.check("b_tilde", &of(1));
    g.check("mean_alpha", &of(2));
    g.check("mean_log_alpha", &of(3));
    let [shape, rate, mean, mean_ln] = c.hypers[m];
    g.check("c_tilde", &[shape]);
    g.check("d_tilde", &[rate]);
    g.check("mean_tau", &[mean]);
    g.check("mean_log_tau", &[mean_ln]);
    g.check("bound_lik", &[c.terms.likelihood]);
    g.check("bound_w", &[c.terms.weights]);
    g.check("bound_alpha", &[c.terms.hypers]);
    g.check("bound_tau", &[c.terms.noise]);
    g.check("bound_Hw", &[c.terms.entropy_weights]);
    g.check("bound_Halpha", &[c.terms.entropy_hypers]);
    g.check("bound_Htau", &[c.terms.entropy_noise]);
    g.check("bound", &[c.terms.sum()]);
    let (f, v) = latent(&g.design(&g.matrix("X_star")), &c.mean, &c.covariance);
    g.check("predictive_mean", &f);
    g.check("predictive_var_weights", &v);
    g.check("predictive_var_total_plugin", &v.iter().map(|v| v + 1.0 / mean).collect::<Vec<_>>());
    g.check("predictive_var_total_exact", &v.iter().map(|v| v + rate / (shape - 1.0)).collect::<Vec<_>>());
    assert!(c.bounds.windows(2).all(|w| w[1] >= w[0] - 1e-12), "{:?}", c.bounds);
    g.finish(&[]);
}

fn relevant(s: &Solution) -> Vec<f64> {
    (0..s.q.len()).filter(|&i| s.q[i] * s.q[i] > s.s[i]).map(|i| i as f64).collect()
}

fn converged_regression(name: &str) {
    let mut g = Golden::read(name);
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let m = phi.ncols();
    let problem = ard(&phi, &t, Kind::Gaussian, prior(&g, ["a", "b"]), Some(prior(&g, ["c", "d"])));
    let s = fit(&problem, &Options::default());
    g.check("bound", &[s.log_evidence]);
    g.check("mean_tau", &s.hypers[m..]);
    g.check("mean_alpha", &s.hypers[..m]);
    g.check("mu", s.mean.as_slice());
    let (f, v) = latent(&g.design(&g.matrix("X_star")), &s.mean, &s.covariance);
    g.check("predictive_mean", &f);
    g.check("predictive_var_total_plugin", &v.iter().map(|v| v + 1.0 / s.hypers[m]).collect::<Vec<_>>());
    g.check("relevant_by_q2_gt_s", &relevant(&s));
    g.check("n_weights_above_1e-3", &[s.mean.iter().filter(|w| w.abs() > 1e-3).count() as f64]);
    if let Some(exact) =
        g.json["expected"].as_array().unwrap().iter().find(|e| e["name"] == "exact_log_evidence")
    {
        assert!(s.log_evidence < exact["value"].as_f64().unwrap());
    }
    assert!(s.trace.windows(2).all(|w| w[1] >= w[0] - 1e-11 * (1.0 + w[0].abs())), "{:?}", s.trace);
    println!("{name}: {} cycles, {:?}", s.report.iterations, s.report.certificate);
    g.finish(&[]);
}

#[test]
fn o19_one_weight() {
    converged_regression("O19_vrvm_one_weight");
}

#[test]
fn o20_converged_regression() {
    converged_regression("O20_vrvm_converged");
}

#[test]
fn o21_one_cycle_of_classification() {
    let mut g = Golden::read("O21_vclass_step");
    let (phi, y) = (g.design(&g.matrix("X")), g.vector("y"));
    let problem = ard(&phi, &y, Kind::Bound { link: link("logit") }, prior(&g, ["a", "b"]), None);
    let c = cycle(&problem, &Options::default(), &g.vector("mean_alpha"), &g.vector("xi")).unwrap();
    let of = |k: usize| -> Vec<f64> { c.hypers.iter().map(|h| h[k]).collect() };
    g.check("m", c.mean.as_slice());
    g.check("S", &row_major(&c.covariance));
    g.check("a_tilde", &[c.hypers[0][0]]);
    g.check("b_tilde", &of(1));
    g.check("mean_alpha", &of(2));
    g.check("xi_new", &c.rows);
    g.check("bound_F", &[c.terms.likelihood]);
    g.check("bound_w", &[c.terms.weights]);
    g.check("bound_alpha", &[c.terms.hypers]);
    g.check("bound_Hw", &[c.terms.entropy_weights]);
    g.check("bound_Halpha", &[c.terms.entropy_hypers]);
    g.check("bound", &[c.terms.sum()]);
    probabilities(&mut g, &c.mean, &c.covariance);
    assert!(c.bounds.windows(2).all(|w| w[1] >= w[0] - 1e-12), "{:?}", c.bounds);
    g.finish(&[]);
}

/// ∫ σ(a) N(a | m, v) da by the trapezoidal rule, which is exact to rounding for such an integrand.
fn averaged(m: f64, v: f64) -> f64 {
    let h = 0.01;
    (-1500..=1500).map(|k| h * f64::from(k)).map(|z| h * normal_pdf(z) * sigmoid(m + v.sqrt() * z)).sum()
}

fn probabilities(g: &mut Golden, mean: &nalgebra::DVector<f64>, sigma: &DMatrix<f64>) {
    let (f, v) = latent(&g.design(&g.matrix("X_star")), mean, sigma);
    g.check("latent_mean_star", &f);
    g.check("latent_var_star", &v);
    g.check("prob_plugin", &f.iter().map(|f| sigmoid(*f)).collect::<Vec<_>>());
    let mackay = |(f, v): (&f64, &f64)| sigmoid(f / (1.0 + std::f64::consts::PI * v / 8.0).sqrt());
    g.check("prob_mackay", &f.iter().zip(&v).map(mackay).collect::<Vec<_>>());
    g.check("prob_exact", &f.iter().zip(&v).map(|(f, v)| averaged(*f, *v)).collect::<Vec<_>>());
}

#[test]
fn o22_converged_classification() {
    let mut g = Golden::read("O22_vclass_converged");
    let (phi, y) = (g.design(&g.matrix("X")), g.vector("y"));
    let problem = ard(&phi, &y, Kind::Bound { link: link("logit") }, prior(&g, ["a", "b"]), None);
    let s = fit(&problem, &Options::default());
    g.check("bound", &[s.log_evidence]);
    g.check("m", s.mean.as_slice());
    g.check("mean_alpha", &s.hypers);
    let c = cycle(&problem, &Options::default(), &s.hypers, &vec![1.0; y.len()]).unwrap();
    // the points of contact belong to the weights: ξ² = ⟨f²⟩
    let (f, v) = latent(&phi, &s.mean, &s.covariance);
    g.check("xi", &f.iter().zip(&v).map(|(f, v)| f.hypot(v.sqrt())).collect::<Vec<_>>());
    g.check("relevant_by_q2_gt_s", &relevant(&s));
    probabilities(&mut g, &s.mean, &s.covariance);
    assert!(c.terms.sum() <= s.log_evidence);
    assert!(s.trace.windows(2).all(|w| w[1] >= w[0] - 1e-11 * (1.0 + w[0].abs())), "{:?}", s.trace);
    println!("O22: {} cycles, {:?}", s.report.iterations, s.report.certificate);
    g.finish(&[]);
}

#[test]
fn o28_one_cycle_with_heavy_tails() {
    let mut g = Golden::read("O28_studentt_step");
    let (phi, t) = (g.design(&g.matrix("X")), g.vector("t"));
    let m = phi.ncols();
    let kind = Kind::Mixture { dof: g.number("nu") };
    let problem = ard(&phi, &t, kind, prior(&g, ["a", "b"]), Some(prior(&g, ["c", "d"])));
    let mut start = g.vector("mean_alpha");
    start.push(g.number("mean_tau"));
    let c = cycle(&problem, &Options::default(), &start, &g.vector("mean_lambda")).unwrap();
    let of = |k: usize| -> Vec<f64> { c.hypers[..m].iter().map(|h| h[k]).collect() };
    g.check("mu", c.mean.as_slice());
    g.check("Sigma", &row_major(&c.covariance));
    g.check("a_tilde", &[c.hypers[0][0]]);
    g.check("b_tilde", &of(1));
    g.check("mean_alpha", &of(2));
    g.check("lambda_shape", &[c.scales[0].unwrap().0]);
    g.check("lambda_rate", &c.scales.iter().map(|s| s.unwrap().1).collect::<Vec<_>>());
    g.check("mean_lambda", &c.rows);
    g.check("c_tilde", &[c.hypers[m][0]]);
    g.check("d_tilde", &[c.hypers[m][1]]);
    g.check("mean_tau", &[c.hypers[m][2]]);
    g.check("bound", &[c.terms.sum()]);
    assert!(c.bounds.windows(2).all(|w| w[1] >= w[0] - 1e-12), "{:?}", c.bounds);
    g.finish(&[]);
}
