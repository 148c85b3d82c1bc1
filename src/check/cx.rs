//! The state of checking one model: nodes, expressions, plates, constraints, findings.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::check::dim::{Atom, Dim};
use crate::check::scope::{DefId, Modules};
use crate::check::support::Set;
use crate::check::typed::{
    Bits, Constraint, Elem, ExprId, ExprKind, Exprs, Model, Node, NodeId, NodeKind, Op, Type,
};
use crate::diag::{Diagnostic, Diagnostics};
use crate::host::Registry;
use crate::source::Span;
use crate::syntax::ast;

/// Deepest expression after expansion: later stages walk expressions by recursion.
const MAX_DEPTH: u32 = 600;
/// Most expressions of one model.
const MAX_EXPRS: usize = 200_000;
/// Most expressions elaborated inside bodies of functions for one model.
const MAX_STEPS: usize = 200_000;
/// Most nodes of one model.
const MAX_NODES: usize = 20_000;
/// Deepest elaboration: brackets, calls within calls, priors within priors.
const MAX_NESTING: usize = 300;
/// Most terms of a dimension.
const MAX_TERMS: usize = 64;

/// A plate of the model being checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PlateId(pub(crate) usize);

/// What is known about a plate.
#[derive(Clone, Debug)]
pub(crate) struct Plate {
    pub(crate) name: String,
    pub(crate) extent: Dim,
    /// Nesting depth; plates of an expression are sorted by it.
    pub(crate) depth: usize,
    pub(crate) span: Span,
}

/// The value of an expression: a whole array whose leading axes are plates.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    /// Its shape is the extents of `plates`, then `shape`.
    pub(crate) expr: ExprId,
    pub(crate) set: Set,
    /// Outer plates first.
    pub(crate) plates: Vec<PlateId>,
    /// Its own shape: what it is for one value of each plate index.
    pub(crate) shape: Vec<Dim>,
    /// The whole number it is, if it can serve as a dimension.
    pub(crate) dim: Option<Dim>,
    /// The data whose levels its entries are.
    pub(crate) levels: Option<NodeId>,
}

impl Val {
    pub(crate) fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }

    pub(crate) fn rank(&self) -> usize {
        self.plates.len() + self.shape.len()
    }
}

/// What an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Deps {
    pub(crate) data: bool,
    pub(crate) latent: bool,
    pub(crate) param: bool,
    /// A dimension that only data bind.
    pub(crate) symbolic: bool,
}

impl Deps {
    fn or(self, o: Deps) -> Deps {
        Deps {
            data: self.data || o.data,
            latent: self.latent || o.latent,
            param: self.param || o.param,
            symbolic: self.symbolic || o.symbolic,
        }
    }
}

/// Where findings go: sorted and without repetition at the end.
#[derive(Default)]
pub(crate) struct Sink {
    pub(crate) all: Diagnostics,
    /// Recursive definitions that have been reported.
    pub(crate) circles: BTreeSet<Vec<DefId>>,
}

