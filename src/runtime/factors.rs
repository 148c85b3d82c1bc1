//! Sparsity and quality factors of every weight, and the best move of each (mathematics §3).

use nalgebra::DMatrix;

use super::core::Core;
use super::posterior::{Detail, Posterior};
use crate::math::cross::{cross, dot};
use crate::math::product::{gemm, times, zeros};
use crate::math::qr;

/// An addition needs q² − s above this fraction of s: a twin of an included function has q² = s
/// up to rounding.
const TWIN: f64 = 1e-8;
/// A column of which less than this is outside the model is its combination: nothing can be said.
pub(crate) const IN_SPAN: f64 = 1e-11;

/// S, Q with all active functions in the model; s, q with the function itself left out. All m.
pub(crate) struct Factors {
    pub big_s: Vec<f64>,
    pub big_q: Vec<f64>,
    pub s: Vec<f64>,
    pub q: Vec<f64>,
    /// |φ̃|² of the functions outside (0 inside).
    pub norm: Vec<f64>,
    /// Σ̃ Φ̃ᵀφ̃ of the functions outside, k × m, for exchanges; empty where nobody has asked.
    pub pull: DMatrix<f64>,
}

/// What can be done with a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Take it into the model.
    Add,
    /// Change its precision.
    ReEstimate,
    /// Take it out.
    Delete,
}

/// The best move of one function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Move {
    pub weight: usize,
    pub action: Action,
    /// Its new log precision (not for `Delete`).
    pub ln_precision: f64,
    /// Exact change of the log evidence, all else held.
    pub gain: f64,
}

impl Factors {
    pub fn new(core: &Core, roots: &[f64], p: &Posterior, detail: &Detail) -> Factors {
        Factors::with(core, roots, p, detail, DMatrix::zeros(0, 0))
    }

    /// With [`Factors::pull`].
    pub fn with_pull(core: &Core, roots: &[f64], p: &Posterior, detail: &Detail) -> Factors {
        Factors::with(core, roots, p, detail, zeros(p.active.len(), core.weights.len()))
    }

    fn with(core: &Core, roots: &[f64], p: &Posterior, detail: &Detail, pull: DMatrix<f64>) -> Factors {
        let m = core.weights.len();
        let zeros = || vec![0.0; m];
        let mut f = Factors { big_s: zeros(), big_q: zeros(), s: zeros(), q: zeros(), norm: zeros(), pull };
        let mut outside = vec![true; m];
        for (at, &i) in p.active.iter().enumerate() {
            outside[i] = false;
            // Σ_ii = d² Σ̃_ii, α = 1/d²: S = α γ, s = α γ/(1 − γ), Q = α m, q = m/Σ_ii
            let (d, rest) = (p.d[at], detail.sigma[(at, at)]);
            let alpha = 1.0 / (d * d);
            f.big_s[i] = alpha * p.gamma[at];
            f.big_q[i] = p.mean[at] / d;
            f.s[i] = alpha * p.gamma[at] / rest;
            f.q[i] = p.mean[at] / (d * rest);
        }
        let outside: Vec<usize> = (0..m).filter(|&i| outside[i]).collect();
        for chunk in outside.chunks(512) {
            let mut phi = columns(core, roots, p, chunk);
            // S = min_c |φ̃ − Φ̃ c|² + |c|², at c = Σ̃ Φ̃ᵀ φ̃: a sum of squares, no cancellation
            let c = times(&detail.sigma, &cross(&p.phi, &phi));
            let columns = phi.as_slice().chunks_exact(phi.nrows().max(1));
            for (column, &i) in columns.zip(chunk) {
                f.big_q[i] = dot(column, p.residual.as_slice());
                f.norm[i] = dot(column, column);
            }
            gemm(phi.as_view_mut(), -1.0, p.phi.as_view(), c.as_view(), 1.0);
            let columns = phi.as_slice().chunks_exact(phi.nrows().max(1));
            for ((column, c), &i) in columns.zip(c.column_iter()).zip(chunk) {
                let s = dot(column, column) + c.norm_squared();
                if !f.pull.is_empty() {
                    f.pull.set_column(i, &c);
                }
                f.big_s[i] = s;
                f.s[i] = s;
                f.q[i] = f.big_q[i];
                if f.is_in_span(i) {
                    f.q[i] = 0.0;
                }
            }
        }
        f
    }

    /// Whether a function is a combination of those in the model, up to rounding: nothing can be said.
    pub fn is_in_span(&self, i: usize) -> bool {
        self.big_s[i] <= IN_SPAN * self.norm[i]
    }

    /// The best move of function `i`, of log precision `ln_alpha` where it is in the model.
    pub fn best_move(&self, i: usize, ln_alpha: Option<f64>) -> Option<Move> {
        let (s, q) = (self.s[i], self.q[i]);
        if !(s > 0.0 && s.is_finite() && q.is_finite()) {
            return None;
        }
        let wanted = q * q - s > if ln_alpha.is_some() { 0.0 } else { TWIN * s };
        if !wanted && ln_alpha.is_none() {
            return None;
        }
        let best = 2.0 * s.ln() - (q * q - s).max(f64::MIN_POSITIVE).ln();
        let (action, ln_precision, after) = match (wanted, ln_alpha) {
            (true, Some(_)) => (Action::ReEstimate, best, best_contribution(s, q)),
            (true, None) => (Action::Add, best, best_contribution(s, q)),
            (false, _) => (Action::Delete, f64::INFINITY, 0.0),
        };
        let before = ln_alpha.map_or(0.0, |ln_alpha| contribution(s, q, ln_alpha));
        Some(Move { weight: i, action, ln_precision, gain: after - before })
    }
}

/// Columns in units of the noise, without their flat part.
fn columns(core: &Core, roots: &[f64], p: &Posterior, which: &[usize]) -> DMatrix<f64> {
    let n = core.phi.nrows();
    let mut phi = core.phi.select_columns(which);
    for column in phi.as_mut_slice().chunks_exact_mut(n.max(1)) {
        for (class, root) in core.classes.iter().zip(roots) {
            column[class.rows.clone()].iter_mut().for_each(|x| *x *= root);
        }
    }
    if core.classes.len() > 1 && p.q_flat.ncols() > 0 {
        qr::project_out(&p.q_flat, &mut phi);
    }
    phi
}

/// λ(α) = ½ [ln α − ln(α + s) + q²/(α + s)]
pub(crate) fn contribution(s: f64, q: f64, ln_alpha: f64) -> f64 {
    let alpha = ln_alpha.exp();
    if !alpha.is_finite() {
        return 0.0;
    }
    0.5 * (q * q / (alpha + s) - (s / alpha).ln_1p())
}

/// λ at its maximum: ½ (q²/s − 1 − ln(q²/s)), 0 where q² ≤ s.
pub(crate) fn best_contribution(s: f64, q: f64) -> f64 {
    let ratio = q * q / s;
    if ratio > 1.0 { 0.5 * (ratio - 1.0 - ratio.ln()) } else { 0.0 }
}
