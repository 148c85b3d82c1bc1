//! Deterministic expressions as numbers, and linear forms in the latent nodes.
//!
//! [`eval`] evaluates a typed expression, whole or only the rows and columns that are wanted;
//! [`frozen`] keeps what `train` and `standardize` saw at training; [`mod@affine`] writes an expression
//! as offset + Σ C_b · innovations of block b; [`mod@log_linear`] writes a precision as
//! exp(const + Σ power · ln theta); [`labels`] names columns and entries for people.
//! What a native function computes stands in one table, [`natives`].

pub mod adjoint;
pub mod affine;
mod affine_adjoint;
pub mod coef;
pub mod error;
pub mod eval;
pub mod frozen;
mod host;
mod interpret;
pub mod labels;
mod log_adjoint;
pub mod log_linear;
pub mod natives;
mod ops;
mod pairs;
mod picks;
mod pull;
pub mod value;
pub(crate) mod walk;
pub mod want;

pub use adjoint::{Seed, pull_back};
pub use affine::{Affine, Draw, Restrict, affine};
pub use affine_adjoint::{Starts, affine_seeds};
pub use error::{Bytes, EvalError, Why};
pub use eval::{Evaluator, Inputs};
pub use frozen::{Frozen, Notice};

pub use labels::Labels;
pub use log_adjoint::log_seeds;
pub use log_linear::{LogEntry, LogLinear, log_linear};
pub use value::{Label, Rank, Value};
pub use want::{Axis, Want};
