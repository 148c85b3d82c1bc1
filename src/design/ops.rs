//! The operations of the typed expressions on arrays. Sizes are checked, nothing panics.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::error::Why;
use super::value::{Rank, Value};
use super::want::Axis;
use crate::check::typed::{Elem, Op};
use crate::math::poll::poll;
use crate::math::product::gemm;

/// Entries between two polls.
pub(super) const PART: usize = 1 << 16;

/// Room for a matrix, or what it would have needed.
fn reserved(rows: usize, cols: usize) -> Result<Vec<f64>, Why> {
    let wanted = size(rows, cols);
    let mut values: Vec<f64> = Vec::new();
    values.try_reserve_exact(wanted / 8).map_err(|_| Why::Memory(wanted, isize::MAX as usize))?;
    Ok(values)
}

/// A matrix of zeros, or what it would have needed.
pub(super) fn zeros(rows: usize, cols: usize) -> Result<DMatrix<f64>, Why> {
    let mut values = reserved(rows, cols)?;
    // touching fresh memory takes longer than most sums
    while values.len() < rows * cols {
        values.resize((values.len() + PART).min(rows * cols), 0.0);
        poll();
    }
    Ok(DMatrix::from_vec(rows, cols, values))
}

/// Bytes of an array of that size; the largest number if that overflows.
pub(super) fn size(rows: usize, cols: usize) -> usize {
    rows.checked_mul(cols).and_then(|n| n.checked_mul(8)).unwrap_or(usize::MAX)
}

/// The wanted rows and columns.
pub(super) fn select(from: &DMatrix<f64>, rows: &Axis, cols: &Axis) -> Result<DMatrix<f64>, Why> {
    if *rows == Axis::All && *cols == Axis::All {
        return Ok(from.clone());
    }
    let rows = positions(rows, from.nrows())?;
    let cols = positions(cols, from.ncols())?;
    let mut out = zeros(rows.len(), cols.len())?;
    for (j, from_j) in cols.iter().enumerate() {
        for (i, from_i) in rows.iter().enumerate() {
            out[(i, j)] = from[(*from_i, *from_j)];
        }
    }
    Ok(out)
}

/// The wanted positions of an axis, which must all exist.
pub(super) fn positions(axis: &Axis, size: usize) -> Result<Vec<usize>, Why> {
    axis.positions(size).ok_or_else(|| match axis {
        Axis::Only(p) => Why::Position(p.iter().copied().max().unwrap_or(0), size),
        Axis::All => Why::Position(size, size),
    })
}

/// a op b
pub(super) fn apply(op: Op) -> fn(f64, f64) -> f64 {
    match op {
        Op::Add => |a, b| a + b,
        Op::Sub => |a, b| a - b,
        Op::Mul => |a, b| a * b,
        Op::Div => |a, b| a / b,
        // small whole powers by multiplication: exact under powers of two in a
        Op::Pow => |a, b| if b.fract() == 0.0 && b.abs() <= 4.0 { a.powi(b as i32) } else { a.powf(b) },
        // a NaN stays one: f64::min would hide it
        Op::Min => |a, b| if a.is_nan() || a < b { a } else { b },
        Op::Max => |a, b| if a.is_nan() || a > b { a } else { b },
    }
}

/// Elementwise, in place where nobody else needs the operand; a scalar goes with everything.
pub(super) fn elementwise(op: Op, mut a: Arc<Value>, mut b: Arc<Value>) -> Result<DMatrix<f64>, Why> {
    if b.rank == Rank::Scalar {
        let y = entry(&b)?;
        let mut out = Arc::unwrap_or_clone(a).array;
        combine(op, out.as_mut_slice(), Other::Same(y), false);
        return Ok(out);
    }
    if a.rank == Rank::Scalar {
        let x = entry(&a)?;
        let mut out = Arc::unwrap_or_clone(b).array;
        combine(op, out.as_mut_slice(), Other::Same(x), true);
        return Ok(out);
    }
    if a.array.shape() != b.array.shape() {
        return Err(Why::Shape(b.array.shape(), a.array.shape()));
    }
    if Arc::get_mut(&mut a).is_none() && Arc::get_mut(&mut b).is_some() {
        let mut out = Arc::unwrap_or_clone(b).array;
        combine(op, out.as_mut_slice(), Other::Each(a.array.as_slice()), true);
        Ok(out)
    } else {
        let mut out = Arc::unwrap_or_clone(a).array;
        combine(op, out.as_mut_slice(), Other::Each(b.array.as_slice()), false);
        Ok(out)
    }
}

/// What every entry meets.
enum Other<'a> {
    Same(f64),
    Each(&'a [f64]),
}

/// out ← out op other, or other op out.
fn combine(op: Op, out: &mut [f64], other: Other<'_>, flipped: bool) {
    // a loop of its own for each operation that is one instruction
    match op {
        Op::Add => zip(out, other, flipped, |a, b| a + b),
        Op::Sub => zip(out, other, flipped, |a, b| a - b),
        Op::Mul => zip(out, other, flipped, |a, b| a * b),
        Op::Div => zip(out, other, flipped, |a, b| a / b),
        Op::Pow | Op::Min | Op::Max => zip(out, other, flipped, apply(op)),
    }
}

