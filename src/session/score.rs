//! Scores of a fit on data with targets.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::bind;
use super::fit::Fit;
use super::predict::most_probable;
use super::predictive::{Forecast, Predictive};
use crate::check::typed::NodeId;
use crate::data::Data;
use crate::diag::{Diagnostic, Diagnostics, render};
use crate::dist::{Elem, Moments, Support};
use crate::error::Error;

/// Central intervals whose coverage is counted, with their probability.
const INTERVALS: [(&str, f64); 3] = [("50", 0.5), ("90", 0.9), ("95", 0.95)];

/// Bins of equal width in which probabilities are compared with what happened.
const BINS: usize = 10;

/// Scores of every observed node.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let scores = fit.score(&sbl::Data::new().vector("x", &[4.0, 5.0])?.vector("t", &[8.1, 9.8])?)?;
/// assert_eq!(scores.rows, 2);
/// # Ok::<(), sbl::Error>(())
/// ```
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
    /// By observed node (or column of an observed matrix): a [`NumberScore`], [`ClassScore`] or
    /// [`OrdinalScore`].
    pub nodes: Map<String, Json>,
    /// Warnings.
    pub warnings: Vec<Json>,
}

/// Scores of a target that is a number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NumberScore {
    /// Rows with a target.
    pub rows: usize,
    /// Root mean square error of the predictive mean.
    pub rmse: f64,
    /// Mean absolute error of the predictive mean.
    pub mae: f64,
    /// 1 − Σ(y − mean)² / Σ(y − ȳ)²; `null` where the targets do not vary.
    pub r2: Option<f64>,
    /// Mean negative log predictive density (of a count: probability), in nats.
    pub nlpd: f64,
    /// Share of targets inside the central 50, 90 and 95 % predictive intervals; that of a count ends on
    /// whole numbers and holds at least so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Map<String, Json>>,
}

/// Scores of a target with unordered levels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassScore {
    /// Rows with a target.
    pub rows: usize,
    /// Share of rows whose most probable level is not the target.
    pub error_rate: f64,
    /// Mean −ln P(target), in nats.
    pub log_loss: f64,
    /// Two levels: mean (p − y)², p the probability of the second; more: mean Σ_k (p_k − 1[y = k])².
    pub brier: f64,
    /// Mean over rows of the difference between predicted and observed in the bin of the row.
    pub calibration_error: f64,
    /// Bins with a row in them. Two levels: by the probability of the second level; more: by that of the
    /// most probable one.
    pub calibration: Vec<Bin>,
}

/// Rows whose probability lies in one interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// Where the interval begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How many rows.
    pub rows: usize,
    /// Their mean probability.
    pub predicted: f64,
    /// The share in which it came true.
    pub observed: f64,
}

/// Scores of a target with ordered levels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OrdinalScore {
    /// Rows with a target.
    pub rows: usize,
    /// Mean number of levels between the target and the most probable level.
    pub mae: f64,
    /// Share of rows whose most probable level is not the target (mean zero-one error).
    pub error_rate: f64,
    /// Mean −ln P(target), in nats.
    pub log_loss: f64,
}

/// The scores of one node, with its losses row by row.
pub(crate) struct NodeScore {
    pub name: String,
    /// The scores.
    pub measures: Json,
    /// −ln of the predictive density or probability of the target, in each row that has one.
    pub log_losses: Vec<f64>,
    /// Squared error of a number, 1 for a wrong level, in each row that has a target.
    pub errors: Vec<f64>,
    /// Whether `errors` are of levels.
    pub levels: bool,
}

