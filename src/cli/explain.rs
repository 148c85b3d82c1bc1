//! `sbl explain`: the page of a diagnostic code.

use sbl::diag::Diagnostic;
use sbl::diag::codes::{self, CODES};
use sbl::diag::suggest::closest;

use super::args::Explain;
use super::failure::{Exit, Failure};
use super::screen::Screen;

/// Prints the page, or the list of codes.
pub fn run(args: &Explain, screen: &Screen) -> Result<Exit, Failure> {
    let Some(wanted) = &args.code else {
        let list: String =
            CODES.iter().map(|c| format!("{}  {}\n", screen.strong(c.code), c.title)).collect();
        screen.result(list.as_bytes())?;
        return Ok(Exit::Done);
    };
    // `error[E0301]`, as it stands in a message, will do.
    let bare = wanted.trim().trim_start_matches("error").trim_start_matches("warning");
    let bare = bare.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    match codes::find(bare) {
        Some(code) => {
            screen.result(ending_in_newline(code.page).as_bytes())?;
            Ok(Exit::Done)
        }
        None => {
            let unknown = Diagnostic::error("E0780", format!("there is no diagnostic {wanted:?}"));
            // a word in place of a code: what there is about it
            let word = bare.to_lowercase();
            let about: Vec<&codes::Code> =
                CODES.iter().filter(|c| word.len() > 2 && c.title.to_lowercase().contains(&word)).collect();
            let unknown = about.iter().fold(unknown, |d, c| d.note(format!("{}: {}", c.code, c.title)));
            let near = closest(&bare.to_uppercase(), CODES.iter().map(|c| c.code));
            Err(Failure::from(match near {
                _ if !about.is_empty() => unknown.help("`sbl explain CODE` shows one of these"),
                Some(near) => unknown.help(format!("did you mean {near}? `sbl explain` lists all codes")),
                None => unknown
                    .help("`sbl explain` lists all codes; `sbl doc NAME` is about a name of the language"),
            }))
        }
    }
}

/// The text with exactly one newline at its end.
pub fn ending_in_newline(text: &str) -> String {
    format!("{}\n", text.trim_end())
}
