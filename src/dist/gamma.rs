//! Gamma.
use super::{Elem, Family, Support};

/// Gamma.
pub static GAMMA: Family = Family {
    name: "Gamma",
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