impl Sink {
    pub(crate) fn push(&mut self, d: Diagnostic) {
        let same = |o: &Diagnostic| {
            o.code == d.code
                && o.primary.as_ref().map(|l| l.span) == d.primary.as_ref().map(|l| l.span)
                && (o.message == d.message || !d.secondary.is_empty())
        };
        if !self.all.iter().rev().take(2000).any(same) {
            self.all.push(d);
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.all.iter().any(Diagnostic::is_error)
    }
}

/// The state of checking one model.
pub(crate) struct Cx<'a> {
    pub(crate) modules: &'a Modules,
    /// What the host program registered.
    pub(crate) hosts: Registry,
    pub(crate) sink: &'a mut Sink,
    pub(crate) nodes: Vec<Node>,
    /// Where a node stands in declaration order.
    pub(crate) order: Vec<Vec<u32>>,
    pub(crate) exprs: Exprs,
    depth: Vec<u32>,
    deps: Vec<Deps>,
    transposed: HashMap<ExprId, Option<ExprId>>,
    pub(crate) plates: Vec<Plate>,
    pub(crate) constraints: Vec<Constraint>,
    /// Where a dimension symbol was first met.
    pub(crate) symbols: BTreeMap<String, Span>,
    /// Pairs of symbols that stand in one type: two axes of one array, so never two letters for one size.
    side_by_side: BTreeSet<(String, String)>,
    /// Numbers of stated levels.
    pub(crate) stated_levels: BTreeMap<NodeId, i64>,
    /// Functions and priors being expanded, with the calls.
    pub(crate) calls: Vec<(DefId, Span)>,
    steps: usize,
    nesting: usize,
    gave_up: bool,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(modules: &'a Modules, sink: &'a mut Sink) -> Self {
        Self {
            modules,
            hosts: Registry::default(),
            sink,
            nodes: Vec::new(),
            order: Vec::new(),
            exprs: Exprs::default(),
            depth: Vec::new(),
            deps: Vec::new(),
            transposed: HashMap::new(),
            plates: Vec::new(),
            constraints: Vec::new(),
            symbols: BTreeMap::new(),
            side_by_side: BTreeSet::new(),
            stated_levels: BTreeMap::new(),
            calls: Vec::new(),
            steps: 0,
            nesting: 0,
            gave_up: false,
        }
    }

    /// Reports a finding; inside the body of a function or prior it also shows the call.
    pub(crate) fn report(&mut self, mut d: Diagnostic) {
        if let Some((_, call)) = self.calls.first() {
            d = d.also(*call, "in this call");
        }
        self.sink.push(d);
    }

    /// Reports an error and has no value.
    pub(crate) fn fail<T>(&mut self, d: Diagnostic) -> Option<T> {
        self.report(d);
        None
    }

    /// Enters one level of nesting; `false` (with a diagnostic) if that is one too many.
    pub(crate) fn enter(&mut self, span: Span) -> bool {
        self.nesting += 1;
        if !self.calls.is_empty() {
            self.steps += 1;
        }
        if self.nesting > MAX_NESTING {
            self.give_up("brackets, calls and priors are nested too deeply", span);
        } else if self.steps > MAX_STEPS {
            self.give_up("calls of functions expand to too many expressions", span);
        }
        !self.gave_up
    }

    /// Leaves the level entered last.
    pub(crate) fn leave(&mut self) {
        self.nesting -= 1;
    }

    fn give_up(&mut self, message: &str, span: Span) {
        if !self.gave_up {
            self.gave_up = true;
            self.report(
                Diagnostic::error("E0504", message)
                    .at(span, "gave up here")
                    .help("give intermediate results a name with `let`"),
            );
        }
    }

    /// Adds an expression; no value (with a diagnostic) if the model grows beyond all measure.
    pub(crate) fn push(&mut self, kind: ExprKind, set: Set, shape: Vec<Dim>, span: Span) -> Option<ExprId> {
        let mut depth = 0;
        let mut deps = Deps::default();
        for e in kind.operands() {
            depth = depth.max(self.depth[e.index()] + 1);
            deps = deps.or(self.deps[e.index()]);
        }
        if let ExprKind::Dim(d)
        | ExprKind::Range(d)
        | ExprKind::RepeatRows(_, d)
        | ExprKind::RepeatColumns(_, d) = &kind
        {
            deps.symbolic |= d.as_number().is_none();
        }
        if let ExprKind::Node(id) = &kind {
            deps = match &self.nodes[id.index()].kind {
                NodeKind::Data(_) => Deps { data: true, ..Deps::default() },
                NodeKind::Latent(_) => Deps { latent: true, ..Deps::default() },
                NodeKind::Param { .. } => Deps { param: true, ..Deps::default() },
                NodeKind::Let { value, .. } => self.deps[value.index()],
            };
        }
        let id = self.exprs.add(kind, Type { elem: set.elem(), shape }, span);
        if id.index() == self.depth.len() {
            self.depth.push(depth);
            self.deps.push(deps);
        }
        if depth > MAX_DEPTH {
            self.give_up("an expression is nested too deeply after expansion", span);
        } else if self.exprs.len() > MAX_EXPRS {
            self.give_up("the model has too many expressions after expansion", span);
        }
        (!self.gave_up).then_some(id)
    }

