//! The bound: every term, all constants included (mathematics §6–§8).
//!
//! ⟨ln p(t, w, θ, λ)⟩ − ⟨ln q⟩. The signs of Bishop and Tipping (2000), (41), (45) and (46), are corrected.

use super::core::{Core, Local};
use super::state::{RowFactor, State};
use crate::math::special::ln_gamma;

/// The terms of the bound, in nats.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Terms {
    /// ⟨ln p(t | w, θ, λ)⟩, or its own lower bound.
    pub likelihood: f64,
    /// ⟨ln p(λ)⟩
    pub rows: f64,
    /// ⟨ln p(w | θ)⟩
    pub weights: f64,
    /// ⟨ln p(θ)⟩ of hyperparameters that scale weights, or are priors of others.
    pub hypers: f64,
    /// The same of those that scale rows.
    pub noise: f64,
    /// Entropy of q(w).
    pub entropy_weights: f64,
    /// Entropy of the factors behind `hypers`.
    pub entropy_hypers: f64,
    /// Entropy of the factors behind `noise`.
    pub entropy_noise: f64,
    /// Entropy of the factors behind `rows`.
    pub entropy_rows: f64,
}

impl Terms {
    /// The bound.
    pub fn sum(&self) -> f64 {
        self.all().iter().sum()
    }

    /// The size of what is added up, for tolerances of rounding.
    pub fn size(&self) -> f64 {
        self.all().iter().map(|t| t.abs()).sum()
    }

    fn all(&self) -> [f64; 9] {
        [
            self.likelihood,
            self.rows,
            self.weights,
            self.hypers,
            self.noise,
            self.entropy_weights,
            self.entropy_hypers,
            self.entropy_noise,
            self.entropy_rows,
        ]
    }
}

/// The terms at a state.
pub(crate) fn terms(core: &Core, state: &State) -> Terms {
    let ln_2pi = std::f64::consts::TAU.ln();
    let f = state.f();
    let mut terms = Terms::default();
    for (c, class) in core.classes.iter().enumerate() {
        match (&state.rows[c], &class.local) {
            (RowFactor::Contact(_, bound), Local::Bound(_, _, offset)) => {
                let mean = offset + f[class.rows.start];
                terms.likelihood += class.count * bound.expected(mean, state.spread(c));
            }
            (RowFactor::Scale(lambda), Local::Scale(half)) => {
                let ln = state.expected_ln(&class.noise) + lambda.mean_ln();
                let square = state.squares(core, c, &f) + state.spread(c);
                let precision = state.expected(&class.noise) * lambda.mean();
                terms.likelihood += class.count * 0.5 * (ln - ln_2pi - precision * square);
                // ν/2 ln ν/2 − ln Γ(ν/2) + (ν/2 − 1)⟨ln λ⟩ − ν/2 ⟨λ⟩
                terms.rows += class.count
                    * (half * half.ln() - ln_gamma(*half) + (half - 1.0) * lambda.mean_ln()
                        - half * lambda.mean());
                terms.entropy_rows += class.count * lambda.entropy();
            }
            _ => {
                let ln = class.count * (state.expected_ln(&class.noise) - ln_2pi) + class.ln_folded;
                let square = state.squares(core, c, &f) + state.spread(c);
                terms.likelihood += 0.5 * (ln - state.expected(&class.noise) * square);
            }
        }
    }
    for (i, prior) in core.weights.iter().enumerate() {
        if let (true, Some(product)) = (state.active[i], prior) {
            let square = state.mean[i].powi(2) + state.variance[i];
            terms.weights += 0.5 * (state.expected_ln(product) - state.expected(product) * square - ln_2pi);
        }
    }
    for group in &state.groups {
        let k = (group.penalised.len() + group.flat.len()) as f64;
        terms.entropy_weights += 0.5 * (k * (1.0 + ln_2pi) + group.q.as_ref().map_or(0.0, |q| q.ln_det));
    }
    for (h, hyper) in core.hypers.iter().enumerate() {
        // a point stands in the bound as a given value
        if hyper.point {
            continue;
        }
        let factor = &state.hypers[h];
        // a ln b − ln Γ(a) + (a − 1)⟨ln θ⟩ − ⟨b⟩⟨θ⟩; the constant of an improper prior is left out
        let mut prior = (hyper.shape - 1.0) * factor.mean_ln() - state.expected(&hyper.rate) * factor.mean();
        if hyper.proper {
            prior += hyper.shape * state.expected_ln(&hyper.rate) - ln_gamma(hyper.shape);
        }
        match hyper.classes.is_empty() {
            true => {
                terms.hypers += prior;
                terms.entropy_hypers += factor.entropy();
            }
            false => {
                terms.noise += prior;
                terms.entropy_noise += factor.entropy();
            }
        }
    }
    terms
}
