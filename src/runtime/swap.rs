//! Putting one function in the place of another, where no single move has gain: of two neighbours of a smooth kernel
//! the better one.

use nalgebra::DMatrix;

use super::control::Point;
use super::core::Core;
use super::factors::{Factors, IN_SPAN, best_contribution, contribution};

/// Gain that makes a swap worth while.
const WORTH: f64 = 0.01;

/// The function that leaves, and the one that enters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Swap {
    pub out: usize,
    pub into: usize,
    /// Log precision of the one that enters.
    pub ln_precision: f64,
    /// Gain of both moves together, all else held.
    pub gain: f64,
}

/// The Gaussian of the weights in the model, in units of their priors.
pub(crate) struct Inside<'a> {
    /// Weights, in the order of what follows, k.
    pub active: &'a [usize],
    pub variance: Vec<f64>,
    pub mean: &'a [f64],
    /// P = Σ̃ Φ̃ᵀ H φ_j of every column, k × m.
    pub pull: &'a DMatrix<f64>,
}

/// The swap of largest gain, if it is worth while, among those that `may_enter` allows. Without function i,
/// s_j = S_j + p_ij²/Σ̃_ii and q_j = Q_j + p_ij m̃_i/Σ̃_ii.
pub(crate) fn best_swap(
    core: &Core,
    x: &[f64],
    inside: &Inside<'_>,
    f: &Factors,
    may_enter: impl Fn(usize) -> bool,
) -> Option<Swap> {
    let has_own = |i: usize| core.weights[i].own.is_some();
    let leaving: Vec<(usize, f64)> = (inside.active.iter().enumerate().filter(|(_, i)| has_own(**i)))
        .map(|(at, &i)| (at, contribution(f.s[i], f.q[i], core.weights[i].log.at(x))))
        .collect();
    let may_enter = |j: &usize| {
        core.usable[*j] && has_own(*j) && inside.active.binary_search(j).is_err() && may_enter(*j)
    };
    let mut best: Option<Swap> = None;
    for j in (0..core.weights.len()).filter(may_enter) {
        for &(at, loses) in &leaving {
            let (p, v) = (inside.pull[(at, j)], inside.variance[at]);
            let (s, q) = (f.big_s[j] + p * p / v, f.big_q[j] + p * inside.mean[at] / v);
            let gain = best_contribution(s, q) - loses;
            if s > IN_SPAN * f.norm[j] && gain > best.map_or(WORTH, |b| b.gain) {
                let ln_precision = 2.0 * s.ln() - (q * q - s).ln();
                best = Some(Swap { out: inside.active[at], into: j, ln_precision, gain });
            }
        }
    }
    best.filter(|b| b.ln_precision.is_finite())
}

/// Makes it.
pub(crate) fn swap(core: &Core, point: &mut Point, swap: Swap) {
    point.active.retain(|i| *i != swap.out);
    let at = point.active.partition_point(|i| *i < swap.into);
    point.active.insert(at, swap.into);
    core.set_own(&mut point.x, swap.into, swap.ln_precision);
}
