//! Definitions checked by themselves, whether anything calls them or not.

use std::rc::Rc;

use crate::check::cx::{Cx, Sink, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::expand::{Place, Splice};
use crate::check::scope::{Def, DefId, ModuleId, Modules};
use crate::check::support::Set;
use crate::check::typed::{Columns, Data, Elem, ExprKind, Node, NodeKind, Type};
use crate::host::Registry;
use crate::source::Span;
use crate::syntax::ast;

/// Checks a `fn` with arguments of exactly its parameter types, and a `prior` as far as its names go.
pub(crate) fn verify_definition(modules: &Modules, hosts: &Registry, id: DefId, sink: &mut Sink) {
    let (def, module) = modules.def(id);
    match def {
        Def::Fn(def) => {
            let mut cx = Cx::new(modules, sink);
            cx.hosts = hosts.clone();
            if let Some(given) = cx.abstract_args(&def, module) {
                let span = def.name.span;
                // every argument given, then every default taken
                let all = given.iter().cloned().map(|v| Some((Some(v), span))).collect();
                let whole = cx.call_fn(id, &def, module, all, span);
                if whole.is_some() && def.params.iter().any(|p| p.default.is_some()) {
                    let required = def.params.iter().zip(given);
                    let some =
                        required.map(|(p, v)| p.default.is_none().then_some((Some(v), span))).collect();
                    cx.call_fn(id, &def, module, some, span);
                }
            }
        }
        Def::Prior(def) => {
            let mut cx = Cx::new(modules, sink);
            cx.hosts = hosts.clone();
            let mut env = Env::new(module);
            for p in &def.params {
                env.set(&p.name.node, None, p.name.span, "parameter");
            }
            let splice =
                Splice { name: def.name.node.clone(), doc: None, result: &def.result.node, span: def.span };
            let place = Place { lead: Vec::new(), order: Vec::new(), prior: Some(splice), overrides: None };
            let body = cx.body(env, &def.body, &place);
            if !body.env.values.contains_key(&def.result.node) {
                let d = crate::check::tilde::returns_unknown(&def, &body.env);
                cx.report(d);
            }
        }
    }
}

impl Cx<'_> {
    /// For each parameter a quantity of its declared type.
    fn abstract_args(&mut self, def: &Rc<ast::FnDef>, module: ModuleId) -> Option<Vec<Val>> {
        let mut env = Env::new(module);
        let mut values = Vec::new();
        for p in &def.params {
            let ty = p.ty.as_ref()?;
            let elem = self.elem_named(&ty.elem)?;
            let scalar_int = ty.dims.is_empty() && matches!(elem, Elem::Int | Elem::Count);
            let value = if scalar_int {
                let symbol = Dim::symbol(&p.name.node);
                let mut v = self.dim_value(symbol, p.name.span)?;
                v.set = Set::ORDINAL;
                v
            } else {
                let mut shape = Vec::new();
                self.declared_together(&ty.dims);
                for d in &ty.dims {
                    if let ast::ExprKind::Name(name) = &d.kind
                        && !env.values.contains_key(name)
                    {
                        let dim = env.dims.entry(name.clone()).or_insert_with(|| Dim::symbol(name)).clone();
                        self.symbols.entry(name.clone()).or_insert(d.span);
                        shape.push(dim);
                    } else {
                        shape.push(self.dimension(&env, d)?);
                    }
                }
                self.abstract_value(&p.name.node, elem, shape, ty.span)?
            };
            env.set(&p.name.node, Some(value.clone()), p.name.span, "parameter");
            values.push(value);
        }
        Some(values)
    }

    fn abstract_value(&mut self, name: &str, elem: Elem, shape: Vec<Dim>, span: Span) -> Option<Val> {
        if shape.len() > 2 {
            return self.too_many_axes(&[], &shape, span);
        }
        let ty = Type { elem, shape: shape.clone() };
        let data = Data { from: Columns::Default, levels: None, likelihood: None, ty_span: span };
        let id = self.add_node(
            |id| Node {
                id,
                name: name.to_owned(),
                doc: None,
                ty,
                kind: NodeKind::Data(data),
                span,
                spliced_at: None,
            },
            Vec::new(),
            span,
        )?;
        let set = Set::of(elem);
        let expr = self.push(ExprKind::Node(id), set, shape.clone(), span)?;
        let levels = matches!(elem, Elem::Category | Elem::Ordered).then_some(id);
        Some(Val { expr, set, plates: Vec::new(), shape, dim: None, levels })
    }
}
