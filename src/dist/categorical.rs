//! One of several unordered levels.

use super::softmax_normal::log_mean_softmax;
use super::{Arg, ArgShape, Elem, Family, Local, Marginal, Outcome, Score, Support};

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
    score: Some(Score {
        predictors: &["softmax"],
        local,
        third,
        by_arg: super::score::no_argument,
        latent: None,
    }),
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

/// p = softmax(f)
fn probabilities(args: &[f64]) -> Vec<f64> {
    let f = &args[..args.len() / 2];
    (0..f.len()).map(|k| log_probability(k, Link::Softmax, f).exp()).collect()
}

/// δ_k = 1[y = k] − p_k, h_kl = p_k (1[k = l] − p_l)
fn local(value: f64, args: &[f64], out: &mut Local) {
    let p = probabilities(args);
    out.log_density = log_density(value, args);
    for a in 0..p.len() {
        out.score[a] = f64::from(u8::from(value == a as f64)) - p[a];
        for b in 0..p.len() {
            out.curvature[a + b * p.len()] = -p[a] * p[b];
        }
        // p (1 − p) as a product of what is left, not a difference
        let rest: f64 = (0..p.len()).filter(|b| *b != a).map(|b| p[b]).sum();
        out.curvature[a + a * p.len()] = p[a] * rest;
    }
}

/// Σ_bc V_bc dh_bc/df_a = p_a (V_aa − Σ_b p_b V_bb − 2 [(V p)_a − pᵀ V p])
fn third(_: f64, args: &[f64], variance: &[f64], out: &mut [f64]) {
    let p = probabilities(args);
    let k = p.len();
    let vp: Vec<f64> = (0..k).map(|a| (0..k).map(|b| variance[a + b * k] * p[b]).sum()).collect();
    let pvp: f64 = p.iter().zip(&vp).map(|(p, v)| p * v).sum();
    let trace: f64 = (0..k).map(|b| p[b] * variance[b + b * k]).sum();
    for a in 0..k {
        out[a] = p[a] * (variance[a + a * k] - trace - 2.0 * (vp[a] - pvp));
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
