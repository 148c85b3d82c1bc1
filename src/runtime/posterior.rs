//! The Gaussian posterior and the evidence at one point (mathematics §0.1, §1, §1.1).
//!
//! In the units of noise and prior, `Φ̃ = H^½ Φ D` with `D = A^−½`, flat effects projected out:
//! `B = I + Φ̃ᵀΦ̃` (k × k), or `K = I + Φ̃Φ̃ᵀ` (n × n) where there are more weights than rows.

use nalgebra::{DMatrix, DVector};

use super::control::Point;
use super::core::Core;
use super::solution::Failure;
use super::updates::Summary;
use crate::math::chol::{Cholesky, lower_times, square};
use crate::math::cross::{cross, cross_vector, dot, outer, subtract, times_vector};
use crate::math::gram::gram;
use crate::math::product::{times, transposed_times};
use crate::math::qr;

/// Well-determinedness below which 1 − Σ̃_ii loses digits.
const TINY: f64 = 1e-3;

/// Posterior at a point. Tilde units: `w̃ = D⁻¹ w`, rows times the root of their precision.
pub(crate) struct Posterior {
    /// Weights in the model.
    pub active: Vec<usize>,
    /// Prior deviations D, k.
    pub d: Vec<f64>,
    /// Φ̃ without its flat part, n × k.
    pub phi: DMatrix<f64>,
    /// Orthonormal basis of the flat columns F̃ = Q R, n × f and f × f.
    pub q_flat: DMatrix<f64>,
    pub r_flat: DMatrix<f64>,
    /// QᵀΦ̃ and Qᵀt̃ that were projected out (zero where all rows have one precision).
    pub flat_phi: DMatrix<f64>,
    pub flat_t: DMatrix<f64>,
    /// Posterior mean of w̃.
    pub mean: DVector<f64>,
    /// Residual t̃ − f̃.
    pub residual: DVector<f64>,
    /// γ_i = 1 − Σ̃_ii
    pub gamma: Vec<f64>,
    /// Σ̃_ii
    pub variance: Vec<f64>,
    /// Σ of posterior variances of f̃ over the rows of each class, flat effects included.
    pub leverage: Vec<f64>,
    /// Σ of squared residuals over the rows of each class.
    pub rss: Vec<f64>,
    /// All constants included.
    pub log_evidence: f64,
    /// Whether the n × n form was used.
    pub dual: bool,
    factor: Cholesky,
    /// L⁻¹ of B = L Lᵀ (or of K).
    root_inverse: DMatrix<f64>,
    /// Φ̃ᵀΦ̃ = B − I, k × k (empty in the n × n form).
    inner: DMatrix<f64>,
}

/// What second derivatives and sparsity factors need besides.
pub(crate) struct Detail {
    /// Σ̃ = B⁻¹, k × k.
    pub sigma: DMatrix<f64>,
}

/// ΦᵀΦ and Φᵀt of a set of columns.
#[derive(Default)]
pub(crate) struct Gram {
    /// Where a weight stands in the products; beyond them if it is not there.
    position: Vec<usize>,
    products: DMatrix<f64>,
    targets: Vec<f64>,
}

impl Gram {
    /// With these columns in it; `None` if rows differ in their precisions or are fewer than the columns.
    fn cover(&mut self, core: &Core, columns: &[usize]) -> Option<&Gram> {
        if core.classes.len() != 1 || columns.len() > core.t.len() {
            return None;
        }
        if self.position.is_empty() || columns.iter().any(|&i| self.position[i] == usize::MAX) {
            self.products = gram(&core.phi.select_columns(columns));
            let t = core.t.as_slice();
            self.targets = columns.iter().map(|&i| dot(column_of(core, i), t)).collect();
            self.position = vec![usize::MAX; core.weights.len()];
            columns.iter().enumerate().for_each(|(at, &i)| self.position[i] = at);
        }
        Some(self)
    }

