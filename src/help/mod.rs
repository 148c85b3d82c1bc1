//! The documentation of the language: one entry for each thing that has a name, from its record.
//!
//! `sbl doc`, `:help` at the prompt and `docs/reference/` are made of the same [`Entry`]s. They come
//! from the records of families, the doc comments of the standard library, and the notes in
//! `src/help/text/` on what is built in; a test holds the notes to the lists of what there is.
//!
//! ```
//! let found = sbl::help::entry("rbf");
//! assert!(found[0].formula.contains("exp(−‖x − c‖² / width²)"));
//! println!("{}", found[0].text());
//! assert!(sbl::help::look_up("rfb").is_err_and(|d| d.help.is_some_and(|h| h.contains("rbf"))));
//! ```

mod builtin;
mod contents;
mod entry;
mod family;
mod library;
mod note;
mod plain;
mod reference;
mod search;

pub use contents::{Section, contents, entries, entry, look_up};
pub use entry::{Argument, Entry, Kind};
pub use reference::{Page, reference};
pub use search::{Hit, search, similar_word};
