//! Which columns of a matrix are parallel, in O(n m log m): columns of unit length are sorted by their
//! projection on one fixed direction, neighbours are then compared entry by entry.

use nalgebra::DMatrix;

use super::cross::dot;
use super::poll::poll;
use super::sums::sum_of_squares;

/// Groups of parallel columns: the lowest index, and the others, ascending. Columns are parallel if
/// their unit vectors differ (up to sign) by at most `tolerance` in norm; zero columns are in no group.
pub fn parallel_groups(a: &DMatrix<f64>, tolerance: f64) -> Vec<(usize, Vec<usize>)> {
    let direction = direction(a.nrows());
    let norms: Vec<f64> = a.column_iter().map(|c| sum_of_squares(c.as_slice()).sqrt()).collect();
    let mut order: Vec<(f64, usize)> = (0..a.ncols())
        .filter(|&j| norms[j] > 0.0)
        .map(|j| (dot(a.column(j).as_slice(), &direction).abs() / norms[j], j))
        .collect();
    order.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    // the direction has unit length: projections of parallel columns differ by at most the tolerance,
    // and rounding
    let window = tolerance + 1e-14;
    let mut leader: Vec<usize> = (0..a.ncols()).collect();
    for (at, &(projection, j)) in order.iter().enumerate() {
        poll();
        for &(_, i) in order[at + 1..].iter().take_while(|o| o.0 - projection <= window) {
            let (low, high) = (find(&leader, i.min(j)), find(&leader, i.max(j)));
            if low != high && is_parallel(a, i, j, &norms, tolerance) {
                leader[low.max(high)] = low.min(high);
            }
        }
    }
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for j in 0..a.ncols() {
        let lead = find(&leader, j);
        if lead != j {
            match groups.iter_mut().find(|g| g.0 == lead) {
                Some(group) => group.1.push(j),
                None => groups.push((lead, vec![j])),
            }
        }
    }
    groups.sort();
    groups
}

fn is_parallel(a: &DMatrix<f64>, i: usize, j: usize, norms: &[f64], tolerance: f64) -> bool {
    let (x, y) = (a.column(i), a.column(j));
    let sign = if x.dot(&y) < 0.0 { -1.0 } else { 1.0 };
    let mut squares = 0.0;
    for (u, v) in x.iter().zip(y.iter()) {
        let d = u / norms[i] - sign * v / norms[j];
        squares += d * d;
    }
    squares.sqrt() <= tolerance
}

fn find(leader: &[usize], mut j: usize) -> usize {
    while leader[j] != j {
        j = leader[j];
    }
    j
}

/// A fixed direction of unit length without structure (splitmix64).
fn direction(n: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut d: Vec<f64> = (0..n)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^= z >> 31;
            (z >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        })
        .collect();
    let norm = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    d.iter_mut().for_each(|x| *x /= norm);
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_copies_multiples_and_opposites_only() {
        let mut a = DMatrix::from_fn(30, 8, |i, j| ((i * 5 + j * 11 + i * i * j) as f64).sin());
        let c0 = a.column(0).into_owned();
        let c1 = a.column(1).into_owned();
        a.set_column(3, &(&c0 * -7.5));
        a.set_column(5, &(&c0 * 1e-8));
        a.set_column(6, &c1);
        a.column_mut(7).fill(0.0);
        assert_eq!(parallel_groups(&a, 1e-12), vec![(0, vec![3, 5]), (1, vec![6])]);
        a[(4, 6)] += 1e-9;
        assert_eq!(parallel_groups(&a, 1e-12), vec![(0, vec![3, 5])]);
        a[(4, 6)] = a[(4, 1)] + 1e-14;
        assert_eq!(parallel_groups(&a, 1e-12), vec![(0, vec![3, 5]), (1, vec![6])]);
    }
}
