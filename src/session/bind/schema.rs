//! What of the training data prediction needs: columns, levels, dimensions, constants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::Bound;
use super::columns::{self, Taken};
use crate::check::dim::Atom;
use crate::check::typed::{Model, Node, NodeId};
use crate::data::{Column, Data};
use crate::design::frozen::floats;
use crate::design::value::{Rank, Value};
use crate::diag::{Diagnostic, Diagnostics};
use crate::session::file::Checksum;

/// Frozen at training, kept with the fit.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    /// The columns that each data node took, by name.
    pub columns: BTreeMap<NodeId, Vec<String>>,
    /// Levels, in the order of their codes.
    pub levels: BTreeMap<NodeId, Vec<String>>,
    /// Dimensions that do not count rows.
    pub dims: Vec<(Atom, usize)>,
    constants: BTreeMap<NodeId, Constant>,
}

/// Hex digits of SHA-256.
const SHA256: usize = 64;
/// More than any dimension is.
const MOST: usize = 1 << 40;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Constant {
    rank: Rank,
    rows: usize,
    cols: usize,
    /// Column-major.
    #[serde(with = "floats")]
    values: Vec<f64>,
}

impl Bound {
    /// What prediction needs of these training data.
    pub fn schema(&self, model: &Model) -> Schema {
        let rows = model.row_atoms();
        let constant = |id: &NodeId| {
            let value = self.values.get(id)?;
            let (rows, cols) = value.array.shape();
            let values = value.array.as_slice().to_vec();
            Some((*id, Constant { rank: value.rank, rows, cols, values }))
        };
        Schema {
            columns: self.columns.clone(),
            levels: self.levels.clone(),
            dims: self.dims.iter().filter(|(a, _)| !rows.contains(a)).map(|(a, n)| (a.clone(), *n)).collect(),
            constants: self.constants.iter().filter_map(constant).collect(),
        }
    }
}

impl Schema {
    /// Whether a node is kept with the fit.
    pub fn is_constant(&self, id: NodeId) -> bool {
        self.constants.contains_key(&id)
    }

    /// What is impossible about it for a model, whoever wrote it.
    pub(crate) fn fault(&self, model: &Model) -> Option<String> {
        let data =
            |id: &NodeId| model.nodes.get(id.index()).filter(|n| n.data().is_some() || !n.is_observed());
        if let Some((atom, _)) = self.dims.iter().find(|(_, n)| *n > MOST) {
            return Some(format!("the dimension {atom:?} larger than any data"));
        }
        let size = |atom: &Atom| self.dims.iter().find(|(a, _)| a == atom).map(|(_, n)| *n);
        for (id, names) in &self.columns {
            let Some(node) = data(id) else { return Some("columns of no node".to_owned()) };
            let width = node.ty.shape.get(1).map_or(Some(1), |d| d.eval(&size));
            if width.is_some_and(|w| w != names.len()) {
                return Some(format!("{} columns for `{}`", names.len(), node.name));
            }
        }
        for (id, levels) in &self.levels {
            let Some(node) = data(id) else { return Some("levels of no node".to_owned()) };
            if size(&Atom::Levels(*id)) != Some(levels.len()) || levels.is_empty() {
                return Some(format!("another number of levels of `{}` than it says", node.name));
            }
        }
        for (id, constant) in &self.constants {
            let Constant { rank, rows, cols, values } = constant;
            let Some(node) = model.nodes.get(id.index()) else { return Some("values of no node".to_owned()) };
            let shape: Option<Vec<usize>> = node.ty.shape.iter().map(|d| d.eval(&size)).collect();
            let whole = match rank {
                Rank::Scalar => vec![],
                Rank::Vector => vec![*rows],
                Rank::Matrix => vec![*rows, *cols],
            };
            let one = *rank == Rank::Matrix || *cols == 1 && (*rank == Rank::Vector || *rows == 1);
            if !one || rows.checked_mul(*cols) != Some(values.len()) || shape != Some(whole) {
                return Some(format!("values of `{}` in another shape than it has", node.name));
            }
        }
        None
    }

    /// Puts back what is frozen.
    pub(crate) fn restore(&self, model: &Model, bound: &mut Bound) {
        bound.dims = self.dims.iter().cloned().collect();
        bound.levels = self.levels.clone();
        for (id, constant) in &self.constants {
            let Constant { rank, rows, cols, values } = constant;
            if model.nodes.get(id.index()).is_none() || rows.checked_mul(*cols) != Some(values.len()) {
                continue;
            }
            let array = DMatrix::from_vec(*rows, *cols, values.clone());
            bound.values.insert(*id, Arc::new(Value { rank: *rank, array, labels: Vec::new() }));
            bound.constants.insert(*id);
            if let Some(names) = self.columns.get(id) {
                bound.columns.insert(*id, names.clone());
            }
        }
    }

