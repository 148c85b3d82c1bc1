//! Start values, equivariant under changes of units (mathematics §1), and bounds.

use super::core::{Core, Role};
use super::prepare::NOISE_CAP;

/// How a start differs from the usual one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Start {
    /// Noise precision times variance of the targets.
    pub noise: f64,
    /// Factor on the prior precisions.
    pub prior: f64,
    /// Seed of random factors on each precision; 0 for none.
    pub seed: u64,
}

impl Default for Start {
    fn default() -> Self {
        Start { noise: 10.0, prior: 1.0, seed: 0 }
    }
}

/// Start of x: noise precisions at `noise / var t`, prior precisions at M |φ_i|²/|t|² in units of the
/// noise; hyperparameters of several precisions at the mean of what each would ask for.
pub(crate) fn start(core: &Core, start: Start) -> Vec<f64> {
    let class_targets: Vec<f64> = core.classes.iter().map(|c| (start.noise / c.variance).ln()).collect();
    let free: Vec<usize> =
        (0..core.weights.len()).filter(|&i| !core.weights[i].log.powers.is_empty()).collect();
    let mut squares = vec![0.0; core.weights.len()];
    let mut target = 0.0;
    let mut observations = 0.0;
    for (class, eta) in core.classes.iter().zip(&class_targets) {
        let h = if class.log.powers.is_empty() { class.log.known.exp() } else { eta.exp() };
        let (first, n) = (class.rows.start, class.rows.len());
        for &i in &free {
            squares[i] += h * core.phi.column(i).rows(first, n).norm_squared();
        }
        target += h * core.t.rows(first, n).norm_squared();
        observations += class.count;
    }
    if target <= 0.0 {
        target = start.noise * observations.max(1.0);
    }
    let count = free.len().max(1) as f64;
    let weight_targets: Vec<f64> = squares.iter().map(|s| (start.prior * count * s / target).ln()).collect();
    from_targets(core, &class_targets, &weight_targets, start.seed)
}

/// Hyperparameters from what each class of rows and each weight would ask of its log precision.
pub(crate) fn from_targets(
    core: &Core,
    class_targets: &[f64],
    weight_targets: &[f64],
    seed: u64,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); core.hypers.len()];
    let mut known: Vec<Option<f64>> = vec![None; core.hypers.len()];
    let logs = core.classes.iter().map(|c| &c.log).zip(class_targets);
    let logs: Vec<_> = logs.chain(core.weights.iter().map(|w| &w.log).zip(weight_targets)).collect();
    // in the order of rows, then weights: a hyperparameter is settled by the first kind it scales
    for settled in [core.classes.len(), logs.len()] {
        for (log, target) in logs[..settled].iter().filter(|(_, target)| target.is_finite()) {
            let open = log.powers.iter().filter(|&&(h, _)| known[h].is_none()).count() as f64;
            let mut rest = **target - log.known;
            for &(h, power) in &log.powers {
                rest -= known[h].map_or(0.0, |x| power * x);
            }
            for &(h, power) in log.powers.iter().filter(|&&(h, _)| known[h].is_none()) {
                sums[h].0 += rest / (open * power);
                sums[h].1 += 1.0;
            }
        }
        for (h, sum) in sums.iter().enumerate() {
            if known[h].is_none() && sum.1 > 0.0 {
                known[h] = Some(sum.0 / sum.1);
            }
        }
    }
    let mut random = seed;
    (0..core.hypers.len())
        .map(|h| {
            let hyper = &core.hypers[h];
            let mut x = match known[h] {
                Some(x) => x,
                // scales nothing: the mode of its prior
                None if hyper.rate > 0.0 && hyper.shape > 0.0 => (hyper.shape / hyper.rate).ln(),
                None => 0.0,
            };
            if seed != 0 && matches!(hyper.role, Role::Own(_) | Role::Block(_)) {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                x += 8.0 * ((random >> 33) as f64 / (1u64 << 31) as f64 - 0.5);
            }
            x.clamp(hyper.lower, hyper.upper)
        })
        .collect()
}

/// Sets the bounds: noise precisions stay below their cap, nothing moves further than overflow allows.
pub(crate) fn set_bounds(core: &mut Core) {
    let x = start(core, Start::default());
    set_bounds_around(core, &x);
}

/// The same, around a given start.
pub(crate) fn set_bounds_around(core: &mut Core, x: &[f64]) {
    let far = 250.0;
    for (hyper, x) in core.hypers.iter_mut().zip(x) {
        let reach = if hyper.rate > 0.0 { 500.0 } else { far };
        (hyper.lower, hyper.upper) = (x - reach, x + reach);
    }
    for class in &core.classes {
        let cap = (NOISE_CAP / class.variance).ln();
        let share = class.log.powers.len() as f64;
        for &(h, power) in &class.log.powers {
            // with several hyperparameters in one precision, each takes its share of the way to the cap
            let at = x[h] + (cap - class.log.at(x)) / (share * power);
            let hyper = &mut core.hypers[h];
            if power > 0.0 && at < hyper.upper {
                hyper.upper = at;
                hyper.capped = true;
            } else if power < 0.0 && at > hyper.lower {
                hyper.lower = at;
                hyper.capped = true;
            }
        }
    }
}
