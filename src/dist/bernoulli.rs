//! The Bernoulli distribution: success or failure.

use super::bound::{LinkBound, Quadratic};
use super::logistic_normal::log_mean_sigmoid;
use super::marginal::single;
use super::{Arg, Bound, Elem, Family, Local, Marginal, Outcome, Score, Support, one_of};
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
    score: Some(Score {
        predictors: &["logit", "probit"],
        local,
        third,
        by_arg: super::score::no_argument,
        latent: None,
    }),
    mixture: None,
    bound: Some(Bound { links: &[LOGIT, PROBIT] }),
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

/// With s = 2y − 1: logit δ = s σ(−sf), h = σ(f) σ(−f); probit, r = φ(sf)/Φ(sf): δ = s r, h = r (r + sf).
fn local(value: f64, args: &[f64], out: &mut Local) {
    let s = 2.0 * value - 1.0;
    match one_of(args) {
        Some((0, f)) => {
            // e = exp(−|f|): σ of the larger side 1/(1 + e), of the smaller e/(1 + e)
            let (z, e) = (s * f, (-f.abs()).exp());
            let large = 1.0 / (1.0 + e);
            let small = e * large;
            let score = s * if z > 0.0 { small } else { large };
            out.set(z.min(0.0) - e.ln_1p(), score, large * small);
        }
        Some((1, f)) => {
            let z = s * f;
            let (log_density, r, rest) = special::ln_normal_cdf_and_mills(z);
            out.set(log_density, s * r, r * rest);
        }
        _ => out.set(log_density(value, args), f64::NAN, f64::NAN),
    }
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

/// ln P of failure and of success, the logit or probit averaged over N(mean, v).
fn predictive(args: &[f64], variance: &[f64]) -> Vec<f64> {
    let v = single(variance);
    let both = |ln_p: &dyn Fn(f64) -> f64| vec![ln_p(-1.0), ln_p(1.0)];
    match one_of(args) {
        Some((0, mean)) => both(&|s| log_mean_sigmoid(s * mean, v)),
        // E Φ(f) = Φ(μ / sqrt(1 + v))
        Some((1, mean)) => both(&|s| special::ln_normal_cdf(s * mean / (1.0 + v).sqrt())),
        _ => vec![log_density(0.0, args), log_density(1.0, args)],
    }
}

/// λ(ξ) = tanh(ξ/2)/4ξ: ln σ(s f) ≥ ln σ(ξ) + (s f − ξ)/2 − λ(ξ)(f² − ξ²), s = ±1.
const LOGIT: LinkBound = LinkBound {
    predictor: "logit",
    quadratic: |value, contact| {
        let (xi, lambda) = (contact.abs(), half_secant(contact.abs()));
        Quadratic {
            constant: special::log_sigmoid(xi) - 0.5 * xi + lambda * xi * xi,
            slope: value - 0.5,
            curvature: 2.0 * lambda,
        }
    },
    // ξ² = ⟨f²⟩
    contact: |_, mean, variance| mean.hypot(variance.sqrt()),
    formula: "ln σ(s f) ≥ ln σ(ξ) + (s f − ξ)/2 − λ(ξ)(f² − ξ²), λ(ξ) = tanh(ξ/2)/4ξ",
    update: "ξ² = ⟨f²⟩",
    source: "Jaakkola and Jordan (2000), (3)–(8)",
};

/// z ~ N(f, 1) of the sign of s, integrated out: with m the point of contact and r = φ(s m)/Φ(s m),
/// ln Φ(s f) ≥ ln Φ(s m) + s r (f − m) − (f − m)²/2.
const PROBIT: LinkBound = LinkBound {
    predictor: "probit",
    quadratic: |value, contact| {
        let s = 2.0 * value - 1.0;
        let score = s * special::mills(s * contact);
        Quadratic {
            constant: special::ln_normal_cdf(s * contact) - contact * (score + 0.5 * contact),
            slope: score + contact,
            curvature: 1.0,
        }
    },
    contact: |_, mean, _| mean,
    formula: "ln Φ(s f) ≥ ln Φ(s m) + s r (f − m) − (f − m)²/2, r = φ(s m)/Φ(s m)",
    update: "m = ⟨f⟩",
    source: "Albert and Chib (1993); Girolami and Rogers (2006)",
};

/// tanh(ξ/2)/4ξ
fn half_secant(xi: f64) -> f64 {
    match xi < 1e-4 {
        true => 0.125 - xi * xi / 96.0,
        false => (0.5 * xi).tanh() / (4.0 * xi),
    }
}
