//! Products of large matrices, in blocks of columns with a poll between them.
//!
//! Every entry is summed as in one product: the blocks change no bit.

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut};

use super::parts::divide;
use super::poll::{self, poll};

/// Multiplications between two polls, about: some hundredths of a second.
const BLOCK: usize = 1 << 26;
/// Multiplications that are worth a thread.
const WORTH: usize = 1 << 22;
/// Numbers of fresh memory between two polls.
const PART: usize = 1 << 18;
/// Columns and rows of a block are a multiple of this: tiles of the product stay whole.
const TILE: usize = 32;
/// Rows that are summed at a time are a multiple of this.
const DEPTH: usize = 256;

/// C ← alpha A B + beta C
pub fn gemm(
    c: DMatrixViewMut<'_, f64>,
    alpha: f64,
    a: DMatrixView<'_, f64>,
    b: DMatrixView<'_, f64>,
    beta: f64,
) {
    let work = c.len().saturating_mul(a.ncols());
    let threads = poll::threads().min(work / WORTH).min(c.ncols() / (2 * TILE));
    on_threads(threads, c, alpha, a, b, beta);
}

/// Half of the columns for half of the threads each.
fn on_threads(
    threads: usize,
    mut c: DMatrixViewMut<'_, f64>,
    alpha: f64,
    a: DMatrixView<'_, f64>,
    b: DMatrixView<'_, f64>,
    beta: f64,
) {
    let n = c.ncols();
    if threads < 2 {
        return in_blocks(c, alpha, a, b, beta);
    }
    let half = (n / 2).next_multiple_of(TILE).min(n);
    let (left, right) = c.columns_range_pair_mut(0..half, half..n);
    let job = |threads, c, b| move || on_threads(threads, c, alpha, a, b, beta);
    let first = job(threads / 2, left, b.columns(0, half));
    divide([first, job(threads - threads / 2, right, b.columns(half, n - half))].into_iter());
}

fn in_blocks(
    mut c: DMatrixViewMut<'_, f64>,
    alpha: f64,
    a: DMatrixView<'_, f64>,
    b: DMatrixView<'_, f64>,
    beta: f64,
) {
    let inner = a.ncols().max(1);
    let width = blocks(c.ncols(), BLOCK / (inner * c.nrows().max(1)));
    let height = blocks(c.nrows(), BLOCK / (inner * width.max(1)));
    for (column, width) in split(c.ncols(), width) {
        for (row, height) in split(c.nrows(), height) {
            c.view_mut((row, column), (height, width)).gemm(
                alpha,
                &a.rows(row, height),
                &b.columns(column, width),
                beta,
            );
            poll();
        }
    }
}

/// The size of a block, at most about `most`.
fn blocks(size: usize, most: usize) -> usize {
    if most >= size { size.max(1) } else { (most / TILE * TILE).max(TILE) }
}

/// Starts and sizes of the blocks; the last may be larger, never narrower.
fn split(size: usize, block: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = (size / block).max(usize::from(size > 0));
    (0..count).map(move |i| (i * block, if i + 1 == count { size - i * block } else { block }))
}

/// A matrix of zeros: touching fresh memory takes longer than most sums, so this polls too.
pub fn zeros(rows: usize, cols: usize) -> DMatrix<f64> {
    let size = rows * cols;
    let mut values = Vec::with_capacity(size);
    while values.len() < size {
        values.resize((values.len() + PART).min(size), 0.0);
        poll();
    }
    DMatrix::from_vec(rows, cols, values)
}

/// The same matrix again.
pub fn copy_of(a: &DMatrix<f64>) -> DMatrix<f64> {
    let mut values = Vec::with_capacity(a.len());
    for part in a.as_slice().chunks(PART) {
        values.extend_from_slice(part);
        poll();
    }
    DMatrix::from_vec(a.nrows(), a.ncols(), values)
}

/// Some columns of a matrix.
pub fn columns_of(a: &DMatrix<f64>, which: &[usize]) -> DMatrix<f64> {
    let mut out = zeros(a.nrows(), which.len());
    for (mut to, from) in out.column_iter_mut().zip(which) {
        to.copy_from(&a.column(*from));
        poll();
    }
    out
}

/// A B
pub fn times(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let mut c = zeros(a.nrows(), b.ncols());
    if a.ncols() > 0 && !c.is_empty() {
        gemm(c.as_view_mut(), 1.0, a.as_view(), b.as_view(), 0.0);
    }
    c
}

/// Aᵀ B. Tall matrices a part of their rows at a time: nothing large is copied, and each is read once.
pub fn transposed_times(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (rows, size) = (a.nrows(), a.ncols() * b.ncols());
    let depth = (BLOCK / size.max(1) / DEPTH * DEPTH).max(DEPTH);
    if rows < 2 * depth || size == 0 {
        return times(&a.transpose(), b);
    }
    let mut c = zeros(a.ncols(), b.ncols());
    for (start, depth) in split(rows, depth) {
        let part = a.rows(start, depth).transpose();
        gemm(c.as_view_mut(), 1.0, part.as_view(), b.rows(start, depth), 1.0);
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::poll::{Watch, count, watched};

    #[test]
    fn blocks_change_no_bit_and_poll() {
        let a = DMatrix::from_fn(700, 650, |i, j| ((i * 13 + j * 7 + i * j) as f64).sin());
        let b = DMatrix::from_fn(650, 611, |i, j| ((i * 5 + j * 11 + i * j) as f64).cos());
        let before = count();
        assert_eq!(times(&a, &b), &a * &b);
        assert!(count() > before + 2);
        for threads in [2, 3, 8] {
            let watch = Watch::of(None).with_threads(threads);
            assert_eq!(watched(Some(watch), || times(&a, &b)), Ok(&a * &b), "{threads}");
        }
        let tall = DMatrix::from_fn(2100, 300, |i, j| ((i * 3 + j * 17 + i * j) as f64).sin());
        let gram = transposed_times(&tall, &tall);
        assert!((&gram - tall.transpose() * &tall).amax() < 1e-10);
        let watch = Watch::of(None).with_threads(2);
        assert_eq!(watched(Some(watch), || transposed_times(&tall, &tall)), Ok(gram));
        assert_eq!(times(&DMatrix::zeros(3, 0), &DMatrix::zeros(0, 2)), DMatrix::zeros(3, 2));
    }
}
