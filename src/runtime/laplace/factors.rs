//! Sparsity and quality factors of every weight in the Gaussian at the mode (mathematics §4):
//! Q_j = φ_jᵀ δ, S_j = φ_jᵀ H φ_j − φ_jᵀ H Φ Σ Φᵀ H φ_j.

use super::expansion::Expansion;
use super::frame::Frame;
use crate::runtime::factors::Factors;

/// Below this fraction of φᵀHφ the difference above has lost too many digits.
const CANCELLED: f64 = 1e-6;
/// A column of which less than this is outside the model is its combination: nothing can be said.
const IN_SPAN: f64 = 1e-11;

/// S, Q, s, q of all m weights.
pub(super) fn factors(frame: &Frame, here: &Expansion) -> Factors {
    let core = &frame.core;
    let m = core.weights.len();
    let mut f = Factors { big_s: vec![0.0; m], big_q: vec![0.0; m], s: vec![0.0; m], q: vec![0.0; m] };
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
        let mut half = here.mode.weighted.transpose() * &phi;
        here.mode.factor.solve_lower(&mut half);
        for (at, &i) in chunk.iter().enumerate() {
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
            f.big_q[i] = column.dot(&here.mode.rows.score);
            (f.s[i], f.q[i]) = (s, if s <= IN_SPAN * alone { 0.0 } else { f.big_q[i] });
        }
    }
    f
}
