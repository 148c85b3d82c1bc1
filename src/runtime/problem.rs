//! The numeric problem that an evidence plan leaves once data are bound.
//!
//! Rows are the present targets of every Gaussian likelihood, stacked. Weights are the independent
//! innovations of every latent Gaussian block, stacked. Precisions are log-linear in the
//! hyperparameters: ln precision = log_const + Σ power · ln theta.
//! No name and no expression is left here.

use nalgebra::DMatrix;

/// `ln precision = log_const + Σ_(h, power) power · ln theta_h`
#[derive(Clone, PartialEq, Debug)]
pub struct Scale {
    /// The known part.
    pub log_const: f64,
    /// Hyperparameter index and power; empty for a known precision.
    pub powers: Vec<(usize, f64)>,
}

/// The prior of one weight.
#[derive(Clone, PartialEq, Debug)]
pub enum WeightPrior {
    /// Density 1 on the line, integrated out.
    Flat,
    /// N(0, 1/precision).
    Normal(Scale),
}

/// A hyperparameter theta > 0 with log density (shape − e) ln theta − rate·theta, e = 0 on the log
/// scale and 1 on the density scale; shape = rate = 0 is flat on the log scale.
#[derive(Clone, PartialEq, Debug)]
pub struct Hyper {
    /// Gamma shape a.
    pub shape: f64,
    /// Gamma rate b.
    pub rate: f64,
    /// Held at this value, or free.
    pub held: Option<f64>,
}

/// Everything the evidence runtime needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// Targets less known offsets, N.
    pub targets: Vec<f64>,
    /// Noise precision of each row, N.
    pub noise: Vec<Scale>,
    /// Case weight of each row, N (1 = once).
    pub counts: Vec<f64>,
    /// Which likelihood each row belongs to (for variances and messages), N, ascending.
    pub term: Vec<usize>,
    /// Design, N × M.
    pub design: DMatrix<f64>,
    /// Prior of each weight, M.
    pub weights: Vec<WeightPrior>,
    /// Hyperparameters.
    pub hypers: Vec<Hyper>,
}
