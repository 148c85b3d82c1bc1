//! The mode where there are more weights than their columns have dimensions, as with a smooth kernel: in
//! the coordinates of an orthonormal basis of the columns (mathematics §4; Rasmussen and Williams 2006,
//! algorithm 3.1).
//!
//! Φ = Q C, u = C w. With S = C A⁻¹ Cᵀ, u has the prior N(0, S), and u = S v for some v:
//! ψ = Σ k l(f) − ½ vᵀ S v, f = offset + Q u, g = Qᵀ δ, G = Qᵀ H Q = L Lᵀ, B = I + Lᵀ S L (r × r);
//! Newton's step goes to v = b − L B⁻¹ Lᵀ S b, b = G u + g. At the mode w = A⁻¹ Cᵀ v and
//! γ_i = |R⁻¹ Lᵀ c_i|²/α_i, B = R Rᵀ.

use nalgebra::{DMatrix, DVector};

use super::frame::Frame;
use super::mode::{MOST, ROUNDING, SMALL};
use super::rows::Rows;
use crate::math::chol::{BadPivot, Cholesky};
use crate::math::cross::{cross_vector, times_vector};
use crate::math::gram::{gram, symmetric_cross};
use crate::math::product::times;
use crate::runtime::compress::order;
use crate::runtime::control::Point;
use crate::runtime::reduce::Basis;
use crate::runtime::solution::Failure;
use crate::runtime::updates::Summary;

/// Fewer weights than these are not worth a basis.
const LEAST: usize = 64;
/// What updates may not see of a column, as a fraction of it: its square is what they see of that.
pub(super) const ROUGH: f64 = 1e-4;

/// A basis of the columns, and their coordinates.
pub(super) struct Span {
    /// Q, R × r.
    basis: DMatrix<f64>,
    /// C, r × m.
    coordinates: DMatrix<f64>,
}

impl Span {
    /// A basis of the columns to this fraction of each, of less than half as many vectors as there are rows and columns;
    /// `None` if there is none, or if there are flat effects or unknown precisions of likelihoods.
    pub fn new(frame: &Frame, tolerance: f64) -> Option<Span> {
        let core = &frame.core;
        let (n, m) = core.phi.shape();
        if core.flat.ncols() > 0 || !core.classes.is_empty() || m < LEAST || n < LEAST {
            return None;
        }
        let mut basis = Basis::to(tolerance, n, n.min(m) / 2);
        let mut parts = Vec::new();
        for block in order(n, m) {
            let part = basis.take(core.phi.select_columns(&block))?;
            parts.push((block, part));
        }
        let mut coordinates = DMatrix::zeros(basis.rank(), m);
        for (block, part) in parts {
            for (column, i) in part.column_iter().zip(block) {
                coordinates.view_mut((0, i), (part.nrows(), 1)).copy_from(&column);
            }
        }
        Some(Span { basis: basis.into_vectors(), coordinates })
    }

    /// Number of basis vectors, r.
    pub fn rank(&self) -> usize {
        self.basis.ncols()
    }

    /// The mode at a point, from the last one, which becomes the new one, up to a decrement of `found`.
    pub fn moments(
        &self,
        frame: &Frame,
        point: &Point,
        found: f64,
        last: &mut Option<Last>,
    ) -> Result<Summary, Failure> {
        let core = &frame.core;
        let d: Vec<f64> =
            point.active.iter().map(|&i| (-0.5 * core.weights[i].log.at(&point.x)).exp()).collect();
        if d.iter().any(|v| !(v.is_finite() && *v > 0.0)) {
            return Err(Failure::NonFinite { step: "precisions" });
        }
        // C̃ = C D and its transpose
        let mut c = self.coordinates.select_columns(&point.active);
        for (mut column, d) in c.column_iter_mut().zip(&d) {
            column.scale_mut(*d);
        }
        let s = gram(&c.transpose());
        let mode = self.mode(frame, &point.x, &s, found, last.take())?;
        let mut map = mode.at.local.root.transpose();
        mode.factor.solve_lower(&mut map);
        let half = times(&map, &c);
        let gamma: Vec<f64> = half.column_iter().map(|h| h.norm_squared().min(1.0)).collect();
        let log_evidence = core.constant + mode.log_joint - 0.5 * mode.factor.ln_det();
        if !log_evidence.is_finite() {
            return Err(Failure::NonFinite { step: "log evidence" });
        }
        let (mean, jitter) = (cross_vector(&c, &mode.at.v), mode.factor.jitter());
        *last = Some(mode.at);
        Ok(Summary {
            variance: gamma.iter().map(|gamma| 1.0 - gamma).collect(),
            gamma,
            mean: mean.as_slice().to_vec(),
            log_evidence,
            jitter,
            leverage: Vec::new(),
            rss: Vec::new(),
        })
    }

