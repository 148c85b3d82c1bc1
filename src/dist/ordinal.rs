//! Ordered levels: a latent value cut into intervals.

use super::interval::interval_of_width;
use super::logistic_normal::log_mean_sigmoid;
use super::marginal::single;
use super::{Arg, ArgShape, Elem, Family, Latent, Local, Marginal, Outcome, Score, Support, one_of};
use crate::math::quadrature::log_integral_concave;
use crate::math::special::{self, ln_phi, log_1m_exp};

/// Ordinal(y | location, cutpoints, sd).
pub static ORDINAL: Family = Family {
    name: "Ordinal",
    summary: "ordered levels: a latent normal or logistic value cut into intervals",
    formula: "P(y ≤ j) = F((cutpoints[j] − location) / sd), F = Φ (probit) or 1 / (1 + exp(−z)) (logit)",
    source: "McCullagh (1980), Journal of the Royal Statistical Society B 42(2); \
             Chu and Ghahramani (2005), Journal of Machine Learning Research 6",
    example: "use std.priors.ridge\n\ndata x: real[N, D]\ndata y: ordered[N]\nw ~ ridge(D)\n\
              param cut: increasing[levels(y) - 1]\ny ~ Ordinal(probit = x * w, cutpoints = cut)\n",
    support: Support::Ordered,
    log_concave: true,
    args: &[
        Arg::one_of("link", "probit", Elem::Real, "location of a normal latent value"),
        Arg::one_of("link", "logit", Elem::Real, "location of a logistic latent value"),
        Arg::required("cutpoints", Elem::Increasing, "where one level ends and the next begins")
            .shaped(ArgShape::Cutpoints),
        Arg::default("sd", Elem::Positive, 1.0, "scale of the latent value").unit(),
    ],
    gaussian: None,
    precision_prior: None,
    score: Some(Score {
        predictors: &["probit", "logit"],
        local,
        third,
        by_arg,
        latent: Some(Latent { cutpoints: "cutpoints", quantile }),
    }),
    mixture: None,
    bound: None,
    marginal: Some(Marginal { predictors: &["probit", "logit"], outcome: Outcome::Levels(predictive) }),
    sample,
    log_density,
};

fn sample(args: &[f64], uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
    let Parameters { link, location, cutpoints, sd } = parameters(args)?;
    let u = uniform();
    let z = match link {
        Link::Probit => special::normal_quantile(u),
        Link::Logit => u.ln() - (-u).ln_1p(),
    };
    // the level whose interval holds the latent value
    Some(cutpoints.iter().filter(|b| **b < location + sd * z).count() as f64)
}

fn log_density(value: f64, args: &[f64]) -> f64 {
    let Some(Parameters { link, location, cutpoints, sd }) = parameters(args) else { return f64::NAN };
    if value.is_nan() {
        return f64::NAN;
    }
    if value < 0.0 || value.fract() != 0.0 || value > cutpoints.len() as f64 {
        return f64::NEG_INFINITY;
    }
    let Ends { z1, z2, width } = ends(value as usize, location, cutpoints, sd);
    match link {
        Link::Probit => interval_of_width(z2, z1, width).log_prob,
        // ln s(z1) + ln(1 − s(z2)) + ln(1 − e^{−(z1 − z2)})
        Link::Logit => special::log_sigmoid(z1) + special::log_sigmoid(-z2) + special::log_1m_exp(-width),
    }
}

/// The interval of a level, in units of sd.
struct Ends {
    /// (b_y − f)/sd, above
    z1: f64,
    /// (b_{y−1} − f)/sd, below
    z2: f64,
    /// z1 − z2, where cutpoints may lie too close for the difference of the two
    width: f64,
}

fn ends(level: usize, location: f64, cutpoints: &[f64], sd: f64) -> Ends {
    let (above, below) = (cutpoints.get(level), level.checked_sub(1).and_then(|j| cutpoints.get(j)));
    Ends {
        z1: above.map_or(f64::INFINITY, |b| (b - location) / sd),
        z2: below.map_or(f64::NEG_INFINITY, |b| (b - location) / sd),
        width: above.zip(below).map_or(f64::INFINITY, |(b1, b2)| (b1 - b2) / sd),
    }
}

/// The distribution of the latent value.
#[derive(Clone, Copy, PartialEq)]
enum Link {
    Probit,
    Logit,
}

