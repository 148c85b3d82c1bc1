//! From a plan and bound data to a solution, whatever the method.

use super::assemble::{Layout, assemble_kept};
use super::control::{Budget, Observer};
use super::laplace::assemble::assemble_laplace;
use super::laplace::problem::LaplaceProblem;
use super::problem::Problem;
use super::solution::{Failure, Solution};
use super::{evidence, laplace, variational};
use crate::design::{EvalError, Evaluator, Restrict};
use crate::plan::ir::{Options, Plan};

/// The numeric problem of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Numeric {
    /// Of `evidence`.
    Evidence(Problem),
    /// Of `laplace`.
    Laplace(LaplaceProblem),
    /// Of `variational`.
    Variational(variational::problem::Problem),
}

impl Numeric {
    /// Evaluates everything that the plan needs, of all innovations or of those that `restrict` names.
    ///
    /// # Errors
    /// The expression that has no value, is not linear, or needs too much memory.
    pub fn new(
        plan: &Plan,
        eval: &mut Evaluator<'_>,
        restrict: &Restrict,
    ) -> Result<(Numeric, Layout), EvalError> {
        match plan.method.as_str() {
            "laplace" => {
                assemble_laplace(plan, eval, restrict).map(|(p, layout)| (Numeric::Laplace(p), layout))
            }
            "variational" => variational::assemble::assemble(plan, eval, restrict)
                .map(|(p, layout)| (Numeric::Variational(p), layout)),
            _ => assemble_kept(plan, eval, restrict).map(|(p, layout)| (Numeric::Evidence(p), layout)),
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
            Numeric::Variational(problem) => variational::solve(problem, options, budget, on_step),
        }
    }
}
