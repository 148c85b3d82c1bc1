//! `:plot`: the picture that fits the model, in the terminal or in a file.

use std::path::Path;

use sbl::picture::Kind;

use super::command::{usage, words};
use super::engine::Engine;
use super::reply::Reply;
use crate::cli::failure::Failure;
use crate::cli::{load, plot};

/// Columns and rows of a picture between lines of text.
const MOST: (usize, usize) = (80, 24);
/// Pixels of an image for each of the page.
const SCALE: f64 = 2.0;

impl Engine {
    /// `:plot [KIND] [FILE]`
    pub(super) fn plot(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let words = words(arguments);
        let kind = words.first().and_then(|word| Kind::of(word));
        let file = match (&words[usize::from(kind.is_some())..], kind) {
            ([], _) => None,
            ([file], _) if file.contains('.') => Some(file),
            ([word, ..], None) => {
                let names: Vec<&str> = Kind::ALL.iter().map(|(name, _)| *name).collect();
                let what = format!("found `{word}`, expected one of {}, or a file", names.join(", "));
                return Err(usage("plot", &what));
            }
            _ => return Err(usage("plot", "found more than a kind and a file")),
        };
        let format = file.map(|file| plot::format_of(Path::new(file))).transpose()?;
        let picture = match kind {
            Some(Kind::Graph) => self.model()?.picture(),
            _ => self.fitted()?.picture(kind, self.state.data.as_deref())?,
        };
        match (file, format) {
            (Some(file), Some(format)) => {
                load::write(Path::new(file), &plot::file(&picture, format, SCALE)?)?;
                reply.note(format!("written: {file}"));
            }
            _ => reply.result(plot::text(&picture, &self.style, MOST)),
        }
        Ok(())
    }
}
