//! The Gamma distribution, the usual prior of a precision.

use super::{Arg, Elem, Family, PrecisionPrior, Support};

/// Gamma(y | shape, rate).
pub static GAMMA: Family = Family {
    name: "Gamma",
    summary: "prior of a precision: shape and rate (or scale); Gamma(0, 0) is the improper log-uniform",
    formula: "p(y) = rate^shape / Γ(shape) y^(shape − 1) exp(−rate y), rate = 1 / scale; Gamma(0, 0): p(y) ∝ 1 / y",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (2.146)",
    example: "data t: real[N]\ntau ~ Gamma(shape = 2, rate = 0.5)\nt ~ Normal(0, precision = tau)\n",
    support: Support::Elem(Elem::Positive),
    log_concave: false,
    args: &[
        Arg::required("shape", Elem::NonNegative, "shape; the mean is shape / rate").positional(),
        Arg::one_of("rate", "rate", Elem::NonNegative, "inverse scale").positional(),
        Arg::one_of("rate", "scale", Elem::Positive, "scale; 1 / rate"),
    ],
    gaussian: None,
    precision_prior: Some(PrecisionPrior { shape: "shape", rates: &[("rate", 1.0), ("scale", -1.0)] }),
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
