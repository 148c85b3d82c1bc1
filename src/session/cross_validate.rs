//! Cross-validation: settings of a program compared by what they lose on rows that were held out.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::bind;
use super::cancel::{Cancel, callback_failed};
use super::compile::{Compiler, Model};
use super::draws::Uniforms;
use super::options::Options;
use super::score::NodeScore;
use crate::data::Data;
use crate::diag::{Diagnostic, render};
use crate::dist::Support;
use crate::error::Error;
use crate::host::{Fault, guarded};

/// A program with some of its constants set.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nlet width = 1.0\nw ~ Normal(0, sd = width)\nt ~ Normal(x .* w, sd = 1)\n";
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0, 4.0])?.vector("t", &[2.1, 3.9, 6.0, 8.2])?;
/// # let settings = sbl::Compiler::new().grid(source, &[("width".to_owned(), vec![0.1, 10.0])])?;
/// assert_eq!(settings[1].set, [("width".to_owned(), 10.0)]);
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Setting {
    /// The constants, by name.
    pub set: Vec<(String, f64)>,
    /// The program compiled with them.
    pub model: Model,
}

/// How to cross-validate.
///
/// ```
/// let options = sbl::CrossOptions { folds: 10, threads: 2, ..sbl::CrossOptions::default() };
/// # let _ = options;
/// ```
pub struct CrossOptions {
    /// Parts into which the rows are divided, each held out once.
    pub folds: usize,
    /// Seed of the division.
    pub seed: u64,
    /// Fits at a time; their number changes nothing in the result.
    pub threads: usize,
    /// As [`Options::max_memory`], for each fit.
    pub max_memory: usize,
    /// Told of every fold that is done (how many are, and of how many); may stop the whole.
    pub on_fold: Option<OnFold>,
    /// Ends the whole, in the middle of a fit too; the folds that are done are returned.
    pub cancel: Cancel,
}

/// What is told of a fold that is done: how many are, of how many.
pub type OnFold = Box<dyn Fn(usize, usize) -> ControlFlow<()> + Send + Sync>;

impl Default for CrossOptions {
    fn default() -> Self {
        Self { folds: 5, seed: 0, threads: 1, max_memory: 8 << 30, on_fold: None, cancel: Cancel::new() }
    }
}

impl std::fmt::Debug for CrossOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CrossOptions { folds, seed, threads, .. } = self;
        f.debug_struct("CrossOptions")
            .field("folds", folds)
            .field("seed", seed)
            .field("threads", threads)
            .finish_non_exhaustive()
    }
}

/// What each setting loses: `sbl cv --format json`.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nlet width = 1.0\nw ~ Normal(0, sd = width)\nt ~ Normal(x .* w, sd = 1)\n";
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0, 4.0])?.vector("t", &[2.1, 3.9, 6.0, 8.2])?;
/// # let settings = sbl::Compiler::new().grid(source, &[("width".to_owned(), vec![0.1, 10.0])])?;
/// let options = sbl::CrossOptions { folds: 2, ..sbl::CrossOptions::default() };
/// let found = sbl::cross_validate(&settings, &data, &options)?;
/// assert_eq!(found.settings.len(), 2);
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CrossValidation {
    /// Version of sbl.
    pub sbl: String,
    /// Version of this schema.
    pub schema: u32,
    /// The model.
    pub model: String,
    /// Rows with a target.
    pub rows: usize,
    /// Number of folds.
    pub folds: usize,
    /// Seed of the division.
    pub seed: u64,
    /// What `loss` and `error` are: `nlpd`, `mse` of numbers; `log_loss`, `error_rate` of levels.
    pub measures: [String; 2],
    /// Whether every fold was tried; `false` if the host stopped it.
    pub complete: bool,
    /// One for each setting, in the order given.
    pub settings: Vec<SettingScore>,
}

/// What one setting loses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SettingScore {
    /// The constants that were set.
    pub set: Map<String, Json>,
    /// The lowest loss of all settings of which no fold failed.
    pub best: bool,
    /// Mean −ln of the predictive density or probability of a held-out target, in nats.
    pub loss: Option<Loss>,
    /// Mean squared error, or share of wrong levels; absent where there are targets of both kinds.
    pub error: Option<Loss>,
    /// Kept weights, mean over folds.
    pub weights: Option<f64>,
    /// Seconds of all its fits.
    pub seconds: f64,
    /// Each fold, in order.
    pub folds: Vec<Fold>,
}

