//! Prediction: the predictive distribution of every observed node, row by row.

use serde_json::{Map, Value as Json};

use super::bind::{self, Bound};
use super::fit::Fit;
use super::posterior::Posterior;
use crate::check::typed::NodeId;
use crate::data::Data;
use crate::design::{Draw, EvalError, Evaluator, LogLinear, Restrict, Want, Why, affine, log_linear};
use crate::diag::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::plan::ir::{RowFactorKind, ScaleExpr, Term};
use crate::runtime::assemble::at;

/// Bytes that a prediction may allocate at a time.
const MEMORY: usize = 8 << 30;

/// Predictive distributions, in row order.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// The observed nodes, in declaration order.
    pub nodes: Vec<NodePrediction>,
    /// Where every local basis function of every node is silent: the prediction is the prior's.
    pub outside: Vec<bool>,
    /// Levels that were not there at training, and the like.
    pub warnings: Diagnostics,
}

/// The predictive distribution of one observed vector (or of one column of an observed matrix).
#[derive(Clone, PartialEq, Debug)]
pub struct NodePrediction {
    /// The node; for a column of a matrix, the name of that column.
    pub name: String,
    /// Its columns, each with a value per row: `mean`, `sd`, `sd_mean`.
    pub columns: Vec<(&'static str, Vec<f64>)>,
}

impl NodePrediction {
    /// One of its columns: `mean`, `sd` (of a new observation), `sd_mean` (of the noiseless function).
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_slice())
    }
}

impl Prediction {
    /// Predictive mean of the first observed node.
    pub fn mean(&self) -> &[f64] {
        self.first("mean")
    }

    /// Predictive deviation of a new observation of the first observed node.
    pub fn sd(&self) -> &[f64] {
        self.first("sd")
    }

    /// Deviation of the noiseless function of the first observed node.
    pub fn sd_mean(&self) -> &[f64] {
        self.first("sd_mean")
    }

    /// The observed node (or column of one) of that name.
    pub fn node(&self, name: &str) -> Option<&NodePrediction> {
        self.nodes.iter().find(|n| n.name == name)
    }

    /// The columns of `sbl predict`, with their names: plain for one observed node, `NODE.column`
    /// for several; `outside` last, as 0 and 1.
    pub fn columns(&self) -> Vec<(String, Vec<f64>)> {
        let several = self.nodes.len() > 1;
        let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
        for node in &self.nodes {
            for (name, values) in &node.columns {
                let name = if several { format!("{}.{name}", node.name) } else { (*name).to_owned() };
                columns.push((name, values.clone()));
            }
        }
        columns.push(("outside".to_owned(), self.outside.iter().map(|o| f64::from(u8::from(*o))).collect()));
        columns
    }

    /// The same names as arrays, beside `sbl` and `schema`.
    pub fn to_json(&self) -> Json {
        let mut map = Map::new();
        for (name, values) in self.columns() {
            let values = if name == "outside" {
                values.iter().map(|v| Json::from(*v as u8)).collect()
            } else {
                values.iter().map(|v| Json::from(*v)).collect()
            };
            map.insert(name, Json::Array(values));
        }
        super::stamped(Json::Object(map))
    }

    fn first(&self, column: &str) -> &[f64] {
        self.nodes.first().and_then(|n| n.column(column)).unwrap_or(&[])
    }
}

/// The noise of a term: its scale, and what multiplies its inverse precision in the variance.
struct Noise {
    scale: Option<(ScaleExpr, LogLinear)>,
    factors: Vec<f64>,
}

impl Noise {
    fn variance(&self, posterior: &Posterior, i: usize) -> Result<f64, EvalError> {
        match &self.scale {
            Some((scale, form)) => Ok(at(&self.factors, i) * posterior.inverse(*scale, form, i)?),
            None => Ok(0.0),
        }
    }
}

