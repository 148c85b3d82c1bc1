//! Text to tree.
//!
//! A text passes the limits (`guard.rs`), is cut into tokens and pieces (`lexical.rs`, `outline.rs`)
//! and is given to pest as a whole. Only if something is wrong the pieces are parsed one by one
//! (`recover.rs`), so that every syntax error of the file is reported in one run.

use pest::Parser;
use pest::iterators::Pair;

use crate::diag::{Diagnostic, Diagnostics, Staged, Warned};
use crate::source::{FileId, Span};
use crate::syntax::ast::*;
use crate::syntax::build::{Builder, Built, content};
use crate::syntax::comments::Docs;
use crate::syntax::errors::{self, Site};
use crate::syntax::grammar::{Grammar, Rule};
use crate::syntax::guard;
use crate::syntax::lexical;
use crate::syntax::outline::{Outline, outline};
use crate::syntax::recover::recover;
use crate::syntax::token::{self, Token, TokenKind};

/// As many errors of one file are shown.
pub const MAX_ERRORS: usize = 100;

/// The file of a text that belongs to no [`SourceMap`](crate::source::SourceMap): what stands behind `--infer`.
pub const NO_FILE: FileId = FileId(u32::MAX);

/// Parses one file. Every syntax error is reported, at most [`MAX_ERRORS`] of them.
pub fn parse(file: FileId, text: &str) -> Staged<Module> {
    let warned = items(file, text)?;
    let module = Module { file, items: warned.value };
    match mixed(file, &module.items) {
        Some(error) => Err(vec![error]),
        None => Ok(Warned::new(module, warned.warnings)),
    }
}

/// Parses one declaration or statement, as a line at a prompt.
///
/// # Errors
/// Syntax errors; a text with no statement, or more than one.
pub fn parse_statement(file: FileId, text: &str) -> Staged<Item> {
    let mut warned = items(file, text)?;
    match (warned.value.pop(), warned.value.is_empty()) {
        (Some(item), true) => Ok(Warned::new(item, warned.warnings)),
        (None, _) => Err(vec![
            Diagnostic::error("E0101", "found nothing, expected a statement")
                .at(Span::new(file, 0, text.len()), "no statement here"),
        ]),
        (Some(item), false) => Err(vec![
            Diagnostic::error("E0101", "found a second statement, expected one")
                .at(item_span(&item), "not expected here")
                .help("give them one after the other"),
        ]),
    }
}

/// Parses one expression, as at a prompt.
pub fn parse_expr(file: FileId, text: &str) -> Staged<Expr> {
    parse_piece(file, text, Rule::only_expr, |builder, pair| builder.expr(pair))
}

/// Parses what stands behind `--infer` and `:fit`: `evidence(max_iter = 5)`. Spans are in [`NO_FILE`].
pub fn parse_infer(text: &str) -> Result<InferStmt, Diagnostics> {
    let parsed = parse_piece(NO_FILE, text, Rule::only_method, |builder, pair| builder.method(pair));
    parsed.map(|warned| warned.value).map_err(|errors| {
        errors.into_iter().map(|error| error.note(format!("in the method `{}`", text.trim()))).collect()
    })
}

/// Whether a line at a prompt can be taken as it is: no bracket or block is open, and no operator,
/// `=`, `~` or comma stands at its end. What is wrong anyhow counts as complete.
pub fn is_complete(text: &str) -> bool {
    if text.len() > guard::MAX_BYTES {
        return true;
    }
    let mut open: Vec<TokenKind> = Vec::new();
    let mut last = None;
    for token in token::lex(text) {
        let kind = token.kind;
        if kind.is_error() {
            return true;
        }
        if kind.is_open() {
            open.push(kind);
        } else if kind.is_close() && open.pop() != Some(kind.partner()) {
            return true;
        }
        if !kind.is_trivia() && kind != TokenKind::Newline {
            last = Some(kind);
        }
    }
    open.is_empty() && !last.is_some_and(|kind| kind.continues() || kind == TokenKind::Comma)
}

