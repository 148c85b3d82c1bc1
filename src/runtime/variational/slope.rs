//! The bound at given expectations of the hyperparameters, and its derivative by these and by everything
//! that a problem is made of.
//!
//! All other factors are at their best, where the bound is stationary, so only explicit dependences count.
//! With h_n the expected precision of a row (the curvature of its bound), m and Σ of q(w), v_n = φ_nᵀ Σ φ_n
//! and g_n the slope of its quadratic at f_n = φ_nᵀ m (h_n (t_n − f_n) for a Gaussian row):
//!
//! dL/dΦ = g mᵀ − H Φ Σ,  dL/d offset = g,  dL/d ln known precision of a row = ½ (k_n − h_n (r_n² + v_n)),
//! the same of a weight = ½ (1 − ⟨α_i⟩ (m_i² + Σ_ii)),  dL/d ln⟨θ⟩ = a~ − b~⟨θ⟩,
//! dL/dν = ½ k_n (ln ν/2 + 1 − ψ(ν/2) + ⟨ln λ_n⟩ − ⟨λ_n⟩)  (mathematics §8, §9).

use nalgebra::{DMatrix, DVector};

use super::ascend::{Climb, settle};
use super::core::{Core, Local};
use super::problem::{Kind, Problem, WeightPrior};
use super::solve::{check, covariance};
use super::start::{Start, start};
use super::state::{RowFactor, State};
use crate::math::special::digamma;
use crate::plan::ir::Options;
use crate::runtime::adjoint::{Adjoint, Slope};
use crate::runtime::control::Budget;
use crate::runtime::solution::Failure;

/// How far the logarithm of an expectation may go.
const FARTHEST: f64 = 600.0;

/// The bound and its slopes, with every weight of the problem in the model.
///
/// # Errors
/// As [`super::solve()`].
pub fn slope(
    problem: &Problem,
    options: &Options,
    budget: &Budget,
    hypers: &[f64],
) -> Result<Slope, Failure> {
    check(problem, budget)?;
    if hypers.len() != problem.hypers.len() || hypers.iter().any(|v| v.is_nan() || *v <= 0.0) {
        return Err(Failure::NonFinite { step: "hyperparameters" });
    }
    let core = Core::whole(problem, options);
    let (usual, rows) = start(&core, problem, Start::attempt(0));
    // infinite is one whose weights are not in the problem
    let given: Vec<f64> =
        usual.iter().zip(hypers).map(|(usual, h)| if h.is_finite() { *h } else { *usual }).collect();
    let Climb { state, bound } = settle(&core, State::new(&core, &given, &rows))?;
    let all: Vec<usize> = (0..core.weights.len()).collect();
    let (mean, sigma) = (DVector::from_column_slice(&state.mean), covariance(&state, &all));
    let f = state.f();
    let free = |h: usize| hypers[h].is_finite() && !state.gone[h];
    let slopes = (0..hypers.len()).map(|h| if free(h) { state.slope(&core, h, &f) } else { 0.0 });
    let (adjoint, information) = adjoint(problem, &core, &state, &mean, &sigma);
    Ok(Slope {
        objective: bound,
        log_evidence: bound,
        hypers: slopes.collect(),
        bounds: core.hypers.iter().map(|h| (-FARTHEST, h.cap.ln().min(FARTHEST))).collect(),
        mean,
        information,
        adjoint,
    })
}

/// Derivatives by the parts of the problem, and the precision of each row.
fn adjoint(
    problem: &Problem,
    core: &Core,
    state: &State,
    mean: &DVector<f64>,
    sigma: &DMatrix<f64>,
) -> (Adjoint, Vec<f64>) {
    let phi = &problem.design;
    let (n, m) = phi.shape();
    let (fitted, phi_sigma) = (phi * mean, phi * sigma);
    let (mut g, mut h, mut noise_log) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut args: Vec<Vec<f64>> =
        vec![Vec::new(); problem.rows.iter().map(|r| r.term + 1).max().unwrap_or(0)];
    // rows with a factor or a bound of their own are classes in the order of the rows
    let mut own = core.classes.iter().zip(&state.rows).filter(|(class, _)| !is_nothing(&class.local));
    for (r, row) in problem.rows.iter().enumerate() {
        let single = if row.count > 0.0 && row.kind != Kind::Gaussian { own.next() } else { None };
        let variance = phi.row(r).dot(&phi_sigma.row(r));
        let residual = row.target - row.offset - fitted[r];
        let scale = match single {
            Some((_, RowFactor::Scale(lambda))) => lambda.mean(),
            _ => 1.0,
        };
        if let Some((_, RowFactor::Contact(_, bound))) = single {
            h[r] = row.count * bound.curvature;
            g[r] = row.count * (bound.slope - bound.curvature * (row.offset + fitted[r]));
        } else {
            h[r] = row.count * scale * state.expected(&row.noise);
            g[r] = h[r] * residual;
            noise_log[r] = 0.5 * (row.count - h[r] * (residual * residual + variance));
        }
        let dof = match (single, row.kind) {
            (Some((_, RowFactor::Scale(lambda))), Kind::Mixture { dof }) => {
                let half = 0.5 * dof;
                let by_half = half.ln() + 1.0 - digamma(half) + lambda.mean_ln() - lambda.mean();
                0.5 * row.count * by_half
            }
            _ => 0.0,
        };
        args[row.term].push(dof);
    }
    let design = DMatrix::from_fn(n, m, |r, i| g[r] * mean[i] - h[r] * phi_sigma[(r, i)]);
    let weight_log = problem.weights.iter().enumerate().map(|(i, prior)| match prior {
        WeightPrior::Flat => 0.0,
        WeightPrior::Normal(product) => {
            0.5 * (1.0 - state.expected(product) * (mean[i] * mean[i] + sigma[(i, i)]))
        }
    });
    (Adjoint { design, offset: g, noise_log, weight_log: weight_log.collect(), args }, h)
}

fn is_nothing(local: &Local) -> bool {
    matches!(local, Local::Nothing)
}
