//! What stops the methods with point hyperparameters, `evidence` and `laplace`.
//!
//! They serve every graph in which each latent effect is Gaussian with a mean affine in the effects
//! above it and a precision that is a product of powers of known numbers and hyperparameters; each
//! hyperparameter has a conjugate prior whose own arguments are known. `evidence` asks the same form of
//! each likelihood, `laplace` a score and curvature in a predictor that is affine in the effects.

use std::collections::BTreeSet;

use super::ir::{HyperScale, Options, ScaleExpr};
use super::params::param_obstacles;
use crate::check::typed::{Dist, DistArg, ExprId, Model, Node, NodeId, NodeKind};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dist::Family;
use crate::graph::linear::{affine_in, names, scale_form};
use crate::graph::walk::{constant, latents};
use crate::graph::{Dag, Role};
use crate::source::Span;

/// Everything that stops the method, in source order; empty if it can serve.
pub fn point_obstacles(model: &Model, dag: &Dag, options: &Options, method: &str) -> Diagnostics {
    let mut found = Vec::new();
    if !model.nodes.iter().any(Node::is_observed) {
        found.push(nothing_observed(model));
    }
    for node in &model.nodes {
        match &node.kind {
            NodeKind::Data(data) => {
                if let Some(dist) = &data.likelihood {
                    likelihood(model, node, dist, method, &mut found);
                }
            }
            NodeKind::Latent(dist) if dist.family.precision_prior.is_some() => {
                hyper(model, dag, node, dist, options, method, &mut found);
            }
            NodeKind::Latent(dist) => effect(model, node, dist, method, &mut found),
            NodeKind::Let { .. } | NodeKind::Param { .. } => {}
        }
    }
    found.extend(param_obstacles(model));
    found
}

/// The scale argument of a Gaussian, or of a mixture of them, that is given, with the power that makes it a precision.
pub fn scale_of(dist: &Dist) -> Option<ScaleExpr> {
    let scales = dist.family.gaussian.map(|g| g.scales).or(dist.family.mixture.map(|m| m.scales))?;
    scales.iter().find_map(|(name, power)| Some(ScaleExpr { value: dist.arg(name)?, power: *power }))
}

/// The rate argument of a prior of a precision that is given, with the power that makes it a rate.
pub fn rate_of(dist: &Dist) -> Option<(&'static str, ExprId, f64)> {
    let prior = dist.family.precision_prior?;
    prior.rates.iter().find_map(|(name, power)| Some((*name, dist.arg(name)?, *power)))
}

/// The hyperparameters whose scale a Gaussian has, with powers; none if it is flat or no scale.
pub fn scale_powers(model: &Model, dist: &Dist) -> Vec<(NodeId, f64)> {
    let Some(scale) = scale_of(dist) else { return Vec::new() };
    let mut powers = scale_form(model, scale.value).unwrap_or_default();
    for (_, power) in &mut powers {
        *power *= scale.power;
    }
    powers
}

/// Points into an argument.
trait Pointing {
    /// At the part of the argument at fault; at the whole of it, and the part beside it, if the part
    /// stands elsewhere: in a `let`, or where the same expression was written first.
    fn pointing(self, model: &Model, part: ExprId, argument: Span, text: &str) -> Self;
}

impl Pointing for Diagnostic {
    fn pointing(self, model: &Model, part: ExprId, argument: Span, text: &str) -> Self {
        let span = model.expr(part).span;
        let inside = span.file == argument.file && argument.start <= span.start && span.end <= argument.end;
        if inside { self.at(span, text) } else { self.at(argument, text).also(span, "this part") }
    }
}

fn is_gaussian_latent(model: &Model, id: NodeId) -> bool {
    matches!(&model.node(id).kind, NodeKind::Latent(dist) if dist.family.gaussian.is_some())
}

pub(super) fn is_hyper(model: &Model, id: NodeId) -> bool {
    matches!(&model.node(id).kind, NodeKind::Latent(dist) if dist.family.precision_prior.is_some())
}

