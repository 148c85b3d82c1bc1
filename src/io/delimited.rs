//! CSV and TSV: a header, then one line a row.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use sbl::data::{Column, Data};
use sbl::diag::{Diagnostics, Staged, Warned};

use super::errors::{self, Places};
use super::number::{self, Cell, Loss};
use super::records::{Fault, Records};
use super::{ReadOptions, names};

/// Reads a table. A column is numbers if every cell that is not missing is one, else words.
///
/// The text is walked twice: once to check it and to learn what each column holds, once to fill
/// columns of the right type. So nothing but the columns themselves is ever stored.
pub fn parse(text: &str, origin: &str, options: &ReadOptions, usual_delimiter: u8) -> Staged<Data> {
    let delimiter = options.delimiter.unwrap_or(usual_delimiter);
    let mut records = Records::new(text, delimiter);
    let mut fields = Vec::new();
    let header = match records.read(&mut fields) {
        None => return Err(vec![errors::no_rows(origin, false)]),
        Some(Err(fault)) => return Err(vec![of_fault(fault, origin)]),
        Some(Ok(place)) if place.blank => {
            let mut first = Places::default();
            first.push(place.line);
            let empty = text.trim().is_empty();
            return Err(vec![if empty {
                errors::no_rows(origin, false)
            } else {
                errors::blank_lines(origin, false, &first)
            }]);
        }
        Some(Ok(_)) => fields.iter().map(|f| f.to_string()).collect::<Vec<String>>(),
    };
    if let (None, [only]) = (options.delimiter, header.as_slice()) {
        let usual =
            [(';', "semicolons", "';'"), ('\t', "tabs", "tab"), (',', "commas", "','"), ('|', "bars", "'|'")];
        if let Some((_, found, flag)) = usual.iter().find(|(c, _, _)| only.contains(*c)) {
            return Err(vec![errors::delimiter(origin, only, found, flag)]);
        }
    }
    let mut found = Diagnostics::new();
    names::verify(&header, origin, &mut found);

    let survey = Survey::walk(records.clone(), &header, options, origin, &mut found);
    if survey.lines.is_empty() && found.iter().all(|d| !d.is_error()) {
        found.push(errors::no_rows(origin, true));
    }
    // 16 bytes is a shared word, the larger of the two kinds of cell.
    let wanted = (survey.lines.len() as u64).saturating_mul(16 * header.len() as u64);
    let wanted = wanted.saturating_add(text.len() as u64);
    if wanted > options.max_memory {
        found.push(errors::too_large(origin, wanted, options.max_memory));
    }
    if found.iter().any(|d| d.is_error()) {
        return Err(found);
    }
    let columns = fill(records, &survey, options);
    let mut data = Data::new().named(origin).with_lines(survey.lines);
    for (name, column) in header.iter().zip(columns) {
        data.insert(name, column);
    }
    Ok(Warned::new(data, found))
}

/// What the first walk learns.
struct Survey {
    /// The line of every row.
    lines: Vec<u64>,
    /// For every column: whether any cell is a word.
    words: Vec<bool>,
}

impl Survey {
    fn walk(
        mut records: Records<'_>,
        header: &[String],
        options: &ReadOptions,
        origin: &str,
        found: &mut Diagnostics,
    ) -> Survey {
        let width = header.len();
        let mut survey = Survey { lines: Vec::new(), words: vec![false; width] };
        let mut too_large = vec![Places::default(); width];
        let mut underflow = vec![Places::default(); width];
        let mut rounded = vec![Places::default(); width];
        let (mut blank, mut pending) = (Places::default(), Vec::new());
        let (mut ragged, mut ragged_width) = (Places::default(), 0);
        let mut fields = Vec::new();
        while let Some(record) = records.read(&mut fields) {
            let place = match record {
                Ok(place) => place,
                Err(fault) => {
                    found.push(of_fault(fault, origin));
                    break;
                }
            };
            if place.blank {
                pending.push(place.line);
                continue;
            }
            pending.drain(..).for_each(|line| blank.push(line));
            if fields.len() != width {
                if ragged.count() == 0 {
                    ragged_width = fields.len();
                }
                ragged.push(place.line);
                continue;
            }
            survey.lines.push(place.line);
            for (j, field) in fields.iter().enumerate() {
                match number::read(field, &options.missing) {
                    Cell::Missing | Cell::Number(_, None) => {}
                    Cell::Number(_, Some(Loss::Underflow)) => underflow[j].push(place.line),
                    Cell::Number(_, Some(Loss::Rounded)) => rounded[j].push(place.line),
                    Cell::TooLarge => too_large[j].push(place.line),
                    Cell::Word => survey.words[j] = true,
                }
            }
        }
        // After the last row a blank line means nothing, except where it could be a missing value.
        let mut trailing = Places::default();
        let after = if width == 1 { &mut blank } else { &mut trailing };
        pending.drain(..).for_each(|line| after.push(line));

        if ragged.count() > 0 {
            found.push(errors::ragged(origin, width, ragged_width, &ragged));
        }
        if blank.count() > 0 {
            found.push(errors::blank_lines(origin, width == 1, &blank));
        }
        if trailing.count() > 0 {
            found.push(errors::trailing_blank(origin, &trailing));
        }
        for (j, name) in header.iter().enumerate().filter(|(j, _)| !survey.words[*j]) {
            if too_large[j].count() > 0 {
                found.push(errors::too_large_number(origin, name, &too_large[j]));
            }
            if underflow[j].count() > 0 {
                found.push(errors::underflow(origin, name, &underflow[j]));
            }
            if rounded[j].count() > 0 {
                found.push(errors::rounded(origin, name, &rounded[j]));
            }
        }
        let is_number = |n: &String| n.parse::<f64>().is_ok();
        if header.iter().all(is_number) {
            found.push(errors::header_of_numbers(origin));
        }
        survey
    }
}

fn fill(mut records: Records<'_>, survey: &Survey, options: &ReadOptions) -> Vec<Column> {
    let rows = survey.lines.len();
    let mut columns: Vec<Column> = survey
        .words
        .iter()
        .map(|words| {
            if *words {
                Column::Words(Vec::with_capacity(rows))
            } else {
                Column::Numbers(Vec::with_capacity(rows))
            }
        })
        .collect();
    // Equal words of a column are stored once.
    let mut shared: Vec<BTreeSet<Arc<str>>> = vec![BTreeSet::new(); columns.len()];
    let mut fields: Vec<Cow<'_, str>> = Vec::new();
    while let Some(Ok(place)) = records.read(&mut fields) {
        if place.blank {
            continue;
        }
        for ((column, field), known) in columns.iter_mut().zip(&fields).zip(&mut shared) {
            let cell = number::read(field, &options.missing);
            match column {
                Column::Numbers(values) => values.push(match cell {
                    Cell::Number(value, _) => value,
                    _ => f64::NAN,
                }),
                Column::Words(values) => values.push(match cell {
                    Cell::Missing => None,
                    _ => Some(share(known, field)),
                }),
                Column::Matrix { .. } | Column::Scalar(_) => {}
            }
        }
    }
    columns
}

fn share(known: &mut BTreeSet<Arc<str>>, word: &str) -> Arc<str> {
    if let Some(shared) = known.get(word) {
        return Arc::clone(shared);
    }
    let new: Arc<str> = word.into();
    known.insert(Arc::clone(&new));
    new
}

fn of_fault(fault: Fault, origin: &str) -> sbl::diag::Diagnostic {
    match fault {
        Fault::Unterminated(line) => errors::unterminated_quote(origin, line),
        Fault::AfterQuote(line, c) => errors::after_quote(origin, line, c),
    }
}
