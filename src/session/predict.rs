//! Prediction: the predictive distribution of every observed node, row by row.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::bind::{self, Bound};
use super::fit::Fit;
use super::predictive::{Forecast, Predictive};
use crate::data::Data;
use crate::diag::{Diagnostic, Diagnostics};
use crate::dist::Support;
use crate::error::Error;

/// Predictive distributions, in row order.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
/// for (mean, sd) in p.mean().iter().zip(p.sd()) {
///     println!("{mean} ± {sd}");
/// }
/// # Ok::<(), sbl::Error>(())
/// ```
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
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
/// let t = p.node("t").map(|node| node.columns.len());
/// assert_eq!(t, Some(3));
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct NodePrediction {
    /// The node; for a column of a matrix, the name of that column.
    pub name: String,
    /// Its columns, each with a value per row. Real: `mean`, `sd`, `sd_mean`; counts: `mean`, `sd`; two
    /// levels: `p` (of the second), `class`; more levels: `p_LEVEL` of each, `class`; where they are ordered
    /// also `mean_latent`, `sd_latent`.
    pub columns: Vec<(String, Predicted)>,
    /// The levels as they were read, in their order; empty for numbers.
    pub levels: Vec<String>,
}

/// One column of a prediction.
///
/// ```
/// # let source = "data x: real[N]\ndata c: category{bad, good}[N]\nw ~ Normal(0, sd = 1)\nc ~ Bernoulli(logit = x .* w)\n";
/// # let data = sbl::Data::new().vector("x", &[-2.0, -1.0, 1.0, 2.0])?.words("c", &["bad", "bad", "good", "good"])?;
/// # let fit = sbl::Model::compile(source)?.fit(&data, &sbl::Options::default())?;
/// let p = fit.predict(&sbl::Data::new().vector("x", &[-3.0, 3.0])?)?;
/// for (name, values) in p.columns() {
///     match values {
///         sbl::Predicted::Numbers(v) => println!("{name}: {v:?}"),
///         sbl::Predicted::Words(v) => println!("{name}: {v:?}"),
///     }
/// }
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Predicted {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Levels, as they were read.
    Words(Vec<Arc<str>>),
}

impl Predicted {
    /// Number of rows.
    ///
    /// ```
    /// assert_eq!(sbl::Predicted::Numbers(vec![1.0, 2.0]).len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        match self {
            Predicted::Numbers(v) => v.len(),
            Predicted::Words(v) => v.len(),
        }
    }

    /// Whether there is no row.
    ///
    /// ```
    /// assert!(sbl::Predicted::Numbers(vec![]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As an array; what is not finite is null.
    ///
    /// ```
    /// assert_eq!(sbl::Predicted::Numbers(vec![1.0, f64::NAN]).to_json().to_string(), "[1.0,null]");
    /// ```
    pub fn to_json(&self) -> Json {
        match self {
            Predicted::Numbers(v) => v.iter().map(|x| Json::from(*x)).collect(),
            Predicted::Words(v) => v.iter().map(|w| Json::from(&**w)).collect(),
        }
    }
}

impl NodePrediction {
    /// One of its columns of numbers.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert_eq!(p.node("t").and_then(|t| t.column("mean")), Some(p.mean()));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(n, _)| *n == name).and_then(|(_, v)| match v {
            Predicted::Numbers(v) => Some(v.as_slice()),
            Predicted::Words(_) => None,
        })
    }

    /// The most probable level of each row, as it was read; empty for numbers.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata c: category{bad, good}[N]\nw ~ Normal(0, sd = 1)\nc ~ Bernoulli(logit = x .* w)\n";
    /// # let data = sbl::Data::new().vector("x", &[-2.0, -1.0, 1.0, 2.0])?.words("c", &["bad", "bad", "good", "good"])?;
    /// # let fit = sbl::Model::compile(source)?.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[-3.0, 3.0])?)?;
    /// assert_eq!(p.node("c").map(|c| &*c.class()[1]), Some("good"));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn class(&self) -> &[Arc<str>] {
        self.columns
            .iter()
            .find_map(|(_, v)| match v {
                Predicted::Words(v) => Some(v.as_slice()),
                Predicted::Numbers(_) => None,
            })
            .unwrap_or(&[])
    }

    /// The probability of a level in each row, weights averaged out.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata c: category{bad, good}[N]\nw ~ Normal(0, sd = 1)\nc ~ Bernoulli(logit = x .* w)\n";
    /// # let data = sbl::Data::new().vector("x", &[-2.0, -1.0, 1.0, 2.0])?.words("c", &["bad", "bad", "good", "good"])?;
    /// # let fit = sbl::Model::compile(source)?.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[-3.0, 3.0])?)?;
    /// let good = p.node("c").and_then(|c| c.probability("good"));
    /// assert!(good.is_some_and(|good| good[1] > 0.5 && good[0] < 0.5));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn probability(&self, level: &str) -> Option<Vec<f64>> {
        match (self.levels.iter().position(|l| l == level)?, self.column("p")) {
            (0, Some(p)) => Some(p.iter().map(|p| 1.0 - p).collect()),
            (_, Some(p)) => Some(p.to_vec()),
            (_, None) => self.column(&format!("p_{level}")).map(<[f64]>::to_vec),
        }
    }

    fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, v)| v.len())
    }
}

