//! Which inference, and why.
pub mod ir;
