//! Where statements begin and end, from tokens alone: the ground to stand on when the text is wrong.
//!
//! A statement ends at a line break or `;` outside brackets, unless an operator, `=` or `~` stands
//! before the break. Braces after `.` and in a type hold lists; all others open a block. A bracket
//! that is still open where a new statement obviously begins is reported and given up.

use std::ops::Range;

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};
use crate::syntax::token::{Token, TokenKind};

/// A piece of the file; token ranges index [`Outline::tokens`].
#[derive(Debug)]
pub(crate) struct Piece {
    /// The statement, or the head of a block.
    pub tokens: Range<usize>,
    /// `{ … }`
    pub block: Option<Block>,
    /// Whether its brackets match and its tokens exist in the language.
    pub sound: bool,
}

/// The block of a piece.
#[derive(Debug)]
pub(crate) struct Block {
    /// The index of its `{`.
    pub open: usize,
    /// Whether the `{` stands on a later line than the head, which is reported.
    pub detached: bool,
    /// What stands inside.
    pub pieces: Vec<Piece>,
    /// The index of its `}`, if it has one.
    pub close: Option<usize>,
}

/// The pieces of a file.
pub(crate) struct Outline {
    /// Every token but blanks and comments; line breaks included.
    pub tokens: Vec<Token>,
    /// The top of the file.
    pub pieces: Vec<Piece>,
    /// Brackets that do not match.
    pub errors: Diagnostics,
}

/// Cuts a file into pieces.
pub(crate) fn outline(file: FileId, text: &str, tokens: &[Token]) -> Outline {
    let tokens: Vec<Token> = tokens.iter().filter(|t| !t.kind.is_trivia()).copied().collect();
    let mut cutter = Cutter { file, text, tokens: &tokens, at: 0, errors: Vec::new() };
    let pieces = cutter.pieces(false);
    let errors = cutter.errors;
    Outline { tokens, pieces, errors }
}

/// Whether the brace at `at` opens a list; `start` is the first token of its statement.
pub(crate) fn opens_list(text: &str, tokens: &[Token], start: usize, at: usize, in_brackets: bool) -> bool {
    let before = at.checked_sub(1).map(|i| tokens[i].kind);
    in_brackets
        || before == Some(TokenKind::Dot)
        || at > start && matches!(tokens[start].text(text), "data" | "param")
}

struct Cutter<'a> {
    file: FileId,
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    errors: Diagnostics,
}

