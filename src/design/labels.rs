//! Names of columns and of the entries of latent nodes, for people: `bias`, `bmi`, `bmi^2`,
//! `bmi*bp`, `sin(2 x)`, `row 38`, a level.
//!
//! A weight is named after the column of the design that it meets, an effect after its level.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::eval::Inputs;
use super::natives::{Rule, rule};
use super::value::Label;
use super::walk;
use crate::check::dim::{Atom, Dim};
use crate::check::typed::{ExprId, ExprKind, Model, Native, NodeId, NodeKind, Op};
use crate::host::{Form, HostId};

/// Definitions deeper than this have no name.
const DEEPEST: usize = 64;
/// Names longer than this help nobody.
const LONGEST: usize = 60;

/// The names of the columns of a matrix (one name for a vector or a scalar); positions where there
/// is nothing better.
pub fn columns(inputs: Inputs<'_>, e: ExprId) -> Vec<Label> {
    let names = Namer::new(inputs).columns(e, 0);
    names.iter().enumerate().map(|(i, n)| n.label(i)).collect()
}

/// The first expression that mentions a node; for a node that none mentions, one of its own definition.
pub fn expression_of(model: &Model, node: NodeId) -> ExprId {
    let reachable = walk::reachable(model);
    let mentions = |e: &&ExprId| matches!(&model.expr(**e).kind, ExprKind::Node(n) if *n == node);
    let own = || walk::definition(model, node).first().copied();
    reachable.iter().find(mentions).copied().or_else(own).unwrap_or(ExprId(0))
}

/// Names of the entries of nodes.
#[derive(Clone, Debug, Default)]
pub struct Labels(BTreeMap<NodeId, Vec<Label>>);

