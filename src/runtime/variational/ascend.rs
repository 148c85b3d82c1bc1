//! Coordinate ascent, with extrapolation that is taken only where the bound rises.

use nalgebra::DVector;

use super::anderson::Anderson;
use super::bound::terms;
use super::core::{Core, Local};
use super::state::State;
use crate::math::poll::attempt;
use crate::runtime::control::Control;
use crate::runtime::solution::{Failure, Stop};

/// Rounding of a bound, relative to the size of its terms.
pub(crate) const ROUNDING: f64 = 1e-13;
/// The bound has settled below this relative change.
const SETTLED: f64 = 1e-10;
/// What an extrapolation may add to a step in a logarithm.
const REACH: f64 = 3.0;
/// A weight of this well-determinedness is out of the model.
const OUT: f64 = 1e-9;
/// Largest change of a factor, and of ⟨f⟩, at which factors of weights and rows have settled, and the steps
/// until then.
const STILL: f64 = 1e-10;
const SETTLING: usize = 300;
/// Iterations without a change beyond rounding after which the ascent is over.
const PATIENCE: usize = 20;

/// A state whose q(w) is the best for its other factors, and its bound.
pub(crate) struct Climb {
    pub state: State,
    pub bound: f64,
}

impl Climb {
    /// Makes q(w) for a state.
    pub fn new(core: &Core, mut state: State) -> Result<Climb, Failure> {
        for g in 0..core.groups.len() {
            state.update_weights(core, g)?;
        }
        let bound = terms(core, &state).sum();
        if !bound.is_finite() {
            return Err(Failure::NonFinite { step: "the bound" });
        }
        Ok(Climb { state, bound })
    }

    /// Takes another state if its bound is not lower.
    pub fn take_if_higher(&mut self, core: &Core, state: State) -> bool {
        match Climb::new(core, state) {
            Ok(other) if other.bound >= self.bound => {
                *self = other;
                true
            }
            _ => false,
        }
    }

    /// One cycle of updates, each of which cannot lower the bound: hyperparameters of weights, factors of
    /// rows, hyperparameters of rows, weights.
    pub fn cycle(&mut self, core: &Core, held: &[bool]) -> Result<(), Failure> {
        let mut watch = Watch::new(core, &self.state);
        // an interruption leaves the state as it was
        let mut next = self.state.clone();
        let state = &mut next;
        let f = state.f();
        for &h in core.order[..core.before_rows].iter().filter(|&&h| !held[h]) {
            state.update_hyper(core, h, &f);
            watch.see(core, state);
        }
        for c in 0..core.classes.len() {
            state.update_row(core, c, &f);
        }
        watch.see(core, state);
        for &h in core.order[core.before_rows..].iter().filter(|&&h| !held[h]) {
            state.update_hyper(core, h, &f);
            watch.see(core, state);
        }
        for g in 0..core.groups.len() {
            state.update_weights(core, g)?;
            watch.see(core, state);
        }
        self.bound = terms(core, state).sum();
        self.state = next;
        Ok(())
    }
}

/// Sees after each update that the bound has not fallen (in builds with debug assertions).
struct Watch(f64);

impl Watch {
    fn new(core: &Core, state: &State) -> Watch {
        Watch(if cfg!(debug_assertions) { terms(core, state).sum() } else { 0.0 })
    }

    fn see(&mut self, core: &Core, state: &State) {
        if cfg!(debug_assertions) {
            let now = terms(core, state);
            debug_assert!(now.sum() >= self.0 - 1e-10 * (1.0 + now.size()), "{} after {}", now.sum(), self.0);
            self.0 = now.sum();
        }
    }
}

/// Whether a weight with a point precision of its own would be better out: q² ≤ s, that is
/// ⟨w⟩² ≤ γ Σ_ii.
pub(crate) fn is_leaving(core: &Core, state: &State, i: usize) -> bool {
    state.active[i]
        && core.prunable(i).is_some()
        && state.mean[i].powi(2) <= state.gamma[i] * state.variance[i]
}

/// Climbs until nothing moves. Weights with a point precision of their own leave by the exact test, one
/// at a time once the rest has settled.
pub(crate) fn ascend(
    core: &Core,
    climb: &mut Climb,
    held: &[bool],
    control: &mut Control<'_>,
) -> Result<(), Failure> {
    let mut memory = Anderson::default();
    let mut quiet = 0;
    while control.may_go_on() {
        // what is interrupted leaves the state before it
        match attempt(|| climb_on(core, climb, held, (&mut memory, &mut quiet), control)) {
            Ok(goes_on) => {
                if !goes_on? {
                    break;
                }
            }
            Err(halt) => control.halted(halt),
        }
    }
    Ok(())
}

