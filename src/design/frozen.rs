//! What `train` and `standardize` saw at training: kept with a fit, used at prediction.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::error::{EvalError, Why};
use super::eval::{Evaluator, Inputs};
use super::natives::moments;
use super::ops;
use super::value::{Rank, Value};
use super::walk;
use super::want::{Axis, Want};
use crate::check::typed::{ExprId, ExprKind, Model};

/// Frozen values of a model, by expression. Serde keeps every bit, also of what is not finite.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Frozen {
    train: BTreeMap<ExprId, Kept>,
    stats: BTreeMap<ExprId, Stats>,
}

/// Something to tell the user about training values.
#[derive(Clone, PartialEq, Debug)]
pub enum Notice {
    /// `standardize` met a constant column, which becomes 0. Column from 0.
    ConstantColumn {
        /// The `standardize(…)`.
        expr: ExprId,
        /// Which column.
        column: usize,
        /// Its constant value.
        value: f64,
    },
}

/// Which rows of each `train(…)` an evaluation used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked(pub(super) BTreeMap<ExprId, Rows>);

/// Rows that were used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Rows {
    All,
    Some(BTreeSet<usize>),
}

/// A training value, or some of its rows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Kept {
    rank: Rank,
    /// Of the whole value.
    rows: usize,
    cols: usize,
    /// Which rows are kept, ascending; all if absent.
    kept: Option<Vec<usize>>,
    /// The kept rows, column-major.
    #[serde(with = "floats")]
    values: Vec<f64>,
}

/// Column by column. The deviation of a constant column is 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Stats {
    #[serde(with = "floats")]
    mean: Vec<f64>,
    #[serde(with = "floats")]
    sd: Vec<f64>,
}

impl Frozen {
    /// Evaluates and keeps every `train(…)` and the statistics of every `standardize(…)` that
    /// some node of the model needs.
    ///
    /// # Errors
    /// The first expression that has no value.
    pub fn learn(inputs: Inputs<'_>, memory: usize) -> Result<(Frozen, Vec<Notice>), EvalError> {
        let mut frozen = Frozen::default();
        let mut notices = Vec::new();
        for e in walk::reachable(inputs.model) {
            match &inputs.model.expr(e).kind {
                ExprKind::Train(of) => {
                    let value = Evaluator::new(inputs, &frozen, memory).eval(*of, &Want::all())?;
                    frozen.train.insert(e, Kept::new(&value));
                }
                ExprKind::Standardize(of) => {
                    let value = Evaluator::new(inputs, &frozen, memory).eval(*of, &Want::all())?;
                    let (mean, sd): (Vec<f64>, Vec<f64>) =
                        value.array.column_iter().map(|c| moments(c.as_slice())).unzip();
                    for (column, _) in sd.iter().enumerate().filter(|(_, sd)| **sd == 0.0) {
                        notices.push(Notice::ConstantColumn { expr: e, column, value: mean[column] });
                    }
                    frozen.stats.insert(e, Stats { mean, sd });
                }
                _ => {}
            }
        }
        Ok((frozen, notices))
    }

    /// Keeps only the rows of training values that an evaluation asked for.
    pub fn prune(&mut self, asked: &Asked) {
        for (e, kept) in &mut self.train {
            match asked.0.get(e) {
                Some(Rows::All) => {}
                Some(Rows::Some(rows)) => kept.restrict(rows),
                None => kept.restrict(&BTreeSet::new()),
            }
        }
    }

    /// The same with another value of one `train(…)`.
    pub(crate) fn with_train(&self, e: ExprId, value: &Value) -> Frozen {
        let mut frozen = self.clone();
        frozen.train.insert(e, Kept::new(value));
        frozen
    }

    /// The same values, every expression named by its place among those that keep values: a version of this
    /// program that numbers expressions otherwise finds them again.
    pub(crate) fn packed(&self, model: &Model) -> Frozen {
        let places: BTreeMap<ExprId, ExprId> = keepers(model).into_iter().zip((0..).map(ExprId)).collect();
        self.clone().renamed(&|e| places.get(&e).copied()).unwrap_or_default()
    }

    /// The inverse; `None` if there is no expression at some place.
    pub(crate) fn unpacked(self, model: &Model) -> Option<Frozen> {
        let all = keepers(model);
        self.renamed(&|place| all.get(place.index()).copied())
    }

    fn renamed(self, name: &dyn Fn(ExprId) -> Option<ExprId>) -> Option<Frozen> {
        let train = self.train.into_iter().map(|(e, kept)| Some((name(e)?, kept))).collect::<Option<_>>()?;
        let stats =
            self.stats.into_iter().map(|(e, stats)| Some((name(e)?, stats))).collect::<Option<_>>()?;
        Some(Frozen { train, stats })
    }

    /// What is impossible about these values for the expressions of a model, whoever wrote them.
    pub(crate) fn fault(&self, model: &Model) -> Option<String> {
        let kind = |e: &ExprId| (e.index() < model.exprs.len()).then(|| &model.expr(*e).kind);
        for (e, kept) in &self.train {
            let Some(ExprKind::Train(_)) = kind(e) else {
                return Some("training values of an expression that keeps none".to_owned());
            };
            let rank = model.expr(*e).ty.shape.len();
            let ascending = kept.kept.as_ref().is_none_or(|rows| {
                rows.windows(2).all(|w| w[0] < w[1]) && rows.last().is_none_or(|r| *r < kept.rows)
            });
            if kept.stored().is_err() || !ascending || rank_of(kept.rank) != rank || kept.rows > MOST {
                return Some("training values of an impossible shape".to_owned());
            }
        }
        for (e, stats) in &self.stats {
            let Some(ExprKind::Standardize(_)) = kind(e) else {
                return Some("statistics of an expression that has none".to_owned());
            };
            if stats.mean.len() != stats.sd.len() || stats.sd.iter().any(|sd| *sd < 0.0) {
                return Some("impossible statistics of columns".to_owned());
            }
        }
        None
    }