    pub(crate) fn deps(&self, e: ExprId) -> Deps {
        self.deps[e.index()]
    }

    /// Adds a node. `order` is its place among the declarations.
    pub(crate) fn add_node(
        &mut self,
        node: impl FnOnce(NodeId) -> Node,
        order: Vec<u32>,
        span: Span,
    ) -> Option<NodeId> {
        if self.nodes.len() >= MAX_NODES {
            self.give_up("the model has too many nodes after expansion", span);
        }
        if self.gave_up {
            return None;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node(id));
        self.order.push(order);
        Some(id)
    }

    /// The name of a node.
    pub(crate) fn node_name(&self, id: NodeId) -> String {
        self.nodes.get(id.index()).map_or_else(|| "?".to_owned(), |n| n.name.clone())
    }

    pub(crate) fn show_dim(&self, dim: &Dim) -> String {
        dim.display(&|id| self.node_name(id)).to_string()
    }

    /// `real[N, D]`
    pub(crate) fn show_type(&self, set: Set, shape: &[Dim]) -> String {
        format!("{}{}", set.elem().name(), self.show_shape(shape))
    }

    /// `[N, D]`, or nothing
    pub(crate) fn show_shape(&self, shape: &[Dim]) -> String {
        if shape.is_empty() {
            return String::new();
        }
        let dims: Vec<String> = shape.iter().map(|d| self.show_dim(d)).collect();
        format!("[{}]", dims.join(", "))
    }

    /// `a scalar`, `a vector [N]`, `a matrix [N, D]`
    pub(crate) fn describe(&self, shape: &[Dim]) -> String {
        let shown = self.show_shape(shape);
        match shape.len() {
            0 => "a scalar".to_owned(),
            1 => format!("a vector {shown}"),
            2 => format!("a matrix {shown}"),
            _ => format!("an array {shown}"),
        }
    }

    // ---- dimensions

    /// Requires two dimensions to be the same: equal now, or a constraint for the data to meet.
    /// `false`: they can never be.
    pub(crate) fn same_dim(&mut self, left: &Dim, right: &Dim, span: Span, left_span: Option<Span>) -> bool {
        if left == right {
            return true;
        }
        let stated = |cx: &Self, d: &Dim| {
            d.map(&mut |atom| match atom {
                Atom::Levels(id) if cx.stated_levels.contains_key(id) => Dim::number(cx.stated_levels[id]),
                other => Dim::atom(other.clone()),
            })
        };
        let (l, r) = (stated(self, left), stated(self, right));
        if l == r {
            return true;
        }
        let plain = |d: &Dim| matches!(d.as_atom(), Some(Atom::Symbol(_) | Atom::Train(_)));
        // a difference that is a number is never 0 here
        if (plain(&l) && plain(&r)) || l.sub(&r).as_number().is_some() {
            return false;
        }
        let new = Constraint { left: left.clone(), right: right.clone(), span, left_span };
        let known = |c: &Constraint| {
            (c.left == new.left && c.right == new.right) || (c.left == new.right && c.right == new.left)
        };
        if !self.constraints.iter().any(known) {
            self.constraints.push(new);
        }
        true
    }

    /// Takes note of the symbols of one declared type.
    pub(crate) fn declared_together(&mut self, dims: &[ast::Expr]) {
        let names = || {
            dims.iter().filter_map(|d| match &d.kind {
                ast::ExprKind::Name(name) => Some(name),
                _ => None,
            })
        };
        for a in names() {
            self.side_by_side.extend(names().filter(|b| *b != a).map(|b| (a.clone(), b.clone())));
        }
    }

