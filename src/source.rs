//! Source files, byte spans, and lines and columns.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Identifies one file of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end.max(start) as u32 }
    }

    /// The smallest span that covers both; they must lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A value with the place it was written at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `node`, written at `span`.
    pub fn new(node: T, span: Span) -> Self {
        Self { node, span }
    }
}

/// One source text: what the host gave, or a file of the embedded standard library.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// Name as shown in messages; `<std>/kernels.sbl` for the standard library.
    pub name: Arc<str>,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
}

/// Every file a compilation has seen, in the order in which they were met.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// No file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and returns its id. A leading byte order mark is dropped.
    pub fn add(&mut self, name: &str, text: &str) -> FileId {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file, or `None` for an id of another map.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// The text of a file; empty for an id of another map.
    pub fn text(&self, id: FileId) -> &str {
        self.file(id).map_or("", |f| &f.text)
    }

    /// The name of a file; empty for an id of another map.
    pub fn name(&self, id: FileId) -> &str {
        self.file(id).map_or("", |f| &f.name)
    }

    /// The text a span covers, clamped to the file and to character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        let text = self.text(span.file);
        let (start, end) = clamp(text, span.start as usize, span.end as usize);
        &text[start..end]
    }

    /// Line and column of a byte, both counted from 1; the column counts characters.
    pub fn line_column(&self, file: FileId, byte: u32) -> (usize, usize) {
        let text = self.text(file);
        let (at, _) = clamp(text, byte as usize, byte as usize);
        let (mut line, mut start) = (0, 0);
        for (i, range) in lines(text).take_while(|range| range.start <= at).enumerate() {
            (line, start) = (i, range.start);
        }
        (line + 1, text[start..at].chars().count() + 1)
    }

    /// Every file, in order of its id.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }
}

/// `start..end` moved into the text and outwards to character boundaries.
pub fn clamp(text: &str, start: usize, end: usize) -> (usize, usize) {
    let mut start = start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (start, end)
}

/// The lines of a text, without their ends: LF, CRLF or a CR alone. The last may be empty; there is
/// always one.
pub fn lines(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let Some(length) = rest.find(['\n', '\r']) else {
            next = None;
            return Some(start..text.len());
        };
        let end = start + length;
        let width = if rest[length..].starts_with("\r\n") { 2 } else { 1 };
        next = Some(end + width);
        Some(start..end)
    })
}
