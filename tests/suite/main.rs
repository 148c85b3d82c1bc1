//! All integration tests, in one binary.
mod golden;
mod golden_gauss;
mod problems;
