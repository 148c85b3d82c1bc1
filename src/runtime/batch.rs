//! All weights at once: fixed-point updates until noise and growing precisions have settled
//! (mathematics §1).

use super::control::{Control, Point};
use super::core::{Core, Role};
use super::posterior::Gram;
use super::solution::Failure;
use super::updates::{Momentum, Progress, Summary, progress, propose};
use crate::plan::ir::Updates;

/// Largest change of a log hyperparameter in one update.
const STEP: f64 = 4.6;
/// Updates before the noise follows: it would swallow what precisions that are still all alike leave unexplained.
const HOLD: usize = 2;
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
        let here = Summary::new(core, point, &mut gram)?;
        control.note(core, point, here.log_evidence, here.jitter, phase);
        let steps: Vec<f64> = propose(core, &point.x, &here.moments(&point.active), control.options.updates)
            .iter()
            .enumerate()
            .map(|(h, p)| if frozen[h] || (cycle < hold && is_noise[h]) { 0.0 } else { p.step(STEP) })
            .collect();
        let rest = momentum.advance(core, point, here.log_evidence, &steps, STEP);
        // Newton's method takes those out that fail the exact test
        let progress = progress(core, &mut point.active, &here, &steps, rest, cycle);
        if cycle >= hold && matches!(progress, Progress::Kept | Progress::Settled) {
            return Ok(());
        }
    }
    Ok(())
}
