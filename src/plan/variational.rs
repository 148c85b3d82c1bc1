//! The method `variational`: a factor for every unknown, by coordinate ascent on a bound
//! (Bishop and Tipping 2000; Jaakkola and Jordan 2000; the formulas are in `docs/mathematics.md`).
//!
//! It serves every graph in which each factor has a closed form: given the precisions, weights are
//! jointly Gaussian, and so are data, or they are a mixture of Gaussians over a latent scale, or have a
//! quadratic bound in a linear predictor; each precision, and each rate of a hyperparameter, is a
//! known number times a product of hyperparameters.

use std::collections::BTreeSet;

use super::evidence::blocks;
use super::ir::{HyperUpdate, Options, Plan, RowFactor, RowFactorKind, Term};
use super::method::Method;
use super::obstacles::{
    case_weights, children, effect, gaussian, is_hyper, nothing_observed, rate_of, scale_of, scale_powers,
    unused_hyper,
};
use super::params::{self, param_obstacles};
use super::{mean_field, steps};
use crate::check::typed::{Dist, DistArg, Model, Node, NodeId, NodeKind};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dist::bound::LinkBound;
use crate::graph::linear::{affine_in, names, scale_form};
use crate::graph::walk::{constant, latents};
use crate::graph::{Dag, Role};
use crate::source::Span;

/// `infer variational`
pub static VARIATIONAL: Method = Method {
    name: "variational",
    summary: "a factor for every unknown, by coordinate ascent on a bound of the evidence",
    options: &["blocks"],
    sequential: false,
    obstacles,
    compile,
};

/// The argument that is the linear predictor of a draw with a bound, and the bound.
pub fn bounded(dist: &Dist) -> Option<(&'static LinkBound, &DistArg)> {
    let links = dist.family.bound.as_ref()?.links;
    links.iter().find_map(|l| Some((l, dist.args.iter().find(|a| a.name == l.predictor)?)))
}

fn obstacles(model: &Model, dag: &Dag, _: &Options) -> Diagnostics {
    let mut found = Vec::new();
    if !model.nodes.iter().any(Node::is_observed) {
        found.push(nothing_observed(model));
    }
    for node in &model.nodes {
        match &node.kind {
            NodeKind::Data(data) => {
                if let Some(dist) = &data.likelihood {
                    likelihood(model, node, dist, &mut found);
                }
            }
            NodeKind::Latent(dist) if dist.family.precision_prior.is_some() => {
                hyper(model, dag, node, dist, &mut found);
            }
            NodeKind::Latent(dist) => {
                effect(model, node, dist, "variational", &mut found);
                conjugate_scale(model, node, dist, &mut found);
            }
            NodeKind::Let { .. } | NodeKind::Param { .. } => {}
        }
    }
    found.extend(param_obstacles(model));
    found
}

fn likelihood(model: &Model, node: &Node, dist: &Dist, found: &mut Diagnostics) {
    let family = dist.family;
    let mean = family.gaussian.and_then(|g| g.mean).or(family.mixture.map(|m| m.mean));
    match (mean, bounded(dist)) {
        (Some(mean), _) => {
            gaussian(model, node, dist, mean, found);
            conjugate_scale(model, node, dist, found);
        }
        (None, Some((link, _))) => gaussian(model, node, dist, link.predictor, found),
        (None, None) => {
            found.push(not_served(node, dist));
            return;
        }
    }
    case_weights(model, node, dist, found);
    let dof = family.mixture.and_then(|m| dist.args.iter().find(|a| a.name == m.dof));
    if let Some(DistArg { name, value, span }) = dof {
        known(model, node, name, latents(model, *value), *span, found);
    }
}

fn not_served(node: &Node, dist: &Dist) -> Diagnostic {
    let family = dist.family;
    let links: Vec<String> =
        family.bound.iter().flat_map(|b| b.links).map(|l| format!("`{}`", l.predictor)).collect();
    let error = Diagnostic::error(
        "E0632",
        format!(
            "`variational` needs a likelihood that is Gaussian, a mixture of Gaussians or bounded by one, found {} for `{}`",
            family.name, node.name
        ),
    );
    match links.is_empty() {
        true => error
            .at(dist.span, "offers none of these")
            .help(format!("give `{}` another likelihood, or ask for another method", node.name)),
        false => error
            .at(dist.span, format!("bounded only in {}", links.join(" and ")))
            .help(format!("write the predictor as {}", links.join(" or "))),
    }
}

