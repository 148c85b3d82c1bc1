//! `:help`: the commands, and the documentation of everything that has a name.

use sbl::diag::codes;

use super::command::{self, COMMANDS};
use super::engine::Engine;
use super::reply::Reply;
use crate::cli::doc;
use crate::cli::failure::Failure;
use crate::cli::layout::{Align, table};

impl Engine {
    /// `:help [NAME]`
    pub(super) fn help(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        if arguments.is_empty() {
            reply.result(self.commands());
            return Ok(());
        }
        if let Some((c, _)) = command::of(arguments.trim_start_matches(':'))
            && arguments.starts_with(':')
        {
            reply.result(format!("{}  {}", self.style.strong(&usage(c)), c.summary));
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
            Ok(page) => reply.result(page),
            Err(failure) => match command::of(arguments) {
                Some((c, _)) => reply.result(format!("{}  {}", self.style.strong(&usage(c)), c.summary)),
                None => return Err(failure),
            },
        }
        Ok(())
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
            "`:help NAME` documents a family, function, prior, plan or diagnostic code.".to_owned(),
        ]);
        lines.join("\n")
    }
}

/// `:data [FILE…]`
pub fn usage(c: &command::Command) -> String {
    format!(":{} {}", c.name, c.arguments).trim_end().to_owned()
}
