//! Diagnostics, for the eye and for programs.

use sbl::diag::Diagnostic;
use sbl::diag::render::{RenderOptions, render, to_json};
use sbl::source::SourceMap;

use super::failure::Failure;
use super::screen::Screen;

/// Prints diagnostics to standard error. Warnings are left out after `-q`.
pub fn print(screen: &Screen, diagnostics: &[Diagnostic], sources: &SourceMap) {
    let shown: Vec<Diagnostic> =
        diagnostics.iter().filter(|d| d.is_error() || !screen.quiet).cloned().collect();
    if shown.is_empty() {
        return;
    }
    let options = RenderOptions { color: screen.color_err, unicode: screen.unicode };
    let mut text = render(&shown, sources, &options);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    screen.error(&text);
}

/// Prints diagnostics that belong to no program to standard error.
pub fn print_plain(screen: &Screen, diagnostics: &[Diagnostic]) {
    print(screen, diagnostics, &SourceMap::new());
}

/// Diagnostics as a JSON array on standard output.
///
/// # Errors
/// The output cannot be written.
pub fn print_json(screen: &Screen, diagnostics: &[Diagnostic], sources: &SourceMap) -> Result<(), Failure> {
    json(screen, &to_json(diagnostics, sources))
}

/// A JSON value on standard output, readable, with a newline at the end.
///
/// # Errors
/// The output cannot be written.
pub fn json(screen: &Screen, value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    screen.result(&bytes)
}
