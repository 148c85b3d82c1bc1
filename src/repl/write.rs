//! Answers on their way out, and fits under the eyes of a terminal.

use std::sync::Arc;

use sbl::Cancel;
use sbl::diag::render::{RenderOptions, render};

use super::engine::{Host, Watch};
use super::reply::{Part, Reply};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::progress::Progress;
use crate::cli::screen::Screen;

/// Prints an answer: results to standard output, everything else to standard error.
///
/// # Errors
/// Standard output cannot be written.
pub fn answer(reply: &Reply, screen: &Screen) -> Result<(), Failure> {
    for part in &reply.parts {
        match part {
            Part::Result(text) => screen.result(text.as_bytes())?,
            Part::Note(text) => screen.note(&screen.dimmed(text)),
            Part::Found(found, sources) => {
                let shown: Vec<_> = found.iter().filter(|d| d.is_error() || !screen.quiet).cloned().collect();
                let options = RenderOptions { color: screen.color_err, unicode: screen.unicode };
                screen.error(&render(&shown, sources, &options));
            }
        }
    }
    Ok(())
}

/// Draws progress and looks for Ctrl-C.
pub struct Watched {
    /// Where to.
    pub screen: Screen,
}

impl Host for Watched {
    fn watch(&self, run: &mut dyn FnMut(Watch, &Cancel)) {
        let progress = Progress::start(&self.screen, "fitting");
        let bar = progress.clone();
        interrupt::gracefully(|| {
            let watch: Watch = Arc::new(move |step| {
                bar.step(step.iteration, step.objective, step.active);
                !interrupt::asked()
            });
            run(watch, &interrupt::cancel());
        });
        progress.finish();
    }
}
