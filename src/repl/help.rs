//! `:help`: the commands, the keys, and the documentation of everything that has a name.

use sbl::diag::codes;
use sbl::help;

use super::command::{self, COMMANDS, Command};
use super::engine::Engine;
use super::keys::KEYS;
use super::reply::Reply;
use crate::cli::failure::Failure;
use crate::cli::layout::{Align, table};
use crate::cli::{doc, explain};

/// What is said about each command, under a heading that is its usage.
const PAGES: &str = include_str!("../../docs/commands.md");

impl Engine {
    /// `:help [NAME]`
    pub(super) fn help(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        if arguments.is_empty() {
            reply.result(self.commands());
            return Ok(());
        }
        if let Some(name) = arguments.strip_prefix(':') {
            let Some((c, _)) = command::of(name) else { return Err(command::unknown(name)) };
            reply.result(self.about(c));
            return Ok(());
        }
        if let Some(code) = codes::find(arguments) {
            reply.result(code.page);
            return Ok(());
        }
        // a node of the model tells its own documentation
        if let Some(model) = &self.state.model
            && let Some(id) = model.typed().find(arguments)
            && let Some(text) = &model.typed().node(id).doc
        {
            reply.result(format!("{}\n\n    {text}", self.style.strong(arguments)));
            return Ok(());
        }
        match doc::text(arguments, &self.style) {
            Ok(page) => {
                reply.result(page);
                if let Some((c, _)) = command::of(arguments) {
                    reply.note(format!("`:help :{}` is about the command", c.name));
                }
            }
            Err(failure) => match command::of(arguments) {
                Some((c, _)) => reply.result(self.about(c)),
                None if matches!(arguments, "keys" | "key") => reply.result(keys()),
                None => {
                    let found = help::search(arguments);
                    if found.is_empty() {
                        return Err(failure);
                    }
                    reply.result(explain::list(&found, ":help", ":help"));
                }
            },
        }
        Ok(())
    }

    /// The page of a command.
    fn about(&self, c: &Command) -> String {
        format!("{}\n\n{}", self.style.strong(&usage(c)), plain(page(c)))
    }

    fn commands(&self) -> String {
        let rows: Vec<Vec<String>> = COMMANDS.iter().map(|c| vec![usage(c), c.summary.to_owned()]).collect();
        let mut lines = vec![
            "Statements of the language extend the program, and what is stated anew replaces the old;".to_owned(),
            "expressions are evaluated over the data and the fit: mean(x), mean(w), sd(w), w[3], tau, evidence, relevant(w).".to_owned(),
            String::new(),
        ];
        lines.extend(table(None, &[Align::Left, Align::Left], &rows));
        lines.extend([
            String::new(),
            "`:help :NAME` tells more about a command, `:help keys` lists the keys, and `:help NAME` documents a statement,"
                .to_owned(),
            "type, family, prior, kernel, function, plan, option or diagnostic code.".to_owned(),
        ]);
        lines.join("\n")
    }
}

/// `:data [FILE…]`
pub fn usage(c: &Command) -> String {
    format!(":{} {}", c.name, c.arguments).trim_end().to_owned()
}

/// What stands under the heading of a command.
pub fn page(c: &Command) -> &'static str {
    let heading = usage(c) + "\n";
    PAGES.split("\n## ").find_map(|section| section.strip_prefix(&heading)).map_or("", str::trim)
}

/// Markdown for a terminal: programs indented instead of fenced.
fn plain(text: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside {
            out.push_str(&format!("    {line}\n"));
        } else {
            out.push_str(&format!("{line}\n"));
        }
    }
    out
}

fn keys() -> String {
    let rows: Vec<Vec<String>> =
        KEYS.iter().map(|(key, does)| vec![(*key).to_owned(), (*does).to_owned()]).collect();
    table(None, &[Align::Left, Align::Left], &rows).join("\n")
}
