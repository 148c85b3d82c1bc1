//! `sbl fmt`: the one canonical layout.

use sbl::source::SourceMap;
use sbl::syntax::print::format_file;

use super::args::Fmt;
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::{load, report};
use crate::io::is_stdin;

/// Rewrites every file that needs it; with `--check` only names them.
pub fn run(args: &Fmt, screen: &Screen) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for path in &args.files {
        let shown = load::shown(path);
        let outcome = load::program(path).and_then(|text| {
            let mut sources = SourceMap::new();
            let id = sources.add(&shown, &text);
            let formatted = format_file(id, &text).map_err(|diagnostics| Failure {
                exit: Exit::Wrong,
                diagnostics,
                sources,
            })?;
            Ok((text, formatted))
        });
        let (text, formatted) = match outcome {
            Ok(both) => both,
            Err(failure) => {
                report::print(screen, &failure.diagnostics, &failure.sources);
                exit = failure.exit;
                continue;
            }
        };
        match (args.check, is_stdin(path)) {
            (true, _) if text != formatted => {
                screen.result(format!("{shown}\n").as_bytes())?;
                exit = Exit::Wrong;
            }
            (false, true) => screen.result(formatted.as_bytes())?,
            (false, false) if text != formatted => {
                load::write(path, formatted.as_bytes())?;
                screen.note(&format!("formatted {shown}"));
            }
            _ => {}
        }
    }
    Ok(exit)
}
