//! Whether what a fit file holds can belong to its model: the checksum of a file only says that nobody
//! changed it, not that who wrote it was this program.
//!
//! Everything that prediction indexes or allocates by is checked here, so that nothing later needs to ask.

use serde_json::Value as Json;

use super::bind;
use super::compile::Model;
use super::fit::State;
use super::posterior::Posterior;
use super::result::{NodeResult, Numbers};
use crate::check::typed::NodeId;
use crate::plan::ir::Plan;

/// More entries than any node has.
const MOST: usize = 1 << 40;

/// Checks a fit against the model that its source compiles to.
///
/// # Errors
/// What is impossible about it, in words.
pub(crate) fn verify(model: &Model, plan: &Plan, state: &State) -> Result<(), String> {
    if state.result.model != model.name() {
        return Err(format!("its result is of the model `{}`", state.result.model));
    }
    for (name, value) in &state.result.nodes {
        if model.typed().find(name).is_none() {
            return Err(format!("its result has the node `{name}`, which its model has not"));
        }
        verify_result(value).map_err(|what| format!("the result of `{name}` has {what}"))?;
    }
    match state
        .schema
        .fault(model.typed())
        .or_else(|| state.frozen.fault(model.typed()))
        .or_else(|| state.seen.fault(model.typed(), &state.schema))
    {
        Some(what) => return Err(format!("it has {what}")),
        None => verify_posterior(model, plan, state)?,
    }
    match state.local.fault(plan, state.posterior.mean.len()) {
        true => Err("it has local basis functions of no weight".to_owned()),
        false => Ok(()),
    }
}

/// One length: the entries of the shape, or those that are kept.
fn verify_result(value: &Json) -> Result<(), String> {
    let node = serde_json::from_value::<NodeResult>(value.clone()).map_err(|e| e.to_string())?;
    let total = product(&node.shape).ok_or("an impossible shape")?;
    if let Some(active) = &node.active
        && (active.iter().any(|i| *i >= total) || active.windows(2).any(|w| w[0] >= w[1]))
    {
        return Err("kept entries that are none".to_owned());
    }
    let entries = node.active.as_ref().map_or(total, Vec::len);
    let given = [&node.mean, &node.sd, &node.value, &node.gamma_shape, &node.rate];
    let fits = |n: &Numbers| n.as_slice().len() == entries;
    let labels = node.labels.as_ref().is_none_or(|l| l.len() == entries);
    if !given.into_iter().flatten().all(fits) || !labels {
        return Err("numbers of another length than its entries".to_owned());
    }
    Ok(())
}

/// Joint mean and covariance of as many innovations as the blocks keep; an entry for every hyperparameter.
fn verify_posterior(model: &Model, plan: &Plan, state: &State) -> Result<(), String> {
    let Posterior { blocks, mean, covariance, centres, hypers, factors } = &state.posterior;
    let k = mean.len();
    if k.checked_mul(k) != Some(covariance.len()) || (0..k).any(|i| covariance[i * (k + 1)] < 0.0) {
        return Err("its covariance is none".to_owned());
    }
    if !blocks.iter().map(|b| b.node).eq(plan.blocks.iter().map(|b| b.node)) {
        return Err("it has weights of other nodes than its plan".to_owned());
    }
    let mut start = 0usize;
    for block in blocks {
        let name = &model.typed().node(block.node).name;
        let lengths = [block.q.len(), block.s.len(), block.gain.len()];
        let kept = block.active.windows(2).all(|w| w[0] < w[1])
            && block.active.last().is_none_or(|i| *i < block.len)
            && block.start == start;
        if !kept || lengths != [block.len; 3] || !self::fits(model, state, block.node, block.len) {
            return Err(format!("its weights of `{name}` are impossible"));
        }
        start += block.active.len();
    }
    if start != k {
        return Err(format!("its nodes keep {start} weights and its mean has {k}"));
    }
    if !hypers.keys().copied().eq(sorted(plan.hypers.iter().map(|h| h.node))) {
        return Err("it has hyperparameters of another plan".to_owned());
    }
    for (node, values) in hypers {
        let same =
            |f: &Vec<(f64, f64)>| f.len() == values.len() && f.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
        let positive = values.iter().flatten().all(|v| *v >= 0.0);
        if !positive || !factors.get(node).is_none_or(same) || !self::fits(model, state, *node, values.len())
        {
            return Err(format!("its values of `{}` are impossible", model.typed().node(*node).name));
        }
    }
    if factors.keys().any(|node| !hypers.contains_key(node)) {
        return Err("it has factors of no hyperparameter".to_owned());
    }
    let terms = |node: &NodeId| plan.terms.iter().any(|t| t.node == *node);
    if centres.iter().any(|(node, means)| means.len() != k || !terms(node)) {
        return Err("it has centres of no target".to_owned());
    }
    Ok(())
}

/// Whether a node can have so many entries. One with an entry per row of the training data may have any.
fn fits(model: &Model, state: &State, node: NodeId, entries: usize) -> bool {
    let typed = model.typed();
    let size = |atom: &_| state.schema.dims.iter().find(|(a, _)| a == atom).map(|(_, n)| *n);
    let shape: Option<Vec<usize>> = typed.node(node).ty.shape.iter().map(|d| d.eval(&size)).collect();
    bind::is_per_row(typed, node) || shape.is_some_and(|shape| product(&shape) == Some(entries))
}

/// The number of entries of a shape, if it is no larger than data can be.
pub(crate) fn product(shape: &[usize]) -> Option<usize> {
    let entries = shape.iter().try_fold(1usize, |n, side| n.checked_mul(*side))?;
    (shape.iter().all(|side| *side <= MOST) && entries <= MOST).then_some(entries)
}

fn sorted(nodes: impl Iterator<Item = NodeId>) -> impl Iterator<Item = NodeId> {
    nodes.collect::<std::collections::BTreeSet<_>>().into_iter()
}
