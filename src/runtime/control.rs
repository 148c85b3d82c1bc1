//! Budgets, the observer, and the record of a fit while it runs.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::core::Core;
use super::posterior::Posterior;
use super::solution::{Step, Stop};
use crate::math::poll::{self, Halt};
use crate::plan::ir::Options;

/// A slope above this is no optimum.
pub(crate) const STATIONARY: f64 = 1e-5;

/// What a fit may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Budget {
    /// Time; `None` is no limit (and the same answer every run).
    pub max_time: Option<Duration>,
    /// Memory in bytes, compared with an estimate before anything is allocated.
    pub max_memory: usize,
    /// Basis functions that may enter the model of a sequential fit before it pauses.
    pub max_additions: usize,
}

impl Default for Budget {
    /// No limit of time or additions, 4 GiB.
    fn default() -> Self {
        Budget { max_time: None, max_memory: 4 << 30, max_additions: usize::MAX }
    }
}

/// A point of the search: internal log hyperparameters, and the weights in the model (ascending).
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub x: Vec<f64>,
    pub active: Vec<usize>,
}

/// The observer of the host.
pub(crate) type Observer<'a> = dyn FnMut(&Step) -> ControlFlow<()> + 'a;

/// Counts iterations, keeps the trace, and says when to stop.
pub(crate) struct Control<'a> {
    pub options: &'a Options,
    pub trace: Vec<f64>,
    pub stopped: Option<Stop>,
    pub jitter: f64,
    /// Where the last iteration ended.
    pub last: Option<Point>,
    /// Starts that were tried.
    pub starts: usize,
    budget: &'a Budget,
    additions: usize,
    started: Option<Instant>,
    observer: &'a mut Observer<'a>,
}

impl<'a> Control<'a> {
    pub fn new(options: &'a Options, budget: &'a Budget, observer: &'a mut Observer<'a>) -> Self {
        let started = budget.max_time.map(|_| Instant::now());
        if let Some(end) = started.zip(budget.max_time).and_then(|(now, time)| now.checked_add(time)) {
            poll::until(end);
        }
        Control {
            options,
            trace: Vec::new(),
            stopped: None,
            jitter: 0.0,
            last: None,
            starts: 0,
            budget,
            additions: 0,
            started,
            observer,
        }
    }

    /// Starts beyond the first.
    pub fn restarts(&self) -> usize {
        self.starts.saturating_sub(1)
    }

    /// Why it ended, with this largest slope of the free hyperparameters.
    pub fn stop(&self, gradient: f64) -> Stop {
        match self.stopped {
            Some(stop) => stop,
            None if gradient > STATIONARY => Stop::Stalled,
            None => Stop::Converged,
        }
    }

    /// A step was interrupted: what there is counts.
    pub fn halted(&mut self, halt: Halt) {
        let stop = if halt == Halt::Time { Stop::MaxTime } else { Stop::Interrupted };
        self.stopped = self.stopped.or(Some(stop));
    }

    /// Whether one more basis function may enter; it counts as one.
    pub fn may_add(&mut self) -> bool {
        self.additions += 1;
        self.additions <= self.budget.max_additions
    }

    /// Whether a sequential fit ends by itself, without a pause.
    pub fn ends_by_itself(&self) -> bool {
        self.budget.max_additions == usize::MAX
    }

    /// Whether another iteration is allowed.
    pub fn may_go_on(&mut self) -> bool {
        if self.stopped.is_none() {
            if self.trace.len() >= self.options.max_iter {
                self.stopped = Some(Stop::MaxIter);
            } else if let (Some(limit), Some(started)) = (self.budget.max_time, self.started)
                && started.elapsed() >= limit
            {
                self.stopped = Some(Stop::MaxTime);
            } else if poll::halt() == Some(Halt::Stop) {
                self.stopped = Some(Stop::Interrupted);
            }
            if matches!(self.stopped, Some(Stop::MaxTime | Stop::Interrupted)) {
                poll::shield();
            }
        }
        self.stopped.is_none()
    }

    /// Records an iteration and shows it to the host.
    pub fn record(&mut self, core: &Core, point: &Point, posterior: &Posterior, phase: &'static str) {
        self.note(core, point, posterior.log_evidence, posterior.jitter(), phase);
    }

    /// The same, of any objective.
    pub fn note(&mut self, core: &Core, point: &Point, objective: f64, jitter: f64, phase: &'static str) {
        self.jitter = self.jitter.max(jitter);
        self.last = Some(point.clone());
        self.show(objective, point.active.len() + core.flat_weights.len(), phase);
    }

    /// The same from what the host sees.
    pub fn show(&mut self, objective: f64, active: usize, phase: &'static str) {
        self.trace.push(objective);
        let iteration = self.trace.len();
        let step = Step { iteration, objective, active, phase };
        if (self.observer)(&step).is_break() && self.stopped.is_none() {
            self.stopped = Some(Stop::Interrupted);
        }
    }
}

impl Control<'_> {
    /// Ends a start whose trace began at `from`, and gives that trace: where the last change of the set of
    /// weights left nothing to settle, the point that it led to is an iteration of its own.
    pub fn close(&mut self, from: usize, core: &Core, point: &Point, objective: f64) -> Vec<f64> {
        let last = self.trace.get(from..).and_then(<[f64]>::last);
        let there = last.is_some_and(|last| (last - objective).abs() <= 1e-12 * (1.0 + objective.abs()));
        if self.stopped.is_none() && !there {
            self.note(core, point, objective, 0.0, "settled");
        }
        self.trace.get(from..).unwrap_or_default().to_vec()
    }
}

impl Core {
    /// Hyperparameters in the user's units; infinite (or 0, by the sign of their powers) if nothing
    /// they scale is left.
    pub fn values(&self, x: &[f64], active: &[usize]) -> Vec<f64> {
        let live = self.live(active);
        (0..self.hypers.len())
            .map(|h| {
                let hyper = &self.hypers[h];
                match hyper.is_free() && !live[h] {
                    true if hyper.sign < 0.0 => 0.0,
                    true => f64::INFINITY,
                    false => hyper.value(x[h]),
                }
            })
            .collect()
    }
}
