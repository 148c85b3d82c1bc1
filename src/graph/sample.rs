//! Graphs for tests: written by hand, and random ones.

use petgraph::graph::{DiGraph, NodeIndex};

use super::dag::{Dag, Edge, Fixed, Node, NodeId, Plate, PlateId, Role};
use crate::check::typed::{
    self, Bits, Columns, Data, Dist, Elem, ExprId, ExprKind, Exprs, Infer, Model, NodeKind, Type,
};
use crate::source::Span;

/// One node: name, role, parents, plates (indices).
pub type Row<'a> = (&'a str, Role, &'a [usize], &'a [usize]);

/// A graph of these nodes, in plates with these labels.
pub fn dag(rows: &[Row], plates: &[(&str, &str)]) -> Dag {
    let id = |i: usize| NodeId(i as u32);
    let mut graph = DiGraph::new();
    let mut edges = Vec::new();
    for i in 0..rows.len() {
        graph.add_node(id(i));
    }
    for (i, (_, role, parents, _)) in rows.iter().enumerate() {
        for p in *parents {
            graph.add_edge(NodeIndex::new(*p), NodeIndex::new(i), edges.len());
            let via = if *role == Role::Derived { "value" } else { "mean" };
            edges.push(Edge { from: id(*p), to: id(i), via: vec![via] });
        }
    }
    let nodes: Vec<Node> = rows
        .iter()
        .enumerate()
        .map(|(i, (name, role, _, plates))| Node {
            id: id(i),
            name: (*name).to_owned(),
            role: *role,
            ty: "real".to_owned(),
            family: role.is_stochastic().then_some("Normal"),
            definition: String::new(),
            deterministic: matches!(role, Role::Derived | Role::Constant),
            trivial: false,
            plates: plates.iter().map(|p| PlateId(*p)).collect(),
            span: Span::default(),
        })
        .collect();
    let plates =
        plates.iter().map(|(i, e)| Plate { index: (*i).to_owned(), extent: (*e).to_owned() }).collect();
    let fixed: Vec<Fixed> = Vec::new();
    Dag { model: "sample".to_owned(), nodes, edges, plates, fixed, graph }
}

/// Numbers that look random and are always the same (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// In (0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A random graph of `n` nodes, some of them deterministic, in up to three plates.
pub fn random(n: usize, edge: f64, deterministic: f64, seed: u64) -> Dag {
    let mut random = Random(seed);
    let names: Vec<String> = (0..n).map(|i| format!("v{i}")).collect();
    let mut parents: Vec<Vec<usize>> = Vec::new();
    let mut roles = Vec::new();
    let mut plates: Vec<Vec<usize>> = Vec::new();
    for i in 0..n {
        parents.push((0..i).filter(|_| random.unit() < edge).collect());
        let computed = !parents[i].is_empty() && random.unit() < deterministic;
        roles.push(if computed {
            Role::Derived
        } else {
            [Role::Latent, Role::Observed, Role::Hyper][random.below(3)]
        });
        plates.push((0..3).filter(|_| random.unit() < 0.35).collect());
    }
    let rows: Vec<Row> =
        (0..n).map(|i| (names[i].as_str(), roles[i], &parents[i][..], &plates[i][..])).collect();
    dag(&rows, &[("n", "N"), ("m", "cols(phi)"), ("k", "levels(c)")])
}

/// A typed model written by hand: every expression is a real scalar, whatever it says.
pub struct Typed {
    /// The model so far.
    pub model: Model,
}

impl Typed {
    /// No node.
    pub fn new() -> Typed {
        Typed {
            model: Model {
                name: "sample".to_owned(),
                doc: None,
                span: Span::default(),
                nodes: Vec::new(),
                exprs: Exprs::default(),
                constraints: Vec::new(),
                hosts: Default::default(),
                infer: Infer::default(),
            },
        }
    }

    /// An expression.
    pub fn add(&mut self, kind: ExprKind) -> ExprId {
        self.model.exprs.add(kind, Type { elem: Elem::Real, shape: Vec::new() }, Span::default())
    }

    /// `3.0`
    pub fn number(&mut self, x: f64) -> ExprId {
        self.add(ExprKind::Number(Bits(x)))
    }

    /// `data x: real`, as an expression.
    pub fn data(&mut self, name: &str) -> ExprId {
        let data = Data { from: Columns::Default, levels: None, likelihood: None, ty_span: Span::default() };
        self.node(name, NodeKind::Data(data))
    }

    /// `w ~ Flat()`, as an expression.
    pub fn latent(&mut self, name: &str) -> ExprId {
        let family = &crate::dist::flat::FLAT;
        self.node(
            name,
            NodeKind::Latent(Dist { family, args: Vec::new(), weight: None, span: Span::default() }),
        )
    }

    /// `let y = value`, as an expression.
    pub fn node_let(&mut self, name: &str, value: ExprId) -> ExprId {
        self.node(name, NodeKind::Let { value, constant: false })
    }

    fn node(&mut self, name: &str, kind: NodeKind) -> ExprId {
        let id = NodeId(self.model.nodes.len() as u32);
        let ty = Type { elem: Elem::Real, shape: Vec::new() };
        let node = typed::Node {
            id,
            name: name.to_owned(),
            doc: None,
            ty,
            kind,
            span: Span::default(),
            spliced_at: None,
        };
        self.model.nodes.push(node);
        self.add(ExprKind::Node(id))
    }
}
