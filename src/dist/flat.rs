//! Flat.
use super::{Elem, Family, Support};

/// Flat.
pub static FLAT: Family = Family {
    name: "Flat",
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
