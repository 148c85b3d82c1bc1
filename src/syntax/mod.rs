//! Text to tokens, to tree, and back.
pub mod ast;
mod build;
mod comments;
mod errors;
mod expr;
mod grammar;
pub mod guard;
mod lexical;
mod outline;
pub mod parse;
mod recover;
pub mod token;