struct Parameters<'a> {
    link: Link,
    location: f64,
    cutpoints: &'a [f64],
    sd: f64,
}

fn parameters(args: &[f64]) -> Option<Parameters<'_>> {
    let &[probit, logit, ref cutpoints @ .., sd] = args else { return None };
    let (link, location) = match one_of(&[probit, logit])? {
        (0, location) => (Link::Probit, location),
        (_, location) => (Link::Logit, location),
    };
    let ascending = cutpoints.iter().all(|b| b.is_finite()) && cutpoints.windows(2).all(|b| b[0] < b[1]);
    let proper = location.is_finite() && ascending && sd > 0.0 && sd.is_finite();
    proper.then_some(Parameters { link, location, cutpoints, sd })
}

/// σ(z) and σ(z) σ(−z) at both ends.
fn logistic(ends: &Ends) -> [f64; 4] {
    let of = |z: f64| (special::sigmoid(z), special::sigmoid(z) * special::sigmoid(-z));
    let ((s1, g1), (s2, g2)) = (of(ends.z1), of(ends.z2));
    [s1, g1, s2, g2]
}

/// Probit, z a standard normal cut to (z2, z1): δ = E z / sd, h = (1 − Var z)/sd².
/// Logit: δ = (s1 + s2 − 1)/sd, h = (g1 + g2)/sd².
fn local(value: f64, args: &[f64], out: &mut Local) {
    let Some(Parameters { link, location, cutpoints, sd }) = parameters(args) else {
        return out.set(f64::NAN, f64::NAN, f64::NAN);
    };
    let ends = ends(value as usize, location, cutpoints, sd);
    let (log_density, score, curvature) = match link {
        Link::Probit => {
            let cut = interval_of_width(ends.z2, ends.z1, ends.width);
            (cut.log_prob, cut.mean, cut.curvature)
        }
        Link::Logit => {
            let [s1, g1, s2, g2] = logistic(&ends);
            (log_density(value, args), s1 + s2 - 1.0, g1 + g2)
        }
    };
    out.set(log_density, score / sd, curvature / (sd * sd));
}

/// dh/df: probit −E(z − E z)³/sd³; logit −[g1 (1 − 2 s1) + g2 (1 − 2 s2)]/sd³.
fn third(value: f64, args: &[f64], variance: &[f64], out: &mut [f64]) {
    let Some(Parameters { link, location, cutpoints, sd }) = parameters(args) else {
        out[0] = f64::NAN;
        return;
    };
    let ends = ends(value as usize, location, cutpoints, sd);
    let change = match link {
        Link::Probit => interval_of_width(ends.z2, ends.z1, ends.width).third,
        Link::Logit => {
            let [s1, g1, s2, g2] = logistic(&ends);
            g1 * (1.0 - 2.0 * s1) + g2 * (1.0 - 2.0 * s2)
        }
    };
    out[0] = -variance[0] * change / sd.powi(3);
}

