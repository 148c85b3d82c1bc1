//! Learned parameters in a plan: where they enter, how they are searched, and what stops that.

use std::collections::BTreeSet;

use super::ir::{Param, Step};
use super::obstacles::{predictor_of, rate_of, scale_of, scale_powers};
use super::scaled;
use crate::check::typed::{Dist, ExprId, ExprKind, Model, Native, Node, NodeId, NodeKind};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dist::{ArgShape, Elem};
use crate::graph::linear::names;
use crate::graph::walk::{Lets, constant, fold, params as params_of};

/// Every `param` of a model, in order.
pub fn params(model: &Model) -> Vec<Param> {
    let of = |node: &Node| {
        let enters = model
            .stochastic()
            .filter(|(_, d)| d.args.iter().any(|a| params_of(model, a.value).contains(&node.id)))
            .map(|(n, _)| n.name.clone())
            .collect();
        Param {
            node: node.id,
            name: node.name.clone(),
            set: node.ty.elem.name().to_owned(),
            coordinate: coordinate(node.ty.elem).to_owned(),
            enters,
            held: is_redundant(model, node.id),
        }
    };
    model.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Param { .. })).map(of).collect()
}

/// The learned cutpoints of a likelihood, if they are a parameter as it is.
pub fn free_cutpoints(model: &Model, dist: &Dist) -> Option<NodeId> {
    let latent = dist.family.score.as_ref()?.latent.as_ref()?;
    let id = node_of(model, dist.arg(latent.cutpoints)?)?;
    matches!(model.node(id).kind, NodeKind::Param { .. }).then_some(id)
}

/// Whether a parameter is the unit of a likelihood whose cutpoints and weights are all free: then
/// (w, cutpoints, unit, α) and (c w, c cutpoints, c unit, α/c²) are one model (mathematics §4), and only
/// ratios are determined.
fn is_redundant(model: &Model, param: NodeId) -> bool {
    let uses = |id: NodeId| -> usize {
        let args = model.stochastic().flat_map(|(_, d)| d.args.iter());
        args.filter(|a| params_of(model, a.value).contains(&id)).count()
    };
    let mut observed = model.stochastic().filter(|(n, _)| n.is_observed());
    let (Some((_, dist)), None) = (observed.next(), observed.next()) else { return false };
    let whole = |name: &str| dist.arg(name).and_then(|e| node_of(model, e));
    let is_unit = dist.family.args.iter().any(|a| a.unit && whole(a.name) == Some(param));
    let mut cutpoints = dist.family.args.iter().filter(|a| a.shape == ArgShape::Cutpoints);
    let free = |id: NodeId| matches!(model.node(id).kind, NodeKind::Param { .. }) && uses(id) == 1;
    let free_cutpoints = cutpoints.all(|a| whole(a.name).is_some_and(free));
    let predictor = predictor_of(dist).map(|(_, e)| through(model, e));
    let no_offset = predictor.is_some_and(|e| {
        let latent = node_of(model, e).is_some_and(|n| matches!(model.node(n).kind, NodeKind::Latent(_)));
        latent || matches!(model.expr(e).kind, ExprKind::MatMul(..))
    });
    let free_prior = |(node, dist): (&Node, &Dist)| match &node.kind {
        NodeKind::Latent(_) if dist.family.gaussian.is_some() => {
            let centred = dist.family.gaussian.and_then(|g| g.mean).and_then(|m| dist.arg(m));
            let powers = scale_powers(model, dist);
            centred.is_none_or(|m| constant(model, m) == Some(0.0))
                && (scale_of(dist).is_none() || !powers.is_empty())
                && powers.iter().all(|(id, _)| is_flat_prior(model, *id))
        }
        _ => true,
    };
    uses(param) == 1 && is_unit && free_cutpoints && no_offset && model.stochastic().all(free_prior)
}

/// A precision without a proper prior.
fn is_flat_prior(model: &Model, id: NodeId) -> bool {
    let Some(dist) = model.node(id).dist() else { return false };
    let shape = dist.family.precision_prior.and_then(|p| dist.arg(p.shape));
    let zero = |e: ExprId| constant(model, e) == Some(0.0);
    shape.is_some_and(zero) && rate_of(dist).is_some_and(|(_, e, power)| power > 0.0 && zero(e))
}

/// The node that an expression is, through `let`s.
fn node_of(model: &Model, e: ExprId) -> Option<NodeId> {
    match model.expr(through(model, e)).kind {
        ExprKind::Node(node) => Some(node),
        _ => None,
    }
}

/// Follows `let`s; a chain of them is never longer than there are nodes.
fn through(model: &Model, mut e: ExprId) -> ExprId {
    for _ in &model.nodes {
        match &model.expr(e).kind {
            ExprKind::Node(node) => match model.node(*node).kind {
                NodeKind::Let { value, .. } => e = value,
                _ => return e,
            },
            _ => return e,
        }
    }
    e
}

/// The unconstrained number that is searched.
fn coordinate(elem: Elem) -> &'static str {
    match elem {
        Elem::Positive | Elem::NonNegative => "ln p",
        Elem::Unit => "ln p/(1 − p)",
        Elem::Increasing => "p_1, ln(p_k − p_(k−1))",
        Elem::Simplex => "ln p_k/p_K",
        _ => "p",
    }
}

