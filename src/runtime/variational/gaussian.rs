//! The factor q(w) of a group of weights: the Gaussian that maximises the bound, all else held.
//!
//! With row precisions h and prior precisions ⟨α⟩, `Φ̃ = H^½ X D`, `D = ⟨A⟩^−½`, flat effects
//! projected out (mathematics §0.1): `B = I + Φ̃ᵀΦ̃` (k × k), or `K = I + Φ̃Φ̃ᵀ` (n × n) where there
//! are more weights than rows.

use nalgebra::{DMatrix, DVector};

use super::core::Core;
use crate::math::chol::Cholesky;
use crate::math::product::{gemm, times, transposed_times};
use crate::math::qr;
use crate::runtime::solution::Failure;

/// Multiplications below which a product is small.
const SMALL: usize = 1 << 18;

/// What a group sees of everything else.
pub(crate) struct Around<'a> {
    /// Precision of each row, n.
    pub h: &'a [f64],
    /// `(g − h f_others) / √h` for each row, where the bound is `g f − h f²/2`, n.
    pub target: DVector<f64>,
    /// Weights with a normal prior, and their prior precisions.
    pub penalised: &'a [usize],
    pub precision: &'a [f64],
    /// Flat weights.
    pub flat: &'a [usize],
}

/// q(w) of a group. Penalised weights first, then flat ones.
#[derive(Clone, Debug)]
pub(crate) struct Gaussian {
    /// Mean and variance of each weight.
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    /// γ_i = 1 − ⟨α_i⟩ Σ_ii of the penalised weights.
    pub gamma: Vec<f64>,
    /// ln |Σ|
    pub ln_det: f64,
    pub jitter: f64,
    d: Vec<f64>,
    phi: DMatrix<f64>,
    q_flat: DMatrix<f64>,
    r_flat: DMatrix<f64>,
    /// R⁻¹ Qᵀ Φ̃
    map: DMatrix<f64>,
    residual: DVector<f64>,
    factor: Cholesky,
    dual: bool,
}

