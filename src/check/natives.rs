//! The native functions: arity, promotion, shapes and supports of their results.

use crate::check::cx::{Cx, PlateId, Val};
use crate::check::dim::{Atom, Dim};
use crate::check::elaborate::Spans;
use crate::check::env::Env;
use crate::check::support::Set;
use crate::check::typed::{ExprId, ExprKind, Native, Op};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::source::Span;
use crate::syntax::ast;

/// A native function as a program sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeFn {
    /// As written.
    pub name: &'static str,
    /// Names of its parameters.
    pub params: &'static [&'static str],
    /// How many of them may be left out, from the end.
    pub optional: usize,
    /// One line.
    pub summary: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Map(Native),
    Binary(Op),
    Reduce(Native),
    Pairs(Native),
    Columns(Native),
    Cols,
    Rows,
    Levels,
    Range,
    Train,
    Standardize,
    OneHot,
}

const fn native(
    name: &'static str,
    params: &'static [&'static str],
    kind: Kind,
    summary: &'static str,
) -> NativeFn {
    NativeFn { name, params, optional: 0, summary, kind }
}

/// Every native function, by kind.
pub const NATIVES: &[NativeFn] = &[
    native("exp", &["x"], Kind::Map(Native::Exp), "e to the x, entry by entry"),
    native("log", &["x"], Kind::Map(Native::Log), "natural logarithm, entry by entry"),
    native("sqrt", &["x"], Kind::Map(Native::Sqrt), "square root, entry by entry"),
    native("abs", &["x"], Kind::Map(Native::Abs), "absolute value, entry by entry"),
    native("sin", &["x"], Kind::Map(Native::Sin), "sine, entry by entry"),
    native("cos", &["x"], Kind::Map(Native::Cos), "cosine, entry by entry"),
    native("min", &["a", "b"], Kind::Binary(Op::Min), "the smaller of two, entry by entry"),
    native("max", &["a", "b"], Kind::Binary(Op::Max), "the larger of two, entry by entry"),
    native("pow", &["a", "b"], Kind::Binary(Op::Pow), "a to the b, as `a ^ b`"),
    native("sum", &["x"], Kind::Reduce(Native::Sum), "sum of all entries; of a row inside a plate"),
    native("mean", &["x"], Kind::Reduce(Native::Mean), "mean of all entries; of a row inside a plate"),
    native("sd", &["x"], Kind::Reduce(Native::Sd), "deviation of all entries, denominator N"),
    native(
        "dot",
        &["x", "c"],
        Kind::Pairs(Native::Dot),
        "x · cᵀ: the dot product of each row of x with each row of c",
    ),
    NativeFn {
        name: "sqdist",
        params: &["x", "c", "scale"],
        optional: 1,
        summary: "squared distance of each row of x from each row of c, Σ_k (x_k − c_k)², or Σ_k scale_k (x_k − c_k)²",
        kind: Kind::Pairs(Native::SqDist),
    },
    NativeFn {
        name: "absdist",
        params: &["x", "c", "scale"],
        optional: 1,
        summary: "city-block distance of each row of x from each row of c, Σ_k |x_k − c_k|, or Σ_k scale_k |x_k − c_k|",
        kind: Kind::Pairs(Native::AbsDist),
    },
    native(
        "spline",
        &["x", "c"],
        Kind::Pairs(Native::LinearSpline),
        "Π_k (1 + x c + x c m − (x + c)/2 m² + m³/3) with m = min(x, c), each row of x with each row of c",
    ),
    native("pair_products", &["x"], Kind::Columns(Native::PairProducts), "products x_a x_b of columns a < b"),
    native("powers", &["x", "degree"], Kind::Columns(Native::Powers), "x¹ … x^degree, column by column"),
    native("cols", &["x"], Kind::Cols, "number of columns of a matrix: a dimension"),
    native("rows", &["x"], Kind::Rows, "number of rows: a dimension"),
    native("levels", &["c"], Kind::Levels, "number of levels of categorical or ordered data: a dimension"),
    native("range", &["n"], Kind::Range, "the vector 1, 2, … n"),
    native("train", &["x"], Kind::Train, "the value x had when the model was fitted"),
    native(
        "standardize",
        &["x"],
        Kind::Standardize,
        "x less its training mean, over its training deviation, column by column",
    ),
    native("onehot", &["c"], Kind::OneHot, "one column a level: 1 where the row has it, else 0"),
];

