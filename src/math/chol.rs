//! Cholesky factors of symmetric positive definite matrices, blocked by recursion so that nearly all
//! the work is matrix products. A failed pivot is mended by jitter relative to the diagonal; how much
//! was needed is part of the result.

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, DVector};

use super::cross::{dot, subtract};
use super::panels::Panels;
use super::poll::poll;
use super::product::{copy_of, gemm};

/// Blocks up to this size are factorised, solved and inverted in vectors of fixed length.
const SMALL: usize = 128;
/// Blocks up to this size are solved from the right column by column.
const BASE: usize = 32;
/// Columns of a symmetric product at a time.
const PANEL: usize = 64;

/// The relative jitters tried, in order, when a pivot fails.
const JITTERS: [f64; 9] = [0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7];

/// A pivot that was not positive, whatever jitter was added: its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadPivot(pub usize);

/// A = L Lᵀ.
#[derive(Clone, Debug)]
pub struct Cholesky {
    lower: DMatrix<f64>,
    jitter: f64,
}

impl Cholesky {
    /// Factorises a symmetric n × n matrix, of which only the lower triangle is read.
    ///
    /// If a pivot is not positive, the diagonal is raised by 1e-14 … 1e-7 of itself, until it holds.
    pub fn new(a: &DMatrix<f64>) -> Result<Cholesky, BadPivot> {
        let mut last = 0;
        for jitter in JITTERS {
            let mut lower = copy_of(a);
            if jitter > 0.0 {
                for i in 0..lower.nrows() {
                    lower[(i, i)] *= 1.0 + jitter;
                }
            }
            match factorise(lower.as_view_mut()) {
                Ok(()) => {
                    lower.fill_upper_triangle(0.0, 1);
                    return Ok(Cholesky { lower, jitter });
                }
                Err(pivot) => last = pivot,
            }
        }
        Err(BadPivot(last))
    }

    /// Factorises without jitter; `None` if a pivot is not positive.
    pub fn strict(a: &DMatrix<f64>) -> Option<Cholesky> {
        let mut lower = copy_of(a);
        factorise(lower.as_view_mut()).ok()?;
        lower.fill_upper_triangle(0.0, 1);
        Some(Cholesky { lower, jitter: 0.0 })
    }

    /// The relative jitter that was added to the diagonal; 0 if none.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// L, with zeros above the diagonal.
    pub fn lower(&self) -> &DMatrix<f64> {
        &self.lower
    }

    /// ln |A| = 2 Σ ln L_jj
    pub fn ln_det(&self) -> f64 {
        2.0 * (0..self.lower.nrows()).map(|j| self.lower[(j, j)].ln()).sum::<f64>()
    }

    /// L⁻¹ b, in place.
    pub fn solve_lower(&self, b: &mut DMatrix<f64>) {
        solve_left(self.lower.as_view(), b.as_view_mut());
    }

    /// A⁻¹ b
    pub fn solve(&self, b: &DVector<f64>) -> DVector<f64> {
        let n = b.len();
        let below = |j: usize| &self.lower.as_slice()[j * n + j..][..n - j];
        let mut x = b.clone();
        let small = n <= BASE;
        for j in 0..n {
            let (column, x) = (below(j), &mut x.as_mut_slice()[j..]);
            x[0] /= column[0];
            let (f, rest) = (x[0], &mut x[1..]);
            match small {
                true => rest.iter_mut().zip(&column[1..]).for_each(|(x, l)| *x -= f * l),
                false => subtract(rest, f, &column[1..]),
            }
        }
        for j in (0..n).rev() {
            let (column, x) = (below(j), &mut x.as_mut_slice()[j..]);
            let sum = match small {
                true => column[1..].iter().zip(&x[1..]).map(|(l, x)| l * x).sum(),
                false => dot(&column[1..], &x[1..]),
            };
            x[0] = (x[0] - sum) / column[0];
        }
        x
    }

    /// L⁻¹, lower triangular.
    pub fn lower_inverse(&self) -> DMatrix<f64> {
        let mut x = copy_of(&self.lower);
        invert_lower(x.as_view_mut());
        x
    }

    /// A⁻¹ = L⁻ᵀ L⁻¹, symmetric to the last bit.
    pub fn inverse(&self) -> DMatrix<f64> {
        square(&self.lower_inverse())
    }
}

