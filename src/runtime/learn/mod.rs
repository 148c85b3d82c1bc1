//! Learned parameters: type-II maximum likelihood of everything that has no prior (mathematics §9).
//!
//! A fit at fixed parameters chooses the weights; on these, parameters and hyperparameters climb together
//! by their exact gradient; then the weights are chosen again, from where the last fit ended. That
//! repeats until the objective stops rising.

pub(crate) mod at;
pub mod coordinates;
mod kept;
mod starts;

use std::collections::BTreeMap;
use std::time::Instant;

use at::At;
use coordinates::{Coordinates, Values};
use kept::{FLAT, Rest};
pub use starts::starts;
use starts::{Begin, begins};

use super::adjoint::Slope;
use super::assemble::Layout;
use super::control::{Budget, Observer, STATIONARY};
use super::evidence::Warm;
use super::solution::{Failure, Finding, Solution, Step, Stop};
use crate::check::typed::NodeId;
use crate::design::adjoint::Bars;
use crate::design::{EvalError, Inputs, Restrict};
use crate::math::poll::{self, Halt};
use crate::plan::ir::{Curvature, Options, Plan, Schedule};
use crate::runtime::execute::follows_gradient;

/// Rounds of choosing weights and climbing.
const ROUNDS: usize = 60;
/// Last climbs.
const LAST: usize = 8;
/// The same where hyperparameters follow a rule of their own, by turns.
const TURNS: usize = 60;
/// Rise in nats below which the weights are settled.
const RISE: f64 = 1e-3;
/// Change of a coordinate below which parameters and hyperparameters by turns have settled.
const SETTLED: f64 = 1e-4;
/// Fall of the objective in nats, from its highest, at which rules by turns are given up: they have no
/// common fixed point.
const DRIFT: f64 = 3.0;
/// Rise in nats of the last turn above which the weights are chosen again first: where both rules rest with
/// weights that will change can be far away.
const RISING: f64 = 5.0;
/// Difference in nats of two fits that are the same.
const SAME: f64 = 1e-6;
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

/// Fits a plan with parameters, from the starts of the program, and with logarithmic coordinates from
/// four times larger ones too; `options.restarts` is the number of starts beyond these, the first of them by the other schedule.
/// Each of those is learned to its end, and the highest objective is kept.
///
/// # Errors
/// An expression that has no value at the start, or a method that fails there.
pub fn learn(
    plan: &Plan,
    inputs: Inputs<'_>,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Learned, LearnError> {
    let (at, params) = At::start(plan, inputs, budget.max_memory)?;
    let coordinates = Coordinates::new(params);
    // other starts are other starts of the parameters
    let options = Options { restarts: 0, ..plan.options };
    let begins = begins(plan, &coordinates);
    let mut learner = Learner {
        plan,
        at,
        coordinates,
        options,
        budget,
        on_step,
        started: Instant::now(),
        trace: Vec::new(),
        from: 0,
        stopped: None,
        joint: follows_gradient(plan),
        drifts: false,
        fine: false,
        additions: usize::MAX,
    };
    let mut best = learner.learned(&begins.usual)?;
    let all_at_once = [Begin { schedule: Schedule::Batch, place: 0 }];
    let further = match plan.options.restarts {
        0 if best.solution.report.found_little => &all_at_once,
        _ => begins.further.as_slice(),
    };
    let mut restarts = 0;
    for begin in further {
        if learner.stopped.is_some() {
            break;
        }
        restarts += 1;
        match poll::attempt(|| learner.learned(std::slice::from_ref(begin))) {
            Ok(Ok(found)) if found.is_better_than(&best) => best = found,
            // another start may be out of reach
            Ok(_) => (),
            Err(halt) => learner.halted(halt),
        }
    }
    let report = &mut best.solution.report;
    report.restarts = restarts;
    report.iterations = learner.trace.len();
    // what came to rest does so even if iterations end during another start
    if let Some(stop) = learner.stopped.filter(|stop| *stop != Stop::MaxIter) {
        report.stop = stop;
    }
    Ok(best)
}

impl Learned {
    /// By the objective; what came to rest stays before what did not.
    fn is_better_than(&self, other: &Learned) -> bool {
        let objective = |l: &Learned| l.solution.log_evidence + l.solution.hyperprior.unwrap_or(0.0);
        let rests = |l: &Learned| l.solution.report.stop == Stop::Converged;
        objective(self) > objective(other) + 1e-9 && (rests(self) || !rests(other))
    }
}

struct Learner<'a, 'o> {
    plan: &'a Plan,
    at: At<'a>,
    coordinates: Coordinates,
    options: Options,
    budget: &'a Budget,
    on_step: &'a mut Observer<'o>,
    started: Instant,
    trace: Vec<f64>,
    /// Where in it this start begins.
    from: usize,
    stopped: Option<Stop>,
    /// Whether hyperparameters follow the gradient of the same objective.
    joint: bool,
    /// Whether they had a rule of their own, and drifted away from the parameters by it.
    drifts: bool,
    /// Whether the last rounds have begun, in which each follows its own rule.
    fine: bool,
    /// Basis functions that may enter at once.
    additions: usize,
}

