//! Text to tree.

use pest::Parser;

use crate::diag::{Diagnostic, Diagnostics, Staged, Warned};
use crate::source::{FileId, Span};
use crate::syntax::ast::*;
use crate::syntax::build::{Builder, content};
use crate::syntax::comments::Docs;
use crate::syntax::grammar::{Grammar, Rule};
use crate::syntax::guard;
use crate::syntax::token::{self, Token, TokenKind};

/// Parses one file. All syntax errors of the file are reported, at most 100.
pub fn parse(file: FileId, text: &str) -> Staged<Module> {
    let tokens = tokens(file, text)?;
    let solid = solid(&tokens);
    let pairs = Grammar::parse(Rule::file, text).map_err(|e| vec![message(file, &e)])?;
    let mut builder = Builder::new(file, &solid, Docs::collect(text, &tokens));
    let mut items = Vec::new();
    for pair in pairs {
        items.extend(builder.items(pair));
    }
    finish(builder, Module { file, items })
}

/// Parses what stands behind `--infer` and `:fit`: `evidence(max_iter = 5)`.
pub fn parse_infer(text: &str) -> Result<InferStmt, Diagnostics> {
    let file = FileId(u32::MAX);
    let tokens = tokens(file, text)?;
    let solid = solid(&tokens);
    let pairs = Grammar::parse(Rule::only_method, text).map_err(|e| vec![message(file, &e)])?;
    let mut builder = Builder::new(file, &solid, Docs::default());
    let built = pairs.flat_map(|p| content(p.into_inner())).next().and_then(|p| builder.method(p).ok());
    match built {
        Some(infer) if builder.errors.is_empty() => Ok(infer),
        _ => Err(builder.errors),
    }
}

fn finish<T>(mut builder: Builder<'_>, value: T) -> Staged<T> {
    let file = builder.file;
    let docs = std::mem::take(&mut builder.docs);
    builder.warnings.extend(docs.leftover(file));
    if builder.errors.is_empty() { Ok(Warned::new(value, builder.warnings)) } else { Err(builder.errors) }
}

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

fn message(file: FileId, error: &pest::error::Error<Rule>) -> Diagnostic {
    let (start, end) = match error.location {
        pest::error::InputLocation::Pos(at) => (at, at),
        pest::error::InputLocation::Span(span) => span,
    };
    Diagnostic::error("E0101", format!("{:?}", error.variant)).at(Span::new(file, start, end), "here")
}