    /// Newton's method for v, as [`super::mode::mode`], from where the likelihoods near the last mode lead, however precisions
    /// have changed; or from the last v, if that is no better than 0.
    fn mode(
        &self,
        frame: &Frame,
        x: &[f64],
        s: &DMatrix<f64>,
        found: f64,
        last: Option<Last>,
    ) -> Result<Mode, Failure> {
        let at = |v: DVector<f64>| {
            let u = s * &v;
            let f = &frame.offset + times_vector(&self.basis, &u);
            let rows = Rows::new(frame, x, &f);
            let (psi, size) = (rows.log_density - 0.5 * u.dot(&v), rows.norm(frame, f.as_slice()));
            At { v, u, rows, psi, size }
        };
        let nothing = || at(DVector::zeros(self.rank()));
        let (mut here, zero) = match last {
            Some(Last { local, v, zero }) => {
                let step = local.step(s).ok().map(|(_, to)| to);
                let good = |start: &At| start.rows.is_finite() && start.psi >= zero;
                let start = step.into_iter().chain([v]).map(at).find(good);
                (start.unwrap_or_else(nothing), zero)
            }
            None => {
                let here = nothing();
                let zero = here.psi;
                (here, zero)
            }
        };
        let mut before = f64::INFINITY;
        for _ in 0..MOST {
            let local = self.local(frame, &here)?;
            let (factor, to) = local.step(s)?;
            let step = &to - &here.v;
            let decrement = step.dot(&(s * (&local.score - &here.v)));
            if !decrement.is_finite() {
                return Err(Failure::NonFinite { step: "mode" });
            }
            let rounding = decrement < SMALL * SMALL && decrement >= 0.25 * before;
            if decrement <= found.max(ROUNDING * here.size) || rounding {
                // the last step is taken too, without a look at the curvature there
                let log_joint = here.psi + 0.5 * decrement;
                return Ok(Mode { factor, log_joint, at: Last { local, v: to, zero } });
            }
            before = decrement;
            let mut size = 1.0;
            loop {
                let there = at(&here.v + &step * size);
                if there.rows.is_finite() && (decrement < SMALL || there.psi >= here.psi) {
                    here = there;
                    break;
                }
                size *= 0.5;
                if size < 1e-30 {
                    return Err(Failure::NoMode);
                }
            }
        }
        Err(Failure::NoMode)
    }

    /// The likelihoods near a place.
    fn local(&self, frame: &Frame, At { u, rows, .. }: &At) -> Result<Local, Failure> {
        let score = cross_vector(&self.basis, &rows.score);
        let curvature = symmetric_cross(&self.basis, &rows.times(frame, &self.basis));
        let root = Cholesky::new(&curvature).map_err(failed)?.lower().clone();
        let right = &root * root.tr_mul(u) + &score;
        Ok(Local { root, score, right })
    }
}

fn failed(pivot: BadPivot) -> Failure {
    Failure::NotPositiveDefinite { step: "mode", pivot: pivot.0 }
}

/// The likelihoods near a u to second order.
struct Local {
    /// L
    root: DMatrix<f64>,
    /// g
    score: DVector<f64>,
    /// b = L Lᵀu + g
    right: DVector<f64>,
}

impl Local {
    /// The factor of B, and where Newton's step leads: it depends on no v.
    fn step(&self, s: &DMatrix<f64>) -> Result<(Cholesky, DVector<f64>), Failure> {
        let l = &self.root;
        let mut b = times(&l.transpose(), &times(s, l));
        (0..b.nrows()).for_each(|i| b[(i, i)] += 1.0);
        let factor = Cholesky::new(&b).map_err(failed)?;
        let to = &self.right - l * factor.solve(&l.tr_mul(&(s * &self.right)));
        Ok((factor, to))
    }
}

/// What the next search begins from: the likelihoods near the last mode, its v, and ψ at v = 0.
pub(super) struct Last {
    local: Local,
    v: DVector<f64>,
    zero: f64,
}

