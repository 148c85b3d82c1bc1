//! The entries of what is built in: statements, types, functions, plans and options, from the notes
//! in `src/help/text/` and the records of what there is.

use super::entry::{Argument, Entry, Kind};
use super::note::{self, Note};
use crate::check::natives::{NATIVES, NativeFn};
use crate::plan::METHODS;
use crate::plan::options::{self, OPTIONS, OptionRecord};

const STATEMENTS: &str = include_str!("text/statements.md");
const TYPES: &str = include_str!("text/types.md");
const FUNCTIONS: &str = include_str!("text/functions.md");
const PLANS: &str = include_str!("text/plans.md");
const OPTION_NOTES: &str = include_str!("text/options.md");

/// Statements and signs, in the order of their notes.
pub(super) fn statements() -> Vec<Entry> {
    note::sections(STATEMENTS).into_iter().map(|(name, note)| written(name, Kind::Statement, note)).collect()
}

/// Types, in the order of their notes.
pub(super) fn types() -> Vec<Entry> {
    note::sections(TYPES).into_iter().map(|(name, note)| written(name, Kind::Type, note)).collect()
}

/// Native functions, in the order of their records.
pub(super) fn functions() -> Vec<Entry> {
    let notes = note::sections(FUNCTIONS);
    NATIVES.iter().map(|native| function(native, note::find(&notes, native.name))).collect()
}

/// `auto`, then every method.
pub(super) fn plans() -> Vec<Entry> {
    let notes = note::sections(PLANS);
    let names = std::iter::once("auto").chain(METHODS.iter().map(|m| m.name));
    names.map(|name| plan(name, note::find(&notes, name))).collect()
}

/// Options, in the order of their records.
pub(super) fn options() -> Vec<Entry> {
    let notes = note::sections(OPTION_NOTES);
    OPTIONS.iter().map(|option| setting(option, note::find(&notes, option.name))).collect()
}

fn entry(name: &str, kind: Kind, signature: String, note: Note) -> Entry {
    Entry {
        name: name.to_owned(),
        aliases: note.aliases,
        kind,
        signature,
        import: None,
        summary: note.summary,
        formula: note.formula,
        arguments: Vec::new(),
        text: note.text,
        example: note.example,
        source: note.source,
        see: note.see,
    }
}

/// The first indented block is how it is written, the one behind it the formula.
fn written(name: &str, kind: Kind, mut note: Note) -> Entry {
    let signature = note.formula.clone();
    let (formula, text) = match note.text.split_once("\n\n") {
        Some((first, rest)) => (first.to_owned(), rest.to_owned()),
        None => (note.text.clone(), String::new()),
    };
    let is_formula = formula.starts_with("    ");
    note.formula =
        if is_formula { note::unindented(&formula.lines().collect::<Vec<_>>()) } else { String::new() };
    note.formula.truncate(note.formula.trim_end().len());
    if is_formula {
        note.text = text;
    }
    entry(name, kind, signature, note)
}

fn function(native: &NativeFn, mut note: Note) -> Entry {
    let required = native.params.len().saturating_sub(native.optional);
    let mut call = native.params.iter().take(required).copied().collect::<Vec<_>>().join(", ");
    for optional in native.params.iter().skip(required) {
        call.push_str(&format!(", {optional} = …"));
    }
    if note.summary.is_empty() {
        note.summary = native.summary.to_owned();
    }
    entry(native.name, Kind::Function, format!("{}({call})", native.name), note)
}

fn plan(name: &str, mut note: Note) -> Entry {
    let method = crate::plan::method::method(name);
    if let (Some(method), true) = (method, note.summary.is_empty()) {
        note.summary = method.summary.to_owned();
    }
    let mut entry = entry(name, Kind::Plan, format!("infer {name}"), note);
    if let Some(method) = method {
        let understood = options::of(method);
        let understood = OPTIONS.iter().filter(|o| understood.contains(&o.name));
        entry.arguments = understood.map(argument).collect();
        entry.signature = format!("infer {name}(…)");
    }
    entry
}

fn setting(option: &OptionRecord, note: Note) -> Entry {
    let owners: Vec<&str> =
        METHODS.iter().filter(|m| options::of(m).contains(&option.name)).map(|m| m.name).collect();
    let mut entry = entry(option.name, Kind::Setting, format!("{} = {}", option.name, option.values()), note);
    let owners = match owners.len() == METHODS.len() {
        true => "every plan".to_owned(),
        false => owners.join(", "),
    };
    entry.text = format!("Default: `{}`. Understood by {owners}.\n\n{}", option.default, entry.text);
    entry
}

fn argument(option: &OptionRecord) -> Argument {
    Argument {
        name: format!("{} =", option.name),
        values: option.values(),
        need: format!("default {}", option.default),
        meaning: option.summary.to_owned(),
    }
}