/// What makes it impossible to learn the parameters of a model by the gradient of an objective.
pub fn param_obstacles(model: &Model) -> Diagnostics {
    let mut found = Vec::new();
    for node in &model.nodes {
        if matches!(node.kind, NodeKind::Param { .. }) && !is_continuous(node.ty.elem) {
            found.push(
                Diagnostic::error(
                    "E0614",
                    format!(
                        "`{}` is {}, and only continuous parameters are learned",
                        node.name, node.ty.elem
                    ),
                )
                .at(node.span, "has no derivative")
                .help(format!("write `let {} = …` and compare the evidence of a few values", node.name)),
            );
        }
        if matches!(node.kind, NodeKind::Param { .. }) && model.is_per_row(node) {
            found.push(
                Diagnostic::error("E0614", format!("`{}` has a value for each row, and new rows would have none", node.name))
                    .at(node.span, "as many as there are rows")
                    .help(format!(
                        "learn one for all rows, `param {0}`, or one a group, `param {0} … [levels(g)]`; an effect of each row needs a prior, `{0} ~ …`",
                        node.name
                    )),
            );
        }
        let Some(dist) = node.dist() else { continue };
        let prior = matches!(node.kind, NodeKind::Latent(_)) && dist.family.precision_prior.is_some();
        for arg in dist.args.iter().filter(|_| prior) {
            if let Some(list) = listed(model, &params_of(model, arg.value)) {
                found.push(
                    Diagnostic::error(
                        "E0614",
                        format!("the {} of `{}` depends on the learned {list}", arg.name, node.name),
                    )
                    .at(arg.span, "a hyperprior must be known")
                    .help("write a number; or drop the prior and learn the precision itself"),
                );
            }
        }
        if let Some(list) = dist.weight.and_then(|w| listed(model, &params_of(model, w))) {
            found.push(
                Diagnostic::error(
                    "E0614",
                    format!("the case weights of `{}` depend on the learned {list}", node.name),
                )
                .at(dist.span, "how often a row counts must be known")
                .help("put it into the precision instead"),
            );
        }
        for arg in &dist.args {
            if let Some((place, list)) = discrete_use(model, arg.value) {
                found.push(
                    Diagnostic::error(
                        "E0614",
                        format!("an index or a degree of `{}` depends on the learned {list}", node.name),
                    )
                    .at(model.expr(place).span, "has no derivative")
                    .help("write a number, or compare the evidence of a few values"),
                );
            }
        }
    }
    found.extend(scaled::flat_effects(model));
    found
}

/// The steps of the loop that learns them, by the gradient of this objective.
pub fn steps(params: &[Param], objective: &str) -> Vec<Step> {
    let free: Vec<&str> = params.iter().filter(|p| !p.held).map(|p| p.name.as_str()).collect();
    if free.is_empty() {
        return Vec::new();
    }
    let of = free.join(", ");
    let step = |does: String, formula: &str, latex: &str, source: &str, cost: &str| Step {
        does,
        formula: formula.to_owned(),
        latex: latex.to_owned(),
        source: source.to_owned(),
        cost: cost.to_owned(),
    };
    vec![
        step(
            format!("derivative of the {objective} by {of}"),
            "dL/dp = Σ D_nj dΦ_nj/dp + …, D = H [(t − Φ m) mᵀ − Φ Σ], by the expression graph",
            r"\frac{dL}{dp} = \sum_{nj} D_{nj}\,\frac{d\Phi_{nj}}{dp} + \dots,\quad D = H\,[(t - \Phi m)\,m^\top - \Phi\Sigma]",
            "Tipping (2001), appendix C; mathematics §9",
            "N k d",
        ),
        step(
            format!("learn {of}"),
            "L-BFGS in the coordinates of p and ln θ on the kept weights; then the weights again, from there",
            r"(p, \ln\theta) \leftarrow (p, \ln\theta) + a H^{-1} g",
            "Nocedal and Wright (2006), chapter 7; mathematics §9",
            "N k² per step",
        ),
    ]
}

fn is_continuous(elem: Elem) -> bool {
    matches!(
        elem,
        Elem::Real | Elem::NonNegative | Elem::Positive | Elem::Unit | Elem::Increasing | Elem::Simplex
    )
}

fn listed(model: &Model, params: &BTreeSet<NodeId>) -> Option<String> {
    (!params.is_empty()).then(|| names(model, params))
}

/// A part that is used as an index or a degree and depends on a parameter.
fn discrete_use(model: &Model, root: ExprId) -> Option<(ExprId, String)> {
    let mut found: Option<(ExprId, String)> = None;
    fold(model, root, Lets::Follow, &mut |e, _: &[Option<&()>]| {
        let discrete: Vec<ExprId> = match &model.expr(e).kind {
            ExprKind::Gather { at, .. } | ExprKind::GatherColumns { at, .. } => vec![*at],
            ExprKind::GatherPairs { rows, cols, .. } => vec![*rows, *cols],
            ExprKind::OneHot(a) => vec![*a],
            ExprKind::Call(Native::Powers, args) => args.iter().skip(1).copied().collect(),
            _ => Vec::new(),
        };
        for place in discrete {
            if let (None, Some(list)) = (&found, listed(model, &params_of(model, place))) {
                found = Some((place, list));
            }
        }
    });
    found
}
