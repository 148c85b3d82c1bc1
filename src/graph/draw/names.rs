//! Names as a textbook sets them: Greek letters by name, what follows a dot or a number as an index.

use crate::scene::text;

/// A piece of a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// What it says.
    pub text: String,
    /// Its size, as a share of that of the name.
    pub scale: f64,
    /// How far it stands below the line, as a share of the size.
    pub drop: f64,
    /// Upright (numbers, words) or slanted (variables).
    pub upright: bool,
}

/// The name of a node: `w.alpha` is α with the index w, `beta` is β, `x1` is x with the index 1.
pub fn name(name: &str) -> Vec<Run> {
    let (base, index) = match name.split_once('.') {
        // the inner node of a prior belongs to what it was spliced into
        Some((outer, inner)) => (inner, Some(outer.to_owned())),
        None => {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let (stem, digits) = name.split_at(stem.len());
            match stem.split_once('_') {
                Some((base, rest)) if !base.is_empty() && !rest.is_empty() && digits.is_empty() => {
                    (base, Some(rest.to_owned()))
                }
                _ if !digits.is_empty() && !stem.is_empty() && !stem.ends_with('_') => {
                    (stem, Some(digits.to_owned()))
                }
                _ => (name, None),
            }
        }
    };
    let mut runs = vec![variable(base)];
    if let Some(index) = index {
        let scale = 0.78;
        let text = index.split('.').map(letter).collect::<Vec<_>>().join(".");
        let upright = text.chars().all(|c| c.is_ascii_digit());
        runs.push(Run { text, scale, drop: 0.26, upright });
    }
    runs
}

/// An argument at a dot: `shape = 0` in words, for the argument is no variable.
pub fn argument(label: &str) -> Vec<Run> {
    match label.split_once(" = ") {
        Some((argument, value)) => vec![upright(&format!("{argument} = {value}"))],
        None => name(label),
    }
}

/// The index of a plate and the set it runs over: `n in N` is n = 1, …, N.
pub fn plate(label: &str) -> Vec<Run> {
    match label.split_once(" in ") {
        Some((index, set)) if is_name(set) => {
            let mut runs = name(index);
            runs.push(upright(" = 1, …, "));
            runs.extend(name(set));
            runs
        }
        Some((index, set)) => {
            let mut runs = name(index);
            runs.push(upright(&format!(" in {set}")));
            runs
        }
        None if is_name(label) => name(label),
        None => vec![upright(label)],
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Width of runs side by side, in pixels.
pub fn width(runs: &[Run], size: f64) -> f64 {
    // a serif is a little narrower than the sans serif that is measured
    runs.iter().map(|r| 0.94 * text::width(&r.text, size * r.scale)).sum()
}

fn variable(name: &str) -> Run {
    Run { text: letter(name), scale: 1.0, drop: 0.0, upright: false }
}

fn upright(text: &str) -> Run {
    Run { text: text.to_owned(), scale: 1.0, drop: 0.0, upright: true }
}

/// The Greek letter of that name, or the name.
fn letter(name: &str) -> String {
    super::escape::letter_named(name).map_or_else(|| name.to_owned(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(runs: &[Run]) -> String {
        runs.iter().map(|r| if r.drop > 0.0 { format!("_{}", r.text) } else { r.text.clone() }).collect()
    }

    #[test]
    fn names_as_in_a_textbook() {
        for (given, expected) in [
            ("w.alpha", "α_w"),
            ("tau", "τ"),
            ("x1", "x_1"),
            ("w_raw", "w_raw"),
            ("_1", "_1"),
            ("score", "score"),
            ("phi", "φ"),
            ("a.b.c", "b.c_a"),
        ] {
            assert_eq!(text(&name(given)), expected);
        }
        assert_eq!(text(&plate("n in N")), "n = 1, …, N");
        assert_eq!(text(&plate("N")), "N");
        assert_eq!(text(&plate("m in cols(phi)")), "m in cols(phi)");
        assert_eq!(text(&argument("shape = 0")), "shape = 0");
    }
}
