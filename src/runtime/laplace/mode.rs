//! The mode of the weights by Newton's method (mathematics §4).
//!
//! In units of the prior, `w = D w̃` with `D = A^−½` (1 for flat effects) and `Φ̃ = Φ D`:
//! ψ = Σ k l(f) − ½ w̃ᵀ P w̃, f = offset + Φ̃ w̃, P = 1 (0 for flat effects),
//! g = Φ̃ᵀ δ − P w̃, B = P + Φ̃ᵀ H Φ̃, step B⁻¹ g.

use nalgebra::{DMatrix, DVector};

use super::frame::Frame;
use super::rows::Rows;
use crate::math::chol::Cholesky;
use crate::math::cross::{cross, cross_vector, times_vector};
use crate::runtime::solution::Failure;

/// Below this decrement ψ says nothing more: its rounding is larger.
pub(super) const SMALL: f64 = 1e-9;
/// Decrement at which the mode is found.
pub(super) const FOUND: f64 = 1e-24;
/// The same for updates of precisions, which will be others before the mode matters: curvature is off by the square root of it,
/// in deviations of the posterior.
pub(super) const CLOSE: f64 = 1e-5;
/// The same for the first ones, which prune nothing.
pub(super) const LOOSE: f64 = 1e-2;
/// Over Σ h f², what rounding leaves of a decrement: (4 ε)².
pub(super) const ROUNDING: f64 = 8e-31;
/// Newton steps at most.
pub(super) const MOST: usize = 200;
/// Decrement at which the score has vanished.
const VANISHED: f64 = 1e-10;
/// A step of a predictor that is none any more at a mode.
const RUNAWAY: f64 = 1e-3;
/// A predictor beyond this is on its way to infinity.
const FAR: f64 = 1e8;

/// Everything at the mode.
pub(super) struct Mode {
    /// w̃, f + k.
    pub mean: DVector<f64>,
    pub f: DVector<f64>,
    pub rows: Rows,
    /// H Φ̃, R × (f + k).
    pub weighted: DMatrix<f64>,
    /// Φ̃ᵀ H Φ̃
    pub gram: DMatrix<f64>,
    pub factor: Cholesky,
    /// ψ there.
    pub log_joint: f64,
}

/// The mode of the weights with design `phi` = Φ̃, the first `flat` columns without a prior, from w̃ = `start`, up to a
/// decrement of `found`; from 0 if that start is where curvatures vanish.
pub(super) fn mode(
    frame: &Frame,
    x: &[f64],
    phi: &DMatrix<f64>,
    flat: usize,
    start: DVector<f64>,
    found: f64,
) -> Result<Mode, Failure> {
    let nothing = DVector::zeros(start.len());
    let began = start != nothing;
    match newton(frame, x, phi, flat, start, found) {
        Err(_) if began => newton(frame, x, phi, flat, nothing, found),
        done => done,
    }
}

/// Newton's method from one start.
fn newton(
    frame: &Frame,
    x: &[f64],
    phi: &DMatrix<f64>,
    flat: usize,
    start: DVector<f64>,
    found: f64,
) -> Result<Mode, Failure> {
    let prior = |i: usize| if i < flat { 0.0 } else { 1.0 };
    let joint = |rows: &Rows, w: &DVector<f64>| {
        rows.log_density - 0.5 * w.iter().enumerate().map(|(i, w)| prior(i) * w * w).sum::<f64>()
    };
    let mut w = start;
    let mut f = &frame.offset + times_vector(phi, &w);
    let mut rows = Rows::new(frame, x, &f);
    if !rows.is_finite() {
        w.fill(0.0);
        f.copy_from(&frame.offset);
        rows = Rows::new(frame, x, &f);
    }
    if !rows.is_finite() {
        return Err(Failure::NonFinite { step: "likelihood at the start" });
    }
    let mut psi = joint(&rows, &w);
    let mut last = f64::INFINITY;
    for _ in 0..MOST {
        let weighted = rows.times(frame, phi);
        let gram = cross(phi, &weighted);
        let mut b = gram.clone();
        (0..b.nrows()).for_each(|i| b[(i, i)] += prior(i));
        let factor =
            Cholesky::new(&b).map_err(|p| Failure::NotPositiveDefinite { step: "mode", pivot: p.0 })?;
        let mut g = cross_vector(phi, &rows.score);
        (0..g.len()).for_each(|i| g[i] -= prior(i) * w[i]);
        let step = factor.solve(&g);
        let decrement = g.dot(&step);
        if !decrement.is_finite() {
            return Err(Failure::NonFinite { step: "mode" });
        }
        // rounding: plain steps no longer shrink the decrement
        let settled = decrement <= found.max(ROUNDING * rows.norm(frame, f.as_slice()))
            || (decrement < SMALL * SMALL && decrement >= 0.25 * last);
        // flat effects on their way to infinity: the score vanishes, their steps do not. Weights that go as far have a prior, and
        // take flat effects along a little
        let runs = settled && flat > 0 && {
            let part =
                |first: usize, n: usize| frame.farthest(&(phi.columns(first, n) * step.rows(first, n)));
            let by_flat = part(0, flat);
            by_flat > RUNAWAY && by_flat > part(flat, step.len() - flat)
        };
        if runs && decrement <= VANISHED {
            return Err(Failure::NoMode);
        }
        if settled && !runs {
            // the last step is taken too, without a look at the curvature there
            let mean = w + step;
            let (f, log_joint) = (&frame.offset + times_vector(phi, &mean), psi + 0.5 * decrement);
            return Ok(Mode { mean, f, rows, weighted, gram, factor, log_joint });
        }
        last = decrement;
        let mut size = 1.0;
        loop {
            let next = &w + &step * size;
            let at = &frame.offset + times_vector(phi, &next);
            let there = Rows::new(frame, x, &at);
            let value = joint(&there, &next);
            if there.is_finite() && (decrement < SMALL || value >= psi) {
                (w, f, rows, psi) = (next, at, there, value);
                break;
            }
            size *= 0.5;
            if size < 1e-30 {
                return Err(Failure::NoMode);
            }
        }
        if frame.farthest(&f) > FAR {
            return Err(Failure::NoMode);
        }
    }
    Err(Failure::NoMode)
}
