//! Sums over slices in eight lanes: the same order on every machine, and fast.

use super::poll::poll;
use super::wide::widest;

const LANES: usize = 8;

#[inline(always)]
fn fold(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    widest(
        #[inline(always)]
        || {
            let mut lanes = [0.0; LANES];
            let (chunks, rest) = values.as_chunks::<LANES>();
            for chunk in chunks {
                let mut lane = 0;
                while lane < LANES {
                    lanes[lane] += term(chunk[lane]);
                    lane += 1;
                }
            }
            lanes.iter().sum::<f64>() + rest.iter().map(|v| term(*v)).sum::<f64>()
        },
    )
}

/// Σ v²
pub fn sum_of_squares(values: &[f64]) -> f64 {
    fold(
        values,
        #[inline(always)]
        |v| v * v,
    )
}

/// Whether no value is infinite or not a number.
pub fn all_finite(values: &[f64]) -> bool {
    // 0 · v is 0, or NaN
    let zero = fold(
        values,
        #[inline(always)]
        |v| 0.0 * v,
    );
    zero == 0.0
}

/// The same of many values, with polls.
pub fn all_finite_in_parts(values: &[f64]) -> bool {
    values.chunks(1 << 18).all(|part| {
        poll();
        all_finite(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_the_one_value_that_is_not_finite() {
        let values: Vec<f64> = (0..37).map(f64::from).collect();
        assert_eq!(sum_of_squares(&values), values.iter().map(|v| v * v).sum::<f64>());
        assert!(all_finite(&[]) && all_finite(&values) && all_finite(&[f64::MAX, f64::MIN_POSITIVE, -0.0]));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 9, 36] {
                let mut values = values.clone();
                values[at] = bad;
                assert!(!all_finite(&values) && !all_finite_in_parts(&values), "{bad} {at}");
            }
        }
    }
}
