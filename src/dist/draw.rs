//! Draws that families share, from independent uniforms in (0, 1).

use crate::math::special::normal_quantile;

/// A draw of Gamma(shape, rate 1), shape > 0, as its logarithm (Marsaglia and Tsang 2000). `None`
/// only if `uniform` is no source of random numbers.
pub fn ln_gamma_draw(shape: f64, uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    // for shape < 1: a draw of shape + 1, times u^(1/shape)
    let boost = if shape < 1.0 { uniform().ln() / shape } else { 0.0 };
    let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    for _ in 0..1000 {
        let z = normal_quantile(uniform());
        let v = (1.0 + c * z).powi(3);
        if v > 0.0 && uniform().ln() < 0.5 * z * z + d * (1.0 - v + v.ln()) {
            return Some(d.ln() + v.ln() + boost);
        }
    }
    None
}

/// A draw of Poisson(rate), rate ≥ 10 (Hörmann 1993, PTRS), given the log probability of a count.
pub fn poisson_draw(rate: f64, ln_p: &dyn Fn(f64) -> f64, uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.024_83 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    for _ in 0..1000 {
        let u = uniform() - 0.5;
        let v = uniform();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if k >= 0.0 && (v * inverse_alpha / (a / (us * us) + b)).ln() <= ln_p(k) {
            return Some(k);
        }
    }
    None
}