    /// Φ̃ᵀΦ̃ = r² D ΦᵀΦ D
    fn scaled(&self, active: &[usize], root: f64, d: &[f64]) -> DMatrix<f64> {
        let k = active.len();
        let mut out = DMatrix::zeros(k, k);
        let place: Vec<(usize, f64)> =
            active.iter().zip(d).map(|(&i, d)| (self.position[i], root * d)).collect();
        for (to, (at, scale)) in out.as_mut_slice().chunks_exact_mut(k.max(1)).zip(&place) {
            let from = &self.products.as_slice()[at * self.products.nrows()..][..self.products.nrows()];
            to.iter_mut().zip(&place).for_each(|(to, (at, other))| *to = other * scale * from[*at]);
        }
        out
    }
}

impl Summary {
    /// Of the posterior at a point. Where products of columns serve, no matrix of the size of the data is made, and the mean
    /// is not refined.
    pub fn new(core: &Core, point: &Point, products: &mut Gram) -> Result<Summary, Failure> {
        let Some(products) = products.cover(core, &point.active) else {
            return Ok(Posterior::new(core, point, None)?.summary());
        };
        let (d, roots) = scales(core, point)?;
        let mut b = products.scaled(&point.active, roots[0], &d);
        add_identity(&mut b);
        let factor = Cholesky::new(&b).map_err(|p| not_positive(core, point, p.0))?;
        let root_inverse = factor.lower_inverse();
        let variance: Vec<f64> = root_inverse.column_iter().map(|c| c.norm_squared()).collect();
        let gamma: Vec<f64> = variance.iter().map(|v| (1.0 - v).max(0.0)).collect();
        let right = point.active.iter().zip(&d).map(|(&i, d)| d * products.targets[products.position[i]]);
        let mean = factor.solve(&(DVector::from_iterator(d.len(), right) * (roots[0] * roots[0])));
        let mut residual = core.t.clone();
        for ((&i, d), m) in point.active.iter().zip(&d).zip(mean.iter()) {
            subtract(residual.as_mut_slice(), d * m, column_of(core, i));
        }
        let rss = roots[0] * roots[0] * residual.norm_squared();
        let (q_flat, r_flat) = flat_basis(core, &roots)?;
        let log_evidence = evidence(core, point, &factor, &r_flat, rss + mean.norm_squared())?;
        Ok(Summary {
            leverage: vec![gamma.iter().sum::<f64>() + q_flat.ncols() as f64],
            rss: vec![rss],
            mean: mean.as_slice().to_vec(),
            gamma,
            variance,
            log_evidence,
            jitter: factor.jitter(),
        })
    }
}

/// L = const + ½ Σ_c n_c η_c − ½ ln|B| − ½ ln|F̃ᵀF̃| − ½ (r̃·r̃ + m̃·m̃)
fn evidence(
    core: &Core,
    point: &Point,
    factor: &Cholesky,
    r_flat: &DMatrix<f64>,
    squares: f64,
) -> Result<f64, Failure> {
    let mut l = core.constant;
    for class in &core.classes {
        l += 0.5 * class.count * class.log.at(&point.x);
    }
    l -= 0.5 * factor.ln_det();
    l -= (0..r_flat.nrows()).map(|j| r_flat[(j, j)].ln()).sum::<f64>();
    l -= 0.5 * squares;
    if l.is_finite() { Ok(l) } else { Err(Failure::NonFinite { step: "log evidence" }) }
}

/// Prior deviations of the active weights, and roots of the precisions of the rows.
fn scales(core: &Core, point: &Point) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let roots = core.roots(&point.x);
    let d: Vec<f64> = point.active.iter().map(|&i| (-0.5 * core.weights[i].log.at(&point.x)).exp()).collect();
    match roots.iter().chain(&d).all(|v| v.is_finite() && *v > 0.0) {
        true => Ok((d, roots)),
        false => Err(Failure::NonFinite { step: "precisions" }),
    }
}

fn column_of(core: &Core, i: usize) -> &[f64] {
    let n = core.phi.nrows();
    &core.phi.as_slice()[i * n..][..n]
}

/// The failure of a factorisation at this pivot, which names the weight.
fn not_positive(core: &Core, point: &Point, pivot: usize) -> Failure {
    let pivot = pivot.min(point.active.len().saturating_sub(1));
    let weight = point.active.get(pivot).map_or(pivot, |&i| core.weights[i].index);
    Failure::NotPositiveDefinite { step: "posterior", pivot: weight }
}