    /// How many numbers are kept.
    pub fn len(&self) -> usize {
        self.train.values().map(|k| k.values.len()).sum::<usize>()
            + self.stats.values().map(|s| 2 * s.mean.len()).sum::<usize>()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and columns of the value of a `train(…)`.
    pub(super) fn train_part(&self, e: ExprId, want: &Want) -> Result<Value, Why> {
        self.train.get(&e).ok_or(Why::NotKept)?.part(want)
    }

    /// Standardises the wanted columns: (x − mean) / sd, and 0 for a constant column.
    pub(super) fn standardize(&self, e: ExprId, cols: &Axis, array: &mut DMatrix<f64>) -> Result<(), Why> {
        let stats = self.stats.get(&e).ok_or(Why::NotKept)?;
        let cols = ops::positions(cols, stats.mean.len())?;
        if cols.len() != array.ncols() {
            return Err(Why::Shape(array.shape(), (array.nrows(), cols.len())));
        }
        for (mut column, k) in array.column_iter_mut().zip(cols) {
            let (mean, sd) = (stats.mean[k], stats.sd[k]);
            column.iter_mut().for_each(|x| *x = if sd == 0.0 { 0.0 } else { (*x - mean) / sd });
        }
        Ok(())
    }
}

impl Asked {
    pub(super) fn add(&mut self, e: ExprId, rows: &Axis) {
        match (rows, self.0.get_mut(&e)) {
            (Axis::All, _) => {
                self.0.insert(e, Rows::All);
            }
            (Axis::Only(_), Some(Rows::All)) => {}
            (Axis::Only(rows), Some(Rows::Some(set))) => set.extend(rows.iter().copied()),
            (Axis::Only(rows), None) => {
                self.0.insert(e, Rows::Some(rows.iter().copied().collect()));
            }
        }
    }
}

impl Kept {
    fn new(value: &Value) -> Kept {
        let (rows, cols) = value.array.shape();
        Kept { rank: value.rank, rows, cols, kept: None, values: value.array.as_slice().to_vec() }
    }

    /// Number of kept rows, consistent with the entries; whatever was read from a file.
    fn stored(&self) -> Result<usize, Why> {
        let stored = self.kept.as_ref().map_or(self.rows, Vec::len);
        if stored.checked_mul(self.cols) == Some(self.values.len()) { Ok(stored) } else { Err(Why::NotKept) }
    }

    fn part(&self, want: &Want) -> Result<Value, Why> {
        let stored = self.stored()?;
        if want.rows == Axis::All && stored != self.rows {
            return Err(Why::NotKept);
        }
        let rows = ops::positions(&want.rows, self.rows)?;
        let cols = ops::positions(&want.cols, self.cols)?;
        let mut out = ops::zeros(rows.len(), cols.len())?;
        for (i, row) in rows.iter().enumerate() {
            let at = match &self.kept {
                None => *row,
                Some(kept) => kept.binary_search(row).map_err(|_| Why::NotKept)?,
            };
            for (j, col) in cols.iter().enumerate() {
                out[(i, j)] = *self.values.get(at + stored * col).ok_or(Why::NotKept)?;
            }
        }
        Ok(Value { rank: self.rank, array: out, labels: Vec::new() })
    }

    fn restrict(&mut self, rows: &BTreeSet<usize>) {
        let keep: Vec<usize> = match &self.kept {
            None => rows.iter().copied().filter(|r| *r < self.rows).collect(),
            Some(kept) => kept.iter().copied().filter(|r| rows.contains(r)).collect(),
        };
        let want = Want { rows: Axis::only(&keep), cols: Axis::All };
        if let Ok(part) = self.part(&want) {
            self.values = part.array.as_slice().to_vec();
            self.kept = Some(keep);
        }
    }
}

/// The expressions that keep values, in an order that only the program text decides.
fn keepers(model: &Model) -> Vec<ExprId> {
    let keeps = |e: &ExprId| matches!(model.expr(*e).kind, ExprKind::Train(_) | ExprKind::Standardize(_));
    walk::reachable(model).into_iter().filter(keeps).collect()
}

/// More rows than any data have.
const MOST: usize = 1 << 40;

fn rank_of(rank: Rank) -> usize {
    match rank {
        Rank::Scalar => 0,
        Rank::Vector => 1,
        Rank::Matrix => 2,
    }
}

/// Numbers in JSON: what is not finite is written as text.
pub mod floats {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Float {
        Finite(f64),
        Text(String),
    }

    /// Writes.
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            values.iter().map(|x| if x.is_finite() { Float::Finite(*x) } else { Float::Text(x.to_string()) }),
        )
    }

    /// Reads.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let read: Vec<Float> = Vec::deserialize(deserializer)?;
        read.into_iter()
            .map(|x| match x {
                Float::Finite(x) => Ok(x),
                Float::Text(t) => t.parse().map_err(|_| D::Error::custom(format!("`{t}` is no number"))),
            })
            .collect()
    }
}
