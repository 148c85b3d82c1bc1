//! The typed model: names are ids, every node has a shape and a support, the library is expanded,
//! plates and vector style are already one.
//!
//! Every expression is a whole array of rank at most two. A plate is gone: `phi[n] * w` inside
//! `plate n in N` is `phi * w`, a vector over `N`.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::check::dim::{Atom, Dim};
pub use crate::dist::Elem;
use crate::dist::Family;
use crate::host::{HostId, Registry};
use crate::source::Span;

/// A node of [`Model::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct NodeId(pub u32);

/// An expression of [`Model::exprs`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ExprId(pub u32);

impl NodeId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ExprId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An element set with a shape of rank at most two.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Type {
    /// What the entries are.
    pub elem: Elem,
    /// Empty for a scalar.
    pub shape: Vec<Dim>,
}

/// A checked model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name; `model` if it is anonymous.
    pub name: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// Where it stands.
    pub span: Span,
    /// In declaration order; the inner nodes of a prior stand before the node it returns.
    pub nodes: Vec<Node>,
    /// Every expression.
    pub exprs: Exprs,
    /// What only data can decide.
    pub constraints: Vec<Constraint>,
    /// What `infer` asks for.
    pub infer: Infer,
    /// The functions of the host program that it uses.
    pub hosts: Registry,
}

impl Model {
    /// The node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id)
    }

    /// The node of that name: `w`, `w.alpha`.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().find(|n| n.name == name).map(|n| n.id)
    }

    /// The nodes of that kind of statement with their distribution: latent and observed alike.
    pub fn stochastic(&self) -> impl Iterator<Item = (&Node, &Dist)> {
        self.nodes.iter().filter_map(|n| n.dist().map(|d| (n, d)))
    }

    /// The symbols that count the rows of observed nodes.
    pub fn row_atoms(&self) -> BTreeSet<Atom> {
        let leading = self.nodes.iter().filter(|n| n.is_observed()).filter_map(|n| n.ty.shape.first());
        leading.flat_map(Dim::atoms).filter(|a| matches!(a, Atom::Symbol(_))).cloned().collect()
    }

    /// Whether a node has an entry for each row of an observed node.
    pub fn is_per_row(&self, node: &Node) -> bool {
        let rows = self.row_atoms();
        node.ty.shape.iter().any(|dim| dim.atoms().into_iter().any(|a| rows.contains(a)))
    }
}

/// A named quantity.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its own index.
    pub id: NodeId,
    /// As shown: `w`; `w.alpha` for the inner node of a prior.
    pub name: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// Element and shape.
    pub ty: Type,
    /// What it is.
    pub kind: NodeKind,
    /// Its name in the declaration (for the inner node of a prior: in the prior).
    pub span: Span,
    /// For the inner node of a prior: the call that spliced it in.
    pub spliced_at: Option<Span>,
}

impl Node {
    /// How it is drawn, if it is stochastic (latent or observed).
    pub fn dist(&self) -> Option<&Dist> {
        match &self.kind {
            NodeKind::Latent(dist) => Some(dist),
            NodeKind::Data(data) => data.likelihood.as_ref(),
            _ => None,
        }
    }

    /// The declaration of its data, if it is data.
    pub fn data(&self) -> Option<&Data> {
        match &self.kind {
            NodeKind::Data(data) => Some(data),
            _ => None,
        }
    }

    /// `data` with a `~`.
    pub fn is_observed(&self) -> bool {
        matches!(&self.kind, NodeKind::Data(d) if d.likelihood.is_some())
    }
}

/// The four kinds of node.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// `data x: real[N]`, and `x ~ …` if it is observed.
    Data(Data),
    /// `let y = expr`
    Let {
        /// The value.
        value: ExprId,
        /// Whether it is a constant of the program, which `--set` may override.
        constant: bool,
    },
    /// `param s: positive = 1`
    Param {
        /// Where the search starts.
        start: Option<ExprId>,
    },
    /// `w ~ Normal(…)` without data.
    Latent(Dist),
}

/// The declaration of data.
#[derive(Clone, Debug)]
pub struct Data {
    /// Where its columns come from.
    pub from: Columns,
    /// The levels the program states, in order.
    pub levels: Option<Vec<String>>,
    /// The `~` that observes it.
    pub likelihood: Option<Dist>,
    /// The declared type, for messages.
    pub ty_span: Span,
}

