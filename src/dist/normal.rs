//! The normal distribution.

use super::{Arg, Elem, Family, Gaussian, Support};

/// N(y | mean, 1/precision).
pub static NORMAL: Family = Family {
    name: "Normal",
    summary: "Gaussian with a mean and one of precision, variance, sd",
    formula: "p(y) = sqrt(precision / 2π) exp(−precision (y − mean)² / 2), precision = 1 / variance = 1 / sd²",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (1.46)",
    example: "data t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)\n",
    support: Support::Elem(Elem::Real),
    log_concave: true,
    args: &[
        Arg::required("mean", Elem::Real, "centre").positional(),
        Arg::one_of("scale", "precision", Elem::Positive, "inverse of the variance"),
        Arg::one_of("scale", "variance", Elem::Positive, "mean squared deviation from the mean"),
        Arg::one_of("scale", "sd", Elem::Positive, "standard deviation"),
    ],
    gaussian: Some(Gaussian {
        mean: Some("mean"),
        scales: &[("precision", 1.0), ("variance", -1.0), ("sd", -2.0)],
    }),
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
