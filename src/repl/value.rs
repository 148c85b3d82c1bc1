//! Expressions at the prompt: the language over data and fit.
//!
//! An expression is checked as a `let` of the program, so functions, shapes and messages are those of the
//! language. What the fit knows takes the place of its names: `w` is the posterior mean, `tau` its estimate,
//! `mean(w)` and `sd(w)` the moments of its posterior, `relevant(w)` the indices of what is kept or has
//! q² > s, `evidence` the objective.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::DMatrix;
use sbl::check::typed::{Model as Typed, NodeId, NodeKind};
use sbl::check::{self, print::show_dim};
use sbl::design::{Evaluator, Frozen, Inputs, Rank, Value, Want, Why};
use sbl::diag::{Diagnostic, Diagnostics};
use sbl::session::bind::{Bound, bind_training, diagnose};
use sbl::session::result::NodeResult;
use sbl::source::{SourceMap, Span};
use sbl::syntax::ast::{
    Arg, Expr, ExprKind, Ident, Item, LetStmt, Module, Statement, StatementKind, TypeExpr,
};
use sbl::syntax::{parse, parse_expr};

use super::engine::nothing_yet;
use super::state::State;
use crate::cli::compile::Disk;
use crate::cli::failure::{Exit, Failure};

/// Bytes that an expression may take at a time.
const MEMORY: usize = 1 << 30;
/// The name of the expression as a node; no program can write it.
const ANSWER: &str = "the answer";

/// The value of an expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Its type with numbers for dimensions: `real[101]`.
    pub ty: String,
    /// Its entries.
    pub value: Value,
    /// The names of levels, where entries are levels.
    pub levels: Vec<String>,
    /// Whether unknowns stand in it at their posterior means.
    pub at_means: bool,
}

/// Something the fit knows, in the place of an expression.
struct Given {
    name: String,
    elem: String,
    value: Value,
}

/// The value of an expression in a session.
///
/// # Errors
/// A syntax error, a name or shape that does not fit, something that has no value yet.
pub fn evaluate(state: &State, text: &str) -> Result<Answer, Failure> {
    let mut sources = SourceMap::new();
    let program = sources.add(&state.program.file, &state.program.text);
    let input = sources.add("input", text);
    let fail = |diagnostics: Diagnostics, sources: &SourceMap| Failure {
        exit: Exit::Wrong,
        diagnostics,
        sources: sources.clone(),
    };
    let parsed = parse_expr(input, sources.text(input)).map_err(|found| fail(found, &sources))?;
    let mut expr = parsed.value;
    let module = parse(program, sources.text(program)).map_err(|found| fail(found, &sources))?;

    let mut known = Known { state, given: BTreeMap::new(), at_means: false };
    known.replace(&mut expr).map_err(|found| fail(vec![found], &sources))?;
    let Known { given, at_means, .. } = known;

    let module = extended(module.value, state.program.current.as_deref(), expr, &given);
    let options = check::Options { set: state.set.clone(), ..check::Options::default() };
    let typed =
        check::check(&mut sources, &module, &options, &Disk).map_err(|found| fail(found, &sources))?;
    let current = state.program.current.as_deref();
    let Some(typed) = typed.value.into_iter().find(|m| current.is_none_or(|c| m.name == c)) else {
        return Err(nothing_yet("there is no model", "state one line by line, or load one: `:load FILE`"));
    };
    compute(state, &typed, &given, at_means).map_err(|found| fail(found, &sources))
}

/// The module with the expression as one more `let` of its model, and a parameter for everything given.
fn extended(
    mut module: Module,
    current: Option<&str>,
    expr: Expr,
    given: &BTreeMap<String, Given>,
) -> Module {
    let span = expr.span;
    let name = |text: &str| Ident::new(text.to_owned(), span);
    let number = |n: usize| Expr { kind: ExprKind::Number(n as f64, n.to_string()), span };
    let statement = |kind| Statement { doc: None, kind, span };
    let mut added: Vec<Statement> = given
        .values()
        .map(|g| {
            let dims = match g.value.rank {
                Rank::Scalar => Vec::new(),
                Rank::Vector => vec![number(g.value.rows())],
                Rank::Matrix => vec![number(g.value.rows()), number(g.value.cols())],
            };
            let ty = TypeExpr { elem: name(&g.elem), levels: None, dims, span };
            statement(StatementKind::Param { name: name(&g.name), ty, start: None })
        })
        .collect();
    let value = LetStmt { name: name(ANSWER), indices: Vec::new(), value: expr, span };
    added.push(statement(StatementKind::Let(value)));
    let model = module.items.iter_mut().find_map(|item| match item {
        Item::Model(m) if current.is_none_or(|c| m.name.node == c) => Some(m),
        _ => None,
    });
    match model {
        Some(model) => model.body.extend(added),
        None => module.items.extend(added.into_iter().map(Item::Statement)),
    }
    module
}