/// XᵀX of a lower triangular X, symmetric to the last bit: a third of the operations of a product.
pub fn square(x: &DMatrix<f64>) -> DMatrix<f64> {
    let n = x.nrows();
    let transposed = x.transpose();
    let mut out = DMatrix::zeros(n, n);
    for start in (0..n).step_by(PANEL) {
        let (rest, width) = (n - start, PANEL.min(n - start));
        // above `start` there are zeros
        gemm(
            out.view_mut((start, start), (rest, width)),
            1.0,
            transposed.view((start, start), (rest, rest)),
            x.view((start, start), (rest, width)),
            0.0,
        );
    }
    out.fill_upper_triangle_with_lower_triangle();
    out
}

/// X A of a lower triangular X: half of the operations of a product.
pub fn lower_times(x: &DMatrix<f64>, a: &DMatrix<f64>) -> DMatrix<f64> {
    let n = x.nrows();
    let mut out = DMatrix::zeros(n, a.ncols());
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        gemm(
            out.rows_range_mut(start..end),
            1.0,
            x.view_range(start..end, 0..end),
            a.rows_range(0..end),
            0.0,
        );
    }
    out
}

/// Overwrites the lower triangle of A by L, and some of the upper one; the index of the first pivot that is not positive.
fn factorise(mut a: DMatrixViewMut<'_, f64>) -> Result<(), usize> {
    let n = a.nrows();
    if n <= SMALL {
        poll();
        let mut panels = Panels::of(a.as_view());
        panels.factorise()?;
        panels.write(&mut a);
        return Ok(());
    }
    let h = n / 2;
    let (mut left, mut right) = a.columns_range_pair_mut(0..h, h..n);
    {
        let (mut a11, mut a21) = left.rows_range_pair_mut(0..h, h..n);
        factorise(a11.as_view_mut())?;
        solve_right_transposed(a11.as_view(), a21.as_view_mut());
    }
    let l21 = left.rows_range(h..n);
    subtract_square(right.rows_range_mut(h..n), l21);
    factorise(right.rows_range_mut(h..n)).map_err(|pivot| pivot + h)
}

/// C ← C − L Lᵀ on the lower triangle (and some of the upper one).
fn subtract_square(mut c: DMatrixViewMut<'_, f64>, l: DMatrixView<'_, f64>) {
    let n = c.nrows();
    if n <= 4 * BASE {
        gemm(c, -1.0, l, l.transpose().as_view(), 1.0);
        return;
    }
    let h = n / 2;
    let (top, bottom) = (l.rows_range(0..h), l.rows_range(h..n));
    subtract_square(c.view_range_mut(0..h, 0..h), top);
    gemm(c.view_range_mut(h..n, 0..h), -1.0, bottom, top.transpose().as_view(), 1.0);
    subtract_square(c.view_range_mut(h..n, h..n), bottom);
}

/// X ← X L⁻ᵀ
fn solve_right_transposed(l: DMatrixView<'_, f64>, mut x: DMatrixViewMut<'_, f64>) {
    let n = l.nrows();
    if n <= BASE {
        poll();
        for j in 0..n {
            let (before, mut column) = x.columns_range_pair_mut(0..j, j..j + 1);
            let mut column = column.column_mut(0);
            let column = column.as_mut_slice();
            for k in 0..j {
                subtract(column, l[(j, k)], before.column(k).as_slice());
            }
            let root = l[(j, j)];
            column.iter_mut().for_each(|x| *x /= root);
        }
        return;
    }
    let h = n / 2;
    let (mut left, mut right) = x.columns_range_pair_mut(0..h, h..n);
    solve_right_transposed(l.view_range(0..h, 0..h), left.as_view_mut());
    let l21 = l.view_range(h..n, 0..h).transpose();
    gemm(right.as_view_mut(), -1.0, left.as_view(), l21.as_view(), 1.0);
    solve_right_transposed(l.view_range(h..n, h..n), right);
}

/// X ← L⁻¹ X
fn solve_left(l: DMatrixView<'_, f64>, mut x: DMatrixViewMut<'_, f64>) {
    let n = l.nrows();
    if n <= SMALL {
        poll();
        return Panels::of(l).solve_left(x);
    }
    let h = n / 2;
    let (mut top, mut bottom) = x.rows_range_pair_mut(0..h, h..n);
    solve_left(l.view_range(0..h, 0..h), top.as_view_mut());
    gemm(bottom.as_view_mut(), -1.0, l.view_range(h..n, 0..h), top.as_view(), 1.0);
    solve_left(l.view_range(h..n, h..n), bottom);
}

