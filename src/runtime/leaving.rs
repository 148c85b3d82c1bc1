//! Which weights leave: those that fail the exact test, and those that earn less than they should, one after the
//! other, each judged without those before it (mathematics §1).

use nalgebra::{DMatrix, DVector};

use super::core::Core;
use super::factors::{best_contribution, contribution};

/// So many weights that earn too little are worth deleting before precisions have settled.
const MANY: usize = 16;
/// One that earns less than this part of what it should is worth deleting before precisions have settled.
const SURELY: f64 = 0.5;
/// Squared correlation of two weights from which on one can do the work of the other.
const LINKED: f64 = 1e-2;

/// What a weight has to earn.
#[derive(Clone, Copy)]
pub(crate) struct TooLittle {
    pub min_gain: f64,
    /// While fewer earn less than that, less than this.
    many: usize,
    surely: f64,
}

impl TooLittle {
    /// Where precisions have not quite settled.
    pub fn near(min_gain: f64) -> TooLittle {
        TooLittle { min_gain, many: MANY, surely: SURELY * min_gain }
    }

    /// Where they have.
    pub fn settled(min_gain: f64) -> TooLittle {
        TooLittle { min_gain, many: 0, surely: min_gain }
    }
}

/// The weights with a precision of their own, as they leave one after the other at held precisions: without weight i,
/// Σ̃ −= Σ̃_·i Σ̃_i·/Σ̃_ii, m̃ −= m̃_i Σ̃_·i/Σ̃_ii.
pub(crate) struct Leaving<'a> {
    active: &'a [usize],
    /// Those that have left.
    pub gone: Vec<usize>,
    /// Places of those that are left.
    inside: Vec<usize>,
    gamma: Vec<f64>,
    mean: DVector<f64>,
    sigma: DMatrix<f64>,
}

impl Leaving<'_> {
    /// The active weights with γ, m̃ and Σ̃, in units of their priors.
    pub fn new<'a>(
        core: &Core,
        active: &'a [usize],
        gamma: &[f64],
        mean: &[f64],
        sigma: DMatrix<f64>,
    ) -> Leaving<'a> {
        Leaving {
            active,
            gone: Vec::new(),
            inside: (0..active.len()).filter(|&at| core.weights[active[at]].own.is_some()).collect(),
            gamma: gamma.to_vec(),
            mean: DVector::from_column_slice(mean),
            sigma,
        }
    }

    /// Removes those with q² ≤ s, the worst first.
    pub fn violators(&mut self) {
        let worst = |left: &Leaving| {
            let factors = left.inside.iter().map(|&at| (left.factors(at), at));
            let judged = factors.filter(|((s, q), _)| q * q <= *s);
            judged.map(|((s, q), at)| (contribution(s, q, 0.0), at)).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        while let Some((_, at)) = worst(self) {
            self.remove(at);
        }
    }

    /// Removes those that earn too little, the least first: while there are many an eighth of them.
    pub fn unearning(&mut self, TooLittle { min_gain, many, surely }: TooLittle) {
        let below = |left: &Leaving, least: f64| {
            let earn = left.inside.iter().map(|&at| (left.earns(at), at));
            earn.filter(|(earns, _)| *earns < least).collect::<Vec<_>>()
        };
        let count = if min_gain > 0.0 { below(self, min_gain).len() } else { 0 };
        let (most, least) = if count < many { (count, surely) } else { ((count / 8).max(1), min_gain) };
        for _ in 0..most.min(count) {
            match below(self, least).into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((_, at)) => self.remove(at),
                None => return,
            }
        }
    }

    /// s and q of the weight at this place, in units of its prior: s = γ/Σ̃_ii, q = m̃/Σ̃_ii.
    fn factors(&self, at: usize) -> (f64, f64) {
        let rest = self.sigma[(at, at)];
        (self.gamma[at] / rest, self.mean[at] / rest)
    }

    /// What the weight at this place earns at its best precision, less what one of the others gains by a new precision
    /// when it is gone: of two neighbours each does half of the work of one.
    fn earns(&self, at: usize) -> f64 {
        let (s, q) = self.factors(at);
        let rest = self.sigma[(at, at)];
        let column = self.sigma.column(at);
        let linked = |j: &usize| *j != at && column[*j] * column[*j] > LINKED * rest * self.sigma[(*j, *j)];
        let gains = self.inside.iter().copied().filter(linked).map(|j| {
            let shared = column[j] * column[j] / rest;
            let variance = self.sigma[(j, j)] - shared;
            let (s, q) = (
                (self.gamma[j] + shared) / variance,
                (self.mean[j] - self.mean[at] * column[j] / rest) / variance,
            );
            best_contribution(s, q) - contribution(s, q, 0.0)
        });
        best_contribution(s, q) - gains.fold(0.0, f64::max)
    }

    fn remove(&mut self, at: usize) {
        self.gone.push(self.active[at]);
        self.inside.retain(|&other| other != at);
        let column = self.sigma.column(at).into_owned();
        let (rest, pull) = (column[at], self.mean[at]);
        self.sigma.ger(-1.0 / rest, &column, &column, 1.0);
        self.mean.axpy(-pull / rest, &column, 1.0);
        for &other in &self.inside {
            self.gamma[other] += column[other] * column[other] / rest;
        }
    }
}
