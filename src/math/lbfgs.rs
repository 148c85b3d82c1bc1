//! A maximum of a smooth function of many variables within bounds: the limited-memory BFGS method
//! (Nocedal and Wright 2006, algorithms 7.4 and 7.5) on the variables that are not pressed against a
//! bound, with a line search for the strong Wolfe conditions (ibid., section 3.1).

use std::collections::VecDeque;

/// Pairs of steps and changes of gradient that are remembered.
const MEMORY: usize = 20;
/// Sufficient rise, and how much of the slope may be left.
const RISE: f64 = 1e-4;
const LEFT: f64 = 0.9;
/// Trials of one line search.
const TRIALS: usize = 30;

/// A function: its value and gradient; `None` where it has none.
pub type Function<'a> = dyn FnMut(&[f64]) -> Option<(f64, Vec<f64>)> + 'a;

/// When to stop.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Largest slope that counts as zero.
    pub slope: f64,
    /// Steps.
    pub steps: usize,
    /// Largest change of a variable in one step.
    pub reach: f64,
}

/// Where it ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Optimum {
    /// The point.
    pub x: Vec<f64>,
    /// The value there.
    pub value: f64,
    /// The gradient there.
    pub gradient: Vec<f64>,
    /// The largest slope of a variable that is not pressed against a bound.
    pub slope: f64,
    /// Steps taken.
    pub steps: usize,
}

/// Climbs from `start`. `bounds` are (lower, upper) of each variable. After each step `on_step` sees the
/// value and may stop. `None` if the function has no value at the start.
pub fn maximise(
    start: &[f64],
    bounds: &[(f64, f64)],
    f: &mut Function<'_>,
    settings: Settings,
    on_step: &mut dyn FnMut(f64) -> bool,
) -> Option<Optimum> {
    let clamp = |x: &mut [f64]| {
        x.iter_mut().zip(bounds).for_each(|(x, (low, high))| *x = x.max(*low).min(*high));
    };
    let pressed = |x: &[f64], g: &[f64]| -> Vec<bool> {
        let at = |((x, g), (low, high)): ((&f64, &f64), &(f64, f64))| {
            (x <= low && *g <= 0.0) || (x >= high && *g >= 0.0)
        };
        x.iter().zip(g).zip(bounds).map(at).collect()
    };
    let mut x = start.to_vec();
    clamp(&mut x);
    let (mut value, mut gradient) = f(&x)?;
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    let mut steps = 0;
    loop {
        let held = pressed(&x, &gradient);
        let free: Vec<f64> =
            gradient.iter().zip(&held).map(|(g, held)| if *held { 0.0 } else { *g }).collect();
        let slope = largest(&free);
        let done = |x: Vec<f64>, gradient| Some(Optimum { x, value, gradient, slope, steps });
        if slope <= settings.slope || steps >= settings.steps {
            return done(x, gradient);
        }
        let mut direction = two_loop(&pairs, &free);
        direction.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(d, _)| *d = 0.0);
        let mut rise = dot(&direction, &free);
        if !(rise > 0.0 && rise.is_finite()) {
            pairs.clear();
            direction.clone_from(&free);
            rise = dot(&free, &free);
        }
        let longest = settings.reach / largest(&direction);
        // without curvature, one unit is far enough for coordinates of natural scale
        let first =
            if pairs.is_empty() { (0.3 / largest(&direction)).min(longest) } else { longest.min(1.0) };
        let mut along = |a: f64| {
            let mut to: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + a * d).collect();
            clamp(&mut to);
            let (value, gradient) = f(&to)?;
            let held = pressed(&to, &gradient);
            let slope = direction
                .iter()
                .zip(&gradient)
                .zip(&held)
                .map(|((d, g), held)| if *held { 0.0 } else { d * g })
                .sum();
            (value.is_finite() && gradient.iter().all(|g| g.is_finite())).then_some(Trial {
                a,
                x: to,
                value,
                gradient,
                slope,
            })
        };
        let Some(next) = search(&mut along, value, rise, first, longest) else {
            if pairs.is_empty() {
                // no direction rises: a maximum to rounding
                return done(x, gradient);
            }
            pairs.clear();
            continue;
        };
        let s: Vec<f64> = next.x.iter().zip(&x).map(|(new, old)| new - old).collect();
        let y: Vec<f64> = gradient.iter().zip(&next.gradient).map(|(old, new)| old - new).collect();
        let curvature = dot(&s, &y);
        if curvature > 1e-12 * dot(&s, &s).sqrt() * dot(&y, &y).sqrt() {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back(Pair { s, y, curvature });
        }
        (x, value, gradient) = (next.x, next.value, next.gradient);
        steps += 1;
        if !on_step(value) {
            let slope = largest(&gradient);
            return Some(Optimum { x, value, gradient, slope, steps });
        }
    }
}

struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    curvature: f64,
}

