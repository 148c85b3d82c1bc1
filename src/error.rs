//! The error of the public API: diagnostics with the sources they point into.

use std::fmt;

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::SourceMap;

/// Why something could not be done: at least one diagnostic.
///
/// `Display` renders them as text without colour; [`Error::diagnostics`] gives them as data.
///
/// ```
/// let error = sbl::Model::compile("data t: real[N]\nt ~ Nomal(0, sd = 1)\n").unwrap_err();
/// for d in error.diagnostics() {
///     println!("{}: {}", d.code, d.message);
/// }
/// assert!(error.to_string().starts_with("error[E"));
/// ```
#[derive(Clone)]
pub struct Error {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Error {
    /// Diagnostics that point into `sources`.
    ///
    /// ```
    /// use sbl::{Diagnostic, Error, source::SourceMap};
    /// let error = Error::new(vec![Diagnostic::error("E0750", "cannot read my.csv")], SourceMap::new());
    /// assert_eq!(error.to_string().trim(), "error[E0750]: cannot read my.csv");
    /// ```
    pub fn new(diagnostics: Diagnostics, sources: SourceMap) -> Self {
        Self { diagnostics, sources }
    }

    /// With one more fact about every error.
    pub(crate) fn noted(mut self, fact: Option<String>) -> Self {
        for d in self.diagnostics.iter_mut().filter(|d| d.is_error()) {
            d.notes.extend(fact.clone());
        }
        self
    }

    /// The findings, errors and warnings, in order.
    ///
    /// ```
    /// let error = sbl::Model::compile("data x: real[N]\nt ~ Nomal(x, sd = 1)\n").unwrap_err();
    /// assert!(error.diagnostics().iter().any(|d| d.help.as_deref() == Some("did you mean `Normal`?")));
    /// ```
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The texts that the diagnostics point into.
    ///
    /// ```
    /// let error = sbl::Model::compile("data x: real[N]\nt ~ Normal(y, sd = 1)\n").unwrap_err();
    /// let span = error.diagnostics()[0].primary.as_ref().map(|l| l.span).unwrap_or_default();
    /// assert_eq!(error.sources().line_column(span.file, span.start), (2, 12));
    /// ```
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
