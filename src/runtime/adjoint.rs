//! The derivative of the evidence with respect to everything that a problem is made of.
//!
//! With r = t − Φ m and H the diagonal of row precisions h_n (case weight times precision), the posterior
//! mean is stationary, so only explicit dependences count (mathematics §9; D for Φ as in Tipping 2001,
//! appendix C):
//!
//! dL/dΦ = H (r mᵀ − Φ Σ),  dL/d offset = H r,  dL/d ln h_n = ½ (k_n − h_n r_n² − h_n φ_nᵀ Σ φ_n),
//! dL/d ln α_i = ½ (1 − α_i (m_i² + Σ_ii)).
//!
//! All of this holds with several likelihoods, tied or known precisions and flat effects (α = 0, no prior
//! factor): the matrix that is differentiated is A + Φᵀ H Φ in every case.

use nalgebra::{DMatrix, DVector};

use super::problem::{Problem, Scale, WeightPrior};
use crate::math::product::times;

/// Derivatives of an objective at one point, over the rows of a problem and its kept weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Adjoint {
    /// d/dΦ of the kept columns, N × k.
    pub design: DMatrix<f64>,
    /// d/d offset of each row (the part of its predictor that is no weight), N.
    pub offset: Vec<f64>,
    /// d/d `log_const` of the precision of each observation; 0 where there is none.
    pub noise_log: Vec<f64>,
    /// d/d `log_const` of the prior precision of each kept weight, k; 0 for flat ones.
    pub weight_log: Vec<f64>,
    /// For each term, d/d argument of its family of each observation, observation after observation;
    /// one number each if one argument alone matters beside mean and precision; empty if none does.
    pub args: Vec<Vec<f64>>,
}

/// An objective at given hyperparameters, every weight of its problem in the model.
#[derive(Clone, PartialEq, Debug)]
pub struct Slope {
    /// Log evidence and log hyperprior.
    pub objective: f64,
    /// Log evidence alone.
    pub log_evidence: f64,
    /// d objective / d ln theta of each hyperparameter; 0 for held ones.
    pub hypers: Vec<f64>,
    /// What vanishes where hyperparameters are updated by the rule of the plan; as `hypers`, unless that
    /// rule follows another gradient.
    pub rule: Vec<f64>,
    /// Between which values each ln theta may move; infinite where they were not asked for.
    pub bounds: Vec<(f64, f64)>,
    /// Posterior mean (or mode) of the weights.
    pub mean: DVector<f64>,
    /// What each row says of its own predictor: −d²l/df², N.
    pub information: Vec<f64>,
    /// Derivatives with respect to what the problem is made of.
    pub adjoint: Adjoint,
}

/// The derivatives of the log evidence of a Gaussian problem, given the posterior of its kept weights.
/// The problem has the kept columns only, in order.
pub fn adjoint(problem: &Problem, hypers: &[f64], mean: &DVector<f64>, covariance: &DMatrix<f64>) -> Adjoint {
    let phi = &problem.design;
    let fitted = phi * mean;
    let phi_sigma = times(phi, covariance);
    let n = problem.targets.len();
    let mut design = DMatrix::zeros(n, phi.ncols());
    let (mut offset, mut noise_log) = (vec![0.0; n], vec![0.0; n]);
    for row in 0..n {
        let count = problem.counts[row];
        let h = count * precision(&problem.noise[row], hypers);
        let r = problem.targets[row] - fitted[row];
        // φᵀ Σ φ
        let variance = phi.row(row).dot(&phi_sigma.row(row));
        offset[row] = h * r;
        noise_log[row] = 0.5 * (count - h * r * r - h * variance);
        for i in 0..phi.ncols() {
            design[(row, i)] = h * (r * mean[i] - phi_sigma[(row, i)]);
        }
    }
    let weight_log = problem
        .weights
        .iter()
        .enumerate()
        .map(|(i, prior)| match prior {
            WeightPrior::Flat => 0.0,
            WeightPrior::Normal(scale) => {
                let alpha = precision(scale, hypers);
                0.5 * (1.0 - alpha * (mean[i] * mean[i] + covariance[(i, i)]))
            }
        })
        .collect();
    Adjoint { design, offset, noise_log, weight_log, args: Vec::new() }
}

/// exp(log_const + Σ power · ln theta)
pub(crate) fn precision(scale: &Scale, hypers: &[f64]) -> f64 {
    let powers = scale.powers.iter().map(|(h, power)| power * hypers.get(*h).map_or(0.0, |v| v.ln()));
    (scale.log_const + powers.sum::<f64>()).exp()
}
