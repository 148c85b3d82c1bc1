//! Bernoulli.
use super::{Elem, Family, Support};

/// Bernoulli.
pub static BERNOULLI: Family = Family {
    name: "Bernoulli",
    summary: "",
    formula: "",
    source: "",
    example: "",
    support: Support::Elem(Elem::Real),
    args: &[],
    gaussian: None,
    precision_prior: None,
    sample: |_, _| None,
    log_density: |_, _| f64::NAN,
};