/// L ← L⁻¹
fn invert_lower(mut l: DMatrixViewMut<'_, f64>) {
    let n = l.nrows();
    if n <= SMALL {
        poll();
        let panels = Panels::of(l.as_view());
        return panels.invert(l);
    }
    // [L11 0; L21 L22]⁻¹ = [L11⁻¹ 0; −L22⁻¹ L21 L11⁻¹  L22⁻¹]
    let h = n / 2;
    let l21 = l.view_range(h..n, 0..h).into_owned();
    let mut x21 = l21;
    solve_left(l.view_range(h..n, h..n), x21.as_view_mut());
    invert_lower(l.view_range_mut(0..h, 0..h));
    let mut product = DMatrix::zeros(n - h, h);
    gemm(product.as_view_mut(), -1.0, x21.as_view(), l.view_range(0..h, 0..h), 0.0);
    l.view_range_mut(h..n, 0..h).copy_from(&product);
    invert_lower(l.view_range_mut(h..n, h..n));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize) -> DMatrix<f64> {
        let a = DMatrix::from_fn(n, n + 3, |i, j| ((i * 37 + j * 101 + i * j) as f64).sin());
        &a * a.transpose() + DMatrix::identity(n, n)
    }

    #[test]
    fn factor_solve_and_inverse_agree_with_the_matrix() {
        for n in (1..=17).chain([31, 32, 33, 64, 100, 128, 129, 257]) {
            let a = matrix(n);
            let f = Cholesky::new(&a).unwrap();
            assert_eq!(f.jitter(), 0.0);
            assert!((f.lower() * f.lower().transpose() - &a).amax() < 1e-12 * a.amax(), "{n}");
            let b = DVector::from_fn(n, |i, _| (i as f64).cos());
            assert!((&a * f.solve(&b) - &b).amax() < 1e-9);
            assert!((&a * f.inverse() - DMatrix::identity(n, n)).amax() < 1e-9);
            assert!((f.lower() * f.lower_inverse() - DMatrix::identity(n, n)).amax() < 1e-10);
            let mut x = DMatrix::from_fn(n, 5, |i, j| (i + j) as f64);
            let y = x.clone();
            f.solve_lower(&mut x);
            assert!((lower_times(&f.lower_inverse(), &y) - &x).amax() < 1e-9);
            assert!((f.lower() * x - y).amax() < 1e-9);
        }
    }

    #[test]
    fn numbers_of_any_size() {
        for scale in [1e-307, 1e-150, 1e150, 1e305] {
            let a = matrix(11) * scale;
            let f = Cholesky::new(&a).unwrap();
            assert_eq!(f.jitter(), 0.0, "{scale}");
            assert!((f.lower() * f.lower().transpose() - &a).amax() < 1e-12 * a.amax(), "{scale}");
            assert!((f.lower() * f.lower_inverse() - DMatrix::identity(11, 11)).amax() < 1e-10, "{scale}");
        }
    }

    #[test]
    fn determinant_of_a_triangle_product() {
        let a = DMatrix::from_row_slice(2, 2, &[4.0, 2.0, 2.0, 3.0]);
        assert!((Cholesky::new(&a).unwrap().ln_det() - 8f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn singular_matrix_needs_jitter_and_says_so() {
        let v = DVector::from_fn(40, |i, _| 1.0 + i as f64);
        let f = Cholesky::new(&(&v * v.transpose())).unwrap();
        assert!(f.jitter() >= 1e-14 && f.jitter() <= 1e-10);
    }

    #[test]
    fn indefinite_or_not_a_number_names_the_pivot() {
        let mut a = DMatrix::identity(50, 50);
        a[(40, 40)] = -1.0;
        assert_eq!(Cholesky::new(&a).unwrap_err(), BadPivot(40));
        a[(40, 40)] = f64::NAN;
        assert_eq!(Cholesky::new(&a).unwrap_err(), BadPivot(40));
    }

    #[test]
    fn empty_matrix() {
        let f = Cholesky::new(&DMatrix::zeros(0, 0)).unwrap();
        assert_eq!(f.ln_det(), 0.0);
    }
}
