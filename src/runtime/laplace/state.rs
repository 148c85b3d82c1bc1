//! Everything at one state: given hyperparameters, the mode, the Laplace evidence, its slopes by both
//! rules, and the sparsity factors. For tests, teaching and single steps.

use nalgebra::{DMatrix, DVector};

use super::adjoint::adjoint;
use super::expansion::Expansion;
use super::factors::factors;
use super::finish::weights;
use super::frame::frame;
use super::problem::LaplaceProblem;
use crate::math::power::times_two_to;
use crate::plan::ir::Options;
use crate::runtime::adjoint::Adjoint;
use crate::runtime::control::{Budget, Point};
use crate::runtime::solution::Failure;

/// The model at given hyperparameters, in the units of the problem.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// Weights in the model, ascending.
    pub active: Vec<usize>,
    /// Mode of the weights, k.
    pub mean: DVector<f64>,
    /// Covariance of the Gaussian at the mode, k × k.
    pub covariance: DMatrix<f64>,
    /// Well-determinedness, k; 1 for flat effects.
    pub gamma: Vec<f64>,
    /// Predictors at the mode, R.
    pub predictors: DVector<f64>,
    /// Score dl/df at the mode, R.
    pub score: DVector<f64>,
    /// Curvature −d²l/df² at the mode: for each term n blocks of d × d.
    pub curvature: Vec<Vec<f64>>,
    /// Log density of the data at the mode.
    pub log_likelihood: f64,
    /// Laplace evidence, all constants included.
    pub log_evidence: f64,
    /// Slope in ln theta with mode and curvature held (the papers' rule), one a hyperparameter.
    pub held_gradient: Vec<f64>,
    /// dZ/d ln theta, exact, with hyperpriors.
    pub gradient: Vec<f64>,
    /// S, Q with all active weights in the model, s, q with the weight left out (`NaN` for flat ones), M.
    pub big_s: Vec<f64>,
    /// See `big_s`.
    pub big_q: Vec<f64>,
    /// See `big_s`.
    pub s: Vec<f64>,
    /// See `big_s`.
    pub q: Vec<f64>,
    /// Exact derivatives of the evidence by everything else.
    pub adjoint: Adjoint,
}

/// The state at these hyperparameters. An infinite one takes its weights out of the model.
///
/// # Errors
/// As [`super::solve::solve`].
pub fn at(problem: &LaplaceProblem, options: &Options, hypers: &[f64]) -> Result<State, Failure> {
    let frame = frame(problem, options, &Budget::default())?;
    let core = &frame.core;
    if hypers.len() != core.hypers.len() || hypers.iter().any(|v| v.is_nan() || *v <= 0.0) {
        return Err(Failure::NonFinite { step: "hyperparameters" });
    }
    let log2 = |h: usize| core.hypers[h].log2 * std::f64::consts::LN_2;
    let x: Vec<f64> =
        hypers.iter().enumerate().map(|(h, v)| if v.is_finite() { v.ln() - log2(h) } else { 0.0 }).collect();
    let active = core
        .everything()
        .into_iter()
        .filter(|&i| core.weights[i].log.powers.iter().all(|&(h, _)| hypers[h].is_finite()))
        .collect();
    let point = Point { x, active };
    let mut warm = vec![0.0; core.flat.ncols() + core.weights.len()];
    let here = Expansion::new(&frame, &point, &mut warm)?;
    let factors = factors(&frame, &here);
    let found = weights(&frame, &here);
    let held = here.held_slopes(&frame);
    let exact = here.exact_slopes(&frame, &point.x);
    let nan = || vec![f64::NAN; core.total];
    let mut state = State {
        active: found.kept,
        mean: found.mean,
        covariance: found.covariance,
        gamma: found.gamma,
        predictors: &here.mode.f + &frame.centre.rows,
        score: here.mode.rows.score.clone(),
        curvature: here.mode.rows.curvature.clone(),
        log_likelihood: here.mode.rows.log_density,
        log_evidence: here.log_evidence,
        held_gradient: here.by_hyper(&frame, &point.x, &held),
        gradient: here.by_hyper(&frame, &point.x, &exact),
        big_s: nan(),
        big_q: nan(),
        s: nan(),
        q: nan(),
        adjoint: adjoint(&frame, &here, &point.x),
    };
    for (i, weight) in core.weights.iter().enumerate() {
        let (at, e) = (weight.index, weight.exponent);
        state.big_s[at] = times_two_to(factors.big_s[i], 2 * e);
        state.big_q[at] = times_two_to(factors.big_q[i], e);
        state.s[at] = times_two_to(factors.s[i], 2 * e);
        state.q[at] = times_two_to(factors.q[i], e);
    }
    Ok(state)
}
