//! The tests that look at the program from outside, one file a topic.

mod cli_data;
mod cli_help;
mod cli_run;
mod cli_write;
mod dist;
mod errors_syntax;
mod examples;
mod fit_properties;
mod general_problems;
mod golden;
mod golden_gauss;
mod numeric_cases;
mod pages;
mod problems;
mod render;
mod replications;
mod special_functions;
mod syntax;
mod tidy;
