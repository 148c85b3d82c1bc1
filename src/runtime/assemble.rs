//! From a plan and bound data to the numeric problem, and the way back from its indices to nodes.

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use crate::check::typed::{ExprId, NodeId};
use crate::design::{Affine, EvalError, Evaluator, Frozen, Inputs, Restrict, Want, Why, affine, log_linear};
use crate::math::product::zeros;
use crate::plan::ir::{Plan, ScaleExpr};

use super::problem::{Hyper, Problem, Scale, WeightPrior};
use super::solution::Failure;
use super::source::Source;

/// Where the entries of nodes stand in a [`Problem`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    /// Latent Gaussian nodes: where their innovations start among the weights, and how many there are.
    pub blocks: Vec<Place>,
    /// Hyperparameter nodes: where their entries start, and how many there are.
    pub hypers: Vec<Place>,
    /// Observed nodes: where their present entries start among the rows.
    pub terms: Vec<Rows>,
}

/// A run of indices that belongs to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// Its first index.
    pub start: usize,
    /// How many.
    pub len: usize,
}

/// The rows of an observed node.
#[derive(Clone, PartialEq, Debug)]
pub struct Rows {
    /// The node.
    pub node: NodeId,
    /// Its first row.
    pub start: usize,
    /// Which entries of the node (column-major) the rows are: those that are not missing.
    pub entries: Vec<usize>,
    /// Training means of the columns of a centred predictor, one a weight; empty if it is not centred.
    pub means: Vec<f64>,
    /// Case weight of each row, for these means.
    pub counts: Vec<f64>,
    /// Weights whose column is constant, and therefore nothing in a centred predictor.
    pub constant: Vec<usize>,
}

impl Layout {
    /// The node and entry of a weight.
    pub fn weight(&self, i: usize) -> Option<(NodeId, usize)> {
        find(&self.blocks, i)
    }

    /// The node and entry of a hyperparameter.
    pub fn hyper(&self, h: usize) -> Option<(NodeId, usize)> {
        find(&self.hypers, h)
    }
}

fn find(places: &[Place], i: usize) -> Option<(NodeId, usize)> {
    let place = places.iter().find(|p| (p.start..p.start + p.len).contains(&i))?;
    Some((place.node, i - place.start))
}

/// Stacks rows, weights and hyperparameters in the order of the plan. The design is empty: see [`Design`].
///
/// # Errors
/// The expression that has no value, is not linear, or needs too much memory.
pub fn assemble(plan: &Plan, eval: &mut Evaluator<'_>) -> Result<(Problem, Layout), EvalError> {
    gather(plan, eval, &Restrict::default(), false)
}

/// The same with the kept innovations only: of a node that `restrict` names, these are its weights.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_kept(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    restrict: &Restrict,
) -> Result<(Problem, Layout), EvalError> {
    gather(plan, eval, restrict, true)
}