impl Prediction {
    /// Predictive mean of the first observed node.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert!((p.mean()[0] - 8.0).abs() < 0.2);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn mean(&self) -> &[f64] {
        self.first("mean")
    }

    /// Predictive deviation of a new observation of the first observed node.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert!(p.sd()[0] > p.sd_mean()[0]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn sd(&self) -> &[f64] {
        self.first("sd")
    }

    /// Deviation of the noiseless function of the first observed node.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert!(p.sd_mean()[1] > p.sd_mean()[0]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn sd_mean(&self) -> &[f64] {
        self.first("sd_mean")
    }

    /// Probability of success of the first observed node, weights averaged out.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata c: category{bad, good}[N]\nw ~ Normal(0, sd = 1)\nc ~ Bernoulli(logit = x .* w)\n";
    /// # let data = sbl::Data::new().vector("x", &[-2.0, -1.0, 1.0, 2.0])?.words("c", &["bad", "bad", "good", "good"])?;
    /// # let fit = sbl::Model::compile(source)?.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[-3.0, 3.0])?)?;
    /// assert!(p.p()[0] < 0.5 && p.p()[1] > 0.5);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn p(&self) -> &[f64] {
        self.first("p")
    }

    /// The most probable level of the first observed node, as it was read.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata c: category{bad, good}[N]\nw ~ Normal(0, sd = 1)\nc ~ Bernoulli(logit = x .* w)\n";
    /// # let data = sbl::Data::new().vector("x", &[-2.0, -1.0, 1.0, 2.0])?.words("c", &["bad", "bad", "good", "good"])?;
    /// # let fit = sbl::Model::compile(source)?.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[-3.0, 3.0])?)?;
    /// assert_eq!(&*p.class()[0], "bad");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn class(&self) -> &[Arc<str>] {
        self.nodes.first().map_or(&[], NodePrediction::class)
    }

    /// The observed node (or column of one) of that name.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert!(p.node("t").is_some() && p.node("u").is_none());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn node(&self, name: &str) -> Option<&NodePrediction> {
        self.nodes.iter().find(|n| n.name == name)
    }

    /// The columns of `sbl predict`, with their names: plain for one observed node, `NODE.column`
    /// for several; `outside` last, as 0 and 1.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// let names: Vec<String> = p.columns().into_iter().map(|c| c.0).collect();
    /// assert_eq!(names, ["mean", "sd", "sd_mean", "outside"]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn columns(&self) -> Vec<(String, Predicted)> {
        let several = self.nodes.len() > 1;
        let mut columns: Vec<(String, Predicted)> = Vec::new();
        for node in &self.nodes {
            for (name, values) in &node.columns {
                let name = if several { format!("{}.{name}", node.name) } else { name.clone() };
                columns.push((name, values.clone()));
            }
        }
        let outside = self.outside.iter().map(|o| f64::from(u8::from(*o))).collect();
        columns.push(("outside".to_owned(), Predicted::Numbers(outside)));
        columns
    }

    /// The same names as arrays, beside `sbl` and `schema`.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert_eq!(p.to_json()["mean"][0], p.mean()[0]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn to_json(&self) -> Json {
        let mut map = Map::new();
        for (name, values) in self.columns() {
            let values = if name == "outside" {
                self.outside.iter().map(|o| Json::from(u8::from(*o))).collect()
            } else {
                values.to_json()
            };
            map.insert(name, values);
        }
        super::stamped(Json::Object(map))
    }

    fn first(&self, column: &str) -> &[f64] {
        self.nodes.first().and_then(|n| n.column(column)).unwrap_or(&[])
    }
}

