//! What every penalised column of the design goes through on its way into the core, column by column:
//! factors of the rows, powers of two, flat effects taken out.

use nalgebra::{DMatrix, DVector};

use super::prepare::NOTHING_LEFT;
use super::rows::{Columns, Rows};
use super::solution::Failure;
use crate::math::power::times_two_to;
use crate::math::qr;
use crate::math::sums::all_finite;

/// The steps, in order: rows by their factors; a power of two; rows by 2^−first; a power of two; less the part
/// in the flat columns; rows by 2^−second; a power of two.
pub(crate) struct Treatment {
    /// Row of the problem and factor, n.
    source: Vec<(usize, f64)>,
    /// Whether `source` is every row as it is.
    plain: bool,
    /// Ranges of rows with their two exponents.
    first: Vec<(usize, usize, i32)>,
    second: Vec<(usize, usize, i32)>,
    /// The flat columns at that stage: F = Q R.
    q: DMatrix<f64>,
    r: DMatrix<f64>,
    /// What the last step did to the flat columns.
    up: Vec<i32>,
}

/// Columns of the core.
pub(crate) struct Treated {
    /// n × b
    pub values: DMatrix<f64>,
    /// The column is the user's times 2^−exponent (besides the scaling of rows).
    pub exponents: Vec<i32>,
    /// Flat part of each, f × b.
    pub map: DMatrix<f64>,
}

/// Least-squares fit of the targets on the flat columns, and what the columns go through.
pub(crate) fn treat_rows(
    rows: &mut Rows,
    flat: &mut Columns,
    index: &[usize],
) -> Result<(DVector<f64>, Treatment), Failure> {
    flat.scale();
    let first = rows.scale_by_targets(flat);
    flat.scale();
    let before = rows.t.norm();
    let (q, r) = match flat.values.ncols() {
        0 => (DMatrix::zeros(rows.t.len(), 0), DMatrix::zeros(0, 0)),
        _ => qr::orthonormal(&flat.values)
            .map_err(|column| Failure::FlatNotIdentified(collinear(&flat.values, column, index)))?,
    };
    let mut targets = DMatrix::from_column_slice(rows.t.len(), 1, rows.t.as_slice());
    let mut fit = DMatrix::zeros(0, 1);
    if q.ncols() > 0 {
        fit = qr::project_out(&q, &mut targets);
        rows.t.copy_from(&targets.column(0));
        r.solve_upper_triangular_mut(&mut fit);
    }
    if rows.t.norm() <= NOTHING_LEFT * before {
        rows.t.fill(0.0);
    }
    let second = rows.scale_by_targets(flat);
    let flat_before = flat.exponents.clone();
    flat.scale();
    let up: Vec<i32> =
        flat.exponents.iter().zip(&flat_before).map(|(after, before)| after - before).collect();
    let fit = DVector::from_iterator(up.len(), fit.iter().zip(&up).map(|(v, e)| times_two_to(*v, *e)));
    let source = rows.source.clone();
    let plain = source.iter().enumerate().all(|(i, s)| *s == (i, 1.0));
    Ok((fit, Treatment { source, plain, first, second, q, r, up }))
}

impl Treatment {
    /// Treats columns, N × b.
    pub fn apply(&self, raw: DMatrix<f64>) -> Result<Treated, Failure> {
        if !all_finite(raw.as_slice()) {
            return Err(Failure::NonFinite { step: "design" });
        }
        let b = raw.ncols();
        let values = if self.plain && raw.nrows() == self.source.len() {
            raw
        } else {
            DMatrix::from_fn(self.source.len(), b, |r, c| {
                let (row, factor) = self.source[r];
                factor * raw[(row, c)]
            })
        };
        let mut columns = Columns { values, exponents: vec![0; b] };
        columns.scale();
        let f = self.q.ncols();
        if let ([(0, end, first), ..], 0) = (self.first.as_slice(), f)
            && *end == self.source.len()
        {
            // rows of one class: their scaling is undone by that of the columns
            let second = self.second.first().map_or(0, |s| s.2);
            columns.exponents.iter_mut().for_each(|e| *e -= first + second);
            return Ok(Treated {
                values: columns.values,
                exponents: columns.exponents,
                map: DMatrix::zeros(0, b),
            });
        }
        columns.scale_rows(&self.first);
        columns.scale();
        let mut map = DMatrix::zeros(f, b);
        if f > 0 {
            // exact, because a flat prior does not feel a shift: t = F u + Φ w = F (u + A w − a) + Φ⊥ w + F a
            let norms: Vec<f64> = columns.values.column_iter().map(|c| c.norm()).collect();
            map = qr::project_out(&self.q, &mut columns.values);
            for (mut column, norm) in columns.values.column_iter_mut().zip(norms) {
                if column.norm() <= NOTHING_LEFT * norm {
                    column.fill(0.0);
                }
            }
            self.r.solve_upper_triangular_mut(&mut map);
        }
        columns.scale_rows(&self.second);
        let before = columns.exponents.clone();
        columns.scale();
        for i in 0..b {
            for g in 0..f {
                let e = self.up[g] - (columns.exponents[i] - before[i]);
                map[(g, i)] = times_two_to(map[(g, i)], e);
            }
        }
        if !all_finite(columns.values.as_slice()) {
            return Err(Failure::NonFinite { step: "scaling the columns" });
        }
        Ok(Treated { values: columns.values, exponents: columns.exponents, map })
    }
}

/// The flat columns that column `last` is a combination of, and itself.
pub(crate) fn collinear(flat: &DMatrix<f64>, last: usize, index: &[usize]) -> Vec<usize> {
    let mut list = vec![index[last]];
    let before = flat.columns(0, last).into_owned();
    if let Ok((q, r)) = qr::orthonormal(&before) {
        let mut c = q.transpose() * flat.column(last);
        if r.solve_upper_triangular_mut(&mut c) {
            let largest = c.amax();
            list.extend(
                (0..last).filter(|&j| c[j].abs() > 1e-8 * largest && largest > 0.0).map(|j| index[j]),
            );
        }
    }
    list.sort_unstable();
    list
}
