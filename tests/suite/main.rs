//! Every integration test, in one binary.
mod errors_syntax;
mod syntax;