/// The precision is known × a product of hyperparameters.
fn conjugate_scale(model: &Model, node: &Node, dist: &Dist, found: &mut Diagnostics) {
    let Some(scale) = scale_of(dist) else { return };
    let span = dist.args.iter().find(|a| a.value == scale.value).map_or(dist.span, |a| a.span);
    // what is no product of powers, and what else is in it, is said already
    let powers: Vec<(NodeId, f64)> =
        scale_powers(model, dist).into_iter().filter(|(id, _)| is_hyper(model, *id)).collect();
    if let Some((id, power)) = powers.into_iter().find(|(_, power)| *power != 1.0) {
        let name = &model.node(id).name;
        let power = crate::graph::build::number_text(power);
        let error = Diagnostic::error(
            "E0630",
            format!(
                "the precision of `{}` has `{name}` to the power {power}, so its factor has no closed form",
                node.name
            ),
        )
        .at(span, format!("precision = known × {name}^{power}"))
        .note("`variational` needs precisions that are known numbers times hyperparameters, each once");
        // a prior of a library: the program at hand only calls it
        found.push(match node.spliced_at {
            Some(call) => error.also(call, "in this call"),
            None => error,
        });
    }
}

fn hyper(model: &Model, dag: &Dag, node: &Node, dist: &Dist, found: &mut Diagnostics) {
    let (Some(prior), Some((rate_name, rate, power))) = (dist.family.precision_prior, rate_of(dist)) else {
        return;
    };
    let arg = |name: &str| dist.args.iter().find(|a| a.name == name);
    if let Some(DistArg { name, value, span }) = arg(prior.shape) {
        known(model, node, name, latents(model, *value), *span, found);
    }
    let span = arg(rate_name).map_or(dist.span, |a| a.span);
    let not_conjugate = |message: String, help: String| {
        Diagnostic::error("E0630", message)
            .at(span, "its factor has no closed form")
            .note("`variational` needs rates that are known numbers times hyperparameters, each once")
            .help(help)
    };
    let as_product = || "write the rate as a product of known numbers and hyperparameters".to_owned();
    match scale_form(model, rate) {
        Err(not) => {
            found
                .push(not_conjugate(format!("the {rate_name} of `{}` {}", node.name, not.why), as_product()));
        }
        Ok(powers) => {
            let wrong = |(id, p): &&(NodeId, f64)| !is_hyper(model, *id) || *p * power != 1.0;
            if let Some((id, p)) = powers.iter().find(wrong) {
                let (name, p) = (&model.node(*id).name, crate::graph::build::number_text(*p * power));
                let (what, help) = match is_hyper(model, *id) {
                    true => (format!("has `{name}` to the power {p}"), format!("write `rate = {name}`")),
                    false => (format!("uses `{name}`, which is no hyperparameter"), as_product()),
                };
                found.push(not_conjugate(format!("the rate of `{}` {what}", node.name), help));
            }
        }
    }
    let scaled: Vec<&Node> = model
        .stochastic()
        .filter(|(_, d)| scale_powers(model, d).iter().any(|(id, _)| *id == node.id))
        .map(|(n, _)| n)
        .collect();
    if scaled.is_empty() && children(model, node.id).is_empty() {
        found.push(unused_hyper(model, dag, node));
    }
    // the bound rises with ln theta as theta grows, for ever
    let shape = dist.arg(prior.shape).and_then(|e| constant(model, e));
    let flat = power > 0.0 && constant(model, rate) == Some(0.0);
    let weights = scaled.iter().any(|n| !n.is_observed());
    if flat && weights && shape.is_some_and(|a| a > 0.0) {
        found.push(
            Diagnostic::error(
                "E0631",
                format!(
                    "the bound has no maximum: the prior of `{}` has shape above 0 and rate 0",
                    node.name
                ),
            )
            .at(dist.span, "grows without limit")
            .note("the bound rises with the precision of a weight that is 0, for ever")
            .help("write `Gamma(0, 0)`, which prunes, or give a rate: `Gamma(1e-6, 1e-6)`"),
        );
    }
}

