//! Functions of every row of one matrix with every row of another, and their adjoints.

use nalgebra::DMatrix;

use crate::math::parts::parts;
use crate::math::poll::poll;
use crate::math::product::gemm;
use crate::math::wide::widest;

/// x [N,D], c [M,D], scale [D] or none, and out [N,M], which is all zeros before.
pub type PairsFn = fn(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>);

/// x, c, scale, and the adjoint of out [N,M]: those of x, c and scale.
pub type PairsAdjoint =
    fn(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &DMatrix<f64>) -> PairsBar;

/// Adjoints of the arguments of a function of pairs.
pub struct PairsBar {
    /// [N,D]
    pub x: DMatrix<f64>,
    /// [M,D]
    pub c: DMatrix<f64>,
    /// [D]; those of a scale that is not there are of no use.
    pub scale: Vec<f64>,
}

/// out = x cᵀ, with scale x diag(scale) cᵀ
pub(super) fn dot(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    let mut transposed = c.transpose();
    if let Some(scale) = scale {
        for (mut row, s) in transposed.row_iter_mut().zip(scale) {
            row *= *s;
        }
    }
    if x.ncols() > 0 && !out.is_empty() {
        gemm(out.as_view_mut(), 1.0, x.as_view(), transposed.as_view(), 0.0);
    }
}

/// Σ_k (x_nk − c_mk)²: differences first, so the diagonal is exactly 0 and the matrix symmetric.
pub(super) fn sq_dist(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    fold(
        x,
        c,
        scale,
        out,
        #[inline(always)]
        |sum, s, x, c| {
            let d = x - c;
            sum + s * (d * d)
        },
    );
}

/// Σ_k |x_nk − c_mk|
pub(super) fn abs_dist(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    fold(
        x,
        c,
        scale,
        out,
        #[inline(always)]
        |sum, s, x, c| sum + s * (x - c).abs(),
    );
}

/// Π_k 1 + x c + x c m − (x + c)/2 m² + m³/3, m = min(x, c) (Tipping 2001, the kernel of §4.1)
pub(super) fn linear_spline(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &mut DMatrix<f64>,
) {
    out.fill(1.0);
    fold(
        x,
        c,
        scale,
        out,
        #[inline(always)]
        |product, s, x, c| {
            let (x, c) = (s * x, s * c);
            product * spline_factor(x, c)
        },
    );
}

#[inline(always)]
fn spline_factor(x: f64, c: f64) -> f64 {
    let m = x.min(c);
    1.0 + x * c + x * c * m - (x + c) / 2.0 * m * m + m * m * m / 3.0
}

/// Column by column of `out`, input by input, so that memory is read in order.
fn fold(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &mut DMatrix<f64>,
    step: impl Fn(f64, f64, f64, f64) -> f64 + Sync,
) {
    let n = x.nrows();
    if n == 0 {
        return;
    }
    parts(out.as_mut_slice(), n, x.ncols(), &|m, column| {
        for (k, inputs) in x.as_slice().chunks_exact(n).enumerate() {
            let centre = c[(m, k)];
            let s = scale.map_or(1.0, |scale| scale[k]);
            widest(
                #[inline(always)]
                || {
                    for (o, x) in column.iter_mut().zip(inputs) {
                        *o = step(*o, s, *x, centre);
                    }
                },
            );
        }
    });
}

/// Σ_nm out_nm d/d(s, x, c) Σ_k s_k x_nk c_mk
pub(super) fn dot_adjoint(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &DMatrix<f64>,
) -> PairsBar {
    sum_adjoint(x, c, scale, out, |s, x, c| (x * c, s * c, s * x))
}

/// Of Σ_k s_k (x_nk − c_mk)².
pub(super) fn sq_dist_adjoint(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &DMatrix<f64>,
) -> PairsBar {
    sum_adjoint(x, c, scale, out, |s, x, c| {
        let d = x - c;
        (d * d, 2.0 * s * d, -2.0 * s * d)
    })
}

/// Of Σ_k s_k |x_nk − c_mk|; 0 where x = c, the middle of the subgradient.
pub(super) fn abs_dist_adjoint(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &DMatrix<f64>,
) -> PairsBar {
    sum_adjoint(x, c, scale, out, |s, x, c| {
        let sign = if x == c { 0.0 } else { (x - c).signum() };
        ((x - c).abs(), s * sign, -s * sign)
    })
}

