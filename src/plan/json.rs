//! The plan as JSON.
