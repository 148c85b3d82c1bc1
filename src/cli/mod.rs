//! The command line: one file a command. This file parses the arguments, runs the command and turns
//! its outcome into messages and an exit status.

pub mod args;
pub mod binding;
mod check;
mod compare;
pub mod compile;
mod completions;
mod cv;
pub mod doc;
mod emit;
pub mod explain;
pub mod failure;
mod fit;
mod fmt;
pub mod graph;
pub mod interrupt;
pub mod layout;
pub mod load;
mod new;
pub mod palette;
mod plan;
pub mod plot;
mod predict;
pub mod progress;
pub mod report;
pub mod sample;
pub mod score;
pub mod screen;
mod show;
mod starter;
pub mod summary;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use args::{Cli, Command, GraphFormat, PlanFormat, TableFormat, TextOrJson};
use failure::{Exit, Failure};
use screen::Screen;

/// Runs the program and gives its exit status.
pub fn run() -> ExitCode {
    let cli = match parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let screen = Screen::new(&cli);
    interrupt::install();
    let outcome = dispatch(&cli.command, &screen).or_else(|failure| tell(failure, &cli.command, &screen));
    match outcome {
        Ok(exit) => ExitCode::from(exit.code()),
        // Not even the message could be written.
        Err(failure) => ExitCode::from(failure.exit.code()),
    }
}

fn dispatch(command: &Command, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        Command::New(args) => new::run(args, screen),
        Command::Check(args) => check::run(args, screen),
        Command::Fmt(args) => fmt::run(args, screen),
        Command::Graph(args) => graph::run(args, screen),
        Command::Plan(args) => plan::run(args, screen),
        Command::Emit(args) => emit::run(args, screen),
        Command::Fit(args) => fit::run(args, screen),
        Command::Predict(args) => predict::run(args, screen),
        Command::Score(args) => score::run(args, screen),
        Command::Show(args) => show::run(args, screen),
        Command::Cv(args) => cv::run(args, screen),
        Command::Compare(args) => compare::run(args, screen),
        Command::Plot(args) => plot::run(args, screen),
        Command::Sample(args) => sample::run(args, screen),
        Command::Explain(args) => explain::run(args, screen),
        Command::Doc(args) => doc::run(args, screen),
        Command::Completions(args) => completions::run(args, screen),
        Command::Repl(args) => crate::repl::run(args, screen),
    }
}

/// Prints why a command has no result: as JSON on standard output where JSON was asked for, else for
/// the eye.
fn tell(failure: Failure, command: &Command, screen: &Screen) -> Result<Exit, Failure> {
    // If standard output takes nothing, JSON would not arrive.
    if wants_json(command) && failure.exit != Exit::Unwritable && !failure.diagnostics.is_empty() {
        report::print_json(screen, &failure.diagnostics, &failure.sources)?;
    } else {
        report::print(screen, &failure.diagnostics, &failure.sources);
    }
    Ok(failure.exit)
}

fn wants_json(command: &Command) -> bool {
    match command {
        Command::Check(a) => a.format == TextOrJson::Json,
        Command::Graph(a) => a.format == GraphFormat::Json,
        Command::Plan(a) => a.format == PlanFormat::Json,
        Command::Fit(a) => a.format == TextOrJson::Json,
        Command::Predict(a) => a.format == TableFormat::Json,
        Command::Score(a) => a.format == TextOrJson::Json,
        Command::Cv(a) => a.format == TextOrJson::Json,
        Command::Compare(a) => a.format == TextOrJson::Json,
        Command::Show(a) => a.format == TextOrJson::Json,
        _ => false,
    }
}

/// The arguments; or, after printing help, version or what is wrong, the exit status.
fn parse(arguments: Vec<OsString>) -> Result<Cli, ExitCode> {
    let command = Cli::command().color(help_color(&arguments));
    let parsed = command.try_get_matches_from(arguments).and_then(|m| Cli::from_arg_matches(&m));
    parsed.map_err(|e| match e.print() {
        // Help that nobody reads any more is no failure, help that cannot be written is one.
        Err(io) if !e.use_stderr() && io.kind() != ErrorKind::BrokenPipe => {
            ExitCode::from(Exit::Unwritable.code())
        }
        _ => ExitCode::from(if e.use_stderr() { 2 } else { 0 }),
    })
}

/// `--color` also holds for help, which is printed before the arguments are understood.
fn help_color(arguments: &[OsString]) -> ColorChoice {
    let mut words = arguments.iter().filter_map(|a| a.to_str());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next().unwrap_or(""),
            Some(rest) => rest.trim_start_matches('='),
            None => continue,
        };
        match value {
            "always" => return ColorChoice::Always,
            "never" => return ColorChoice::Never,
            _ => {}
        }
    }
    ColorChoice::Auto
}