    /// Takes the columns of the fit by name.
    pub(super) fn take<'d>(
        &self,
        model: &Model,
        data: &'d Data,
        wanted: &BTreeSet<NodeId>,
        found: &mut Diagnostics,
    ) -> BTreeMap<NodeId, Taken<'d>> {
        let mut all = BTreeMap::new();
        for node in wanted.iter().filter_map(|id| model.nodes.get(id.index())) {
            match self.take_node(node, data) {
                Ok(taken) => {
                    all.insert(node.id, taken);
                }
                Err(error) => found.push(self.for_a_fit(error, node)),
            }
        }
        all
    }

    /// At prediction the program is settled: a missing column is a matter of the data.
    fn for_a_fit(&self, error: Diagnostic, node: &Node) -> Diagnostic {
        match self.columns.get(&node.id) {
            Some(known) if error.code == "E0702" => error.help(format!(
                "a fit asks for the columns it was trained on, by name: {}",
                super::places::names(known)
            )),
            _ => error,
        }
    }

    /// A matrix of the node's name, or the columns of the fit, or `x1 … xD`.
    fn take_node<'d>(&self, node: &Node, data: &'d Data) -> Result<Taken<'d>, Diagnostic> {
        let known = self.columns.get(&node.id).map_or(&[][..], Vec::as_slice);
        if node.ty.shape.len() < 2 {
            let name = known.first().unwrap_or(&node.name);
            // a host that names columns after nodes may go on doing so
            let by_node = data.column(name).is_none() && data.column(&node.name).is_some();
            return columns::one(node, data, if by_node { &node.name } else { name });
        }
        if let Some(Column::Matrix { width, names, .. }) = data.column(&node.name) {
            let mut taken = columns::one(node, data, &node.name)?;
            let in_order = names.as_ref().is_none_or(|n| n.as_slice() == known) || known.len() != *width;
            if !in_order && let Some(names) = names {
                let at: Option<Vec<usize>> =
                    known.iter().map(|k| names.iter().position(|n| n == k)).collect();
                let at = at.ok_or_else(|| other_columns(node, known, names))?;
                let mut columns: Vec<Option<_>> = taken.columns.into_iter().map(Some).collect();
                taken.columns = at.into_iter().filter_map(|i| columns.get_mut(i)?.take()).collect();
            }
            if taken.columns.len() == known.len() {
                taken.columns.iter_mut().zip(known).for_each(|(c, k)| c.name.clone_from(k));
            }
            return Ok(taken);
        }
        if known.iter().any(|k| data.column(k).is_none()) {
            let numbered = columns::numbered(data, &node.name);
            if numbered.len() == known.len() && !numbered.is_empty() {
                return columns::several(node, data, &numbered);
            }
        }
        columns::several(node, data, known)
    }
}

fn other_columns(node: &Node, known: &[String], found: &[String]) -> Diagnostic {
    Diagnostic::error("E0702", format!("`{}` has other columns than at training", node.name))
        .at(node.span, "takes the columns of the fit")
        .note(format!("found {}, expected {}", super::places::names(found), super::places::names(known)))
        .help("give the columns of the fit, in any order")
}

impl Bound {
    /// Checksum of the values: the same data give the same one. It tells data apart, it guards nothing.
    pub fn hash(&self) -> String {
        let mut sum = Xxh3Default::new();
        self.bytes(|bytes| sum.update(bytes));
        format!("{:032x}", sum.digest128())
    }

    /// Whether these are the data of a checksum; fits before 2026-12 have SHA-256.
    pub fn is(&self, hash: &str) -> bool {
        if hash.len() < SHA256 {
            return self.hash() == hash;
        }
        let mut sum = Checksum::default();
        self.bytes(|bytes| sum.add(bytes));
        sum.hex() == hash
    }

    /// Every node with its values.
    fn bytes(&self, mut take: impl FnMut(&[u8])) {
        let mut bytes = [[0; 8]; 512];
        for (node, value) in &self.values {
            take(&node.0.to_le_bytes());
            for some in value.array.as_slice().chunks(bytes.len()) {
                bytes.iter_mut().zip(some).for_each(|(to, x)| *to = x.to_le_bytes());
                take(bytes[..some.len()].as_flattened());
            }
        }
    }
}
