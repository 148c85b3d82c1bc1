//! Binds data to a model: which column is which node, dimensions, levels, missing values, and
//! every rule of the types.
//!
//! A `category` without stated levels takes them from the training data, numbers ascending and
//! words alphabetically; integers of an `ordered` ascend, words need a stated order. A matrix
//! declared without `from` (or with `from except`) takes the columns that no other declaration
//! names. Missing targets are kept and reported; every other missing or infinite value is an error.

mod cells;
mod columns;
mod dims;
mod explain;
mod levels;
mod places;
mod range;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::check::dim::Atom;
use crate::check::typed::{Elem, ExprId, ExprKind, Model, Node, NodeId, NodeKind};
use crate::data::Data;
use crate::design::value::{Label, Rank, Value};
use crate::design::{Inputs, walk};
use crate::diag::{Diagnostic, Diagnostics, Staged, Warned};

pub use explain::{diagnose, warn};
pub use schema::Schema;

use columns::Taken;
use places::Places;

/// A model's data, checked.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bound {
    /// Numbers of dimensions: symbols, their frozen twins, levels.
    pub dims: BTreeMap<Atom, usize>,
    /// Values of data nodes. Categories are codes from 0, `bool` is 0 or 1; a missing target and a
    /// level that was not there at training are `NaN`.
    pub values: BTreeMap<NodeId, Arc<Value>>,
    /// Levels of every `category`, `ordered` and `bool`, in the order of their codes.
    pub levels: BTreeMap<NodeId, Vec<String>>,
    /// Rows of each observed node that has missing values, from 0, ascending.
    pub missing: BTreeMap<NodeId, Vec<usize>>,
    /// The columns that each node took, by name.
    pub columns: BTreeMap<NodeId, Vec<String>>,
    /// Data that belong to no row: kept with the fit, not asked for at prediction.
    pub constants: BTreeSet<NodeId>,
    /// Rows of the (first) observed node.
    pub rows: usize,
}

impl Bound {
    /// Keeps learned parameters with the data that belong to no row: prediction finds them there.
    pub(crate) fn keep(&mut self, model: &Model, params: &BTreeMap<NodeId, Vec<f64>>) {
        for (id, entries) in params {
            let shape = self.inputs(model).shape(&model.node(*id).ty);
            let Ok((rank, rows, cols)) = shape else { continue };
            if rows * cols == entries.len() {
                let array = nalgebra::DMatrix::from_column_slice(rows, cols, entries);
                self.values.insert(*id, Arc::new(Value { rank, array, labels: Vec::new() }));
                self.constants.insert(*id);
            }
        }
    }

    /// What expressions are evaluated on.
    pub fn inputs<'a>(&'a self, model: &'a Model) -> Inputs<'a> {
        Inputs { model, dims: &self.dims, values: &self.values, levels: &self.levels, columns: &self.columns }
    }
}

/// Binds training data: every data node must be there.
///
/// # Errors
/// Everything that is wrong with the data, in the order of the declarations.
pub fn bind_training(model: &Model, data: &Data) -> Staged<Bound> {
    let wanted: BTreeSet<NodeId> = model.nodes.iter().filter(|n| n.data().is_some()).map(|n| n.id).collect();
    if !wanted.is_empty() && has_no_rows(data) {
        return Err(vec![no_rows(data)]);
    }
    let mut binder = Binder::new(model, data, None);
    let mut taken = columns::take(model, data, &wanted, &mut binder.found);
    binder.bind(&mut taken);
    binder.finish()
}

/// Binds data for draws from the prior: inputs must be there, targets need not.
///
/// # Errors
/// Everything that is wrong with the data.
pub fn bind_inputs(model: &Model, data: &Data) -> Staged<Bound> {
    if let Ok(bound) = bind_training(model, data) {
        return Ok(bound);
    }
    let wanted: BTreeSet<NodeId> =
        model.nodes.iter().filter(|n| n.data().is_some() && !n.is_observed()).map(|n| n.id).collect();
    let mut binder = Binder::new(model, data, None);
    let mut taken = columns::take(model, data, &wanted, &mut binder.found);
    binder.bind(&mut taken);
    let rows = data.row_count();
    for atom in model.row_atoms() {
        binder.bound.dims.entry(atom).or_insert(rows);
    }
    binder.finish()
}

/// Binds data for prediction: only what prediction needs, under the columns, levels and dimensions
/// of the fit; with the targets too if `want_targets`.
///
/// # Errors
/// Everything that is wrong with the data.
pub fn bind_prediction(model: &Model, schema: &Schema, data: &Data, want_targets: bool) -> Staged<Bound> {
    let mut wanted = needed(model);
    if want_targets {
        wanted.extend(model.nodes.iter().filter(|n| n.is_observed()).map(|n| n.id));
    }
    wanted.retain(|n| !schema.is_constant(*n));
    if has_no_rows(data) {
        return Err(vec![no_rows(data)]);
    }
    let mut binder = Binder::new(model, data, Some(schema));
    let mut taken = schema.take(model, data, &wanted, &mut binder.found);
    binder.bind(&mut taken);
    binder.finish()
}

