//! A likelihood with a Gaussian lower bound in its linear predictor, as mean-field inference uses it.

use std::fmt;

/// A likelihood whose log density has a quadratic lower bound in its linear predictor.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// One for each argument that may be the predictor.
    pub links: &'static [LinkBound],
}

/// The bound in one predictor f: `ln p(y | f) ≥ constant + slope f − curvature f²/2` for every f, with
/// equality where f is the point of contact.
pub struct LinkBound {
    /// The argument that is the predictor.
    pub predictor: &'static str,
    /// The bound of a draw at a point of contact.
    pub quadratic: fn(value: f64, contact: f64) -> Quadratic,
    /// The point of contact of the largest expected bound when f has this mean and variance.
    pub contact: fn(value: f64, mean: f64, variance: f64) -> f64,
    /// The bound as a formula.
    pub formula: &'static str,
    /// The best point of contact as a formula.
    pub update: &'static str,
    /// Where both come from.
    pub source: &'static str,
}

impl fmt::Debug for LinkBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkBound").field("predictor", &self.predictor).finish_non_exhaustive()
    }
}

impl PartialEq for LinkBound {
    fn eq(&self, other: &Self) -> bool {
        (self.predictor, self.formula) == (other.predictor, other.formula)
    }
}

/// constant + slope f − curvature f²/2
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quadratic {
    /// Value at f = 0.
    pub constant: f64,
    /// Derivative at f = 0.
    pub slope: f64,
    /// Minus the second derivative, above 0.
    pub curvature: f64,
}

impl Quadratic {
    /// Its expectation when f has this mean and variance.
    pub fn expected(&self, mean: f64, variance: f64) -> f64 {
        self.constant + self.slope * mean - 0.5 * self.curvature * (mean * mean + variance)
    }
}