fn compute(
    state: &State,
    typed: &Typed,
    given: &BTreeMap<String, Given>,
    at_means: bool,
) -> Result<Answer, Diagnostics> {
    let node = typed.find(ANSWER).map(|id| typed.node(id));
    let Some((node, NodeKind::Let { value: e, .. })) = node.map(|n| (n, &n.kind)) else {
        return Err(vec![Diagnostic::error("E0793", "the expression has no value")]);
    };
    let data = state.data.as_deref();
    // data that do not fit matter only if the expression needs them
    let (mut bound, unbound) = match data.map(|d| bind_training(typed, d)) {
        Some(Ok(bound)) => (bound.value, None),
        Some(Err(found)) => (Bound::default(), Some(found)),
        None => (Bound::default(), None),
    };
    let mut learned = Vec::new();
    for n in &typed.nodes {
        if let Some(given) = given.get(&n.name) {
            bound.values.insert(n.id, Arc::new(given.value.clone()));
        } else if let Some(value) = known_value(state, &n.name) {
            learned.push(n.id);
            bound.values.insert(n.id, Arc::new(value));
        }
    }
    let inputs: Inputs<'_> = bound.inputs(typed);
    let frozen = Frozen::learn(inputs, MEMORY).map(|f| f.0);
    let nothing = Frozen::default();
    let frozen_or = frozen.as_ref().unwrap_or(&nothing);
    let mut eval = Evaluator::new(inputs, frozen_or, MEMORY);
    let value = eval.eval(*e, &Want::all()).map_err(|error| match (&error.why, &unbound, &frozen) {
        (Why::NoValue(id), None, _) => vec![no_value(typed, *id)],
        (Why::NoDim(_) | Why::NoValue(_) | Why::NotKept, Some(found), _) => found.clone(),
        (Why::NoDim(dim), None, _) => {
            vec![
                Diagnostic::error(
                    "E0793",
                    format!("the dimension `{dim}` is not known before data are bound"),
                )
                .help("bind some: `:data FILE`"),
            ]
        }
        (Why::NotKept, None, Err(first)) => vec![match first.why {
            Why::NoValue(id) => no_value(typed, id),
            _ => diagnose(typed, data, first),
        }],
        _ => vec![diagnose(typed, data, &error)],
    })?;
    let dims: Vec<String> = match value.rank {
        Rank::Scalar => Vec::new(),
        Rank::Vector => vec![value.rows().to_string()],
        Rank::Matrix => vec![value.rows().to_string(), value.cols().to_string()],
    };
    let shape = if dims.is_empty() { String::new() } else { format!("[{}]", dims.join(", ")) };
    let source = match typed.expr(*e).kind {
        check::typed::ExprKind::Node(id) => Some(id),
        _ => None,
    };
    let through_lets = mentions_any(typed, *e, &learned);
    let levels = source.and_then(|id| bound.levels.get(&id)).cloned().unwrap_or_default();
    let indices = source.is_some_and(|id| typed.node(id).name.starts_with("relevant("));
    Ok(Answer {
        ty: format!("{}{shape}", if indices { "count" } else { node.ty.elem.name() }),
        value: (*value).clone(),
        levels,
        at_means: at_means || through_lets,
    })
}

/// Whether an expression depends on one of these nodes.
fn mentions_any(typed: &Typed, e: check::typed::ExprId, nodes: &[NodeId]) -> bool {
    let found = sbl::graph::walk::latents(typed, e);
    nodes.iter().any(|n| found.contains(n))
}

fn no_value(typed: &Typed, id: NodeId) -> Diagnostic {
    let Some(node) = typed.nodes.get(id.index()) else {
        return Diagnostic::error("E0793", "the expression has no value");
    };
    let shape: Vec<String> = node.ty.shape.iter().map(|d| show_dim(typed, d)).collect();
    let shape = if shape.is_empty() { String::new() } else { format!("[{}]", shape.join(", ")) };
    let (what, help) = match node.kind {
        NodeKind::Data(_) => ("has no value before data are bound", "bind some: `:data FILE`"),
        _ => ("has no value before a fit", "make one: `:fit`"),
    };
    Diagnostic::error("E0793", format!("`{}` ({}{shape}) {what}", node.name, node.ty.elem.name())).help(help)
}

