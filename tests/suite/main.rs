//! Every integration test, in one binary, one file a topic.

mod check;
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
