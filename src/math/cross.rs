//! AᵀB of tall matrices without a transposed copy: by dot products where one of them has few columns, else
//! as a product of strided views.

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, DVector, Dyn, MatrixView};

use super::poll::poll;
use super::product::transposed_times;
use super::wide::widest;

/// Up to so many columns dot products are faster than packing for a matrix product.
const FEW: usize = 5;
/// Multiplications from which on a transposed copy does not matter, but a poll does.
const LARGE: usize = 1 << 22;
/// Columns of a symmetric product at a time.
const PANEL: usize = 64;
/// Partial sums of a dot product.
const LANES: usize = 8;
/// Columns that are added together.
const TOGETHER: usize = 4;

/// Σ term(a, b) in a fixed order of partial sums.
#[inline(always)]
fn lanes(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    widest(
        #[inline(always)]
        || {
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (x, y) in a.iter().zip(b) {
                let mut lane = 0;
                while lane < LANES {
                    sums[lane] += term(x[lane], y[lane]);
                    lane += 1;
                }
            }
            let mut rest = 0.0;
            for (x, y) in a_rest.iter().zip(b_rest) {
                rest += term(*x, *y);
            }
            sums.iter().sum::<f64>() + rest
        },
    )
}

/// a · b
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    lanes(
        a,
        b,
        #[inline(always)]
        |x, y| x * y,
    )
}

/// Σ h v²
pub fn weighted_square(v: &[f64], h: &[f64]) -> f64 {
    lanes(
        v,
        h,
        #[inline(always)]
        |v, h| v * v * h,
    )
}

/// a ← a − factor b
pub fn subtract(a: &mut [f64], factor: f64, b: &[f64]) {
    widest(
        #[inline(always)]
        || {
            for (x, y) in a.iter_mut().zip(b) {
                *x -= factor * y;
            }
        },
    );
}

/// a ← a − factor b; what is left, a · a.
pub fn subtract_to(a: &mut [f64], factor: f64, b: &[f64]) -> f64 {
    widest(
        #[inline(always)]
        || {
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut::<LANES>(), b.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (x, y) in a.iter_mut().zip(b) {
                let mut left = *x;
                for lane in 0..LANES {
                    left[lane] -= factor * y[lane];
                }
                for lane in 0..LANES {
                    sums[lane] += left[lane] * left[lane];
                }
                *x = left;
            }
            let mut rest = 0.0;
            for (x, y) in a_rest.iter_mut().zip(b_rest) {
                *x -= factor * y;
                rest += *x * *x;
            }
            sums.iter().sum::<f64>() + rest
        },
    )
}

/// A v (n) of A (n × k).
pub fn times_vector(a: &DMatrix<f64>, v: &DVector<f64>) -> DVector<f64> {
    let n = a.nrows();
    let mut out = DVector::zeros(n);
    if n == 0 {
        return out;
    }
    let (groups, rest) = v.as_slice().as_chunks::<TOGETHER>();
    let (columns, last) = a.as_slice().split_at(groups.len() * TOGETHER * n);
    widest(
        #[inline(always)]
        || {
            let out = out.as_mut_slice();
            for (v, columns) in groups.iter().zip(columns.chunks_exact(TOGETHER * n)) {
                let (a, b) = columns.split_at(2 * n);
                let ((a, b), (c, d)) = (a.split_at(n), b.split_at(n));
                for i in 0..n {
                    out[i] += (v[0] * a[i] + v[1] * b[i]) + (v[2] * c[i] + v[3] * d[i]);
                }
            }
            for (v, column) in rest.iter().zip(last.chunks_exact(n)) {
                out.iter_mut().zip(column).for_each(|(out, x)| *out += v * x);
            }
        },
    );
    out
}

/// AᵀB (k × m) of A (n × k) and B (n × m).
pub fn cross(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, k, m) = (a.nrows(), a.ncols(), b.ncols());
    let mut out = DMatrix::zeros(k, m);
    if n == 0 || k == 0 || m == 0 {
        return out;
    }
    if k <= FEW || m <= FEW || n <= FEW {
        for (y, column) in b.as_slice().chunks_exact(n).zip(out.as_mut_slice().chunks_exact_mut(k)) {
            poll();
            for (x, out) in a.as_slice().chunks_exact(n).zip(column) {
                *out = dot(x, y);
            }
        }
        return out;
    }
    if n.saturating_mul(k).saturating_mul(m) > LARGE {
        return transposed_times(a, b);
    }
    add_cross(out.as_view_mut(), a, (0, 0), b.as_view());
    out
}