/// A mean over held-out rows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Loss {
    /// Mean over all rows.
    pub mean: f64,
    /// Standard error: the deviation of the means of folds over the root of their number; `None` for one.
    pub se: Option<f64>,
}

/// What came of one fold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fold {
    /// From 1.
    pub fold: usize,
    /// Rows held out.
    pub rows: usize,
    /// Mean loss on them; `None` if the fold failed.
    pub loss: Option<f64>,
    /// Mean error on them.
    pub error: Option<f64>,
    /// Kept weights of the fit.
    pub weights: Option<usize>,
    /// Whether the fit converged.
    pub converged: bool,
    /// Why there is no loss: diagnostics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Json>,
}

impl CrossValidation {
    /// The best setting.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nlet width = 1.0\nw ~ Normal(0, sd = width)\nt ~ Normal(x .* w, sd = 1)\n";
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0, 4.0])?.vector("t", &[2.1, 3.9, 6.0, 8.2])?;
    /// # let settings = sbl::Compiler::new().grid(source, &[("width".to_owned(), vec![0.1, 10.0])])?;
    /// let options = sbl::CrossOptions { folds: 2, ..sbl::CrossOptions::default() };
    /// let found = sbl::cross_validate(&settings, &data, &options)?;
    /// assert_eq!(found.best().map(|s| s.set["width"].clone()), Some(10.0.into()));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn best(&self) -> Option<&SettingScore> {
        self.settings.iter().find(|s| s.best)
    }

    /// Folds without a loss, and folds whose fit did not converge.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nlet width = 1.0\nw ~ Normal(0, sd = width)\nt ~ Normal(x .* w, sd = 1)\n";
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0, 4.0])?.vector("t", &[2.1, 3.9, 6.0, 8.2])?;
    /// # let settings = sbl::Compiler::new().grid(source, &[("width".to_owned(), vec![0.1, 10.0])])?;
    /// let options = sbl::CrossOptions { folds: 2, ..sbl::CrossOptions::default() };
    /// let found = sbl::cross_validate(&settings, &data, &options)?;
    /// assert_eq!(found.troubles(), (0, 0));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn troubles(&self) -> (usize, usize) {
        let all = || self.settings.iter().flat_map(|s| &s.folds);
        (
            all().filter(|f| f.loss.is_none()).count(),
            all().filter(|f| f.loss.is_some() && !f.converged).count(),
        )
    }
}

impl Compiler {
    /// The program for every combination of values of some constants, the last one moving fastest. An
    /// empty grid is one setting.
    ///
    /// # Errors
    /// As [`Compiler::compile`]; a name is no constant of the program.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nlet width = 1.0\nw ~ Normal(0, sd = width)\nt ~ Normal(x .* w, sd = 1)\n";
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0, 4.0])?.vector("t", &[2.1, 3.9, 6.0, 8.2])?;
    /// # let settings = sbl::Compiler::new().grid(source, &[("width".to_owned(), vec![0.1, 10.0])])?;
    /// assert_eq!(settings.len(), 2);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn grid(&self, source: &str, grid: &[(String, Vec<f64>)]) -> Result<Vec<Setting>, Error> {
        let mut all: Vec<Vec<(String, f64)>> = vec![Vec::new()];
        for (name, values) in grid {
            let with =
                |set: &Vec<(String, f64)>, value: &f64| [set.as_slice(), &[(name.clone(), *value)]].concat();
            all =
                all.iter().flat_map(|set| values.iter().map(|v| with(set, v)).collect::<Vec<_>>()).collect();
        }
        all.into_iter()
            .map(|set| {
                let compiler = set.iter().fold(self.clone(), |c, (name, value)| c.set(name, *value));
                let model = compiler.compile(source).map_err(|e| e.noted(setting(&set)))?;
                Ok(Setting { model, set })
            })
            .collect()
    }
}

/// `width = -1, of the grid`
fn setting(set: &[(String, f64)]) -> Option<String> {
    let values: Vec<String> = set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    (!values.is_empty()).then(|| format!("compiled with {}, of the grid (`--grid`)", values.join(", ")))
}

