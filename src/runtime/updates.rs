//! One cycle of fixed-point updates of all free hyperparameters (mathematics §1, §2), general in the
//! powers: a hyperparameter of power ±1, ±2 … in several precisions, with or without a Gamma prior.

use std::collections::BTreeMap;

use super::control::Point;
use super::core::{Core, Role};
use super::posterior::Posterior;
use crate::plan::ir::Updates;

/// Updates before they gather speed: which of two neighbours stays is decided among the first ones.
const PLAIN: usize = 20;
/// What is left of a move in the next one.
const SHARE: f64 = 0.7;

/// A precision that changes by less than this an update is left to Newton's method.
const GROWTH: f64 = 0.05;
/// The rest has settled when its logarithms change by less than this.
const SETTLED: f64 = 1e-3;
/// Hardly determined: can be pruned at any time if q² ≤ s.
const NOTHING: f64 = 1e-9;
/// Little determined: can be pruned if q² ≤ s once the rest has settled.
const LITTLE: f64 = 1e-3;
/// Updates before anything is pruned.
pub(crate) const WARM_UP: usize = 6;

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
    rule: Updates,
    moved: Vec<f64>,
    objective: f64,
    updates: usize,
}

impl Momentum {
    /// Of so many hyperparameters, by this rule; only MacKay's gathers.
    pub fn new(count: usize, rule: Updates) -> Momentum {
        Momentum { rule, moved: vec![0.0; count], objective: f64::NEG_INFINITY, updates: 0 }
    }

    /// Moves the hyperparameters of a point, at which the log evidence is `objective`, by these steps; precisions of one
    /// weight by what they have gathered too, at most `limit` each. The largest change asked for of those that nothing prunes.
    pub fn advance(
        &mut self,
        core: &Core,
        point: &mut Point,
        objective: f64,
        steps: &[f64],
        limit: f64,
    ) -> f64 {
        let gathers = self.updates >= PLAIN && self.rule == Updates::MacKay;
        if objective < self.objective {
            self.moved.fill(0.0);
        }
        (self.objective, self.updates) = (objective, self.updates + 1);
        let live = core.live(&point.active);
        let mut largest = 0.0_f64;
        for (h, step) in steps.iter().enumerate().filter(|(h, _)| live[*h]) {
            let hyper = &core.hypers[h];
            let moved = (point.x[h] + step).clamp(hyper.lower, hyper.upper) - point.x[h];
            let is_own = matches!(hyper.role, Role::Own(_));
            let is_block = matches!(hyper.role, Role::Block(_));
            let further = if is_own && gathers { self.gathered(h, moved, limit) } else { moved };
            point.x[h] = (point.x[h] + further).clamp(hyper.lower, hyper.upper);
            if !is_own && !is_block {
                largest = largest.max(moved.abs());
            }
        }
        largest
    }

    /// A step with what is left of the last one, if it goes the same way.
    fn gathered(&mut self, h: usize, step: f64, limit: f64) -> f64 {
        let left = if step * self.moved[h] > 0.0 { SHARE * self.moved[h] } else { 0.0 };
        self.moved[h] = (step + left).clamp(-limit, limit);
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

/// How far the updates of all weights at once have come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    Moves,
    /// Weights have just been pruned.
    Pruned,
    /// Noise and the precisions of weights that stay have settled; those of weights that fail the exact test may still grow.
    Kept,
    /// All have settled.
    Settled,
}

/// Prunes what is hardly determined and fails the exact test, q² ≤ s, after the update number `cycle`, which asked for these
/// steps of each hyperparameter, and of those that nothing prunes for `rest` at most.
pub(crate) fn progress(
    core: &Core,
    active: &mut Vec<usize>,
    Summary { gamma, mean, .. }: &Summary,
    steps: &[f64],
    rest: f64,
    cycle: usize,
) -> Progress {
    // q² ≤ s is m² ≤ γ Σ_ii
    let leaves = |at: usize| mean[at] * mean[at] <= gamma[at] * (1.0 - gamma[at]);
    let threshold = if rest < SETTLED { LITTLE } else { NOTHING };
    let (mut at, mut all, mut kept, before) = (0, 0.0_f64, 0.0_f64, active.len());
    let mut gone = Vec::new();
    for (h, leaves, gamma) in blocks(core, active, gamma, mean) {
        all = all.max(steps[h].abs());
        if !leaves {
            kept = kept.max(steps[h].abs());
        } else if cycle >= WARM_UP && gamma <= threshold {
            gone.push(h);
        }
    }
    active.retain(|&i| {
        let here = at;
        at += 1;
        let Some((h, _)) = core.weights[i].own else {
            return !core.weights[i].log.powers.iter().any(|(h, _)| gone.contains(h));
        };
        all = all.max(steps[h].abs());
        if !leaves(here) {
            kept = kept.max(steps[h].abs());
        }
        cycle < WARM_UP || gamma[here] > threshold || !leaves(here)
    });
    if active.len() < before {
        Progress::Pruned
    } else if rest < SETTLED && all < GROWTH {
        Progress::Settled
    } else if rest < SETTLED && kept < GROWTH {
        Progress::Kept
    } else {
        Progress::Moves
    }
}

/// The precisions of several weights, each with whether these fail the test together, Σ q² ≤ Σ s, and Σ γ.
fn blocks(
    core: &Core,
    active: &[usize],
    gamma: &[f64],
    mean: &[f64],
) -> impl Iterator<Item = (usize, bool, f64)> {
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (at, &i) in active.iter().enumerate() {
        for &(h, _) in &core.weights[i].log.powers {
            if let Role::Block(_) = core.hypers[h].role {
                let sum = sums.entry(h).or_default();
                sum.0 += mean[at] * mean[at] - gamma[at] * (1.0 - gamma[at]);
                sum.1 += gamma[at];
            }
        }
    }
    sums.into_iter().map(|(h, (excess, gamma))| (h, excess <= 0.0, gamma))
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

/// The same on its own, where no posterior is kept.
pub(crate) struct Summary {
    pub gamma: Vec<f64>,
    pub variance: Vec<f64>,
    pub mean: Vec<f64>,
    pub leverage: Vec<f64>,
    pub rss: Vec<f64>,
    pub log_evidence: f64,
    pub jitter: f64,
}

impl Summary {
    /// Of these weights.
    pub fn moments<'a>(&'a self, active: &'a [usize]) -> Moments<'a> {
        let Summary { gamma, variance, mean, leverage, rss, .. } = self;
        Moments { active, gamma, variance, mean, leverage, rss }
    }
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
