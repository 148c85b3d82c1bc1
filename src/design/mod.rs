//! Deterministic expressions as numbers.
pub mod value;