/// Fits every setting on all folds but one and scores it on that one, for each fold.
///
/// Rows are divided at random from the seed, evenly by level where the first target with levels has any;
/// rows without a target are in every training part. The result does not depend on the number of threads.
///
/// # Errors
/// E06: no plan serves the program; E0830: fewer than 2 folds, or more than rows; E0831: the targets are not
/// the rows of the data; E07: the data do not fit the program. A fold that fails is no error: it stands in
/// the result.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nlet width = 1.0\nw ~ Normal(0, sd = width)\nt ~ Normal(x .* w, sd = 1)\n";
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0, 4.0])?.vector("t", &[2.1, 3.9, 6.0, 8.2])?;
/// # let settings = sbl::Compiler::new().grid(source, &[("width".to_owned(), vec![0.1, 10.0])])?;
/// let options = sbl::CrossOptions { folds: 2, ..sbl::CrossOptions::default() };
/// let found = sbl::cross_validate(&settings, &data, &options)?;
/// assert!(found.complete);
/// # Ok::<(), sbl::Error>(())
/// ```
pub fn cross_validate(
    settings: &[Setting],
    data: &Data,
    options: &CrossOptions,
) -> Result<CrossValidation, Error> {
    let Some(Setting { model: first, .. }) = settings.first() else {
        return Err(Diagnostic::error("E0830", "there is no setting to validate")
            .help("give at least one value")
            .into());
    };
    for setting in settings {
        setting.model.plan()?;
    }
    let folds = divide(first, data, options)?;
    let jobs: Vec<(usize, usize)> =
        (0..settings.len()).flat_map(|s| (0..options.folds).map(move |f| (s, f))).collect();
    let done: Mutex<Vec<Option<Done>>> = Mutex::new((0..jobs.len()).map(|_| None).collect());
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let broken: Mutex<Option<Fault>> = Mutex::new(None);
    let ended = || stop.load(Ordering::SeqCst) || options.cancel.is_asked();
    std::thread::scope(|scope| {
        for _ in 0..options.threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while let Some((s, f)) = jobs.get(next.fetch_add(1, Ordering::SeqCst)).copied() {
                    if ended() {
                        return;
                    }
                    let one = run(&settings[s].model, data, &folds, f, options, &stop);
                    if ended() {
                        // a fit that was cut short says nothing
                        return;
                    }
                    if let Ok(mut done) = done.lock() {
                        done[s * options.folds + f] = Some(one);
                    }
                    let count = finished.fetch_add(1, Ordering::SeqCst) + 1;
                    let told = options.on_fold.as_ref().map(|tell| guarded(|| tell(count, jobs.len())));
                    match told {
                        None | Some(Ok(ControlFlow::Continue(()))) => {}
                        Some(Ok(ControlFlow::Break(()))) => stop.store(true, Ordering::SeqCst),
                        Some(Err(fault)) => {
                            stop.store(true, Ordering::SeqCst);
                            if let Ok(mut broken) = broken.lock() {
                                *broken = Some(fault);
                            }
                        }
                    }
                }
            });
        }
    });
    if let Some(fault) = broken.into_inner().unwrap_or_default() {
        return Err(callback_failed(&fault).into());
    }
    let done = done.into_inner().unwrap_or_default();
    let levels = done.iter().flatten().find_map(|d| d.levels);
    let complete = done.iter().all(Option::is_some) && !done.is_empty();
    let mut scored: Vec<SettingScore> = settings
        .iter()
        .zip(done.chunks(options.folds))
        .map(|(setting, done)| summary(setting, done, &folds))
        .collect();
    mark_best(&mut scored);
    let measures = if levels == Some(true) { ["log_loss", "error_rate"] } else { ["nlpd", "mse"] };
    Ok(CrossValidation {
        sbl: env!("CARGO_PKG_VERSION").to_owned(),
        schema: super::SCHEMA,
        model: first.name().to_owned(),
        rows: folds.iter().flatten().count(),
        folds: options.folds,
        seed: options.seed,
        measures: measures.map(str::to_owned),
        complete,
        settings: scored,
    })
}

