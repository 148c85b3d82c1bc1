//! What a text at the prompt is: nothing, a command, a statement or an expression; and whether it is whole.

use sbl::syntax::is_complete as is_whole_program;
use sbl::syntax::token::{Token, TokenKind, lex};

use super::command;

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Blanks and comments.
    Nothing,
    /// `:fit`
    Command,
    /// `let a = 2`, `w ~ ard(3)`
    Statement,
    /// `mean(w)`
    Expression,
}

/// What a text is.
pub fn kind(text: &str) -> Kind {
    if text.trim_start().starts_with(':') {
        return Kind::Command;
    }
    let tokens: Vec<Token> = solid(text);
    let Some(first) = tokens.first() else { return Kind::Nothing };
    if first.kind == TokenKind::Keyword {
        return Kind::Statement;
    }
    let mut depth = 0_usize;
    for token in &tokens {
        match token.kind {
            kind if kind.is_open() => depth += 1,
            kind if kind.is_close() => depth = depth.saturating_sub(1),
            TokenKind::Tilde | TokenKind::Equals if depth == 0 => return Kind::Statement,
            _ => {}
        }
    }
    Kind::Expression
}

/// Whether a text can be taken as it is: brackets are closed, and nothing must follow.
pub fn is_complete(text: &str) -> bool {
    if let Some(rest) = text.trim_start().strip_prefix(':') {
        return !command::of(rest).is_some_and(|(c, _)| c.spans_lines) || !has_open_bracket(rest);
    }
    // documentation stands before what it documents
    let only_doc = solid(text).is_empty() && lex(text).iter().any(|t| t.kind == TokenKind::Doc);
    !only_doc && is_whole_program(text)
}

/// The entries of a text of several lines, statements that follow each other as one: their order does
/// not matter.
pub fn entries(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        if !open.is_empty() {
            open.push('\n');
        }
        open.push_str(line);
        if is_complete(&open) {
            let entry = std::mem::take(&mut open);
            match all.last_mut() {
                Some(last) if kind(last) == Kind::Statement && kind(&entry) == Kind::Statement => {
                    last.push('\n');
                    last.push_str(&entry);
                }
                _ if kind(&entry) == Kind::Nothing => {}
                _ => all.push(entry),
            }
        }
    }
    if !open.trim().is_empty() {
        all.push(open);
    }
    all
}

/// Whether a bracket of relaxed JSON is open at the end.
fn has_open_bracket(text: &str) -> bool {
    let mut depth = 0_i64;
    let mut quoted = false;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

fn solid(text: &str) -> Vec<Token> {
    lex(text).into_iter().filter(|t| !t.kind.is_trivia() && t.kind != TokenKind::Newline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for (text, expected) in [
            ("", Kind::Nothing),
            ("  # remark", Kind::Nothing),
            (":fit", Kind::Command),
            ("  :fit", Kind::Command),
            ("data x: real[N]", Kind::Statement),
            ("w[m] ~ Normal(0, sd = 1)", Kind::Statement),
            ("a = 3", Kind::Statement),
            ("1 + 2", Kind::Expression),
            ("rbf(x, width = 3)", Kind::Expression),
            ("?", Kind::Expression),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn completeness() {
        for text in [
            "",
            "1 + 2",
            "let a = [1, 2]",
            ":predict {x: [1]}",
            ":load a(b.sbl",
            "f(]",
            "1 == 2",
            "# (",
            ":predict {x: [\"[\"]}",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in
            ["let a =", "plate n in N {", "f(1,", "1 +", ":predict {x: [1,", "## of w", ":predict {x: [\"]\""]
        {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn a_pasted_text_is_taken_apart() {
        let text = "data x: real[N]\n\nlet a = [1,\n  2]\nmean(a)\n# remark\n:fit\n## of b\nlet b = 1\n1 +";
        assert_eq!(
            entries(text),
            ["data x: real[N]\nlet a = [1,\n  2]", "mean(a)", ":fit", "## of b\nlet b = 1", "1 +"]
        );
        assert!(entries("\n \n#\n").is_empty());
    }
}