/// A place of the search.
struct At {
    v: DVector<f64>,
    u: DVector<f64>,
    rows: Rows,
    psi: f64,
    /// Σ h f²
    size: f64,
}

/// The factor of B, and ψ at the mode.
struct Mode {
    factor: Cholesky,
    log_joint: f64,
    at: Last,
}

#[cfg(test)]
mod tests {
    use super::super::expansion::Expansion;
    use super::super::frame::frame;
    use super::super::mode::FOUND;
    use super::super::problem::{LaplaceProblem, Likelihood};
    use super::*;
    use crate::dist::family;
    use crate::plan::ir::Options;
    use crate::runtime::control::Budget;
    use crate::runtime::problem::{Hyper, Scale, WeightPrior};
    use crate::runtime::reduce::TOLERANCE;

    /// Two classes under a smooth kernel of n centres.
    fn classes(n: usize) -> LaplaceProblem {
        let x = |i: usize| 8.0 * i as f64 / n as f64 - 4.0;
        let own = |i| WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(i, 1.0)] });
        LaplaceProblem {
            terms: vec![Likelihood {
                family: family("Bernoulli").unwrap(),
                place: 0,
                width: 1,
                values: (0..n).map(|i| f64::from(x(i).sin() + ((7 * i * i) as f64).sin() > 0.0)).collect(),
                counts: (0..n).map(|i| 1.0 + (i % 3) as f64).collect(),
                args: [0.0, f64::NAN, f64::NAN].repeat(n),
                stride: 3,
                given: vec![true; 3],
                precision: None,
            }],
            offset: (0..n).map(|i| 0.1 * x(i)).collect(),
            design: DMatrix::from_fn(n, n, |i, j| (-((x(i) - x(j)) / 2.0).powi(2)).exp()),
            weights: (0..n).map(own).collect(),
            hypers: vec![Hyper { shape: 0.0, rate: 0.0, held: None }; n],
        }
    }

    #[test]
    fn the_mode_in_coordinates_is_the_mode_of_the_weights() {
        let problem = classes(150);
        let frame = frame(&problem, &Options::default(), &Budget::default()).unwrap();
        let span = Span::new(&frame, TOLERANCE).unwrap();
        assert!(span.rank() < 40, "{}", span.rank());
        let rough = Span::new(&frame, ROUGH).unwrap();
        assert!(rough.rank() < span.rank());
        let everything: Vec<usize> = (0..150).collect();
        for (active, scale) in [(everything.clone(), 1.0), ((0..150).step_by(2).collect(), 3.0)] {
            let x = (0..150).map(|h| scale * (h as f64).cos()).collect();
            let point = Point { x, active };
            let here = Expansion::new(&frame, &point, &mut vec![0.0; 150]).unwrap();
            let there = span.moments(&frame, &point, FOUND, &mut None).unwrap();
            let nearly = rough.moments(&frame, &point, 1e-10, &mut None).unwrap();
            assert!((here.log_evidence - nearly.log_evidence).abs() < 1e-6);
            assert!((here.log_evidence - there.log_evidence).abs() < 1e-9);
            for at in 0..point.active.len() {
                assert!((here.mean(at) - there.mean[at]).abs() < 1e-9, "{at}");
                assert!((here.gamma[at] - there.gamma[at]).abs() < 1e-9, "{at}");
                assert!((here.mean(at) - nearly.mean[at]).abs() < 1e-6, "{at}");
                assert!((here.gamma[at] - nearly.gamma[at]).abs() < 1e-6, "{at}");
                assert!((here.variance(at) - there.variance[at]).abs() < 1e-9, "{at}");
            }
        }
        // a mode from a worse start is the same
        let point = Point { x: vec![0.0; 150], active: everything };
        let ones = DVector::from_element(span.rank(), 1.0);
        let local = Local {
            root: DMatrix::identity(span.rank(), span.rank()),
            score: ones.clone(),
            right: ones.clone(),
        };
        let mut last = Some(Last { local, v: ones, zero: f64::NEG_INFINITY });
        let far = span.moments(&frame, &point, FOUND, &mut last).unwrap();
        let near = span.moments(&frame, &point, FOUND, &mut last).unwrap();
        assert!((far.log_evidence - near.log_evidence).abs() < 1e-10);
    }
}
