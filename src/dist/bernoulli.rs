//! The Bernoulli distribution: success or failure.

use super::{Arg, Elem, Family, Support};

/// Bernoulli(y | p).
pub static BERNOULLI: Family = Family {
    name: "Bernoulli",
    summary: "success or failure, given a logit, a probit or a probability",
    formula: "P(y = 1) = p = 1 / (1 + exp(−logit)) = Φ(probit), P(y = 0) = 1 − p",
    source: "Tipping (2001), Journal of Machine Learning Research 1, (22) and (23)",
    example: "use std.priors.ridge\n\ndata x: real[N, D]\ndata t: bool[N]\nw ~ ridge(D)\n\
              t ~ Bernoulli(logit = x * w)\n",
    support: Support::Binary,
    log_concave: true,
    args: &[
        Arg::one_of("link", "logit", Elem::Real, "log odds of success"),
        Arg::one_of("link", "probit", Elem::Real, "standard normal quantile of the probability of success"),
        Arg::one_of("link", "p", Elem::Unit, "probability of success"),
    ],
    gaussian: None,
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
