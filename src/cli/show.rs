//! `sbl show`: a fit again.

use super::args::{Show, TextOrJson};
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::summary::summary;
use super::{fit, report};

/// Prints what `sbl fit` printed.
pub fn run(args: &Show, screen: &Screen) -> Result<Exit, Failure> {
    let fit = fit::read(&args.fit)?;
    let result = fit.result();
    match args.format {
        TextOrJson::Json => report::json(screen, result)?,
        TextOrJson::Text => {
            report::print_stored(screen, &result.warnings, fit.model().sources());
            screen.result(summary(result, screen).as_bytes())?;
        }
    }
    Ok(Exit::Done)
}
