//! sbl
pub mod check;
pub mod data;
pub mod design;
pub mod diag;
pub mod dist;
mod error;
pub mod graph;
pub mod math;
pub mod plan;
pub mod runtime;
pub mod session;
pub mod source;
pub mod syntax;

pub use data::Data;
pub use error::Error;
pub use session::options::{Options, Progress};