/// The linear predictor of a likelihood: the name of the argument, and its value.
pub fn predictor_of(dist: &Dist) -> Option<(&'static str, ExprId)> {
    let gaussian = dist.family.gaussian.and_then(|g| g.mean);
    let names = dist.family.score.as_ref().map_or(&[][..], |s| s.predictors);
    gaussian.iter().chain(names).find_map(|name| Some((*name, dist.arg(name)?)))
}

fn likelihood(model: &Model, node: &Node, dist: &Dist, method: &str, found: &mut Diagnostics) {
    if method == "laplace" {
        scored(model, node, dist, found);
    } else if !gaussian_likelihood(model, node, dist, method, found) {
        return;
    }
    case_weights(model, node, dist, found);
}

/// Case weights are known.
pub(super) fn case_weights(model: &Model, node: &Node, dist: &Dist, found: &mut Diagnostics) {
    if let Some(weight) = dist.weight {
        let unknown = latents(model, weight);
        if !unknown.is_empty() {
            found.push(
                Diagnostic::error(
                    "E0613",
                    format!("the case weights of `{}` depend on {}", node.name, names(model, &unknown)),
                )
                .at(dist.span, "the weights after `weight` must be known")
                .help("weight by data or by a number"),
            );
        }
    }
}

/// A likelihood with a score: a predictor affine in the effects, other arguments known.
fn scored(model: &Model, node: &Node, dist: &Dist, found: &mut Diagnostics) {
    let Some(score) = &dist.family.score else {
        found.push(
            Diagnostic::error(
                "E0609",
                format!(
                    "`laplace` needs a log-concave likelihood, found {} for `{}`",
                    dist.family.name, node.name
                ),
            )
            .at(dist.span, "no score and curvature")
            .help(other_method(node, dist)),
        );
        return;
    };
    let Some((predictor, _)) = predictor_of(dist) else {
        let given = dist.args.first().map_or("", |a| a.name);
        found.push(
            Diagnostic::error(
                "E0617",
                format!(
                    "`laplace` needs a linear predictor of `{}`, and {} is given by `{given}`",
                    node.name, dist.family.name
                ),
            )
            .at(dist.span, "no linear predictor")
            .help(by_predictor(node, dist.family, score.predictors)),
        );
        return;
    };
    gaussian(model, node, dist, predictor, found);
    let scales = dist.family.gaussian.map_or(&[][..], |g| g.scales);
    let others = dist.args.iter().filter(|a| a.name != predictor && scales.iter().all(|(s, _)| *s != a.name));
    for DistArg { name, value, span } in others {
        let unknown = latents(model, *value);
        if !unknown.is_empty() {
            found.push(
                Diagnostic::error(
                    "E0613",
                    format!("the {name} of `{}` depend on the unknown {}", node.name, names(model, &unknown)),
                )
                .at(*span, "must be known for `laplace`")
                .help(format!("give data or numbers, or declare `param {name}`")),
            );
        }
    }
}

/// What to write for a method that serves a likelihood which is not Gaussian.
fn other_method(node: &Node, dist: &Dist) -> String {
    let family = dist.family;
    let bound = family.bound.is_some_and(|b| b.links.iter().any(|l| dist.arg(l.predictor).is_some()));
    let laplace = (family.score.is_some() && predictor_of(dist).is_some()).then_some("`infer laplace`");
    let variational = (family.mixture.is_some() || bound).then_some("`infer variational`");
    match (laplace, variational, &family.score) {
        (Some(one), Some(other), _) => format!("write {one} or {other}: both serve {}", family.name),
        (Some(one), None, _) | (None, Some(one), _) => format!("write {one}, which serves {}", family.name),
        (None, None, Some(score)) => {
            format!("{}, and `infer laplace`", by_predictor(node, family, score.predictors))
        }
        (None, None, None) => format!("give `{}` a Normal likelihood, which `evidence` serves", node.name),
    }
}

