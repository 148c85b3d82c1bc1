//! Commands that fit, and that look at a fit.

use std::collections::BTreeSet;

use sbl::session::result::NodeResult;
use sbl::{Fit, Predicted};

use super::command::{number, one, usage, words};
use super::engine::Engine;
use super::files::read;
use super::loose::strict;
use super::reply::Reply;
use super::state::State;
use crate::cli::failure::Failure;
use crate::cli::layout::{Align, number as shown, table};
use crate::cli::screen::Screen;
use crate::cli::{report, sample, score, summary};
use crate::io::output::{Table, Values};
use crate::io::{ReadOptions, json};

/// Rows of a table of predictions.
const SHOWN: usize = 20;
/// The most draws of `:sample`.
const DRAWS: usize = 1000;

impl Engine {
    /// `:fit [METHOD]`
    pub(super) fn fit(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let model = match arguments {
            "" => self.model()?.clone(),
            method => {
                self.model()?;
                self.state.compile(Some(method))?
            }
        };
        model.plan()?;
        let data = self.data()?;
        let fit = self.run(&model, &data, |_| true)?;
        report_warnings(&fit, reply);
        reply.result(summary::summary(fit.result(), &self.style));
        if fit.result().report.stop == "interrupted" {
            reply.note("interrupted: this is the fit so far");
        }
        let next = State { fit: Some(fit), walk: None, ..self.state.clone() };
        self.commit(next);
        Ok(())
    }

    /// `:show [NODE]`
    pub(super) fn show(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let fit = self.fitted()?;
        if arguments.is_empty() {
            reply.result(summary::summary(fit.result(), &self.style));
            return Ok(());
        }
        let words = words(arguments);
        let name = one("show", &words)?;
        let node = fit.node(name)?;
        reply.result(about(name, &node, &self.style));
        Ok(())
    }

    /// `:predict {x: […]}` or `:predict FILE`
    pub(super) fn predict(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let fit = self.fitted()?;
        let read = if arguments.starts_with('{') {
            json::parse(&strict(arguments), "input", &ReadOptions::default())?
        } else if arguments.is_empty() {
            return Err(usage("predict", "found nothing, expected inputs, `{x: [1, 2]}`, or a file"));
        } else {
            read(&words(arguments))?
        };
        reply.warn(&read.warnings, &sbl::source::SourceMap::new());
        let prediction = fit.predict(&read.value)?;
        reply.warn(&prediction.warnings, fit.model().sources());
        let columns = prediction.columns();
        // what was asked stands beside the answer, where it is one column
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        let taken: BTreeSet<&str> = columns.iter().map(|(n, _)| n.as_str()).collect();
        let rows = columns.first().map_or(0, |(_, v)| v.len());
        for name in read.value.names().filter(|n| !taken.contains(n)) {
            if let Some(sbl::data::Column::Numbers(values)) = read.value.column(name)
                && values.len() == rows
            {
                all.push((name.to_owned(), values.iter().map(|x| crate::io::number::shortest(*x)).collect()));
            }
        }
        for (name, values) in columns {
            let texts = match values {
                Predicted::Numbers(values) => values.iter().map(|x| number_or_flag(&name, *x)).collect(),
                Predicted::Words(words) => words.iter().map(ToString::to_string).collect(),
            };
            all.push((name, texts));
        }
        reply.result(side_by_side(&all, rows, &self.style));
        Ok(())
    }

    /// `:score FILE…`
    pub(super) fn score(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let fit = self.fitted()?;
        let words = words(arguments);
        let data = if words.is_empty() { (*self.data()?).clone() } else { read(&words)?.value };
        let scores = fit.score(&data)?;
        reply.warn(&report::stored(&scores.warnings, fit.model().sources()), fit.model().sources());
        reply.result(score::text(&scores, &self.style));
        Ok(())
    }

    /// `:sample [N]`
    pub(super) fn sample(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let n: usize = number("sample", arguments, 1, 1)?;
        if n > DRAWS {
            return Err(usage(
                "sample",
                &format!("found {n}, expected at most {DRAWS}; `sbl sample` draws more"),
            ));
        }
        let data = self.state.data.as_deref();
        let draws = match &self.state.fit {
            Some(fit) => fit.sample(data, n, self.state.seed)?,
            None => self.model()?.sample(&data.cloned().unwrap_or_default(), n, self.state.seed)?,
        };
        let table: Table = sample::table(draws);
        let rows = table.rows();
        let all: Vec<(String, Vec<String>)> = table
            .columns()
            .map(|(name, values)| {
                let texts = match values {
                    Values::Numbers(v) => v.iter().map(|x| shown(*x, 4)).collect(),
                    Values::Words(v) => v.iter().map(|w| w.as_deref().unwrap_or("").to_owned()).collect(),
                };
                (name.to_owned(), texts)
            })
            .collect();
        reply.result(side_by_side(&all, rows, &self.style));
        Ok(())
    }
}

/// The warnings that a fit keeps.
pub(super) fn report_warnings(fit: &Fit, reply: &mut Reply) {
    let sources = fit.model().sources();
    reply.warn(&report::stored(&fit.result().warnings, sources), sources);
}

fn number_or_flag(name: &str, x: f64) -> String {
    if name.ends_with("outside") { format!("{x}") } else { shown(x, 5) }
}

/// Columns of texts, the first rows and columns of them.
fn side_by_side(columns: &[(String, Vec<String>)], rows: usize, style: &Screen) -> String {
    const WIDE: usize = 8;
    let picked = &columns[..columns.len().min(WIDE)];
    let header: Vec<&str> = picked.iter().map(|(name, _)| name.as_str()).collect();
    let body: Vec<Vec<String>> = (0..rows.min(SHOWN))
        .map(|i| picked.iter().map(|(_, v)| v.get(i).cloned().unwrap_or_default()).collect())
        .collect();
    let mut lines = table(Some(&header), &vec![Align::Right; header.len()], &body);
    if rows > SHOWN {
        lines.push(style.faint(&format!("  … {} rows in all", rows)));
    }
    if columns.len() > WIDE {
        lines.push(style.faint(&format!("  … {} columns in all", columns.len())));
    }
    lines.join("\n")
}

/// A node of a fit, every kept entry.
fn about(name: &str, node: &NodeResult, style: &Screen) -> String {
    let all = Screen { verbose: 1, ..*style };
    let mut lines = summary::node(name, node, &all);
    if lines.is_empty() {
        let family = node.family.as_deref().map(|f| format!(", {f}")).unwrap_or_default();
        lines.push(format!("{name}: observed{family}"));
    }
    lines.join("\n")
}
