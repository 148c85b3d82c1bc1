//! What a syntax error says.
//!
//! pest answers where it stopped and which rules it tried there. `words.rs` has the words for the rules,
//! `slips.rs` the slips that deserve a better answer than "found, expected".

use std::ops::Range;

use pest::error::{Error, ErrorVariant, InputLocation};

use crate::diag::Diagnostic;
use crate::source::{FileId, Span};
use crate::syntax::grammar::Rule;
use crate::syntax::slips::Slip;
use crate::syntax::token::{Token, TokenKind};
use crate::syntax::words::shorten;

/// The piece of a file that an error is about.
#[derive(Clone)]
pub(crate) struct Site<'s> {
    pub file: FileId,
    /// The whole file.
    pub text: &'s str,
    /// Its tokens without blanks and comments.
    pub tokens: &'s [Token],
    /// The tokens of the piece.
    pub piece: Range<usize>,
    /// The byte from which pest counts.
    pub base: usize,
}

impl<'s> Site<'s> {
    /// The bytes of the piece.
    pub fn range(&self) -> Range<usize> {
        let start = self.tokens.get(self.piece.start).map_or(self.text.len(), |t| t.start as usize);
        let end =
            self.piece.end.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(start, |t| t.end as usize);
        start..end.max(start)
    }

    pub fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|t| t.kind)
    }

    pub fn word(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |t| t.text(self.text))
    }

    pub fn span(&self, at: usize) -> Span {
        match self.tokens.get(at) {
            // A line break is shown as the empty place behind the token before it.
            Some(t) if t.kind == TokenKind::Newline => self.behind(at),
            Some(t) => Span::new(self.file, t.start as usize, t.end as usize),
            None => self.behind(at.min(self.tokens.len())),
        }
    }

    fn behind(&self, at: usize) -> Span {
        let end =
            at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(self.text.len(), |t| t.end as usize);
        Span::new(self.file, end, end)
    }

    /// `` `x` ``, or what ends the piece.
    pub fn found(&self, at: usize) -> String {
        match self.kind(at) {
            None => "the end of the text".to_owned(),
            Some(TokenKind::Newline) => "the end of the line".to_owned(),
            Some(_) => format!("`{}`", shorten(self.word(at))),
        }
    }

    /// The token before `at` in the piece, line breaks skipped.
    pub fn before(&self, at: usize) -> Option<usize> {
        (self.piece.start..at.min(self.tokens.len()))
            .rev()
            .find(|&i| self.kind(i) != Some(TokenKind::Newline))
    }
}

/// What pest's error means, for the piece it parsed.
pub(crate) fn explain(site: &Site<'_>, error: &Error<Rule>) -> Diagnostic {
    let byte = site.base
        + match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
    let piece = &site.tokens[site.piece.clone()];
    let mut at = site.piece.start + piece.partition_point(|t| t.end as usize <= byte);
    while at < site.piece.end && site.kind(at) == Some(TokenKind::Newline) {
        at += 1;
    }
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives.as_slice(),
        ErrorVariant::CustomError { message } => {
            return Diagnostic::error("E0113", format!("the parser gave up: {message}"))
                .at(site.span(at), "here")
                .help("name a part of the expression with `let` and use the name");
        }
    };
    let slip = Slip { site, at, expected };
    slip.name().unwrap_or_else(|| slip.plain())
}

/// An operator, `[`, `{` or a part of a statement where a statement should begin.
pub(crate) fn misplaced_start(site: &Site<'_>) -> Option<Diagnostic> {
    let at = site.piece.start;
    let kind = site.kind(at)?;
    let word = site.word(at);
    let next = site.kind(at + 1);
    if word == "from"
        && let Some(import) = site.piece.clone().find(|&i| site.word(i) == "import")
    {
        let names = |range: Range<usize>| {
            range.filter(|&i| site.kind(i) == Some(TokenKind::Word)).map(|i| site.word(i)).collect::<Vec<_>>()
        };
        let (path, what) = (names(at + 1..import).join("."), names(import + 1..site.piece.end));
        let what = if what.len() == 1 { what.join("") } else { format!("{{{}}}", what.join(", ")) };
        return Some(
            Diagnostic::error("E0101", "found `from`, expected `use`")
                .at(site.span(at), "an import begins with `use`")
                .help(format!("write `use {path}.{what}`")),
        );
    }
    let goes_on = kind.continues()
        || matches!(kind, TokenKind::OpenBracket | TokenKind::Comma | TokenKind::Arrow | TokenKind::Colon)
        || word == "from"
        || word == "weight"
            && matches!(next, Some(TokenKind::Word | TokenKind::Number | TokenKind::OpenParen));
    goes_on.then(|| {
        let error = Diagnostic::error("E0107", format!("found `{word}` at the start of a statement"))
            .at(site.span(at), "a line break before this ended the statement");
        let what = if kind.continues() { "to the end of the line above" } else { "up to the line above" };
        error
            .note("a statement goes on in the next line inside brackets, or after an operator, `=` or `~`")
            .help(format!("move `{word}` {what}"))
    })
}

/// `{` where no block can be.
pub(crate) fn no_block_keyword(site: &Site<'_>, open: usize) -> Diagnostic {
    let error =
        Diagnostic::error("E0110", "found `{`, but only `model`, `plate`, `prior` and `fn` have a block")
            .at(site.span(open), "opens no block");
    let start = site.piece.start;
    if site.piece.is_empty() {
        let above = (0..start).rev().find(|&i| site.kind(i) != Some(TokenKind::Newline));
        let error = match above {
            Some(i) if i + 1 < start => error.also(site.span(i), "this line ended the statement"),
            _ => error,
        };
        return error.help("put `{` on the line of `model`, `plate`, `prior` or `fn`");
    }
    match site.word(start) {
        "for" | "foreach" | "while" | "repeat" => error.help("write `plate n in N {` for repetition"),
        "if" | "else" | "switch" | "match" => {
            error.help("there are no conditions; state two models and compare them")
        }
        "data" | "parameters" | "transformed" => {
            error.help("there are no sections; write `data x: real[N]`, one line for each")
        }
        "def" | "function" | "func" => error.help("write `fn name(a: real) -> real { … }`"),
        _ => {
            error.help("write `model name {`, `plate n in N {`, `prior name(…) {` or `fn name(…) -> type {`")
        }
    }
}

/// `model m`, `plate n in N` or `prior p()` without a block.
pub(crate) fn no_block(site: &Site<'_>) -> Diagnostic {
    let word = site.word(site.piece.start);
    let at = site.piece.end;
    Diagnostic::error("E0110", format!("found {}, expected `{{`", site.found(at)))
        .at(site.span(at), format!("`{word}` needs a block"))
        .help(format!("write `{word} … {{`, the statements, and `}}`"))
}
