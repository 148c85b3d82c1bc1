//! The typed model as text: every node with role, name, type and expression, in the notation of the language.

use std::fmt::Write;

use crate::check::dim::Dim;
use crate::check::finish::each_expr;
use crate::check::typed::{
    Bits, Columns, Dist, ExprId, ExprKind, Infer, Model, Node, NodeKind, Op, OptionValue, Type,
};

/// An expression longer than this, written out, has its shared parts named.
const LONG: u64 = 120;

/// `data`, `observed`, `constant`, `derived`, `param` or `latent`.
pub fn role(node: &Node) -> &'static str {
    match &node.kind {
        NodeKind::Data(d) if d.likelihood.is_some() => "observed",
        NodeKind::Data(_) => "data",
        NodeKind::Let { constant: true, .. } => "constant",
        NodeKind::Let { .. } => "derived",
        NodeKind::Param { .. } => "param",
        NodeKind::Latent(_) => "latent",
    }
}

/// The whole model, one node a line, in declaration order; stable.
pub fn print_typed(model: &Model) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "model {} {{", model.name);
    for node in &model.nodes {
        let mut text = Text::new(model, node);
        let ty = text.ty(&node.ty, node);
        let body = match &node.kind {
            NodeKind::Data(d) => {
                let from = columns(&d.from);
                let likelihood =
                    d.likelihood.as_ref().map(|l| format!(" ~ {}", text.dist(l))).unwrap_or_default();
                format!("{from}{likelihood}")
            }
            NodeKind::Let { value, .. } => format!(" = {}", text.expr(*value, 0)),
            NodeKind::Param { start } => start.map(|s| format!(" = {}", text.expr(s, 0))).unwrap_or_default(),
            NodeKind::Latent(d) => format!(" ~ {}", text.dist(d)),
        };
        let _ = writeln!(out, "    {} {}: {ty}{body}", role(node), node.name);
        for (name, value) in text.named() {
            let _ = writeln!(out, "        where {name} = {value}");
        }
    }
    for c in &model.constraints {
        let _ = writeln!(out, "    constraint {} = {}", show_dim(model, &c.left), show_dim(model, &c.right));
    }
    let _ = writeln!(out, "    infer {}", show_infer(&model.infer));
    out.push_str("}\n");
    out
}

/// One expression in the notation of the language.
pub fn print_expr(model: &Model, e: ExprId) -> String {
    Text { model, shared: Vec::new(), names: Vec::new() }.expr(e, 0)
}

/// A dimension with the names of nodes.
pub fn show_dim(model: &Model, dim: &Dim) -> String {
    dim.display(&|id| model.nodes.get(id.index()).map_or_else(|| "?".to_owned(), |n| n.name.clone()))
        .to_string()
}

fn columns(from: &Columns) -> String {
    let list = |names: &[String]| names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ");
    match from {
        Columns::Default => String::new(),
        Columns::One(c) => format!(" from column({c:?})"),
        Columns::Named(names) => format!(" from columns({})", list(names)),
        Columns::Except(names) => format!(" from except({})", list(names)),
    }
}

fn show_infer(infer: &Infer) -> String {
    let options: Vec<String> = infer
        .options
        .iter()
        .map(|(name, value, _)| match value {
            OptionValue::Number(x) => format!("{name} = {}", number(*x)),
            OptionValue::Word(w) => format!("{name} = {w}"),
        })
        .collect();
    let method = infer.method.as_deref().unwrap_or("auto");
    if options.is_empty() { method.to_owned() } else { format!("{method}({})", options.join(", ")) }
}

fn number(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-4 || x.abs() >= 1e15) { format!("{x:e}") } else { format!("{x}") }
}

/// Binding strength: sums, products, unary minus, powers, atoms.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const UNARY: u8 = 3;
const POWER: u8 = 4;
const ATOM: u8 = 5;

/// The expressions of one node as text.
struct Text<'m> {
    model: &'m Model,
    /// Expressions that get a name.
    shared: Vec<ExprId>,
    /// Those named so far, in order.
    names: Vec<ExprId>,
}

