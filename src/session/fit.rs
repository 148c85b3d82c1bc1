//! Fitting: from a compiled model and data to a [`Fit`].

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::bind::{self, Schema};
use super::cancel;
use super::compare::{self, Observed};
use super::compile::{Compiler, Import, Imports, Model, Recipe};
use super::findings;
use super::nodes;
use super::options::{Options, Progress};
use super::outside::Local;
use super::posterior::Posterior;
use super::result::{CertificateResult, FitResult, Merged, Objective, PlanResult, ReportResult};
use super::seen::Seen;
use super::verify::verify;
use super::{SCHEMA, file};
use crate::data::Data;
use crate::design::{Evaluator, Frozen, Inputs, affine, log_linear};
use crate::diag::{Diagnostic, render};
use crate::error::Error;
use crate::host::{Function, Registry};
use crate::math::poll;
use crate::plan::ir::Plan;
use crate::plan::params::free_cutpoints;
use crate::runtime::assemble::{Design, Layout};
use crate::runtime::evidence::Budget;
use crate::runtime::execute::Numeric;
use crate::runtime::learn::{LearnError, learn, starts};
use crate::runtime::solution::{Solution, Stop};

/// A fitted model: cheap to clone, immutable, `Send + Sync`.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let same = fit.clone();
/// assert!(same.converged());
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fit {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    model: Model,
    state: State,
}

/// What a fit file holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    /// How to compile the model again.
    pub recipe: Recipe,
    /// Its source.
    pub source: String,
    /// The files it imports, by the names under which they were read.
    pub imports: Vec<Import>,
    /// Checksum of the typed model: frozen values belong to its expressions.
    pub fingerprint: String,
    /// The JSON result.
    pub result: FitResult,
    /// How data are read at prediction.
    pub schema: Schema,
    /// Values at training that prediction needs.
    pub frozen: Frozen,
    /// The posterior.
    pub posterior: Posterior,
    /// How large local basis functions were at training.
    pub local: Local,
    /// Checksum of the training data.
    pub data_hash: String,
    /// The seed.
    pub seed: u64,
    /// What the objective is a probability of.
    #[serde(default)]
    pub observed: Vec<Observed>,
    /// What pictures need of the training rows.
    #[serde(default)]
    pub seen: Seen,
}

