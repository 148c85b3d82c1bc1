//! One function at a time: the move of largest exact gain, the noise on a schedule (mathematics §3;
//! Tipping and Faul 2003).

use super::control::{Control, Point};
use super::core::{Core, Role};
use super::factors::{Action, Factors, Move};
use super::posterior::Posterior;
use super::rank_one::RankOne;
use super::solution::Failure;
use super::updates::proposals;
use crate::plan::ir::Updates;

/// Moves before the noise is first re-estimated: earlier, it would swallow what is still to be explained.
const HOLD: usize = 10;
/// Then at every so many moves, and whenever no move has gain.
const EVERY: usize = 5;
/// Gain in nats below which the rest is left to the active set.
pub(crate) const LEAST: f64 = 1e-4;
/// Rank-one updates at most before the state is computed afresh.
const FRESH: usize = 50;
/// Error of the log evidence by which rank-one updates have drifted, relative to the evidence.
const DRIFT: f64 = 1e-8;
/// Updates of noise and shared precisions in a row: the precision of an irrelevant block grows for ever, and
/// Newton's method or the exact test of the block has the last word anyway.
const SHARED: usize = 100;
/// Multiplications of an update of all functions at once that a second look is worth.
const AFFORDABLE: f64 = 1e8;
/// How often a function may come back after it was deleted; then it stays out, which breaks cycles.
const RETURNS: u8 = 10;

/// From the functions of `point` (with all weights that have no precision of their own), adds, re-estimates
/// and deletes until no move gains more than `least`, or more than `min_gain` for an addition. Hyperparameters in
/// `frozen` stay. Returns the moves it made.
pub(crate) fn greedy(
    core: &Core,
    point: &mut Point,
    frozen: &[bool],
    least: f64,
    control: &mut Control<'_>,
) -> Result<Vec<Move>, Failure> {
    let mut path = Vec::new();
    let mut deleted = vec![0_u8; core.weights.len()];
    let mut state = RankOne::new(core, point)?;
    let (mut fresh_for, mut since, mut shared) = (FRESH, 0, 0);
    while control.may_go_on() {
        let best = best_move(core, point, &state.factors, |m| {
            let enough = if m.action == Action::Add { least.max(control.options.min_gain) } else { least };
            m.gain > enough && !(m.action == Action::Add && deleted[m.weight] > RETURNS)
        });
        let Some(best) = best else {
            if since > 0 {
                // the last word has a fresh state
                (state, since) = (RankOne::new(core, point)?, 0);
                continue;
            }
            shared += 1;
            if move_shared(core, point, frozen)? < 1e-3 || shared > SHARED {
                break;
            }
            state = RankOne::new(core, point)?;
            continue;
        };
        shared = 0;
        apply(core, point, best);
        deleted[best.weight] = deleted[best.weight].saturating_add(u8::from(best.action == Action::Delete));
        path.push(best);
        let sound = state.apply(core, best);
        since += 1;
        control.note(core, point, state.log_evidence, 0.0, "one function at a time");
        let scheduled = path.len() >= HOLD && path.len() % EVERY == 0;
        if scheduled {
            move_shared(core, point, frozen)?;
        }
        if scheduled || !sound || since >= fresh_for {
            let expected = state.log_evidence;
            (state, since) = (RankOne::new(core, point)?, 0);
            if !scheduled && (state.log_evidence - expected).abs() > DRIFT * (1.0 + expected.abs()) {
                fresh_for = (fresh_for / 2).max(1);
            }
        }
    }
    control.jitter = control.jitter.max(state.jitter);
    Ok(path)
}

/// Whether at most one function was found among several, and all at once can be afforded: of functions that explain only
/// together, as a wide kernel's an oscillation, none has gain by itself.
pub(crate) fn found_little(core: &Core, rows: usize, point: &Point) -> bool {
    let prunable = |i: &usize| core.weights[*i].own.is_some();
    let all = core.everything().iter().filter(|i| prunable(i)).count();
    let (small, large) = (all.min(rows) as f64, all.max(rows) as f64);
    all > 2 && point.active.iter().filter(|i| prunable(i)).count() <= 1 && small * small * large <= AFFORDABLE
}

/// One MacKay update of noise and shared precisions; the largest change of their logarithms.
fn move_shared(core: &Core, point: &mut Point, frozen: &[bool]) -> Result<f64, Failure> {
    let moves = |h: usize| !frozen[h] && !matches!(core.hypers[h].role, Role::Own(_) | Role::Held);
    if !(0..core.hypers.len()).any(moves) {
        return Ok(0.0);
    }
    let posterior = Posterior::new(core, point, None)?;
    let live = core.live(&point.active);
    let mut largest = 0.0_f64;
    for (h, update) in proposals(core, &point.x, &posterior, Updates::MacKay).iter().enumerate() {
        let hyper = &core.hypers[h];
        if live[h] && moves(h) {
            let to = (point.x[h] + update.step(2.0)).clamp(hyper.lower, hyper.upper);
            largest = largest.max((to - point.x[h]).abs());
            point.x[h] = to;
        }
    }
    Ok(largest)
}

/// The move of largest gain among those that are allowed, the lowest index on ties.
pub(crate) fn best_move(
    core: &Core,
    point: &Point,
    factors: &Factors,
    allowed: impl Fn(&Move) -> bool,
) -> Option<Move> {
    let mut best: Option<Move> = None;
    let mut inside = point.active.iter().peekable();
    for i in 0..core.weights.len() {
        let is_inside = inside.next_if_eq(&&i).is_some();
        if !core.usable[i] || core.weights[i].own.is_none() {
            continue;
        }
        let ln_alpha = is_inside.then(|| core.weights[i].log.at(&point.x));
        if let Some(candidate) = factors.best_move(i, ln_alpha)
            && best.is_none_or(|b| candidate.gain > b.gain)
            && allowed(&candidate)
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
