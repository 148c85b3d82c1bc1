//! Logarithms of probabilities and related functions, with stable tails.
//!
//! Built on `libm`, whose error functions and ln Γ are good to a few units in the last place.

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

#[cfg(test)]
mod tests {
    use super::*;

    /// `got` agrees with 60-digit arithmetic to a few units in the last place of the larger of
    /// `wanted` and `floor`.
    #[track_caller]
    fn close(got: f64, wanted: f64, floor: f64) {
        let error = (got - wanted).abs() / wanted.abs().max(floor);
        assert!(error < 1e-14, "{got}, not {wanted}: {error:e}");
    }

    #[test]
    fn normal_tails() {
        for (z, wanted) in [
            (-1e8, -5000000000000019.0),
            (-500.0, -125007.13355063158),
            (-38.5, -745.695270290411),
            (-12.000001, -75.41068508378346),
            (-11.999999, -75.41066091935512),
            (-5.0, -15.064998393988725),
            (-1.0, -1.8410216450092636),
            (-1e-10, -0.6931471806397338),
            (0.0, -0.6931471805599453),
            (0.5, -0.3689464152886564),
            (3.0, -0.0013508099647481938),
            (8.0, -6.220960574271786e-16),
        ] {
            close(log_ndtr(z), wanted, 0.0);
        }
        for (z, r, rest) in [
            (-1e6, 1000000.000001, 9.99999999998e-07),
            (-100.0, 100.00999800099926, 0.009998000999260705),
            (-20.0, 20.04975306852785, 0.049753068527850546),
            (-12.5, 12.579007304406977, 0.07900730440697609),
            (-11.0, 11.089465029715173, 0.0894650297151724),
            (-3.0, 3.2830986549304364, 0.2830986549304365),
            (0.0, 0.7978845608028654, 0.7978845608028654),
            (2.0, 0.055247862678989956, 2.05524786267899),
        ] {
            close(mills(z).0, r, 1.0);
            // above −12 the sum cancels a little
            close(mills(z).1, rest, if z < -12.0 { 0.0 } else { 10.0 });
        }
    }

    #[test]
    fn normal_quantiles() {
        for (u, wanted) in [
            (1e-300, -37.0470962993612),
            (1e-20, -9.262340089798407),
            (2.3e-10, -6.232176082280633),
            (1e-05, -4.264890793922825),
            (0.02, -2.053748910631823),
            (0.0749, -1.4402382675279637),
            (0.0751, -1.43882539275254),
            (0.3, -0.5244005127080408),
            (0.5, 0.0),
            (0.62, 0.3054807880993973),
            (0.925, 1.4395314709384561),
            (0.98, 2.0537489106318225),
            (0.99999, 4.264890793923841),
        ] {
            close(normal_quantile(u), wanted, 1e-300);
        }
    }

    #[test]
    fn logistic_tails() {
        for (f, wanted) in [
            (-800.0, -800.0),
            (-1.0, -1.3132616875182228),
            (1e-8, -0.6931471755599453),
            (40.0, -4.248354255291589e-18),
        ] {
            close(log_sigmoid(f), wanted, 0.0);
        }
        for (x, wanted) in [
            (-1e-17, -39.14394658089878),
            (-0.1, -2.3521684610440907),
            (-0.7, -0.6863410028083852),
            (-5.0, -0.006760749449488557),
        ] {
            close(log_1m_exp(x), wanted, 0.0);
        }
        assert_eq!(log_1m_exp(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn gamma_differences() {
        for (x, wanted) in [
            (1e-05, -10.940574384824648),
            (0.5, -0.5723649429247001),
            (3.25, 0.5510136474846917),
            (19.999, 1.4915914742882017),
            (20.001, 1.491642099093176),
            (1e4, 4.605157685988097),
            (1e12, 13.81551055796415),
        ] {
            // ln Γ near 39 loses two digits at 20
            close(ln_gamma_half_step(x), wanted, 4.0);
        }
        for (x, wanted) in [
            (0.1, 0.512740081331915),
            (1.0, 0.08106146679532726),
            (14.9, 0.00559200251225083),
            (15.1, 0.00551795800316308),
            (1e3, 8.333333055555635e-05),
            (1e9, 8.333333333333333e-11),
        ] {
            close(stirling_rest(x), wanted, if x < 15.0 { 3.0 } else { 0.1 });
        }
        for (x, m, wanted) in [
            (1.0, 1.0000001, 4.999999672505363e-15),
            (10.0, 11.9, 0.16046692876561988),
            (10.0, 12.5, 0.26856448685790246),
            (1e9, 1.00001e9, 0.049999666669166644),
            (3.0, 1e-200, 1381.8468926624316),
            (3.0, 1e200, 1e200),
        ] {
            close(deviance(x, m), wanted, if (x - m).abs() < 0.1 * (x + m) { 0.0 } else { 10.0 });
        }
        assert_eq!(deviance(2.0, 0.0), f64::INFINITY);
    }
}
