//! Start values, equivariant under changes of units (mathematics §1).

use super::core::{Core, Local, variances};
use super::problem::{Problem, Product};

/// How a start differs from the usual one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Start {
    /// Noise precision times variance of the targets.
    pub noise: f64,
    /// Factor on the prior precisions.
    pub prior: f64,
}

impl Start {
    /// The usual one first, from wider priors than the data suggest: what the first cycles shrink, the noise takes.
    pub fn attempt(attempt: usize) -> Start {
        let (noise, prior) = match attempt % 6 {
            0 => (10.0, 1e-1),
            1 => (100.0, 1.0),
            2 => (10.0, 1.0),
            3 => (10.0, 1e2),
            4 => (10.0, 1e-2),
            _ => (1e3, 1e-1),
        };
        Start { noise, prior: prior * 0.5_f64.powi((attempt / 6) as i32) }
    }
}

/// ⟨θ⟩ of every hyperparameter, and what each row starts with: noise precisions at `noise / var t`, prior
/// precisions at M |φ_i|²/|t|² in units of the noise, bounds that touch at f = 0.
pub(crate) fn start(core: &Core, problem: &Problem, start: Start) -> (Vec<f64>, Vec<f64>) {
    let mut observations = 0.0;
    let mut target = 0.0;
    let mut squares = vec![0.0; core.weights.len()];
    let mut class_targets = Vec::new();
    let mut rows = Vec::new();
    for (class, variance) in core.classes.iter().zip(variances(problem, &core.classes)) {
        observations += class.count;
        // the precision of the rows, and what it is without its folded factors
        let (ln_precision, h, goal) = match &class.local {
            Local::Bound(link, value, _) => {
                let at = (link.contact)(*value, 0.0, 0.0);
                rows.push(at);
                let bound = (link.quadratic)(*value, at);
                let h = class.count * bound.curvature;
                (f64::NAN, h, class.count * bound.slope.powi(2) / bound.curvature)
            }
            local => {
                rows.push(1.0);
                let known = class.noise.hypers.is_empty();
                let ln = if known { class.noise.ln_known } else { (start.noise / variance).ln() };
                let count = if matches!(local, Local::Scale(_)) { class.count } else { 1.0 };
                let h = count * ln.exp();
                let square: f64 = class.rows.clone().map(|r| core.y[r].powi(2)).sum();
                (ln, h, h * (square + class.rest))
            }
        };
        target += goal;
        class_targets.push(ln_precision);
        for (i, square) in squares.iter_mut().enumerate() {
            *square += h * core.x.column(i).rows(class.rows.start, class.rows.len()).norm_squared();
        }
    }
    if target <= 0.0 {
        target = start.noise * observations.max(1.0);
    }
    let free = core.weights.iter().flatten().filter(|p| !p.hypers.is_empty()).count().max(1) as f64;
    let weight_targets: Vec<f64> = squares.iter().map(|s| (start.prior * free * s / target).ln()).collect();

    let mut known: Vec<Option<f64>> = vec![None; core.hypers.len()];
    // rows, then weights: a hyperparameter is settled by the first kind it scales
    let noises: Vec<(&Product, f64)> =
        core.classes.iter().map(|c| &c.noise).zip(class_targets.iter().copied()).collect();
    let priors: Vec<(&Product, f64)> = core
        .weights
        .iter()
        .zip(&weight_targets)
        .filter_map(|(p, target)| p.as_ref().map(|p| (p, *target)))
        .collect();
    for products in [noises, priors] {
        let mut sums = vec![(0.0, 0.0); core.hypers.len()];
        for (product, goal) in products.iter().filter(|(_, goal)| goal.is_finite()) {
            let open: Vec<usize> = product.hypers.iter().copied().filter(|&h| known[h].is_none()).collect();
            let settled: f64 = product.hypers.iter().filter_map(|&h| known[h]).sum();
            for &h in &open {
                sums[h].0 += (goal - product.ln_known - settled) / open.len() as f64;
                sums[h].1 += 1.0;
            }
        }
        for (h, (sum, count)) in sums.into_iter().enumerate() {
            if known[h].is_none() && count > 0.0 {
                known[h] = Some(sum / count);
            }
        }
    }
    let mut means: Vec<f64> = known.iter().map(|x| x.unwrap_or(0.0).exp()).collect();
    // hyperparameters of hyperparameters: what their children say, from these up
    let mut open: Vec<usize> = (0..means.len()).filter(|&h| known[h].is_none()).collect();
    open.sort_by_key(|&h| core.order.iter().position(|&o| o == h));
    for h in open {
        let hyper = &core.hypers[h];
        let value = |p: &Product, means: &[f64]| {
            p.ln_known.exp() * p.hypers.iter().filter(|&&k| k != h).map(|&k| means[k]).product::<f64>()
        };
        let mut shape = hyper.shape;
        let mut rate = if hyper.rate.hypers.is_empty() { hyper.rate.ln_known.exp() } else { 0.0 };
        for &k in &hyper.children {
            shape += core.hypers[k].shape;
            rate += value(&core.hypers[k].rate, &means) * means[k];
        }
        means[h] = if shape > 0.0 && rate > 0.0 { shape / rate } else { 1.0 };
    }
    for (mean, hyper) in means.iter_mut().zip(&core.hypers) {
        *mean = mean.min(hyper.cap).clamp(1e-290, 1e290);
    }
    (means, rows)
}
