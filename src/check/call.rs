//! Calls of functions: overloads, generic dimensions, inlining.

use std::rc::Rc;

use crate::check::cx::{Cx, Plate, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::library;
use crate::check::scope::{Def, DefId, ModuleId};
use crate::check::typed::{Elem, ExprKind};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::source::Span;
use crate::syntax::ast;

/// Plates that stand for the axes of an array given to a scalar parameter lie below all others.
const OWN_AXES: usize = 1 << 20;

/// Which argument each parameter gets.
type Matched = Vec<Option<usize>>;

/// Why a call does not match a signature.
pub(crate) enum Mismatch {
    Unknown(usize),
    Twice(usize, String),
    TooMany(usize),
    NamedOnly(usize, String),
    Missing(String),
}

/// Matches the arguments of a call with parameters. In a prior, parameters with a default are
/// named only.
pub(crate) fn match_args(def: &Def, args: &[ast::Arg]) -> Result<Matched, Mismatch> {
    let params = def.params();
    let mut matched: Matched = vec![None; params.len()];
    let mut position = 0;
    for (i, arg) in args.iter().enumerate() {
        let at = match &arg.name {
            Some(name) => params.iter().position(|p| p.name.node == name.node).ok_or(Mismatch::Unknown(i))?,
            None => {
                position += 1;
                match params.get(position - 1) {
                    None => return Err(Mismatch::TooMany(i)),
                    Some(p) if !def.is_fn() && p.default.is_some() => {
                        return Err(Mismatch::NamedOnly(i, p.name.node.clone()));
                    }
                    Some(_) => position - 1,
                }
            }
        };
        if matched[at].is_some() {
            return Err(Mismatch::Twice(i, params[at].name.node.clone()));
        }
        matched[at] = Some(i);
    }
    match params.iter().zip(&matched).find(|(p, m)| m.is_none() && p.default.is_none()) {
        Some((p, _)) => Err(Mismatch::Missing(p.name.node.clone())),
        None => Ok(matched),
    }
}

impl Cx<'_> {
    /// `f(a, width = 2)`
    pub(crate) fn call(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Val> {
        if let Some(value) = self.native_call(env, name, args, span) {
            return value;
        }
        if let Some(value) = self.host_call(env, name, args, span) {
            return value;
        }
        let candidates = self.modules.find(env.module, &name.node, true);
        let values: Vec<Option<Val>> = args.iter().map(|a| self.expr(env, &a.value)).collect();
        if candidates.is_empty() {
            let d = self.unknown_function(env, name);
            return self.fail(d);
        }
        let (id, matched) = self.overload(&candidates, name, args, span)?;
        let (Def::Fn(def), module) = self.modules.def(id) else { return None };
        let given: Vec<Option<(Option<Val>, Span)>> =
            matched.iter().map(|m| m.map(|i| (values[i].clone(), args[i].value.span))).collect();
        self.call_fn(id, &def, module, given, span)
    }

    /// The one signature that a call matches.
    pub(crate) fn overload(
        &mut self,
        candidates: &[DefId],
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<(DefId, Matched)> {
        let mut fitting = Vec::new();
        let mut misfits = Vec::new();
        for id in candidates {
            let (def, _) = self.modules.def(*id);
            match match_args(&def, args) {
                Ok(matched) => fitting.push((*id, matched, def)),
                Err(why) => misfits.push((def, why)),
            }
        }
        if fitting.len() == 1 {
            let (id, matched, _) = fitting.remove(0);
            return Some((id, matched));
        }
        if !fitting.is_empty() {
            let d =
                Diagnostic::error("E0210", format!("several definitions of `{}` match this call", name.node))
                    .at(span, "ambiguous call");
            let d =
                fitting.iter().fold(d, |d, (_, _, def)| d.note(format!("candidate: {}", def.signature())));
            return self.fail(d.help("name the arguments: their names choose the definition"));
        }
        if let [(def, why)] = misfits.as_slice() {
            let d = mismatch(def, why, name, args);
            return self.fail(d);
        }
        let mut d =
            Diagnostic::error("E0209", format!("no definition of `{}` matches these arguments", name.node))
                .at(span, "no match");
        for (def, _) in &misfits {
            d = d.note(format!("candidate: {}", def.signature()));
        }
        let params: Vec<&str> =
            misfits.iter().flat_map(|(def, _)| def.params().iter().map(|p| p.name.node.as_str())).collect();
        let slip = args.iter().filter_map(|a| a.name.as_ref()).find(|n| !params.contains(&n.node.as_str()));
        d = match slip.and_then(|n| closest(&n.node, params.iter().copied()).map(|near| (n, near))) {
            Some((n, near)) => d.help(format!("did you mean `{near}` for `{}`?", n.node)),
            None => d.help("give exactly the arguments of one of the candidates"),
        };
        self.fail(d)
    }

    fn unknown_function(&self, env: &Env, name: &ast::Ident) -> Diagnostic {
        let d = Diagnostic::error("E0202", format!("there is no function `{}`", name.node))
            .at(name.span, "unknown function");
        let items = library::find(&name.node);
        if let Some(item) = items.iter().find(|i| i.kind == "fn") {
            return d.help(format!("add `use {}.{}`", item.module, item.name));
        }
        if let Some(item) = items.first() {
            return d.help(format!(
                "`{}` is a prior: write `w ~ {}(…)` after `use {}.{}`",
                item.name, item.name, item.module, item.name
            ));
        }
        if crate::dist::family(&name.node).is_some() {
            return d.help(format!("`{}` is a family: it stands on the right of `~`", name.node));
        }
        if env.values.contains_key(&name.node) || env.plate(&name.node).is_some() {
            return d.help(format!(
                "`{}` is a quantity: index with brackets, `{}[…]`, multiply with `*`",
                name.node, name.node
            ));
        }
        let own = self.modules.names(env.module, true);
        let natives = crate::check::natives::NATIVES.iter().map(|n| n.name);
        let natives = natives.chain(self.hosts.all().iter().map(|f| f.name.as_str()));
        let all = library::library();
        let std = all.iter().filter(|i| i.kind == "fn").map(|i| i.name.as_str());
        match closest(&name.node, own.into_iter().chain(natives).chain(std)) {
            Some(near) => match all
                .iter()
                .find(|i| i.name == near && self.modules.find(env.module, near, true).is_empty())
            {
                Some(item) => d.help(format!("did you mean `{near}`? add `use {}.{near}`", item.module)),
                None => d.help(format!("did you mean `{near}`?")),
            },
            None => d.help(format!("define it: `fn {}(x: real[N]) -> real[N] = …`", name.node)),
        }
    }

    /// Inlines one call. `given`: for each parameter its argument, or `None` for the default.
    pub(crate) fn call_fn(
        &mut self,
        id: DefId,
        def: &Rc<ast::FnDef>,
        module: ModuleId,
        given: Vec<Option<(Option<Val>, Span)>>,
        span: Span,
    ) -> Option<Val> {
        self.not_recursive(id, &def.name, span)?;
        // an array given to a scalar parameter: the function acts on its entries
        let own_axes = self.own_axes(id, def, &given, span)?;
        let mut env = Env::new(module);
        let mut fine = true;
        for (param, slot) in def.params.iter().zip(given) {
            let value = match slot {
                Some((value, at)) => {
                    let value = value.map(|v| on_plates(v, param, &own_axes));
                    match value {
                        Some(v) => self.bind_param(&mut env, param, v, at, &def.name),
                        None => None,
                    }
                }
                None => {
                    self.calls.push((id, span));
                    let value = match &param.default {
                        Some(default) => match self.expr(&env, default) {
                            Some(v) => self.bind_param(&mut env, param, v, default.span, &def.name),
                            None => None,
                        },
                        None => None,
                    };
                    self.calls.pop();
                    value
                }
            };
            fine &= value.is_some();
            env.set(&param.name.node, value, param.name.span, "parameter");
        }
        if !fine {
            return None;
        }
        self.calls.push((id, span));
        let value = self.fn_body(env, def);
        self.calls.pop();
        value.map(|v| off_plates(v, &own_axes, self))
    }

    fn fn_body(&mut self, mut env: Env, def: &ast::FnDef) -> Option<Val> {
        for l in &def.lets {
            if let Some(first) = env.values.get(&l.name.node) {
                let d = crate::check::errors::declared_twice(&l.name.node, first.span, l.name.span);
                self.report(d);
            }
            if let Some(i) = l.indices.first() {
                self.report(
                    Diagnostic::error("E0214", "a `let` of a function has no index")
                        .at(i.span, "no plate here")
                        .help("remove it"),
                );
            }
            let value = self.expr(&env, &l.value);
            env.set(&l.name.node, value, l.name.span, "let");
        }
        let value = self.expr(&env, &def.body)?;
        let elem = self.elem_named(&def.result.elem)?;
        let what = format!("the result of `{}`", def.name.node);
        self.typed(&mut env, &def.result, elem, value, &what, def.body.span)
    }

    /// Reports a definition that expands to itself, each circle once.
    pub(crate) fn not_recursive(&mut self, id: DefId, name: &ast::Ident, span: Span) -> Option<()> {
        let Some(start) = self.calls.iter().position(|(d, _)| *d == id) else { return Some(()) };
        let mut members: Vec<DefId> = self.calls[start..].iter().map(|(d, _)| *d).collect();
        let mut way: Vec<String> =
            members.iter().map(|d| self.modules.def(*d).0.name().node.clone()).collect();
        way.push(name.node.clone());
        members.sort();
        if !self.sink.circles.insert(members) {
            return None;
        }
        self.fail(
            Diagnostic::error("E0502", format!("`{}` is defined by itself: {}", name.node, way.join(" → ")))
                .at(span, "this call closes the circle")
                .also(name.span, "defined here")
                .help("functions and priors are not recursive: state it without calling itself"),
        )
    }

    /// Checks an argument against the type of its parameter and binds the dimensions of that type.
    pub(crate) fn bind_param(
        &mut self,
        env: &mut Env,
        param: &ast::FnParam,
        value: Val,
        span: Span,
        callee: &ast::Ident,
    ) -> Option<Val> {
        let Some(ty) = &param.ty else { return Some(value) };
        let elem = self.elem_named(&ty.elem)?;
        let what = format!("argument `{}` of `{}`", param.name.node, callee.node);
        self.typed(env, ty, elem, value, &what, span)
    }

    /// The value as a type asks for it: support checked, dimensions bound or met, a vector turned into a
    /// matrix of one column where a matrix is asked for.
    fn typed(
        &mut self,
        env: &mut Env,
        ty: &ast::TypeExpr,
        elem: Elem,
        value: Val,
        what: &str,
        span: Span,
    ) -> Option<Val> {
        if !self.fits(&value, elem) {
            let found = self.found(&value);
            return self.fail(
                Diagnostic::error("E0404", format!("{what} is {}, found {found}", elem.name()))
                    .at(span, found)
                    .help(wanted_help(elem)),
            );
        }
        let mut value = value;
        if ty.dims.len() == 2 && value.shape.len() == 1 && value.plates.is_empty() {
            let shape = vec![value.shape[0].clone(), Dim::number(1)];
            value.expr = self.push(ExprKind::AsColumn(value.expr), value.set, shape.clone(), span)?;
            value.shape = shape;
        }
        if ty.dims.len() != value.shape.len() {
            let found = self.describe(&value.shape);
            let wanted =
                ["a scalar", "a vector", "a matrix"].get(ty.dims.len()).copied().unwrap_or("an array");
            let mut d = Diagnostic::error("E0302", format!("{what} is {wanted}, found {found}"))
                .at(span, found)
                .also(ty.span, "asked for here");
            if !value.plates.is_empty() {
                d = d.help("compute it outside the plate, for all rows at once");
            }
            return self.fail(d);
        }
        for (i, d) in ty.dims.iter().enumerate() {
            let actual = value.shape[i].clone();
            if let ast::ExprKind::Name(name) = &d.kind
                && !env.values.contains_key(name)
                && !env.dims.contains_key(name)
            {
                env.dims.insert(name.clone(), actual);
                continue;
            }
            let wanted = self.dimension(env, d)?;
            if !self.same_dim(&wanted, &actual, span, Some(d.span)) {
                let (w, a) = (self.show_dim(&wanted), self.show_dim(&actual));
                let shown = self.show_shape(&value.shape);
                let e = Diagnostic::error("E0301", format!("{what}: dimension {} is {w}, found {a}", i + 1))
                    .at(span, shown)
                    .also(ty.span, "asked for here");
                let e = self.with_origins(e, &wanted, &actual);
                return self.fail(e);
            }
        }
        Some(value)
    }

    /// `real`, or the number itself
    pub(crate) fn found(&self, v: &Val) -> String {
        match self.literal(v) {
            Some(x) => format!("{x}"),
            None => v.set.elem().name().to_owned(),
        }
    }

    /// The plates that stand for the axes of arrays given to scalar parameters.
    fn own_axes(
        &mut self,
        id: DefId,
        def: &ast::FnDef,
        given: &[Option<(Option<Val>, Span)>],
        span: Span,
    ) -> Option<Vec<PlateId>> {
        let mut shape: Option<(Vec<Dim>, Span)> = None;
        for (param, slot) in def.params.iter().zip(given) {
            let scalar = param.ty.as_ref().is_some_and(|t| t.dims.is_empty());
            let Some((Some(v), at)) = slot else { continue };
            if !scalar || v.is_scalar() {
                continue;
            }
            let Some((first, first_at)) = &shape else {
                if v.shape.len() + def.result.dims.len() > 2 {
                    let d = self.no_room(id, def, param, v, *at);
                    return self.fail(d);
                }
                shape = Some((v.shape.clone(), *at));
                continue;
            };
            let (first, first_at) = (first.clone(), *first_at);
            let mut same = first.len() == v.shape.len();
            for (l, r) in first.iter().zip(&v.shape) {
                same &= self.same_dim(l, r, *at, Some(first_at));
            }
            if !same {
                let (l, r) = (self.describe(&first), self.describe(&v.shape));
                return self.fail(
                    Diagnostic::error(
                        "E0301",
                        format!("`{}` acts entry by entry, found {l} and {r}", def.name.node),
                    )
                    .at(*at, r)
                    .also(first_at, l)
                    .help("give arrays of one shape, or scalars"),
                );
            }
        }
        let Some((shape, _)) = shape else { return Some(Vec::new()) };
        let depth = OWN_AXES + self.calls.len() * 2;
        let mut plates = Vec::new();
        for (i, extent) in shape.into_iter().enumerate() {
            plates.push(PlateId(self.plates.len()));
            self.plates.push(Plate { name: "entry".to_owned(), extent, depth: depth + i, span });
        }
        Some(plates)
    }

    /// An array given to a scalar parameter where the result leaves no axis for its entries. Another
    /// definition of the function may have a parameter for it.
    fn no_room(&self, id: DefId, def: &ast::FnDef, param: &ast::FnParam, v: &Val, at: Span) -> Diagnostic {
        let (name, found) = (&def.name.node, self.describe(&v.shape));
        let what = format!("argument `{}` of `{name}`", param.name.node);
        let d = Diagnostic::error("E0302", format!("{what} is a scalar, found {found}"))
            .at(at, found.clone())
            .also(param.name.span, "asked for here");
        let module = self.modules.def(id).1;
        let overloads = self.modules.all().into_iter().map(|other| self.modules.def(other));
        let fitting = overloads
            .filter(|(other, m)| *m == module && other.is_fn() && other.name().node == *name)
            .flat_map(|(other, _)| other.params().to_vec())
            .filter(|p| def.params.iter().all(|own| own.name.node != p.name.node))
            .find(|p| p.ty.as_ref().is_some_and(|t| t.dims.len() == v.shape.len()));
        match fitting {
            Some(other) => {
                let other = &other.name.node;
                d.help(format!("`{other}` takes {found}: write `{name}(…, {other} = …)`"))
            }
            None => d.help("give one number"),
        }
    }
}

/// An array given to a scalar parameter, its own axes turned into plates.
fn on_plates(mut v: Val, param: &ast::FnParam, own: &[PlateId]) -> Val {
    if param.ty.as_ref().is_some_and(|t| t.dims.is_empty()) && v.shape.len() == own.len() {
        v.plates.extend(own);
        v.shape.clear();
    }
    v
}

/// The way back: those plates are its own axes again.
fn off_plates(mut v: Val, own: &[PlateId], cx: &Cx) -> Val {
    let mut shape = Vec::new();
    v.plates.retain(|p| {
        let mine = own.contains(p);
        if mine {
            shape.push(cx.plates[p.0].extent.clone());
        }
        !mine
    });
    shape.append(&mut v.shape);
    v.shape = shape;
    v
}

fn mismatch(def: &Def, why: &Mismatch, name: &ast::Ident, args: &[ast::Arg]) -> Diagnostic {
    let signature = def.signature();
    let at = |i: usize| args[i].name.as_ref().map_or(args[i].value.span, |n| n.span);
    let n = &name.node;
    match why {
        Mismatch::Unknown(i) => {
            let written = args[*i].name.as_ref().map_or("", |n| n.node.as_str());
            let known = def.params().iter().map(|p| p.name.node.as_str());
            let d = Diagnostic::error("E0209", format!("`{n}` has no argument `{written}`"))
                .at(at(*i), "unknown argument");
            match closest(written, known) {
                Some(near) => d.note(format!("it is `{signature}`")).help(format!("did you mean `{near}`?")),
                None => d.help(format!("it is `{signature}`")),
            }
        }
        Mismatch::Twice(i, p) => {
            Diagnostic::error("E0209", format!("argument `{p}` of `{n}` is given twice"))
                .at(at(*i), "given again")
                .help("remove one of them")
        }
        Mismatch::TooMany(i) => {
            let most = crate::check::errors::count(def.params().len(), "argument");
            Diagnostic::error("E0209", format!("`{n}` takes {most}, found {}", args.len()))
                .at(at(*i), "one too many")
                .help(format!("it is `{signature}`"))
        }
        Mismatch::NamedOnly(i, p) => {
            Diagnostic::error("E0209", format!("argument `{p}` of `{n}` is given by name only"))
                .at(at(*i), "positional arguments of a prior are sizes")
                .help(format!("write `{p} = …`"))
        }
        Mismatch::Missing(p) => Diagnostic::error("E0209", format!("`{n}` misses its argument `{p}`"))
            .at(name.span, "in this call")
            .help(format!("it is `{signature}`")),
    }
}

/// What to do about a value outside a support.
pub(crate) fn wanted_help(elem: Elem) -> String {
    match elem {
        Elem::Positive | Elem::NonNegative | Elem::Unit | Elem::Int | Elem::Count | Elem::Bool => {
            let name = if elem == Elem::NonNegative { "positive" } else { elem.name() };
            match elem {
                Elem::Positive | Elem::NonNegative => {
                    format!("declare what it is made of `{name}`, or take `exp(…)` of it")
                }
                _ => format!("declare what it is made of `{name}`"),
            }
        }
        Elem::Category | Elem::Ordered => format!("declare the data `{}[N]`", elem.name()),
        Elem::Increasing | Elem::Simplex => format!("declare a `param` of type `{}[K]`", elem.name()),
        Elem::Real => "levels are no numbers: take `onehot(…)`, or index with it".to_owned(),
    }
}
