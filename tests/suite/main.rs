//! The tests that look at the program from outside, one file a topic, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of a test fail it; clippy's own exception knows only functions marked #[test]"
)]

mod binding;
mod cancel;
mod cases;
mod check;
mod cli_classes;
mod cli_compare;
mod cli_cv;
mod cli_data;
mod cli_environment;
mod cli_fit;
mod cli_fit_files;
mod cli_formats;
mod cli_help;
mod cli_model;
mod cli_plot;
mod cli_run;
mod cli_write;
mod compiled;
mod conformance;
mod course;
mod derivatives;
mod dist;
mod edges;
mod embedding;
mod errors_data;
mod errors_graph;
mod errors_names;
mod errors_plan;
mod errors_shapes;
mod errors_supports;
mod errors_syntax;
mod evaluation;
mod examples;
mod fit_damage;
mod fit_properties;
mod fit_samples;
mod general_problems;
mod golden;
mod golden_gauss;
mod golden_laplace;
mod golden_variational;
mod graph;
mod heal;
mod help;
mod host;
mod hostile_data;
mod imports;
mod laplace_properties;
mod linear_forms;
mod marginals;
mod numeric_cases;
mod numeric_diagnostics;
mod pages;
mod params;
mod pictures;
mod plan;
mod plates;
mod problems;
mod programs;
mod render;
mod replications;
mod sequential;
mod service;
mod special_functions;
mod stages;
mod starts;
mod syntax;
mod syntax_format;
mod syntax_limits;
mod syntax_properties;
mod syntax_trees;
#[cfg(unix)]
mod terminal;
mod tidy;
mod variational;
mod variational_params;
