//! Walks over expressions without recursion: a chain of definitions may be longer than the stack.

use std::collections::BTreeSet;

use super::eval::Inputs;
use crate::check::typed::{ExprId, ExprKind, Model, NodeId, NodeKind};

/// What the definition of a node is made of: the value of a `let`, the start of a `param`,
/// the arguments and case weights of a distribution.
pub(crate) fn definition(model: &Model, node: NodeId) -> Vec<ExprId> {
    let Some(node) = model.nodes.get(node.index()) else { return Vec::new() };
    let mut all = match &node.kind {
        NodeKind::Let { value, .. } => vec![*value],
        NodeKind::Param { start } => start.iter().copied().collect(),
        NodeKind::Data(_) | NodeKind::Latent(_) => Vec::new(),
    };
    if let Some(dist) = node.dist() {
        all.extend(dist.args.iter().map(|a| a.value));
        all.extend(dist.weight);
    }
    all
}

/// Every expression that is reachable, each once, after everything that `next` names for it.
/// In a circle, which `next` should not make, some order.
pub(crate) fn post_order(
    roots: impl IntoIterator<Item = ExprId>,
    mut next: impl FnMut(ExprId) -> Vec<ExprId>,
) -> Vec<ExprId> {
    enum Visit {
        Enter(ExprId),
        Leave(ExprId),
    }
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    let mut stack: Vec<Visit> = roots.into_iter().map(Visit::Enter).collect();
    stack.reverse();
    while let Some(visit) = stack.pop() {
        match visit {
            Visit::Leave(e) => order.push(e),
            Visit::Enter(e) => {
                if seen.insert(e) {
                    stack.push(Visit::Leave(e));
                    stack.extend(next(e).into_iter().rev().map(Visit::Enter));
                }
            }
        }
    }
    order
}

/// Operands, and for a `let` its value.
pub(crate) fn through_lets(model: &Model, e: ExprId) -> Vec<ExprId> {
    match &model.expr(e).kind {
        ExprKind::Node(node) => match model.nodes.get(node.index()).map(|n| &n.kind) {
            Some(NodeKind::Let { value, .. }) => vec![*value],
            _ => Vec::new(),
        },
        kind => kind.operands(),
    }
}

/// Every expression of the model that some node needs, operands first.
pub(crate) fn reachable(model: &Model) -> Vec<ExprId> {
    let roots: Vec<ExprId> = model.nodes.iter().flat_map(|n| definition(model, n.id)).collect();
    post_order(roots, |e| through_lets(model, e))
}

/// Which expressions depend on a latent node that has no value.
#[derive(Default)]
pub(crate) struct Random {
    random: BTreeSet<ExprId>,
    seen: BTreeSet<ExprId>,
}

impl Random {
    /// Of everything under `e`.
    pub(crate) fn of(inputs: &Inputs<'_>, e: ExprId) -> Random {
        let mut random = Random::default();
        random.extend(inputs, e);
        random
    }

    /// Also of everything under `e`; whether `e` is.
    pub(crate) fn extend(&mut self, inputs: &Inputs<'_>, e: ExprId) -> bool {
        let model = inputs.model;
        let node = |e: ExprId| match &model.expr(e).kind {
            ExprKind::Node(node) => Some(*node),
            _ => None,
        };
        let given = |e: ExprId| node(e).is_some_and(|n| inputs.values.contains_key(&n));
        let next = |e: ExprId| if given(e) { Vec::new() } else { through_lets(model, e) };
        let seen = &self.seen;
        let order = post_order([e], |e| if seen.contains(&e) { Vec::new() } else { next(e) });
        for e in order {
            if self.seen.insert(e) {
                let latent = !given(e)
                    && node(e)
                        .and_then(|n| model.nodes.get(n.index()))
                        .is_some_and(|n| matches!(n.kind, NodeKind::Latent(_)));
                if latent || next(e).iter().any(|a| self.random.contains(a)) {
                    self.random.insert(e);
                }
            }
        }
        self.is(e)
    }

    /// Whether `e` does.
    pub(crate) fn is(&self, e: ExprId) -> bool {
        self.random.contains(&e)
    }
}
