//! From a plan and bound data to a solution, whatever the method.

use nalgebra::DVector;

use super::adjoint::Slope;
use super::assemble::{Design, Layout, assemble, assemble_kept};
use super::control::{Budget, Observer};
use super::evidence::Warm;
use super::laplace::assemble::{assemble_laplace, renew_arguments};
use super::laplace::problem::LaplaceProblem;
use super::problem::{Problem, Scale, WeightPrior};
use super::solution::{Failure, Solution};
use super::{evidence, laplace, variational};
use crate::design::{EvalError, Evaluator, Restrict};
use crate::plan::ir::{Curvature, Options, Plan};

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

/// Whether the hyperparameters of a fit by this plan are a stationary point of its objective. If not,
/// parameters follow the gradient of the objective, and the fit updates hyperparameters by its own rule.
pub fn follows_gradient(plan: &Plan) -> bool {
    plan.method != "laplace" || plan.options.curvature == Curvature::Exact
}

impl Numeric {
    /// Evaluates everything that the plan needs, but for the design of a Gaussian problem: see [`Design`].
    ///
    /// # Errors
    /// The expression that has no value, is not linear, or needs too much memory.
    pub fn on_demand(plan: &Plan, eval: &mut Evaluator<'_>) -> Result<(Numeric, Layout), EvalError> {
        match plan.method.as_str() {
            "evidence" => assemble(plan, eval).map(|(p, layout)| (Numeric::Evidence(p), layout)),
            _ => Numeric::new(plan, eval, &Restrict::default()),
        }
    }

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

    /// Evaluates again the arguments of likelihoods beside predictors and precisions, which the problem of a
    /// Gaussian does not have.
    ///
    /// # Errors
    /// The expression that has no value.
    pub fn renew_arguments(
        &mut self,
        plan: &Plan,
        eval: &mut Evaluator<'_>,
        layout: &Layout,
    ) -> Result<(), EvalError> {
        match self {
            Numeric::Laplace(problem) => renew_arguments(plan, eval, problem, layout),
            Numeric::Evidence(_) | Numeric::Variational(_) => Ok(()),
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

    /// The same, with the columns of a Gaussian problem evaluated when they are asked for.
    ///
    /// # Errors
    /// As [`Numeric::solve`], and those of the design.
    pub fn solve_from(
        &self,
        design: &mut Design<'_>,
        options: &Options,
        budget: &Budget,
        on_step: &mut Observer<'_>,
    ) -> Result<Solution, Failure> {
        match self {
            Numeric::Evidence(problem) => evidence::solve_from(problem, design, options, budget, on_step),
            _ => self.solve(options, budget, on_step),
        }
    }

    /// Fits it from given weights and hyperparameters.
    ///
    /// # Errors
    /// As [`Numeric::solve`].
    pub fn resume(
        &self,
        options: &Options,
        budget: &Budget,
        warm: &Warm,
        on_step: &mut Observer<'_>,
    ) -> Result<Solution, Failure> {
        match self {
            Numeric::Evidence(problem) => evidence::resume(problem, options, budget, warm, on_step),
            Numeric::Laplace(problem) => laplace::solve::resume(problem, options, budget, warm, on_step),
            Numeric::Variational(problem) => variational::resume(problem, options, budget, warm, on_step),
        }
    }

    /// What a fit says of its own data, Σ ln p(y) of each observation by itself, where that is asked for.
    pub fn hindsight(&self, fit: &Solution) -> Option<f64> {
        match self {
            Numeric::Laplace(problem) => laplace::hindsight::hindsight(problem, fit),
            Numeric::Evidence(_) | Numeric::Variational(_) => None,
        }
    }

    /// The objective and its slopes at given hyperparameters, with every weight of the problem in the model;
    /// their mode, where it is searched for, is looked for from `near`.
    ///
    /// # Errors
    /// As [`Numeric::solve`].
    pub fn slope(
        &self,
        options: &Options,
        budget: &Budget,
        hypers: &[f64],
        near: Option<&DVector<f64>>,
    ) -> Result<Slope, Failure> {
        match self {
            Numeric::Evidence(problem) => evidence::slope(problem, options, budget, hypers),
            Numeric::Laplace(problem) => laplace::solve::slope(problem, options, budget, hypers, near),
            Numeric::Variational(problem) => variational::slope(problem, options, budget, hypers),
        }
    }

    /// Free hyperparameters with a finite value that scale something or have a prior.
    pub fn moving(&self, values: &[f64]) -> Vec<usize> {
        let (hypers, weights, noise): (_, _, Vec<&Scale>) = match self {
            Numeric::Evidence(p) => (&p.hypers, &p.weights, p.noise.iter().collect()),
            Numeric::Laplace(p) => {
                let scales = p.terms.iter().filter_map(|t| t.precision.as_ref());
                (&p.hypers, &p.weights, scales.flat_map(|(_, scales)| scales).collect())
            }
            Numeric::Variational(p) => return p.moving(values),
        };
        let mut used: Vec<bool> = hypers.iter().map(|h| h.rate > 0.0).collect();
        let priors = weights.iter().filter_map(|w| match w {
            WeightPrior::Normal(scale) => Some(scale),
            WeightPrior::Flat => None,
        });
        for scale in noise.into_iter().chain(priors) {
            scale.powers.iter().for_each(|(h, _)| used[*h] = true);
        }
        let free = |h: &usize| used[*h] && hypers[*h].held.is_none() && values[*h].is_finite();
        (0..hypers.len()).filter(free).collect()
    }
}
