//! Which weights are in the model: all at once, or one at a time, then an active set over single moves.

use super::expansion::Expansion;
use super::factors::{factors, pull};
use super::frame::Frame;
use super::mode::{CLOSE, LOOSE};
use super::settle::{Position, flat_slope, settle};
use super::span::{Last, ROUGH, Span};
use crate::plan::ir::Curvature;
use crate::runtime::control::{Control, Point};
use crate::runtime::core::Role;
use crate::runtime::factors::{Action, Move};
use crate::runtime::greedy::{apply, best_move};
use crate::runtime::leaving::{Leaving, TooLittle};
use crate::runtime::solution::Failure;
use crate::runtime::swap::{Inside, best_swap, swap};
use crate::runtime::updates::{Momentum, Progress, Summary, WARM_UP, progress, propose};

/// Largest change of a log hyperparameter in one update.
const STEP: f64 = 4.6;
/// Updates at most; the active set does the rest.
const CYCLES: usize = 500;
/// Slope at which the exact test may judge.
const NEAR: f64 = 0.02;
/// Gain of the local Gaussian model that makes a move worth while: below, the evidence may fall.
const LEAST: f64 = 1e-5;
/// Additions before the noise is first re-estimated: earlier, it would swallow what is still to be explained.
const HOLD: usize = 10;
/// How often one function may be added; then it stays out, which breaks cycles.
const ADDITIONS: u8 = 3;

/// All weights at once: fixed-point updates until the growing precisions have settled.
pub(super) fn batch(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    control: &mut Control<'_>,
) -> Result<(), Failure> {
    let core = &frame.core;
    let mut span = Span::new(frame, ROUGH);
    let mut last = None;
    let mut momentum = Momentum::new(core.hypers.len(), control.options.updates);
    for cycle in 0..CYCLES {
        if !control.may_go_on() {
            return Ok(());
        }
        let found = if cycle < WARM_UP { LOOSE } else { CLOSE };
        let here = moments(frame, point, found, &mut span, &mut last, warm)?;
        control.note(core, point, here.log_evidence, here.jitter, "update precisions");
        let updates = propose(core, &point.x, &here.moments(&point.active), control.options.updates);
        let steps: Vec<f64> = updates.iter().map(|update| update.step(STEP)).collect();
        let rest = momentum.advance(core, point, here.log_evidence, &steps, STEP);
        if progress(core, &mut point.active, &here, &steps, rest, cycle) == Progress::Settled {
            return Ok(());
        }
    }
    Ok(())
}

/// What updates ask of the Gaussian at the mode: in the coordinates of a basis of the columns while there
/// are more weights than its vectors, else by weights.
fn moments(
    frame: &Frame,
    point: &Point,
    found: f64,
    span: &mut Option<Span>,
    last: &mut Option<Last>,
    warm: &mut [f64],
) -> Result<Summary, Failure> {
    if let Some(basis) = span.as_ref().filter(|s| point.active.len() > s.rank())
        && let Ok(moments) = basis.moments(frame, point, found, last)
    {
        // where the weights start once there are few
        warm.fill(0.0);
        for (&i, w) in point.active.iter().zip(&moments.mean) {
            warm[i] = (-0.5 * frame.core.weights[i].log.at(&point.x)).exp() * w;
        }
        return Ok(moments);
    }
    *span = None;
    let here = Expansion::to(found, frame, point, warm)?;
    Ok(Summary {
        variance: (0..here.active.len()).map(|at| here.variance(at)).collect(),
        mean: here.mode.mean.as_slice()[here.flat..].to_vec(),
        log_evidence: here.log_evidence,
        jitter: here.mode.factor.jitter(),
        gamma: here.gamma,
        leverage: here.leverage,
        rss: here.rss,
    })
}

