//! Expressions: from a flat list of operands and operators to a tree.
//!
//! Precedence climbing with two stacks (Dijkstra's shunting yard), so a long chain needs no recursion.
//! `^` binds tightest and to the right, then unary `-`, then `* / .* ./`, then `+ -`, to the left.

use pest::iterators::Pair;

use crate::diag::Diagnostic;
use crate::source::{Span, Spanned};
use crate::syntax::ast::*;
use crate::syntax::build::{Builder, Built, Stop, parts};
use crate::syntax::grammar::Rule;
use crate::syntax::guard::MAX_DEPTH;

/// A tree and its height; every later stage may walk [`MAX_DEPTH`] levels by recursion.
struct Tree {
    expr: Expr,
    height: usize,
}

#[derive(Clone, Copy)]
enum Op {
    /// Unary `-`, written at this byte.
    Neg(u32),
    Binary(BinOp),
}

impl Op {
    /// How tight it binds.
    fn level(self) -> u8 {
        match self {
            Op::Binary(BinOp::Add | BinOp::Sub) => 1,
            Op::Binary(BinOp::Mul | BinOp::Div | BinOp::ElMul | BinOp::ElDiv) => 2,
            Op::Neg(_) => 3,
            Op::Binary(BinOp::Pow) => 4,
        }
    }
}