impl Model {
    /// Fits the model.
    ///
    /// A fit that stops early (budget, host) is returned, and [`Fit::converged`] says so.
    ///
    /// # Errors
    /// E06: no plan serves the model; E07: the data do not fit it; E08: the numbers break down; E0821: it was
    /// cancelled; E0822: the callback of progress panicked.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert!((fit.node("w")?.mean()[0] - 2.0).abs() < 0.1);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn fit(&self, data: &Data, options: &Options) -> Result<Fit, Error> {
        options.fault();
        let fitted = poll::watched(Some(options.watch()), || self.fit_watched(data, options));
        if let Some(fault) = options.fault() {
            return Err(self.error(vec![cancel::callback_failed(&fault)]));
        }
        fitted.unwrap_or_else(|halt| {
            Err(self
                .error(vec![Diagnostic::error("E0821", cancel::said(halt)).help(
                    "to keep what there is, stop after an iteration: `Cancel::stop`, `Progress::stop`",
                )]))
        })
    }

    fn fit_watched(&self, data: &Data, options: &Options) -> Result<Fit, Error> {
        let plan = self.plan()?;
        let typed = self.typed();
        let bound = bind::bind_training(typed, data).map_err(|found| self.error(found))?;
        let mut warnings = self.warnings().to_vec();
        warnings.extend(bound.warnings);
        let mut bound = bound.value;

        let started = Instant::now();
        let memory = options.max_memory;
        let broken = |e| self.error(vec![bind::diagnose(typed, Some(data), &e)]);
        if !plan.params.is_empty() {
            let starts = starts(plan, bound.inputs(typed), memory).map_err(broken)?;
            bound.keep(typed, &starts);
        }
        let (mut frozen, notices) = Frozen::learn(bound.inputs(typed), memory).map_err(broken)?;
        warnings.extend(notices.iter().map(|n| bind::warn(bound.inputs(typed), n)));
        let mut eval = Evaluator::new(bound.inputs(typed), &frozen, memory);
        let (problem, mut layout) = Numeric::on_demand(plan, &mut eval).map_err(broken)?;
        let mut settled = self.settled(plan, &bound);
        if let Some(most) = options.max_iter {
            settled.options.max_iter = settled.options.max_iter.min(most);
        }
        let plan = &settled;
        let mut names = nodes::Names::new(plan, &layout, &mut eval);
        let budget = Budget { max_time: options.max_time, max_memory: memory, ..Budget::default() };
        let mut on_step = |step: &crate::runtime::solution::Step| {
            options.tell(&Progress {
                iteration: step.iteration,
                objective: step.objective,
                active: step.active,
                phase: step.phase,
            })
        };
        let failed =
            |names: &nodes::Names, failure| self.error(vec![findings::failure(typed, plan, names, &failure)]);
        let solution = if plan.params.is_empty() {
            let mut design = Design::new(plan, &layout, bound.inputs(typed), &frozen, memory);
            let solved = problem.solve_from(&mut design, &plan.options, &budget, &mut on_step);
            match (solved, design.error) {
                (Ok(solution), _) => solution,
                (Err(_), Some(error)) => return Err(broken(error)),
                (Err(failure), None) => return Err(failed(&names, failure)),
            }
        } else {
            drop(problem);
            let mut learned =
                learn(plan, bound.inputs(typed), &budget, &mut on_step).map_err(|e| match e {
                    LearnError::Eval(e) => broken(e),
                    LearnError::Failure(failure) => failed(&names, failure),
                })?;
            poll::shield();
            for rows in learned.layout.terms.iter().filter(|rows| !rows.means.is_empty()) {
                // cutpoints of the centred predictor → of the predictor as it is written
                let kept = learned.solution.active.iter().zip(learned.solution.mean.iter());
                let shift: f64 = kept.map(|(i, m)| rows.means[*i] * m).sum();
                let cutpoints = typed.node(rows.node).dist().and_then(|d| free_cutpoints(typed, d));
                if let Some(values) = cutpoints.and_then(|id| learned.params.get_mut(&id)) {
                    values.iter_mut().for_each(|b| *b += shift);
                }
            }
            bound.keep(typed, &learned.params);
            layout = learned.layout;
            frozen = Frozen::learn(bound.inputs(typed), memory).map_err(broken)?.0;
            learned.solution
        };
        // what there is is put together
        poll::shield();
        let inputs = bound.inputs(typed);
        let mut eval = Evaluator::new(inputs, &frozen, memory);
        if !plan.params.is_empty() {
            names = nodes::Names::new(plan, &layout, &mut eval);
        }
        warnings.extend(findings::findings(typed, plan, &names, &solution));
        warnings.extend(findings::not_identified(typed, plan, &names, &layout));

        let posterior = Posterior::new(&solution, &layout);
        let nodes =
            nodes::results(plan, &layout, &posterior, &bound, &names, &mut eval, &frozen).map_err(broken)?;
        let seen = Seen::new(typed, &bound, &posterior, &names);
        let (local, asked) = needed(plan, &posterior, &names, inputs, &frozen, memory).map_err(broken)?;
        frozen.prune(&asked);
        let seconds = started.elapsed().as_secs_f64();

        let result = FitResult {
            sbl: env!("CARGO_PKG_VERSION").to_owned(),
            schema: SCHEMA,
            model: self.name().to_owned(),
            plan: PlanResult {
                method: plan.method.clone(),
                schedule: plan.schedule.clone(),
                why: plan.why.clone(),
                rejected: plan.rejected.clone(),
            },
            rows: bound.rows,
            converged: solution.report.stop == Stop::Converged,
            iterations: solution.report.iterations,
            seconds,
            objective: Objective {
                name: plan.objective.clone(),
                value: solution.log_evidence,
                trace: solution.trace.clone(),
                hyperprior: solution.hyperprior,
                improper: (solution.flat > 0).then_some(solution.flat),
            },
            nodes,
            report: report(&solution, &layout, &names),
            warnings: match render::to_json(&warnings, self.sources()) {
                serde_json::Value::Array(items) => items,
                _ => Vec::new(),
            },
        };
        let state = State {
            recipe: self.recipe().clone(),
            source: self.source().to_owned(),
            imports: self.imports(),
            fingerprint: self.fingerprint(),
            result,
            schema: bound.schema(typed),
            frozen,
            posterior,
            local,
            data_hash: bound.hash(),
            seed: options.seed,
            observed: compare::observed(typed, &bound),
            seen,
        };
        Ok(Fit { inner: Arc::new(Inner { model: self.clone(), state }) })
    }
}

