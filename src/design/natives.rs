//! What every native function computes, and its derivative beside it: one table.

use super::pairs::{self, PairsAdjoint, PairsFn};
use crate::check::typed::Native;
use crate::math::exp::exp_of_each;

/// Input columns and their powers.
pub type Monomial = Vec<(usize, u32)>;

/// The form of a native, and what it computes.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Entry by entry, with the name it has in a label: y = f(x) of many, and dy/dx from x and y.
    Map(&'static str, fn(&mut [f64]), fn(x: f64, y: f64) -> f64),
    /// All entries → one number y, and dy/dx of every entry.
    Reduce(fn(&[f64]) -> f64, fn(&[f64]) -> Vec<f64>),
    /// Every row of x with every row of c: `[N,D]`, `[M,D]` → `[N,M]`, with a scale `[D]` as an optional third.
    Pairs(PairsFn, PairsAdjoint),
    /// Every output column is a monomial of input columns: (D, p) → for each, its (column, power).
    /// Its derivative needs no function: d Π x^p / dx_k = p_k x_k^(p_k − 1) Π x^p over the others.
    Monomials(fn(d: usize, p: usize) -> Vec<Monomial>),
}

/// The rule of a native.
pub fn rule(native: Native) -> Rule {
    match native {
        Native::Exp => Rule::Map("exp", exp_of_each, |_, y| y),
        Native::Log => Rule::Map("log", |a| each(a, f64::ln), |x, _| 1.0 / x),
        // 1/(2√x); 0 at 0, where distances of a point from itself arrive
        Native::Sqrt => {
            Rule::Map("sqrt", |a| each(a, f64::sqrt), |_, y| if y == 0.0 { 0.0 } else { 0.5 / y })
        }
        // 0 at 0: the middle of the subgradient
        Native::Abs => {
            Rule::Map("abs", |a| each(a, f64::abs), |x, _| if x == 0.0 { 0.0 } else { x.signum() })
        }
        Native::Sin => Rule::Map("sin", |a| each(a, f64::sin), |x, _| x.cos()),
        Native::Cos => Rule::Map("cos", |a| each(a, f64::cos), |x, _| -x.sin()),
        Native::Sum => Rule::Reduce(|a| a.iter().sum(), |a| vec![1.0; a.len()]),
        Native::Mean => Rule::Reduce(|a| moments(a).0, |a| vec![1.0 / a.len() as f64; a.len()]),
        Native::Sd => Rule::Reduce(|a| moments(a).1, sd_slopes),
        Native::Dot => Rule::Pairs(pairs::dot, pairs::dot_adjoint),
        Native::SqDist => Rule::Pairs(pairs::sq_dist, pairs::sq_dist_adjoint),
        Native::AbsDist => Rule::Pairs(pairs::abs_dist, pairs::abs_dist_adjoint),
        Native::LinearSpline => Rule::Pairs(pairs::linear_spline, pairs::linear_spline_adjoint),
        Native::PairProducts => Rule::Monomials(|d, _| {
            (0..d).flat_map(|a| (a + 1..d).map(move |b| vec![(a, 1), (b, 1)])).collect()
        }),
        Native::Powers => Rule::Monomials(|d, p| {
            (0..d).flat_map(|k| (1..=u32::try_from(p).unwrap_or(0)).map(move |q| vec![(k, q)])).collect()
        }),
    }
}

fn each(values: &mut [f64], f: impl Fn(f64) -> f64) {
    values.iter_mut().for_each(|x| *x = f(*x));
}

/// Mean and deviation (denominator N). Exact for a constant; does not overflow where the result
/// does not; scaled by a power of two, so that a power of two in the data comes out exactly.
pub fn moments(a: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for x in a {
        low = low.min(*x);
        high = high.max(*x);
    }
    if low == high {
        return (low, 0.0);
    }
    let unit = power_of_two_near(low.abs().max(high.abs()));
    // two passes: mean = Σ x / N, corrected by the mean of the residuals
    let first = a.iter().map(|x| x / unit).sum::<f64>() / n;
    let mean = first + a.iter().map(|x| x / unit - first).sum::<f64>() / n;
    let spread = a.iter().fold(0.0f64, |m, x| m.max((x / unit - mean).abs()));
    let small = power_of_two_near(spread);
    // sd² = Σ (x − mean)² / N
    let sd = (a.iter().map(|x| ((x / unit - mean) / small).powi(2)).sum::<f64>() / n).sqrt() * small;
    (mean * unit, sd * unit)
}

/// The power of two at or below |x|; 1 for 0 and for what is not finite.
fn power_of_two_near(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        1.0
    } else {
        2f64.powi(x.abs().log2().floor().clamp(-1000.0, 1000.0) as i32)
    }
}

/// d sd/dx_i = (x_i − mean)/(N sd); 0 for a constant.
fn sd_slopes(a: &[f64]) -> Vec<f64> {
    let (mean, sd) = moments(a);
    let n = a.len() as f64;
    a.iter().map(|x| if sd == 0.0 { 0.0 } else { (x - mean) / sd / n }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_textbook() {
        assert_eq!(moments(&[1.0, 2.0, 3.0, 4.0]), (2.5, 1.25f64.sqrt()));
        assert_eq!(moments(&[0.1; 7]), (0.1, 0.0));
        let (mean, sd) = moments(&[1e200, 3e200]);
        assert!((mean / 2e200 - 1.0).abs() < 1e-15 && (sd / 1e200 - 1.0).abs() < 1e-15);
        let a = [0.3, -1.7, 2.2, 0.9];
        let (mean, sd) = moments(&a);
        assert_eq!(moments(&a.map(|x| x * 2f64.powi(40))), (mean * 2f64.powi(40), sd * 2f64.powi(40)));
    }

    #[test]
    fn monomials_count_and_order() {
        let Rule::Monomials(powers) = rule(Native::Powers) else { panic!() };
        assert_eq!(powers(2, 2), [[(0, 1)], [(0, 2)], [(1, 1)], [(1, 2)]]);
        let Rule::Monomials(products) = rule(Native::PairProducts) else { panic!() };
        assert_eq!(products(3, 0), [[(0, 1), (1, 1)], [(0, 1), (2, 1)], [(1, 1), (2, 1)]]);
        assert_eq!(products(0, 0).len(), 0);
    }
}