/// The fold of each row; `None` for a row without a target.
fn divide(model: &Model, data: &Data, options: &CrossOptions) -> Result<Vec<Option<usize>>, Error> {
    let typed = model.typed();
    let bound = bind::bind_training(typed, data).map_err(|found| model.error(found))?.value;
    let rows = data.row_count();
    let targets: Vec<_> = typed
        .nodes
        .iter()
        .filter(|n| n.is_observed())
        .filter_map(|n| Some((n, &bound.values.get(&n.id)?.array)))
        .collect();
    if let Some((node, array)) = targets.iter().find(|(_, a)| a.nrows() != rows) {
        return Err(model.error(vec![
            Diagnostic::error(
                "E0831",
                format!("`{}` has {} rows, and the data have {rows}", node.name, array.nrows()),
            )
            .at(node.span, "a target that is not one value a row")
            .help("cross-validation divides the rows of one table: give data with one row for each target"),
        ]));
    }
    let present: Vec<usize> =
        (0..rows).filter(|r| targets.iter().any(|(_, a)| a.row(*r).iter().any(|y| !y.is_nan()))).collect();
    if options.folds < 2 || options.folds > present.len() {
        return Err(model.error(vec![
            Diagnostic::error("E0830", format!("{} folds of {} rows", options.folds, present.len()))
                .help("give at least 2 folds, and at most one for each row with a target"),
        ]));
    }
    // Fisher and Yates
    let mut order = present;
    let mut uniforms = Uniforms::new(options.seed);
    for i in (1..order.len()).rev() {
        order.swap(i, (uniforms.next() * (i + 1) as f64) as usize);
    }
    // equal levels side by side, each still in random order: dealt out in turn they spread evenly
    let by_level = targets.iter().find(|(n, a)| {
        let support = n.data().and_then(|d| d.likelihood.as_ref()).map(|d| d.family.support);
        a.ncols() == 1 && matches!(support, Some(Support::Binary | Support::Levels | Support::Ordered))
    });
    if let Some((_, codes)) = by_level {
        let level = |r: &usize| codes.get(*r).copied().filter(|c| !c.is_nan()).map_or(-1, |c| c as i64);
        order.sort_by_key(level);
    }
    let mut folds = vec![None; rows];
    for (j, r) in order.into_iter().enumerate() {
        folds[r] = Some(j % options.folds);
    }
    Ok(folds)
}

/// What came of one fit.
struct Done {
    scored: Result<Scored, Vec<Json>>,
    /// Whether all targets have levels (or none has); `None` if there are both, or it failed.
    levels: Option<bool>,
    seconds: f64,
}

struct Scored {
    log_losses: Vec<f64>,
    errors: Option<Vec<f64>>,
    weights: usize,
    converged: bool,
}

fn run(
    model: &Model,
    data: &Data,
    folds: &[Option<usize>],
    fold: usize,
    options: &CrossOptions,
    stop: &Arc<AtomicBool>,
) -> Done {
    let started = Instant::now();
    let scored = fit_and_score(model, data, folds, fold, options, stop);
    let seconds = started.elapsed().as_secs_f64();
    match scored {
        Ok((scored, levels)) => Done { scored: Ok(scored), levels, seconds },
        Err(error) => {
            let why = match render::to_json(error.diagnostics(), error.sources()) {
                Json::Array(items) => items,
                other => vec![other],
            };
            Done { scored: Err(why), levels: None, seconds }
        }
    }
}

fn fit_and_score(
    model: &Model,
    data: &Data,
    folds: &[Option<usize>],
    fold: usize,
    options: &CrossOptions,
    stop: &Arc<AtomicBool>,
) -> Result<(Scored, Option<bool>), Error> {
    let rows = |held_out: bool| -> Vec<usize> {
        (0..folds.len()).filter(|r| (folds[*r] == Some(fold)) == held_out).collect()
    };
    let stop = Arc::clone(stop);
    let fitting = Options::default()
        .seed(options.seed)
        .max_memory(options.max_memory)
        .cancel(&options.cancel)
        .on_step(move |step| if stop.load(Ordering::SeqCst) { step.stop() } else { step.go_on() });
    let fit = model.fit(&data.select_rows(&rows(false))?, &fitting)?;
    let (nodes, ..) = fit.score_nodes(&data.select_rows(&rows(true))?)?;
    let levels = match nodes.as_slice() {
        [first, rest @ ..] if rest.iter().all(|n| n.levels == first.levels) => Some(first.levels),
        _ => None,
    };
    let all = |of: fn(&NodeScore) -> &Vec<f64>| nodes.iter().flat_map(|n| of(n).iter().copied()).collect();
    let scored = Scored {
        log_losses: all(|n| &n.log_losses),
        errors: levels.map(|_| all(|n| &n.errors)),
        weights: fit.posterior().mean.len(),
        converged: fit.converged(),
    };
    Ok((scored, levels))
}

