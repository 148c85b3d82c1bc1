//! The session at a terminal: lines are edited, completed, remembered.

use std::io::ErrorKind;
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use super::engine::Engine;
use super::helper::Typing;
use super::view::View;
use super::{history, write};
use crate::cli::failure::{Exit, Failure};
use crate::cli::interrupt;
use crate::cli::screen::Screen;

const PROMPT: &str = "sbl> ";
/// Entries that are remembered.
const REMEMBERED: usize = 2000;

type Lines = Editor<Typing, FileHistory>;

/// Reads and answers lines until `:quit` or the end of input.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(mut engine: Engine, screen: &Screen) -> Result<Exit, Failure> {
    let mut lines = match editor(&engine, screen) {
        Ok(lines) => lines,
        Err(e) => {
            screen.note(&format!("the terminal cannot be set up ({e}): lines are read as they come"));
            return super::script::run(engine, screen);
        }
    };
    screen.note(&screen.dimmed(&format!(
        "sbl {}: `:help` lists the commands, Ctrl-D ends the session",
        env!("CARGO_PKG_VERSION")
    )));
    interrupt::keep_the_session();
    let mut kept = Kept::begin(&mut lines, screen);
    loop {
        match lines.readline(PROMPT) {
            Ok(text) => {
                kept.keep(&mut lines, &text, screen);
                let reply = engine.enter(&text);
                write::answer(&reply, screen)?;
                if reply.quit {
                    break;
                }
                if let Some(typing) = lines.helper_mut() {
                    typing.view = View::of(engine.state());
                }
            }
            // the line is gone, the session stays
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {}
            Err(ReadlineError::Eof) => break,
            Err(ReadlineError::Io(e)) if e.kind() == ErrorKind::InvalidData => {
                screen.note("the line is not UTF-8 and was left out");
            }
            Err(_) => break,
        }
    }
    Ok(Exit::Done)
}

fn editor(engine: &Engine, screen: &Screen) -> rustyline::Result<Lines> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(REMEMBERED)?
        .history_ignore_space(true)
        .build();
    let mut lines = Lines::with_config(config)?;
    lines.set_helper(Some(Typing { view: View::of(engine.state()), color: screen.color_out }));
    Ok(lines)
}

/// The file that remembers lines; what goes wrong with it is said once.
struct Kept {
    file: Option<PathBuf>,
}

impl Kept {
    fn begin(lines: &mut Lines, screen: &Screen) -> Kept {
        let mut kept = Kept { file: history::file() };
        let Some(file) = &kept.file else { return kept };
        if file.exists()
            && let Err(e) = lines.load_history(file)
        {
            kept.give_up(&e, screen);
        }
        kept
    }

    /// Remembers an entry now: whatever happens later, it is there.
    fn keep(&mut self, lines: &mut Lines, text: &str, screen: &Screen) {
        let added = lines.add_history_entry(text).unwrap_or(false);
        let Some(file) = self.file.as_ref().filter(|_| added) else { return };
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = made.map_err(ReadlineError::from).and_then(|()| lines.append_history(file));
        if let Err(e) = written {
            self.give_up(&e, screen);
        }
    }

    fn give_up(&mut self, error: &ReadlineError, screen: &Screen) {
        if let Some(file) = self.file.take() {
            screen.note(&format!("warning: lines are not remembered: {}: {error}", file.display()));
        }
    }
}