fn known(
    model: &Model,
    node: &Node,
    name: &str,
    unknown: BTreeSet<NodeId>,
    span: Span,
    found: &mut Diagnostics,
) {
    if !unknown.is_empty() {
        found.push(
            Diagnostic::error(
                "E0613",
                format!("the {name} of `{}` depends on the unknown {}", node.name, names(model, &unknown)),
            )
            .at(span, "must be known for `variational`")
            .help(format!("give a number: `{name} = 4`")),
        );
    }
}

fn compile(model: &Model, dag: &Dag, options: Options) -> Plan {
    let blocks = blocks(model, dag);
    let (terms, factors) = terms(model);
    let hypers = hypers(model, dag);
    let params = params::params(model);
    let mut steps = mean_field::steps(model, &blocks, &terms, &factors, &hypers, &options);
    steps.extend(params::steps(&params, "bound"));
    let objective_terms = mean_field::objective_terms(&terms, &factors, &hypers, &blocks);
    Plan {
        method: "variational".to_owned(),
        schedule: "batch".to_owned(),
        why: Vec::new(),
        rejected: Vec::new(),
        stop: mean_field::stop(&options),
        prune: steps::prune(model, &hypers, &options),
        blocks,
        terms,
        factors,
        hypers,
        params,
        steps,
        objective: "elbo".to_owned(),
        objective_terms,
        options,
    }
}

fn terms(model: &Model) -> (Vec<Term>, Vec<RowFactor>) {
    let (mut terms, mut factors) = (Vec::new(), Vec::new());
    for (node, dist) in model.stochastic().filter(|(n, _)| n.is_observed()) {
        let family = dist.family;
        let gaussian = family.gaussian.and_then(|g| g.mean).or(family.mixture.map(|m| m.mean));
        let name = gaussian.or(bounded(dist).map(|(link, _)| link.predictor));
        let Some((predictor, mean)) = name.and_then(|name| Some((name, dist.arg(name)?))) else { continue };
        let scale = scale_of(dist);
        let others =
            dist.args.iter().filter(|a| a.name != predictor && scale.is_none_or(|s| s.value != a.value));
        let dof = family.mixture.and_then(|m| dist.arg(m.dof));
        let kind = match (dof, bounded(dist)) {
            (Some(dof), _) => Some(RowFactorKind::Scale { dof }),
            (None, Some((link, _))) => Some(RowFactorKind::Bound { predictor: link.predictor.to_owned() }),
            (None, None) => None,
        };
        factors.extend(kind.map(|kind| RowFactor { node: node.id, name: node.name.clone(), kind }));
        terms.push(Term {
            node: node.id,
            name: node.name.clone(),
            family: family.name.to_owned(),
            predictor: predictor.to_owned(),
            mean,
            scale,
            args: others.map(|a| (a.name.to_string(), a.value)).collect(),
            centred: false,
            weight: dist.weight,
            blocks: affine_in(model, mean).unwrap_or_default().into_iter().collect(),
        });
    }
    (terms, factors)
}

/// Hyperparameters, parents before children.
fn hypers(model: &Model, dag: &Dag) -> Vec<HyperUpdate> {
    let mut hypers = Vec::new();
    for id in dag.topological().into_iter().filter(|id| dag.node(*id).role == Role::Hyper) {
        let node = model.node(id);
        let Some(dist) = node.dist() else { continue };
        let Some(prior) = dist.family.precision_prior else { continue };
        let (Some(shape), Some((_, rate, rate_power))) = (dist.arg(prior.shape), rate_of(dist)) else {
            continue;
        };
        let scaled = model
            .stochastic()
            .filter(|(_, d)| scale_powers(model, d).iter().any(|(of, _)| *of == id))
            .map(|(n, _)| n.name.clone());
        let scales: Vec<String> =
            scaled.chain(children(model, id).into_iter().map(|k| model.node(k).name.clone())).collect();
        hypers.push(HyperUpdate {
            node: id,
            name: node.name.clone(),
            shape,
            rate,
            rate_power,
            parents: latents(model, rate).into_iter().collect(),
            scales,
            formula: mean_field::hyper_formula(model, id),
        });
    }
    hypers
}
