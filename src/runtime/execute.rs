//! From a plan and bound data to a solution, whatever the method.

use super::adjoint::Argument;
use super::assemble::{Layout, assemble_kept};
use super::control::{Budget, Observer};
use super::evidence::{Slope, Warm};
use super::laplace::assemble::assemble_laplace;
use super::laplace::problem::LaplaceProblem;
use super::problem::{Hyper, Problem, Scale, WeightPrior};
use super::solution::{Failure, Solution};
use super::{evidence, laplace, variational};
use crate::design::{EvalError, Evaluator, Restrict};
use crate::dist::ArgShape;
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

    /// Fits it from kept weights and hyperparameters of an earlier fit.
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
            Numeric::Variational(problem) => variational::solve(problem, options, budget, on_step),
        }
    }

    /// The objective and its exact slopes at given hyperparameters, every weight of the problem in the model.
    ///
    /// # Errors
    /// As [`Numeric::solve`]; a mean field has no slopes.
    pub fn slope(&self, options: &Options, budget: &Budget, hypers: &[f64]) -> Result<Slope, Failure> {
        match self {
            Numeric::Evidence(problem) => evidence::slope(problem, options, budget, hypers),
            Numeric::Laplace(problem) => laplace::solve::slope(problem, options, budget, hypers),
            Numeric::Variational(_) => Err(Failure::NonFinite { step: "slopes of a mean field" }),
        }
    }

    /// Whether the hyperparameters of a fit are stationary points of that objective. If not, parameters
    /// follow its gradient while hyperparameters are held, and the fit updates these by its own rule.
    pub fn follows_gradient(&self, options: &Options) -> bool {
        match self {
            Numeric::Evidence(_) => true,
            Numeric::Laplace(_) => options.curvature == Curvature::Exact,
            Numeric::Variational(_) => false,
        }
    }

    /// Case weight of each row.
    pub fn counts(&self) -> Vec<f64> {
        match self {
            Numeric::Evidence(p) => p.counts.clone(),
            Numeric::Laplace(p) => {
                p.terms.iter().flat_map(|t| t.counts.iter().flat_map(|k| vec![*k; t.width])).collect()
            }
            Numeric::Variational(_) => Vec::new(),
        }
    }

    /// What a derivative by each predictor, R, is for the arguments that shift it: cutpoints, from the
    /// observations at and above them.
    pub fn shifts(&self, offset: &[f64]) -> Vec<Argument> {
        let Numeric::Laplace(problem) = self else { return Vec::new() };
        let mut first = 0;
        let mut shifts = Vec::new();
        for (t, term) in problem.terms.iter().enumerate() {
            let rows = first..first + term.len() * term.width;
            first = rows.end;
            if let Some(arg) = term.family.args.iter().find(|a| a.shape == ArgShape::Cutpoints) {
                let cuts = term.stride - (term.family.args.len() - 1);
                let mut bar = vec![0.0; cuts];
                for (value, shift) in term.values.iter().zip(&offset[rows]) {
                    bar[(*value as usize).min(cuts.saturating_sub(1))] -= shift;
                }
                shifts.push(Argument { term: t, name: arg.name.to_owned(), of_units: false, bar });
            }
        }
        shifts
    }

    /// Free hyperparameters with a finite value that scale something in the problem or have a prior.
    pub fn moving(&self, values: &[f64]) -> Vec<usize> {
        let (hypers, weights): (&[Hyper], &[WeightPrior]) = match self {
            Numeric::Evidence(p) => (&p.hypers, &p.weights),
            Numeric::Laplace(p) => (&p.hypers, &p.weights),
            Numeric::Variational(_) => (&[], &[]),
        };
        let rows: Vec<&Scale> = match self {
            Numeric::Evidence(p) => p.noise.iter().collect(),
            Numeric::Laplace(p) => {
                p.terms.iter().flat_map(|t| t.precision.iter().flat_map(|p| &p.1)).collect()
            }
            Numeric::Variational(_) => Vec::new(),
        };
        let mut used: Vec<bool> = hypers.iter().map(|h| h.rate > 0.0).collect();
        let weights = weights.iter().filter_map(|w| match w {
            WeightPrior::Normal(scale) => Some(scale),
            WeightPrior::Flat => None,
        });
        for scale in rows.into_iter().chain(weights) {
            scale.powers.iter().for_each(|(h, _)| used[*h] = true);
        }
        let free = |h: &usize| used[*h] && hypers[*h].held.is_none() && values[*h].is_finite();
        (0..hypers.len()).filter(free).collect()
    }
}
