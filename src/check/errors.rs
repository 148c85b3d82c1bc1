//! Diagnostics that several checks share.

use crate::diag::Diagnostic;
use crate::source::Span;

/// Two declarations of one name.
pub(crate) fn declared_twice(name: &str, first: Span, again: Span) -> Diagnostic {
    Diagnostic::error("E0205", format!("`{name}` is declared twice"))
        .at(again, "declared again here")
        .also(first, "first declared here")
        .help("rename one of them")
}

/// `2 rows`, `1 row`
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
