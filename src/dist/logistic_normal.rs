//! The logistic function averaged over a Gaussian (`docs/mathematics.md` §4.3).

use crate::math::quadrature::log_integral;
use crate::math::special::{ln_normal_cdf, ln_phi, log_1m_exp, log_sigmoid, log_sum_exp};

/// Beyond this σ(a) is eᵃ on the left and 1 on the right, to rounding.
const FAR: f64 = 40.0;

/// ln E σ(a) for a ~ N(mean, variance), with a relative error of E σ below 1e-12 whatever the variance.
///
/// E σ = e^{μ + v/2} Φ((−40 − μ − v)/√v) + ∫ σ(a) N(a) da over |a| < 40 + Φ((μ − 40)/√v); no part
/// cancels another, and by 1 − E σ(a) = E σ(−a) only μ ≤ 0 is computed.
pub fn log_mean_sigmoid(mean: f64, variance: f64) -> f64 {
    if mean.is_nan() || variance.is_nan() {
        f64::NAN
    } else if variance <= 0.0 || mean.is_infinite() {
        log_sigmoid(mean)
    } else if mean > 0.0 {
        log_1m_exp(lower(-mean, variance))
    } else {
        lower(mean, variance)
    }
}

/// The same for mean ≤ 0 < variance.
fn lower(mean: f64, variance: f64) -> f64 {
    let sd = variance.sqrt();
    let left = mean + 0.5 * variance + ln_normal_cdf((-FAR - mean - variance) / sd);
    let right = ln_normal_cdf((mean - FAR) / sd);
    // the integrand lies between N(a | μ, v) and eᵃ N(a | μ, v), whose peak is at μ + v
    let (from, to) = ((mean - 12.0 * sd).max(-FAR), (mean + variance + 12.0 * sd).min(FAR));
    let inside = |a: f64| log_sigmoid(a) + ln_phi((a - mean) / sd);
    let middle = log_integral(from, to, (5.0 * sd).min(4.0), &inside) - sd.ln();
    log_sum_exp(&[left, middle, right]).min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::special::{log1p_exp, sigmoid};

    /// ln ∫ σ(a) N(a | μ, v) da by a trapezoidal rule of steps far below both scales, around the peaks.
    fn brute(mean: f64, variance: f64) -> f64 {
        let sd = variance.sqrt();
        let step = 0.02 * sd.min(1.0);
        let (from, to) = (mean - 14.0 * sd, mean + variance + 14.0 * sd);
        let terms: Vec<f64> = (0..=((to - from) / step) as usize)
            .map(|i| from + step * i as f64)
            .map(|a| -log1p_exp(-a) - 0.5 * ((a - mean) / sd).powi(2))
            .collect();
        log_sum_exp(&terms) + (step / sd).ln() - 0.5 * std::f64::consts::TAU.ln()
    }

    #[test]
    fn any_mean_and_variance() {
        for mean in [0.0, -0.3, -2.0, -17.0, -39.9, -40.1, -80.0] {
            for variance in [1e-8, 1e-3, 0.5, 4.0, 81.0, 1600.0, 2e4] {
                let (got, want) = (log_mean_sigmoid(mean, variance), brute(mean, variance));
                assert!((got - want).abs() < 1e-11 * want.abs().max(1.0), "{mean} {variance}: {got} {want}");
                // E σ(a) + E σ(−a) = 1
                let other = log_mean_sigmoid(-mean, variance);
                assert!((got.exp() + other.exp() - 1.0).abs() < 1e-14, "{mean} {variance}");
            }
        }
    }

    /// Large variances against the error function: E σ(a) = Φ(μ/√v) + [∫_{a<0} σ − ∫_{a>0} σ(−a)] N(a) da,
    /// where N hardly moves over the few units in which σ(−|a|) counts.
    #[test]
    fn huge_variances() {
        for (mean, variance) in [(-300.0, 1e6), (-2.0, 1e6), (-1500.0, 1e6), (0.0, 1e5)] {
            let sd = f64::sqrt(variance);
            let density =
                |a: f64| (-0.5 * ((a - mean) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt());
            let step = 1e-3;
            let rest: f64 = (0..60_000)
                .map(|i| (f64::from(i) + 0.5) * step)
                .map(|a| sigmoid(-a) * (density(-a) - density(a)) * step)
                .sum();
            let want = ln_normal_cdf(mean / sd).exp() + rest;
            let got = log_mean_sigmoid(mean, variance).exp();
            assert!((got - want).abs() < 1e-11, "{mean} {variance}: {got} {want}");
        }
    }

    #[test]
    fn limits() {
        assert_eq!(log_mean_sigmoid(1.5, 0.0), log_sigmoid(1.5));
        assert!((log_mean_sigmoid(0.0, 7.0).exp() - 0.5).abs() < 1e-15);
        // far out the exponential: E eᵃ = e^{μ + v/2}
        assert!((log_mean_sigmoid(-1000.0, 1.0) + 999.5).abs() < 1e-10);
        assert_eq!(log_mean_sigmoid(f64::NEG_INFINITY, 1.0), f64::NEG_INFINITY);
        assert!(log_mean_sigmoid(f64::NAN, 1.0).is_nan() && log_mean_sigmoid(0.0, f64::NAN).is_nan());
    }
}
