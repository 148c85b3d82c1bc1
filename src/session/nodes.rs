//! The nodes of a fit: names of their entries, and their posterior as data.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::bind::Bound;
use super::posterior::Posterior;
use super::result::{NodeResult, Numbers, Role};
use crate::check::typed::{ExprId, ExprKind, Model, NodeId, NodeKind};
use crate::design::labels::Labels;
use crate::design::{EvalError, Evaluator, Frozen, Label, Why, affine, log_linear};
use crate::graph::walk;
use crate::plan::ir::Plan;
use crate::runtime::assemble::{Layout, Place};

/// Names of nodes and of their entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    nodes: BTreeMap<NodeId, String>,
    entries: BTreeMap<NodeId, Vec<Label>>,
    weights: Vec<Place>,
    hypers: Vec<Place>,
}

impl Names {
    /// Names of the entries of every latent node that have names.
    pub fn new(plan: &Plan, layout: &Layout, eval: &mut Evaluator<'_>) -> Names {
        let model = eval.inputs().model;
        let nodes = model.nodes.iter().map(|n| (n.id, n.name.clone())).collect();
        let mut entries: BTreeMap<NodeId, Vec<Label>> = BTreeMap::new();
        let found = Labels::of(eval.inputs());
        for block in &plan.blocks {
            let labels = found.of_node(block.node);
            if !labels.is_empty() {
                entries.insert(block.node, labels.to_vec());
            }
        }
        // a parameter with an entry per column of some data is named like these
        for param in &plan.params {
            let [dim] = model.node(param.node).ty.shape.as_slice() else { continue };
            let matrix =
                |n: &&crate::check::typed::Node| n.data().is_some() && n.ty.shape.get(1) == Some(dim);
            let values = eval.inputs().values;
            let labels = model.nodes.iter().find(matrix).and_then(|n| values.get(&n.id)).map(|v| &v.labels);
            if let Some(labels) = labels.filter(|l| !l.is_empty()) {
                entries.insert(param.node, labels.clone());
            }
        }
        // a precision of its own is named like the weight it scales
        for block in &plan.blocks {
            let (Some(names), Some(scale)) = (entries.get(&block.node).cloned(), block.scale) else {
                continue;
            };
            let Ok(form) = log_linear(eval, scale.value) else { continue };
            let mut owners: BTreeMap<NodeId, BTreeMap<usize, Vec<Label>>> = BTreeMap::new();
            for (i, name) in names.iter().enumerate() {
                for (node, k, _) in form.entry(i).map_or(&[][..], |e| &e.powers) {
                    owners.entry(*node).or_default().entry(*k).or_default().push(name.clone());
                }
            }
            for (node, by_entry) in owners {
                let len = layout.hypers.iter().find(|p| p.node == node).map_or(0, |p| p.len);
                let single: Vec<Label> = (0..len)
                    .filter_map(|k| match by_entry.get(&k).map(Vec::as_slice) {
                        Some([one]) => Some(one.clone()),
                        _ => None,
                    })
                    .collect();
                if single.len() == len {
                    entries.entry(node).or_insert(single);
                }
            }
        }
        Names { nodes, entries, weights: layout.blocks.clone(), hypers: layout.hypers.clone() }
    }

    /// The name of a node.
    pub fn node(&self, node: NodeId) -> String {
        self.nodes.get(&node).cloned().unwrap_or_default()
    }

    /// The labels of the entries of a node.
    pub fn entries(&self, node: NodeId) -> Option<&[Label]> {
        self.entries.get(&node).map(Vec::as_slice)
    }

    /// The name of an entry of a node: its label, or its index.
    pub fn entry(&self, node: NodeId, i: usize) -> String {
        match self.entries.get(&node).and_then(|l| l.get(i)) {
            Some(label) => label.to_string(),
            None => format!("{}[{}]", self.node(node), i + 1),
        }
    }

    /// The name of a weight of the problem.
    pub fn weight(&self, i: usize) -> String {
        self.place(&self.weights, i)
    }

    /// The node of a weight of the problem, and its name within it: `b` at `row 3`.
    pub fn weight_in_full(&self, i: usize) -> (Option<NodeId>, String) {
        let place = self.weights.iter().find(|p| (p.start..p.start + p.len).contains(&i));
        let name = self.weight(i);
        match place {
            Some(p) if p.len > 1 && self.entries(p.node).is_some() => {
                (Some(p.node), format!("`{}` at {name}", self.node(p.node)))
            }
            _ => (place.map(|p| p.node), format!("`{name}`")),
        }
    }

    /// The name of a hyperparameter of the problem.
    pub fn hyper(&self, h: usize) -> String {
        self.place(&self.hypers, h)
    }

