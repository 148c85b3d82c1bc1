//! Statements to nodes. Plates and priors end here: plates become axes of arrays, priors are spliced in.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cx::{Cx, Plate, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::errors::declared_twice;
use crate::check::order::{self, mentions};
use crate::check::overrides::Overrides;
use crate::check::typed::NodeId;
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{self, StatementKind};

/// A model or the body of a prior being spliced in.
pub(crate) struct Place<'p> {
    /// Plates that every node of a prior is repeated over: those of the statement that called it.
    pub(crate) lead: Vec<PlateId>,
    /// Position of that statement among the declarations.
    pub(crate) order: Vec<u32>,
    /// What a prior describes.
    pub(crate) prior: Option<Splice<'p>>,
    /// `--set`, for a model.
    pub(crate) overrides: Option<&'p Overrides>,
}

/// The left side of `w ~ ard(5)`.
#[derive(Clone)]
pub(crate) struct Splice<'p> {
    /// The full name of the node: `w`.
    pub(crate) name: String,
    pub(crate) doc: Option<String>,
    /// The inner name of the node that takes it.
    pub(crate) result: &'p str,
    /// The statement.
    pub(crate) span: Span,
}

/// A plate of the body.
struct LocalPlate<'a> {
    index: &'a ast::Ident,
    extent: &'a ast::Expr,
    parent: Option<usize>,
    nesting: usize,
    /// Once elaborated; the inner `None`: it is wrong.
    id: Option<Option<PlateId>>,
    used: bool,
}

/// A statement of the body with the plates around it, outer first.
struct Job<'a> {
    stmt: &'a ast::Statement,
    plates: Vec<usize>,
}

/// A statement on its way to become a node.
pub(crate) struct Here<'h> {
    pub(crate) stmt: &'h ast::Statement,
    /// The plates around it, outer first.
    pub(crate) plates: &'h [PlateId],
    /// Whether it declares its name; otherwise it observes data.
    pub(crate) owner: bool,
    /// Its position among the declarations.
    pub(crate) at: Vec<u32>,
    pub(crate) place: &'h Place<'h>,
}

/// What a statement made.
pub(crate) struct Made {
    pub(crate) node: Option<NodeId>,
    pub(crate) val: Option<Val>,
}

/// What a body declared.
pub(crate) struct Body<'a> {
    pub(crate) env: Env,
    pub(crate) infer: Vec<&'a ast::InferStmt>,
    /// The node of each name declared in it.
    pub(crate) nodes: BTreeMap<String, NodeId>,
}

