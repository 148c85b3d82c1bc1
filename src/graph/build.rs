//! From the typed model to the graph.

use petgraph::graph::{DiGraph, NodeIndex};

use super::cycle::cycles;
use super::dag::{Dag, Edge, Fixed, Node, NodeId, Role};
use super::plates::assign_plates;
use super::walk::{constant, mentions, written};
use crate::check::typed::{self, ExprId, ExprKind, Model, NodeKind, Type};
use crate::diag::{Diagnostics, Staged, Warned};

/// The graph of a model.
///
/// # Errors
/// E0550 for every cycle (the checker finds those a program can make; this one is the last guard).
pub fn build(model: &Model) -> Staged<Dag> {
    let edges = edges(model);
    let mut graph = DiGraph::with_capacity(model.nodes.len(), edges.len());
    for node in &model.nodes {
        graph.add_node(node.id);
    }
    for (i, edge) in edges.iter().enumerate() {
        graph.add_edge(NodeIndex::new(edge.from.index()), NodeIndex::new(edge.to.index()), i);
    }
    let errors: Diagnostics = cycles(model, &graph);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut used = vec![false; model.nodes.len()];
    for edge in &edges {
        used[edge.from.index()] = true;
    }
    let mut nodes: Vec<Node> =
        model.nodes.iter().map(|node| describe(model, node.id, used[node.id.index()])).collect();
    let plates = assign_plates(model, &mut nodes);
    let fixed = fixed(model);
    Ok(Warned::new(Dag { model: model.name.clone(), nodes, edges, plates, fixed, graph }, Vec::new()))
}

/// `real[N, D]`
pub(super) fn type_text(model: &Model, ty: &Type) -> String {
    let name = |id: NodeId| model.node(id).name.clone();
    if ty.shape.is_empty() {
        return ty.elem.name().to_owned();
    }
    let dims: Vec<String> = ty.shape.iter().map(|d| d.display(&name).to_string()).collect();
    format!("{}[{}]", ty.elem.name(), dims.join(", "))
}

/// A number as a person writes it: `0.5`, `1e-6`.
pub(crate) fn number_text(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e6) { format!("{x:e}") } else { format!("{x}") }
}

fn edges(model: &Model) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for node in &model.nodes {
        let mut found: Vec<Edge> = Vec::new();
        let mut add = |value, via: &'static str| {
            for from in mentions(model, value) {
                match found.iter_mut().find(|e| e.from == from) {
                    Some(edge) => edge.via.push(via),
                    None => found.push(Edge { from, to: node.id, via: vec![via] }),
                }
            }
        };
        if let NodeKind::Let { value, .. } = &node.kind {
            add(*value, "value");
        }
        if let Some(dist) = node.dist() {
            for arg in &dist.args {
                add(arg.value, arg.name);
            }
            if let Some(weight) = dist.weight {
                add(weight, "weight");
            }
        }
        found.sort_by_key(|e| e.from);
        edges.extend(found);
    }
    edges
}

fn describe(model: &Model, id: NodeId, has_children: bool) -> Node {
    let node = model.node(id);
    let (role, trivial) = match &node.kind {
        NodeKind::Data(data) if data.likelihood.is_some() => (Role::Observed, false),
        NodeKind::Data(_) => (Role::Data, false),
        NodeKind::Let { constant: true, .. } => (Role::Constant, !has_children),
        NodeKind::Let { value, .. } => {
            let alias = matches!(model.expr(*value).kind, ExprKind::Node(_));
            (Role::Derived, alias && has_children)
        }
        NodeKind::Param { .. } => (Role::Param, false),
        NodeKind::Latent(dist) if dist.family.precision_prior.is_some() => (Role::Hyper, false),
        NodeKind::Latent(_) => (Role::Latent, false),
    };
    Node {
        id,
        name: node.name.clone(),
        role,
        ty: type_text(model, &node.ty),
        family: node.dist().map(|d| d.family.name),
        definition: definition(model, node),
        deterministic: matches!(node.kind, NodeKind::Let { .. }),
        trivial,
        plates: Vec::new(),
        span: node.span,
    }
}

fn definition(model: &Model, node: &typed::Node) -> String {
    let text = |e: ExprId| {
        written(model, e).unwrap_or_else(|| {
            let names: Vec<&str> =
                mentions(model, e).iter().map(|id| model.node(*id).name.as_str()).collect();
            if names.is_empty() { "…".to_owned() } else { format!("… of {}", names.join(", ")) }
        })
    };
    match (&node.kind, node.dist()) {
        (NodeKind::Let { value, .. }, _) => text(*value),
        (_, Some(dist)) => {
            let args: Vec<String> =
                dist.args.iter().map(|arg| format!("{} = {}", arg.name, text(arg.value))).collect();
            let weight = dist.weight.map(|w| format!(" weight {}", text(w))).unwrap_or_default();
            format!("{}({}){weight}", dist.family.name, args.join(", "))
        }
        _ => String::new(),
    }
}

fn fixed(model: &Model) -> Vec<Fixed> {
    let mut all = Vec::new();
    for (node, dist) in model.stochastic() {
        let values: Vec<(&'static str, Option<f64>)> = dist
            .args
            .iter()
            .filter(|arg| mentions(model, arg.value).is_empty())
            .map(|arg| (arg.name, constant(model, arg.value)))
            .chain(
                dist.weight
                    .filter(|w| mentions(model, *w).is_empty())
                    .map(|w| ("weight", constant(model, w))),
            )
            .collect();
        let improper = dist.family.precision_prior.is_some() && values.iter().all(|(_, v)| *v == Some(0.0));
        let mean = dist.family.gaussian.and_then(|g| g.mean);
        for (arg, value) in values {
            let zero_mean = Some(arg) == mean && value == Some(0.0);
            let text = value.map_or_else(|| "…".to_owned(), number_text);
            all.push(Fixed { node: node.id, arg, text, shown: !improper && !zero_mean });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::typed::Op;
    use crate::graph::sample::Typed;

    #[test]
    fn a_cycle_is_named_whole() {
        // a = b + 1, b = c, c = a, and d = a on the side
        let mut t = Typed::new();
        let one = t.number(1.0);
        let [a, b, c, _] = ["a", "b", "c", "d"].map(|name| t.node_let(name, one));
        let sum = t.add(ExprKind::Elementwise(Op::Add, b, one));
        for (i, value) in [sum, c, a, a].into_iter().enumerate() {
            t.model.nodes[i].kind = NodeKind::Let { value, constant: false };
        }
        let errors = build(&t.model).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].code, "E0550");
        assert_eq!(errors[0].message, "`a` depends on itself: a uses b uses c uses a");
        assert_eq!(errors[0].secondary.len(), 2);
        // queries over expressions end as well
        assert!(crate::graph::linear::affine_in(&t.model, sum).is_err());
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let mut t = Typed::new();
        let mut value = t.number(1.0);
        for i in 0..100_000 {
            value = t.node_let(&format!("v{i}"), value);
        }
        let dag = build(&t.model).unwrap().value;
        assert_eq!(dag.topological().len(), 100_000);
    }
}
