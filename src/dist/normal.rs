//! Normal.
use super::{Arg, ArgShape, Elem, Family, Gaussian, Need, Support};

/// N(y | mean, 1/precision).
pub static NORMAL: Family = Family {
    name: "Normal",
    summary: "Gaussian with a mean and one of precision, variance, sd",
    formula: "sqrt(precision / 2π) exp(−precision (y − mean)² / 2)",
    source: "Bishop 2006, (1.46)",
    example: "data t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)\n",
    support: Support::Elem(Elem::Real),
    args: &[
        Arg { name: "mean", positional: true, elem: Elem::Real, shape: ArgShape::Node, need: Need::Required },
        Arg {
            name: "precision",
            positional: false,
            elem: Elem::Positive,
            shape: ArgShape::Node,
            need: Need::OneOf("scale"),
        },
        Arg {
            name: "variance",
            positional: false,
            elem: Elem::Positive,
            shape: ArgShape::Node,
            need: Need::OneOf("scale"),
        },
        Arg {
            name: "sd",
            positional: false,
            elem: Elem::Positive,
            shape: ArgShape::Node,
            need: Need::OneOf("scale"),
        },
    ],
    gaussian: Some(Gaussian {
        mean: Some("mean"),
        scales: &[("precision", 1.0), ("variance", -1.0), ("sd", -2.0)],
    }),
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
