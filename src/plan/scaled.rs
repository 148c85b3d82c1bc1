//! Flat effects that parameters scale. An objective is defined up to the units of flat effects: it compares values of a parameter
//! only where some coefficient of each flat effect is free of parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::flat::is_flat;
use crate::check::typed::{ExprId, ExprKind, Model, NodeId, NodeKind, Op};
use crate::diag::{Diagnostic, Diagnostics};
use crate::graph::linear::names;
use crate::graph::walk::{Lets, fold, params};

/// Parameters in all coefficients that a latent node has in an expression, and the product where they are; no place if one
/// coefficient has none.
#[derive(Clone, Default)]
struct Coefficient {
    scaled: Option<(ExprId, BTreeSet<NodeId>)>,
}

/// An error for every flat effect without a coefficient that is free of parameters.
pub fn flat_effects(model: &Model) -> Diagnostics {
    let mut uses: Vec<(NodeId, BTreeMap<NodeId, Coefficient>)> = Vec::new();
    for (node, dist) in model.stochastic() {
        uses.extend(dist.args.iter().map(|arg| (node.id, coefficients(model, arg.value))));
    }
    // free of parameters down to data
    let mut sound: BTreeSet<NodeId> =
        model.stochastic().map(|(n, _)| n).filter(|n| !is_latent(model, n.id)).map(|n| n.id).collect();
    loop {
        let free = uses.iter().filter(|(child, _)| sound.contains(child)).flat_map(|(_, of)| of);
        let more: Vec<NodeId> = free.filter(|(_, c)| c.scaled.is_none()).map(|(id, _)| *id).collect();
        let before = sound.len();
        sound.extend(more);
        if sound.len() == before {
            break;
        }
    }
    let mut found = Vec::new();
    for (node, dist) in model.stochastic() {
        if !is_flat(dist) || sound.contains(&node.id) {
            continue;
        }
        // itself, and what has it in its mean
        let mut carriers = BTreeSet::from([node.id]);
        for (child, of) in &uses {
            if of.keys().any(|id| carriers.contains(id)) {
                carriers.insert(*child);
            }
        }
        let of_carriers = uses.iter().flat_map(|(_, of)| of).filter(|(id, _)| carriers.contains(id));
        if let Some((place, params)) = of_carriers.filter_map(|(_, c)| c.scaled.as_ref()).next() {
            let list = names(model, params);
            let prior = format!(
                "give `{}` a prior, as `~ Normal(0, precision = 1e-2)`, in place of `Flat()`",
                node.name
            );
            found.push(
                Diagnostic::error(
                    "E0614",
                    format!("the coefficient of the flat `{}` depends on the learned {list}", node.name),
                )
                .at(model.expr(*place).span, "a scale without a size")
                .note("the objective is defined up to the units of flat effects: it grows without end as they change")
                .help(match node.ty.shape.is_empty() {
                    true => format!("{prior}, or learn it too: `param {}: real`", node.name),
                    false => prior,
                }),
            );
        }
    }
    found
}

fn is_latent(model: &Model, id: NodeId) -> bool {
    matches!(model.node(id).kind, NodeKind::Latent(_))
}

/// The latent nodes in an expression.
fn coefficients(model: &Model, root: ExprId) -> BTreeMap<NodeId, Coefficient> {
    let combine = &mut |e: ExprId, values: &[Option<&BTreeMap<NodeId, Coefficient>>]| {
        let expr = &model.expr(e).kind;
        let multiplies = match expr {
            ExprKind::Elementwise(op, ..) => !matches!(op, Op::Add | Op::Sub),
            ExprKind::MatMul(..) | ExprKind::RowDot(..) | ExprKind::Call(..) | ExprKind::Host(..) => true,
            _ => false,
        };
        let mut all: BTreeMap<NodeId, Coefficient> = BTreeMap::new();
        if let ExprKind::Node(id) = expr
            && is_latent(model, *id)
        {
            all.insert(*id, Coefficient::default());
        }
        let operands = if multiplies { expr.operands() } else { Vec::new() };
        for (i, value) in values.iter().enumerate() {
            let others = operands.iter().enumerate().filter(|(j, _)| *j != i);
            let factors: BTreeSet<NodeId> = others.flat_map(|(_, other)| params(model, *other)).collect();
            for (id, coefficient) in value.iter().flat_map(|value| value.iter()) {
                let scaled = match &coefficient.scaled {
                    None if factors.is_empty() => None,
                    None => Some((e, factors.clone())),
                    scaled => scaled.clone(),
                };
                let here = all.entry(*id).or_insert_with(|| Coefficient { scaled: scaled.clone() });
                if scaled.is_none() {
                    here.scaled = None;
                }
            }
        }
        all
    };
    fold(model, root, Lets::Follow, combine).unwrap_or_default()
}