/// Of the product of T(s x, s c), T = 1 + x c + x c m − (x + c)/2 m² + m³/3: dT/dx = c + c m − m²/2 and
/// dT/dc = x + x m − m²/2, because dT/dm = 0 at m = min(x, c).
pub(super) fn linear_spline_adjoint(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &DMatrix<f64>,
) -> PairsBar {
    let mut bar = PairsBar::zeros(x, c);
    let d = x.ncols();
    let (mut factors, mut others) = (vec![0.0; d], vec![0.0; d]);
    for m in 0..c.nrows() {
        poll();
        for n in 0..x.nrows() {
            for (k, factor) in factors.iter_mut().enumerate() {
                let s = scale.map_or(1.0, |scale| scale[k]);
                *factor = spline_factor(s * x[(n, k)], s * c[(m, k)]);
            }
            // products of all other factors, without a division: from the left, then from the right
            let mut product = 1.0;
            for k in 0..d {
                others[k] = product;
                product *= factors[k];
            }
            product = 1.0;
            for k in (0..d).rev() {
                others[k] *= product;
                product *= factors[k];
            }
            for (k, other) in others.iter().enumerate() {
                let s = scale.map_or(1.0, |scale| scale[k]);
                let (a, b) = (s * x[(n, k)], s * c[(m, k)]);
                let low = a.min(b);
                let g = out[(n, m)] * other;
                let (da, db) = (b + b * low - low * low / 2.0, a + a * low - low * low / 2.0);
                bar.x[(n, k)] += g * s * da;
                bar.c[(m, k)] += g * s * db;
                bar.scale[k] += g * (x[(n, k)] * da + c[(m, k)] * db);
            }
        }
    }
    bar
}

impl PairsBar {
    fn zeros(x: &DMatrix<f64>, c: &DMatrix<f64>) -> PairsBar {
        let d = x.ncols();
        PairsBar { x: DMatrix::zeros(x.nrows(), d), c: DMatrix::zeros(c.nrows(), d), scale: vec![0.0; d] }
    }
}

/// Adjoint of a sum over inputs of terms of (s, x, c), of which `slopes` are the derivatives.
fn sum_adjoint(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &DMatrix<f64>,
    slopes: impl Fn(f64, f64, f64) -> (f64, f64, f64),
) -> PairsBar {
    let mut bar = PairsBar::zeros(x, c);
    let n = x.nrows();
    for (m, column) in out.column_iter().enumerate() {
        poll();
        for k in 0..x.ncols() {
            let centre = c[(m, k)];
            let s = scale.map_or(1.0, |scale| scale[k]);
            let (mut of_s, mut of_c) = (0.0, 0.0);
            for r in 0..n {
                let g = column[r];
                let (ds, dx, dc) = slopes(s, x[(r, k)], centre);
                of_s += g * ds;
                of_c += g * dc;
                bar.x[(r, k)] += g * dx;
            }
            bar.scale[k] += of_s;
            bar.c[(m, k)] += of_c;
        }
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::typed::Native;
    use crate::design::natives::{Rule, rule};

    fn sample(n: usize, d: usize, seed: f64) -> DMatrix<f64> {
        DMatrix::from_fn(n, d, |i, j| {
            ((i as f64 * 12.9898 + j as f64 * 78.233 + seed).sin() * 43758.5453).fract()
        })
    }

    fn pairs(native: Native, x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(x.nrows(), c.nrows());
        match rule(native) {
            Rule::Pairs(f, _) => f(x, c, scale, &mut out),
            _ => panic!("not a function of pairs"),
        }
        out
    }

    #[test]
    fn pairs_agree_with_their_definitions() {
        let (x, c) = (sample(5, 3, 0.1), sample(4, 3, 0.7));
        let eta = [0.5, 2.0, 0.0];
        for scale in [None, Some(&eta[..])] {
            let s = |k: usize| scale.map_or(1.0, |e| e[k]);
            for n in 0..5 {
                for m in 0..4 {
                    let sum = |f: &dyn Fn(usize) -> f64| (0..3).map(f).sum::<f64>();
                    let wanted = [
                        (Native::Dot, sum(&|k| s(k) * x[(n, k)] * c[(m, k)])),
                        (Native::SqDist, sum(&|k| s(k) * (x[(n, k)] - c[(m, k)]).powi(2))),
                        (Native::AbsDist, sum(&|k| s(k) * (x[(n, k)] - c[(m, k)]).abs())),
                    ];
                    for (native, wanted) in wanted {
                        let found = pairs(native, &x, &c, scale)[(n, m)];
                        assert!((found - wanted).abs() < 1e-14, "{native:?} {found} {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn linear_spline_is_the_integral_of_truncated_lines() {
        // for x, c ≥ 0: 1 + x c + ∫_0^min(x,c) (x − u)(c − u) du
        for (x, c) in [(0.3, 1.7), (2.0, 2.0), (4.0, 0.5)] {
            let m = f64::min(x, c);
            let integral: f64 = (0..200_000)
                .map(|i| (f64::from(i) + 0.5) / 200_000.0 * m)
                .map(|u| (x - u) * (c - u))
                .sum::<f64>()
                * m
                / 200_000.0;
            let one = |v| DMatrix::from_element(1, 1, v);
            let found = pairs(Native::LinearSpline, &one(x), &one(c), None)[(0, 0)];
            assert!((found - (1.0 + x * c + integral)).abs() < 1e-8, "{x} {c}");
        }
    }

    #[test]
    fn distances_are_exactly_symmetric_with_a_zero_diagonal() {
        let x = sample(20, 4, 0.3) * 1e6;
        let d = pairs(Native::SqDist, &x, &x, None);
        assert_eq!(d, d.transpose());
        assert!((0..20).all(|i| d[(i, i)] == 0.0));
    }
}