fn summary(setting: &Setting, done: &[Option<Done>], folds: &[Option<usize>]) -> SettingScore {
    let fold = |(f, done): (usize, &Option<Done>)| {
        let rows = folds.iter().filter(|g| **g == Some(f)).count();
        let empty = Fold {
            fold: f + 1,
            rows,
            loss: None,
            error: None,
            weights: None,
            converged: false,
            failed: vec![],
        };
        match done.as_ref().map(|d| &d.scored) {
            Some(Ok(s)) => Fold {
                loss: Some(average(&s.log_losses)),
                error: s.errors.as_deref().map(average),
                weights: Some(s.weights),
                converged: s.converged,
                ..empty
            },
            Some(Err(why)) => Fold { failed: why.clone(), ..empty },
            None => empty,
        }
    };
    let good: Vec<&Scored> = done.iter().flatten().filter_map(|d| d.scored.as_ref().ok()).collect();
    let losses: Vec<&[f64]> = good.iter().map(|s| s.log_losses.as_slice()).collect();
    let errors: Option<Vec<&[f64]>> = good.iter().map(|s| s.errors.as_deref()).collect();
    let weights: Vec<f64> = good.iter().map(|s| s.weights as f64).collect();
    SettingScore {
        set: setting.set.iter().map(|(name, value)| (name.clone(), Json::from(*value))).collect(),
        best: false,
        loss: loss(&losses),
        error: errors.and_then(|e| loss(&e)),
        weights: (!weights.is_empty()).then(|| average(&weights)),
        seconds: done.iter().flatten().map(|d| d.seconds).sum(),
        folds: done.iter().enumerate().map(fold).collect(),
    }
}

/// The mean over all rows, and the deviation of the means of folds over √folds.
fn loss(folds: &[&[f64]]) -> Option<Loss> {
    let all: Vec<f64> = folds.concat();
    if all.is_empty() {
        return None;
    }
    let means: Vec<f64> = folds.iter().map(|f| average(f)).collect();
    let (k, centre) = (means.len() as f64, average(&means));
    let variance = means.iter().map(|m| (m - centre).powi(2)).sum::<f64>() / (k - 1.0);
    Some(Loss { mean: average(&all), se: (means.len() > 1).then(|| (variance / k).sqrt()) })
}

/// Of several equal ones the first.
fn mark_best(settings: &mut [SettingScore]) {
    let whole = |s: &SettingScore| {
        let mean = s.loss.map(|l| l.mean).filter(|m| m.is_finite());
        mean.filter(|_| s.folds.iter().all(|f| f.loss.is_some()))
    };
    let mut best: Option<(usize, f64)> = None;
    for (i, setting) in settings.iter().enumerate() {
        if let Some(mean) = whole(setting)
            && best.is_none_or(|(_, b)| mean < b)
        {
            best = Some((i, mean));
        }
    }
    if let Some((i, _)) = best {
        settings[i].best = true;
    }
}

