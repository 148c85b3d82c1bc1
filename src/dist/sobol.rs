//! Points of a Sobol sequence with a fixed digital shift, as normal deviates.

use std::sync::OnceLock;

use crate::math::special::normal_quantile;

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
/// Points and coordinates that are kept.
const KEPT: (usize, usize) = (1 << 14, 9);

/// Coordinate j of point i.
pub(super) fn deviate(i: usize, j: usize) -> f64 {
    if i < KEPT.0 && j < KEPT.1 { kept()[i * KEPT.1 + j] } else { point(i, j) }
}

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

/// The first points.
fn kept() -> &'static [f64] {
    static POINTS: OnceLock<Vec<f64>> = OnceLock::new();
    POINTS.get_or_init(|| (0..KEPT.0).flat_map(|i| (0..KEPT.1).map(move |j| point(i, j))).collect())
}
