//! What a drawing shows: visible nodes, dots for known arguments, edges between them, and frames.

use std::collections::BTreeSet;

use crate::graph::dag::{Dag, NodeId, Role};
use crate::graph::plates::{Frame, frames};

/// What is to be drawn. Items are numbered: nodes first, in declaration order, then dots.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// Nodes and dots.
    pub items: Vec<Item>,
    /// From and to, as indices of `items`.
    pub edges: Vec<(usize, usize)>,
    /// The frames: plates with the items in them.
    pub root: Group,
}

/// A node or a dot.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// Its name, or the argument and value of a dot: `shape = 0.5`.
    pub label: String,
    /// How it looks.
    pub look: Look,
    /// More about it: `real[N]`, or the family.
    pub about: String,
}

/// How an item looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// An unknown: a circle.
    Unknown,
    /// An unknown without a prior: a dashed circle.
    Param,
    /// Observed: a shaded circle.
    Observed,
    /// Given data: a shaded box.
    Given,
    /// Computed: a double outline.
    Derived,
    /// Known from the program: a solid dot.
    Dot,
}

/// A plate with what is in it; the root has no label.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// `n in N`; empty for the root.
    pub label: String,
    /// Indices of items directly in it.
    pub items: Vec<usize>,
    /// The groups in it.
    pub groups: Vec<Group>,
}

impl Group {
    /// Every item in it and in its groups.
    pub fn all(&self) -> Vec<usize> {
        let mut all = self.items.clone();
        all.extend(self.groups.iter().flat_map(Group::all));
        all
    }
}

/// The picture of a graph.
pub fn picture(dag: &Dag) -> Picture {
    let shown: Vec<NodeId> = dag.nodes().iter().filter(|n| !n.trivial).map(|n| n.id).collect();
    let position = |id: NodeId| shown.binary_search(&id).ok();
    let mut items: Vec<Item> = shown
        .iter()
        .map(|id| {
            let node = dag.node(*id);
            let look = match node.role {
                Role::Data => Look::Given,
                Role::Constant => Look::Dot,
                Role::Derived => Look::Derived,
                Role::Param => Look::Param,
                Role::Hyper | Role::Latent => Look::Unknown,
                Role::Observed => Look::Observed,
            };
            let sign = if node.family.is_some() { " ~ " } else { " = " };
            let definition =
                if node.definition.is_empty() { String::new() } else { format!("{sign}{}", node.definition) };
            let about = format!("{} {}: {}{definition}", node.role.name(), node.name, node.ty);
            Item { label: node.name.clone(), look, about }
        })
        .collect();

    let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
    for edge in dag.edges() {
        let Some(to) = position(edge.to) else { continue };
        edges.extend(sources(dag, edge.from).into_iter().filter_map(position).map(|from| (from, to)));
    }
    for fixed in dag.fixed().iter().filter(|f| f.shown) {
        let Some(to) = position(fixed.node) else { continue };
        edges.insert((items.len(), to));
        items.push(Item {
            label: format!("{} = {}", fixed.arg, fixed.text),
            look: Look::Dot,
            about: format!("{} of {}", fixed.arg, dag.node(fixed.node).name),
        });
    }

    let mut root = group(dag, &frames(dag, &|id| position(id).is_some()), &position);
    root.items.extend(shown.len()..items.len());
    Picture { items, edges: edges.into_iter().collect(), root }
}

/// The node, or what it is another name of.
fn sources(dag: &Dag, id: NodeId) -> Vec<NodeId> {
    let mut at = id;
    let mut steps = 0;
    while dag.node(at).trivial && steps < dag.nodes().len() {
        match dag.parents(at).first() {
            Some(parent) => at = *parent,
            None => return Vec::new(),
        }
        steps += 1;
    }
    vec![at]
}

fn group(dag: &Dag, frame: &Frame, position: &dyn Fn(NodeId) -> Option<usize>) -> Group {
    Group {
        label: frame.plate.map(|p| dag.plate(p).label()).unwrap_or_default(),
        items: frame.nodes.iter().filter_map(|id| position(*id)).collect(),
        groups: frame.frames.iter().map(|f| group(dag, f, position)).collect(),
    }
}
