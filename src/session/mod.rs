//! The pipeline, from text to a fit and a prediction.

pub mod bind;
pub mod compile;
pub(crate) mod draws;
pub mod file;
pub(crate) mod findings;
pub mod fit;
pub mod heal;
pub(crate) mod nodes;
pub mod options;
pub(crate) mod outside;
pub mod posterior;
pub mod predict;
pub mod result;
pub mod sample;
pub mod score;

/// The version of the JSON that the program writes.
pub const SCHEMA: u32 = 1;
