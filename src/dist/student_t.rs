//! Student's t distribution.

use std::f64::consts::PI;

use super::{Arg, Elem, Family, Mixture, Support, one_of};
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
    marginal: None,
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
