//! All integration tests, in one binary.
mod fit_properties;
mod general_problems;
mod golden;
mod golden_gauss;
mod numeric_cases;
mod problems;
mod replications;
