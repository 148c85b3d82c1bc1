//! `sbl predict`: the predictive distribution of new rows.

use std::collections::BTreeSet;

use sbl::Predicted;
use sbl::data::{Column, Data};
use sbl::diag::Diagnostic;

use super::args::{Predict, TableFormat};
use super::failure::{Exit, Failure};
use super::new::no_column;
use super::screen::Screen;
use super::{fit, load, report};
use crate::io as files;
use crate::io::columnar;
use crate::io::output::{Table, Values};

/// Predicts and writes one line a row, in the order of the rows.
pub fn run(args: &Predict, screen: &Screen) -> Result<Exit, Failure> {
    let fit = fit::read(&args.fit)?;
    let read = files::read_data(&args.data.files, &args.data.reading.options())?;
    report::print_plain(screen, &read.warnings);
    let data = read.value;
    let mut table = Table::default();
    let mut wrong: Vec<Diagnostic> = Vec::new();
    for name in &args.keep {
        match data.column(name) {
            None => wrong.push(no_column(name, "--keep", &data)),
            Some(column) => push(&mut table, name, column),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    let prediction = match args.heal {
        None => fit.predict(&data)?,
        Some(alpha) => {
            let train = files::read_data(&args.train, &args.data.reading.options())?;
            fit.predict_healed(&data, &train.value, alpha)?
        }
    };
    report::print(screen, &prediction.warnings, fit.model().sources());
    let columns = prediction.columns();
    verify_kept(&table, &columns, &data)?;
    for (name, values) in columns {
        table.push(
            name,
            match values {
                Predicted::Numbers(values) => Values::Numbers(values),
                Predicted::Words(words) => Values::Words(words.into_iter().map(Some).collect()),
            },
        );
    }
    let bytes = match args.format {
        TableFormat::Csv => table.to_csv(),
        TableFormat::Parquet => columnar::to_parquet(&table)?,
        TableFormat::Arrow => columnar::to_arrow(&table)?,
        TableFormat::Json => format!("{:#}\n", sbl::session::stamped(table.to_json())).into_bytes(),
    };
    match &args.output {
        Some(path) => load::write_or_print(path, &bytes, screen)?,
        None => screen.result(&bytes)?,
    }
    Ok(Exit::Done)
}

/// Adds a column of the data as it is; a matrix becomes one column for each of its own.
fn push(table: &mut Table, name: &str, column: &Column) {
    match column {
        Column::Numbers(values) => table.push(name, Values::Numbers(values.clone())),
        Column::Words(values) => table.push(name, Values::Words(values.clone())),
        Column::Scalar(value) => table.push(name, Values::Numbers(vec![*value])),
        Column::Matrix { values, width, names } => {
            for j in 0..*width {
                let own = names.as_ref().and_then(|n| n.get(j).cloned());
                let entries = values.iter().skip(j).step_by(*width).copied().collect();
                table.push(own.unwrap_or_else(|| format!("{name}.{}", j + 1)), Values::Numbers(entries));
            }
        }
    }
}

/// Kept columns must have a value in every predicted row, and names of their own.
fn verify_kept(kept: &Table, predicted: &[(String, Predicted)], data: &Data) -> Result<(), Failure> {
    let rows = predicted.first().map_or(0, |(_, v)| v.len());
    let mut seen: BTreeSet<&str> = predicted.iter().map(|(n, _)| n.as_str()).collect();
    let mut wrong: Vec<Diagnostic> = Vec::new();
    for (name, values) in kept.columns() {
        if !seen.insert(name) {
            let found =
                format!("--keep names {name:?}, and the predictions have a column of that name already");
            wrong.push(
                Diagnostic::error("E0767", found)
                    .help("rename the column in the data, or leave it out of --keep"),
            );
        } else if values.len() != rows {
            let found = format!(
                "--keep names {name:?}, which has {} rows in {}, expected {rows}",
                values.len(),
                data.origin()
            );
            wrong.push(Diagnostic::error("E0767", found).help("keep columns with a value in every row"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}
