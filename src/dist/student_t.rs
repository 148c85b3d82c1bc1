//! StudentT.
use super::{Elem, Family, Support};

/// StudentT.
pub static STUDENT_T: Family = Family {
    name: "StudentT",
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