impl Fit {
    /// The model that was fitted.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert_eq!(fit.model().name(), "model");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn model(&self) -> &Model {
        &self.inner.model
    }

    /// The result as data: what `sbl fit --format json` prints.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// println!("{} iterations, {} rows", fit.result().iterations, fit.result().rows);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn result(&self) -> &FitResult {
        &self.inner.state.result
    }

    /// The result as JSON.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert_eq!(fit.to_json()["rows"], 3);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self.result()).unwrap_or_default()
    }

    /// Whether the certificate holds.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert!(fit.converged());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn converged(&self) -> bool {
        self.result().converged
    }

    /// Why it ended: `converged`, `stalled`, `max_iter`, `max_time`, `interrupted`.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert_eq!(fit.stop(), "converged");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn stop(&self) -> &str {
        &self.result().report.stop
    }

    /// Log evidence (or bound), all constants included, in nats.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// assert!(fit.objective().is_finite());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn objective(&self) -> f64 {
        self.result().objective.value
    }

    /// A node of the fit, by name.
    ///
    /// # Errors
    /// E0205: there is none of that name.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let w = fit.node("w")?;
    /// println!("{} ± {}", w.mean()[0], w.sd()[0]);
    /// assert_eq!(fit.node("v").unwrap_err().diagnostics()[0].code, "E0815");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn node(&self, name: &str) -> Result<super::result::NodeResult, Error> {
        let nodes = &self.result().nodes;
        match nodes.get(name).map(|v| serde_json::from_value(v.clone())) {
            Some(Ok(node)) => Ok(node),
            _ => {
                Err(self.model().error(vec![findings::no_such_node(name, nodes.keys().map(String::as_str))]))
            }
        }
    }

    /// The posterior: joint Gaussian of the kept weights, point estimates of precisions.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let posterior = fit.posterior();
    /// # let _ = posterior;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn posterior(&self) -> &Posterior {
        &self.inner.state.posterior
    }

    pub(crate) fn state(&self) -> &State {
        &self.inner.state
    }

    /// The fit as a file: self-contained, versioned, checksummed.
    ///
    /// # Errors
    /// E0810: it cannot be written (a number is not finite).
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let bytes = fit.to_bytes()?;
    /// assert!(bytes.starts_with(b"sblfit"));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut state = self.state().clone();
        state.frozen = state.frozen.packed(self.model().typed());
        Ok(file::encode(&state)?)
    }

    /// Reads a fit file; `name` is for messages.
    ///
    /// # Errors
    /// E0811 damaged, E0812 no fit file, E0813 another format, E0814 compiled differently.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// # let fit = model.fit(&data, &sbl::Options::default())?;
    /// let again = sbl::Fit::from_bytes(&fit.to_bytes()?, "line.sblfit")?;
    /// assert_eq!(again.objective(), fit.objective());
    /// assert_eq!(sbl::Fit::from_bytes(b"else", "else.txt").unwrap_err().diagnostics()[0].code, "E0812");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Fit, Error> {
        Fit::read(bytes, name, &Registry::default())
    }

    /// The same, with functions of the host program.
    pub(crate) fn read(bytes: &[u8], name: &str, hosts: &Registry) -> Result<Fit, Error> {
        let mut state: State = file::decode(bytes, name)?;
        verify_hosts(&state.recipe.hosts, hosts, name)?;
        let compiled = Compiler::new()
            .with_recipe(state.recipe.clone())
            .with_hosts(hosts.clone())
            .loader(Imports(state.imports.clone()))
            .compile(&state.source);
        let other = |how: &str| {
            let found = format!("`{name}` was fitted by sbl {}, and this version {how}", state.result.sbl);
            Diagnostic::error("E0814", found).help("read it with that version, or fit the model again")
        };
        let compiled = compiled.and_then(|model| model.plan().map(|_| model.clone()));
        let model = compiled.map_err(|e| {
            let found = std::iter::once(other("does not compile its model"));
            Error::new(found.chain(e.diagnostics().iter().cloned()).collect(), e.sources().clone())
        })?;
        if model.fingerprint() != state.fingerprint {
            return Err(other("compiles its model differently").into());
        }
        let impossible = |what: &str| file::damaged(name, what);
        let frozen = std::mem::take(&mut state.frozen).unpacked(model.typed());
        state.frozen =
            frozen.ok_or_else(|| impossible("it has values of expressions that its model has not"))?;
        verify(&model, model.plan()?, &state).map_err(|what| impossible(&what))?;
        Ok(Fit { inner: Arc::new(Inner { model, state }) })
    }
}

