//! Standard output for results, standard error for everything meant for the eye; colours, and what
//! happens when the reader of a pipe goes away.

use std::env;
use std::io::{self, IsTerminal, Write};

use anstyle::Style;

use super::args::{Cli, Color};
use super::failure::Failure;
use super::palette;
use crate::io::errors;

/// How this run talks to its user.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Colours on standard output.
    pub color_out: bool,
    /// Colours on standard error.
    pub color_err: bool,
    /// Whether lines and symbols beyond ASCII can be shown.
    pub unicode: bool,
    /// Results and errors only.
    pub quiet: bool,
    /// How often `-v` was given.
    pub verbose: u8,
    /// Whether progress may be drawn.
    pub animate: bool,
}

impl Screen {
    /// By the options and the environment.
    pub fn new(cli: &Cli) -> Self {
        let dumb = env::var_os("TERM").is_some_and(|t| t == "dumb");
        let terminal_err = io::stderr().is_terminal();
        let allowed = |terminal: bool| match cli.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !no_color() && (terminal && !dumb || forced()),
        };
        Screen {
            color_out: allowed(io::stdout().is_terminal()),
            color_err: allowed(terminal_err),
            unicode: is_utf8(),
            quiet: cli.quiet,
            verbose: cli.verbose,
            animate: terminal_err && !dumb && !cli.quiet,
        }
    }

    /// Writes a result to standard output.
    ///
    /// # Errors
    /// The output cannot be written (exit status 4). A reader that went away is no error: the run
    /// ends quietly with status 0.
    pub fn result(&self, text: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(Failure::quiet()),
            Err(e) => Err(Failure::unwritable(errors::unwritable("standard output", &e))),
        }
    }

    /// A remark for the eye, unless `-q`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.error(&format!("{text}\n"));
        }
    }

    /// Text for standard error as it is. Nobody is left to be told if that fails.
    pub fn error(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Text for standard output, set off from the rest.
    pub fn strong(&self, text: &str) -> String {
        paint(text, palette::STRONG, self.color_out)
    }

    /// Text for standard output, less important than the rest.
    pub fn faint(&self, text: &str) -> String {
        paint(text, palette::FAINT, self.color_out)
    }

    /// Text for standard error, less important than the rest.
    pub fn dimmed(&self, text: &str) -> String {
        paint(text, palette::FAINT, self.color_err)
    }

    /// Text for standard output that deserves a look.
    pub fn alert(&self, text: &str) -> String {
        paint(text, palette::WARNING, self.color_out)
    }
}

fn paint(text: &str, style: Style, color: bool) -> String {
    if color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// <https://no-color.org>: present and not empty.
fn no_color() -> bool {
    env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
}

fn forced() -> bool {
    env::var_os("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Whether the locale is UTF-8: the first of these variables that is set decides.
fn is_utf8() -> bool {
    if cfg!(windows) {
        return true;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(env::var_os).find(|v| !v.is_empty());
    locale.is_some_and(|v| {
        let v = v.to_string_lossy().to_lowercase();
        v.contains("utf-8") || v.contains("utf8")
    })
}
