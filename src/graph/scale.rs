//! Whether an expression is a product of powers of unknowns: log-linear, as scales must be.

use std::collections::BTreeMap;

use super::walk::{Lets, constant, fold};
use crate::check::typed::{ExprId, ExprKind, Model, Native, NodeId, NodeKind, Op};

/// Where log-linearity ends, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotLogLinear {
    /// The innermost expression that is not a product of powers.
    pub expr: ExprId,
    /// A clause: ``adds to the unknown `tau` ``.
    pub why: String,
}

/// The unknowns in a scale with their powers, ascending by node: every entry of `e` is
/// known · Π θ^power, where θ is one entry of the node. Empty if `e` is known.
///
/// Products, quotients, constant powers, `sqrt`, indexing by known indices, repetition,
/// transposition and lists of such. In a list (`[a, b]`) the entries use some of the nodes each;
/// a node that cancels out somewhere keeps its place with the power left.
///
/// # Errors
/// The innermost expression that is not log-linear.
pub fn scale_form(model: &Model, e: ExprId) -> Result<Vec<(NodeId, f64)>, NotLogLinear> {
    let form = fold(model, e, Lets::Follow, &mut |id, operands: &[Option<&Form>]| step(model, id, operands));
    match form {
        Some(Form::Powers(powers)) => Ok(powers.into_iter().collect()),
        Some(Form::Not(not)) => Err(not),
        None => Err(NotLogLinear { expr: e, why: "depends on its own value".to_owned() }),
    }
}

/// A product of these powers; of none: known.
#[derive(Clone, Debug)]
enum Form {
    Powers(BTreeMap<NodeId, f64>),
    Not(NotLogLinear),
}

fn step(model: &Model, id: ExprId, operands: &[Option<&Form>]) -> Form {
    let not = |why: String| Form::Not(NotLogLinear { expr: id, why });
    let mut parts: Vec<&BTreeMap<NodeId, f64>> = Vec::new();
    for operand in operands {
        match operand {
            Some(Form::Powers(powers)) => parts.push(powers),
            Some(Form::Not(inner)) => return Form::Not(inner.clone()),
            None => return not("depends on its own value".to_owned()),
        }
    }
    let kind = &model.expr(id).kind;
    if let ExprKind::Node(node) = kind
        && matches!(model.node(*node).kind, NodeKind::Latent(_))
    {
        return Form::Powers(BTreeMap::from([(*node, 1.0)]));
    }
    if parts.iter().all(|p| p.is_empty()) {
        return Form::Powers(BTreeMap::new());
    }
    let unknown = || {
        let nodes = parts.iter().flat_map(|p| p.keys().copied()).collect();
        super::linear::names(model, &nodes)
    };
    match (kind, parts.as_slice()) {
        (ExprKind::Elementwise(Op::Mul, ..), [a, b]) => Form::Powers(product(a, b, 1.0)),
        (ExprKind::Elementwise(Op::Div, ..), [a, b]) => Form::Powers(product(a, b, -1.0)),
        (ExprKind::Elementwise(Op::Pow, _, exponent), [a, b]) => match constant(model, *exponent) {
            Some(c) if b.is_empty() => Form::Powers(product(&BTreeMap::new(), a, c)),
            _ => not(format!("raises {} to a power that is not a constant", unknown())),
        },
        (ExprKind::Elementwise(Op::Add | Op::Sub, ..), _) => {
            not(format!("is a sum with {} in it, not a product", unknown()))
        }
        (ExprKind::Call(Native::Sqrt, _), [a]) => Form::Powers(product(&BTreeMap::new(), a, 0.5)),
        (ExprKind::Call(Native::Abs, _), [a]) => Form::Powers((*a).clone()),
        (
            ExprKind::Gather { .. } | ExprKind::GatherColumns { .. } | ExprKind::GatherPairs { .. },
            [base, indices @ ..],
        ) if indices.iter().all(|i| i.is_empty()) => Form::Powers((*base).clone()),
        (
            ExprKind::Node(_)
            | ExprKind::Row(..)
            | ExprKind::Column(..)
            | ExprKind::Transpose(_)
            | ExprKind::RepeatColumns(..)
            | ExprKind::RepeatRows(..)
            | ExprKind::AsColumn(_),
            [a],
        ) => Form::Powers((*a).clone()),
        (ExprKind::Vector(_) | ExprKind::Join(_), _) => {
            let mut union = BTreeMap::new();
            for part in &parts {
                for (node, power) in *part {
                    union.entry(*node).or_insert(*power);
                }
            }
            Form::Powers(union)
        }
        (ExprKind::Call(native, _), _) => not(format!("takes `{}` of {}", native.name(), unknown())),
        (ExprKind::Host(id, _), _) => {
            let name = model.hosts.get(*id).map_or("a function", |f| f.name.as_str());
            not(format!("takes `{name}` of {}", unknown()))
        }
        (ExprKind::MatMul(..) | ExprKind::RowDot(..), _) => {
            not(format!("is a sum of products with {} in it", unknown()))
        }
        (ExprKind::Neg(_), _) => not(format!("is the negative of {}", unknown())),
        _ => not(format!("is no product of powers of {}", unknown())),
    }
}

/// a · b^power
fn product(a: &BTreeMap<NodeId, f64>, b: &BTreeMap<NodeId, f64>, power: f64) -> BTreeMap<NodeId, f64> {
    let mut all = a.clone();
    for (node, p) in b {
        *all.entry(*node).or_insert(0.0) += power * p;
    }
    all
}
