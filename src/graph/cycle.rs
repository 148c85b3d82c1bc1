//! Cycles, named as the whole cycle.

use std::collections::{BTreeMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::check::typed::{Model, NodeId};
use crate::diag::{Diagnostic, Diagnostics};

/// One error for every knot of nodes that depend on each other, with a shortest cycle in it.
pub fn cycles(model: &Model, graph: &DiGraph<NodeId, usize>) -> Diagnostics {
    // Kosaraju's algorithm: Tarjan's is recursive in petgraph and overflows on long chains.
    let mut knots: Vec<Vec<NodeId>> = kosaraju_scc(graph)
        .into_iter()
        .filter(|knot| knot.len() > 1 || knot.iter().any(|n| graph.contains_edge(*n, *n)))
        .map(|knot| {
            let mut nodes: Vec<NodeId> = knot.iter().filter_map(|i| graph.node_weight(*i).copied()).collect();
            nodes.sort_unstable();
            nodes
        })
        .collect();
    knots.sort_unstable();
    knots
        .iter()
        .filter_map(|knot| Some(report(model, &shortest_cycle(graph, *knot.first()?, knot))))
        .collect()
}

/// The nodes of a shortest cycle through `start`, which comes first; the last depends on the one
/// before it, and `start` on the last.
fn shortest_cycle(graph: &DiGraph<NodeId, usize>, start: NodeId, knot: &[NodeId]) -> Vec<NodeId> {
    let mut before: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        let mut next: Vec<NodeId> = graph
            .neighbors(NodeIndex::new(at.index()))
            .filter_map(|i| graph.node_weight(i).copied())
            .filter(|n| knot.binary_search(n).is_ok())
            .collect();
        next.sort_unstable();
        for node in next {
            if node == start {
                let mut path = vec![at];
                while let Some(earlier) = path.last().and_then(|n| before.get(n)) {
                    path.push(*earlier);
                }
                path.reverse();
                return path;
            }
            before.entry(node).or_insert_with(|| {
                queue.push_back(node);
                at
            });
        }
    }
    vec![start]
}

fn report(model: &Model, cycle: &[NodeId]) -> Diagnostic {
    let name = |id: &NodeId| model.node(*id).name.as_str();
    // edges run from what is used to what uses it; a person reads definitions the other way
    let first = cycle.first().map(name).unwrap_or_default();
    let path: Vec<&str> = std::iter::once(first).chain(cycle.iter().rev().map(name)).collect();
    let message = format!("`{first}` depends on itself: {}", path.join(" uses "));
    let mut found = Diagnostic::error("E0550", message);
    for (i, id) in cycle.iter().enumerate() {
        let node = model.node(*id);
        let text = format!("`{}` uses `{}`", node.name, name(&cycle[(i + cycle.len() - 1) % cycle.len()]));
        found = if i == 0 { found.at(node.span, text) } else { found.also(node.span, text) };
    }
    found.help(format!("remove one of these dependences: a model is a graph without cycles, so {first} must not be used, directly or through others, in its own definition"))
}
