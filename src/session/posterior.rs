//! The posterior of a fit: a joint Gaussian over the kept innovations, and point estimates of
//! hyperparameters.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use crate::check::typed::NodeId;
use crate::design::{Affine, Restrict};
use crate::runtime::assemble::Layout;
use crate::runtime::solution::Solution;

/// What prediction needs of a fit, beside frozen values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Posterior {
    /// Latent nodes in the order of the plan, with their kept innovations.
    pub blocks: Vec<Kept>,
    /// Mean of the kept innovations, k.
    pub mean: Vec<f64>,
    /// Covariance of the kept innovations, column-major, k · k.
    pub covariance: Vec<f64>,
    /// Observed nodes with a centred predictor: the training means of the kept columns, k. Only there
    /// are cutpoints and weights independent: a shift of the weights by δ moves the cutpoints by these means times δ.
    #[serde(default)]
    pub centres: BTreeMap<NodeId, Vec<f64>>,
    /// Values of hyperparameters; `None` is infinite (all its weights are pruned).
    pub hypers: BTreeMap<NodeId, Vec<Option<f64>>>,
    /// Shape and rate of those that have a Gamma factor, whose value above is the mean.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub factors: BTreeMap<NodeId, Vec<(f64, f64)>>,
}

/// The innovations of a latent node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The node.
    pub node: NodeId,
    /// How many innovations it has.
    pub len: usize,
    /// The kept ones, ascending.
    pub active: Vec<usize>,
    /// Where they start in the joint mean.
    pub start: usize,
    /// Quality factor q of every innovation (`None` where there is none).
    pub q: Vec<Option<f64>>,
    /// Sparsity factor s of every innovation.
    pub s: Vec<Option<f64>>,
    /// Nats that every innovation earns, or would.
    pub gain: Vec<Option<f64>>,
}

/// Moments of a linear form: mean and variance of each entry.
#[derive(Clone, PartialEq, Debug)]
pub struct Moments {
    /// Posterior mean.
    pub mean: Vec<f64>,
    /// Posterior variance.
    pub variance: Vec<f64>,
}

impl Posterior {
    /// The solution of a problem, by node.
    pub(crate) fn new(solution: &Solution, layout: &Layout) -> Posterior {
        let mut blocks = Vec::new();
        let mut start = 0;
        for place in &layout.blocks {
            let range = place.start..place.start + place.len;
            let active: Vec<usize> =
                solution.active.iter().filter(|i| range.contains(i)).map(|i| i - place.start).collect();
            let part = |v: &[f64]| v[range.clone()].iter().map(|x| x.is_finite().then_some(*x)).collect();
            let (q, s, gain) = (part(&solution.q), part(&solution.s), part(&solution.gain));
            let kept = active.len();
            blocks.push(Kept { node: place.node, len: place.len, active, start, q, s, gain });
            start += kept;
        }
        let hypers = layout
            .hypers
            .iter()
            .map(|p| {
                let values = &solution.hypers[p.start..p.start + p.len];
                (p.node, values.iter().map(|v| v.is_finite().then_some(*v)).collect())
            })
            .collect();
        let factors = layout
            .hypers
            .iter()
            .filter_map(|p| {
                let all = &solution.factors[p.start..p.start + p.len];
                let given: Option<Vec<(f64, f64)>> = all.iter().copied().collect();
                Some((p.node, given?)).filter(|(_, v)| !v.is_empty())
            })
            .collect();
        let centred = layout.terms.iter().filter(|rows| !rows.means.is_empty());
        let centres = centred
            .map(|rows| (rows.node, solution.active.iter().map(|i| rows.means[*i]).collect()))
            .collect();
        Posterior {
            factors,
            centres,
            blocks,
            mean: solution.mean.as_slice().to_vec(),
            covariance: solution.covariance.as_slice().to_vec(),
            hypers,
        }
    }

    /// The innovations of a node.
    pub fn block(&self, node: NodeId) -> Option<&Kept> {
        self.blocks.iter().find(|b| b.node == node)
    }

    /// Evaluates linear forms in the kept innovations only.
    pub(crate) fn restrict(&self) -> Restrict {
        let active = self.blocks.iter().map(|b| (b.node, b.active.clone())).collect();
        Restrict { active, ..Restrict::default() }
    }

    /// The coefficients of a linear form over all kept innovations, entries × k.
    ///
    /// # Errors
    /// They need more than `memory` bytes.
    pub(crate) fn coefficients(
        &self,
        form: &Affine,
        memory: usize,
    ) -> Result<DMatrix<f64>, crate::design::Why> {
        let k = self.mean.len();
        let bytes = form.len().saturating_mul(k).saturating_mul(size_of::<f64>());
        if bytes > memory {
            return Err(crate::design::Why::Memory(bytes, memory));
        }
        let mut all = DMatrix::zeros(form.len(), k);
        for block in &self.blocks {
            if let Some(coef) = form.coef(block.node)
                && !block.active.is_empty()
            {
                coef.add_to(None, &mut all, 0, block.start)?;
            }
        }
        Ok(all)
    }

    /// Covariance of the kept innovations.
    pub(crate) fn sigma(&self) -> DMatrix<f64> {
        let k = self.mean.len();
        DMatrix::from_column_slice(k, k, &self.covariance)
    }

    /// Takes the training means out of the coefficients of a centred predictor.
    pub(crate) fn centre(&self, node: NodeId, c: &mut DMatrix<f64>) {
        if let Some(means) = self.centres.get(&node) {
            for (mut column, mean) in c.column_iter_mut().zip(means) {
                column.add_scalar_mut(-mean);
            }
        }
    }

    /// How far the cutpoints of a node move with innovations that differ from their mean by `delta`.
    pub(crate) fn cutpoint_shift(&self, node: NodeId, delta: &[f64]) -> f64 {
        self.centres.get(&node).map_or(0.0, |means| means.iter().zip(delta).map(|(m, d)| m * d).sum())
    }

    /// offset + C m
    pub(crate) fn mean_of(&self, offset: &[f64], c: &DMatrix<f64>) -> Vec<f64> {
        let mean = c * DVector::from_column_slice(&self.mean);
        mean.iter().zip(offset).map(|(a, b)| a + b).collect()
    }

    /// mean = offset + C m, variance = diag(C Σ Cᵀ)
    pub(crate) fn moments(&self, offset: &[f64], c: &DMatrix<f64>) -> Moments {
        let cs = c * self.sigma();
        let variance = (0..c.nrows()).map(|i| cs.row(i).dot(&c.row(i)).max(0.0)).collect();
        Moments { mean: self.mean_of(offset, c), variance }
    }

    /// The value of a hyperparameter; infinite if its weights are pruned.
    pub fn hyper(&self, node: NodeId, entry: usize) -> Option<f64> {
        self.hypers.get(&node)?.get(entry).map(|v| v.unwrap_or(f64::INFINITY))
    }

    /// 1/⟨1/θ⟩ = (shape − 1)/rate of a Gamma factor of shape above 1: the precision whose inverse is the
    /// expected variance. Else the value.
    pub(crate) fn harmonic(&self, node: NodeId, entry: usize) -> Option<f64> {
        match self.factors.get(&node).and_then(|f| f.get(entry)) {
            Some((shape, rate)) if *shape > 1.0 => Some((shape - 1.0) / rate),
            _ => self.hyper(node, entry),
        }
    }
}
