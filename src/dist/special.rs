//! Logarithms of probabilities with stable tails, and draws that families share.

use std::f64::consts::{LN_2, SQRT_2};

/// ½ ln 2π
pub const HALF_LN_2PI: f64 = 0.918_938_533_204_672_7;

/// ln φ(z), φ the standard normal density.
pub fn ln_phi(z: f64) -> f64 {
    -0.5 * z * z - HALF_LN_2PI
}

/// ln Φ(z), relative error below 1e-14 from −1e150 to 8.
pub fn log_ndtr(z: f64) -> f64 {
    if z < -12.0 {
        // Φ(z) = φ(z) / r, r = φ(z)/Φ(z)
        ln_phi(z) - mills(z).0.ln()
    } else if z < 0.0 {
        (0.5 * libm::erfc(-z / SQRT_2)).ln()
    } else {
        (-0.5 * libm::erfc(z / SQRT_2)).ln_1p()
    }
}

/// r = φ(z)/Φ(z) and r + z, the second without cancellation in the lower tail.
pub fn mills(z: f64) -> (f64, f64) {
    if z < -12.0 {
        // r + z = 1/(a + 2/(a + 3/(a + …))), a = −z
        let a = -z;
        let tail = (1..=60).rev().fold(0.0, |tail, k| f64::from(k) / (a + tail));
        (a + tail, tail)
    } else {
        let r = (ln_phi(z) - log_ndtr(z)).exp();
        (r, r + z)
    }
}

/// −ln(1 + e^{−f})
pub fn log_sigmoid(f: f64) -> f64 {
    if f < 0.0 { f - f.exp().ln_1p() } else { -(-f).exp().ln_1p() }
}

/// ln(1 − e^x) for x < 0 (Mächler 2012).
pub fn log_1m_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// ln Γ(x), x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln Γ(x + ½) − ln Γ(x), x > 0, without cancellation for large x.
pub fn ln_gamma_half_step(x: f64) -> f64 {
    if x < 20.0 {
        return ln_gamma(x + 0.5) - ln_gamma(x);
    }
    // ½ ln x − 1/(8x) + 1/(192x³) − 1/(640x⁵) + 17/(14336x⁷) − … (Tricomi and Erdélyi 1951)
    let y = 1.0 / (x * x);
    0.5 * x.ln()
        - (1.0 / 8.0 - y * (1.0 / 192.0 - y * (1.0 / 640.0 - y * (17.0 / 14336.0 - y * 31.0 / 18432.0)))) / x
}

/// ln Γ(x + 1) − [(x + ½) ln x − x + ½ ln 2π], x > 0: what Stirling's formula leaves (Loader 2000).
pub fn stirling_rest(x: f64) -> f64 {
    if x < 15.0 {
        return ln_gamma(x + 1.0) - ((x + 0.5) * x.ln() - x + HALF_LN_2PI);
    }
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
}

/// x ln(x/m) + m − x, x > 0, without cancellation where x is near m (Loader 2000).
pub fn deviance(x: f64, m: f64) -> f64 {
    if m <= 0.0 || !m.is_finite() {
        return f64::INFINITY;
    }
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x.ln() - m.ln()) + m - x;
    }
    // x ln(x/m) = x ln((1 + v)/(1 − v)) = 2x (v + v³/3 + …), v = (x − m)/(x + m)
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for j in 1..100 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Φ⁻¹(u) for 0 < u < 1, relative error 1e-16 (Wichura 1988, AS 241, PPND16).
pub fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 8] = [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ];
    const B: [f64; 8] = [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_545,
    ];
    const C: [f64; 8] = [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ];
    const E: [f64; 8] = [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ];
    let horner = |c: &[f64; 8], x: f64| c.iter().rev().fold(0.0, |sum, k| sum * x + k);
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * horner(&A, r) / horner(&B, r);
    }
    let r = (-(if q < 0.0 { u } else { 1.0 - u }).ln()).sqrt();
    let x = if r <= 5.0 {
        horner(&C, r - 1.6) / horner(&D, r - 1.6)
    } else {
        horner(&E, r - 5.0) / horner(&F, r - 5.0)
    };
    x.copysign(q)
}

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
