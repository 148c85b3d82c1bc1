//! Values at the prompt: the type, and as many entries as are worth a look.

use sbl::design::Rank;

use super::value::Answer;
use crate::cli::layout::{Align, number, table};
use crate::cli::screen::Screen;

/// Entries of a vector, and rows and columns of a matrix, that are shown from its beginning.
const ENTRIES: usize = 12;
const ROWS: usize = 8;
const COLUMNS: usize = 6;

impl Answer {
    /// As text.
    pub fn text(&self, style: &Screen) -> String {
        let means = if self.at_means { ", at posterior means" } else { "" };
        let about = style.faint(&format!("{}{means}", self.ty));
        let dots = if style.unicode { "…" } else { "..." };
        match self.value.rank {
            Rank::Scalar => format!("{}  {about}", self.entry(0, 0)),
            Rank::Vector => {
                let shown: Vec<String> =
                    (0..self.value.rows().min(ENTRIES)).map(|i| self.entry(i, 0)).collect();
                let more = if self.value.rows() > ENTRIES { format!(", {dots}") } else { String::new() };
                format!("[{}{more}]  {about}", shown.join(", "))
            }
            Rank::Matrix => {
                let (rows, cols) = (self.value.rows().min(ROWS), self.value.cols().min(COLUMNS));
                let mut body: Vec<Vec<String>> =
                    (0..rows).map(|i| (0..cols).map(|j| self.entry(i, j)).collect()).collect();
                if self.value.cols() > COLUMNS {
                    body.iter_mut().for_each(|row| row.push(dots.to_owned()));
                }
                if self.value.rows() > ROWS {
                    body.push(vec![dots.to_owned()]);
                }
                let mut lines = vec![about];
                lines.extend(table(None, &[Align::Right; COLUMNS + 1], &body));
                lines.join("\n")
            }
        }
    }

    fn entry(&self, i: usize, j: usize) -> String {
        let x = self.value.array.get((i, j)).copied().unwrap_or(f64::NAN);
        if !self.levels.is_empty() {
            let level = (x >= 0.0).then(|| self.levels.get(x as usize)).flatten();
            return level.cloned().unwrap_or_else(|| "missing".to_owned());
        }
        if x.fract() == 0.0 && x.abs() < 1e15 { format!("{x}") } else { number(x, 5) }
    }
}
