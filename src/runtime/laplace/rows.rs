//! The likelihoods at given predictors: log density, score, curvature, and what they do to matrices.

use nalgebra::{DMatrix, DVector};

use super::frame::{Frame, Term};
use crate::dist::Local;
use crate::math::cross::weighted_square;
use crate::math::poll::poll;
use crate::math::product::zeros;

/// The likelihoods at one f.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Σ k l
    pub log_density: f64,
    /// k dl/df, R.
    pub score: DVector<f64>,
    /// −k d²l/df²: for each term n blocks of d × d.
    pub curvature: Vec<Vec<f64>>,
}

impl Rows {
    pub fn new(frame: &Frame, x: &[f64], f: &DVector<f64>) -> Rows {
        let mut rows = Rows {
            log_density: 0.0,
            score: DVector::zeros(f.len()),
            curvature: frame
                .terms
                .iter()
                .map(|t| vec![0.0; t.likelihood.len() * t.width() * t.width()])
                .collect(),
        };
        for (term, curvature) in frame.terms.iter().zip(&mut rows.curvature) {
            let d = term.width();
            let mut local = Local::new(d);
            let mut args = vec![0.0; term.likelihood.stride];
            for n in 0..term.likelihood.len() {
                let k = term.likelihood.counts[n];
                if k == 0.0 {
                    continue;
                }
                term.fill(n, x, f, &mut args);
                (term.score.local)(term.likelihood.values[n], &args, &mut local);
                rows.log_density += k * local.log_density;
                for a in 0..d {
                    rows.score[term.row(n) + a] = k * local.score[a];
                }
                for (to, from) in curvature[n * d * d..].iter_mut().zip(&local.curvature) {
                    *to = k * from;
                }
            }
        }
        rows
    }

    /// H A
    pub fn times(&self, frame: &Frame, a: &DMatrix<f64>) -> DMatrix<f64> {
        let mut out = zeros(a.nrows(), a.ncols());
        for (term, curvature) in frame.terms.iter().zip(&self.curvature) {
            let d = term.width();
            for j in 0..a.ncols() {
                poll();
                let (column, mut target) = (a.column(j), out.column_mut(j));
                if d == 1 {
                    let rows = term.first..term.first + curvature.len();
                    let (from, to) = (&column.as_slice()[rows.clone()], &mut target.as_mut_slice()[rows]);
                    to.iter_mut().zip(from).zip(curvature).for_each(|((to, from), h)| *to = h * from);
                    continue;
                }
                for n in 0..term.likelihood.len() {
                    let (first, block) = (term.row(n), &curvature[n * d * d..(n + 1) * d * d]);
                    for b in 0..d {
                        let value = column[first + b];
                        if value != 0.0 {
                            for c in 0..d {
                                target[first + c] += block[c + b * d] * value;
                            }
                        }
                    }
                }
            }
        }
        out
    }

    /// φᵀ H φ of a column.
    pub fn norm(&self, frame: &Frame, column: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (term, curvature) in frame.terms.iter().zip(&self.curvature) {
            let d = term.width();
            if d == 1 {
                let part = &column[term.first..term.first + curvature.len()];
                sum += weighted_square(part, curvature);
                continue;
            }
            for n in 0..term.likelihood.len() {
                let (part, block) = (&column[term.row(n)..term.row(n) + d], &curvature[n * d * d..]);
                for b in (0..d).filter(|b| part[*b] != 0.0) {
                    sum += part[b] * (0..d).map(|c| block[c + b * d] * part[c]).sum::<f64>();
                }
            }
        }
        sum
    }

    pub fn is_finite(&self) -> bool {
        self.log_density.is_finite()
            && self.score.iter().all(|v| v.is_finite())
            && self.curvature.iter().flatten().all(|v| v.is_finite())
    }
}

/// Σ_bc V_bc dh_bc/df_a of every row, R: `variance` gives V of a unit (d × d).
pub(super) fn third(
    frame: &Frame,
    x: &[f64],
    f: &DVector<f64>,
    variance: &dyn Fn(&Term, usize, &mut [f64]),
) -> DVector<f64> {
    let mut out = DVector::zeros(f.len());
    for term in &frame.terms {
        let d = term.width();
        let mut args = vec![0.0; term.likelihood.stride];
        let (mut v, mut change) = (vec![0.0; d * d], vec![0.0; d]);
        for n in 0..term.likelihood.len() {
            let k = term.likelihood.counts[n];
            if k == 0.0 {
                continue;
            }
            term.fill(n, x, f, &mut args);
            variance(term, n, &mut v);
            (term.score.third)(term.likelihood.values[n], &args, &v, &mut change);
            for a in 0..d {
                out[term.row(n) + a] = k * change[a];
            }
        }
    }
    out
}
