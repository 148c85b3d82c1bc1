//! Powers of two, by which numbers are scaled without rounding.

/// v · 2^e, exact but for overflow and underflow.
#[inline]
pub fn times_two_to(v: f64, e: i32) -> f64 {
    match e.abs() <= 1000 {
        // the bits of 2^e
        true => v * f64::from_bits(((1023 + e) as u64) << 52),
        false => libm::scalbn(v, e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_has_it() {
        for v in [0.0, -0.0, 1.5, -3.7e-300, 1e300, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY] {
            for e in [-2100, -1001, -1000, -999, -7, 0, 1, 52, 999, 1000, 1001, 2100] {
                let wanted = libm::scalbn(v, e);
                assert!(times_two_to(v, e).to_bits() == wanted.to_bits() || wanted.is_subnormal(), "{v} {e}");
            }
        }
        assert!(times_two_to(f64::NAN, 3).is_nan());
    }
}
