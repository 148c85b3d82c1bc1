//! Dimensions: bound on first use, checked everywhere else.

use std::collections::BTreeSet;

use super::{Binder, belongs_to_rows, count};
use crate::check::dim::{Atom, Dim};
use crate::check::typed::{Node, NodeId};
use crate::diag::Diagnostic;
use crate::source::Span;

/// Where a dimension was bound.
#[derive(Clone)]
pub(super) struct Origin {
    span: Span,
    /// `x` has 3 columns
    pub(super) text: String,
}

impl Binder<'_> {
    /// Plain symbols take the number of the first declaration that has them; everything else must agree.
    pub(super) fn bind_dims(&mut self, row_atoms: &BTreeSet<Atom>) {
        let nodes: Vec<(NodeId, [usize; 2])> = self
            .bound
            .values
            .iter()
            .filter(|(id, _)| !self.schema.is_some_and(|s| s.is_constant(**id)))
            .map(|(id, v)| (*id, [v.rows(), v.cols()]))
            .collect();
        for (id, sizes) in &nodes {
            let node = self.model.node(*id);
            for (axis, (dim, size)) in node.ty.shape.iter().zip(sizes).enumerate() {
                if let Some(atom @ Atom::Symbol(_)) = dim.as_atom()
                    && !self.bound.dims.contains_key(atom)
                {
                    self.bound.dims.insert(atom.clone(), *size);
                    let origin = Origin { span: node.span, text: describe(node, axis, *size) };
                    self.binders.insert(atom.clone(), origin);
                }
            }
        }
        // a model without inputs still has rows to predict
        for atom in row_atoms {
            if !self.bound.dims.contains_key(atom) {
                self.bound.dims.insert(atom.clone(), self.data.row_count());
            }
        }
        if self.schema.is_none() {
            let symbols: Vec<(String, usize)> = self
                .bound
                .dims
                .iter()
                .filter_map(|(a, n)| if let Atom::Symbol(s) = a { Some((s.clone(), *n)) } else { None })
                .collect();
            self.bound.dims.extend(symbols.into_iter().map(|(s, n)| (Atom::Train(s), n)));
        }
        for (id, sizes) in nodes {
            let node = self.model.node(id);
            for (axis, (dim, size)) in node.ty.shape.iter().zip(sizes).enumerate() {
                if self.value_of(dim) != Some(size) {
                    let clash = self.clash(node, axis, dim, size, row_atoms);
                    self.found.push(clash);
                }
            }
        }
    }

    /// What only data can decide.
    pub(super) fn verify_constraints(&mut self) {
        for constraint in &self.model.constraints {
            let (left, right) = (self.value_of(&constraint.left), self.value_of(&constraint.right));
            if left.is_some() && left == right {
                continue;
            }
            let side = |dim: &Dim, value: Option<usize>| match (dim.as_number(), value) {
                (Some(n), _) => n.to_string(),
                (None, Some(n)) => format!("`{}` is {n}", self.show(dim)),
                (None, None) => format!("`{}` is no whole number of at least 0", self.show(dim)),
            };
            let (l, r) = (side(&constraint.left, left), side(&constraint.right, right));
            let mut error =
                Diagnostic::error("E0708", format!("shapes do not agree with the data: {l}, {r}"))
                    .at(constraint.span, "these must be equal");
            if let Some(span) = constraint.left_span {
                error = error.also(span, format!("`{}` comes from here", self.show(&constraint.left)));
            }
            for atom in constraint.left.atoms().into_iter().chain(constraint.right.atoms()) {
                if let Some(origin) = self.binders.get(atom) {
                    error = error.note(format!("`{}`: {}", self.show(&Dim::atom(atom.clone())), origin.text));
                }
            }
            self.found
                .push(error.help("give data of the shape that the program states, or change the program"));
        }
    }

    fn value_of(&self, dim: &Dim) -> Option<usize> {
        dim.eval(&|atom| self.bound.dims.get(atom).copied())
    }

    pub(super) fn show(&self, dim: &Dim) -> String {
        dim.display(&|id| self.model.node(id).name.clone()).to_string()
    }

    fn clash(
        &self,
        node: &Node,
        axis: usize,
        dim: &Dim,
        size: usize,
        row_atoms: &BTreeSet<Atom>,
    ) -> Diagnostic {
        let wanted = self.value_of(dim);
        let shown = self.show(dim);
        let expected = match (dim.as_number(), wanted) {
            (Some(n), _) => n.to_string(),
            (None, Some(n)) => format!("{n} (`{shown}`)"),
            (None, None) => format!("`{shown}`, which the data do not bind"),
        };
        let mut error =
            Diagnostic::error("E0707", format!("{}, expected {expected}", describe(node, axis, size)))
                .at(node.span, format!("{} declared `{shown}`", if axis == 0 { "rows" } else { "columns" }));
        for atom in dim.atoms() {
            match self.binders.get(atom) {
                Some(origin) if origin.span != node.span => {
                    error = error.also(origin.span, origin.text.clone());
                }
                None if self.schema.is_some() && matches!(atom, Atom::Symbol(_)) => {
                    error =
                        error.note(format!("`{}` comes from the fit", self.show(&Dim::atom(atom.clone()))));
                }
                _ => {}
            }
        }
        if let Some(names) = self.bound.columns.get(&node.id).filter(|_| axis == 1) {
            error = error.note(format!("its columns: {}", super::places::names(names)));
            return error.help(format!("choose its columns: `data {}: … from columns(\"…\")`", node.name));
        }
        if belongs_to_rows(node, row_atoms) {
            error.help("give columns of one length, or write another letter for another length")
        } else {
            error.help("give data of the shape that the program states, or change the program")
        }
    }
}

/// `x` has 3 columns
fn describe(node: &Node, axis: usize, size: usize) -> String {
    let what = match (axis, node.ty.shape.len()) {
        (0, 1) => "row",
        (0, _) => "row",
        _ => "column",
    };
    format!("`{}` has {}", node.name, count(size, what))
}
