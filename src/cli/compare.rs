//! `sbl compare`: the evidence of programs or fits side by side.

use sbl::data::Data;
use sbl::diag::Diagnostic;
use sbl::{Comparison, Fit, Options, compare};

use super::args::{Compare, TextOrJson};
use super::failure::{Exit, Failure};
use super::layout::{Align, number, table};
use super::progress::Progress;
use super::screen::Screen;
use super::{compile, interrupt, load, report};
use crate::io as files;

/// Fits the programs, reads the fits, and prints the table.
pub fn run(args: &Compare, screen: &Screen) -> Result<Exit, Failure> {
    let data = if args.data.files.is_empty() {
        None
    } else {
        let read = files::read_data(&args.data.files, &args.data.reading.options())?;
        report::print_plain(screen, &read.warnings);
        Some(read.value)
    };
    let mut fits: Vec<(String, Fit)> = Vec::new();
    for path in &args.files {
        let (shown, bytes) = (load::shown(path), load::fit_bytes(path)?);
        if load::is_fit(&bytes) {
            fits.push((shown.clone(), Fit::from_bytes(&bytes, &shown)?));
            continue;
        }
        let Some(data) = &data else {
            let found = format!("{shown} is no fit, and there are no data to fit it to as a program");
            return Err(Diagnostic::error("E0832", found)
                .help("name the data, `--data data.csv`, or compare fits")
                .into());
        };
        let text = load::text(bytes, &shown)?;
        let compiler = compile::compiler(path, &args.settings);
        let models = match args.settings.model {
            Some(_) => vec![compiler.compile(&text)?],
            None => compiler.compile_all(&text)?,
        };
        let several = models.len() > 1;
        for model in models {
            let name = if several { format!("{shown}: {}", model.name()) } else { shown.clone() };
            fits.push((name, fit(&model, data, args, screen)?));
        }
    }
    let comparison = compare(&fits);
    report::print_stored(screen, &comparison.warnings, &sbl::source::SourceMap::new());
    match args.format {
        TextOrJson::Json => report::json(screen, &comparison)?,
        TextOrJson::Text => screen.result(text(&comparison, screen).as_bytes())?,
    }
    Ok(match comparison.fits.iter().all(|f| f.converged) {
        _ if interrupt::asked() => Exit::Interrupted,
        true => Exit::Done,
        false => Exit::NotConverged,
    })
}

fn fit(model: &sbl::Model, data: &Data, args: &Compare, screen: &Screen) -> Result<Fit, Failure> {
    let progress = Progress::start(screen, "preparing");
    let shown = progress.clone();
    let options = Options::default().seed(args.seed).cancel(&interrupt::cancel());
    let mut options = options.on_step(move |step| {
        shown.step(step.iteration, step.objective, step.active);
        if interrupt::asked() { step.stop() } else { step.go_on() }
    });
    if let Some(bytes) = args.data.reading.max_memory {
        options = options.max_memory(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
    let fitted = interrupt::gracefully(|| model.fit(data, &options));
    progress.finish();
    let fit = fitted.map_err(interrupt::failure)?;
    report::print_stored(screen, &fit.result().warnings, fit.model().sources());
    Ok(fit)
}

fn text(comparison: &Comparison, screen: &Screen) -> String {
    let rows: Vec<Vec<String>> = comparison
        .fits
        .iter()
        .map(|f| {
            let difference = if comparison.comparable { number(f.difference, 4) } else { "–".to_owned() };
            vec![
                f.name.clone(),
                f.objective.replace('_', " "),
                number(f.value, 6),
                difference,
                f.weights.to_string(),
                f.rows.to_string(),
                if f.converged { String::new() } else { "not converged".to_owned() },
            ]
        })
        .collect();
    use Align::{Left, Right};
    let header = ["", "objective", "nats", "difference", "weights", "rows", ""];
    let align = [Left, Left, Right, Right, Right, Right, Left];
    let mut lines = table(Some(&header), &align, &rows);
    if let Some(first) = lines.first_mut() {
        *first = screen.faint(first);
    }
    lines.push(String::new());
    lines.join("\n")
}
