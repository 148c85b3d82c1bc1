//! From pest's spans to the syntax tree.
//!
//! The builder follows the grammar rule by rule. It knows the offset of the piece it is given, so one
//! statement and a whole file are built by the same code.

use pest::iterators::{Pair, Pairs};

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span, Spanned};
use crate::syntax::ast::*;
use crate::syntax::comments::Docs;
use crate::syntax::grammar::Rule;
use crate::syntax::token::Token;

/// Why a piece was not built. What is wrong stands in [`Builder::errors`].
pub(crate) struct Stop;

/// What building a piece gives.
pub(crate) type Built<T> = Result<T, Stop>;

/// Builds the tree of one file.
pub(crate) struct Builder<'t> {
    /// The file.
    pub file: FileId,
    /// Where the piece that pest saw starts in the file.
    pub offset: usize,
    /// The tokens of the file without blanks, line breaks and comments.
    pub solid: &'t [Token],
    /// Documentation comments that still wait for their declaration.
    pub docs: Docs,
    /// Errors that only show when the tree is built: numbers out of range, depth.
    pub errors: Diagnostics,
    /// Warnings.
    pub warnings: Diagnostics,
}

impl<'t> Builder<'t> {
    /// A builder for the file with these tokens.
    pub fn new(file: FileId, solid: &'t [Token], docs: Docs) -> Self {
        Self { file, offset: 0, solid, docs, errors: Vec::new(), warnings: Vec::new() }
    }

    /// The items of a `file`.
    pub fn items(&mut self, pair: Pair<'_, Rule>) -> Vec<Item> {
        let mut items = Vec::new();
        for part in parts(pair) {
            if let Ok(item) = self.item(part) {
                items.push(item);
            }
        }
        items
    }

    /// One `item`.
    pub fn item(&mut self, pair: Pair<'_, Rule>) -> Built<Item> {
        match pair.as_rule() {
            Rule::use_item => self.use_item(pair).map(Item::Use),
            Rule::fn_item => self.fn_item(pair).map(Item::Fn),
            Rule::prior_item => self.prior_item(pair).map(Item::Prior),
            Rule::model_item => self.model_item(pair).map(Item::Model),
            _ => self.statement(pair).map(Item::Statement),
        }
    }

    /// `use std.kernels.rbf`
    pub fn use_item(&mut self, pair: Pair<'_, Rule>) -> Built<Use> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let first = self.take(&mut parts)?;
        let target = if first.as_rule() == Rule::text {
            UseTarget::File(self.text(&first))
        } else {
            let path = self.idents(first);
            match parts.next() {
                Some(names) => UseTarget::Names(path, self.idents(names)),
                None => UseTarget::Path(path),
            }
        };
        Ok(Use { target, span })
    }

    /// `fn name(…) -> type = expr`
    fn fn_item(&mut self, pair: Pair<'_, Rule>) -> Built<FnDef> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let head = self.take(&mut parts)?;
        let (name, params, result) = self.fn_head(head)?;
        let doc = self.docs.take(span.start);
        let body = self.take(&mut parts)?;
        let mut lets = Vec::new();
        let mut value = None;
        if body.as_rule() == Rule::fn_block {
            for part in self::parts(body) {
                match part.as_rule() {
                    Rule::let_statement => lets.push(self.let_statement(part)?),
                    _ => value = Some(self.expr(part)?),
                }
            }
        } else {
            value = Some(self.expr(body)?);
        }
        let body = self.some(value)?;
        Ok(FnDef { doc, name, params, result, lets, body, span })
    }

    /// `fn name(…) -> type`
    pub fn fn_head(&mut self, pair: Pair<'_, Rule>) -> Built<(Ident, Vec<FnParam>, TypeExpr)> {
        let mut name = None;
        let mut params = Vec::new();
        let mut result = None;
        for part in parts(pair) {
            match part.as_rule() {
                Rule::ident => name = Some(self.ident(&part)),
                Rule::fn_param => params.push(self.parameter(part)?),
                _ => result = Some(self.type_expr(part)?),
            }
        }
        Ok((self.some(name)?, params, self.some(result)?))
    }

    /// `x: real[N] = default`
    fn parameter(&mut self, pair: Pair<'_, Rule>) -> Built<FnParam> {
        let mut parts = parts(pair);
        let name = self.take(&mut parts)?;
        let name = self.ident(&name);
        let (mut ty, mut default) = (None, None);
        for part in parts {
            match part.as_rule() {
                Rule::type_expr => ty = Some(self.type_expr(part)?),
                _ => default = Some(self.expr(part)?),
            }
        }
        Ok(FnParam { name, ty, default })
    }