impl Labels {
    /// Of every latent node of a model.
    pub fn of(inputs: Inputs<'_>) -> Labels {
        let mut axes = Axes { namer: Namer::new(inputs), found: BTreeMap::new() };
        axes.meet();
        axes.inherit();
        let mut labels = BTreeMap::new();
        for node in inputs.model.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Latent(_))) {
            let named = axes.entries(node.id);
            if !named.is_empty() {
                labels.insert(node.id, named);
            }
        }
        Labels(labels)
    }

    /// The names of the entries of a node, column-major; empty if they have none.
    pub fn of_node(&self, node: NodeId) -> &[Label] {
        self.0.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// A name on its way.
#[derive(Clone, PartialEq, Debug)]
enum Name {
    None,
    /// One number for all rows; the text may be empty.
    Scalar(String),
    Bias,
    /// A kernel centred on a training row.
    Centre(usize),
    /// A kernel centred on a constant.
    At(String),
    Level(String),
    /// With how tightly it binds.
    Text(String, u8),
}

/// How tightly operators bind.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const POWER: u8 = 3;
const ATOM: u8 = 4;

impl Name {
    fn label(&self, position: usize) -> Label {
        match self {
            Name::None => Label::Index(position),
            Name::Scalar(_) | Name::Bias => Label::Bias,
            Name::Centre(row) => Label::Centre(*row),
            Name::At(place) => Label::Column(format!("at {place}")),
            Name::Level(level) => Label::Level(level.clone()),
            Name::Text(text, _) => Label::Column(text.clone()),
        }
    }

    fn text(text: String, tight: u8) -> Name {
        if text.chars().count() > LONGEST { Name::None } else { Name::Text(text, tight) }
    }

    /// As an operand of something that binds that tightly.
    fn operand(&self, tight: u8) -> Option<String> {
        match self {
            Name::Scalar(t) if !t.is_empty() => Some(t.clone()),
            Name::Level(t) => Some(t.clone()),
            Name::Text(t, mine) if *mine < tight => Some(format!("({t})")),
            Name::Text(t, _) => Some(t.clone()),
            _ => None,
        }
    }

    /// f(name), for a function entry by entry.
    fn mapped(&self, function: &str) -> Name {
        match self {
            Name::Centre(_) | Name::At(_) | Name::Bias => self.clone(),
            Name::Scalar(t) if t.is_empty() => self.clone(),
            Name::Scalar(t) => Name::Scalar(format!("{function}({t})")),
            other => match other.operand(0) {
                Some(t) => Name::text(format!("{function}({t})"), ATOM),
                None => Name::None,
            },
        }
    }

    fn combined(op: Op, a: &Name, b: &Name) -> Name {
        use Name::{At, Bias, Centre, Level, None, Scalar, Text};
        match (a, b) {
            (Centre(_) | At(_), Centre(_) | At(_)) => {
                if a == b {
                    a.clone()
                } else {
                    None
                }
            }
            (centre @ (Centre(_) | At(_)), Scalar(_) | Bias | Text(..) | Level(_))
            | (Scalar(_) | Bias | Text(..) | Level(_), centre @ (Centre(_) | At(_))) => centre.clone(),
            (Bias, Scalar(_) | Bias) | (Scalar(_), Bias) => Bias,
            (Bias, other) | (other, Bias) if op == Op::Mul => other.clone(),
            (Scalar(_), Scalar(_)) => match Name::operation(op, a, b) {
                Text(t, _) => Scalar(t),
                _ => Scalar(String::new()),
            },
            _ => Name::operation(op, a, b),
        }
    }

    fn operation(op: Op, a: &Name, b: &Name) -> Name {
        let written = |tight: u8, sign: &str, right: u8| {
            Some(Name::text(format!("{}{sign}{}", a.operand(tight)?, b.operand(right)?), tight))
        };
        let name = match op {
            Op::Add => written(SUM, " + ", SUM),
            Op::Sub => written(SUM, " - ", PRODUCT),
            Op::Mul if a == b => a.operand(ATOM).map(|t| Name::text(format!("{t}^2"), POWER)),
            Op::Mul => match (a, b) {
                (Name::Scalar(s), other) | (other, Name::Scalar(s)) if s.parse::<f64>().is_ok() => {
                    other.operand(PRODUCT).map(|t| Name::text(format!("{s} {t}"), PRODUCT))
                }
                _ => written(PRODUCT, "*", PRODUCT),
            },
            Op::Div => written(PRODUCT, "/", POWER),
            Op::Pow => written(POWER, "^", ATOM).map(|n| match (n, a.operand(ATOM), b.operand(ATOM)) {
                (Name::Text(..), Some(a), Some(b)) => Name::text(format!("{a}^{b}"), POWER),
                (n, ..) => n,
            }),
            Op::Min | Op::Max => a.operand(0).zip(b.operand(0)).map(|(a, b)| {
                let f = if op == Op::Min { "min" } else { "max" };
                Name::text(format!("{f}({a}, {b})"), ATOM)
            }),
        };
        name.unwrap_or(Name::None)
    }
}

/// Names expressions, each once.
struct Namer<'a> {
    inputs: Inputs<'a>,
    rows: BTreeSet<Atom>,
    memo: HashMap<ExprId, Rc<[Name]>>,
}

impl<'a> Namer<'a> {
    fn new(inputs: Inputs<'a>) -> Self {
        let leading =
            inputs.model.nodes.iter().filter(|n| n.is_observed()).filter_map(|n| n.ty.shape.first());
        let rows = leading.filter_map(|d| d.as_atom().cloned()).collect();
        Namer { inputs, rows, memo: HashMap::new() }
    }

    /// One name for each column; one for a vector or a scalar.
    fn columns(&mut self, e: ExprId, depth: usize) -> Rc<[Name]> {
        if let Some(names) = self.memo.get(&e) {
            return names.clone();
        }
        let model = self.inputs.model;
        let expr = model.expr(e);
        let width = self.inputs.shape(&expr.ty).map_or(0, |s| s.2);
        let scalar = expr.ty.shape.is_empty();
        let unnamed = if scalar { Name::Scalar(String::new()) } else { Name::None };
        let mut names = if depth > DEEPEST { Vec::new() } else { self.named(&expr.kind, depth + 1) };
        names.resize(width, unnamed);
        let names: Rc<[Name]> = names.into();
        self.memo.insert(e, names.clone());
        names
    }