/// Whether every function of the host program that a fit uses is registered, and is of the same kind.
fn verify_hosts(needed: &[String], hosts: &Registry, name: &str) -> Result<(), Error> {
    let known: Vec<String> = hosts.all().iter().map(Function::kind).collect();
    let missing: Vec<String> =
        needed.iter().filter(|n| !known.contains(n)).map(|n| format!("`{n}`")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let found = format!(
        "`{name}` uses functions of the program that made it, which are not registered here: {}",
        missing.join(", ")
    );
    Err(Diagnostic::error("E0820", found)
        .help("register them, then read it: `Compiler::new().function(…).load(…)`")
        .into())
}

/// What prediction asks of training values, and the size of local basis functions at training.
fn needed(
    plan: &Plan,
    posterior: &Posterior,
    names: &nodes::Names,
    inputs: Inputs<'_>,
    frozen: &Frozen,
    memory: usize,
) -> Result<(Local, crate::design::frozen::Asked), crate::design::EvalError> {
    let mut eval = Evaluator::new(inputs, frozen, memory);
    let mut local = Local::default();
    for term in &plan.terms {
        let form = affine(&mut eval, term.mean, &posterior.restrict())?;
        let c = posterior
            .coefficients(&form, memory)
            .map_err(|why| crate::design::EvalError { expr: term.mean, why })?;
        local.learn(term.node, &c, posterior, names);
        if let Some(scale) = term.scale {
            log_linear(&mut eval, scale.value)?;
        }
        for (_, e) in &term.args {
            eval.eval(*e, &crate::design::Want::all())?;
        }
    }
    for block in &plan.blocks {
        if let Some(scale) = block.scale {
            log_linear(&mut eval, scale.value)?;
        }
    }
    Ok((local, eval.asked().clone()))
}

fn report(solution: &Solution, layout: &Layout, names: &nodes::Names) -> ReportResult {
    let report = &solution.report;
    let merged = report
        .merged
        .iter()
        .filter_map(|(kept, dropped)| {
            let (node, _) = layout.weight(*kept)?;
            Some(Merged {
                node: names.node(node),
                kept: names.weight(*kept),
                dropped: dropped.iter().map(|d| names.weight(*d)).collect(),
            })
        })
        .collect();
    let outside = report.certificate.max_gain_outside;
    ReportResult {
        pruned: report.pruned,
        merged,
        jitter: report.jitter,
        restarts: report.restarts,
        schedule: report.schedule.map(|schedule| schedule.name().to_owned()),
        stop: match report.stop {
            Stop::Converged => "converged",
            Stop::Stalled => "stalled",
            Stop::MaxIter => "max_iter",
            Stop::MaxTime => "max_time",
            Stop::Interrupted => "interrupted",
        }
        .to_owned(),
        certificate: CertificateResult {
            gradient: report.certificate.gradient,
            max_gain_outside: outside.is_finite().then_some(outside),
        },
    }
}
