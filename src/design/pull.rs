//! One step backwards: from the adjoint of a value to those of the operands it was computed from.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::adjoint::scatter;
use super::error::Why;
use super::eval::{Evaluator, Key};
use super::natives::{Monomial, Rule, rule};
use super::value::{Rank, Value};
use super::want::{Axis, Want};
use super::{host, ops};
use crate::check::typed::{ExprKind, Native, Op};

/// The adjoint of each argument (as the tape evaluated it), where one is wanted.
type Parts = Vec<Option<DMatrix<f64>>>;

/// From the adjoint `g` of a part of an expression to those of its arguments.
pub(super) fn pull(
    eval: &Evaluator<'_>,
    (e, want): &Key,
    args: &[Arc<Value>],
    value: &Value,
    g: &DMatrix<f64>,
    wanted: &[bool],
) -> Result<Parts, Why> {
    let kind = &eval.inputs().model.expr(*e).kind;
    let arg = |i: usize| args.get(i).map(|a| &**a).ok_or(Why::Circle);
    let is_wanted = |i: usize| wanted.get(i) == Some(&true);
    let part = |i: usize, make: &dyn Fn() -> DMatrix<f64>| is_wanted(i).then(make);
    Ok(match kind {
        ExprKind::Number(_) | ExprKind::Dim(_) | ExprKind::Range(_) | ExprKind::OneHot(_) => Vec::new(),
        // a `let`; the value of `train` is that of its operand; a column
        ExprKind::Node(_) | ExprKind::Train(_) | ExprKind::Column(..) => vec![Some(g.clone())],
        ExprKind::Neg(_) => vec![Some(-g)],
        ExprKind::Elementwise(op, ..) => elementwise(*op, arg(0)?, arg(1)?, value, g, wanted),
        ExprKind::MatMul(..) => {
            let (a, b) = (arg(0)?, arg(1)?);
            match (a.rank, b.rank) {
                (Rank::Scalar, _) | (_, Rank::Scalar) => elementwise(Op::Mul, a, b, value, g, wanted),
                // out = Bᵀ a
                (Rank::Vector, Rank::Matrix) => {
                    vec![part(0, &|| product(&b.array, g)), part(1, &|| product(&a.array, &g.transpose()))]
                }
                // out = a · b
                (Rank::Vector, Rank::Vector) => {
                    let g = g.iter().sum::<f64>();
                    vec![part(0, &|| &b.array * g), part(1, &|| &a.array * g)]
                }
                // out = A B
                _ => vec![
                    part(0, &|| product(g, &b.array.transpose())),
                    part(1, &|| product(&a.array.transpose(), g)),
                ],
            }
        }
        ExprKind::RowDot(..) => {
            let rows = |other: &Value| {
                let mut out = other.array.clone();
                for (mut row, g) in out.row_iter_mut().zip(g.iter()) {
                    row *= *g;
                }
                out
            };
            vec![part(0, &|| args.get(1).map_or_else(|| g.clone(), |b| rows(b))), part(1, &|| rows(&args[0]))]
        }
        ExprKind::Call(native, _) => call(*native, args, value, g, want, wanted)?,
        ExprKind::Host(id, _) => host::pull(eval.function(*id)?, args, g, &want.cols, wanted)?,
        ExprKind::Join(_) => {
            let mut at = 0;
            let mut parts = Vec::with_capacity(args.len());
            for a in args {
                let columns = g.columns_range(at..at + a.cols()).into_owned();
                at += a.cols();
                parts.push(Some(if a.rank == Rank::Scalar { one(columns.sum()) } else { columns }));
            }
            parts
        }
        ExprKind::Vector(_) => g.iter().map(|x| Some(one(*x))).collect(),
        ExprKind::Gather { at, .. } => {
            let base = arg(0)?;
            let rows = known(eval, *at, arg(1)?, base.rows())?;
            vec![Some(into(g, Want::rows(rows), base)?)]
        }
        ExprKind::GatherColumns { at, .. } => {
            let base = arg(0)?;
            let cols = known(eval, *at, arg(1)?, base.cols())?;
            vec![Some(into(g, Want::cols(cols), base)?)]
        }
        ExprKind::GatherPairs { rows, cols, .. } => {
            let base = arg(0)?;
            let r = ops::known(ops::indices(arg(1)?, eval.coded(*rows), base.rows())?)?;
            let c = ops::known(ops::indices(arg(2)?, eval.coded(*cols), base.cols())?)?;
            let mut out = ops::zeros(base.rows(), base.cols())?;
            g.iter().zip(r.into_iter().zip(c)).for_each(|(g, at)| out[at] += g);
            vec![Some(out)]
        }
        ExprKind::Row(..) | ExprKind::Transpose(_) => vec![Some(g.transpose())],
        ExprKind::AsColumn(_) | ExprKind::RepeatColumns(..) => vec![Some(column_sum(g))],
        ExprKind::RepeatRows(..) => {
            let sums = g.column_iter().map(|c| c.sum());
            vec![Some(DMatrix::from_iterator(g.ncols(), 1, sums))]
        }
        // the second argument holds the whole columns
        ExprKind::Standardize(_) => vec![None, Some(standardize(eval, (*e, want), arg(1)?, g)?)],
    })
}

