//! Coefficients in a basis from some rows of a column, checked against all rows by random combinations of
//! them: N + r² operations a column where a projection takes N r.

use nalgebra::{DMatrix, DVector};

use crate::math::cross::{cross, dot};
use crate::math::poll::poll;
use crate::math::product::times;

/// Random combinations of rows. A difference 1000 times the tolerance goes unnoticed with a probability below
/// 10⁻⁹: |gᵀe| < 10⁻³ |e| has one below 10⁻³ for each.
const PROBES: usize = 3;

/// As many rows as the basis Q (n × r) has vectors, far from dependent.
pub(crate) struct Sample {
    rows: Vec<usize>,
    /// Q_rows⁻¹, r × r.
    inverse: DMatrix<f64>,
    /// Standard normal G (n × probes), and GᵀQ (probes × r).
    probes: DMatrix<f64>,
    seen: DMatrix<f64>,
}

impl Sample {
    /// The rows of a basis and its transpose; `None` if they cannot be told apart.
    pub fn new(q: &DMatrix<f64>, qt: &DMatrix<f64>) -> Option<Sample> {
        let rows = far_rows(qt);
        let inverse = q.select_rows(&rows).try_inverse()?;
        let probes = normal(q.nrows(), PROBES);
        let seen = cross(&probes, q);
        Some(Sample { rows, inverse, probes, seen })
    }

    /// C = Q_rows⁻¹ X_rows (r × b) if X = Q C to this fraction of each column, as far as GᵀX = GᵀQ C tells.
    pub fn coefficients(&self, x: &DMatrix<f64>, tolerance: f64) -> Option<DMatrix<f64>> {
        let c = times(&self.inverse, &x.select_rows(&self.rows));
        let (all, found) = (cross(&self.probes, x), times(&self.seen, &c));
        let size = |j: usize| dot(c.column(j).as_slice(), c.column(j).as_slice()).sqrt();
        let agrees = |j: usize| (all.column(j) - found.column(j)).amax() <= tolerance * size(j);
        (0..x.ncols()).all(agrees).then_some(c)
    }
}

/// r of the columns of Qᵀ (r × n), each the one farthest from the span of those before: pivoted Gram-Schmidt.
fn far_rows(qt: &DMatrix<f64>) -> Vec<usize> {
    let r = qt.nrows();
    let mut left: Vec<f64> = qt.column_iter().map(|c| dot(c.as_slice(), c.as_slice())).collect();
    let mut directions: Vec<DVector<f64>> = Vec::with_capacity(r);
    let mut rows = Vec::with_capacity(r);
    for _ in 0..r {
        poll();
        let farthest = (0..left.len()).max_by(|a, b| left[*a].total_cmp(&left[*b]).then(b.cmp(a)));
        let Some(row) = farthest else { break };
        let mut v = qt.column(row).into_owned();
        for _ in 0..2 {
            for u in &directions {
                let dot = u.dot(&v);
                v.axpy(-dot, u, 1.0);
            }
        }
        v.normalize_mut();
        for (left, column) in left.iter_mut().zip(qt.as_slice().chunks_exact(r)) {
            *left -= dot(v.as_slice(), column).powi(2);
        }
        left[row] = f64::NEG_INFINITY;
        rows.push(row);
        directions.push(v);
    }
    rows
}

/// Standard normal numbers (splitmix64; Box and Muller 1958), always the same.
fn normal(n: usize, columns: usize) -> DMatrix<f64> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut uniform = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((z >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    DMatrix::from_fn(n, columns, |_, _| {
        (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A basis of polynomials on unequally spaced points.
    fn basis(n: usize, r: usize) -> DMatrix<f64> {
        let x = |i: usize| (i as f64 / n as f64).powi(2);
        DMatrix::from_fn(n, r, |i, j| (3.0 * j as f64 * x(i)).cos()).qr().q()
    }

    #[test]
    fn a_sample_of_the_rows_tells_the_coefficients() {
        let q = basis(500, 12);
        let sample = Sample::new(&q, &q.transpose()).unwrap();
        let c =
            DMatrix::from_fn(12, 7, |i, j| ((i * 7 + j * 3) as f64).sin() * 10_f64.powi(j as i32 * 20 - 60));
        let found = sample.coefficients(&(&q * &c), 1e-12).unwrap();
        for (a, b) in found.column_iter().zip(c.column_iter()) {
            assert!((a - b).norm() <= 1e-13 * b.norm());
        }
        let nothing = sample.coefficients(&DMatrix::zeros(500, 2), 1e-12).unwrap();
        assert_eq!(nothing, DMatrix::zeros(12, 2));
    }

    #[test]
    fn what_is_outside_is_noticed_wherever_it_is() {
        let q = basis(500, 12);
        let sample = Sample::new(&q, &q.transpose()).unwrap();
        let inside = &q * DMatrix::from_fn(12, 1, |i, _| (i as f64).cos());
        for row in 0..500 {
            let mut x = inside.clone();
            x[(row, 0)] += 1e-9;
            assert!(sample.coefficients(&x, 1e-12).is_none(), "{row}");
            let mut alone = DMatrix::zeros(500, 1);
            alone[(row, 0)] = 1e-30;
            assert!(sample.coefficients(&alone, 1e-12).is_none(), "{row}");
        }
    }

    #[test]
    fn probes_are_standard_normal() {
        let g = normal(100_000, 1);
        let mean = g.mean();
        let fourth = g.iter().map(|x| x.powi(4)).sum::<f64>() / 1e5;
        assert!(
            mean.abs() < 0.01 && (g.norm_squared() / 1e5 - 1.0).abs() < 0.02 && (fourth - 3.0).abs() < 0.1
        );
    }
}