/// Rows made by the program itself, from values that are valid, under the levels and dimensions of the fit.
pub(crate) fn bind_rows(
    model: &Model,
    schema: &Schema,
    values: BTreeMap<NodeId, Arc<Value>>,
    rows: usize,
) -> Bound {
    let columns = schema.columns.iter().filter(|(id, _)| values.contains_key(id));
    let columns = columns.map(|(id, names)| (*id, names.clone())).collect();
    let mut bound = Bound { values, columns, rows, ..Bound::default() };
    schema.restore(model, &mut bound);
    bound.dims.extend(model.row_atoms().into_iter().map(|atom| (atom, rows)));
    bound
}

/// The data nodes that a prediction reads: those that the observed distributions depend on, without
/// case weights, and without what is frozen.
pub fn needed(model: &Model) -> BTreeSet<NodeId> {
    let args = |node: &Node| -> Vec<ExprId> {
        node.dist().map(|d| d.args.iter().map(|a| a.value).collect()).unwrap_or_default()
    };
    let roots: Vec<ExprId> = model.nodes.iter().filter(|n| n.is_observed()).flat_map(&args).collect();
    let mut nodes = BTreeSet::new();
    walk::post_order(roots, |e| match &model.expr(e).kind {
        ExprKind::Train(_) => Vec::new(),
        ExprKind::Node(id) => match model.nodes.get(id.index()) {
            Some(node) if matches!(node.kind, NodeKind::Latent(_)) => args(node),
            Some(node) => {
                if node.data().is_some() {
                    nodes.insert(*id);
                }
                walk::through_lets(model, e)
            }
            None => Vec::new(),
        },
        kind => kind.operands(),
    });
    nodes
}

/// Whether a latent node has one entry per row of an observed node: at prediction it is drawn anew.
pub fn is_per_row(model: &Model, node: NodeId) -> bool {
    model.nodes.get(node.index()).is_some_and(|node| model.is_per_row(node))
}

/// The work of one binding.
struct Binder<'m> {
    model: &'m Model,
    data: &'m Data,
    schema: Option<&'m Schema>,
    bound: Bound,
    /// Errors and warnings.
    found: Diagnostics,
    /// Where each dimension was bound first, for clashes.
    binders: BTreeMap<Atom, dims::Origin>,
}

impl<'m> Binder<'m> {
    fn new(model: &'m Model, data: &'m Data, schema: Option<&'m Schema>) -> Self {
        let mut bound = Bound::default();
        if let Some(schema) = schema {
            schema.restore(model, &mut bound);
        }
        Binder { model, data, schema, bound, found: Vec::new(), binders: BTreeMap::new() }
    }

    /// Levels, numbers, dimensions, constraints: each step for all nodes, so that all errors are found.
    fn bind(&mut self, taken: &mut BTreeMap<NodeId, Taken<'_>>) {
        let row_atoms = self.model.row_atoms();
        for (id, taken) in taken.iter() {
            let node = self.model.node(*id);
            self.node(node, taken);
        }
        self.bind_dims(&row_atoms);
        if self.found.iter().any(Diagnostic::is_error) {
            return;
        }
        self.verify_constraints();
        self.verify_indices();
        for node in self.model.nodes.iter().filter(|n| n.data().is_some()) {
            let observed = self.model.nodes.iter().any(Node::is_observed);
            if self.schema.is_none() && observed && !belongs_to_rows(node, &row_atoms) && !node.is_observed()
            {
                self.bound.constants.insert(node.id);
            }
        }
        let observed = self.model.nodes.iter().find(|n| n.is_observed());
        let first = observed.or_else(|| self.model.nodes.iter().find(|n| n.data().is_some()));
        self.bound.rows = match first.and_then(|n| n.ty.shape.first()) {
            Some(dim) => dim.eval(&|a| self.bound.dims.get(a).copied()).unwrap_or(0),
            None if observed.is_some() => 1,
            None => self.data.row_count(),
        };
        if observed.is_some() && self.bound.rows == 0 {
            self.found.push(no_rows(self.data));
        }
        self.warn_of_few_rows();
    }

