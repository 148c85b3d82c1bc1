//! Every integration test, in one binary, one file a topic.

mod check;
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of a test fail it; clippy's own exception knows only functions marked #[test]"
)]

mod cli_data;
mod cli_fit;
mod cli_help;
mod cli_model;
mod cli_run;
mod cli_write;
mod compiled;
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
mod syntax;
mod tidy;
//! All integration tests, in one binary.
mod fit_properties;
mod general_problems;
mod golden;
mod golden_gauss;
mod numeric_cases;
mod problems;
mod replications;
mod errors_plan;
mod errors_syntax;
mod examples;
mod golden;
mod golden_gauss;
mod graph;
mod pages;
mod plan;
mod problems;
mod programs;
mod golden;
mod golden_gauss;
mod pages;
mod problems;
mod golden;
mod golden_gauss;
mod pages;
mod problems;
mod render;
mod syntax;
mod tidy;
