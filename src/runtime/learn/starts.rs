//! Where the search for parameters begins, and which of its ends is kept.

use super::at::At;
use super::coordinates::{Coordinates, Values};
use super::{Here, LearnError, Learner};
use crate::design::{EvalError, Inputs};
use crate::math::poll;
use crate::plan::ir::{Plan, Schedule};
use crate::runtime::solution::Failure;

/// Where the search for each parameter starts.
///
/// # Errors
/// A start that has no value, or lies outside the set of its parameter.
pub fn starts(plan: &Plan, inputs: Inputs<'_>, memory: usize) -> Result<Values, EvalError> {
    let (_, params) = At::start(plan, inputs, memory)?;
    Ok(Coordinates::new(params).start())
}

/// Where a search begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    pub schedule: Schedule,
    /// Of the parameters, among their starts.
    pub place: usize,
}

/// The usual starts, of which the best goes on, and further ones.
pub(super) struct Begins {
    pub usual: Vec<Begin>,
    pub further: Vec<Begin>,
}

/// By the schedule of the plan; the first restart is the other schedule, where there is one, from where the first one began.
pub(super) fn begins(plan: &Plan, coordinates: &Coordinates) -> Begins {
    let schedule = plan.options.schedule;
    let usual = 1 + usize::from(coordinates.has_logarithms());
    let other = (plan.method != "variational").then_some(match schedule {
        Schedule::Sequential => Schedule::Batch,
        _ => Schedule::Sequential,
    });
    let begin = |place| Begin { schedule, place };
    let other = other.map(|schedule| Begin { schedule, place: 0 });
    Begins {
        usual: (0..usual).map(begin).collect(),
        further: other.into_iter().chain((usual..).map(begin)).take(plan.options.restarts).collect(),
    }
}

impl Learner<'_, '_> {
    /// The best of some starts, and its trace; the first one by which hyperparameters and parameters drift
    /// apart is the last.
    pub(super) fn best_start(&mut self, begins: &[Begin]) -> Result<(Here, Vec<f64>), LearnError> {
        let mut best: Option<(Here, Vec<f64>)> = None;
        let usual = self.options.schedule;
        for &Begin { schedule, place } in begins {
            // four times larger, four times smaller, sixteen times larger …
            let factor = place.div_ceil(2) as f64 * 4f64.ln();
            let start = self.coordinates.moved_start(if place % 2 == 1 { factor } else { -factor });
            self.options.schedule = schedule;
            let climbed = poll::attempt(|| self.climb(start));
            self.options.schedule = usual;
            let climbed = match climbed {
                Ok(climbed) => climbed,
                Err(halt) if best.is_some() => {
                    self.halted(halt);
                    break;
                }
                Err(halt) => poll::throw(halt),
            };
            let found = match climbed {
                Ok(found) => found,
                // another start may be out of reach
                Err(_) if best.is_some() => continue,
                Err(error) => return Err(error),
            };
            if best.as_ref().is_none_or(|(b, _)| found.objective() > b.objective() + 1e-9) {
                best = Some((found, self.trace[self.from..].to_vec()));
            }
            if self.stopped.is_some() || (self.drifts && !self.joint) {
                break;
            }
        }
        best.ok_or_else(|| Failure::NonFinite { step: "starts" }.into())
    }
}
