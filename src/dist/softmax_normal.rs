//! The softmax averaged over Gaussian scores (`docs/mathematics.md` §4.3).
//!
//! One level a stands apart. Given the others, softmax_a = σ(f_a − ln Σ e^{f_l}), and the average over f_a
//! is the logistic-normal integral G, which is tabulated; what is left is an integral over the differences
//! of the other scores, of one dimension less:
//!
//! P_a = E G(−A), P_l = E [e^{f_l} / Σ e^f] G(A), A = ln Σ_{l≠a} e^{f_l} − E[f_a | the others].
//!
//! Along the principal axes of these differences it is computed by a product rule, the steps of which are
//! refined until that changes nothing; by quasi-Monte Carlo points where a product has too many.

use std::f64::consts::{PI, TAU};

use nalgebra::{DMatrix, DVector};

use super::logistic_normal::log_mean_sigmoid;
use super::sobol::deviate;
use crate::math::quadrature::gauss_hermite;
use crate::math::special::{ln_gamma, log_1m_exp, log_sum_exp, normal_pdf};

/// A product rule that changes no probability by more than this has settled: its error falls to the power
/// 1.3 with every refinement, and is then about 1e-8.
const CHANGE: f64 = 1e-6;
/// The same of two doublings of quasi-Monte Carlo points.
const CALM: f64 = 3e-6;
/// The same relative to the probability: log losses are of small ones.
const RELATIVE: f64 = 0.02;
/// Nodes of a product rule at most.
const NODES: f64 = 262_144.0;
/// Refinements: the error of the first rule is about e^−8, of each other one the power 1.3 of the last.
const COARSE: f64 = 8.0;
const FINER: f64 = 1.3;
const REFINEMENTS: i32 = 7;
/// Nodes of a Gauss–Hermite rule at most.
const FEW: usize = 9;
/// Quasi-Monte Carlo points at first, and at most; each stands for its mirror image too.
const FIRST: usize = 1 << 9;
const MOST: usize = 1 << 16;

/// ln E softmax(f) for f ~ N(mean, variance), K × K column-major. The absolute error of a probability is
/// below 1e-6 for three levels, for four where deviations of the scores are below 25, for five below 4; beyond,
/// where the points are quasi-Monte Carlo, it was found below 5e-6 for ten levels of deviations below 0.5,
/// below 3e-5 where they are below 2, and below 1e-3 whatever they are.
pub fn log_mean_softmax(mean: &[f64], variance: &[f64]) -> Vec<f64> {
    let k = mean.len();
    let known = || -> Vec<f64> {
        let all = log_sum_exp(mean);
        mean.iter().map(|f| f - all).collect()
    };
    if k < 2 || variance.len() != k * k {
        return known();
    }
    if k == 2 {
        // the softmax of two is the sigmoid of their difference
        let (d, v) = (mean[1] - mean[0], variance[0] + variance[3] - variance[1] - variance[2]);
        return vec![log_mean_sigmoid(-d, v), log_mean_sigmoid(d, v)];
    }
    if mean.iter().chain(variance).any(|x| !x.is_finite()) {
        return vec![f64::NAN; k];
    }
    let apart = (0..k).map(|apart| Apart::new(apart, mean, variance));
    // the level that leaves least to do
    let Some(mut apart) = apart.min_by(|a, b| a.nodes(COARSE * 2.0).total_cmp(&b.nodes(COARSE * 2.0))) else {
        return known();
    };
    if apart.axes.is_empty() && apart.variance == 0.0 {
        return known();
    }
    apart.product().unwrap_or_else(|| apart.quasi_monte_carlo())
}

/// Scores split into that of one level and those of the others.
struct Apart {
    level: usize,
    /// Means of the scores.
    mean: Vec<f64>,
    axes: Vec<Axis>,
    /// Variance of the score apart, the others given, in their mean's frame.
    variance: f64,
    table: Table,
}

/// How the scores move with one of independent standard normal numbers.
struct Axis {
    /// Each score; that apart by its regression.
    step: Vec<f64>,
    /// Largest difference of these.
    width: f64,
}

