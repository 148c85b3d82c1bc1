//! The softmax averaged over Gaussian scores: exactly for two levels, else by a fixed quasi-Monte Carlo
//! rule (`docs/mathematics.md` §4.3).
//!
//! The rule is a Sobol sequence (direction numbers of Joe and Kuo 2008) with a fixed digital shift, taken
//! through Φ⁻¹ along the principal axes of the covariance. It is doubled until a pair of doublings changes
//! no probability by more than 1e-5.

use std::sync::OnceLock;

use nalgebra::DMatrix;

use super::logistic_normal::log_mean_sigmoid;
use crate::math::special::{log_sum_exp, normal_quantile};

/// Degree, coefficients and first direction numbers of the coordinates after the first: Joe and Kuo (2008),
/// SIAM Journal on Scientific Computing 30(5), "new-joe-kuo-6".
const SOBOL: [(usize, u32, [u32; 6]); 15] = [
    (1, 0, [1, 0, 0, 0, 0, 0]),
    (2, 1, [1, 3, 0, 0, 0, 0]),
    (3, 1, [1, 3, 1, 0, 0, 0]),
    (3, 2, [1, 1, 1, 0, 0, 0]),
    (4, 1, [1, 1, 3, 3, 0, 0]),
    (4, 4, [1, 3, 5, 13, 0, 0]),
    (5, 2, [1, 1, 5, 5, 17, 0]),
    (5, 4, [1, 1, 5, 5, 5, 0]),
    (5, 7, [1, 1, 7, 11, 19, 0]),
    (5, 11, [1, 1, 5, 1, 1, 0]),
    (5, 13, [1, 1, 1, 3, 11, 0]),
    (5, 14, [1, 3, 5, 5, 31, 0]),
    (6, 1, [1, 3, 3, 9, 7, 49]),
    (6, 13, [1, 1, 1, 15, 21, 21]),
    (6, 16, [1, 3, 1, 13, 27, 49]),
];
/// Coordinates of the sequence; axes beyond these, the shortest, take multiples of irrational numbers.
const COORDINATES: usize = SOBOL.len() + 1;
const BITS: usize = 32;
/// Points at first, and at most.
const FIRST: usize = 1 << 10;
const MOST: usize = 1 << 17;
/// Two doublings that change probabilities by less are the last.
const CHANGE: f64 = 1e-5;
/// The same relative to the probability, while there are at most so many points: log losses are of small ones.
const RELATIVE: (f64, usize) = (0.02, 1 << 14);
/// Points and coordinates whose normal deviates are kept.
const KEPT: (usize, usize) = (1 << 13, 9);

/// ln E softmax(f) for f ~ N(mean, variance), K × K column-major. The absolute error of a
/// probability was found below 1e-4 for up to ten levels where deviations of the scores are below 2, and
/// below 1e-3 whatever they are.
pub fn log_mean_softmax(mean: &[f64], variance: &[f64]) -> Vec<f64> {
    let k = mean.len();
    let known = || -> Vec<f64> {
        let all = log_sum_exp(mean);
        mean.iter().map(|f| f - all).collect()
    };
    if k < 2 || variance.len() != k * k {
        return known();
    }
    if k == 2 {
        // the softmax of two is the sigmoid of their difference
        let (d, v) = (mean[1] - mean[0], variance[0] + variance[3] - variance[1] - variance[2]);
        return vec![log_mean_sigmoid(-d, v), log_mean_sigmoid(d, v)];
    }
    let axes = axes(k, variance);
    if axes.is_empty() {
        return known();
    }
    if mean.iter().chain(axes.iter().flatten()).any(|x| !x.is_finite()) {
        return vec![f64::NAN; k];
    }
    let mut sums = vec![0.0; k];
    let mut before: Option<Vec<f64>> = None;
    let (mut done, mut goal, mut calm) = (0, FIRST, 0);
    loop {
        add(done..goal, mean, &axes, &mut sums);
        let p: Vec<f64> = sums.iter().map(|s| s / goal as f64).collect();
        let settled = before.is_some_and(|b| {
            b.iter().zip(&p).all(|(b, p)| {
                let change = (b - p).abs();
                change < CHANGE && (change < RELATIVE.0 * p || goal >= RELATIVE.1)
            })
        });
        calm = if settled { calm + 1 } else { 0 };
        if calm == 2 || goal >= MOST {
            let all: f64 = p.iter().sum();
            return p.iter().map(|p| (p / all).ln()).collect();
        }
        before = Some(p);
        (done, goal) = (goal, 2 * goal);
    }
}

