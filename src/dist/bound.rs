//! A likelihood with a Gaussian lower bound in its linear predictor, as mean-field inference uses it.

/// A likelihood with a Gaussian lower bound in its linear predictor, as mean-field inference uses it.
#[derive(Clone, Copy, Debug)]
pub struct Bound {}
