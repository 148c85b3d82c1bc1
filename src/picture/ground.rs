//! What rows a picture stands on: the inputs of a fit with their ranges, given rows, rows made for a curve.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::Kind;
use crate::check::typed::{Elem, NodeId};
use crate::data::Data;
use crate::design::value::{Rank, Value};
use crate::error::Error;
use crate::session::bind::{self, Bound};
use crate::session::fit::Fit;
use crate::session::predictive::{Forecast, Predictive};
use crate::session::seen::{self, Spread};

/// The fit, the rows, the inputs.
pub(super) struct Ground<'a> {
    pub fit: &'a Fit,
    pub kind: Kind,
    /// The given rows.
    pub given: Option<Given>,
    /// Columns with a value in each row, in declaration order.
    pub inputs: Vec<Input>,
}

/// Rows that were given.
pub(super) struct Given {
    pub bound: Bound,
    data: Data,
    /// Whether they have targets.
    pub targets: bool,
    /// Whether they are the rows the model was fitted on.
    pub training: bool,
}

/// A column of the data that prediction reads.
pub(super) struct Input {
    node: NodeId,
    column: usize,
    /// As the data name it.
    pub name: String,
    /// Levels, of a category.
    pub levels: Option<Vec<String>>,
    /// Over training rows and given ones.
    pub spread: Spread,
    /// Its values are whole numbers.
    whole: bool,
    /// Its values may be any number.
    real: bool,
}

/// An observed vector, or a column of an observed matrix, at some rows.
pub(super) struct Part<'a> {
    /// The column of the target.
    pub name: String,
    pub predictive: &'a Predictive,
    pub entries: std::ops::Range<usize>,
}

impl Part<'_> {
    /// What is said of its rows.
    pub fn forecasts(&self) -> impl Iterator<Item = Forecast> {
        self.entries.clone().map(|i| self.predictive.forecast(i))
    }
}

