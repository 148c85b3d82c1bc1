//! `sbl explain`: the page of a diagnostic code, or what there is about some words.

use sbl::diag::Diagnostic;
use sbl::diag::codes::{self, CODES};
use sbl::diag::suggest::closest;
use sbl::help::{self, Hit};

use super::args::Explain;
use super::failure::{Exit, Failure};
use super::layout::{Align, table};
use super::screen::Screen;

/// Hits of a search that are listed.
const LISTED: usize = 12;

/// Prints the page, the list of codes, or the hits of a search.
pub fn run(args: &Explain, screen: &Screen) -> Result<Exit, Failure> {
    if args.words.is_empty() {
        let list: String =
            CODES.iter().map(|c| format!("{}  {}\n", screen.strong(c.code), c.title)).collect();
        screen.result(list.as_bytes())?;
        return Ok(Exit::Done);
    }
    let wanted = args.words.join(" ");
    // `error[E0301]`, as it stands in a message, will do.
    let bare = wanted.trim().trim_start_matches("error").trim_start_matches("warning");
    let bare = bare.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if let Some(code) = codes::find(bare) {
        screen.result(ending_in_newline(code.page).as_bytes())?;
        return Ok(Exit::Done);
    }
    let unknown = |what: &str| Diagnostic::error("E0780", what);
    if let Some(near) = closest(&bare.to_uppercase(), CODES.iter().map(|c| c.code)) {
        return Err(unknown(&format!("there is no diagnostic {wanted:?}"))
            .help(format!("did you mean {near}? `sbl explain` lists all codes"))
            .into());
    }
    // what is written like a code is one: no page that mentions it is what was asked for
    if looks_like_a_code(bare) {
        return Err(unknown(&format!("there is no diagnostic {wanted:?}"))
            .help("`sbl explain` lists all codes")
            .into());
    }
    let found = help::search(&wanted);
    if found.is_empty() {
        let unknown = unknown(&format!("there is no diagnostic {wanted:?}, and nothing about it"));
        return Err(match help::similar_word(&wanted) {
            Some(near) => unknown.help(format!("did you mean `sbl explain {near}`?")),
            None => unknown.help("`sbl explain` lists all codes, and `sbl doc` all names of the language"),
        }
        .into());
    }
    screen.note(&format!("there is no diagnostic {wanted:?}; this is about it:"));
    screen.result(list(&found, "sbl explain", "sbl doc").as_bytes())?;
    Ok(Exit::Done)
}

/// `E9999`, `w12`
fn looks_like_a_code(word: &str) -> bool {
    let digits = word.strip_prefix(['E', 'e', 'W', 'w']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Hits of a search, each behind what shows it.
pub fn list(found: &[Hit], of_code: &str, of_name: &str) -> String {
    let row = |hit: &Hit| {
        let shows = if hit.is_code { of_code } else { of_name };
        vec![format!("{shows} {}", hit.name), hit.summary.clone()]
    };
    let rows: Vec<Vec<String>> = found.iter().take(LISTED).map(row).collect();
    let mut lines = table(None, &[Align::Left, Align::Left], &rows);
    if found.len() > LISTED {
        lines.push(format!("  and {} more", found.len() - LISTED));
    }
    lines.join("\n") + "\n"
}

/// The text with exactly one newline at its end.
pub fn ending_in_newline(text: &str) -> String {
    format!("{}\n", text.trim_end())
}
