//! The right side of `~`: a family with its arguments, laid out over the axes of the node.

use crate::check::cx::{Cx, PlateId, Val};
use crate::check::dim::{Atom, Dim};
use crate::check::env::Env;
use crate::check::typed::{Dist, DistArg, Elem, ExprKind, NodeId};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::dist::{Arg, ArgShape, Family, Need, Support};
use crate::source::Span;
use crate::syntax::ast;

/// One evaluated argument.
struct Given {
    arg: &'static Arg,
    value: Val,
    span: Span,
}

/// The node that a family describes.
pub(crate) struct Target<'a> {
    pub(crate) name: &'a ast::Ident,
    /// The plates it is repeated over, in the order of its axes.
    pub(crate) lead: &'a [PlateId],
    /// The data it observes.
    pub(crate) data: Option<NodeId>,
    /// Its own shape, if that is known before the arguments are.
    pub(crate) shape: Option<Vec<Dim>>,
    pub(crate) span: Span,
}

impl Cx<'_> {
    /// A family with arguments, and the own shape of its node.
    pub(crate) fn dist(
        &mut self,
        env: &Env,
        family: &'static Family,
        stmt: &ast::TildeStmt,
        target: &Target,
    ) -> Option<(Dist, Vec<Dim>)> {
        let given = self.given(env, family, stmt);
        let weight = stmt.weight.as_ref().map(|w| (self.expr(env, w), w.span));
        let support = self.suits(family, target);
        let given = given?;
        support?;
        let shape = self.own_shape(family, &given, target)?;
        if target.lead.len() + shape.len() > 2 {
            return self.too_many_axes(target.lead, &shape, target.span);
        }
        let mut args = Vec::new();
        let mut fine = true;
        for g in &given {
            match self.argument(family, g, target, &shape) {
                Some(value) => args.push(DistArg { name: g.arg.name, value, span: g.span }),
                None => fine = false,
            }
        }
        let mut laid_weight = None;
        if let Some((value, span)) = weight {
            let value = value?;
            if target.data.is_none() {
                return self.fail(
                    Diagnostic::error(
                        "E0211",
                        format!("`{}` is not observed, it has no case weights", target.name.node),
                    )
                    .at(span, "weight of an unknown")
                    .help("remove `weight …`"),
                );
            }
            if !self.fits(&value, Elem::NonNegative) {
                let found = self.found(&value);
                return self.fail(
                    Diagnostic::error("E0404", format!("case weights are at least 0, found {found}"))
                        .at(span, found)
                        .help("declare them `positive[N]` or `count[N]`"),
                );
            }
            laid_weight = Some(self.over_node("the case weight", &value, target, &shape, span)?);
        }
        if !fine {
            return None;
        }
        Some((Dist { family, args, weight: laid_weight, span: target.span }, shape))
    }

    /// The arguments in the order of the family's record; reports what does not match it.
    fn given(&mut self, env: &Env, family: &'static Family, stmt: &ast::TildeStmt) -> Option<Vec<Given>> {
        let mut slots: Vec<Option<(Option<Val>, Span)>> = vec![None; family.args.len()];
        let positional: Vec<usize> =
            family.args.iter().enumerate().filter(|(_, a)| a.positional).map(|(i, _)| i).collect();
        let mut position = 0;
        let mut fine = true;
        for arg in &stmt.args {
            let value = self.expr(env, &arg.value);
            let (at, span) = match &arg.name {
                Some(name) => (family.args.iter().position(|a| a.name == name.node), name.span),
                None => {
                    position += 1;
                    (positional.get(position - 1).copied(), arg.value.span)
                }
            };
            let Some(at) = at else {
                fine = false;
                let d = unmatched(family, arg, positional.len(), span);
                self.report(d);
                continue;
            };
            if let Some((_, first)) = slots[at] {
                fine = false;
                self.report(
                    Diagnostic::error(
                        "E0211",
                        format!("argument `{}` of `{}` is given twice", family.args[at].name, family.name),
                    )
                    .at(span, "given again")
                    .also(first, "first given here")
                    .help("remove one of them"),
                );
                continue;
            }
            slots[at] = Some((value, arg.value.span));
        }
        // a wrong argument may be the missing one: report both only if all were understood
        if fine {
            fine = self.verify_needs(family, &slots, stmt);
        }
        let mut given = Vec::new();
        for (arg, slot) in family.args.iter().zip(slots) {
            if let Some((value, span)) = slot {
                match value {
                    Some(value) => given.push(Given { arg, value, span }),
                    None => fine = false,
                }
            }
        }
        fine.then_some(given)
    }

    /// Whether everything the family needs is there, and nothing excludes something else.
    fn verify_needs(
        &mut self,
        family: &'static Family,
        slots: &[Option<(Option<Val>, Span)>],
        stmt: &ast::TildeStmt,
    ) -> bool {
        let mut fine = true;
        let mut groups: Vec<&str> = Vec::new();
        for (arg, slot) in family.args.iter().zip(slots) {
            match arg.need {
                Need::Required if slot.is_none() => {
                    fine = false;
                    self.report(
                        Diagnostic::error(
                            "E0211",
                            format!("`{}` misses its argument `{}`", family.name, arg.name),
                        )
                        .at(stmt.family.span, "in this family")
                        .help(format!("it is `{}`", signature(family))),
                    );
                }
                Need::OneOf(group) if !groups.contains(&group) => groups.push(group),
                _ => {}
            }
        }
        for group in groups {
            let members: Vec<usize> =
                (0..family.args.len()).filter(|i| family.args[*i].need == Need::OneOf(group)).collect();
            let names: Vec<String> =
                members.iter().map(|i| format!("`{} =`", family.args[*i].name)).collect();
            let there: Vec<usize> = members.iter().copied().filter(|i| slots[*i].is_some()).collect();
            let span = |i: usize| slots[i].as_ref().map_or(stmt.family.span, |s| s.1);
            match there.as_slice() {
                [_] => {}
                [] => {
                    fine = false;
                    self.report(
                        Diagnostic::error(
                            "E0211",
                            format!("`{}` needs one of {}", family.name, names.join(", ")),
                        )
                        .at(stmt.family.span, "none of them given")
                        .help(format!("add one of them: `{}`", signature(family))),
                    );
                }
                [a, b, ..] => {
                    fine = false;
                    let (x, y) = (family.args[*a].name, family.args[*b].name);
                    self.report(
                        Diagnostic::error(
                            "E0211",
                            format!("`{x}` and `{y}` of `{}` exclude each other", family.name),
                        )
                        .at(span(*b), "given as well")
                        .also(span(*a), "given here")
                        .help(format!("give exactly one of {}", names.join(", "))),
                    );
                }
            }
        }
        fine
    }

    /// Whether the node can be drawn from the family.
    fn suits(&mut self, family: &'static Family, target: &Target) -> Option<()> {
        let Some(data) = target.data else {
            return match family.support {
                Support::Elem(_) => Some(()),
                _ => self.fail(
                    Diagnostic::error(
                        "E0410",
                        format!(
                            "`{}` is unknown and discrete: `{}` only observes",
                            target.name.node, family.name
                        ),
                    )
                    .at(target.name.span, "not declared as data")
                    .help(format!(
                        "declare it: `data {}: {}[N]`",
                        target.name.node,
                        support_example(family.support)
                    )),
                ),
            };
        };
        let node = &self.nodes[data.index()];
        let elem = node.ty.elem;
        let ty_span = node.data().map(|d| d.ty_span);
        let fits = match family.support {
            Support::Elem(wanted) => elem.fits(wanted),
            Support::Binary => {
                let two = match self.stated_levels.get(&data) {
                    Some(n) => *n == 2,
                    None => true,
                };
                elem == Elem::Bool || (elem == Elem::Category && two)
            }
            Support::Levels => elem == Elem::Category,
            Support::Ordered => elem == Elem::Ordered,
        };
        if !fits {
            let wanted = support_name(family.support);
            let found = match self.stated_levels.get(&data) {
                Some(n) => format!("{} of {n} levels", elem.name()),
                None => elem.name().to_owned(),
            };
            let mut d = Diagnostic::error(
                "E0405",
                format!("`{}` observes {wanted}, `{}` is {found}", family.name, target.name.node),
            )
            .at(target.name.span, found);
            if let Some(span) = ty_span {
                d = d.also(span, "declared here");
            }
            return self.fail(d.help(format!(
                "declare it `{}`, or choose another family",
                support_example(family.support)
            )));
        }
        if family.support == Support::Binary
            && elem == Elem::Category
            && !self.stated_levels.contains_key(&data)
        {
            let levels = Dim::atom(Atom::Levels(data));
            self.same_dim(&levels, &Dim::number(2), target.span, ty_span);
        }
        Some(())
    }

    /// The own shape of the node: declared, stated in `[…]`, or that of the arguments.
    fn own_shape(&mut self, family: &'static Family, given: &[Given], target: &Target) -> Option<Vec<Dim>> {
        if let Some(shape) = &target.shape {
            return Some(shape.clone());
        }
        let mut found: Option<(Vec<Dim>, &Given)> = None;
        for g in given.iter().filter(|g| g.arg.shape == ArgShape::Node && !g.value.is_scalar()) {
            let Some((shape, first)) = &found else {
                found = Some((g.value.shape.clone(), g));
                continue;
            };
            let mut clash = shape.len() != g.value.shape.len();
            let (shape, first_span, first_name) = (shape.clone(), first.span, first.arg.name);
            let mut dims = None;
            for (l, r) in axes(&shape, &g.value.shape) {
                if !self.same_dim(l, r, g.span, Some(first_span)) {
                    clash = true;
                    dims = Some((l.clone(), r.clone()));
                }
            }
            if clash {
                let (l, r) = (self.describe(&shape), self.describe(&g.value.shape));
                let mut d = Diagnostic::error(
                    "E0306",
                    format!(
                        "arguments of `{}` differ in shape: `{first_name}` is {l}, `{}` is {r}",
                        family.name, g.arg.name
                    ),
                )
                .at(g.span, r)
                .also(first_span, l);
                d = match dims {
                    Some((l, r)) => self.with_origins(d, &l, &r),
                    None => d.help("repeat the smaller one with plates"),
                };
                return self.fail(d);
            }
        }
        Some(found.map(|(shape, _)| shape).unwrap_or_default())
    }

    /// One argument over the axes that the family asks for.
    fn argument(
        &mut self,
        family: &'static Family,
        g: &Given,
        target: &Target,
        shape: &[Dim],
    ) -> Option<crate::check::typed::ExprId> {
        if !self.arg_fits(g) {
            let found = self.found(&g.value);
            let named = match self.exprs.get(g.value.expr).kind {
                ExprKind::Node(id) if !self.nodes[id.index()].name.contains('.') => Some(id),
                _ => None,
            };
            let mut d = Diagnostic::error(
                "E0404",
                format!("`{}` of `{}` is {}, found {found}", g.arg.name, family.name, g.arg.elem.name()),
            )
            .at(g.span, found);
            d = match named {
                Some(id) if self.nodes[id.index()].data().is_some() => {
                    let node = &self.nodes[id.index()];
                    d.also(node.span, "declared here").help(format!(
                        "declare `{}` as {}",
                        node.name,
                        g.arg.elem.name()
                    ))
                }
                _ => d.help(crate::check::call::wanted_help(g.arg.elem)),
            };
            return self.fail(d);
        }
        let what = format!("`{}` of `{}`", g.arg.name, family.name);
        match g.arg.shape {
            ArgShape::Node => self.over_node(&what, &g.value, target, shape, g.span),
            ArgShape::PerLevel => self.per_level(&what, &g.value, target, shape, g.span),
            ArgShape::Cutpoints => self.cutpoints(&what, &g.value, target, g.span),
        }
    }

    fn arg_fits(&self, g: &Given) -> bool {
        if self.fits(&g.value, g.arg.elem) {
            return true;
        }
        // stated cutpoints: `[-1, 0, 1]`
        if g.arg.elem == Elem::Increasing {
            let mut e = g.value.expr;
            while let ExprKind::Node(id) = self.exprs.get(e).kind {
                match self.nodes[id.index()].kind {
                    crate::check::typed::NodeKind::Let { value, .. } => e = value,
                    _ => break,
                }
            }
            if let ExprKind::Vector(items) = &self.exprs.get(e).kind {
                let numbers: Vec<f64> = items
                    .iter()
                    .filter_map(|i| match self.exprs.get(*i).kind {
                        ExprKind::Number(x) => Some(x.0),
                        _ => None,
                    })
                    .collect();
                return numbers.len() == items.len() && numbers.windows(2).all(|w| w[0] < w[1]);
            }
        }
        false
    }

    /// A scalar, or an array of exactly the shape of the node.
    fn over_node(
        &mut self,
        what: &str,
        v: &Val,
        target: &Target,
        shape: &[Dim],
        span: Span,
    ) -> Option<crate::check::typed::ExprId> {
        if !v.is_scalar() {
            let mut clash = v.shape.len() != shape.len();
            let mut dims = None;
            for (l, r) in axes(shape, &v.shape) {
                if !self.same_dim(l, r, span, Some(target.name.span)) {
                    clash = true;
                    dims = dims.or(Some((l.clone(), r.clone())));
                }
            }
            if clash {
                let (found, wanted) = (self.describe(&v.shape), self.describe(shape));
                let name = &target.name.node;
                let mut d = Diagnostic::error("E0306", format!("`{name}` is {wanted}, {what} is {found}"))
                    .at(span, found)
                    .also(target.name.span, format!("`{name}` is {wanted}"));
                if let Some(data) = target.data.and_then(|id| self.nodes[id.index()].data()) {
                    d = d.also(data.ty_span, "declared here");
                }
                d = match dims {
                    Some((l, r)) => self.with_origins(d, &l, &r),
                    None if shape.is_empty() && !target.lead.is_empty() => {
                        d.help("inside the plate it takes one number for each index: write the index, `…[n]`")
                    }
                    None if v.shape.len() + 1 == shape.len()
                        && shape.ends_with(&v.shape)
                        && target.lead.is_empty() =>
                    {
                        let rows = self.show_dim(&shape[0]);
                        d.help(format!(
                            "state it row by row, with everything that has rows indexed too: `plate n in {rows} {{ {name}[n] ~ … }}`"
                        ))
                    }
                    None => d.help("give a scalar or exactly the shape of the node"),
                };
                return self.fail(d);
            }
        }
        self.laid_out(v, target.lead, shape, false, span)
    }

    /// The shape of the node with a last dimension for its levels.
    fn per_level(
        &mut self,
        what: &str,
        v: &Val,
        target: &Target,
        shape: &[Dim],
        span: Span,
    ) -> Option<crate::check::typed::ExprId> {
        let levels = Dim::atom(Atom::Levels(target.data?));
        let mut wanted = shape.to_vec();
        wanted.push(levels.clone());
        // one probability vector for all rows
        let shared = v.shape.len() == 1 && shape.len() == 1 && v.plates.is_empty() && v.shape != shape;
        let expected = if shared { vec![levels] } else { wanted.clone() };
        let mut clash = v.shape.len() != expected.len();
        let mut dims = None;
        for (l, r) in axes(&expected, &v.shape) {
            if !self.same_dim(l, r, span, Some(target.name.span)) {
                clash = true;
                dims = dims.or(Some((l.clone(), r.clone())));
            }
        }
        if clash {
            let (found, shown) = (self.describe(&v.shape), self.show_shape(&wanted));
            let d = Diagnostic::error(
                "E0306",
                format!("{what} has one column per level, {shown}; found {found}"),
            )
            .at(span, found)
            .also(target.name.span, "the levels are those of this node");
            let d = match dims {
                Some((l, r)) => self.with_origins(d, &l, &r),
                None => d.help(format!(
                    "give the weights one column per level: `ard(cols(phi), levels({}))`",
                    target.name.node
                )),
            };
            return self.fail(d);
        }
        if shared {
            return self.push(ExprKind::RepeatRows(v.expr, shape[0].clone()), v.set.entries(), wanted, span);
        }
        self.laid_out(v, target.lead, &wanted, true, span)
    }

    /// One vector of the levels less one, for all rows.
    fn cutpoints(
        &mut self,
        what: &str,
        v: &Val,
        target: &Target,
        span: Span,
    ) -> Option<crate::check::typed::ExprId> {
        let wanted = Dim::atom(Atom::Levels(target.data?)).sub(&Dim::number(1));
        let name = &target.name.node;
        let fine = match (v.plates.as_slice(), v.shape.as_slice()) {
            ([], [d]) => {
                let d = d.clone();
                self.same_dim(&wanted, &d, span, Some(target.name.span))
            }
            _ => false,
        };
        if !fine {
            let (found, wanted) = (self.describe(&v.shape), self.show_dim(&wanted));
            return self.fail(
                Diagnostic::error("E0306", format!("{what} are a vector [{wanted}], found {found}"))
                    .at(span, found)
                    .also(target.name.span, "the levels are those of this node")
                    .help(format!("declare `param cut: increasing[levels({name}) - 1]`")),
            );
        }
        Some(v.expr)
    }
}

