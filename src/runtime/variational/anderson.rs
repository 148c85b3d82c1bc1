//! Extrapolation of a fixed-point iteration (Anderson 1965; Walker and Ni 2011): of the last steps
//! the combination whose residual is least.

use std::collections::VecDeque;

use nalgebra::{DMatrix, DVector};

/// Steps that are remembered.
const MEMORY: usize = 8;

/// The last points and residuals `G(u) − u`.
#[derive(Default)]
pub(crate) struct Anderson {
    last: Option<(DVector<f64>, DVector<f64>)>,
    /// Differences of points, and of residuals.
    steps: VecDeque<(DVector<f64>, DVector<f64>)>,
}

impl Anderson {
    /// Forgets all steps.
    pub fn forget(&mut self) {
        self.last = None;
        self.steps.clear();
    }

    /// The next point: `u + r − Σ c_j (Δu_j + Δr_j)`, where c is the least-squares fit of r by the Δr_j.
    /// Moves are at most `limit` in each coordinate beyond the plain step.
    pub fn next(&mut self, u: &DVector<f64>, residual: &DVector<f64>, limit: f64) -> DVector<f64> {
        if let Some((before, was)) = self.last.replace((u.clone(), residual.clone())) {
            self.steps.push_back((u - before, residual - was));
            if self.steps.len() > MEMORY {
                self.steps.pop_front();
            }
        }
        let plain = u + residual;
        let k = self.steps.len();
        if k == 0 {
            return plain;
        }
        let mut gram = DMatrix::from_fn(k, k, |i, j| self.steps[i].1.dot(&self.steps[j].1));
        let right = DVector::from_fn(k, |i, _| self.steps[i].1.dot(residual));
        let scale = gram.trace();
        for i in 0..k {
            gram[(i, i)] += 1e-12 * scale;
        }
        let Some(c) = gram.cholesky().map(|l| l.solve(&right)) else { return plain };
        let mut next = plain.clone();
        for (c, (du, dr)) in c.iter().zip(&self.steps) {
            next.axpy(-c, du, 1.0);
            next.axpy(-c, dr, 1.0);
        }
        if next.iter().any(|v| !v.is_finite()) {
            return plain;
        }
        for (v, p) in next.iter_mut().zip(plain.iter()) {
            *v = v.clamp(p - limit, p + limit);
        }
        next
    }
}
