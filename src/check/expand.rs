//! Statements to nodes. Plates and priors end here: plates become axes of arrays, priors are spliced in.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cx::{Cx, Plate, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::errors::declared_twice;
use crate::check::family::Target;
use crate::check::order::{self, mentions};
use crate::check::scope::{Def, DefId};
use crate::check::support::Set;
use crate::check::typed::{Columns, Data, Elem, ExprKind, Node, NodeId, NodeKind, Type};
use crate::check::{library, overrides::Overrides};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
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
            let made = if fine { self.statement(&mut body, job.stmt, &ids, owner, at, place) } else { None };
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
                        Diagnostic::error("E0205", format!("index `{}` hides the index of an outer plate", index.node))
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
                    Diagnostic::error("E0205", format!("index `{}` hides a quantity of that name", index.node))
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

    fn statement(
        &mut self,
        body: &mut Body,
        stmt: &ast::Statement,
        plates: &[PlateId],
        owner: bool,
        at: Vec<u32>,
        place: &Place,
    ) -> Option<Made> {
        let doc = stmt.doc.clone();
        match &stmt.kind {
            StatementKind::Data { name, ty, from } => self.data(&body.env, name, ty, from.as_ref(), doc, at),
            StatementKind::Param { name, ty, start } => {
                self.param(&body.env, name, ty, start.as_ref(), doc, at, place)
            }
            StatementKind::Let(l) => self.let_node(&body.env, l, plates, doc, at, place),
            StatementKind::Tilde(t) => self.tilde(body, t, stmt, plates, owner, at, place),
            StatementKind::Plate { .. } | StatementKind::Infer(_) => None,
        }
    }

    fn data(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        ty: &ast::TypeExpr,
        from: Option<&ast::From>,
        doc: Option<String>,
        at: Vec<u32>,
    ) -> Option<Made> {
        let declared = self.declared_type(env, ty, false)?;
        let texts = |list: &[ast::Ident]| list.iter().map(|c| c.node.clone()).collect::<Vec<_>>();
        let columns = match from {
            None => Columns::Default,
            Some(ast::From::Column(c)) => Columns::One(c.node.clone()),
            Some(ast::From::Columns(list)) => Columns::Named(texts(list)),
            Some(ast::From::Except(list)) => Columns::Except(texts(list)),
        };
        if let (Columns::Named(list), [_, cols]) = (&columns, declared.shape.as_slice()) {
            let n = Dim::number(list.len() as i64);
            let cols = cols.clone();
            if !self.same_dim(&cols, &n, ty.span, Some(ty.span)) {
                let shown = self.show_dim(&cols);
                return self.fail(
                    Diagnostic::error(
                        "E0301",
                        format!("`{}` has {shown} columns, `columns(…)` names {}", name.node, list.len()),
                    )
                    .at(ty.span, format!("{shown} columns"))
                    .help("name as many columns as the type has, or write a letter"),
                );
            }
        }
        if matches!(columns, Columns::Named(_) | Columns::Except(_)) && declared.shape.len() != 2 {
            let shown = self.describe(&declared.shape);
            return self.fail(
                Diagnostic::error(
                    "E0302",
                    format!("several columns make a matrix, `{}` is {shown}", name.node),
                )
                .at(ty.span, shown)
                .help("declare `real[N, D]`, or take one `from column(…)`"),
            );
        }
        let data =
            Data { from: columns, levels: declared.levels.clone(), likelihood: None, ty_span: ty.span };
        let (elem, shape) = (declared.elem, declared.shape.clone());
        let id = self.add_node(
            |id| Node {
                id,
                name: name.node.clone(),
                doc,
                ty: Type { elem, shape },
                kind: NodeKind::Data(data),
                span: name.span,
                spliced_at: None,
            },
            at,
            name.span,
        )?;
        if let Some(levels) = declared.levels {
            self.stated_levels.insert(id, levels.len() as i64);
        }
        self.made(id, &[], Set::of(declared.elem), None)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one statement and its place
    fn param(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        ty: &ast::TypeExpr,
        start: Option<&ast::Expr>,
        doc: Option<String>,
        at: Vec<u32>,
        place: &Place,
    ) -> Option<Made> {
        let declared = self.declared_type(env, ty, true);
        let start = start.map(|s| (self.expr(env, s), s.span));
        let declared = declared?;
        let mut start_expr = None;
        if let Some((value, span)) = start {
            let v = value?;
            let deps = self.deps(v.expr);
            if deps.latent || deps.param {
                return self.fail(
                    Diagnostic::error(
                        "E0404",
                        format!("the search for `{}` cannot start at an unknown", name.node),
                    )
                    .at(span, "not known before the fit")
                    .help("start at a number or a function of data"),
                );
            }
            let same_shape = v.is_scalar() || {
                v.shape.len() == declared.shape.len()
                    && declared
                        .shape
                        .iter()
                        .zip(&v.shape)
                        .all(|(l, r)| self.same_dim(l, r, span, Some(ty.span)))
            };
            if !same_shape {
                let (wanted, found) = (self.describe(&declared.shape), self.describe(&v.shape));
                return self.fail(
                    Diagnostic::error("E0306", format!("`{}` is {wanted}, its start is {found}", name.node))
                        .at(span, found)
                        .also(ty.span, wanted)
                        .help("start at a scalar, or at exactly its shape"),
                );
            }
            let vector = matches!(declared.elem, Elem::Increasing | Elem::Simplex);
            let entries = if vector { Elem::Real } else { declared.elem };
            if !self.fits(&v, entries) || (vector && v.is_scalar()) {
                let found = self.found(&v);
                return self.fail(
                    Diagnostic::error(
                        "E0404",
                        format!("`{}` is {}, its start is {found}", name.node, declared.elem.name()),
                    )
                    .at(span, found)
                    .also(ty.span, declared.elem.name())
                    .help("start inside its set, or leave the start out"),
                );
            }
            start_expr = Some(v.expr);
        }
        let mut shape = self.extents(&place.lead);
        shape.extend(declared.shape);
        if shape.len() > 2 {
            return self.too_many_axes(&[], &shape, ty.span);
        }
        let (full, spliced_at) = self.full_name(&name.node, place);
        let elem = declared.elem;
        let id = self.add_node(
            |id| Node {
                id,
                name: full,
                doc,
                ty: Type { elem, shape },
                kind: NodeKind::Param { start: start_expr },
                span: name.span,
                spliced_at,
            },
            at,
            name.span,
        )?;
        self.made(id, &place.lead.clone(), Set::of(elem), None)
    }

    fn let_node(
        &mut self,
        env: &Env,
        l: &ast::LetStmt,
        plates: &[PlateId],
        doc: Option<String>,
        at: Vec<u32>,
        place: &Place,
    ) -> Option<Made> {
        let value = self.expr(env, &l.value);
        let indices = self.left_indices(env, &l.name, &l.indices, plates, l.indices.is_empty());
        let (mut value, indices) = (value?, indices?);
        if let Some(plate) = value.plates.iter().find(|p| plates.contains(p) && !indices.contains(p)) {
            let index = self.plates[plate.0].name.clone();
            return self.fail(
                Diagnostic::error(
                    "E0214",
                    format!("`{}` changes with the plate index `{index}`", l.name.node),
                )
                .at(l.name.span, "one value for each index")
                .help(format!("write `let {}[{index}] = …`", l.name.node)),
            );
        }
        let deps = self.deps(value.expr);
        let constant = !(deps.data || deps.latent || deps.param || deps.symbolic);
        if let Some(overrides) = place.overrides
            && let Some(x) = overrides.get(&l.name.node)
        {
            if !constant || !value.is_scalar() || !indices.is_empty() {
                overrides.refused(&l.name.node);
                let why =
                    if constant { "it is not a scalar" } else { "its value follows from data or unknowns" };
                return self.fail(
                    Diagnostic::error(
                        "E0212",
                        format!("`{}` cannot be set from outside: {why}", l.name.node),
                    )
                    .at(l.name.span, "declared here")
                    .help("only a constant `let`, such as `let width = 3.0`, can be set"),
                );
            }
            overrides.used(&l.name.node);
            value = self.number(x, value.set.is_whole(), l.value.span)?;
        }
        let lead: Vec<PlateId> = place.lead.iter().chain(&indices).copied().collect();
        // a value of a prior that does not change with the plates around the call has no such axes
        let lead = if indices.is_empty() {
            lead.into_iter().filter(|p| value.plates.contains(p)).collect()
        } else {
            lead
        };
        let expr = self.laid_out(&value, &lead, &value.shape.clone(), true, l.value.span)?;
        let shape = self.exprs.get(expr).ty.shape.clone();
        let (full, spliced_at) = self.full_name(&l.name.node, place);
        let elem = value.set.elem();
        let constant = constant && place.prior.is_none() && !self.deps(expr).symbolic;
        let id = self.add_node(
            |id| Node {
                id,
                name: full,
                doc,
                ty: Type { elem, shape },
                kind: NodeKind::Let { value: expr, constant },
                span: l.name.span,
                spliced_at,
            },
            at,
            l.name.span,
        )?;
        let mut made = self.made(
            id,
            &place.lead.iter().copied().filter(|p| lead.contains(p)).collect::<Vec<_>>(),
            value.set,
            value.levels,
        )?;
        if let Some(v) = &mut made.val {
            v.dim = value.dim;
        }
        Some(made)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one statement and its place
    fn tilde(
        &mut self,
        body: &mut Body,
        t: &ast::TildeStmt,
        stmt: &ast::Statement,
        plates: &[PlateId],
        owner: bool,
        at: Vec<u32>,
        place: &Place,
    ) -> Option<Made> {
        let indices = self.left_indices(&body.env, &t.name, &t.indices, plates, false);
        let right = Span { start: t.family.span.start, ..stmt.span };
        if let Some(family) = crate::dist::family(&t.family.node) {
            let dims: Option<Vec<Option<Dim>>> =
                t.dims.as_ref().map(|dims| dims.iter().map(|d| self.dimension(&body.env, d)).collect());
            let lead: Option<Vec<PlateId>> =
                indices.map(|indices| place.lead.iter().chain(&indices).copied().collect());
            if owner {
                let shape = match dims {
                    Some(dims) => Some(dims.into_iter().collect::<Option<Vec<Dim>>>()?),
                    None => None,
                };
                return self.latent(body, family, t, stmt, &lead?, shape, right, at, place);
            }
            return self.observe(body, family, t, &lead?, right);
        }
        let candidates = self.modules.find(body.env.module, &t.family.node, false);
        if candidates.is_empty() {
            for a in &t.args {
                self.expr(&body.env, &a.value);
            }
            let d = self.unknown_family(&body.env, &t.family);
            return self.fail(d);
        }
        let indices = indices?;
        if !owner {
            return self.fail(
                Diagnostic::error(
                    "E0405",
                    format!("`{}` is data, the prior `{}` describes unknowns", t.name.node, t.family.node),
                )
                .at(t.family.span, "a prior")
                .help("observe data with a family: `Normal(…)`, `Bernoulli(…)` …"),
            );
        }
        if let Some(d) = t.dims.as_ref().and_then(|d| d.first()) {
            return self.fail(
                Diagnostic::error("E0215", format!("`[…]` after the prior `{}`", t.family.node))
                    .at(d.span, "sizes are arguments of a prior")
                    .help(format!("write `{} ~ {}(size)`", t.name.node, t.family.node)),
            );
        }
        if let Some(w) = &t.weight {
            return self.fail(
                Diagnostic::error(
                    "E0211",
                    format!("`{}` is not observed, it has no case weights", t.name.node),
                )
                .at(w.span, "weight of an unknown")
                .help("remove `weight …`"),
            );
        }
        self.splice(body, &candidates, t, stmt, &indices, at, place)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one statement and its place
    fn latent(
        &mut self,
        body: &Body,
        family: &'static crate::dist::Family,
        t: &ast::TildeStmt,
        stmt: &ast::Statement,
        lead: &[PlateId],
        shape: Option<Vec<Dim>>,
        right: Span,
        at: Vec<u32>,
        place: &Place,
    ) -> Option<Made> {
        let target = Target { name: &t.name, lead, data: None, shape, span: right };
        let (dist, shape) = self.dist(&body.env, family, t, &target)?;
        let crate::dist::Support::Elem(elem) = family.support else { return None };
        let mut whole = self.extents(lead);
        whole.extend(shape);
        let (full, spliced_at) = self.full_name(&t.name.node, place);
        let is_result = place.prior.as_ref().is_some_and(|p| p.result == t.name.node);
        let doc = match &place.prior {
            Some(p) if is_result => p.doc.clone(),
            _ => stmt.doc.clone(),
        };
        let id = self.add_node(
            |id| Node {
                id,
                name: full,
                doc,
                ty: Type { elem, shape: whole },
                kind: NodeKind::Latent(dist),
                span: t.name.span,
                spliced_at,
            },
            at,
            t.name.span,
        )?;
        self.made(id, &place.lead.clone(), Set::of(elem), None)
    }

    fn observe(
        &mut self,
        body: &mut Body,
        family: &'static crate::dist::Family,
        t: &ast::TildeStmt,
        lead: &[PlateId],
        right: Span,
    ) -> Option<Made> {
        let Some(id) = body.nodes.get(&t.name.node).copied() else {
            for a in &t.args {
                self.expr(&body.env, &a.value);
            }
            return None;
        };
        if let Some(d) = t.dims.as_ref().and_then(|d| d.first()) {
            return self.fail(
                Diagnostic::error(
                    "E0306",
                    format!("`{}` is data: its shape is that of its declaration", t.name.node),
                )
                .at(d.span, "stated again")
                .help("remove the brackets"),
            );
        }
        if let Some(slot) = body.env.values.get(&t.name.node) {
            slot.used.set(true);
        }
        let (whole, ty_span) = {
            let node = &self.nodes[id.index()];
            (node.ty.shape.clone(), node.data().map(|d| d.ty_span))
        };
        if lead.len() > whole.len() {
            let shown = self.describe(&whole);
            return self.fail(
                Diagnostic::error(
                    "E0306",
                    format!(
                        "`{}` is {shown}, found {}",
                        t.name.node,
                        crate::check::errors::count(lead.len(), "plate")
                    ),
                )
                .at(t.name.span, "more plates than dimensions")
                .help("observe it outside the plate, or give it one dimension for each plate"),
            );
        }
        for (plate, dim) in lead.iter().zip(&whole) {
            let Plate { name, extent, span, .. } = self.plates[plate.0].clone();
            if !self.same_dim(&extent, dim, t.name.span, Some(span)) {
                let (e, d) = (self.show_dim(&extent), self.show_dim(dim));
                let mut e =
                    Diagnostic::error("E0301", format!("`{name}` runs over {e}, `{}` has {d}", t.name.node))
                        .at(t.name.span, format!("length {d}"))
                        .also(span, format!("1 … {e}"));
                if let Some(span) = ty_span {
                    e = e.also(span, "declared here");
                }
                let e = self.with_origins(e, &extent, dim);
                return self.fail(e);
            }
        }
        let shape = whole[lead.len()..].to_vec();
        let target = Target { name: &t.name, lead, data: Some(id), shape: Some(shape), span: right };
        let (dist, _) = self.dist(&body.env, family, t, &target)?;
        if let NodeKind::Data(data) = &mut self.nodes[id.index()].kind {
            data.likelihood = Some(dist);
        }
        None
    }

    /// `w ~ ard(cols(phi))`: the body of the prior becomes nodes `w.alpha` …, its result becomes `w`.
    #[allow(clippy::too_many_arguments)] // the parts of one statement and its place
    fn splice(
        &mut self,
        body: &mut Body,
        candidates: &[DefId],
        t: &ast::TildeStmt,
        stmt: &ast::Statement,
        indices: &[PlateId],
        at: Vec<u32>,
        place: &Place,
    ) -> Option<Made> {
        let values: Vec<Option<Val>> = t.args.iter().map(|a| self.expr(&body.env, &a.value)).collect();
        let (id, matched) = self.overload(candidates, &t.family, &t.args, t.family.span)?;
        let (Def::Prior(def), module) = self.modules.def(id) else { return None };
        self.not_recursive(id, &def.name, t.family.span)?;
        let mut env = Env::new(module);
        let mut fine = true;
        self.calls.push((id, stmt.span));
        for (param, m) in def.params.iter().zip(&matched) {
            let given = match (m, &param.default) {
                (Some(i), _) => values[*i].clone().map(|v| (v, t.args[*i].value.span)),
                (None, Some(default)) => self.expr(&env, default).map(|v| (v, default.span)),
                (None, None) => None,
            };
            let value = match given {
                Some((v, span)) => self.bind_param(&mut env, param, v, span, &def.name),
                None => None,
            };
            fine &= value.is_some();
            env.set(&param.name.node, value, param.name.span, "parameter");
        }
        let lead: Vec<PlateId> = place.lead.iter().chain(indices).copied().collect();
        let (name, _) = self.full_name(&t.name.node, place);
        let doc = match &place.prior {
            Some(p) if p.result == t.name.node => p.doc.clone(),
            _ => stmt.doc.clone(),
        };
        let inner = Place {
            lead,
            order: at,
            prior: Some(Splice { name, doc, result: &def.result.node, span: stmt.span }),
            overrides: None,
        };
        let made = if fine && self.enter(stmt.span) {
            let inner_body = self.body(env, &def.body, &inner);
            self.take_result(body, inner_body, &def, t, place)
        } else {
            None
        };
        if fine {
            self.leave();
        }
        self.calls.pop();
        made
    }

    fn take_result(
        &mut self,
        body: &mut Body,
        inner: Body,
        def: &ast::PriorDef,
        t: &ast::TildeStmt,
        place: &Place,
    ) -> Option<Made> {
        let Some(id) = inner.nodes.get(&def.result.node).copied() else {
            if !inner.env.values.contains_key(&def.result.node) {
                let d = returns_unknown(def, &inner.env);
                return self.fail(d);
            }
            return None;
        };
        // the node that is returned stands after the others
        if let Some(last) = self.order[id.index()].last_mut() {
            *last = u32::MAX;
        }
        for (name, slot) in &inner.env.values {
            if let Some(node) = inner.nodes.get(name)
                && *node != id
            {
                let lead = place.lead.clone();
                let seen = slot
                    .val
                    .as_ref()
                    .and_then(|v| self.made(*node, &lead, v.set, v.levels))
                    .and_then(|m| m.val);
                let full = format!("{}.{name}", t.name.node);
                body.env.set(&full, seen, slot.span, "inner node");
                body.nodes.insert(full, *node);
            }
        }
        let val = inner.env.values.get(&def.result.node).and_then(|s| s.val.clone())?;
        self.made(id, &place.lead.clone(), val.set, val.levels)
    }

    fn unknown_family(&self, env: &Env, family: &ast::Ident) -> Diagnostic {
        let d = Diagnostic::error("E0203", format!("there is no family or prior `{}`", family.node))
            .at(family.span, "unknown");
        let all = library::library();
        let priors = || all.iter().filter(|i| i.kind == "prior");
        if let Some(item) = priors().find(|i| i.name == family.node) {
            return d.help(format!("add `use {}.{}`", item.module, item.name));
        }
        let alias = match family.node.to_ascii_lowercase().as_str() {
            "gaussian" | "norm" | "mvnormal" => Some("Normal"),
            "student" | "t" | "studentst" => Some("StudentT"),
            "logistic" | "binomial" => Some("Bernoulli"),
            "softmax" | "multinomial" => Some("Categorical"),
            "uniform" | "improper" => Some("Flat"),
            "exponential" | "inversegamma" | "invgamma" => Some("Gamma"),
            _ => None,
        };
        let families = crate::dist::FAMILIES.iter().map(|f| f.name);
        let own = self.modules.names(env.module, false);
        match alias
            .or_else(|| closest(&family.node, families.chain(own).chain(priors().map(|i| i.name.as_str()))))
        {
            Some(near) => match priors()
                .find(|i| i.name == near && self.modules.find(env.module, near, false).is_empty())
            {
                Some(item) => d.help(format!("did you mean `{near}`? add `use {}.{near}`", item.module)),
                None => d.help(format!("did you mean `{near}`?")),
            },
            None if library::find(&family.node).iter().any(|i| i.kind == "fn")
                || crate::check::natives::is_native(&family.node) =>
            {
                d.help(format!(
                    "`{}` is a function: write `let` and `=` for a computed quantity",
                    family.node
                ))
            }
            None => d.help(format!(
                "families are {}",
                crate::dist::FAMILIES.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    /// The plates of the indices on the left; they are all the plates around the statement.
    fn left_indices(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        indices: &[ast::Ident],
        plates: &[PlateId],
        may_lack: bool,
    ) -> Option<Vec<PlateId>> {
        let mut ids: Vec<PlateId> = Vec::new();
        for i in indices {
            let Some(id) = env.plate(&i.node) else {
                let d = Diagnostic::error("E0214", format!("`{}` is no plate index here", i.node))
                    .at(i.span, "not an index");
                let d = match closest(&i.node, env.plates.iter().map(|(n, _)| n.as_str())) {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None => d.help(format!("write it inside `plate {} in … {{ … }}`", i.node)),
                };
                return self.fail(d);
            };
            if ids.contains(&id) {
                return self.fail(
                    Diagnostic::error("E0214", format!("index `{}` stands twice", i.node))
                        .at(i.span, "again here")
                        .help("remove it"),
                );
            }
            ids.push(id);
        }
        let missing = plates.iter().find(|p| !ids.contains(p)).map(|p| self.plates[p.0].clone());
        match missing {
            Some(plate) if !may_lack => {
                let mut all: Vec<&str> = indices.iter().map(|i| i.node.as_str()).collect();
                all.push(&plate.name);
                let written = format!("{}[{}]", name.node, all.join(", "));
                self.fail(
                    Diagnostic::error(
                        "E0214",
                        format!(
                            "`{}` is repeated over `{}` and does not carry that index",
                            name.node, plate.name
                        ),
                    )
                    .at(name.span, "one node for each index")
                    .also(plate.span, "repeated here")
                    .help(format!("write `{written}`, or move it out of the plate")),
                )
            }
            _ => Some(ids),
        }
    }

    /// `w`, or `w.alpha` inside a prior, with the call.
    fn full_name(&self, name: &str, place: &Place) -> (String, Option<Span>) {
        match &place.prior {
            None => (name.to_owned(), None),
            Some(p) if p.result == name => (p.name.clone(), Some(p.span)),
            Some(p) => (format!("{}.{name}", p.name), Some(p.span)),
        }
    }

    /// A node seen by the statements beside it: the axes `lead` are plates around all of them.
    fn made(&mut self, id: NodeId, lead: &[PlateId], set: Set, levels: Option<NodeId>) -> Option<Made> {
        let (span, elem, shape) = {
            let node = &self.nodes[id.index()];
            (node.span, node.ty.elem, node.ty.shape.clone())
        };
        let expr = self.push(ExprKind::Node(id), Set::of(elem), shape.clone(), span)?;
        let mut labels: Vec<Option<PlateId>> = lead.iter().map(|p| Some(*p)).collect();
        labels.resize(shape.len().max(labels.len()), None);
        let mut val = self.arrange(expr, &labels, set, span)?;
        val.levels = if matches!(elem, Elem::Category | Elem::Ordered) {
            levels.or(self.nodes[id.index()].data().is_some().then_some(id))
        } else {
            levels
        };
        Some(Made { node: Some(id), val: Some(val) })
    }
}

/// What a statement made.
struct Made {
    node: Option<NodeId>,
    val: Option<Val>,
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

/// A prior whose `return` names no node.
pub(crate) fn returns_unknown(def: &ast::PriorDef, env: &Env) -> Diagnostic {
    let known = env.values.keys().map(String::as_str);
    let message = format!("`{}` returns `{}`, which it does not declare", def.name.node, def.result.node);
    let d = Diagnostic::error("E0216", message).at(def.result.span, "unknown node");
    match closest(&def.result.node, known) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help("return a node of the body: `w ~ …` or `let w = …`"),
    }
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