/// A fit at some values of the parameters.
struct Here {
    params: Values,
    solution: Solution,
    layout: Layout,
    /// Rise of the objective since the fit before.
    rise: f64,
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
    /// From the best of some starts to the end.
    fn learned(&mut self, begins: &[Begin]) -> Result<Learned, LearnError> {
        (self.drifts, self.joint, self.fine) = (false, follows_gradient(self.plan), false);
        self.options.curvature = self.plan.options.curvature;
        // where the two rules by turns ended, if not at rest
        let mut by_turns: Option<Learned> = None;
        loop {
            let found = self.best_start(begins);
            let over = self.joint || self.stopped.is_some();
            if over || !self.drifts {
                let learned = found.and_then(|(best, trace)| self.finish(best, trace));
                let failed = learned.as_ref().map_or(true, |l| l.solution.report.stop == Stop::Stalled);
                if over || !failed {
                    let sound = match (&by_turns, &learned) {
                        (None, _) => true,
                        (_, Ok(joint)) => poll::shielded(|| self.is_sound(joint))?,
                        (_, Err(_)) => false,
                    };
                    return match by_turns {
                        Some(mut turns) if !sound => {
                            turns.solution.report.stop = self.stopped.unwrap_or(Stop::Stalled);
                            Ok(turns)
                        }
                        _ => learned,
                    };
                }
                by_turns = learned.ok();
            }
            // two rules without a common fixed point: one objective for both
            (self.drifts, self.joint, self.fine) = (true, true, false);
            self.options.curvature = Curvature::Exact;
        }
    }

    /// Whether a fit came to rest, and says of its own data what its evidence says at least. Where curvatures
    /// vanish, Laplace's approximation finds evidence in weights that are as good as unknown.
    fn is_sound(&mut self, learned: &Learned) -> Result<bool, LearnError> {
        self.at.go(self.coordinates.params(), &learned.params)?;
        let own = self.at.whole()?.0.hindsight(&learned.solution);
        let rests = learned.solution.report.stop == Stop::Converged;
        Ok(rests && own.is_none_or(|own| own >= learned.solution.log_evidence))
    }

