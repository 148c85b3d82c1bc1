//! Tokens, tree and text, printed.
//!
//! The formatter works on tokens, not on the tree, so that it cannot lose a comment or change a program:
//! it moves blanks and line breaks, and adds or removes the comma behind the last item of a list. There
//! is one layout, without options: four blanks of indentation, one statement a line, at most
//! one blank line between statements, two blanks before a comment behind code, at most 100 columns.

use std::fmt::Write;

use crate::diag::Diagnostics;
use crate::source::FileId;
use crate::syntax::guard::MAX_BYTES;
use crate::syntax::layout::Writer;
use crate::syntax::outline::opens_list;
use crate::syntax::parse::parse;
use crate::syntax::token::{Token, TokenKind, lex};

pub use crate::syntax::dump::print_ast;
pub use crate::syntax::unparse::{print_expr, print_source};

/// The one canonical layout of a program. Formatting twice changes nothing more.
///
/// # Errors
/// The syntax errors of the program; spans are in file 0. `format_file` names the file.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    format_file(FileId(0), text)
}

/// [`format()`], with errors in the given file.
pub fn format_file(file: FileId, text: &str) -> Result<String, Diagnostics> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse(file, text)?;
    Ok(lay_out(text))
}

/// One token a line: its bytes, kind and text.
pub fn print_tokens(text: &str) -> String {
    let mut out = String::new();
    if text.len() > MAX_BYTES {
        return out;
    }
    for token in lex(text) {
        let place = format!("{}..{}", token.start, token.end);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{place:<12} {:<16} {:?}", format!("{:?}", token.kind), token.text(text));
    }
    out
}

/// Lays out a program that parses.
fn lay_out(text: &str) -> String {
    let all: Vec<Token> = lex(text).into_iter().filter(|t| t.kind != TokenKind::Blank).collect();
    let mut writer = Writer::default();
    let mut at = 0;
    // Line breaks since the last thing written.
    let mut breaks = 0;
    while let Some(token) = all.get(at) {
        match token.kind {
            TokenKind::Newline => {
                breaks += 1;
                at += 1;
            }
            TokenKind::Semicolon => at += 1,
            TokenKind::Comment | TokenKind::Doc => {
                let comment = token.text(text).trim_end();
                if breaks == 0 && !writer.is_empty() {
                    writer.comment_behind(comment);
                } else {
                    writer.start_line(breaks > 1);
                    writer.push(comment);
                }
                breaks = 0;
                at += 1;
            }
            TokenKind::CloseBrace => {
                writer.close_block();
                breaks = 0;
                at += 1;
            }
            _ => {
                let end = statement_end(text, &all, at);
                writer.start_line(breaks > 1);
                writer.statement(text, &all[at..end]);
                at = end;
                if all.get(at).is_some_and(|t| t.kind == TokenKind::OpenBrace) {
                    writer.open_block();
                    at += 1;
                }
                breaks = 0;
            }
        }
    }
    writer.finish()
}

/// One past the last token of the statement at `start`: before its line break, `;`, comment or brace.
fn statement_end(text: &str, tokens: &[Token], start: usize) -> usize {
    let mut depth = 0usize;
    let mut last = start;
    let mut at = start;
    while let Some(token) = tokens.get(at) {
        let kind = token.kind;
        let ends = match kind {
            TokenKind::Semicolon => true,
            TokenKind::Newline | TokenKind::Comment | TokenKind::Doc => !tokens[last].kind.continues(),
            TokenKind::OpenBrace => !opens_list(text, tokens, start, at, depth > 0),
            TokenKind::CloseBrace => true,
            _ => false,
        };
        if ends && depth == 0 {
            break;
        }
        if kind.is_open() {
            depth += 1;
        } else if kind.is_close() {
            depth = depth.saturating_sub(1);
        }
        if !kind.is_trivia() && kind != TokenKind::Newline {
            last = at;
        }
        at += 1;
    }
    last + 1
}
