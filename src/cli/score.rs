//! `sbl score`: how good predictions are where the targets are known.

use sbl::Scores;
use serde_json::Value;

use super::args::{Score, TextOrJson};
use super::failure::{Exit, Failure};
use super::layout::{Align, number, plural, table};
use super::screen::Screen;
use super::{fit, report};
use crate::io as files;

/// Prints the measures of every observed node.
pub fn run(args: &Score, screen: &Screen) -> Result<Exit, Failure> {
    let fit = fit::read(&args.fit)?;
    let read = files::read_data(&args.data.files, &args.data.reading.options())?;
    report::print_plain(screen, &read.warnings);
    let scores = fit.score(&read.value)?;
    report::print_stored(screen, &scores.warnings, fit.model().sources());
    if args.format == TextOrJson::Json {
        report::json(screen, &scores)?;
        return Ok(Exit::Done);
    }
    screen.result(text(&scores, screen).as_bytes())?;
    Ok(Exit::Done)
}

/// The measures for the eye.
pub fn text(scores: &Scores, screen: &Screen) -> String {
    let mut lines = vec![format!("{}: {}", screen.strong(&scores.model), plural(scores.rows, "row"))];
    for (node, measures) in &scores.nodes {
        let mut rows = Vec::new();
        let mut measures = measures.clone();
        let bins = measures.as_object_mut().and_then(|m| m.remove("calibration"));
        collect("", &measures, &mut rows);
        lines.push(screen.strong(node));
        lines.extend(table(None, &[Align::Left, Align::Right], &rows));
        if let Some(Value::Array(bins)) = bins {
            lines.push(screen.faint("  calibration"));
            let header = ["probability", "rows", "predicted", "observed"];
            lines.extend(table(
                Some(&header),
                &[Align::Left, Align::Right, Align::Right, Align::Right],
                &calibration(&bins),
            ));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// One row a bin of probabilities.
fn calibration(bins: &[Value]) -> Vec<Vec<String>> {
    bins.iter()
        .map(|bin| {
            let share = |key: &str| format!("{:.3}", bin[key].as_f64().unwrap_or(f64::NAN));
            let edge = |key: &str| format!("{:.1}", bin[key].as_f64().unwrap_or(f64::NAN));
            vec![
                format!("{} to {}", edge("from"), edge("to")),
                bin["rows"].to_string(),
                share("predicted"),
                share("observed"),
            ]
        })
        .collect()
}

/// Every number with its name; names of nested ones one after the other.
fn collect(prefix: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let percent = if prefix == "coverage" { " %" } else { "" };
                collect(format!("{prefix} {name}{percent}").trim_start(), value, rows);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                collect(&format!("{prefix}[{}]", i + 1), value, rows);
            }
        }
        Value::Number(n) => {
            let text = if n.is_u64() { n.to_string() } else { number(n.as_f64().unwrap_or(f64::NAN), 4) };
            rows.push(vec![prefix.to_owned(), text]);
        }
        Value::Null => rows.push(vec![prefix.to_owned(), "undefined".to_owned()]),
        Value::String(text) => rows.push(vec![prefix.to_owned(), text.clone()]),
        Value::Bool(b) => rows.push(vec![prefix.to_owned(), b.to_string()]),
    }
}