impl<'m> Text<'m> {
    fn new(model: &'m Model, node: &Node) -> Self {
        let mut roots = Vec::new();
        each_expr(&node.kind, &mut |e| roots.push(e));
        let shared = shared(model, &roots);
        Text { model, shared, names: Vec::new() }
    }

    /// The named parts, each after those it uses.
    fn named(mut self) -> Vec<(String, String)> {
        let mut out = Vec::new();
        let mut i = 0;
        while i < self.names.len() {
            let e = self.names[i];
            let value = self.inside(e, 0);
            out.push((format!("${}", i + 1), value));
            i += 1;
        }
        out
    }

    fn dim(&self, dim: &Dim) -> String {
        show_dim(self.model, dim)
    }

    fn ty(&self, ty: &Type, node: &Node) -> String {
        let levels = node.data().and_then(|d| d.levels.as_ref()).map(|levels| {
            let separator = if ty.elem == crate::dist::Elem::Ordered { " < " } else { ", " };
            format!("{{{}}}", levels.join(separator))
        });
        let dims: Vec<String> = ty.shape.iter().map(|d| self.dim(d)).collect();
        let shape = if dims.is_empty() { String::new() } else { format!("[{}]", dims.join(", ")) };
        format!("{}{}{shape}", ty.elem.name(), levels.unwrap_or_default())
    }

    fn dist(&mut self, d: &Dist) -> String {
        let args: Vec<String> =
            d.args.iter().map(|a| format!("{} = {}", a.name, self.expr(a.value, 0))).collect();
        let weight = d.weight.map(|w| format!(" weight {}", self.expr(w, 0))).unwrap_or_default();
        format!("{}({}){weight}", d.family.name, args.join(", "))
    }

    /// The expression, or the name of a shared one.
    fn expr(&mut self, e: ExprId, around: u8) -> String {
        if self.shared.binary_search(&e).is_ok() {
            let at = match self.names.iter().position(|n| *n == e) {
                Some(at) => at,
                None => {
                    self.names.push(e);
                    self.names.len() - 1
                }
            };
            return format!("${}", at + 1);
        }
        self.inside(e, around)
    }

    fn inside(&mut self, e: ExprId, around: u8) -> String {
        let (text, strength) = self.written(e);
        if strength < around { format!("({text})") } else { text }
    }

    fn list(&mut self, items: &[ExprId]) -> String {
        items.iter().map(|i| self.expr(*i, 0)).collect::<Vec<_>>().join(", ")
    }

