//! A plan on bound data as the numeric problem of its method, and that problem solved.

use std::ops::ControlFlow;

use crate::design::{EvalError, Evaluator};
use crate::plan::ir::{Options, Plan};
use crate::runtime::assemble::Layout;
use crate::runtime::evidence::Budget;
use crate::runtime::solution::{Failure, Solution, Step};
use crate::runtime::{assemble, evidence, problem, variational};

/// The numeric problem of a method.
pub(crate) enum Numbers {
    Evidence(problem::Problem),
    Variational(variational::problem::Problem),
}

impl Numbers {
    /// Stacks what the method of the plan needs.
    pub fn assemble(plan: &Plan, eval: &mut Evaluator<'_>) -> Result<(Numbers, Layout), EvalError> {
        match plan.method.as_str() {
            "variational" => {
                let (problem, layout) = variational::assemble::assemble(plan, eval)?;
                Ok((Numbers::Variational(problem), layout))
            }
            _ => {
                let (problem, layout) = assemble::assemble(plan, eval)?;
                Ok((Numbers::Evidence(problem), layout))
            }
        }
    }

    /// Runs the method.
    pub fn solve(
        &self,
        options: &Options,
        budget: &Budget,
        on_step: &mut dyn FnMut(&Step<'_>) -> ControlFlow<()>,
    ) -> Result<Solution, Failure> {
        match self {
            Numbers::Evidence(problem) => evidence::solve(problem, options, budget, on_step),
            Numbers::Variational(problem) => variational::solve(problem, options, budget, on_step),
        }
    }
}
