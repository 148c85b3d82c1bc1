//! `sbl cv`: settings of a program compared by what they lose on rows that were held out.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sbl::diag::Diagnostic;
use sbl::session::cross_validate::{CrossOptions, CrossValidation, Loss, SettingScore, cross_validate};
use serde_json::Value;

use super::args::{Cv, TextOrJson};
use super::failure::{Exit, Failure};
use super::layout::{Align, number, plural, table};
use super::progress::Progress;
use super::screen::Screen;
use super::{compile, interrupt, load, report};
use crate::io as files;

/// Validates every setting of the grid and prints the table.
pub fn run(args: &Cv, screen: &Screen) -> Result<Exit, Failure> {
    let settings = &args.program.settings;
    let mut names: BTreeSet<&str> = settings.set.iter().map(|(name, _)| name.as_str()).collect();
    if let Some((twice, _)) = args.grid.iter().find(|(name, _)| !names.insert(name)) {
        return Err(Diagnostic::error("E0833", format!("`{twice}` is given twice"))
            .help(format!("list all values in one `--grid {twice}=…`"))
            .into());
    }
    let source = load::program(&args.program.file)?;
    let grid = compile::compiler(&args.program.file, settings).grid(&source, &args.grid)?;
    let read = files::read_data(&args.data.files, &args.data.reading.options())?;
    report::print_plain(screen, &read.warnings);
    if let Some(first) = grid.first() {
        report::print(screen, first.model.warnings(), first.model.sources());
    }
    let progress = Progress::bar(screen, "fits");
    let shown = progress.clone();
    let mut options = CrossOptions {
        folds: args.folds,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        on_fold: Some(Box::new(move |done, all| {
            shown.reach(done, all);
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })),
        cancel: interrupt::cancel().clone(),
        ..CrossOptions::default()
    };
    if let Some(bytes) = args.data.reading.max_memory {
        options.max_memory = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    let validated = interrupt::gracefully(|| cross_validate(&grid, &read.value, &options));
    progress.finish();
    let validated = validated?;
    match args.format {
        TextOrJson::Json => report::json(screen, &validated)?,
        TextOrJson::Text => screen.result(text(&validated, screen).as_bytes())?,
    }
    let (failed, unfinished) = validated.troubles();
    if !validated.complete {
        screen.note("interrupted: not every fold was tried");
        return Ok(Exit::Interrupted);
    }
    tell_failures(&validated, screen);
    if unfinished > 0 {
        screen.note(&format!("{} did not converge", plural(unfinished, "fit")));
    }
    Ok(if failed + unfinished > 0 { Exit::NotConverged } else { Exit::Done })
}

/// Every fold that failed, with its reason.
fn tell_failures(validated: &CrossValidation, screen: &Screen) {
    for setting in &validated.settings {
        for fold in setting.folds.iter().filter(|f| f.loss.is_none()) {
            let why = fold.failed.iter().find(|d| d["severity"] == "error").or(fold.failed.first());
            let text = |key: &str| why.and_then(|d| d[key].as_str()).unwrap_or("?").to_owned();
            let name = if setting.set.is_empty() { String::new() } else { format!(" of {}", name(setting)) };
            // a failure is no remark: it is told even after -q
            screen.error(&format!(
                "fold {}{name} failed: error[{}]: {}\n",
                fold.fold,
                text("code"),
                text("message")
            ));
        }
    }
}

fn name(setting: &SettingScore) -> String {
    setting
        .set
        .iter()
        .map(|(name, value)| format!("{name} = {}", shown(value)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn text(validated: &CrossValidation, screen: &Screen) -> String {
    let CrossValidation { model, folds, rows, seed, measures: [loss, error], .. } = validated;
    let mut lines = vec![format!(
        "{}: {} of {}, seed {seed}",
        screen.strong(model),
        plural(*folds, "fold"),
        plural(*rows, "row")
    )];
    let constants: Vec<&String> = validated.settings.first().map_or(Vec::new(), |s| s.set.keys().collect());
    let mut header: Vec<&str> = constants.iter().map(|c| c.as_str()).collect();
    header.extend([loss.as_str(), "", error.as_str(), "", "weights", "seconds", ""]);
    let mut align = vec![Align::Right; header.len() - 1];
    align.push(Align::Left);
    let rows: Vec<Vec<String>> = validated
        .settings
        .iter()
        .map(|s| {
            let mut row: Vec<String> = s.set.values().map(shown).collect();
            row.extend(measure(s.loss));
            row.extend(measure(s.error));
            row.push(s.weights.map_or("–".to_owned(), |w| format!("{w:.1}")));
            row.push(number(s.seconds, 2));
            row.push(remark(s, validated.settings.len() > 1));
            row
        })
        .collect();
    for (i, line) in table(Some(&header), &align, &rows).into_iter().enumerate() {
        lines.push(if i == 0 { screen.faint(&line) } else { line });
    }
    lines.push(String::new());
    lines.join("\n")
}

fn measure(loss: Option<Loss>) -> [String; 2] {
    match loss {
        None => ["–".to_owned(), String::new()],
        Some(Loss { mean, se }) => {
            [number(mean, 4), se.map_or(String::new(), |se| format!("± {}", number(se, 2)))]
        }
    }
}

fn remark(setting: &SettingScore, several: bool) -> String {
    let failed = setting.folds.iter().filter(|f| f.loss.is_none()).count();
    match (setting.best && several, failed) {
        (true, _) => "best".to_owned(),
        (false, 0) => String::new(),
        (false, n) => format!("{n} of {} not done", plural(setting.folds.len(), "fold")),
    }
}

/// As it was written, or as short as reads back the same.
fn shown(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), files::number::shortest)
}