    fn written(&mut self, e: ExprId) -> (String, u8) {
        let model = self.model;
        let kind = &model.expr(e).kind;
        let call = |name: &str, args: String| (format!("{name}({args})"), ATOM);
        match kind {
            ExprKind::Number(Bits(x)) => (number(*x), if *x < 0.0 { UNARY } else { ATOM }),
            ExprKind::Dim(d) => {
                let text = self.dim(d);
                let strength = if text.contains([' ', '/', '*']) { SUM } else { ATOM };
                (text, strength)
            }
            ExprKind::Range(d) => call("range", self.dim(d)),
            ExprKind::Node(id) => (model.node(*id).name.clone(), ATOM),
            ExprKind::Neg(a) => (format!("-{}", self.expr(*a, UNARY)), UNARY),
            ExprKind::Elementwise(op, a, b) => {
                let scalar = |e: ExprId| model.expr(e).ty.shape.is_empty();
                let either = scalar(*a) || scalar(*b);
                match op {
                    Op::Add => (format!("{} + {}", self.expr(*a, SUM), self.expr(*b, SUM + 1)), SUM),
                    Op::Sub => (format!("{} - {}", self.expr(*a, SUM), self.expr(*b, SUM + 1)), SUM),
                    Op::Mul => {
                        let sign = if either { "*" } else { ".*" };
                        (format!("{} {sign} {}", self.expr(*a, PRODUCT), self.expr(*b, PRODUCT + 1)), PRODUCT)
                    }
                    Op::Div => {
                        let sign = if scalar(*b) { "/" } else { "./" };
                        (format!("{} {sign} {}", self.expr(*a, PRODUCT), self.expr(*b, PRODUCT + 1)), PRODUCT)
                    }
                    Op::Pow => (format!("{}^{}", self.expr(*a, ATOM), self.expr(*b, POWER)), POWER),
                    Op::Min => call("min", self.list(&[*a, *b])),
                    Op::Max => call("max", self.list(&[*a, *b])),
                }
            }
            ExprKind::MatMul(a, b) => {
                (format!("{} * {}", self.expr(*a, PRODUCT), self.expr(*b, PRODUCT + 1)), PRODUCT)
            }
            ExprKind::RowDot(a, b) => call("row_dot", self.list(&[*a, *b])),
            ExprKind::Call(f, args) => call(f.name(), self.list(args)),
            ExprKind::Host(id, args) => {
                call(model.hosts.get(*id).map_or("?", |f| f.name.as_str()), self.list(args))
            }
            ExprKind::Join(items) | ExprKind::Vector(items) => (format!("[{}]", self.list(items)), ATOM),
            ExprKind::Gather { base, at } => {
                let columns = if model.expr(*base).ty.shape.len() == 2 { ", _" } else { "" };
                (format!("{}[{}{columns}]", self.expr(*base, ATOM), self.expr(*at, 0)), ATOM)
            }
            ExprKind::GatherColumns { base, at } => {
                (format!("{}[_, {}]", self.expr(*base, ATOM), self.expr(*at, 0)), ATOM)
            }
            ExprKind::GatherPairs { base, rows, cols } => (
                format!("{}[{}, {}]", self.expr(*base, ATOM), self.expr(*rows, 0), self.expr(*cols, 0)),
                ATOM,
            ),
            ExprKind::Row(a, i) => {
                let columns = if model.expr(*a).ty.shape.len() == 2 { ", _" } else { "" };
                (format!("{}[{}{columns}]", self.expr(*a, ATOM), i + 1), ATOM)
            }
            ExprKind::Column(a, j) => (format!("{}[_, {}]", self.expr(*a, ATOM), j + 1), ATOM),
            ExprKind::Transpose(a) => call("transpose", self.expr(*a, 0)),
            ExprKind::RepeatColumns(a, n) => {
                call("repeat_columns", format!("{}, {}", self.expr(*a, 0), self.dim(n)))
            }
            ExprKind::RepeatRows(a, n) => {
                call("repeat_rows", format!("{}, {}", self.expr(*a, 0), self.dim(n)))
            }
            ExprKind::AsColumn(a) => call("column", self.expr(*a, 0)),
            ExprKind::Train(a) => call("train", self.expr(*a, 0)),
            ExprKind::Standardize(a) => call("standardize", self.expr(*a, 0)),
            ExprKind::OneHot(a) => call("onehot", self.expr(*a, 0)),
        }
    }
}

/// Expressions worth a name: used several times, not small, in a text that would be long. Sorted.
fn shared(model: &Model, roots: &[ExprId]) -> Vec<ExprId> {
    // operands come before what uses them, so sizes follow in one pass over what is reached
    let mut reached = vec![false; model.exprs.len()];
    let mut uses = vec![0u32; model.exprs.len()];
    let mut todo: Vec<ExprId> = Vec::new();
    for r in roots {
        uses[r.index()] += 1;
        todo.push(*r);
    }
    let mut all = Vec::new();
    while let Some(e) = todo.pop() {
        if std::mem::replace(&mut reached[e.index()], true) {
            continue;
        }
        all.push(e);
        for o in model.expr(e).kind.operands() {
            uses[o.index()] += 1;
            todo.push(o);
        }
    }
    all.sort();
    let mut size = vec![0u64; model.exprs.len()];
    for e in &all {
        let operands = model.expr(*e).kind.operands();
        size[e.index()] = operands.iter().fold(1, |sum: u64, o| sum.saturating_add(size[o.index()]));
    }
    let total = roots.iter().fold(0u64, |s, r| s.saturating_add(size[r.index()]));
    if total <= LONG {
        return Vec::new();
    }
    all.retain(|e| uses[e.index()] > 1 && size[e.index()] > 4);
    all
}
