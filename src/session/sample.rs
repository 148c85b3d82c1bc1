//! Draws as a table: the prior of a model, or the posterior (and posterior predictive) of a fit.
//!
//! One row a draw; one column an entry of a node, named as in CmdStan: `tau`, `w.1`, `W.2.1`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bind::{self, Bound};
use super::compile::Model;
use super::draws::{Drawn, Innovations, NoDraw, Uniforms, array, draw, posterior_values};
use super::fit::Fit;
use crate::check::dim::Atom;
use crate::check::typed::{Node, NodeId, NodeKind};
use crate::data::Data;
use crate::design::{Frozen, Inputs, Value};
use crate::diag::Diagnostic;
use crate::dist::Support;
use crate::error::Error;

const MEMORY: usize = 8 << 30;

/// Draws of nodes.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let draws = fit.sample(None, 10, 1)?;
/// assert_eq!((draws.columns.len(), draws.rows.len()), (draws.rows[0].len(), 10));
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Draws {
    /// One name a column.
    pub columns: Vec<String>,
    /// For a column of codes (counted from 0), the levels they stand for; empty for numbers.
    pub levels: Vec<Vec<String>>,
    /// One vector a draw, as long as `columns`.
    pub rows: Vec<Vec<f64>>,
}

impl Model {
    /// Draws from the prior: every latent node, then every observed node at the inputs of `data`
    /// (targets are ignored).
    ///
    /// # Errors
    /// E07: the data do not fit the model; E0818: a prior is improper, or a `param` has no value.
    ///
    /// ```
    /// let source = "data x: real[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1)\nt ~ Normal(x .* w, sd = 0.1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// let draws = model.sample(&sbl::Data::new().vector("x", &[1.0, 2.0])?, 5, 1)?;
    /// assert_eq!(draws.columns, ["w", "t.1", "t.2"]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn sample(&self, data: &Data, n: usize, seed: u64) -> Result<Draws, Error> {
        let typed = self.typed();
        let bound = bind::bind_inputs(typed, data).map_err(|found| self.error(found))?.value;
        let broken = |e| self.error(vec![bind::diagnose(typed, Some(data), &e)]);
        let (frozen, _) = Frozen::learn(bound.inputs(typed), MEMORY).map_err(broken)?;
        let mut uniforms = Uniforms::new(seed);
        let mut table = Table::default();
        for _ in 0..n {
            let mut values = bound.values.clone();
            // what is drawn must not see what was observed
            values.retain(|node, _| !typed.node(*node).is_observed());
            for node in self.dag().topological() {
                let Some(dist) = typed.node(node).dist() else {
                    if matches!(typed.node(node).kind, NodeKind::Param { .. }) {
                        return Err(self.no_draw(data, NoDraw::Param(node)));
                    }
                    continue;
                };
                let inputs = Inputs { values: &values, ..bound.inputs(typed) };
                let entries = draw(inputs, &frozen, MEMORY, node, dist, None, &mut uniforms)
                    .and_then(|entries| array(inputs, node, entries))
                    .map_err(|e| self.no_draw(data, e))?;
                values.insert(node, Arc::new(entries));
            }
            let order = self.dag().topological().into_iter().filter(|n| typed.node(*n).dist().is_some());
            table.push(bound.inputs(typed), &values, order);
        }
        Ok(table.draws)
    }

    fn no_draw(&self, data: &Data, why: NoDraw) -> Error {
        let typed = self.typed();
        self.error(vec![match why {
            NoDraw::Eval(error) => bind::diagnose(typed, Some(data), &error),
            NoDraw::Improper(node) => {
                let node = typed.node(node);
                let family = node.dist().map_or("its distribution", |d| d.family.name);
                Diagnostic::error(
                    "E0818",
                    format!("`{}` cannot be drawn: {family} is improper here", node.name),
                )
                .at(node.span, "has no proper distribution")
                .help("give it a proper prior, or sample from a fit")
            }
            NoDraw::Param(node) => {
                let node = typed.node(node);
                Diagnostic::error("E0818", format!("`{}` cannot be drawn: a param has no prior", node.name))
                    .at(node.span, "estimated by a fit")
                    .help("make it a constant (`let`), give it a prior, or sample from a fit")
            }
        }])
    }
}

