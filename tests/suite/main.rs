//! The tests that look at the program from outside, one file a topic.

mod dist;
mod examples;
mod pages;
mod render;
mod syntax;
mod tidy;
