//! A fit by Laplace's approximation.

use nalgebra::DVector;

use super::adjoint::adjoint;
use super::expansion::Expansion;
use super::finish::{Found, finish, weights};
use super::frame::{Frame, frame};
use super::problem::LaplaceProblem;
use super::rows::Rows;
use super::search::{active_set, batch, greedy};
use super::settle::Position;
use crate::math::poll;
use crate::math::power::times_two_to;
use crate::plan::ir::{Curvature, Options, Schedule};
use crate::runtime::adjoint::Slope;
use crate::runtime::control::{Budget, Control, Observer, Point};
use crate::runtime::evidence::Warm;
use crate::runtime::greedy::found_little;
use crate::runtime::solution::{Failure, Solution};
use crate::runtime::start::{Start, from_targets, set_bounds_around};

/// Fits a problem.
///
/// The observer sees every iteration and may stop the fit; what is then known is returned.
///
/// # Errors
/// Numbers that are not finite, a posterior without a mode (unpenalised effects that separate the
/// data), a hyperprior without a maximum, an estimate of memory above the budget.
pub fn solve(
    problem: &LaplaceProblem,
    options: &Options,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    let mut frame = frame(problem, options, budget)?;
    let x = start(&frame, Start::default());
    set_bounds_around(&mut frame.core, &x);
    let mut control = Control::new(options, budget, on_step);
    let mut best: Option<(f64, Found)> = None;
    match poll::attempt(|| search(&mut frame, &mut control, &mut best)) {
        Ok(done) => done?,
        Err(halt) => control.halted(halt),
    }
    let found = match best {
        Some((_, found)) => found,
        None => {
            // before the first iteration: without the weights that can be pruned
            let before_the_first = || Point { x, active: frame.core.without_own() };
            Found {
                point: control.last.take().unwrap_or_else(before_the_first),
                mode: no_mode(&frame),
                trace: control.trace.clone(),
                sequential: options.schedule == Schedule::Sequential,
            }
        }
    };
    poll::shielded(|| finish(&frame, problem, found, control))
}

/// The best of all starts, with its objective.
fn search(
    frame: &mut Frame,
    control: &mut Control<'_>,
    best: &mut Option<(f64, Found)>,
) -> Result<(), Failure> {
    for attempt in 0.. {
        control.starts += 1;
        let from = control.trace.len();
        let sequential = (attempt == 1) != (control.options.schedule == Schedule::Sequential);
        let (point, mut mode) = run(frame, attempt, sequential, control)?;
        let found_little =
            sequential && control.ends_by_itself() && found_little(&frame.core, frame.offset.len(), &point);
        let Position { objective, here, .. } =
            Position::new(frame, &point, &mut mode, control.options.curvature)?;
        let trace = control.close(from, &frame.core, &point, here.log_evidence);
        if best.as_ref().is_none_or(|b| objective > b.0 + 1e-9 * (1.0 + b.0.abs())) {
            *best = Some((objective, Found { point, mode, trace, sequential }));
        }
        let other = attempt == 0 && found_little;
        if control.stopped.is_some() || !(attempt < control.options.restarts || other) {
            break;
        }
    }
    Ok(())
}

/// Where the search for a mode begins that knows of none.
fn no_mode(frame: &Frame) -> Vec<f64> {
    vec![0.0; frame.core.flat.ncols() + frame.core.weights.len()]
}

/// Fits a problem from given weights and hyperparameters: precisions and the search for a better set of
/// weights, without the way there from afar.
///
/// # Errors
/// As [`solve`].
pub fn resume(
    problem: &LaplaceProblem,
    options: &Options,
    budget: &Budget,
    warm: &Warm,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    let mut frame = frame(problem, options, budget)?;
    let x = start(&frame, Start::default());
    set_bounds_around(&mut frame.core, &x);
    let core = &frame.core;
    let mut control = Control::new(options, budget, on_step);
    let mut point = core.resumed(warm);
    let mut mode = no_mode(&frame);
    match poll::attempt(|| active_set(&frame, &mut point, &mut mode, &mut control)) {
        Ok(done) => done?,
        Err(halt) => {
            control.halted(halt);
            point = control.last.take().unwrap_or_else(|| core.resumed(warm));
            mode = no_mode(&frame);
        }
    }
    poll::shielded(|| {
        let here = Position::new(&frame, &point, &mut mode, options.curvature)?.here;
        let trace = control.close(0, &frame.core, &point, here.log_evidence);
        let sequential = options.schedule == Schedule::Sequential;
        finish(&frame, problem, Found { point, mode, trace, sequential }, control)
    })
}