/// Where the columns of data come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Columns {
    /// By the rules of the language: the column of that name, `x1 … xD`, or all that no other claims.
    Default,
    /// `from column("medv")`
    One(String),
    /// `from columns("age", "bmi")`
    Named(Vec<String>),
    /// `from except("id")`
    Except(Vec<String>),
}

/// `Family(args) weight k`
#[derive(Clone, Debug)]
pub struct Dist {
    /// The family.
    pub family: &'static Family,
    /// In the order of the family's record; absent ones are absent. Each value is a scalar or
    /// has exactly the shape that the family asks for beside the node's shape.
    pub args: Vec<DistArg>,
    /// Case weights: a scalar, or the shape of the node.
    pub weight: Option<ExprId>,
    /// The whole right side.
    pub span: Span,
}

impl Dist {
    /// The value of an argument.
    pub fn arg(&self, name: &str) -> Option<ExprId> {
        self.args.iter().find(|a| a.name == name).map(|a| a.value)
    }
}

/// One argument of a family.
#[derive(Clone, Debug)]
pub struct DistArg {
    /// As in the family's record.
    pub name: &'static str,
    /// Its value.
    pub value: ExprId,
    /// Where it stands.
    pub span: Span,
}

/// Every expression of a model once: structurally equal expressions share an id.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    all: Vec<Expr>,
    seen: HashMap<(ExprKind, Type), ExprId>,
}

impl Exprs {
    /// The id of an expression; the span of the first occurrence is kept.
    pub fn add(&mut self, kind: ExprKind, ty: Type, span: Span) -> ExprId {
        let key = (kind.clone(), ty.clone());
        if let Some(id) = self.seen.get(&key) {
            return *id;
        }
        let id = ExprId(self.all.len() as u32);
        self.all.push(Expr { kind, ty, span });
        self.seen.insert(key, id);
        id
    }

    /// The expression.
    pub fn get(&self, id: ExprId) -> &Expr {
        &self.all[id.index()]
    }

    /// How many there are. Operands always come before the expressions that use them.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// A typed expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Element and shape.
    pub ty: Type,
    /// Where it was first written.
    pub span: Span,
}