impl Fit {
    /// Compares predictions with the targets of the data.
    ///
    /// # Errors
    /// E07: the data do not fit the model, or hold no target.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let scores = fit.score(&sbl::Data::new().vector("x", &[4.0, 5.0])?.vector("t", &[8.1, 9.8])?)?;
    /// assert!(scores.nodes["t"]["rmse"].as_f64().is_some_and(|e| e < 0.5));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn score(&self, data: &Data) -> Result<Scores, Error> {
        let (scored, rows, training_rows, mut warnings) = self.score_nodes(data)?;
        if training_rows {
            warnings.push(
                Diagnostic::warning(
                    "W0811",
                    "these are the rows the model was fitted on: the scores are too good",
                )
                .help("score on rows that were held out"),
            );
        }
        Ok(Scores {
            sbl: env!("CARGO_PKG_VERSION").to_owned(),
            schema: super::SCHEMA,
            model: self.model().name().to_owned(),
            rows,
            training_rows,
            nodes: scored.into_iter().map(|s| (s.name, s.measures)).collect(),
            warnings: match render::to_json(&warnings, self.model().sources()) {
                Json::Array(items) => items,
                _ => Vec::new(),
            },
        })
    }

    /// The scores of every node, the number of rows, whether these are the training rows, warnings.
    pub(crate) fn score_nodes(
        &self,
        data: &Data,
    ) -> Result<(Vec<NodeScore>, usize, bool, Diagnostics), Error> {
        let typed = self.model().typed();
        let bound = bind::bind_prediction(typed, &self.state().schema, data, true)
            .map_err(|found| self.model().error(found))?;
        let (bound, warnings) = (bound.value, bound.warnings);
        let mut scored = Vec::new();
        for predictive in self.predictive(&bound, data)? {
            let Some(targets) = bound.values.get(&predictive.node) else { continue };
            for (name, entries) in self.parts(&predictive) {
                let present: Vec<(usize, f64)> = entries
                    .filter_map(|i| targets.array.get(i).filter(|y| !y.is_nan()).map(|y| (i, *y)))
                    .collect();
                if present.is_empty() {
                    return Err(self.model().error(vec![self.no_targets(predictive.node)]));
                }
                scored.push(score(name, &predictive, &present));
            }
        }
        Ok((scored, bound.rows, bound.is(&self.state().data_hash), warnings))
    }

    fn no_targets(&self, node: NodeId) -> Diagnostic {
        let node = self.model().typed().node(node);
        Diagnostic::error("E0817", format!("no row has a value of `{}` to compare with", node.name))
            .at(node.span, "the target")
            .help("give data with the target column")
    }
}

/// Scores entries with their targets; levels are codes.
fn score(name: String, predictive: &Predictive, present: &[(usize, f64)]) -> NodeScore {
    let mut numbers: Vec<(Moments, f64)> = Vec::new();
    let mut levels: Vec<(Vec<f64>, usize)> = Vec::new();
    let mut log_losses = Vec::with_capacity(present.len());
    for (i, y) in present {
        match predictive.forecast(*i) {
            Forecast::Number(moments) => {
                log_losses.push(-predictive.log_density(*i, *y).unwrap_or(f64::NAN));
                numbers.push((moments, *y));
            }
            Forecast::Levels(ln_p) => {
                log_losses.push(-ln_p.get(*y as usize).copied().unwrap_or(f64::NAN));
                levels.push((ln_p.iter().map(|p| p.exp()).collect(), *y as usize));
            }
        }
    }
    if levels.is_empty() {
        let errors = numbers.iter().map(|(m, y)| (y - m.mean).powi(2)).collect();
        let coverage = coverage(predictive, present);
        let measures = json(&number_score(&numbers, average(&log_losses), coverage));
        return NodeScore { name, measures, log_losses, errors, levels: false };
    }
    let distance = |(p, y): &(Vec<f64>, usize)| most_probable(p).abs_diff(*y) as f64;
    let errors: Vec<f64> = levels.iter().map(|l| distance(l).min(1.0)).collect();
    let measures = if predictive.family.support == Support::Ordered {
        json(&OrdinalScore {
            rows: levels.len(),
            mae: average(&levels.iter().map(distance).collect::<Vec<_>>()),
            error_rate: average(&errors),
            log_loss: average(&log_losses),
        })
    } else {
        json(&class_score(&levels, average(&errors), average(&log_losses)))
    };
    NodeScore { name, measures, log_losses, errors, levels: true }
}

fn number_score(numbers: &[(Moments, f64)], nlpd: f64, coverage: Option<Map<String, Json>>) -> NumberScore {
    let over = |f: &dyn Fn(&(Moments, f64)) -> f64| average(&numbers.iter().map(f).collect::<Vec<_>>());
    let mse = over(&|(m, y)| (y - m.mean).powi(2));
    let centre = over(&|(_, y)| *y);
    let variance = over(&|(_, y)| (y - centre).powi(2));
    NumberScore {
        rows: numbers.len(),
        rmse: mse.sqrt(),
        mae: over(&|(m, y)| (y - m.mean).abs()),
        r2: (variance > 0.0).then(|| 1.0 - mse / variance),
        nlpd,
        coverage,
    }
}

