//! The table.

use std::fmt::{self, Write as _};
use std::path::Path;

use crate::Result;

/// One line of the table.
#[derive(Default)]
pub struct Row {
    /// The data set.
    pub name: &'static str,
    /// How it was taken.
    pub protocol: String,
    /// What the figure is.
    pub measure: &'static str,
    /// The figure in the literature.
    pub published: &'static str,
    /// Ours, one a repetition; empty if the plan is not there.
    pub errors: Vec<f64>,
    /// A second error, of ordered levels.
    pub second: Vec<f64>,
    /// Kept (or relevant) weights without a bias.
    pub vectors: Vec<f64>,
    /// The same with it, if that is said.
    pub with_bias: Vec<f64>,
    /// Deviation of the noise.
    pub noise: Vec<f64>,
    /// Seconds of all fits.
    pub seconds: f64,
    /// Fits that did not converge.
    pub unfinished: usize,
    /// Error and support vectors of the support vector machine.
    pub machine: Vec<(f64, f64)>,
    /// The row that has the machine instead.
    pub machine_of: Option<&'static str>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { name, protocol, measure, published, .. } = self;
        if self.errors.is_empty() {
            return write!(f, "| {name} | {protocol} | {published} | not available | | | | | |");
        }
        let of = |x: &[f64]| {
            let (mean, sd) = moments(x);
            if x.len() > 1 { format!("{} ({})", short(mean), short(sd)) } else { short(mean) }
        };
        let mean = |x: &[f64], decimals: usize| {
            if x.is_empty() { String::new() } else { format!("{:.decimals$}", moments(x).0) }
        };
        let second =
            if self.second.is_empty() { String::new() } else { format!(", mae {}", of(&self.second)) };
        let unfinished = match self.unfinished {
            0 => String::new(),
            n => format!("; {n} of {} fits did not converge", self.errors.len()),
        };
        let (machine, support): (Vec<f64>, Vec<f64>) = self.machine.iter().copied().unzip();
        let vectors = match mean(&self.with_bias, 2) {
            with if with.is_empty() => mean(&self.vectors, 1),
            with => format!("{} ({with} with the bias)", mean(&self.vectors, 2)),
        };
        write!(
            f,
            "| {name} | {protocol} | {published} | {measure} {}{second}{unfinished} | {} | {} | {:.3} | {} | {} |",
            of(&self.errors),
            vectors,
            mean(&self.noise, 3),
            self.seconds / self.errors.len() as f64,
            self.machine_of.map_or_else(|| of(&machine), |other| format!("see {other}")),
            mean(&support, 0),
        )
    }
}

/// All rows with a header.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| data | protocol | published | ours: mean (sd) | vectors | noise sd | seconds a fit | SVM: mean (sd) | its vectors |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        let _ = writeln!(text, "{row}");
    }
    text
}

/// Puts the table between the marks of a page.
pub fn insert(path: &Path, text: &str) -> Result<()> {
    let page = std::fs::read_to_string(path)?;
    let (head, rest) = page.split_once("<!-- table -->").ok_or("the page has no `<!-- table -->`")?;
    let tail = rest.split_once("<!-- end -->").map_or("", |(_, tail)| tail);
    Ok(std::fs::write(path, format!("{head}<!-- table -->\n{text}<!-- end -->{tail}"))?)
}

fn short(x: f64) -> String {
    match x.abs() {
        a if a < 1.0 => format!("{x:.4}"),
        a if a < 100.0 => format!("{x:.2}"),
        _ => format!("{x:.0}"),
    }
}

fn moments(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (mean, (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}
