//! The tests that look at the program from outside, one file a topic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of a test fail it; clippy's own exception knows only functions marked #[test]"
)]

mod cli_data;
mod cli_help;
mod cli_run;
mod cli_write;
mod dist;
mod examples;
mod pages;
mod render;
//! Every integration test, in one binary.
mod errors_syntax;
mod syntax;
mod tidy;
//! All integration tests, in one binary.
mod golden;
mod golden_gauss;
mod problems;