impl Posterior {
    /// Posterior at a point. `products` of columns are kept from one point to the next, if wanted.
    pub fn new(core: &Core, point: &Point, products: Option<&mut Gram>) -> Result<Posterior, Failure> {
        let k = point.active.len();
        let (d, roots) = scales(core, point)?;
        let n = core.t.len();
        let mut phi = DMatrix::zeros(n, k);
        for ((to, &i), d) in phi.as_mut_slice().chunks_exact_mut(n.max(1)).zip(&point.active).zip(&d) {
            let from = column_of(core, i);
            for (class, root) in core.classes.iter().zip(&roots) {
                let (to, from) = (&mut to[class.rows.clone()], &from[class.rows.clone()]);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = d * root * from);
            }
        }
        let mut t = scale_rows(core, &DMatrix::from_column_slice(core.t.len(), 1, core.t.as_slice()), &roots);
        let (q_flat, r_flat) = flat_basis(core, &roots)?;
        let (mut flat_phi, mut flat_t) =
            (DMatrix::zeros(q_flat.ncols(), k), DMatrix::zeros(q_flat.ncols(), 1));
        if core.classes.len() > 1 && q_flat.ncols() > 0 {
            flat_phi = qr::project_out(&q_flat, &mut phi);
            flat_t = qr::project_out(&q_flat, &mut t);
        }
        let t = t.column(0).into_owned();
        let dual = k > core.t.len();
        let (factor, root_inverse): (Cholesky, DMatrix<f64>);
        let (mean, residual, gamma, variance): (_, _, Vec<f64>, Vec<f64>);
        let mut inner = DMatrix::zeros(0, 0);
        if dual {
            let mut kernel = outer(&phi);
            add_identity(&mut kernel);
            let step = "posterior in the space of rows";
            factor = Cholesky::new(&kernel).map_err(|p| Failure::NotPositiveDefinite { step, pivot: p.0 })?;
            root_inverse = factor.lower_inverse();
            residual = factor.solve(&t);
            mean = cross_vector(&phi, &residual);
            gamma = lower_times(&root_inverse, &phi).column_iter().map(|c| c.norm_squared()).collect();
            variance = gamma.iter().map(|gamma| (1.0 - gamma).max(f64::EPSILON)).collect();
        } else {
            inner = match products.and_then(|products| products.cover(core, &point.active)) {
                Some(products) => products.scaled(&point.active, roots[0], &d),
                None => cross(&phi, &phi),
            };
            let mut b = inner.clone();
            add_identity(&mut b);
            factor = Cholesky::new(&b).map_err(|p| not_positive(core, point, p.0))?;
            root_inverse = factor.lower_inverse();
            let mut m = factor.solve(&cross_vector(&phi, &t));
            let mut r = &t - times_vector(&phi, &m);
            // one step of refinement: g = Φ̃ᵀ(t̃ − Φ̃m̃) − m̃ vanishes at the mean
            m += factor.solve(&(cross_vector(&phi, &r) - &m));
            r = &t - times_vector(&phi, &m);
            (mean, residual) = (m, r);
            variance = root_inverse.column_iter().map(|c| c.norm_squared()).collect();
            gamma = variance.iter().map(|v| (1.0 - v).max(0.0)).collect();
        }
        let mut posterior = Posterior {
            active: point.active.clone(),
            d,
            phi,
            q_flat,
            r_flat,
            flat_phi,
            flat_t,
            mean,
            residual,
            gamma,
            variance,
            leverage: Vec::new(),
            rss: Vec::new(),
            log_evidence: 0.0,
            dual,
            factor,
            root_inverse,
            inner,
        };
        posterior.sum_over_classes(core);
        let squares = posterior.residual.norm_squared() + posterior.mean.norm_squared();
        posterior.log_evidence = evidence(core, point, &posterior.factor, &posterior.r_flat, squares)?;
        Ok(posterior)
    }

    /// What updates ask of it.
    fn summary(self) -> Summary {
        Summary {
            mean: self.mean.as_slice().to_vec(),
            jitter: self.factor.jitter(),
            gamma: self.gamma,
            variance: self.variance,
            leverage: self.leverage,
            rss: self.rss,
            log_evidence: self.log_evidence,
        }
    }

    fn sum_over_classes(&mut self, core: &Core) {
        self.rss = core
            .classes
            .iter()
            .map(|c| self.residual.rows(c.rows.start, c.rows.len()).norm_squared())
            .collect();
        self.leverage = match core.classes.len() {
            // tr(Σ Λ) = Σ γ + f
            1 => vec![self.gamma.iter().sum::<f64>() + self.q_flat.ncols() as f64],
            _ => {
                let rows = self.row_factor();
                let of_row: Vec<f64> = if self.dual {
                    // cov f̃ = I − K⁻¹ besides the flat effects
                    (0..rows.nrows())
                        .map(|r| {
                            1.0 - self.root_inverse.column(r).norm_squared()
                                + self.q_flat.row(r).norm_squared()
                        })
                        .collect()
                } else {
                    rows.row_iter().map(|r| r.norm_squared()).collect()
                };
                core.classes.iter().map(|c| of_row[c.rows.clone()].iter().sum()).collect()
            }
        };
    }

    /// U with cov f̃ = U Uᵀ: [Q, Φ̃ L⁻ᵀ] (not in the dual form: there Q alone).
    pub fn row_factor(&self) -> DMatrix<f64> {
        if self.dual {
            return self.q_flat.clone();
        }
        let (n, f, k) = (self.phi.nrows(), self.q_flat.ncols(), self.phi.ncols());
        let mut u = DMatrix::zeros(n, f + k);
        u.columns_mut(0, f).copy_from(&self.q_flat);
        if k > 0 {
            u.columns_mut(f, k).copy_from(&times(&self.phi, &self.root_inverse.transpose()));
        }
        u
    }

    /// Posterior covariance of f̃ between all rows, n × n.
    pub fn row_covariance(&self) -> DMatrix<f64> {
        if self.dual {
            let mut v = times(&self.q_flat, &self.q_flat.transpose()) - square(&self.root_inverse);
            add_identity(&mut v);
            v
        } else {
            let u = self.row_factor();
            times(&u, &u.transpose())
        }
    }

    /// Covariance of w̃.
    pub fn detail(&self) -> Detail {
        if !self.dual {
            return Detail { sigma: square(&self.root_inverse) };
        }
        let half = lower_times(&self.root_inverse, &self.phi);
        let mut sigma = -transposed_times(&half, &half);
        add_identity(&mut sigma);
        Detail { sigma }
    }

    /// Φ̃ Σ̃, n × k.
    pub fn phi_sigma(&self, detail: &Detail) -> DMatrix<f64> {
        match self.dual {
            // Φ̃ B⁻¹ = K⁻¹ Φ̃
            true => times(&square(&self.root_inverse), &self.phi),
            false => times(&self.phi, &detail.sigma),
        }
    }

    /// γ_i = [Φ̃ᵀΦ̃ Σ̃]_ii and m̃_i = φ̃_i·r̃: no cancellation where γ is tiny.
    pub fn sharpen(&mut self, detail: &Detail) {
        if self.dual {
            return;
        }
        for i in 0..self.gamma.len() {
            self.gamma[i] = self.inner.column(i).dot(&detail.sigma.column(i));
            if self.gamma[i] < TINY {
                self.mean[i] = self.phi.column(i).dot(&self.residual);
            }
        }
    }

    /// Jitter that the factorisation needed.
    pub fn jitter(&self) -> f64 {
        self.factor.jitter()
    }
}

/// Rows times the root of the precision of their class.
pub(crate) fn scale_rows(core: &Core, a: &DMatrix<f64>, roots: &[f64]) -> DMatrix<f64> {
    let mut scaled = a.clone();
    for (class, root) in core.classes.iter().zip(roots) {
        scaled.rows_mut(class.rows.start, class.rows.len()).scale_mut(*root);
    }
    scaled
}

/// F̃ = Q R
fn flat_basis(core: &Core, roots: &[f64]) -> Result<(DMatrix<f64>, DMatrix<f64>), Failure> {
    if core.flat.ncols() == 0 {
        return Ok((DMatrix::zeros(core.t.len(), 0), DMatrix::zeros(0, 0)));
    }
    qr::orthonormal(&scale_rows(core, &core.flat, roots))
        .map_err(|column| Failure::FlatNotIdentified(vec![core.flat_weights[column].0]))
}

fn add_identity(a: &mut DMatrix<f64>) {
    for i in 0..a.nrows() {
        a[(i, i)] += 1.0;
    }
}
