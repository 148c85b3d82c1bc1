//! Evidence maximisation: type-II maximum likelihood, or MAP with Gamma hyperpriors, of every free
//! hyperparameter of a Gaussian model (mathematics §1, §2).

use nalgebra::DMatrix;

use super::adjoint::{Slope, adjoint, precision};
use super::batch::batch;
pub use super::control::Budget;
use super::control::{Control, Observer, Point};
use super::core::{Core, Role};
use super::findings;
use super::finish::{Found, finish, weights};
use super::greedy::{LEAST, found_little, greedy};
use super::polish::{Position, active_set};
use super::prepare::{Exact, prepare};
use super::problem::Problem;
use super::solution::{Failure, Solution};
use super::source::{Source, Stored};
use super::start::{Start, set_bounds, start};
use crate::math::poll::{attempt, shielded};
use crate::math::qr::rank_up_to;
use crate::plan::ir::{Options, Schedule};

/// Columns are of low rank if so many of them span the rest to this fraction.
const RANK_TOLERANCE: f64 = 1e-11;
/// The same, to see whether there is a gap.
const COARSE_RANK_TOLERANCE: f64 = 1e-5;
/// Largest difference, per observation, that a reduction of the rows may make.
const AGREES: f64 = 1e-9;
/// Noise held at this over the variance of the targets while a dictionary much larger than the data is pruned.
const HELD_NOISE: f64 = 100.0;
/// All weights at once start from prior precisions smaller by this: what the first updates shrink, the noise takes, and
/// never gives back (docs/results.md, friedman-1).
const WIDE: f64 = 1e-2;

/// Fits a problem whose design is there.
///
/// The observer sees every iteration and may stop the fit; what is then known is returned. The same
/// problem gives the same bits, unless a limit of time is hit.
///
/// # Errors
/// Numbers that are not finite, flat effects that the data do not determine, a hyperprior without a
/// maximum, an estimate of memory above the budget, a factorisation that no jitter saves.
pub fn solve(
    problem: &Problem,
    options: &Options,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    solve_from(problem, &mut stored(problem)?, options, budget, on_step)
}

/// The design of a problem, if it has the right shape.
pub(crate) fn stored(problem: &Problem) -> Result<Stored<'_>, Failure> {
    match problem.design.shape() == (problem.targets.len(), problem.weights.len()) {
        true => Ok(Stored(&problem.design)),
        false => Err(Failure::NonFinite { step: "the shapes of the problem" }),
    }
}

/// Fits a problem whose columns come from `source`; its own design is not looked at.
///
/// Columns of low rank are replaced by their coordinates in a basis, block by block, so that N × M numbers
/// need not exist. The result is compared with the true columns of its weights; should it differ, the fit is
/// done again without that.
///
/// # Errors
/// As [`solve`], and those of the source.
pub fn solve_from(
    problem: &Problem,
    source: &mut dyn Source,
    options: &Options,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    let prepared = prepare(problem, source, options, budget, true)?;
    let (mut core, exact) = (prepared.core, prepared.exact);
    set_bounds(&mut core);
    let mut rank = low_rank(&core);
    let mut control = Control::new(options, budget, on_step);
    let choice = if prepared.too_large { Choice::OneAtATime } else { Choice::by_rank(rank) };
    let mut found = search(&core, choice, &mut control)?;
    if let Some(exact) = exact
        && control.stopped.is_none()
    {
        let again = attempt(|| -> Result<_, Failure> {
            if agrees(&exact, &core, &found.point, source)? {
                return Ok(None);
            }
            let mut core = prepare(problem, source, options, budget, false)?.core;
            set_bounds(&mut core);
            let rank = low_rank(&core);
            let found = search(&core, Choice::by_rank(rank), &mut control)?;
            Ok(Some((core, rank, found)))
        });
        match again {
            Ok(again) => {
                if let Some(better) = again? {
                    (core, rank, found) = better;
                }
            }
            Err(halt) => control.halted(halt),
        }
    }
    shielded(|| {
        let takes_up = findings::TakesUp::new(&core, problem, source)?;
        finish(&core, problem, &takes_up, found, rank, control)
    })
}

