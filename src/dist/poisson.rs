//! Counts.

use std::f64::consts::PI;

use super::marginal::single;
use super::{Arg, Elem, Family, Local, Marginal, Moments, Number, Outcome, Score, Support, draw, one_of};
use crate::math::quadrature::{log_integral, log_integral_concave};
use crate::math::special;

/// Poisson(y | rate).
pub static POISSON: Family = Family {
    name: "Poisson",
    summary: "counts, given a rate or its logarithm",
    formula: "P(y) = rate^y exp(−rate) / y!, rate = exp(log)",
    source: "McCullagh and Nelder (1989), Generalized Linear Models, §6.2",
    example: "use std.priors.ridge\n\ndata x: real[N, D]\ndata y: count[N]\nw ~ ridge(D)\n\
              y ~ Poisson(log = x * w)\n",
    support: Support::Elem(Elem::Count),
    log_concave: true,
    args: &[
        Arg::one_of("link", "log", Elem::Real, "logarithm of the rate"),
        Arg::one_of("link", "rate", Elem::Positive, "expected count"),
    ],
    gaussian: None,
    precision_prior: None,
    score: Some(Score {
        predictors: &["log"],
        local,
        third,
        by_arg: super::score::no_argument,
        latent: None,
    }),
    mixture: None,
    bound: None,
    marginal: Some(Marginal {
        predictors: &["log"],
        outcome: Outcome::Number(Number {
            moments,
            log_density: log_predictive,
            distribution: Some(distribution),
        }),
    }),
    sample,
    log_density,
};

fn sample(args: &[f64], uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    let (_, rate) = parameters(args)?;
    if !rate.is_finite() {
        return None;
    }
    if rate >= 10.0 {
        return draw::poisson_draw(rate, &|k| log_density(k, args), uniform);
    }
    // inverse distribution function, term by term: P(k) = P(k − 1) rate / k
    let (mut k, mut p, mut left) = (0.0, (-rate).exp(), uniform());
    while left > p && k < 1000.0 {
        left -= p;
        k += 1.0;
        p *= rate / k;
    }
    Some(k)
}

fn log_density(value: f64, args: &[f64]) -> f64 {
    let Some((log, rate)) = parameters(args) else { return f64::NAN };
    if value.is_nan() {
        return f64::NAN;
    }
    if value < 0.0 || value.fract() != 0.0 || value.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if value < 15.0 {
        // y ln rate − rate − ln y!
        let power = if value == 0.0 { 0.0 } else { value * log };
        power - rate - special::ln_gamma(value + 1.0)
    } else {
        // the same by Loader's saddle point, without cancellation
        -0.5 * (2.0 * PI * value).ln() - special::stirling_rest(value) - special::deviance(value, rate)
    }
}

/// The rate and its logarithm.
fn parameters(args: &[f64]) -> Option<(f64, f64)> {
    let &[log, rate] = args else { return None };
    match one_of(&[log, rate])? {
        (0, log) if log < f64::INFINITY => Some((log, log.exp())),
        (1, rate) if rate >= 0.0 && rate.is_finite() => Some((rate.ln(), rate)),
        _ => None,
    }
}

/// δ = y − e^f, h = e^f
fn local(value: f64, args: &[f64], out: &mut Local) {
    let rate = args[0].exp();
    out.set(log_density(value, args), value - rate, rate);
}

/// dh/df = e^f
fn third(_: f64, args: &[f64], variance: &[f64], out: &mut [f64]) {
    out[0] = variance[0] * args[0].exp();
}

/// Mean and deviation of a count whose log rate is N(μ, v): the rate r has mean e^{μ + v/2} and variance
/// (e^v − 1) e^{2μ + v}, and the variance of the count is E r + Var r.
fn moments(args: &[f64], variance: &[f64]) -> Moments {
    let v = single(variance);
    let Some((log, _)) = parameters(args) else {
        return Moments { mean: f64::NAN, sd: f64::NAN, sd_mean: None };
    };
    let mean = (log + 0.5 * v).exp();
    Moments { mean, sd: mean.sqrt().hypot(mean * v.exp_m1().sqrt()), sd_mean: None }
}

/// ln ∫ P(y | e^f) N(f | μ, v) df: the logarithm of the integrand is concave.
fn log_predictive(value: f64, args: &[f64], variance: &[f64]) -> f64 {
    let v = single(variance);
    let Some((log, _)) = parameters(args) else { return f64::NAN };
    let is_count = value >= 0.0 && value.fract() == 0.0 && value.is_finite();
    if v == 0.0 || !is_count || !log.is_finite() {
        return log_density(value, args);
    }
    let sd = v.sqrt();
    let at = |f: f64| log_density(value, &[f, f64::NAN]) + special::ln_phi((f - log) / sd);
    // between μ and the place where P(y | e^f) is largest; where that is −∞, f = μ − v e^f at the maximum
    let best = if value > 0.0 { value.ln() } else { log.min(0.0) - v };
    // curvature 1/v + e^f
    let width = |f: f64| (4.0 / (1.0 / v + f.exp()).sqrt()).min(1.5);
    log_integral_concave((log, best), &width, &at) - sd.ln()
}

/// P(y ≤ value) = E Q(value + 1, e^f), Q the regularised upper incomplete gamma function. Q falls from 1 to 0
/// where √rate is within a few ½ of √(value + 1): below that only the Gaussian counts.
fn distribution(value: f64, args: &[f64], variance: &[f64]) -> f64 {
    let v = single(variance);
    let Some((log, rate)) = parameters(args) else { return f64::NAN };
    if value.is_nan() || value < 0.0 {
        return if value.is_nan() { f64::NAN } else { 0.0 };
    }
    let shape = value.floor() + 1.0;
    let below = |rate: f64| if rate > 0.0 { special::gamma_upper(shape, rate) } else { 1.0 };
    if v == 0.0 || !log.is_finite() {
        return below(rate);
    }
    let (sd, root) = (v.sqrt(), shape.sqrt());
    let far = |root: f64| if root > 0.0 { 2.0 * root.ln() } else { f64::NEG_INFINITY };
    let from = far(root - ROOTS).max(log - DEVIATIONS * sd);
    let to = far(root + ROOTS).min(log + DEVIATIONS * sd);
    let inside = |f: f64| below(f.exp()).max(f64::MIN_POSITIVE).ln() + special::ln_phi((f - log) / sd);
    let middle = log_integral(from, to, (4.0 * sd).min(1.0 / root), &inside).exp() / sd;
    (special::normal_cdf((from - log) / sd) + middle).clamp(0.0, 1.0)
}

/// How far from its middle, in units of √rate, Q(shape, rate) is 0 or 1 to rounding.
const ROOTS: f64 = 6.0;
/// Deviations beyond which a Gaussian does not count.
const DEVIATIONS: f64 = 9.0;
