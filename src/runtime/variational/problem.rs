//! The numeric problem that a variational plan leaves once data are bound.
//!
//! Rows are the present targets of every likelihood, stacked; weights are the independent innovations
//! of every latent Gaussian block, stacked. Every precision, and every rate of a hyperparameter, is
//! known × a product of hyperparameters, each to the power 1: then every factor of the mean field has
//! a closed form. No name and no expression is left here.

use nalgebra::DMatrix;

use crate::dist::bound::LinkBound;

/// `known · Π theta_h`, every hyperparameter once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Product {
    /// Logarithm of the known part; −∞ for a rate of 0.
    pub ln_known: f64,
    /// Indices of hyperparameters, ascending.
    pub hypers: Vec<usize>,
}

/// The prior of one weight.
#[derive(Clone, PartialEq, Debug)]
pub enum WeightPrior {
    /// Density 1 on the line: precision 0, and no prior factor.
    Flat,
    /// N(0, 1/precision).
    Normal(Product),
}

/// A hyperparameter: Gamma(shape, rate).
#[derive(Clone, PartialEq, Debug)]
pub struct Hyper {
    /// Its shape a.
    pub shape: f64,
    /// Its rate b, possibly with hyperparameters of its own.
    pub rate: Product,
}

impl Hyper {
    /// Whether it is Gamma(0, 0), which has a point factor on the log scale.
    pub fn is_point(&self) -> bool {
        self.shape == 0.0 && self.rate.ln_known == f64::NEG_INFINITY
    }
}

/// What the likelihood of a row is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// N(target | f, 1/noise).
    Gaussian,
    /// N(target | f, 1/(noise · lambda)) with lambda ~ Gamma(dof/2, dof/2).
    Mixture {
        /// Degrees of freedom ν.
        dof: f64,
    },
    /// A likelihood with a quadratic lower bound in f.
    Bound {
        /// The bound.
        link: &'static LinkBound,
    },
}

/// One observation, with f = offset + design row · weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The target; the code of a level where it has levels.
    pub target: f64,
    /// The known part of f.
    pub offset: f64,
    /// Its precision; without meaning for a [`Kind::Bound`].
    pub noise: Product,
    /// Case weight: 2 is the row twice.
    pub count: f64,
    /// Which likelihood it belongs to, ascending.
    pub term: usize,
    /// What its likelihood is.
    pub kind: Kind,
}

/// Everything the variational runtime needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// The observations, N.
    pub rows: Vec<Row>,
    /// Design, N × M.
    pub design: DMatrix<f64>,
    /// Prior of each weight, M.
    pub weights: Vec<WeightPrior>,
    /// The latent node of each weight, M: with `blocks = separate` each has a factor of its own.
    pub block: Vec<usize>,
    /// Hyperparameters.
    pub hypers: Vec<Hyper>,
}

impl Problem {
    /// Hyperparameters with a finite expectation that scale something, or are the rate of another.
    pub fn moving(&self, values: &[f64]) -> Vec<usize> {
        let mut used = vec![false; self.hypers.len()];
        let rows = self.rows.iter().filter(|r| !matches!(r.kind, Kind::Bound { .. })).map(|r| &r.noise);
        let weights = self.weights.iter().filter_map(|w| match w {
            WeightPrior::Normal(product) => Some(product),
            WeightPrior::Flat => None,
        });
        for product in rows.chain(weights).chain(self.hypers.iter().map(|h| &h.rate)) {
            product.hypers.iter().for_each(|h| used[*h] = true);
        }
        (0..self.hypers.len()).filter(|h| used[*h] && values[*h].is_finite()).collect()
    }
}
