//! Expressions: from syntax to whole arrays with shapes and supports.
//!
//! A value inside plates carries the plates it depends on as leading axes; every operator joins the
//! axes of its operands. `phi[n] * w` inside `plate n in N` so becomes `phi * w`.

use crate::check::cx::{Cx, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::support::Set;
use crate::check::typed::{Bits, ExprId, ExprKind, Op};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{self, BinOp};

impl Cx<'_> {
    /// The value of an expression; `None` if it is wrong, which has then been reported.
    pub(crate) fn expr(&mut self, env: &Env, e: &ast::Expr) -> Option<Val> {
        let ok = self.enter(e.span);
        let value = if ok { self.expr_inside(env, e) } else { None };
        self.leave();
        value
    }

    fn expr_inside(&mut self, env: &Env, e: &ast::Expr) -> Option<Val> {
        let mut e = e;
        while let ast::ExprKind::Paren(inner) = &e.kind {
            e = inner;
        }
        match &e.kind {
            ast::ExprKind::Number(x, text) => {
                let whole = !text.contains(['.', 'e', 'E']);
                self.number(*x, whole, e.span)
            }
            ast::ExprKind::Text(_) => self.fail(
                Diagnostic::error("E0411", "a text is not a value")
                    .at(e.span, "text")
                    .help("texts name columns (`from column(\"medv\")`), levels and files"),
            ),
            ast::ExprKind::Name(name) => self.name(env, name, e.span),
            ast::ExprKind::Path(path) => self.name(env, &crate::check::scope::joined(path), e.span),
            ast::ExprKind::Neg(a) => {
                let a = self.expr(env, a)?;
                self.negate(&a, e.span)
            }
            ast::ExprKind::Binary(..) => self.spine(env, e),
            ast::ExprKind::Call(name, args) => self.call(env, name, args, e.span),
            ast::ExprKind::Index(base, indices) => self.index(env, base, indices, e.span),
            ast::ExprKind::Join(items) => self.join(env, items, e.span),
            ast::ExprKind::Paren(inner) => self.expr(env, inner),
        }
    }

    /// `a + b + c + …` leans left: walked with a loop, so that long sums need no deep recursion.
    fn spine(&mut self, env: &Env, e: &ast::Expr) -> Option<Val> {
        let mut rest = Vec::new();
        let mut first = e;
        while let ast::ExprKind::Binary(op, a, b) = &first.kind {
            rest.push((*op, b.as_ref(), first.span));
            first = a;
        }
        let mut sum = self.expr(env, first);
        let mut sum_span = first.span;
        for (op, b, span) in rest.into_iter().rev() {
            let b_val = self.expr(env, b);
            sum = match (sum, b_val) {
                (Some(a), Some(b_val)) => self.binary(op, &a, sum_span, &b_val, b.span, span),
                _ => None,
            };
            sum_span = span;
        }
        sum
    }

    fn binary(&mut self, op: BinOp, a: &Val, a_span: Span, b: &Val, b_span: Span, span: Span) -> Option<Val> {
        let ok = self.wants_number(a, a_span) & self.wants_number(b, b_span);
        if !ok {
            return None;
        }
        let spans = Spans { left: a_span, right: b_span, whole: span };
        match op {
            BinOp::Add => self.elementwise(Op::Add, a, b, spans, "+"),
            BinOp::Sub => self.elementwise(Op::Sub, a, b, spans, "-"),
            BinOp::ElMul => self.elementwise(Op::Mul, a, b, spans, ".*"),
            BinOp::ElDiv => self.elementwise(Op::Div, a, b, spans, "./"),
            BinOp::Pow => self.elementwise(Op::Pow, a, b, spans, "^"),
            BinOp::Mul if a.is_scalar() || b.is_scalar() => self.elementwise(Op::Mul, a, b, spans, "*"),
            BinOp::Mul => self.product(a, b, spans),
            BinOp::Div if b.is_scalar() => self.elementwise(Op::Div, a, b, spans, "/"),
            BinOp::Div => {
                let shown = self.describe(&b.shape);
                self.fail(
                    Diagnostic::error("E0308", format!("`/` divides by a scalar, found {shown}"))
                        .at(b_span, shown.clone())
                        .help("entry by entry: write `./`"),
                )
            }
        }
    }

    /// Whether arithmetic applies; reports if not.
    pub(crate) fn wants_number(&mut self, v: &Val, span: Span) -> bool {
        if v.set.is_number() {
            return true;
        }
        let elem = v.set.elem().name();
        self.report(
            Diagnostic::error("E0406", format!("arithmetic with a quantity that is {elem}"))
                .at(span, elem)
                .help("levels are no numbers: index with it (`u[school]`), or take `onehot(…)`"),
        );
        false
    }

    /// −a
    fn negate(&mut self, a: &Val, span: Span) -> Option<Val> {
        if !self.wants_number(a, span) {
            return None;
        }
        if let Some(x) = self.literal(a) {
            return self.number(-x, a.set.is_whole(), span);
        }
        let set = Set::number(0.0, true).sub(a.set);
        let shape = self.exprs.get(a.expr).ty.shape.clone();
        let expr = self.push(ExprKind::Neg(a.expr), set, shape, span)?;
        let dim = a.dim.as_ref().and_then(|d| self.dim_op(Op::Sub, &Dim::number(0), d));
        Some(Val { expr, set, dim, levels: None, ..a.clone() })
    }

    /// a op b, entry by entry; a scalar meets every entry.
    pub(crate) fn elementwise(
        &mut self,
        op: Op,
        a: &Val,
        b: &Val,
        spans: Spans,
        symbol: &str,
    ) -> Option<Val> {
        let span = spans.whole;
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b))
            && let Some(folded) = fold(op, x, y)
        {
            let whole = a.set.is_whole() && b.set.is_whole() && op != Op::Div
                || folded.fract() == 0.0 && a.dim.is_some() && b.dim.is_some();
            return self.number(folded, whole, span);
        }
        let dim = match (&a.dim, &b.dim) {
            (Some(x), Some(y)) => self.dim_op(op, x, y),
            _ => None,
        };
        if let Some(dim) = &dim
            && dim.as_number().is_none()
        {
            return self.dim_value(dim.clone(), span);
        }
        let exponent = self.literal(b);
        let set = match op {
            Op::Add => a.set.add(b.set),
            Op::Sub if self.literal(a) == Some(1.0) => b.set.complement(),
            Op::Sub => a.set.sub(b.set),
            Op::Mul => a.set.mul(b.set),
            Op::Div => a.set.div(b.set),
            Op::Pow => a.set.pow(b.set, exponent),
            Op::Min => a.set.min(b.set),
            Op::Max => a.set.max(b.set),
        };
        let shape = self.common_shape(a, b, spans, symbol)?;
        let plates = self.union(&a.plates, &b.plates);
        if plates.len() + shape.len() > 2 {
            return self.too_many_axes(&plates, &shape, span);
        }
        let left = self.lift(a, &plates, &shape, false, spans.left)?;
        let right = self.lift(b, &plates, &shape, false, spans.right)?;
        let mut whole = self.extents(&plates);
        whole.extend(shape.iter().cloned());
        let expr = self.push(ExprKind::Elementwise(op, left, right), set, whole, span)?;
        Some(Val { expr, set, plates, shape, dim, levels: None })
    }

    /// The shape of `a op b` entry by entry.
    pub(crate) fn common_shape(&mut self, a: &Val, b: &Val, spans: Spans, symbol: &str) -> Option<Vec<Dim>> {
        if a.is_scalar() {
            return Some(b.shape.clone());
        }
        if b.is_scalar() {
            return Some(a.shape.clone());
        }
        if a.shape.len() != b.shape.len() {
            let (l, r) = (self.describe(&a.shape), self.describe(&b.shape));
            return self.fail(
                Diagnostic::error("E0302", format!("`{symbol}` needs two of one shape, found {l} and {r}"))
                    .at(spans.whole, format!("{l} {symbol} {r}"))
                    .also(spans.left, l)
                    .also(spans.right, r)
                    .help("only scalars are repeated by themselves; write the others with plates"),
            );
        }
        for (l, r) in a.shape.iter().zip(&b.shape) {
            if !self.same_dim(l, r, spans.whole, Some(spans.left)) {
                let (shown_l, shown_r) = (self.show_shape(&a.shape), self.show_shape(&b.shape));
                let d = Diagnostic::error(
                    "E0301",
                    format!("`{symbol}` needs two of one shape, found {shown_l} and {shown_r}"),
                )
                .at(spans.whole, format!("{} against {}", self.show_dim(l), self.show_dim(r)))
                .also(spans.left, shown_l)
                .also(spans.right, shown_r);
                let d = self.with_origins(d, l, r);
                return self.fail(d);
            }
        }
        Some(a.shape.clone())
    }

    /// a * b for vectors and matrices.
    fn product(&mut self, a: &Val, b: &Val, spans: Spans) -> Option<Val> {
        let (Some(inner_a), Some(inner_b)) = (a.shape.last(), b.shape.first()) else {
            return None;
        };
        if !self.same_dim(inner_a, inner_b, spans.whole, Some(spans.left)) {
            let (l, r) = (self.show_shape(&a.shape), self.show_shape(&b.shape));
            let (da, db) = (self.show_dim(inner_a), self.show_dim(inner_b));
            let mut d = Diagnostic::error("E0301", format!("cannot multiply {l} by {r}: {da} against {db}"))
                .at(spans.whole, format!("`*` needs the last dimension of the left to be the first of the right: {da} is not {db}"))
                .also(spans.left, l)
                .also(spans.right, r);
            if a.shape == b.shape || (a.shape.len() == 1 && b.shape.len() == 1) {
                d = d.note("entry by entry is `.*`");
            }
            // unknowns stand on the right: a design times its weights
            if b.shape.last() == a.shape.first() && self.is_unknown(a) && !self.is_unknown(b) {
                d = d.help(format!("swap the two: {}", self.swapped(a, b)));
            }
            let d = self.with_origins(d, inner_a, inner_b);
            let columns = || {
                format!(
                    "the right needs {da} rows, one for each column of the left; for weights, `w ~ ard(cols(phi))` says so before `phi * w`"
                )
            };
            let d = if d.help.is_none() { d.help(columns()) } else { d };
            return self.fail(d);
        }
        let plates = self.union(&a.plates, &b.plates);
        let mut shape: Vec<Dim> = a.shape[..a.shape.len() - 1].to_vec();
        shape.extend(b.shape[1..].iter().cloned());
        if a.rank() > 2 || b.rank() > 2 || plates.len() + shape.len() > 2 {
            return self.too_many_axes(&plates, &shape, spans.whole);
        }
        let set = a.set.mul(b.set).sum();
        let span = spans.whole;
        let mut whole = self.extents(&plates);
        whole.extend(shape.iter().cloned());
        let kind = match (a.plates.as_slice(), b.plates.as_slice()) {
            ([], []) => ExprKind::MatMul(a.expr, b.expr),
            // row n of a times b: [N, M] [M] and [N, M] [M, K]
            ([_], []) => ExprKind::MatMul(a.expr, b.expr),
            // a times row n of b: the rows stand on the left, [N, M] [M]
            ([], [_]) if a.shape.len() == 1 => ExprKind::MatMul(b.expr, a.expr),
            // matrix [A, B] times row n of [N, B]: rows of b aᵀ
            ([], [_]) => ExprKind::MatMul(b.expr, self.transpose(a.expr, span)?),
            ([p], [q]) if p == q => ExprKind::RowDot(a.expr, b.expr),
            ([p], [_]) if plates.first() == Some(p) => {
                ExprKind::MatMul(a.expr, self.transpose(b.expr, span)?)
            }
            ([_], [_]) => ExprKind::MatMul(b.expr, self.transpose(a.expr, span)?),
            _ => return self.too_many_axes(&plates, &shape, span),
        };
        let expr = self.push(kind, set, whole, span)?;
        Some(Val { expr, set, plates, shape, dim: None, levels: None })
    }

    fn is_unknown(&self, v: &Val) -> bool {
        let deps = self.deps(v.expr);
        deps.latent || deps.param
    }

    /// `b * a`, by name if both have one, else by shape.
    fn swapped(&self, a: &Val, b: &Val) -> String {
        match (self.exprs.get(a.expr).kind.clone(), self.exprs.get(b.expr).kind.clone()) {
            (ExprKind::Node(a), ExprKind::Node(b)) => {
                format!("`{} * {}`", self.node_name(b), self.node_name(a))
            }
            _ => format!("{} * {}", self.show_shape(&b.shape), self.show_shape(&a.shape)),
        }
    }

    /// `[a, b]`
    fn join(&mut self, env: &Env, items: &[ast::Expr], span: Span) -> Option<Val> {
        let values: Vec<Option<Val>> = items.iter().map(|i| self.expr(env, i)).collect();
        let values: Vec<Val> = values.into_iter().collect::<Option<_>>()?;
        if values.is_empty() {
            return self.fail(
                Diagnostic::error("E0302", "`[]` has no shape").at(span, "nothing to join").help("remove it"),
            );
        }
        let mut numbers = true;
        for (v, item) in values.iter().zip(items) {
            numbers &= self.wants_number(v, item.span);
        }
        if !numbers {
            return None;
        }
        let mut set = values[0].set.entries();
        for v in &values[1..] {
            set = set.join(v.set.entries());
        }
        let plates = values.iter().fold(Vec::new(), |all, v| self.union(&all, &v.plates));
        if plates.is_empty() && values.iter().all(Val::is_scalar) {
            let shape = vec![Dim::number(values.len() as i64)];
            let kind = ExprKind::Vector(values.iter().map(|v| v.expr).collect());
            let expr = self.push(kind, set, shape.clone(), span)?;
            return Some(Val { expr, set, plates, shape, dim: None, levels: None });
        }
        if plates.is_empty() {
            self.join_columns(&values, items, set, span)
        } else {
            self.join_rows(&values, items, plates, set, span)
        }
    }

    /// Columns side by side, outside plates.
    fn join_columns(&mut self, values: &[Val], items: &[ast::Expr], set: Set, span: Span) -> Option<Val> {
        let mut rows: Option<(Dim, Span)> = None;
        let mut cols = Dim::number(0);
        for (v, item) in values.iter().zip(items) {
            if let Some(n) = v.shape.first() {
                match &rows {
                    None => rows = Some((n.clone(), item.span)),
                    Some((first, first_span)) => {
                        let (first, first_span) = (first.clone(), *first_span);
                        if !self.same_dim(&first, n, item.span, Some(first_span)) {
                            let (l, r) = (self.show_dim(&first), self.show_dim(n));
                            let d = Diagnostic::error(
                                "E0301",
                                format!("columns of different length joined: {l} rows and {r} rows"),
                            )
                            .at(item.span, format!("{r} rows"))
                            .also(first_span, format!("{l} rows"));
                            let d = self.with_origins(d, &first, n);
                            return self.fail(d);
                        }
                    }
                }
            }
            cols = cols.add(v.shape.get(1).unwrap_or(&Dim::number(1)));
        }
        let shape = vec![rows?.0, cols];
        let expr =
            self.push(ExprKind::Join(values.iter().map(|v| v.expr).collect()), set, shape.clone(), span)?;
        Some(Val { expr, set, plates: Vec::new(), shape, dim: None, levels: None })
    }

    /// Rows end to end, inside a plate: `[1, x[n]]`.
    fn join_rows(
        &mut self,
        values: &[Val],
        items: &[ast::Expr],
        plates: Vec<PlateId>,
        set: Set,
        span: Span,
    ) -> Option<Val> {
        let mut width = Dim::number(0);
        let mut parts: Vec<ExprId> = Vec::new();
        if plates.len() > 1 {
            return self.too_many_axes(&plates, &[Dim::number(values.len() as i64)], span);
        }
        for (v, item) in values.iter().zip(items) {
            match v.shape.as_slice() {
                // an entry for each n is a column, a plain scalar is a constant column
                [] => {
                    width = width.add(&Dim::number(1));
                    parts.push(v.expr);
                }
                [n] => {
                    width = width.add(n);
                    parts.push(self.lift(v, &plates, &v.shape, false, item.span)?);
                }
                _ => return self.too_many_axes(&plates, &v.shape, item.span),
            }
        }
        let mut whole = self.extents(&plates);
        whole.push(width.clone());
        let expr = self.push(ExprKind::Join(parts), set, whole, span)?;
        Some(Val { expr, set, plates, shape: vec![width], dim: None, levels: None })
    }

    /// The dimension an expression states.
    pub(crate) fn dimension(&mut self, env: &Env, e: &ast::Expr) -> Option<Dim> {
        let v = self.expr(env, e)?;
        match v.dim {
            Some(dim) if dim.as_number().is_some_and(|n| n < 0) => {
                let shown = self.show_dim(&dim);
                self.fail(
                    Diagnostic::error("E0304", format!("a dimension is at least 0, found {shown}"))
                        .at(e.span, shown),
                )
            }
            Some(dim) => Some(dim),
            None => {
                let mut help =
                    "use a symbol of a data shape, a constant `let`, `cols(…)`, `rows(…)` or `levels(…)`";
                let found = match self.exprs.get(v.expr).kind {
                    ExprKind::Number(Bits(x)) => format!("{x}"),
                    ExprKind::Node(id) => {
                        let node = &self.nodes[id.index()];
                        if crate::check::print::role(node) == "constant" && node.ty.shape.is_empty() {
                            help = "give it a whole number";
                        }
                        format!("{} `{}`", crate::check::print::role(node), node.name)
                    }
                    _ => self.show_type(v.set, &v.shape),
                };
                self.fail(
                    Diagnostic::error(
                        "E0304",
                        format!(
                            "a dimension is a whole number known before the data's values, found {found}"
                        ),
                    )
                    .at(e.span, "not a dimension")
                    .help(help),
                )
            }
        }
    }
}

/// The places of an operator and its operands.
#[derive(Clone, Copy)]
pub(crate) struct Spans {
    pub(crate) left: Span,
    pub(crate) right: Span,
    pub(crate) whole: Span,
}

/// x op y, if it is finite.
fn fold(op: Op, x: f64, y: f64) -> Option<f64> {
    let z = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Pow => x.powf(y),
        Op::Min => x.min(y),
        Op::Max => x.max(y),
    };
    z.is_finite().then_some(z)
}
