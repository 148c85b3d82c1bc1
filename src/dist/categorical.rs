//! Categorical.
use super::{Elem, Family, Support};

/// Categorical.
pub static CATEGORICAL: Family = Family {
    name: "Categorical",
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
