//! Relaxed JSON, as it is typed at a prompt: keys without quotes, single quotes, a comma at the end.

/// The same as JSON; what cannot be helped is left for the parser to complain about.
pub fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    while let Some(&c) = chars.get(i) {
        match c {
            '"' | '\'' => i = string(&chars, i, &mut out),
            c if c.is_alphabetic() || c == '_' => {
                let end = (i..chars.len()).find(|&j| !is_word(chars[j])).unwrap_or(chars.len());
                let word: String = chars[i..end].iter().collect();
                let key = chars[end..].iter().find(|c| !c.is_whitespace()) == Some(&':');
                match word.as_str() {
                    "true" | "false" | "null" if !key => out.push_str(&word),
                    "NA" if !key => out.push_str("null"),
                    _ => out.push_str(&serde_json::Value::from(word).to_string()),
                }
                i = end;
            }
            // an exponent belongs to its number
            c if c.is_ascii_digit() => {
                let end = (i..chars.len()).find(|&j| !is_number(&chars, j)).unwrap_or(chars.len());
                out.extend(&chars[i..end]);
                i = end;
            }
            // JSON has no number that begins with a point
            '.' if chars.get(i + 1).is_some_and(char::is_ascii_digit) => {
                out.push_str("0.");
                i += 1;
            }
            ',' if matches!(chars[i + 1..].iter().find(|c| !c.is_whitespace()), Some(']' | '}')) => i += 1,
            c => {
                out.push(c);
                i += 1;
            }
        }
    }
    out
}

/// A string in either kind of quotes from `start`; returns the place behind it.
fn string(chars: &[char], start: usize, out: &mut String) -> usize {
    let quote = chars[start];
    let mut i = start + 1;
    out.push('"');
    while let Some(&c) = chars.get(i) {
        i += 1;
        match c {
            c if c == quote => {
                out.push('"');
                return i;
            }
            '\\' => {
                let next = chars.get(i).copied();
                i += 1;
                match next {
                    Some('\'') => out.push('\''),
                    Some(c) => out.extend(['\\', c]),
                    None => out.push('\\'),
                }
            }
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    i
}

/// Column names may have points inside: `x.1`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

fn is_number(chars: &[char], j: usize) -> bool {
    let c = chars[j];
    let sign = matches!(c, '+' | '-') && j > 0 && matches!(chars[j - 1], 'e' | 'E');
    c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || sign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_becomes_json() {
        for (typed, json) in [
            ("{x: [1, 2.5, -3e-2]}", r#"{"x": [1, 2.5, -3e-2]}"#),
            (
                "{x: [[1, 2], [3, 4]], g: [a, 'b c', \"d\"]}",
                r#"{"x": [[1, 2], [3, 4]], "g": ["a", "b c", "d"]}"#,
            ),
            ("{x.1: [.5, -.5,],}", r#"{"x.1": [0.5, -0.5]}"#),
            ("{t: [true, null, NA, NaN]}", r#"{"t": [true, null, null, "NaN"]}"#),
            ("{null: [1]}", r#"{"null": [1]}"#),
            ("{α: ['it\\'s \"x\"']}", r#"{"α": ["it's \"x\""]}"#),
        ] {
            assert_eq!(strict(typed), json);
            assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "{json}");
        }
    }

    #[test]
    fn anything_at_all_ends() {
        for text in
            ["", "{", "'", "\\", "\"\\", "{x: 1e", "{x: [1,, 2]}", "{1: 2}", "}{", "{'\\", "..", "1.2.3e+-4"]
        {
            let _ = strict(text);
        }
    }
}
