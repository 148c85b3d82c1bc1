//! `sbl check`: everything that can be said about programs without fitting.

use sbl::Model;
use sbl::diag::{Diagnostic, Diagnostics, Severity};
use sbl::source::SourceMap;

use super::args::{Check, TextOrJson};
use super::failure::{Exit, Failure};
use super::layout::plural;
use super::screen::Screen;
use super::{binding, compile, load, report};
use crate::io as files;

/// Checks every file, and prints all that was found, not only the first.
pub fn run(args: &Check, screen: &Screen) -> Result<Exit, Failure> {
    let mut found = Found { json: args.format == TextOrJson::Json, array: Vec::new(), errors: 0 };
    let data = if args.data.files.is_empty() {
        None
    } else {
        match files::read_data(&args.data.files, &args.data.reading.options()) {
            Ok(read) => {
                found.add(screen, &read.warnings, &SourceMap::new());
                Some(read.value)
            }
            Err(errors) => {
                found.add(screen, &errors, &SourceMap::new());
                None
            }
        }
    };
    for file in &args.files {
        let before = found.errors;
        let models = match compile::all(file, &args.settings) {
            Ok(models) => models,
            Err(failure) => {
                found.add(screen, &failure.diagnostics, &failure.sources);
                continue;
            }
        };
        let mut shown: Diagnostics = Vec::new();
        for model in &models {
            // Warnings about the file are shared by its models.
            let new: Diagnostics = model.warnings().iter().filter(|w| !shown.contains(w)).cloned().collect();
            found.add(screen, &new, model.sources());
            shown.extend(new);
            if let Err(obstacles) = model.plan() {
                let told: Diagnostics = obstacles.diagnostics().iter().map(told).collect();
                found.add(screen, &told, obstacles.sources());
            }
            if let Some(data) = &data {
                match binding::bind(model, data) {
                    Ok(bound) => {
                        found.add(screen, &bound.warnings, model.sources());
                        found.remark(screen, model, &binding::remarks(model, &bound.value));
                    }
                    Err(failure) => found.add(screen, &failure.diagnostics, &failure.sources),
                }
            }
            if data.is_none() {
                found.remark(screen, model, &binding::constraints(model));
            }
        }
        if !found.json && found.errors == before {
            let names: Vec<&str> = models.iter().map(Model::name).collect();
            screen.note(&match names.as_slice() {
                [] => format!("{}: ok, holds no model", load::shown(file)),
                _ => format!(
                    "{}: {} ok ({})",
                    load::shown(file),
                    plural(names.len(), "model"),
                    names.join(", ")
                ),
            });
        }
    }
    if found.json {
        report::json(screen, &found.array)?;
    }
    Ok(if found.errors == 0 { Exit::Done } else { Exit::Wrong })
}

/// A correct program that no plan serves is still correct: that is a warning here.
fn told(obstacle: &Diagnostic) -> Diagnostic {
    match obstacle.code {
        "E0607" => Diagnostic {
            code: "W0601",
            severity: Severity::Warning,
            message: format!("it checks, and cannot be fitted: {}", obstacle.message),
            ..obstacle.clone()
        },
        _ => obstacle.clone(),
    }
}

/// What was found so far.
struct Found {
    json: bool,
    array: Vec<serde_json::Value>,
    errors: usize,
}

impl Found {
    fn add(&mut self, screen: &Screen, diagnostics: &[Diagnostic], sources: &SourceMap) {
        self.errors += diagnostics.iter().filter(|d| d.is_error()).count();
        if !self.json {
            report::print(screen, diagnostics, sources);
        } else if let serde_json::Value::Array(list) = sbl::diag::render::to_json(diagnostics, sources) {
            self.array.extend(list);
        }
    }

    fn remark(&self, screen: &Screen, model: &Model, lines: &[String]) {
        for line in lines.iter().filter(|_| !self.json) {
            screen.note(&format!("{}: {line}", model.name()));
        }
    }
}