/// One function at a time, from the model of all weights without a precision of their own: add the one
/// of largest gain, re-estimate all precisions of the model, delete what no longer earns its place.
pub(super) fn greedy(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    control: &mut Control<'_>,
) -> Result<(), Failure> {
    point.active = frame.core.without_own();
    let least = LEAST.max(control.options.min_gain);
    let mut added = vec![0_u8; frame.core.weights.len()];
    let (noise, free) = (frame.core.is_noise(), vec![false; frame.core.hypers.len()]);
    let mut moves = 0;
    while control.may_go_on() {
        let frozen = if moves < HOLD { &noise } else { &free };
        let position = settle_until_kept(frame, point, warm, frozen, control)?;
        match best_addition(frame, point, &position.here, &added).filter(|m| m.gain > least) {
            Some(best) => {
                if !control.may_add() {
                    return Ok(());
                }
                added[best.weight] += 1;
                moves += 1;
                apply(&frame.core, point, best);
            }
            // nothing has gain at the noise held so far
            None if moves < HOLD && noise.contains(&true) => moves = HOLD,
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Settles loosely and deletes violators until there are none.
fn settle_until_kept(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    frozen: &[bool],
    control: &mut Control<'_>,
) -> Result<Position, Failure> {
    loop {
        let position = settle(frame, point, warm, frozen, NEAR, control)?;
        if control.stopped.is_some() || !leave(frame, point, warm, &position, TooLittle::settled(0.0))? {
            return Ok(position);
        }
    }
}

/// Finds a point at which no addition, deletion or swap of a weight, and no change of precisions, helps.
pub(super) fn active_set(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    control: &mut Control<'_>,
) -> Result<(), Failure> {
    let mut added = vec![0_u8; frame.core.weights.len()];
    let mut block_added = vec![0_u8; frame.core.hypers.len()];
    let free = vec![false; frame.core.hypers.len()];
    let min_gain = control.options.min_gain;
    // the evidence itself judges only where precisions have settled
    let near = match control.options.curvature {
        Curvature::Fixed => TooLittle::near(min_gain),
        Curvature::Exact => TooLittle::settled(0.0),
    };
    let mut trial: Option<Trial> = None;
    while control.may_go_on() {
        let mut position = settle(frame, point, warm, &free, NEAR, control)?;
        if control.stopped.is_none() {
            if leave(frame, point, warm, &position, near)? {
                continue;
            }
            position = settle(frame, point, warm, &free, flat_slope(frame, control.options.tol), control)?;
        }
        if let Some(Trial { point: before, mode, least, weight }) = trial.take()
            && position.objective < least
        {
            added[weight] = ADDITIONS;
            *point = before;
            warm.copy_from_slice(&mode);
            continue;
        }
        if control.stopped.is_some() {
            return Ok(());
        }
        if leave(frame, point, warm, &position, TooLittle::settled(min_gain))? {
            continue;
        }
        if change_block(frame, point, warm, &position, &mut block_added, control)? {
            continue;
        }
        let factors = factors(frame, &position.here);
        let outside = |m: &Move| m.action == Action::Add && added[m.weight] < ADDITIONS;
        if let Some(best) = best_move(&frame.core, point, &factors, outside)
            && best.gain > min_gain.max(LEAST)
        {
            if !control.may_add() {
                return Ok(());
            }
            trial = Trial::of(&position, point, warm, min_gain.max(LEAST), best.weight);
            added[best.weight] += 1;
            apply(&frame.core, point, best);
            continue;
        }
        let may_enter = |i: usize| added[i] < ADDITIONS;
        let here = &position.here;
        let inside = Inside {
            active: &here.active,
            variance: (0..here.active.len()).map(|at| here.variance(at)).collect(),
            mean: &here.mode.mean.as_slice()[here.flat..],
            pull: &pull(frame, here),
        };
        let Some(better) = best_swap(&frame.core, &point.x, &inside, &factors, may_enter) else {
            return Ok(());
        };
        trial = Trial::of(&position, point, warm, LEAST, better.into);
        added[better.into] += 1;
        swap(&frame.core, point, better);
    }
    Ok(())
}

/// What a move is judged against where the evidence itself is the rule: its gain is that of the Gaussian at the mode.
struct Trial {
    point: Point,
    mode: Vec<f64>,
    /// What the objective has to be.
    least: f64,
    /// What the move brings in.
    weight: usize,
}

impl Trial {
    fn of(position: &Position, point: &Point, mode: &[f64], gain: f64, weight: usize) -> Option<Trial> {
        (position.rule == Curvature::Exact).then(|| Trial {
            point: point.clone(),
            mode: mode.to_vec(),
            least: position.objective + gain,
            weight,
        })
    }
}

fn best_addition(frame: &Frame, point: &Point, here: &Expansion, added: &[u8]) -> Option<Move> {
    let outside = |m: &Move| m.action == Action::Add && added[m.weight] < ADDITIONS;
    best_move(&frame.core, point, &factors(frame, here), outside)
}

/// Deletes violators; if there are none, weights that earn too little, in the Gaussian at the mode, and by the evidence
/// itself where that is the rule. Whether any went.
fn leave(
    frame: &Frame,
    point: &mut Point,
    warm: &[f64],
    position: &Position,
    too_little: TooLittle,
) -> Result<bool, Failure> {
    let here = &position.here;
    let gone = match position.rule {
        Curvature::Fixed => {
            let (flat, k) = (here.flat, here.active.len());
            let sigma = here.sigma.view((flat, flat), (k, k)).into_owned();
            let mean = &here.mode.mean.as_slice()[flat..];
            let mut left = Leaving::new(&frame.core, &here.active, &here.gamma, mean, sigma);
            left.violators();
            if left.gone.is_empty() {
                left.unearning(too_little);
            }
            left.gone
        }
        Curvature::Exact => leaving_by_evidence(frame, point, warm, position, too_little.min_gain)?,
    };
    point.active.retain(|i| !gone.contains(i));
    Ok(!gone.is_empty())
}

/// The worst violators, an eighth of them while there are many; if there are none, the weight that earns least in the
/// Gaussian at the mode of those without which the evidence is lower by less than `min_gain`.
fn leaving_by_evidence(
    frame: &Frame,
    point: &Point,
    warm: &[f64],
    position: &Position,
    min_gain: f64,
) -> Result<Vec<usize>, Failure> {
    let active = &position.here.active;
    let ranked = |places: Vec<usize>| {
        let earn = places.into_iter().map(|at| (position.earns(frame, &point.x, at), active[at]));
        let mut ranked: Vec<(f64, usize)> = earn.collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ranked
    };
    let cost = |gone: &[usize]| -> Result<f64, Failure> {
        let mut without = point.clone();
        without.active.retain(|i| !gone.contains(i));
        let there = Position::new(frame, &without, &mut warm.to_vec(), Curvature::Fixed)?;
        Ok(position.objective - there.objective)
    };
    let violators: Vec<usize> = ranked(position.violators(frame)).iter().map(|v| v.1).collect();
    let worst = &violators[..(violators.len() / 8).max(1).min(violators.len())];
    if !worst.is_empty() && cost(worst)? <= min_gain.max(LEAST) {
        return Ok(worst.to_vec());
    }
    let own = (0..active.len()).filter(|&at| frame.core.weights[active[at]].own.is_some());
    for (earns, i) in ranked(own.collect()) {
        if earns >= min_gain {
            break;
        }
        if cost(&[i])? < min_gain {
            return Ok(vec![i]);
        }
    }
    Ok(Vec::new())
}

/// Takes out a block of weights that share a precision where the model without it is as good, or puts
/// one back at the best of some precisions where that has gain.
fn change_block(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    position: &Position,
    added: &mut [u8],
    control: &mut Control<'_>,
) -> Result<bool, Failure> {
    let (core, min_gain) = (&frame.core, control.options.min_gain);
    let objective = |point: &Point, warm: &[f64]| -> Result<f64, Failure> {
        Ok(Position::new(frame, point, &mut warm.to_vec(), Curvature::Fixed)?.objective)
    };
    for (h, hyper) in core.hypers.iter().enumerate() {
        let Role::Block(list) = &hyper.role else { continue };
        let inside = list.iter().any(|i| point.active.binary_search(i).is_ok());
        if inside {
            let mut without = point.clone();
            without.active.retain(|i| list.binary_search(i).is_err());
            if objective(&without, warm)? >= position.objective - min_gain.max(1e-9) {
                *point = without;
                return Ok(true);
            }
        } else if added[h] < ADDITIONS {
            let mut with = point.clone();
            with.active.extend(list.iter().copied().filter(|i| core.usable[*i]));
            with.active.sort_unstable();
            let mut best = (position.objective + min_gain.max(LEAST), None);
            let start = point.x[h].clamp(-20.0, 20.0);
            for step in -8..=8 {
                with.x[h] = (start + 1.5 * f64::from(step)).clamp(hyper.lower, hyper.upper);
                let value = objective(&with, warm)?;
                if value > best.0 {
                    best = (value, Some(with.x[h]));
                }
            }
            if let Some(x) = best.1 {
                with.x[h] = x;
                added[h] += 1;
                *point = with;
                return Ok(true);
            }
        }
    }
    Ok(false)
}