fn failed_term(term: &Term) -> EvalError {
    EvalError { expr: term.mean, why: Why::NoValue(term.node) }
}

impl Fit {
    /// The predictive distribution at new data, row by row. Targets are not needed.
    ///
    /// # Errors
    /// E07: the data do not fit the model (a missing input, a column that is not there …).
    pub fn predict(&self, data: &Data) -> Result<Prediction, Error> {
        let bound = bind::bind_prediction(self.model().typed(), &self.state().schema, data, false)
            .map_err(|found| self.model().error(found))?;
        let mut prediction = self.predict_bound(&bound.value, data)?;
        prediction.warnings.splice(0..0, bound.warnings);
        Ok(prediction)
    }

    /// The same for data that are bound already.
    pub(crate) fn predict_bound(&self, bound: &Bound, data: &Data) -> Result<Prediction, Error> {
        let typed = self.model().typed();
        let plan = self.model().plan()?;
        let state = self.state();
        let mut eval = Evaluator::new(bound.inputs(typed), &state.frozen, MEMORY);
        let mut restrict = state.posterior.restrict();
        // one entry per row: drawn anew
        restrict.fresh = plan.blocks.iter().map(|b| b.node).filter(|n| bind::is_per_row(typed, *n)).collect();
        let mut nodes = Vec::new();
        let mut outside: Vec<Vec<bool>> = Vec::new();
        for term in &plan.terms {
            let moments = self
                .term(term, &restrict, &mut eval, &mut outside)
                .map_err(|e| self.model().error(vec![bind::diagnose(typed, Some(data), &e)]))?;
            nodes.extend(self.split(term.node, term.scale.is_some(), moments));
        }
        let rows = nodes.iter().map(|n| n.columns.first().map_or(0, |(_, v)| v.len())).max().unwrap_or(0);
        if nodes.iter().any(|n| n.columns.iter().any(|(_, v)| v.len() != rows)) {
            let list: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
            return Err(self.model().error(vec![
                Diagnostic::error("E0816", format!("{} have different numbers of rows", list.join(", ")))
                    .help("predict with data that have the same rows for each"),
            ]));
        }
        let outside =
            (0..rows).map(|r| !outside.is_empty() && outside.iter().all(|o| o.get(r) == Some(&true)));
        Ok(Prediction { outside: outside.collect(), nodes, warnings: Diagnostics::new() })
    }