/// y = (x − mean x)/sd x column by column: x̄ = (ȳ − mean ȳ − y mean(y ȳ))/sd, over all rows.
fn standardize(
    eval: &Evaluator<'_>,
    (e, want): (crate::check::typed::ExprId, &Want),
    x: &Value,
    g: &DMatrix<f64>,
) -> Result<DMatrix<f64>, Why> {
    let mut y = x.array.clone();
    eval.frozen().standardize(e, &want.cols, &mut y)?;
    let mut bar = ops::zeros(x.rows(), x.cols())?;
    scatter(g, &Want::rows(want.rows.clone()), &mut bar)?;
    let n = x.rows() as f64;
    for ((mut bar, y), x) in bar.column_iter_mut().zip(y.column_iter()).zip(x.array.column_iter()) {
        let sd = super::natives::moments(x.as_slice()).1;
        if sd == 0.0 {
            bar.fill(0.0);
            continue;
        }
        let (mean, along) = (bar.sum() / n, bar.dot(&y) / n);
        bar.iter_mut().zip(y.iter()).for_each(|(b, y)| *b = (*b - mean - y * along) / sd);
    }
    Ok(bar)
}

/// d(a op b)/da and /db, summed over entries for a scalar. At a tie of min or max: half for each.
fn elementwise(op: Op, a: &Value, b: &Value, y: &Value, g: &DMatrix<f64>, wanted: &[bool]) -> Parts {
    let slope = |a: f64, b: f64, y: f64| -> (f64, f64) {
        match op {
            Op::Add => (1.0, 1.0),
            Op::Sub => (1.0, -1.0),
            Op::Mul => (b, a),
            Op::Div => (1.0 / b, -y / b),
            Op::Pow => (
                if b == 0.0 { 0.0 } else { b * ops::apply(Op::Pow)(a, b - 1.0) },
                if y == 0.0 { 0.0 } else { y * a.ln() },
            ),
            Op::Min | Op::Max if a == b => (0.5, 0.5),
            Op::Min => {
                if a < b {
                    (1.0, 0.0)
                } else {
                    (0.0, 1.0)
                }
            }
            Op::Max => {
                if a > b {
                    (1.0, 0.0)
                } else {
                    (0.0, 1.0)
                }
            }
        }
    };
    let entry = |v: &Value, i: usize| v.array[if v.rank == Rank::Scalar { 0 } else { i }];
    let side = |v: &Value, second: bool| {
        let each = |i: usize| {
            let (of_a, of_b) = slope(entry(a, i), entry(b, i), y.array[i]);
            g[i] * if second { of_b } else { of_a }
        };
        if v.rank == Rank::Scalar && y.rank != Rank::Scalar {
            one((0..g.len()).map(each).sum())
        } else {
            DMatrix::from_iterator(g.nrows(), g.ncols(), (0..g.len()).map(each))
        }
    };
    vec![
        (wanted.first() == Some(&true)).then(|| side(a, false)),
        (wanted.get(1) == Some(&true)).then(|| side(b, true)),
    ]
}

