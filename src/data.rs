//! Named, typed columns given by the host, and what binding them to a model yields.
//!
//! Two layers. A [`Data`] is what the host has: columns by name, matrices, tables read from files.
//! [`crate::session::bind`] checks it against the declarations of a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One named quantity as the host gave it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// Numbers; `NaN` is missing.
    Numbers(Vec<f64>),
    /// Words as read; `None` is missing. A column of a file is `Words` if any cell is no number.
    Words(Vec<Option<Arc<str>>>),
    /// Rows of numbers, row-major, with their width (from JSON, or from the host).
    Matrix {
        /// Row-major entries; `NaN` is missing.
        values: Vec<f64>,
        /// Number of columns.
        width: usize,
        /// Names of its columns, if it has any.
        names: Option<Vec<String>>,
    },
    /// One number (from JSON, or from the host).
    Scalar(f64),
}

impl Column {
    /// Number of rows; 1 for a scalar.
    pub fn rows(&self) -> usize {
        match self {
            Column::Numbers(v) => v.len(),
            Column::Words(v) => v.len(),
            Column::Matrix { values, width, .. } => values.len().checked_div(*width).unwrap_or(0),
            Column::Scalar(_) => 1,
        }
    }
}

/// What a host has: columns by name, in order.
///
/// ```
/// let x = [0.0, 1.0, 2.0];
/// let data = sbl::Data::new().vector("x", &x)?;
/// assert_eq!(data.names().collect::<Vec<_>>(), ["x"]);
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Data {
    /// In the order in which they were given.
    order: Vec<String>,
    columns: BTreeMap<String, Column>,
    /// Where the columns come from, for messages: `diabetes.csv`.
    origin: Option<String>,
    /// For messages: the line of the file on which a row stands, if the rows come from a file.
    lines: Vec<u64>,
}

impl Data {
    /// No column.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same data, named for messages (`diabetes.csv`).
    pub fn named(mut self, origin: &str) -> Self {
        self.origin = Some(origin.to_owned());
        self
    }

    /// The same data, with the line of the file on which each row stands.
    pub fn with_lines(mut self, lines: Vec<u64>) -> Self {
        self.lines = lines;
        self
    }

    /// Where the columns come from.
    pub fn origin(&self) -> &str {
        self.origin.as_deref().unwrap_or("the data")
    }

    /// The line of the file on which row `row` (from 0) stands.
    pub fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }

    /// Column names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.get(name)
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Adds a column, whatever it is; `false` if the name is taken (the old one stays).
    pub fn insert(&mut self, name: &str, column: Column) -> bool {
        if self.columns.contains_key(name) {
            return false;
        }
        self.order.push(name.to_owned());
        self.columns.insert(name.to_owned(), column);
        true
    }
}