    /// The names of an expression's columns, or none.
    fn named(&mut self, kind: &ExprKind, depth: usize) -> Vec<Name> {
        let model = self.inputs.model;
        let rank = |e: ExprId| model.expr(e).ty.shape.len();
        match kind {
            ExprKind::Number(x) => vec![Name::Scalar(x.0.to_string())],
            ExprKind::Dim(d) => {
                vec![Name::Scalar(self.inputs.dim(d).map_or(String::new(), |n| n.to_string()))]
            }
            ExprKind::Node(node) => self.node(*node, depth),
            ExprKind::Neg(a) => {
                let minus = |n: &Name| match n {
                    Name::Centre(_) | Name::At(_) | Name::Bias => n.clone(),
                    Name::Scalar(t) if t.is_empty() => n.clone(),
                    Name::Scalar(t) => Name::Scalar(format!("-{t}")),
                    n => n.operand(PRODUCT).map_or(Name::None, |t| Name::text(format!("-{t}"), PRODUCT)),
                };
                self.columns(*a, depth).iter().map(minus).collect()
            }
            ExprKind::Elementwise(op, a, b) => self.combine(*op, *a, *b, depth),
            ExprKind::MatMul(a, b) if rank(*a) == 0 || rank(*b) == 0 => self.combine(Op::Mul, *a, *b, depth),
            ExprKind::Call(native, args) => self.call(*native, args, depth),
            ExprKind::Host(id, args) => self.host(*id, args, depth),
            ExprKind::Join(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    let names = self.columns(*part, depth);
                    let constant = |n: &Name| matches!(n, Name::Scalar(_));
                    all.extend(names.iter().map(|n| if constant(n) { Name::Bias } else { n.clone() }));
                }
                all
            }
            ExprKind::Gather { base, at } if rank(*base) == 1 => {
                let (base, at) = (self.columns(*base, depth), self.columns(*at, depth));
                match (base.first().and_then(|n| n.operand(ATOM)), at.first().and_then(|n| n.operand(0))) {
                    (Some(base), Some(at)) => vec![Name::text(format!("{base}[{at}]"), ATOM)],
                    _ => Vec::new(),
                }
            }
            ExprKind::Gather { base: a, .. }
            | ExprKind::AsColumn(a)
            | ExprKind::Train(a)
            | ExprKind::Standardize(a) => self.columns(*a, depth).to_vec(),
            ExprKind::Row(a, i) if rank(*a) == 1 => {
                let base = self.columns(*a, depth);
                let base = base.first().and_then(|n| n.operand(ATOM));
                vec![Name::Scalar(base.map_or(String::new(), |b| format!("{b}[{}]", i + 1)))]
            }
            ExprKind::Column(a, j) => self.columns(*a, depth).get(*j).cloned().into_iter().collect(),
            ExprKind::Transpose(a) => self.entries(*a, depth),
            ExprKind::RepeatColumns(a, n) => {
                let count = self.inputs.dim(n).unwrap_or(0);
                let name = self.columns(*a, depth).first().cloned().unwrap_or(Name::None);
                vec![name; count]
            }
            ExprKind::RepeatRows(a, _) if rank(*a) == 0 => self.columns(*a, depth).to_vec(),
            ExprKind::RepeatRows(a, _) => self.entries(*a, depth),
            ExprKind::OneHot(a) => self.levels_of(*a),
            ExprKind::Range(_)
            | ExprKind::MatMul(..)
            | ExprKind::RowDot(..)
            | ExprKind::Vector(_)
            | ExprKind::GatherColumns { .. }
            | ExprKind::GatherPairs { .. }
            | ExprKind::Row(..) => Vec::new(),
        }
    }

    fn node(&mut self, id: NodeId, depth: usize) -> Vec<Name> {
        let model = self.inputs.model;
        let Some(node) = model.nodes.get(id.index()) else { return Vec::new() };
        let own = match node.ty.shape.len() {
            0 => return vec![Name::Scalar(node.name.clone())],
            rank => (rank == 1).then(|| Name::text(node.name.clone(), ATOM)),
        };
        match (&node.kind, own) {
            (NodeKind::Data(_), own) => match self.inputs.columns.get(&id) {
                Some(names) => names.iter().map(|n| Name::text(n.clone(), ATOM)).collect(),
                None => own.into_iter().collect(),
            },
            (NodeKind::Let { value, .. }, None) => self.columns(*value, depth).to_vec(),
            (_, own) => own.into_iter().collect(),
        }
    }

    fn combine(&mut self, op: Op, a: ExprId, b: ExprId, depth: usize) -> Vec<Name> {
        let (a, b) = (self.columns(a, depth), self.columns(b, depth));
        let width = a.len().max(b.len());
        let at = |names: &[Name], i: usize| {
            names.get(if names.len() == 1 { 0 } else { i }).cloned().unwrap_or(Name::None)
        };
        (0..width).map(|i| Name::combined(op, &at(&a, i), &at(&b, i))).collect()
    }

    fn call(&mut self, native: Native, args: &[ExprId], depth: usize) -> Vec<Name> {
        match (rule(native), args) {
            (Rule::Map(function, ..), [a]) => {
                self.columns(*a, depth).iter().map(|n| n.mapped(function)).collect()
            }
            (Rule::Reduce(..), [a]) => {
                let text = match &*self.columns(*a, depth) {
                    [one] => one.operand(0),
                    _ => None,
                };
                let function = format!("{native:?}").to_lowercase();
                vec![Name::Scalar(text.map_or(String::new(), |t| format!("{function}({t})")))]
            }
            (Rule::Pairs(..), [_, c, ..]) => self.centres(*c, depth),
            (Rule::Monomials(f), [x, rest @ ..]) => {
                let inputs = self.columns(*x, depth);
                // the degree is a number of the program
                let degree = rest.first().and_then(|p| match &*self.columns(*p, depth) {
                    [Name::Scalar(t)] => t.parse::<f64>().ok(),
                    _ => None,
                });
                f(inputs.len(), degree.unwrap_or(0.0).clamp(0.0, 1e6) as usize)
                    .iter()
                    .map(|term| monomial(&inputs, term))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// `f(x)`; `wavelet 1`, `wavelet 2` …; the centres of a kernel.
    fn host(&mut self, id: HostId, args: &[ExprId], depth: usize) -> Vec<Name> {
        let model = self.inputs.model;
        let Some(function) = model.hosts.get(id) else { return Vec::new() };
        match (function.form, args) {
            (Form::Map, [a]) => self.columns(*a, depth).iter().map(|n| n.mapped(&function.name)).collect(),
            (Form::Features(_), [x, ..]) => {
                let inputs = self.inputs.shape(&model.expr(*x).ty).map_or(0, |s| s.2);
                let count = function.outputs(inputs).min(1_000_000);
                (1..=count).map(|j| Name::text(format!("{} {j}", function.name), SUM)).collect()
            }
            (Form::Kernel, [_, c, ..]) => self.centres(*c, depth),
            _ => Vec::new(),
        }
    }

    /// The centres of a kernel.
    fn centres(&mut self, e: ExprId, depth: usize) -> Vec<Name> {
        let mut names = self.entries(e, depth);
        for name in &mut names {
            if let Name::Text(place, _) = name {
                *name = Name::At(std::mem::take(place));
            }
        }
        names
    }

    /// One name for each row of a matrix, or each entry of a vector.
    fn entries(&mut self, e: ExprId, depth: usize) -> Vec<Name> {
        let model = self.inputs.model;
        let expr = model.expr(e);
        let rows = self.inputs.shape(&expr.ty).map_or(0, |s| s.1);
        if let Some(named) = expr.ty.shape.first().and_then(|d| self.along(d)) {
            return named;
        }
        if depth > DEEPEST {
            return vec![Name::None; rows];
        }
        let mut names = match &expr.kind {
            ExprKind::Transpose(a) => self.columns(*a, depth + 1).to_vec(),
            ExprKind::Row(a, _) if expr.ty.shape.len() == 1 => self.columns(*a, depth + 1).to_vec(),
            ExprKind::Vector(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    let name = self.columns(*part, depth + 1).first().and_then(|n| n.operand(0));
                    all.push(name.map_or(Name::None, |t| Name::text(t, ATOM)));
                }
                all
            }
            ExprKind::Node(id) => match model.nodes.get(id.index()).map(|n| (&n.kind, &n.name)) {
                Some((NodeKind::Let { value, .. }, _)) => self.entries(*value, depth + 1),
                // rows of a table of constants
                Some((NodeKind::Data(_), name)) => {
                    (1..=rows).map(|i| Name::text(format!("{name}[{i}]"), ATOM)).collect()
                }
                _ => Vec::new(),
            },
            ExprKind::AsColumn(a) | ExprKind::RepeatColumns(a, _) | ExprKind::Standardize(a) => {
                self.entries(*a, depth + 1)
            }
            _ => Vec::new(),
        };
        names.resize(rows, Name::None);
        names
    }

    /// Names along a dimension that has some: levels, rows of the training data.
    fn along(&self, dim: &Dim) -> Option<Vec<Name>> {
        let size = self.inputs.dim(dim).ok()?;
        match dim.as_atom()? {
            Atom::Levels(node) => {
                let levels = self.inputs.levels.get(node)?;
                Some(levels.iter().map(|l| Name::Level(l.clone())).collect())
            }
            Atom::Train(_) => Some((0..size).map(Name::Centre).collect()),
            atom if self.rows.contains(atom) => Some((0..size).map(Name::Centre).collect()),
            Atom::Symbol(_) => None,
        }
    }

    fn levels_of(&self, mut e: ExprId) -> Vec<Name> {
        let model = self.inputs.model;
        for _ in 0..=model.nodes.len() {
            match &model.expr(e).kind {
                ExprKind::Node(id) if self.inputs.levels.contains_key(id) => {
                    let levels = self.inputs.levels.get(id).map_or(&[][..], Vec::as_slice);
                    return levels.iter().map(|l| Name::Level(l.clone())).collect();
                }
                _ => match walk::through_lets(model, e).as_slice() {
                    [value] => e = *value,
                    _ => return Vec::new(),
                },
            }
        }
        Vec::new()
    }
}

/// `bmi*bp`, `bmi^2`
fn monomial(inputs: &[Name], term: &[(usize, u32)]) -> Name {
    let mut text = Vec::new();
    for (column, power) in term {
        match (inputs.get(*column), power) {
            (Some(one @ (Name::Centre(_) | Name::At(_))), _) if term.len() == 1 => return one.clone(),
            (Some(name), 1) => text.push(name.operand(PRODUCT)),
            (Some(name), p) => text.push(name.operand(ATOM).map(|t| format!("{t}^{p}"))),
            (None, _) => return Name::None,
        }
    }
    let tight = match term {
        [(_, 1)] => ATOM,
        [_] => POWER,
        _ => PRODUCT,
    };
    text.into_iter().collect::<Option<Vec<_>>>().map_or(Name::None, |t| Name::text(t.join("*"), tight))
}

/// An axis of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Rows,
    Cols,
}

