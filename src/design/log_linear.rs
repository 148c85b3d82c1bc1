//! Scales as products of powers: ln value = log_const + Σ power · ln theta.

use std::collections::BTreeMap;

use super::error::{EvalError, Why};
use super::eval::Evaluator;
use super::ops;
use super::value::Rank;
use super::walk;
use super::want::Want;
use crate::check::typed::{ExprId, ExprKind, Native, NodeId, NodeKind, Op};

/// A positive expression as a product of powers of hyperparameters, entry by entry.
#[derive(Clone, PartialEq, Debug)]
pub struct LogLinear {
    /// Scalar, vector or matrix.
    pub rank: Rank,
    /// Rows; 1 for a scalar.
    pub rows: usize,
    /// Columns; 1 for a scalar or a vector.
    pub cols: usize,
    /// One for each entry, column-major.
    pub entries: Vec<LogEntry>,
}

/// ln value = log_const + Σ power · ln theta
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LogEntry {
    /// The known part.
    pub log_const: f64,
    /// Node, entry (column-major, from 0) and power; sorted, each once, no power 0.
    pub powers: Vec<(NodeId, usize, f64)>,
}

impl LogLinear {
    /// The entry that belongs to entry `i` of a node: a scalar belongs to all.
    pub fn entry(&self, i: usize) -> Option<&LogEntry> {
        self.entries.get(if self.rank == Rank::Scalar { 0 } else { i })
    }
}

impl LogEntry {
    fn constant(log_const: f64) -> LogEntry {
        LogEntry { log_const, powers: Vec::new() }
    }

    /// self + factor · other
    fn plus(&self, factor: f64, other: &LogEntry) -> LogEntry {
        let mut powers: Vec<(NodeId, usize, f64)> = self.powers.clone();
        powers.extend(other.powers.iter().map(|(n, i, p)| (*n, *i, factor * p)));
        powers.sort_by_key(|(n, i, _)| (*n, *i));
        powers.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        powers.retain(|(_, _, p)| *p != 0.0);
        LogEntry { log_const: self.log_const + factor * other.log_const, powers }
    }

    fn times(&self, factor: f64) -> LogEntry {
        LogEntry::default().plus(factor, self)
    }
}

/// Writes an expression as a product of powers of latent nodes that have no value.
///
/// # Errors
/// It is not one, or its known part is not above 0, or has no value.
pub fn log_linear(eval: &mut Evaluator<'_>, e: ExprId) -> Result<LogLinear, EvalError> {
    let inputs = eval.inputs();
    let model = inputs.model;
    let random = walk::Random::of(&inputs, e);
    let order =
        walk::post_order([e], |e| if random.is(e) { walk::through_lets(model, e) } else { Vec::new() });
    let mut forms: BTreeMap<ExprId, LogLinear> = BTreeMap::new();
    for e in order {
        if !random.is(e) {
            continue;
        }
        let form = step(eval, e, &random, &forms).map_err(|x| x.at(e))?;
        forms.insert(e, form);
    }
    match forms.remove(&e) {
        Some(form) => Ok(form),
        None => known(eval, e),
    }
}

/// The logarithm of an expression that has a value.
fn known(eval: &mut Evaluator<'_>, e: ExprId) -> Result<LogLinear, EvalError> {
    let value = eval.eval(e, &Want::all())?;
    let mut entries = Vec::with_capacity(value.array.len());
    for (i, x) in value.array.iter().enumerate() {
        if !(*x > 0.0 && x.is_finite()) {
            return Err(EvalError { expr: e, why: Why::NotPositive(i, *x) });
        }
        entries.push(LogEntry::constant(x.ln()));
    }
    Ok(LogLinear { rank: value.rank, rows: value.rows(), cols: value.cols(), entries })
}

