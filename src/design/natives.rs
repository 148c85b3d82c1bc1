//! What every native function computes: one table, so that a derivative is one more column of it.

use nalgebra::DMatrix;

use crate::check::typed::Native;

/// x [N,D], c [M,D], scale [D] or none, and out [N,M], which is all zeros before.
type PairsFn = fn(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>);

/// Input columns and their powers.
pub type Monomial = Vec<(usize, u32)>;

/// The form of a native, and what it computes.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Entry by entry, with the name it has in a label.
    Map(&'static str, fn(f64) -> f64),
    /// All entries → one number.
    Reduce(fn(&[f64]) -> f64),
    /// Every row of x with every row of c: `[N,D]`, `[M,D]` → `[N,M]`, with a scale `[D]` as an optional third.
    Pairs(PairsFn),
    /// Every output column is a monomial of input columns: (D, p) → for each, its (column, power).
    Monomials(fn(d: usize, p: usize) -> Vec<Monomial>),
}

/// The rule of a native.
pub fn rule(native: Native) -> Rule {
    match native {
        Native::Exp => Rule::Map("exp", f64::exp),
        Native::Log => Rule::Map("log", f64::ln),
        Native::Sqrt => Rule::Map("sqrt", f64::sqrt),
        Native::Abs => Rule::Map("abs", f64::abs),
        Native::Sin => Rule::Map("sin", f64::sin),
        Native::Cos => Rule::Map("cos", f64::cos),
        Native::Sum => Rule::Reduce(|a| a.iter().sum()),
        Native::Mean => Rule::Reduce(|a| moments(a).0),
        Native::Sd => Rule::Reduce(|a| moments(a).1),
        Native::Dot => Rule::Pairs(dot),
        Native::SqDist => Rule::Pairs(sq_dist),
        Native::AbsDist => Rule::Pairs(abs_dist),
        Native::LinearSpline => Rule::Pairs(linear_spline),
        Native::PairProducts => Rule::Monomials(|d, _| {
            (0..d).flat_map(|a| (a + 1..d).map(move |b| vec![(a, 1), (b, 1)])).collect()
        }),
        Native::Powers => Rule::Monomials(|d, p| {
            (0..d).flat_map(|k| (1..=u32::try_from(p).unwrap_or(0)).map(move |q| vec![(k, q)])).collect()
        }),
    }
}

/// Mean and deviation (denominator N). Exact for a constant; does not overflow where the result
/// does not; scaled by a power of two, so that a power of two in the data comes out exactly.
pub fn moments(a: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for x in a {
        low = low.min(*x);
        high = high.max(*x);
    }
    if low == high {
        return (low, 0.0);
    }
    let unit = power_of_two_near(low.abs().max(high.abs()));
    // two passes: mean = Σ x / N, corrected by the mean of the residuals
    let first = a.iter().map(|x| x / unit).sum::<f64>() / n;
    let mean = first + a.iter().map(|x| x / unit - first).sum::<f64>() / n;
    let spread = a.iter().fold(0.0f64, |m, x| m.max((x / unit - mean).abs()));
    let small = power_of_two_near(spread);
    // sd² = Σ (x − mean)² / N
    let sd = (a.iter().map(|x| ((x / unit - mean) / small).powi(2)).sum::<f64>() / n).sqrt() * small;
    (mean * unit, sd * unit)
}

/// The power of two at or below |x|; 1 for 0 and for what is not finite.
fn power_of_two_near(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        1.0
    } else {
        2f64.powi(x.abs().log2().floor().clamp(-1000.0, 1000.0) as i32)
    }
}

/// out = x cᵀ, with scale x diag(scale) cᵀ
fn dot(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    let mut transposed = c.transpose();
    if let Some(scale) = scale {
        for (mut row, s) in transposed.row_iter_mut().zip(scale) {
            row *= *s;
        }
    }
    out.gemm(1.0, x, &transposed, 0.0);
}

/// Σ_k (x_nk − c_mk)²: differences first, so the diagonal is exactly 0 and the matrix symmetric.
fn sq_dist(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    fold(x, c, scale, out, |sum, s, x, c| {
        let d = x - c;
        sum + s * (d * d)
    });
}

/// Σ_k |x_nk − c_mk|
fn abs_dist(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    fold(x, c, scale, out, |sum, s, x, c| sum + s * (x - c).abs());
}

/// Π_k 1 + x c + x c m − (x + c)/2 m² + m³/3, m = min(x, c) (Tipping 2001, the kernel of §4.1)
fn linear_spline(x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>, out: &mut DMatrix<f64>) {
    out.fill(1.0);
    fold(x, c, scale, out, |product, s, x, c| {
        let (x, c) = (s * x, s * c);
        let m = x.min(c);
        product * (1.0 + x * c + x * c * m - (x + c) / 2.0 * m * m + m * m * m / 3.0)
    });
}

/// Column by column of `out`, input by input, so that memory is read in order.
fn fold(
    x: &DMatrix<f64>,
    c: &DMatrix<f64>,
    scale: Option<&[f64]>,
    out: &mut DMatrix<f64>,
    step: impl Fn(f64, f64, f64, f64) -> f64,
) {
    let n = x.nrows();
    if n == 0 {
        return;
    }
    for (m, column) in out.as_mut_slice().chunks_exact_mut(n).enumerate() {
        for (k, inputs) in x.as_slice().chunks_exact(n).enumerate() {
            let centre = c[(m, k)];
            let s = scale.map_or(1.0, |scale| scale[k]);
            for (o, x) in column.iter_mut().zip(inputs) {
                *o = step(*o, s, *x, centre);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, d: usize, seed: f64) -> DMatrix<f64> {
        DMatrix::from_fn(n, d, |i, j| {
            ((i as f64 * 12.9898 + j as f64 * 78.233 + seed).sin() * 43758.5453).fract()
        })
    }

    fn pairs(native: Native, x: &DMatrix<f64>, c: &DMatrix<f64>, scale: Option<&[f64]>) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(x.nrows(), c.nrows());
        match rule(native) {
            Rule::Pairs(f) => f(x, c, scale, &mut out),
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

    #[test]
    fn moments_are_those_of_the_textbook() {
        assert_eq!(moments(&[1.0, 2.0, 3.0, 4.0]), (2.5, 1.25f64.sqrt()));
        assert_eq!(moments(&[0.1; 7]), (0.1, 0.0));
        let (mean, sd) = moments(&[1e200, 3e200]);
        assert!((mean / 2e200 - 1.0).abs() < 1e-15 && (sd / 1e200 - 1.0).abs() < 1e-15);
        let a = [0.3, -1.7, 2.2, 0.9];
        let (mean, sd) = moments(&a);
        assert_eq!(moments(&a.map(|x| x * 2f64.powi(40))), (mean * 2f64.powi(40), sd * 2f64.powi(40)));
    }

    #[test]
    fn monomials_count_and_order() {
        let Rule::Monomials(powers) = rule(Native::Powers) else { panic!() };
        assert_eq!(powers(2, 2), [[(0, 1)], [(0, 2)], [(1, 1)], [(1, 2)]]);
        let Rule::Monomials(products) = rule(Native::PairProducts) else { panic!() };
        assert_eq!(products(3, 0), [[(0, 1), (1, 1)], [(0, 1), (2, 1)], [(1, 1), (2, 1)]]);
        assert_eq!(products(0, 0).len(), 0);
    }
}
