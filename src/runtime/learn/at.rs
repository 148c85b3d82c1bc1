//! A model at given values of its learned parameters: the numeric problem, and the way back from
//! derivatives of an objective to those of the parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;

use super::coordinates::{Param, Values};
use crate::check::typed::{ExprId, ExprKind, NodeId, NodeKind};
use crate::design::adjoint::{Bars, dependent};
use crate::design::{
    EvalError, Evaluator, Frozen, Inputs, Restrict, Seed, Starts, Value, Want, Why, affine_seeds, log_seeds,
    pull_back,
};
use crate::dist::{ArgShape, family};
use crate::plan::ir::{Plan, ScaleExpr, Term};
use crate::plan::params::free_cutpoints;
use crate::runtime::adjoint::Adjoint;
use crate::runtime::assemble::{Layout, Rows};
use crate::runtime::execute::Numeric;

/// A model with data, at values of its parameters.
pub(crate) struct At<'a> {
    plan: &'a Plan,
    inputs: Inputs<'a>,
    memory: usize,
    /// Data, and the parameters where they are now.
    values: BTreeMap<NodeId, Arc<Value>>,
    frozen: Frozen,
    /// Whether a frozen value is made of a parameter.
    thaws: bool,
    leaves: BTreeSet<NodeId>,
    /// The problem of all weights, where parameters stand in arguments of likelihoods alone: only these
    /// change.
    whole: Option<(Numeric, Layout)>,
    /// The same of some weights.
    kept: Option<(Restrict, Numeric, Layout)>,
    arguments_only: bool,
}

