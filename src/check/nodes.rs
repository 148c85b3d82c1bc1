//! Statements to nodes: data, parameters, computed quantities.

use crate::check::cx::{Cx, PlateId};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::expand::{Body, Here, Made, Place};
use crate::check::support::Set;
use crate::check::typed::{Columns, Data, Elem, ExprKind, Node, NodeId, NodeKind, Type};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::source::Span;
use crate::syntax::ast::{self, StatementKind};

impl Cx<'_> {
    /// One statement of a model or prior.
    pub(crate) fn statement(&mut self, body: &mut Body, here: &Here) -> Option<Made> {
        match &here.stmt.kind {
            StatementKind::Data { name, ty, from } => self.data(&body.env, name, ty, from.as_ref(), here),
            StatementKind::Param { name, ty, start } => self.param(&body.env, name, ty, start.as_ref(), here),
            StatementKind::Let(l) => self.let_node(&body.env, l, here),
            StatementKind::Tilde(t) => self.tilde(body, t, here),
            StatementKind::Plate { .. } | StatementKind::Infer(_) => None,
        }
    }

    fn data(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        ty: &ast::TypeExpr,
        from: Option<&ast::From>,
        here: &Here,
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
                doc: here.stmt.doc.clone(),
                ty: Type { elem, shape },
                kind: NodeKind::Data(data),
                span: name.span,
                spliced_at: None,
            },
            here.at.clone(),
            name.span,
        )?;
        if let Some(levels) = declared.levels {
            self.stated_levels.insert(id, levels.len() as i64);
        }
        self.made(id, &[], Set::of(declared.elem), None)
    }

    fn param(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        ty: &ast::TypeExpr,
        start: Option<&ast::Expr>,
        here: &Here,
    ) -> Option<Made> {
        let place = here.place;
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
                doc: here.stmt.doc.clone(),
                ty: Type { elem, shape },
                kind: NodeKind::Param { start: start_expr },
                span: name.span,
                spliced_at,
            },
            here.at.clone(),
            name.span,
        )?;
        self.made(id, &place.lead.clone(), Set::of(elem), None)
    }

    fn let_node(&mut self, env: &Env, l: &ast::LetStmt, here: &Here) -> Option<Made> {
        let (plates, place) = (here.plates, here.place);
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
                doc: here.stmt.doc.clone(),
                ty: Type { elem, shape },
                kind: NodeKind::Let { value: expr, constant },
                span: l.name.span,
                spliced_at,
            },
            here.at.clone(),
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

    /// The plates of the indices on the left; they are all the plates around the statement.
    pub(crate) fn left_indices(
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
    pub(crate) fn full_name(&self, name: &str, place: &Place) -> (String, Option<Span>) {
        match &place.prior {
            None => (name.to_owned(), None),
            Some(p) if p.result == name => (p.name.clone(), Some(p.span)),
            Some(p) => (format!("{}.{name}", p.name), Some(p.span)),
        }
    }

    /// A node seen by the statements beside it: the axes `lead` are plates around all of them.
    pub(crate) fn made(
        &mut self,
        id: NodeId,
        lead: &[PlateId],
        set: Set,
        levels: Option<NodeId>,
    ) -> Option<Made> {
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
