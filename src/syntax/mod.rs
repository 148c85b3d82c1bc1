//! Text to tokens, to tree, and back.
pub mod ast;
mod build;
mod comments;
mod dump;
mod errors;
mod expr;
mod grammar;
pub mod guard;
mod layout;
mod lexical;
mod outline;
pub mod parse;
pub mod print;
mod recover;
pub mod token;
mod unparse;

pub use parse::{is_complete, parse, parse_expr, parse_infer, parse_statement};
pub use print::format;

#[cfg(test)]
mod tests;
