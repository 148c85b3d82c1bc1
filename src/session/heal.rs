//! Healing (Rasmussen and Quiñonero-Candela 2005): one more basis function at every test point, so
//! that the predictive deviation grows away from the data instead of shrinking.
//!
//! With k the new column at training, k** its value at the test point, H the noise precisions and r
//! the residual: c = Σ Φᵀ H k, s = kᵀHk − kᵀHΦ c, q = kᵀHr, e = k** − φ·c;
//! the mean gains e q/(α* + s), the variance e²/(α* + s) (`docs/mathematics.md` §5).

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::bind::{self, Bound};
use super::fit::Fit;
use super::predict::{Predicted, Prediction};
use crate::check::dim::Atom;
use crate::check::typed::{ExprId, ExprKind, Model, NodeId, Op};
use crate::data::Data;
use crate::design::{EvalError, Evaluator, Frozen, Inputs, Rank, Value, Want, Why, affine, log_linear, walk};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::host::Form;
use crate::plan::ir::Term;

const MEMORY: usize = 8 << 30;
/// Test points whose columns are evaluated together.
const CHUNK: usize = 256;

/// A part of the design that is a kernel of inputs and centres.
struct Kernel {
    /// [N, M]: the columns.
    columns: ExprId,
    /// What is compared with the centres.
    inputs: ExprId,
    /// The centres: `train(…)`, or data that belong to no row.
    centres: Centres,
}

/// Why a design cannot be healed.
#[derive(Clone, Copy)]
enum Unfit {
    NoKernel,
    Several,
    /// The kernel times its weights stands inside another function.
    Inside,
    /// Centres that no test point can take the place of.
    Centres,
}

impl Unfit {
    fn message(self) -> &'static str {
        match self {
            Unfit::NoKernel => "healing needs a kernel with centres, and the design has none",
            Unfit::Several => "healing needs one kernel, and the design has several",
            Unfit::Inside => {
                "healing needs a kernel that is multiplied by its weights and added, and nothing else"
            }
            Unfit::Centres => {
                "healing needs centres that are training rows or `data`, and those of the kernel are neither"
            }
        }
    }
}

enum Centres {
    Train(ExprId, ExprId),
    Constant(NodeId),
}

impl Fit {
    /// Like [`Fit::predict`], with one more basis function of prior precision `alpha` at every test
    /// point. `training` are the rows of the fit, which a fit file does not keep.
    ///
    /// # Errors
    /// E07 as for prediction; E0819: `training` are other rows, or the model has not exactly one kernel, whose centres are rows or data.
    ///
    /// ```
    /// let source = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\n\
    ///               let phi = rbf(x, width = 1)\nw ~ ard(cols(phi))\nt ~ Normal(phi * w, sd = 0.1)\n";
    /// let training = sbl::Data::new().vector("x", &[0.0, 1.0, 2.0])?.vector("t", &[0.0, 1.0, 0.0])?;
    /// let fit = sbl::Model::compile(source)?.fit(&training, &sbl::Options::default())?;
    /// let far = sbl::Data::new().vector("x", &[100.0])?;
    /// // far from all training points the healed prediction knows that it knows nothing
    /// assert!(fit.predict_healed(&far, &training, 1.0)?.sd()[0] > fit.predict(&far)?.sd()[0]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn predict_healed(&self, data: &Data, training: &Data, alpha: f64) -> Result<Prediction, Error> {
        let model = self.model();
        let typed = model.typed();
        let refuse = |message: &str, help: &str| {
            model.error(vec![Diagnostic::error("E0819", message.to_owned()).help(help)])
        };
        if !(alpha.is_finite() && alpha > 0.0) {
            return Err(refuse(
                "the precision of a healing basis function must be above 0",
                "give a number such as `--heal 1`",
            ));
        }
        let [term] = model.plan()?.terms.as_slice() else {
            return Err(refuse("healing serves models with one observed node", "predict without healing"));
        };
        if term.weight.is_some() {
            return Err(refuse("healing does not serve case weights", "predict without healing"));
        }
        if typed.node(term.node).dist().is_none_or(|d| d.family.gaussian.is_none()) {
            return Err(refuse(
                "healing serves Gaussian noise",
                "predict without healing; the column `outside` tells which rows are far from the data",
            ));
        }
        let kernel = kernel(typed, term.mean).map_err(|unfit| {
            refuse(
                unfit.message(),
                "predict without healing; the column `outside` tells which rows are far from the data",
            )
        })?;
        let trained = bind::bind_prediction(typed, &self.state().schema, training, true)
            .map_err(|found| model.error(found))?
            .value;
        if !trained.is(&self.state().data_hash) {
            return Err(refuse(
                "these are not the rows that the model was fitted on",
                "give the training data of the fit, unchanged",
            ));
        }
        let broken = |e: EvalError| model.error(vec![bind::diagnose(typed, Some(data), &e)]);
        let before = Before::new(self, term, &trained).map_err(broken)?;
        let mut prediction = self.predict(data)?;
        let rows = prediction.outside.len();
        for start in (0..rows).step_by(CHUNK) {
            let chunk: Vec<usize> = (start..rows.min(start + CHUNK)).collect();
            let part = data.select_rows(&chunk)?;
            let bound = bind::bind_prediction(typed, &self.state().schema, &part, false)
                .map_err(|found| model.error(found))?
                .value;
            let gains = before.heal(self, term, &kernel, &trained, &bound, alpha).map_err(broken)?;
            for (i, (mean, variance)) in chunk.iter().zip(gains) {
                for (name, values) in prediction.nodes.iter_mut().flat_map(|n| &mut n.columns) {
                    let Predicted::Numbers(values) = values else { continue };
                    let value = &mut values[*i];
                    *value = if name == "mean" { *value + mean } else { (*value * *value + variance).sqrt() };
                }
            }
        }
        Ok(prediction)
    }
}