/// A point along a direction.
struct Trial {
    a: f64,
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    slope: f64,
}

/// H g, H the approximate inverse of minus the Hessian.
fn two_loop(pairs: &VecDeque<Pair>, g: &[f64]) -> Vec<f64> {
    let mut q = g.to_vec();
    let mut alphas = Vec::with_capacity(pairs.len());
    for p in pairs.iter().rev() {
        let alpha = dot(&p.s, &q) / p.curvature;
        q.iter_mut().zip(&p.y).for_each(|(q, y)| *q -= alpha * y);
        alphas.push(alpha);
    }
    if let Some(last) = pairs.back() {
        let scale = last.curvature / dot(&last.y, &last.y);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (p, alpha) in pairs.iter().zip(alphas.iter().rev()) {
        let beta = dot(&p.y, &q) / p.curvature;
        q.iter_mut().zip(&p.s).for_each(|(q, s)| *q += (alpha - beta) * s);
    }
    q
}

/// A step that rises enough and leaves little slope; failing that, the best that rises.
fn search(
    along: &mut dyn FnMut(f64) -> Option<Trial>,
    value: f64,
    rise: f64,
    first: f64,
    longest: f64,
) -> Option<Trial> {
    // what rounding of the value hides
    let slack = 1e-13 * (1.0 + value.abs());
    let (mut low, mut low_slope, mut high) = (0.0, rise, f64::INFINITY);
    let mut high_slope: Option<f64> = None;
    let mut a = first;
    let mut best: Option<Trial> = None;
    for _ in 0..TRIALS {
        let trial = along(a);
        match trial {
            Some(t) if t.value >= value + RISE * a * rise - slack => {
                let (slope, value) = (t.slope, t.value);
                let better = best.as_ref().is_none_or(|b| value > b.value || slope.abs() < b.slope.abs());
                if better {
                    best = Some(t);
                }
                if slope.abs() <= LEFT * rise || (slope > 0.0 && a >= longest) {
                    return best;
                }
                if slope > 0.0 {
                    (low, low_slope) = (a, slope);
                } else {
                    (high, high_slope) = (a, Some(slope));
                }
            }
            Some(t) => (high, high_slope) = (a, Some(t.slope).filter(|s| *s < 0.0)),
            None => (high, high_slope) = (a, None),
        }
        a = if high.is_infinite() {
            (2.5 * a).min(longest)
        } else {
            // where the slope would vanish if it were linear, well inside
            let share = high_slope.map_or(0.3, |h| low_slope / (low_slope - h)).clamp(0.1, 0.8);
            low + share * (high - low)
        };
        if high - low <= 1e-12 * high {
            break;
        }
    }
    best.filter(|b| b.a > 0.0)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    const TIGHT: Settings = Settings { slope: 1e-9, steps: 500, reach: 4.0 };

    fn rosenbrock(x: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        Some((-(a * a + 100.0 * b * b), vec![2.0 * a + 400.0 * x[0] * b, -200.0 * b]))
    }

    #[test]
    fn the_curved_valley_is_followed_to_its_end() {
        let found = maximise(&[-1.2, 1.0], &[FREE; 2], &mut rosenbrock, TIGHT, &mut |_| true).unwrap();
        assert!(found.slope <= 1e-9 && found.steps < 80, "{found:?}");
        assert!((found.x[0] - 1.0).abs() < 1e-9 && (found.x[1] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_maximum_on_a_bound_is_found_there() {
        let bounds = [(-5.0, 0.5), FREE];
        let found = maximise(&[-1.2, 1.0], &bounds, &mut rosenbrock, TIGHT, &mut |_| true).unwrap();
        assert!(found.x[0] == 0.5 && (found.x[1] - 0.25).abs() < 1e-9, "{found:?}");
        assert!(found.slope <= 1e-9);
    }

    #[test]
    fn badly_scaled_quadratics_and_places_without_a_value() {
        // −½ Σ c_i (x_i − i)², no value for x_0 > 3
        let scale = |i: usize| 10f64.powi(i as i32 % 7 - 3);
        let mut f = |x: &[f64]| {
            let d: Vec<f64> = x.iter().enumerate().map(|(i, x)| x - i as f64 * 0.1).collect();
            let value = -0.5 * d.iter().enumerate().map(|(i, d)| scale(i) * d * d).sum::<f64>();
            (x[0] < 3.0).then(|| (value, d.iter().enumerate().map(|(i, d)| -scale(i) * d).collect()))
        };
        let found = maximise(&[2.9; 30], &[FREE; 30], &mut f, TIGHT, &mut |_| true).unwrap();
        assert!(found.slope <= 1e-9, "{found:?}");
    }

    #[test]
    fn the_host_may_stop_it() {
        let found = maximise(&[-1.2, 1.0], &[FREE; 2], &mut rosenbrock, TIGHT, &mut |_| false).unwrap();
        assert_eq!(found.steps, 1);
    }
}
