//! e^x of many numbers at a time, without a branch or a table, so that the loop is compiled to vectors.

use std::f64::consts::LOG2_E;

use super::wide::widest;

/// 1.5 · 2^52: a small number added to it is rounded to a whole one, which stands in its lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first short enough for exact multiples (fdlibm, `e_exp.c`).
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1/k! from k = 2: the next term is below half a unit in the last place for |r| ≤ ½ ln 2.
const TERMS: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// x ← e^x, within one unit in the last place.
pub fn exp_of_each(values: &mut [f64]) {
    widest(
        #[inline(always)]
        || {
            for x in values.iter_mut() {
                *x = exp(*x);
            }
        },
    );
}

/// e^x = 2^n e^r, n = round(x / ln 2), |r| ≤ ½ ln 2.
#[inline(always)]
fn exp(x: f64) -> f64 {
    // beyond these nothing changes; comparisons that leave a NaN one
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let n = x * LOG2_E + ROUND - ROUND;
    let (high, low) = (x - n * LN_2_HIGH, n * LN_2_LOW);
    let r = high - low;
    let mut series = 0.0;
    let mut k = TERMS.len();
    while k > 0 {
        k -= 1;
        series = series * r + TERMS[k];
    }
    // e^r = 1 + (r + r² Σ r^k/(k+2)!), the largest term last
    let e = 1.0 + (high + (r * r * series - low));
    // 2^n in two factors: what ends below the normal numbers is rounded once
    let half = n * 0.5 + ROUND;
    let rest = n - (half - ROUND) + ROUND;
    e * power_of_two(half) * power_of_two(rest)
}

/// 2^n of the whole number n in the lowest bits of n + ROUND.
#[inline(always)]
fn power_of_two(n: f64) -> f64 {
    f64::from_bits(n.to_bits().wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_within_one_unit_in_the_last_place() {
        let xs: Vec<f64> = (0..200_000)
            .map(|i| match i % 4 {
                0 => f64::from(i) * 0.007_3 - 750.0,
                1 => -f64::from(i) * 1e-4,
                2 => f64::from(i) * 1e-9,
                _ => f64::from(i - 100_000) * 2.7e-6,
            })
            .collect();
        let mut found = xs.clone();
        exp_of_each(&mut found);
        for (x, y) in xs.iter().zip(found) {
            // both round once: to the nearest, and this to a neighbour at worst
            let exact = libm::exp(*x);
            assert!(exact.to_bits().abs_diff(y.to_bits()) <= 1, "{x}: {y} {exact}");
            let mut one = [*x];
            exp_of_each(&mut one);
            assert_eq!(one[0].to_bits(), y.to_bits(), "its place among others changes nothing");
        }
    }

    #[test]
    fn the_ends_are_exact() {
        let mut x = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 709.79, -745.2, f64::NAN];
        exp_of_each(&mut x);
        assert_eq!(&x[..8], [1.0, 1.0, f64::INFINITY, 0.0, f64::INFINITY, 0.0, f64::INFINITY, 0.0]);
        assert!(x[8].is_nan());
    }
}
