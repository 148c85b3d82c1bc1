//! Limits, checked before pest sees the text.

use crate::diag::Diagnostic;
use crate::source::{FileId, Span};
use crate::syntax::token::{Token, TokenKind};

/// Bytes of one source text.
pub const MAX_BYTES: usize = 1 << 20;
/// Brackets inside brackets, block braces included.
pub const MAX_NESTING: usize = 256;
/// Operators in one statement.
pub const MAX_OPERATORS: usize = 10_000;
/// Height of one expression tree, so that later stages may walk it by recursion in a small stack.
pub const MAX_DEPTH: usize = 256;

/// A text beyond [`MAX_BYTES`].
pub(crate) fn check_size(file: FileId, text: &str) -> Option<Diagnostic> {
    (text.len() > MAX_BYTES).then(|| {
        Diagnostic::error("E0114", format!("source of {} bytes, expected at most {MAX_BYTES}", text.len()))
            .at(Span::new(file, 0, 0), "a program, not a table of numbers, belongs here")
            .help("give constants as data, for example as columns of a JSON file")
    })
}

/// Nesting and operator counts; the first excess only, since the tree is not built then.
pub(crate) fn check_limits(file: FileId, tokens: &[Token]) -> Option<Diagnostic> {
    let (mut nesting, mut operators) = (0usize, 0usize);
    let mut continued = false;
    for token in tokens {
        let kind = token.kind;
        if kind.is_trivia() {
            continue;
        }
        if kind.is_open() {
            nesting += 1;
        } else if kind.is_close() {
            nesting = nesting.saturating_sub(1);
        } else if kind.is_operator() {
            operators += 1;
        }
        let ends = match kind {
            TokenKind::Newline => !continued,
            TokenKind::Semicolon => true,
            _ => false,
        };
        if ends {
            operators = 0;
        }
        if kind != TokenKind::Newline {
            continued = kind.continues() || kind == TokenKind::Comma || kind == TokenKind::OpenParen;
        }
        let span = Span::new(file, token.start as usize, token.end as usize);
        if nesting > MAX_NESTING {
            return Some(
                Diagnostic::error("E0113", format!("brackets nested deeper than {MAX_NESTING} levels"))
                    .at(span, "one too many")
                    .help("name a part of the expression with `let` and use the name"),
            );
        }
        if operators > MAX_OPERATORS {
            return Some(
                Diagnostic::error("E0114", format!("more than {MAX_OPERATORS} operators in one statement"))
                    .at(span, "one too many")
                    .help("name parts of the expression with `let`, or give the numbers as data"),
            );
        }
    }
    None
}
