//! What an expansion around a mode asks of a likelihood: its score, its curvature, and how both change.

use std::fmt;

/// A likelihood that is log-concave in its linear predictors f (d of them a unit: 1, or the levels).
///
/// `args` are as for [`super::Family::log_density`], the predictors among them.
pub struct Score {
    /// The arguments that are linear predictors; one of them is given.
    pub predictors: &'static [&'static str],
    /// Log density, score δ = dl/df and curvature h = −d²l/df² of one unit.
    pub local: fn(value: f64, args: &[f64], out: &mut Local),
    /// Σ_bc V_bc dh_bc/df_a for each predictor a: `variance` is V, d × d column-major.
    pub third: fn(value: f64, args: &[f64], variance: &[f64], out: &mut [f64]),
    /// Derivatives by one other argument, at fixed f; `place` is its index in `args`.
    pub by_arg: fn(value: f64, args: &[f64], place: usize, out: &mut Local),
    /// A latent value cut into levels, if that is what the family is.
    pub latent: Option<Latent>,
}

/// Levels are intervals of a latent value: a shift of the predictor is a shift of the cutpoints, and a
/// scale of both is the scale of the latent value.
pub struct Latent {
    /// The argument that holds the cutpoints.
    pub cutpoints: &'static str,
    /// The latent value, in units of its scale, below which this share of the draws lies at predictor 0.
    pub quantile: fn(predictor: &str, below: f64) -> f64,
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Score").field("predictors", &self.predictors).finish_non_exhaustive()
    }
}

/// A log density and its derivatives by d predictors (or the derivatives of these by an argument).
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    /// l
    pub log_density: f64,
    /// δ = dl/df, d.
    pub score: Vec<f64>,
    /// h = −d²l/df², d × d, symmetric.
    pub curvature: Vec<f64>,
}

impl Local {
    /// Room for `d` predictors.
    pub fn new(d: usize) -> Local {
        Local { log_density: 0.0, score: vec![0.0; d], curvature: vec![0.0; d * d] }
    }

    /// Sets all three of a single predictor.
    pub fn set(&mut self, log_density: f64, score: f64, curvature: f64) {
        self.log_density = log_density;
        self.score[0] = score;
        self.curvature[0] = curvature;
    }
}

/// The family has no argument beside its predictors.
pub(super) fn no_argument(_: f64, _: &[f64], _: usize, out: &mut Local) {
    out.log_density = 0.0;
    out.score.fill(0.0);
    out.curvature.fill(0.0);
}

/// The curvature does not depend on the predictor.
pub(super) fn no_change(_: f64, _: &[f64], _: &[f64], out: &mut [f64]) {
    out.fill(0.0);
}
