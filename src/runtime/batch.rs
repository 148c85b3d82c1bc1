//! All weights at once: fixed-point updates until noise and growing precisions have settled
//! (mathematics §1).

use super::control::{Control, Point};
use super::core::{Core, Role};
use super::posterior::{Gram, Posterior};
use super::solution::Failure;
use super::updates::{Momentum, proposals};
use crate::plan::ir::Updates;

/// Largest change of a log hyperparameter in one update.
const STEP: f64 = 4.6;
/// A precision that grows by less than this an update is left to the exact test.
const GROWTH: f64 = 0.05;
/// The noise has settled when its log changes by less than this.
const SETTLED: f64 = 1e-3;
/// Hardly determined: can be pruned at any time if q² ≤ s.
const NOTHING: f64 = 1e-9;
/// Little determined: can be pruned if q² ≤ s once the noise has settled.
const LITTLE: f64 = 1e-3;
/// Updates before the noise follows: it would swallow what precisions that are still all alike leave unexplained.
const HOLD: usize = 2;
/// Updates before anything is pruned.
const WARM_UP: usize = 6;
/// Updates at most; the active set does the rest.
const MOST: usize = 500;

/// Updates everything that is not `frozen` from the given point until it has settled.
pub(crate) fn batch(
    core: &Core,
    point: &mut Point,
    frozen: &[bool],
    control: &mut Control<'_>,
) -> Result<(), Failure> {
    let phase = match control.options.updates {
        Updates::MacKay => "update precisions (MacKay)",
        Updates::Em => "update precisions (EM)",
    };
    let (is_noise, live) = (core.is_noise(), core.live(&point.active));
    let shrinks = |h: usize| live[h] && matches!(core.hypers[h].role, Role::Own(_) | Role::Block(_));
    let hold = if (0..live.len()).any(shrinks) { HOLD } else { 0 };
    let (mut gram, mut momentum) = (Gram::default(), Momentum::new(live.len(), control.options.updates));
    for cycle in 0..MOST {
        if !control.may_go_on() {
            return Ok(());
        }
        let posterior = Posterior::new(core, point, Some(&mut gram))?;
        control.record(core, point, &posterior, phase);
        let steps: Vec<f64> = proposals(core, &point.x, &posterior, control.options.updates)
            .iter()
            .enumerate()
            .map(|(h, p)| if frozen[h] || (cycle < hold && is_noise[h]) { 0.0 } else { p.step(STEP) })
            .collect();
        let moved = momentum.advance(core, point, posterior.log_evidence, &steps, STEP);
        let stays =
            |at: usize| posterior.mean[at].powi(2) > posterior.gamma[at] * (1.0 - posterior.gamma[at]);
        let own =
            posterior.active.iter().enumerate().filter_map(|(at, &i)| {
                core.weights[i].own.filter(|_| stays(at)).map(|(h, _)| steps[h].abs())
            });
        let unsettled = own.fold(0.0, f64::max);
        if cycle >= WARM_UP {
            let threshold = if moved.rest < SETTLED { LITTLE } else { NOTHING };
            let mut at = 0;
            point.active.retain(|&i| {
                let (gamma, m) = (posterior.gamma[at], posterior.mean[at]);
                at += 1;
                // q² ≤ s is m² ≤ γ Σ_ii
                core.weights[i].own.is_none() || gamma > threshold || m * m > gamma * (1.0 - gamma)
            });
            if point.active.len() < posterior.active.len() {
                continue;
            }
        }
        if cycle >= hold && moved.rest < SETTLED && unsettled < GROWTH {
            return Ok(());
        }
    }
    Ok(())
}