fn step(
    eval: &mut Evaluator<'_>,
    e: ExprId,
    random: &walk::Random,
    forms: &BTreeMap<ExprId, LogLinear>,
) -> Result<LogLinear, Failed> {
    let inputs = eval.inputs();
    let model = inputs.model;
    let (rank, rows, cols) = inputs.shape(&model.expr(e).ty)?;
    let wanted = rows.checked_mul(cols).and_then(|n| n.checked_mul(64)).unwrap_or(usize::MAX);
    if wanted > eval.memory() {
        return Err(Why::Memory(wanted, eval.memory()).into());
    }
    let not = |what: &str| Failed::from(Why::NotLogLinear(what.to_owned()));
    let of = |eval: &mut Evaluator<'_>, e: ExprId| match forms.get(&e) {
        Some(form) => Ok(form.clone()),
        None => known(eval, e).map_err(Failed::Inner),
    };
    // entry (i, j) of the result is entry `at` of `form`
    let pick = |form: &LogLinear, at: &dyn Fn(usize, usize) -> usize| {
        let mut entries = Vec::with_capacity(rows * cols);
        for j in 0..cols {
            for i in 0..rows {
                let n = form.entries.len();
                entries.push(form.entries.get(at(i, j)).cloned().ok_or(Why::Position(at(i, j), n))?);
            }
        }
        Ok::<_, Failed>(LogLinear { rank, rows, cols, entries })
    };
    match &model.expr(e).kind {
        ExprKind::Node(node) => match model.nodes.get(node.index()).map(|n| &n.kind) {
            Some(NodeKind::Let { value, .. }) => of(eval, *value),
            Some(NodeKind::Latent(dist)) if dist.family.precision_prior.is_some() => {
                let entry = |i| LogEntry { log_const: 0.0, powers: vec![(*node, i, 1.0)] };
                Ok(LogLinear { rank, rows, cols, entries: (0..rows * cols).map(entry).collect() })
            }
            _ => Err(not(&format!("`{}` is not a scale", model.node(*node).name))),
        },
        ExprKind::Elementwise(op @ (Op::Mul | Op::Div), a, b) => {
            let (a, b) = (of(eval, *a)?, of(eval, *b)?);
            let factor = if *op == Op::Mul { 1.0 } else { -1.0 };
            let entry = |i: usize| {
                let missing = || Why::Shape((a.entries.len(), 1), (rows * cols, 1));
                let (x, y) = (a.entry(i).ok_or_else(missing)?, b.entry(i).ok_or_else(missing)?);
                Ok::<_, Failed>(x.plus(factor, y))
            };
            let entries = (0..rows * cols).map(entry).collect::<Result<_, _>>()?;
            Ok(LogLinear { rank, rows, cols, entries })
        }
        ExprKind::Elementwise(Op::Pow, a, power) if !random.is(*power) => {
            let power = eval.finite(*power, &Want::all()).map_err(Failed::Inner)?;
            let a = of(eval, *a)?;
            let entry = |i: usize| {
                let p = power.array.iter().nth(if power.rank == Rank::Scalar { 0 } else { i });
                let shape = Why::Shape(power.array.shape(), (rows, cols));
                match (a.entry(i), p) {
                    (Some(x), Some(p)) => Ok(x.times(*p)),
                    _ => Err(Failed::from(shape)),
                }
            };
            let entries = (0..rows * cols).map(entry).collect::<Result<_, _>>()?;
            Ok(LogLinear { rank, rows, cols, entries })
        }
        ExprKind::Call(Native::Sqrt, args) => match args.as_slice() {
            [a] => {
                let a = of(eval, *a)?;
                let entries = a.entries.iter().map(|x| x.times(0.5)).collect();
                Ok(LogLinear { rank, rows, cols, entries })
            }
            _ => Err(Why::Circle.into()),
        },
        ExprKind::Call(Native::Abs, args) => match args.as_slice() {
            [a] => of(eval, *a),
            _ => Err(Why::Circle.into()),
        },
        // a scalar times anything is written as a product of linear algebra too
        ExprKind::MatMul(a, b) if [a, b].iter().any(|x| model.expr(**x).ty.shape.is_empty()) => {
            let (a, b) = (of(eval, *a)?, of(eval, *b)?);
            let missing = || Why::Shape((a.entries.len(), 1), (rows * cols, 1));
            let entry = |i: usize| {
                Ok::<_, Failed>(a.entry(i).ok_or_else(missing)?.plus(1.0, b.entry(i).ok_or_else(missing)?))
            };
            let entries = (0..rows * cols).map(entry).collect::<Result<_, _>>()?;
            Ok(LogLinear { rank, rows, cols, entries })
        }
        ExprKind::Gather { base, at } if !random.is(*at) => {
            let base = of(eval, *base)?;
            let at = gathered(eval, *at, base.rows)?;
            pick(&base, &|i, j| at.get(i).copied().unwrap_or(0) + base.rows * j)
        }
        ExprKind::GatherColumns { base, at } if !random.is(*at) => {
            let base = of(eval, *base)?;
            let at = gathered(eval, *at, base.cols)?;
            pick(&base, &|i, j| i + base.rows * at.get(j).copied().unwrap_or(0))
        }
        ExprKind::GatherPairs { base, rows: r, cols: c } if !random.is(*r) && !random.is(*c) => {
            let base = of(eval, *base)?;
            let r = gathered(eval, *r, base.rows)?;
            let c = gathered(eval, *c, base.cols)?;
            let at = |v: &[usize], i: usize| v.get(i).copied().unwrap_or(0);
            pick(&base, &|i, _| at(&r, i) + base.rows * at(&c, i))
        }
        ExprKind::Row(a, k) => {
            let a = of(eval, *a)?;
            if a.rank == Rank::Vector { pick(&a, &|_, _| *k) } else { pick(&a, &|i, _| k + a.rows * i) }
        }
        ExprKind::Column(a, k) => {
            let a = of(eval, *a)?;
            pick(&a, &|i, _| i + a.rows * k)
        }
        ExprKind::Transpose(a) => {
            let a = of(eval, *a)?;
            pick(&a, &|i, j| j + a.rows * i)
        }
        ExprKind::RepeatColumns(a, _) => pick(&of(eval, *a)?, &|i, _| i),
        ExprKind::RepeatRows(a, _) => {
            let a = of(eval, *a)?;
            if a.rank == Rank::Scalar { pick(&a, &|_, _| 0) } else { pick(&a, &|_, j| j) }
        }
        ExprKind::AsColumn(a) => pick(&of(eval, *a)?, &|i, _| i),
        ExprKind::Vector(parts) | ExprKind::Join(parts) => {
            let mut entries = Vec::with_capacity(rows * cols);
            let height = if matches!(model.expr(e).kind, ExprKind::Vector(_)) { 1 } else { rows };
            for part in parts {
                let part = of(eval, *part)?;
                if part.rank == Rank::Scalar {
                    let one = part.entries.first().cloned().unwrap_or_default();
                    entries.extend(std::iter::repeat_n(one, height));
                } else {
                    entries.extend(part.entries);
                }
            }
            if entries.len() != rows * cols {
                return Err(Why::Shape((entries.len(), 1), (rows * cols, 1)).into());
            }
            Ok(LogLinear { rank, rows, cols, entries })
        }
        ExprKind::Elementwise(Op::Add | Op::Sub, ..) => Err(not("a sum of scales")),
        ExprKind::Call(native, _) => Err(not(&format!("{native:?} of a scale"))),
        ExprKind::MatMul(..) | ExprKind::RowDot(..) => Err(not("a dot product of scales")),
        _ => Err(not("this operation")),
    }
}

/// The positions of an index, all of which must be known levels.
fn gathered(eval: &mut Evaluator<'_>, at: ExprId, size: usize) -> Result<Vec<usize>, Failed> {
    let coded = ops::is_coded(eval.inputs().model.expr(at).ty.elem);
    let value = eval.eval(at, &Want::all()).map_err(Failed::Inner)?;
    Ok(ops::known(ops::indices(&value, coded, size)?)?)
}

/// An error here, or one that knows its expression already.
enum Failed {
    Here(Why),
    Inner(EvalError),
}

impl Failed {
    fn at(self, expr: ExprId) -> EvalError {
        match self {
            Failed::Here(why) => EvalError { expr, why },
            Failed::Inner(error) => error,
        }
    }
}

impl From<Why> for Failed {
    fn from(why: Why) -> Failed {
        Failed::Here(why)
    }
}
