//! Learned parameters: type-II maximum likelihood of everything that has no prior (mathematics §9).
//!
//! A fit at fixed parameters chooses the weights; on these, parameters and hyperparameters climb together
//! by their exact gradient; then the weights are chosen again, from where the last fit ended. That
//! repeats until the objective stops rising.

pub(crate) mod at;
pub mod coordinates;
pub mod solver;

use std::time::Instant;

use nalgebra::DMatrix;

use at::At;
use coordinates::{Coordinates, Values};
use solver::Solver;

use super::adjoint::{Adjoint, precision};
use super::assemble::Layout;
use super::control::{Budget, Observer};
use super::evidence::Warm;
use super::problem::{Problem, WeightPrior};
use super::solution::{Failure, Solution, Step, Stop};
use crate::design::{EvalError, Inputs, Restrict};
use crate::math::lbfgs::{self, Settings, maximise};
use crate::plan::ir::Plan;

/// Rounds of choosing weights and climbing.
const ROUNDS: usize = 60;
/// Steps of one climb before the weights are chosen again.
const STEPS: usize = 40;
/// Steps of the last climbs.
const FINE_STEPS: usize = 1000;
/// Rise in nats below which the weights are settled.
const RISE: f64 = 1e-3;
/// Slope that the last climb leaves.
const FLAT: f64 = 1e-7;
/// A slope above this is no optimum.
const STATIONARY: f64 = 1e-5;
/// Largest change of a coordinate in one step.
const REACH: f64 = 2.0;
/// Random sign patterns for the units of reals.
const PATTERNS: u64 = 8;

/// What was learned.
#[derive(Clone, PartialEq, Debug)]
pub struct Learned {
    /// The fit at the learned parameters; its certificate covers them.
    pub solution: Solution,
    /// Where nodes stand in it.
    pub layout: Layout,
    /// The parameters.
    pub params: Values,
}

/// Why there is no result.
#[derive(Clone, PartialEq, Debug)]
pub enum LearnError {
    /// An expression has no value.
    Eval(EvalError),
    /// The method failed.
    Failure(Failure),
}

impl From<EvalError> for LearnError {
    fn from(error: EvalError) -> Self {
        LearnError::Eval(error)
    }
}

impl From<Failure> for LearnError {
    fn from(failure: Failure) -> Self {
        LearnError::Failure(failure)
    }
}

