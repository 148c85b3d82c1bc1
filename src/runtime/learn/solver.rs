//! What a method must offer so that parameters can be learned beside it.

use crate::plan::ir::Options;
use crate::runtime::control::{Budget, Observer};
use crate::runtime::evidence::{self, Slope, Warm};
use crate::runtime::problem::Problem;
use crate::runtime::solution::{Failure, Solution};

/// A method at fixed parameters.
pub trait Solver {
    /// Fits a problem: from scratch, or from kept weights and hyperparameters of an earlier fit.
    ///
    /// # Errors
    /// Whatever stops the method.
    fn fit(
        &self,
        problem: &Problem,
        budget: &Budget,
        warm: Option<&Warm>,
        on_step: &mut Observer<'_>,
    ) -> Result<Solution, Failure>;

    /// The objective and its slopes at given hyperparameters, every weight of the problem in the model.
    ///
    /// # Errors
    /// Whatever stops the method.
    fn slope(&self, problem: &Problem, budget: &Budget, hypers: &[f64]) -> Result<Slope, Failure>;

    /// Whether the hyperparameters of a fit are stationary points of that objective. If not, parameters
    /// follow its gradient while hyperparameters are held, and the fit updates these by its own rule.
    fn follows_gradient(&self) -> bool;
}

/// Exact evidence of Gaussian models.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a>(pub &'a Options);

impl Solver for Evidence<'_> {
    fn fit(
        &self,
        problem: &Problem,
        budget: &Budget,
        warm: Option<&Warm>,
        on_step: &mut Observer<'_>,
    ) -> Result<Solution, Failure> {
        match warm {
            Some(warm) => evidence::resume(problem, self.0, budget, warm, on_step),
            // other starts are other starts of the parameters
            None => evidence::solve(problem, &Options { restarts: 0, ..*self.0 }, budget, on_step),
        }
    }

    fn slope(&self, problem: &Problem, budget: &Budget, hypers: &[f64]) -> Result<Slope, Failure> {
        evidence::slope(problem, self.0, budget, hypers)
    }

    fn follows_gradient(&self) -> bool {
        true
    }
}
