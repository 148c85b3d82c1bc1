//! Whether a new point lies outside the support of every local basis function.
//!
//! A basis function that is centred at a training row and has fallen below 1e-6 of its largest
//! training value says nothing there; where all have, the prediction is the prior's.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::nodes::Names;
use super::posterior::Posterior;
use crate::check::typed::NodeId;
use crate::design::Label;
use crate::plan::ir::Plan;

/// Below this share of its training maximum a basis function is silent.
const SILENT: f64 = 1e-6;

/// Per observed node: the kept weights whose basis function is centred at a training row, with the
/// largest absolute value it had at training.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Local {
    nodes: Vec<(NodeId, Vec<(usize, f64)>)>,
}

impl Local {
    /// Notes the training maxima; `c` has the coefficients of all kept weights at training.
    pub fn learn(&mut self, node: NodeId, c: &DMatrix<f64>, posterior: &Posterior, names: &Names) {
        let mut local = Vec::new();
        for block in &posterior.blocks {
            for (k, i) in block.active.iter().enumerate() {
                let label = names.entries(block.node).and_then(|l| l.get(*i));
                let column = block.start + k;
                if matches!(label, Some(Label::Centre(_))) && column < c.ncols() {
                    local.push((column, c.column(column).amax()));
                }
            }
        }
        self.nodes.push((node, local));
    }

    /// Whether these cannot be basis functions of a plan with `k` kept weights.
    pub fn fault(&self, plan: &Plan, k: usize) -> bool {
        let is_term = |node: &NodeId| plan.terms.iter().any(|t| t.node == *node);
        self.nodes.iter().any(|(node, local)| !is_term(node) || local.iter().any(|(j, _)| *j >= k))
    }

    /// Whether a node has local basis functions.
    pub fn has(&self, node: NodeId) -> bool {
        self.nodes.iter().any(|(n, l)| *n == node && !l.is_empty())
    }

    /// For each row of `c`: whether every local basis function is silent (never, if there is none).
    pub fn outside(&self, node: NodeId, c: &DMatrix<f64>) -> Vec<bool> {
        let local = self.nodes.iter().find(|(n, _)| *n == node).map_or(&[][..], |(_, l)| l);
        (0..c.nrows())
            .map(|r| !local.is_empty() && local.iter().all(|(j, max)| c[(r, *j)].abs() <= SILENT * max))
            .collect()
    }
}
