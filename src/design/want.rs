//! Which rows and columns of a value are wanted.

use std::sync::Arc;

/// All of an axis, or these positions of it, in this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Axis {
    /// Every position.
    #[default]
    All,
    /// These, counted from 0.
    Only(Arc<[usize]>),
}

impl Axis {
    /// These positions.
    pub fn only(positions: &[usize]) -> Axis {
        Axis::Only(positions.into())
    }

    /// How many positions are wanted of `size`.
    pub fn len(&self, size: usize) -> usize {
        match self {
            Axis::All => size,
            Axis::Only(positions) => positions.len(),
        }
    }

    /// The wanted positions of an axis of `size`; `None` if one lies outside.
    pub fn positions(&self, size: usize) -> Option<Vec<usize>> {
        match self {
            Axis::All => Some((0..size).collect()),
            Axis::Only(positions) => positions.iter().all(|p| *p < size).then(|| positions.to_vec()),
        }
    }
}

/// Which part of a value is wanted. Scalars are always whole; a vector has rows only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Want {
    /// Rows of a matrix, entries of a vector.
    pub rows: Axis,
    /// Columns of a matrix.
    pub cols: Axis,
}

impl Want {
    /// The whole value.
    pub fn all() -> Want {
        Want::default()
    }

    /// These rows, all columns.
    pub fn rows(rows: Axis) -> Want {
        Want { rows, cols: Axis::All }
    }

    /// All rows, these columns.
    pub fn cols(cols: Axis) -> Want {
        Want { rows: Axis::All, cols }
    }

    /// Whether it is the whole value.
    pub fn is_all(&self) -> bool {
        self.rows == Axis::All && self.cols == Axis::All
    }
}
