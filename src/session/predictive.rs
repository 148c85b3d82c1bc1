//! The predictive distribution of an observed node at new rows: the arguments of its family there, the
//! linear predictors among them as a Gaussian.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::bind::{self, Bound};
use super::draws::{Uniforms, array};
use super::fit::Fit;
use crate::check::typed::{ExprId, NodeId};
use crate::data::Data;
use crate::design::{
    Affine, Draw, EvalError, Evaluator, LogLinear, Restrict, Value, Want, Why, affine, log_linear,
};
use crate::dist::{ArgShape, Family, Marginal, Moments, Need, Outcome, Support};
use crate::error::Error;
use crate::plan::ir::{ScaleExpr, Term};
use crate::runtime::assemble::at;

/// Bytes that a prediction may allocate at a time.
const MEMORY: usize = 8 << 30;

/// The predictive distribution of every entry of an observed node, column-major.
pub(crate) struct Predictive {
    /// The node.
    pub node: NodeId,
    /// Its family.
    pub family: &'static Family,
    /// Number of entries.
    pub count: usize,
    /// Names of the levels, of a node that has any.
    pub levels: Vec<String>,
    /// Where every local basis function is silent; `None` if there are none.
    pub silent: Option<Vec<bool>>,
    marginal: &'static Marginal,
    arguments: Vec<Argument>,
    predictors: Predictors,
}

/// The numbers of one argument, in the place it has among the others.
enum Argument {
    /// Not given: so many `NaN`.
    Absent(usize),
    /// One number, or one for every entry.
    Each(Vec<f64>),
    /// The same numbers for every entry.
    Shared(Vec<f64>),
    /// A row of numbers for every entry.
    Row(Value),
    /// The linear predictors.
    Predictor,
}

/// Linear predictors as Gaussians, d of them an entry; d = 0 if no argument is one.
#[derive(Default)]
struct Predictors {
    d: usize,
    /// d numbers an entry.
    mean: Vec<f64>,
    /// d × d numbers an entry.
    variance: Vec<f64>,
}

/// What is said of one entry.
pub(crate) enum Forecast {
    /// ln P of every level.
    Levels(Vec<f64>),
    /// Mean and deviations of a number.
    Number(Moments),
}

impl Predictive {
    /// What is said of an entry.
    pub fn forecast(&self, i: usize) -> Forecast {
        let (args, variance) = (self.args(i), self.variance(i));
        match &self.marginal.outcome {
            Outcome::Levels(ln_p) => Forecast::Levels(ln_p(&args, variance)),
            Outcome::Number(number) => Forecast::Number((number.moments)(&args, variance)),
        }
    }

    /// Log density (or probability) of a number at an entry; `None` for levels.
    pub fn log_density(&self, i: usize, value: f64) -> Option<f64> {
        match &self.marginal.outcome {
            Outcome::Levels(_) => None,
            Outcome::Number(number) => Some((number.log_density)(value, &self.args(i), self.variance(i))),
        }
    }

    /// P(y ≤ value) of a number at an entry.
    pub fn distribution(&self, i: usize, value: f64) -> Option<f64> {
        match &self.marginal.outcome {
            Outcome::Levels(_) => None,
            Outcome::Number(number) => number.distribution.map(|f| f(value, &self.args(i), self.variance(i))),
        }
    }

    /// Mean and deviation of the latent value behind ordered levels.
    pub fn latent(&self, i: usize) -> Option<(f64, f64)> {
        let ordered = self.family.support == Support::Ordered && self.predictors.d == 1;
        ordered.then(|| (at(&self.predictors.mean, i), self.variance(i).first().map_or(0.0, |v| v.sqrt())))
    }

    /// The cutpoints of ordered levels, where all entries share them.
    pub fn cutpoints(&self) -> Option<&[f64]> {
        let mut args = self.family.args.iter().zip(&self.arguments);
        args.find_map(|(spec, argument)| match argument {
            Argument::Shared(values) if spec.shape == ArgShape::Cutpoints => Some(values.as_slice()),
            _ => None,
        })
    }

    fn args(&self, i: usize) -> Vec<f64> {
        let mut args = Vec::new();
        for argument in &self.arguments {
            match argument {
                Argument::Absent(n) => args.extend(std::iter::repeat_n(f64::NAN, *n)),
                Argument::Each(values) => args.push(at(values, i)),
                Argument::Shared(values) => args.extend(values),
                Argument::Row(value) => {
                    let row = if value.rows() == 1 { 0 } else { i };
                    args.extend(
                        (0..value.cols()).map(|k| value.array.get((row, k)).copied().unwrap_or(f64::NAN)),
                    );
                }
                Argument::Predictor => {
                    let d = self.predictors.d;
                    args.extend(self.predictors.mean.get(i * d..(i + 1) * d).unwrap_or(&[]));
                }
            }
        }
        args
    }

