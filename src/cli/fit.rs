//! `sbl fit`: fit a model to data.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sbl::Options;
use sbl::session::result::FitResult;

use super::args::{Fit, TextOrJson};
use super::failure::{Exit, Failure};
use super::progress::Progress;
use super::screen::Screen;
use super::summary::{stop, summary};
use super::{compile, interrupt, load, report};
use crate::io as files;
use crate::io::output::{Table, Values};

/// Fits, writes the fit and the trace, and prints the result.
pub fn run(args: &Fit, screen: &Screen) -> Result<Exit, Failure> {
    let model = compile::quietly(&args.program.file, &args.program.settings)?;
    let told = |failure: Failure| {
        report::print(screen, model.warnings(), model.sources());
        failure
    };
    let read =
        files::read_data(&args.data.files, &args.data.reading.options()).map_err(|d| told(d.into()))?;
    let progress = Progress::start(screen, "preparing");
    let trace: Arc<Mutex<Vec<sbl::Progress>>> = Arc::default();
    let options = options(args, &progress, &trace);
    let fitted = interrupt::gracefully(|| model.fit(&read.value, &options));
    progress.finish();
    let fit = fitted.map_err(|error| {
        report::print_plain(screen, &read.warnings);
        interrupt::failure(error)
    })?;
    let result = fit.result();

    // Files first: they stay even if nobody reads the summary.
    let mut unwritten = Vec::new();
    if let Some(path) = &args.output {
        unwritten.extend(fit.to_bytes().map_err(Failure::from).and_then(|b| load::write(path, &b)).err());
    }
    if let Some(path) = &args.trace {
        let steps = trace.lock().map(|t| t.clone()).unwrap_or_default();
        unwritten.extend(load::write(path, &trace_table(&steps).to_csv()).err());
    }
    report::print_plain(screen, &read.warnings);
    report::print_stored(screen, &result.warnings, fit.model().sources());
    match args.format {
        TextOrJson::Text => screen.result(summary(result, screen).as_bytes())?,
        TextOrJson::Json => report::json(screen, result)?,
    }
    if let Some(failure) = unwritten.into_iter().reduce(join) {
        // The result is out already: what could not be written is told apart from it.
        report::print(screen, &failure.diagnostics, &failure.sources);
        return Ok(failure.exit);
    }
    if !result.converged {
        screen.note(&format!("not converged: {}", stop(&result.report.stop)));
    }
    if args.output.is_none() && screen.animate {
        screen.note("the fit is not kept; -o FILE writes it");
    }
    Ok(exit(result))
}

/// The status that the end of the fit deserves.
fn exit(result: &FitResult) -> Exit {
    match result.report.stop.as_str() {
        _ if result.converged => Exit::Done,
        "interrupted" => Exit::Interrupted,
        _ => Exit::NotConverged,
    }
}

fn options(args: &Fit, progress: &Progress, trace: &Arc<Mutex<Vec<sbl::Progress>>>) -> Options {
    let (progress, trace, keep) = (progress.clone(), Arc::clone(trace), args.trace.is_some());
    let options = Options::default().seed(args.seed).threads(args.threads).cancel(&interrupt::cancel());
    let mut options = options.on_step(move |step| {
        progress.step(step.iteration, step.objective, step.active);
        if keep && let Ok(mut trace) = trace.lock() {
            trace.push(step.clone());
        }
        if interrupt::asked() { step.stop() } else { step.go_on() }
    });
    if let Some(seconds) = args.max_time {
        options = options.max_time(Duration::from_secs_f64(seconds));
    }
    if let Some(bytes) = args.data.reading.max_memory {
        options = options.max_memory(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
    options
}

fn trace_table(steps: &[sbl::Progress]) -> Table {
    let mut table = Table::default();
    table.push("iteration", Values::Numbers(steps.iter().map(|s| s.iteration as f64).collect()));
    table.push("objective", Values::Numbers(steps.iter().map(|s| s.objective).collect()));
    table.push("active", Values::Numbers(steps.iter().map(|s| s.active as f64).collect()));
    table.push("phase", Values::Words(steps.iter().map(|s| Some(s.phase.into())).collect()));
    table
}

fn join(mut first: Failure, second: Failure) -> Failure {
    first.diagnostics.extend(second.diagnostics);
    first
}

/// A fit file, read.
pub fn read(path: &std::path::Path) -> Result<sbl::Fit, Failure> {
    Ok(sbl::Fit::from_bytes(&load::fit_bytes(path)?, &load::shown(path))?)
}
