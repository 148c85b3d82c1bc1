//! One cycle from given expectations: every factor and every term of the bound. For tests, teaching and
//! single steps.

use nalgebra::{DMatrix, DVector};

pub use super::bound::Terms;
use super::bound::terms;
use super::core::Core;
use super::problem::Problem;
use super::state::State;
use crate::plan::ir::Options;
use crate::runtime::solution::Failure;

/// The factors after one cycle.
#[derive(Clone, PartialEq, Debug)]
pub struct Cycle {
    /// ⟨w⟩, M.
    pub mean: DVector<f64>,
    /// Σ, M × M (blocks of zeros between the factors of `blocks = separate`).
    pub covariance: DMatrix<f64>,
    /// Shape, rate, ⟨θ⟩ and ⟨ln θ⟩ of each hyperparameter.
    pub hypers: Vec<[f64; 4]>,
    /// ⟨λ⟩ or the point of contact of every row that has one, in the order of the rows.
    pub rows: Vec<f64>,
    /// Shape and rate of q(λ) of these rows, where they have one.
    pub scales: Vec<Option<(f64, f64)>>,
    /// The bound after each update.
    pub bounds: Vec<f64>,
    /// Its terms at the end.
    pub terms: Terms,
}

/// One cycle in the order of the papers: weights, hyperparameters of weights, factors or bounds of rows,
/// hyperparameters of rows. `hypers` are ⟨θ⟩; `rows` what each row with a factor or bound of its own has:
/// ⟨λ⟩, or the point of contact.
///
/// # Errors
/// As [`super::solve()`].
pub fn cycle(problem: &Problem, options: &Options, hypers: &[f64], rows: &[f64]) -> Result<Cycle, Failure> {
    let core = Core::new(problem, options);
    if hypers.len() != core.hypers.len() || !hypers.iter().all(|v| *v > 0.0 && v.is_finite()) {
        return Err(Failure::NonFinite { step: "hyperparameters" });
    }
    let mut own = rows.iter();
    let at: Vec<f64> = core
        .classes
        .iter()
        .map(|c| match c.local {
            super::core::Local::Nothing => 1.0,
            _ => own.next().copied().unwrap_or(1.0),
        })
        .collect();
    let mut state = State::new(&core, hypers, &at);
    let mut bounds = Vec::new();
    for g in 0..core.groups.len() {
        state.update_weights(&core, g)?;
    }
    bounds.push(terms(&core, &state).sum());
    let f = state.f();
    for &h in &core.order[..core.before_rows] {
        state.update_hyper(&core, h, &f);
        bounds.push(terms(&core, &state).sum());
    }
    for c in 0..core.classes.len() {
        state.update_row(&core, c, &f);
    }
    bounds.push(terms(&core, &state).sum());
    for &h in &core.order[core.before_rows..] {
        state.update_hyper(&core, h, &f);
        bounds.push(terms(&core, &state).sum());
    }
    let m = core.weights.len();
    let mut covariance = DMatrix::zeros(m, m);
    for group in &state.groups {
        let Some(q) = &group.q else { continue };
        let order: Vec<usize> = group.penalised.iter().chain(&group.flat).copied().collect();
        let sigma = q.covariance();
        for (a, &i) in order.iter().enumerate() {
            for (b, &j) in order.iter().enumerate() {
                covariance[(i, j)] = sigma[(a, b)];
            }
        }
    }
    let own: Vec<_> = state.rows.iter().filter(|r| **r != super::state::RowFactor::Nothing).collect();
    Ok(Cycle {
        mean: DVector::from_column_slice(&state.mean),
        covariance,
        hypers: state.hypers.iter().map(|q| [q.shape(), q.rate(), q.mean(), q.mean_ln()]).collect(),
        rows: own.iter().map(|r| r.at()).collect(),
        scales: own
            .iter()
            .map(|r| match r {
                super::state::RowFactor::Scale(q) => Some((q.shape(), q.rate())),
                _ => None,
            })
            .collect(),
        bounds,
        terms: terms(&core, &state),
    })
}
