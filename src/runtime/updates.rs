//! One cycle of fixed-point updates of all free hyperparameters (mathematics §1, §2), general in the
//! powers: a hyperparameter of power ±1, ±2 … in several precisions, with or without a Gamma prior.

use super::core::Core;
use super::posterior::Posterior;
use crate::plan::ir::Updates;

/// Updates before they gather speed: which of two neighbours stays is decided among the first ones.
pub(crate) const FREE: usize = 20;
/// What is left of a move in the next one.
const SHARE: f64 = 0.7;

/// An update: θ is multiplied by `ratio ^ exponent`. The ratio can be negative (MAP with a shape below
/// that of a flat hyperprior): no usable update then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Proposal {
    pub ratio: f64,
    pub exponent: f64,
}

impl Proposal {
    /// The change of ln θ, at most `limit` either way.
    pub fn step(&self, limit: f64) -> f64 {
        match self.ratio > 0.0 {
            true => (self.ratio.ln() * self.exponent).clamp(-limit, limit),
            false => -limit,
        }
    }
}

/// Updates gather speed where they keep their direction (Polyak 1964), as those of irrelevant and of hardly relevant weights
/// do for long; all of it is lost when the evidence falls.
pub(crate) struct Momentum {
    moved: Vec<f64>,
    objective: f64,
}

impl Momentum {
    /// Of so many hyperparameters.
    pub fn new(count: usize) -> Momentum {
        Momentum { moved: vec![0.0; count], objective: f64::NEG_INFINITY }
    }

    /// An update begins, at this evidence.
    pub fn begin(&mut self, objective: f64) {
        if objective < self.objective {
            self.moved.fill(0.0);
        }
        self.objective = objective;
    }

    /// The move of a hyperparameter for which the update is this step, at most `limit` either way.
    pub fn of(&mut self, h: usize, step: f64, limit: f64) -> f64 {
        let gathered = if step * self.moved[h] > 0.0 { SHARE * self.moved[h] } else { 0.0 };
        self.moved[h] = (step + gathered).clamp(-limit, limit);
        self.moved[h]
    }
}

/// The updates of all hyperparameters, from one state.
///
/// For a single precision, MacKay: θ ← (Σ(n − T) + 2a)/(Σ q/θ + 2b); EM: n for n − T and q + T for q.
pub(crate) fn proposals(core: &Core, x: &[f64], p: &Posterior, rule: Updates) -> Vec<Proposal> {
    let moments = Moments {
        active: &p.active,
        gamma: &p.gamma,
        variance: &p.variance,
        mean: p.mean.as_slice(),
        leverage: &p.leverage,
        rss: &p.rss,
    };
    propose(core, x, &moments, rule)
}

/// What updates need of a posterior, in tilde units: k weights, and the classes of rows.
pub(crate) struct Moments<'a> {
    pub active: &'a [usize],
    pub gamma: &'a [f64],
    pub variance: &'a [f64],
    pub mean: &'a [f64],
    pub leverage: &'a [f64],
    pub rss: &'a [f64],
}

/// See [`proposals`].
pub(crate) fn propose(core: &Core, x: &[f64], p: &Moments<'_>, rule: Updates) -> Vec<Proposal> {
    let count = core.hypers.len();
    let (mut up, mut down, mut largest) = (vec![0.0; count], vec![0.0; count], vec![0.0_f64; count]);
    let mut add = |powers: &[(usize, f64)], n: f64, (rest, t): (f64, f64), q: f64| {
        let (more, less) = match rule {
            Updates::MacKay => (rest, q),
            Updates::Em => (n, q + t),
        };
        for &(h, power) in powers {
            largest[h] = largest[h].max(power.abs());
            if power > 0.0 {
                up[h] += power * more;
                down[h] += power * less;
            } else {
                up[h] -= power * less;
                down[h] -= power * more;
            }
        }
    };
    for (c, class) in core.classes.iter().enumerate() {
        add(&class.log.powers, class.count, (class.count - p.leverage[c], p.leverage[c]), p.rss[c]);
    }
    for (at, &i) in p.active.iter().enumerate() {
        add(&core.weights[i].log.powers, 1.0, (p.gamma[at], p.variance[at]), p.mean[at] * p.mean[at]);
    }
    (0..count)
        .map(|h| {
            let hyper = &core.hypers[h];
            if !hyper.is_free() || largest[h] == 0.0 {
                return Proposal { ratio: 1.0, exponent: 1.0 };
            }
            let numerator = up[h] + 2.0 * hyper.shape;
            let denominator = down[h] + 2.0 * hyper.rate * x[h].exp();
            let ratio = numerator / denominator.max(1e-300);
            Proposal { ratio, exponent: 1.0 / (largest[h] * hyper.share) }
        })
        .collect()
}
