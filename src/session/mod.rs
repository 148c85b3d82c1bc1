//! The pipeline, from text to a fit and a prediction.

pub mod bind;
pub mod file;
pub mod options;
pub mod result;
