//! What the line editor asks while a line is typed.

use std::borrow::Cow;

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint as LineHint, Hinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};

use super::complete::complete;
use super::entry::is_complete;
use super::highlight::{highlight, paint};
use super::hint::{Hint, hint};
use super::view::View;
use crate::cli::palette;

/// The session as the line editor sees it.
pub struct Typing {
    /// Its names.
    pub view: View,
    /// Whether colours may be used.
    pub color: bool,
}

impl Helper for Typing {}

impl Completer for Typing {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let found = complete(&self.view, line.get(..pos).unwrap_or(line));
        let pair = |word: String| Pair { display: word.trim_end().to_owned(), replacement: word };
        Ok((found.start, found.words.into_iter().map(pair).collect()))
    }
}

impl LineHint for Hint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.text.get(..self.taken).filter(|t| !t.is_empty())
    }
}

impl Hinter for Typing {
    type Hint = Hint;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Hint> {
        if pos == line.len() { hint(&self.view, line) } else { None }
    }
}

impl Highlighter for Typing {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.color { Cow::Owned(highlight(line)) } else { Cow::Borrowed(line) }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.color { Cow::Owned(paint(prompt, palette::PROMPT)) } else { Cow::Borrowed(prompt) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.color { Cow::Owned(paint(hint, palette::FAINT)) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.color
    }
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        Ok(if is_complete(context.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}