    /// One node: its levels, then its cells as numbers.
    fn node(&mut self, node: &Node, taken: &Taken<'_>) {
        if node.ty.shape.len() < 2 && taken.columns.len() > 1 {
            return;
        }
        let Ok(levels) = self.levels(node, taken) else { return };
        let (rows, width) = (taken.rows, taken.columns.len());
        let mut array = nalgebra::DMatrix::zeros(rows, width);
        let mut bad = cells::Findings::default();
        let copied = levels.is_none()
            && node.ty.elem == Elem::Real
            && columns::copy_finite(&taken.columns, rows, array.as_mut_slice());
        // otherwise row by row, so that positions come in the order of the file
        let left = if copied { 0 } else { rows };
        for i in 0..left {
            for (j, column) in taken.columns.iter().enumerate() {
                match cells::number(column.cells.get(i), node.ty.elem, levels.as_ref()) {
                    Ok(x) => array[(i, j)] = x,
                    Err(what) => {
                        array[(i, j)] = f64::NAN;
                        bad.add(what, i, j);
                    }
                }
            }
        }
        let missing = bad.missing.clone();
        self.report(node, taken, bad, levels.as_ref());
        if node.is_observed() && !missing.is_empty() {
            let mut rows: Vec<usize> = missing.iter().map(|(i, _)| *i).collect();
            rows.dedup();
            self.report_missing_targets(node, taken, &missing, rows.len());
            self.bound.missing.insert(node.id, rows);
        }
        let rank = match node.ty.shape.len() {
            0 => Rank::Scalar,
            1 => Rank::Vector,
            _ => Rank::Matrix,
        };
        let names: Vec<String> = taken.columns.iter().map(|c| c.name.clone()).collect();
        let labels = if rank == Rank::Matrix && taken.named {
            names.iter().cloned().map(Label::Column).collect()
        } else {
            Vec::new()
        };
        if let Some(levels) = levels {
            self.bound.dims.insert(Atom::Levels(node.id), levels.len());
            self.bound.levels.insert(node.id, levels.names);
        }
        self.bound.columns.insert(node.id, names);
        self.bound.values.insert(node.id, Arc::new(Value { rank, array, labels }));
    }

    /// Missing targets leave the likelihood and are predicted; where a target is also an input, or
    /// none is left, that cannot be.
    fn report_missing_targets(
        &mut self,
        node: &Node,
        taken: &Taken<'_>,
        missing: &[(usize, usize)],
        rows: usize,
    ) {
        let places = Places { data: self.data, taken };
        let total = taken.rows * taken.columns.len();
        if self.is_read(node.id) {
            self.found.push(
                Diagnostic::error(
                    "E0705",
                    format!(
                        "{} of `{}` {} missing, and `{}` is read by other nodes",
                        count(missing.len(), "value"),
                        node.name,
                        are(missing.len()),
                        node.name
                    ),
                )
                .at(node.span, "read elsewhere, so every row must have a value")
                .note(places.list(missing))
                .help("drop these rows, or fill the values in"),
            );
        } else if missing.len() == total && self.schema.is_none() {
            self.found.push(
                Diagnostic::error("E0712", format!("every value of the target `{}` is missing", node.name))
                    .at(node.span, format!("column `{}`", taken.columns.first().map_or("", |c| &c.name)))
                    .help("give at least one row with a target"),
            );
        } else if self.schema.is_none() {
            self.found.push(
                Diagnostic::warning(
                    "W0703",
                    format!(
                        "{} of the target `{}` {} missing: {} left out of the likelihood and predicted",
                        count(missing.len(), "value"),
                        node.name,
                        are(missing.len()),
                        if rows == 1 { "the row is" } else { "the rows are" },
                    ),
                )
                .note(places.list(missing)),
            );
        }
    }

    /// Whether some expression that is needed reads the values of a node.
    fn is_read(&self, id: NodeId) -> bool {
        walk::reachable(self.model)
            .into_iter()
            .any(|e| matches!(&self.model.expr(e).kind, ExprKind::Node(n) if *n == id))
    }

    fn warn_of_few_rows(&mut self) {
        let rows = self.bound.rows;
        if self.schema.is_none() && (1..3).contains(&rows) && self.model.nodes.iter().any(Node::is_observed) {
            self.found.push(
                Diagnostic::warning(
                    "W0706",
                    format!("the data have {}: the answer is mostly the prior", count(rows, "row")),
                )
                .help("give more rows"),
            );
        }
    }

    fn finish(self) -> Staged<Bound> {
        if self.found.iter().any(Diagnostic::is_error) {
            Err(self.found)
        } else {
            Ok(Warned::new(self.bound, self.found))
        }
    }
}

/// Whether the first dimension of a node is one of those.
pub(super) fn belongs_to_rows(node: &Node, row_atoms: &BTreeSet<Atom>) -> bool {
    match node.ty.shape.first() {
        Some(dim) => dim.atoms().into_iter().any(|a| row_atoms.contains(a)),
        None => false,
    }
}

/// Scalars belong to no row.
fn has_no_rows(data: &Data) -> bool {
    let mut columns = data.names().filter_map(|n| data.column(n)).peekable();
    columns.peek().is_none() || columns.all(|c| c.rows() == 0)
}

fn no_rows(data: &Data) -> Diagnostic {
    let what = if data.is_empty() { "no columns" } else { "no rows" };
    Diagnostic::error("E0701", format!("{} {} {what}", data.origin(), has_or_have(data)))
        .help("give data with a header line and at least one row")
}

fn has_or_have(data: &Data) -> &'static str {
    if data.origin() == Data::new().origin() { "have" } else { "has" }
}

/// `1 row`, `2 rows`
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

pub(super) fn are(n: usize) -> &'static str {
    if n == 1 { "is" } else { "are" }
}
