//! Every integration test, in one binary, one file a topic.

mod check;
mod cli_data;
mod cli_help;
mod cli_run;
mod cli_write;
mod dist;
mod errors_graph;
mod errors_names;
mod errors_shapes;
mod errors_supports;
mod errors_syntax;
mod examples;
mod golden;
mod golden_gauss;
mod imports;
mod pages;
mod plates;
mod problems;
mod render;
mod syntax;
mod tidy;