fn gather(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    restrict: &Restrict,
    columns: bool,
) -> Result<(Problem, Layout), EvalError> {
    let mut layout = Layout::default();
    let hypers = assemble_hypers(plan, eval, &mut layout)?;
    let weights = assemble_weights(plan, eval, restrict, &mut layout)?;

    let (mut targets, mut noise, mut counts, mut term_of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut forms = Vec::with_capacity(plan.terms.len());
    let no_columns = only(&layout, &[]);
    for (t, term) in plan.terms.iter().enumerate() {
        let form = affine(eval, term.mean, if columns { restrict } else { &no_columns })?;
        let y = observed(eval, term.node, term.mean)?;
        let scale = term.scale.ok_or(EvalError { expr: term.mean, why: Why::NoValue(term.node) })?;
        let scales = scales(eval, scale, y.len(), &layout)?;
        let weight = term.weight.map(|e| numbers(eval, e)).transpose()?;
        let mut entries = Vec::with_capacity(y.len());
        let start = targets.len();
        for (i, scale) in scales.into_iter().enumerate().filter(|(i, _)| !y[*i].is_nan()) {
            entries.push(i);
            targets.push(y[i] - at(&form.offset, i));
            noise.push(scale);
            counts.push(weight.as_ref().map_or(1.0, |w| at(w, i)));
            term_of.push(t);
        }
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
    let design = if columns {
        let rows: Vec<(usize, &[usize])> =
            layout.terms.iter().map(|r| (r.start, r.entries.as_slice())).collect();
        stack(plan, eval, &forms, &layout, &rows, (targets.len(), weights.len()))?
    } else {
        DMatrix::zeros(0, 0)
    };
    Ok((Problem { targets, noise, counts, term: term_of, design, weights, hypers }, layout))
}

/// The columns of an assembled problem, evaluated when they are asked for.
pub struct Design<'a> {
    plan: &'a Plan,
    layout: &'a Layout,
    inputs: Inputs<'a>,
    frozen: &'a Frozen,
    memory: usize,
    /// Why the last demand was not met.
    pub error: Option<EvalError>,
}

impl<'a> Design<'a> {
    /// The design of what [`assemble`] made.
    pub fn new(
        plan: &'a Plan,
        layout: &'a Layout,
        inputs: Inputs<'a>,
        frozen: &'a Frozen,
        memory: usize,
    ) -> Self {
        Design { plan, layout, inputs, frozen, memory, error: None }
    }

    /// Rows of the present entries, these columns of all innovations (ascending).
    fn evaluate(&self, which: &[usize]) -> Result<DMatrix<f64>, EvalError> {
        // nothing is remembered from one demand to the next
        let mut eval = Evaluator::new(self.inputs, self.frozen, self.memory);
        let all = self.layout.blocks.last().map_or(0, |p| p.start + p.len);
        let restrict = if which.len() == all { Restrict::default() } else { only(self.layout, which) };
        let n = self.layout.terms.last().map_or(0, |rows| rows.start + rows.entries.len());
        let somewhere = self.plan.terms.first().map_or(ExprId(0), |t| t.mean);
        let bytes = n.saturating_mul(which.len()).saturating_mul(size_of::<f64>());
        if bytes > self.memory {
            return Err(EvalError { expr: somewhere, why: Why::Memory(bytes, self.memory) });
        }
        let mut design = DMatrix::zeros(0, which.len());
        for (rows, term) in self.layout.terms.iter().zip(&self.plan.terms) {
            let mut form = affine(&mut eval, term.mean, &restrict)?;
            if let ([only], [_]) = (self.layout.blocks.as_slice(), self.layout.terms.as_slice()) {
                // often these are the columns of one matrix, as they are
                drop(eval);
                if let Some(whole) = form.take_whole(only.node, &rows.entries) {
                    return Ok(whole);
                }
                eval = Evaluator::new(self.inputs, self.frozen, self.memory);
            }
            if design.is_empty() {
                design = zeros(n, which.len());
            }
            for place in &self.layout.blocks {
                let first = which.partition_point(|i| *i < place.start);
                if let Some(coef) = form.coef(place.node) {
                    // a scalar mean serves every entry
                    let same = vec![0; rows.entries.len()];
                    let entries = if form.len() == 1 { &same } else { &rows.entries };
                    coef.add_to(Some(entries), &mut design, rows.start, first)
                        .map_err(|why| EvalError { expr: term.mean, why })?;
                }
            }
        }
        Ok(design)
    }
}

impl Source for Design<'_> {
    fn columns(&mut self, which: &[usize]) -> Result<DMatrix<f64>, Failure> {
        self.evaluate(which).map_err(|error| {
            self.error = Some(error);
            Failure::NonFinite { step: "design" }
        })
    }
}

/// Only these innovations (ascending).
fn only(layout: &Layout, which: &[usize]) -> Restrict {
    let active = layout.blocks.iter().map(|place| {
        let of_block = which.iter().filter(|i| (place.start..place.start + place.len).contains(i));
        (place.node, of_block.map(|i| i - place.start).collect())
    });
    Restrict { active: active.collect(), ..Restrict::default() }
}

pub(crate) fn assemble_hypers(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    layout: &mut Layout,
) -> Result<Vec<Hyper>, EvalError> {
    let mut hypers = Vec::new();
    for update in &plan.hypers {
        let len = size(eval, update.node, update.shape)?;
        let shape = numbers(eval, update.shape)?;
        let rate = numbers(eval, update.rate)?;
        layout.hypers.push(Place { node: update.node, start: hypers.len(), len });
        for i in 0..len {
            // a Gamma given by its scale has rate 1/scale; rate 0 stays 0
            let rate = at(&rate, i).powf(update.rate_power);
            hypers.push(Hyper { shape: at(&shape, i), rate, held: None });
        }
    }
    Ok(hypers)
}