/// A likelihood given by its linear predictor.
fn by_predictor(node: &Node, family: &Family, predictors: &[&str]) -> String {
    format!("write `{} ~ {}({} = …)`", node.name, family.name, predictors.join(" = …)` or `("))
}

/// Whether it goes on: a Gaussian with a mean.
fn gaussian_likelihood(
    model: &Model,
    node: &Node,
    dist: &Dist,
    method: &str,
    found: &mut Diagnostics,
) -> bool {
    let Some(mean) = dist.family.gaussian.map(|g| g.mean) else {
        found.push(
            Diagnostic::error(
                "E0609",
                format!(
                    "`{method}` needs a Gaussian likelihood, found {} for `{}`",
                    dist.family.name, node.name
                ),
            )
            .at(dist.span, "not Gaussian")
            .note(format!("{} offers no Gaussian form of its mean and scale", dist.family.name))
            .help(other_method(node, dist)),
        );
        return false;
    };
    let Some(mean) = mean else {
        found.push(
            Diagnostic::error(
                "E0609",
                format!("{} is no likelihood for the data `{}`", dist.family.name, node.name),
            )
            .at(dist.span, "says nothing about the data")
            .help(format!("write `{} ~ Normal(mean, precision = …)`", node.name)),
        );
        return false;
    };
    gaussian(model, node, dist, mean, found);
    true
}

pub(super) fn effect(model: &Model, node: &Node, dist: &Dist, method: &str, found: &mut Diagnostics) {
    match dist.family.gaussian {
        Some(gaussian_form) => {
            if let Some(mean) = gaussian_form.mean {
                gaussian(model, node, dist, mean, found);
            }
        }
        None => found.push(
            Diagnostic::error(
                "E0612",
                format!("`{method}` needs a Gaussian effect or a prior of a precision, found {} for the latent `{}`", dist.family.name, node.name),
            )
            .at(dist.span, format!("the prior of `{}`", node.name))
            .help(format!("write `{0} ~ Normal(0, precision = …)`, or declare `data {0}` if it is observed", node.name)),
        ),
    }
}

/// Mean and scale of a Gaussian, observed or latent.
pub(super) fn gaussian(model: &Model, node: &Node, dist: &Dist, mean: &str, found: &mut Diagnostics) {
    if let Some(DistArg { value, span, .. }) = dist.args.iter().find(|a| a.name == mean) {
        match affine_in(model, *value) {
            Err(not) => found.push(
                Diagnostic::error("E0610", format!("the mean of `{}` is not linear: it {}", node.name, not.why))
                    .pointing(model, not.expr, *span, "not linear")
                    .help("write the mean as known factors times unknowns, added up; `let` a known nonlinear part be computed from data alone"),
            ),
            Ok(unknown) => {
                let others: BTreeSet<NodeId> =
                    unknown.into_iter().filter(|id| !is_gaussian_latent(model, *id)).collect();
                if let Some(first) = others.first() {
                    let other = model.node(*first);
                    let family = other.dist().map_or("", |d| d.family.name);
                    found.push(
                        Diagnostic::error(
                            "E0610",
                            format!("the mean of `{}` uses {}, which is not Gaussian", node.name, names(model, &others)),
                        )
                        .at(*span, "mean")
                        .also(other.span, format!("`{}` is {family}", other.name))
                        .help(format!("give `{0}` a Normal or Flat prior, or use `{0}` as a precision only", other.name)),
                    );
                }
            }
        }
    }
    let scale = scale_of(dist).and_then(|s| dist.args.iter().find(|arg| arg.value == s.value));
    if let Some(DistArg { value, span, .. }) = scale {
        match scale_form(model, *value) {
            Err(not) => found.push(
                Diagnostic::error("E0611", format!("the scale of `{}` {}", node.name, not.why))
                    .pointing(model, not.expr, *span, "not a product of powers of precisions")
                    .help("write the scale as a product: known numbers, precisions, quotients and constant powers of them"),
            ),
            Ok(powers) => {
                let others: BTreeSet<NodeId> =
                    powers.iter().map(|(id, _)| *id).filter(|id| !is_hyper(model, *id)).collect();
                if let Some(first) = others.first() {
                    let other = model.node(*first);
                    let family = other.dist().map_or("", |d| d.family.name);
                    found.push(
                        Diagnostic::error(
                            "E0611",
                            format!("the scale of `{}` uses {}, which is {family} and no precision", node.name, names(model, &others)),
                        )
                        .at(*span, "scale")
                        .also(other.span, format!("`{}` is {family}", other.name))
                        .help(format!("write `{} ~ Gamma(0, 0)`", other.name)),
                    );
                }
            }
        }
    }
}

