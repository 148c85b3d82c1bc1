//! The predictive distribution of a likelihood whose linear predictors are Gaussian.

/// The predictive distribution of a likelihood whose linear predictors are Gaussian.
#[derive(Clone, Copy, Debug)]
pub struct Marginal {}
