//! A line on the terminal that says how a fit gets on. Nothing is drawn into files and pipes.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::layout;
use super::screen::Screen;

/// The line.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Starts to draw, on a terminal.
    pub fn start(screen: &Screen, what: &str) -> Self {
        if !screen.animate {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let ticks = if screen.unicode { "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ " } else { "-\\|/ " };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
            bar.set_style(style.tick_chars(ticks));
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// Starts to draw a bar of `what`, on a terminal.
    pub fn bar(screen: &Screen, what: &str) -> Self {
        if !screen.animate {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let chars = if screen.unicode { "█▉▊▋▌▍▎▏ " } else { "##-" };
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30} {pos} of {len} {msg} [{elapsed}, {eta} left]")
        {
            bar.set_style(style.progress_chars(chars));
        }
        bar.set_message(what.to_owned());
        Self { bar }
    }

    /// So many are done.
    pub fn reach(&self, done: usize, all: usize) {
        if !self.bar.is_hidden() {
            self.bar.set_length(all as u64);
            self.bar.set_position(done as u64);
        }
    }

    /// One iteration is done.
    pub fn step(&self, iteration: usize, objective: f64, active: usize) {
        if self.bar.is_hidden() {
            return;
        }
        let weights = layout::plural(active, "weight");
        self.bar.set_message(format!(
            "iteration {iteration}, objective {}, {weights}",
            layout::number(objective, 6)
        ));
    }

    /// Wipes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
