//! AᵀA of a tall matrix, in blocks that stay in the cache, and the triangular factor by way of it where
//! its condition allows.

use nalgebra::DMatrix;

use super::chol::Cholesky;
use super::cross::add_cross;
use super::poll::poll;
use super::product::times;

/// Rows at a time, columns at a time.
const ROWS: usize = 256;
const COLUMNS: usize = 64;
/// Smallest pivot of unit columns at which the square of the condition costs no digit that matters.
const GOOD: f64 = 0.03;
/// Smallest pivot at which a second pass repairs what the first has lost.
const FAIR: f64 = 1e-5;

/// AᵀA (k × k) of A (n × k), symmetric to the last bit; half the operations of a product.
pub fn gram(a: &DMatrix<f64>) -> DMatrix<f64> {
    symmetric_cross(a, a)
}

/// AᵀB of matrices of one shape (n × k) whose product is symmetric, as [`gram`].
pub fn symmetric_cross(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, k) = a.shape();
    let mut g = DMatrix::zeros(k, k);
    let columns = if k <= COLUMNS { COLUMNS / 2 } else { COLUMNS };
    for start in (0..n).step_by(ROWS) {
        let rows = ROWS.min(n - start);
        for column in (0..k).step_by(columns) {
            let width = columns.min(k - column);
            let tile = g.view_mut((column, column), (k - column, width));
            add_cross(tile, a, (start, column), b.view((start, column), (rows, width)));
            poll();
        }
    }
    for j in 0..k {
        for i in j + 1..k {
            g[(j, i)] = g[(i, j)];
        }
    }
    g
}

/// R of A = Q R by Cholesky factors of AᵀA: once if its columns are well apart, with a second pass over
/// A R⁻¹ if they are less so (Yamamoto et al. 2015, CholeskyQR2), `None` if they are nearly dependent.
pub fn triangle_by_gram(a: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let k = a.ncols();
    let norms: Vec<f64> = a.column_iter().map(|c| c.norm()).collect();
    if norms.iter().any(|n| !(1e-100..1e100).contains(n)) {
        return None;
    }
    let mut g = gram(a);
    for j in 0..k {
        for i in 0..k {
            g[(i, j)] /= norms[i] * norms[j];
        }
    }
    let first = Cholesky::strict(&g)?;
    let pivot = (0..k).map(|j| first.lower()[(j, j)]).fold(1.0, f64::min);
    let mut r = first.lower().transpose();
    if pivot < FAIR {
        return None;
    }
    if pivot < GOOD {
        // Q = A D⁻¹ R⁻¹, R ← chol(QᵀQ) R
        let mut scaled = first.lower_inverse().transpose();
        for (mut row, norm) in scaled.row_iter_mut().zip(&norms) {
            row.unscale_mut(*norm);
        }
        r = Cholesky::strict(&gram(&times(a, &scaled)))?.lower().transpose() * r;
    }
    for (mut column, norm) in r.column_iter_mut().zip(&norms) {
        column.scale_mut(*norm);
    }
    Some(r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangle_by_gram_is_the_triangle_or_nothing() {
        let base = DMatrix::from_fn(700, 90, |i, j| ((i * 13 + j * 7 + i * i * (j + 1)) as f64).sin());
        assert!((gram(&base) - base.transpose() * &base).amax() < 1e-10);
        for closeness in [1.0, 1e-2, 1e-4, 1e-9] {
            let mut a = base.clone();
            let near = a.column(3) + a.column(80) * closeness;
            a.set_column(80, &near);
            a.column_mut(7).scale_mut(1e20);
            let Some(r) = triangle_by_gram(&a) else {
                assert!(closeness < 1e-5);
                continue;
            };
            let exact = a.clone().qr().r();
            for j in 0..90 {
                let sign = (r[(j, j)] * exact[(j, j)]).signum();
                // rows agree up to sign, each entry relative to its column
                for i in j..90 {
                    let off = (r[(j, i)] - sign * exact[(j, i)]).abs();
                    assert!(off < 1e-11 * a.column(i).norm(), "{closeness} {j} {i} {off}");
                }
            }
        }
    }
}
