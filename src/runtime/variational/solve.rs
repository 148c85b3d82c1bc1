//! The mean field of a problem: starts, ascent, pruning, and what is reported.

use nalgebra::DMatrix;

use super::ascend::{Climb, ascend, remove_block, settle, values, without};
use super::core::Core;
use super::findings::{findings, runs_away};
use super::problem::{Problem, WeightPrior};
use super::start::{Start, start};
use super::state::State;
use crate::math::poll;
use crate::math::sums::all_finite_in_parts;
use crate::plan::ir::Options;
use crate::runtime::control::{Budget, Control, Observer};
use crate::runtime::evidence::Warm;
use crate::runtime::factors::{best_contribution, contribution};
use crate::runtime::solution::{Certificate, Failure, Report, Solution, Stop};

/// Noise held at this over the variance of the targets while a dictionary much larger than the data is
/// fitted first.
const HELD_NOISE: f64 = 100.0;

/// Fits a problem: coordinate ascent on the bound from one start, and as many others as `restarts`
/// asks for; the highest bound is kept.
///
/// The trace is that of the start that is kept. It falls only where a weight goes that earns less than
/// the option `min_gain` (point precisions only). The same problem gives the same bits, unless a limit
/// of time is hit.
///
/// # Errors
/// Numbers that are not finite, flat effects that the data do not determine, an estimate of memory
/// above the budget, a factorisation that no jitter saves.
pub fn solve(
    problem: &Problem,
    options: &Options,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    check(problem, budget)?;
    let core = Core::new(problem, options);
    let mut control = Control::new(options, budget, on_step);
    let mut best: Option<(Climb, Vec<f64>)> = None;
    for attempt in 0..=options.restarts {
        let from = control.trace.len();
        control.starts += 1;
        let climb = match poll::attempt(|| run(&core, problem, Start::attempt(attempt), &mut control)) {
            Ok(climb) => climb?,
            Err(halt) => {
                control.halted(halt);
                match best {
                    Some(_) => break,
                    // before the first iteration: the start
                    None => begin(&core, problem, Start::attempt(attempt))?.0,
                }
            }
        };
        let better = best.as_ref().is_none_or(|(b, _)| climb.bound > b.bound + 1e-9 * (1.0 + b.bound.abs()));
        if better {
            best = Some((climb, control.trace[from..].to_vec()));
        }
        if control.stopped.is_some_and(|stop| stop != Stop::Stalled) {
            break;
        }
    }
    match best {
        Some((climb, trace)) => poll::shielded(|| finish(&core, problem, &climb, trace, &control)),
        None => Err(Failure::NonFinite { step: "starts" }),
    }
}

fn run(core: &Core, problem: &Problem, from: Start, control: &mut Control<'_>) -> Result<Climb, Failure> {
    let (mut climb, undetermined) = begin(core, problem, from)?;
    if undetermined {
        // the bound prefers to interpolate: settle the weights at a held noise, then free it (mathematics §1)
        let held: Vec<bool> = core.hypers.iter().map(|hyper| !hyper.classes.is_empty()).collect();
        ascend(core, &mut climb, &held, control)?;
    }
    improve(core, &mut climb, control)?;
    Ok(climb)
}

/// Fits a problem from given weights and expectations of the hyperparameters.
///
/// # Errors
/// As [`solve`].
pub fn resume(
    problem: &Problem,
    options: &Options,
    budget: &Budget,
    warm: &Warm,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    check(problem, budget)?;
    let core = Core::new(problem, options);
    let mut control = Control::new(options, budget, on_step);
    let (usual, rows) = start(&core, problem, Start::attempt(0));
    // infinite is one whose weights are all out
    let hypers: Vec<f64> =
        usual.iter().zip(&warm.hypers).map(|(usual, h)| if h.is_finite() { *h } else { *usual }).collect();
    let state = State::new(&core, &hypers, &rows);
    let out: Vec<usize> = (0..core.weights.len())
        .filter(|i| state.active[*i] && core.weights[*i].is_some() && !warm.active.contains(i))
        .collect();
    let mut climb = settle(&core, without(&core, &state, &out))?;
    improve(&core, &mut climb, &mut control)?;
    let trace = control.trace.clone();
    poll::shielded(|| finish(&core, problem, &climb, trace, &control))
}

