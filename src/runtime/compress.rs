//! Fewer rows for the same problem: by an orthonormal basis where many columns are of low rank, by a
//! triangular factor where there are more rows than columns.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::core::Core;
use super::reduce::Basis;
use super::rows::{Columns, Rows};
use super::solution::Failure;
use super::source::Source;
use super::treatment::{Treated, Treatment};
use crate::math::qr;

/// Columns that are looked at first.
pub(crate) const BLOCK: usize = 64;
/// Numbers in a later block of columns, about: what stays in the cache.
const BLOCK_SIZE: usize = 1 << 15;
/// Columns in a later block, at least.
const LEAST: usize = 8;
/// Compressing rows is worth at most this many operations.
const COMPRESSION_COST: f64 = 5e10;

/// Rows, flat columns and penalised columns of a core.
pub(crate) struct Reduced {
    pub t: DVector<f64>,
    pub flat: DMatrix<f64>,
    pub phi: Treated,
    /// The rows of each class.
    pub ranges: Vec<Range<usize>>,
}

/// The rows of each class in the coordinates of a basis of its columns, one more for what the targets have outside.
/// Columns are asked for in blocks, and each is compared with its coordinates in all rows (see [`Basis::take`]). `None` if
/// the basis would need more than `limit` vectors (or a third of the rows of the class, which is then left as it is).
pub(crate) fn low_rank(
    source: &mut dyn Source,
    treatment: &Treatment,
    rows: &Rows,
    flat: &Columns,
    penalised: &[usize],
    limit: usize,
) -> Result<Option<Reduced>, Failure> {
    let (n, m) = (rows.t.len(), penalised.len());
    let ranges: Vec<Range<usize>> = rows.classes.iter().map(|c| c.start..c.end).collect();
    let mut worth: Vec<bool> = ranges.iter().map(|r| r.len() >= BLOCK).collect();
    'again: while worth.contains(&true) {
        let mut bases: Vec<Option<Basis>> = ranges
            .iter()
            .zip(&worth)
            .map(|(r, worth)| worth.then(|| Basis::new(r.len(), limit.min(r.len() / 3))))
            .collect();
        let mut flat_parts = Vec::new();
        for (c, (range, basis)) in ranges.iter().zip(&mut bases).enumerate() {
            let part = flat.values.rows(range.start, range.len()).into_owned();
            match coordinates(basis.as_mut(), part) {
                Some(part) => flat_parts.push(part),
                None => {
                    worth[c] = false;
                    continue 'again;
                }
            }
        }
        let mut blocks: Vec<(Vec<usize>, Vec<DMatrix<f64>>)> = Vec::new();
        let mut exponents = vec![0; m];
        let mut map = DMatrix::zeros(flat.values.ncols(), m);
        for block in order(n, m) {
            let which: Vec<usize> = block.iter().map(|&i| penalised[i]).collect();
            let treated = treatment.apply(source.columns(&which)?)?;
            for (at, &i) in block.iter().enumerate() {
                exponents[i] = treated.exponents[at];
                map.set_column(i, &treated.map.column(at));
            }
            let mut whole = Some(treated.values);
            let mut parts = Vec::with_capacity(ranges.len());
            for (c, (range, basis)) in ranges.iter().zip(&mut bases).enumerate() {
                let part = match &whole {
                    Some(values) if ranges.len() > 1 => values.rows(range.start, range.len()).into_owned(),
                    _ => whole.take().unwrap_or_else(|| DMatrix::zeros(0, 0)),
                };
                match coordinates(basis.as_mut(), part) {
                    Some(part) => parts.push(part),
                    None => {
                        worth[c] = false;
                        continue 'again;
                    }
                }
            }
            blocks.push((block, parts));
        }
        return Ok(Some(stack(rows, &ranges, &bases, &flat_parts, &blocks, exponents, map)));
    }
    Ok(None)
}

/// Blocks of columns: some from all over first, which nearly span the rest.
pub(crate) fn order(n: usize, m: usize) -> Vec<Vec<usize>> {
    let stride = m.div_ceil(BLOCK);
    let first: Vec<usize> = (0..m).step_by(stride.max(1)).collect();
    let rest: Vec<usize> = (0..m).filter(|i| i % stride.max(1) != 0).collect();
    let size = (BLOCK_SIZE / n.max(1)).max(LEAST);
    std::iter::once(first).chain(rest.chunks(size).map(<[usize]>::to_vec)).collect()
}

