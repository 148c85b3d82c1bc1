//! Whether an expression is affine in the unknowns it contains.
//!
//! Purely symbolic. What is known (data, constants, and everything computed from them alone, a
//! `param` included: it is a number while weights are inferred) may be combined in any way; what
//! is unknown only by the linear operations of the typed model.

use std::collections::BTreeSet;

pub use super::scale::{NotLogLinear, scale_form};
use super::walk::{Lets, fold};
use crate::check::typed::{ExprId, ExprKind, Model, Native, NodeId, NodeKind, Op};

/// Where linearity ends, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotLinear {
    /// The innermost expression that is not affine.
    pub expr: ExprId,
    /// A clause: ``multiplies two unknowns, `w` and `v` ``.
    pub why: String,
}

/// The latent nodes in which `e` is jointly affine; empty if `e` is known.
///
/// Affine: `a + b`, `a - b`, `-a`, joins, indexing by known indices, repetition, transposition,
/// sums and means of affine parts; products of a known and an affine part; an affine part divided
/// by a known one.
///
/// # Errors
/// The innermost expression that is not affine.
pub fn affine_in(model: &Model, e: ExprId) -> Result<BTreeSet<NodeId>, NotLinear> {
    let form = fold(model, e, Lets::Follow, &mut |id, operands: &[Option<&Form>]| step(model, id, operands));
    match form {
        Some(Form::Affine(nodes)) => Ok(nodes),
        Some(Form::Not(not)) => Err(not),
        None => Err(own_value(e)),
    }
}

/// Names as a list for messages: `` `w` and `v` ``.
pub fn names(model: &Model, nodes: &BTreeSet<NodeId>) -> String {
    let names: Vec<String> = nodes.iter().map(|n| format!("`{}`", model.node(*n).name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// As written: `exp`.
pub(super) fn native_name(native: Native) -> &'static str {
    match native {
        Native::Exp => "exp",
        Native::Log => "log",
        Native::Sqrt => "sqrt",
        Native::Abs => "abs",
        Native::Sin => "sin",
        Native::Cos => "cos",
        Native::Sum => "sum",
        Native::Mean => "mean",
        Native::Sd => "sd",
        Native::Dot => "dot",
        Native::SqDist => "sqdist",
        Native::AbsDist => "absdist",
        Native::LinearSpline => "linear_spline",
        Native::PairProducts => "pair products",
        Native::Powers => "powers",
    }
}

/// Affine in these latents; in none: known.
#[derive(Clone, Debug)]
enum Form {
    Affine(BTreeSet<NodeId>),
    Not(NotLinear),
}

fn step(model: &Model, id: ExprId, operands: &[Option<&Form>]) -> Form {
    let mut parts: Vec<&BTreeSet<NodeId>> = Vec::new();
    for operand in operands {
        match operand {
            Some(Form::Affine(nodes)) => parts.push(nodes),
            Some(Form::Not(not)) => return Form::Not(not.clone()),
            None => return Form::Not(own_value(id)),
        }
    }
    let union = || Form::Affine(parts.iter().flat_map(|p| p.iter().copied()).collect());
    let unknown: BTreeSet<NodeId> = parts.iter().flat_map(|p| p.iter().copied()).collect();
    let not = |why: String| Form::Not(NotLinear { expr: id, why });
    match &model.expr(id).kind {
        ExprKind::Node(node) if matches!(model.node(*node).kind, NodeKind::Latent(_)) => {
            Form::Affine(BTreeSet::from([*node]))
        }
        _ if unknown.is_empty() => Form::Affine(unknown),
        ExprKind::Elementwise(Op::Add | Op::Sub, ..)
        | ExprKind::Neg(_)
        | ExprKind::Node(_)
        | ExprKind::Join(_)
        | ExprKind::Vector(_)
        | ExprKind::Row(..)
        | ExprKind::Column(..)
        | ExprKind::Transpose(_)
        | ExprKind::RepeatColumns(..)
        | ExprKind::RepeatRows(..)
        | ExprKind::AsColumn(_)
        | ExprKind::Call(Native::Sum | Native::Mean, _) => union(),
        ExprKind::Elementwise(Op::Mul, ..) | ExprKind::MatMul(..) | ExprKind::RowDot(..) => {
            if parts.iter().filter(|p| !p.is_empty()).count() <= 1 {
                union()
            } else if unknown.len() == 1 {
                not(format!("multiplies the unknown {} by itself", names(model, &unknown)))
            } else {
                not(format!("multiplies unknowns, {}", names(model, &unknown)))
            }
        }
        ExprKind::Elementwise(Op::Div, ..) => match parts.get(1) {
            Some(below) if below.is_empty() => union(),
            Some(below) => not(format!("divides by the unknown {}", names(model, below))),
            None => union(),
        },
        ExprKind::Elementwise(Op::Pow, ..) => {
            not(format!("takes a power with {} in it", names(model, &unknown)))
        }
        ExprKind::Elementwise(Op::Min | Op::Max, ..) => {
            not(format!("takes the smaller or larger of parts with {}", names(model, &unknown)))
        }
        ExprKind::Gather { .. } | ExprKind::GatherColumns { .. } | ExprKind::GatherPairs { .. } => {
            let indices: BTreeSet<NodeId> = parts.iter().skip(1).flat_map(|p| p.iter().copied()).collect();
            if indices.is_empty() {
                union()
            } else {
                not(format!("uses the unknown {} as an index", names(model, &indices)))
            }
        }
        ExprKind::Call(native, _) => {
            not(format!("takes `{}` of the unknown {}", native_name(*native), names(model, &unknown)))
        }
        ExprKind::Train(_) => not(format!("freezes the unknown {} with `train`", names(model, &unknown))),
        ExprKind::Standardize(_) => not(format!("standardizes the unknown {}", names(model, &unknown))),
        ExprKind::OneHot(_) => not(format!("takes `onehot` of the unknown {}", names(model, &unknown))),
        ExprKind::Number(_) | ExprKind::Dim(_) | ExprKind::Range(_) => union(),
    }
}

fn own_value(expr: ExprId) -> NotLinear {
    NotLinear { expr, why: "depends on its own value".to_owned() }
}
