//! `sbl completions`: completion scripts for shells.

use clap::CommandFactory;

use super::args::{Cli, Completions};
use super::failure::{Exit, Failure};
use super::screen::Screen;

/// Prints the script.
pub fn run(args: &Completions, screen: &Screen) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sbl", &mut script);
    screen.result(&script)?;
    Ok(Exit::Done)
}