fn average(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "let l = 1\ndata x: real[N]\ndata t: real[N]\nmu ~ Flat()\nw ~ Normal(0, precision = l)\n\
                        t ~ Normal(mu + x .* w, sd = 0.5)\n";

    fn line(n: usize) -> Data {
        let x: Vec<f64> = (0..n).map(|i| i as f64 / 4.0).collect();
        let t: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 0.4 * (x * 37.0).sin()).collect();
        Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap()
    }

    fn settings(values: &[f64]) -> Vec<Setting> {
        Compiler::new().grid(LINE, &[("l".to_owned(), values.to_vec())]).unwrap()
    }

    #[test]
    fn threads_change_nothing_and_seeds_do() {
        let run = |threads, seed| {
            let options = CrossOptions { folds: 4, seed, threads, ..CrossOptions::default() };
            let mut cv = cross_validate(&settings(&[0.1, 1e4]), &line(21), &options).unwrap();
            cv.settings.iter_mut().for_each(|s| s.seconds = 0.0);
            cv
        };
        let one = run(1, 3);
        assert_eq!(one, run(3, 3));
        assert_ne!(one.settings[0].loss, run(1, 4).settings[0].loss);
        assert!(one.settings[0].best && !one.settings[1].best && one.complete);
        let rows: Vec<usize> = one.settings[0].folds.iter().map(|f| f.rows).collect();
        assert_eq!(rows, [6, 5, 5, 5]);
    }

    /// Each fold by hand: fitted on the others, scored on it.
    #[test]
    fn losses_are_those_of_scores() {
        let options = CrossOptions { folds: 3, seed: 9, ..CrossOptions::default() };
        let (settings, data) = (settings(&[1.0]), line(12));
        let folds = divide(&settings[0].model, &data, &options).unwrap();
        let cv = cross_validate(&settings, &data, &options).unwrap();
        for (f, fold) in cv.settings[0].folds.iter().enumerate() {
            let rows =
                |held: bool| -> Vec<usize> { (0..12).filter(|r| (folds[*r] == Some(f)) == held).collect() };
            let fit =
                settings[0].model.fit(&data.select_rows(&rows(false)).unwrap(), &Options::default()).unwrap();
            let score = fit.score(&data.select_rows(&rows(true)).unwrap()).unwrap();
            assert_eq!(score.nodes["t"]["nlpd"].as_f64(), fold.loss);
            let mse = score.nodes["t"]["rmse"].as_f64().unwrap().powi(2);
            assert!((mse - fold.error.unwrap()).abs() < 1e-12);
        }
        let losses: Vec<f64> = cv.settings[0].folds.iter().map(|f| f.loss.unwrap()).collect();
        let centre = average(&losses);
        let se = (losses.iter().map(|l| (l - centre).powi(2)).sum::<f64>() / 6.0).sqrt();
        let loss = cv.settings[0].loss.unwrap();
        assert!((loss.mean - centre).abs() < 1e-12 && (loss.se.unwrap() - se).abs() < 1e-12);
    }

    #[test]
    fn rows_without_a_target_stay_in_training() {
        let mut t = vec![1.0; 6];
        t[2] = f64::NAN;
        let data = Data::new().vector("x", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().vector("t", &t).unwrap();
        let folds = divide(&settings(&[1.0])[0].model, &data, &CrossOptions::default()).unwrap();
        assert_eq!(folds[2], None);
        assert_eq!(folds.iter().flatten().count(), 5);
    }

    #[test]
    fn levels_are_spread_evenly() {
        let model = Compiler::new()
            .compile("data y: bool[N]\nmu ~ Normal(0, precision = 1)\ny ~ Bernoulli(logit = mu)\n")
            .unwrap();
        let y: Vec<f64> = (0..40).map(|i| f64::from(i % 4 == 0)).collect();
        let data = Data::new().vector("y", &y).unwrap();
        let options = CrossOptions { folds: 5, ..CrossOptions::default() };
        let folds = divide(&model, &data, &options).unwrap();
        for f in 0..5 {
            let held: Vec<usize> = (0..40).filter(|r| folds[*r] == Some(f)).collect();
            assert_eq!((held.len(), held.iter().filter(|r| y[**r] == 1.0).count()), (8, 2));
        }
    }

    #[test]
    fn a_fold_that_fails_is_told_and_stops_a_setting_from_being_best() {
        // without the last row the second slope is not determined, so that its fold fails
        let source = "let l = 1\ndata x: real[N, D]\ndata t: real[N]\nb ~ Flat() [D]\nw ~ Normal(0, precision = l)\n\
                      t ~ Normal(x * b + w, sd = 1)\n";
        let settings = Compiler::new().grid(source, &[("l".to_owned(), vec![1.0, 2.0])]).unwrap();
        let x = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]];
        let data = Data::new().rows("x", &x).unwrap().vector("t", &[1.0, 2.0, 2.5, 4.0]).unwrap();
        let options = CrossOptions { folds: 4, ..CrossOptions::default() };
        let cv = cross_validate(&settings, &data, &options).unwrap();
        let failed: Vec<&Fold> = cv.settings[0].folds.iter().filter(|f| f.loss.is_none()).collect();
        assert_eq!((failed.len(), failed[0].failed[0]["code"].as_str()), (1, Some("E0802")));
        assert!(cv.best().is_none() && cv.complete);
        assert_eq!(cv.troubles(), (2, 0));
        assert!(cv.settings[0].loss.is_some());
    }

    #[test]
    fn a_host_may_stop() {
        let options = CrossOptions {
            folds: 5,
            on_fold: Some(Box::new(|done, _| {
                if done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })),
            ..CrossOptions::default()
        };
        let cv = cross_validate(&settings(&[1.0]), &line(20), &options).unwrap();
        assert!(!cv.complete && cv.best().is_none());
        assert_eq!(cv.settings[0].folds.iter().filter(|f| f.loss.is_some()).count(), 2);
    }

    #[test]
    fn impossible_folds() {
        for folds in [0, 1, 13] {
            let options = CrossOptions { folds, ..CrossOptions::default() };
            let error = cross_validate(&settings(&[1.0]), &line(12), &options).unwrap_err();
            assert_eq!(error.diagnostics()[0].code, "E0830");
        }
    }
}
