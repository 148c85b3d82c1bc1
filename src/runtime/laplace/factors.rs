//! Sparsity and quality factors of every weight in the Gaussian at the mode (mathematics §4):
//! Q_j = φ_jᵀ δ, S_j = φ_jᵀ H φ_j − φ_jᵀ H Φ Σ Φᵀ H φ_j.

use super::expansion::Expansion;
use super::frame::Frame;
use crate::math::poll::poll;
use crate::math::product::{times, transposed_times};
use crate::runtime::factors::{Factors, best_contribution, contribution};

/// Below this fraction of φᵀHφ the difference above has lost too many digits.
const CANCELLED: f64 = 1e-6;
/// A column of which less than this is outside the model is its combination: nothing can be said.
const IN_SPAN: f64 = 1e-11;

/// S, Q, s, q of all m weights.
pub(super) fn factors(frame: &Frame, here: &Expansion) -> Factors {
    let core = &frame.core;
    let m = core.weights.len();
    let zeros = || vec![0.0; m];
    let mut f = Factors { big_s: zeros(), big_q: zeros(), s: zeros(), q: zeros(), norm: zeros() };
    let mut outside = vec![true; m];
    for (at, &i) in here.active.iter().enumerate() {
        outside[i] = false;
        // Σ_ii = d² Σ̃_ii, α = 1/d²: S = α γ, s = α γ/(1 − γ), Q = α w, q = w/Σ_ii
        let (d, rest, mean) = (here.d[here.flat + at], here.variance(at), here.mean(at));
        let alpha = 1.0 / (d * d);
        f.big_s[i] = alpha * here.gamma[at];
        f.big_q[i] = mean / d;
        f.s[i] = alpha * here.gamma[at] / rest;
        f.q[i] = mean / (d * rest);
    }
    let outside: Vec<usize> = (0..m).filter(|&i| outside[i] && core.usable[i]).collect();
    for chunk in outside.chunks(512) {
        let phi = core.phi.select_columns(chunk);
        // L⁻¹ Φ̃ᵀ H φ: its square is what the model explains
        let mut half = transposed_times(&here.mode.weighted, &phi);
        here.mode.factor.solve_lower(&mut half);
        for (at, &i) in chunk.iter().enumerate() {
            poll();
            let column = phi.column(at);
            let alone = here.mode.rows.norm(frame, column.as_slice());
            let mut s = alone - half.column(at).norm_squared();
            if s < CANCELLED * alone {
                // min_c |H^½(φ − Φ̃ c)|² + |P c|², a sum of squares
                let c = here.mode.factor.solve(&(here.mode.weighted.transpose() * column));
                let rest = column - &here.phi * &c;
                s = here.mode.rows.norm(frame, rest.as_slice())
                    + c.rows(here.flat, c.len() - here.flat).norm_squared();
            }
            f.big_s[i] = s;
            f.norm[i] = alone;
            f.big_q[i] = column.dot(&here.mode.rows.score);
            (f.s[i], f.q[i]) = (s, if s <= IN_SPAN * alone { 0.0 } else { f.big_q[i] });
        }
    }
    f
}

/// Putting one function in the place of another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Swap {
    /// The weight that leaves.
    pub out: usize,
    /// The one that enters.
    pub into: usize,
    /// Its log precision.
    pub ln_precision: f64,
    /// Gain of both moves together in the Gaussian at the mode.
    pub gain: f64,
}

/// The swap of largest gain among those that `may_enter` allows. Without function i,
/// s_j = S_j + p_ij²/Σ_ii and q_j = Q_j + p_ij w_i/Σ_ii, p_ij = [Σ Φᵀ H φ_j]_i.
pub(super) fn best_swap(
    frame: &Frame,
    here: &Expansion,
    x: &[f64],
    f: &Factors,
    may_enter: impl Fn(usize) -> bool,
) -> Option<Swap> {
    let core = &frame.core;
    let leaving: Vec<usize> =
        (0..here.active.len()).filter(|at| core.weights[here.active[*at]].own.is_some()).collect();
    let loses: Vec<f64> =
        here.active.iter().map(|&i| contribution(f.s[i], f.q[i], core.weights[i].log.at(x))).collect();
    let candidates: Vec<usize> = (0..core.weights.len())
        .filter(|i| core.usable[*i] && core.weights[*i].own.is_some() && may_enter(*i))
        .filter(|i| here.active.binary_search(i).is_err())
        .collect();
    let mut best: Option<Swap> = None;
    for chunk in candidates.chunks(512) {
        let phi = core.phi.select_columns(chunk);
        let p = times(&here.sigma, &transposed_times(&here.mode.weighted, &phi));
        for (column, &j) in chunk.iter().enumerate() {
            for &at in &leaving {
                let (p, v) = (p[(here.flat + at, column)], here.variance(at));
                let (s, q) = (f.big_s[j] + p * p / v, f.big_q[j] + p * here.mean(at) / v);
                let gain = best_contribution(s, q) - loses[at];
                if s > IN_SPAN * f.norm[j] && gain > best.map_or(0.0, |b| b.gain) {
                    let ln_precision = 2.0 * s.ln() - (q * q - s).ln();
                    best = Some(Swap { out: here.active[at], into: j, ln_precision, gain });
                }
            }
        }
    }
    best.filter(|b| b.ln_precision.is_finite())
}
