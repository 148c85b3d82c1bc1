//! A documentation comment taken apart: summary, formula, text, source, example, related names.

/// The parts of a documentation comment.
///
/// The first paragraph is the summary; the first indented block is the formula; `Source:`,
/// `Example:` (with an indented program) and `See:` begin paragraphs of their own; what else there
/// is, is text.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Note {
    pub summary: String,
    pub formula: String,
    pub text: String,
    pub source: String,
    pub example: String,
    pub see: Vec<String>,
    pub aliases: Vec<String>,
}

/// Takes a comment apart.
pub(super) fn parse(comment: &str) -> Note {
    let mut note = Note::default();
    let mut text: Vec<String> = Vec::new();
    let mut program = false;
    for block in blocks(comment) {
        let indented = block.iter().all(|line| line.starts_with("    ") || line.is_empty());
        let joined = || block.join("\n");
        if program && indented {
            // a program may hold blank lines
            if !note.example.is_empty() {
                note.example.push('\n');
            }
            note.example.push_str(&unindented(&block));
            continue;
        }
        program = false;
        if indented && note.formula.is_empty() {
            note.formula = unindented(&block).trim_end().to_owned();
        } else if let Some(rest) = joined().strip_prefix("Source:") {
            note.source = one_line(rest);
        } else if let Some(rest) = joined().strip_prefix("See:") {
            note.see = names(rest);
        } else if let Some(rest) = joined().strip_prefix("Also:") {
            note.aliases = names(rest);
        } else if let Some(rest) = joined().strip_prefix("Example:") {
            program = true;
            let lines: Vec<&str> = rest.trim_start_matches('\n').lines().collect();
            note.example = unindented(&lines);
        } else if note.summary.is_empty() {
            note.summary = one_line(&joined());
        } else {
            text.push(joined());
        }
    }
    note.text = text.join("\n\n");
    note
}

/// The notes of a file: what stands below each `## name`.
pub(super) fn sections(text: &str) -> Vec<(&str, Note)> {
    let rest = text.split("\n## ").skip(1);
    rest.map(|section| {
        let (name, body) = section.split_once('\n').unwrap_or((section, ""));
        (name.trim(), parse(body))
    })
    .collect()
}

/// The note of that name; an empty one where there is none, which a test finds.
pub(super) fn find(notes: &[(&str, Note)], name: &str) -> Note {
    notes.iter().find(|(n, _)| *n == name).map(|(_, note)| note.clone()).unwrap_or_default()
}

/// Runs of lines between blank ones.
fn blocks(comment: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut open = false;
    for line in comment.lines() {
        if line.trim().is_empty() {
            open = false;
            continue;
        }
        match blocks.last_mut() {
            Some(block) if open => block.push(line),
            _ => blocks.push(vec![line]),
        }
        open = true;
    }
    blocks
}

/// Lines without the four blanks before them.
pub(super) fn unindented(lines: &[&str]) -> String {
    lines.iter().map(|l| l.strip_prefix("    ").unwrap_or(l).to_owned() + "\n").collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(one_line).filter(|n| !n.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_has_its_parts() {
        let note = parse(
            "A kernel,\nin two lines.\n\n    k = 1\n    k = 2\n\nMore.\n\n    not the formula\n\nSee: a, b c\n\n\
             Source: A (2001),\n(3).\n\nExample:\n    let a = 1\n\n    let b = 2\n\nEnd.",
        );
        assert_eq!(note.summary, "A kernel, in two lines.");
        assert_eq!(note.formula, "k = 1\nk = 2");
        assert_eq!(note.text, "More.\n\n    not the formula\n\nEnd.");
        assert_eq!(note.source, "A (2001), (3).");
        assert_eq!(note.see, ["a", "b c"]);
        assert_eq!(note.example, "let a = 1\n\nlet b = 2\n");
        assert_eq!(parse(""), Note::default());
    }

    #[test]
    fn a_file_has_sections() {
        let found = sections("head\n\n## a\n\nOne.\n\n## ~\nTwo.\n");
        let summaries: Vec<_> = found.iter().map(|(name, note)| (*name, note.summary.as_str())).collect();
        assert_eq!(summaries, [("a", "One."), ("~", "Two.")]);
    }
}
