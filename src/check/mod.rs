//! Names, shapes and supports: from the syntax tree to the typed model.
pub mod dim;
pub mod typed;
