//! The plan: plain data that says what the runtime will do. No closures, no numbers from data.

use serde::{Deserialize, Serialize};

use crate::check::dim::Dim;
use crate::check::typed::{ExprId, NodeId};

/// A whole plan.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plan {
    /// `evidence`, `laplace`, `variational`; `sequential` is a schedule.
    pub method: String,
    /// `batch`, `sequential`, or `auto`: settled by the number of weights when data are bound.
    pub schedule: String,
    /// Why this plan, one sentence each.
    pub why: Vec<String>,
    /// Why not the others.
    pub rejected: Vec<Rejected>,
    /// The Gaussian blocks of weights, parents before children.
    pub blocks: Vec<Block>,
    /// The likelihood terms.
    pub terms: Vec<Term>,
    /// What every row of a term has of its own under a mean field; empty for other methods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<RowFactor>,
    /// Hyperparameters and how each is updated.
    pub hypers: Vec<HyperUpdate>,
    /// Learned parameters.
    pub params: Vec<Param>,
    /// The loop body, in order.
    pub steps: Vec<Step>,
    /// When it stops, as text.
    pub stop: String,
    /// When a weight is pruned, as text.
    pub prune: String,
    /// `log_evidence`, `log_evidence_laplace` or `elbo`.
    pub objective: String,
    /// The terms of the objective, as formulas.
    pub objective_terms: Vec<String>,
    /// Options, valid by construction.
    pub options: Options,
}

/// A plan that was not taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rejected {
    /// Its method.
    pub method: String,
    /// Why.
    pub because: String,
}

/// A latent Gaussian node: node = mean + innovation, innovation ~ N(0, 1/precision).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Block {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// Its shape.
    #[serde(skip)]
    pub shape: Vec<Dim>,
    /// Its prior mean: affine in earlier blocks; `None` is 0.
    #[serde(skip)]
    pub mean: Option<ExprId>,
    /// Its scale; `None` is flat.
    #[serde(skip)]
    pub scale: Option<ScaleExpr>,
}

/// `precision = value ^ power`, where `value` is log-linear in hyperparameters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ScaleExpr {
    /// The argument of the family.
    #[serde(skip)]
    pub value: ExprId,
    /// 1 for a precision, −1 for a variance, −2 for a deviation.
    pub power: f64,
}

/// An observed node.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Term {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// The name of its family.
    pub family: String,
    /// The argument that is its linear predictor: `mean`, `logit`, `softmax` …
    pub predictor: String,
    /// Its linear predictor (the mean of a Gaussian): affine in the blocks.
    #[serde(skip)]
    pub mean: ExprId,
    /// The scale of a Gaussian; `None` for other families.
    #[serde(skip)]
    pub scale: Option<ScaleExpr>,
    /// The other arguments that are given, by name (not predictor, not scale).
    #[serde(skip)]
    pub args: Vec<(String, ExprId)>,
    /// Whether its cutpoints are learned: they take up any shift of the predictor, whose columns are
    /// therefore centred on their training means.
    pub centred: bool,
    /// Case weights.
    #[serde(skip)]
    pub weight: Option<ExprId>,
    /// The blocks its mean uses.
    pub blocks: Vec<NodeId>,
}

/// A latent scale, or a bound, of every row of a term.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RowFactor {
    /// The term.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// Which.
    pub kind: RowFactorKind,
}

/// What a row has of its own.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowFactorKind {
    /// Its noise is a mixture over a latent scale with so many degrees of freedom.
    Scale {
        /// Degrees of freedom.
        #[serde(skip)]
        dof: ExprId,
    },
    /// Its likelihood has a quadratic bound in this argument.
    Bound {
        /// The argument.
        predictor: String,
    },
}

/// A hyperparameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HyperUpdate {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// Gamma shape; a scalar, or the shape of the node.
    #[serde(skip)]
    pub shape: ExprId,
    /// Gamma rate, to `rate_power`.
    #[serde(skip)]
    pub rate: ExprId,
    /// 1 for a rate, −1 for a scale.
    pub rate_power: f64,
    /// Hyperparameters in its rate.
    #[serde(skip)]
    pub parents: Vec<NodeId>,
    /// What it scales: names of blocks and terms.
    pub scales: Vec<String>,
    /// The update, as a formula.
    pub formula: String,
}

/// A parameter without a prior, learned by the gradient of the objective.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Param {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// The set its entries lie in, as written in a program.
    pub set: String,
    /// Its unconstrained coordinate, as a formula.
    pub coordinate: String,
    /// The names of the latent and observed nodes whose distribution it enters.
    pub enters: Vec<String>,
    /// Whether it stays at its start, because the data do not determine it.
    pub held: bool,
}

/// One step of the loop.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Step {
    /// What it does.
    pub does: String,
    /// The formula, as text.
    pub formula: String,
    /// The same for LaTeX.
    pub latex: String,
    /// Source of the formula.
    pub source: String,
    /// Cost, as text: `k³/3 + N k²`.
    pub cost: String,
}

/// Options of a plan, valid by construction.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Options {
    /// Iterations before giving up.
    pub max_iter: usize,
    /// Change of log precision and of evidence at which to stop.
    pub tol: f64,
    /// Extra starts.
    pub restarts: usize,
    /// Nats a basis function must earn. 0 keeps about 32 % of irrelevant columns, the default 0.2 about 14 %
    /// (`docs/mathematics.md` §1).
    pub min_gain: f64,
    /// MacKay or EM.
    pub updates: Updates,
    /// Where a Gamma hyperprior is a density.
    pub hyper_scale: HyperScale,
    /// Which weights share a factor of the mean field.
    pub blocks: Blocks,
    /// Whether precisions follow the papers' rule or the exact slope of the Laplace evidence.
    pub curvature: Curvature,
    /// All weights at once, or one at a time.
    pub schedule: Schedule,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_iter: 10_000,
            tol: 1e-6,
            restarts: 0,
            min_gain: 0.2,
            updates: Updates::MacKay,
            hyper_scale: HyperScale::Log,
            blocks: Blocks::Joint,
            curvature: Curvature::Fixed,
            schedule: Schedule::Batch,
        }
    }
}

/// In which order weights are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// All at once, pruning.
    Batch,
    /// One basis function at a time: add, re-estimate, delete.
    Sequential,
    /// By the number of weights, once data are bound.
    Auto,
}

impl Schedule {
    /// One at a time or all at once.
    pub fn of(sequential: bool) -> Schedule {
        if sequential { Schedule::Sequential } else { Schedule::Batch }
    }

    /// As written in a program.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Batch => "batch",
            Schedule::Sequential => "sequential",
            Schedule::Auto => "auto",
        }
    }
}

/// Which fixed-point rule re-estimates precisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Updates {
    /// MacKay (1992): fast, prunes geometrically, not proved monotone.
    MacKay,
    /// Expectation maximisation: monotone, prunes only by the exact test.
    Em,
}

/// On which scale a MAP estimate takes the density of a hyperparameter (`docs/mathematics.md` §2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HyperScale {
    /// Density of ln theta: Gamma(0, 0) is flat.
    Log,
    /// Density of theta.
    Density,
}

/// Which weights share a factor of the mean field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Blocks {
    /// One joint Gaussian over all weights.
    Joint,
    /// One Gaussian for each latent node.
    Separate,
}

/// How precisions follow the Laplace evidence (`docs/mathematics.md` §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Curvature {
    /// The papers' rule α = γ/w², with the Hessian at the mode held: no stationary point of the evidence.
    Fixed,
    /// The maximum of the Laplace evidence, by its exact gradient.
    Exact,
}
