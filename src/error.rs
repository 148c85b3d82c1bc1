//! The error of the public API: diagnostics with the sources they point into.

use std::fmt;

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::SourceMap;

/// Why something could not be done: at least one diagnostic.
///
/// `Display` renders them as text without colour; [`Error::diagnostics`] gives them as data.
#[derive(Clone)]
pub struct Error {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Error {
    /// Diagnostics that point into `sources`.
    pub fn new(diagnostics: Diagnostics, sources: SourceMap) -> Self {
        Self { diagnostics, sources }
    }

    /// The findings, errors and warnings, in order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The texts that the diagnostics point into.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], sources: SourceMap::new() }
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Self {
        Self { diagnostics, sources: SourceMap::new() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = crate::diag::render::RenderOptions::default();
        f.write_str(&crate::diag::render::render(&self.diagnostics, &self.sources, &plain))
    }
}

/// As [`fmt::Display`]: what `unwrap` and a `main` that returns it show.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Error {}
