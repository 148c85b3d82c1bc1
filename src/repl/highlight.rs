//! A line at the prompt in colours: the tokens of the language, and commands.

use anstyle::Style;
use sbl::syntax::token::{classify, lex};

use crate::cli::palette;

/// The line with colours; its text is the same.
pub fn highlight(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    if line[indent..].starts_with(':') {
        let end = line[indent..].find(char::is_whitespace).map_or(line.len(), |i| indent + i);
        return format!("{}{}{}", &line[..indent], paint(&line[indent..end], palette::KEYWORD), &line[end..]);
    }
    let tokens = lex(line);
    let classes = classify(line, &tokens);
    tokens.iter().zip(classes).map(|(token, class)| paint(token.text(line), palette::of(class))).collect()
}

/// A text in a style.
pub fn paint(text: &str, style: Style) -> String {
    if style == Style::new() || text.is_empty() { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without escape sequences.
    fn plain(text: &str) -> String {
        let mut out = String::new();
        let mut inside = false;
        for c in text.chars() {
            match c {
                '\u{1b}' => inside = true,
                'm' if inside => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out
    }

    #[test]
    fn the_text_stays() {
        for line in [
            "let phi = [1, rbf(x, width = 3.0)]  # design",
            ":fit evidence(updates = em)",
            "  :q",
            "α ~ Normal(\"x\", 2x) == ?",
            "",
            "\"open",
        ] {
            assert_eq!(plain(&highlight(line)), line);
        }
    }

    #[test]
    fn words_of_a_kind_look_alike() {
        let line = highlight("let a = 2");
        assert_eq!(line, format!("{} a = {}", paint("let", palette::KEYWORD), paint("2", palette::NUMBER)));
        assert_eq!(highlight(":fit x"), format!("{} x", paint(":fit", palette::KEYWORD)));
        assert!(highlight("1 == 2").contains(&paint("==", palette::ERROR)));
    }
}
