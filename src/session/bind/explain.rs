//! Findings of the numeric evaluation, as diagnostics that point at the source.

use super::places;
use crate::check::typed::Model;
use crate::data::Data;
use crate::design::frozen::Notice;
use crate::design::{Bytes, EvalError, Inputs, Why, labels};
use crate::diag::Diagnostic;

/// An expression that could not be evaluated. Rows are shown with the lines of `data`.
pub fn diagnose(model: &Model, data: Option<&Data>, error: &EvalError) -> Diagnostic {
    let span = model.expr(error.expr).span;
    let empty = Data::new();
    let at = |row: usize| places::rows(data.unwrap_or(&empty), &[row]);
    match &error.why {
        Why::Memory(wanted, allowed) => Diagnostic::error(
            "E0718",
            format!("needs about {} of memory, {} are allowed", Bytes(*wanted), Bytes(*allowed)),
        )
        .at(span, "this value is too large")
        .help("use fewer rows or basis functions, or allow more: `--max-memory`"),
        Why::NonFinite { row, col, value } => Diagnostic::error(
            "E0717",
            format!(
                "found {value} in {}, column {}, expected a finite number",
                at(*row),
                col.saturating_add(1)
            ),
        )
        .at(span, "evaluated to this")
        .help("check the domain of `log`, `sqrt`, `/` and `^` on these data"),
        Why::NotPositive(entry, value) => Diagnostic::error(
            "E0719",
            format!(
                "found {value} in entry {} of a scale, expected a number above 0",
                entry.saturating_add(1)
            ),
        )
        .at(span, "a precision, variance or deviation")
        .help("correct the data, or drop the rows where it is not above 0"),
        Why::Index { row, value, size } => {
            Diagnostic::error("E0714", format!("found index {value} in {}, expected 1 to {size}", at(*row)))
                .at(span, "the index; indices count from 1")
                .help("correct the index, or use a category")
        }
        Why::UnseenLevel(row) => Diagnostic::error(
            "E0710",
            format!("found a level in {} that was not there at training", at(*row)),
        )
        .at(span, "must have a value for every level")
        .help("drop the row, or fit again with data that have the level"),
        Why::Host(..) => Diagnostic::error("E0840", error.message(model))
            .at(span, "called here")
            .help("mend the function, or its inputs: it must be a number wherever its inputs are"),
        Why::OutsideSet(..) => Diagnostic::error("E0720", error.message(model))
            .at(span, "where the search starts")
            .help("start inside the set of the `param`, or leave the start out"),
        _ => Diagnostic::error("E0720", error.message(model))
            .at(span, "cannot be evaluated here")
            .help("give the data that it needs, or fit the model again"),
    }
}

/// Something to tell about training values.
pub fn warn(inputs: Inputs<'_>, notice: &Notice) -> Diagnostic {
    match notice {
        Notice::ConstantColumn { expr, column, value } => {
            let label = labels::columns(inputs, *expr).get(*column).map(|l| format!("`{l}`"));
            let name = label.unwrap_or_else(|| format!("column {}", column.saturating_add(1)));
            Diagnostic::warning("W0702", format!("{name} is constant ({value}): standardised to 0"))
                .at(inputs.model.expr(*expr).span, "its deviation is 0")
                .help("leave the column out")
        }
    }
}
