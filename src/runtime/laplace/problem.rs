//! The numeric problem that a Laplace plan leaves once data are bound.
//!
//! Every likelihood has units (observations) with one linear predictor each, or one a level; the
//! predictors of all units are stacked: f = offset + Φ w. No expression is left here.

use nalgebra::DMatrix;

use crate::dist::Family;
use crate::runtime::problem::{Hyper, Scale, WeightPrior};

/// One observed node.
#[derive(Clone, PartialEq, Debug)]
pub struct Likelihood {
    /// Its family, which has a score.
    pub family: &'static Family,
    /// Where the predictors stand among the arguments of a unit.
    pub place: usize,
    /// Predictors a unit, d.
    pub width: usize,
    /// Observed values, n.
    pub values: Vec<f64>,
    /// Case weights, n (1 = once).
    pub counts: Vec<f64>,
    /// Arguments of the family, n × `stride`, unit after unit; those of predictors are overwritten.
    pub args: Vec<f64>,
    /// Arguments a unit.
    pub stride: usize,
    /// Which of them are derived by: those that the program gives.
    pub given: Vec<bool>,
    /// The place of an argument that is a precision made of hyperparameters, and that precision for each unit.
    pub precision: Option<(usize, Vec<Scale>)>,
}

impl Likelihood {
    /// Number of units, n.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether nothing is observed.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Everything the Laplace runtime needs.
#[derive(Clone, PartialEq, Debug)]
pub struct LaplaceProblem {
    /// The likelihoods; their predictors are stacked in this order, unit after unit, R rows.
    pub terms: Vec<Likelihood>,
    /// The known part of the predictors, R.
    pub offset: Vec<f64>,
    /// Design, R × M.
    pub design: DMatrix<f64>,
    /// Prior of each weight, M.
    pub weights: Vec<WeightPrior>,
    /// Hyperparameters.
    pub hypers: Vec<Hyper>,
}