/// The fit at its training rows.
struct Before {
    rows: Vec<usize>,
    /// Φ, present rows × k.
    phi: DMatrix<f64>,
    /// Diagonal of H.
    precision: DVector<f64>,
    /// H r
    weighted_residual: DVector<f64>,
    sigma: DMatrix<f64>,
}

impl Before {
    fn new(fit: &Fit, term: &Term, trained: &Bound) -> Result<Before, EvalError> {
        let posterior = fit.posterior();
        let failed = |why| EvalError { expr: term.mean, why };
        let mut eval = Evaluator::new(trained.inputs(fit.model().typed()), &fit.state().frozen, MEMORY);
        let form = affine(&mut eval, term.mean, &posterior.restrict())?;
        let c = posterior.coefficients(&form, MEMORY).map_err(failed)?;
        let targets = trained.values.get(&term.node).ok_or(failed(Why::NoValue(term.node)))?;
        let rows: Vec<usize> = (0..targets.array.len()).filter(|i| !targets.array[*i].is_nan()).collect();
        let k = posterior.mean.len();
        let phi = c.select_rows(&rows);
        let fitted = &phi * DVector::from_column_slice(&posterior.mean);
        let mut precision = DVector::zeros(rows.len());
        let Some(scale) = term.scale else {
            return Err(EvalError { expr: term.mean, why: Why::NoValue(term.node) });
        };
        let noise = log_linear(&mut eval, scale.value)?;
        for (j, i) in rows.iter().enumerate() {
            precision[j] = fit.precision(scale, &noise, *i)?;
        }
        let weighted_residual = DVector::from_fn(rows.len(), |j, _| {
            precision[j]
                * (targets.array[rows[j]] - form.offset[rows[j].min(form.offset.len() - 1)] - fitted[j])
        });
        let sigma = DMatrix::from_column_slice(k, k, &posterior.covariance);
        Ok(Before { rows, phi, precision, weighted_residual, sigma })
    }

    /// What the mean and the variance of each test point gain.
    fn heal(
        &self,
        fit: &Fit,
        term: &Term,
        kernel: &Kernel,
        trained: &Bound,
        test: &Bound,
        alpha: f64,
    ) -> Result<Vec<(f64, f64)>, EvalError> {
        let typed = fit.model().typed();
        let frozen = &fit.state().frozen;
        let mut eval = Evaluator::new(test.inputs(typed), frozen, MEMORY);
        let form = affine(&mut eval, term.mean, &fit.posterior().restrict())?;
        let phi_star =
            fit.posterior().coefficients(&form, MEMORY).map_err(|why| EvalError { expr: term.mean, why })?;
        let centres = match kernel.centres {
            Centres::Train(_, of) => eval.eval(of, &Want::all())?,
            Centres::Constant(_) => eval.eval(kernel.inputs, &Want::all())?,
        };
        let at_training = kernel.at(trained.inputs(typed), frozen, &centres)?;
        let at_test = kernel.at(test.inputs(typed), frozen, &centres)?;
        let mut gains = Vec::with_capacity(at_test.nrows());
        for j in 0..at_test.nrows() {
            let k = DVector::from_fn(self.rows.len(), |i, _| at_training[(self.rows[i], j)]);
            let hk = k.component_mul(&self.precision);
            let phi_hk = self.phi.transpose() * &hk;
            let c = &self.sigma * &phi_hk;
            let s = k.dot(&hk) - phi_hk.dot(&c);
            let q = k.dot(&self.weighted_residual);
            let e = at_test[(j, j)] - phi_star.row(j).transpose().dot(&c);
            gains.push((e * q / (alpha + s), e * e / (alpha + s)));
        }
        Ok(gains)
    }
}

