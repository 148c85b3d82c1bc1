//! The tests that look at the program from outside, one file a topic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of a test fail it; clippy's own exception knows only functions marked #[test]"
)]

mod dist;
mod examples;
mod pages;
mod render;
mod syntax;
mod tidy;