    fn place(&self, places: &[Place], i: usize) -> String {
        match places.iter().find(|p| (p.start..p.start + p.len).contains(&i)) {
            Some(p) if p.len == 1 => self.node(p.node),
            Some(p) => self.entry(p.node, i - p.start),
            None => format!("[{}]", i + 1),
        }
    }
}

/// Every latent, hyper, observed and derived node as data, in declaration order.
pub(crate) fn results(
    plan: &Plan,
    layout: &Layout,
    posterior: &Posterior,
    bound: &Bound,
    names: &Names,
    eval: &mut Evaluator<'_>,
    frozen: &Frozen,
) -> Result<Map<String, Json>, EvalError> {
    let model = eval.inputs().model;
    let mut nodes = Map::new();
    for node in &model.nodes {
        let result = if let Some(block) = plan.blocks.iter().find(|b| b.node == node.id) {
            Some(match block.mean {
                None => root(node.id, posterior, names, eval)?,
                Some(_) => normal(node.id, Role::Latent, posterior, names, eval)?,
            })
        } else if layout.hypers.iter().any(|p| p.node == node.id) {
            Some(hyper(node.id, posterior, names, eval)?)
        } else if let Some(term) = plan.terms.iter().find(|t| t.node == node.id) {
            let missing = bound.missing.get(&node.id).cloned().unwrap_or_default();
            Some(NodeResult {
                family: Some(term.family.clone()),
                missing: (!missing.is_empty()).then_some(missing),
                ..blank(Role::Observed, shape(node.id, eval)?)
            })
        } else if let Some(param) = plan.params.iter().find(|p| p.node == node.id) {
            let shape = shape(node.id, eval)?;
            let scalar = shape.is_empty();
            let values = bound.values.get(&node.id).map(|v| v.array.as_slice().to_vec());
            let labels = names.entries(node.id).filter(|_| !scalar);
            Some(NodeResult {
                posterior: Some("point".to_owned()),
                labels: labels.map(|l| l.iter().map(ToString::to_string).collect()),
                value: numbers(values.unwrap_or_default(), scalar),
                held: param.held.then_some(true),
                ..blank(Role::Param, shape)
            })
        } else if is_derived(model, node.id) {
            derived(node.id, plan, posterior, names, eval, frozen)?
        } else {
            None
        };
        if let Some(result) = result {
            nodes.insert(node.name.clone(), serde_json::to_value(result).unwrap_or_default());
        }
    }
    Ok(nodes)
}

/// A latent node that is its own innovation: the kept entries.
fn root(
    node: NodeId,
    posterior: &Posterior,
    names: &Names,
    eval: &Evaluator<'_>,
) -> Result<NodeResult, EvalError> {
    let shape = shape(node, eval)?;
    let scalar = shape.is_empty();
    let Some(block) = posterior.block(node) else { return Ok(blank(Role::Latent, shape)) };
    let k = posterior.mean.len();
    let range = block.start..block.start + block.active.len();
    let mean = posterior.mean[range.clone()].to_vec();
    let sd = range.map(|i| posterior.covariance[i + k * i].sqrt()).collect();
    let pruned = block.active.len() < block.len;
    let relevant: Vec<usize> = block
        .active
        .iter()
        .copied()
        .filter(|i| match (block.q[*i], block.s[*i]) {
            (Some(q), Some(s)) => q * q > s,
            _ => false,
        })
        .collect();
    let has_factors = block.q.iter().any(Option::is_some);
    let label =
        |l: &[Label]| block.active.iter().filter_map(|i| l.get(*i)).map(ToString::to_string).collect();
    Ok(NodeResult {
        posterior: Some("normal".to_owned()),
        active: (pruned && !scalar).then(|| block.active.clone()),
        labels: names.entries(node).filter(|_| !scalar).map(label),
        mean: numbers(mean, scalar),
        sd: numbers(sd, scalar),
        relevant: (!pruned && !scalar && has_factors).then_some(relevant),
        ..blank(Role::Latent, shape)
    })
}

/// A node that is linear in innovations: all entries.
fn normal(
    node: NodeId,
    role: Role,
    posterior: &Posterior,
    names: &Names,
    eval: &mut Evaluator<'_>,
) -> Result<NodeResult, EvalError> {
    let shape = shape(node, eval)?;
    let scalar = shape.is_empty();
    let model = eval.inputs().model;
    let Some(e) = expression_of(model, node) else { return Ok(blank(role, shape)) };
    let form = affine(eval, e, &posterior.restrict())?;
    let c = posterior.coefficients(&form, eval.memory()).map_err(|why| EvalError { expr: e, why })?;
    let moments = posterior.moments(&form.offset, &c);
    Ok(NodeResult {
        posterior: Some("normal".to_owned()),
        labels: names.entries(node).filter(|_| !scalar).map(|l| l.iter().map(ToString::to_string).collect()),
        mean: numbers(moments.mean, scalar),
        sd: numbers(moments.variance.iter().map(|v| v.sqrt()).collect(), scalar),
        ..blank(role, shape)
    })
}