/// `Normal(mean, precision = … | variance = … | sd = …)`
pub(crate) fn signature(family: &Family) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut groups: Vec<&str> = Vec::new();
    for arg in family.args {
        match arg.need {
            Need::OneOf(group) if groups.contains(&group) => {}
            Need::OneOf(group) => {
                groups.push(group);
                let members: Vec<String> = family
                    .args
                    .iter()
                    .filter(|a| a.need == arg.need)
                    .map(|a| if a.positional { a.name.to_owned() } else { format!("{} = …", a.name) })
                    .collect();
                parts.push(members.join(" | "));
            }
            Need::Default(x) => parts.push(format!("{} = {x}", arg.name)),
            Need::Required if arg.positional => parts.push(arg.name.to_owned()),
            Need::Required => parts.push(format!("{} = …", arg.name)),
        }
    }
    format!("{}({})", family.name, parts.join(", "))
}

/// An argument that the family does not have, or wants named.
fn unmatched(family: &'static Family, arg: &ast::Arg, positional: usize, span: Span) -> Diagnostic {
    let Some(name) = &arg.name else {
        let named: Vec<String> =
            family.args.iter().filter(|a| !a.positional).map(|a| format!("`{} =`", a.name)).collect();
        let d = match positional {
            0 if family.args.is_empty() => {
                return Diagnostic::error("E0211", format!("`{}` takes no argument", family.name))
                    .at(span, "unknown argument")
                    .help(format!("write `{}`", signature(family)));
            }
            0 => Diagnostic::error("E0211", format!("arguments of `{}` are named", family.name)),
            n => Diagnostic::error(
                "E0211",
                format!(
                    "`{}` takes {} without a name",
                    family.name,
                    crate::check::errors::count(n, "argument")
                ),
            ),
        }
        .at(span, "name this argument");
        return if named.is_empty() {
            d.help(format!("it is `{}`", signature(family)))
        } else {
            d.help(format!("say which it is: {}", named.join(", ")))
        };
    };
    let d = Diagnostic::error("E0211", format!("`{}` has no argument `{}`", family.name, name.node))
        .at(span, "unknown argument");
    match closest(&name.node, family.args.iter().map(|a| a.name)) {
        Some(near) => {
            d.note(format!("it is `{}`", signature(family))).help(format!("did you mean `{near}`?"))
        }
        None => d.help(format!("it is `{}`", signature(family))),
    }
}

/// The axes of two shapes side by side; of different rank, no axis of one is that of the other.
fn axes<'a>(left: &'a [Dim], right: &'a [Dim]) -> impl Iterator<Item = (&'a Dim, &'a Dim)> {
    let same = if left.len() == right.len() { left.len() } else { 0 };
    left.iter().zip(right).take(same)
}

fn support_name(support: Support) -> String {
    match support {
        Support::Elem(elem) => format!("{} data", elem.name()),
        Support::Binary => "bool data or a category of two levels".to_owned(),
        Support::Levels => "category data".to_owned(),
        Support::Ordered => "ordered data".to_owned(),
    }
}

fn support_example(support: Support) -> &'static str {
    match support {
        Support::Elem(elem) => elem.name(),
        Support::Binary => "bool",
        Support::Levels => "category",
        Support::Ordered => "ordered",
    }
}
