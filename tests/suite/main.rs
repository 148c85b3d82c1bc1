//! Every integration test, in one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking, in its helpers too
mod errors_syntax;
mod syntax;
mod syntax_format;
mod syntax_limits;
mod syntax_properties;
mod syntax_trees;