/// What takes the place of names and calls.
struct Known<'s> {
    state: &'s State,
    given: BTreeMap<String, Given>,
    at_means: bool,
}

impl Known<'_> {
    /// Puts what the fit knows into an expression.
    fn replace(&mut self, expr: &mut Expr) -> Result<(), Diagnostic> {
        let span = expr.span;
        if let ExprKind::Call(function, args) = &mut expr.kind
            && let [Arg { name: None, value }] = args.as_mut_slice()
            && matches!(function.node.as_str(), "mean" | "sd" | "relevant")
            && let Some(node) = base(value).and_then(|name| self.unknown(&name).map(|_| name))
        {
            let what = function.node.clone();
            let mut inner = std::mem::replace(value, Expr { kind: ExprKind::Join(Vec::new()), span });
            let name = self.moment(&what, &node, span)?;
            self.indices(&mut inner)?;
            rename(&mut inner, &name);
            *expr = inner;
            return Ok(());
        }
        let own = match &expr.kind {
            ExprKind::Name(name) => Some(name.clone()),
            ExprKind::Path(parts) => Some(joined(parts)),
            _ => None,
        };
        if let Some(name) = own {
            if name == "evidence" && self.is_free(&name) {
                let Some(fit) = &self.state.fit else {
                    return Err(Diagnostic::error("E0793", "there is no evidence before a fit")
                        .at(span, "a number of the fit")
                        .help("make one: `:fit`"));
                };
                let value = Value::scalar(fit.objective());
                self.given.insert(name.clone(), Given { name, elem: "real".to_owned(), value });
            } else if let Some(node) = self.result(&name)
                && let Some(value) = dense(&node, Moment::Mean)
            {
                self.at_means |= node.sd.is_some() || node.gamma_shape.is_some();
                let given = format!("value of {name}");
                let elem = if node.sd.is_some() { "real" } else { self.elem(&name) }.to_owned();
                self.given.insert(given.clone(), Given { name: given.clone(), elem, value });
                expr.kind = ExprKind::Name(given);
            }
            return Ok(());
        }
        for inner in children(expr) {
            self.replace(inner)?;
        }
        Ok(())
    }

    /// Replaces inside the indices only: `w[3]` in `mean(w[3])`.
    fn indices(&mut self, expr: &mut Expr) -> Result<(), Diagnostic> {
        match &mut expr.kind {
            ExprKind::Paren(inner) => self.indices(inner),
            ExprKind::Index(inner, at) => {
                self.indices(inner)?;
                at.iter_mut().flatten().try_for_each(|e| self.replace(e))
            }
            _ => Ok(()),
        }
    }

    /// A moment of an unknown, by name.
    fn moment(&mut self, what: &str, node: &str, span: Span) -> Result<String, Diagnostic> {
        let Some(result) = self.result(node) else {
            return Err(Diagnostic::error("E0793", format!("`{node}` has no value before a fit"))
                .at(span, "a question to the fit")
                .help("make one: `:fit`"));
        };
        let value = match what {
            "relevant" => relevant(&result),
            "sd" => dense(&result, Moment::Sd),
            _ => dense(&result, Moment::Mean),
        };
        let Some(value) = value else {
            let why = match what {
                "relevant" => "has no entries that could be irrelevant",
                "sd" => "is a point estimate and has no deviation",
                _ => "has no mean",
            };
            return Err(Diagnostic::error("E0793", format!("`{node}` {why}")).at(span, "asked for here"));
        };
        if value.array.is_empty() {
            return Err(Diagnostic::error(
                "E0793",
                format!("nothing of `{node}` is relevant: every entry was pruned"),
            )
            .at(span, "asked for here"));
        }
        let name = format!("{what}({node})");
        // indices are no parameters; their type is put right when they are shown
        let elem = if what == "relevant" { "positive" } else { "real" }.to_owned();
        self.given.insert(name.clone(), Given { name: name.clone(), elem, value });
        Ok(name)
    }

    /// A node that only a fit knows.
    fn unknown(&self, name: &str) -> Option<()> {
        if self.result(name).is_some() {
            return Some(());
        }
        let dag = self.state.model.as_ref()?.dag();
        let node = dag.node(dag.find(name).ok()?);
        matches!(
            node.role,
            sbl::graph::dag::Role::Latent | sbl::graph::dag::Role::Hyper | sbl::graph::dag::Role::Param
        )
        .then_some(())
    }

    /// Whether no node has the name.
    fn is_free(&self, name: &str) -> bool {
        self.state.model.as_ref().is_none_or(|m| m.typed().find(name).is_none())
    }

    fn result(&self, name: &str) -> Option<NodeResult> {
        let node = self.state.fit.as_ref()?.node(name).ok()?;
        dense(&node, Moment::Mean).is_some().then_some(node)
    }

    /// The element set of a node, where it is one that a parameter can have.
    fn elem(&self, name: &str) -> &'static str {
        let typed = self.state.fit.as_ref().map(|f| f.model().typed());
        let node = typed.and_then(|t| t.find(name).map(|id| t.node(id)));
        match node.map(|n| n.ty.elem.name()) {
            Some("positive") => "positive",
            Some("unit") => "unit",
            _ => "real",
        }
    }
}

