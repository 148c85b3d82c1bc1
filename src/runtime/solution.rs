//! What the evidence runtime returns: everything in the units of the problem it was given.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use crate::plan::ir::Schedule;

/// A finished (or stopped) fit of a [`super::problem::Problem`].
#[derive(Clone, PartialEq, Debug)]
pub struct Solution {
    /// Indices of the weights that are kept (included), ascending: k of M.
    pub active: Vec<usize>,
    /// Posterior mean of the kept weights, k.
    pub mean: DVector<f64>,
    /// Posterior covariance of the kept weights, k × k.
    pub covariance: DMatrix<f64>,
    /// Value of every hyperparameter; infinite for one whose weights are all pruned.
    pub hypers: Vec<f64>,
    /// Shape and rate of every hyperparameter that has a Gamma factor: its value above is the mean.
    pub factors: Vec<Option<(f64, f64)>>,
    /// Log evidence (or its lower bound) alone, all constants included.
    pub log_evidence: f64,
    /// Log hyperprior terms of a MAP estimate; `None` if every hyperprior is flat.
    pub hyperprior: Option<f64>,
    /// Log evidence after each iteration.
    pub trace: Vec<f64>,
    /// Quality factor of every weight that has one precision of its own or a known one, M (`NaN` otherwise).
    pub q: Vec<f64>,
    /// Sparsity factor of every weight, M (`NaN` where there is none).
    pub s: Vec<f64>,
    /// Evidence that every weight earns (kept: by being kept, excluded: by the best inclusion), in nats, M.
    pub gain: Vec<f64>,
    /// Well-determinedness of the kept weights, k.
    pub gamma: Vec<f64>,
    /// How many of the flat weights.
    pub flat: usize,
    /// What it had to do.
    pub report: Report,
}

/// What the runtime had to do, and why it stopped.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Iterations of all loops.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
    /// Number of pruned weights.
    pub pruned: usize,
    /// Parallel columns merged before the fit: kept, dropped (indices of weights).
    pub merged: Vec<(usize, Vec<usize>)>,
    /// Numerical rank of the dictionary, if it is low enough to matter.
    pub rank: Option<usize>,
    /// Largest relative jitter a factorisation needed.
    pub jitter: f64,
    /// Starts beyond the first.
    pub restarts: usize,
    /// The schedule of the start that led here, where the method has schedules.
    pub schedule: Option<Schedule>,
    /// Whether at most one function of several was found one at a time, and all at once can be afforded.
    #[serde(skip)]
    pub found_little: bool,
    /// The optimality certificate.
    pub certificate: Certificate,
    /// Findings for the user.
    pub findings: Vec<Finding>,
}

/// How close to a stationary point the result is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Certificate {
    /// Largest |d objective / d ln theta| over free hyperparameters.
    pub gradient: f64,
    /// The most that a pruned weight would earn, in nats: ½(r − 1 − ln r) with r = q²/s. Where r ≤ 1 it
    /// would earn nothing, and ½(r − 1) < 0 says how far it is from that. At a converged fit it is
    /// below the option `min_gain`, but where the noise was held while weights were chosen, or a weight came in three times and
    /// went out again. `-inf` (written as null) if none is pruned.
    pub max_gain_outside: f64,
}

/// Why a loop ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The certificate holds.
    Converged,
    /// Rounding hides any further progress: the columns are nearly dependent in double precision.
    Stalled,
    /// The budget of iterations is used up.
    MaxIter,
    /// The budget of time is used up.
    MaxTime,
    /// The host said stop.
    Interrupted,
}

/// Something the user should know about the result.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The targets of this term do not vary: nothing can be relevant.
    ConstantTarget(usize),
    /// The noise precision of this hyperparameter ran into its cap: the data leave no noise.
    NoiseFloor(usize),
    /// N − Σγ is small against N: the noise is not identified. Term, N − Σγ, N.
    NoiseNotIdentified(usize, f64, f64),
    /// The target's mean is far from 0 and no flat effect takes it up. Term.
    MeanFarFromZero(usize),
    /// The dictionary has this rank with so many columns.
    LowRank(usize, usize),
    /// Columns of these weights are the same up to a factor, and all of them stay.
    Parallel(Vec<usize>),
    /// Precisions follow the gradient of the evidence, because they and the parameters drift apart by the
    /// rule of the plan.
    Drift,
    /// Nothing is relevant.
    NothingRelevant,
    /// The two levels of this term are separated perfectly, by the column of this weight alone if there is one.
    Separated(usize, Option<usize>),
}

/// Why there is no result.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// A factorisation failed whatever jitter was tried. Step, and the pivot.
    NotPositiveDefinite {
        /// Which step.
        step: &'static str,
        /// The index of the weight, or row, at which it failed.
        pivot: usize,
    },
    /// Flat effects are not determined by the data: these weights are collinear.
    FlatNotIdentified(Vec<usize>),
    /// A number overflowed or was not a number.
    NonFinite {
        /// Which step.
        step: &'static str,
    },
    /// The posterior of the weights has no mode: unpenalised effects separate the data.
    NoMode,
    /// The estimate is too large for the budget. Bytes wanted, bytes allowed.
    OutOfMemory(usize, usize),
    /// A hyperprior that has no maximum (density scale with shape ≤ 1/2 and rate 0). Its index.
    ImproperHyper(usize),
}

/// What the host sees after each iteration, and how it stops a fit.
pub struct Step {
    /// From 1.
    pub iteration: usize,
    /// Log evidence.
    pub objective: f64,
    /// Number of kept weights.
    pub active: usize,
    /// Which step of the plan.
    pub phase: &'static str,
}
