//! The tests that look at the program from outside, one file a topic.

mod binding;
mod cli_data;
mod cli_help;
mod cli_run;
mod cli_write;
mod dist;
mod errors_data;
mod errors_syntax;
mod examples;
mod golden;
mod golden_gauss;
mod linear_forms;
mod pages;
mod problems;
mod render;
mod syntax;
mod tidy;
