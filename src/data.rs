//! Named, typed columns given by the host, and what binding them to a model yields.
//!
//! Two layers. A [`Data`] is what the host has: columns by name, matrices, tables read from files.
//! [`crate::session::bind`] checks it against the declarations of a model.

#[cfg(feature = "arrow")]
pub mod record_batch;

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::diag::{Diagnostic, Diagnostics};
use crate::error::Error;

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
    ///
    /// ```
    /// assert!(sbl::Data::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The same data, named for messages (`diabetes.csv`).
    ///
    /// ```
    /// let data = sbl::Data::new().named("diabetes.csv");
    /// assert_eq!(data.origin(), "diabetes.csv");
    /// ```
    pub fn named(mut self, origin: &str) -> Self {
        self.origin = Some(origin.to_owned());
        self
    }

    /// The same data, with the line of the file on which each row stands.
    ///
    /// ```
    /// // a header, then rows on lines 2 and 3
    /// let data = sbl::Data::new().with_lines(vec![2, 3]).vector("x", &[0.5, 1.5])?;
    /// assert_eq!(data.line(1), Some(3));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn with_lines(mut self, lines: Vec<u64>) -> Self {
        self.lines = lines;
        self
    }

    /// Where the columns come from.
    ///
    /// ```
    /// assert_eq!(sbl::Data::new().origin(), "the data");
    /// ```
    pub fn origin(&self) -> &str {
        self.origin.as_deref().unwrap_or("the data")
    }

    /// The line of the file on which row `row` (from 0) stands.
    ///
    /// ```
    /// assert_eq!(sbl::Data::new().line(0), None);
    /// ```
    pub fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }

    /// Column names, in order.
    ///
    /// ```
    /// let data = sbl::Data::new().scalar("k", 3.0)?.vector("x", &[1.0])?;
    /// assert!(data.names().eq(["k", "x"]));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// The column of that name.
    ///
    /// ```
    /// let data = sbl::Data::new().vector("x", &[1.0, 2.0])?;
    /// assert_eq!(data.column("x").map(|c| c.rows()), Some(2));
    /// assert!(data.column("y").is_none());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.get(name)
    }

    /// Whether there is no column.
    ///
    /// ```
    /// assert!(!sbl::Data::new().scalar("k", 3.0)?.is_empty());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Adds a column, whatever it is; `false` if the name is taken (the old one stays).
    ///
    /// ```
    /// use sbl::data::Column;
    /// let mut data = sbl::Data::new();
    /// assert!(data.insert("k", Column::Scalar(3.0)));
    /// assert!(!data.insert("k", Column::Scalar(4.0)));
    /// ```
    pub fn insert(&mut self, name: &str, column: Column) -> bool {
        if self.columns.contains_key(name) {
            return false;
        }
        self.order.push(name.to_owned());
        self.columns.insert(name.to_owned(), column);
        true
    }

    /// Adds a column of numbers; `NaN` is missing.
    ///
    /// # Errors
    /// The name is taken.
    ///
    /// ```
    /// let data = sbl::Data::new().vector("x", &[1.0, f64::NAN, 3.0])?;
    /// assert_eq!(data.row_count(), 3);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn vector(self, name: &str, values: &[f64]) -> Result<Self, Error> {
        self.with(name, Column::Numbers(values.to_vec()))
    }

    /// Adds a matrix, one row for each row of the data; `NaN` is missing.
    ///
    /// # Errors
    /// The name is taken, or the matrix has no column.
    ///
    /// ```
    /// use nalgebra::DMatrix;
    /// let x = DMatrix::from_fn(5, 2, |i, j| (i + j) as f64);
    /// let data = sbl::Data::new().matrix("x", &x)?;
    /// assert_eq!(data.row_count(), 5);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn matrix(self, name: &str, values: &DMatrix<f64>) -> Result<Self, Error> {
        let width = values.ncols();
        // row-major entries of a are the column-major ones of aᵀ
        let values = values.transpose().as_slice().to_vec();
        self.with_matrix(name, values, width, None)
    }

    /// Adds a matrix given by its rows; `NaN` is missing.
    ///
    /// # Errors
    /// The name is taken, the rows are not equally long, or there is no column.
    ///
    /// ```
    /// let data = sbl::Data::new().rows("x", &[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// assert_eq!(data.row_count(), 3);
    /// assert!(sbl::Data::new().rows("x", &[vec![1.0], vec![2.0, 3.0]]).is_err());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn rows<R: AsRef<[f64]>>(self, name: &str, rows: &[R]) -> Result<Self, Error> {
        let width = rows.first().map_or(0, |r| r.as_ref().len());
        if let Some(odd) = rows.iter().position(|r| r.as_ref().len() != width) {
            let found = rows[odd].as_ref().len();
            return Err(vec![
                Diagnostic::error(
                    "E0715",
                    format!("row {} of `{name}` has {found} numbers, expected {width} as in row 1", odd + 1),
                )
                .help("give rows of one length"),
            ]
            .into());
        }
        let values = rows.iter().flat_map(|r| r.as_ref().iter().copied()).collect();
        self.with_matrix(name, values, width, None)
    }

    /// Adds a matrix whose columns have names.
    ///
    /// # Errors
    /// The name is taken, there is no column, or not one name for each.
    ///
    /// ```
    /// let x = nalgebra::DMatrix::zeros(5, 2);
    /// let data = sbl::Data::new().matrix_with_names("x", &x, &["age", "bmi"])?;
    /// # let _ = data;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn matrix_with_names<S: AsRef<str>>(
        self,
        name: &str,
        values: &DMatrix<f64>,
        names: &[S],
    ) -> Result<Self, Error> {
        let width = values.ncols();
        let names = names.iter().map(|n| n.as_ref().to_owned()).collect();
        let values = values.transpose().as_slice().to_vec();
        self.with_matrix(name, values, width, Some(names))
    }

    /// Adds a column of words: levels of a category, yes and no.
    ///
    /// # Errors
    /// The name is taken.
    ///
    /// ```
    /// let data = sbl::Data::new().words("school", &["north", "south", "north"])?;
    /// assert_eq!(data.row_count(), 3);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn words<S: AsRef<str>>(self, name: &str, words: &[S]) -> Result<Self, Error> {
        self.with(name, Column::Words(words.iter().map(|w| Some(w.as_ref().into())).collect()))
    }

    /// Adds one number that belongs to no row.
    ///
    /// # Errors
    /// The name is taken.
    ///
    /// ```
    /// let data = sbl::Data::new().scalar("exposure", 2.5)?;
    /// # let _ = data;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn scalar(self, name: &str, value: f64) -> Result<Self, Error> {
        self.with(name, Column::Scalar(value))
    }

    /// Number of rows of the table: as many as most columns have (of two lengths that are equally
    /// frequent the greater); scalars do not count.
    ///
    /// ```
    /// assert_eq!(sbl::Data::new().vector("x", &[1.0, 2.0])?.row_count(), 2);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn row_count(&self) -> usize {
        if !self.lines.is_empty() {
            return self.lines.len();
        }
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for column in self.columns.values().filter(|c| !matches!(c, Column::Scalar(_))) {
            *counts.entry(column.rows()).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(rows, times)| (*times, *rows)).map_or(0, |(rows, _)| rows)
    }

    /// The columns of both, side by side.
    ///
    /// # Errors
    /// A column is in both; or both are tables read from files and differ in their number of rows
    /// (columns from a host or from JSON may have any: constants).
    ///
    /// ```
    /// let inputs = sbl::Data::new().vector("x", &[1.0, 2.0])?;
    /// let targets = sbl::Data::new().vector("t", &[3.0, 5.0])?;
    /// assert!(inputs.join(targets)?.names().eq(["x", "t"]));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn join(mut self, other: Data) -> Result<Data, Error> {
        let mut errors = Diagnostics::new();
        let (mine, theirs) = (self.lines.len(), other.lines.len());
        if mine > 0 && theirs > 0 && mine != theirs {
            errors.push(
                Diagnostic::error(
                    "E0715",
                    format!(
                        "{} has {theirs} rows, {} has {mine}; expected as many",
                        other.origin(),
                        self.origin()
                    ),
                )
                .help("join files that describe the same rows in the same order"),
            );
        }
        for name in &other.order {
            if self.columns.contains_key(name) {
                errors.push(
                    Diagnostic::error(
                        "E0715",
                        format!("column `{name}` is in {} and in {}", self.origin(), other.origin()),
                    )
                    .help(format!("rename or drop `{name}` in one of them")),
                );
            }
        }
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let both = match (&self.origin, &other.origin) {
            (Some(a), Some(b)) => Some(format!("{a}, {b}")),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        // where rows stand on different lines, a line would mislead
        if self.lines.is_empty() {
            self.lines = other.lines;
        } else if !other.lines.is_empty() && self.lines != other.lines {
            self.lines.clear();
        }
        self.origin = both;
        self.order.extend(other.order);
        self.columns.extend(other.columns);
        Ok(self)
    }

    /// The data with these rows only, in this order (a row may come twice). Scalars and columns
    /// whose length is not [`Data::row_count`] belong to no row and stay whole.
    ///
    /// # Errors
    /// A row does not exist.
    ///
    /// ```
    /// let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?;
    /// assert_eq!(data.select_rows(&[2, 0])?, sbl::Data::new().vector("x", &[3.0, 1.0])?);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn select_rows(&self, rows: &[usize]) -> Result<Data, Error> {
        let count = self.row_count();
        if let Some(row) = rows.iter().find(|r| **r >= count) {
            return Err(vec![
                Diagnostic::error("E0715", format!("there is no row {}; the data have {count}", row + 1))
                    .help("choose rows that exist"),
            ]
            .into());
        }
        let mut out = self.clone();
        for column in out.columns.values_mut().filter(|c| c.rows() == count) {
            match column {
                Column::Numbers(v) => *v = rows.iter().map(|r| v[*r]).collect(),
                Column::Words(v) => *v = rows.iter().map(|r| v[*r].clone()).collect(),
                Column::Matrix { values, width, .. } => {
                    let width = *width;
                    *values = rows
                        .iter()
                        .flat_map(|r| values[r * width..(r + 1) * width].iter().copied())
                        .collect();
                }
                Column::Scalar(_) => {}
            }
        }
        if !out.lines.is_empty() {
            out.lines = rows.iter().map(|r| self.lines[*r]).collect();
        }
        Ok(out)
    }

    fn with_matrix(
        self,
        name: &str,
        values: Vec<f64>,
        width: usize,
        names: Option<Vec<String>>,
    ) -> Result<Self, Error> {
        let wrong = if width == 0 {
            Some(format!("matrix `{name}` has no column"))
        } else {
            let given = names.as_ref().map_or(width, Vec::len);
            (given != width).then(|| format!("{given} names for the {width} columns of `{name}`"))
        };
        match wrong {
            Some(message) => {
                Err(Diagnostic::error("E0715", message).help("give one name for each column").into())
            }
            None => self.with(name, Column::Matrix { values, width, names }),
        }
    }

    fn with(mut self, name: &str, column: Column) -> Result<Self, Error> {
        if self.insert(name, column) {
            Ok(self)
        } else {
            Err(vec![
                Diagnostic::error("E0715", format!("column `{name}` is given twice"))
                    .help(format!("give `{name}` once")),
            ]
            .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Data {
        let x = DMatrix::from_row_slice(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let data = Data::new().matrix("x", &x).unwrap().vector("t", &[0.1, 0.2, 0.3]).unwrap();
        data.words("g", &["a", "b", "a"]).unwrap().scalar("width", 3.0).unwrap()
    }

    #[test]
    fn rows_and_matrix_agree() {
        let rows = Data::new().rows("x", &[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).unwrap();
        assert_eq!(rows.column("x"), sample().column("x"));
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        let taken = sample().vector("t", &[1.0]).unwrap_err();
        assert_eq!(taken.diagnostics()[0].message, "column `t` is given twice");
        let odd = Data::new().rows("x", &[vec![1.0], vec![1.0, 2.0]]).unwrap_err();
        assert_eq!(odd.diagnostics()[0].message, "row 2 of `x` has 2 numbers, expected 1 as in row 1");
        assert!(Data::new().matrix("x", &DMatrix::zeros(3, 0)).is_err());
        let names = Data::new().matrix_with_names("x", &DMatrix::zeros(1, 2), &["a"]).unwrap_err();
        assert_eq!(names.diagnostics()[0].message, "1 names for the 2 columns of `x`");
        assert!(sample().select_rows(&[3]).is_err());
    }

    #[test]
    fn selected_rows_keep_constants() {
        let some = sample().with_lines(vec![2, 3, 5]).select_rows(&[2, 0, 2]).unwrap();
        assert_eq!(some.column("t"), Some(&Column::Numbers(vec![0.3, 0.1, 0.3])));
        assert_eq!(some.column("width"), Some(&Column::Scalar(3.0)));
        assert_eq!((some.line(0), some.line(1)), (Some(5), Some(2)));
        let Some(Column::Matrix { values, .. }) = some.column("x") else { panic!() };
        assert_eq!(values, &[5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
    }

    #[test]
    fn joining_checks_names_and_rows() {
        let a = Data::new().vector("a", &[1.0, 2.0]).unwrap().named("a.csv").with_lines(vec![2, 3]);
        let b = Data::new().vector("b", &[1.0, 2.0]).unwrap().named("b.csv").with_lines(vec![2, 4]);
        let both = a.clone().join(b.clone()).unwrap();
        assert_eq!(both.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((both.origin(), both.line(0)), ("a.csv, b.csv", None));
        let c = Data::new().vector("b", &[1.0]).unwrap().named("c.csv").with_lines(vec![2]);
        assert_eq!(
            a.clone().join(c).unwrap_err().diagnostics()[0].message,
            "c.csv has 1 rows, a.csv has 2; expected as many"
        );
        assert_eq!(
            b.clone().join(b).unwrap_err().diagnostics()[0].message,
            "column `b` is in b.csv and in b.csv"
        );
        let constants = Data::new().vector("centres", &[0.0, 1.0, 2.0]).unwrap();
        assert!(a.join(constants).is_ok());
    }
}
