//! The entries of the standard library, from the comments above its definitions.

use super::entry::{Entry, Kind};
use super::note;
use crate::check::LibraryItem;

/// Every `fn` and `prior`, in source order; overloads are several entries of one name.
pub(super) fn entries() -> Vec<Entry> {
    crate::check::library().iter().map(entry).collect()
}

fn entry(item: &LibraryItem) -> Entry {
    let note = note::parse(&item.doc);
    Entry {
        name: item.name.clone(),
        aliases: note.aliases,
        kind: kind(item),
        signature: item.signature.clone(),
        import: Some(format!("use {}.{}", item.module, item.name)),
        summary: note.summary,
        formula: note.formula,
        arguments: Vec::new(),
        text: note.text,
        example: note.example,
        source: note.source,
        see: note.see,
    }
}

fn kind(item: &LibraryItem) -> Kind {
    match (item.kind, item.module.as_str()) {
        ("prior", _) => Kind::Prior,
        (_, "std.kernels") => Kind::Kernel,
        (_, "std.bases") => Kind::Basis,
        _ => Kind::Library,
    }
}