impl Fit {
    /// Draws from the posterior: hyperparameters at their estimates, every latent node; with data,
    /// also every observed node at these inputs.
    ///
    /// # Errors
    /// E07: the data do not fit the model.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let draws = fit.sample(None, 100, 1)?;
    /// let w = draws.columns.iter().position(|c| c == "w").unwrap_or(0);
    /// let mean = draws.rows.iter().map(|row| row[w]).sum::<f64>() / 100.0;
    /// assert!((mean - 2.0).abs() < 0.1);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn sample(&self, data: Option<&Data>, n: usize, seed: u64) -> Result<Draws, Error> {
        let model = self.model();
        let typed = model.typed();
        let plan = model.plan()?;
        let state = self.state();
        let bound = match data {
            Some(data) => {
                bind::bind_prediction(typed, &state.schema, data, false)
                    .map_err(|found| model.error(found))?
                    .value
            }
            None => self.frozen_dims(),
        };
        let innovations = Innovations::new(&state.posterior);
        let mut uniforms = Uniforms::new(seed);
        let mut table = Table::default();
        let empty = Data::new();
        let broken = |e| model.no_draw(data.unwrap_or(&empty), e);
        // frozen values of the kept columns only: predictors as linear forms of the kept innovations
        let linear = match data {
            Some(_) => self.linear(&bound).map_err(|e| broken(NoDraw::Eval(e)))?,
            None => Vec::new(),
        };
        for _ in 0..n {
            let inputs = bound.inputs(typed);
            let Drawn { mut values, kept } =
                posterior_values(plan, inputs, &state.frozen, MEMORY, &innovations, &mut uniforms)
                    .map_err(broken)?;
            let mut shown: Vec<NodeId> = plan.hypers.iter().map(|h| h.node).collect();
            shown.extend(plan.params.iter().map(|p| p.node));
            shown.extend(plan.blocks.iter().map(|b| b.node));
            if data.is_some() {
                for (term, linear) in plan.terms.iter().zip(&linear) {
                    let Some(dist) = typed.node(term.node).dist() else { continue };
                    let inputs = Inputs { values: &values, ..bound.inputs(typed) };
                    let predictor = linear.at(&kept, &values, &mut uniforms);
                    let known = Some((term.predictor.as_str(), &predictor));
                    let entries = draw(inputs, &state.frozen, MEMORY, term.node, dist, known, &mut uniforms)
                        .and_then(|entries| array(inputs, term.node, entries))
                        .map_err(broken)?;
                    values.insert(term.node, Arc::new(entries));
                    shown.push(term.node);
                }
            }
            shown.sort_unstable();
            table.push(inputs, &values, shown.into_iter());
        }
        Ok(table.draws)
    }

    /// The dimensions at training, for a sample without new data.
    fn frozen_dims(&self) -> Bound {
        let mut bound = Bound::default();
        let schema = &self.state().schema;
        schema.restore(self.model().typed(), &mut bound);
        for (atom, size) in schema.dims.iter() {
            if let Atom::Train(symbol) = atom {
                bound.dims.entry(Atom::Symbol(symbol.clone())).or_insert(*size);
            }
        }
        bound.columns = schema.columns.clone();
        bound
    }
}

#[derive(Default)]
struct Table {
    draws: Draws,
}

impl Table {
    fn push(
        &mut self,
        inputs: Inputs<'_>,
        values: &BTreeMap<NodeId, Arc<Value>>,
        nodes: impl Iterator<Item = NodeId>,
    ) {
        let first = self.draws.rows.is_empty();
        let mut row = Vec::new();
        for node in nodes {
            let Some(value) = values.get(&node) else { continue };
            if first {
                let drawn = inputs.model.node(node);
                let Node { name, ty, .. } = drawn;
                let rank = ty.shape.len();
                // a number drawn for `bool` data is none of its levels
                let number = drawn.dist().is_some_and(|d| matches!(d.family.support, Support::Elem(_)));
                let levels = inputs.levels.get(&node).filter(|_| !number).cloned().unwrap_or_default();
                self.draws.levels.extend(std::iter::repeat_n(levels, value.array.len()));
                for j in 0..value.cols() {
                    for i in 0..value.rows() {
                        self.draws.columns.push(match rank {
                            0 => name.clone(),
                            1 => format!("{name}.{}", i + 1),
                            _ => format!("{name}.{}.{}", i + 1, j + 1),
                        });
                    }
                }
            }
            row.extend(value.array.iter().copied());
        }
        self.draws.rows.push(row);
    }
}