/// Fits a plan with parameters. `options.restarts` is the number of other starts of the parameters.
///
/// # Errors
/// An expression that has no value at the start, or a method that fails there.
pub fn learn(
    plan: &Plan,
    inputs: Inputs<'_>,
    solver: &dyn Solver,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Learned, LearnError> {
    let (at, params) = At::start(plan, inputs, budget.max_memory)?;
    let coordinates = Coordinates::new(params);
    let started = Instant::now();
    let mut learner =
        Learner { at, coordinates, solver, budget, on_step, started, trace: Vec::new(), stopped: None };
    let mut best: Option<Here> = None;
    for attempt in 0..=plan.options.restarts {
        // the starts of the program, then four times larger and smaller logarithmic ones, and so on
        let factor = ((attempt + 1) / 2) as f64 * 4f64.ln();
        let start = learner.coordinates.moved_start(if attempt % 2 == 1 { factor } else { -factor });
        let found = match learner.climb(start) {
            Ok(found) => found,
            // another start may be out of reach
            Err(_) if best.is_some() => continue,
            Err(error) => return Err(error),
        };
        if best.as_ref().is_none_or(|b| found.objective() > b.objective() + 1e-9) {
            best = Some(found);
        }
        if learner.stopped.is_some() {
            break;
        }
    }
    let Some(best) = best else { return Err(Failure::NonFinite { step: "starts" }.into()) };
    learner.finish(best, plan.options.restarts)
}

struct Learner<'a, 'o> {
    at: At<'a>,
    coordinates: Coordinates,
    solver: &'a dyn Solver,
    budget: &'a Budget,
    on_step: &'a mut Observer<'o>,
    started: Instant,
    trace: Vec<f64>,
    stopped: Option<Stop>,
}

/// A fit at some values of the parameters.
struct Here {
    params: Values,
    solution: Solution,
    layout: Layout,
}

/// The objective on the kept weights of a fit: what its arguments mean.
struct Climb {
    restrict: Restrict,
    /// Coordinates of parameters come first, then the logarithms of these hyperparameters.
    hypers: Vec<usize>,
    values: Vec<f64>,
}

impl Here {
    fn objective(&self) -> f64 {
        self.solution.log_evidence + self.solution.hyperprior.unwrap_or(0.0)
    }

    fn warm(&self, hypers: Vec<f64>) -> Warm {
        Warm { active: self.solution.active.clone(), hypers }
    }

    /// The kept innovations of every node.
    fn restrict(&self) -> Restrict {
        let kept = |p: &super::assemble::Place| {
            let range = p.start..p.start + p.len;
            self.solution.active.iter().filter(|i| range.contains(i)).map(|i| i - p.start).collect()
        };
        Restrict {
            active: self.layout.blocks.iter().map(|p| (p.node, kept(p))).collect(),
            ..Restrict::default()
        }
    }
}

impl Learner<'_, '_> {
    /// From one start to a maximum.
    fn climb(&mut self, start: Values) -> Result<Here, LearnError> {
        let mut here = self.fit(start, None)?;
        self.measure(&here)?;
        let mut best: Option<Here> = None;
        for _ in 0..ROUNDS {
            if self.stopped.is_some() {
                break;
            }
            let (params, hypers) = self.rise(&here, Settings { slope: 1e-3, steps: STEPS, reach: REACH })?;
            let warm = here.warm(hypers);
            let next = self.fit(params, Some(&warm))?;
            let rise = next.objective() - here.objective();
            let better = best.as_ref().is_none_or(|b| here.objective() > b.objective());
            if better {
                best = Some(std::mem::replace(&mut here, next));
            } else {
                here = next;
            }
            if rise < RISE {
                break;
            }
        }
        Ok(match best {
            Some(best) if best.objective() > here.objective() => best,
            _ => here,
        })
    }

    /// The last climbs, and the certificate of everything together.
    fn finish(mut self, mut here: Here, restarts: usize) -> Result<Learned, LearnError> {
        let fine = Settings { slope: FLAT, steps: FINE_STEPS, reach: REACH };
        for _ in 0..8 {
            if self.stopped.is_some() {
                break;
            }
            let (params, hypers) = self.rise(&here, fine)?;
            let next = self.fit(params, Some(&here.warm(hypers)))?;
            let settled = next.solution.active == here.solution.active;
            // a fit that drops what does not earn its keep may fall a little
            here = next;
            if settled && self.slope(&here)? <= 10.0 * FLAT {
                break;
            }
        }
        let slope = self.slope(&here)?;
        let Here { params, mut solution, layout } = here;
        let report = &mut solution.report;
        report.certificate.gradient = report.certificate.gradient.max(slope);
        report.restarts = restarts;
        report.iterations = self.trace.len();
        report.stop = match self.stopped {
            Some(stop) => stop,
            None if report.certificate.gradient > STATIONARY => Stop::Stalled,
            None => Stop::Converged,
        };
        solution.trace = self.trace;
        Ok(Learned { solution, layout, params })
    }

    /// A fit at these values.
    fn fit(&mut self, params: Values, warm: Option<&Warm>) -> Result<Here, LearnError> {
        self.at.go(self.coordinates.params(), &params)?;
        let (problem, layout) = self.at.problem(&Restrict::default())?;
        let budget = self.remaining();
        let before = self.trace.len();
        let on_step = &mut *self.on_step;
        let mut counted = |step: &Step<'_>| on_step(&Step { iteration: before + step.iteration, ..*step });
        let solution = self.solver.fit(&problem, &budget, warm, &mut counted)?;
        self.trace.extend(&solution.trace);
        if matches!(solution.report.stop, Stop::MaxIter | Stop::MaxTime | Stop::Interrupted) {
            self.stopped = self.stopped.or(Some(solution.report.stop));
        }
        Ok(Here { params, solution, layout })
    }

    fn remaining(&self) -> Budget {
        let left = self.budget.max_time.map(|t| t.saturating_sub(self.started.elapsed()));
        Budget { max_time: left, ..*self.budget }
    }

    /// Climbs on the kept weights; the parameters and all hyperparameters where it ended.
    fn rise(&mut self, here: &Here, settings: Settings) -> Result<(Values, Vec<f64>), LearnError> {
        let z = self.coordinates.of(&here.params);
        let mut climb =
            Climb { restrict: here.restrict(), hypers: Vec::new(), values: here.solution.hypers.clone() };
        let mut bounds = self.coordinates.bounds();
        let (start, limits) = self.first(&mut climb, &here.params)?;
        bounds.extend(limits);
        let x: Vec<f64> = z.iter().copied().chain(start).collect();
        let kept: Vec<usize> = here.solution.active.clone();
        let (at, coordinates, solver, budget) = (&mut self.at, &self.coordinates, self.solver, self.budget);
        let mut f = |x: &[f64]| evaluate(at, coordinates, solver, budget, &climb, x).ok();
        let (trace, on_step, stopped) = (&mut self.trace, &mut *self.on_step, &mut self.stopped);
        let (started, max_time) = (self.started, self.budget.max_time);
        let mut told = |value: f64| {
            trace.push(value);
            let step = Step {
                iteration: trace.len(),
                objective: value,
                active: kept.len(),
                kept: &kept,
                hypers: &climb.values,
                phase: "learn parameters",
            };
            if on_step(&step).is_break() {
                *stopped = Some(Stop::Interrupted);
            } else if max_time.is_some_and(|t| started.elapsed() >= t) {
                *stopped = Some(Stop::MaxTime);
            }
            stopped.is_none()
        };
        let found: Option<lbfgs::Optimum> = maximise(&x, &bounds, &mut f, settings, &mut told);
        let found = found.ok_or(Failure::NonFinite { step: "learning parameters" })?;
        let (z, ln) = found.x.split_at(z.len());
        let mut hypers = climb.values.clone();
        climb.hypers.iter().zip(ln).for_each(|(h, ln)| hypers[*h] = ln.exp());
        Ok((self.coordinates.values(z), hypers))
    }

    /// The hyperparameters that climb too: their logarithms and bounds.
    fn first(
        &mut self,
        climb: &mut Climb,
        params: &Values,
    ) -> Result<(Vec<f64>, Vec<(f64, f64)>), LearnError> {
        if !self.solver.follows_gradient() {
            return Ok((Vec::new(), Vec::new()));
        }
        self.at.go(self.coordinates.params(), params)?;
        let (problem, _) = self.at.problem(&climb.restrict)?;
        let slope = self.solver.slope(&problem, self.budget, &climb.values)?;
        climb.hypers = moving(&problem, &climb.values);
        let ln = climb.hypers.iter().map(|h| climb.values[*h].ln()).collect();
        Ok((ln, climb.hypers.iter().map(|h| slope.bounds[*h]).collect()))
    }

    /// The largest slope of a parameter that is not pressed against a bound.
    fn slope(&mut self, here: &Here) -> Result<f64, LearnError> {
        let climb =
            Climb { restrict: here.restrict(), hypers: Vec::new(), values: here.solution.hypers.clone() };
        let z = self.coordinates.of(&here.params);
        let (_, slopes) = evaluate(&mut self.at, &self.coordinates, self.solver, self.budget, &climb, &z)?;
        let pressed = |((z, g), (low, high)): ((&f64, &f64), &(f64, f64))| {
            if (z <= low && *g <= 0.0) || (z >= high && *g >= 0.0) { 0.0 } else { g.abs() }
        };
        Ok(z.iter().zip(&slopes).zip(&self.coordinates.bounds()).map(pressed).fold(0.0, f64::max))
    }

    /// Sets the units of real parameters: with random signs ξ, E (ξᵀ H^½ df/dp)² is the information of the
    /// data about p alone, and likewise for the logarithms of precisions, of information ½ each.
    fn measure(&mut self, here: &Here) -> Result<(), LearnError> {
        self.at.go(self.coordinates.params(), &here.params)?;
        let restrict = here.restrict();
        let (problem, layout) = self.at.problem(&restrict)?;
        let hypers = &here.solution.hypers;
        let slope = self.solver.slope(&problem, self.budget, hypers)?;
        let mut information = crate::design::adjoint::Bars::new();
        for pattern in 0..PATTERNS {
            let signs = signed(&problem, hypers, &slope.mean, pattern);
            for (node, bar) in self.at.pull(&signs, &layout, &restrict)? {
                let square = bar.map(|g| g * g / PATTERNS as f64);
                match information.get_mut(&node) {
                    Some(sum) => *sum += square,
                    None => {
                        information.insert(node, square);
                    }
                }
            }
        }
        self.coordinates.set_units(&information);
        Ok(())
    }
}

/// Objective and slopes at coordinates of parameters, then logarithms of hyperparameters.
fn evaluate(
    at: &mut At<'_>,
    coordinates: &Coordinates,
    solver: &dyn Solver,
    budget: &Budget,
    climb: &Climb,
    x: &[f64],
) -> Result<(f64, Vec<f64>), LearnError> {
    let (z, ln) = x.split_at(coordinates.len().min(x.len()));
    let params = coordinates.values(z);
    let mut hypers = climb.values.clone();
    climb.hypers.iter().zip(ln).for_each(|(h, ln)| hypers[*h] = ln.exp());
    at.go(coordinates.params(), &params)?;
    let (problem, layout) = at.problem(&climb.restrict)?;
    let slope = solver.slope(&problem, budget, &hypers)?;
    let bars = at.pull(&slope.adjoint, &layout, &climb.restrict)?;
    let mut slopes = coordinates.slopes(&params, &bars);
    slopes.extend(climb.hypers.iter().map(|h| slope.hypers[*h]));
    Ok((slope.objective, slopes))
}

/// Free hyperparameters with a finite value that scale something in the problem or have a prior.
fn moving(problem: &Problem, values: &[f64]) -> Vec<usize> {
    let mut used: Vec<bool> = problem.hypers.iter().map(|h| h.rate > 0.0).collect();
    let weights = problem.weights.iter().filter_map(|w| match w {
        WeightPrior::Normal(scale) => Some(scale),
        WeightPrior::Flat => None,
    });
    for scale in problem.noise.iter().chain(weights) {
        scale.powers.iter().for_each(|(h, _)| used[*h] = true);
    }
    let free = |h: &usize| used[*h] && problem.hypers[*h].held.is_none() && values[*h].is_finite();
    (0..problem.hypers.len()).filter(free).collect()
}

/// Random signs on everything a parameter can move, each by the root of its information.
fn signed(problem: &Problem, hypers: &[f64], mean: &nalgebra::DVector<f64>, pattern: u64) -> Adjoint {
    let mut state = pattern.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut sign = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 0 { 1.0 } else { -1.0 }
    };
    let n = problem.targets.len();
    let root = |row: usize| (problem.counts[row] * precision(&problem.noise[row], hypers)).sqrt();
    let offset: Vec<f64> = (0..n).map(|row| sign() * root(row)).collect();
    let half = 0.5f64.sqrt();
    Adjoint {
        design: DMatrix::from_fn(n, mean.len(), |row, i| offset[row] * mean[i]),
        noise_log: (0..n).map(|row| sign() * half * problem.counts[row].sqrt()).collect(),
        weight_log: (0..mean.len()).map(|_| sign() * half).collect(),
        offset,
        args: Vec::new(),
    }
}
