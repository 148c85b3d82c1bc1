//! Data bound to a model, and what the eye should know about it.

use sbl::Model;
use sbl::check::print::show_dim;
use sbl::check::typed::Columns;
use sbl::data::Data;
use sbl::diag::Warned;
use sbl::session::bind::{Bound, bind_training};

use super::failure::{Exit, Failure};
use super::layout::plural;

/// Checks data against the declarations of a model.
pub fn bind(model: &Model, data: &Data) -> Result<Warned<Bound>, Failure> {
    bind_training(model.typed(), data).map_err(|diagnostics| Failure {
        exit: Exit::Wrong,
        diagnostics,
        sources: model.sources().clone(),
    })
}

/// Rows, the columns that the tool chose itself, levels, missing values, one line each.
pub fn remarks(model: &Model, bound: &Bound) -> Vec<String> {
    let mut lines = vec![plural(bound.rows, "row")];
    for node in &model.typed().nodes {
        let Some(data) = node.data() else { continue };
        let name = &node.name;
        let columns = bound.columns.get(&node.id).map(Vec::as_slice).unwrap_or_default();
        let chosen = matches!(data.from, Columns::Default | Columns::Except(_));
        if chosen && columns != std::slice::from_ref(name) && !columns.is_empty() {
            lines.push(format!("{name} is {}", some(columns, 12)));
        }
        if let Some(levels) = bound.levels.get(&node.id) {
            let order = if data.levels.is_some() { "" } else { ", from the data" };
            lines.push(format!("{name} has {}: {}{order}", plural(levels.len(), "level"), some(levels, 12)));
        }
        if let Some(missing) = bound.missing.get(&node.id).filter(|m| !m.is_empty()) {
            let rows: Vec<String> = missing.iter().map(|r| (r + 1).to_string()).collect();
            lines.push(format!("{name} has no value in {}: {}", plural(rows.len(), "row"), some(&rows, 5)));
        }
    }
    lines
}

/// What only data can decide, one line each.
pub fn constraints(model: &Model) -> Vec<String> {
    let typed = model.typed();
    let needs = |c: &sbl::check::typed::Constraint| {
        format!("the data must have {} = {}", show_dim(typed, &c.left), show_dim(typed, &c.right))
    };
    typed.constraints.iter().map(needs).collect()
}

fn some(all: &[String], most: usize) -> String {
    let shown = all.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    if all.len() > most { format!("{shown}, … ({} in all)", all.len()) } else { shown }
}