/// A target is inside the central interval of probability c if P(y ≤ target) ≥ (1 − c)/2 and
/// P(y < target) ≤ (1 + c)/2. The interval of a count holds at least c, as it ends on whole numbers.
fn coverage(predictive: &Predictive, present: &[(usize, f64)]) -> Option<Map<String, Json>> {
    let counts = predictive.family.support == Support::Elem(Elem::Count);
    let rank = |(i, y): &(usize, f64)| {
        let up_to = predictive.distribution(*i, *y)?;
        Some((if counts { predictive.distribution(*i, *y - 1.0)? } else { up_to }, up_to))
    };
    let ranks: Option<Vec<(f64, f64)>> = present.iter().map(rank).collect();
    let ranks = ranks?;
    let inside = |c: f64| -> Vec<f64> {
        let is_in = |(below, up_to): &(f64, f64)| *up_to >= 0.5 * (1.0 - c) && *below <= 0.5 * (1.0 + c);
        ranks.iter().map(|r| f64::from(u8::from(is_in(r)))).collect()
    };
    Some(INTERVALS.iter().map(|(name, c)| ((*name).to_owned(), average(&inside(*c)).into())).collect())
}

fn class_score(levels: &[(Vec<f64>, usize)], error_rate: f64, log_loss: f64) -> ClassScore {
    let two = levels.first().is_some_and(|(p, _)| p.len() == 2);
    let brier: Vec<f64> = levels
        .iter()
        .map(|(p, y)| {
            let all = p.iter().enumerate().map(|(k, p)| (p - f64::from(u8::from(k == *y))).powi(2));
            all.sum::<f64>() * if two { 0.5 } else { 1.0 }
        })
        .collect();
    // what was said with a probability, and whether it came true
    let said: Vec<(f64, bool)> = levels
        .iter()
        .map(|(p, y)| {
            let level = if two { 1 } else { most_probable(p) };
            (p.get(level).copied().unwrap_or(f64::NAN), level == *y)
        })
        .collect();
    let bin_of = |p: f64| ((p * BINS as f64) as usize).min(BINS - 1);
    let calibration: Vec<Bin> = (0..BINS)
        .filter_map(|b| {
            let (p, came): (Vec<f64>, Vec<f64>) = said
                .iter()
                .filter(|(p, _)| bin_of(*p) == b)
                .map(|(p, came)| (*p, f64::from(u8::from(*came))))
                .unzip();
            let edge = |b: usize| b as f64 / BINS as f64;
            (!p.is_empty()).then(|| Bin {
                from: edge(b),
                to: edge(b + 1),
                rows: p.len(),
                predicted: average(&p),
                observed: average(&came),
            })
        })
        .collect();
    let gap = |b: &Bin| b.rows as f64 * (b.predicted - b.observed).abs();
    let calibration_error = calibration.iter().map(gap).sum::<f64>() / said.len() as f64;
    ClassScore {
        rows: levels.len(),
        error_rate,
        log_loss,
        brier: average(&brier),
        calibration_error,
        calibration,
    }
}

fn average(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn json(measures: &impl Serialize) -> Json {
    serde_json::to_value(measures).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_by_hand() {
        let levels =
            vec![(vec![0.8, 0.2], 0), (vec![0.4, 0.6], 0), (vec![0.35, 0.65], 1), (vec![0.0, 1.0], 1)];
        let score = class_score(&levels, 0.25, 0.0);
        // (0.04 + 0.36 + 0.1225 + 0) / 4
        assert!((score.brier - 0.130_625).abs() < 1e-15);
        let bins: Vec<(usize, f64)> = score.calibration.iter().map(|b| (b.rows, b.observed)).collect();
        assert_eq!(bins, [(1, 0.0), (2, 0.5), (1, 1.0)]);
        // (1·0.2 + 2·|0.625 − 0.5| + 0) / 4
        assert!((score.calibration_error - 0.1125).abs() < 1e-15);
        let three = class_score(&[(vec![0.5, 0.25, 0.25], 1)], 1.0, 4f64.ln());
        assert!((three.brier - (0.25 + 0.5625 + 0.0625)).abs() < 1e-15);
        assert_eq!((three.calibration[0].from, three.calibration[0].observed), (0.5, 0.0));
    }
}
