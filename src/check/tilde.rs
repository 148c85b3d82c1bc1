//! `y ~ Family(…)` and `w ~ prior(…)`: unknowns, observations, spliced priors.

use crate::check::cx::{Cx, Plate, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::expand::{Body, Here, Made, Place, Splice};
use crate::check::family::Target;
use crate::check::library;
use crate::check::scope::{Def, DefId};
use crate::check::support::Set;
use crate::check::typed::{Node, NodeKind, Type};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::source::Span;
use crate::syntax::ast;

impl Cx<'_> {
    /// `y ~ …`
    pub(crate) fn tilde(&mut self, body: &mut Body, t: &ast::TildeStmt, here: &Here) -> Option<Made> {
        let (stmt, plates, owner, place) = (here.stmt, here.plates, here.owner, here.place);
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
                return self.latent(body, family, t, &lead?, shape, right, here);
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
        self.splice(body, &candidates, t, &indices, here)
    }

    fn latent(
        &mut self,
        body: &Body,
        family: &'static crate::dist::Family,
        t: &ast::TildeStmt,
        lead: &[PlateId],
        shape: Option<Vec<Dim>>,
        right: Span,
        here: &Here,
    ) -> Option<Made> {
        let (stmt, place) = (here.stmt, here.place);
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
            here.at.clone(),
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
    fn splice(
        &mut self,
        body: &mut Body,
        candidates: &[DefId],
        t: &ast::TildeStmt,
        indices: &[PlateId],
        here: &Here,
    ) -> Option<Made> {
        let (stmt, place) = (here.stmt, here.place);
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
            order: here.at.clone(),
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
        let alias = crate::dist::alias::family_known_as(&family.node);
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
