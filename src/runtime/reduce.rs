//! Columns of low rank: an orthonormal basis that spans all of them to rounding, found in one pass over
//! blocks of columns, which need never exist all at once. The problem in the coordinates of the basis is
//! the same problem with fewer rows, at a cost that does not depend on their number.

use nalgebra::{DMatrix, DVector};

use super::sample::Sample;
use crate::math::cross::{cross_vector, dot, subtract, subtract_to, times_vector};
use crate::math::poll::poll;
use crate::math::product::{gemm, times};
use crate::math::sums::sum_of_squares;

/// What is left of a column outside the basis, relative to the column, is rounding below this.
pub(crate) const TOLERANCE: f64 = 1e-12;
/// Where columns are outside, vectors are added until nothing above this times the tolerance is left of them, so that what is
/// left of their neighbours is well below the tolerance too.
const FINE: f64 = 1e-2;
/// A sample of the rows is worth its while with at least so many rows a vector.
const SAMPLED: usize = 8;

fn length(v: &[f64]) -> f64 {
    sum_of_squares(v).sqrt()
}

/// An orthonormal basis of the columns seen so far.
pub(crate) struct Basis {
    /// n × r, and its transpose.
    q: DMatrix<f64>,
    qt: DMatrix<f64>,
    /// More vectors than these are too many.
    limit: usize,
    /// What is left of a column outside, relative to the column, is nothing below this.
    tolerance: f64,
    /// Rows that tell what columns inside the basis are; none where the basis has just grown.
    sample: Option<Sample>,
    /// Blocks that have to be inside before a sample is made, and how many have been since the basis grew.
    patience: usize,
    inside: usize,
}

impl Basis {
    /// An empty basis of `n` rows that may grow to `limit` vectors, and spans columns to rounding.
    pub fn new(n: usize, limit: usize) -> Basis {
        Basis::to(TOLERANCE, n, limit)
    }

    /// The same to this fraction of each column.
    pub fn to(tolerance: f64, n: usize, limit: usize) -> Basis {
        let (q, qt) = (DMatrix::zeros(n, 0), DMatrix::zeros(0, n));
        Basis { q, qt, limit, tolerance, sample: None, patience: 1, inside: 0 }
    }

    /// Number of vectors, r.
    pub fn rank(&self) -> usize {
        self.q.ncols()
    }

    /// The vectors, n × r.
    pub fn into_vectors(self) -> DMatrix<f64> {
        self.q
    }

    /// Coefficients of these columns (r × b), from a sample of their rows while all of them are inside, by projection
    /// else, the basis extended where they are outside; `None` if it would grow beyond its limit.
    pub fn take(&mut self, mut x: DMatrix<f64>) -> Option<DMatrix<f64>> {
        if let Some(found) = self.sample.as_ref().and_then(|sample| sample.coefficients(&x, self.tolerance)) {
            return Some(found);
        }
        let norms: Vec<f64> = x.column_iter().map(|c| length(c.as_slice())).collect();
        let mut coefficients = self.project(&mut x);
        let open: Vec<usize> =
            (0..x.ncols()).filter(|&j| length(x.column(j).as_slice()) > self.tolerance * norms[j]).collect();
        if open.is_empty() {
            self.inside += 1;
            if self.sample.is_none() && self.inside >= self.patience && SAMPLED * self.rank() <= x.nrows() {
                self.sample = Sample::new(&self.q, &self.qt);
            }
            return Some(coefficients);
        }
        if self.sample.take().is_some() {
            self.patience *= 2;
        }
        self.inside = 0;
        let mut rest = x.select_columns(&open);
        let again = self.project(&mut rest);
        for (at, &j) in open.iter().enumerate() {
            for i in 0..self.rank() {
                coefficients[(i, j)] += again[(i, at)];
            }
        }
        let found = self.extend(&mut rest, &open.iter().map(|&j| norms[j]).collect::<Vec<_>>())?;
        let before = coefficients.nrows();
        coefficients = coefficients.resize_vertically(before + found.nrows(), 0.0);
        for (at, &j) in open.iter().enumerate() {
            for i in 0..found.nrows() {
                coefficients[(before + i, j)] = found[(i, at)];
            }
        }
        Some(coefficients)
    }

    /// Coefficients of one more vector, and the length of what is outside.
    pub fn coordinates(&self, t: &DVector<f64>) -> (DVector<f64>, f64) {
        let mut rest = DMatrix::from_column_slice(t.len(), 1, t.as_slice());
        let c = self.project(&mut rest) + self.project(&mut rest);
        (c.column(0).into_owned(), rest.norm())
    }

