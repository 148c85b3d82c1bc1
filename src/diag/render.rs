//! Diagnostics as text with the source they point at, and as data.
//!
//! The only place that knows the drawing library. It is given an excerpt made here, not the file:
//! only lines that carry a label have their text, tabs are spaces, control characters are visible,
//! and of a very long line only a window is there. Spans are moved along.

use std::collections::BTreeMap;
use std::ops::Range;

use ariadne::{Cache, CharSet, Color, Config, IndexType, Label as Mark, Report, ReportKind, Source};
use serde_json::{Value, json};

use super::{Diagnostic, Label, Severity};
use crate::source::{FileId, SourceMap, Span, clamp, lines};

/// How to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenderOptions {
    /// With terminal colours.
    pub color: bool,
    /// With box-drawing characters, else in ASCII (the source itself is shown as it is).
    pub unicode: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { color: false, unicode: true }
    }
}

/// So many are drawn; more are only counted.
pub const MOST: usize = 100;

/// Longer lines are shown through a window.
const LONGEST_LINE: usize = 400;
/// Characters in a window.
const WINDOW: usize = 160;
/// Characters in front of the first label of a window.
const LEAD: usize = 40;
const TAB: usize = 4;

/// All diagnostics, one after the other, as text that ends in a newline (empty if there are none).
pub fn render(diags: &[Diagnostic], sources: &SourceMap, options: &RenderOptions) -> String {
    let mut out = String::new();
    for diag in diags.iter().take(MOST) {
        if !out.is_empty() {
            out.push('\n');
        }
        render_one(diag, sources, options, &mut out);
    }
    if let more @ 1.. = diags.len().saturating_sub(MOST) {
        out.push_str(&format!("\n{} and {more} more\n", if options.unicode { "…" } else { "..." }));
    }
    out
}

/// An array of objects `code, severity, message, file, span, labels, notes, help`; `file` and `span`
/// are `null` where no place in a source is to blame. A span has byte offsets `start`, `end` and the
/// `line` and `column` of its start, from 1, columns in characters.
pub fn to_json(diags: &[Diagnostic], sources: &SourceMap) -> Value {
    diags.iter().map(|diag| one_to_json(diag, sources)).collect()
}

fn one_to_json(diag: &Diagnostic, sources: &SourceMap) -> Value {
    let place = |span: Span| {
        let (line, column) = sources.line_column(span.file, span.start);
        json!({ "start": span.start, "end": span.end, "line": line, "column": column })
    };
    let label = |label: &Label, primary: bool| {
        json!({
            "file": sources.name(label.span.file),
            "span": place(label.span),
            "text": label.text,
            "primary": primary,
        })
    };
    let labels: Vec<Value> = (diag.primary.iter().map(|l| label(l, true)))
        .chain(diag.secondary.iter().map(|l| label(l, false)))
        .collect();
    json!({
        "code": diag.code,
        "severity": diag.severity,
        "message": diag.message,
        "file": diag.primary.as_ref().map(|l| sources.name(l.span.file)),
        "span": diag.primary.as_ref().map(|l| place(l.span)),
        "labels": labels,
        "notes": diag.notes,
        "help": diag.help,
    })
}