/// Ascends, and takes weights with a point precision of their own out and in, until nothing gains.
fn improve(core: &Core, climb: &mut Climb, control: &mut Control<'_>) -> Result<(), Failure> {
    let held = vec![false; core.hypers.len()];
    ascend(core, climb, &held, control)?;
    let mut additions = core.weights.len();
    while control.stopped.is_none() {
        let min_gain = control.options.min_gain;
        let changed = poll::attempt(|| -> Result<bool, Failure> {
            if let Some(i) = least_useful(core, &climb.state, min_gain) {
                *climb = Climb::new(core, without(core, &climb.state, &[i]))?;
            } else if remove_block(core, climb, min_gain)? {
                return Ok(true);
            } else if additions == 0 || !add_back(core, climb, min_gain)? {
                return Ok(false);
            } else {
                additions -= 1;
            }
            Ok(true)
        });
        match changed {
            Ok(changed) => {
                if !changed? {
                    break;
                }
            }
            Err(halt) => {
                control.halted(halt);
                break;
            }
        }
        ascend(core, climb, &held, control)?;
    }
    Ok(())
}

/// The first state of a start, and whether its noise is held at first.
fn begin(core: &Core, problem: &Problem, from: Start) -> Result<(Climb, bool), Failure> {
    let undetermined = is_undetermined(core);
    let from = if undetermined { Start { noise: HELD_NOISE, ..from } } else { from };
    let (hypers, rows) = start(core, problem, from);
    Ok((Climb::new(core, State::new(core, &hypers, &rows))?, undetermined))
}

/// At least twice as many weights with a precision of their own as observations, and a noise to be
/// estimated from them.
fn is_undetermined(core: &Core) -> bool {
    let own = core.hypers.iter().filter(|h| h.own().is_some()).count();
    let noise = core.hypers.iter().any(|h| !h.classes.is_empty());
    noise && own as f64 >= 2.0 * core.count() && own > 2
}

/// q and s of a weight in the model (mathematics §3): q = ⟨w⟩/Σ_ii, s = ⟨α⟩γ/(1 − γ).
fn factors(core: &Core, state: &State, i: usize, gamma: f64) -> (f64, f64, f64) {
    let alpha = core.weights[i].as_ref().map_or(0.0, |product| state.expected(product));
    (state.mean[i] / state.variance[i], alpha * gamma / (alpha * state.variance[i]), alpha)
}

