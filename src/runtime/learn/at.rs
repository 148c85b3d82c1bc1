//! A model at given values of its learned parameters: the numeric problem, and the way back from
//! derivatives of an objective to those of the parameters.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::DMatrix;

use super::coordinates::{Param, Values};
use crate::check::typed::{ExprId, ExprKind, NodeId, NodeKind};
use crate::design::adjoint::{Bars, dependent};
use crate::design::{
    EvalError, Evaluator, Frozen, Inputs, Restrict, Starts, Value, Want, Why, affine_seeds, log_seeds,
    pull_back,
};
use crate::plan::ir::{Plan, ScaleExpr};
use crate::runtime::adjoint::Adjoint;
use crate::runtime::assemble::{Layout, assemble_kept};
use crate::runtime::problem::Problem;

/// A model with data, at values of its parameters.
pub(crate) struct At<'a> {
    plan: &'a Plan,
    inputs: Inputs<'a>,
    memory: usize,
    /// Data, and the parameters where they are now.
    values: BTreeMap<NodeId, Value>,
    frozen: Frozen,
    /// Whether a frozen value is made of a parameter.
    thaws: bool,
    leaves: BTreeSet<NodeId>,
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
            .map(|p| param(p.node, p.held, &mut Evaluator::new(inputs, &known, memory)))
            .collect::<Result<Vec<_>, _>>()?;
        let leaves: BTreeSet<NodeId> = params.iter().filter(|p| !p.held).map(|p| p.node).collect();
        let frozen_parts: Vec<ExprId> = (0..inputs.model.exprs.len() as u32)
            .map(ExprId)
            .filter(|e| matches!(inputs.model.expr(*e).kind, ExprKind::Train(_) | ExprKind::Standardize(_)))
            .collect();
        let moving = dependent(inputs.model, frozen_parts.iter().copied(), &leaves);
        let thaws = frozen_parts.iter().any(|e| moving.contains(e));
        let values = inputs.values.clone();
        let mut at = At { plan, inputs, memory, values, frozen: known, thaws, leaves };
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
                self.values.insert(param.node, param.value(entries.clone()));
            }
        }
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs { values: &self.values, ..self.inputs }
    }

    /// The problem here, of all weights or of those that `restrict` names.
    pub fn problem(&self, restrict: &Restrict) -> Result<(Problem, Layout), EvalError> {
        assemble_kept(self.plan, &mut Evaluator::new(self.inputs(), &self.frozen, self.memory), restrict)
    }

    /// d objective / d parameter from the derivatives of the problem of the kept weights.
    pub fn pull(&self, adjoint: &Adjoint, layout: &Layout, restrict: &Restrict) -> Result<Bars, EvalError> {
        let mut eval = Evaluator::new(self.inputs(), &self.frozen, self.memory);
        let starts: Starts = layout.blocks.iter().map(|p| (p.node, p.start)).collect();
        let columns = 1 + adjoint.design.ncols();
        let mut seeds = Vec::new();
        for (term, rows) in self.plan.terms.iter().zip(&layout.terms) {
            let size = self.size(term.node, term.mean)?;
            let scalar = self.inputs.model.expr(term.mean).ty.shape.is_empty();
            let mut bar = DMatrix::zeros(if scalar { 1 } else { size }, columns);
            let mut noise = vec![0.0; size];
            for (row, &entry) in (rows.start..).zip(&rows.entries) {
                let to = if scalar { 0 } else { entry };
                bar[(to, 0)] += adjoint.offset[row];
                for c in 1..columns {
                    bar[(to, c)] += adjoint.design[(row, c - 1)];
                }
                noise[entry] = adjoint.noise_log[row];
            }
            seeds.extend(affine_seeds(&mut eval, term.mean, restrict, &starts, bar, &self.leaves)?);
            if let Some(scale) = term.scale {
                seeds.extend(self.scale(&mut eval, scale, noise)?);
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
        for (term, name, bar) in &adjoint.args {
            let Some(expr) = self.argument(*term, name) else { continue };
            let failed = |why| EvalError { expr, why };
            let inputs = self.inputs();
            let (_, rows, cols) = inputs.shape(&inputs.model.expr(expr).ty).map_err(failed)?;
            if rows * cols != bar.len() {
                return Err(failed(Why::Shape((bar.len(), 1), (rows, cols))));
            }
            let adjoint = DMatrix::from_column_slice(rows, cols, bar);
            seeds.push(crate::design::Seed { expr, want: Want::all(), adjoint });
        }
        pull_back(&mut eval, seeds, &self.leaves)
    }

    /// ln precision = power · ln value
    fn scale(
        &self,
        eval: &mut Evaluator<'_>,
        scale: ScaleExpr,
        log: Vec<f64>,
    ) -> Result<Vec<crate::design::Seed>, EvalError> {
        let log = log.into_iter().map(|g| scale.power * g).collect();
        log_seeds(eval, scale.value, log, &self.leaves)
    }

    fn argument(&self, term: usize, name: &str) -> Option<ExprId> {
        let node = self.plan.terms.get(term)?.node;
        self.inputs.model.node(node).dist()?.arg(name)
    }

    fn size(&self, node: NodeId, expr: ExprId) -> Result<usize, EvalError> {
        let inputs = self.inputs();
        let shape = inputs.shape(&inputs.model.node(node).ty);
        let (_, rows, cols) = shape.map_err(|why| EvalError { expr, why })?;
        Ok(rows * cols)
    }
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