fn zip(out: &mut [f64], other: Other<'_>, flipped: bool, f: impl Fn(f64, f64) -> f64) {
    for (i, part) in out.chunks_mut(PART).enumerate() {
        poll();
        match (&other, flipped) {
            (Other::Same(y), false) => part.iter_mut().for_each(|x| *x = f(*x, *y)),
            (Other::Same(x), true) => part.iter_mut().for_each(|y| *y = f(*x, *y)),
            (Other::Each(b), false) => part.iter_mut().zip(&b[i * PART..]).for_each(|(x, y)| *x = f(*x, *y)),
            (Other::Each(a), true) => part.iter_mut().zip(&a[i * PART..]).for_each(|(y, x)| *y = f(*x, *y)),
        }
    }
}

/// The number of a scalar.
pub(super) fn entry(a: &Value) -> Result<f64, Why> {
    a.array.iter().next().copied().ok_or(Why::Shape(a.array.shape(), (1, 1)))
}

/// Product of linear algebra; vectors are columns, on the left rows.
pub(super) fn mat_mul(a: &Value, b: &Value) -> Result<DMatrix<f64>, Why> {
    let product = |a: &DMatrix<f64>, b: &DMatrix<f64>| {
        if a.ncols() != b.nrows() {
            return Err(Why::Shape(b.shape(), (a.ncols(), b.ncols())));
        }
        let mut out = zeros(a.nrows(), b.ncols())?;
        if a.ncols() > 0 && !out.is_empty() {
            gemm(out.as_view_mut(), 1.0, a.as_view(), b.as_view(), 0.0);
        }
        Ok(out)
    };
    match (a.rank, b.rank) {
        (Rank::Vector, Rank::Vector) => product(&a.array.transpose(), &b.array),
        (Rank::Vector, Rank::Matrix) => Ok(product(&a.array.transpose(), &b.array)?.transpose()),
        _ => product(&a.array, &b.array),
    }
}

/// out_n = Σ_k a_nk b_nk
pub(super) fn row_dot(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Result<DMatrix<f64>, Why> {
    if a.shape() != b.shape() {
        return Err(Why::Shape(b.shape(), a.shape()));
    }
    let mut out = zeros(a.nrows(), 1)?;
    for (x, y) in a.column_iter().zip(b.column_iter()) {
        for ((o, x), y) in out.iter_mut().zip(x.iter()).zip(y.iter()) {
            *o += x * y;
        }
    }
    Ok(out)
}

/// Columns side by side; a scalar is a constant column. `rows` is the number of rows.
pub(super) fn join(parts: &[Arc<Value>], rows: usize) -> Result<DMatrix<f64>, Why> {
    let width: usize = parts.iter().map(|p| p.cols()).sum();
    let mut values = reserved(rows, width)?;
    for part in parts {
        if part.rank == Rank::Scalar {
            values.resize(values.len() + rows, entry(part)?);
        } else if part.rows() != rows {
            return Err(Why::Shape(part.array.shape(), (rows, part.cols())));
        } else {
            for some in part.array.as_slice().chunks(PART) {
                values.extend_from_slice(some);
                poll();
            }
        }
    }
    Ok(DMatrix::from_vec(rows, width, values))
}

/// Whether the entries of an index of that kind are codes from 0 (levels), not numbers from 1.
pub(super) fn is_coded(elem: Elem) -> bool {
    matches!(elem, Elem::Category | Elem::Ordered | Elem::Bool)
}

/// The positions that an index vector stands for; `None` is a level that was not there at training.
pub(super) fn indices(at: &Value, coded: bool, size: usize) -> Result<Vec<Option<usize>>, Why> {
    let base = if coded { 0.0 } else { 1.0 };
    let mut out = Vec::with_capacity(at.array.len());
    for (row, value) in at.array.iter().enumerate() {
        let position = value - base;
        if value.is_nan() && coded {
            out.push(None);
        } else if position.fract() == 0.0 && position >= 0.0 && position < size as f64 {
            out.push(Some(position as usize));
        } else {
            return Err(Why::Index { row, value: value + 1.0 - base, size });
        }
    }
    Ok(out)
}

/// The positions, all of which must be known.
pub(super) fn known(indices: Vec<Option<usize>>) -> Result<Vec<usize>, Why> {
    indices.into_iter().enumerate().map(|(row, i)| i.ok_or(Why::UnseenLevel(row))).collect()
}

/// Column per level: 1 where the code is that level.
pub(super) fn one_hot(codes: &Value, levels: usize, cols: &Axis) -> Result<DMatrix<f64>, Why> {
    let codes = known(indices(codes, true, levels)?)?;
    let cols = positions(cols, levels)?;
    let mut out = zeros(codes.len(), cols.len())?;
    for (j, level) in cols.iter().enumerate() {
        for (i, code) in codes.iter().enumerate() {
            out[(i, j)] = f64::from(u8::from(code == level));
        }
    }
    Ok(out)
}
