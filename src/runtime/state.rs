//! Everything at one state: given hyperparameters, the exact posterior, the evidence, its slope, one
//! update by each rule, and the sparsity factors. For tests, teaching and single steps.

use nalgebra::{DMatrix, DVector};

use super::control::Point;
use super::core::Role;
use super::evidence::stored;
pub use super::factors::Action;
use super::factors::Factors;
use super::finish::weights;
use super::greedy::best_move;
use super::polish::Position;
use super::prepare::prepare;
use super::problem::Problem;
use super::slope::hessian;
use super::solution::Failure;
use super::updates::proposals;
use crate::math::power::times_two_to;
use crate::plan::ir::{Options, Updates};

/// The model at given hyperparameters, in the units of the problem.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// Weights in the model, ascending.
    pub active: Vec<usize>,
    /// Posterior mean, k.
    pub mean: DVector<f64>,
    /// Posterior covariance, k × k.
    pub covariance: DMatrix<f64>,
    /// Well-determinedness, k; 1 for flat effects.
    pub gamma: Vec<f64>,
    /// Log evidence, all constants included.
    pub log_evidence: f64,
    /// Log evidence plus the log hyperprior without its constants.
    pub objective: f64,
    /// d objective / d ln theta, one a hyperparameter (0 for held ones).
    pub gradient: Vec<f64>,
    /// d² objective / d ln theta², over all hyperparameters.
    pub hessian: DMatrix<f64>,
    /// One MacKay update of all hyperparameters; negative where the formula gives no usable one.
    pub mackay: Vec<f64>,
    /// One EM update of all hyperparameters.
    pub em: Vec<f64>,
    /// S and Q of every weight with a normal prior, all active ones in the model (`NaN` for flat ones).
    pub big_s: Vec<f64>,
    /// See `big_s`.
    pub big_q: Vec<f64>,
    /// s and q of every weight, it being left out.
    pub s: Vec<f64>,
    /// See `s`.
    pub q: Vec<f64>,
    /// Best move of every weight with a precision of its own: what, its new precision, its exact gain.
    pub moves: Vec<Option<(Action, f64, f64)>>,
    /// The move of largest gain.
    pub best: Option<usize>,
}

/// The state at these hyperparameters. An infinite one takes its weights out of the model.
///
/// # Errors
/// As [`super::evidence::solve`].
pub fn at(problem: &Problem, options: &Options, hypers: &[f64]) -> Result<State, Failure> {
    let mut design = stored(problem)?;
    let budget = super::control::Budget::default();
    let core = prepare(problem, &mut design, options, &budget, true)?.core;
    if hypers.len() != core.hypers.len() || hypers.iter().any(|v| v.is_nan() || *v <= 0.0) {
        return Err(Failure::NonFinite { step: "hyperparameters" });
    }
    let x: Vec<f64> = hypers
        .iter()
        .zip(&core.hypers)
        .map(
            |(value, hyper)| {
                if value.is_finite() { value.ln() - hyper.log2 * std::f64::consts::LN_2 } else { 0.0 }
            },
        )
        .collect();
    let active = core
        .everything()
        .into_iter()
        .filter(|&i| core.weights[i].log.powers.iter().all(|&(h, _)| hypers[h].is_finite()))
        .collect();
    let point = Point { x, active };
    let here = Position::new(&core, &point)?;
    let factors = Factors::new(&core, &core.roots(&point.x), &here.posterior, &here.detail);
    let everything: Vec<usize> = (0..core.hypers.len()).collect();
    let update = |rule: Updates| -> Vec<f64> {
        proposals(&core, &point.x, &here.posterior, rule)
            .iter()
            .zip(hypers)
            .map(|(p, value)| match p.ratio > 0.0 {
                true => value * p.ratio.powf(p.exponent),
                false => value * p.ratio,
            })
            .collect()
    };
    let found = weights(&core, &here);
    let mut state = State {
        active: found.kept,
        mean: found.mean,
        covariance: found.covariance,
        gamma: found.gamma,
        log_evidence: here.posterior.log_evidence,
        objective: here.objective,
        hessian: hessian(&core, &point.x, &here.posterior, &here.detail, &everything),
        mackay: update(Updates::MacKay),
        em: update(Updates::Em),
        gradient: here.gradient.clone(),
        big_s: vec![f64::NAN; core.total],
        big_q: vec![f64::NAN; core.total],
        s: vec![f64::NAN; core.total],
        q: vec![f64::NAN; core.total],
        moves: vec![None; core.total],
        best: best_move(&core, &point, &factors, |_| true).map(|m| core.weights[m.weight].index),
    };
    for (i, weight) in core.weights.iter().enumerate() {
        let (at, e) = (weight.index, weight.exponent);
        state.big_s[at] = times_two_to(factors.big_s[i], 2 * e);
        state.big_q[at] = times_two_to(factors.big_q[i], e);
        state.s[at] = times_two_to(factors.s[i], 2 * e);
        state.q[at] = times_two_to(factors.q[i], e);
        let inside = point.active.binary_search(&i).is_ok();
        if let (Some((h, power)), Some(m)) =
            (weight.own, factors.best_move(i, inside.then(|| weight.log.at(&point.x))))
        {
            let rest = weight.log.at(&point.x) - power * point.x[h];
            let value = core.hypers[h].value((m.ln_precision - rest) / power);
            debug_assert!(matches!(core.hypers[h].role, Role::Own(_)));
            state.moves[at] = Some((m.action, value, m.gain));
        }
    }
    Ok(state)
}