/// By a cutpoint (its place after the two links) or by sd (the last place); dz1 = p, dz2 = q.
fn by_arg(value: f64, args: &[f64], place: usize, out: &mut Local) {
    let Some(Parameters { link, location, cutpoints, sd }) = parameters(args) else {
        return out.set(f64::NAN, f64::NAN, f64::NAN);
    };
    let level = value as usize;
    let ends = ends(level, location, cutpoints, sd);
    let by_sd = place + 1 == args.len();
    let touches = |j: usize| place == 2 + j;
    if !by_sd && !touches(level) && !level.checked_sub(1).is_some_and(touches) {
        return out.set(0.0, 0.0, 0.0);
    }
    let finite = |z: f64| if z.is_finite() { z } else { 0.0 };
    let (p, q) = if by_sd {
        (-finite(ends.z1) / sd, -finite(ends.z2) / sd)
    } else {
        let moves = |j: usize| if place == 2 + j { 1.0 / sd } else { 0.0 };
        (moves(level), level.checked_sub(1).map_or(0.0, moves))
    };
    let (mut dl, mut score, mut curvature) = (0.0, 0.0, 0.0);
    let (old_score, old_curvature);
    match link {
        Link::Probit => {
            let cut = interval_of_width(ends.z2, ends.z1, ends.width);
            let density =
                |z: f64| if z.is_finite() { (special::ln_phi(z) - cut.log_prob).exp() } else { 0.0 };
            let (u, v, r) = (density(ends.z1), density(ends.z2), -cut.mean);
            let (z1, z2) = (finite(ends.z1), finite(ends.z2));
            // e = u p − v q; du = u(−z1 p − e); dv = v(−z2 q − e)
            let e = u * p - v * q;
            let (du, dv) = (u * (-z1 * p - e), v * (-z2 * q - e));
            dl += e;
            score -= (du - dv) / sd;
            curvature += (2.0 * r * (du - dv) + p * u + z1 * du - q * v - z2 * dv) / (sd * sd);
            (old_score, old_curvature) = (-r / sd, cut.curvature / (sd * sd));
        }
        Link::Logit => {
            let [s1, g1, s2, g2] = logistic(&ends);
            // d ln(1 − e^{−w})/dw = 1/(e^w − 1)
            let narrow = 1.0 / ends.width.exp_m1();
            dl += p * (special::sigmoid(-ends.z1) + narrow) - q * (s2 + narrow);
            score += (g1 * p + g2 * q) / sd;
            curvature += (g1 * (1.0 - 2.0 * s1) * p + g2 * (1.0 - 2.0 * s2) * q) / (sd * sd);
            (old_score, old_curvature) = ((s1 + s2 - 1.0) / sd, (g1 + g2) / (sd * sd));
        }
    }
    if by_sd {
        score -= old_score / sd;
        curvature -= 2.0 * old_curvature / sd;
    }
    out.set(dl, score, curvature);
}

/// ln P of each level, the location averaged over N(location, v).
fn predictive(args: &[f64], variance: &[f64]) -> Vec<f64> {
    let v = single(variance);
    let Some(Parameters { link, location, cutpoints, sd }) = parameters(args) else {
        return vec![f64::NAN; args.len().saturating_sub(2)];
    };
    let levels = 0..=cutpoints.len();
    if v == 0.0 {
        return levels.map(|y| log_density(y as f64, args)).collect();
    }
    match link {
        // the latent value is N(location, sd² + v)
        Link::Probit => {
            let mut args = args.to_vec();
            if let Some(last) = args.last_mut() {
                *last = sd.hypot(v.sqrt());
            }
            levels.map(|y| log_density(y as f64, &args)).collect()
        }
        Link::Logit => levels.map(|y| log_mean_logistic(y, location, v, cutpoints, sd, args)).collect(),
    }
}

/// ln P of a level under a logistic latent value whose location is N(location, v).
fn log_mean_logistic(level: usize, location: f64, v: f64, cutpoints: &[f64], sd: f64, args: &[f64]) -> f64 {
    // P(y ≤ j) = E σ((b_j − f)/s), and P(y > j) = E σ((f − b_j)/s)
    let below = |b: f64| log_mean_sigmoid((b - location) / sd, v / (sd * sd));
    let above = |b: f64| log_mean_sigmoid((location - b) / sd, v / (sd * sd));
    let (lower, upper) = (level.checked_sub(1).and_then(|j| cutpoints.get(j)), cutpoints.get(level));
    match (lower, upper) {
        (None, None) => 0.0,
        (None, Some(b)) => below(*b),
        (Some(b), None) => above(*b),
        (Some(lower), Some(upper)) => {
            // the difference of the smaller tails, unless it cancels
            let middle = 0.5 * (lower + upper);
            let (large, small) = match middle < location {
                true => (below(*upper), below(*lower)),
                false => (above(*lower), above(*upper)),
            };
            if small - large < -0.1 {
                return large + log_1m_exp(small - large);
            }
            // ∫ P(y | f) N(f | location, v) df: the logarithm of the integrand is concave
            let deviation = v.sqrt();
            let at = |f: f64| {
                let mut args = args.to_vec();
                args.iter_mut().take(2).filter(|x| !x.is_nan()).for_each(|x| *x = f);
                log_density(level as f64, &args) + ln_phi((f - location) / deviation)
            };
            let width = (5.0 * deviation).min(4.0 * sd);
            log_integral_concave((location, middle), &|_| width, &at) - deviation.ln()
        }
    }
}

/// Φ⁻¹ or the logit of a share.
fn quantile(predictor: &str, below: f64) -> f64 {
    match predictor {
        "logit" => below.ln() - (-below).ln_1p(),
        _ => special::normal_quantile(below),
    }
}