impl Cx<'_> {
    /// Checks the statements of a model or prior, in whatever order they need each other.
    pub(crate) fn body<'a>(&mut self, env: Env, stmts: &'a [ast::Statement], place: &Place) -> Body<'a> {
        let mut env = env;
        let mut plates = Vec::new();
        let mut jobs = Vec::new();
        let mut infer = Vec::new();
        self.flatten(stmts, &mut Vec::new(), &mut plates, &mut jobs, &mut infer, place);

        let declared = self.declare(&jobs, &env);
        self.verify_indices(&mut plates, &declared, &env);
        self.bind_symbols(&jobs, &declared, &mut env, place);
        let sorted = {
            let needs = |j: usize| needs(&jobs, &plates, &declared, j);
            order::sort(jobs.len(), &needs)
        };
        let mut in_cycle = BTreeSet::new();
        for cycle in &sorted.cycles {
            let d = cycle_error(&jobs, cycle);
            self.report(d);
            in_cycle.extend(cycle.iter().copied());
        }
        let mut body = Body { env, infer, nodes: BTreeMap::new() };
        for j in sorted.order {
            let job = &jobs[j];
            let Some(name) = declares(job.stmt) else { continue };
            let owner = declared.get(&name.node) == Some(&j);
            if in_cycle.contains(&j) {
                if owner {
                    body.env.set(&name.node, None, name.span, "quantity");
                }
                continue;
            }
            // its plates, as far as they are right
            body.env.plates.clear();
            let mut fine = true;
            for p in &job.plates {
                match self.plate(&mut plates, *p, &body.env, place) {
                    Some(id) => body.env.plates.push((plates[*p].index.node.clone(), id)),
                    None => fine = false,
                }
            }
            let ids: Vec<PlateId> = body.env.plates.iter().map(|(_, id)| *id).collect();
            let mut at = place.order.clone();
            at.push(j as u32);
            let here = Here { stmt: job.stmt, plates: &ids, owner, at, place };
            let made = if fine { self.statement(&mut body, &here) } else { None };
            if owner {
                let val = made.as_ref().and_then(|m| m.val.clone());
                body.env.set(&name.node, val, name.span, what(job.stmt));
                if let Some(id) = made.and_then(|m| m.node) {
                    body.nodes.insert(name.node.clone(), id);
                }
            }
        }
        body.env.plates.clear();
        for p in plates.iter().filter(|p| !p.used) {
            self.sink.push(
                Diagnostic::warning("W0204", format!("plate `{}` repeats nothing", p.index.node))
                    .at(p.index.span, "empty plate")
                    .help("remove it"),
            );
        }
        body
    }

    fn flatten<'a>(
        &mut self,
        stmts: &'a [ast::Statement],
        around: &mut Vec<usize>,
        plates: &mut Vec<LocalPlate<'a>>,
        jobs: &mut Vec<Job<'a>>,
        infer: &mut Vec<&'a ast::InferStmt>,
        place: &Place,
    ) {
        for stmt in stmts {
            let wrong = |what: &str, help: &str| {
                Diagnostic::error("E0215", what.to_owned()).at(stmt.span, "not here").help(help.to_owned())
            };
            let in_prior = place.prior.is_some();
            match &stmt.kind {
                StatementKind::Plate { index, extent, body } => {
                    if !self.enter(stmt.span) {
                        self.leave();
                        return;
                    }
                    plates.push(LocalPlate {
                        index,
                        extent,
                        parent: around.last().copied(),
                        nesting: around.len(),
                        id: None,
                        used: false,
                    });
                    around.push(plates.len() - 1);
                    self.flatten(body, around, plates, jobs, infer, place);
                    around.pop();
                    self.leave();
                    continue;
                }
                StatementKind::Infer(i) => {
                    if in_prior {
                        self.report(wrong("a prior does not choose a plan", "move `infer` to the model"));
                    } else if !around.is_empty() {
                        self.report(wrong("`infer` inside a plate", "move it out of the plate"));
                    } else if let Some(first) = infer.first() {
                        let first = first.method.span;
                        self.report(
                            wrong("a model has one `infer`", "remove one of them")
                                .also(first, "the first one"),
                        );
                    } else {
                        infer.push(i);
                    }
                    continue;
                }
                StatementKind::Data { name, .. } if in_prior => {
                    self.report(wrong(
                        "a prior declares no data",
                        &format!("make `{}` a parameter of the prior", name.node),
                    ));
                    continue;
                }
                StatementKind::Data { .. } | StatementKind::Param { .. } if !around.is_empty() => {
                    let word =
                        if matches!(stmt.kind, StatementKind::Data { .. }) { "data" } else { "a `param`" };
                    self.report(wrong(
                        &format!("{word} inside a plate"),
                        "declare it outside with its shape, and index it inside: `x[n]`",
                    ));
                }
                _ => {}
            }
            for p in around.iter() {
                plates[*p].used = true;
            }
            jobs.push(Job { stmt, plates: around.clone() });
        }
    }

    /// The job that declares each name; reports what is declared twice.
    fn declare(&mut self, jobs: &[Job], env: &Env) -> BTreeMap<String, usize> {
        let mut declared: BTreeMap<String, usize> = BTreeMap::new();
        // data first: a `~` of data observes it
        let is_data = |j: usize| matches!(jobs[j].stmt.kind, StatementKind::Data { .. });
        let mut observed: BTreeMap<&str, Span> = BTreeMap::new();
        let data_jobs = (0..jobs.len()).filter(|j| is_data(*j));
        let other_jobs = (0..jobs.len()).filter(|j| !is_data(*j));
        for j in data_jobs.chain(other_jobs) {
            let Some(name) = declares(jobs[j].stmt) else { continue };
            if let Some(slot) = env.values.get(&name.node) {
                self.report(declared_twice(&name.node, slot.span, name.span));
                continue;
            }
            let Some(first) = declared.get(&name.node).copied() else {
                declared.insert(name.node.clone(), j);
                continue;
            };
            let first_span = declares(jobs[first].stmt).map_or(name.span, |n| n.span);
            if is_data(first) && matches!(jobs[j].stmt.kind, StatementKind::Tilde(_)) {
                if let Some(before) = observed.insert(&name.node, name.span) {
                    self.report(
                        Diagnostic::error("E0205", format!("`{}` is observed twice", name.node))
                            .at(name.span, "observed again here")
                            .also(before, "first observed here")
                            .help("one quantity has one distribution: declare a second one from the same column"),
                    );
                }
                continue;
            }
            let (first_span, again) = if first_span.start <= name.span.start {
                (first_span, name.span)
            } else {
                (name.span, first_span)
            };
            let mut d = declared_twice(&name.node, first_span, again);
            if is_data(first) && matches!(jobs[j].stmt.kind, StatementKind::Let(_)) {
                d = d.help(format!("a `let` cannot redefine data: call it something else, `{}2`", name.node));
            }
            self.report(d);
        }
        declared
    }

    /// Plate indices have names of their own.
    fn verify_indices(&mut self, plates: &mut [LocalPlate], declared: &BTreeMap<String, usize>, env: &Env) {
        for p in 0..plates.len() {
            let index = plates[p].index;
            let mut outer = plates[p].parent;
            while let Some(o) = outer {
                if plates[o].index.node == index.node {
                    self.report(
                        Diagnostic::error(
                            "E0205",
                            format!("index `{}` hides the index of an outer plate", index.node),
                        )
                        .at(index.span, "inner index")
                        .also(plates[o].index.span, "outer index")
                        .help("give it another letter"),
                    );
                    plates[p].id = Some(None);
                }
                outer = plates[o].parent;
            }
            if declared.contains_key(&index.node) || env.values.contains_key(&index.node) {
                self.report(
                    Diagnostic::error(
                        "E0205",
                        format!("index `{}` hides a quantity of that name", index.node),
                    )
                    .at(index.span, "used as an index")
                    .help("give the index another letter"),
                );
                plates[p].id = Some(None);
            }
        }
    }

    /// A name first met in the shape of data and declared nowhere is a dimension.
    fn bind_symbols(
        &mut self,
        jobs: &[Job],
        declared: &BTreeMap<String, usize>,
        env: &mut Env,
        place: &Place,
    ) {
        if place.prior.is_some() {
            return;
        }
        for job in jobs {
            let StatementKind::Data { ty, .. } = &job.stmt.kind else { continue };
            self.declared_together(&ty.dims);
            for d in &ty.dims {
                let mut d = d;
                while let ast::ExprKind::Paren(inner) = &d.kind {
                    d = inner;
                }
                if let ast::ExprKind::Name(name) = &d.kind
                    && name != "_"
                    && !declared.contains_key(name)
                {
                    env.dims.entry(name.clone()).or_insert_with(|| Dim::symbol(name));
                    self.symbols.entry(name.clone()).or_insert(d.span);
                }
            }
        }
    }

    /// The plate of a statement, its extent elaborated once.
    fn plate(&mut self, plates: &mut [LocalPlate], p: usize, env: &Env, place: &Place) -> Option<PlateId> {
        if let Some(id) = plates[p].id {
            return id;
        }
        let extent = self.dimension(env, plates[p].extent);
        let base = place.lead.iter().map(|l| self.plates[l.0].depth + 1).max().unwrap_or(0);
        let id = extent.map(|extent| {
            let id = PlateId(self.plates.len());
            self.plates.push(Plate {
                name: plates[p].index.node.clone(),
                extent,
                depth: base + plates[p].nesting,
                span: plates[p].index.span,
            });
            id
        });
        plates[p].id = Some(id);
        id
    }
}