/// The declarations and statements of a text.
fn items(file: FileId, text: &str) -> Staged<Vec<Item>> {
    let tokens = tokens(file, text)?;
    let outline = outline(file, text, &tokens);
    let solid = solid(&tokens);
    let mut builder = Builder::new(file, &solid, Docs::collect(text, &tokens));
    let mut errors = lexical::check_tokens(file, text, &tokens);
    errors.extend(outline.errors.iter().cloned());
    if errors.is_empty() {
        match Grammar::parse(Rule::file, text) {
            Ok(pairs) => {
                let items = pairs.flat_map(|pair| builder.items(pair)).collect();
                return finish(builder, items);
            }
            Err(error) => {
                recover(text, &outline, &mut builder);
                if builder.errors.is_empty() {
                    builder.errors.push(errors::explain(&whole(file, text, &outline), &error));
                }
            }
        }
    } else {
        recover(text, &outline, &mut builder);
    }
    errors.append(&mut builder.errors);
    Err(capped(errors))
}

/// Parses a text that is one piece of the grammar.
fn parse_piece<T>(
    file: FileId,
    text: &str,
    rule: Rule,
    build: impl FnOnce(&mut Builder<'_>, Pair<'_, Rule>) -> Built<T>,
) -> Staged<T> {
    let tokens = tokens(file, text)?;
    let mut errors = lexical::check_tokens(file, text, &tokens);
    let outline = outline(file, text, &tokens);
    errors.extend(outline.errors.iter().cloned());
    if !errors.is_empty() {
        return Err(capped(errors));
    }
    let solid = solid(&tokens);
    let mut builder = Builder::new(file, &solid, Docs::collect(text, &tokens));
    match Grammar::parse(rule, text) {
        Ok(pairs) => {
            let value = pairs
                .flat_map(|pair| content(pair.into_inner()))
                .next()
                .map(|pair| build(&mut builder, pair));
            match value {
                Some(Ok(value)) => finish(builder, value),
                _ => Err(capped(builder.errors)),
            }
        }
        Err(error) => Err(vec![errors::explain(&whole(file, text, &outline), &error)]),
    }
}

/// A value that was built without errors, with its warnings.
fn finish<T>(mut builder: Builder<'_>, value: T) -> Staged<T> {
    if !builder.errors.is_empty() {
        return Err(capped(builder.errors));
    }
    let docs = std::mem::take(&mut builder.docs);
    builder.warnings.extend(docs.leftover(builder.file));
    builder.warnings.sort_by_key(place);
    Ok(Warned::new(value, builder.warnings))
}

/// Tokens, if the text is within the limits.
fn tokens(file: FileId, text: &str) -> Result<Vec<Token>, Diagnostics> {
    if let Some(error) = guard::check_size(file, text) {
        return Err(vec![error]);
    }
    let tokens = token::lex(text);
    match guard::check_limits(file, &tokens) {
        Some(error) => Err(vec![error]),
        None => Ok(tokens),
    }
}

/// The tokens that carry structure.
fn solid(tokens: &[Token]) -> Vec<Token> {
    tokens.iter().filter(|t| !t.kind.is_trivia() && t.kind != TokenKind::Newline).copied().collect()
}

/// The whole text as one site.
fn whole<'s>(file: FileId, text: &'s str, outline: &'s Outline) -> Site<'s> {
    Site { file, text, tokens: &outline.tokens, piece: 0..outline.tokens.len(), base: 0 }
}

/// In source order, the first [`MAX_ERRORS`], and how many more there are.
fn capped(mut errors: Diagnostics) -> Diagnostics {
    errors.sort_by_key(place);
    errors.dedup();
    let more = errors.len().saturating_sub(MAX_ERRORS);
    if more > 0 {
        errors.truncate(MAX_ERRORS);
        errors.push(
            Diagnostic::error("E0199", format!("… and {more} more"))
                .help("correct the first ones; the rest may follow from them"),
        );
    }
    errors
}

fn place(error: &Diagnostic) -> (u32, u32) {
    error.primary.as_ref().map_or((u32::MAX, u32::MAX), |label| (label.span.start, label.span.end))
}

/// Loose statements beside `model` blocks.
fn mixed(file: FileId, items: &[Item]) -> Option<Diagnostic> {
    let loose = items.iter().find(|item| matches!(item, Item::Statement(_)))?;
    let Some(Item::Model(model)) = items.iter().find(|item| matches!(item, Item::Model(_))) else {
        return None;
    };
    let head = Span::new(file, model.span.start as usize, model.name.span.end as usize);
    Some(
        Diagnostic::error("E0115", "found a statement outside the models of the file")
            .at(item_span(loose), "belongs to no model")
            .also(head, "the file has models")
            .help("move it into a model, or remove the line `model … {` and its `}`"),
    )
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Use(item) => item.span,
        Item::Fn(item) => item.span,
        Item::Prior(item) => item.span,
        Item::Model(item) => item.span,
        Item::Statement(item) => item.span,
    }
}
