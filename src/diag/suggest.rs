//! The closest known name, for "did you mean".

/// Longer names are never compared: nobody mistypes them by hand.
const LONGEST: usize = 64;

/// The known name that `name` was most likely meant to be, if any is close enough.
///
/// Closeness is the number of edits (insert, delete, replace, swap two neighbours), upper and lower
/// case counting as the same letter. One edit is allowed for up to five letters and one more for
/// every three beyond. A name of one letter matches only its other case. Ties go to the name with
/// the right case, then to the earlier one. `name` itself is never proposed.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let exact: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if exact.is_empty() || exact.len() > LONGEST {
        return None;
    }
    let folded = fold(&exact);
    let allowed = if exact.len() == 1 { 0 } else { exact.len().max(3) / 3 };
    let mut best: Option<((usize, usize), &str)> = None;
    for candidate in known {
        let other: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
        if other.len() > LONGEST || candidate == name || other.len().abs_diff(exact.len()) > allowed + 2 {
            continue;
        }
        let distance = edits(&folded, &fold(&other));
        if distance > allowed {
            continue;
        }
        let key = (distance, edits(&exact, &other));
        if best.is_none_or(|(k, _)| key < k) {
            best = Some((key, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(word: &[char]) -> Vec<char> {
    word.iter().flat_map(|c| c.to_lowercase()).collect()
}

/// Optimal string alignment distance: Levenshtein with swaps of neighbours (Boytsov 2011).
fn edits(a: &[char], b: &[char]) -> usize {
    // three rows of the usual table: i − 2, i − 1, i
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 7] = ["Normal", "StudentT", "Gamma", "precision", "centres", "w", "mu"];

    #[test]
    fn slips_are_recognised() {
        for (typed, meant) in [
            ("Nromal", "Normal"),
            ("normal", "Normal"),
            ("Gama", "Gamma"),
            ("precsion", "precision"),
            ("percision", "precision"),
            ("centers", "centres"),
            ("Studentt", "StudentT"),
            ("W", "w"),
            ("nu", "mu"),
        ] {
            assert_eq!(closest(typed, KNOWN), Some(meant), "{typed}");
        }
    }

    #[test]
    fn strangers_are_not() {
        for typed in ["", "x", "v", "tau", "Cauchy", "Normal", "deviation", &"n".repeat(100_000)] {
            assert_eq!(closest(typed, KNOWN), None, "{typed:.20}");
        }
    }

    #[test]
    fn ties_go_to_case_then_order() {
        assert_eq!(closest("phi1", ["phi2", "phi3"]), Some("phi2"));
        assert_eq!(closest("Phi1", ["phi2", "Phi2"]), Some("Phi2"));
        assert_eq!(closest("αβ", ["βα", "αγ"]), Some("βα"));
    }

    #[test]
    fn distance_is_that_of_the_definition() {
        let chars = |s: &str| s.chars().collect::<Vec<_>>();
        for (a, b, d) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ca", "abc", 3), ("ab", "ba", 1)]
        {
            assert_eq!(edits(&chars(a), &chars(b)), d, "{a} {b}");
            assert_eq!(edits(&chars(b), &chars(a)), d, "{b} {a}");
        }
    }
}