fn call(
    native: Native,
    args: &[Arc<Value>],
    y: &Value,
    g: &DMatrix<f64>,
    want: &Want,
    wanted: &[bool],
) -> Result<Parts, Why> {
    let first = args.first().ok_or(Why::Circle)?;
    Ok(match rule(native) {
        Rule::Map(_, _, slope) => {
            let mut out = g.clone();
            out.iter_mut().zip(first.array.iter().zip(y.array.iter())).for_each(|(g, (x, y))| {
                // an adjoint of 0 stays 0, even where the slope is infinite
                if *g != 0.0 {
                    *g *= slope(*x, *y);
                }
            });
            vec![Some(out)]
        }
        Rule::Reduce(_, slopes) => {
            let g = g.sum();
            let slopes = slopes(first.array.as_slice()).into_iter().map(|s| g * s);
            vec![Some(DMatrix::from_iterator(first.rows(), first.cols(), slopes))]
        }
        Rule::Pairs(_, adjoint) => {
            let c = args.get(1).ok_or(Why::Circle)?;
            let bar = adjoint(&first.array, &c.array, args.get(2).map(|s| s.array.as_slice()), g);
            let mut parts = vec![Some(bar.x), Some(bar.c)];
            parts.extend(args.get(2).map(|s| Some(DMatrix::from_iterator(s.rows(), s.cols(), bar.scale))));
            parts.into_iter().zip(wanted).map(|(p, wanted)| p.filter(|_| *wanted)).collect()
        }
        Rule::Monomials(f) => {
            let degree = args.get(1).map(|p| ops::entry(p)).transpose()?.unwrap_or(0.0);
            let terms = f(first.cols(), degree.clamp(0.0, 1e6) as usize);
            let mut out = ops::zeros(first.rows(), first.cols())?;
            for (g, j) in g.column_iter().zip(ops::positions(&want.cols, terms.len())?) {
                for (k, _) in &terms[j] {
                    for n in 0..first.rows() {
                        out[(n, *k)] += g[n] * monomial_slope(&terms[j], &first.array, n, *k);
                    }
                }
            }
            vec![Some(out)]
        }
    })
}

/// d Π x^p / dx_k = p_k x_k^(p_k − 1) Π x^p over the others.
fn monomial_slope(term: &Monomial, x: &DMatrix<f64>, n: usize, k: usize) -> f64 {
    term.iter()
        .map(|(column, power)| {
            let power = i32::try_from(*power).unwrap_or(i32::MAX);
            let x = x[(n, *column)];
            if *column == k { f64::from(power) * x.powi(power - 1) } else { x.powi(power) }
        })
        .product()
}

fn known(
    eval: &Evaluator<'_>,
    at: crate::check::typed::ExprId,
    index: &Value,
    size: usize,
) -> Result<Axis, Why> {
    Ok(Axis::Only(ops::known(ops::indices(index, eval.coded(at), size)?)?.into()))
}

/// Zeros of the shape of `whole`, with a part added.
fn into(part: &DMatrix<f64>, want: Want, whole: &Value) -> Result<DMatrix<f64>, Why> {
    let mut out = ops::zeros(whole.rows(), whole.cols())?;
    scatter(part, &want, &mut out)?;
    Ok(out)
}

fn column_sum(g: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(g.nrows(), 1);
    g.column_iter().for_each(|c| out += c);
    out
}

fn product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(a.nrows(), b.ncols());
    if a.ncols() > 0 && !out.is_empty() {
        crate::math::product::gemm(out.as_view_mut(), 1.0, a.as_view(), b.as_view(), 0.0);
    }
    out
}

fn one(x: f64) -> DMatrix<f64> {
    DMatrix::from_element(1, 1, x)
}
