//! The standard normal cut to an interval: its probability and its first three moments, with stable
//! tails (`docs/mathematics.md` §4.2).

use crate::math::quadrature::LEGENDRE;
use crate::math::special::{
    ln_normal_cdf, ln_normal_cdf_and_mills, ln_phi, log_1m_exp, mills, mills_excess, normal_cdf_by_erf,
};

/// Density and tail probability of the standard normal are 0 from here on: e^(−745) is the least number.
const FAR: f64 = 39.0;

/// A standard normal z truncated to lo < z < hi.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// ln P = ln(Φ(hi) − Φ(lo))
    pub log_prob: f64,
    /// E z
    pub mean: f64,
    /// 1 − Var z, between 0 and 1
    pub curvature: f64,
    /// E (z − E z)³
    pub third: f64,
}

/// The truncation to `lo < hi`; either may be infinite. All `NaN` if it is empty.
///
/// Relative error of the probability and the mean about 1e-12 (absolute for the others); the
/// probability is a logarithm, so an interval of 1e-300 is as good as any.
pub fn interval(lo: f64, hi: f64) -> Interval {
    interval_of_width(lo, hi, hi - lo)
}

/// The same, where the width `hi − lo` is known better than the difference of its rounded ends.
pub fn interval_of_width(lo: f64, hi: f64, width: f64) -> Interval {
    if lo.is_nan() || hi.is_nan() || width.is_nan() || width <= 0.0 {
        return Interval { log_prob: f64::NAN, mean: f64::NAN, curvature: f64::NAN, third: f64::NAN };
    }
    if lo == f64::NEG_INFINITY && hi == f64::INFINITY {
        return Interval { log_prob: 0.0, mean: 0.0, curvature: 0.0, third: 0.0 };
    }
    // the half nearer −∞: b is the end nearer 0
    if lo + hi > 0.0 {
        let m = left(-hi, -lo, width);
        Interval { mean: -m.mean, third: -m.third, ..m }
    } else {
        left(lo, hi, width)
    }
}

/// a < b with a + b ≤ 0, w = b − a.
fn left(a: f64, b: f64, w: f64) -> Interval {
    if a == f64::NEG_INFINITY {
        half_line(b)
    } else if b > FAR {
        Interval { log_prob: 0.0, mean: 0.0, curvature: 0.0, third: 0.0 }
    } else if w < 0.5 && w * a.abs().max(b.abs()) < 5.0 {
        narrow(b, w)
    } else if b < -12.0 {
        far_tail(a, b)
    } else {
        ordinary(a, b)
    }
}

fn half_line(b: f64) -> Interval {
    // u = r, R = u, h = r(r + b), k as for the probit
    let (log_prob, r, rest) = ln_normal_cdf_and_mills(b);
    let h = r * rest;
    Interval { log_prob, mean: -r, curvature: h, third: r * (1.0 - h) - h * rest }
}

/// 20-point Gauss-Legendre of exp(−d(d + 2b)/2), d = z − b in (−w, 0).
fn narrow(b: f64, w: f64) -> Interval {
    let mut sum = [0.0; 4];
    let mut nodes = [(0.0, 0.0); 20];
    for (pair, (x, weight)) in nodes.chunks_exact_mut(2).zip(LEGENDRE) {
        for (node, sign) in pair.iter_mut().zip([-1.0, 1.0]) {
            let d = 0.5 * w * (sign * x - 1.0);
            *node = (d, 0.5 * w * weight * (-0.5 * d * (d + 2.0 * b)).exp());
        }
    }
    for (d, p) in nodes {
        sum[0] += p;
        sum[1] += p * d;
    }
    let mean = sum[1] / sum[0];
    for (d, p) in nodes {
        sum[2] += p * (d - mean).powi(2);
        sum[3] += p * (d - mean).powi(3);
    }
    Interval {
        log_prob: ln_phi(b) + sum[0].ln(),
        mean: b + mean,
        curvature: 1.0 - sum[2] / sum[0],
        third: sum[3] / sum[0],
    }
}

fn far_tail(a: f64, b: f64) -> Interval {
    // e = φ(a)/φ(b), x = Φ(a)/Φ(b), u = φ(b)/P, v = φ(a)/P
    let e = (-0.5 * (a - b) * (a + b)).exp();
    let ra = mills(a);
    let (rb, rest) = (mills(b), mills_excess(b));
    let x = e * rb / ra;
    let u = rb / (1.0 - x);
    let v = e * u;
    let u_plus_b = rest + rb * x / (1.0 - x);
    let h = u * u_plus_b - weighted(v, 2.0 * u - v + a);
    Interval { log_prob: ln_phi(b) - u.ln(), mean: v - u, curvature: h, third: third(a, b, u, v, h) }
}

fn ordinary(a: f64, b: f64) -> Interval {
    let log_prob = if a < -1.0 && b > 1.0 {
        (-(tail(a) + tail(-b))).ln_1p()
    } else {
        let top = ln_normal_cdf(b);
        // ln Φ(a) < −a²/2, and e^(−45) is nothing beside ln Φ(b)
        let lost = -0.5 * a * a - top < -45.0;
        if lost { top } else { top + log_1m_exp(ln_normal_cdf(a) - top) }
    };
    let u = (ln_phi(b) - log_prob).exp();
    let v = (ln_phi(a) - log_prob).exp();
    let r = u - v;
    let h = r * r + weighted(u, b) - weighted(v, a);
    Interval { log_prob, mean: -r, curvature: h, third: third(a, b, u, v, h) }
}

/// Φ(x) beside 1: far out by the error function alone, cheaper than the continued fraction and less exact.
fn tail(x: f64) -> f64 {
    if x < -9.0 { normal_cdf_by_erf(x) } else { ln_normal_cdf(x).exp() }
}

/// σ³ dh/df = −[2R(−g − R²) + R − k2 − gR], h = R² + g; the third moment is minus that.
fn third(a: f64, b: f64, u: f64, v: f64, h: f64) -> f64 {
    let r = u - v;
    let g = h - r * r;
    let k2 = weighted(u, b * b) - weighted(v, a * a);
    -2.0 * r * h + r - k2 - g * r
}

/// p x, where a density p of 0 wins over any end.
fn weighted(p: f64, x: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * x }
}
