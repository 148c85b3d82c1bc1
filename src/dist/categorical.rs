//! One of several unordered levels.

use super::softmax_normal::log_mean_softmax;
use super::{Arg, ArgShape, Elem, Family, Marginal, Outcome, Support};

/// Categorical(y | p).
pub static CATEGORICAL: Family = Family {
    name: "Categorical",
    summary: "one of several levels, given one score (softmax) or one probability a level",
    formula: "P(y = k) = p[k] = exp(softmax[k]) / Σ_l exp(softmax[l])",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (4.104)",
    example: "use std.priors.ard\n\ndata x: real[N, D]\ndata c: category[N]\nW ~ ard(D, levels(c))\n\
              c ~ Categorical(softmax = x * W)\n",
    support: Support::Levels,
    log_concave: true,
    args: &[
        Arg::one_of("link", "softmax", Elem::Real, "a score for each level; only differences matter")
            .shaped(ArgShape::PerLevel),
        Arg::one_of("link", "p", Elem::Unit, "a probability for each level; they sum to 1")
            .shaped(ArgShape::PerLevel),
    ],
    gaussian: None,
    precision_prior: None,
    score: None,
    mixture: None,
    bound: None,
    marginal: Some(Marginal { predictors: &["softmax"], outcome: Outcome::Levels(predictive) }),
    sample,
    log_density,
};

fn sample(args: &[f64], uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    let (link, levels) = parameters(args)?;
    let mut left = uniform();
    for k in 0..levels.len() {
        left -= log_probability(k, link, levels).exp();
        if left <= 0.0 {
            return Some(k as f64);
        }
    }
    // rounding has left a little of the last level
    Some(levels.len().checked_sub(1)? as f64)
}

fn log_density(value: f64, args: &[f64]) -> f64 {
    let Some((link, levels)) = parameters(args) else { return f64::NAN };
    if value.is_nan() {
        return f64::NAN;
    }
    if value < 0.0 || value.fract() != 0.0 || value >= levels.len() as f64 {
        return f64::NEG_INFINITY;
    }
    log_probability(value as usize, link, levels)
}

/// How a level's number makes its probability.
#[derive(Clone, Copy, PartialEq)]
enum Link {
    Softmax,
    Probability,
}

fn log_probability(k: usize, link: Link, levels: &[f64]) -> f64 {
    if link == Link::Probability {
        return levels[k].ln();
    }
    // f_k − max − ln Σ exp(f_l − max)
    let max = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = levels.iter().map(|f| (f - max).exp()).sum();
    levels[k] - max - sum.ln()
}

/// The one argument that is there, a number a level.
fn parameters(args: &[f64]) -> Option<(Link, &[f64])> {
    let (softmax, p) = args.split_at_checked(args.len() / 2)?;
    let absent = |levels: &[f64]| levels.iter().all(|x| x.is_nan());
    match (absent(softmax), absent(p)) {
        (false, true) if softmax.iter().all(|f| f.is_finite()) => Some((Link::Softmax, softmax)),
        (true, false) => {
            let proper = p.iter().all(|p| (0.0..=1.0).contains(p));
            (proper && (p.iter().sum::<f64>() - 1.0).abs() < 1e-9).then_some((Link::Probability, p))
        }
        _ => None,
    }
}

/// ln P of each level, the scores averaged over their Gaussian.
fn predictive(args: &[f64], variance: &[f64]) -> Vec<f64> {
    match parameters(args) {
        None => vec![f64::NAN; args.len() / 2],
        Some((Link::Softmax, mean)) => log_mean_softmax(mean, variance),
        Some((Link::Probability, p)) => p.iter().map(|p| p.ln()).collect(),
    }
}
