//! Ordinal.
use super::{Elem, Family, Support};

/// Ordinal.
pub static ORDINAL: Family = Family {
    name: "Ordinal",
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
