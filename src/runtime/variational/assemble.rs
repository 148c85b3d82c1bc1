//! From a variational plan and bound data to its numeric problem.

use std::collections::BTreeMap;

use super::problem::{Hyper, Kind, Problem, Product, Row, WeightPrior};
use crate::check::typed::{ExprId, NodeId};
use crate::design::{EvalError, Evaluator, Restrict, Why, affine, log_linear};
use crate::dist::bound::LinkBound;
use crate::plan::ir::{HyperUpdate, Plan, RowFactorKind, ScaleExpr};
use crate::plan::variational::bounded;
use crate::runtime::assemble::{Layout, Place, Rows, at, numbers, observed, size, stack};

/// Stacks rows, weights and hyperparameters in the order of the plan; of a node that `restrict` names,
/// the kept innovations only.
///
/// # Errors
/// The expression that has no value, is not linear, is no product of hyperparameters, or needs too
/// much memory.
pub fn assemble(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    restrict: &Restrict,
) -> Result<(Problem, Layout), EvalError> {
    let mut layout = Layout::default();
    // places first: a rate may name any other hyperparameter
    let mut start = 0;
    for update in &plan.hypers {
        let len = size(eval, update.node, update.shape)?;
        layout.hypers.push(Place { node: update.node, start, len });
        start += len;
    }
    let mut hypers = Vec::new();
    for (update, place) in plan.hypers.iter().zip(layout.hypers.clone()) {
        let shape = numbers(eval, update.shape)?;
        let rates = rates(eval, update, place.len, &layout)?;
        hypers.extend(rates.into_iter().enumerate().map(|(i, rate)| Hyper { shape: at(&shape, i), rate }));
    }
    let (mut weights, mut block) = (Vec::new(), Vec::new());
    for (b, each) in plan.blocks.iter().enumerate() {
        let anywhere = each.scale.map(|s| s.value).or(each.mean).unwrap_or(ExprId(0));
        let len = size(eval, each.node, anywhere)?;
        let priors: Vec<WeightPrior> = match each.scale {
            None => vec![WeightPrior::Flat; len],
            Some(scale) => {
                products(eval, scale, len, &layout)?.into_iter().map(WeightPrior::Normal).collect()
            }
        };
        let start = weights.len();
        match restrict.active.get(&each.node) {
            Some(kept) => weights.extend(kept.iter().filter_map(|i| priors.get(*i)).cloned()),
            None => weights.extend(priors),
        }
        block.extend(std::iter::repeat_n(b, weights.len() - start));
        layout.blocks.push(Place { node: each.node, start, len: weights.len() - start });
    }
    let mut forms = Vec::with_capacity(plan.terms.len());
    let mut rows = Vec::new();
    for (t, term) in plan.terms.iter().enumerate() {
        let form = affine(eval, term.mean, restrict)?;
        let y = observed(eval, term.node, term.mean)?;
        let noise = match term.scale {
            Some(scale) => products(eval, scale, y.len(), &layout)?,
            None => vec![Product::default(); y.len()],
        };
        let count = term.weight.map(|e| numbers(eval, e)).transpose()?;
        let kinds = kinds(plan, eval, term.node)?;
        let entries: Vec<usize> = (0..y.len()).filter(|i| !y[*i].is_nan()).collect();
        let start = rows.len();
        rows.extend(entries.iter().map(|&i| Row {
            target: y[i],
            offset: at(&form.offset, i),
            noise: noise[i].clone(),
            count: count.as_ref().map_or(1.0, |w| at(w, i)),
            term: t,
            kind: match kinds.as_slice() {
                [one] => *one,
                many => many.get(i).copied().unwrap_or(Kind::Gaussian),
            },
        }));
        layout.terms.push(Rows {
            node: term.node,
            start,
            entries,
            means: Vec::new(),
            counts: Vec::new(),
            constant: Vec::new(),
        });
        forms.push(form);
    }
    let places: Vec<(usize, &[usize])> =
        layout.terms.iter().map(|r| (r.start, r.entries.as_slice())).collect();
    let design = stack(plan, eval, &forms, &layout, &places, (rows.len(), weights.len()))?;
    Ok((Problem { rows, design, weights, block, hypers }, layout))
}

/// What the rows of a term are: one for all, or one each.
fn kinds(plan: &Plan, eval: &mut Evaluator<'_>, node: NodeId) -> Result<Vec<Kind>, EvalError> {
    match plan.factors.iter().find(|f| f.node == node).map(|f| &f.kind) {
        None => Ok(vec![Kind::Gaussian]),
        Some(RowFactorKind::Scale { dof }) => {
            Ok(numbers(eval, *dof)?.into_iter().map(|dof| Kind::Mixture { dof }).collect())
        }
        Some(RowFactorKind::Bound { .. }) => {
            let model = eval.inputs().model;
            let link: Option<&'static LinkBound> =
                model.node(node).dist().and_then(|d| bounded(d)).map(|(link, _)| link);
            let link = link.ok_or(EvalError { expr: ExprId(0), why: Why::NoValue(node) })?;
            Ok(vec![Kind::Bound { link }])
        }
    }
}

/// The precision of each of `len` entries.
fn products(
    eval: &mut Evaluator<'_>,
    scale: ScaleExpr,
    len: usize,
    layout: &Layout,
) -> Result<Vec<Product>, EvalError> {
    let form = log_linear(eval, scale.value)?;
    let starts: BTreeMap<NodeId, usize> = layout.hypers.iter().map(|p| (p.node, p.start)).collect();
    (0..len)
        .map(|i| {
            let entry = form
                .entry(i)
                .ok_or(EvalError { expr: scale.value, why: Why::Position(i, form.entries.len()) })?;
            let mut hypers = Vec::with_capacity(entry.powers.len());
            for (node, k, power) in &entry.powers {
                let start =
                    starts.get(node).ok_or(EvalError { expr: scale.value, why: Why::NoValue(*node) })?;
                if scale.power * power != 1.0 {
                    let what = "has a hyperparameter to another power than 1".to_owned();
                    return Err(EvalError { expr: scale.value, why: Why::NotLogLinear(what) });
                }
                hypers.push(start + k);
            }
            hypers.sort_unstable();
            Ok(Product { ln_known: scale.power * entry.log_const, hypers })
        })
        .collect()
}

/// The rate of each of `len` hyperparameters; a known one may be 0.
fn rates(
    eval: &mut Evaluator<'_>,
    update: &HyperUpdate,
    len: usize,
    layout: &Layout,
) -> Result<Vec<Product>, EvalError> {
    let (rate, power) = (update.rate, update.rate_power);
    if !update.parents.is_empty() {
        return products(eval, ScaleExpr { value: rate, power }, len, layout);
    }
    let known = numbers(eval, rate)?;
    Ok((0..len).map(|i| Product { ln_known: power * at(&known, i).ln(), hypers: Vec::new() }).collect())
}