/// The value of an unknown of the fit.
fn known_value(state: &State, name: &str) -> Option<Value> {
    dense(&state.fit.as_ref()?.node(name).ok()?, Moment::Mean)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Mean,
    Sd,
}

/// The entries of a node of a fit; pruned weights are 0, their precisions infinite.
fn dense(node: &NodeResult, moment: Moment) -> Option<Value> {
    let gamma_sd: Vec<f64>;
    let entries = match moment {
        Moment::Mean => node.mean.as_ref().or(node.value.as_ref())?.as_slice(),
        Moment::Sd => match (&node.sd, &node.gamma_shape, &node.rate) {
            (Some(sd), ..) => sd.as_slice(),
            (None, Some(a), Some(b)) => {
                // √a / b
                gamma_sd = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a.sqrt() / b).collect();
                &gamma_sd
            }
            _ => return None,
        },
    };
    let total: usize = node.shape.iter().product();
    let pruned = if node.mean.is_some() { 0.0 } else { f64::INFINITY };
    let mut all = vec![pruned; total];
    match &node.active {
        Some(active) => {
            for (i, x) in active.iter().zip(entries) {
                *all.get_mut(*i)? = *x;
            }
        }
        None if entries.len() == total => all.copy_from_slice(entries),
        None => return None,
    }
    Some(match node.shape.as_slice() {
        [] => Value::scalar(*all.first()?),
        [_] => Value::vector(all),
        [rows, cols] => Value::matrix(DMatrix::from_column_slice(*rows, *cols, &all)),
        _ => return None,
    })
}

/// Indices, from 1, of what is kept, or has q² > s where nothing is pruned.
fn relevant(node: &NodeResult) -> Option<Value> {
    let picked: Vec<usize> = match (&node.active, &node.relevant) {
        (Some(active), _) => active.clone(),
        (None, Some(relevant)) => relevant.clone(),
        (None, None) if !node.shape.is_empty() && node.sd.is_some() => {
            (0..node.shape.iter().product()).collect()
        }
        _ => return None,
    };
    Some(Value::vector(picked.into_iter().map(|i| (i + 1) as f64).collect()))
}

/// The name that is indexed, or stands alone.
fn base(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Path(parts) => Some(joined(parts)),
        ExprKind::Paren(inner) | ExprKind::Index(inner, _) => base(inner),
        _ => None,
    }
}

/// Another name in the place of the one that is indexed.
fn rename(expr: &mut Expr, name: &str) {
    match &mut expr.kind {
        ExprKind::Paren(inner) | ExprKind::Index(inner, _) => rename(inner, name),
        kind => *kind = ExprKind::Name(name.to_owned()),
    }
}

fn joined(parts: &[Ident]) -> String {
    parts.iter().map(|p| p.node.as_str()).collect::<Vec<_>>().join(".")
}

fn children(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Number(..) | ExprKind::Text(_) | ExprKind::Name(_) | ExprKind::Path(_) => Vec::new(),
        ExprKind::Neg(a) | ExprKind::Paren(a) => vec![a],
        ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Call(_, args) => args.iter_mut().map(|a| &mut a.value).collect(),
        ExprKind::Index(a, at) => std::iter::once(&mut **a).chain(at.iter_mut().flatten()).collect(),
        ExprKind::Join(parts) => parts.iter_mut().collect(),
    }
}
