//! Piece by piece after an error, so that one run reports every syntax error of a file.
//!
//! The pieces come from the tokens (`outline.rs`). Each is parsed alone, with the rule its place asks
//! for, and built by the same builder; on a correct file this gives the same tree as the whole file.

use pest::Parser;
use pest::iterators::Pair;

use crate::diag::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::build::{Builder, Built, content};
use crate::syntax::errors::{self, Site};
use crate::syntax::grammar::{Grammar, Rule};
use crate::syntax::outline::{Block, Outline, Piece};
use crate::syntax::token::{Token, TokenKind};

/// Parses the pieces one by one. Errors go to `builder.errors`.
pub(crate) fn recover(text: &str, outline: &Outline, builder: &mut Builder<'_>) -> Vec<Item> {
    let mut recovery = Recovery { text, tokens: &outline.tokens, builder };
    outline.pieces.iter().filter_map(|piece| recovery.item(piece)).collect()
}

struct Recovery<'s, 'b, 't> {
    text: &'s str,
    tokens: &'s [Token],
    builder: &'b mut Builder<'t>,
}

impl<'s, 't> Recovery<'s, '_, 't> {
    fn item(&mut self, piece: &Piece) -> Option<Item> {
        let first = self.first(piece);
        let Some(block) = &piece.block else {
            return match first {
                "use" => self.parse(piece, Rule::only_use, Builder::use_item).map(Item::Use),
                "fn" => self.parse(piece, Rule::only_fn, Builder::item),
                "model" => self.headless(piece, Rule::only_model_head),
                "prior" => self.headless(piece, Rule::only_prior_head),
                "plate" => self.headless(piece, Rule::only_plate_head),
                _ => self.leaf(piece).map(Item::Statement),
            };
        };
        match first {
            "model" => {
                let doc = self.doc(piece);
                let name = self.parse(piece, Rule::only_model_head, Builder::model_head);
                let body = self.statements(&block.pieces);
                Some(Item::Model(ModelDef { doc, name: name?, body, span: self.span(piece) }))
            }
            "prior" => self.prior(piece, block).map(Item::Prior),
            "fn" => self.function(piece, block).map(Item::Fn),
            _ => self.statement(piece).map(Item::Statement),
        }
    }

    fn statements(&mut self, pieces: &[Piece]) -> Vec<Statement> {
        pieces.iter().filter_map(|piece| self.statement(piece)).collect()
    }

    /// A statement inside a block, or a loose one.
    fn statement(&mut self, piece: &Piece) -> Option<Statement> {
        let first = self.first(piece);
        if matches!(first, "model" | "prior" | "fn" | "use") {
            let span = self.token_span(piece.tokens.start);
            self.builder.errors.push(
                Diagnostic::error("E0118", format!("found `{first}` inside a block"))
                    .at(span, "belongs at the top of the file")
                    .help("move it out of the braces"),
            );
            return None;
        }
        let Some(block) = &piece.block else {
            if first == "plate" {
                return self.headless(piece, Rule::only_plate_head);
            }
            return self.leaf(piece);
        };
        if first != "plate" {
            let error = errors::no_block_keyword(&self.site(piece), block.open);
            self.report(piece, error);
            self.statements(&block.pieces);
            return None;
        }
        let doc = self.doc(piece);
        let head = self.parse(piece, Rule::only_plate_head, Builder::plate_head);
        let body = self.statements(&block.pieces);
        let (index, extent) = head?;
        Some(Statement { doc, kind: StatementKind::Plate { index, extent, body }, span: self.span(piece) })
    }

    fn prior(&mut self, piece: &Piece, block: &Block) -> Option<PriorDef> {
        let doc = self.doc(piece);
        let head = self.parse(piece, Rule::only_prior_head, Builder::prior_head);
        let mut result = None;
        let mut body = Vec::new();
        for (i, inner) in block.pieces.iter().enumerate() {
            // A node may be called `return`: `return ~ Normal(…)`.
            let next = self.tokens.get(inner.tokens.start + 1).map(|t| t.kind);
            let names = inner.tokens.len() > 1 && next != Some(TokenKind::Tilde);
            if self.first(inner) == "return" && (names || inner.tokens.len() == 1) {
                if i + 1 < block.pieces.len() {
                    let span = self.token_span(inner.tokens.start);
                    self.builder.errors.push(
                        Diagnostic::error("E0118", "found `return` before the end of the prior")
                            .at(span, "not the last statement")
                            .help("move it to the end of the block"),
                    );
                }
                result = self.parse(inner, Rule::only_return, Builder::return_node);
                result.as_ref()?;
            } else {
                body.extend(self.statement(inner));
            }
        }
        if result.is_none() && block.close.is_some() {
            let span = block.close.map_or(self.span(piece), |close| self.token_span(close));
            self.builder.errors.push(
                Diagnostic::error("E0118", "found the end of the prior, expected `return`")
                    .at(span, "nothing is returned")
                    .help("end the block with `return w`, where `w` is the node that takes the name on the left of `~`"),
            );
        }
        let (name, params) = head?;
        Some(PriorDef { doc, name, params, body, result: result?, span: self.span(piece) })
    }

    /// A `fn` with a block: as a whole if it is right, else its parts for their errors.
    fn function(&mut self, piece: &Piece, block: &Block) -> Option<FnDef> {
        let sound =
            piece.sound && block.close.is_some() && block.pieces.iter().all(|p| p.sound && p.block.is_none());
        let whole = Piece {
            tokens: piece.tokens.start..block.close.map_or(block.open, |c| c + 1),
            block: None,
            sound,
        };
        let before = self.builder.errors.len();
        if let Some(Item::Fn(function)) = self.parse(&whole, Rule::only_fn, Builder::item) {
            return Some(function);
        }
        let of_the_whole = self.builder.errors.split_off(before);
        self.parse(piece, Rule::only_fn_head, Builder::fn_head);
        for (i, inner) in block.pieces.iter().enumerate() {
            let last = i + 1 == block.pieces.len();
            if !last || self.first(inner) == "let" || inner.block.is_some() {
                self.statement(inner);
            } else {
                self.parse(inner, Rule::only_expr, Builder::expr);
            }
        }
        if self.builder.errors.len() == before && !block.detached {
            self.builder.errors.extend(of_the_whole);
        }
        None
    }

    /// A statement without a block.
    fn leaf(&mut self, piece: &Piece) -> Option<Statement> {
        if let Some(error) = errors::misplaced_start(&self.site(piece)) {
            self.report(piece, error);
            return None;
        }
        self.parse(piece, Rule::only_statement, Builder::statement)
    }

    /// The head of a block that has no block.
    fn headless<T>(&mut self, piece: &Piece, rule: Rule) -> Option<T> {
        let before = self.builder.errors.len();
        self.parse(piece, rule, |_, _| Ok(()));
        if self.builder.errors.len() == before {
            let error = errors::no_block(&self.site(piece));
            self.report(piece, error);
        }
        None
    }

    /// Parses the tokens of a piece with a rule, unless the tokens are already known to be wrong.
    fn parse<T>(
        &mut self,
        piece: &Piece,
        rule: Rule,
        build: impl FnOnce(&mut Builder<'t>, Pair<'_, Rule>) -> Built<T>,
    ) -> Option<T> {
        if !piece.sound {
            return None;
        }
        let site = self.site(piece);
        let range = site.range();
        match Grammar::parse(rule, &self.text[range.clone()]) {
            Ok(pairs) => {
                let pair = pairs.flat_map(|pair| content(pair.into_inner())).next()?;
                self.builder.offset = range.start;
                let built = build(self.builder, pair).ok();
                self.builder.offset = 0;
                built
            }
            Err(error) => {
                let error = errors::explain(&site, &error);
                self.builder.errors.push(error);
                None
            }
        }
    }

    /// Adds an error, unless the tokens of the piece are already known to be wrong.
    fn report(&mut self, piece: &Piece, error: Diagnostic) {
        if piece.sound {
            self.builder.errors.push(error);
        }
    }

    fn doc(&mut self, piece: &Piece) -> Option<String> {
        let start = self.tokens.get(piece.tokens.start)?.start;
        self.builder.docs.take(start)
    }

    fn first(&self, piece: &Piece) -> &'s str {
        self.tokens[piece.tokens.start].text(self.text)
    }

    fn site(&self, piece: &Piece) -> Site<'s> {
        let base = self.token_span(piece.tokens.start).start as usize;
        Site {
            file: self.builder.file,
            text: self.text,
            tokens: self.tokens,
            piece: piece.tokens.clone(),
            base,
        }
    }

    /// From the first token of a piece to its last, or to the `}` of its block.
    fn span(&self, piece: &Piece) -> Span {
        let last = match &piece.block {
            Some(block) => block.close.unwrap_or(block.open),
            None => piece.tokens.end.max(piece.tokens.start + 1) - 1,
        };
        self.token_span(piece.tokens.start).to(self.token_span(last))
    }

    fn token_span(&self, at: usize) -> Span {
        let file = self.builder.file;
        match self.tokens.get(at) {
            Some(t) => Span::new(file, t.start as usize, t.end as usize),
            None => Span::new(file, self.text.len(), self.text.len()),
        }
    }
}
