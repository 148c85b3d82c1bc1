//! Cholesky factors of small matrices, and what is solved with them, in vectors of one length: loops over them are compiled
//! to instructions of the widest vectors that a processor has.

use nalgebra::{DMatrixView, DMatrixViewMut};

use super::wide::widest;

/// Numbers in a vector.
const WIDTH: usize = 8;
/// Vectors that are summed at a time.
const STRIP: usize = 4;

/// Eight numbers of one column, or of one row.
#[derive(Clone, Copy)]
struct Lane([f64; WIDTH]);

impl Lane {
    const ZERO: Lane = Lane([0.0; WIDTH]);
}

/// A lower triangle in panels of eight rows: a panel holds its rows of column 0, of column 1, … up to its diagonal. What is
/// above the diagonal there means nothing; rows beyond the last are 0.
pub struct Panels {
    n: usize,
    lanes: Vec<Lane>,
}

/// Where a panel begins.
fn begin(panel: usize) -> usize {
    WIDTH * panel * (panel + 1) / 2
}

/// acc_c ← acc_c − Σ_k v_k m_k[at + c]
#[inline(always)]
fn subtract_products(acc: &mut [Lane; STRIP], v: &[Lane], m: &[Lane], at: usize) {
    let m = &m[..v.len()];
    for k in 0..v.len() {
        for (c, acc) in acc.iter_mut().enumerate() {
            let factor = m[k].0[(at + c) % WIDTH];
            for i in 0..WIDTH {
                acc.0[i] -= v[k].0[i] * factor;
            }
        }
    }
}

/// The triangle of a strip's own rows: its entries, and one over those of the diagonal.
struct Corner {
    lower: [[f64; STRIP]; STRIP],
    inverse: [f64; STRIP],
}

impl Corner {
    /// Of the first columns of a panel.
    #[inline(always)]
    fn of(columns: &[Lane], at: usize) -> Corner {
        let mut corner = Corner { lower: [[0.0; STRIP]; STRIP], inverse: [0.0; STRIP] };
        for (c, column) in columns[..STRIP].iter().enumerate() {
            for i in 0..STRIP {
                corner.lower[c][i] = column.0[(at + i) % WIDTH];
            }
            corner.inverse[c] = 1.0 / corner.lower[c][c];
        }
        corner
    }

    /// A ← L, of its first columns; the first whose pivot is not positive.
    #[inline(always)]
    fn factorise(&mut self, columns: usize) -> Result<(), usize> {
        for c in 0..columns {
            let pivot = self.lower[c][c];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(c);
            }
            let root = pivot.sqrt();
            // 1/√p = √p (1/p): neither waits for the other
            let plain = (1e-300..1e300).contains(&pivot);
            self.inverse[c] = if plain { root * (1.0 / pivot) } else { 1.0 / root };
            self.lower[c][c] = root;
            for i in c + 1..STRIP {
                self.lower[c][i] *= self.inverse[c];
            }
            for j in c + 1..STRIP {
                for i in j..STRIP {
                    self.lower[j][i] -= self.lower[c][i] * self.lower[c][j];
                }
            }
        }
        Ok(())
    }

    /// acc ← acc L⁻ᵀ
    #[inline(always)]
    fn divide(&self, acc: &mut [Lane; STRIP]) {
        for c in 0..STRIP {
            let mut lane = acc[c];
            for (before, column) in acc[..c].iter().zip(&self.lower) {
                for i in 0..WIDTH {
                    lane.0[i] -= before.0[i] * column[c];
                }
            }
            for i in 0..WIDTH {
                lane.0[i] *= self.inverse[c];
            }
            acc[c] = lane;
        }
    }
}

impl Panels {
    /// Of a square matrix, of which only the lower triangle is read.
    pub fn of(a: DMatrixView<'_, f64>) -> Panels {
        let n = a.nrows();
        let mut lanes = vec![Lane::ZERO; begin(n.div_ceil(WIDTH))];
        for (k, column) in a.column_iter().enumerate() {
            let first = k / WIDTH;
            let (whole, rest) = column.as_slice()[first * WIDTH..].as_chunks::<WIDTH>();
            for (panel, part) in (first..).zip(whole) {
                lanes[begin(panel) + k].0 = *part;
            }
            if !rest.is_empty() {
                let last = &mut lanes[begin(first + whole.len()) + k].0;
                last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            }
        }
        Panels { n, lanes }
    }

