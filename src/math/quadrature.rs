//! Integrals in one dimension, of functions given by their logarithm.

use nalgebra::DMatrix;

/// Positive nodes of the 20-point Gauss–Legendre rule on (−1, 1), with their weights.
pub const LEGENDRE: [(f64, f64); 10] = [
    (0.076_526_521_133_497_33, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_08, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_42),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_06),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];

/// Nats below the largest value from which on an integrand is left out.
const NEGLIGIBLE: f64 = 45.0;
/// Panels and points before giving up: far more than any sensible integrand needs.
const MOST: usize = 200_000;

/// Σ exp of numbers that come one by one, without overflow.
#[derive(Clone, Copy, Debug)]
struct LogSum {
    largest: f64,
    scaled: f64,
}

impl LogSum {
    fn new() -> LogSum {
        LogSum { largest: f64::NEG_INFINITY, scaled: 0.0 }
    }

    fn add(&mut self, ln: f64) {
        if ln <= self.largest {
            self.scaled += (ln - self.largest).exp();
        } else if ln > self.largest {
            self.scaled = self.scaled * (self.largest - ln).exp() + 1.0;
            self.largest = ln;
        } else if ln.is_nan() {
            self.scaled = f64::NAN;
        }
    }

    fn ln(self) -> f64 {
        if self.largest == f64::NEG_INFINITY && self.scaled == 0.0 {
            return f64::NEG_INFINITY;
        }
        self.largest + self.scaled.ln()
    }
}

/// ln ∫ exp g from `from` to `to`, by a 20-point Gauss–Legendre rule on panels no wider than `width`;
/// −∞ for an empty range. g must be smooth on the scale of a panel.
pub fn log_integral(from: f64, to: f64, width: f64, g: &dyn Fn(f64) -> f64) -> f64 {
    if from >= to {
        return f64::NEG_INFINITY;
    }
    let panels = ((to - from) / width).ceil().max(1.0);
    if panels.is_nan() || panels > MOST as f64 {
        return f64::NAN;
    }
    let width = (to - from) / panels;
    let mut sum = LogSum::new();
    for i in 0..panels as usize {
        panel(from + width * i as f64, width, g, &mut sum);
    }
    sum.ln()
}

/// ln ∫ exp g over the line for a concave g whose maximum lies in `mode`, by the same rule on panels
/// outwards from there, as wide as `width` says at the maximum.
pub fn log_integral_concave(mode: (f64, f64), width: &dyn Fn(f64) -> f64, g: &dyn Fn(f64) -> f64) -> f64 {
    let start = maximum(mode, g);
    let width = width(start);
    let mut sum = LogSum::new();
    for side in [1.0, -1.0] {
        for i in 0..MOST {
            let left = start + width * if side > 0.0 { i as f64 } else { -1.0 - i as f64 };
            let top = panel(left, width, g, &mut sum);
            if top < sum.largest - NEGLIGIBLE || top.is_nan() {
                break;
            }
        }
    }
    sum.ln()
}

/// Adds one panel; gives the largest term of it.
fn panel(left: f64, width: f64, g: &dyn Fn(f64) -> f64, sum: &mut LogSum) -> f64 {
    let (middle, half) = (left + 0.5 * width, 0.5 * width);
    let mut top = f64::NEG_INFINITY;
    for (x, weight) in LEGENDRE {
        for x in [-x, x] {
            let ln = g(middle + half * x) + (half * weight).ln();
            top = top.max(ln);
            sum.add(ln);
        }
    }
    top
}

/// Where a concave function is largest in an interval, by golden sections.
fn maximum((a, b): (f64, f64), g: &dyn Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (a.min(b), a.max(b));
    let (mut x, mut y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut gx, mut gy) = (g(x), g(y));
    for _ in 0..60 {
        if gx < gy {
            (a, x, gx) = (x, y, gy);
            y = a + GOLDEN * (b - a);
            gy = g(y);
        } else {
            (b, y, gy) = (y, x, gx);
            x = b - GOLDEN * (b - a);
            gx = g(x);
        }
    }
    0.5 * (a + b)
}

