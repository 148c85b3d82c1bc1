//! A root of a smooth map of few variables, from near: Newton's method whose Jacobian comes from
//! differences once and is kept up by Broyden's rank-one updates (Nocedal and Wright 2006, section 11.1).

use nalgebra::{DMatrix, DVector};

use super::differences::over_its_scale;

/// Step of the differences, for coordinates of natural scale.
const STEP: f64 = 1e-5;
/// Halvings of a step that does not help.
const HALVINGS: usize = 5;
/// A step that leaves more than this of the residual asks for a new Jacobian.
const SLOW: f64 = 0.5;

/// A map of as many values as variables; `None` where it has none.
pub type Map<'a> = dyn FnMut(&[f64]) -> Option<Vec<f64>> + 'a;

/// Where it ended, and the largest residual there.
#[derive(Clone, PartialEq, Debug)]
pub struct Root {
    /// The point.
    pub x: Vec<f64>,
    /// Largest |f| there.
    pub residual: f64,
}

/// Steps from `start` until no value is above `tolerance`, at most `steps` of them, each at most `reach`
/// in any variable. The best point met; `None` if the map has no value at the start.
pub fn root(start: &[f64], f: &mut Map<'_>, tolerance: f64, steps: usize, reach: f64) -> Option<Root> {
    let mut x = start.to_vec();
    let mut here = DVector::from_vec(f(&x)?);
    let mut jacobian: Option<DMatrix<f64>> = None;
    let mut scales = vec![1.0; x.len()];
    for _ in 0..steps {
        if here.amax() <= tolerance {
            break;
        }
        let is_new = jacobian.is_none();
        let j = match jacobian.take() {
            Some(j) => j,
            None => match differences(&x, &here, f, &mut scales) {
                Some(j) => j,
                None => break,
            },
        };
        let Some((step, to, there)) = step(&x, &here, &j, f, &scales, reach) else {
            if is_new {
                break;
            }
            continue;
        };
        if norm(&there, &scales) < SLOW * norm(&here, &scales) {
            // J ← J + (y − J s) sᵀ/sᵀs
            let off = &there - &here - &j * &step;
            jacobian = Some(&j + off * step.transpose() / step.norm_squared());
        }
        (x, here) = (to, there);
    }
    Some(Root { x, residual: here.amax() })
}

/// A step along −J⁻¹ f that makes f smaller, where it leads, and f there.
fn step(
    x: &[f64],
    here: &DVector<f64>,
    j: &DMatrix<f64>,
    f: &mut Map<'_>,
    scales: &[f64],
    reach: f64,
) -> Option<(DVector<f64>, Vec<f64>, DVector<f64>)> {
    let mut step = j.clone().lu().solve(&-here)?;
    let largest = step.amax();
    if !largest.is_finite() {
        return None;
    }
    step *= (reach / largest).min(1.0);
    for _ in 0..HALVINGS {
        let to: Vec<f64> = x.iter().zip(step.iter()).map(|(x, s)| x + s).collect();
        let there = f(&to).map(DVector::from_vec).filter(|v| v.iter().all(|v| v.is_finite()));
        if let Some(there) = there.filter(|there| norm(there, scales) < norm(here, scales)) {
            return Some((step, to, there));
        }
        step *= 0.5;
    }
    None
}

/// |f|, each value in the units of its scale.
fn norm(f: &DVector<f64>, scales: &[f64]) -> f64 {
    f.iter().zip(scales).map(|(f, s)| (f * s).powi(2)).sum::<f64>().sqrt()
}

/// df/dx, by forward differences. Where f_i is steep in x_i, as the slope of something that curves, the scale of
/// both is 1/√|df_i/dx_i|, and so is the step.
fn differences(x: &[f64], here: &DVector<f64>, f: &mut Map<'_>, scales: &mut [f64]) -> Option<DMatrix<f64>> {
    let mut j = DMatrix::zeros(here.len(), x.len());
    for i in 0..x.len() {
        let along = |h: f64| {
            let mut to = x.to_vec();
            to[i] += h;
            Some((DVector::from_vec(f(&to)?) - here) / h)
        };
        j.set_column(i, &over_its_scale(i, STEP, &mut scales[i], along)?);
    }
    Some(j)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_found_to_rounding_in_few_calls() {
        // x² + y² = 4, e^x + y = 1: not the gradient of anything
        let mut calls = 0;
        let mut f = |x: &[f64]| {
            calls += 1;
            Some(vec![x[0] * x[0] + x[1] * x[1] - 4.0, x[0].exp() + x[1] - 1.0])
        };
        let found = root(&[1.2, -1.4], &mut f, 1e-12, 50, 1.0).unwrap();
        assert!(found.residual <= 1e-12 && calls < 25, "{found:?} {calls}");
        // 30-digit arithmetic
        assert!((found.x[0] - 1.004_168_738_474_66).abs() < 1e-12, "{found:?}");
        assert!((found.x[1] + 1.729_637_287_025_87).abs() < 1e-12);
    }

    #[test]
    fn a_steep_value_is_differentiated_on_its_own_scale() {
        // the slopes of −ln cosh(10⁶ (x − 0.3)), as steep for 10⁻⁶ only, and of −(y − x)²/2
        let mut calls = 0;
        let mut f = |x: &[f64]| {
            calls += 1;
            Some(vec![-1e6 * (1e6 * (x[0] - 0.3)).tanh(), x[0] - x[1]])
        };
        let found = root(&[0.3 + 4e-7, 0.9], &mut f, 1e-3, 40, 1.0).unwrap();
        assert!(found.residual <= 1e-3 && calls < 25, "{found:?} {calls}");
        assert!((found.x[0] - 0.3).abs() < 1e-9 && (found.x[1] - 0.3).abs() < 2e-3, "{found:?}");
    }

    #[test]
    fn no_root_ends_at_the_smallest_residual_met() {
        let found = root(&[3.0], &mut |x| Some(vec![x[0] * x[0] + 1.0]), 1e-9, 50, 1.0).unwrap();
        assert!(found.residual >= 1.0 && found.residual < 10.0);
        assert_eq!(root(&[0.0], &mut |_| None, 1e-9, 5, 1.0), None);
    }
}
