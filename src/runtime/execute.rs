//! From a plan and bound data to a solution, whatever the method.

use super::assemble::{Layout, assemble};
use super::control::{Budget, Observer};
use super::laplace::assemble::assemble_laplace;
use super::laplace::problem::LaplaceProblem;
use super::problem::Problem;
use super::solution::{Failure, Solution};
use super::{evidence, laplace};
use crate::design::{EvalError, Evaluator};
use crate::plan::ir::{Options, Plan};

/// The numeric problem of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Numeric {
    /// Of `evidence`.
    Evidence(Problem),
    /// Of `laplace`.
    Laplace(LaplaceProblem),
}

impl Numeric {
    /// Evaluates everything that the plan needs.
    ///
    /// # Errors
    /// The expression that has no value, is not linear, or needs too much memory.
    pub fn new(plan: &Plan, eval: &mut Evaluator<'_>) -> Result<(Numeric, Layout), EvalError> {
        match plan.method.as_str() {
            "laplace" => assemble_laplace(plan, eval).map(|(p, layout)| (Numeric::Laplace(p), layout)),
            _ => assemble(plan, eval).map(|(p, layout)| (Numeric::Evidence(p), layout)),
        }
    }

    /// Fits it.
    ///
    /// # Errors
    /// As the runtime of its method.
    pub fn solve(
        &self,
        options: &Options,
        budget: &Budget,
        on_step: &mut Observer<'_>,
    ) -> Result<Solution, Failure> {
        match self {
            Numeric::Evidence(problem) => evidence::solve(problem, options, budget, on_step),
            Numeric::Laplace(problem) => laplace::solve::solve(problem, options, budget, on_step),
        }
    }
}