/// One iteration; whether there is more to do.
fn climb_on(
    core: &Core,
    climb: &mut Climb,
    held: &[bool],
    (memory, quiet): (&mut Anderson, &mut usize),
    control: &mut Control<'_>,
) -> Result<bool, Failure> {
    let before = climb.bound;
    if leave_at_once(core, climb)? {
        memory.forget();
    }
    let state = &climb.state;
    let f = state.f();
    let (u, goal) = positions(core, state, held, &f);
    let residual = &goal - &u;
    let worst = largest(core, state, held, &residual);
    let next = memory.next(&u, &residual, REACH);
    let taken = climb.take_if_higher(core, moved(core, state, held, &next)) || {
        memory.forget();
        climb.take_if_higher(core, moved(core, &climb.state, held, &goal))
    };
    if !taken {
        climb.cycle(core, held)?;
    }
    report(core, climb, control);
    let change = (climb.bound - before).abs() / (1.0 + climb.bound.abs());
    *quiet = if change <= 10.0 * ROUNDING { *quiet + 1 } else { 0 };
    let settled = worst < control.options.tol && change < SETTLED;
    if settled || *quiet > PATIENCE {
        if prune_one(core, climb)? {
            memory.forget();
            *quiet = 0;
            return Ok(true);
        }
        if !settled && worst > 1e-4 {
            control.stopped = Some(Stop::Stalled);
        }
        return Ok(false);
    }
    Ok(true)
}

/// The best factors of weights and rows at given expectations of the hyperparameters.
pub(crate) fn settle(core: &Core, state: State) -> Result<Climb, Failure> {
    let held = vec![true; core.hypers.len()];
    let best = |mut state: State| {
        if core.groups.len() > 1 {
            state.agree(core)?;
        }
        Climb::new(core, state)
    };
    let mut climb = best(state)?;
    let mut memory = Anderson::default();
    for _ in 0..SETTLING {
        let f = climb.state.f();
        let (u, goal) = positions(core, &climb.state, &held, &f);
        let residual = &goal - &u;
        let near = |climb: &Climb, to: &DVector<f64>| {
            let next = best(moved(core, &climb.state, &held, to)).ok()?;
            (next.bound >= climb.bound - ROUNDING * (1.0 + climb.bound.abs())).then_some(next)
        };
        let next = match near(&climb, &memory.next(&u, &residual, REACH)) {
            Some(next) => next,
            None => {
                memory.forget();
                match near(&climb, &goal) {
                    Some(next) => next,
                    None => break,
                }
            }
        };
        let change = (next.state.f() - &f).amax() / (f.amax() + f64::MIN_POSITIVE);
        climb = next;
        if residual.amax().max(change) <= STILL {
            break;
        }
    }
    Ok(climb)
}

/// ln⟨θ⟩ of the free hyperparameters and what each row has, now and where the updates point: of a point of contact
/// asinh, a logarithm of what is large of either sign.
fn positions(core: &Core, state: &State, held: &[bool], f: &DVector<f64>) -> (DVector<f64>, DVector<f64>) {
    let (mut now, mut goal) = (Vec::new(), Vec::new());
    for h in free(core, state, held) {
        now.push(state.hypers[h].mean().ln());
        goal.push(state.proposal(core, h, f).ln());
    }
    for (c, class) in core.classes.iter().enumerate() {
        let (at, best) = (state.rows[c].at(), state.best_row(core, c, f));
        match class.local {
            Local::Nothing => {}
            Local::Scale(_) => {
                now.push(at.ln());
                goal.push(best.ln());
            }
            Local::Bound(..) => {
                now.push(at.asinh());
                goal.push(best.asinh());
            }
        }
    }
    (DVector::from_vec(now), DVector::from_vec(goal))
}

/// The state at such a position.
fn moved(core: &Core, state: &State, held: &[bool], to: &DVector<f64>) -> State {
    let mut state = state.clone();
    let mut to = to.iter();
    for h in free(core, &state, held) {
        if let Some(x) = to.next() {
            state.set_mean(core, h, x.exp());
        }
    }
    for (c, class) in core.classes.iter().enumerate() {
        let at = match class.local {
            Local::Nothing => continue,
            Local::Scale(_) => to.next().map(|x| x.exp()),
            Local::Bound(..) => to.next().map(|x| x.sinh()),
        };
        if let Some(at) = at {
            state.rows[c] = super::state::row_factor(class, at);
        }
    }
    state
}

