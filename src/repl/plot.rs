//! `:plot`: the picture that fits the model, in the terminal or in a file.

use super::engine::{Engine, nothing_yet};
use super::reply::Reply;
use crate::cli::failure::Failure;

impl Engine {
    /// `:plot [KIND] [FILE]`
    pub(super) fn plot(&mut self, _arguments: &str, _reply: &mut Reply) -> Result<(), Failure> {
        self.fitted()?;
        Err(nothing_yet("pictures are not drawn by this version", "`:show` prints the numbers"))
    }
}