impl<'a> Ground<'a> {
    /// Binds the rows, and finds the inputs.
    pub fn new(fit: &'a Fit, kind: Kind, data: Option<&Data>) -> Result<Ground<'a>, Error> {
        let typed = fit.model().typed();
        let schema = &fit.state().schema;
        let given = match data {
            None => None,
            Some(data) => {
                let has = |id: NodeId| {
                    let first = schema.columns.get(&id).and_then(|c| c.first());
                    let node = &typed.node(id).name;
                    first.into_iter().chain([node]).any(|name| data.column(name).is_some())
                };
                let targets = typed.nodes.iter().filter(|n| n.is_observed()).all(|n| has(n.id));
                let bound = bind::bind_prediction(typed, schema, data, targets)
                    .map_err(|found| fit.model().error(found))?
                    .value;
                let training = targets && bound.is(&fit.state().data_hash);
                Some(Given { bound, data: data.clone(), targets, training })
            }
        };
        let mut inputs = Vec::new();
        let spreads = &fit.state().seen.spreads;
        let mut nodes: Vec<NodeId> = spreads.keys().copied().collect();
        if let (true, Some(given)) = (nodes.is_empty(), &given) {
            // a fit that remembers nothing
            nodes = seen::inputs(typed, &given.bound);
        }
        for id in nodes.into_iter().filter(|id| id.index() < typed.nodes.len()) {
            let node = typed.node(id);
            let levels = schema
                .levels
                .get(&id)
                .filter(|_| matches!(node.ty.elem, Elem::Bool | Elem::Category | Elem::Ordered));
            let value = given.as_ref().and_then(|g| g.bound.values.get(&id));
            let known = spreads.get(&id).map_or(&[][..], Vec::as_slice);
            let columns = known.len().max(value.map_or(0, |v| v.cols()));
            for column in 0..columns {
                let new = value
                    .filter(|v| column < v.cols())
                    .map(|v| Spread::of(v.array.column(column).as_slice(), levels.is_some()));
                let spread = match (known.get(column), new) {
                    (Some(old), Some(new)) => {
                        Spread { low: old.low.min(new.low), middle: old.middle, high: old.high.max(new.high) }
                    }
                    (Some(old), None) => *old,
                    (None, Some(new)) => new,
                    (None, None) => continue,
                };
                let name = schema.columns.get(&id).and_then(|c| c.get(column)).unwrap_or(&node.name).clone();
                inputs.push(Input {
                    node: id,
                    column,
                    name,
                    levels: levels.cloned(),
                    spread,
                    whole: matches!(node.ty.elem, Elem::Int | Elem::Count),
                    real: node.ty.elem == Elem::Real,
                });
            }
        }
        Ok(Ground { fit, kind, given, inputs })
    }

    /// The inputs that are numbers, by their place among all.
    pub fn numbers(&self) -> Vec<usize> {
        (0..self.inputs.len()).filter(|i| self.inputs[*i].levels.is_none()).collect()
    }

    /// Predictions at rows made here: inputs at their middle, but those that `set` says, for each row.
    pub fn made(
        &self,
        rows: usize,
        set: &dyn Fn(usize, usize) -> Option<f64>,
    ) -> Result<Vec<Predictive>, Error> {
        let mut arrays: BTreeMap<NodeId, DMatrix<f64>> = BTreeMap::new();
        for (i, input) in self.inputs.iter().enumerate() {
            let width = self.inputs.iter().filter(|o| o.node == input.node).count();
            let array = arrays.entry(input.node).or_insert_with(|| DMatrix::zeros(rows, width));
            for r in 0..rows {
                let x = set(i, r).unwrap_or(input.spread.middle);
                if let Some(entry) = array.get_mut((r, input.column)) {
                    *entry = if input.whole { x.round() } else { x };
                }
            }
        }
        let typed = self.fit.model().typed();
        let rank = |id: NodeId| if typed.node(id).ty.shape.len() < 2 { Rank::Vector } else { Rank::Matrix };
        let values = arrays
            .into_iter()
            .map(|(id, array)| (id, Arc::new(Value { rank: rank(id), array, labels: Vec::new() })))
            .collect();
        let bound = bind::bind_rows(typed, &self.fit.state().schema, values, rows);
        self.fit.predictive(&bound, &Data::new())
    }

    /// Predictions at the given rows.
    pub fn at_given(&self, given: &Given) -> Result<Vec<Predictive>, Error> {
        self.fit.predictive(&given.bound, &given.data)
    }

    /// The given rows with their targets.
    ///
    /// # Errors
    /// There are none; `what` says what for.
    pub fn rows(&self, what: &str) -> Result<&Given, Error> {
        match &self.given {
            Some(given) if given.targets => Ok(given),
            _ => Err(self.fit.no_rows(self.kind, what)),
        }
    }

    /// The observed vectors of predictions.
    pub fn parts<'p>(&self, predictions: &'p [Predictive]) -> Vec<Part<'p>> {
        let schema = &self.fit.state().schema;
        let mut parts = Vec::new();
        for predictive in predictions {
            let own = self.fit.parts(predictive);
            let single = own.len() == 1;
            for (name, entries) in own {
                let column = schema.columns.get(&predictive.node).and_then(|c| c.first());
                let name = column.filter(|_| single).cloned().unwrap_or(name);
                parts.push(Part { name, predictive, entries });
            }
        }
        parts
    }

    /// The values of an input in the given rows.
    pub fn values(&self, input: usize) -> Vec<f64> {
        let input = &self.inputs[input];
        let value = self.given.as_ref().and_then(|g| g.bound.values.get(&input.node));
        value
            .filter(|v| input.column < v.cols())
            .map_or(Vec::new(), |v| v.array.column(input.column).iter().copied().collect())
    }

    /// The given targets of a part; empty if there are none.
    pub fn targets(&self, part: &Part<'_>) -> Vec<f64> {
        let Some(given) = self.given.as_ref().filter(|g| g.targets) else { return Vec::new() };
        let value = given.bound.values.get(&part.predictive.node);
        let rows = part.entries.len();
        let column = part.entries.start.checked_div(rows).unwrap_or(0);
        value
            .filter(|v| column < v.cols())
            .map_or(Vec::new(), |v| v.array.column(column).iter().copied().collect())
    }

    /// An input at the relevance vectors.
    pub fn vectors(&self, input: usize) -> Vec<f64> {
        let input = &self.inputs[input];
        self.kept(input.node, input.column)
    }

    /// Where to circle the relevance vectors: at the height of their targets where the training rows are given, else
    /// on the curve, because a fit keeps no targets.
    pub fn circles(
        &self,
        input: usize,
        part: &Part<'_>,
        height: &dyn Fn(f64) -> f64,
        curve: &[(f64, f64)],
    ) -> Vec<(f64, f64)> {
        let training = self.given.as_ref().is_some_and(|given| given.training);
        let targets = if training { self.targets(part) } else { Vec::new() };
        let rows = self.fit.state().seen.rows.iter();
        let circle = |(x, row): (f64, &usize)| match targets.get(*row) {
            Some(y) => (x, height(*y)),
            None => (x, on(curve, x)),
        };
        self.vectors(input).into_iter().zip(rows).map(circle).collect()
    }

    fn kept(&self, node: NodeId, column: usize) -> Vec<f64> {
        let seen = &self.fit.state().seen;
        let n = seen.rows.len();
        let all = seen.at.get(&node).map_or(&[][..], Vec::as_slice);
        all.iter().skip(column * n).take(n).map(|x| x.unwrap_or(f64::NAN)).collect()
    }

    /// `steps` values of an input from its lowest to its highest, with a little room where any number may be.
    pub fn steps(&self, input: usize, steps: usize, room: f64) -> Vec<f64> {
        let input = &self.inputs[input];
        let Spread { low, high, .. } = input.spread;
        let room = if input.real { room * (high - low) } else { 0.0 };
        let (mut from, mut to) = (low - room, high + room);
        if from >= to {
            let half = if input.real { 0.5 * low.abs().max(1e-9) } else { 0.0 };
            (from, to) = (low - half, high + half);
        }
        let at = |i: usize| from + (to - from) * i as f64 / (steps.max(2) - 1) as f64;
        (0..steps).map(at).collect()
    }

    /// Where the rows come from, for captions.
    pub fn origin(&self) -> String {
        match &self.given {
            Some(given) if given.training => "Rows: the training data.".to_owned(),
            Some(given) => format!("Rows: {}, not those of the fit.", given.data.origin()),
            None => "No rows were given: ranges are those of training.".to_owned(),
        }
    }

    /// `trained on 100 rows`, and how many relevance vectors.
    pub fn count_of_vectors(&self) -> usize {
        self.fit.state().seen.rows.len()
    }
}

/// The height of a curve of ascending x, between its points on a straight line.
fn on(curve: &[(f64, f64)], x: f64) -> f64 {
    let next = curve.partition_point(|p| p.0 < x).clamp(1, curve.len().max(1));
    match (curve.get(next - 1), curve.get(next)) {
        (Some(a), Some(b)) if b.0 > a.0 => a.1 + (b.1 - a.1) * ((x - a.0) / (b.0 - a.0)).clamp(0.0, 1.0),
        (Some(a), _) => a.1,
        _ => f64::NAN,
    }
}
