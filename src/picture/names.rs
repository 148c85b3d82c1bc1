//! Names of the entries of a node, those of pruned ones too, as far as the columns of the data tell them.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::DMatrix;

use crate::check::typed::NodeId;
use crate::design::labels::Labels;
use crate::design::value::{Label, Rank, Value};
use crate::session::bind;
use crate::session::fit::Fit;

/// What a fit can still name. Which rows were the centres of pruned functions is forgotten; columns are not.
pub(super) struct Names(Labels);

impl Names {
    /// Of every latent node.
    pub fn of(fit: &Fit) -> Names {
        let (typed, state) = (fit.model().typed(), fit.state());
        // names depend on columns, not on values: one row does
        let mut values: BTreeMap<NodeId, Arc<Value>> = BTreeMap::new();
        for (id, spreads) in state.seen.spreads.iter().filter(|(id, _)| id.index() < typed.nodes.len()) {
            let Some(columns) = state.schema.columns.get(id) else { continue };
            let is_matrix = typed.node(*id).ty.shape.len() > 1;
            let array =
                DMatrix::from_fn(1, columns.len(), |_, j| spreads.get(j).map_or(0.0, |spread| spread.middle));
            let rank = if is_matrix { Rank::Matrix } else { Rank::Vector };
            let labels = columns.iter().filter(|_| is_matrix).cloned().map(Label::Column).collect();
            values.insert(*id, Arc::new(Value { rank, array, labels }));
        }
        let bound = bind::bind_rows(typed, &state.schema, values, 1);
        Names(Labels::of(bound.inputs(typed)))
    }

    /// The name of entry `i` of a node with `len` entries.
    pub fn entry(&self, node: NodeId, i: usize, len: usize) -> Option<String> {
        let labels = self.0.of_node(node);
        match labels.get(i).filter(|_| labels.len() == len)? {
            Label::Column(name) | Label::Level(name) => Some(name.clone()),
            Label::Bias => Some(Label::Bias.to_string()),
            _ => None,
        }
    }
}
