//! Text to tokens, to tree, and back.
pub mod ast;
mod build;
mod comments;
mod expr;
mod grammar;
pub mod guard;
pub mod parse;
pub mod token;
