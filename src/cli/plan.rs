//! `sbl plan`: how a model will be inferred, and why.

use sbl::plan::{json, latex, text};

use super::args::{Plan, PlanFormat};
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::{binding, compile, report};
use crate::io as files;

/// Prints the plan; with data also checks that they fit the model, and settles the schedule.
pub fn run(args: &Plan, screen: &Screen) -> Result<Exit, Failure> {
    let model = compile::model(&args.program, screen)?;
    let mut bound = None;
    if !args.data.files.is_empty() {
        let read = files::read_data(&args.data.files, &args.data.reading.options())?;
        report::print_plain(screen, &read.warnings);
        let checked = binding::bind(&model, &read.value)?;
        report::print(screen, &checked.warnings, model.sources());
        bound = Some(checked.value);
    }
    let plan = match &bound {
        Some(bound) => model.plan_for(bound)?,
        None => model.plan()?.clone(),
    };
    match args.format {
        PlanFormat::Text => screen.result(text::text(&plan, model.typed()).as_bytes())?,
        PlanFormat::Json => report::json(screen, &json::json(&plan, model.typed()))?,
        PlanFormat::Latex => screen.result(latex::latex(&plan, model.typed()).as_bytes())?,
    }
    Ok(Exit::Done)
}
