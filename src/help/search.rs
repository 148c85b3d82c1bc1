//! Search: which diagnostics and which documented names are about some words.

use std::cmp::Reverse;

use super::contents::entries;
use super::entry::Entry;
use crate::diag::codes::CODES;
use crate::diag::suggest::closest;

/// Something that is about the words of a search.
///
/// ```
/// let found = sbl::help::search("convergence");
/// assert_eq!((found[0].name.as_str(), found[0].is_code), ("W0808", true));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// A diagnostic code, or the name of an entry.
    pub name: String,
    /// Its title, or its summary.
    pub summary: String,
    /// Whether it is a diagnostic, and not an entry.
    pub is_code: bool,
}

/// A word in a name counts this much,
const IN_NAME: usize = 8;
/// in a title or a summary this much,
const IN_TITLE: usize = 4;
/// this much more if it is that very word,
const EXACT: usize = 2;
/// and in a text once for each time, up to this often.
const IN_TEXT: usize = 3;

/// Endings that do not change what a word is about, longer ones first.
const ENDINGS: &[&str] = &[
    "ations", "ation", "ences", "ating", "ators", "ative", "ated", "ates", "ence", "ents", "ings", "ions",
    "able", "ate", "ent", "ies", "ing", "ion", "ive", "al", "ed", "er", "es", "ly", "e", "s", "y",
];
/// The least that is left of a word without its ending.
const STEM: usize = 4;

/// What is about these words, best first: diagnostics by title and page, entries by name, summary and text.
/// All words must occur; if nothing has them all, some must. Of equal ones the shorter title comes first, then the
/// order of the reference, diagnostics last.
///
/// ```
/// assert!(sbl::help::search("pruned weights").iter().any(|hit| hit.name == "ard"));
/// assert!(sbl::help::search("xyzzy").is_empty());
/// ```
pub fn search(text: &str) -> Vec<Hit> {
    let wanted: Vec<String> = words(text).filter(|w| w.chars().count() > 1).collect();
    let scored: Vec<(Vec<usize>, Hit)> = sources().map(|s| (s.scores(&wanted), s.hit())).collect();
    let with = |enough: &dyn Fn(&[usize]) -> bool| {
        let mut found: Vec<(Reverse<usize>, usize, &Hit)> = scored
            .iter()
            .filter(|(scores, _)| !scores.is_empty() && enough(scores))
            .map(|(scores, hit)| (Reverse(scores.iter().sum()), words(&hit.summary).count(), hit))
            .collect();
        // stable: the order of the reference among equals
        found.sort_by_key(|(score, length, _)| (*score, *length));
        let mut hits: Vec<Hit> = Vec::new();
        for (.., hit) in found {
            // overloads share a name
            if hits.iter().all(|h| h.name != hit.name) {
                hits.push(hit.clone());
            }
        }
        hits
    };
    let all = with(&|scores| scores.iter().all(|s| *s > 0));
    if all.is_empty() { with(&|scores| scores.iter().any(|s| *s > 0)) } else { all }
}

/// The word of all texts that a word of a search, which none of them has, was most likely meant to be.
///
/// ```
/// assert_eq!(sbl::help::similar_word("seperated").as_deref(), Some("separated"));
/// ```
pub fn similar_word(text: &str) -> Option<String> {
    let mut known: Vec<String> = sources().flat_map(|s| words(&s.everything()).collect::<Vec<_>>()).collect();
    known.sort_unstable();
    known.dedup();
    words(text).find_map(|word| closest(&word, known.iter().map(String::as_str)).map(str::to_owned))
}

/// What is searched.
struct Source {
    name: String,
    title: String,
    text: String,
    is_code: bool,
}

fn sources() -> impl Iterator<Item = Source> {
    let entry = |e: Entry| Source {
        text: [e.formula, e.text, e.aliases.join(" ")].join("\n"),
        name: e.name,
        title: e.summary,
        is_code: false,
    };
    let codes = CODES.iter().map(|c| Source {
        name: c.code.to_owned(),
        title: c.title.to_owned(),
        text: c.page.to_owned(),
        is_code: true,
    });
    entries().into_iter().map(entry).chain(codes)
}

impl Source {
    fn everything(&self) -> String {
        format!("{} {} {}", self.name, self.title, self.text)
    }

    fn hit(&self) -> Hit {
        Hit { name: self.name.clone(), summary: self.title.clone(), is_code: self.is_code }
    }

    /// One for each word.
    fn scores(&self, wanted: &[String]) -> Vec<usize> {
        let count = |text: &str, stem: &str| words(text).filter(|w| is_about(w, stem)).count();
        let score = |word: &String| {
            let stem = stem(word);
            IN_NAME * count(&self.name, &stem).min(1)
                + IN_TITLE * count(&self.title, &stem).min(1)
                + EXACT * usize::from(words(&self.title).any(|w| w == *word))
                + count(&self.text, &stem).min(IN_TEXT)
        };
        wanted.iter().map(score).collect()
    }
}

/// Whether a word has that stem; the beginning of a longer word counts too.
fn is_about(word: &str, wanted: &str) -> bool {
    stem(word) == wanted || (wanted.chars().count() >= STEM && word.starts_with(wanted))
}

/// A word without its ending.
fn stem(word: &str) -> String {
    let least = |ending: &str| if ending == "s" { STEM - 1 } else { STEM };
    let rest = ENDINGS.iter().find_map(|e| {
        let rest = word.strip_suffix(e)?;
        (rest.chars().count() >= least(e)).then_some(rest)
    });
    rest.unwrap_or(word).to_owned()
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            &["convergence", "converge", "converged", "converges"][..],
            &["separation", "separated", "separate"],
            &["prune", "pruned", "pruning"],
            &["noise", "noisy"],
            &["shape", "shapes"],
            &["weight", "weights"],
            &["prediction", "predict", "predictive"],
        ] {
            let stems: Vec<String> = forms.iter().map(|w| stem(w)).collect();
            assert!(stems.iter().all(|s| *s == stems[0]), "{stems:?}");
        }
        assert_ne!(stem("singular"), stem("single"));
        assert_eq!(stem("ard"), "ard");
    }
}
