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
mod errors_syntax;
mod examples;
mod golden;
mod golden_gauss;
mod pages;
mod problems;
mod render;
mod syntax;
mod tidy;
