//! `sbl doc`: the entries of [`sbl::help`], laid out for a terminal.

use sbl::help::{self, Entry};

use super::args::Doc;
use super::failure::{Exit, Failure};
use super::layout::{Align, table};
use super::screen::Screen;

/// Prints the entries that a name means, or the list of all names.
pub fn run(args: &Doc, screen: &Screen) -> Result<Exit, Failure> {
    let text = match &args.name {
        None => contents(screen),
        Some(name) => self::text(name, screen)?,
    };
    screen.result(text.as_bytes())?;
    Ok(Exit::Done)
}

/// The entries that a name means.
pub fn text(name: &str, screen: &Screen) -> Result<String, Failure> {
    let entries = help::look_up(name)?;
    let rule = format!("\n{}\n\n", screen.faint("———"));
    Ok(entries.iter().map(|e| page(e, screen)).collect::<Vec<_>>().join(&rule))
}

fn contents(screen: &Screen) -> String {
    let mut text = String::new();
    for section in help::contents() {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for entry in &section.entries {
            // overloads share a name, and stand one after the other
            if rows.last().is_none_or(|row| row.first() != Some(&entry.name)) {
                rows.push(vec![entry.name.clone(), entry.summary.clone()]);
            }
        }
        let lines = table(None, &[Align::Left, Align::Left], &rows);
        text.push_str(&format!("{}\n{}\n\n", screen.strong(section.kind.title()), lines.join("\n")));
    }
    text + "`sbl doc NAME` shows one of them; `sbl explain CODE` a diagnostic.\n"
}

fn page(entry: &Entry, screen: &Screen) -> String {
    let text = entry.text();
    let (signature, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let line = |line: &str| match line.starts_with("Source: ") || line.starts_with("Import: ") {
        true => screen.faint(line) + "\n",
        false => line.to_owned() + "\n",
    };
    format!("{}\n{}", screen.strong(signature), rest.lines().map(line).collect::<String>())
}
