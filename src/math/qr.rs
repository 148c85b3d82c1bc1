//! Orthogonal tools for tall matrices: a thin orthonormal basis, the triangular factor of many rows,
//! and the numerical rank of a set of columns.

use nalgebra::{DMatrix, DVector};

use super::cross::{dot, subtract};
use super::gram::triangle_by_gram;
use super::poll::poll;
use super::product::{gemm, times};

/// A column whose part outside the earlier ones is below this fraction of it counts as dependent.
const DEPENDENT: f64 = 1e-11;

/// A = Q R with orthonormal columns in Q (n × k) and R upper triangular (k × k), by modified
/// Gram-Schmidt, twice. `Err` names the first column that depends on those before it.
pub fn orthonormal(a: &DMatrix<f64>) -> Result<(DMatrix<f64>, DMatrix<f64>), usize> {
    let k = a.ncols();
    let mut q = a.clone();
    let mut r = DMatrix::zeros(k, k);
    for j in 0..k {
        let before = q.column(j).norm();
        for _ in 0..2 {
            poll();
            for i in 0..j {
                let dot = q.column(i).dot(&q.column(j));
                r[(i, j)] += dot;
                let qi = q.column(i).into_owned();
                q.column_mut(j).axpy(-dot, &qi, 1.0);
            }
        }
        let after = q.column(j).norm();
        if after.is_nan() || after <= DEPENDENT * before {
            return Err(j);
        }
        r[(j, j)] = after;
        q.column_mut(j).unscale_mut(after);
    }
    Ok((q, r))
}

/// A ← (I − Q Qᵀ) A, twice; the coefficients QᵀA.
pub fn project_out(q: &DMatrix<f64>, a: &mut DMatrix<f64>) -> DMatrix<f64> {
    let qt = q.transpose();
    let mut all = DMatrix::zeros(q.ncols(), a.ncols());
    for _ in 0..2 {
        let coefficients = times(&qt, a);
        gemm(a.as_view_mut(), -1.0, q.as_view(), coefficients.as_view(), 1.0);
        all += coefficients;
    }
    all
}

/// The triangular factor R of A = Q R for a tall A (n × k), k × k, taking rows in chunks: RᵀR = AᵀA
/// without squaring the condition.
pub fn triangle(a: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, k) = a.shape();
    if let Some(r) = triangle_by_gram(a) {
        return r;
    }
    let chunk = (2 * k).max(64);
    let mut r = DMatrix::zeros(0, k);
    let mut start = 0;
    while start < n {
        poll();
        let rows = chunk.min(n - start);
        let mut stack = DMatrix::zeros(r.nrows() + rows, k);
        stack.rows_mut(0, r.nrows()).copy_from(&r);
        stack.rows_mut(r.nrows(), rows).copy_from(&a.rows(start, rows));
        r = stack.qr().r();
        start += rows;
    }
    r
}

/// The number of columns that span all others to `tolerance` of their own norm, by pivoted
/// Gram-Schmidt, or `None` if it is above `limit`. Cost n k · limit.
pub fn rank_up_to(a: &DMatrix<f64>, limit: usize, tolerance: f64) -> Option<usize> {
    let mut rest = a.clone();
    let n = a.nrows().max(1);
    let norms: Vec<f64> = a.as_slice().chunks_exact(n).map(|c| dot(c, c).sqrt()).collect();
    let mut left = norms.clone();
    let mut basis: Vec<DVector<f64>> = Vec::new();
    loop {
        poll();
        let (mut best, mut worst) = (0, 0.0);
        for (j, (left, norm)) in left.iter().zip(&norms).enumerate() {
            if *norm > 0.0 && left / norm > worst {
                (best, worst) = (j, left / norm);
            }
        }
        if worst <= tolerance {
            return Some(basis.len());
        }
        if basis.len() == limit {
            return None;
        }
        let mut q = rest.column(best).into_owned();
        for _ in 0..2 {
            for b in &basis {
                let along = dot(b.as_slice(), q.as_slice());
                subtract(q.as_mut_slice(), along, b.as_slice());
            }
        }
        let norm = q.norm();
        if norm.is_nan() || norm <= 0.0 {
            return Some(basis.len());
        }
        q.unscale_mut(norm);
        for (column, left) in rest.as_mut_slice().chunks_exact_mut(n).zip(&mut left) {
            let along = dot(q.as_slice(), column);
            subtract(column, along, q.as_slice());
            *left = dot(column, column).sqrt();
        }
        basis.push(q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tall(n: usize, k: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, k, |i, j| ((i * 13 + j * 7 + i * i * (j + 1)) as f64).sin())
    }

    #[test]
    fn orthonormal_basis_reproduces_the_matrix() {
        let a = tall(50, 6);
        let (q, r) = orthonormal(&a).unwrap();
        assert!((&q * &r - &a).amax() < 1e-13);
        assert!((q.transpose() * &q - DMatrix::identity(6, 6)).amax() < 1e-14);
        let mut twice = a.clone().insert_column(3, 0.0);
        let sum = a.column(0) - a.column(1) * 2.0;
        twice.set_column(3, &sum);
        assert_eq!(orthonormal(&twice).unwrap_err(), 3);
    }

    #[test]
    fn triangle_has_the_gram_of_its_rows() {
        for (n, k) in [(500, 7), (9, 7), (64, 1)] {
            let a = tall(n, k);
            let r = triangle(&a);
            assert_eq!(r.shape(), (k, k));
            assert!((r.transpose() * &r - a.transpose() * &a).amax() < 1e-10);
        }
    }

    #[test]
    fn projection_leaves_nothing_behind() {
        let a = tall(40, 3);
        let (q, _) = orthonormal(&a).unwrap();
        let mut b = tall(40, 9).columns(3, 6).into_owned();
        let before = b.clone();
        let c = project_out(&q, &mut b);
        assert!((q.transpose() * &b).amax() < 1e-14);
        assert!((&q * c + b - before).amax() < 1e-13);
    }

    #[test]
    fn rank_of_a_product() {
        let a = tall(60, 4) * tall(30, 4).transpose();
        assert_eq!(rank_up_to(&a, 10, 1e-12), Some(4));
        assert_eq!(rank_up_to(&a, 3, 1e-12), None);
        assert_eq!(rank_up_to(&DMatrix::zeros(5, 5), 3, 1e-12), Some(0));
    }
}