/// Coordinates in the basis, or the rows as they are.
fn coordinates(basis: Option<&mut Basis>, part: DMatrix<f64>) -> Option<DMatrix<f64>> {
    match basis {
        Some(basis) => basis.take(part),
        None => Some(part),
    }
}

fn stack(
    rows: &Rows,
    ranges: &[Range<usize>],
    bases: &[Option<Basis>],
    flat_parts: &[DMatrix<f64>],
    blocks: &[(Vec<usize>, Vec<DMatrix<f64>>)],
    exponents: Vec<i32>,
    map: DMatrix<f64>,
) -> Reduced {
    // one row for what the targets have outside the basis
    let heights: Vec<usize> =
        ranges.iter().zip(bases).map(|(r, b)| b.as_ref().map_or(r.len(), |b| b.rank() + 1)).collect();
    let n = heights.iter().sum();
    let mut t = DVector::zeros(n);
    let mut flat = DMatrix::zeros(n, map.nrows());
    let mut values = DMatrix::zeros(n, exponents.len());
    let mut new_ranges = Vec::new();
    let mut start = 0;
    for (c, (range, basis)) in ranges.iter().zip(bases).enumerate() {
        let targets = rows.t.rows(range.start, range.len()).into_owned();
        match basis {
            Some(basis) => {
                let (inside, outside) = basis.coordinates(&targets);
                t.rows_mut(start, inside.len()).copy_from(&inside);
                t[start + inside.len()] = outside;
            }
            None => t.rows_mut(start, range.len()).copy_from(&targets),
        }
        flat.rows_mut(start, flat_parts[c].nrows()).copy_from(&flat_parts[c]);
        for (block, parts) in blocks {
            for (at, &i) in block.iter().enumerate() {
                values.view_mut((start, i), (parts[c].nrows(), 1)).copy_from(&parts[c].column(at));
            }
        }
        new_ranges.push(start..start + heights[c]);
        start += heights[c];
    }
    Reduced { t, flat, phi: Treated { values, exponents, map }, ranges: new_ranges }
}

/// Replaces the rows of each class by the triangular factor of [F, Φ, t] where that is shorter.
pub(crate) fn compress(core: &mut Core) {
    let (f, m) = (core.flat.ncols(), core.phi.ncols());
    let width = f + m + 1;
    let mut rows = 0;
    let mut plan = Vec::new();
    for class in &core.classes {
        let n = class.rows.len();
        let cost = 2.0 * n as f64 * (width * width) as f64;
        let worth = n > width + width / 4 + 8 && cost <= COMPRESSION_COST;
        plan.push(worth);
        rows += if worth { width } else { n };
    }
    if !plan.contains(&true) {
        return;
    }
    if f == 0 && core.classes.len() == 1 {
        // all rows at once: nothing is copied
        let mut whole =
            std::mem::replace(&mut core.phi, DMatrix::zeros(0, 0)).resize_horizontally(width, 0.0);
        whole.set_column(m, &core.t);
        let triangle = qr::triangle(&whole);
        core.classes[0].rows = 0..rows;
        core.flat = DMatrix::zeros(rows, 0);
        core.phi = triangle.columns(0, m).into_owned();
        core.t = triangle.column(m).into_owned();
        return;
    }
    let mut all = DMatrix::zeros(rows, width);
    let mut at = 0;
    for (class, worth) in core.classes.iter_mut().zip(plan) {
        let (start, n) = (class.rows.start, class.rows.len());
        let mut part = DMatrix::zeros(n, width);
        part.columns_mut(0, f).copy_from(&core.flat.rows(start, n));
        part.columns_mut(f, m).copy_from(&core.phi.rows(start, n));
        part.column_mut(f + m).copy_from(&core.t.rows(start, n));
        if worth {
            part = qr::triangle(&part);
        }
        all.rows_mut(at, part.nrows()).copy_from(&part);
        class.rows = at..at + part.nrows();
        at += part.nrows();
    }
    core.flat = all.columns(0, f).into_owned();
    core.phi = all.columns(f, m).into_owned();
    core.t = all.column(f + m).into_owned();
}
