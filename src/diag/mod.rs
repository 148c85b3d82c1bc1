//! Diagnostics: what is wrong, where, and what to do about it.
//!
//! The text of a message stands beside the check that raises it; this module only says what a
//! diagnostic is. Codes by stage: E01 lexical and syntax, E02 names, E03 shapes, E04 supports and
//! types, E05 graph, E06 no plan, E07 data, E08 numeric; W for warnings.

pub mod codes;
pub mod render;
pub mod suggest;

use serde::{Deserialize, Serialize};

use crate::source::Span;

/// How bad it is.
///
/// ```
/// assert!(sbl::Severity::Error > sbl::Severity::Warning);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The result stands, but something deserves a look.
    Warning,
    /// There is no result.
    Error,
}

/// A place that explains a diagnostic, with a short text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What to see there.
    pub text: String,
}

/// One finding. `message` says found and expected, in lower case without a full stop; `help`
/// proposes an edit.
///
/// ```
/// let error = sbl::Model::compile("data x: real[N]\nt ~ Normal(y, sd = 1)\n").unwrap_err();
/// let first: &sbl::Diagnostic = &error.diagnostics()[0];
/// assert_eq!(first.code, "E0201");
/// let at = first.primary.as_ref().map(|label| error.sources().slice(label.span));
/// assert_eq!(at, Some("y"));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Registered in [`codes`]; `sbl explain CODE` shows its page.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One line.
    pub message: String,
    /// The place to look at first; data and numeric diagnostics may have none.
    pub primary: Option<Label>,
    /// Other places, such as the first declaration.
    pub secondary: Vec<Label>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with a registered code.
    ///
    /// ```
    /// let d = sbl::Diagnostic::error("E0750", "cannot read my.csv").help("look at its path");
    /// assert!(d.is_error());
    /// ```
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::of(code, Severity::Error, message.into())
    }

    /// A warning with a registered code.
    ///
    /// ```
    /// assert!(!sbl::Diagnostic::warning("W0751", "the header may be data").is_error());
    /// ```
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::of(code, Severity::Warning, message.into())
    }

    fn of(code: &'static str, severity: Severity, message: String) -> Self {
        Self { code, severity, message, primary: None, secondary: Vec::new(), notes: Vec::new(), help: None }
    }

    /// Points at the place to look at first.
    ///
    /// ```
    /// let span = sbl::source::Span::default();
    /// let d = sbl::Diagnostic::error("E0750", "cannot read it").at(span, "named here");
    /// assert!(d.primary.is_some());
    /// ```
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { span, text: text.into() });
        self
    }

    /// Points at another place.
    ///
    /// ```
    /// let span = sbl::source::Span::default();
    /// let d = sbl::Diagnostic::error("E0750", "cannot read it").also(span, "and here");
    /// assert_eq!(d.secondary.len(), 1);
    /// ```
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    ///
    /// ```
    /// let d = sbl::Diagnostic::error("E0750", "cannot read it").note("it is a folder");
    /// assert_eq!(d.notes, ["it is a folder"]);
    /// ```
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    ///
    /// ```
    /// let d = sbl::Diagnostic::error("E0750", "cannot read it").help("look at its path");
    /// assert_eq!(d.help.as_deref(), Some("look at its path"));
    /// ```
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Whether there is no result.
    ///
    /// ```
    /// assert!(sbl::Diagnostic::error("E0750", "cannot read it").is_error());
    /// ```
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// All findings of one stage, in source order.
pub type Diagnostics = Vec<Diagnostic>;

/// A result with the warnings met on the way to it.
#[derive(Clone, Debug)]
pub struct Warned<T> {
    /// The result.
    pub value: T,
    /// Never errors.
    pub warnings: Diagnostics,
}

impl<T> Warned<T> {
    /// A result with its warnings.
    pub fn new(value: T, warnings: Diagnostics) -> Self {
        Self { value, warnings }
    }
}

/// What a stage returns: a result with warnings, or every error it found (and its warnings).
pub type Staged<T> = Result<Warned<T>, Diagnostics>;