/// A number that can be a key: equal bits are equal numbers.
#[derive(Clone, Copy, Debug)]
pub struct Bits(pub f64);

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}
impl Eq for Bits {}
impl std::hash::Hash for Bits {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The typed expressions. Shapes: `s` scalar, `[A]` vector, `[A, B]` matrix (A rows).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExprKind {
    /// `3.0`: s
    Number(Bits),
    /// `cols(phi)`, `N` used as a number: s
    Dim(Dim),
    /// A plate index used as a number, 1 … n: `[n]`
    Range(Dim),
    /// A node: its shape. A `let` is followed to its value.
    Node(NodeId),
    /// `-a`: as a
    Neg(ExprId),
    /// Elementwise; shapes are equal, or one side is a scalar.
    Elementwise(Op, ExprId, ExprId),
    /// Product of linear algebra: `[A,B]`·`[B,C]` → `[A,C]`, `[A,B]`·`[B]` → `[A]`, `[A]`·`[A,B]` → `[B]`, `[A]`·`[A]` → s
    MatMul(ExprId, ExprId),
    /// Row by row dot product, `x[n] * w[n]` in a plate: `[A,B]`, `[A,B]` → `[A]`
    RowDot(ExprId, ExprId),
    /// `exp(a)`, `sqdist(x, c)` …: see [`Native`]
    Call(Native, Vec<ExprId>),
    /// A function of the host program: see [`crate::host::Form`]. Entry by entry: shapes are equal, or
    /// scalars. Features of rows: `[N,D]`, then scalars → `[N, width]`. A kernel: `[N,D]`, `[M,D]`, then scalars → `[N,M]`.
    Host(HostId, Vec<ExprId>),
    /// `[a, b]`: columns side by side, `[A]`, `[A,B]` and s → `[A, sum]`; a scalar is a constant column.
    Join(Vec<ExprId>),
    /// `[1, 2, 3]` of scalars: `[k]`
    Vector(Vec<ExprId>),
    /// Entries or rows of `base` at the indices `at` (levels of a category, or numbers from 1):
    /// `[A]` at `[N]` → `[N]`; `[A,B]` at `[N]` → `[N,B]`
    Gather {
        /// What is indexed.
        base: ExprId,
        /// The indices, a vector.
        at: ExprId,
    },
    /// Columns of `base`: `[A,B]` at `[K]` → `[A,K]`
    GatherColumns {
        /// What is indexed.
        base: ExprId,
        /// The indices, a vector.
        at: ExprId,
    },
    /// Row by row pick, `W[g[n], h[n]]` in a plate: `[A,B]` at `[N]`, `[N]` → `[N]`
    GatherPairs {
        /// What is indexed.
        base: ExprId,
        /// Row indices.
        rows: ExprId,
        /// Column indices.
        cols: ExprId,
    },
    /// `x[3]`: entry of a vector → s, row of a matrix `[A,B]` → `[B]`. Counted from 0 here.
    Row(ExprId, usize),
    /// `x[_, 3]`: column of a matrix `[A,B]` → `[A]`. Counted from 0 here.
    Column(ExprId, usize),
    /// `[A,B]` → `[B,A]`
    Transpose(ExprId),
    /// A vector repeated: `[A]` → `[A, n]`
    RepeatColumns(ExprId, Dim),
    /// A vector repeated: `[A]` → `[n, A]`; a scalar → `[n]`
    RepeatRows(ExprId, Dim),
    /// A vector as a matrix of one column: `[A]` → `[A,1]`
    AsColumn(ExprId),
    /// `train(a)`: the value at training, its leading symbol frozen: [N, B] → [train(N), B]
    Train(ExprId),
    /// `standardize(a)`: by training mean and deviation (denominator N), column by column: as a
    Standardize(ExprId),
    /// `onehot(c)`: `[N]` → `[N, levels(c)]`
    OneHot(ExprId),
}

impl ExprKind {
    /// The direct operands, in order.
    pub fn operands(&self) -> Vec<ExprId> {
        match self {
            ExprKind::Number(_) | ExprKind::Dim(_) | ExprKind::Range(_) | ExprKind::Node(_) => Vec::new(),
            ExprKind::Neg(a)
            | ExprKind::Row(a, _)
            | ExprKind::Column(a, _)
            | ExprKind::Transpose(a)
            | ExprKind::RepeatColumns(a, _)
            | ExprKind::RepeatRows(a, _)
            | ExprKind::AsColumn(a)
            | ExprKind::Train(a)
            | ExprKind::Standardize(a)
            | ExprKind::OneHot(a) => vec![*a],
            ExprKind::Elementwise(_, a, b) | ExprKind::MatMul(a, b) | ExprKind::RowDot(a, b) => vec![*a, *b],
            ExprKind::Call(_, args)
            | ExprKind::Host(_, args)
            | ExprKind::Join(args)
            | ExprKind::Vector(args) => args.clone(),
            ExprKind::Gather { base, at } | ExprKind::GatherColumns { base, at } => vec![*base, *at],
            ExprKind::GatherPairs { base, rows, cols } => vec![*base, *rows, *cols],
        }
    }

