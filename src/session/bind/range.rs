//! Indices, in data or in the program: each must lie in what it indexes.

use super::columns::{Cells, Taken, TakenColumn};
use super::places::Places;
use super::{Binder, count};
use crate::check::typed::{Elem, ExprId, ExprKind, NodeId};
use crate::design::walk;
use crate::diag::Diagnostic;

impl Binder<'_> {
    /// Checks every index that is a data node of whole numbers, or a number of the program; both count from 1.
    pub(super) fn verify_indices(&mut self) {
        let mut found = Vec::new();
        for e in walk::reachable(self.model) {
            match &self.model.expr(e).kind {
                ExprKind::Gather { base, at } => self.verify(*base, 0, *at, &mut found),
                ExprKind::GatherColumns { base, at } => self.verify(*base, 1, *at, &mut found),
                ExprKind::GatherPairs { base, rows, cols } => {
                    self.verify(*base, 0, *rows, &mut found);
                    self.verify(*base, 1, *cols, &mut found);
                }
                ExprKind::Row(base, at) => self.verify_number(e, *base, 0, *at, &mut found),
                ExprKind::Column(base, at) => self.verify_number(e, *base, 1, *at, &mut found),
                _ => {}
            }
        }
        self.found.extend(found);
    }

    fn verify(&self, base: ExprId, axis: usize, at: ExprId, found: &mut Vec<Diagnostic>) {
        let Some(node) = self.index_node(at) else { return };
        let (Some(value), Some(dim)) =
            (self.bound.values.get(&node.id), self.model.expr(base).ty.shape.get(axis))
        else {
            return;
        };
        let Some(size) = dim.eval(&|a| self.bound.dims.get(a).copied()) else { return };
        let outside: Vec<(usize, usize)> = value
            .array
            .iter()
            .enumerate()
            .filter(|(_, x)| **x < 1.0 || **x > size as f64)
            .map(|(row, _)| (row, 0))
            .collect();
        let Some((row, _)) = outside.first() else { return };
        let name = self.bound.columns.get(&node.id).and_then(|c| c.first()).cloned().unwrap_or_default();
        let cells = Cells::Numbers(&[]);
        let columns = vec![TakenColumn { name, cells }];
        let taken = Taken { columns, rows: value.rows(), scalar: false, named: true };
        let places = Places { data: self.data, taken: &taken };
        found.push(
            Diagnostic::error(
                "E0714",
                format!(
                    "found index {} in {}, expected 1 to {size} (`{}`)",
                    value.array[*row],
                    places.one((*row, 0)),
                    self.show(dim)
                ),
            )
            .at(self.model.expr(base).span, "indexed here")
            .also(node.span, "the index; indices count from 1")
            .note(format!("{} outside: {}", count(outside.len(), "index"), places.list(&outside)))
            .help(format!("declare `data {}: category[N]`, or correct the data", node.name)),
        );
    }

    /// An index that stands in the program, here counted from 0.
    fn verify_number(&self, e: ExprId, base: ExprId, axis: usize, at: usize, found: &mut Vec<Diagnostic>) {
        let Some(dim) = self.model.expr(base).ty.shape.get(axis) else { return };
        let Some(size) = dim.eval(&|a| self.bound.dims.get(a).copied()) else { return };
        if at < size {
            return;
        }
        let error = Diagnostic::error(
            "E0714",
            format!("index {} is outside 1 … {size} (`{}`)", at.saturating_add(1), self.show(dim)),
        )
        .at(self.model.expr(e).span, format!("this axis has {size}"));
        let origin = dim.as_atom().and_then(|atom| self.binders.get(atom));
        let error = match origin {
            Some(origin) => error.note(format!("`{}`: {}", self.show(dim), origin.text)),
            None => error,
        };
        found.push(error.help(format!("indices count from 1: write a number from 1 to {size}")));
    }

    /// The data node of whole numbers that an index is, through `let`s.
    fn index_node(&self, mut at: ExprId) -> Option<&crate::check::typed::Node> {
        for _ in 0..=self.model.nodes.len() {
            let ExprKind::Node(id) = &self.model.expr(at).kind else { return None };
            let id: NodeId = *id;
            let node = self.model.nodes.get(id.index())?;
            if node.data().is_some() {
                return matches!(node.ty.elem, Elem::Int | Elem::Count).then_some(node);
            }
            at = *walk::through_lets(self.model, at).first()?;
        }
        None
    }
}
