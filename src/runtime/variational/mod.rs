//! Mean-field inference: a factor for the weights, one for every hyperparameter, and one (or a bound)
//! for every row that is not Gaussian (mathematics §6–§8).

pub mod assemble;
pub mod cycle;
pub mod problem;

mod anderson;
mod ascend;
mod bound;
mod core;
mod findings;
mod gamma;
mod gaussian;
mod slope;
mod solve;
mod start;
mod state;

pub use slope::slope;
pub use solve::{resume, solve};