fn free(core: &Core, state: &State, held: &[bool]) -> Vec<usize> {
    (0..core.hypers.len()).filter(|&h| !held[h] && !state.gone[h]).collect()
}

/// The largest step that is asked for, but for precisions that are on their way out.
fn largest(core: &Core, state: &State, held: &[bool], residual: &DVector<f64>) -> f64 {
    let mut leaving: Vec<bool> = free(core, state, held)
        .into_iter()
        .map(|h| core.hypers[h].own().is_some_and(|i| is_leaving(core, state, i)))
        .collect();
    leaving.resize(residual.len(), false);
    let staying = residual.iter().zip(leaving).filter(|(_, leaving)| !leaving);
    staying.map(|(r, _)| r.abs()).fold(0.0, f64::max)
}

/// Takes out weights, and blocks of weights, that have no effect any more: γ below 1e-9.
fn leave_at_once(core: &Core, climb: &mut Climb) -> Result<bool, Failure> {
    let state = &climb.state;
    let faint = |i: usize| state.active[i] && state.gamma[i] < OUT;
    let mut out: Vec<usize> =
        (0..core.weights.len()).filter(|&i| faint(i) && is_leaving(core, state, i)).collect();
    for h in (0..core.hypers.len()).filter(|&h| !state.gone[h] && core.is_block(h)) {
        if core.hypers[h].weights.iter().all(|&i| !state.active[i] || state.gamma[i] < OUT) {
            out.extend(core.hypers[h].weights.iter().filter(|&&i| state.active[i]));
        }
    }
    if out.is_empty() {
        return Ok(false);
    }
    out.sort_unstable();
    out.dedup();
    *climb = Climb::new(core, without(core, state, &out))?;
    Ok(true)
}

/// Takes out what fails the exact test: all at once if the bound rises, else the worst alone; then a block
/// without which the bound is no lower.
fn prune_one(core: &Core, climb: &mut Climb) -> Result<bool, Failure> {
    let leaving: Vec<usize> =
        (0..core.weights.len()).filter(|&i| is_leaving(core, &climb.state, i)).collect();
    // r = q²/s = ⟨w⟩²/(γ Σ_ii)
    let ratio = |i: &usize| climb.state.mean[*i].powi(2) / (climb.state.gamma[*i] * climb.state.variance[*i]);
    let Some(worst) = leaving.iter().copied().min_by(|a, b| ratio(a).total_cmp(&ratio(b))) else {
        return remove_block(core, climb, ROUNDING * (1.0 + climb.bound.abs()));
    };
    let all = without(core, &climb.state, &leaving);
    if !climb.take_if_higher(core, all) {
        let one = without(core, &climb.state, &[worst]);
        *climb = Climb::new(core, one)?;
    }
    Ok(true)
}

/// Takes out the first block of weights with one point precision that earns less than this; its precision
/// may grow for ever.
pub(crate) fn remove_block(core: &Core, climb: &mut Climb, least: f64) -> Result<bool, Failure> {
    for h in (0..core.hypers.len()).filter(|&h| core.is_block(h)) {
        let state = &climb.state;
        let out: Vec<usize> = core.hypers[h].weights.iter().copied().filter(|&i| state.active[i]).collect();
        if out.is_empty() {
            continue;
        }
        let other = Climb::new(core, without(core, state, &out))?;
        if other.bound > climb.bound - least {
            *climb = other;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The state without some weights.
pub(crate) fn without(core: &Core, state: &State, out: &[usize]) -> State {
    let mut state = state.clone();
    for &i in out {
        (state.active[i], state.mean[i], state.variance[i], state.gamma[i]) = (false, 0.0, 0.0, 0.0);
    }
    for h in 0..core.hypers.len() {
        let hyper = &core.hypers[h];
        if hyper.point && state.scales_nothing(core, h) {
            state.gone[h] = true;
        } else if !state.gone[h] && hyper.weights.iter().any(|i| out.contains(i)) {
            let mean = state.hypers[h].mean();
            state.set_mean(core, h, mean);
        }
    }
    state
}

fn report(core: &Core, climb: &Climb, control: &mut Control<'_>) {
    let state = &climb.state;
    let active = state.active.iter().take(core.weights.len()).filter(|active| **active).count();
    control.jitter = control.jitter.max(state.jitter);
    control.show(climb.bound, active, "cycle");
}

/// ⟨θ⟩; infinite where all that it scales is pruned.
pub(crate) fn values(state: &State) -> Vec<f64> {
    state
        .hypers
        .iter()
        .zip(&state.gone)
        .map(|(q, gone)| if *gone { f64::INFINITY } else { q.mean() })
        .collect()
}
