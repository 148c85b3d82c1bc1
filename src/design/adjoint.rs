//! Derivatives of deterministic expressions in reverse: from adjoints of values to adjoints of leaves.
//!
//! The adjoint of a value is the derivative of one number, an objective, with respect to each of its
//! entries. A tape holds the wanted parts of all expressions between seeds and leaves; it is run
//! backwards, and every operation turns the adjoint of its value into those of its operands
//! (`pull.rs`). Only what is wanted is evaluated: seeds on three columns of a design cost three
//! columns. At training `train(…)` and `standardize(…)` are functions of their operands like any other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;

use super::error::{EvalError, Why};
use super::eval::{Evaluator, Key, bytes};
use super::ops;
use super::pull::pull;
use super::value::Value;
use super::walk;
use super::want::Want;
use crate::check::typed::{ExprId, ExprKind, Model, NodeId};

/// The adjoint of a part of an expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Seed {
    /// The expression.
    pub expr: ExprId,
    /// Which part of it.
    pub want: Want,
    /// d objective / d entry, of the shape of that part.
    pub adjoint: DMatrix<f64>,
}

/// Adjoints of nodes, each of the shape of the node.
pub type Bars = BTreeMap<NodeId, DMatrix<f64>>;

/// The adjoints of `leaves`, which have values, given those of expressions.
///
/// At a kink (`abs`, `min`, `max`, `absdist`) the middle of the subgradient is taken; `sqrt` has slope 0
/// at 0. Indices, levels and degrees have no derivative.
///
/// # Errors
/// An expression that has no value, or a seed of another shape.
pub fn pull_back(
    eval: &mut Evaluator<'_>,
    seeds: Vec<Seed>,
    leaves: &BTreeSet<NodeId>,
) -> Result<Bars, EvalError> {
    let inputs = eval.inputs();
    let model = inputs.model;
    let mut bars = Bars::new();
    for leaf in leaves {
        let failed = |why| EvalError { expr: ExprId(0), why };
        let (_, rows, cols) = inputs.shape(&model.node(*leaf).ty).map_err(failed)?;
        bars.insert(*leaf, ops::zeros(rows, cols).map_err(failed)?);
    }
    let roots: Vec<ExprId> = seeds.iter().map(|s| s.expr).collect();
    let active = dependent(model, roots, leaves);
    let seeds: Vec<Seed> = seeds.into_iter().filter(|s| active.contains(&s.expr)).collect();

    let keys: Vec<Key> = seeds.iter().map(|s| (s.expr, s.want.clone())).collect();
    let needs = |key: &Key| match active.contains(&key.0) {
        true => tape_needs(eval, key),
        false => Ok(Vec::new()),
    };
    let jobs = eval.schedule(keys.clone(), &needs)?;
    let mut at: BTreeMap<(ExprId, usize), usize> = BTreeMap::new();
    let mut values: Vec<Arc<Value>> = Vec::with_capacity(jobs.len());
    let mut live = 0usize;
    for (j, job) in jobs.iter().enumerate() {
        let (e, want) = &job.key;
        let value = if active.contains(e) {
            let args = job.args.iter().map(|a| values[*a].clone()).collect();
            let value = eval.compute(&job.key, args, live).map_err(|why| EvalError { expr: *e, why })?;
            live = live.saturating_add(bytes(&value).saturating_mul(2));
            Arc::new(value)
        } else {
            eval.eval(*e, want)?
        };
        values.push(value);
        if let Some(s) = keys.iter().position(|k| *k == job.key) {
            at.insert((*e, s), j);
        }
    }

    let mut adjoints: Vec<Option<DMatrix<f64>>> = vec![None; jobs.len()];
    for (seed, key) in seeds.into_iter().zip(&keys) {
        let first = keys.iter().position(|k| k == key).unwrap_or(0);
        let Some(&j) = at.get(&(seed.expr, first)) else { continue };
        let (found, wanted) = (seed.adjoint.shape(), values[j].array.shape());
        if found != wanted {
            return Err(EvalError { expr: seed.expr, why: Why::Shape(found, wanted) });
        }
        add(&mut adjoints[j], seed.adjoint);
    }
    for (j, job) in jobs.iter().enumerate().rev() {
        let Some(g) = adjoints[j].take() else { continue };
        let (e, want) = &job.key;
        if !active.contains(e) {
            continue;
        }
        let failed = |why| EvalError { expr: *e, why };
        if let ExprKind::Node(node) = &model.expr(*e).kind
            && let Some(bar) = bars.get_mut(node)
        {
            scatter(&g, want, bar).map_err(failed)?;
            continue;
        }
        let args: Vec<Arc<Value>> = job.args.iter().map(|a| values[*a].clone()).collect();
        let wanted: Vec<bool> = job.args.iter().map(|a| active.contains(&jobs[*a].key.0)).collect();
        let parts = pull(eval, &job.key, &args, &values[j], &g, &wanted).map_err(failed)?;
        for ((a, part), wanted) in job.args.iter().zip(parts).zip(wanted) {
            if let (Some(part), true) = (part, wanted) {
                add(&mut adjoints[*a], part);
            }
        }
    }
    Ok(bars)
}

/// The expressions under `roots` whose value depends on one of these nodes, means of latent nodes included.
pub fn dependent(
    model: &Model,
    roots: impl IntoIterator<Item = ExprId>,
    leaves: &BTreeSet<NodeId>,
) -> BTreeSet<ExprId> {
    let next = |e: ExprId| super::affine::operands(model, e);
    let mut found = BTreeSet::new();
    for e in walk::post_order(roots, next) {
        let leaf = matches!(&model.expr(e).kind, ExprKind::Node(node) if leaves.contains(node));
        if leaf || next(e).iter().any(|a| found.contains(a)) {
            found.insert(e);
        }
    }
    found
}

/// What the tape needs of the operands: what the value needs, and what `train` and `standardize`, whose
/// values are kept, were made of.
fn tape_needs(eval: &Evaluator<'_>, key: &Key) -> Result<Vec<Key>, Why> {
    let mut needs = eval.needs(key)?;
    let (e, want) = key;
    match &eval.inputs().model.expr(*e).kind {
        ExprKind::Train(of) => needs.push((*of, want.clone())),
        ExprKind::Standardize(of) => needs.push((*of, Want::cols(want.cols.clone()))),
        _ => {}
    }
    Ok(needs)
}

fn add(to: &mut Option<DMatrix<f64>>, more: DMatrix<f64>) {
    match to {
        Some(sum) if sum.shape() == more.shape() => *sum += more,
        _ => *to = Some(more),
    }
}

/// Adds a part to the whole that it is a part of.
pub(super) fn scatter(part: &DMatrix<f64>, want: &Want, whole: &mut DMatrix<f64>) -> Result<(), Why> {
    let rows = ops::positions(&want.rows, whole.nrows())?;
    let cols = ops::positions(&want.cols, whole.ncols())?;
    if part.shape() != (rows.len(), cols.len()) {
        return Err(Why::Shape(part.shape(), (rows.len(), cols.len())));
    }
    for (j, col) in cols.iter().enumerate() {
        for (i, row) in rows.iter().enumerate() {
            whole[(*row, *col)] += part[(i, j)];
        }
    }
    Ok(())
}
