//! Exact derivatives of the Laplace evidence by the design, the offsets, the known parts of precisions
//! and the arguments of the likelihoods, with the motion of the mode (mathematics §4).

use nalgebra::{DMatrix, DVector};

use super::expansion::Expansion;
use super::frame::Frame;
use crate::dist::{ArgShape, Local};
use crate::runtime::adjoint::{Adjoint, Argument};

/// At an expansion. With c = Σ V dh/df and p = Σ Φᵀ c (all in the units of Φ):
/// dZ/dθ = Σ dl − ½ Σ v dh − ½ pᵀ Φᵀ dδ for an argument;
/// dZ/df₀ = δ − ½ c + ½ H Φ p for an offset (its effect on the mode is −Σ Φᵀ H);
/// dZ/dΦ = δ wᵀ − H Φ Σ − ½ c wᵀ − ½ δ pᵀ + ½ (H Φ p) wᵀ.
pub(super) fn adjoint(frame: &Frame, here: &Expansion, x: &[f64]) -> Adjoint {
    let core = &frame.core;
    let (flat, k) = (here.flat, here.d.len());
    let c = here.change(frame, x);
    // tilde units: p̃ = Σ̃ Φ̃ᵀ c
    let pull = &here.sigma * (here.phi.transpose() * &c);
    let score = &here.mode.rows.score;
    // dZ/df at fixed w, with what the motion of the mode adds
    let along = &here.mode.weighted * &pull;
    let offset = score - 0.5 * &c + 0.5 * along;
    let mut tilde = &offset * here.mode.mean.transpose();
    tilde -= &here.mode.weighted * &here.sigma;
    tilde -= 0.5 * score * pull.transpose();

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
        design.set_column(to, &(tilde.column(at) * libm::scalbn(here.d[at], -e)));
    }
    let slopes = here.exact_slopes(frame, x);
    let first = core.classes.len();
    let weight_log =
        order.iter().map(|o| o.2.checked_sub(flat).map_or(0.0, |at| slopes[first + at])).collect();
    let by_unit = arguments(frame, here, x, &pull);
    let mut noise_log = vec![0.0; offset.len()];
    let mut args = Vec::new();
    for (t, (term, by_unit)) in frame.terms.iter().zip(&by_unit).enumerate() {
        let (stride, predictors) = (term.likelihood.stride, term.width());
        if let Some((place, _)) = term.likelihood.precision {
            // d/d ln τ = τ d/dτ
            for n in 0..term.likelihood.len() {
                noise_log[term.row(n)] = by_unit[n * stride + place] * term.noise[n].at(x).exp();
            }
            continue;
        }
        let levels = (stride, term.likelihood.family);
        let mut start = 0;
        for arg in levels.1.args {
            let many = match arg.shape {
                ArgShape::Node => 1,
                // what is left of a stride beside the arguments of one number
                _ => per_level(&term.likelihood, arg.shape),
            };
            let places = start..start + many;
            start = places.end;
            let overlaps =
                places.start < term.likelihood.place + predictors && term.likelihood.place < places.end;
            if overlaps || arg.shape == ArgShape::PerLevel {
                continue;
            }
            let of_unit = |n: usize, k: usize| by_unit[n * stride + places.start + k];
            let bar = match arg.shape {
                ArgShape::Node => (0..term.likelihood.len()).map(|n| of_unit(n, 0)).collect(),
                _ => (0..many).map(|k| (0..term.likelihood.len()).map(|n| of_unit(n, k)).sum()).collect(),
            };
            args.push(Argument {
                term: t,
                name: arg.name.to_owned(),
                of_units: arg.shape == ArgShape::Node,
                bar,
            });
        }
    }
    Adjoint { design, offset: offset.as_slice().to_vec(), noise_log, weight_log, args }
}

/// Numbers of an argument of this shape.
fn per_level(likelihood: &super::problem::Likelihood, shape: ArgShape) -> usize {
    // stride = single + per level · K + cutpoints · (K − 1)
    let count = |s: ArgShape| likelihood.family.args.iter().filter(|a| a.shape == s).count();
    let (single, each, cuts) = (count(ArgShape::Node), count(ArgShape::PerLevel), count(ArgShape::Cutpoints));
    let levels = (likelihood.stride - single + cuts) / (each + cuts).max(1);
    shape.len(levels)
}

/// For each term, dZ/d argument of each unit, n × stride; 0 in the places of predictors.
pub(super) fn arguments(frame: &Frame, here: &Expansion, x: &[f64], pull: &DVector<f64>) -> Vec<Vec<f64>> {
    let phi_sigma = &here.phi * &here.sigma;
    let moved = &here.phi * pull;
    let mut all = Vec::new();
    for term in &frame.terms {
        let likelihood = &term.likelihood;
        let (d, stride) = (term.width(), likelihood.stride);
        let mut out = vec![0.0; likelihood.len() * stride];
        let mut args = vec![0.0; stride];
        let mut by = Local::new(d);
        let predictors = likelihood.place..likelihood.place + d;
        for n in 0..likelihood.len() {
            let count = likelihood.counts[n];
            if count == 0.0 {
                continue;
            }
            term.fill(n, x, &here.mode.f, &mut args);
            for place in (0..stride).filter(|p| !predictors.contains(p) && !args[*p].is_nan()) {
                (term.score.by_arg)(likelihood.values[n], &args, place, &mut by);
                let mut sum = by.log_density;
                for a in 0..d {
                    let r = term.row(n) + a;
                    sum -= 0.5 * moved[r] * by.score[a];
                    for b in 0..d {
                        let v = phi_sigma.row(r).dot(&here.phi.row(term.row(n) + b));
                        sum -= 0.5 * v * by.curvature[a + b * d];
                    }
                }
                out[n * stride + place] = count * sum;
            }
        }
        all.push(out);
    }
    all
}
