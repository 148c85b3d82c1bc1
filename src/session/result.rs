//! A fit as data: the JSON of `sbl fit --format json`, and what a summary is made of.

use serde::{Deserialize, Serialize};

use crate::plan::ir::Rejected;

/// `sbl fit --format json`. Names are a contract (`docs/interfaces.md`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FitResult {
    /// Version of sbl that fitted.
    pub sbl: String,
    /// Version of this schema.
    pub schema: u32,
    /// The model.
    pub model: String,
    /// The plan that was executed.
    pub plan: PlanResult,
    /// Rows of the data.
    pub rows: usize,
    /// Whether the certificate holds.
    pub converged: bool,
    /// Iterations of all loops.
    pub iterations: usize,
    /// From bound data to finished fit.
    pub seconds: f64,
    /// The objective.
    pub objective: Objective,
    /// Every latent, hyper, observed, param and derived node, in declaration order.
    pub nodes: serde_json::Map<String, serde_json::Value>,
    /// What the runtime had to do.
    pub report: ReportResult,
    /// Warnings of compiler, data and fit.
    pub warnings: Vec<serde_json::Value>,
}

/// The plan, in short.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlanResult {
    /// `evidence` …
    pub method: String,
    /// `batch` or `sequential`.
    pub schedule: String,
    /// Why this one.
    pub why: Vec<String>,
    /// Why not the others.
    pub rejected: Vec<Rejected>,
}

/// The objective: evidence or bound alone, all constants included.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Objective {
    /// `log_evidence`, `log_evidence_laplace`, `elbo`.
    pub name: String,
    /// In nats.
    pub value: f64,
    /// After each iteration.
    pub trace: Vec<f64>,
    /// Log hyperprior terms of a MAP estimate, apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyperprior: Option<f64>,
    /// Number of flat effects: the value is defined up to their units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improper: Option<usize>,
}

/// The role of a node in the fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Weights and effects.
    Latent,
    /// Precisions.
    Hyper,
    /// With a likelihood.
    Observed,
    /// Maximised, without a prior.
    Param,
    /// A function of latents.
    Derived,
}

/// One node of a fit. Arrays are column-major, and run over `active` where it is there.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let w = fit.node("w")?;
/// assert_eq!((w.shape.len(), w.posterior.as_deref()), (0, Some("normal")));
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeResult {
    /// Its role.
    pub role: Role,
    /// Its shape.
    pub shape: Vec<usize>,
    /// `normal` (mean, sd), `gamma` (gamma_shape, rate, mean), `point` (value).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<String>,
    /// Of an observed node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The kept entries, from 0, where some are pruned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Vec<usize>>,
    /// The names of the (kept) entries, where they have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Posterior mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Numbers>,
    /// Posterior deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<Numbers>,
    /// Point estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Numbers>,
    /// Shape of a Gamma posterior.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma_shape: Option<Numbers>,
    /// Rate of a Gamma posterior.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Numbers>,
    /// The entries with q² > s, from 0, where nothing is pruned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevant: Option<Vec<usize>>,
    /// Rows of an observed node without a value, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<usize>>,
    /// A `param` that is held because the data do not determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<bool>,
}

/// A scalar or an array.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Numbers {
    /// Of a scalar node.
    One(f64),
    /// Of an array.
    Many(Vec<f64>),
}

impl NodeResult {
    /// Posterior mean of the (kept) entries; empty for a node without one.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert!((fit.node("w")?.mean()[0] - 2.0).abs() < 0.1);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn mean(&self) -> &[f64] {
        self.mean.as_ref().map_or(&[], Numbers::as_slice)
    }

    /// Posterior deviation of the (kept) entries; empty for a node without one.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert!(fit.node("w")?.sd()[0] > 0.0);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn sd(&self) -> &[f64] {
        self.sd.as_ref().map_or(&[], Numbers::as_slice)
    }

    /// Point estimate of the (kept) entries; empty for a node without one.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// println!("noise {}", fit.node("tau")?.value()[0].sqrt().recip());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn value(&self) -> &[f64] {
        self.value.as_ref().map_or(&[], Numbers::as_slice)
    }
}

impl Numbers {
    /// As a slice.
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Numbers::One(x) => std::slice::from_ref(x),
            Numbers::Many(v) => v,
        }
    }
}

/// What the runtime had to do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportResult {
    /// Number of pruned weights.
    pub pruned: usize,
    /// Parallel columns merged before the fit.
    pub merged: Vec<Merged>,
    /// Largest relative jitter a factorisation needed.
    pub jitter: f64,
    /// Starts beyond the first.
    pub restarts: usize,
    /// The schedule (`batch`, `sequential`) of the start that led to the result, where the method has schedules. It differs from the
    /// plan's where another start, or a dictionary of low rank, led there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Why it stopped.
    pub stop: String,
    /// The optimality certificate.
    pub certificate: CertificateResult,
}

/// Parallel columns of which one is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Merged {
    /// The node.
    pub node: String,
    /// The name of the kept entry.
    pub kept: String,
    /// The names of the others.
    pub dropped: Vec<String>,
}

/// How close to a stationary point the result is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CertificateResult {
    /// Largest |d objective / d ln theta|.
    pub gradient: f64,
    /// The most that a pruned weight would earn, in nats (below 0: nothing); `null` if none is pruned.
    pub max_gain_outside: Option<f64>,
}
