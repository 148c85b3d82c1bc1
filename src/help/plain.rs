//! An entry as plain text, for a terminal.

use super::entry::{Argument, Entry};

/// Columns of a paragraph.
const WIDTH: usize = 96;

impl Entry {
    /// The entry as plain text: signature, summary, formula, arguments, text, example, source.
    pub fn text(&self) -> String {
        let mut parts = vec![self.signature.clone(), wrapped(&self.summary)];
        if !self.formula.is_empty() {
            parts.push(indented(&self.formula));
        }
        if !self.arguments.is_empty() {
            parts.push(table(&self.arguments).join("\n"));
        }
        parts.extend(self.text.split("\n\n").filter(|p| !p.is_empty()).map(paragraph));
        parts.push(format!("Example:\n\n{}", indented(self.example.trim_end())));
        if let Some(import) = &self.import {
            parts.push(format!("Import: {import}"));
        }
        parts.push(wrapped(&format!("Source: {}", self.source)));
        if !self.see.is_empty() {
            parts.push(format!("See also: {}", self.see.join(", ")));
        }
        parts.join("\n\n") + "\n"
    }
}

/// A paragraph of Markdown: tables, lists and programs as they are, words set anew.
fn paragraph(text: &str) -> String {
    if text.lines().any(|l| l.starts_with(['|', '-', ' '])) { text.to_owned() } else { wrapped(text) }
}

fn indented(text: &str) -> String {
    let line = |l: &str| if l.is_empty() { String::new() } else { format!("    {l}") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Rows of equal columns.
fn table(arguments: &[Argument]) -> Vec<String> {
    let cells = |a: &Argument| [a.name.clone(), a.values.clone(), a.need.clone(), a.meaning.clone()];
    let rows: Vec<[String; 4]> = arguments.iter().map(cells).collect();
    let width = |j: usize| rows.iter().map(|r| r[j].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), 0];
    let line = |row: &[String; 4]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| {
            let pad = width.saturating_sub(cell.chars().count());
            format!("  {cell}{}", " ".repeat(pad))
        });
        padded.collect::<String>().trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