    fn variance(&self, i: usize) -> &[f64] {
        let d2 = self.predictors.d * self.predictors.d;
        self.predictors.variance.get(i * d2..(i + 1) * d2).unwrap_or(&[])
    }
}

impl Fit {
    /// The predictive distribution of every observed node at data that are bound already.
    pub(crate) fn predictive(&self, bound: &Bound, data: &Data) -> Result<Vec<Predictive>, Error> {
        let typed = self.model().typed();
        let plan = self.model().plan()?;
        let state = self.state();
        let mut restrict = state.posterior.restrict();
        // one entry per row: drawn anew
        restrict.fresh = plan.blocks.iter().map(|b| b.node).filter(|n| bind::is_per_row(typed, *n)).collect();
        let values = self.with_estimates(bound);
        let mut design = Evaluator::new(bound.inputs(typed), &state.frozen, MEMORY);
        let inputs = crate::design::Inputs { values: &values, ..bound.inputs(typed) };
        let mut known = Evaluator::new(inputs, &state.frozen, MEMORY);
        plan.terms
            .iter()
            .map(|term| self.predictive_of(term, &restrict, &mut design, &mut known))
            .collect::<Result<_, _>>()
            .map_err(|e| self.model().error(vec![bind::diagnose(typed, Some(data), &e)]))
    }

    /// The data with the hyperparameters at their estimates; a Gamma factor at the value whose inverse is
    /// ⟨1/θ⟩, so that the variance of the noise is the expected one.
    fn with_estimates(&self, bound: &Bound) -> BTreeMap<NodeId, Arc<Value>> {
        let inputs = bound.inputs(self.model().typed());
        let mut values = bound.values.clone();
        for (node, entries) in &self.posterior().hypers {
            let value = |k| self.posterior().harmonic(*node, k).unwrap_or(f64::INFINITY);
            let entries = (0..entries.len()).map(value).collect();
            // one for every row of the training data has no value at other rows
            if let Ok(value) = array(inputs, *node, entries) {
                values.insert(*node, Arc::new(value));
            }
        }
        values
    }

    fn predictive_of(
        &self,
        term: &Term,
        restrict: &Restrict,
        design: &mut Evaluator<'_>,
        known: &mut Evaluator<'_>,
    ) -> Result<Predictive, EvalError> {
        let failed = |expr, why| EvalError { expr, why };
        let Some(dist) = self.model().typed().node(term.node).dist() else {
            return Err(failed(term.mean, Why::NoValue(term.node)));
        };
        let Some(marginal) = &dist.family.marginal else {
            return Err(failed(term.mean, Why::NoValue(term.node)));
        };
        // a number drawn for `bool` data is none of its levels
        let levels = match dist.family.support {
            Support::Elem(_) => Vec::new(),
            _ => self.state().schema.levels.get(&term.node).cloned().unwrap_or_default(),
        };
        let mut predictive = Predictive {
            node: term.node,
            family: dist.family,
            count: 0,
            levels,
            silent: None,
            marginal,
            arguments: Vec::new(),
            predictors: Predictors::default(),
        };
        let mut at_least = 0;
        for spec in dist.family.args {
            let many = match spec.shape {
                ArgShape::Node => 1,
                ArgShape::PerLevel => predictive.levels.len(),
                ArgShape::Cutpoints => predictive.levels.len().saturating_sub(1),
            };
            let argument = match (dist.arg(spec.name), spec.need) {
                (None, Need::Default(x)) => Argument::Shared(vec![x]),
                (None, _) => Argument::Absent(many),
                (Some(e), _) if marginal.predictors.contains(&spec.name) => {
                    let form = affine(design, e, restrict)?;
                    at_least = form.len() / many.max(1);
                    let count = self.entries(term.node, at_least, design);
                    let c = self.posterior().coefficients(&form, MEMORY).map_err(|why| failed(e, why))?;
                    let fresh = self.fresh(&form, e, design)?;
                    predictive.predictors = self.predictors(term.node, &form, &c, &fresh, many, count);
                    if self.state().local.has(term.node) {
                        let rows = self.state().local.outside(term.node, &c);
                        // silent for every level
                        let rows = (0..at_least).map(|i| rows.iter().skip(i).step_by(at_least).all(|s| *s));
                        predictive.silent = Some(rows.collect());
                    }
                    Argument::Predictor
                }
                (Some(e), _) => {
                    let value = known.eval(e, &Want::all())?;
                    match spec.shape {
                        ArgShape::Node => Argument::Each(value.array.as_slice().to_vec()),
                        ArgShape::Cutpoints => Argument::Shared(value.array.as_slice().to_vec()),
                        ArgShape::PerLevel => Argument::Row((*value).clone()),
                    }
                }
            };
            predictive.arguments.push(argument);
        }
        predictive.count = self.entries(term.node, at_least, design);
        Ok(predictive)
    }