/// Whether evidence and slope at a point are the same with the true columns.
fn agrees(exact: &Exact, core: &Core, point: &Point, source: &mut dyn Source) -> Result<bool, Failure> {
    let (true_core, true_point) = exact.at(core, point, source)?;
    let (here, there) = (Position::new(core, point)?, Position::new(&true_core, &true_point)?);
    let slope = (here.gradient.iter().zip(&there.gradient)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let off = (here.posterior.log_evidence - there.posterior.log_evidence).abs();
    Ok(off <= AGREES * (core.count() + here.posterior.log_evidence.abs()) && slope <= AGREES * core.count())
}

/// The best of all starts; if it is interrupted, the best so far, or where the last iteration ended.
fn search(core: &Core, choice: Choice, control: &mut Control<'_>) -> Result<Found, Failure> {
    let (from, mut best) = (control.trace.len(), None);
    match attempt(|| search_on(core, choice, control, &mut best)) {
        Ok(done) => done?,
        Err(halt) => control.halted(halt),
    }
    let before_the_first = || Point { x: start(core, Start::default()), active: core.without_own() };
    Ok(match best {
        Some((_, found)) => found,
        None => Found {
            point: control.last.take().unwrap_or_else(before_the_first),
            trace: control.trace[from..].to_vec(),
            held_first: false,
            sequential: control.options.schedule == Schedule::Sequential,
        },
    })
}

fn search_on(
    core: &Core,
    choice: Choice,
    control: &mut Control<'_>,
    best: &mut Option<(f64, Found)>,
) -> Result<(), Failure> {
    for attempt in 0.. {
        let begin = Begin::of(core, attempt, choice, control.options, best.as_ref().map(|b| &b.1.point));
        let (from, sequential) = (control.trace.len(), begin.sequential);
        control.starts += 1;
        let (point, held_first) = run(core, begin, control)?;
        let found_little = sequential && control.ends_by_itself() && found_little(core, core.t.len(), &point);
        let here = Position::new(core, &point)?;
        let trace = control.close(from, core, &point, here.posterior.log_evidence);
        if best.as_ref().is_none_or(|b| here.objective > b.0 + 1e-9 * (1.0 + b.0.abs())) {
            *best = Some((here.objective, Found { point, trace, held_first, sequential }));
        }
        let other = attempt == 0 && choice != Choice::OneAtATime && found_little;
        if control.stopped.is_some() || !(attempt < control.options.restarts || other) {
            break;
        }
    }
    Ok(())
}

/// Which schedules there are to choose from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Both, as the plan says.
    Free,
    /// One at a time first: the columns are of low rank, all-at-once updates stay on flat ridges.
    Ridge,
    /// Only one at a time: there is no memory for all at once.
    OneAtATime,
}

impl Choice {
    fn by_rank(rank: Option<usize>) -> Choice {
        if rank.is_some() { Choice::Ridge } else { Choice::Free }
    }
}

/// A set of weights with hyperparameters, in the units of a problem: where a fit may begin.
#[derive(Clone, PartialEq, Debug)]
pub struct Warm {
    /// Indices of the kept weights.
    pub active: Vec<usize>,
    /// Values of the hyperparameters; infinite for one whose weights are all pruned.
    pub hypers: Vec<f64>,
}

/// Fits a problem from given weights and hyperparameters: Newton's method and the search for a better
/// set of weights, without the updates that lead there from afar.
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
    let mut core = prepare(problem, &mut stored(problem)?, options, budget, false)?.core;
    set_bounds(&mut core);
    let rank = low_rank(&core);
    let mut control = Control::new(options, budget, on_step);
    let mut point = core.resumed(warm);
    let held_first = is_undetermined(&core);
    let all_free = vec![false; core.hypers.len()];
    match attempt(|| active_set(&core, &mut point, &all_free, !held_first, &mut control)) {
        Ok(done) => done?,
        Err(halt) => {
            control.halted(halt);
            point = control.last.take().unwrap_or_else(|| core.resumed(warm));
        }
    }
    shielded(|| {
        let takes_up = findings::TakesUp::new(&core, problem, &mut stored(problem)?)?;
        let objective = Position::new(&core, &point)?.posterior.log_evidence;
        let trace = control.close(0, &core, &point, objective);
        let sequential = options.schedule == Schedule::Sequential;
        finish(&core, problem, &takes_up, Found { point, trace, held_first, sequential }, rank, control)
    })
}

/// The objective and its slopes at given hyperparameters, with every weight of the problem in the model.
///
/// # Errors
/// As [`solve`].
pub fn slope(
    problem: &Problem,
    options: &Options,
    budget: &Budget,
    hypers: &[f64],
) -> Result<Slope, Failure> {
    let mut core = prepare(problem, &mut stored(problem)?, options, budget, false)?.core;
    set_bounds(&mut core);
    let point = Point { x: core.at_values(hypers), active: (0..core.weights.len()).collect() };
    let here = Position::new(&core, &point)?;
    let weights = weights(&core, &here);
    Ok(Slope {
        objective: here.objective,
        log_evidence: here.posterior.log_evidence,
        bounds: core.user_bounds(),
        information: (problem.noise.iter().zip(&problem.counts))
            .map(|(scale, count)| count * precision(scale, hypers))
            .collect(),
        adjoint: adjoint(problem, hypers, &weights.mean, &weights.covariance),
        rule: here.gradient.clone(),
        hypers: here.gradient,
        mean: weights.mean,
    })
}

