//! Diagnostics, for the eye and for programs.

use std::sync::atomic::{AtomicBool, Ordering};

use sbl::diag::render::{RenderOptions, render, to_json};
use sbl::diag::{Diagnostic, codes};
use sbl::source::{SourceMap, Span};
use serde_json::Value;

use super::failure::Failure;
use super::screen::Screen;

/// Whether diagnostics were printed before.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints diagnostics to standard error. Warnings are left out after `-q`.
pub fn print(screen: &Screen, diagnostics: &[Diagnostic], sources: &SourceMap) {
    let shown: Vec<Diagnostic> =
        diagnostics.iter().filter(|d| d.is_error() || !screen.quiet).cloned().collect();
    if shown.is_empty() {
        return;
    }
    let options = RenderOptions { color: screen.color_err, unicode: screen.unicode };
    let mut text = render(&shown, sources, &options);
    // Findings of several stages stand apart like those of one.
    if PRINTED.swap(true, Ordering::Relaxed) {
        text.insert(0, '\n');
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if !screen.unicode {
        text = text.replace('…', "...");
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

/// Prints diagnostics that a result keeps as JSON, with the source they point at where it is there.
pub fn print_stored(screen: &Screen, stored: &[Value], sources: &SourceMap) {
    for value in stored {
        match restored(value, sources) {
            Some(diagnostic) => print(screen, &[diagnostic], sources),
            // A code of another version.
            None => {
                let text = |key: &str| value[key].as_str().unwrap_or("?").to_owned();
                screen.note(&format!("{}[{}]: {}", text("severity"), text("code"), text("message")));
            }
        }
    }
}

/// The diagnostics that a result keeps as JSON, those that this version knows.
pub fn stored(values: &[Value], sources: &SourceMap) -> Vec<Diagnostic> {
    values.iter().filter_map(|v| restored(v, sources)).collect()
}

/// The inverse of [`to_json`]; `None` if this version has no such code.
fn restored(value: &Value, sources: &SourceMap) -> Option<Diagnostic> {
    let code = codes::find(value["code"].as_str()?)?.code;
    let message = value["message"].as_str()?;
    let mut diagnostic = match value["severity"].as_str() {
        Some("error") => Diagnostic::error(code, message),
        _ => Diagnostic::warning(code, message),
    };
    for label in value["labels"].as_array().into_iter().flatten() {
        let name = label["file"].as_str()?;
        let Some((file, _)) = sources.files().find(|(_, f)| &*f.name == name) else { continue };
        let at = |key: &str| label["span"][key].as_u64().and_then(|x| usize::try_from(x).ok());
        let (Some(start), Some(end)) = (at("start"), at("end")) else { continue };
        let (span, text) = (Span::new(file, start, end), label["text"].as_str().unwrap_or(""));
        diagnostic =
            if label["primary"] == true { diagnostic.at(span, text) } else { diagnostic.also(span, text) };
    }
    for note in value["notes"].as_array().into_iter().flatten() {
        diagnostic = diagnostic.note(note.as_str().unwrap_or(""));
    }
    Some(match value["help"].as_str() {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    })
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