    /// Points at the places that bind the symbols of two dimensions which clash.
    pub(crate) fn with_origins(&self, mut d: Diagnostic, left: &Dim, right: &Dim) -> Diagnostic {
        let plain = |dim: &Dim| match dim.as_atom() {
            Some(Atom::Symbol(s)) => Some(s.clone()),
            _ => None,
        };
        let mut seen = Vec::new();
        for atom in left.atoms().into_iter().chain(right.atoms()) {
            if let Atom::Symbol(s) | Atom::Train(s) = atom
                && let Some(span) = self.symbols.get(s)
                && !seen.contains(span)
            {
                seen.push(*span);
                d = d.also(*span, format!("`{s}` is bound here"));
            }
        }
        match (plain(left), plain(right)) {
            (Some(a), Some(b))
                if d.help.is_none() && !self.side_by_side.contains(&(a.clone(), b.clone())) =>
            {
                d.help(format!(
                    "if they are the same, write one letter in both declarations: `{a}` for `{b}`"
                ))
            }
            _ => d,
        }
    }

    /// left op right for dimensions; `None` if it grows too large or is not one.
    pub(crate) fn dim_op(&self, op: Op, left: &Dim, right: &Dim) -> Option<Dim> {
        let result = match op {
            Op::Add => left.add(right),
            Op::Sub => left.sub(right),
            Op::Mul if left.terms() * right.terms() <= MAX_TERMS => left.mul(right),
            Op::Div => left.div(right.as_number()?)?,
            Op::Min | Op::Max => match (left.as_number(), right.as_number()) {
                (Some(a), Some(b)) => Dim::number(if op == Op::Min { a.min(b) } else { a.max(b) }),
                _ => return None,
            },
            Op::Pow => match (left.as_number(), right.as_number()) {
                (Some(a), Some(b)) => Dim::number(a.checked_pow(u32::try_from(b).ok()?)?),
                _ => return None,
            },
            Op::Mul => return None,
        };
        (result.terms() <= MAX_TERMS).then_some(result)
    }

    // ---- values

    /// A literal.
    pub(crate) fn number(&mut self, x: f64, whole: bool, span: Span) -> Option<Val> {
        let set = Set::number(x, whole);
        let expr = self.push(ExprKind::Number(Bits(x)), set, Vec::new(), span)?;
        let dim = (set.is_whole() && x.abs() < 1e15).then(|| Dim::number(x as i64));
        Some(Val { expr, set, plates: Vec::new(), shape: Vec::new(), dim, levels: None })
    }

    /// A dimension used as a number.
    pub(crate) fn dim_value(&mut self, dim: Dim, span: Span) -> Option<Val> {
        if let Some(n) = dim.as_number() {
            return self.number(n as f64, true, span);
        }
        let set = if dim.is_positive() { Set::ORDINAL } else { Set::of(Elem::Count) };
        let expr = self.push(ExprKind::Dim(dim.clone()), set, Vec::new(), span)?;
        Some(Val { expr, set, plates: Vec::new(), shape: Vec::new(), dim: Some(dim), levels: None })
    }

    /// The number a literal is.
    pub(crate) fn literal(&self, v: &Val) -> Option<f64> {
        match self.exprs.get(v.expr).kind {
            ExprKind::Number(Bits(x)) => Some(x),
            _ => None,
        }
    }

    /// Whether every entry of a value lies in a set.
    pub(crate) fn fits(&self, v: &Val, wanted: Elem) -> bool {
        match self.literal(v) {
            Some(x) => match wanted {
                Elem::Real => true,
                Elem::NonNegative => x >= 0.0,
                Elem::Positive => x > 0.0,
                Elem::Unit => (0.0..=1.0).contains(&x),
                Elem::Int => x.fract() == 0.0,
                Elem::Count => x.fract() == 0.0 && x >= 0.0,
                Elem::Bool => x == 0.0 || x == 1.0,
                Elem::Category | Elem::Ordered | Elem::Increasing | Elem::Simplex => false,
            },
            None => v.set.fits(wanted),
        }
    }