    /// The triangle, on that of a matrix; what stands above it is lost.
    pub fn write(&self, a: &mut DMatrixViewMut<'_, f64>) {
        for (k, mut column) in a.column_iter_mut().enumerate() {
            let first = k / WIDTH;
            let (whole, rest) = column.as_mut_slice()[first * WIDTH..].as_chunks_mut::<WIDTH>();
            let last = first + whole.len();
            for (panel, part) in (first..).zip(whole) {
                *part = self.lanes[begin(panel) + k].0;
            }
            if !rest.is_empty() {
                let last = &self.lanes[begin(last) + k].0;
                rest.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// A ← L, some columns at a time (left-looking); the index of the first pivot that is not positive.
    pub fn factorise(&mut self) -> Result<(), usize> {
        let Panels { n, lanes } = self;
        let n = *n;
        widest(
            #[inline(always)]
            || {
                for j in (0..n).step_by(STRIP) {
                    let (first, at) = (j / WIDTH, j % WIDTH);
                    let (top, below) = lanes.split_at_mut(begin(first + 1));
                    let top = &mut top[begin(first)..];
                    let (done, strip) = top.split_at_mut(j);
                    let mut acc = strip_of(strip);
                    subtract_products(&mut acc, done, done, at);
                    let mut corner = Corner::of(&acc, at);
                    corner.factorise(STRIP.min(n - j)).map_err(|c| j + c)?;
                    corner.divide(&mut acc);
                    strip[..STRIP].copy_from_slice(&acc);
                    let mut panel = first + 1;
                    let mut rest = below;
                    while !rest.is_empty() {
                        let (here, next) = rest.split_at_mut(WIDTH * (panel + 1));
                        let mut acc = strip_of(&here[j..]);
                        subtract_products(&mut acc, &here[..j], done, at);
                        corner.divide(&mut acc);
                        here[j..j + STRIP].copy_from_slice(&acc);
                        (rest, panel) = (next, panel + 1);
                    }
                }
                Ok(())
            },
        )
    }

    /// Rows of X ← those of L⁻¹ X, eight columns of it, whose rows before `first`, a multiple of eight, are 0.
    fn solve(&self, x: &mut [Lane], first: usize) {
        widest(
            #[inline(always)]
            || {
                for i in (first..self.n).step_by(STRIP) {
                    let at = i % WIDTH;
                    let panel = &self.lanes[begin(i / WIDTH)..];
                    let (done, rest) = x.split_at_mut(i);
                    let mut acc = strip_of(rest);
                    subtract_products(&mut acc, &done[first..], &panel[first..i], at);
                    Corner::of(&panel[i..], at).divide(&mut acc);
                    rest[..STRIP].copy_from_slice(&acc);
                }
            },
        );
    }

    /// Lanes for the rows of X, and what a strip may touch beyond them.
    fn rows(&self) -> Vec<Lane> {
        vec![Lane::ZERO; self.n.next_multiple_of(WIDTH)]
    }

    /// X ← L⁻¹ X
    pub fn solve_left(&self, mut x: DMatrixViewMut<'_, f64>) {
        let mut rows = self.rows();
        for start in (0..x.ncols()).step_by(WIDTH) {
            let width = WIDTH.min(x.ncols() - start);
            for (c, column) in x.columns(start, width).column_iter().enumerate() {
                rows.iter_mut().zip(column.as_slice()).for_each(|(row, x)| row.0[c] = *x);
            }
            self.solve(&mut rows, 0);
            for (c, mut column) in x.columns_mut(start, width).column_iter_mut().enumerate() {
                column.as_mut_slice().iter_mut().zip(&rows).for_each(|(x, row)| *x = row.0[c]);
            }
        }
    }

    /// L⁻¹, on the triangle of a matrix.
    pub fn invert(&self, mut to: DMatrixViewMut<'_, f64>) {
        let mut rows = self.rows();
        for start in (0..self.n).step_by(WIDTH) {
            rows[start..].fill(Lane::ZERO);
            for c in 0..WIDTH {
                rows[start + c].0[c] = 1.0;
            }
            self.solve(&mut rows, start);
            for c in 0..WIDTH.min(self.n - start) {
                let mut column = to.column_mut(start + c);
                let column = &mut column.as_mut_slice()[start + c..];
                column.iter_mut().zip(&rows[start + c..]).for_each(|(x, row)| *x = row.0[c]);
            }
        }
    }
}

/// The first lanes.
#[inline(always)]
fn strip_of(lanes: &[Lane]) -> [Lane; STRIP] {
    std::array::from_fn(|c| lanes[c])
}
