//! Text to tokens, to tree, and back.
pub mod ast;