impl Gaussian {
    /// The best factor.
    ///
    /// # Errors
    /// Flat effects that the rows do not determine, numbers that are not finite.
    pub fn new(core: &Core, around: &Around<'_>) -> Result<Gaussian, Failure> {
        let roots: Vec<f64> = around.h.iter().map(|h| h.sqrt()).collect();
        let d: Vec<f64> = around.precision.iter().map(|a| 1.0 / a.sqrt()).collect();
        let positive = |v: &f64| v.is_finite() && *v > 0.0;
        if !(roots.iter().all(positive) && d.iter().all(positive)) {
            return Err(Failure::NonFinite { step: "expected precisions" });
        }
        let mut phi = columns(core, around.penalised, &roots);
        for (mut column, d) in phi.column_iter_mut().zip(&d) {
            column.scale_mut(*d);
        }
        let (k, n) = (phi.ncols(), phi.nrows());
        let mut t = DMatrix::from_column_slice(n, 1, around.target.as_slice());
        let (q_flat, r_flat) = match around.flat.is_empty() {
            true => (DMatrix::zeros(n, 0), DMatrix::zeros(0, 0)),
            false => qr::orthonormal(&columns(core, around.flat, &roots))
                .map_err(|column| Failure::FlatNotIdentified(vec![around.flat[column]]))?,
        };
        let (mut map, mut fit) = (DMatrix::zeros(0, k), DMatrix::zeros(0, 1));
        if q_flat.ncols() > 0 {
            map = qr::project_out(&q_flat, &mut phi);
            fit = qr::project_out(&q_flat, &mut t);
            r_flat.solve_upper_triangular_mut(&mut map);
            r_flat.solve_upper_triangular_mut(&mut fit);
        }
        let t = t.column(0).into_owned();
        let dual = k > n;
        let (factor, residual, w, gamma, rest): (_, _, DVector<f64>, Vec<f64>, Vec<f64>);
        if dual {
            let mut kernel = times(&phi, &phi.transpose());
            add_identity(&mut kernel);
            factor = factorise(&kernel, "posterior in the space of rows")?;
            residual = factor.solve(&t);
            w = phi.tr_mul(&residual);
            let mut half = phi.clone();
            factor.solve_lower(&mut half);
            gamma = half.column_iter().map(|c| c.norm_squared()).collect();
            rest = gamma.iter().map(|gamma: &f64| (1.0 - gamma).max(f64::EPSILON)).collect();
        } else {
            let mut b = inner_products(&phi, &phi);
            add_identity(&mut b);
            factor = factorise(&b, "posterior")?;
            let mut m = factor.solve(&phi.tr_mul(&t));
            // one step of refinement: Φ̃ᵀ(t̃ − Φ̃m̃) − m̃ vanishes at the mean
            let r = &t - &phi * &m;
            m += factor.solve(&(phi.tr_mul(&r) - &m));
            residual = &t - &phi * &m;
            w = m;
            rest = factor.lower_inverse().column_iter().map(|c| c.norm_squared()).collect();
            gamma = rest.iter().map(|v: &f64| (1.0 - v).max(0.0)).collect();
        }
        let mut mean: Vec<f64> = w.iter().zip(&d).map(|(w, d)| w * d).collect();
        let mut variance: Vec<f64> = rest.iter().zip(&d).map(|(v, d)| v * d * d).collect();
        // ln |Σ| = 2 ln |D| − ln |B| − 2 ln |R|
        let mut ln_det = 2.0 * d.iter().map(|d| d.ln()).sum::<f64>() - factor.ln_det();
        ln_det -= 2.0 * (0..r_flat.nrows()).map(|j| r_flat[(j, j)].ln()).sum::<f64>();
        let mut gaussian = Gaussian {
            mean: Vec::new(),
            variance: Vec::new(),
            gamma,
            ln_det,
            jitter: factor.jitter(),
            d,
            phi,
            q_flat,
            r_flat,
            map,
            residual,
            factor,
            dual,
        };
        if !around.flat.is_empty() {
            // u | w: R⁻¹Qᵀ(t̃ − Φ̃ w̃), covariance (RᵀR)⁻¹
            let u = &fit - &gaussian.map * &w;
            mean.extend(u.iter());
            variance.extend(gaussian.flat_covariance().diagonal().iter());
        }
        if mean.iter().chain(&variance).chain([&gaussian.ln_det]).any(|v| !v.is_finite()) {
            return Err(Failure::NonFinite { step: "factor of the weights" });
        }
        (gaussian.mean, gaussian.variance) = (mean, variance);
        Ok(gaussian)
    }

    /// Σ of h-weighted variances of f over all rows: tr(H X Σ Xᵀ) = Σ γ + number of flat effects.
    pub fn leverage(&self) -> f64 {
        self.gamma.iter().sum::<f64>() + self.q_flat.ncols() as f64
    }

    /// h-weighted variance of f of each row: diag(Q Qᵀ + Φ̃ B⁻¹ Φ̃ᵀ), n.
    pub fn leverages(&self) -> Vec<f64> {
        let n = self.phi.nrows();
        let inverse = self.factor.lower_inverse();
        let mut rows: Vec<f64> = match self.dual {
            // Φ̃ B⁻¹ Φ̃ᵀ = I − K⁻¹
            true => inverse.column_iter().map(|c| 1.0 - c.norm_squared()).collect(),
            false => {
                let u = times(&self.phi, &inverse.transpose());
                let mut sums = vec![0.0; n];
                for column in u.column_iter() {
                    sums.iter_mut().zip(column.iter()).for_each(|(s, v)| *s += v * v);
                }
                sums
            }
        };
        for column in self.q_flat.column_iter() {
            rows.iter_mut().zip(column.iter()).for_each(|(s, v)| *s += v * v);
        }
        rows
    }

    /// B⁻¹, k × k.
    pub fn inner(&self) -> DMatrix<f64> {
        if self.dual {
            let mut half = self.phi.clone();
            self.factor.solve_lower(&mut half);
            let mut sigma = -inner_products(&half, &half);
            add_identity(&mut sigma);
            sigma
        } else {
            self.factor.inverse()
        }
    }