    /// The same with other operands, nodes and dimensions.
    pub fn map(
        &self,
        expr: &mut dyn FnMut(ExprId) -> ExprId,
        node: &dyn Fn(NodeId) -> NodeId,
        dim: &dyn Fn(&Dim) -> Dim,
    ) -> ExprKind {
        match self {
            ExprKind::Number(x) => ExprKind::Number(*x),
            ExprKind::Dim(d) => ExprKind::Dim(dim(d)),
            ExprKind::Range(d) => ExprKind::Range(dim(d)),
            ExprKind::Node(id) => ExprKind::Node(node(*id)),
            ExprKind::Neg(a) => ExprKind::Neg(expr(*a)),
            ExprKind::Elementwise(op, a, b) => {
                let a = expr(*a);
                ExprKind::Elementwise(*op, a, expr(*b))
            }
            ExprKind::MatMul(a, b) => {
                let a = expr(*a);
                ExprKind::MatMul(a, expr(*b))
            }
            ExprKind::RowDot(a, b) => {
                let a = expr(*a);
                ExprKind::RowDot(a, expr(*b))
            }
            ExprKind::Call(native, args) => ExprKind::Call(*native, args.iter().map(|a| expr(*a)).collect()),
            ExprKind::Host(id, args) => ExprKind::Host(*id, args.iter().map(|a| expr(*a)).collect()),
            ExprKind::Join(args) => ExprKind::Join(args.iter().map(|a| expr(*a)).collect()),
            ExprKind::Vector(args) => ExprKind::Vector(args.iter().map(|a| expr(*a)).collect()),
            ExprKind::Gather { base, at } => {
                let base = expr(*base);
                ExprKind::Gather { base, at: expr(*at) }
            }
            ExprKind::GatherColumns { base, at } => {
                let base = expr(*base);
                ExprKind::GatherColumns { base, at: expr(*at) }
            }
            ExprKind::GatherPairs { base, rows, cols } => {
                let base = expr(*base);
                let rows = expr(*rows);
                ExprKind::GatherPairs { base, rows, cols: expr(*cols) }
            }
            ExprKind::Row(a, i) => ExprKind::Row(expr(*a), *i),
            ExprKind::Column(a, j) => ExprKind::Column(expr(*a), *j),
            ExprKind::Transpose(a) => ExprKind::Transpose(expr(*a)),
            ExprKind::RepeatColumns(a, n) => ExprKind::RepeatColumns(expr(*a), dim(n)),
            ExprKind::RepeatRows(a, n) => ExprKind::RepeatRows(expr(*a), dim(n)),
            ExprKind::AsColumn(a) => ExprKind::AsColumn(expr(*a)),
            ExprKind::Train(a) => ExprKind::Train(expr(*a)),
            ExprKind::Standardize(a) => ExprKind::Standardize(expr(*a)),
            ExprKind::OneHot(a) => ExprKind::OneHot(expr(*a)),
        }
    }
}

/// Elementwise operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a b
    Mul,
    /// a / b
    Div,
    /// a ^ b
    Pow,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

/// The native functions; everything else is written in the language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Native {
    /// e^a, elementwise
    Exp,
    /// ln a, elementwise
    Log,
    /// √a, elementwise
    Sqrt,
    /// |a|, elementwise
    Abs,
    /// sin a, elementwise
    Sin,
    /// cos a, elementwise
    Cos,
    /// Σ of all entries → s
    Sum,
    /// mean of all entries → s
    Mean,
    /// deviation of all entries, denominator N → s
    Sd,
    /// x·cᵀ: `[N,D]`, `[M,D]` → `[N,M]`
    Dot,
    /// Σ_k (x_nk − c_mk)²: `[N,D]`, `[M,D]` → `[N,M]`; with scale eta `[D]` as third: Σ_k eta_k (x_nk − c_mk)²
    SqDist,
    /// Σ_k |x_nk − c_mk|: `[N,D]`, `[M,D]` → `[N,M]`; with scale `[D]` as third
    AbsDist,
    /// Π_k (1 + x c + x c m − (x + c)/2 m² + m³/3), m = min(x, c): `[N,D]`, `[M,D]` → `[N,M]` (Tipping 2001)
    LinearSpline,
    /// x_a x_b for a < b: `[N,D]` → `[N, D(D−1)/2]`
    PairProducts,
    /// x^1 … x^p column by column: `[N,D]`, s → `[N, D p]`
    Powers,
}

impl Native {
    /// As a program writes it.
    pub fn name(self) -> &'static str {
        match self {
            Native::Exp => "exp",
            Native::Log => "log",
            Native::Sqrt => "sqrt",
            Native::Abs => "abs",
            Native::Sin => "sin",
            Native::Cos => "cos",
            Native::Sum => "sum",
            Native::Mean => "mean",
            Native::Sd => "sd",
            Native::Dot => "dot",
            Native::SqDist => "sqdist",
            Native::AbsDist => "absdist",
            Native::LinearSpline => "spline",
            Native::PairProducts => "pair_products",
            Native::Powers => "powers",
        }
    }

    /// Whether its first two arguments are inputs and the centres they are compared with.
    pub fn compares(self) -> bool {
        matches!(self, Native::Dot | Native::SqDist | Native::AbsDist | Native::LinearSpline)
    }
}

/// Something only data can decide: `D` is 3, `M` is `K + 1`.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// One side.
    pub left: Dim,
    /// The other.
    pub right: Dim,
    /// Where the two met.
    pub span: Span,
    /// Where the left side was declared, if it is known.
    pub left_span: Option<Span>,
}

/// What `infer` asks for.
#[derive(Clone, Debug, Default)]
pub struct Infer {
    /// `None` is `auto`.
    pub method: Option<String>,
    /// Name, value as text or number, place.
    pub options: Vec<(String, OptionValue, Span)>,
    /// The statement, if there is one.
    pub span: Option<Span>,
}

/// The value of an option of `infer`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// `max_iter = 100`
    Number(f64),
    /// `updates = em`
    Word(String),
}
