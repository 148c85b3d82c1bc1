//! Plans executed.
pub mod problem;
pub mod solution;