    /// From one start to a maximum.
    fn climb(&mut self, start: Values) -> Result<Here, LearnError> {
        let start = self.ground(start);
        self.from = self.trace.len();
        // one at a time means parameters too: few weights, parameters, twice as many, parameters …
        let grows = !self.joint && self.options.schedule == Schedule::Sequential;
        self.additions = if grows { 1 } else { usize::MAX };
        let mut here = self.fit(start, None)?;
        let mut best: Option<Here> = None;
        let mut highest = here.objective();
        for _ in 0..ROUNDS {
            if self.stopped.is_some() {
                break;
            }
            self.additions = self.additions.saturating_mul(2);
            let step = poll::attempt(|| -> Result<(f64, Here), LearnError> {
                self.measure(&here)?;
                let (params, hypers) = self.rise(&here, false)?;
                let (old, new) = (self.coordinates.of(&here.params), self.coordinates.of(&params));
                let moved = old.iter().zip(&new).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                Ok((moved, self.fit(params, Some(&here.warm(hypers)))?))
            });
            let (moved, next) = match step {
                Ok(Ok(step)) => step,
                // without an end, a climb goes to where nothing can be computed: what was found before stands
                Ok(Err(_)) => break,
                Err(halt) => {
                    self.halted(halt);
                    break;
                }
            };
            let rise = next.objective() - here.objective();
            let before = std::mem::replace(&mut here, Here { rise, ..next });
            highest = highest.max(here.objective());
            self.drifts |= !self.joint && here.objective() < highest - DRIFT;
            if self.drifts && !self.joint {
                break;
            }
            if !self.joint {
                // the fixed point of two rules is no maximum of one objective
                let grew = before.solution.active != here.solution.active;
                if moved < SETTLED || !grew {
                    break;
                }
                continue;
            }
            if best.as_ref().is_none_or(|b| before.objective() > b.objective()) {
                best = Some(before);
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

    /// A better start for parameters that are measured like reals: where they fit best without the weights
    /// that have a precision of their own to be learned. It makes the answer independent of offsets.
    fn ground(&mut self, start: Values) -> Values {
        if !self.coordinates.has_reals() {
            return start;
        }
        let mut climbed = || -> Result<Values, LearnError> {
            self.at.go(self.coordinates.params(), &start)?;
            let (problem, layout) = self.at.problem(&self.at.bare()?)?;
            let budget = self.remaining();
            let solution = problem.solve(&self.options, &budget, self.on_step)?;
            let here = Here { params: start.clone(), solution, layout, rise: 0.0 };
            self.measure(&here)?;
            Ok(self.rise(&here, false)?.0)
        };
        // the fit with all weights tells what is wrong, if anything is
        climbed().unwrap_or(start)
    }

    /// The last climbs, and the certificate of everything together.
    fn finish(&mut self, mut here: Here, mut trace: Vec<f64>) -> Result<Learned, LearnError> {
        let schedule = here.solution.report.schedule;
        (self.fine, self.additions, self.from) = (true, usize::MAX, self.trace.len());
        // where both rules rest, but a fit went away from: to other weights, or because nothing is drawn there
        let mut left: Vec<f64> = Vec::new();
        for _ in 0..if self.joint { LAST } else { TURNS } {
            if self.stopped.is_some() {
                break;
            }
            let step = poll::attempt(|| -> Result<(Option<f64>, Here), LearnError> {
                self.measure(&here)?;
                let rest = if here.rise > RISING { None } else { self.balance(&here)? };
                let rest = rest.filter(|rest| left.iter().all(|l| (l - rest.objective).abs() > SAME));
                let objective = rest.as_ref().map(|rest| rest.objective);
                let (params, hypers) = match rest {
                    Some(Rest { params, hypers, .. }) => (params, hypers),
                    None => self.rise(&here, true)?,
                };
                Ok((objective, self.fit(params, Some(&here.warm(hypers)))?))
            });
            let (rest, next) = match step {
                Ok(Ok(next)) => next,
                Ok(Err(_)) => break,
                Err(halt) => {
                    self.halted(halt);
                    break;
                }
            };
            let settled = next.solution.active == here.solution.active;
            let rise = next.objective() - here.objective();
            left.extend(rest.filter(|rest| (next.objective() - rest).abs() > SAME));
            // a fit that drops what does not earn its keep may fall a little
            here = Here { rise, ..next };
            if settled && (self.slope(&here)? <= 10.0 * FLAT || (self.joint && rise.abs() < 1e-9)) {
                break;
            }
        }
        let slope = poll::shielded(|| self.slope(&here))?;
        let Here { params, mut solution, layout, .. } = here;
        let report = &mut solution.report;
        report.certificate.gradient = report.certificate.gradient.max(slope);
        report.schedule = schedule;
        if self.drifts && self.joint {
            report.findings.push(Finding::Drift);
        }
        report.iterations = self.trace.len();
        report.stop = match self.stopped {
            Some(stop) => stop,
            None if report.certificate.gradient > STATIONARY => Stop::Stalled,
            None => Stop::Converged,
        };
        trace.extend(&self.trace[self.from..]);
        solution.trace = trace;
        Ok(Learned { solution, layout, params })
    }

    /// A step was interrupted: what there is counts.
    fn halted(&mut self, halt: Halt) {
        let stop = if halt == Halt::Time { Stop::MaxTime } else { Stop::Interrupted };
        self.stopped = self.stopped.or(Some(stop));
    }

    /// A fit at these values.
    fn fit(&mut self, params: Values, warm: Option<&Warm>) -> Result<Here, LearnError> {
        self.at.go(self.coordinates.params(), &params)?;
        let budget = self.remaining();
        let (problem, layout) = self.at.whole()?;
        let before = self.trace.len();
        let (trace, on_step) = (&mut self.trace, &mut *self.on_step);
        let mut counted = |step: &Step| {
            trace.push(step.objective);
            on_step(&Step { iteration: before + step.iteration, ..*step })
        };
        let solution = match warm {
            Some(warm) => problem.resume(&self.options, &budget, warm, &mut counted)?,
            None => problem.solve(&self.options, &budget, &mut counted)?,
        };
        if matches!(solution.report.stop, Stop::MaxIter | Stop::MaxTime | Stop::Interrupted) {
            self.stopped = self.stopped.or(Some(solution.report.stop));
        }
        Ok(Here { params, solution, layout: layout.clone(), rise: 0.0 })
    }

    fn remaining(&self) -> Budget {
        let left = self.budget.max_time.map(|t| t.saturating_sub(self.started.elapsed()));
        Budget { max_time: left, max_additions: self.additions, ..*self.budget }
    }
}

/// The objective at the start values of the parameters and at these hyperparameters, every weight in the
/// model, and its derivative by each parameter. For tests and teaching.
///
/// # Errors
/// An expression that has no value, or a method that fails there.
pub fn slope_at_start(
    plan: &Plan,
    inputs: Inputs<'_>,
    budget: &Budget,
    hypers: &[f64],
) -> Result<(Slope, Bars), LearnError> {
    let (at, _) = At::start(plan, inputs, budget.max_memory)?;
    let restrict = Restrict::default();
    let (problem, layout) = at.problem(&restrict)?;
    let all: BTreeMap<NodeId, Vec<usize>> =
        layout.blocks.iter().map(|p| (p.node, (0..p.len).collect())).collect();
    let slope = problem.slope(&plan.options, budget, hypers, None)?;
    let bars = at.pull(&slope.adjoint, &layout, &Restrict { active: all, ..restrict })?;
    Ok((slope, bars))
}
