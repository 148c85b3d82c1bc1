//! What a line at the prompt is answered with.

use sbl::diag::{Diagnostic, Diagnostics};
use sbl::source::SourceMap;

use crate::cli::failure::Failure;

/// One piece of an answer.
#[derive(Clone, Debug)]
pub enum Part {
    /// A result, for standard output; it ends in a newline.
    Result(String),
    /// A remark, for the eye.
    Note(String),
    /// Findings, with the sources they point into.
    Found(Diagnostics, SourceMap),
}

/// An answer, in order.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Its pieces.
    pub parts: Vec<Part>,
    /// Whether the session is to end.
    pub quit: bool,
    /// Whether something was wrong.
    pub failed: bool,
}

impl Reply {
    /// Adds a result.
    pub fn result(&mut self, text: impl Into<String>) {
        let mut text = text.into();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        self.parts.push(Part::Result(text));
    }

    /// Adds a remark.
    pub fn note(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Note(text.into()));
    }

    /// Adds warnings.
    pub fn warn(&mut self, warnings: &[Diagnostic], sources: &SourceMap) {
        if !warnings.is_empty() {
            self.parts.push(Part::Found(warnings.to_vec(), sources.clone()));
        }
    }

    /// Adds what went wrong.
    pub fn fail(&mut self, failure: Failure) {
        self.failed = true;
        self.parts.push(Part::Found(failure.diagnostics, failure.sources));
    }

    /// Everything as plain text, as tests read it.
    #[cfg(test)]
    pub fn text(&self) -> String {
        let plain = sbl::diag::render::RenderOptions::default();
        let part = |part: &Part| match part {
            Part::Result(text) => text.clone(),
            Part::Note(text) => format!("{text}\n"),
            Part::Found(found, sources) => sbl::diag::render::render(found, sources, &plain),
        };
        self.parts.iter().map(part).collect()
    }
}
