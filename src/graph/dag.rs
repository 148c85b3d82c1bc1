//! The graph as data: nodes with roles, edges, plates and fixed arguments.

use petgraph::graph::{DiGraph, NodeIndex};
use serde::Serialize;

pub use crate::check::typed::NodeId;
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::source::Span;

/// A model as a directed acyclic graph. Made by [`super::build()`]; a node has the same id here as in
/// the typed model.
#[derive(Clone, Debug)]
pub struct Dag {
    pub(super) model: String,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) plates: Vec<Plate>,
    pub(super) fixed: Vec<Fixed>,
    /// Node and edge weights are indices into `nodes` and `edges`.
    pub(super) graph: DiGraph<NodeId, usize>,
}

/// A named quantity, as an array: its repetitions are one node.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Node {
    /// The node of the typed model.
    #[serde(skip)]
    pub id: NodeId,
    /// Its name: `w`, `w.alpha`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Element and shape, as text: `real[N, D]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The family it is drawn from, if it is stochastic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<&'static str>,
    /// How it is defined: `Normal(mean = phi * w, precision = tau)`; `…` stands for what is long.
    /// Empty for data without a distribution and params.
    pub definition: String,
    /// Whether its parents determine it (`let`).
    pub deterministic: bool,
    /// Whether drawings leave it out: another name of a node, or a constant that is no argument.
    pub trivial: bool,
    /// The plates it lies in, outermost first.
    #[serde(skip)]
    pub plates: Vec<PlateId>,
    /// Its name in the source.
    #[serde(skip)]
    pub span: Span,
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Given, with no distribution: `data x`.
    Data,
    /// Known from the program alone: `let width = 2`.
    Constant,
    /// Computed from other nodes: `let phi = rbf(x)`.
    Derived,
    /// Unknown, no prior: `param s`.
    Param,
    /// A latent whose family is a prior of precisions.
    Hyper,
    /// Any other latent.
    Latent,
    /// `data` with a distribution.
    Observed,
}

impl Role {
    /// As shown: `hyper`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Data => "data",
            Role::Constant => "constant",
            Role::Derived => "derived",
            Role::Param => "param",
            Role::Hyper => "hyper",
            Role::Latent => "latent",
            Role::Observed => "observed",
        }
    }

    /// Whether it is drawn from a distribution.
    pub fn is_stochastic(self) -> bool {
        matches!(self, Role::Hyper | Role::Latent | Role::Observed)
    }
}

/// A dependence: `from` is an argument of `to`.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The parent.
    pub from: NodeId,
    /// The child.
    pub to: NodeId,
    /// The arguments of the child's family that name the parent (`mean`, `precision`, `weight`),
    /// or `value` for a `let`.
    pub via: Vec<&'static str>,
}

/// An index of [`Dag::plates`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlateId(pub usize);

/// A repetition: `n in N`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plate {
    /// The index letter.
    pub index: String,
    /// How often, as text: `N`, `cols(phi)`, `levels(school)`.
    pub extent: String,
}

impl Plate {
    /// `n in N`
    pub fn label(&self) -> String {
        format!("{} in {}", self.index, self.extent)
    }
}

/// An argument of a family that is known from the program: a solid dot in drawings.
#[derive(Clone, PartialEq, Debug)]
pub struct Fixed {
    /// Whose argument.
    pub node: NodeId,
    /// Which.
    pub arg: &'static str,
    /// Its value, as text.
    pub text: String,
    /// Whether a drawing shows it: a zero mean and an improper prior have no dot.
    pub shown: bool,
}

impl Dag {
    /// Name of the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Every node, in declaration order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Every edge, by child and then parent in declaration order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges into a node, by parent in declaration order.
    pub fn edges_to(&self, id: NodeId) -> &[Edge] {
        let start = self.edges.partition_point(|e| e.to < id);
        let end = self.edges.partition_point(|e| e.to <= id);
        &self.edges[start..end]
    }

    /// Every plate, outer ones first.
    pub fn plates(&self) -> &[Plate] {
        &self.plates
    }

    /// The known arguments of families.
    pub fn fixed(&self) -> &[Fixed] {
        &self.fixed
    }

    /// The node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The plate.
    pub fn plate(&self, id: PlateId) -> &Plate {
        &self.plates[id.0]
    }

    /// The node of that name.
    ///
    /// # Errors
    /// E0551, with the closest name.
    pub fn find(&self, name: &str) -> Result<NodeId, Diagnostic> {
        if let Some(node) = self.nodes.iter().find(|n| n.name == name) {
            return Ok(node.id);
        }
        let names = || self.nodes.iter().map(|n| n.name.as_str());
        let found = Diagnostic::error("E0551", format!("the model `{}` has no node `{name}`", self.model))
            .note(format!("its nodes are {}", names().collect::<Vec<_>>().join(", ")));
        Err(match closest(name, names()) {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found.help("ask about one of these"),
        })
    }

    /// Direct parents, in declaration order.
    pub fn parents(&self, id: NodeId) -> Vec<NodeId> {
        self.neighbours(id, petgraph::Direction::Incoming)
    }

    /// Direct children, in declaration order.
    pub fn children(&self, id: NodeId) -> Vec<NodeId> {
        self.neighbours(id, petgraph::Direction::Outgoing)
    }

    /// Every node after all its parents; among those that could come next, the first declared.
    pub fn topological(&self) -> Vec<NodeId> {
        let mut waiting: Vec<usize> = self.nodes.iter().map(|n| self.parents(n.id).len()).collect();
        let mut ready: std::collections::BTreeSet<NodeId> =
            self.nodes.iter().filter(|n| waiting[n.id.index()] == 0).map(|n| n.id).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(id) = ready.pop_first() {
            order.push(id);
            for child in self.children(id) {
                waiting[child.index()] -= 1;
                if waiting[child.index()] == 0 {
                    ready.insert(child);
                }
            }
        }
        order
    }

    fn neighbours(&self, id: NodeId, direction: petgraph::Direction) -> Vec<NodeId> {
        let index = NodeIndex::new(id.index());
        let mut found: Vec<NodeId> = self
            .graph
            .neighbors_directed(index, direction)
            .filter_map(|i| self.graph.node_weight(i).copied())
            .collect();
        found.sort_unstable();
        found
    }
}