/// The objective and its exact slopes at given hyperparameters, with every weight of the problem in the
/// model; the mode is searched from `near`. Where that is given, no bounds are.
///
/// # Errors
/// As [`solve`].
pub fn slope(
    problem: &LaplaceProblem,
    options: &Options,
    budget: &Budget,
    hypers: &[f64],
    near: Option<&DVector<f64>>,
) -> Result<Slope, Failure> {
    let mut frame = frame(problem, options, budget)?;
    if near.is_none() {
        let x = start(&frame, Start::default());
        set_bounds_around(&mut frame.core, &x);
    }
    let core = &frame.core;
    let point = Point { x: core.at_values(hypers), active: (0..core.weights.len()).collect() };
    // flat effects first, in units of the scaled columns
    let scaled = |i: usize, e| Some(times_two_to(*near?.get(i)?, e));
    let given = core.weights.iter().map(|w| scaled(w.index, w.exponent).unwrap_or(0.0));
    let given = DVector::from_iterator(core.weights.len(), given);
    // u' = u + A w − a
    let along = &core.flat_map * &given - &frame.centre.flat;
    let flat = core.flat_weights.iter().zip(&along);
    let flat = flat.map(|(&(i, e), along)| scaled(i, e).map_or(0.0, |u| u + along));
    let mut mode: Vec<f64> = flat.chain(given.iter().copied()).collect();
    let position = Position::new(&frame, &point, &mut mode, Curvature::Exact)?;
    let rule = match options.curvature {
        Curvature::Exact => position.gradient.clone(),
        Curvature::Fixed => {
            let held = position.here.held_slopes(&frame);
            position.here.by_hyper(&frame, &point.x, &held)
        }
    };
    Ok(Slope {
        rule,
        objective: position.objective,
        log_evidence: position.here.log_evidence,
        bounds: core.user_bounds(),
        mean: weights(&frame, &position.here).mean,
        information: information(&frame, &position.here),
        adjoint: adjoint(&frame, &position.here, &point.x),
        hypers: position.gradient,
    })
}

/// The diagonal of the curvature, row after row.
fn information(frame: &Frame, here: &Expansion) -> Vec<f64> {
    let mut out = Vec::new();
    for (term, curvature) in frame.terms.iter().zip(&here.mode.rows.curvature) {
        let d = term.width();
        out.extend((0..term.likelihood.len() * d).map(|r| curvature[r / d * d * d + r % d * (d + 1)]));
    }
    out
}

/// From one start: the usual one twice, for both schedules, then other prior precisions, then random ones.
fn run(
    frame: &mut Frame,
    attempt: usize,
    sequential: bool,
    control: &mut Control<'_>,
) -> Result<(Point, Vec<f64>), Failure> {
    let kind = match attempt {
        0 | 1 => Start::default(),
        2 => Start { prior: 1e-2, ..Start::default() },
        3 => Start { prior: 1e2, ..Start::default() },
        seed => Start { seed: seed as u64, ..Start::default() },
    };
    let mut point = Point { x: start(frame, kind), active: frame.core.everything() };
    let mut warm = vec![0.0; frame.core.flat.ncols() + frame.core.weights.len()];
    if sequential {
        greedy(frame, &mut point, &mut warm, control)?;
    } else {
        batch(frame, &mut point, &mut warm, control)?;
    }
    active_set(frame, &mut point, &mut warm, control)?;
    Ok((point, warm))
}

/// Start of x: prior precisions at M φᵀHφ/N, so that the predictor has about the variance of one
/// unit of information; precisions of likelihoods at `noise / var y`.
pub(super) fn start(frame: &Frame, start: Start) -> Vec<f64> {
    let class_targets: Vec<f64> =
        frame.core.classes.iter().map(|c| (start.noise / c.variance).ln()).collect();
    let mut x = from_targets(&frame.core, &class_targets, &[], start.seed);
    let rows = Rows::new(frame, &x, &DVector::from_column_slice(frame.offset.as_slice()));
    let count = frame.core.everything().len().max(1) as f64 / frame.count().max(1.0);
    let weight_targets: Vec<f64> = (0..frame.core.weights.len())
        .map(|i| (start.prior * count * rows.norm(frame, frame.core.phi.column(i).as_slice())).ln())
        .collect();
    x = from_targets(&frame.core, &class_targets, &weight_targets, start.seed);
    x
}
