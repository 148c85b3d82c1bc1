//! The method `evidence`: an exact Gaussian over the weights, precisions by type-II maximum
//! likelihood or MAP (MacKay 1992; Tipping 2001; the formulas are in `docs/mathematics.md`).

use std::collections::BTreeSet;

use super::ir::{Block, HyperScale, HyperUpdate, Options, Plan, Schedule, Term};
use super::method::Method;
use super::obstacles::{point_obstacles, predictor_of, rate_of, scale_of, scale_powers};
use super::{params, steps, updates};
use crate::check::typed::{Model, NodeId, NodeKind};
use crate::diag::Diagnostics;
use crate::graph::linear::affine_in;
use crate::graph::walk::constant;
use crate::graph::{Dag, Role};

/// `infer evidence`
pub static EVIDENCE: Method = Method {
    name: "evidence",
    summary: "an exact Gaussian over the weights, point hyperparameters by type-II maximum likelihood or MAP",
    options: &["updates", "hyper_scale", "schedule"],
    sequential: true,
    obstacles,
    compile,
};

fn obstacles(model: &Model, dag: &Dag, options: &Options) -> Diagnostics {
    point_obstacles(model, dag, options, "evidence")
}

fn compile(model: &Model, dag: &Dag, options: Options) -> Plan {
    let blocks = blocks(model, dag);
    let terms = terms(model);
    let hypers = hypers(model, &options);
    let params = params::params(model);
    let mut steps = steps::evidence_steps(model, &blocks, &terms, &hypers, &options);
    steps.extend(params::steps(&params, "evidence"));
    let flat = blocks.iter().any(|b| b.scale.is_none());
    let objective_terms = steps::objective_terms(model, flat, &hypers, &options);
    let (stop, prune) = (steps::stop(&hypers, &options), steps::prune(model, &hypers, &options));
    Plan {
        method: "evidence".to_owned(),
        schedule: options.schedule.name().to_owned(),
        why: Vec::new(),
        rejected: Vec::new(),
        blocks,
        terms,
        factors: Vec::new(),
        hypers,
        params,
        steps,
        stop,
        prune,
        objective: "log_evidence".to_owned(),
        objective_terms,
        options,
    }
}

/// Every Gaussian latent node, parents before children.
pub(super) fn blocks(model: &Model, dag: &Dag) -> Vec<Block> {
    let order = dag.topological().into_iter().filter(|id| dag.node(*id).role == Role::Latent);
    order
        .filter_map(|id| {
            let node = model.node(id);
            let NodeKind::Latent(dist) = &node.kind else { return None };
            let mean = dist.family.gaussian?.mean.and_then(|name| dist.arg(name));
            Some(Block {
                node: id,
                name: node.name.clone(),
                shape: node.ty.shape.clone(),
                mean: mean.filter(|e| constant(model, *e) != Some(0.0)),
                scale: scale_of(dist),
            })
        })
        .collect()
}

pub(super) fn terms(model: &Model) -> Vec<Term> {
    let mut terms = Vec::new();
    for (node, dist) in model.stochastic().filter(|(n, _)| n.is_observed()) {
        let Some((predictor, mean)) = predictor_of(dist) else { continue };
        let scales = dist.family.gaussian.map_or(&[][..], |g| g.scales);
        let other = |name: &str| name != predictor && scales.iter().all(|(s, _)| *s != name);
        let args = dist.args.iter().filter(|a| other(a.name));
        let blocks: BTreeSet<NodeId> = affine_in(model, mean).unwrap_or_default();
        terms.push(Term {
            node: node.id,
            name: node.name.clone(),
            family: dist.family.name.to_owned(),
            predictor: predictor.to_owned(),
            mean,
            scale: scale_of(dist),
            args: args.map(|a| (a.name.to_string(), a.value)).collect(),
            centred: params::free_cutpoints(model, dist).is_some(),
            weight: dist.weight,
            blocks: blocks.into_iter().collect(),
        });
    }
    terms
}

pub(super) fn hypers(model: &Model, options: &Options) -> Vec<HyperUpdate> {
    let mut hypers = Vec::new();
    for node in &model.nodes {
        let NodeKind::Latent(dist) = &node.kind else { continue };
        let Some(prior) = dist.family.precision_prior else { continue };
        let (Some(shape), Some((_, rate, rate_power))) = (dist.arg(prior.shape), rate_of(dist)) else {
            continue;
        };
        let scales: Vec<String> = model
            .stochastic()
            .filter(|(_, d)| scale_powers(model, d).iter().any(|(id, _)| *id == node.id))
            .map(|(n, _)| n.name.clone())
            .collect();
        let flat = constant(model, shape) == Some(0.0)
            && rate_power > 0.0
            && constant(model, rate) == Some(0.0)
            && options.hyper_scale == HyperScale::Log;
        let formula = match options.schedule {
            Schedule::Sequential if flat && updates::is_own(model, node.id) => {
                format!("{}_i = s_i² / (q_i² − s_i), ∞ if q_i² ≤ s_i", node.name)
            }
            _ => updates::formula(model, node.id, flat, options),
        };
        hypers.push(HyperUpdate {
            node: node.id,
            name: node.name.clone(),
            shape,
            rate,
            rate_power,
            parents: Vec::new(),
            scales,
            formula,
        });
    }
    hypers
}