/// How one start begins.
struct Begin {
    /// One function at a time, from the weights of `point`; or all at once.
    sequential: bool,
    point: Point,
}

impl Begin {
    /// The schedule of the plan first, then the other one, then one at a time from the best so far, then other noise and prior
    /// precisions, then random ones, by turns.
    fn of(core: &Core, attempt: usize, choice: Choice, options: &Options, best: Option<&Point>) -> Begin {
        let planned = options.schedule == Schedule::Sequential || choice != Choice::Free;
        if let (2, Some(best)) = (attempt, best) {
            return Begin { sequential: true, point: best.clone() };
        }
        let sequential = (planned != (attempt == 1)) || choice == Choice::OneAtATime;
        let usual = Start { prior: if sequential { 1.0 } else { WIDE }, ..Start::default() };
        let kind = match attempt {
            0..=2 => usual,
            3 => Start { noise: HELD_NOISE, ..usual },
            4 => Start { prior: 1e-2 * usual.prior, ..usual },
            5 => Start { prior: 1e2 * usual.prior, ..usual },
            seed => Start { seed: seed as u64, ..usual },
        };
        // the evidence prefers to interpolate: prune at a held noise, then free it (mathematics §1)
        let noise = if is_undetermined(core) { HELD_NOISE } else { kind.noise };
        let x = start(core, Start { noise, ..kind });
        let active = if sequential { core.without_own() } else { core.everything() };
        Begin { sequential, point: Point { x, active } }
    }
}

/// From one start to its optimum; also whether the noise was held at first.
fn run(core: &Core, begin: Begin, control: &mut Control<'_>) -> Result<(Point, bool), Failure> {
    let held_first = is_undetermined(core);
    let all_free = vec![false; core.hypers.len()];
    let held = if held_first { core.is_noise() } else { all_free.clone() };
    let mut point = begin.point;
    if begin.sequential {
        greedy(core, &mut point, &held, LEAST, control)?;
    } else {
        batch(core, &mut point, &held, control)?;
    }
    active_set(core, &mut point, &held, true, control)?;
    if held_first {
        active_set(core, &mut point, &all_free, false, control)?;
    }
    Ok((point, held_first))
}

/// At least twice as many prunable functions as observations, and a noise to be estimated from them.
fn is_undetermined(core: &Core) -> bool {
    let own = (0..core.weights.len()).filter(|&i| core.usable[i] && core.weights[i].own.is_some()).count();
    let noise = core.is_noise();
    let free_noise =
        core.hypers.iter().zip(&noise).any(|(h, noise)| *noise && h.rate == 0.0 && h.role == Role::Free);
    free_noise && own as f64 >= 2.0 * core.count() && own > 2
}

/// The rank of the prunable columns if few of them can stand for all: then the evidence has flat ridges, on
/// which all-at-once updates stay.
fn low_rank(core: &Core) -> Option<usize> {
    let own: Vec<usize> =
        (0..core.weights.len()).filter(|&i| core.usable[i] && core.weights[i].own.is_some()).collect();
    small_rank(&core.phi.select_columns(&own))
}

/// The largest rank where there is a gap below the singular values of a coarse one.
fn with_a_gap(coarse: usize) -> usize {
    coarse + coarse / 10
}

/// The rank r of some columns if r (r + 1)/2 is below their number. Columns of a smooth kernel, whose
/// singular values fall without a gap, are not meant.
pub(crate) fn small_rank(columns: &DMatrix<f64>) -> Option<usize> {
    if columns.ncols() < 4 {
        return None;
    }
    let limit = (1..).take_while(|r| r * (r + 1) / 2 < columns.ncols()).last()?;
    let limit = limit.min(columns.nrows().saturating_sub(1));
    // often a few of them are too many, or have singular values without a gap
    let few: Vec<usize> = (0..columns.ncols()).step_by((columns.ncols() / (2 * limit + 2)).max(1)).collect();
    if few.len() < columns.ncols() {
        let few = columns.select_columns(&few);
        let coarse = rank_up_to(&few, limit, COARSE_RANK_TOLERANCE)?;
        rank_up_to(&few, with_a_gap(coarse).min(limit), RANK_TOLERANCE)?;
    }
    let coarse = rank_up_to(columns, limit, COARSE_RANK_TOLERANCE)?;
    rank_up_to(columns, with_a_gap(coarse).min(limit), RANK_TOLERANCE)
}