/// Whether a native function has this name.
pub(crate) fn is_native(name: &str) -> bool {
    find(name).is_some()
}

fn find(name: &str) -> Option<&'static NativeFn> {
    NATIVES.iter().find(|n| n.name == name)
}

/// An array whose rows a pairwise native walks.
pub(crate) struct Rows {
    /// A matrix.
    pub(crate) expr: ExprId,
    /// The plate its rows are, if they are one.
    pub(crate) label: Option<PlateId>,
    pub(crate) rows: Dim,
    pub(crate) cols: Dim,
}

/// What a parameter was given, if anything: its value, if that is right, and where it stands.
pub(crate) type Given = Option<(Option<Val>, Span)>;

impl Cx<'_> {
    /// A call of a native function; `None` in the outer option: there is none of that name.
    pub(crate) fn native_call(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Option<Val>> {
        let native = find(&name.node)?;
        Some(self.native_applied(env, native, name, args, span))
    }

    fn native_applied(
        &mut self,
        env: &Env,
        native: &'static NativeFn,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Val> {
        let signature = signature(native);
        let called = (native.name, signature.as_str());
        let given = self.matched(env, called, native.params, native.optional, args, span)?;
        let mut values: Vec<(Val, Span)> = Vec::new();
        for slot in given.into_iter().flatten() {
            values.push((slot.0?, slot.1));
        }
        let takes_levels =
            matches!(native.kind, Kind::Levels | Kind::OneHot | Kind::Train | Kind::Rows | Kind::Cols);
        if !takes_levels {
            let mut ok = true;
            for (v, at) in &values {
                ok &= self.wants_number(v, *at);
            }
            if !ok {
                return None;
            }
        }
        let (x, x_span) = values.first()?.clone();
        match native.kind {
            Kind::Map(f) => self.map_native(f, &x, span),
            Kind::Binary(op) => {
                let (b, b_span) = values.get(1)?;
                let spans = Spans { left: x_span, right: *b_span, whole: span };
                self.elementwise(op, &x, b, spans, native.name)
            }
            Kind::Reduce(f) => self.reduce_native(f, &x, span),
            Kind::Pairs(f) => self.pairs_native(f, native.name, &values, span),
            Kind::Columns(f) => self.columns_native(f, &values, span),
            Kind::Cols => match x.shape.as_slice() {
                [_, cols] => self.dim_value(cols.clone(), span),
                _ => {
                    let shown = self.describe(&x.shape);
                    self.fail(
                        Diagnostic::error("E0302", format!("`cols` wants a matrix, found {shown}"))
                            .at(x_span, shown)
                            .help("the length of a vector is `rows(…)`; `[x]` makes a matrix of one column"),
                    )
                }
            },
            Kind::Rows => match x.shape.first() {
                Some(rows) => self.dim_value(rows.clone(), span),
                None => self.fail(
                    Diagnostic::error("E0302", "`rows` wants a vector or a matrix, found a scalar")
                        .at(x_span, "a scalar")
                        .help("a scalar has no rows"),
                ),
            },
            Kind::Levels => match x.levels.filter(|_| !x.set.is_number()) {
                Some(node) => self.dim_value(Dim::atom(Atom::Levels(node)), span),
                None => {
                    let found = self.show_type(x.set, &x.shape);
                    self.fail(
                        Diagnostic::error(
                            "E0408",
                            format!("`levels` wants categorical or ordered data, found {found}"),
                        )
                        .at(x_span, found)
                        .help(
                            format!("declare it `category[N]` or `ordered[N]`, in `{}`", name.node)
                                .replace(", in `levels`", ""),
                        ),
                    )
                }
            },
            Kind::Range => {
                let Some(n) = x.dim else {
                    return self.fail(
                        Diagnostic::error("E0304", "`range` wants a dimension")
                            .at(x_span, "not a dimension")
                            .help("use a number, a dimension symbol or `cols(…)`"),
                    );
                };
                let expr = self.push(ExprKind::Range(n.clone()), Set::ORDINAL, vec![n.clone()], span)?;
                Some(Val {
                    expr,
                    set: Set::ORDINAL,
                    plates: Vec::new(),
                    shape: vec![n],
                    dim: None,
                    levels: None,
                })
            }
            Kind::Train => self.train(&x, x_span, span),
            Kind::Standardize => self.standardize(&x, x_span, span),
            Kind::OneHot => self.onehot(&x, x_span, span),
        }
    }

    /// The argument of each parameter of `function`, of which the last `optional` may be left out.
    pub(crate) fn matched(
        &mut self,
        env: &Env,
        (function, signature): (&str, &str),
        params: &[&str],
        optional: usize,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Vec<Given>> {
        let mut given: Vec<Option<(Option<Val>, Span)>> = vec![None; params.len()];
        let mut fine = true;
        for (i, arg) in args.iter().enumerate() {
            let value = self.expr(env, &arg.value);
            let at = match &arg.name {
                None => i,
                Some(n) => match params.iter().position(|p| *p == n.node) {
                    Some(at) => at,
                    None => {
                        let near = closest(&n.node, params.iter().copied());
                        self.report(
                            Diagnostic::error(
                                "E0209",
                                format!("`{}` has no argument `{}`", function, n.node),
                            )
                            .at(n.span, "unknown argument")
                            .help(match near {
                                Some(near) => format!("did you mean `{near}`?"),
                                None => format!("it is `{signature}`"),
                            }),
                        );
                        fine = false;
                        continue;
                    }
                },
            };
            match given.get_mut(at) {
                Some(slot @ None) => *slot = Some((value, arg.value.span)),
                Some(Some(_)) => {
                    fine = false;
                    self.report(
                        Diagnostic::error(
                            "E0209",
                            format!("argument `{}` of `{}` is given twice", params[at], function),
                        )
                        .at(arg.value.span, "given again")
                        .help("remove one of them"),
                    );
                }
                None => {
                    fine = false;
                    self.report(
                        Diagnostic::error(
                            "E0209",
                            format!(
                                "`{}` takes {}, found {}",
                                function,
                                crate::check::errors::count(params.len(), "argument"),
                                args.len()
                            ),
                        )
                        .at(arg.value.span, "one too many")
                        .help(format!("it is `{signature}`")),
                    );
                    break;
                }
            }
        }
        if !fine {
            return None;
        }
        let required = params.len() - optional;
        if let Some(missing) = given.iter().take(required).position(Option::is_none) {
            return self.fail(
                Diagnostic::error(
                    "E0209",
                    format!("`{}` misses its argument `{}`", function, params[missing]),
                )
                .at(span, "in this call")
                .help(format!("it is `{signature}`")),
            );
        }
        Some(given)
    }

    fn map_native(&mut self, f: Native, x: &Val, span: Span) -> Option<Val> {
        let set = match f {
            Native::Exp => Set::POSITIVE,
            Native::Sqrt => x.set.sqrt(),
            Native::Abs => x.set.abs(),
            Native::Log => x.set.log(),
            _ => Set::REAL,
        };
        let shape = self.exprs.get(x.expr).ty.shape.clone();
        let expr = self.push(ExprKind::Call(f, vec![x.expr]), set, shape, span)?;
        Some(Val { expr, set, dim: None, levels: None, ..x.clone() })
    }

    /// Sums and means of all own entries: rows of the whole array inside a plate.
    fn reduce_native(&mut self, f: Native, x: &Val, span: Span) -> Option<Val> {
        let set = match f {
            Native::Sum => x.set.sum(),
            Native::Mean => x.set.mean(),
            _ => Set::NONNEGATIVE,
        };
        let base = Val { set, shape: Vec::new(), dim: None, levels: None, ..x.clone() };
        if x.plates.is_empty() {
            let expr = self.push(ExprKind::Call(f, vec![x.expr]), set, Vec::new(), span)?;
            return Some(Val { expr, ..base });
        }
        let spans = Spans { left: span, right: span, whole: span };
        match (x.shape.as_slice(), f) {
            // one entry is its own sum and mean
            ([], Native::Sum | Native::Mean) => Some(Val { expr: x.expr, ..base }),
            ([], _) => self.number(0.0, true, span),
            // Σ_k x_nk = x 1
            ([d], Native::Sum) => {
                let one = self.number(1.0, true, span)?;
                let ones =
                    self.push(ExprKind::RepeatRows(one.expr, d.clone()), one.set, vec![d.clone()], span)?;
                let extents = self.extents(&x.plates);
                let expr = self.push(ExprKind::MatMul(x.expr, ones), set, extents, span)?;
                Some(Val { expr, ..base })
            }
            ([d], Native::Mean) => {
                let sum = self.reduce_native(Native::Sum, x, span)?;
                let n = self.dim_value(d.clone(), span)?;
                let mean = self.elementwise(Op::Div, &sum, &n, spans, "/")?;
                Some(Val { set, ..mean })
            }
            ([_], _) => {
                let mean = self.reduce_native(Native::Mean, x, span)?;
                let centred = self.elementwise(Op::Sub, x, &mean, spans, "-")?;
                let two = self.number(2.0, true, span)?;
                let squared = self.elementwise(Op::Pow, &centred, &two, spans, "^")?;
                let variance = self.reduce_native(Native::Mean, &squared, span)?;
                self.map_native(Native::Sqrt, &variance, span)
            }
            _ => self.too_many_axes(&x.plates.clone(), &x.shape.clone(), span),
        }
    }

    /// The rows of a value: of a matrix, of a vector as one column, of a plate.
    pub(crate) fn rows_of(&mut self, x: &Val, name: &str, span: Span) -> Option<Rows> {
        let whole = self.exprs.get(x.expr).ty.shape.clone();
        let one = Dim::number(1);
        match (x.plates.as_slice(), x.shape.as_slice()) {
            ([], [rows, cols]) => {
                Some(Rows { expr: x.expr, label: None, rows: rows.clone(), cols: cols.clone() })
            }
            ([p], [cols]) => {
                Some(Rows { expr: x.expr, label: Some(*p), rows: whole.first()?.clone(), cols: cols.clone() })
            }
            ([], [rows]) => {
                let expr =
                    self.push(ExprKind::AsColumn(x.expr), x.set, vec![rows.clone(), one.clone()], span)?;
                Some(Rows { expr, label: None, rows: rows.clone(), cols: one })
            }
            ([p], []) => {
                let rows = whole.first()?.clone();
                let expr =
                    self.push(ExprKind::AsColumn(x.expr), x.set, vec![rows.clone(), one.clone()], span)?;
                Some(Rows { expr, label: Some(*p), rows, cols: one })
            }
            ([], []) => self.fail(
                Diagnostic::error("E0302", format!("`{name}` wants a matrix of rows, found a scalar"))
                    .at(span, "a scalar")
                    .help("write `[…]` around several, or use data over rows"),
            ),
            (plates, shape) => {
                let (plates, shape) = (plates.to_vec(), shape.to_vec());
                self.too_many_axes(&plates, &shape, span)
            }
        }
    }

    fn pairs_native(&mut self, f: Native, name: &str, values: &[(Val, Span)], span: Span) -> Option<Val> {
        let [(x, x_span), (c, c_span), rest @ ..] = values else { return None };
        let left = self.rows_of(x, name, *x_span);
        let right = self.rows_of(c, name, *c_span);
        let (left, right) = (left?, right?);
        if !self.same_dim(&left.cols, &right.cols, span, Some(*x_span)) {
            let (l, r) = (self.show_dim(&left.cols), self.show_dim(&right.cols));
            let d =
                Diagnostic::error("E0301", format!("`{name}` compares rows of {l} columns with rows of {r}"))
                    .at(span, "rows of different length")
                    .also(*x_span, format!("{l} columns"))
                    .also(*c_span, format!("{r} columns"));
            let d = self.with_origins(d, &left.cols, &right.cols);
            return self.fail(d);
        }
        if left.label.is_some() && left.label == right.label {
            return self.fail(
                Diagnostic::error("E0303", format!("`{name}` of two rows of one plate"))
                    .at(span, "row by row")
                    .help(
                        "row by row, write `(a - b) * (a - b)`, or call it outside the plate for all pairs",
                    ),
            );
        }
        let mut args = vec![left.expr, right.expr];
        let mut set = if f == Native::Dot { x.set.mul(c.set).sum() } else { Set::NONNEGATIVE };
        if f == Native::LinearSpline {
            set = Set::REAL;
        }
        if let Some((scale, scale_span)) = rest.first() {
            let (plates, shape) = (scale.plates.clone(), scale.shape.clone());
            match (plates.as_slice(), shape.as_slice()) {
                ([], [d]) => {
                    if !self.same_dim(d, &left.cols, *scale_span, Some(*scale_span)) {
                        let (l, r) = (self.show_dim(d), self.show_dim(&left.cols));
                        let e = Diagnostic::error("E0301", format!("{l} scales for rows of {r} columns"))
                            .at(*scale_span, format!("length {l}"))
                            .also(*x_span, format!("{r} columns"));
                        let e = self.with_origins(e, d, &left.cols);
                        return self.fail(e);
                    }
                }
                _ => {
                    let shown = self.describe(&shape);
                    return self.fail(
                        Diagnostic::error(
                            "E0302",
                            format!(
                                "`scale` of `{name}` is a vector with one entry per column, found {shown}"
                            ),
                        )
                        .at(*scale_span, shown)
                        .help("one scale for all: multiply the distance by it"),
                    );
                }
            }
            args.push(scale.expr);
            if !self.fits(scale, crate::dist::Elem::NonNegative) {
                set = Set::REAL;
            }
        }
        let shape = vec![left.rows, right.rows];
        let expr = self.push(ExprKind::Call(f, args), set, shape, span)?;
        self.arrange(expr, &[left.label, right.label], set, span)
    }

    fn columns_native(&mut self, f: Native, values: &[(Val, Span)], span: Span) -> Option<Val> {
        let (x, x_span) = values.first()?;
        let name = if f == Native::Powers { "powers" } else { "pair_products" };
        let rows = self.rows_of(x, name, *x_span)?;
        let mut args = vec![rows.expr];
        let width = if f == Native::Powers {
            let (degree, degree_span) = values.get(1)?;
            args.push(degree.expr);
            let width = degree.dim.as_ref().and_then(|p| self.dim_op(Op::Mul, &rows.cols, p));
            match width {
                Some(width) if degree.dim.as_ref().and_then(Dim::as_number).is_none_or(|n| n >= 1) => width,
                _ => {
                    return self.fail(
                        Diagnostic::error("E0304", "`degree` of `powers` is a whole number of at least 1")
                            .at(*degree_span, "not a dimension")
                            .help("write a number, or a constant `let`"),
                    );
                }
            }
        } else {
            // D (D − 1) / 2
            let less = rows.cols.sub(&Dim::number(1));
            self.dim_op(Op::Mul, &rows.cols, &less).and_then(|p| p.div(2))?
        };
        let set = if f == Native::Powers { x.set.mul(x.set).join(x.set) } else { x.set.mul(x.set) };
        let expr = self.push(ExprKind::Call(f, args), set, vec![rows.rows, width], span)?;
        self.arrange(expr, &[rows.label, None], set, span)
    }

    /// Reports `train` or `standardize` of something that is not known before the fit.
    fn wants_data(&mut self, x: &Val, name: &str, span: Span) -> Option<()> {
        let deps = self.deps(x.expr);
        if deps.latent || deps.param {
            let what = if deps.latent { "unknowns" } else { "a `param`" };
            return self.fail(
                Diagnostic::error("E0407", format!("`{name}` freezes data, found an expression of {what}"))
                    .at(span, "changes during the fit")
                    .help(format!("apply `{name}` to the data inside it")),
            );
        }
        Some(())
    }

    pub(crate) fn train(&mut self, x: &Val, x_span: Span, span: Span) -> Option<Val> {
        self.wants_data(x, "train", x_span)?;
        if !x.plates.is_empty() {
            return self.fail(
                Diagnostic::error("E0303", "`train` inside a plate would freeze one row at a time")
                    .at(span, "depends on a plate index")
                    .help("name the frozen value outside the plate: `let c = train(x)`"),
            );
        }
        let mut shape = x.shape.clone();
        if let Some(rows) = shape.first_mut() {
            *rows = rows.frozen();
        }
        let expr = self.push(ExprKind::Train(x.expr), x.set, shape.clone(), span)?;
        Some(Val { expr, shape, dim: None, ..x.clone() })
    }

    fn standardize(&mut self, x: &Val, x_span: Span, span: Span) -> Option<Val> {
        self.wants_data(x, "standardize", x_span)?;
        let whole = self.exprs.get(x.expr).ty.shape.clone();
        if whole.is_empty() {
            return self.fail(
                Diagnostic::error("E0302", "`standardize` wants a vector or a matrix, found a scalar")
                    .at(x_span, "a scalar")
                    .help("a scalar has no deviation"),
            );
        }
        if x.plates.len() > 1 {
            return self.too_many_axes(&x.plates.clone(), &x.shape.clone(), span);
        }
        let expr = self.push(ExprKind::Standardize(x.expr), Set::REAL, whole, span)?;
        Some(Val { expr, set: Set::REAL, dim: None, levels: None, ..x.clone() })
    }

    fn onehot(&mut self, x: &Val, x_span: Span, span: Span) -> Option<Val> {
        let whole = self.exprs.get(x.expr).ty.shape.clone();
        let levels = match (x.levels.filter(|_| !x.set.is_number()), whole.len()) {
            (Some(node), 1) => Dim::atom(Atom::Levels(node)),
            _ => {
                let found = self.show_type(x.set, &x.shape);
                return self.fail(
                    Diagnostic::error("E0408", format!("`onehot` wants a vector of levels, found {found}"))
                        .at(x_span, found)
                        .help("declare the data behind it `category[N]`"),
                );
            }
        };
        let shape = vec![whole.first()?.clone(), levels];
        let expr = self.push(ExprKind::OneHot(x.expr), Set::BOOL, shape, span)?;
        self.arrange(expr, &[x.plates.first().copied(), None], Set::BOOL, span)
    }
}

/// `sqdist(x, c, scale = …)`
fn signature(native: &NativeFn) -> String {
    let required = native.params.len() - native.optional;
    let params: Vec<String> = native
        .params
        .iter()
        .enumerate()
        .map(|(i, p)| if i < required { (*p).to_owned() } else { format!("{p} = …") })
        .collect();
    format!("{}({})", native.name, params.join(", "))
}
