//! Student's t distribution.

use std::f64::consts::PI;

use super::marginal::single;
use super::{Arg, Elem, Family, Marginal, Mixture, Moments, Number, Outcome, Support, one_of};
use crate::math::quadrature::log_gamma_expectation;
use crate::math::special;

/// t(y | mean, precision, dof).
pub static STUDENT_T: Family = Family {
    name: "StudentT",
    summary: "heavy-tailed noise: Student's t with a mean, degrees of freedom and one of precision, sd",
    formula: "p(y) = Γ((dof + 1)/2) / Γ(dof/2) sqrt(precision / (π dof)) (1 + precision (y − mean)² / dof)^(−(dof + 1)/2), \
              precision = 1 / sd²; the variance is dof / (dof − 2) / precision",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (2.159)",
    example: "data t: real[N]\nmu ~ Normal(0, precision = 1e-6)\ntau ~ Gamma(1e-3, 1e-3)\n\
              t ~ StudentT(mu, dof = 4, precision = tau)\n",
    support: Support::Elem(Elem::Real),
    log_concave: false,
    args: &[
        Arg::required("mean", Elem::Real, "centre").positional(),
        Arg::required("dof", Elem::Positive, "degrees of freedom; the fewer, the heavier the tails"),
        Arg::one_of(
            "scale",
            "precision",
            Elem::Positive,
            "inverse square of the scale; not the inverse variance",
        ),
        Arg::one_of("scale", "sd", Elem::Positive, "scale; the standard deviation as dof grows"),
    ],
    gaussian: None,
    precision_prior: None,
    score: None,
    mixture: Some(Mixture { mean: "mean", scales: &[("precision", 1.0), ("sd", -2.0)], dof: "dof" }),
    bound: None,
    marginal: Some(Marginal {
        predictors: &["mean"],
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
    let (mean, dof, root) = parameters(args)?;
    // sqrt(ν (u^(−2/ν) − 1)) cos 2πv (Bailey 1994)
    let radius = (dof * (-2.0 * uniform().ln() / dof).exp_m1()).sqrt();
    Some(mean + radius * (2.0 * PI * uniform()).cos() / root)
}

fn log_density(value: f64, args: &[f64]) -> f64 {
    let Some((mean, dof, root)) = parameters(args) else { return f64::NAN };
    // ln Γ((ν + 1)/2) − ln Γ(ν/2) + ½ ln(precision / (πν)) − (ν + 1)/2 ln(1 + z²/ν)
    let z = ((value - mean) * root).abs();
    let kernel = if z < 1e100 { (z * z / dof).ln_1p() } else { 2.0 * z.ln() - dof.ln() };
    special::ln_gamma_half_step(0.5 * dof) + root.ln() - 0.5 * (PI * dof).ln() - 0.5 * (dof + 1.0) * kernel
}

/// Mean, degrees of freedom and the root of the precision.
fn parameters(args: &[f64]) -> Option<(f64, f64, f64)> {
    let &[mean, dof, precision, sd] = args else { return None };
    let root = match one_of(&[precision, sd])? {
        (0, precision) => precision.sqrt(),
        (_, sd) => 1.0 / sd,
    };
    let proper = |x: f64| x > 0.0 && x.is_finite();
    (mean.is_finite() && proper(dof) && proper(root)).then_some((mean, dof, root))
}

/// Mean, deviation of an observation and of the mean, under N(mean, v): the variance is
/// v + dof / (dof − 2) / precision, infinite for dof ≤ 2; for dof ≤ 1 there is not even a mean.
fn moments(args: &[f64], variance: &[f64]) -> Moments {
    let v = single(variance);
    let Some((mean, dof, root)) = parameters(args) else {
        return Moments { mean: f64::NAN, sd: f64::NAN, sd_mean: None };
    };
    let sd = if dof <= 1.0 {
        f64::NAN
    } else if dof <= 2.0 {
        f64::INFINITY
    } else {
        (v + dof / (dof - 2.0) / (root * root)).sqrt()
    };
    Moments { mean, sd, sd_mean: Some(v.sqrt()) }
}

/// ln E N(y | mean, v + 1/(λ precision)) over the scale λ ~ Gamma(dof/2, dof/2).
fn log_predictive(value: f64, args: &[f64], variance: &[f64]) -> f64 {
    let v = single(variance);
    let Some((mean, dof, root)) = parameters(args) else { return f64::NAN };
    if v == 0.0 || !value.is_finite() {
        return log_density(value, args);
    }
    let d = value - mean;
    let at = |u: f64| {
        let sd = (v + (-u).exp() / (root * root)).sqrt();
        special::ln_phi(d / sd) - sd.ln()
    };
    // the density at its best scale
    let best = special::ln_phi(0.0) - v.sqrt().max(d.abs()).ln();
    log_gamma_expectation(0.5 * dof, best, &at)
}

/// E Φ((y − mean)/sqrt(v + 1/(λ precision))) over the same scale.
fn distribution(value: f64, args: &[f64], variance: &[f64]) -> f64 {
    let v = single(variance);
    let Some((mean, dof, root)) = parameters(args) else { return f64::NAN };
    let d = (value - mean).abs();
    let at = |u: f64| special::ln_normal_cdf(-d / (v + (-u).exp() / (root * root)).sqrt());
    let tail = log_gamma_expectation(0.5 * dof, 0.0, &at).exp();
    if value > mean { 1.0 - tail } else { tail }
}
