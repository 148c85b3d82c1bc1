//! The normal distribution.

use super::marginal::single;
use super::{Arg, Elem, Family, Gaussian, Local, Marginal, Moments, Number, Outcome, Score, Support, one_of};
use crate::math::special;

/// N(y | mean, 1/precision).
pub static NORMAL: Family = Family {
    name: "Normal",
    summary: "Gaussian with a mean and one of precision, variance, sd",
    formula: "p(y) = sqrt(precision / 2π) exp(−precision (y − mean)² / 2), precision = 1 / variance = 1 / sd²",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (1.46)",
    example: "data t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)\n",
    support: Support::Elem(Elem::Real),
    log_concave: true,
    args: &[
        Arg::required("mean", Elem::Real, "centre").positional(),
        Arg::one_of("scale", "precision", Elem::Positive, "inverse of the variance"),
        Arg::one_of("scale", "variance", Elem::Positive, "mean squared deviation from the mean"),
        Arg::one_of("scale", "sd", Elem::Positive, "standard deviation"),
    ],
    gaussian: Some(Gaussian {
        mean: Some("mean"),
        scales: &[("precision", 1.0), ("variance", -1.0), ("sd", -2.0)],
    }),
    precision_prior: None,
    score: Some(Score { predictors: &["mean"], local, third: super::score::no_change, by_arg, latent: None }),
    mixture: None,
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
    let (mean, root) = parameters(args)?;
    Some(mean + special::normal_quantile(uniform()) / root)
}

fn log_density(value: f64, args: &[f64]) -> f64 {
    let Some((mean, root)) = parameters(args) else { return f64::NAN };
    // ½ ln precision − ½ ln 2π − ½ precision (y − mean)²
    root.ln() + special::ln_phi((value - mean) * root)
}

/// Mean and the root of the precision.
fn parameters(args: &[f64]) -> Option<(f64, f64)> {
    let &[mean, precision, variance, sd] = args else { return None };
    let root = match one_of(&[precision, variance, sd])? {
        (0, precision) => precision.sqrt(),
        (1, variance) => 1.0 / variance.sqrt(),
        (_, sd) => 1.0 / sd,
    };
    (mean.is_finite() && root > 0.0 && root.is_finite()).then_some((mean, root))
}

/// With τ the precision: δ = τ (y − f), h = τ
fn local(value: f64, args: &[f64], out: &mut Local) {
    let (mean, root) = parameters(args).unwrap_or((f64::NAN, f64::NAN));
    let precision = root * root;
    out.set(log_density(value, args), precision * (value - mean), precision);
}

/// By τ: dl = 1/(2τ) − (y − f)²/2, dδ = y − f, dh = 1; τ = 1/variance = 1/sd².
fn by_arg(value: f64, args: &[f64], place: usize, out: &mut Local) {
    let (mean, root) = parameters(args).unwrap_or((f64::NAN, f64::NAN));
    let (precision, r) = (root * root, value - mean);
    let slope = match place {
        1 => 1.0,
        2 => -precision * precision,
        _ => -2.0 * precision * root,
    };
    out.set(slope * 0.5 * (1.0 / precision - r * r), slope * r, slope);
}

/// Mean, deviation of an observation and of the mean, under N(mean, v).
fn moments(args: &[f64], variance: &[f64]) -> Moments {
    let v = single(variance);
    match parameters(args) {
        None => Moments { mean: f64::NAN, sd: f64::NAN, sd_mean: None },
        Some((mean, root)) => Moments { mean, sd: (v + 1.0 / (root * root)).sqrt(), sd_mean: Some(v.sqrt()) },
    }
}

fn log_predictive(value: f64, args: &[f64], variance: &[f64]) -> f64 {
    let Moments { mean, sd, .. } = moments(args, variance);
    special::ln_phi((value - mean) / sd) - sd.ln()
}

fn distribution(value: f64, args: &[f64], variance: &[f64]) -> f64 {
    let Moments { mean, sd, .. } = moments(args, variance);
    special::normal_cdf((value - mean) / sd)
}
