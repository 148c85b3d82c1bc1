//! Column names: duplicates, empty ones, look-alikes, invisible characters.

use sbl::diag::Diagnostics;

use super::errors;

/// Checks the names of a table's columns; errors and warnings go to `found`.
pub fn verify(names: &[String], origin: &str, found: &mut Diagnostics) {
    let mut seen: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let mut composed_seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for (i, name) in names.iter().enumerate() {
        if name.is_empty() {
            found.push(errors::empty_name(origin, i));
            continue;
        }
        if let Some(c) = name.chars().find(|c| is_invisible(*c)) {
            found.push(errors::invisible_in_name(origin, name, i, c));
        }
        if let Some(first) = seen.insert(name, i) {
            found.push(errors::duplicate_name(origin, name, first, i));
        } else if let Some(first) = composed_seen.insert(compose(name), i) {
            found.push(errors::twin_names(origin, name, first, i));
        }
    }
}

/// Bidirectional controls, zero-width characters and other controls: they make two different
/// names look the same.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}' | '\u{061c}' | '\u{feff}')
}

/// The text with Latin letters and following accents joined into one character, as far as the
/// letters of western and central European languages go; enough to notice twins.
fn compose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let joined = match out.chars().last() {
            Some(base) if ('\u{300}'..='\u{36f}').contains(&c) => joined(base, c),
            _ => None,
        };
        match joined {
            Some(letter) => {
                out.pop();
                out.push(letter);
            }
            None => out.push(c),
        }
    }
    out
}

/// `e` and U+0301 are `é`.
fn joined(base: char, accent: char) -> Option<char> {
    const ACCENTS: [(char, &str, &str); 11] = [
        ('\u{300}', "AEIOUNaeioun", "ÀÈÌÒÙǸàèìòùǹ"),
        ('\u{301}', "AEIOUYCLNRSZaeiouyclnrsz", "ÁÉÍÓÚÝĆĹŃŔŚŹáéíóúýćĺńŕśź"),
        ('\u{302}', "AEIOUaeiouCGHJSWYcghjswy", "ÂÊÎÔÛâêîôûĈĜĤĴŜŴŶĉĝĥĵŝŵŷ"),
        ('\u{303}', "ANOIUanoiu", "ÃÑÕĨŨãñõĩũ"),
        ('\u{304}', "AEIOUaeiou", "ĀĒĪŌŪāēīōū"),
        ('\u{306}', "AEGIOUaegiou", "ĂĔĞĬŎŬăĕğĭŏŭ"),
        ('\u{308}', "AEIOUYaeiouy", "ÄËÏÖÜŸäëïöüÿ"),
        ('\u{30a}', "AUau", "ÅŮåů"),
        ('\u{30b}', "OUou", "ŐŰőű"),
        ('\u{30c}', "CDENRSTZcdenrstz", "ČĎĚŇŘŠŤŽčďěňřšťž"),
        ('\u{327}', "CGKLNRSTcgklnrst", "ÇĢĶĻŅŖŞŢçģķļņŗşţ"),
    ];
    let (_, bases, letters) = ACCENTS.iter().find(|(a, _, _)| *a == accent)?;
    bases.chars().zip(letters.chars()).find(|(b, _)| *b == base).map(|(_, letter)| letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_are_joined() {
        assert_eq!(compose("e\u{301}te\u{301}"), "été");
        assert_eq!(compose("n\u{303}o"), "ño");
        assert_eq!(compose("日本"), "日本");
        assert_eq!(compose("\u{301}"), "\u{301}");
    }

    #[test]
    fn names_are_checked() {
        let mut found = Diagnostics::new();
        let names = ["é", "e\u{301}", "日本", "", "日本", "a\u{202e}b"].map(String::from);
        verify(&names, "f.csv", &mut found);
        let codes: Vec<&str> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["W0755", "E0754", "E0754", "E0754"]);
    }
}
