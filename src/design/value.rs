//! Values of expressions once data are bound: arrays of rank at most two, with names for columns.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// What one column of a design is about, for people.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// A constant column.
    Bias,
    /// A column of the data, or made of columns: `bmi`, `bmi*bp`, `bmi^2`.
    Column(String),
    /// A kernel centred on a training row, counted from 0 here and shown from 1: `row 38`.
    Centre(usize),
    /// A level of a category.
    Level(String),
    /// Nothing better than its position, counted from 0 here and shown from 1: `[3]`.
    Index(usize),
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Bias => f.write_str("bias"),
            Label::Column(name) | Label::Level(name) => f.write_str(name),
            Label::Centre(row) => write!(f, "row {}", row + 1),
            Label::Index(i) => write!(f, "[{}]", i + 1),
        }
    }
}

/// How many axes a value has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Rank {
    /// 1 × 1
    Scalar,
    /// A × 1
    Vector,
    /// A × B
    Matrix,
}

/// An array of numbers. Categories are codes from 0; a missing or unseen code is `NaN`.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Scalar, vector or matrix.
    pub rank: Rank,
    /// The entries, column-major: 1 × 1, A × 1 or A × B.
    pub array: DMatrix<f64>,
    /// Names of the columns of a matrix (or of the entries of a vector, where they have names);
    /// empty if there are none.
    pub labels: Vec<Label>,
}

impl Value {
    /// A scalar.
    pub fn scalar(x: f64) -> Value {
        Value { rank: Rank::Scalar, array: DMatrix::from_element(1, 1, x), labels: Vec::new() }
    }

    /// A vector.
    pub fn vector(v: Vec<f64>) -> Value {
        Value { rank: Rank::Vector, array: DMatrix::from_vec(v.len(), 1, v), labels: Vec::new() }
    }

    /// A matrix.
    pub fn matrix(array: DMatrix<f64>) -> Value {
        Value { rank: Rank::Matrix, array, labels: Vec::new() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.array.nrows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.array.ncols()
    }
}
