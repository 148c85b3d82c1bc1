//! Counts.

use super::{Arg, Elem, Family, Support};

/// Poisson(y | rate).
pub static POISSON: Family = Family {
    name: "Poisson",
    summary: "counts, given a rate or its logarithm",
    formula: "P(y) = rate^y exp(−rate) / y!, rate = exp(log)",
    source: "McCullagh and Nelder (1989), Generalized Linear Models, §6.2",
    example: "use std.priors.ridge\n\ndata x: real[N, D]\ndata y: count[N]\nw ~ ridge(D)\n\
              y ~ Poisson(log = x * w)\n",
    support: Support::Elem(Elem::Count),
    log_concave: true,
    args: &[
        Arg::one_of("link", "log", Elem::Real, "logarithm of the rate"),
        Arg::one_of("link", "rate", Elem::Positive, "expected count"),
    ],
    gaussian: None,
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