fn hyper(
    node: NodeId,
    posterior: &Posterior,
    names: &Names,
    eval: &Evaluator<'_>,
) -> Result<NodeResult, EvalError> {
    let shape = shape(node, eval)?;
    let scalar = shape.is_empty();
    let values = posterior.hypers.get(&node).cloned().unwrap_or_default();
    if let Some(factors) = posterior.factors.get(&node) {
        let name = |l: &[Label]| l.iter().map(ToString::to_string).collect();
        return Ok(NodeResult {
            posterior: Some("gamma".to_owned()),
            labels: names.entries(node).filter(|_| !scalar).map(name),
            mean: numbers(values.into_iter().flatten().collect(), scalar),
            gamma_shape: numbers(factors.iter().map(|f| f.0).collect(), scalar),
            rate: numbers(factors.iter().map(|f| f.1).collect(), scalar),
            ..blank(Role::Hyper, shape)
        });
    }
    let active: Vec<usize> = (0..values.len()).filter(|i| values[*i].is_some()).collect();
    let pruned = active.len() < values.len();
    let label = |l: &[Label]| active.iter().filter_map(|i| l.get(*i)).map(ToString::to_string).collect();
    Ok(NodeResult {
        posterior: Some("point".to_owned()),
        labels: names.entries(node).filter(|_| !scalar).map(label),
        value: numbers(values.iter().flatten().copied().collect(), scalar),
        active: pruned.then_some(active),
        ..blank(Role::Hyper, shape)
    })
}

/// Whether a `let` is a quantity of interest: it depends on latents, or on learned parameters and not on
/// data (a design with learned scales is none).
fn is_derived(model: &Model, node: NodeId) -> bool {
    let NodeKind::Let { value, constant: false } = &model.node(node).kind else { return false };
    !walk::latents(model, *value).is_empty()
        || (!walk::params(model, *value).is_empty() && walk::data(model, *value).is_empty())
}

/// A function of latents: exact where it is linear, else a function of point estimates, else by
/// quasi-random draws from the posterior.
fn derived(
    node: NodeId,
    plan: &Plan,
    posterior: &Posterior,
    names: &Names,
    eval: &mut Evaluator<'_>,
    frozen: &Frozen,
) -> Result<Option<NodeResult>, EvalError> {
    let NodeKind::Let { value, .. } = eval.inputs().model.node(node).kind else { return Ok(None) };
    if walk::latents(eval.inputs().model, value).is_empty() {
        return super::draws::derived(node, plan, posterior, eval, frozen);
    }
    match normal(node, Role::Derived, posterior, names, eval) {
        Ok(result) => return Ok(Some(result)),
        Err(EvalError { why: Why::NotLinear(_) | Why::NoValue(_), .. }) => {}
        Err(other) => return Err(other),
    }
    super::draws::derived(node, plan, posterior, eval, frozen)
}

/// An empty result.
pub(crate) fn blank(role: Role, shape: Vec<usize>) -> NodeResult {
    NodeResult {
        role,
        shape,
        posterior: None,
        family: None,
        active: None,
        labels: None,
        mean: None,
        sd: None,
        value: None,
        gamma_shape: None,
        rate: None,
        relevant: None,
        missing: None,
        held: None,
    }
}

/// The shape of a node in numbers.
pub(crate) fn shape(node: NodeId, eval: &Evaluator<'_>) -> Result<Vec<usize>, EvalError> {
    let inputs = eval.inputs();
    let dims = &inputs.model.node(node).ty.shape;
    let expr = expression_of(inputs.model, node).unwrap_or(ExprId(0));
    dims.iter().map(|d| inputs.dim(d).map_err(|why| EvalError { expr, why })).collect()
}

/// The value of a `let`, or the first expression that is the node.
fn expression_of(model: &Model, node: NodeId) -> Option<ExprId> {
    if let NodeKind::Let { value, .. } = model.node(node).kind {
        return Some(value);
    }
    (0..model.exprs.len() as u32).map(ExprId).find(|e| model.expr(*e).kind == ExprKind::Node(node))
}

/// A scalar, or an array; `None` if a scalar has no value.
pub(crate) fn numbers(values: Vec<f64>, scalar: bool) -> Option<Numbers> {
    match (scalar, values.as_slice()) {
        (true, [one]) => Some(Numbers::One(*one)),
        (true, _) => None,
        (false, _) => Some(Numbers::Many(values)),
    }
}