impl Kernel {
    /// The kernel columns at some inputs with other centres.
    fn at(&self, inputs: Inputs<'_>, frozen: &Frozen, centres: &Value) -> Result<DMatrix<f64>, EvalError> {
        let mut values: BTreeMap<NodeId, Arc<Value>> = inputs.values.clone();
        let mut dims = inputs.dims.clone();
        let (frozen, shape) = match self.centres {
            Centres::Train(train, _) => {
                (frozen.with_train(train, centres), &inputs.model.expr(train).ty.shape)
            }
            Centres::Constant(node) => {
                let shape = &inputs.model.node(node).ty.shape;
                let rank = if shape.len() < 2 { Rank::Vector } else { Rank::Matrix };
                values.insert(node, Arc::new(Value { rank, ..centres.clone() }));
                (frozen.clone(), shape)
            }
        };
        if let Some(atom @ (Atom::Symbol(_) | Atom::Train(_))) = shape.first().and_then(|d| d.as_atom()) {
            dims.insert(atom.clone(), centres.rows());
        }
        let inputs = Inputs { values: &values, dims: &dims, ..inputs };
        let columns = Evaluator::new(inputs, &frozen, MEMORY).eval(self.columns, &Want::all())?;
        Ok(columns.array.clone())
    }
}

/// The one part of the design that is a function of one kernel call, if there is exactly one.
fn kernel(model: &Model, mean: ExprId) -> Result<Kernel, Unfit> {
    let mut found = Vec::new();
    let mut stack = vec![mean];
    while let Some(e) = stack.pop() {
        let e = through(model, e);
        match &model.expr(e).kind {
            ExprKind::MatMul(a, b) => stack.extend([*a, *b]),
            ExprKind::Join(parts) => stack.extend(parts),
            ExprKind::Neg(a) => stack.push(*a),
            // a sum of means; any other function of a product would scale the new column too
            ExprKind::Elementwise(Op::Add | Op::Sub, a, b)
                if calls(model, e).is_empty() || has_product(model, e) =>
            {
                stack.extend([*a, *b]);
            }
            _ if has_product(model, e) && calls(model, e).is_empty() => {}
            _ if has_product(model, e) => return Err(Unfit::Inside),
            _ => {
                let calls = calls(model, e);
                match calls.as_slice() {
                    [] => {}
                    [(inputs, centres)] => found.push(Kernel {
                        columns: e,
                        inputs: *inputs,
                        centres: centres_of(model, *centres).ok_or(Unfit::Centres)?,
                    }),
                    _ => return Err(Unfit::Several),
                }
            }
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(kernel), true) => Ok(kernel),
        (Some(_), false) => Err(Unfit::Several),
        (None, _) => Err(Unfit::NoKernel),
    }
}

fn has_product(model: &Model, e: ExprId) -> bool {
    let inside = walk::post_order([e], |e| walk::through_lets(model, e));
    inside.iter().any(|e| matches!(model.expr(*e).kind, ExprKind::MatMul(..)))
}

/// The calls that compare inputs with centres: their first two arguments.
fn calls(model: &Model, e: ExprId) -> Vec<(ExprId, ExprId)> {
    let mut calls = Vec::new();
    for e in walk::post_order([e], |e| walk::through_lets(model, e)) {
        let pair = match &model.expr(e).kind {
            ExprKind::Call(native, args) if native.compares() => args.as_slice(),
            ExprKind::Host(id, args) if model.hosts.get(*id).is_some_and(|f| f.form == Form::Kernel) => args,
            _ => continue,
        };
        if let [inputs, centres, ..] = pair {
            calls.push((*inputs, *centres));
        }
    }
    calls
}

/// Follows lets.
fn through(model: &Model, mut e: ExprId) -> ExprId {
    while let [next] = walk::through_lets(model, e)[..] {
        if !matches!(model.expr(e).kind, ExprKind::Node(_)) {
            break;
        }
        e = next;
    }
    e
}

fn centres_of(model: &Model, e: ExprId) -> Option<Centres> {
    let e = through(model, e);
    match &model.expr(e).kind {
        ExprKind::Train(of) => Some(Centres::Train(e, *of)),
        ExprKind::AsColumn(of) => centres_of(model, *of),
        ExprKind::Node(node) if model.node(*node).data().is_some() => Some(Centres::Constant(*node)),
        _ => None,
    }
}
