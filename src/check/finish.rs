//! The last step of checking: nodes in declaration order, and only the expressions that are used.

use crate::check::dim::{Atom, Dim};
use crate::check::typed::{
    Constraint, Dist, DistArg, ExprId, ExprKind, Exprs, Infer, Model, Node, NodeId, NodeKind, Type,
};
use crate::host::{Function, HostId, Registry};
use crate::source::Span;

/// Renumbers nodes by `order` and drops expressions that nothing uses.
#[allow(clippy::too_many_arguments)] // the parts of one model, taken apart once
pub(crate) fn finish(
    nodes: Vec<Node>,
    order: Vec<Vec<u32>>,
    exprs: &Exprs,
    constraints: Vec<Constraint>,
    name: String,
    doc: Option<String>,
    span: Span,
    infer: Infer,
    hosts: &Registry,
) -> Model {
    let mut sorted: Vec<usize> = (0..nodes.len()).collect();
    sorted.sort_by(|a, b| order[*a].cmp(&order[*b]).then(a.cmp(b)));
    let mut new_id = vec![NodeId(0); nodes.len()];
    for (new, old) in sorted.iter().enumerate() {
        new_id[*old] = NodeId(new as u32);
    }
    let node = |id: NodeId| new_id[id.index()];
    let dim = |d: &Dim| {
        d.map(&mut |atom| match atom {
            Atom::Levels(id) => Dim::atom(Atom::Levels(node(*id))),
            other => Dim::atom(other.clone()),
        })
    };

    // mark what is used; operands come before what uses them
    let mut used = vec![false; exprs.len()];
    for n in &nodes {
        each_expr(&n.kind, &mut |e| used[e.index()] = true);
    }
    for i in (0..exprs.len()).rev() {
        if used[i] {
            for e in exprs.get(ExprId(i as u32)).kind.operands() {
                used[e.index()] = true;
            }
        }
    }
    let mut moved = vec![ExprId(0); exprs.len()];
    let mut kept = Exprs::default();
    let mut functions: Vec<Function> = Vec::new();
    for i in 0..exprs.len() {
        if used[i] {
            let old = exprs.get(ExprId(i as u32));
            let mut kind = old.kind.map(&mut |e| moved[e.index()], &node, &dim);
            if let ExprKind::Host(id, _) = &mut kind {
                *id = renumbered(*id, hosts, &mut functions);
            }
            let ty = Type { elem: old.ty.elem, shape: old.ty.shape.iter().map(dim).collect() };
            moved[i] = kept.add(kind, ty, old.span);
        }
    }
    let expr = |e: ExprId| moved[e.index()];
    let dist = |d: Dist| Dist {
        args: d.args.into_iter().map(|a| DistArg { value: expr(a.value), ..a }).collect(),
        weight: d.weight.map(expr),
        ..d
    };

    let mut nodes: Vec<Node> = nodes
        .into_iter()
        .map(|n| Node {
            id: node(n.id),
            ty: Type { elem: n.ty.elem, shape: n.ty.shape.iter().map(dim).collect() },
            kind: match n.kind {
                NodeKind::Data(mut d) => {
                    d.likelihood = d.likelihood.map(&dist);
                    NodeKind::Data(d)
                }
                NodeKind::Let { value, constant } => NodeKind::Let { value: expr(value), constant },
                NodeKind::Param { start } => NodeKind::Param { start: start.map(expr) },
                NodeKind::Latent(d) => NodeKind::Latent(dist(d)),
            },
            ..n
        })
        .collect();
    nodes.sort_by_key(|n| n.id);
    let constraints = constraints
        .into_iter()
        .map(|c| Constraint { left: dim(&c.left), right: dim(&c.right), ..c })
        .collect();
    Model { name, doc, span, nodes, exprs: kept, constraints, infer, hosts: Registry::of(functions) }
}

/// The place of a registered function among those that are used: it does not depend on what else is registered.
fn renumbered(id: HostId, hosts: &Registry, used: &mut Vec<Function>) -> HostId {
    let Some(function) = hosts.get(id) else { return id };
    let at = used.iter().position(|f| f.name == function.name).unwrap_or_else(|| {
        used.push(function.clone());
        used.len() - 1
    });
    HostId(at as u32)
}

/// Calls `f` with every expression a node holds.
pub(crate) fn each_expr(kind: &NodeKind, f: &mut dyn FnMut(ExprId)) {
    let mut dist = |d: &Dist| {
        d.args.iter().for_each(|a| f(a.value));
        d.weight.iter().for_each(|w| f(*w));
    };
    match kind {
        NodeKind::Data(data) => data.likelihood.iter().for_each(dist),
        NodeKind::Latent(d) => dist(d),
        NodeKind::Let { value, .. } => f(*value),
        NodeKind::Param { start } => start.iter().for_each(|e| f(*e)),
    }
}
