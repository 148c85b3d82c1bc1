//! Programs and fits from files, and files written.

use std::path::Path;

use sbl::diag::Diagnostic;

use super::failure::Failure;
use super::screen::Screen;
use crate::io::{bytes, errors, is_stdin, write};

pub use crate::io::shown;

/// The most a program may take; far above any program.
const PROGRAM_LIMIT: u64 = 64 << 20;
/// The most a fit file may take.
const FIT_LIMIT: u64 = 4 << 30;

/// The text of a program.
pub fn program(path: &Path) -> Result<String, Failure> {
    let bytes = bytes::read_bytes(path, PROGRAM_LIMIT)?;
    let shown = shown(path);
    match is_fit(&bytes) {
        true => Err(errors::fit_for_program(&shown).into()),
        false => Ok(text(bytes, &shown)?),
    }
}

/// The bytes of a program as text.
pub fn text(bytes: Vec<u8>, shown: &str) -> Result<String, Diagnostic> {
    // the reader's own advice is about tables
    bytes::decode(bytes, shown)
        .map_err(|d| d.help("a program is plain text in UTF-8: save it as that, with an editor"))
}

/// The bytes of a fit file.
pub fn fit_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    Ok(bytes::read_bytes(path, FIT_LIMIT)?)
}

/// Whether these are the bytes of a fit file.
pub fn is_fit(bytes: &[u8]) -> bool {
    bytes.starts_with(b"sblfit ")
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write::write_atomic(path, content).map_err(|e| Failure::unwritable(errors::unwritable(&shown(path), &e)))
}

/// Writes a file; `-` is standard output.
pub fn write_or_print(path: &Path, content: &[u8], screen: &Screen) -> Result<(), Failure> {
    if is_stdin(path) { screen.result(content) } else { write(path, content) }
}