    /// Σ of the penalised, then the flat weights.
    pub fn covariance(&self) -> DMatrix<f64> {
        let (k, f) = (self.d.len(), self.q_flat.ncols());
        let inner = self.inner();
        let mut sigma = DMatrix::zeros(k + f, k + f);
        sigma.view_mut((0, 0), (k, k)).copy_from(&inner);
        if f > 0 {
            let cross = -(&self.map * &inner);
            sigma.view_mut((k, 0), (f, k)).copy_from(&cross);
            sigma.view_mut((0, k), (k, f)).copy_from(&cross.transpose());
            sigma.view_mut((k, k), (f, f)).copy_from(&self.flat_covariance());
        }
        let scale = |i: usize| self.d.get(i).copied().unwrap_or(1.0);
        DMatrix::from_fn(k + f, k + f, |i, j| scale(i) * scale(j) * sigma[(i, j)])
    }

    /// γ without cancellation where it is tiny: [Φ̃ᵀΦ̃ B⁻¹]_ii.
    pub fn sharp_gamma(&self) -> Vec<f64> {
        if self.dual {
            return self.gamma.clone();
        }
        let through = times(&self.phi, &self.factor.inverse());
        (0..self.gamma.len()).map(|i| self.phi.column(i).dot(&through.column(i))).collect()
    }

    /// s and q of functions outside the group (mathematics §3): with φ̃ = H^½ φ, s = min_c |φ̃ − Φ̃c|² + |c|².
    pub fn outside(&self, core: &Core, h: &[f64], weights: &[usize]) -> Vec<(f64, f64)> {
        let roots: Vec<f64> = h.iter().map(|h| h.sqrt()).collect();
        let mut columns = columns(core, weights, &roots);
        if self.q_flat.ncols() > 0 {
            qr::project_out(&self.q_flat, &mut columns);
        }
        let c = times(&self.inner(), &inner_products(&self.phi, &columns));
        let mut rest = columns.clone();
        gemm(rest.as_view_mut(), -1.0, self.phi.as_view(), c.as_view(), 1.0);
        (0..weights.len())
            .map(|j| {
                let s = rest.column(j).norm_squared() + c.column(j).norm_squared();
                let spanned = s <= 1e-11 * columns.column(j).norm_squared();
                (s, if spanned { 0.0 } else { columns.column(j).dot(&self.residual) })
            })
            .collect()
    }

    /// (RᵀR)⁻¹ + T B⁻¹ Tᵀ, T = R⁻¹QᵀΦ̃
    fn flat_covariance(&self) -> DMatrix<f64> {
        let f = self.r_flat.nrows();
        let mut root = DMatrix::identity(f, f);
        self.r_flat.solve_upper_triangular_mut(&mut root);
        let mut half = self.map.transpose();
        if self.dual {
            // T (I − Φ̃ᵀK⁻¹Φ̃) Tᵀ
            let mut through = &self.phi * &half;
            self.factor.solve_lower(&mut through);
            return &root * root.transpose() + half.tr_mul(&half) - through.tr_mul(&through);
        }
        self.factor.solve_lower(&mut half);
        &root * root.transpose() + half.tr_mul(&half)
    }
}

/// Aᵀ B: a small one by dots, which lose fewer digits than running sums.
fn inner_products(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    match a.len().saturating_mul(b.ncols()) < SMALL {
        true => a.tr_mul(b),
        false => transposed_times(a, b),
    }
}

fn factorise(a: &DMatrix<f64>, step: &'static str) -> Result<Cholesky, Failure> {
    Cholesky::new(a).map_err(|p| Failure::NotPositiveDefinite { step, pivot: p.0 })
}

/// Columns of X times √h.
fn columns(core: &Core, weights: &[usize], roots: &[f64]) -> DMatrix<f64> {
    let mut columns = core.x.select_columns(weights);
    for mut column in columns.column_iter_mut() {
        column.iter_mut().zip(roots).for_each(|(v, root)| *v *= root);
    }
    columns
}

fn add_identity(a: &mut DMatrix<f64>) {
    for i in 0..a.nrows() {
        a[(i, i)] += 1.0;
    }
}
