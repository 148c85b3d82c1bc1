//! `sbl emit`: the forms a program goes through, printed.

use sbl::graph::{Format, draw};
use sbl::source::SourceMap;
use sbl::syntax::{parse, print};

use super::args::{Emit, Stage};
use super::explain::ending_in_newline;
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::{compile, load, report};

/// Prints one form. A form is there as soon as the stages before it succeed.
pub fn run(args: &Emit, screen: &Screen) -> Result<Exit, Failure> {
    let file = &args.program.file;
    let text = match args.stage {
        Stage::Tokens => print::print_tokens(&load::program(file)?),
        Stage::Ast => {
            let mut sources = SourceMap::new();
            let id = sources.add(&load::shown(file), &load::program(file)?);
            match parse::parse(id, sources.text(id)) {
                Ok(module) => {
                    report::print(screen, &module.warnings, &sources);
                    print::print_ast(&module.value)
                }
                Err(diagnostics) => return Err(Failure { exit: Exit::Wrong, diagnostics, sources }),
            }
        }
        Stage::Typed => {
            let models = compile::all(file, &args.program.settings)?;
            let parts: Vec<String> = models.iter().map(|m| sbl::check::print_typed(m.typed())).collect();
            parts.join("\n")
        }
        Stage::Dag => draw(compile::model(&args.program, screen)?.dag(), Format::Text),
        Stage::Plan => {
            let model = compile::model(&args.program, screen)?;
            sbl::plan::text::text(model.plan()?, model.typed())
        }
    };
    screen.result(ending_in_newline(&text).as_bytes())?;
    Ok(Exit::Done)
}