impl Fit {
    /// The predictive distribution at new data, row by row. Targets are not needed.
    ///
    /// # Errors
    /// E07: the data do not fit the model (a missing input, a column that is not there …).
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let p = fit.predict(&sbl::Data::new().vector("x", &[4.0, 5.0])?)?;
    /// assert_eq!(p.mean().len(), 2);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn predict(&self, data: &Data) -> Result<Prediction, Error> {
        let bound = bind::bind_prediction(self.model().typed(), &self.state().schema, data, false)
            .map_err(|found| self.model().error(found))?;
        let mut prediction = self.predict_bound(&bound.value, data)?;
        prediction.warnings.splice(0..0, bound.warnings);
        Ok(prediction)
    }

    /// The same for data that are bound already.
    fn predict_bound(&self, bound: &Bound, data: &Data) -> Result<Prediction, Error> {
        let mut nodes = Vec::new();
        let mut outside: Vec<Vec<bool>> = Vec::new();
        for mut predictive in self.predictive(bound, data)? {
            outside.extend(predictive.silent.take());
            nodes.extend(self.parts(&predictive).into_iter().map(|(name, entries)| NodePrediction {
                name,
                columns: columns(&predictive, entries),
                levels: predictive.levels.clone(),
            }));
        }
        let rows = nodes.iter().map(NodePrediction::len).max().unwrap_or(0);
        if nodes.iter().any(|n| n.len() != rows) {
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

    /// The columns of an observed matrix are predicted side by side: names and entries.
    pub(crate) fn parts(&self, predictive: &Predictive) -> Vec<(String, std::ops::Range<usize>)> {
        let node = self.model().typed().node(predictive.node);
        let names = self.state().schema.columns.get(&predictive.node);
        let width = if node.ty.shape.len() < 2 { 1 } else { names.map_or(1, Vec::len).max(1) };
        let rows = predictive.count / width;
        (0..width)
            .map(|k| {
                let name = match names.and_then(|n| n.get(k)) {
                    Some(column) if width > 1 => column.clone(),
                    _ => node.name.clone(),
                };
                (name, k * rows..(k + 1) * rows)
            })
            .collect()
    }
}

/// The columns that say what is known of some entries.
fn columns(predictive: &Predictive, entries: std::ops::Range<usize>) -> Vec<(String, Predicted)> {
    let mut numbers: Vec<(String, Vec<f64>)> = Vec::new();
    let mut push = |at: usize, name: &str, value: f64| match numbers.get_mut(at) {
        Some((_, values)) => values.push(value),
        None => numbers.push((name.to_owned(), vec![value])),
    };
    let levels: Vec<Arc<str>> = predictive.levels.iter().map(|l| l.as_str().into()).collect();
    let mut class: Vec<Arc<str>> = Vec::new();
    for i in entries.clone() {
        match predictive.forecast(i) {
            Forecast::Number(m) => {
                push(0, "mean", m.mean);
                push(1, "sd", m.sd);
                if let Some(sd) = m.sd_mean {
                    push(2, "sd_mean", sd);
                }
            }
            Forecast::Levels(ln_p) if predictive.family.support == Support::Binary => {
                push(0, "p", ln_p.get(1).map_or(f64::NAN, |p| p.exp()));
                class.extend(levels.get(most_probable(&ln_p)).cloned());
            }
            Forecast::Levels(ln_p) => {
                for (k, (level, p)) in levels.iter().zip(&ln_p).enumerate() {
                    push(k, &format!("p_{level}"), p.exp());
                }
                class.extend(levels.get(most_probable(&ln_p)).cloned());
                if let Some((mean, sd)) = predictive.latent(i) {
                    push(levels.len(), "mean_latent", mean);
                    push(levels.len() + 1, "sd_latent", sd);
                }
            }
        }
    }
    let latent = numbers.iter().position(|(n, _)| n == "mean_latent").unwrap_or(numbers.len());
    let mut columns: Vec<(String, Predicted)> =
        numbers.into_iter().map(|(n, v)| (n, Predicted::Numbers(v))).collect();
    if !levels.is_empty() {
        columns.insert(latent, ("class".to_owned(), Predicted::Words(class)));
    }
    columns
}

/// The most probable level; the lowest of several.
pub(crate) fn most_probable(ln_p: &[f64]) -> usize {
    let mut best = 0;
    for (k, p) in ln_p.iter().enumerate() {
        if *p > ln_p[best] {
            best = k;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Options};

    #[test]
    fn the_lowest_of_several_levels() {
        assert_eq!(most_probable(&[-1.0, -0.5, -0.5]), 1);
        assert_eq!(most_probable(&[0.5f64.ln(), 0.5f64.ln()]), 0);
        assert_eq!(most_probable(&[f64::NAN, f64::NAN]), 0);
    }

    #[test]
    fn classes_from_the_library() {
        let source = "data x: real[N]\ndata t: category{bad, good}[N]\nw ~ Normal(0, precision = 1)\n\
                      t ~ Bernoulli(logit = x .* w)\n";
        let x = [-2.0, -1.0, 1.0, 2.0];
        let inputs = || Data::new().vector("x", &x).unwrap();
        let data = inputs().words("t", &["bad", "bad", "good", "good"]).unwrap();
        let fit = Model::compile(source).unwrap().fit(&data, &Options::default()).unwrap();
        let p = fit.predict(&inputs()).unwrap();
        assert_eq!(p.class().iter().map(|c| &**c).collect::<Vec<_>>(), ["bad", "bad", "good", "good"]);
        let node = p.node("t").unwrap();
        assert_eq!(node.levels, ["bad", "good"]);
        let (bad, good) = (node.probability("bad").unwrap(), node.probability("good").unwrap());
        assert_eq!(good, p.p());
        assert!(bad.iter().zip(&good).all(|(a, b)| (a + b - 1.0).abs() < 1e-15));
        // an odd function of x
        assert!((good[0] + good[3] - 1.0).abs() < 1e-14, "{good:?}");
        assert!(node.probability("ugly").is_none() && p.mean().is_empty() && node.column("class").is_none());
        assert_eq!(p.to_json()["class"][0], "bad");
    }
}