pub(crate) fn assemble_weights(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    restrict: &Restrict,
    layout: &mut Layout,
) -> Result<Vec<WeightPrior>, EvalError> {
    let mut weights = Vec::new();
    for block in &plan.blocks {
        let anywhere = block.scale.map(|s| s.value).or(block.mean).unwrap_or(ExprId(0));
        let len = size(eval, block.node, anywhere)?;
        let priors: Vec<WeightPrior> = match block.scale {
            None => vec![WeightPrior::Flat; len],
            Some(scale) => scales(eval, scale, len, layout)?.into_iter().map(WeightPrior::Normal).collect(),
        };
        let start = weights.len();
        match restrict.active.get(&block.node) {
            Some(kept) => weights.extend(kept.iter().filter_map(|i| priors.get(*i)).cloned()),
            None => weights.extend(priors),
        }
        layout.blocks.push(Place { node: block.node, start, len: weights.len() - start });
    }
    Ok(weights)
}

/// The precision of each of `len` entries.
pub(crate) fn scales(
    eval: &mut Evaluator<'_>,
    scale: ScaleExpr,
    len: usize,
    layout: &Layout,
) -> Result<Vec<Scale>, EvalError> {
    let form = log_linear(eval, scale.value)?;
    let starts: BTreeMap<NodeId, usize> = layout.hypers.iter().map(|p| (p.node, p.start)).collect();
    (0..len)
        .map(|i| {
            let entry = form
                .entry(i)
                .ok_or(EvalError { expr: scale.value, why: Why::Position(i, form.entries.len()) })?;
            // ln precision = power · ln value
            let powers = entry
                .powers
                .iter()
                .map(|(node, k, p)| {
                    let start =
                        starts.get(node).ok_or(EvalError { expr: scale.value, why: Why::NoValue(*node) })?;
                    Ok((start + k, scale.power * p))
                })
                .collect::<Result<_, EvalError>>()?;
            Ok(Scale { log_const: scale.power * entry.log_const, powers })
        })
        .collect()
}

/// The design: for each term the rows of some entries of its predictor from a first row on, columns of
/// all innovations.
pub(crate) fn stack(
    plan: &Plan,
    eval: &Evaluator<'_>,
    forms: &[Affine],
    layout: &Layout,
    rows: &[(usize, &[usize])],
    (n, m): (usize, usize),
) -> Result<DMatrix<f64>, EvalError> {
    let somewhere = plan.terms.first().map_or(ExprId(0), |t| t.mean);
    let bytes = n.saturating_mul(m).saturating_mul(size_of::<f64>());
    if bytes > eval.memory() {
        return Err(EvalError { expr: somewhere, why: Why::Memory(bytes, eval.memory()) });
    }
    let mut design = zeros(n, m);
    for ((form, (start, entries)), term) in forms.iter().zip(rows).zip(&plan.terms) {
        for place in &layout.blocks {
            if let Some(coef) = form.coef(place.node) {
                // a scalar mean serves every entry
                let same = vec![0; entries.len()];
                let entries = if form.len() == 1 { &same } else { *entries };
                coef.add_to(Some(entries), &mut design, *start, place.start)
                    .map_err(|why| EvalError { expr: term.mean, why })?;
            }
        }
    }
    Ok(design)
}

/// The entries of an observed node, column-major; `NaN` is missing.
pub(crate) fn observed(eval: &Evaluator<'_>, node: NodeId, expr: ExprId) -> Result<Vec<f64>, EvalError> {
    let value = eval.inputs().values.get(&node).ok_or(EvalError { expr, why: Why::NoValue(node) })?;
    Ok(value.array.as_slice().to_vec())
}

pub(crate) fn size(eval: &Evaluator<'_>, node: NodeId, expr: ExprId) -> Result<usize, EvalError> {
    let inputs = eval.inputs();
    let (_, rows, cols) = inputs.shape(&inputs.model.node(node).ty).map_err(|why| EvalError { expr, why })?;
    rows.checked_mul(cols).ok_or(EvalError { expr, why: Why::Memory(usize::MAX, eval.memory()) })
}

pub(crate) fn numbers(eval: &mut Evaluator<'_>, e: ExprId) -> Result<Vec<f64>, EvalError> {
    Ok(eval.finite(e, &Want::all())?.array.as_slice().to_vec())
}

/// The entry that belongs to entry `i` of a node: a scalar belongs to all.
pub(crate) fn at(values: &[f64], i: usize) -> f64 {
    match values {
        [one] => *one,
        many => many.get(i).copied().unwrap_or(f64::NAN),
    }
}
