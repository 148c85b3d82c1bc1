//! Entries by name, and the list of all of them.

use super::entry::{Entry, Kind};
use super::{builtin, family, library};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;

/// Entries that are named where nothing has the name that was asked for.
const MENTIONED: usize = 5;

/// All entries of a kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Section {
    /// Their kind.
    pub kind: Kind,
    /// In the order of the reference.
    pub entries: Vec<Entry>,
}

/// Everything that is documented, kind by kind.
pub fn contents() -> Vec<Section> {
    let library = library::entries();
    let section = |kind: Kind| {
        let entries = match kind {
            Kind::Statement => builtin::statements(),
            Kind::Type => builtin::types(),
            Kind::Family => family::entries(),
            Kind::Function => builtin::functions(),
            Kind::Plan => builtin::plans(),
            Kind::Setting => builtin::options(),
            Kind::Prior | Kind::Kernel | Kind::Basis | Kind::Library => {
                library.iter().filter(|e| e.kind == kind).cloned().collect()
            }
        };
        Section { kind, entries }
    };
    Kind::ALL.map(section).into()
}

/// Everything that is documented, in the order of [`contents`].
pub fn entries() -> Vec<Entry> {
    contents().into_iter().flat_map(|s| s.entries).collect()
}

/// The entries that a name means: none, one, or several where it is overloaded or means a module
/// (`std.kernels`). Upper and lower case count as the same where nothing has that very name.
pub fn entry(name: &str) -> Vec<Entry> {
    let all = entries();
    let name = name.trim().trim_matches('`').trim();
    let pick = |matches: &dyn Fn(&Entry) -> bool| -> Vec<Entry> {
        all.iter().filter(|e| matches(e)).cloned().collect()
    };
    let path = |e: &Entry| e.import.as_ref().and_then(|i| i.strip_prefix("use ")).unwrap_or("").to_owned();
    let module = |e: &Entry| path(e).rsplit_once('.').map_or(String::new(), |(module, _)| module.to_owned());
    let steps: [&dyn Fn(&Entry) -> bool; 6] = [
        &|e| e.name == name,
        &|e| e.aliases.iter().any(|a| a == name),
        &|e| !name.is_empty() && path(e) == name,
        &|e| !name.is_empty() && (module(e) == name || module(e).strip_prefix("std.") == Some(name)),
        &|e| e.name.eq_ignore_ascii_case(name) || e.aliases.iter().any(|a| a.eq_ignore_ascii_case(name)),
        &|e| e.kind.page().eq_ignore_ascii_case(name),
    ];
    steps.iter().map(|step| pick(*step)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The entries that a name means.
///
/// # Errors
/// E0781: nothing has that name; the help names the closest one.
pub fn look_up(name: &str) -> Result<Vec<Entry>, Diagnostic> {
    let found = entry(name);
    if !found.is_empty() {
        return Ok(found);
    }
    let all = entries();
    let known = all.iter().flat_map(|e| std::iter::once(&e.name).chain(&e.aliases)).map(String::as_str);
    let bare = name.rsplit('.').next().unwrap_or(name).trim();
    let unknown = Diagnostic::error("E0781", format!("there is no documentation of {name:?}"));
    Err(match closest(bare, known) {
        Some(near) => unknown.help(format!("did you mean {near}?")),
        None if crate::diag::codes::find(bare).is_some() => {
            unknown.help(format!("it is a diagnostic: `sbl explain {bare}`"))
        }
        None => {
            let about = super::search(name);
            let listed = about.iter().filter(|hit| !hit.is_code).take(MENTIONED);
            let unknown = listed.fold(unknown, |d, hit| d.note(format!("{}: {}", hit.name, hit.summary)));
            match about.iter().find(|hit| !hit.is_code) {
                Some(hit) => unknown.help(format!("`sbl doc {}` is about it", hit.name)),
                None => unknown.help("`sbl doc` lists all names; for a diagnostic, `sbl explain CODE`"),
            }
        }
    })
}