/// Principal axes of the covariance of differences between scores, scaled by their deviations, the
/// longest first.
fn axes(k: usize, variance: &[f64]) -> Vec<Vec<f64>> {
    // V less the part that moves all scores alike, (I − 11ᵀ/K) V (I − 11ᵀ/K)
    let v = DMatrix::from_column_slice(k, k, variance);
    let rows = v.row_mean();
    let columns = v.column_mean();
    let all = rows.mean();
    let centred = DMatrix::from_fn(k, k, |i, j| {
        0.5 * (v[(i, j)] + v[(j, i)]) - 0.5 * (rows[i] + rows[j] + columns[i] + columns[j]) + all
    });
    if centred.iter().any(|x| !x.is_finite()) {
        return vec![vec![f64::NAN; k]];
    }
    let eigen = centred.symmetric_eigen();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]).then(a.cmp(b)));
    let axis = |j: usize| {
        let scale = eigen.eigenvalues[j].max(0.0).sqrt();
        eigen.eigenvectors.column(j).iter().map(|x| x * scale).collect::<Vec<f64>>()
    };
    // a deviation of a log odds of 1e-6 changes no probability by more than 1e-12
    order.into_iter().filter(|j| eigen.eigenvalues[*j] > 1e-12).map(axis).collect()
}

/// Adds the softmax at some points of the rule.
fn add(points: std::ops::Range<usize>, mean: &[f64], axes: &[Vec<f64>], sums: &mut [f64]) {
    let kept = kept();
    let mut f = vec![0.0; mean.len()];
    for i in points {
        f.copy_from_slice(mean);
        for (j, axis) in axes.iter().enumerate() {
            let z = if i < KEPT.0 && j < KEPT.1 { kept[i * KEPT.1 + j] } else { point(i, j) };
            for (f, a) in f.iter_mut().zip(axis) {
                *f += z * a;
            }
        }
        let largest = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for f in &mut f {
            *f = (*f - largest).exp();
            total += *f;
        }
        for (sum, f) in sums.iter_mut().zip(&f) {
            *sum += f / total;
        }
    }
}

/// Coordinate j of point i, as a normal deviate.
fn point(i: usize, j: usize) -> f64 {
    // ⌊2³² φ⌋ and its odd multiples: a shift for each coordinate
    let shift = 0x9e37_79b9_u32.wrapping_mul(2 * j as u32 + 1);
    let bits = match directions().get(j) {
        Some(v) => v.iter().enumerate().filter(|(b, _)| i >> b & 1 == 1).fold(shift, |x, (_, v)| x ^ v),
        // the fractional part of i √(j² + 1)
        None => (i as u32).wrapping_mul((((j * j + 1) as f64).sqrt().fract() * 4_294_967_296.0) as u32 | 1),
    };
    normal_quantile((f64::from(bits) + 0.5) / 4_294_967_296.0)
}

/// Direction numbers of each coordinate (Joe and Kuo 2008, (1) and (2)).
fn directions() -> &'static [[u32; BITS]; COORDINATES] {
    static DIRECTIONS: OnceLock<[[u32; BITS]; COORDINATES]> = OnceLock::new();
    DIRECTIONS.get_or_init(|| {
        let mut all = [[0; BITS]; COORDINATES];
        all[0] = std::array::from_fn(|b| 1 << (BITS - 1 - b));
        for (v, (degree, coefficients, first)) in all.iter_mut().skip(1).zip(SOBOL) {
            for b in 0..BITS {
                v[b] = if b < degree {
                    first[b] << (BITS - 1 - b)
                } else {
                    let last = v[b - degree];
                    (1..degree)
                        .filter(|k| coefficients >> (degree - 1 - k) & 1 == 1)
                        .fold(last ^ (last >> degree), |x, k| x ^ v[b - k])
                };
            }
        }
        all
    })
}