impl Apart {
    fn new(level: usize, mean: &[f64], variance: &[f64]) -> Apart {
        let k = mean.len();
        let others: Vec<usize> = (0..k).filter(|l| *l != level).collect();
        let v = |i: usize, j: usize| 0.5 * (variance[i + k * j] + variance[j + k * i]);
        // covariance of f − (mean of the other scores)
        let with: Vec<f64> =
            (0..k).map(|i| others.iter().map(|&j| v(i, j)).sum::<f64>() / others.len() as f64).collect();
        let all = others.iter().map(|&i| with[i]).sum::<f64>() / others.len() as f64;
        let c = |i: usize, j: usize| v(i, j) - with[i] - with[j] + all;
        let between = DMatrix::from_fn(k - 1, k - 1, |i, j| c(others[i], others[j]));
        let beside = DVector::from_fn(k - 1, |i, _| c(level, others[i]));
        let eigen = between.symmetric_eigen();
        let mut order: Vec<usize> = (0..k - 1).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]).then(a.cmp(b)));
        // a deviation of a log odds of 1e-6 changes no probability by more than 1e-12; less is rounding
        let trace: f64 = (0..k).map(|i| v(i, i)).sum();
        let least = 1e-12 + 4e-16 * k as f64 * trace;
        let mut left = c(level, level);
        let mut axes = Vec::new();
        for j in order.into_iter().filter(|j| eigen.eigenvalues[*j] > least) {
            let sd = eigen.eigenvalues[j].sqrt();
            let direction = eigen.eigenvectors.column(j);
            let mut step = vec![0.0; k];
            others.iter().zip(direction.iter()).for_each(|(&l, u)| step[l] = sd * u);
            step[level] = direction.dot(&beside) / sd;
            left -= step[level] * step[level];
            let (low, high) =
                step.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| (a.min(*s), b.max(*s)));
            axes.push(Axis { step, width: high - low });
        }
        let variance = if left > least { left } else { 0.0 };
        Apart { level, mean: mean.to_vec(), axes, variance, table: Table::new(variance) }
    }

    /// Adds the average over the score apart, where the others are as in `f` and its own mean too.
    fn add(&mut self, f: &[f64], weight: f64, sums: &mut [f64]) {
        let others = |l: &usize| *l != self.level;
        let largest = (0..f.len()).filter(others).map(|l| f[l]).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = (0..f.len()).filter(others).map(|l| (f[l] - largest).exp()).sum();
        let a = largest + total.ln() - f[self.level];
        let small = self.table.at(-a.abs());
        let (small, large) = (small.exp(), log_1m_exp(small).exp());
        let (apart, rest) = if a > 0.0 { (small, large) } else { (large, small) };
        for (l, sum) in sums.iter_mut().enumerate() {
            *sum += weight * if l == self.level { apart } else { (f[l] - largest).exp() / total * rest };
        }
    }

    /// By product rules, each finer than the last, until one changes nothing; `None` where that would take
    /// too many nodes.
    fn product(&mut self) -> Option<Vec<f64>> {
        let mut before: Option<Vec<f64>> = None;
        for refinement in 0..REFINEMENTS {
            let digits = COARSE * FINER.powi(refinement);
            if self.nodes(digits) > NODES {
                return None;
            }
            let p = self.product_rule(digits);
            if before.is_some_and(|b| settled(&b, &p, CHANGE)) || self.axes.is_empty() {
                return Some(p.iter().map(|p| p.ln()).collect());
            }
            before = Some(p);
        }
        None
    }

    /// Probabilities by the product rule whose error is about e^−digits.
    fn product_rule(&mut self, digits: f64) -> Vec<f64> {
        let rules: Vec<Rule> = self.axes.iter().map(|axis| Rule::new(axis.width, digits)).collect();
        let dimensions = rules.iter().filter(|r| r.step.is_some()).count();
        let radius = radius(digits, dimensions);
        let nodes: Vec<Vec<(f64, f64)>> = rules.iter().map(|r| r.nodes(radius)).collect();
        let mut sums = vec![0.0; self.mean.len()];
        // f along the axes so far, a vector for each
        let mut f = vec![self.mean.clone(); nodes.len() + 1];
        self.walk(&rules, &nodes, 0, (1.0, radius * radius), &mut f, &mut sums);
        let all: f64 = sums.iter().sum();
        sums.iter().map(|s| s / all).collect()
    }

    /// All nodes along the axes from `j` on, inside a ball.
    fn walk(
        &mut self,
        rules: &[Rule],
        nodes: &[Vec<(f64, f64)>],
        j: usize,
        (weight, room): (f64, f64),
        f: &mut [Vec<f64>],
        sums: &mut [f64],
    ) {
        let Some(along) = nodes.get(j) else {
            let at = std::mem::take(&mut f[j]);
            self.add(&at, weight, sums);
            f[j] = at;
            return;
        };
        for &(z, w) in along {
            let left = if rules[j].step.is_some() { room - z * z } else { room };
            if left < 0.0 {
                continue;
            }
            let (done, rest) = f.split_at_mut(j + 1);
            let from = done[j].iter().zip(&self.axes[j].step);
            rest[0].iter_mut().zip(from).for_each(|(to, (f, step))| *to = f + z * step);
            self.walk(rules, nodes, j + 1, (weight * w, left), f, sums);
        }
    }

    /// Number of nodes of a product rule, about.
    fn nodes(&self, digits: f64) -> f64 {
        let rules: Vec<Rule> = self.axes.iter().map(|axis| Rule::new(axis.width, digits)).collect();
        let steps: Vec<f64> = rules.iter().filter_map(|r| r.step).collect();
        let m = steps.len() as f64;
        // volume of the ball over that of a cell
        let ball = 0.5 * m * PI.ln() - ln_gamma(0.5 * m + 1.0) + m * radius(digits, steps.len()).ln();
        let cells = ball - steps.iter().map(|h| h.ln()).sum::<f64>();
        let few: f64 = rules.iter().filter(|r| r.step.is_none()).map(|r| (r.few as f64).ln()).sum();
        (cells + few).exp()
    }

    /// By quasi-Monte Carlo points, doubled until two doublings in a row change nothing.
    fn quasi_monte_carlo(&mut self) -> Vec<f64> {
        let mut sums = vec![0.0; self.mean.len()];
        let mut before: Option<Vec<f64>> = None;
        let (mut done, mut goal, mut calm) = (0, FIRST, 0);
        loop {
            for i in done..goal {
                for sign in [1.0, -1.0] {
                    let mut f = self.mean.clone();
                    for (j, axis) in self.axes.iter().enumerate() {
                        let z = sign * deviate(i, j);
                        f.iter_mut().zip(&axis.step).for_each(|(f, step)| *f += z * step);
                    }
                    self.add(&f, 1.0, &mut sums);
                }
            }
            let all: f64 = sums.iter().sum();
            let p: Vec<f64> = sums.iter().map(|s| s / all).collect();
            calm = if before.is_some_and(|b| settled(&b, &p, CALM)) { calm + 1 } else { 0 };
            if calm == 2 || goal >= MOST {
                return p.iter().map(|p| p.ln()).collect();
            }
            before = Some(p);
            (done, goal) = (goal, 2 * goal);
        }
    }
}

