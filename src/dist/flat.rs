//! The flat density on the line.

use super::{Elem, Family, Gaussian, Support};

/// Density 1 on the line.
pub static FLAT: Family = Family {
    name: "Flat",
    summary: "density 1 on the line, integrated out: an unpenalised intercept or effect",
    formula: "p(y) = 1",
    source: "Harville (1974), Biometrika 61(2): integrating effects over a flat prior is restricted likelihood",
    example: "data t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)\n",
    support: Support::Elem(Elem::Real),
    log_concave: true,
    args: &[],
    gaussian: Some(Gaussian { mean: None, scales: &[] }),
    precision_prior: None,
    score: None,
    mixture: None,
    bound: None,
    marginal: None,
    sample,
    log_density,
};

/// No draw: the density has no finite integral.
fn sample(_: &[f64], _: &mut dyn FnMut() -> f64) -> Option<f64> {
    None
}

fn log_density(value: f64, _: &[f64]) -> f64 {
    if value.is_nan() { f64::NAN } else { 0.0 }
}
