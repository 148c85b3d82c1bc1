//! Exact derivatives of the Laplace evidence by the design, the offsets, the known parts of precisions
//! and the arguments of the likelihoods, with the motion of the mode (mathematics §4).

use nalgebra::{DMatrix, DVector};

use super::expansion::Expansion;
use super::frame::Frame;
use crate::dist::Local;
use crate::math::cross::cross_vector;
use crate::math::power::times_two_to;
use crate::math::product::times;
use crate::runtime::adjoint::Adjoint;

/// At an expansion. With c = Σ V dh/df and p = Σ Φᵀ c (all in the units of Φ):
/// dZ/dθ = Σ dl − ½ Σ v dh − ½ pᵀ Φᵀ dδ for an argument;
/// dZ/df₀ = δ − ½ c + ½ H Φ p for an offset (its effect on the mode is −Σ Φᵀ H);
/// dZ/dΦ = δ wᵀ − H Φ Σ − ½ c wᵀ − ½ δ pᵀ + ½ (H Φ p) wᵀ.
pub(super) fn adjoint(frame: &Frame, here: &Expansion, x: &[f64]) -> Adjoint {
    let core = &frame.core;
    let (flat, k) = (here.flat, here.d.len());
    let c = here.change(frame, x);
    // tilde units: p̃ = Σ̃ Φ̃ᵀ c
    let pull = &here.sigma * cross_vector(&here.phi, c);
    let score = &here.mode.rows.score;
    // dZ/df at fixed w, with what the motion of the mode adds
    let along = &here.mode.weighted * &pull;
    let offset = score - 0.5 * c + 0.5 * along;
    let mut tilde = -times(&here.mode.weighted, &here.sigma);
    tilde -= 0.5 * score * pull.transpose();
    // by the columns before they were centred
    tilde = tilde.transpose();
    here.uncentre(frame, &mut tilde);
    tilde = tilde.transpose();
    tilde += &offset * here.original_mean(frame).transpose();

    let mut order: Vec<(usize, i32, usize)> = Vec::new();
    order.extend(core.flat_weights.iter().enumerate().map(|(at, &(index, e))| (index, e, at)));
    order.extend(
        here.active
            .iter()
            .enumerate()
            .map(|(at, &i)| (core.weights[i].index, core.weights[i].exponent, flat + at)),
    );
    order.sort_unstable_by_key(|o| o.0);
    // Φ̃ = Φ 2^−e D
    let mut design = DMatrix::zeros(offset.len(), k);
    for (to, &(_, e, at)) in order.iter().enumerate() {
        design.set_column(to, &(tilde.column(at) * times_two_to(here.d[at], -e)));
    }
    let slopes = here.exact_slopes(frame, x);
    let first = core.classes.len();
    let weight_log =
        order.iter().map(|o| o.2.checked_sub(flat).map_or(0.0, |at| slopes[first + at])).collect();
    let args = arguments(frame, here, x, &pull);
    let mut noise_log = Vec::new();
    for (term, args) in frame.terms.iter().zip(&args) {
        for n in 0..term.likelihood.len() {
            // d/d ln τ = τ d/dτ
            noise_log.push(match term.likelihood.precision {
                Some((place, _)) => args[n * term.likelihood.stride + place] * term.noise[n].at(x).exp(),
                None => 0.0,
            });
        }
    }
    Adjoint { design, offset: offset.as_slice().to_vec(), noise_log, weight_log, args }
}

/// For each term, dZ/d argument of each unit, n × stride; 0 in the places of predictors.
fn arguments(frame: &Frame, here: &Expansion, x: &[f64], pull: &DVector<f64>) -> Vec<Vec<f64>> {
    let moved = &here.phi * pull;
    let mut all = Vec::new();
    for term in &frame.terms {
        let likelihood = &term.likelihood;
        let (d, stride) = (term.width(), likelihood.stride);
        let mut out = vec![0.0; likelihood.len() * stride];
        let mut args = vec![0.0; stride];
        let mut by = Local::new(d);
        let mut v = vec![0.0; d * d];
        let predictors = likelihood.place..likelihood.place + d;
        let precision = likelihood.precision.as_ref().map(|p| p.0);
        let derived = |p: usize| (likelihood.given[p] || precision == Some(p)) && !predictors.contains(&p);
        for n in 0..likelihood.len() {
            let count = likelihood.counts[n];
            if count == 0.0 {
                continue;
            }
            term.fill(n, x, &here.mode.f, &mut args);
            let first = term.row(n);
            for b in 0..d {
                (0..d).for_each(|a| v[a + b * d] = here.covariance(first + a, first + b));
            }
            for place in (0..stride).filter(|p| derived(*p) && !args[*p].is_nan()) {
                (term.score.by_arg)(likelihood.values[n], &args, place, &mut by);
                let mut sum = by.log_density;
                for a in 0..d {
                    sum -= 0.5 * moved[first + a] * by.score[a];
                    for b in 0..d {
                        sum -= 0.5 * v[a + b * d] * by.curvature[a + b * d];
                    }
                }
                out[n * stride + place] = count * sum;
            }
        }
        all.push(out);
    }
    all
}