/// Whether nothing has changed that counts.
fn settled(before: &[f64], now: &[f64], change: f64) -> bool {
    before.iter().zip(now).all(|(b, p)| (b - p).abs() < change && (b - p).abs() <= RELATIVE * p)
}

/// Beyond this the standard normal density counts less than e^−digits.
fn radius(digits: f64, dimensions: usize) -> f64 {
    (2.0 * digits + 3.0 * dimensions as f64).sqrt()
}

/// The rule along one axis.
struct Rule {
    /// Step of the trapezoidal rule, if it is that.
    step: Option<f64>,
    /// Else the number of nodes of a Gauss–Hermite rule.
    few: usize,
}

impl Rule {
    /// For scores that drift apart by `width` a unit. The softmax is analytic for |Im z| < π/width, where
    /// no sum of exponentials vanishes.
    ///
    /// Trapezoidal rule of step h: error e^{−2πd/h + d²/2} for any d up to that, or to 2π/h
    /// (Trefethen and Weideman 2014, §5). Gauss–Hermite rule of n nodes: n! (width/π)^2n.
    fn new(width: f64, digits: f64) -> Rule {
        let strip = 0.85 * PI / width;
        let step = match strip < (2.0 * digits).sqrt() {
            true => TAU * strip / (digits + 0.5 * strip * strip),
            false => PI * (2.0 / digits).sqrt(),
        };
        let many = 2.0 * radius(digits, 1) / step;
        let exact = |n: &usize| 2.0 * *n as f64 * (width / PI).ln() + ln_gamma(*n as f64 + 1.0) <= -digits;
        match (2..=FEW).find(exact) {
            Some(n) if (n as f64) < many => Rule { step: None, few: n },
            _ => Rule { step: Some(step), few: 0 },
        }
    }

    fn nodes(&self, radius: f64) -> Vec<(f64, f64)> {
        let Some(h) = self.step else { return gauss_hermite(self.few) };
        let most = (radius / h).floor() as i64;
        (-most..=most).map(|i| i as f64 * h).map(|z| (z, h * normal_pdf(z))).collect()
    }
}

