//! `sbl sample`: draws from the prior of a program, or from the posterior of a fit.

use sbl::data::Data;
use sbl::{Draws, Fit};

use super::args::Sample;
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::{compile, load, report};
use crate::io as files;
use crate::io::output::{Table, Values};

/// Draws and writes one line a draw.
pub fn run(args: &Sample, screen: &Screen) -> Result<Exit, Failure> {
    let bytes = load::fit_bytes(&args.file)?;
    let data = if args.data.files.is_empty() {
        None
    } else {
        let read = files::read_data(&args.data.files, &args.data.reading.options())?;
        report::print_plain(screen, &read.warnings);
        Some(read.value)
    };
    let draws = if load::is_fit(&bytes) {
        compile::refuse_for_a_fit(&args.settings, &args.file)?;
        Fit::from_bytes(&bytes, &load::shown(&args.file))?.sample(data.as_ref(), args.draws, args.seed)?
    } else {
        let text = load::text(bytes, &load::shown(&args.file))?;
        let model = compile::text(&text, &args.file, &args.settings)?;
        report::print(screen, model.warnings(), model.sources());
        model.sample(&data.unwrap_or_else(Data::new), args.draws, args.seed)?
    };
    let csv = table(draws).to_csv();
    match &args.output {
        Some(path) => load::write_or_print(path, &csv, screen)?,
        None => screen.result(&csv)?,
    }
    Ok(Exit::Done)
}

/// One row a draw, one column an entry; levels by name.
pub fn table(draws: Draws) -> Table {
    let mut table = Table::default();
    for (j, name) in draws.columns.iter().enumerate() {
        let values = draws.rows.iter().map(|row| row.get(j).copied().unwrap_or(f64::NAN));
        let levels = draws.levels.get(j).map_or(&[][..], Vec::as_slice);
        let values = if levels.is_empty() {
            Values::Numbers(values.collect())
        } else {
            // a level is printed as it was read
            Values::Words(
                values
                    .map(|code| {
                        levels
                            .get(if code >= 0.0 { code as usize } else { usize::MAX })
                            .map(|l| l.as_str().into())
                    })
                    .collect(),
            )
        };
        table.push(name.clone(), values);
    }
    table
}
