//! Student's t distribution.

use super::{Arg, Elem, Family, Support};

/// t(y | mean, precision, dof).
pub static STUDENT_T: Family = Family {
    name: "StudentT",
    summary: "heavy-tailed noise: Student's t with a mean, degrees of freedom and one of precision, sd",
    formula: "p(y) = Γ((dof + 1)/2) / Γ(dof/2) sqrt(precision / (π dof)) (1 + precision (y − mean)² / dof)^(−(dof + 1)/2), \
              precision = 1 / sd²; the variance is dof / (dof − 2) / precision",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (2.159)",
    example: "data t: real[N]\nmu ~ Normal(0, precision = 1e-6)\ntau ~ Gamma(1e-3, 1e-3)\n\
              t ~ StudentT(mu, dof = 4, precision = tau)\n",
    support: Support::Elem(Elem::Real),
    log_concave: false,
    args: &[
        Arg::required("mean", Elem::Real, "centre").positional(),
        Arg::required("dof", Elem::Positive, "degrees of freedom; the fewer, the heavier the tails"),
        Arg::one_of(
            "scale",
            "precision",
            Elem::Positive,
            "inverse square of the scale; not the inverse variance",
        ),
        Arg::one_of("scale", "sd", Elem::Positive, "scale; the standard deviation as dof grows"),
    ],
    gaussian: None,
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
