//! What a Laplace plan owes whatever the data: it equals `evidence` on Gaussian likelihoods, families
//! meet where they are the same, units and order do not matter, and its slopes are those of its evidence.

use std::ops::ControlFlow;

use nalgebra::DMatrix;
use sbl::dist::family;
use sbl::plan::ir::{Curvature, Options, Schedule};
use sbl::runtime::evidence::Budget;
use sbl::runtime::laplace::problem::{LaplaceProblem, Likelihood};
use sbl::runtime::laplace::solve::{slope, solve};
use sbl::runtime::laplace::state::at;
use sbl::runtime::problem::{Hyper, Problem, Scale, WeightPrior};
use sbl::runtime::solution::{Failure, Finding, Solution, Stop};

use crate::golden_laplace::problem;

/// A chirp: deterministic, and no smooth wave.
fn chirp(i: usize) -> f64 {
    (37.0 * (i as f64 + 1.0).powi(2)).sin()
}

fn columns(n: usize, m: usize) -> DMatrix<f64> {
    DMatrix::from_fn(n, m, |i, j| if j == 0 { 1.0 } else { chirp(17 * i + 5 * j + i * j) })
}

fn exact() -> Options {
    Options { min_gain: 0.0, ..Options::default() }
}

fn fit(problem: &LaplaceProblem, options: &Options) -> Solution {
    let solution = solve(problem, options, &Budget::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(solution.report.stop, Stop::Converged, "{:?}", solution.report);
    solution
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} {b}");
}

fn logistic(n: usize, m: usize) -> LaplaceProblem {
    let x = columns(n, m);
    let y = (0..n).map(|i| f64::from(x[(i, 1)] - 0.5 * x[(i, 2)] + 0.6 * chirp(i + 1000) > 0.0)).collect();
    problem("Bernoulli", &[f64::NAN; 3], 0, 1, y, x)
}

/// Gaussian rows with one free noise precision, hyperparameter `h`.
fn gaussian(values: Vec<f64>, h: usize) -> Likelihood {
    let n = values.len();
    Likelihood {
        family: family("Normal").unwrap(),
        place: 0,
        width: 1,
        counts: vec![1.0; n],
        args: vec![f64::NAN; 4 * n],
        stride: 4,
        given: vec![true; 4],
        precision: Some((1, vec![Scale { log_const: 0.0, powers: vec![(h, 1.0)] }; n])),
        values,
    }
}

/// The same Gaussian model for both runtimes.
fn regression(n: usize, m: usize) -> (Problem, LaplaceProblem) {
    let x = columns(n, m);
    let t: Vec<f64> = (0..n).map(|i| 1.5 * x[(i, 1)] - 0.7 * x[(i, 3)] + 0.3 * chirp(i + 500)).collect();
    let weights: Vec<WeightPrior> =
        (0..m).map(|i| WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(i, 1.0)] })).collect();
    let hypers = vec![Hyper { shape: 0.0, rate: 0.0, held: None }; m + 1];
    let noise = vec![Scale { log_const: 0.0, powers: vec![(m, 1.0)] }; n];
    let evidence = Problem {
        targets: t.clone(),
        noise,
        counts: vec![1.0; n],
        term: vec![0; n],
        design: x.clone(),
        weights: weights.clone(),
        hypers: hypers.clone(),
    };
    let laplace =
        LaplaceProblem { terms: vec![gaussian(t, m)], offset: vec![0.0; n], design: x, weights, hypers };
    (evidence, laplace)
}