/// The first points of the rule.
fn kept() -> &'static [f64] {
    static POINTS: OnceLock<Vec<f64>> = OnceLock::new();
    POINTS.get_or_init(|| (0..KEPT.0).flat_map(|i| (0..KEPT.1).map(move |j| point(i, j))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::special::normal_pdf;

    /// E softmax of three scores by a product of trapezoidal rules along the Cholesky factor.
    fn brute(mean: [f64; 3], l: [[f64; 3]; 3], step: f64) -> [f64; 3] {
        let nodes: Vec<(f64, f64)> = (0..)
            .map(|i| -8.5 + step * f64::from(i))
            .take_while(|z| *z <= 8.5)
            .map(|z| (z, step * normal_pdf(z)))
            .collect();
        let mut p = [0.0; 3];
        for (a, wa) in &nodes {
            for (b, wb) in &nodes {
                for (c, wc) in &nodes {
                    let f: Vec<f64> =
                        (0..3).map(|i| (mean[i] + l[i][0] * a + l[i][1] * b + l[i][2] * c).exp()).collect();
                    let total: f64 = f.iter().sum();
                    (0..3).for_each(|i| p[i] += wa * wb * wc * f[i] / total);
                }
            }
        }
        p
    }

    fn covariance(l: [[f64; 3]; 3]) -> Vec<f64> {
        (0..9).map(|e| (0..3).map(|m| l[e % 3][m] * l[e / 3][m]).sum()).collect()
    }

    #[test]
    fn three_scores_against_a_product_rule() {
        for (mean, l, step, tolerance) in [
            ([0.3, -1.0, 0.5], [[0.8, 0.0, 0.0], [-0.2, 0.5, 0.0], [0.4, 0.1, 1.1]], 0.25, 2e-5),
            ([2.0, -1.0, 0.0], [[3.0, 0.0, 0.0], [1.0, 2.0, 0.0], [-1.0, 1.0, 1.5]], 0.17, 1e-4),
        ] {
            let got: Vec<f64> = log_mean_softmax(&mean, &covariance(l)).iter().map(|p| p.exp()).collect();
            for (got, want) in got.iter().zip(brute(mean, l, step)) {
                assert!((got - want).abs() < tolerance, "{got} {want}");
            }
            assert!((got.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        }
    }

    /// Ten scores that are alike have probability 1/10 each, however uncertain they are.
    #[test]
    fn ten_exchangeable_scores() {
        for (sd, tolerance) in [(0.5, 2e-5), (1.5, 1e-4), (30.0, 1e-3)] {
            let variance: Vec<f64> =
                (0..100).map(|e| if e % 11 == 0 { sd * sd } else { 0.3 * sd * sd }).collect();
            for p in log_mean_softmax(&[7.0; 10], &variance) {
                assert!((p.exp() - 0.1).abs() < tolerance, "{sd}: {}", p.exp());
            }
        }
    }

    /// A third level that is never chosen leaves the logit of the other two.
    #[test]
    fn a_level_out_of_reach_leaves_two() {
        let mean = [0.4, -0.9, -80.0];
        let variance = [2.0, 0.3, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0, 0.1];
        let three = log_mean_softmax(&mean, &variance);
        let two = log_mean_softmax(&mean[..2], &[2.0, 0.3, 0.3, 1.0]);
        for (a, b) in three.iter().zip(&two) {
            assert!((a.exp() - b.exp()).abs() < 2e-5, "{a} {b}");
        }
        assert!(three[2] < -70.0);
    }

    #[test]
    fn without_uncertainty_the_softmax_itself() {
        let p = log_mean_softmax(&[1.0, 2.0, 3.0], &[0.0; 9]);
        let all = log_sum_exp(&[1.0, 2.0, 3.0]);
        assert_eq!(p, [1.0 - all, 2.0 - all, 3.0 - all]);
        // a constant that all scores share cannot matter, however large and uncertain
        let shared = log_mean_softmax(&[1.0, 2.0, 3.0], &[1e6; 9]);
        assert!(shared.iter().zip(&p).all(|(a, b)| (a - b).abs() < 1e-6), "{shared:?}");
        assert!(log_mean_softmax(&[f64::NAN, 0.0, 0.0], &[1.0; 9]).iter().all(|p| p.is_nan()));
    }
}