fn render_one(diag: &Diagnostic, sources: &SourceMap, options: &RenderOptions, out: &mut String) {
    let (word, color) = match diag.severity {
        Severity::Error => ("error", Color::Red),
        Severity::Warning => ("warning", Color::Yellow),
    };
    let paint = |code: &str, text: &str| match options.color {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let title = paint(if diag.is_error() { "1;31" } else { "1;33" }, &format!("{word}[{}]", diag.code));
    out.push_str(&format!("{title}: {}\n", visible(&diag.message)));
    let labels: Vec<&Label> = diag.primary.iter().chain(&diag.secondary).collect();
    let known = |l: &&&Label| sources.file(l.span.file).is_some();
    let labels: Vec<&Label> = labels.iter().filter(known).copied().collect();
    let mut files: Vec<FileId> = Vec::new();
    for label in &labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    let excerpts: Vec<Excerpt> = files.iter().map(|f| Excerpt::new(*f, &labels, sources, options)).collect();

    let start = excerpts.first().and_then(|e| e.marks.first()).map_or(0, |m| m.range.start);
    let mut report = Report::build(ReportKind::Error, (0, start..start)).with_config(
        Config::new()
            .with_index_type(IndexType::Char)
            .with_color(options.color)
            .with_char_set(if options.unicode { CharSet::Unicode } else { CharSet::Ascii })
            .with_tab_width(TAB),
    );
    let mut order = 0;
    for (file, excerpt) in excerpts.iter().enumerate() {
        for mark in &excerpt.marks {
            let color = if mark.primary { color } else { Color::Blue };
            // one group a file, in the order of its lines
            let drawn = Mark::new((file, mark.range.clone())).with_color(color).with_order(order);
            report = report.with_label(drawn.with_message(visible(&mark.text)));
            order += 1;
        }
    }
    let mut drawn = Vec::new();
    let mut shelf = Shelf::new(&excerpts);
    // writing to memory does not fail; without a drawing the facts are still there
    let _ = report.finish().write(&mut shelf, &mut drawn);
    // the first line is the library's own title
    for line in String::from_utf8_lossy(&drawn).lines().skip(1) {
        out.push_str(&with_place(line, &excerpts));
        out.push('\n');
    }
    let notes = diag.notes.iter().map(|n| ("note", n));
    for (word, text) in notes.chain(diag.help.iter().map(|h| ("help", h))) {
        for (i, line) in visible(text).lines().enumerate() {
            let lead = if i == 0 { format!("  {}: ", paint("36", word)) } else { " ".repeat(4 + word.len()) };
            out.push_str(format!("{lead}{line}").trim_end());
            out.push('\n');
        }
    }
}

/// A label in an excerpt, in characters: the library takes bytes, but slips with them where a second
/// file is involved (ariadne 0.6, `write.rs`, the place of a group).
struct Placed {
    range: Range<usize>,
    text: String,
    primary: bool,
}

/// What is shown of one file.
struct Excerpt {
    /// `sinc.sbl:3:5`, of the label to look at first.
    place: String,
    text: String,
    /// By line.
    marks: Vec<Placed>,
}

/// A label by line and character of both its ends; the end is never at the start of a line.
struct Ends<'a> {
    label: &'a Label,
    primary: bool,
    from: (usize, usize),
    to: (usize, usize),
}

/// A shown line: its text, and for every character of the line the byte at which it is shown.
struct Shown {
    text: String,
    at: Vec<usize>,
}

impl Excerpt {
    fn new(file: FileId, labels: &[&Label], sources: &SourceMap, options: &RenderOptions) -> Excerpt {
        let text = sources.text(file);
        let lines: Vec<Range<usize>> = lines(text).collect();
        let position = |byte: usize| {
            let line = lines.partition_point(|l| l.start <= byte).saturating_sub(1);
            let inside = byte.clamp(lines[line].start, lines[line].end);
            (line, text[lines[line].start..inside].chars().count())
        };

        let mut ends = Vec::new();
        for (i, label) in labels.iter().enumerate().filter(|(_, l)| l.span.file == file) {
            let (start, end) = clamp(text, label.span.start as usize, label.span.end as usize);
            let from = position(start);
            let mut to = position(end);
            if to.1 == 0 && to.0 > from.0 {
                let line = to.0 - 1;
                to = (line, text[lines[line].clone()].chars().count());
            }
            if to <= from {
                // nothing is still shown as one column
                to = (from.0, from.1 + 1);
            }
            ends.push(Ends { label, primary: i == 0, from, to });
        }
        let place = ends.first().map_or(String::new(), |e| {
            let (line, column) = sources.line_column(file, e.label.span.start);
            format!("{}:{line}:{column}", visible(sources.name(file)))
        });
        ends.sort_by_key(|e| (e.from, !e.primary));

        // the columns of interest of every line with a label
        let mut columns: BTreeMap<usize, Range<usize>> = BTreeMap::new();
        for end in &ends {
            for (line, column) in [end.from, end.to] {
                let seen = columns.entry(line).or_insert(column..column);
                *seen = seen.start.min(column)..seen.end.max(column);
            }
        }
        let mut shown: BTreeMap<usize, (usize, Shown)> = BTreeMap::new();
        let mut all = String::new();
        let last = columns.keys().next_back().copied().unwrap_or(0);
        for line in 0..=last {
            if let Some(columns) = columns.get(&line) {
                let excerpt = show(&text[lines[line].clone()], columns, options);
                let at = all.len();
                all.push_str(&excerpt.text);
                shown.insert(line, (at, excerpt));
            }
            all.push('\n');
        }
        let byte = |(line, column): (usize, usize)| {
            shown.get(&line).map_or(0, |(at, s)| at + s.at.get(column).copied().unwrap_or(s.text.len()))
        };
        let mut marks = Vec::new();
        for Ends { label, primary, from, to } in ends {
            let start = byte(from);
            let (_, end) = clamp(&all, 0, byte(to).max(start + 1));
            let before = all[..start].chars().count();
            let range = before..before + all[start..end].chars().count();
            marks.push(Placed { range, text: label.text.clone(), primary });
        }
        Excerpt { place, text: all, marks }
    }
}

