//! The prompt: `engine` is the session without a terminal, `terminal` and `script` talk to it.

mod ask;
mod change;
mod command;
mod complete;
mod edit;
mod engine;
mod entry;
mod files;
mod fitting;
mod formula;
mod help;
mod helper;
mod highlight;
mod hint;
mod history;
mod keys;
mod loose;
mod plot;
mod reply;
mod script;
mod show;
mod state;
mod step;
mod terminal;
#[cfg(test)]
mod tests;
mod value;
mod view;
mod why;
mod write;

use std::io::{IsTerminal, stdin};

use engine::Engine;
use reply::Reply;

use crate::cli::args::Repl;
use crate::cli::failure::{Exit, Failure};
use crate::cli::screen::Screen;

/// Runs a session: at a prompt if standard input is a terminal, else as a script.
pub fn run(args: &Repl, screen: &Screen) -> Result<Exit, Failure> {
    let interactive = stdin().is_terminal();
    let mut engine = Engine::new(*screen, Box::new(write::Watched { screen: *screen }));
    let mut reply = Reply::default();
    let mut begun = Ok(());
    if let Some(file) = &args.file {
        begun = engine.open(file, &mut reply);
    }
    if begun.is_ok() && !args.data.is_empty() {
        let files: Vec<String> = args.data.iter().map(|p| format!("'{}'", p.display())).collect();
        let bound = engine.enter(&format!(":data {}", files.join(" ")));
        reply.failed |= bound.failed;
        reply.parts.extend(bound.parts);
    }
    if let Err(failure) = begun {
        reply.fail(failure);
    }
    write::answer(&reply, screen)?;
    // a session that was asked to begin with something that is not there does not begin, in a script
    match interactive {
        true => terminal::run(engine, screen),
        false if reply.failed => Ok(Exit::Wrong),
        false => script::run(engine, screen),
    }
}