/// The weight with a point precision of its own that earns least, if that is less than `min_gain`.
fn least_useful(core: &Core, state: &State, min_gain: f64) -> Option<usize> {
    let gain = |i: usize| {
        let (q, s, alpha) = factors(core, state, i, state.gamma[i]);
        contribution(s, q, alpha.ln())
    };
    let candidates = (0..core.weights.len()).filter(|&i| state.active[i] && core.prunable(i).is_some());
    let (worst, least) = candidates.map(|i| (i, gain(i))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    (least < min_gain).then_some(worst)
}

/// Takes in the pruned weight that earns most, if that is more than `min_gain`.
fn add_back(core: &Core, climb: &mut Climb, min_gain: f64) -> Result<bool, Failure> {
    let Some((i, h, s, q)) = outside(core, &climb.state)
        .into_iter()
        .filter(|(.., s, q)| best_contribution(*s, *q) > min_gain.max(1e-6))
        .max_by(|a, b| best_contribution(a.2, a.3).total_cmp(&best_contribution(b.2, b.3)))
    else {
        return Ok(false);
    };
    let mut state = climb.state.clone();
    (state.active[i], state.gone[h]) = (true, false);
    // α = s²/(q² − s), shared with the other hyperparameters of the weight
    let alpha = s * s / (q * q - s);
    let rest = core.weights[i].as_ref().map_or(1.0, |p| state.expected(p)) / state.hypers[h].mean();
    state.set_mean(core, h, alpha / rest);
    for &other in core.weights[i].iter().flat_map(|p| &p.hypers).filter(|&&other| other != h) {
        let mean = state.hypers[other].mean();
        state.set_mean(core, other, mean);
    }
    Ok(climb.take_if_higher(core, state))
}

/// Weight, its precision, s and q of every pruned weight with a point precision of its own.
fn outside(core: &Core, state: &State) -> Vec<(usize, usize, f64, f64)> {
    let h: Vec<f64> = core
        .classes
        .iter()
        .enumerate()
        .flat_map(|(c, class)| class.rows.clone().map(move |_| c))
        .map(|c| state.row_precision(core, c))
        .collect();
    let mut all = Vec::new();
    for (group, weights) in state.groups.iter().zip(&core.groups) {
        let out: Vec<(usize, usize)> = weights
            .iter()
            .filter(|&&i| !state.active[i] && core.usable[i])
            .filter_map(|&i| core.prunable(i).map(|h| (i, h)))
            .collect();
        let Some(q) = &group.q else { continue };
        for chunk in out.chunks(512) {
            let list: Vec<usize> = chunk.iter().map(|c| c.0).collect();
            for (&(i, own), (s, q)) in chunk.iter().zip(q.outside(core, &h, &list)) {
                all.push((i, own, s, q));
            }
        }
    }
    all
}

fn finish(
    core: &Core,
    problem: &Problem,
    climb: &Climb,
    trace: Vec<f64>,
    control: &Control<'_>,
) -> Result<Solution, Failure> {
    let state = &climb.state;
    let m = core.weights.len();
    if runs_away(problem, &state.mean) {
        return Err(Failure::NoMode);
    }
    let active: Vec<usize> = (0..m).filter(|&i| state.active[i]).collect();
    let covariance = covariance(state, &active);
    let (mut q, mut s, mut gain) = (vec![f64::NAN; m], vec![f64::NAN; m], vec![f64::NAN; m]);
    for group in &state.groups {
        let Some(gaussian) = &group.q else { continue };
        for (&i, gamma) in group.penalised.iter().zip(gaussian.sharp_gamma()) {
            if core.is_judged(i) {
                let (qi, si, alpha) = factors(core, state, i, gamma);
                (q[i], s[i], gain[i]) = (qi, si, contribution(si, qi, alpha.ln()));
            }
        }
    }
    let mut max_gain_outside = f64::NEG_INFINITY;
    for (i, _, si, qi) in outside(core, state) {
        (q[i], s[i], gain[i]) = (qi, si, best_contribution(si, qi));
        // ½(r − 1 − ln r), r = q²/s, or how far it is from that
        let here = match qi * qi / si {
            r if r > 1.0 => 0.5 * (r - 1.0 - r.ln()),
            r if r.is_nan() => -0.5,
            r => 0.5 * (r - 1.0),
        };
        max_gain_outside = max_gain_outside.max(here);
    }
    let f = state.f();
    let capped: Vec<usize> = (0..core.hypers.len())
        .filter(|&h| !state.gone[h] && state.hypers[h].mean() >= core.hypers[h].cap * (1.0 - 1e-9))
        .collect();
    let gradient = (0..core.hypers.len())
        .filter(|h| !state.gone[*h] && !capped.contains(h))
        .map(|h| state.slope(core, h, &f).abs())
        .fold(0.0, f64::max);
    let findings = findings(core, problem, state, &active, &capped);
    let flat = problem.weights.iter().filter(|w| **w == WeightPrior::Flat).count();
    let merged: usize = core.merged.iter().map(|m| m.1.len()).sum();
    Ok(Solution {
        mean: nalgebra::DVector::from_iterator(active.len(), active.iter().map(|&i| state.mean[i])),
        gamma: active.iter().map(|&i| state.gamma[i]).collect(),
        covariance,
        hypers: values(state),
        factors: state.hypers.iter().map(|q| (!q.is_point()).then(|| (q.shape(), q.rate()))).collect(),
        log_evidence: climb.bound,
        hyperprior: None,
        trace,
        q,
        s,
        gain,
        flat,
        report: Report {
            iterations: control.trace.len(),
            stop: control.stopped.unwrap_or(Stop::Converged),
            pruned: m - active.len() - merged,
            merged: core.merged.clone(),
            rank: None,
            jitter: control.jitter.max(state.jitter),
            restarts: control.restarts(),
            schedule: None,
            found_little: false,
            certificate: Certificate { gradient, max_gain_outside },
            findings,
        },
        active,
    })
}

/// Σ of these weights, all that are in the model; weights of different factors are independent.
pub(super) fn covariance(state: &State, active: &[usize]) -> DMatrix<f64> {
    let mut position = vec![usize::MAX; state.active.len()];
    active.iter().enumerate().for_each(|(at, &i)| position[i] = at);
    let mut covariance = DMatrix::zeros(active.len(), active.len());
    for group in &state.groups {
        let Some(gaussian) = &group.q else { continue };
        let sigma = gaussian.covariance();
        let order: Vec<usize> = group.penalised.iter().chain(&group.flat).copied().collect();
        for (a, &i) in order.iter().enumerate() {
            for (b, &j) in order.iter().enumerate() {
                covariance[(position[i], position[j])] = sigma[(a, b)];
            }
        }
    }
    covariance
}

pub(super) fn check(problem: &Problem, budget: &Budget) -> Result<(), Failure> {
    let (n, m) = problem.design.shape();
    let hypers = problem.hypers.len();
    let known = |p: &super::problem::Product| p.hypers.iter().all(|&h| h < hypers);
    let precisions =
        problem.rows.iter().map(|r| &r.noise).chain(problem.weights.iter().filter_map(|w| match w {
            WeightPrior::Flat => None,
            WeightPrior::Normal(product) => Some(product),
        }));
    if n != problem.rows.len() || m != problem.weights.len() || m != problem.block.len() {
        return Err(Failure::NonFinite { step: "the shapes of the problem" });
    }
    let mut precisions = precisions;
    if !precisions.all(|p| p.ln_known.is_finite() && known(p)) {
        return Err(Failure::NonFinite { step: "known precisions" });
    }
    let good_rate = |p: &super::problem::Product| p.ln_known < f64::INFINITY && known(p);
    if !problem.hypers.iter().all(|h| h.shape >= 0.0 && h.shape.is_finite() && good_rate(&h.rate)) {
        return Err(Failure::NonFinite { step: "hyperpriors" });
    }
    if problem.rows.iter().any(|r| !(r.target.is_finite() && r.offset.is_finite())) {
        return Err(Failure::NonFinite { step: "targets" });
    }
    if problem.rows.iter().any(|r| !(r.count.is_finite() && r.count >= 0.0)) {
        return Err(Failure::NonFinite { step: "case weights" });
    }
    if !all_finite_in_parts(problem.design.as_slice()) {
        return Err(Failure::NonFinite { step: "design" });
    }
    // design, its internal copies; Gram matrix, factor, inverse; covariance
    let (n, m) = (n as u128, m as u128);
    let square = n.min(m);
    let wanted = 8 * (6 * n * (m + 1) + 5 * square * square + 3 * m * m);
    if wanted > budget.max_memory as u128 {
        return Err(Failure::OutOfMemory(usize::try_from(wanted).unwrap_or(usize::MAX), budget.max_memory));
    }
    Ok(())
}
