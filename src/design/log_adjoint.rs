//! Scales backwards: from adjoints of the logarithms of the known parts of a product of powers to
//! adjoints of those parts.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::DMatrix;

use super::adjoint::{Seed, dependent};
use super::error::{EvalError, Why};
use super::eval::Evaluator;
use super::picks::{picked, picks};
use super::value::Rank;
use super::walk::{self, Random};
use super::want::Want;
use crate::check::typed::{ExprId, ExprKind, Native, NodeId, NodeKind, Op};

/// The adjoints of the known factors of a scale, given d/d ln value of each of its entries. Factors that
/// do not depend on `leaves` are left out.
///
/// # Errors
/// As [`super::log_linear()`].
pub fn log_seeds(
    eval: &mut Evaluator<'_>,
    e: ExprId,
    adjoint: Vec<f64>,
    leaves: &BTreeSet<NodeId>,
) -> Result<Vec<Seed>, EvalError> {
    let inputs = eval.inputs();
    let model = inputs.model;
    let active = dependent(model, [e], leaves);
    let random = Random::of(&inputs, e);
    let order =
        walk::post_order([e], |e| if random.is(e) { walk::through_lets(model, e) } else { Vec::new() });
    let mut adjoints: BTreeMap<ExprId, Vec<f64>> = BTreeMap::from([(e, adjoint)]);
    let mut seeds = Vec::new();
    for e in order.into_iter().rev().filter(|e| active.contains(e)) {
        let Some(g) = adjoints.remove(&e) else { continue };
        let failed = |why| EvalError { expr: e, why };
        let (rank, rows, cols) = inputs.shape(&model.expr(e).ty).map_err(failed)?;
        // one scale may serve all entries of a node
        let g = if rank == Rank::Scalar { vec![g.iter().sum()] } else { g };
        if g.len() != rows * cols {
            return Err(failed(Why::Shape((g.len(), 1), (rows, cols))));
        }
        if !random.is(e) {
            // d ln v = dv / v
            let value = eval.eval(e, &Want::all())?;
            let bar = g.iter().zip(value.array.iter()).map(|(g, v)| g / v);
            let adjoint = DMatrix::from_iterator(rows, cols, bar);
            seeds.push(Seed { expr: e, want: Want::all(), adjoint });
            continue;
        }
        let times = |by: f64| g.iter().map(|g| by * g).collect::<Vec<f64>>();
        let kind = &model.expr(e).kind;
        let parts: Vec<(ExprId, Vec<f64>)> = match kind {
            ExprKind::Node(node) => match model.node(*node).kind {
                NodeKind::Let { value, .. } => vec![(value, g)],
                _ => Vec::new(),
            },
            ExprKind::Elementwise(Op::Mul, a, b) | ExprKind::MatMul(a, b) => vec![(*a, g.clone()), (*b, g)],
            ExprKind::Elementwise(Op::Div, a, b) => vec![(*b, times(-1.0)), (*a, g)],
            ExprKind::Elementwise(Op::Pow, a, power) => {
                let power = eval.eval(*power, &Want::all())?;
                let p = power.array.as_slice();
                let at = |i: usize| p.get(if p.len() == 1 { 0 } else { i }).copied().unwrap_or(0.0);
                vec![(*a, g.iter().enumerate().map(|(i, g)| at(i) * g).collect())]
            }
            ExprKind::Call(Native::Sqrt, args) => args.iter().map(|a| (*a, times(0.5))).collect(),
            ExprKind::Call(Native::Abs, args) => args.iter().map(|a| (*a, times(1.0))).collect(),
            ExprKind::Vector(parts) | ExprKind::Join(parts) => {
                let height = if matches!(kind, ExprKind::Vector(_)) { 1 } else { rows };
                let mut at = 0;
                let mut out = Vec::with_capacity(parts.len());
                for part in parts {
                    let shape = inputs.shape(&model.expr(*part).ty).map_err(failed)?;
                    let len = if shape.0 == Rank::Scalar { height } else { shape.1 * shape.2 };
                    out.push((*part, g.get(at..at + len).unwrap_or(&[]).to_vec()));
                    at += len;
                }
                out
            }
            kind => match picked(kind) {
                Some(base) => {
                    let (_, height, width) = inputs.shape(&model.expr(base).ty).map_err(failed)?;
                    let mut bar = vec![0.0; height * width];
                    let at = picks(eval, kind, (height, width), (rows, cols))?;
                    for (at, g) in at.into_iter().zip(&g) {
                        if let Some(bar) = bar.get_mut(at) {
                            *bar += g;
                        }
                    }
                    vec![(base, bar)]
                }
                None => return Err(failed(Why::NotLogLinear("this operation".to_owned()))),
            },
        };
        for (operand, part) in parts {
            match adjoints.get_mut(&operand) {
                Some(sum) if sum.len() == part.len() => {
                    sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
                }
                // a scalar that met entries of several sizes
                Some(sum) => sum.extend(part),
                None => {
                    adjoints.insert(operand, part);
                }
            }
        }
    }
    Ok(seeds)
}
