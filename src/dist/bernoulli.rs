//! The Bernoulli distribution: success or failure.

use super::logistic_normal::log_mean_sigmoid;
use super::marginal::single;
use super::{Arg, Elem, Family, Local, Marginal, Outcome, Score, Support, one_of};
use crate::math::special;

/// Bernoulli(y | p).
pub static BERNOULLI: Family = Family {
    name: "Bernoulli",
    summary: "success or failure, given a logit, a probit or a probability",
    formula: "P(y = 1) = p = 1 / (1 + exp(−logit)) = Φ(probit), P(y = 0) = 1 − p",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (2.2), (4.59) and (4.114)",
    example: "use std.priors.ridge\n\ndata x: real[N, D]\ndata t: bool[N]\nw ~ ridge(D)\n\
              t ~ Bernoulli(logit = x * w)\n",
    support: Support::Binary,
    log_concave: true,
    args: &[
        Arg::one_of("link", "logit", Elem::Real, "log odds of success"),
        Arg::one_of("link", "probit", Elem::Real, "standard normal quantile of the probability of success"),
        Arg::one_of("link", "p", Elem::Unit, "probability of success"),
    ],
    gaussian: None,
    precision_prior: None,
    score: Some(Score { predictors: &["logit", "probit"], local, third, by_arg: super::score::no_argument }),
    mixture: None,
    bound: None,
    marginal: Some(Marginal { predictors: &["logit", "probit"], outcome: Outcome::Levels(predictive) }),
    sample,
    log_density,
};

fn sample(args: &[f64], uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    let success = log_density(1.0, args);
    (!success.is_nan()).then(|| f64::from(uniform() < success.exp()))
}

fn log_density(value: f64, args: &[f64]) -> f64 {
    let &[logit, probit, p] = args else { return f64::NAN };
    let Some((link, argument)) = one_of(&[logit, probit, p]) else { return f64::NAN };
    let s = match value {
        1.0 => 1.0,
        0.0 => -1.0,
        v if v.is_nan() => return f64::NAN,
        _ => return f64::NEG_INFINITY,
    };
    match link {
        // −ln(1 + e^{−s f})
        0 => special::log_sigmoid(s * argument),
        // ln Φ(s f)
        1 => special::ln_normal_cdf(s * argument),
        _ if !(0.0..=1.0).contains(&argument) => f64::NAN,
        _ if s > 0.0 => argument.ln(),
        _ => (-argument).ln_1p(),
    }
}

/// ln P of failure and of success, the logit or probit averaged over N(mean, v).
fn predictive(args: &[f64], variance: &[f64]) -> Vec<f64> {
    let v = single(variance);
    let both = |ln_p: &dyn Fn(f64) -> f64| vec![ln_p(-1.0), ln_p(1.0)];
    match args {
        &[mean, probit, p] if !mean.is_nan() && probit.is_nan() && p.is_nan() => {
            both(&|s| log_mean_sigmoid(s * mean, v))
        }
        // E Φ(f) = Φ(μ / sqrt(1 + v))
        &[logit, mean, p] if !mean.is_nan() && logit.is_nan() && p.is_nan() => {
            both(&|s| special::ln_normal_cdf(s * mean / (1.0 + v).sqrt()))
        }
        _ => vec![log_density(0.0, args), log_density(1.0, args)],
    }
}

/// With s = 2y − 1: logit δ = s σ(−sf), h = σ(f) σ(−f); probit, r = φ(sf)/Φ(sf): δ = s r, h = r (r + sf).
fn local(value: f64, args: &[f64], out: &mut Local) {
    let s = 2.0 * value - 1.0;
    let (score, curvature) = match one_of(args) {
        Some((0, f)) => (s * special::sigmoid(-s * f), special::sigmoid(f) * special::sigmoid(-f)),
        Some((1, f)) => {
            let r = special::mills(s * f);
            (s * r, r * special::mills_excess(s * f))
        }
        _ => (f64::NAN, f64::NAN),
    };
    out.set(log_density(value, args), score, curvature);
}

/// dh/df: logit h (σ(−f) − σ(f)); probit s [r (1 − h) − h (r + sf)].
fn third(value: f64, args: &[f64], variance: &[f64], out: &mut [f64]) {
    let s = 2.0 * value - 1.0;
    let slope = match one_of(args) {
        Some((0, f)) => {
            let (up, down) = (special::sigmoid(f), special::sigmoid(-f));
            up * down * (down - up)
        }
        Some((1, f)) => {
            let (r, rest) = (special::mills(s * f), special::mills_excess(s * f));
            let h = r * rest;
            s * (r * (1.0 - h) - h * rest)
        }
        _ => f64::NAN,
    };
    out[0] = variance[0] * slope;
}
