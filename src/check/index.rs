//! Indexing: `x[n]`, `x[_, j]`, `u[group[n]]`, `W[m, k]`.

use crate::check::cx::{Cx, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::support::Set;
use crate::check::typed::{ExprId, ExprKind};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::syntax::ast;

/// How one axis of an array is taken.
#[derive(Clone)]
enum Access {
    /// All of it; the axis is a plate, or an axis of the value's own.
    All(Option<PlateId>),
    /// One position, counted from 0.
    At(usize),
    /// At the entries of a vector.
    By(ExprId, Option<PlateId>),
}

impl Access {
    fn label(&self) -> Option<PlateId> {
        match self {
            Access::All(l) | Access::By(_, l) => *l,
            Access::At(_) => None,
        }
    }
}

impl Cx<'_> {
    /// `base[indices]`
    pub(crate) fn index(
        &mut self,
        env: &Env,
        base: &ast::Expr,
        indices: &[Option<ast::Expr>],
        span: Span,
    ) -> Option<Val> {
        let v = self.expr(env, base);
        let mut accesses = Vec::new();
        let v = match v {
            Some(v) => v,
            None => {
                // names in the indices are still checked
                for i in indices.iter().flatten() {
                    self.expr(env, i);
                }
                return None;
            }
        };
        if v.is_scalar() || indices.len() > v.shape.len() {
            let shown = self.describe(&v.shape);
            return self.fail(
                Diagnostic::error(
                    "E0305",
                    format!(
                        "{} for {shown}",
                        crate::check::errors::count(indices.len(), "index").replace("indexs", "indices")
                    ),
                )
                .at(span, shown.clone())
                .help(if v.is_scalar() {
                    "remove the index"
                } else {
                    "use one index per dimension"
                }),
            );
        }
        for (i, dim) in v.shape.clone().iter().enumerate() {
            match indices.get(i) {
                None | Some(None) => accesses.push(Some(Access::All(None))),
                Some(Some(e)) => accesses.push(self.access(env, e, dim, base.span)),
            }
        }
        let own: Vec<Access> = accesses.into_iter().collect::<Option<_>>()?;
        let mut all: Vec<Access> = v.plates.iter().map(|p| Access::All(Some(*p))).collect();
        all.extend(own);
        let mut result = self.take(&v, all, span)?;
        result.set = v.set.entries();
        result.levels = v.levels;
        Some(result)
    }

    /// How one index takes an axis of length `dim`.
    fn access(&mut self, env: &Env, e: &ast::Expr, dim: &Dim, base_span: Span) -> Option<Access> {
        if let ast::ExprKind::Name(name) = &e.kind
            && let Some(plate) = env.plate(name)
        {
            let extent = self.plates[plate.0].extent.clone();
            if !self.same_dim(&extent, dim, e.span, Some(self.plates[plate.0].span)) {
                let (a, b) = (self.show_dim(&extent), self.show_dim(dim));
                let d = Diagnostic::error("E0301", format!("`{name}` runs over {a}, this axis has {b}"))
                    .at(e.span, format!("1 … {a}"))
                    .also(self.plates[plate.0].span, format!("`{name}` runs over {a} here"))
                    .also(base_span, format!("length {b}"));
                let d = self.with_origins(d, &extent, dim);
                return self.fail(d);
            }
            return Some(Access::All(Some(plate)));
        }
        let i = self.expr(env, e)?;
        let constant =
            i.dim.as_ref().and_then(Dim::as_number).or_else(|| {
                self.literal(&i).filter(|x| x.fract() == 0.0 && x.abs() < 1e15).map(|x| x as i64)
            });
        if let Some(k) = constant {
            let limit = dim.as_number();
            if k < 1 || limit.is_some_and(|n| k > n) {
                let length = self.show_dim(dim);
                return self.fail(
                    Diagnostic::error("E0305", format!("index {k} is outside 1 … {length}"))
                        .at(e.span, format!("this axis has {length}"))
                        .help("indices count from 1"),
                );
            }
            return Some(Access::At(k as usize - 1));
        }
        let index_like = i.set.is_whole() || !i.set.is_number();
        if !index_like {
            let found = self.show_type(i.set, &i.shape);
            return self.fail(
                Diagnostic::error("E0305", format!("an index is a whole number or a level, found {found}"))
                    .at(e.span, found.clone())
                    .help("declare the data behind it as `category[N]` or `int[N]`"),
            );
        }
        if let Some(levels) = i.levels.filter(|_| !i.set.is_number()) {
            let count = Dim::atom(crate::check::dim::Atom::Levels(levels));
            if !self.same_dim(&count, dim, e.span, Some(e.span)) {
                let (a, b) = (self.show_dim(&count), self.show_dim(dim));
                let name = self.node_name(levels);
                let known = self.stated_levels.get(&levels).map(|n| format!(" = {n}")).unwrap_or_default();
                return self.fail(
                    Diagnostic::error("E0301", format!("`{name}` has {a}{known}, this axis has {b}"))
                        .at(e.span, format!("an index of {a}{known}"))
                        .also(base_span, format!("length {b}"))
                        .help(format!("give it the length `[levels({name})]`")),
                );
            }
        }
        match (i.plates.as_slice(), i.shape.as_slice()) {
            ([plate], []) => Some(Access::By(i.expr, Some(*plate))),
            ([], [_]) => Some(Access::By(i.expr, None)),
            ([], []) => self.fail(
                Diagnostic::error(
                    "E0305",
                    "an index is a number of the program, a plate index or data over rows",
                )
                .at(e.span, "one number from data")
                .help("declare it with a dimension, or write the number itself"),
            ),
            _ => {
                let (plates, shape) = (i.plates.clone(), i.shape.clone());
                self.too_many_axes(&plates, &shape, e.span)
            }
        }
    }

    /// The entries of `v` that the accesses (one per axis, plates included) take.
    fn take(&mut self, v: &Val, mut accesses: Vec<Access>, span: Span) -> Option<Val> {
        let set = v.set.entries();
        let mut e = v.expr;
        if let [a, b] = accesses.as_slice() {
            let (a, b) = (a.clone(), b.clone());
            let shape = self.exprs.get(e).ty.shape.clone();
            let [rows, cols] = shape.as_slice() else { return None };
            match (&a, &b) {
                (_, Access::At(j)) => {
                    e = self.push(ExprKind::Column(e, *j), set, vec![rows.clone()], span)?;
                    accesses.pop();
                }
                (Access::At(i), _) => {
                    e = self.push(ExprKind::Row(e, *i), set, vec![cols.clone()], span)?;
                    accesses.remove(0);
                }
                _ if self.paired(&a, &b) => {
                    // W[g[n], h[n]]: row by row
                    let at_rows = self.positions(&a, rows, span)?;
                    let at_cols = self.positions(&b, cols, span)?;
                    let n = self.exprs.get(at_rows).ty.shape.clone();
                    let m = self.exprs.get(at_cols).ty.shape.clone();
                    if !self.same_dim(&n[0], &m[0], span, None) {
                        let (l, r) = (self.show_dim(&n[0]), self.show_dim(&m[0]));
                        let d =
                            Diagnostic::error("E0301", format!("indices of different length: {l} and {r}"))
                                .at(span, "one row index for each column index");
                        let d = self.with_origins(d, &n[0], &m[0]);
                        return self.fail(d);
                    }
                    let kind = ExprKind::GatherPairs { base: e, rows: at_rows, cols: at_cols };
                    e = self.push(kind, set, n, span)?;
                    return self.arrange(e, &[a.label()], set, span);
                }
                _ => {
                    if let Access::By(at, _) = a {
                        let n = self.exprs.get(at).ty.shape[0].clone();
                        e = self.push(ExprKind::Gather { base: e, at }, set, vec![n, cols.clone()], span)?;
                    }
                    if let Access::By(at, _) = b {
                        let n = self.exprs.get(at).ty.shape[0].clone();
                        let rows = self.exprs.get(e).ty.shape[0].clone();
                        e = self.push(ExprKind::GatherColumns { base: e, at }, set, vec![rows, n], span)?;
                    }
                    let labels = [a.label(), b.label()];
                    return self.arrange(e, &labels, set, span);
                }
            }
        }
        // one axis is left
        match accesses.first().cloned() {
            Some(Access::At(i)) => {
                e = self.push(ExprKind::Row(e, i), set, Vec::new(), span)?;
                self.arrange(e, &[], set, span)
            }
            Some(Access::By(at, label)) => {
                let n = self.exprs.get(at).ty.shape.clone();
                e = self.push(ExprKind::Gather { base: e, at }, set, n, span)?;
                self.arrange(e, &[label], set, span)
            }
            Some(Access::All(label)) => self.arrange(e, &[label], set, span),
            None => self.arrange(e, &[], set, span),
        }
    }

    /// Whether two axes are walked together: the same plate, or two vectors of positions.
    fn paired(&self, a: &Access, b: &Access) -> bool {
        match (a, b) {
            (Access::By(_, None), Access::By(_, None)) => true,
            _ => a.label().is_some() && a.label() == b.label(),
        }
    }

    /// The positions an access takes, as a vector.
    fn positions(&mut self, a: &Access, dim: &Dim, span: Span) -> Option<ExprId> {
        match a {
            Access::By(at, _) => Some(*at),
            _ => self.push(ExprKind::Range(dim.clone()), Set::ORDINAL, vec![dim.clone()], span),
        }
    }
}
