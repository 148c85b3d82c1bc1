//! Sparsity and quality factors of every weight in the Gaussian at the mode (mathematics §4):
//! Q_j = φ_jᵀ δ, S_j = φ_jᵀ H φ_j − φ_jᵀ H Φ Σ Φᵀ H φ_j.

use nalgebra::DMatrix;

use super::expansion::Expansion;
use super::frame::Frame;
use crate::math::cross::{cross, cross_vector};
use crate::math::poll::poll;
use crate::math::product::times;
use crate::runtime::factors::{Factors, IN_SPAN};

/// Below this fraction of φᵀHφ the difference above has lost too many digits.
const CANCELLED: f64 = 1e-6;

/// S, Q, s, q of all m weights.
pub(super) fn factors(frame: &Frame, here: &Expansion) -> Factors {
    let core = &frame.core;
    let m = core.weights.len();
    let zeros = || vec![0.0; m];
    let pull = DMatrix::zeros(0, 0);
    let mut f = Factors { big_s: zeros(), big_q: zeros(), s: zeros(), q: zeros(), norm: zeros(), pull };
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
    // L⁻¹ Φ̃ᵀ H φ of every column: its square is what the model explains
    let mut half = cross(&here.mode.weighted, &core.phi);
    let quality = cross_vector(&core.phi, &here.mode.rows.score);
    here.mode.factor.solve_lower(&mut half);
    for i in (0..m).filter(|&i| outside[i] && core.usable[i]) {
        poll();
        let column = core.phi.column(i);
        let alone = here.mode.rows.norm(frame, column.as_slice());
        let mut s = alone - half.column(i).norm_squared();
        if s < CANCELLED * alone {
            // min_c |H^½(φ − Φ̃ c)|² + |P c|², a sum of squares
            let column = column.into_owned();
            let c = here.mode.factor.solve(&cross_vector(&here.mode.weighted, &column));
            let rest = column - &here.phi * &c;
            s = here.mode.rows.norm(frame, rest.as_slice())
                + c.rows(here.flat, c.len() - here.flat).norm_squared();
        }
        f.big_s[i] = s;
        f.norm[i] = alone;
        f.big_q[i] = quality[i];
        (f.s[i], f.q[i]) = (s, if s <= IN_SPAN * alone { 0.0 } else { f.big_q[i] });
    }
    f
}

/// Σ̃ Φ̃ᵀ H φ of every column, k × m.
pub(super) fn pull(frame: &Frame, here: &Expansion) -> DMatrix<f64> {
    let pull = times(&here.sigma, &cross(&here.mode.weighted, &frame.core.phi));
    pull.rows(here.flat, here.active.len()).into_owned()
}
