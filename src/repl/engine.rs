//! The session without a terminal: takes a line (or a whole entry of several), answers with text and
//! findings. An error leaves the session as it was.

use std::sync::Arc;

use sbl::data::Data;
use sbl::diag::Diagnostic;
use sbl::{Cancel, Fit, Model, Options, Progress};

use super::command::{self, COMMANDS};
use super::entry::{Kind, entries, kind};
use super::reply::Reply;
use super::state::State;
use super::value;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// How many former states are kept.
const REMEMBERED: usize = 200;

/// What is called after every iteration of a fit; it says whether to go on.
pub type Watch = Arc<dyn Fn(&Progress) -> bool + Send + Sync>;

/// Where the session runs.
pub trait Host {
    /// Calls `run` with what shall watch a fit, and what ends it: draws progress, looks for Ctrl-C.
    fn watch(&self, run: &mut dyn FnMut(Watch, &Cancel));
}

/// A host that watches nothing.
#[cfg(test)]
pub struct Nobody;

#[cfg(test)]
impl Host for Nobody {
    fn watch(&self, run: &mut dyn FnMut(Watch, &Cancel)) {
        run(Arc::new(|_| true), &Cancel::new());
    }
}

/// A session.
pub struct Engine {
    pub(super) state: State,
    past: Vec<(String, State)>,
    /// How text is dressed: colours, symbols.
    pub(super) style: Screen,
    pub(super) host: Box<dyn Host>,
    /// The entry at hand, as `:undo` names it.
    entry: String,
}

impl Engine {
    /// An empty session.
    pub fn new(style: Screen, host: Box<dyn Host>) -> Self {
        Engine { state: State::default(), past: Vec::new(), style, host, entry: String::new() }
    }

    /// The state, for completion and hints.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Answers an entry. Of several in one text, none after a wrong one is looked at.
    pub fn enter(&mut self, text: &str) -> Reply {
        let mut reply = Reply::default();
        for entry in entries(text) {
            self.entry = first_line(&entry);
            let answered = match kind(&entry) {
                Kind::Nothing => Ok(()),
                Kind::Command => self.command(&entry, &mut reply),
                Kind::Statement => self.statement(&entry, &mut reply),
                Kind::Expression => self.expression(&entry, &mut reply),
            };
            if let Err(failure) = answered {
                reply.fail(failure);
            }
            if reply.failed || reply.quit {
                break;
            }
        }
        reply
    }

    fn command(&mut self, entry: &str, reply: &mut Reply) -> Result<(), Failure> {
        let rest = entry.trim().trim_start_matches(':');
        match command::of(rest) {
            Some((command, arguments)) => (command.run)(self, arguments.trim(), reply),
            None => Err(command::unknown(rest)),
        }
    }

    fn statement(&mut self, entry: &str, reply: &mut Reply) -> Result<(), Failure> {
        let edited = self.state.program.with(entry)?;
        let mut kept = self.state.clone();
        kept.set.retain(|(name, _)| !edited.stated.contains(name));
        let next = kept.with_program(edited.program)?;
        if let Some(model) = &next.model {
            let known = self.state.model.as_ref().map(Model::warnings).unwrap_or_default();
            // a program that grows uses later what it states now
            let new = |w: &&Diagnostic| {
                !["W0201", "W0202", "W0601"].contains(&w.code)
                    && !known.iter().any(|k| k.code == w.code && k.message == w.message)
            };
            let warnings: Vec<Diagnostic> = model.warnings().iter().filter(new).cloned().collect();
            reply.warn(&warnings, model.sources());
            for name in &edited.stated {
                if let Ok(node) = model.dag().find(name) {
                    let node = model.dag().node(node);
                    reply.note(format!("{name}: {}, {}", node.ty, node.role.name()));
                }
            }
        }
        for old in &edited.replaced {
            reply.note(format!("replaced: {old}"));
        }
        if self.state.fit.is_some() {
            reply.note("the fit was of the former program; `:undo` brings both back");
        }
        self.commit(next);
        Ok(())
    }

    fn expression(&mut self, entry: &str, reply: &mut Reply) -> Result<(), Failure> {
        let answer = value::evaluate(&self.state, entry).map_err(|mut failure| {
            let word = entry.trim();
            if COMMANDS.iter().any(|c| c.name == word) || matches!(word, "exit" | "?") {
                let command = if word == "exit" {
                    "quit"
                } else if word == "?" {
                    "help"
                } else {
                    word
                };
                if let Some(first) = failure.diagnostics.first_mut() {
                    first.help = Some(format!("commands begin with a colon: `:{command}`"));
                }
            }
            failure
        })?;
        reply.result(answer.text(&self.style));
        Ok(())
    }

    /// Goes on to another state; `:undo` comes back.
    pub(super) fn commit(&mut self, next: State) {
        let former = std::mem::replace(&mut self.state, next);
        self.past.push((self.entry.clone(), former));
        if self.past.len() > REMEMBERED {
            self.past.remove(0);
        }
    }

    /// `:undo`
    pub(super) fn undo(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        command::no_arguments("undo", arguments)?;
        let Some((entry, former)) = self.past.pop() else {
            return Err(nothing_yet(
                "there is nothing to undo",
                "only what changed the session can be undone",
            ));
        };
        self.state = former;
        reply.note(format!("undone: {entry}"));
        Ok(())
    }

    /// The compiled program.
    pub(super) fn model(&self) -> Result<&Model, Failure> {
        self.state.model.as_ref().ok_or_else(|| {
            nothing_yet("there is no model yet", "state one line by line, or load one: `:load FILE`")
        })
    }

    /// The data.
    pub(super) fn data(&self) -> Result<Arc<Data>, Failure> {
        self.state.data.clone().ok_or_else(|| nothing_yet("there are no data yet", "bind some: `:data FILE`"))
    }

    /// The fit.
    pub(super) fn fitted(&self) -> Result<&Fit, Failure> {
        self.state.fit.as_ref().ok_or_else(|| nothing_yet("there is no fit yet", "make one: `:fit`"))
    }

    /// Fits under the eyes of the host; `also` is asked after every iteration too, and first.
    pub(super) fn run(
        &self,
        model: &Model,
        data: &Data,
        also: impl Fn(&Progress) -> bool + Send + Sync + 'static,
    ) -> Result<Fit, Failure> {
        let also = Arc::new(also);
        let mut fitted = None;
        self.host.watch(&mut |watch, cancel| {
            let also = Arc::clone(&also);
            let options = Options::default().seed(self.state.seed).cancel(cancel).on_step(move |step| {
                let (mine, theirs) = (also(step), watch(step));
                if mine && theirs { step.go_on() } else { step.stop() }
            });
            fitted = Some(model.fit(data, &options));
        });
        // a host that does not run anything runs it unwatched
        Ok(fitted.unwrap_or_else(|| model.fit(data, &Options::default().seed(self.state.seed)))?)
    }
}

/// Something is asked for that is not there yet.
pub(super) fn nothing_yet(what: &str, help: &str) -> Failure {
    Diagnostic::error("E0792", what).help(help).into()
}

fn first_line(entry: &str) -> String {
    let mut lines = entry.trim().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { format!("{first} …") } else { first }
}
