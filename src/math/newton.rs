//! Newton's method for a maximum of a smooth function of few variables whose gradient alone is known:
//! the Hessian comes from central differences of the gradient. It ends a search that a quasi-Newton
//! method has brought near, where that one would creep along narrow ridges.

use nalgebra::{DMatrix, DVector};

use super::chol::Cholesky;
use super::differences::over_its_scale;
use super::lbfgs::{Function, Optimum, Settings};

/// Step of the differences, for coordinates of natural scale.
const STEP: f64 = 1e-4;
/// Dampings that are tried at one point.
const DAMPINGS: usize = 14;
/// Steps in a row that neither raise the value nor halve the slope: what is left is rounding.
const VAIN: usize = 5;

/// Climbs from `start` by damped Newton steps within `bounds`. `None` if the function has no value there.
pub fn polish(
    start: &[f64],
    bounds: &[(f64, f64)],
    f: &mut Function<'_>,
    settings: Settings,
    on_step: &mut dyn FnMut(f64) -> bool,
) -> Option<Optimum> {
    let mut x = start.to_vec();
    let (mut value, mut gradient) = f(&x)?;
    let (mut damping, mut steps) = (0.0, 0);
    let mut scales = vec![1.0; x.len()];
    let mut vain = 0;
    loop {
        let free = free(&x, &gradient, bounds);
        let slope = largest(&gradient, &free);
        let end = |x, gradient, slope| Some(Optimum { x, value, gradient, slope, steps });
        if slope <= settings.slope || steps >= settings.steps || free.is_empty() || vain >= VAIN {
            return end(x, gradient, slope);
        }
        let Some(curvature) = curvature(&x, &free, f, &mut scales) else { return end(x, gradient, slope) };
        let g = DVector::from_iterator(free.len(), free.iter().map(|&i| gradient[i]));
        let mut accepted = None;
        for _ in 0..DAMPINGS {
            if let Some(step) = damped(&curvature, &g, damping, settings.reach) {
                let mut to = x.clone();
                for (&i, s) in free.iter().zip(step.iter()) {
                    to[i] = (to[i] + s).max(bounds[i].0).min(bounds[i].1);
                }
                if let Some((there, by)) = f(&to).filter(|(v, _)| v.is_finite()) {
                    // what rounding of the value hides
                    let slack = 1e-13 * (1.0 + value.abs());
                    let flatter = largest(&by, &free) < slope;
                    if there - value > slack || (there - value > -slack && flatter) {
                        accepted = Some((to, there, by));
                        break;
                    }
                }
            }
            damping = if damping == 0.0 { 1e-4 } else { damping * 10.0 };
        }
        // nothing rises: the optimum to rounding
        let Some((to, there, by)) = accepted else { return end(x, gradient, slope) };
        let helps = there - value > 1e-13 * (1.0 + value.abs()) || largest(&by, &free) < 0.5 * slope;
        vain = if helps { 0 } else { vain + 1 };
        (x, value, gradient) = (to, there, by);
        damping = if damping < 1e-3 { 0.0 } else { damping * 0.03 };
        steps += 1;
        if !on_step(value) {
            let slope = largest(&gradient, &free);
            return Some(Optimum { x, value, gradient, slope, steps });
        }
    }
}

/// Variables that are not pressed against a bound.
fn free(x: &[f64], g: &[f64], bounds: &[(f64, f64)]) -> Vec<usize> {
    let pressed = |i: &usize| {
        let (low, high) = bounds[*i];
        (x[*i] <= low && g[*i] <= 0.0) || (x[*i] >= high && g[*i] >= 0.0)
    };
    (0..x.len()).filter(|i| !pressed(i)).collect()
}

/// −d²f/dx dx over these variables. Where f curves much along one, the difference is taken over so much less.
fn curvature(x: &[f64], free: &[usize], f: &mut Function<'_>, scales: &mut [f64]) -> Option<DMatrix<f64>> {
    let mut c = DMatrix::zeros(free.len(), free.len());
    for (j, &at) in free.iter().enumerate() {
        let along = |h: f64| {
            let mut moved = |h: f64| {
                let mut to = x.to_vec();
                to[at] += h;
                f(&to).map(|found| found.1)
            };
            let (up, down) = (moved(h)?, moved(-h)?);
            Some(DVector::from_iterator(
                free.len(),
                free.iter().map(|&row| (down[row] - up[row]) / (2.0 * h)),
            ))
        };
        c.set_column(j, &over_its_scale(j, STEP, &mut scales[at], along)?);
    }
    Some((&c + c.transpose()) * 0.5)
}

/// (C + λ I)⁻¹ g, cut to the largest step; `None` if the matrix is not positive definite.
fn damped(c: &DMatrix<f64>, g: &DVector<f64>, damping: f64, reach: f64) -> Option<DVector<f64>> {
    let mut c = c.clone();
    for i in 0..c.nrows() {
        c[(i, i)] += damping;
    }
    let mut step = Cholesky::strict(&c)?.solve(g);
    let largest = step.amax();
    if !largest.is_finite() {
        return None;
    }
    if largest > reach {
        step *= reach / largest;
    }
    Some(step)
}

fn largest(g: &[f64], which: &[usize]) -> f64 {
    which.iter().map(|&i| g[i].abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_curves_much_is_differentiated_on_its_own_scale() {
        // −ln cosh(10⁶ (x − y)) − (y − 1)²/2
        let mut calls = 0;
        let mut f = |x: &[f64]| {
            calls += 1;
            let (u, v) = (1e6 * (x[0] - x[1]), x[1] - 1.0);
            let ln_cosh = u.abs() + (-2.0 * u.abs()).exp().ln_1p() - std::f64::consts::LN_2;
            Some((-ln_cosh - 0.5 * v * v, vec![-1e6 * u.tanh(), 1e6 * u.tanh() - v]))
        };
        let settings = Settings { slope: 1e-3, steps: 100, reach: 2.0 };
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let found = polish(&[0.5 + 3e-7, 0.5], &[free; 2], &mut f, settings, &mut |_| true).unwrap();
        assert!(found.slope <= 1e-3, "{found:?} {calls}");
        assert!((found.x[1] - 1.0).abs() < 2e-3, "{found:?} {calls}");
    }

    #[test]
    fn a_narrow_ridge_is_climbed_in_a_few_steps() {
        // −(x − 1)² − 10⁶ (y − x²)²
        let mut f = |x: &[f64]| {
            let (a, b) = (x[0] - 1.0, x[1] - x[0] * x[0]);
            Some((-a * a - 1e6 * b * b, vec![-2.0 * a + 4e6 * x[0] * b, -2e6 * b]))
        };
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let settings = Settings { slope: 1e-7, steps: 100, reach: 2.0 };
        let found = polish(&[0.9, 0.8], &[free; 2], &mut f, settings, &mut |_| true).unwrap();
        assert!(found.slope <= 1e-7 && found.steps < 60, "{found:?}");
        assert!((found.x[0] - 1.0).abs() < 1e-6);
        let bound = [(f64::NEG_INFINITY, 0.95), free];
        let found = polish(&[0.9, 0.8], &bound, &mut f, settings, &mut |_| true).unwrap();
        assert!(found.x[0] == 0.95 && (found.x[1] - 0.9025).abs() < 1e-9, "{found:?}");
    }
}
