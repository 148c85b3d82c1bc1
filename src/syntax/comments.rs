//! Documentation comments find their declaration.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};
use crate::syntax::token::{Token, TokenKind};

/// The documentation comments of a file, by the byte at which the next declaration starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Docs {
    waiting: BTreeMap<u32, Doc>,
    /// Those that cannot document anything: after code on the same line, before a blank line.
    stray: Vec<Doc>,
}

#[derive(Clone, Debug)]
struct Doc {
    text: String,
    start: u32,
    end: u32,
}

impl Docs {
    /// Collects `##` lines that stand directly above something.
    pub fn collect(text: &str, tokens: &[Token]) -> Self {
        let mut docs = Docs::default();
        let mut open: Option<Doc> = None;
        // Whether the line so far is blank, and whether the line before it was.
        let (mut blank, mut code) = (true, false);
        for token in tokens {
            match token.kind {
                TokenKind::Blank => {}
                TokenKind::Newline => {
                    if blank {
                        docs.stray.extend(open.take());
                    }
                    (blank, code) = (true, false);
                }
                TokenKind::Doc if !code => {
                    blank = false;
                    let line = token.text(text).trim_start_matches('#');
                    let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
                    match &mut open {
                        Some(doc) => {
                            doc.text.push('\n');
                            doc.text.push_str(line);
                            doc.end = token.end;
                        }
                        None => {
                            open = Some(Doc { text: line.to_owned(), start: token.start, end: token.end })
                        }
                    }
                }
                TokenKind::Doc => {
                    let text = token.text(text).to_owned();
                    docs.stray.push(Doc { text, start: token.start, end: token.end });
                }
                TokenKind::Comment => blank = false,
                _ => {
                    if let Some(doc) = open.take() {
                        docs.waiting.insert(token.start, doc);
                    }
                    (blank, code) = (false, true);
                }
            }
        }
        docs.stray.extend(open);
        docs
    }

    /// The documentation of the declaration that starts at this byte.
    pub fn take(&mut self, start: u32) -> Option<String> {
        self.waiting.remove(&start).map(|doc| doc.text)
    }

    /// A warning for each that documents nothing.
    pub fn leftover(self, file: FileId) -> Diagnostics {
        let mut rest: Vec<Doc> = self.waiting.into_values().chain(self.stray).collect();
        rest.sort_by_key(|doc| doc.start);
        rest.iter()
            .map(|doc| {
                Diagnostic::warning("W0101", "documentation comment that documents nothing")
                    .at(
                        Span::new(file, doc.start as usize, doc.end as usize),
                        "no declaration follows on the next line",
                    )
                    .help("put it on the line directly above a declaration, or write one `#`")
            })
            .collect()
    }
}
