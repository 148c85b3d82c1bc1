//! One of several unordered levels.

use super::{Arg, ArgShape, Elem, Family, Support};

/// Categorical(y | p).
pub static CATEGORICAL: Family = Family {
    name: "Categorical",
    summary: "one of several levels, given one score (softmax) or one probability a level",
    formula: "P(y = k) = p[k] = exp(softmax[k]) / Σ_l exp(softmax[l])",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (4.104)",
    example: "use std.priors.ard\n\ndata x: real[N, D]\ndata c: category[N]\nW ~ ard(D, levels(c))\n\
              c ~ Categorical(softmax = x * W)\n",
    support: Support::Levels,
    log_concave: true,
    args: &[
        Arg::one_of("link", "softmax", Elem::Real, "a score for each level; only differences matter")
            .shaped(ArgShape::PerLevel),
        Arg::one_of("link", "p", Elem::Unit, "a probability for each level; they sum to 1")
            .shaped(ArgShape::PerLevel),
    ],
    gaussian: None,
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
