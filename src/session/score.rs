//! Scores of a fit on data with targets.

use serde::{Deserialize, Serialize};

use super::bind;
use super::fit::Fit;
use crate::check::typed::NodeId;
use crate::data::Data;
use crate::diag::{Diagnostic, Diagnostics, render};
use crate::error::Error;

/// Central intervals whose coverage is counted, with the quantile of the normal that bounds them.
const INTERVALS: [(&str, f64); 3] =
    [("50", 0.674_489_750_196_081_7), ("90", 1.644_853_626_951_472_7), ("95", 1.959_963_984_540_054_2)];

/// Scores of every observed node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Scores {
    /// Version of sbl.
    pub sbl: String,
    /// Version of this schema.
    pub schema: u32,
    /// The model.
    pub model: String,
    /// Rows of the data.
    pub rows: usize,
    /// Whether these are the rows the model was fitted on.
    pub training_rows: bool,
    /// By observed node (or column of an observed matrix).
    pub nodes: serde_json::Map<String, serde_json::Value>,
    /// Warnings.
    pub warnings: Vec<serde_json::Value>,
}

/// Scores of a real target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RealScore {
    /// Rows with a target.
    pub rows: usize,
    /// Root mean square error of the predictive mean.
    pub rmse: f64,
    /// Mean absolute error of the predictive mean.
    pub mae: f64,
    /// 1 − Σ(y − mean)² / Σ(y − ȳ)²; `null` where the targets do not vary.
    pub r2: Option<f64>,
    /// Mean negative log predictive density, in nats.
    pub nlpd: f64,
    /// Share of targets inside the central 50, 90 and 95 % predictive intervals.
    pub coverage: serde_json::Map<String, serde_json::Value>,
}

impl Fit {
    /// Compares predictions with the targets of the data.
    ///
    /// # Errors
    /// E07: the data do not fit the model, or hold no target.
    pub fn score(&self, data: &Data) -> Result<Scores, Error> {
        let typed = self.model().typed();
        let bound = bind::bind_prediction(typed, &self.state().schema, data, true)
            .map_err(|found| self.model().error(found))?;
        let mut warnings: Diagnostics = bound.warnings;
        let bound = bound.value;
        let prediction = self.predict_bound(&bound, data)?;
        warnings.extend(prediction.warnings.iter().cloned());
        let training_rows = bound.hash() == self.state().data_hash;
        if training_rows {
            warnings.push(
                Diagnostic::warning("W0811", "these are the rows the model was fitted on: the scores are too good")
                    .help("score on rows that were held out"),
            );
        }
        let mut nodes = serde_json::Map::new();
        let mut predicted = prediction.nodes.iter();
        for term in &self.model().plan()?.terms {
            let Some(targets) = bound.values.get(&term.node) else { continue };
            for column in targets.array.column_iter() {
                let Some(node) = predicted.next() else { continue };
                let (Some(mean), Some(sd)) = (node.column("mean"), node.column("sd")) else { continue };
                let Some(score) = real(column.as_slice(), mean, sd) else {
                    return Err(self.model().error(vec![self.no_targets(term.node)]));
                };
                nodes.insert(node.name.clone(), serde_json::to_value(score).unwrap_or_default());
            }
        }
        Ok(Scores {
            sbl: env!("CARGO_PKG_VERSION").to_owned(),
            schema: super::SCHEMA,
            model: self.model().name().to_owned(),
            rows: bound.rows,
            training_rows,
            nodes,
            warnings: match render::to_json(&warnings, self.model().sources()) {
                serde_json::Value::Array(items) => items,
                _ => Vec::new(),
            },
        })
    }

    fn no_targets(&self, node: NodeId) -> Diagnostic {
        let node = self.model().typed().node(node);
        Diagnostic::error("E0817", format!("no row has a value of `{}` to compare with", node.name))
            .at(node.span, "the target")
            .help("give data with the target column")
    }
}

fn real(targets: &[f64], mean: &[f64], sd: &[f64]) -> Option<RealScore> {
    let present: Vec<usize> = (0..targets.len()).filter(|i| !targets[*i].is_nan()).collect();
    if present.is_empty() {
        return None;
    }
    let n = present.len() as f64;
    let average = |f: &dyn Fn(usize) -> f64| present.iter().map(|i| f(*i)).sum::<f64>() / n;
    let error = |i: usize| targets[i] - mean[i];
    let mse = average(&|i| error(i).powi(2));
    let centre = average(&|i| targets[i]);
    let variance = average(&|i| (targets[i] - centre).powi(2));
    // −ln N(y | mean, sd²)
    let ln_2pi = std::f64::consts::TAU.ln();
    let nlpd = average(&|i| 0.5 * ln_2pi + sd[i].ln() + 0.5 * (error(i) / sd[i]).powi(2));
    let coverage = INTERVALS
        .iter()
        .map(|(name, z)| {
            ((*name).to_owned(), average(&|i| f64::from(u8::from(error(i).abs() <= z * sd[i]))).into())
        })
        .collect();
    Some(RealScore {
        rows: present.len(),
        rmse: mse.sqrt(),
        mae: average(&|i| error(i).abs()),
        r2: (variance > 0.0).then(|| 1.0 - mse / variance),
        nlpd,
        coverage,
    })
}