#[test]
fn gaussian_likelihoods_give_the_exact_evidence() {
    let (evidence, laplace) = regression(40, 6);
    let hypers = [0.7, 2.0, 1.1, 0.4, 9.0, 3.0, 8.0];
    let a = sbl::runtime::state::at(&evidence, &exact(), &hypers).unwrap();
    let b = at(&laplace, &exact(), &hypers).unwrap();
    near(b.log_evidence, a.log_evidence, 1e-12);
    for h in 0..7 {
        near(b.gradient[h], a.gradient[h], 1e-10);
        near(b.held_gradient[h], a.gradient[h], 1e-10);
    }
    for i in 0..6 {
        near(b.mean[i], a.mean[i], 1e-11);
        near(b.s[i], a.s[i], 1e-9);
        near(b.q[i], a.q[i], 1e-9);
    }
    let whole = sbl::runtime::evidence::solve(&evidence, &exact(), &Budget::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    for options in [exact(), Options { curvature: Curvature::Exact, ..exact() }] {
        let solution = fit(&laplace, &options);
        assert_eq!(solution.active, whole.active);
        near(solution.log_evidence, whole.log_evidence, 1e-9);
        for (a, b) in solution.hypers.iter().zip(&whole.hypers).filter(|(_, b)| b.is_finite()) {
            near(a.ln(), b.ln(), 1e-5);
        }
    }
}

/// Two likelihoods of different families on the same weights, with a noise to be learned.
#[test]
fn families_can_share_weights() {
    let (_, mut problem) = regression(30, 5);
    let x = columns(60, 5);
    problem.design = x.clone();
    problem.offset = vec![0.0; 60];
    let y: Vec<f64> =
        (30..60).map(|i| f64::from(1.5 * x[(i, 1)] - 0.7 * x[(i, 3)] > 0.4 * chirp(i))).collect();
    let more =
        crate::golden_laplace::problem("Bernoulli", &[f64::NAN; 3], 0, 1, y, x.rows(30, 30).into_owned());
    problem.terms.extend(more.terms);
    let hypers = [0.7, 2.0, 1.1, 0.4, 9.0, 8.0];
    let evidence = |ln: &[f64]| {
        at(&problem, &exact(), &ln.iter().map(|v| v.exp()).collect::<Vec<_>>()).unwrap().log_evidence
    };
    let ln: Vec<f64> = hypers.iter().map(|v: &f64| v.ln()).collect();
    let state = at(&problem, &exact(), &hypers).unwrap();
    for h in 0..6 {
        let moved = |step: f64| {
            let mut ln = ln.clone();
            ln[h] += step;
            evidence(&ln)
        };
        near(state.gradient[h], (moved(1e-4) - moved(-1e-4)) / 2e-4, 1e-6);
    }
    let solution = fit(&problem, &exact());
    assert!(solution.active.contains(&1) && solution.active.contains(&3));
    let best = fit(&problem, &Options { curvature: Curvature::Exact, ..exact() });
    assert!(best.log_evidence >= solution.log_evidence - 1e-9);
}

#[test]
fn two_levels_are_the_same_in_every_family() {
    let logit = logistic(50, 4);
    let alpha = [0.4, 1.3, 2.0, 0.9];
    let a = at(&logit, &exact(), &alpha).unwrap();
    // softmax of two levels: α = 1/(1/α₁ + 1/α₂), w = w₂ − w₁
    let term = &logit.terms[0];
    let design =
        DMatrix::from_fn(100, 8, |r, c| if r % 2 == c / 4 { logit.design[(r / 2, c % 4)] } else { 0.0 });
    let softmax = problem("Categorical", &[f64::NAN; 4], 0, 2, term.values.clone(), design);
    let doubled: Vec<f64> = alpha.iter().chain(&alpha).map(|a| 2.0 * a).collect();
    let b = at(&softmax, &exact(), &doubled).unwrap();
    near(b.log_evidence, a.log_evidence, 1e-11);
    for i in 0..4 {
        near(b.mean[4 + i] - b.mean[i], a.mean[i], 1e-10);
    }
    // ordinal with one cutpoint at 0
    for (place, link) in [(0, 1), (1, 0)] {
        let ordinal = problem(
            "Ordinal",
            &[f64::NAN, f64::NAN, 0.0, 1.0],
            place,
            1,
            term.values.clone(),
            logit.design.clone(),
        );
        let binary = problem("Bernoulli", &[f64::NAN; 3], link, 1, term.values.clone(), logit.design.clone());
        let (a, b) = (at(&ordinal, &exact(), &alpha).unwrap(), at(&binary, &exact(), &alpha).unwrap());
        near(a.log_evidence, b.log_evidence, 1e-11);
        near(a.gradient[2], b.gradient[2], 1e-9);
    }
}

/// Z is invariant under (w, b, σ, α) → (c w, c b, c σ, α/c²): Σ θ dZ/dθ = 2 Σ dZ/d ln α.
#[test]
fn the_scale_of_an_ordinal_latent_is_not_identified() {
    let x = columns(40, 4);
    let y = (0..40)
        .map(|i| f64::from(u8::from(x[(i, 1)] > -0.4)) + f64::from(u8::from(x[(i, 1)] > 0.5)))
        .collect();
    let problem = problem("Ordinal", &[f64::NAN, f64::NAN, -0.5, 0.8, 1.3], 0, 1, y, x);
    let state = at(&problem, &exact(), &[0.4, 1.3, 2.0, 0.9]).unwrap();
    let by = |place: usize| state.adjoint.args[0].iter().skip(place).step_by(5).sum::<f64>();
    let left = -0.5 * by(2) + 0.8 * by(3) + 1.3 * by(4);
    near(left, 2.0 * state.gradient.iter().sum::<f64>(), 1e-9);
}

#[test]
fn units_and_order_do_not_matter() {
    let base = logistic(60, 8);
    let reference = fit(&base, &exact());
    for factor in [1e-8, 3e4, 1e8] {
        let mut scaled = base.clone();
        scaled.design *= factor;
        let solution = fit(&scaled, &exact());
        assert_eq!(solution.active, reference.active);
        near(solution.log_evidence, reference.log_evidence, 1e-9);
        for (a, b) in solution.mean.iter().zip(reference.mean.iter()) {
            near(a * factor, *b, 1e-5);
        }
    }
    let mut reversed = base.clone();
    reversed.design = DMatrix::from_fn(60, 8, |i, j| base.design[(59 - i, j)]);
    reversed.terms[0].values.reverse();
    near(fit(&reversed, &exact()).log_evidence, reference.log_evidence, 1e-9);
}

#[test]
fn case_weight_two_is_the_row_twice() {
    let mut once = logistic(40, 5);
    let (y, x) = (&once.terms[0].values, &once.design);
    let twice_y: Vec<f64> = y.iter().chain(&y[..10]).copied().collect();
    let twice_x = DMatrix::from_fn(50, 5, |i, j| x[(if i < 40 { i } else { i - 40 }, j)]);
    let twice = problem("Bernoulli", &[f64::NAN; 3], 0, 1, twice_y, twice_x);
    once.terms[0].counts[..10].fill(2.0);
    let alpha = [0.4, 1.3, 2.0, 0.9, 4.0];
    let (a, b) = (at(&once, &exact(), &alpha).unwrap(), at(&twice, &exact(), &alpha).unwrap());
    near(a.log_evidence, b.log_evidence, 1e-12);
    for h in 0..5 {
        near(a.gradient[h], b.gradient[h], 1e-10);
    }
}

/// A flat effect is a weight of vanishing precision whose prior factor is left out.
#[test]
fn flat_effects_are_the_limit_of_weak_priors() {
    let mut flat = logistic(50, 4);
    let weak = flat.clone();
    flat.weights[0] = WeightPrior::Flat;
    let alpha: [f64; 4] = [1e-9, 1.3, 2.0, 0.9];
    let (a, b) = (at(&flat, &exact(), &alpha).unwrap(), at(&weak, &exact(), &alpha).unwrap());
    let prior = 0.5 * (alpha[0] / (2.0 * std::f64::consts::PI)).ln();
    near(a.log_evidence, b.log_evidence - prior, 1e-7);
    near(a.mean[0], b.mean[0], 1e-6);
    let solution = fit(&flat, &exact());
    assert!(solution.active.contains(&0));
    assert_eq!(solution.flat, 1);
}

#[test]
fn separated_classes_are_named_and_flat_ones_refused() {
    let x = DMatrix::from_fn(20, 2, |i, j| if j == 0 { i as f64 - 9.5 } else { chirp(i) });
    let y: Vec<f64> = (0..20).map(|i| f64::from(i >= 10)).collect();
    let mut separable = problem("Bernoulli", &[f64::NAN; 3], 0, 1, y, x);
    let solution = fit(&separable, &exact());
    assert!(solution.report.findings.contains(&Finding::Separated(0, Some(0))));
    assert!(solution.mean.iter().all(|w| w.is_finite()));
    separable.weights[0] = WeightPrior::Flat;
    let failed = solve(&separable, &exact(), &Budget::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(failed.unwrap_err(), Failure::NoMode);
}

/// A weight of a column that one row has alone goes far under a tiny precision; the flat effect beside it does not.
#[test]
fn far_weights_beside_a_flat_effect_have_a_mode() {
    let x = DMatrix::from_fn(20, 2, |i, j| if j == 0 { 1.0 } else { f64::from(u8::from(i == 0)) });
    let y: Vec<f64> = (0..20).map(|i| f64::from(i % 3 == 0)).collect();
    let mut alone = problem("Bernoulli", &[f64::NAN; 3], 0, 1, y, x);
    alone.weights[0] = WeightPrior::Flat;
    // of the others, 6 of 19 are true
    let mean = (6.0f64 / 13.0).ln();
    for alpha in [1e-10, 1e-25, 1e-40] {
        let here = at(&alone, &exact(), &[1.0, alpha]).unwrap();
        near(here.mean[0], mean, 1e-6);
        assert!(here.mean[1] > 10.0 && here.log_evidence.is_finite(), "{alpha}: {:?}", here.mean);
    }
}

/// Both schedules end where no single move gains in the Gaussian at the mode.
#[test]
fn no_single_move_gains_at_the_end() {
    for schedule in [Schedule::Batch, Schedule::Sequential] {
        let base = logistic(80, 30);
        let solution = fit(&base, &Options { schedule, ..exact() });
        let state = at(&base, &exact(), &solution.hypers).unwrap();
        for i in 0..30 {
            let (s, q) = (state.s[i], state.q[i]);
            if solution.active.contains(&i) {
                assert!(q * q > s, "{i} is kept");
                // α = s²/(q² − s)
                near(solution.hypers[i].ln(), (s * s / (q * q - s)).ln(), 1e-6);
            } else {
                assert!(q * q <= s * (1.0 + 1e-2), "{i} would gain: {}", q * q / s);
            }
        }
    }
}

#[test]
fn slopes_on_kept_weights_are_derivatives() {
    let base = logistic(40, 4);
    let hypers = [0.4, 1.3, 2.0, 0.9];
    let here = slope(&base, &exact(), &Budget::default(), &hypers, None).unwrap();
    for h in 0..4 {
        let moved = |step: f64| {
            let mut hypers = hypers;
            hypers[h] *= f64::exp(step);
            slope(&base, &exact(), &Budget::default(), &hypers, None).unwrap().objective
        };
        near(here.hypers[h], (moved(1e-4) - moved(-1e-4)) / 2e-4, 1e-7);
    }
    assert_eq!(here.information.len(), 40);
}