fn hyper(
    model: &Model,
    dag: &Dag,
    node: &Node,
    dist: &Dist,
    options: &Options,
    method: &str,
    found: &mut Diagnostics,
) {
    let Some(prior) = dist.family.precision_prior else { return };
    // the last of a chain of hyperparameters says what stops all of them
    if !children(model, node.id).is_empty() {
        return;
    }
    let rate = rate_of(dist);
    for DistArg { name, value, span } in &dist.args {
        let unknown = latents(model, *value);
        if !unknown.is_empty() {
            found.push(
                Diagnostic::error(
                    "E0613",
                    format!(
                        "the {name} of `{}` depends on the unknown {}",
                        node.name,
                        names(model, &unknown)
                    ),
                )
                .at(*span, format!("must be known for `{method}`"))
                .help(format!("give a number: `{} ~ {}({name} = 0, …)`", node.name, dist.family.name)),
            );
        }
    }
    let scales_something =
        model.stochastic().any(|(_, d)| scale_powers(model, d).iter().any(|(id, _)| *id == node.id));
    if !scales_something {
        found.push(unused_hyper(model, dag, node));
    }
    // Density scale: J falls in ln theta for every theta if shape ≤ 1/2 and rate = 0 (mathematics §2).
    let shape = dist.arg(prior.shape).and_then(|e| constant(model, e));
    let flat_rate = rate.is_some_and(|(_, e, power)| power > 0.0 && constant(model, e) == Some(0.0));
    if options.hyper_scale == HyperScale::Density && flat_rate && shape.is_some_and(|a| a <= 0.5) {
        found.push(
            Diagnostic::error(
                "E0616",
                format!("with `hyper_scale = density` the prior of `{}` has no maximum: its shape is at most 1/2 and its rate 0", node.name),
            )
            .at(dist.span, "no maximum on the density scale")
            .help("leave `hyper_scale` at `log`, or write `Gamma(1, 0)`, which is flat on the density scale"),
        );
    }
}

/// Hyperparameters whose prior this one is a part of.
pub(super) fn children(model: &Model, hyper: NodeId) -> Vec<NodeId> {
    model
        .stochastic()
        .filter(|(_, d)| d.family.precision_prior.is_some())
        .filter(|(_, d)| d.args.iter().any(|a| latents(model, a.value).contains(&hyper)))
        .map(|(n, _)| n.id)
        .collect()
}

pub(super) fn unused_hyper(model: &Model, dag: &Dag, node: &Node) -> Diagnostic {
    let children: BTreeSet<NodeId> =
        dag.children(node.id).into_iter().filter(|c| dag.node(*c).role != Role::Derived).collect();
    let found = Diagnostic::error("E0615", format!("`{}` is the precision of nothing", node.name)).at(
        node.span,
        if children.is_empty() {
            "nothing uses it".to_owned()
        } else {
            format!("used only by {}", names(model, &children))
        },
    );
    found.help(format!("write `precision = {0}` where it belongs, or remove `{0}`", node.name))
}

pub(super) fn nothing_observed(model: &Model) -> Diagnostic {
    Diagnostic::error("E0608", format!("nothing is observed in the model `{}`", model.name))
        .at(model.span, "no `data` has a distribution")
        .note("a node is observed if it is declared with `data` and has a `~`")
        .help("declare the target as data: `data t: real[N]` beside `t ~ Normal(…)`")
}