/// ln E σ(a) for a ~ N(·, variance) at means below 0, by interpolation between values on a grid.
struct Table {
    variance: f64,
    step: f64,
    /// At −i step; `NaN` where none has been asked for.
    values: Vec<f64>,
}

/// Values of a table at most.
const LONGEST: usize = 1 << 16;

impl Table {
    fn new(variance: f64) -> Table {
        // ln E σ varies over 1 or a deviation, whichever is longer: the error of 6 points is below 1e-8
        Table { variance, step: 0.1 * variance.sqrt().max(1.0), values: Vec::new() }
    }

    /// At a mean up to 0.
    fn at(&mut self, mean: f64) -> f64 {
        let x = -mean / self.step;
        if x.is_nan() || x >= LONGEST as f64 {
            return log_mean_sigmoid(mean, self.variance);
        }
        // six points around x (above 0 too: ln E σ goes on there)
        let first = x.floor() as i64 - 2;
        let mut sum = 0.0;
        for j in 0..6 {
            // Π (x − x_k)/(x_j − x_k)
            let mut weight = 1.0;
            for k in (0..6).filter(|k| *k != j) {
                weight *= (x - (first + k) as f64) / (j - k) as f64;
            }
            sum += weight * self.value(first + j);
        }
        sum
    }

    /// At −i step.
    fn value(&mut self, i: i64) -> f64 {
        // two points beyond 0 stand first
        let at = (i + 2).max(0) as usize;
        if self.values.len() <= at {
            self.values.resize(at + 1, f64::NAN);
        }
        if self.values[at].is_nan() {
            self.values[at] = log_mean_sigmoid(-(i as f64) * self.step, self.variance);
        }
        self.values[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E softmax of K scores, the last of which is known, by a product of trapezoidal rules along the Cholesky
    /// factor of the others.
    fn brute(mean: &[f64], l: &[&[f64]], step: f64) -> Vec<f64> {
        let most = (7.0 / step) as i32;
        let nodes: Vec<(f64, f64)> =
            (-most..=most).map(|i| f64::from(i) * step).map(|z| (z, step * normal_pdf(z))).collect();
        let d = l.len();
        let mut p = vec![0.0; mean.len()];
        for at in 0..nodes.len().pow(d as u32) {
            let z: Vec<(f64, f64)> =
                (0..d).map(|j| nodes[at / nodes.len().pow(j as u32) % nodes.len()]).collect();
            let weight: f64 = z.iter().map(|z| z.1).product();
            if weight < 1e-17 {
                continue;
            }
            let moved = |i: usize| l.get(i).map_or(0.0, |l| l.iter().zip(&z).map(|(l, z)| l * z.0).sum());
            let f: Vec<f64> = (0..mean.len()).map(|i| (mean[i] + moved(i)).exp()).collect();
            let total: f64 = f.iter().sum();
            (0..f.len()).for_each(|i| p[i] += weight * f[i] / total);
        }
        p
    }

    fn covariance(l: &[&[f64]], k: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| match (l.get(i), l.get(j)) {
            (Some(a), Some(b)) => a.iter().zip(*b).map(|(a, b)| a * b).sum(),
            _ => 0.0,
        };
        (0..k * k).map(|e| entry(e % k, e / k)).collect()
    }

    /// Means, Cholesky factor, step of the rule beside.
    type Case<'a> = (&'a [f64], &'a [&'a [f64]], f64);

    #[test]
    fn few_scores_against_a_product_rule() {
        let cases: [Case<'_>; 7] = [
            (&[0.3, -1.0, 0.5], &[&[0.8], &[-0.2, 0.5]], 0.25),
            (&[2.0, -1.0, 0.0], &[&[3.0], &[1.0, 2.0]], 0.1),
            (&[-4.0, 6.0, 0.0], &[&[11.0], &[-7.0, 9.0]], 0.03),
            (&[0.0, 0.4, -1.0, 0.0], &[&[0.02], &[0.1, 0.7], &[-0.3, 0.0, 0.4]], 0.3),
            (&[1.0, -1.0, 0.3, 0.0], &[&[2.5], &[0.5, 1.5], &[-1.0, 0.7, 3.0]], 0.12),
            (
                &[0.2, -1.5, 0.3, 1.0, 0.0],
                &[&[0.9], &[0.2, 0.6], &[-0.5, 0.1, 0.8], &[0.3, 0.3, -0.4, 1.0]],
                0.35,
            ),
            (
                &[1.2, 0.5, 0.3, -1.0, 0.0],
                &[&[1.4], &[0.7, 1.1], &[-0.5, 0.9, 1.3], &[0.3, 0.0, -0.4, 1.7]],
                0.28,
            ),
        ];
        for (mean, l, step) in cases {
            let got = log_mean_softmax(mean, &covariance(l, mean.len()));
            let want = brute(mean, l, step);
            let all: f64 = want.iter().sum();
            assert!((all - 1.0).abs() < 1e-9, "{all}");
            for (got, want) in got.iter().zip(&want) {
                assert!((got.exp() - want).abs() < 1e-7, "{mean:?}: {} {want}", got.exp());
                assert!((got.exp() / want - 1.0).abs() < 1e-4, "{mean:?}: {} {want}", got.exp());
            }
            assert!((got.iter().map(|p| p.exp()).sum::<f64>() - 1.0).abs() < 1e-13);
        }
    }