impl<'a> At<'a> {
    /// Reads the parameters of a plan, and goes to their start values.
    pub fn start(
        plan: &'a Plan,
        inputs: Inputs<'a>,
        memory: usize,
    ) -> Result<(At<'a>, Vec<Param>), EvalError> {
        // starts are known before any parameter is, and may use frozen values
        let known = Frozen::learn(inputs, memory).map(|f| f.0).unwrap_or_default();
        let params = plan
            .params
            .iter()
            .map(|p| {
                let mut param = param(p.node, p.held, &mut Evaluator::new(inputs, &known, memory))?;
                if let Some(start) = cutpoint_start(plan, inputs, p.node, param.start.len()) {
                    param.start = start;
                }
                Ok(param)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let leaves: BTreeSet<NodeId> = params.iter().filter(|p| !p.held).map(|p| p.node).collect();
        let frozen_parts: Vec<ExprId> = (0..inputs.model.exprs.len() as u32)
            .map(ExprId)
            .filter(|e| matches!(inputs.model.expr(*e).kind, ExprKind::Train(_) | ExprKind::Standardize(_)))
            .collect();
        let moving = dependent(inputs.model, frozen_parts.iter().copied(), &leaves);
        let thaws = frozen_parts.iter().any(|e| moving.contains(e));
        let values = inputs.values.clone();
        let arguments_only = plan.method == "laplace" && !thaws && !depends(plan, inputs, &leaves);
        let (whole, kept) = (None, None);
        let frozen = known;
        let mut at = At { plan, inputs, memory, values, frozen, thaws, leaves, whole, kept, arguments_only };
        at.place(&params, &params.iter().map(|p| (p.node, p.start.clone())).collect());
        at.frozen = Frozen::learn(at.inputs(), memory)?.0;
        Ok((at, params))
    }

    /// Goes to other values.
    pub fn go(&mut self, params: &[Param], values: &Values) -> Result<(), EvalError> {
        self.place(params, values);
        if self.thaws {
            self.frozen = Frozen::learn(self.inputs(), self.memory)?.0;
        }
        Ok(())
    }

    fn place(&mut self, params: &[Param], values: &Values) {
        for param in params {
            if let Some(entries) = values.get(&param.node) {
                self.values.insert(param.node, Arc::new(param.value(entries.clone())));
            }
        }
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs { values: &self.values, ..self.inputs }
    }

    /// The problem here, of all weights or of those that `restrict` names.
    pub fn problem(&self, restrict: &Restrict) -> Result<(Numeric, Layout), EvalError> {
        Numeric::new(self.plan, &mut Evaluator::new(self.inputs(), &self.frozen, self.memory), restrict)
    }

    /// The problem here, of all weights.
    pub fn whole(&mut self) -> Result<&(Numeric, Layout), EvalError> {
        let kept = self.whole.take().filter(|_| self.arguments_only);
        let found = match kept {
            Some((mut numeric, layout)) => {
                let mut eval = Evaluator::new(self.inputs(), &self.frozen, self.memory);
                numeric.renew_arguments(self.plan, &mut eval, &layout)?;
                (numeric, layout)
            }
            None => self.problem(&Restrict::default())?,
        };
        Ok(self.whole.insert(found))
    }

    /// The problem here, of the weights that `restrict` names, and what it has of each node.
    pub fn kept(&mut self, restrict: &Restrict) -> Result<(&Numeric, Layout), EvalError> {
        let last = self.kept.take().filter(|last| self.arguments_only && last.0 == *restrict);
        let (restrict, numeric, layout) = match last {
            Some((restrict, mut numeric, layout)) => {
                let mut eval = Evaluator::new(self.inputs(), &self.frozen, self.memory);
                numeric.renew_arguments(self.plan, &mut eval, &layout)?;
                (restrict, numeric, layout)
            }
            None => {
                let (numeric, layout) = self.problem(restrict)?;
                (restrict.clone(), numeric, layout)
            }
        };
        let found = self.kept.insert((restrict, numeric, layout));
        Ok((&found.1, found.2.clone()))
    }

    /// No innovation of a node with a scale: flat effects alone.
    pub fn bare(&self) -> Result<Restrict, EvalError> {
        let mut restrict = Restrict::default();
        for block in &self.plan.blocks {
            let anywhere = block.scale.map(|s| s.value).or(block.mean).unwrap_or(ExprId(0));
            let all = if block.scale.is_none() { self.size(block.node, anywhere)? } else { 0 };
            restrict.active.insert(block.node, (0..all).collect());
        }
        Ok(restrict)
    }

    /// d objective / d parameter from the derivatives of the problem of the kept weights.
    pub fn pull(&self, adjoint: &Adjoint, layout: &Layout, restrict: &Restrict) -> Result<Bars, EvalError> {
        let mut eval = Evaluator::new(self.inputs(), &self.frozen, self.memory);
        let starts: Starts = layout.blocks.iter().map(|p| (p.node, p.start)).collect();
        let columns = 1 + adjoint.design.ncols();
        let mut seeds = Vec::new();
        let mut first = 0;
        for (t, (term, rows)) in self.plan.terms.iter().zip(&layout.terms).enumerate() {
            let (size, form) = (self.size(term.node, term.mean)?, self.expr_size(term.mean)?);
            // one predictor for each observation, or one a level
            let width = form.checked_div(size).unwrap_or(1).max(1);
            // Φ − 1 φ̄ᵀ hands on what is left of the mean over the rows
            let total: f64 = rows.counts.iter().sum();
            let mut taken = vec![0.0; columns];
            if !rows.means.is_empty() {
                for (c, taken) in taken.iter_mut().enumerate().skip(1) {
                    *taken = adjoint.design.column(c - 1).rows(rows.start, rows.counts.len()).sum() / total;
                }
            }
            let mut bar = DMatrix::zeros(form, columns);
            let mut noise = vec![0.0; size];
            for (unit, &entry) in rows.entries.iter().enumerate() {
                for level in 0..width {
                    let row = rows.start + unit * width + level;
                    let to = if form == 1 { 0 } else { entry + level * size };
                    bar[(to, 0)] += adjoint.offset[row];
                    for c in 1..columns {
                        let count = rows.counts.get(unit).copied().unwrap_or(1.0);
                        bar[(to, c)] += adjoint.design[(row, c - 1)] - count * taken[c];
                    }
                }
                noise[entry] = adjoint.noise_log[first + unit];
            }
            first += rows.entries.len();
            seeds.extend(affine_seeds(&mut eval, term.mean, restrict, &starts, bar, &self.leaves)?);
            if let Some(scale) = term.scale {
                seeds.extend(self.scale(&mut eval, scale, noise)?);
            }
            if let Some(args) = adjoint.args.get(t) {
                seeds.extend(self.arguments(term, rows, args, size)?);
            }
        }
        for (block, place) in self.plan.blocks.iter().zip(&layout.blocks) {
            let Some(scale) = block.scale else { continue };
            let mut of_entry = vec![0.0; self.size(block.node, scale.value)?];
            let all: Vec<usize> = (0..of_entry.len()).collect();
            let kept = restrict.active.get(&block.node).unwrap_or(&all);
            for (entry, weight) in kept.iter().zip(place.start..) {
                of_entry[*entry] = adjoint.weight_log[weight];
            }
            seeds.extend(self.scale(&mut eval, scale, of_entry)?);
        }
        pull_back(&mut eval, seeds, &self.leaves)
    }

    /// ln precision = power · ln value
    fn scale(
        &self,
        eval: &mut Evaluator<'_>,
        scale: ScaleExpr,
        log: Vec<f64>,
    ) -> Result<Vec<Seed>, EvalError> {
        let log = log.into_iter().map(|g| scale.power * g).collect();
        log_seeds(eval, scale.value, log, &self.leaves)
    }

    /// Seeds for the arguments of a family beside predictor and scale, from those of each observation.
    fn arguments(
        &self,
        term: &Term,
        rows: &Rows,
        of_units: &[f64],
        size: usize,
    ) -> Result<Vec<Seed>, EvalError> {
        let inputs = self.inputs();
        let levels = inputs.levels.get(&term.node).map_or(2, Vec::len);
        let Some(family) = family(&term.family) else { return Ok(Vec::new()) };
        let stride = of_units.len().checked_div(rows.entries.len()).unwrap_or(0);
        let mut seeds = Vec::new();
        for (name, expr) in &term.args {
            let shape = family.args.iter().find(|a| a.name == name).map(|a| a.shape);
            let (Some(shape), Some(place)) = (shape, family.places(name, levels)) else { continue };
            let failed = |why| EvalError { expr: *expr, why };
            let (_, height, width) = inputs.shape(&inputs.model.expr(*expr).ty).map_err(failed)?;
            let mut bar = vec![0.0; height * width];
            for (unit, &entry) in rows.entries.iter().enumerate() {
                for k in 0..place.len() {
                    let to = match shape {
                        _ if bar.len() == 1 => 0,
                        ArgShape::Node => entry,
                        ArgShape::PerLevel => entry + k * size,
                        ArgShape::Cutpoints => k,
                    };
                    // a mean field has one argument that moves its bound, and gives that alone
                    let start = if stride == 1 { 0 } else { place.start };
                    let found = of_units.get(unit * stride + start + k);
                    if let (Some(bar), Some(found)) = (bar.get_mut(to), found) {
                        *bar += found;
                    }
                }
            }
            let adjoint = DMatrix::from_column_slice(height, width, &bar);
            seeds.push(Seed { expr: *expr, want: Want::all(), adjoint });
        }
        Ok(seeds)
    }

    fn expr_size(&self, expr: ExprId) -> Result<usize, EvalError> {
        let inputs = self.inputs();
        let shape = inputs.shape(&inputs.model.expr(expr).ty);
        let (_, rows, cols) = shape.map_err(|why| EvalError { expr, why })?;
        Ok(rows * cols)
    }

    fn size(&self, node: NodeId, expr: ExprId) -> Result<usize, EvalError> {
        let inputs = self.inputs();
        let shape = inputs.shape(&inputs.model.node(node).ty);
        let (_, rows, cols) = shape.map_err(|why| EvalError { expr, why })?;
        Ok(rows * cols)
    }
}

/// Whether predictors, precisions or case weights are made of parameters.
fn depends(plan: &Plan, inputs: Inputs<'_>, leaves: &BTreeSet<NodeId>) -> bool {
    let terms = plan.terms.iter().flat_map(|t| [Some(t.mean), t.scale.map(|s| s.value), t.weight]);
    let blocks = plan.blocks.iter().flat_map(|b| [b.mean, b.scale.map(|s| s.value)]);
    let hypers = plan.hypers.iter().flat_map(|h| [Some(h.shape), Some(h.rate)]);
    let all: Vec<ExprId> = terms.chain(blocks).chain(hypers).flatten().collect();
    let moving = dependent(inputs.model, all.iter().copied(), leaves);
    all.iter().any(|e| moving.contains(e))
}

/// Where learned cutpoints without a start begin: at the quantiles of the observed levels, the optimum
/// for a predictor of 0. Half an observation more at each level keeps levels that do not occur apart.
fn cutpoint_start(plan: &Plan, inputs: Inputs<'_>, node: NodeId, len: usize) -> Option<Vec<f64>> {
    if !matches!(inputs.model.node(node).kind, NodeKind::Param { start: None }) {
        return None;
    }
    let term = plan.terms.iter().find(|t| {
        let dist = inputs.model.node(t.node).dist();
        dist.and_then(|d| free_cutpoints(inputs.model, d)) == Some(node)
    })?;
    let latent = inputs.model.node(term.node).dist()?.family.score.as_ref()?.latent.as_ref()?;
    let mut counts = vec![0.5; len + 1];
    for level in inputs.values.get(&term.node)?.array.iter().filter(|y| !y.is_nan()) {
        *counts.get_mut(*level as usize)? += 1.0;
    }
    let total: f64 = counts.iter().sum();
    let mut below = 0.0;
    Some(
        counts[..len]
            .iter()
            .map(|count| {
                below += count / total;
                (latent.quantile)(&term.predictor, below)
            })
            .collect(),
    )
}

/// A parameter with its start values.
fn param(node: NodeId, held: bool, eval: &mut Evaluator<'_>) -> Result<Param, EvalError> {
    let inputs = eval.inputs();
    let of = inputs.model.node(node);
    let NodeKind::Param { start } = of.kind else {
        return Err(EvalError { expr: ExprId(0), why: Why::NoValue(node) });
    };
    let failed = |why| EvalError { expr: start.unwrap_or(ExprId(0)), why };
    let (rank, rows, cols) = inputs.shape(&of.ty).map_err(failed)?;
    let elem = of.ty.elem;
    let start = match start {
        None => Param::default_start(elem, rank, rows, cols),
        Some(e) => {
            let value = eval.finite(e, &Want::all())?;
            match value.array.as_slice() {
                [one] => vec![*one; rows * cols],
                many => many.to_vec(),
            }
        }
    };
    if start.len() != rows * cols {
        return Err(failed(Why::Shape((start.len(), 1), (rows, cols))));
    }
    let param = Param { node, elem, rank, rows, cols, start, held };
    match param.outside() {
        Some(entry) => Err(failed(Why::OutsideSet(entry, param.start[entry], elem.name()))),
        None => Ok(param),
    }
}