    /// mean = offset + C m, covariance = C Σ Cᵀ + that of fresh draws, for the `d` predictors of each entry.
    fn predictors(
        &self,
        node: NodeId,
        form: &Affine,
        c: &DMatrix<f64>,
        fresh: &[Fresh],
        d: usize,
        count: usize,
    ) -> Predictors {
        let posterior = self.posterior();
        let mean = posterior.mean_of(&form.offset, c);
        // a common shift of all columns is the cutpoints'
        let mut c = c.clone();
        posterior.centre(node, &mut c);
        let cs = &c * posterior.sigma();
        let rows = form.len() / d.max(1);
        let mut out = Predictors {
            d,
            mean: Vec::with_capacity(count * d),
            variance: Vec::with_capacity(count * d * d),
        };
        for i in 0..count {
            // a scalar serves every entry; predictor k of entry i stands at i + k · rows
            let place = |k: usize| if rows == 1 { k } else { i + k * rows };
            for a in (0..d).map(place) {
                out.mean.push(mean.get(a).copied().unwrap_or(f64::NAN));
                for b in (0..d).map(place) {
                    let kept = if a.max(b) < c.nrows() { cs.row(a).dot(&c.row(b)) } else { f64::NAN };
                    let new: f64 = fresh.iter().map(|f| f.covariance(a, b)).sum();
                    out.variance.push(if a == b { kept.max(0.0) + new } else { kept + new });
                }
            }
        }
        out
    }

    /// The predictor of each term as a linear form of the kept innovations.
    pub(crate) fn linear(&self, bound: &Bound) -> Result<Vec<Linear>, EvalError> {
        let typed = self.model().typed();
        let Ok(plan) = self.model().plan() else { return Ok(Vec::new()) };
        let mut restrict = self.posterior().restrict();
        restrict.fresh = plan.blocks.iter().map(|b| b.node).filter(|n| bind::is_per_row(typed, *n)).collect();
        let mut eval = Evaluator::new(bound.inputs(typed), &self.state().frozen, MEMORY);
        plan.terms
            .iter()
            .map(|term| {
                let form = affine(&mut eval, term.mean, &restrict)?;
                let c = self
                    .posterior()
                    .coefficients(&form, MEMORY)
                    .map_err(|why| EvalError { expr: term.mean, why })?;
                let fresh = self.fresh(&form, term.mean, &mut eval)?;
                let inputs = bound.inputs(typed);
                let (rank, rows, cols) = inputs.shape(&typed.expr(term.mean).ty).unwrap_or((
                    crate::design::Rank::Vector,
                    form.len(),
                    1,
                ));
                Ok(Linear { offset: form.offset.clone(), c, fresh, rank, rows, cols })
            })
            .collect()
    }

    /// Draws that training never saw, with their variances.
    fn fresh(&self, form: &Affine, e: ExprId, eval: &mut Evaluator<'_>) -> Result<Vec<Fresh>, EvalError> {
        let failed = |why| EvalError { expr: e, why };
        let plan = self.model().plan().ok();
        let mut all = Vec::new();
        for (node, csr, draws) in form.fresh() {
            let Some(scale) = plan.and_then(|p| p.blocks.iter().find(|b| b.node == node)?.scale) else {
                return Err(failed(Why::NoValue(node)));
            };
            let prior = log_linear(eval, scale.value)?;
            let variance = |draw: &Draw| {
                let entry = match draw {
                    Draw::Entry(i) => *i,
                    // a level of its own has the scale of its column
                    Draw::Unseen { col, .. } => col * prior.rows,
                };
                self.precision_by(scale, &prior, entry, &|n, k| self.posterior().harmonic(n, k))
                    .map(|p| 1.0 / p)
            };
            let variance = draws.iter().map(variance).collect::<Result<Vec<f64>, _>>()?;
            let rows = (0..csr.rows()).map(|r| csr.row(r).to_vec()).collect();
            let entries = draws
                .iter()
                .map(|draw| match draw {
                    Draw::Entry(i) => Some(*i),
                    Draw::Unseen { .. } => None,
                })
                .collect();
            all.push(Fresh { node, entries, rows, variance });
        }
        Ok(all)
    }