    /// The extents of plates.
    pub(crate) fn extents(&self, plates: &[PlateId]) -> Vec<Dim> {
        plates.iter().map(|p| self.plates[p.0].extent.clone()).collect()
    }

    /// The plates of both, outer first.
    pub(crate) fn union(&self, a: &[PlateId], b: &[PlateId]) -> Vec<PlateId> {
        let mut all: Vec<PlateId> = a.iter().chain(b).copied().collect();
        all.sort_by_key(|p| (self.plates[p.0].depth, p.0));
        all.dedup();
        all
    }

    /// Reports an array of more than two axes, plates included.
    pub(crate) fn too_many_axes<T>(&mut self, plates: &[PlateId], shape: &[Dim], span: Span) -> Option<T> {
        let mut axes: Vec<String> = plates
            .iter()
            .map(|p| {
                format!("plate `{}` ({})", self.plates[p.0].name, self.show_dim(&self.plates[p.0].extent))
            })
            .collect();
        axes.extend(shape.iter().map(|d| self.show_dim(d)));
        self.fail(
            Diagnostic::error("E0303", format!("this has {} axes: {}", axes.len(), axes.join(", ")))
                .at(span, "at most two axes, plates included")
                .help("compute it outside the plate with `let`, or leave out one of the axes"),
        )
    }

    /// The whole array of `v` over the axes `plates`, then `shape`: repeated along the axes it lacks.
    /// `v.shape` is `shape` or empty. A scalar stays a scalar unless `full`.
    pub(crate) fn lift(
        &mut self,
        v: &Val,
        plates: &[PlateId],
        shape: &[Dim],
        full: bool,
        span: Span,
    ) -> Option<ExprId> {
        let mut dims = self.extents(plates);
        dims.extend(shape.iter().cloned());
        let mut has: Vec<bool> = plates.iter().map(|p| v.plates.contains(p)).collect();
        has.extend(shape.iter().map(|_| !v.is_scalar()));
        let (e, set) = (v.expr, v.set);
        match (has.as_slice(), dims.as_slice()) {
            ([true, false], [a, b]) => {
                self.push(ExprKind::RepeatColumns(e, b.clone()), set, vec![a.clone(), b.clone()], span)
            }
            ([false, true], [a, b]) => {
                self.push(ExprKind::RepeatRows(e, a.clone()), set, vec![a.clone(), b.clone()], span)
            }
            ([false], [a]) if full => {
                self.push(ExprKind::RepeatRows(e, a.clone()), set, vec![a.clone()], span)
            }
            ([false, false], [a, b]) if full => {
                let row = self.push(ExprKind::RepeatRows(e, b.clone()), set, vec![b.clone()], span)?;
                self.push(ExprKind::RepeatRows(row, a.clone()), set, vec![a.clone(), b.clone()], span)
            }
            _ => Some(e),
        }
    }

    /// The transpose of a matrix, without a `Transpose` where the operands can be turned instead.
    pub(crate) fn transpose(&mut self, e: ExprId, span: Span) -> Option<ExprId> {
        if let Some(simple) = self.turned(e, span) {
            return Some(simple);
        }
        let ty = self.exprs.get(e).ty.clone();
        let shape = ty.shape.iter().rev().cloned().collect();
        self.push(ExprKind::Transpose(e), Set::of(ty.elem), shape, span)
    }

