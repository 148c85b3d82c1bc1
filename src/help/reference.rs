//! The pages of the reference, as Markdown: one for each kind of entry, and an index.

use super::contents::{Section, contents};
use super::entry::{Entry, Kind};

/// A page of `docs/reference/`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// `kernels.md`
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Every page of the reference.
pub fn reference() -> Vec<Page> {
    let sections = contents();
    let mut pages = vec![Page { file: "README.md".to_owned(), text: index(&sections) }];
    pages.extend(
        sections.iter().map(|section| Page {
            file: format!("{}.md", section.kind.page()),
            text: page(section, &sections),
        }),
    );
    pages
}

fn index(sections: &[Section]) -> String {
    let mut out = "# Reference\n\nEverything that has a name, with its formula, its source and a program that runs. The same text is \
                   printed by `sbl doc NAME`,\nand by `:help NAME` at the prompt. These pages are generated from the code.\n"
        .to_owned();
    for section in sections {
        let title = section.kind.title();
        out += &format!("\n## [{title}]({}.md)\n\n| | |\n|---|---|\n", section.kind.page());
        for entry in distinct(&section.entries) {
            let link = format!("{}.md#{}", section.kind.page(), anchor(&entry.name));
            out +=
                &format!("| [{}]({link}) | {} |\n", cell(&format!("`{}`", entry.name)), cell(&entry.summary));
        }
    }
    out
}

/// One entry for each name: overloads share a heading.
fn distinct(entries: &[Entry]) -> Vec<&Entry> {
    let mut found: Vec<&Entry> = Vec::new();
    for entry in entries {
        if found.iter().all(|e| e.name != entry.name) {
            found.push(entry);
        }
    }
    found
}

fn page(section: &Section, all: &[Section]) -> String {
    let kind = section.kind;
    let mut out = format!("# {}\n\n{}\n", kind.title(), kind.head());
    if kind == Kind::Plan {
        out += "\nAll of them, with every formula, are in [mathematics](../mathematics.md).\n";
    }
    out += "\nGenerated from the code: `UPDATE_DOCS=1 cargo test` writes this page.\n";
    for entry in distinct(&section.entries) {
        out += &format!("\n## {}\n", entry.name);
        for overload in section.entries.iter().filter(|e| e.name == entry.name) {
            out += &markdown(overload, all);
        }
    }
    out
}

fn markdown(entry: &Entry, all: &[Section]) -> String {
    let mut out = format!("\n```text\n{}\n```\n\n{}\n", entry.signature, linked(&entry.summary));
    if !entry.formula.is_empty() {
        let lines =
            entry.formula.lines().map(|l| if l.is_empty() { "\n".to_owned() } else { format!("    {l}\n") });
        out += &format!("\n{}", lines.collect::<String>());
    }
    if !entry.arguments.is_empty() {
        out += "\n| | is | needed | meaning |\n|---|---|---|---|\n";
    }
    for a in &entry.arguments {
        out += &format!(
            "| `{}` | {} | {} | {} |\n",
            cell(&a.name),
            cell(&a.values),
            cell(&a.need),
            cell(&a.meaning)
        );
    }
    if !entry.text.is_empty() {
        out += &format!("\n{}\n", linked(&entry.text));
    }
    out += &format!("\n```sbl\n{}```\n\nSource: {}\n", entry.example, linked(&entry.source));
    let links: Vec<String> = entry.see.iter().map(|name| link(name, all)).collect();
    if !links.is_empty() {
        out += &format!("\nSee also: {}.\n", links.join(", "));
    }
    out
}

fn link(name: &str, all: &[Section]) -> String {
    match all.iter().find(|s| s.entries.iter().any(|e| e.name == name)) {
        Some(section) => format!("[`{name}`]({}.md#{})", section.kind.page(), anchor(name)),
        None => format!("`{name}`"),
    }
}

/// Sections of the mathematics as links.
fn linked(text: &str) -> String {
    text.replace("mathematics \u{a7}", "[mathematics](../mathematics.md) \u{a7}")
}

/// The anchor that Markdown makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
