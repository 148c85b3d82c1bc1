//! The pipeline, from text to a fit and a prediction.