/// The name a statement declares or observes.
fn declares(stmt: &ast::Statement) -> Option<&ast::Ident> {
    match &stmt.kind {
        StatementKind::Data { name, .. } | StatementKind::Param { name, .. } => Some(name),
        StatementKind::Let(l) => Some(&l.name),
        StatementKind::Tilde(t) => Some(&t.name),
        StatementKind::Plate { .. } | StatementKind::Infer(_) => None,
    }
}

fn what(stmt: &ast::Statement) -> &'static str {
    match &stmt.kind {
        StatementKind::Data { .. } => "data",
        StatementKind::Param { .. } => "param",
        StatementKind::Let(_) => "let",
        _ => "latent",
    }
}

/// The jobs that declare what a job mentions.
fn needs(jobs: &[Job], plates: &[LocalPlate], declared: &BTreeMap<String, usize>, j: usize) -> Vec<usize> {
    let job = &jobs[j];
    let mut found = Vec::new();
    let mut exprs: Vec<&ast::Expr> = job.plates.iter().map(|p| plates[*p].extent).collect();
    match &job.stmt.kind {
        StatementKind::Data { ty, .. } => exprs.extend(&ty.dims),
        StatementKind::Param { ty, start, .. } => {
            exprs.extend(&ty.dims);
            exprs.extend(start);
        }
        StatementKind::Let(l) => exprs.push(&l.value),
        StatementKind::Tilde(t) => {
            exprs.extend(t.args.iter().map(|a| &a.value));
            exprs.extend(t.dims.iter().flatten());
            exprs.extend(&t.weight);
            // an observation comes after the data it observes
            found.extend(declared.get(&t.name.node).filter(|d| **d != j));
        }
        StatementKind::Plate { .. } | StatementKind::Infer(_) => {}
    }
    let index = |name: &str| job.plates.iter().any(|p| plates[*p].index.node == name);
    for e in exprs {
        mentions(e, &mut |name| {
            if let Some(d) = declared.get(name)
                && !index(name)
                && !found.contains(d)
            {
                found.push(*d);
            }
        });
    }
    found
}

/// A cycle among declarations.
fn cycle_error(jobs: &[Job], cycle: &[usize]) -> Diagnostic {
    let names: Vec<&ast::Ident> = cycle.iter().filter_map(|j| declares(jobs[*j].stmt)).collect();
    let mut way: Vec<&str> = names.iter().map(|n| n.node.as_str()).collect();
    let Some(first) = names.first() else { return Diagnostic::error("E0501", "a cycle") };
    way.push(&first.node);
    let mut d =
        Diagnostic::error("E0501", format!("`{}` depends on itself: {}", first.node, way.join(" → ")));
    for (i, name) in names.iter().enumerate() {
        let next = &names[(i + 1) % names.len()].node;
        let text = format!("`{}` needs `{next}`", name.node);
        d = if i == 0 { d.at(name.span, text) } else { d.also(name.span, text) };
    }
    if names.len() == 1 {
        d.help("a node may not depend on itself, nor on another entry of itself")
    } else {
        d.help("a model is a graph without cycles: break the circle at one of these")
    }
}