    /// Scores that are alike have the same probability each, however uncertain they are.
    #[test]
    fn exchangeable_scores() {
        for (k, sd, tolerance) in [
            (3, 0.5, 1e-8),
            (3, 300.0, 1e-6),
            (4, 3.0, 1e-7),
            (4, 25.0, 1e-6),
            (5, 3.5, 1e-6),
            (6, 1.5, 1e-6),
            (10, 0.5, 5e-6),
            (10, 1.5, 3e-5),
            (10, 30.0, 1e-3),
        ] {
            let variance: Vec<f64> =
                (0..k * k).map(|e| if e % (k + 1) == 0 { sd * sd } else { 0.3 * sd * sd }).collect();
            let p = log_mean_softmax(&vec![7.0; k], &variance);
            let error = p.iter().map(|p| (p.exp() - 1.0 / k as f64).abs()).fold(0.0, f64::max);
            assert!(error < tolerance, "{k} levels, {sd}: {error}");
        }
    }

    /// Levels in another order have their probabilities in that order.
    #[test]
    fn the_order_of_levels_does_not_matter() {
        let (mean, l): (&[f64], &[&[f64]]) =
            (&[1.0, -1.0, 0.3, 0.0], &[&[2.5], &[0.5, 1.5], &[-1.0, 0.7, 3.0]]);
        let (order, v) = ([2, 0, 3, 1], covariance(l, 4));
        let p = log_mean_softmax(mean, &v);
        let moved: Vec<f64> = (0..16).map(|e| v[order[e % 4] + 4 * order[e / 4]]).collect();
        let q = log_mean_softmax(&order.map(|o| mean[o]), &moved);
        for (q, o) in q.iter().zip(order) {
            assert!((q.exp() - p[o].exp()).abs() < 1e-8, "{q} {}", p[o]);
        }
    }

    /// A third level that is never chosen leaves the logit of the other two.
    #[test]
    fn a_level_out_of_reach_leaves_two() {
        let mean = [0.4, -0.9, -80.0];
        let variance = [2.0, 0.3, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0, 0.1];
        let three = log_mean_softmax(&mean, &variance);
        let two = log_mean_softmax(&mean[..2], &[2.0, 0.3, 0.3, 1.0]);
        for (a, b) in three.iter().zip(&two) {
            assert!((a.exp() - b.exp()).abs() < 5e-8, "{a} {b}");
        }
        assert!(three[2] < -70.0);
    }

    #[test]
    fn without_uncertainty_the_softmax_itself() {
        let p = log_mean_softmax(&[1.0, 2.0, 3.0], &[0.0; 9]);
        let all = log_sum_exp(&[1.0, 2.0, 3.0]);
        assert_eq!(p, [1.0 - all, 2.0 - all, 3.0 - all]);
        // a constant that all scores share cannot matter, however large and uncertain
        let shared = log_mean_softmax(&[1.0, 2.0, 3.0], &[1e6; 9]);
        assert!(shared.iter().zip(&p).all(|(a, b)| (a - b).abs() < 1e-6), "{shared:?}");
        assert!(log_mean_softmax(&[f64::NAN, 0.0, 0.0], &[1.0; 9]).iter().all(|p| p.is_nan()));
    }

    /// The table is the logistic-normal integral.
    #[test]
    fn the_table_is_the_integral() {
        for variance in [0.0, 0.04, 1.0, 30.0, 1e4] {
            let mut table = Table::new(variance);
            for i in 0..300 {
                let mean = -0.37 * f64::from(i) * variance.sqrt().max(0.5);
                let (got, want) = (table.at(mean), log_mean_sigmoid(mean, variance));
                assert!((got - want).abs() < 1e-8 * (1.0 + want.abs()), "{variance} {mean}: {got} {want}");
            }
        }
    }
}