    /// precision = value ^ power of entry `i`, at the fitted hyperparameters.
    pub(crate) fn precision(&self, scale: ScaleExpr, form: &LogLinear, i: usize) -> Result<f64, EvalError> {
        self.precision_by(scale, form, i, &|node, k| self.posterior().hyper(node, k))
    }

    /// The same at other values.
    fn precision_by(
        &self,
        scale: ScaleExpr,
        form: &LogLinear,
        i: usize,
        hyper: &dyn Fn(NodeId, usize) -> Option<f64>,
    ) -> Result<f64, EvalError> {
        let entry = form
            .entry(i)
            .ok_or(EvalError { expr: scale.value, why: Why::Position(i, form.entries.len()) })?;
        let mut ln = entry.log_const;
        for (node, k, power) in &entry.powers {
            let theta = hyper(*node, *k).ok_or(EvalError { expr: scale.value, why: Why::NoValue(*node) })?;
            ln += power * theta.ln();
        }
        Ok((scale.power * ln).exp())
    }

    /// How many entries an observed node has in the new data.
    fn entries(&self, node: NodeId, at_least: usize, eval: &Evaluator<'_>) -> usize {
        let inputs = eval.inputs();
        match inputs.shape(&inputs.model.node(node).ty) {
            Ok((_, rows, cols)) => rows * cols,
            // a dimension that only the targets would bind
            Err(_) => at_least,
        }
    }
}

/// A predictor as a linear form of the kept innovations and of draws that training never saw.
pub(crate) struct Linear {
    offset: Vec<f64>,
    c: DMatrix<f64>,
    fresh: Vec<Fresh>,
    rank: crate::design::Rank,
    rows: usize,
    cols: usize,
}

impl Linear {
    /// Its value at drawn innovations: entries of nodes that are drawn anew have values, levels that
    /// training never saw are drawn here.
    pub fn at(
        &self,
        kept: &DVector<f64>,
        values: &BTreeMap<NodeId, Arc<Value>>,
        uniforms: &mut Uniforms,
    ) -> Value {
        let mut f = &self.c * kept;
        for (f, offset) in f.iter_mut().zip(&self.offset) {
            *f += offset;
        }
        for fresh in &self.fresh {
            let drawn: Vec<f64> = fresh
                .variance
                .iter()
                .zip(&fresh.entries)
                .map(|(v, entry)| match (entry, values.get(&fresh.node)) {
                    (Some(i), Some(value)) if *i < value.array.len() => value.array[*i],
                    _ => v.sqrt() * uniforms.normal(),
                })
                .collect();
            for (f, row) in f.iter_mut().zip(&fresh.rows) {
                *f += row.iter().map(|(k, coef)| coef * drawn[*k]).sum::<f64>();
            }
        }
        let entries = f.as_slice().to_vec();
        let (rows, cols) =
            if self.rows * self.cols == entries.len() { (self.rows, self.cols) } else { (entries.len(), 1) };
        Value { rank: self.rank, array: DMatrix::from_vec(rows, cols, entries), labels: Vec::new() }
    }
}

/// Independent draws from a prior, in the entries of a linear form.
struct Fresh {
    /// The node.
    node: NodeId,
    /// The entry of the node that each draw is; `None` for a level that training never saw.
    entries: Vec<Option<usize>>,
    /// Draw and coefficient, for each entry.
    rows: Vec<Vec<(usize, f64)>>,
    /// Variance of each draw.
    variance: Vec<f64>,
}

impl Fresh {
    /// Σ over the draws that both entries share.
    fn covariance(&self, a: usize, b: usize) -> f64 {
        let row = |r: usize| self.rows.get(r).map_or(&[][..], Vec::as_slice);
        let mut sum = 0.0;
        for (k, x) in row(a) {
            for (_, y) in row(b).iter().filter(|(l, _)| l == k) {
                sum += x * y * self.variance.get(*k).copied().unwrap_or(f64::NAN);
            }
        }
        sum
    }
}
