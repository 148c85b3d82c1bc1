//! One function at a time: the move of largest exact gain, the noise on a schedule (mathematics §3;
//! Tipping and Faul 2003).

use super::control::{Control, Point};
use super::core::Core;
use super::factors::{Action, Factors, Move};
use super::posterior::Posterior;
use super::solution::Failure;
use super::updates::proposals;
use crate::plan::ir::Updates;

/// Moves before the noise is first re-estimated: earlier, it would swallow what is still to be explained.
const HOLD: usize = 10;
/// Then at every so many moves, and whenever no move has gain.
const EVERY: usize = 5;
/// Gain in nats below which the rest is left to the active set.
const LEAST: f64 = 1e-4;

/// From the model of all weights that have no precision of their own, adds, re-estimates and deletes.
pub(crate) fn greedy(
    core: &Core,
    x: Vec<f64>,
    frozen: &[bool],
    control: &mut Control<'_>,
) -> Result<Point, Failure> {
    let mut point = Point { x, active: core.without_own() };
    let least = LEAST.max(control.options.min_gain);
    let mut moves = 0;
    while control.may_go_on() {
        let mut posterior = Posterior::new(core, &point, None)?;
        let detail = posterior.detail();
        posterior.sharpen(&detail);
        control.record(core, &point, &posterior, "one function at a time");
        let factors = Factors::new(core, &core.roots(&point.x), &posterior, &detail);
        let best = best_move(core, &point, &factors);
        let made = match best {
            Some(best) if best.gain > least => {
                apply(core, &mut point, best);
                moves += 1;
                true
            }
            _ => false,
        };
        if made && (moves < HOLD || moves % EVERY != 0) {
            continue;
        }
        if made {
            posterior = Posterior::new(core, &point, None)?;
        }
        let mut largest = 0.0_f64;
        let live = core.live(&point.active);
        let updates = proposals(core, &point.x, &posterior, Updates::MacKay);
        for (h, update) in updates.iter().enumerate() {
            let hyper = &core.hypers[h];
            if live[h] && !frozen[h] && !matches!(hyper.role, super::core::Role::Own(_)) {
                let to = (point.x[h] + update.step(2.0)).clamp(hyper.lower, hyper.upper);
                largest = largest.max((to - point.x[h]).abs());
                point.x[h] = to;
            }
        }
        if !made && largest < 1e-3 {
            break;
        }
    }
    Ok(point)
}

/// The move of largest gain, the lowest index on ties.
pub(crate) fn best_move(core: &Core, point: &Point, factors: &Factors) -> Option<Move> {
    let mut best: Option<Move> = None;
    for i in (0..core.weights.len()).filter(|&i| core.usable[i] && core.weights[i].own.is_some()) {
        let inside = point.active.binary_search(&i).is_ok();
        let ln_alpha = inside.then(|| core.weights[i].log.at(&point.x));
        if let Some(candidate) = factors.best_move(i, ln_alpha)
            && best.is_none_or(|b| candidate.gain > b.gain)
        {
            best = Some(candidate);
        }
    }
    best
}

/// Makes a move.
pub(crate) fn apply(core: &Core, point: &mut Point, best: Move) {
    match best.action {
        Action::Add | Action::ReEstimate => {
            if let Err(at) = point.active.binary_search(&best.weight) {
                point.active.insert(at, best.weight);
            }
            core.set_own(&mut point.x, best.weight, best.ln_precision);
        }
        Action::Delete => point.active.retain(|&i| i != best.weight),
    }
}
