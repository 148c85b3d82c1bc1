//! The sets in which the elements of values lie.

use serde::{Deserialize, Serialize};

/// The set an element of a value lies in.
///
/// ```
/// assert!(sbl::Elem::Count.fits(sbl::Elem::Real));
/// assert_eq!(sbl::Elem::NonNegative.name(), "non-negative");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Elem {
    /// The line.
    Real,
    /// At least 0 (a literal 0, `abs`, `sqrt`, `x^2`).
    NonNegative,
    /// Above 0.
    Positive,
    /// 0 to 1.
    Unit,
    /// A whole number.
    Int,
    /// 0, 1, 2 …
    Count,
    /// 0 or 1.
    Bool,
    /// One of some levels.
    Category,
    /// One of some ascending levels.
    Ordered,
    /// Strictly ascending vector; only of a `param`.
    Increasing,
    /// Non-negative vector that sums to 1; only of a `param`.
    Simplex,
}

impl Elem {
    /// As written in a program.
    ///
    /// ```
    /// assert_eq!(sbl::Elem::Positive.name(), "positive");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Elem::Real => "real",
            Elem::NonNegative => "non-negative",
            Elem::Positive => "positive",
            Elem::Unit => "unit",
            Elem::Int => "int",
            Elem::Count => "count",
            Elem::Bool => "bool",
            Elem::Category => "category",
            Elem::Ordered => "ordered",
            Elem::Increasing => "increasing",
            Elem::Simplex => "simplex",
        }
    }

    /// Whether every value of `self` is a value of `wanted`.
    ///
    /// ```
    /// assert!(sbl::Elem::Positive.fits(sbl::Elem::NonNegative));
    /// assert!(!sbl::Elem::Real.fits(sbl::Elem::Positive));
    /// ```
    pub fn fits(self, wanted: Elem) -> bool {
        use Elem::{Bool, Count, Increasing, Int, NonNegative, Positive, Real, Simplex, Unit};
        self == wanted
            || match wanted {
                Real => {
                    matches!(self, NonNegative | Positive | Unit | Int | Count | Bool | Increasing | Simplex)
                }
                NonNegative => matches!(self, Positive | Unit | Count | Bool | Simplex),
                Unit => matches!(self, Bool | Simplex),
                Int => matches!(self, Count | Bool),
                Count => matches!(self, Bool),
                _ => false,
            }
    }
}

impl std::fmt::Display for Elem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