    /// Mean, deviation of a new observation (of a likelihood that has a scale) and deviation of the mean, for every entry of a node.
    fn term(
        &self,
        term: &Term,
        restrict: &Restrict,
        eval: &mut Evaluator<'_>,
        outside: &mut Vec<Vec<bool>>,
    ) -> Result<[Vec<f64>; 3], EvalError> {
        let posterior = &self.state().posterior;
        let failed = |why| EvalError { expr: term.mean, why };
        let form = affine(eval, term.mean, restrict)?;
        let c = posterior.coefficients(&form, eval.memory()).map_err(failed)?;
        // mean = offset + C m,  var of the mean = diag(C Σ Cᵀ) + fresh draws
        let mut moments = posterior.moments(&form.offset, &c);
        for (node, csr, draws) in form.fresh() {
            let Some(scale) =
                self.model().plan().ok().and_then(|p| p.blocks.iter().find(|b| b.node == node)?.scale)
            else {
                return Err(failed(Why::NoValue(node)));
            };
            let prior = log_linear(eval, scale.value)?;
            for (row, variance) in moments.variance.iter_mut().enumerate() {
                for (k, coef) in csr.row(row) {
                    let entry = match draws.get(*k) {
                        Some(Draw::Entry(i)) => *i,
                        // a level of its own has the scale of its column
                        Some(Draw::Unseen { col, .. }) => col * prior.rows,
                        None => 0,
                    };
                    *variance += coef * coef * posterior.inverse(scale, &prior, entry)?;
                }
            }
        }
        let count = self.entries(term.node, form.len(), eval)?;
        let noise = self.noise(term, eval)?;
        let mut columns = [Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count)];
        for i in 0..count {
            let (mean, variance) = (at(&moments.mean, i), at(&moments.variance, i));
            columns[0].push(mean);
            columns[1].push((variance + noise.variance(&self.state().posterior, i)?).sqrt());
            columns[2].push(variance.sqrt());
        }
        if self.state().local.has(term.node) {
            outside.push(self.state().local.outside(term.node, &c));
        }
        Ok(columns)
    }

    /// What the noise of a term adds to the variance of a new observation; none for a likelihood that
    /// is no scale family.
    fn noise(&self, term: &Term, eval: &mut Evaluator<'_>) -> Result<Noise, EvalError> {
        let Some(scale) = term.scale else { return Ok(Noise { scale: None, factors: vec![0.0] }) };
        let form = log_linear(eval, scale.value)?;
        let factors = &self.model().plan().map_err(|_| failed_term(term))?.factors;
        let dof = factors.iter().find(|f| f.node == term.node).and_then(|f| match f.kind {
            RowFactorKind::Scale { dof } => Some(dof),
            RowFactorKind::Bound { .. } => None,
        });
        let mixture = self.model().typed().node(term.node).dist().and_then(|d| d.family.mixture);
        let factors = match (dof, mixture) {
            (Some(dof), Some(mixture)) => {
                let dof = eval.finite(dof, &Want::all())?;
                dof.array.iter().map(|dof| mixture.variance(*dof)).collect()
            }
            _ => vec![1.0],
        };
        Ok(Noise { scale: Some((scale, form)), factors })
    }

    /// precision = value ^ power of entry `i`, at the fitted hyperparameters.
    pub(crate) fn precision(&self, scale: ScaleExpr, form: &LogLinear, i: usize) -> Result<f64, EvalError> {
        let entry = form
            .entry(i)
            .ok_or(EvalError { expr: scale.value, why: Why::Position(i, form.entries.len()) })?;
        let mut ln = entry.log_const;
        for (node, k, power) in &entry.powers {
            let theta = self
                .state()
                .posterior
                .hyper(*node, *k)
                .ok_or(EvalError { expr: scale.value, why: Why::NoValue(*node) })?;
            ln += power * theta.ln();
        }
        Ok((scale.power * ln).exp())
    }

    /// How many entries an observed node has in the new data.
    fn entries(&self, node: NodeId, at_least: usize, eval: &Evaluator<'_>) -> Result<usize, EvalError> {
        let inputs = eval.inputs();
        match inputs.shape(&inputs.model.node(node).ty) {
            Ok((_, rows, cols)) => Ok(rows * cols),
            // a dimension that only the targets would bind
            Err(_) => Ok(at_least),
        }
    }

    /// The columns of an observed matrix are predicted side by side.
    fn split(&self, node: NodeId, scaled: bool, [mean, sd, sd_mean]: [Vec<f64>; 3]) -> Vec<NodePrediction> {
        let typed = self.model().typed().node(node);
        let names = self.state().schema.columns.get(&node);
        let width = if typed.ty.shape.len() < 2 { 1 } else { names.map_or(1, Vec::len).max(1) };
        let rows = mean.len() / width;
        (0..width)
            .map(|k| {
                let part = |v: &[f64]| v[k * rows..(k + 1) * rows].to_vec();
                let name = match names.and_then(|n| n.get(k)) {
                    Some(column) if width > 1 => column.clone(),
                    _ => typed.name.clone(),
                };
                let columns = match scaled {
                    true => vec![("mean", part(&mean)), ("sd", part(&sd)), ("sd_mean", part(&sd_mean))],
                    false => vec![("mean_latent", part(&mean)), ("sd_latent", part(&sd_mean))],
                };
                NodePrediction { name, columns }
            })
            .collect()
    }
}