/// ln E exp g(ln λ) for λ ~ Gamma(shape, rate = shape), g bounded by `bound`, by the trapezoidal rule on
/// the logarithmic scale.
///
/// The rule converges like exp(−2πd/h) on a strip of half-width d in which the integrand is analytic: g
/// must be so for d < π/2, as functions of a + b/λ with a, b ≥ 0 are.
pub fn log_gamma_expectation(shape: f64, bound: f64, g: &dyn Fn(f64) -> f64) -> f64 {
    // density of u = ln λ: shape (u − e^u + 1) less its value at the mode; the constant by the same rule
    let weight = |u: f64| shape * (u - u.exp_m1());
    let step = (0.5 / (shape + 1.0).sqrt()).min(0.3);
    let mut sum = LogSum::new();
    let mut norm = LogSum::new();
    for side in [1.0, -1.0] {
        for i in 0..MOST {
            if side < 0.0 && i == 0 {
                continue;
            }
            let u = side * step * i as f64;
            let w = weight(u);
            sum.add(w + g(u));
            norm.add(w);
            // the weight falls on both sides of 0, and g cannot make up for it
            if w + bound < sum.largest - NEGLIGIBLE && w < -NEGLIGIBLE {
                break;
            }
        }
    }
    sum.ln() - norm.ln()
}

/// Nodes and weights of the n-point Gauss–Hermite rule for the standard normal density, ascending: the
/// eigenvalues of its Jacobi matrix, and the squares of the first entries of its eigenvectors (Golub and
/// Welsch 1969).
pub fn gauss_hermite(n: usize) -> Vec<(f64, f64)> {
    let jacobi =
        DMatrix::from_fn(n, n, |i, j| if i.abs_diff(j) == 1 { (i.max(j) as f64).sqrt() } else { 0.0 });
    let eigen = jacobi.symmetric_eigen();
    let node = |j: usize| (eigen.eigenvalues[j], eigen.eigenvectors[(0, j)].powi(2));
    let mut rule: Vec<(f64, f64)> = (0..n).map(node).collect();
    rule.sort_by(|a, b| a.0.total_cmp(&b.0));
    rule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::special::{ln_gamma, ln_phi};

    /// Exact for moments up to the order 2n − 1: 1, 0, 1, 0, 3, 0, 15 …
    #[test]
    fn hermite_rules_have_the_moments_of_a_normal() {
        for n in 1..=9 {
            let rule = gauss_hermite(n);
            let mut moment = 1.0;
            for order in 0..n {
                let got: f64 = rule.iter().map(|(z, w)| w * z.powi(2 * order as i32)).sum();
                assert!((got / moment - 1.0).abs() < 1e-12, "{n} {order}: {got}");
                moment *= (2 * order + 1) as f64;
            }
        }
    }

    #[test]
    fn integrals_of_known_functions() {
        let normal = |x: f64| ln_phi((x - 3.0) / 0.01) - 0.01f64.ln();
        assert!(log_integral_concave((-50.0, 70.0), &|_| 0.04, &normal).abs() < 1e-13);
        assert!(log_integral(2.8, 3.2, 0.04, &normal).abs() < 1e-13);
        assert!((log_integral(0.0, 1.0, 1.0, &|x| x) - 1f64.exp_m1().ln()).abs() < 1e-14);
        // far below what a number can hold: ∫ e^{a u − e^u} = Γ(a)
        let gamma = |u: f64| 3.7 * u - u.exp() - 5000.0;
        assert!((log_integral_concave((-5.0, 9.0), &|_| 0.8, &gamma) - ln_gamma(3.7) + 5000.0).abs() < 1e-12);
        assert_eq!(log_integral(1.0, 1.0, 1.0, &|_| 0.0), f64::NEG_INFINITY);
        assert!(log_integral(0.0, 1.0, 1.0, &|_| f64::NAN).is_nan());
    }

    /// E λ^k = Γ(a + k) / (Γ(a) a^k), which is at most e^bound where λ counts.
    #[test]
    fn moments_of_a_gamma() {
        for shape in [0.05, 0.5, 2.0, 30.0, 1e5] {
            let got = log_gamma_expectation(shape, 0.0, &|u| -shape.min(3.0) * u.exp());
            // E e^{−tλ} = (1 + t/a)^{−a}
            let want = -shape * (shape.min(3.0) / shape).ln_1p();
            assert!((got - want).abs() < 1e-10, "{shape} {got} {want}");
        }
    }
}
