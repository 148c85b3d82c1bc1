//! The Gamma distribution, the usual prior of a precision.

use std::f64::consts::PI;

use super::{Arg, Elem, Family, PrecisionPrior, Support, draw, one_of};
use crate::math::special;

/// Gamma(y | shape, rate).
pub static GAMMA: Family = Family {
    name: "Gamma",
    summary: "prior of a precision: shape and rate (or scale); Gamma(0, 0) is the improper log-uniform",
    formula: "p(y) = rate^shape / Γ(shape) y^(shape − 1) exp(−rate y), rate = 1 / scale; Gamma(0, 0): p(y) ∝ 1 / y",
    source: "Bishop (2006), Pattern Recognition and Machine Learning, (2.146)",
    example: "data t: real[N]\ntau ~ Gamma(shape = 2, rate = 0.5)\nt ~ Normal(0, precision = tau)\n",
    support: Support::Elem(Elem::Positive),
    log_concave: false,
    args: &[
        Arg::required("shape", Elem::NonNegative, "shape; the mean is shape / rate").positional(),
        Arg::one_of("rate", "rate", Elem::NonNegative, "inverse scale").positional(),
        Arg::one_of("rate", "scale", Elem::Positive, "scale; 1 / rate"),
    ],
    gaussian: None,
    precision_prior: Some(PrecisionPrior { shape: "shape", rates: &[("rate", 1.0), ("scale", -1.0)] }),
    score: None,
    mixture: None,
    bound: None,
    marginal: None,
    sample,
    log_density,
};

fn sample(args: &[f64], uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    let (shape, rate) = parameters(args)?;
    if shape == 0.0 || rate == 0.0 {
        return None;
    }
    let draw = (draw::ln_gamma_draw(shape, uniform)? - rate.ln()).exp();
    // a tiny shape draws values that no double holds
    Some(draw.clamp(f64::MIN_POSITIVE, f64::MAX))
}

/// An improper one (shape or rate 0) is given without its infinite constant.
fn log_density(value: f64, args: &[f64]) -> f64 {
    let Some((shape, rate)) = parameters(args) else { return f64::NAN };
    if value.is_nan() {
        return f64::NAN;
    }
    if value <= 0.0 || value == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    if shape == 0.0 || rate == 0.0 {
        return (shape - 1.0) * value.ln() - rate * value;
    }
    if shape < 15.0 {
        // shape ln(rate y) − rate y − ln Γ(shape) − ln y
        shape * (rate.ln() + value.ln()) - rate * value - special::ln_gamma(shape) - value.ln()
    } else {
        // the same by Loader's saddle point, without cancellation
        0.5 * (shape / (2.0 * PI)).ln()
            - special::stirling_rest(shape)
            - special::deviance(shape, rate * value)
            - value.ln()
    }
}

/// Shape and rate.
fn parameters(args: &[f64]) -> Option<(f64, f64)> {
    let &[shape, rate, scale] = args else { return None };
    let rate = match one_of(&[rate, scale])? {
        (0, rate) => rate,
        (_, scale) if scale > 0.0 => 1.0 / scale,
        _ => return None,
    };
    let proper = |x: f64| x >= 0.0 && x.is_finite();
    (proper(shape) && proper(rate)).then_some((shape, rate))
}