impl Cutter<'_> {
    /// The pieces up to the end of the file, or to the `}` of the block.
    fn pieces(&mut self, in_block: bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                TokenKind::Newline | TokenKind::Semicolon => self.at += 1,
                TokenKind::CloseBrace if in_block => break,
                TokenKind::CloseBrace => {
                    let error = Diagnostic::error("E0103", "found `}`, but no block is open")
                        .at(self.span(self.at), "closes nothing")
                        .help("remove it, or put the `{` it belongs to");
                    self.errors.push(error);
                    self.at += 1;
                }
                _ => pieces.push(self.piece(in_block)),
            }
        }
        pieces
    }

    fn piece(&mut self, in_block: bool) -> Piece {
        let start = self.at;
        let mut sound = true;
        // The indices of open brackets.
        let mut open: Vec<usize> = Vec::new();
        let mut last: Option<TokenKind> = None;
        // A string without its end swallows the brackets behind it.
        let mut swallowed = false;
        let mut block = None;
        while let Some(token) = self.tokens.get(self.at) {
            let kind = token.kind;
            match kind {
                TokenKind::Newline if open.is_empty() => {
                    if let Some(brace) = self.detached_block(start) {
                        let mut piece = self.cut(start, self.at, sound);
                        piece.block = Some(self.block(brace, true));
                        return piece;
                    }
                    if !last.is_some_and(TokenKind::continues) || self.declares(self.at + 1, false) {
                        break;
                    }
                }
                TokenKind::Newline => {
                    let in_list = open.last().is_some_and(|&i| self.tokens[i].kind == TokenKind::OpenBrace);
                    if self.declares(self.at + 1, in_list) {
                        if !swallowed {
                            self.unclosed(&open, self.at);
                        }
                        return self.cut(start, self.at, false);
                    }
                }
                TokenKind::Semicolon if open.is_empty() => break,
                TokenKind::OpenBrace
                    if !opens_list(self.text, self.tokens, start, self.at, !open.is_empty()) =>
                {
                    block = Some(self.at);
                    break;
                }
                _ if kind.is_open() => open.push(self.at),
                TokenKind::CloseBrace if open.is_empty() && in_block => break,
                _ if kind.is_close() => match self.close(&mut open, in_block) {
                    Closing::Fine => {}
                    Closing::Wrong => sound = false,
                    Closing::EndsBlock => return self.cut(start, self.at, false),
                },
                _ => {
                    sound &= !kind.is_error();
                    swallowed |= kind == TokenKind::BadText;
                }
            }
            if kind != TokenKind::Newline {
                last = Some(kind);
            }
            self.at += 1;
        }
        if !open.is_empty() {
            if !swallowed {
                self.unclosed(&open, self.at);
            }
            sound = false;
        }
        let mut piece = self.cut(start, self.at, sound);
        if let Some(open) = block {
            piece.block = Some(self.block(open, false));
        }
        piece
    }

    /// The `{` on a line below the head of a block; reported, and taken.
    fn detached_block(&mut self, start: usize) -> Option<usize> {
        let word = self.tokens[start].text(self.text);
        if !matches!(word, "model" | "plate" | "prior" | "fn") {
            return None;
        }
        let below = (self.at..self.tokens.len()).find(|&i| self.tokens[i].kind != TokenKind::Newline)?;
        if self.tokens[below].kind != TokenKind::OpenBrace {
            return None;
        }
        let end = self.tokens[self.at].start as usize;
        let error = Diagnostic::error("E0110", "found the end of the line, expected `{`")
            .at(Span::new(self.file, end, end), format!("the block of this `{word}` must start here"))
            .also(self.span(below), "this `{` stands on a line of its own")
            .help("move `{` up to the end of this line");
        self.errors.push(error);
        Some(below)
    }

    fn block(&mut self, open: usize, detached: bool) -> Block {
        self.at = open + 1;
        let pieces = self.pieces(true);
        if self.at >= self.tokens.len() {
            let error = Diagnostic::error("E0103", "found the end of the file, expected `}`")
                .at(self.span(self.at), "the block is still open here")
                .also(self.span(open), "opened here")
                .help("close the block with `}`");
            self.errors.push(error);
            return Block { open, detached, pieces, close: None };
        }
        let close = self.at;
        self.at += 1;
        let next = self.tokens.get(self.at).map(|t| t.kind);
        if !matches!(next, None | Some(TokenKind::Newline | TokenKind::Semicolon | TokenKind::CloseBrace)) {
            let found = self.tokens[self.at].text(self.text);
            let error = Diagnostic::error(
                "E0101",
                format!("found `{found}` after `}}`, expected the end of the line"),
            )
            .at(self.span(self.at), "belongs on a line of its own")
            .also(self.span(close), "the block ends here")
            .help("start a new line, or put `;` between");
            self.errors.push(error);
        }
        Block { open, detached, pieces, close: Some(close) }
    }

    /// Closes the innermost bracket with the token at hand.
    fn close(&mut self, open: &mut Vec<usize>, in_block: bool) -> Closing {
        let kind = self.tokens[self.at].kind;
        let wanted = kind.partner();
        match open.iter().rposition(|&i| self.tokens[i].kind == wanted) {
            Some(i) if i + 1 == open.len() => {
                open.pop();
                Closing::Fine
            }
            Some(i) => {
                self.unclosed(&open[i + 1..], self.at);
                open.truncate(i);
                Closing::Wrong
            }
            None if kind == TokenKind::CloseBrace && in_block => {
                self.unclosed(open, self.at);
                Closing::EndsBlock
            }
            None => {
                let found = self.tokens[self.at].text(self.text);
                let error = match open.pop() {
                    Some(i) => {
                        let (opened, closer) = (self.tokens[i].text(self.text), closer(self.tokens[i].kind));
                        Diagnostic::error("E0103", format!("found `{found}`, expected `{closer}`"))
                            .at(self.span(self.at), format!("closes `{opened}`"))
                            .also(self.span(i), "opened here")
                            .help(format!("write `{closer}`"))
                    }
                    None => Diagnostic::error("E0103", format!("found `{found}`, but no bracket is open"))
                        .at(self.span(self.at), "closes nothing")
                        .help("remove it, or put the bracket it belongs to"),
                };
                self.errors.push(error);
                Closing::Wrong
            }
        }
    }

    /// Reports the innermost bracket that is still open at token `at`.
    fn unclosed(&mut self, open: &[usize], at: usize) {
        let Some(&i) = open.last() else { return };
        let (opened, closer) = (self.tokens[i].text(self.text), closer(self.tokens[i].kind));
        let found = match self.tokens.get(at).map(|t| t.kind) {
            None => "the end of the file".to_owned(),
            Some(TokenKind::Newline) => "a new statement".to_owned(),
            Some(_) => format!("`{}`", self.tokens[at].text(self.text)),
        };
        let error = Diagnostic::error("E0103", format!("found {found}, expected `{closer}`"))
            .at(self.span(i), format!("this `{opened}` is never closed"))
            .also(self.span(at), format!("`{closer}` is missing before this"))
            .help(format!("close it with `{closer}`"));
        self.errors.push(error);
    }

    /// Whether a declaration begins at token `at`: `data x`, `w[m] ~`. In a list of levels reserved
    /// words are levels, so only `data x` counts there, not `data`.
    fn declares(&self, at: usize, in_list: bool) -> bool {
        let kind = |i: usize| self.tokens.get(i).map(|t| t.kind);
        let mut i = at;
        while kind(i) == Some(TokenKind::Newline) {
            i += 1;
        }
        match kind(i) {
            Some(TokenKind::Keyword) if matches!(self.tokens[i].text(self.text), "from" | "in") => false,
            Some(TokenKind::Keyword) => {
                !in_list
                    || matches!(kind(i + 1), Some(TokenKind::Word | TokenKind::Text | TokenKind::Keyword))
            }
            Some(TokenKind::Word) => {
                i += 1;
                if kind(i) == Some(TokenKind::OpenBracket) {
                    while matches!(
                        kind(i),
                        Some(TokenKind::OpenBracket | TokenKind::Word | TokenKind::Comma | TokenKind::Number)
                    ) {
                        i += 1;
                    }
                    if kind(i) == Some(TokenKind::CloseBracket) {
                        i += 1;
                    }
                }
                kind(i) == Some(TokenKind::Tilde)
            }
            _ => false,
        }
    }

    fn cut(&self, start: usize, end: usize, sound: bool) -> Piece {
        let mut end = end;
        while end > start && self.tokens[end - 1].kind == TokenKind::Newline {
            end -= 1;
        }
        let sound = sound && self.tokens[start..end].iter().all(|t| !t.kind.is_error());
        Piece { tokens: start..end, block: None, sound }
    }

    /// The place of a token; behind the last one, the end of the file.
    fn span(&self, at: usize) -> Span {
        match self.tokens.get(at) {
            Some(t) => Span::new(self.file, t.start as usize, t.end as usize),
            None => Span::new(self.file, self.text.len(), self.text.len()),
        }
    }
}

enum Closing {
    Fine,
    Wrong,
    /// A `}` that closes the block around an unfinished statement.
    EndsBlock,
}

fn closer(open: TokenKind) -> &'static str {
    match open {
        TokenKind::OpenParen => ")",
        TokenKind::OpenBracket => "]",
        _ => "}",
    }
}