/// The line with tabs as spaces, no control characters, and at most a window of it; one space more
/// for a label behind its end.
fn show(line: &str, columns: &Range<usize>, options: &RenderOptions) -> Shown {
    let length = line.chars().count();
    let window = if length <= LONGEST_LINE {
        0..length
    } else {
        let start = columns.start.saturating_sub(LEAD).min(length.saturating_sub(WINDOW));
        start..(columns.end + LEAD).clamp(start + WINDOW, start + LONGEST_LINE).min(length)
    };
    let cut = if options.unicode { "…" } else { "..." };
    let mut text = String::new();
    let mut at = Vec::with_capacity(length + 1);
    let mut column = 0;
    for (i, c) in line.chars().enumerate() {
        if i == window.start && window.start > 0 {
            text.push_str(cut);
            column += cut.chars().count();
        }
        at.push(text.len());
        if !window.contains(&i) {
            continue;
        }
        match c {
            '\t' => {
                let width = TAB - column % TAB;
                text.push_str(&" ".repeat(width));
                column += width;
            }
            c => {
                text.push(shown_char(c));
                column += 1;
            }
        }
    }
    at.push(text.len());
    text.push_str(if window.end < length { cut } else { " " });
    Shown { text, at }
}

/// Text of a program in a message cannot move the cursor or change colours.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { shown_char(c) }).collect()
}

/// Control characters and those that reorder text become a replacement character.
fn shown_char(c: char) -> char {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The name under which the drawing library knows a file: nothing visible contains it.
fn token(file: usize) -> String {
    format!("\u{1}{file}\u{1}")
}

/// The library counts lines and columns of the excerpt: put the true place instead.
fn with_place(line: &str, excerpts: &[Excerpt]) -> String {
    for (file, excerpt) in excerpts.iter().enumerate() {
        if let Some((before, after)) = line.split_once(&token(file)) {
            let rest = after.trim_start_matches(|c: char| c == ':' || c == '?' || c.is_ascii_digit());
            return format!("{before}{}{rest}", excerpt.place);
        }
    }
    line.trim_end().to_owned()
}

/// The excerpts, as the drawing library wants them.
struct Shelf<'a> {
    sources: Vec<Source<&'a str>>,
}

impl<'a> Shelf<'a> {
    fn new(excerpts: &'a [Excerpt]) -> Self {
        Self { sources: excerpts.iter().map(|e| Source::from(e.text.as_str())).collect() }
    }
}

impl<'a> Cache<usize> for Shelf<'a> {
    type Storage = &'a str;

    fn fetch(&mut self, file: &usize) -> Result<&Source<&'a str>, impl std::fmt::Debug> {
        self.sources.get(*file).ok_or("no such file")
    }

    fn display<'b>(&self, file: &'b usize) -> Option<impl std::fmt::Display + 'b> {
        Some(token(*file))
    }
}
