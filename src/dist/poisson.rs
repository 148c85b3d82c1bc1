//! Poisson.
use super::{Elem, Family, Support};

/// Poisson.
pub static POISSON: Family = Family {
    name: "Poisson",
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
