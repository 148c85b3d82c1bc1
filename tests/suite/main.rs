//! The tests that look at the program from outside, one file a topic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of a test fail it; clippy's own exception knows only functions marked #[test]"
)]

mod check;
mod cli_data;
mod cli_help;
mod cli_run;
mod cli_write;
mod compiled;
mod dist;
mod errors_plan;
mod errors_syntax;
mod examples;
mod fit_properties;
mod general_problems;
mod golden;
mod golden_gauss;
mod graph;
mod numeric_cases;
mod pages;
mod plan;
mod problems;
mod programs;
mod render;
mod replications;
mod syntax;
mod tidy;