/// C ← C + AᵀB for the part of A from a row and a column on, as tall as B and as wide as C is tall.
pub fn add_cross(
    mut c: DMatrixViewMut<'_, f64>,
    a: &DMatrix<f64>,
    (row, column): (usize, usize),
    b: DMatrixView<'_, f64>,
) {
    let (n, k) = (b.nrows(), c.nrows());
    if n.min(k).min(b.ncols()) <= FEW {
        // a product of strided views is not made for so few
        return c.gemm(1.0, &a.view((row, column), (n, k)).transpose(), &b, 1.0);
    }
    let part = &a.as_slice()[row + column * a.nrows()..];
    let transposed: MatrixView<'_, f64, Dyn, Dyn, Dyn, Dyn> =
        MatrixView::from_slice_with_strides_generic(part, Dyn(k), Dyn(n), Dyn(a.nrows()), Dyn(1));
    c.gemm(1.0, &transposed, &b, 1.0);
}

/// A Aᵀ (n × n) of A (n × k), symmetric to the last bit; half the operations of a product.
pub fn outer(a: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, k) = a.shape();
    let mut out = DMatrix::zeros(n, n);
    if k == 0 {
        return out;
    }
    let transposed = transposed(a);
    for start in (0..n).step_by(PANEL) {
        let (rest, width) = (n - start, PANEL.min(n - start));
        let to = &mut out.view_mut((start, start), (rest, width));
        to.gemm(1.0, &a.rows(start, rest), &transposed.columns(start, width), 0.0);
        poll();
    }
    out.fill_upper_triangle_with_lower_triangle();
    out
}

/// The transpose, as a view.
fn transposed(a: &DMatrix<f64>) -> MatrixView<'_, f64, Dyn, Dyn, Dyn, Dyn> {
    let (n, k) = a.shape();
    MatrixView::from_slice_with_strides_generic(a.as_slice(), Dyn(k), Dyn(n), Dyn(n), Dyn(1))
}

/// Aᵀv (k) of A (n × k).
pub fn cross_vector(a: &DMatrix<f64>, v: &DVector<f64>) -> DVector<f64> {
    let n = a.nrows();
    if n == 0 {
        return DVector::zeros(a.ncols());
    }
    DVector::from_iterator(a.ncols(), a.as_slice().chunks_exact(n).map(|x| dot(x, v.as_slice())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_a_transposed_copy() {
        for (n, k, m) in [
            (0, 2, 3),
            (3, 9, 9),
            (50, 1, 4),
            (50, 7, 3),
            (50, 3, 20),
            (67, 12, 9),
            (300, 80, 40),
            (700, 90, 80),
        ] {
            let a = DMatrix::from_fn(n, k, |i, j| ((i * 13 + j * 7 + i * j) as f64).sin());
            let b = DMatrix::from_fn(n, m, |i, j| ((i * 5 + j * 3 + i * i) as f64).cos());
            let wanted = a.transpose() * &b;
            assert!((cross(&a, &b) - &wanted).amax() <= 1e-13 * n as f64);
            assert!((outer(&a) - &a * a.transpose()).amax() <= 1e-13 * k as f64);
            let v = b.column(0).into_owned();
            let square: f64 = v.iter().zip(a.column(0).iter()).map(|(v, h)| v * v * h).sum();
            assert!(
                (weighted_square(v.as_slice(), a.column(0).as_slice()) - square).abs() <= 1e-13 * n as f64
            );
            assert!((cross_vector(&a, &v) - wanted.column(0)).amax() <= 1e-13 * n as f64);
            let u = DVector::from_fn(k, |j, _| (j as f64).cos());
            assert!((times_vector(&a, &u) - &a * &u).amax() <= 1e-13 * k as f64);
            let mut left = v.clone();
            let square = subtract_to(left.as_mut_slice(), 0.3, a.column(0).as_slice());
            assert!((&left - (&v - a.column(0) * 0.3)).amax() <= 1e-15);
            assert!((square - left.norm_squared()).abs() <= 1e-13 * n as f64);
        }
    }
}