    /// `prior name(…) { … return node }`
    fn prior_item(&mut self, pair: Pair<'_, Rule>) -> Built<PriorDef> {
        let span = self.span(&pair);
        let doc = self.docs.take(span.start);
        let mut parts = parts(pair);
        let head = self.take(&mut parts)?;
        let (name, params) = self.prior_head(head)?;
        let block = self.take(&mut parts)?;
        let mut body = Vec::new();
        let mut result = None;
        for part in self::parts(block) {
            match part.as_rule() {
                Rule::return_node => result = Some(self.return_node(part)?),
                _ => body.push(self.statement(part)?),
            }
        }
        Ok(PriorDef { doc, name, params, body, result: self.some(result)?, span })
    }

    /// `prior name(…)`
    pub fn prior_head(&mut self, pair: Pair<'_, Rule>) -> Built<(Ident, Vec<FnParam>)> {
        let mut parts = parts(pair);
        let name = self.take(&mut parts)?;
        let name = self.ident(&name);
        let mut params = Vec::new();
        for part in parts {
            params.push(self.parameter(part)?);
        }
        Ok((name, params))
    }

    /// `return w`
    pub fn return_node(&mut self, pair: Pair<'_, Rule>) -> Built<Ident> {
        let name = self.take(&mut parts(pair))?;
        Ok(self.ident(&name))
    }

    /// `model name { … }`
    fn model_item(&mut self, pair: Pair<'_, Rule>) -> Built<ModelDef> {
        let span = self.span(&pair);
        let doc = self.docs.take(span.start);
        let mut parts = parts(pair);
        let head = self.take(&mut parts)?;
        let name = self.model_head(head)?;
        let block = self.take(&mut parts)?;
        Ok(ModelDef { doc, name, body: self.block(block), span })
    }

    /// `model name`
    pub fn model_head(&mut self, pair: Pair<'_, Rule>) -> Built<Ident> {
        let name = self.take(&mut parts(pair))?;
        Ok(self.ident(&name))
    }

    fn block(&mut self, pair: Pair<'_, Rule>) -> Vec<Statement> {
        let mut statements = Vec::new();
        for part in parts(pair) {
            if let Ok(statement) = self.statement(part) {
                statements.push(statement);
            }
        }
        statements
    }

    /// One `statement`.
    pub fn statement(&mut self, pair: Pair<'_, Rule>) -> Built<Statement> {
        let span = self.span(&pair);
        let doc = self.docs.take(span.start);
        let kind = match pair.as_rule() {
            Rule::data_statement => self.data_statement(pair)?,
            Rule::let_statement => StatementKind::Let(self.let_statement(pair)?),
            Rule::param_statement => {
                let param = self.parameter(pair)?;
                StatementKind::Param { name: param.name, ty: self.some(param.ty)?, start: param.default }
            }
            Rule::plate_statement => {
                let mut parts = parts(pair);
                let head = self.take(&mut parts)?;
                let (index, extent) = self.plate_head(head)?;
                let block = self.take(&mut parts)?;
                StatementKind::Plate { index, extent, body: self.block(block) }
            }
            Rule::infer_statement => {
                let method = self.take(&mut parts(pair))?;
                StatementKind::Infer(self.method(method)?)
            }
            _ => StatementKind::Tilde(self.tilde_statement(pair)?),
        };
        Ok(Statement { doc, kind, span })
    }

    fn data_statement(&mut self, pair: Pair<'_, Rule>) -> Built<StatementKind> {
        let mut parts = parts(pair);
        let name = self.take(&mut parts)?;
        let name = self.ident(&name);
        let ty = self.take(&mut parts)?;
        let ty = self.type_expr(ty)?;
        let from = match parts.next() {
            Some(clause) => Some(self.source_columns(clause)?),
            None => None,
        };
        Ok(StatementKind::Data { name, ty, from })
    }

    fn source_columns(&mut self, pair: Pair<'_, Rule>) -> Built<From> {
        let clause = self.take(&mut parts(pair))?;
        let rule = clause.as_rule();
        let mut names: Vec<_> = parts(clause).map(|name| self.text(&name)).collect();
        match rule {
            Rule::from_columns => Ok(From::Columns(names)),
            Rule::from_except => Ok(From::Except(names)),
            _ => {
                let name = names.pop();
                Ok(From::Column(self.some(name)?))
            }
        }
    }

    fn let_statement(&mut self, pair: Pair<'_, Rule>) -> Built<LetStmt> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let name = self.take(&mut parts)?;
        let name = self.ident(&name);
        let mut indices = Vec::new();
        let mut value = None;
        for part in parts {
            match part.as_rule() {
                Rule::indices => indices = self.idents(part),
                _ => value = Some(self.expr(part)?),
            }
        }
        Ok(LetStmt { name, indices, value: self.some(value)?, span })
    }

    /// `plate i in N`
    pub fn plate_head(&mut self, pair: Pair<'_, Rule>) -> Built<(Ident, Expr)> {
        let mut parts = parts(pair);
        let index = self.take(&mut parts)?;
        let index = self.ident(&index);
        let extent = self.take(&mut parts)?;
        Ok((index, self.expr(extent)?))
    }