/// Names along the axes of latent nodes, from the designs that they meet.
struct Axes<'a> {
    namer: Namer<'a>,
    found: BTreeMap<(NodeId, Side), Rc<[Name]>>,
}

impl Axes<'_> {
    fn model(&self) -> &Model {
        self.namer.inputs.model
    }

    /// Every product names the axes that it sums over.
    fn meet(&mut self) {
        let model = self.namer.inputs.model;
        let rank = |e: ExprId| model.expr(e).ty.shape.len();
        for e in walk::reachable(model) {
            match &model.expr(e).kind {
                ExprKind::MatMul(a, b) if rank(*a) > 0 && rank(*b) > 0 => {
                    if rank(*a) == 2 {
                        let names = self.namer.columns(*a, 0);
                        self.name(*b, Side::Rows, names);
                    }
                    let names = self.namer.entries(*b, 0).into();
                    self.name(*a, if rank(*a) == 2 { Side::Cols } else { Side::Rows }, names);
                }
                ExprKind::RowDot(a, b) | ExprKind::Elementwise(Op::Mul, a, b)
                    if rank(*a) == 2 && rank(*b) == 2 =>
                {
                    let names = self.namer.columns(*a, 0);
                    self.name(*b, Side::Cols, names);
                    let names = self.namer.columns(*b, 0);
                    self.name(*a, Side::Cols, names);
                }
                _ => {}
            }
        }
    }

    /// A precision is named as what it scales.
    fn inherit(&mut self) {
        let model = self.namer.inputs.model;
        // from children to parents: an inner node of a prior stands before the node it serves
        for node in model.nodes.iter().rev() {
            let (NodeKind::Latent(dist), rank @ 1..) = (&node.kind, node.ty.shape.len()) else { continue };
            for side in [Side::Rows, Side::Cols].into_iter().take(rank) {
                if let Some(names) = self.axis(node.id, side) {
                    for arg in &dist.args {
                        if model.expr(arg.value).ty.shape.len() == rank {
                            self.name(arg.value, side, names.clone());
                        }
                    }
                }
            }
        }
    }

    /// Pushes names down to the latent nodes whose axis it is; the first names stay.
    fn name(&mut self, e: ExprId, side: Side, names: Rc<[Name]>) {
        if names.iter().all(|n| matches!(n, Name::None | Name::Scalar(_))) {
            return;
        }
        let model = self.namer.inputs.model;
        let mut seen = BTreeSet::new();
        let mut todo = vec![(e, side)];
        while let Some((e, side)) = todo.pop() {
            if !seen.insert((e, side)) {
                continue;
            }
            let rank = |e: ExprId| model.expr(e).ty.shape.len();
            match (&model.expr(e).kind, side) {
                (ExprKind::Node(id), _) => match model.nodes.get(id.index()).map(|n| &n.kind) {
                    Some(NodeKind::Let { value, .. }) => todo.push((*value, side)),
                    Some(NodeKind::Latent(_)) => {
                        self.found.entry((*id, side)).or_insert_with(|| names.clone());
                    }
                    _ => {}
                },
                (ExprKind::Neg(a), _) => todo.push((*a, side)),
                (ExprKind::Elementwise(_, a, b), _) => {
                    todo.extend([*b, *a].into_iter().filter(|x| rank(*x) > 0).map(|x| (x, side)));
                }
                (ExprKind::Call(native, args), _) if matches!(rule(*native), Rule::Map(..)) => {
                    todo.extend(args.iter().map(|a| (*a, side)));
                }
                (ExprKind::Host(id, args), _)
                    if model.hosts.get(*id).is_some_and(|f| f.form == Form::Map) =>
                {
                    todo.extend(args.iter().filter(|x| rank(**x) > 0).map(|a| (*a, side)));
                }
                (ExprKind::Transpose(a), Side::Rows) => todo.push((*a, Side::Cols)),
                (ExprKind::Transpose(a), Side::Cols) => todo.push((*a, Side::Rows)),
                (ExprKind::RepeatRows(a, _), Side::Cols) => todo.push((*a, Side::Rows)),
                (
                    ExprKind::RepeatColumns(a, _) | ExprKind::AsColumn(a) | ExprKind::Column(a, _),
                    Side::Rows,
                ) => {
                    todo.push((*a, Side::Rows));
                }
                (ExprKind::Row(a, _), Side::Rows) if rank(*a) == 2 => todo.push((*a, Side::Cols)),
                (ExprKind::Gather { base, .. }, Side::Cols) => todo.push((*base, Side::Cols)),
                (ExprKind::GatherColumns { base, .. }, Side::Rows) => todo.push((*base, Side::Rows)),
                _ => {}
            }
        }
    }

    /// The names along an axis of a node, if it has any.
    fn axis(&self, id: NodeId, side: Side) -> Option<Rc<[Name]>> {
        let node = self.model().nodes.get(id.index())?;
        let dim = node.ty.shape.get(if side == Side::Rows { 0 } else { 1 })?;
        let size = self.namer.inputs.dim(dim).ok()?;
        match dim.as_atom() {
            Some(Atom::Levels(_)) => self.namer.along(dim).map(Rc::from),
            _ => self.found.get(&(id, side)).filter(|n| n.len() == size).cloned(),
        }
    }

    /// The names of the entries of a node, column-major; empty if neither axis has any.
    fn entries(&self, id: NodeId) -> Vec<Label> {
        let Some(node) = self.model().nodes.get(id.index()) else { return Vec::new() };
        let Ok((_, rows, cols)) = self.namer.inputs.shape(&node.ty) else { return Vec::new() };
        let (by_row, by_col) = (self.axis(id, Side::Rows), self.axis(id, Side::Cols));
        if node.ty.shape.len() < 2 {
            return by_row
                .map(|n| n.iter().enumerate().map(|(i, n)| n.label(i)).collect())
                .unwrap_or_default();
        }
        if by_row.is_none() && by_col.is_none() {
            return Vec::new();
        }
        let one = |names: &Option<Rc<[Name]>>, i: usize| match names.as_ref().and_then(|n| n.get(i)) {
            Some(name) => name.label(i).to_string(),
            None => (i + 1).to_string(),
        };
        let mut all = Vec::new();
        for j in 0..cols {
            all.extend((0..rows).map(|i| Label::Column(format!("{}, {}", one(&by_row, i), one(&by_col, j)))));
        }
        all
    }
}
