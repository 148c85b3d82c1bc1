//! Flat effects that no data can determine: their posterior is as flat as their prior.

use std::collections::BTreeSet;

use crate::check::typed::{Dist, ExprId, ExprKind, Model, Node, NodeId, NodeKind, Op};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dist::ArgShape;
use crate::graph::Dag;
use crate::graph::walk::latents;

/// Flat effects that reach no data, or that only move all scores of a softmax together.
pub fn undetermined(model: &Model, dag: &Dag) -> Diagnostics {
    let flat = || model.stochastic().filter(|(node, dist)| !node.is_observed() && is_flat(dist));
    let mut found = Vec::new();
    // without data the plan says so
    let observed = model.nodes.iter().any(Node::is_observed);
    for (node, _) in flat().filter(|_| observed) {
        if !reaches_data(model, dag, node.id) {
            found.push(
                Diagnostic::error("E0618", format!("no data depend on the flat effect `{}`", node.name))
                    .at(node.span, "nothing determines it")
                    .help("use it, remove it, or give it a prior, such as `Normal(0, precision = 1)`"),
            );
        }
    }
    for (target, dist) in model.stochastic().filter(|(node, _)| node.is_observed()) {
        let Some(predictor) = scores(dist) else { continue };
        let shifts = shifts(model, predictor);
        for (node, _) in flat().filter(|(node, _)| shifts.together.contains(&node.id)) {
            if shifts.apart.contains(&node.id) || elsewhere(model, node.id, target, predictor) {
                continue;
            }
            found.push(
                Diagnostic::error(
                    "E0618",
                    format!("the data `{}` cannot determine the flat effect `{}`", target.name, node.name),
                )
                .at(node.span, "flat")
                .also(dist.span, "one number added to the scores of all levels changes no probability")
                .help("give it a prior, such as `Normal(0, precision = 1e-2)`"),
            );
        }
    }
    found
}

/// Whether a node has this prior.
pub fn is_flat(dist: &Dist) -> bool {
    dist.family.gaussian.is_some_and(|g| g.mean.is_none())
}

/// The scores of a softmax: real numbers, one for each level, of which only differences count.
fn scores(dist: &Dist) -> Option<ExprId> {
    let predictors = dist.family.score.as_ref()?.predictors;
    let per_level =
        dist.family.args.iter().find(|a| a.shape == ArgShape::PerLevel && predictors.contains(&a.name))?;
    dist.arg(per_level.name)
}

fn reaches_data(model: &Model, dag: &Dag, from: NodeId) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut stack = vec![from];
    while let Some(id) = stack.pop() {
        if model.node(id).is_observed() {
            return true;
        }
        stack.extend(dag.children(id).into_iter().filter(|child| seen.insert(*child)));
    }
    false
}

/// The latents of a predictor with a column for each level.
#[derive(Default)]
struct Shifts {
    /// A number added to all their entries, or to all of a row, is added to whole rows of the predictor.
    together: BTreeSet<NodeId>,
    /// Everything else that is in it.
    apart: BTreeSet<NodeId>,
}

fn shifts(model: &Model, predictor: ExprId) -> Shifts {
    let mut found = Shifts::default();
    let levels = model.expr(predictor).ty.shape.last();
    let mut stack = vec![predictor];
    while let Some(e) = stack.pop() {
        let expr = model.expr(e);
        // a scalar is the same for all levels
        let same_for_all = expr.ty.shape.is_empty();
        match &expr.kind {
            ExprKind::Node(id) => match &model.node(*id).kind {
                NodeKind::Let { value, .. } => stack.push(*value),
                NodeKind::Latent(_) if same_for_all || expr.ty.shape.last() == levels => {
                    found.together.insert(*id);
                }
                _ => found.apart.extend(latents(model, e)),
            },
            ExprKind::Elementwise(Op::Add | Op::Sub, a, b) => stack.extend([*a, *b]),
            ExprKind::Neg(a) | ExprKind::RepeatRows(a, _) => stack.push(*a),
            ExprKind::RepeatColumns(a, _) => found.together.extend(latents(model, *a)),
            ExprKind::MatMul(rows, columns) => {
                found.apart.extend(latents(model, *rows));
                stack.push(*columns);
            }
            ExprKind::Gather { base, at } => {
                found.apart.extend(latents(model, *at));
                stack.push(*base);
            }
            _ => found.apart.extend(latents(model, e)),
        }
    }
    found
}

/// Whether anything but the predictor depends on the node.
fn elsewhere(model: &Model, node: NodeId, target: &Node, predictor: ExprId) -> bool {
    model.stochastic().any(|(other, dist)| {
        let args = dist.args.iter().map(|a| a.value).chain(dist.weight);
        args.filter(|e| other.id != target.id || *e != predictor).any(|e| latents(model, e).contains(&node))
    })
}
