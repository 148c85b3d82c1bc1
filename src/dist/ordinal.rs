//! Ordered levels: a latent value cut into intervals.

use super::{Arg, ArgShape, Elem, Family, Support};

/// Ordinal(y | location, cutpoints, sd).
pub static ORDINAL: Family = Family {
    name: "Ordinal",
    summary: "ordered levels: a latent normal or logistic value cut into intervals",
    formula: "P(y ≤ j) = F((cutpoints[j] − location) / sd), F = Φ (probit) or 1 / (1 + exp(−z)) (logit)",
    source: "McCullagh (1980), Journal of the Royal Statistical Society B 42(2); \
             Chu and Ghahramani (2005), Journal of Machine Learning Research 6",
    example: "use std.priors.ridge\n\ndata x: real[N, D]\ndata y: ordered[N]\nw ~ ridge(D)\n\
              param cut: increasing[levels(y) - 1]\ny ~ Ordinal(probit = x * w, cutpoints = cut)\n",
    support: Support::Ordered,
    log_concave: true,
    args: &[
        Arg::one_of("link", "probit", Elem::Real, "location of a normal latent value"),
        Arg::one_of("link", "logit", Elem::Real, "location of a logistic latent value"),
        Arg::required("cutpoints", Elem::Increasing, "where one level ends and the next begins")
            .shaped(ArgShape::Cutpoints),
        Arg::default("sd", Elem::Positive, 1.0, "scale of the latent value"),
    ],
    gaussian: None,
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