    /// The transpose of `e`, if an operand makes it free.
    fn turned(&mut self, e: ExprId, span: Span) -> Option<ExprId> {
        if let Some(known) = self.transposed.get(&e) {
            return *known;
        }
        let ty = self.exprs.get(e).ty.clone();
        let set = Set::of(ty.elem);
        let shape: Vec<Dim> = ty.shape.iter().rev().cloned().collect();
        let scalar = |cx: &Self, e: ExprId| cx.exprs.get(e).ty.shape.is_empty();
        let result = match self.exprs.get(e).kind.clone() {
            ExprKind::Transpose(a) => Some(a),
            ExprKind::RepeatColumns(v, n) => self.push(ExprKind::RepeatRows(v, n), set, shape, span),
            ExprKind::RepeatRows(v, n) => self.push(ExprKind::RepeatColumns(v, n), set, shape, span),
            ExprKind::Neg(a) => match self.turned(a, span) {
                Some(a) => self.push(ExprKind::Neg(a), set, shape, span),
                None => None,
            },
            ExprKind::Elementwise(op, a, b) => {
                let ta = if scalar(self, a) { None } else { self.turned(a, span) };
                let tb = if scalar(self, b) { None } else { self.turned(b, span) };
                if ta.is_none() && tb.is_none() {
                    None
                } else {
                    let ta = if scalar(self, a) { Some(a) } else { ta.or_else(|| self.transpose(a, span)) };
                    let tb = if scalar(self, b) { Some(b) } else { tb.or_else(|| self.transpose(b, span)) };
                    match (ta, tb) {
                        (Some(a), Some(b)) => self.push(ExprKind::Elementwise(op, a, b), set, shape, span),
                        _ => None,
                    }
                }
            }
            ExprKind::MatMul(a, b) => {
                let (ta, tb) = (self.turned(a, span), self.turned(b, span));
                if ta.is_none() && tb.is_none() {
                    None
                } else {
                    let ta = ta.or_else(|| self.transpose(a, span));
                    let tb = tb.or_else(|| self.transpose(b, span));
                    match (tb, ta) {
                        (Some(b), Some(a)) => self.push(ExprKind::MatMul(b, a), set, shape, span),
                        _ => None,
                    }
                }
            }
            _ => None,
        };
        self.transposed.insert(e, result);
        result
    }

    /// A value from an array whose axes carry these labels: plates move to the front, outer first.
    pub(crate) fn arrange(
        &mut self,
        e: ExprId,
        labels: &[Option<PlateId>],
        set: Set,
        span: Span,
    ) -> Option<Val> {
        let dims = self.exprs.get(e).ty.shape.clone();
        let key = |l: &Option<PlateId>| l.map_or((1, 0, 0), |p| (0, self.plates[p.0].depth, p.0));
        let turned = labels.len() == 2 && key(&labels[0]) > key(&labels[1]);
        let expr = if turned { self.transpose(e, span)? } else { e };
        let mut pairs: Vec<(Option<PlateId>, Dim)> = labels.iter().copied().zip(dims).collect();
        if turned {
            pairs.reverse();
        }
        Some(Val {
            expr,
            set,
            plates: pairs.iter().filter_map(|(l, _)| *l).collect(),
            shape: pairs.iter().filter(|(l, _)| l.is_none()).map(|(_, d)| d.clone()).collect(),
            dim: None,
            levels: None,
        })
    }

    /// The whole array of `v` with its plates in the order `lead`, then `shape`; scalars stay scalars
    /// unless `full`.
    pub(crate) fn laid_out(
        &mut self,
        v: &Val,
        lead: &[PlateId],
        shape: &[Dim],
        full: bool,
        span: Span,
    ) -> Option<ExprId> {
        let sorted = self.union(lead, &[]);
        let e = self.lift(v, &sorted, shape, full, span)?;
        let is_matrix = self.exprs.get(e).ty.shape.len() == 2;
        if is_matrix && lead.len() == 2 && sorted != lead { self.transpose(e, span) } else { Some(e) }
    }

    /// The finished model: nodes in declaration order, only expressions that are used.
    pub(crate) fn finish(
        self,
        name: String,
        doc: Option<String>,
        span: Span,
        infer: crate::check::typed::Infer,
    ) -> Model {
        crate::check::finish::finish(
            self.nodes,
            self.order,
            &self.exprs,
            self.constraints,
            name,
            doc,
            span,
            infer,
            &self.hosts,
        )
    }
}