    /// X ← X − Q QᵀX; QᵀX
    fn project(&self, x: &mut DMatrix<f64>) -> DMatrix<f64> {
        let c = times(&self.qt, x);
        if self.rank() > 0 {
            gemm(x.as_view_mut(), -1.0, self.q.as_view(), c.as_view(), 1.0);
        }
        c
    }

    /// Pivoted Gram-Schmidt over columns that are orthogonal to the basis: new vectors, while some column
    /// is outside; coefficients of the columns in the new ones.
    fn extend(&mut self, rest: &mut DMatrix<f64>, norms: &[f64]) -> Option<DMatrix<f64>> {
        let mut new: Vec<DVector<f64>> = Vec::new();
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut left: Vec<f64> = rest.column_iter().map(|c| length(c.as_slice())).collect();
        loop {
            poll();
            let (mut worst, mut ratio) = (0, 0.0);
            for (j, (left, norm)) in left.iter().zip(norms).enumerate() {
                if *norm > 0.0 && left / norm > ratio {
                    (worst, ratio) = (j, left / norm);
                }
            }
            if ratio <= FINE * self.tolerance {
                break;
            }
            if self.rank() + new.len() >= self.limit {
                return None;
            }
            let mut v = rest.column(worst) / left[worst];
            if self.rank() > 0 {
                v -= times_vector(&self.q, &cross_vector(&self.q, &v));
            }
            for u in &new {
                let along = dot(u.as_slice(), v.as_slice());
                subtract(v.as_mut_slice(), along, u.as_slice());
            }
            let norm = v.norm();
            if !(norm > 0.5 && norm.is_finite()) {
                // rounding only
                left[worst] = 0.0;
                continue;
            }
            v.unscale_mut(norm);
            let mut row = Vec::with_capacity(norms.len());
            for (column, left) in rest.as_mut_slice().chunks_exact_mut(v.len()).zip(&mut left) {
                let along = dot(v.as_slice(), column);
                if *left > 0.0 {
                    *left = subtract_to(column, along, v.as_slice()).sqrt();
                }
                row.push(along);
            }
            rows.push(row);
            new.push(v);
        }
        let (n, r) = self.q.shape();
        self.q = std::mem::replace(&mut self.q, DMatrix::zeros(0, 0)).resize_horizontally(r + new.len(), 0.0);
        for (at, v) in new.iter().enumerate() {
            self.q.set_column(r + at, v);
        }
        debug_assert_eq!(self.q.nrows(), n);
        self.qt = self.q.transpose();
        Some(DMatrix::from_fn(rows.len(), norms.len(), |i, j| rows[i][j]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(n: usize, columns: impl Iterator<Item = usize>) -> DMatrix<f64> {
        let x = |i: usize| 20.0 * i as f64 / n as f64 - 10.0;
        let centres: Vec<f64> = columns.map(x).collect();
        DMatrix::from_fn(n, centres.len(), |i, j| (-(x(i) - centres[j]).powi(2) / 9.0).exp())
    }

    #[test]
    fn a_smooth_kernel_is_spanned_by_few_vectors_to_rounding() {
        let n = 400;
        let mut basis = Basis::new(n, n / 3);
        let chunks: Vec<DMatrix<f64>> = (0..8).map(|c| kernel(n, (c..n).step_by(8))).collect();
        let coefficients: Vec<DMatrix<f64>> = chunks.iter().map(|x| basis.take(x.clone()).unwrap()).collect();
        assert!((20..45).contains(&basis.rank()), "{}", basis.rank());
        assert!((&basis.qt * &basis.q - DMatrix::identity(basis.rank(), basis.rank())).amax() < 1e-13);
        for (x, c) in chunks.iter().zip(&coefficients) {
            let back = basis.q.columns(0, c.nrows()) * c;
            for (a, b) in x.column_iter().zip(back.column_iter()) {
                assert!((a - b).norm() <= 2e-12 * a.norm());
            }
        }
        let t = DVector::from_fn(n, |i, _| ((i * i) as f64).sin());
        let (c, rest) = basis.coordinates(&t);
        assert!((c.norm_squared() + rest * rest - t.norm_squared()).abs() < 1e-11 * t.norm_squared());
    }

    #[test]
    fn columns_of_full_rank_are_too_many_at_once() {
        let x = DMatrix::from_fn(60, 60, |i, j| ((i * 13 + j * 7 + i * i * (j + 1)) as f64).sin());
        assert!(Basis::new(60, 20).take(x.clone()).is_none());
        assert_eq!(Basis::new(60, 60).take(x).unwrap().nrows(), 60);
        // zero columns, and columns of very different size
        let mut y = DMatrix::zeros(30, 4);
        y[(3, 1)] = 1e-100;
        y[(4, 2)] = 1e100;
        let mut basis = Basis::new(30, 10);
        assert_eq!(basis.take(y).unwrap().nrows(), 2);
    }
}