impl Builder<'_> {
    /// One `expr`.
    pub(crate) fn expr(&mut self, pair: Pair<'_, Rule>) -> Built<Expr> {
        self.tree(pair).map(|tree| tree.expr)
    }

    /// A list of `expr`s, and the greatest height.
    pub(crate) fn exprs(&mut self, pair: Pair<'_, Rule>) -> Built<(Vec<Expr>, usize)> {
        let (mut exprs, mut height) = (Vec::new(), 0);
        for part in parts(pair) {
            let tree = self.tree(part)?;
            height = height.max(tree.height);
            exprs.push(tree.expr);
        }
        Ok((exprs, height))
    }

    /// The `args` of a call, and the greatest height.
    pub(crate) fn args(&mut self, pair: Pair<'_, Rule>) -> Built<(Vec<Arg>, usize)> {
        let (mut args, mut height) = (Vec::new(), 0);
        for part in parts(pair) {
            let mut inner = parts(part);
            let first = self.take(&mut inner)?;
            let (name, value) = match first.as_rule() {
                Rule::ident => (Some(self.ident(&first)), self.take(&mut inner)?),
                _ => (None, first),
            };
            let tree = self.tree(value)?;
            height = height.max(tree.height);
            args.push(Arg { name, value: tree.expr });
        }
        Ok((args, height))
    }

    fn tree(&mut self, pair: Pair<'_, Rule>) -> Built<Tree> {
        let mut trees: Vec<Tree> = Vec::new();
        let mut ops: Vec<Op> = Vec::new();
        for part in parts(pair) {
            match part.as_rule() {
                Rule::operand => trees.push(self.operand(part)?),
                Rule::neg => ops.push(Op::Neg(self.span(&part).start)),
                rule => {
                    let op = Op::Binary(binary(rule));
                    let to_the_right = matches!(op, Op::Binary(BinOp::Pow));
                    while let Some(&top) = ops.last()
                        && (top.level() > op.level() || top.level() == op.level() && !to_the_right)
                    {
                        ops.pop();
                        self.apply(top, &mut trees)?;
                    }
                    ops.push(op);
                }
            }
        }
        while let Some(op) = ops.pop() {
            self.apply(op, &mut trees)?;
        }
        trees.pop().ok_or(Stop)
    }

    /// Replaces the topmost operands by the operation on them.
    fn apply(&mut self, op: Op, trees: &mut Vec<Tree>) -> Built<()> {
        let right = trees.pop().ok_or(Stop)?;
        let tree = match op {
            Op::Neg(start) => {
                let span = Span { start, ..right.expr.span };
                self.node(ExprKind::Neg(Box::new(right.expr)), span, right.height)?
            }
            Op::Binary(op) => {
                let left = trees.pop().ok_or(Stop)?;
                let span = left.expr.span.to(right.expr.span);
                let height = left.height.max(right.height);
                self.node(ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr)), span, height)?
            }
        };
        trees.push(tree);
        Ok(())
    }

    /// A node above children of the given height.
    fn node(&mut self, kind: ExprKind, span: Span, below: usize) -> Built<Tree> {
        if below < MAX_DEPTH {
            return Ok(Tree { expr: Expr { kind, span }, height: below + 1 });
        }
        self.errors.push(
            Diagnostic::error("E0113", format!("expression deeper than {MAX_DEPTH} levels"))
                .at(span, "this part alone is as deep as an expression may be")
                .note("every bracket, call and operator is a level, and each term of `a + b + c` adds one")
                .help("name a part of it with `let` and use the name"),
        );
        Err(Stop)
    }

    fn operand(&mut self, pair: Pair<'_, Rule>) -> Built<Tree> {
        let mut parts = parts(pair);
        let atom = self.take(&mut parts)?;
        let mut tree = self.atom(atom)?;
        for index in parts {
            let span = tree.expr.span.to(self.span(&index));
            let (mut slots, mut height) = (Vec::new(), tree.height);
            for slot in self::parts(index) {
                if slot.as_rule() == Rule::all {
                    slots.push(None);
                } else {
                    let slot = self.tree(slot)?;
                    height = height.max(slot.height);
                    slots.push(Some(slot.expr));
                }
            }
            tree = self.node(ExprKind::Index(Box::new(tree.expr), slots), span, height)?;
        }
        Ok(tree)
    }

    fn atom(&mut self, pair: Pair<'_, Rule>) -> Built<Tree> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::number => {
                let kind = self.number(pair.as_str(), span);
                self.node(kind, span, 0)
            }
            Rule::text => {
                let text = self.text(&pair).node;
                self.node(ExprKind::Text(text), span, 0)
            }
            Rule::paren => {
                let inner = self.take(&mut parts(pair))?;
                let inner = self.tree(inner)?;
                self.node(ExprKind::Paren(Box::new(inner.expr)), span, inner.height)
            }
            Rule::join => {
                let (exprs, height) = self.exprs(pair)?;
                self.node(ExprKind::Join(exprs), span, height)
            }
            _ => self.reference(pair, span),
        }
    }

    /// A name, a path or a call.
    fn reference(&mut self, pair: Pair<'_, Rule>, span: Span) -> Built<Tree> {
        let mut parts = parts(pair);
        let path = self.take(&mut parts)?;
        if let Some(args) = parts.next() {
            let name = Spanned::new(path.as_str().to_owned(), self.span(&path));
            let (args, height) = self.args(args)?;
            return self.node(ExprKind::Call(name, args), span, height);
        }
        let mut names: Vec<Ident> = self::parts(path).map(|name| self.ident(&name)).collect();
        let kind = match names.pop() {
            Some(only) if names.is_empty() => ExprKind::Name(only.node),
            last => {
                names.extend(last);
                ExprKind::Path(names)
            }
        };
        self.node(kind, span, 0)
    }

    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        // Rust reads every number of the grammar, and rounds correctly.
        let value: f64 = text.parse().unwrap_or(f64::NAN);
        if !value.is_finite() {
            self.errors.push(
                Diagnostic::error("E0105", format!("`{text}` is too large for a number"))
                    .at(span, "beyond 1.8e308")
                    .help("change the unit of the quantity"),
            );
        } else if value == 0.0 && mantissa(text).any(|digit| digit != '0') {
            self.warnings.push(
                Diagnostic::warning("W0102", format!("`{text}` is read as 0"))
                    .at(span, "below 4.9e-324, the smallest positive number")
                    .help("write 0 if 0 is meant, or change the unit of the quantity"),
            );
        }
        ExprKind::Number(value, text.to_owned())
    }
}

fn mantissa(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().take_while(|c| !matches!(c, 'e' | 'E')).filter(char::is_ascii_digit)
}

fn binary(rule: Rule) -> BinOp {
    match rule {
        Rule::add => BinOp::Add,
        Rule::sub => BinOp::Sub,
        Rule::mul => BinOp::Mul,
        Rule::div => BinOp::Div,
        Rule::el_mul => BinOp::ElMul,
        Rule::el_div => BinOp::ElDiv,
        _ => BinOp::Pow,
    }
}
