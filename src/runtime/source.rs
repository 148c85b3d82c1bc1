//! Where the columns of the design come from: a matrix, or an expression that is evaluated on demand.

use nalgebra::DMatrix;

use super::solution::Failure;

/// The columns of a design of N rows.
pub trait Source {
    /// These columns (ascending), N × their number.
    ///
    /// # Errors
    /// A column has no value.
    fn columns(&mut self, which: &[usize]) -> Result<DMatrix<f64>, Failure>;
}

/// A design that is there.
pub struct Stored<'a>(pub &'a DMatrix<f64>);

impl Source for Stored<'_> {
    fn columns(&mut self, which: &[usize]) -> Result<DMatrix<f64>, Failure> {
        if which.iter().any(|i| *i >= self.0.ncols()) {
            return Err(Failure::NonFinite { step: "the shapes of the problem" });
        }
        Ok(self.0.select_columns(which))
    }
}