    /// `evidence(max_iter = 100)`
    pub fn method(&mut self, pair: Pair<'_, Rule>) -> Built<InferStmt> {
        let mut parts = parts(pair);
        let method = self.take(&mut parts)?;
        let method = self.ident(&method);
        let options = match parts.next() {
            Some(args) => self.args(args)?.0,
            None => Vec::new(),
        };
        Ok(InferStmt { method, options })
    }

    fn tilde_statement(&mut self, pair: Pair<'_, Rule>) -> Built<TildeStmt> {
        let mut parts = parts(pair);
        let name = self.take(&mut parts)?;
        let name = self.ident(&name);
        let (mut indices, mut family, mut args, mut dims, mut weight) =
            (Vec::new(), None, Vec::new(), None, None);
        for part in parts {
            match part.as_rule() {
                Rule::indices => indices = self.idents(part),
                Rule::path => family = Some(Spanned::new(part.as_str().to_owned(), self.span(&part))),
                Rule::args => args = self.args(part)?.0,
                Rule::dims => dims = Some(self.exprs(part)?.0),
                _ => {
                    let value = self.take(&mut self::parts(part))?;
                    weight = Some(self.expr(value)?);
                }
            }
        }
        Ok(TildeStmt { name, indices, family: self.some(family)?, args, dims, weight })
    }

    /// `real[N, D]`
    fn type_expr(&mut self, pair: Pair<'_, Rule>) -> Built<TypeExpr> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let elem = self.take(&mut parts)?;
        let elem = self.take(&mut self::parts(elem))?;
        let elem = self.ident(&elem);
        let (mut levels, mut dims) = (None, Vec::new());
        for part in parts {
            match part.as_rule() {
                Rule::levels => levels = Some(self.levels(part)?),
                _ => dims = self.exprs(part)?.0,
            }
        }
        Ok(TypeExpr { elem, levels, dims, span })
    }

    fn levels(&mut self, pair: Pair<'_, Rule>) -> Built<Levels> {
        let span = self.span(&pair);
        let ascending = pair.clone().into_inner().any(|part| part.as_rule() == Rule::less);
        let mut names = Vec::new();
        for part in parts(pair) {
            let name = self.take(&mut self::parts(part))?;
            names.push(match name.as_rule() {
                Rule::text => self.text(&name),
                _ => self.ident(&name),
            });
        }
        Ok(Levels { ascending, names, span })
    }

    fn idents(&mut self, pair: Pair<'_, Rule>) -> Vec<Ident> {
        parts(pair).map(|part| self.ident(&part)).collect()
    }

    /// A name with its place.
    pub fn ident(&self, pair: &Pair<'_, Rule>) -> Ident {
        Spanned::new(pair.as_str().to_owned(), self.span(pair))
    }

    /// A string without its quotes.
    pub fn text(&self, pair: &Pair<'_, Rule>) -> Spanned<String> {
        Spanned::new(unquote(pair.as_str()), self.span(pair))
    }

    /// Where the piece stands, without the blanks that pest counts in at its end.
    pub fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        let (start, end) = (span.start() + self.offset, span.end() + self.offset);
        let after = self.solid.partition_point(|t| (t.start as usize) < end);
        let last = after.checked_sub(1).and_then(|i| self.solid.get(i)).map_or(end, |t| t.end as usize);
        Span::new(self.file, start, last.min(end))
    }

    /// The next part of a rule.
    pub fn take<'i>(&mut self, parts: &mut impl Iterator<Item = Pair<'i, Rule>>) -> Built<Pair<'i, Rule>> {
        let part = parts.next();
        self.some(part)
    }

    /// Present by the grammar; if it is not, that is a defect of the parser and is reported as one.
    fn some<T>(&mut self, value: Option<T>) -> Built<T> {
        value.ok_or_else(|| {
            self.errors.push(
                Diagnostic::error("E0101", "the parser lost its place")
                    .note("this is a defect of sbl, not of the program; please report it with the program"),
            );
            Stop
        })
    }
}

/// The parts of a rule that carry content: no punctuation, no keywords.
pub(crate) fn parts(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    content(pair.into_inner())
}

/// The pairs that carry content.
pub(crate) fn content(pairs: Pairs<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    pairs.filter(|pair| {
        use Rule::*;
        !matches!(
            pair.as_rule(),
            end | open_paren
                | close_paren
                | open_bracket
                | close_bracket
                | open_list
                | close_list
                | open_block
                | close_block
                | comma
                | colon
                | less
                | arrow
                | equals
                | tilde
                | kw_data
                | kw_from
                | kw_in
                | kw_model
                | kw_plate
                | kw_infer
                | kw_let
                | kw_param
                | kw_prior
                | kw_fn
                | kw_use
                | kw_return
                | kw_weight
                | EOI
        )
    })
}

/// A quoted string without its quotes and escapes.
fn unquote(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}
