//! The predictive distribution of a likelihood whose linear predictors are Gaussian: what is known of a
//! new observation when the predictors have been averaged out, not replaced by their means.

/// The predictive distribution of a likelihood whose linear predictors f (d of them a unit: 1, or the
/// levels) are Gaussian with some covariance.
///
/// `args` are as for [`super::Family::log_density`], the means of the predictors in their places;
/// `variance` is the covariance of f, d × d column-major. Where no argument is a predictor (a probability
/// that is given) all are known, and `variance` is empty.
#[derive(Clone, Copy, Debug)]
pub struct Marginal {
    /// The arguments that are linear predictors; at most one of them is given.
    pub predictors: &'static [&'static str],
    /// What is predicted.
    pub outcome: Outcome,
}

/// What is predicted of a new observation.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// ln P of each level, as exact as the integral over f can be had; they sum to 1.
    Levels(fn(args: &[f64], variance: &[f64]) -> Vec<f64>),
    /// A number.
    Number(Number),
}

/// The predictive distribution of a number.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Mean and deviations.
    pub moments: fn(args: &[f64], variance: &[f64]) -> Moments,
    /// Log density (or probability) of a value.
    pub log_density: fn(value: f64, args: &[f64], variance: &[f64]) -> f64,
    /// P(y ≤ value).
    pub distribution: Option<Distribution>,
}

/// P(y ≤ value), given arguments and the variance of the predictor.
pub type Distribution = fn(value: f64, args: &[f64], variance: &[f64]) -> f64;

/// Mean and deviations of a predictive distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moments {
    /// Mean; where the distribution has none, its centre.
    pub mean: f64,
    /// Deviation of a new observation; infinite where the variance is, `NaN` where there is no mean.
    pub sd: f64,
    /// Deviation of the noiseless function, where the predictor is the mean itself.
    pub sd_mean: Option<f64>,
}

/// The variance of a single predictor; 0 where there is none.
pub(super) fn single(variance: &[f64]) -> f64 {
    variance.first().map_or(0.0, |v| v.max(0.0))
}
