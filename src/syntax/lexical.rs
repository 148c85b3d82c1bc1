//! Errors that one token shows, whatever stands around it.

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};
use crate::syntax::token::{Token, TokenKind};

/// Every wrong token and every control character, in source order.
pub(crate) fn check_tokens(file: FileId, text: &str, tokens: &[Token]) -> Diagnostics {
    let mut errors = Vec::new();
    // The strange character reported last on this line; `'a'` is one slip, not two.
    let mut reported = None;
    for token in tokens {
        let written = token.text(text);
        let span = Span::new(file, token.start as usize, token.end as usize);
        match token.kind {
            TokenKind::Unknown => {
                let c = written.chars().next();
                if reported != c {
                    errors.push(unknown(file, *token, written));
                }
                reported = c;
            }
            TokenKind::Newline => reported = None,
            TokenKind::ForeignOperator => errors.push(foreign_operator(written, span)),
            TokenKind::ForeignComment => errors.push(
                Diagnostic::error("E0112", format!("found `{written}`, but a comment starts with `#`"))
                    .at(span, "not a comment here")
                    .help("write `#` and the comment to the end of the line"),
            ),
            TokenKind::BadNumber => errors.push(bad_number(written, span)),
            TokenKind::BadText => errors.push(bad_text(file, *token, written)),
            TokenKind::Comment | TokenKind::Doc | TokenKind::Text => {
                errors.extend(control(file, token.start as usize, written));
            }
            _ => {}
        }
    }
    errors
}

/// Whether a character must not stand anywhere, not even in a comment: it hides what the text says.
fn is_hidden(c: char) -> bool {
    let bidi =
        matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    bidi || c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

fn control(file: FileId, start: usize, written: &str) -> Option<Diagnostic> {
    let (at, c) = written.char_indices().find(|&(_, c)| is_hidden(c))?;
    Some(hidden(c, Span::new(file, start + at, start + at + c.len_utf8())))
}

fn hidden(c: char, span: Span) -> Diagnostic {
    let what =
        if c.is_control() { "control character" } else { "character that reverses the writing direction" };
    Diagnostic::error("E0102", format!("{what} U+{:04X}", u32::from(c)))
        .at(span, "invisible, and not allowed anywhere")
        .help("remove it")
}

fn unknown(file: FileId, token: Token, written: &str) -> Diagnostic {
    let start = token.start as usize;
    let c = written.chars().next().unwrap_or(' ');
    let span = Span::new(file, start, start + c.len_utf8());
    if is_hidden(c) {
        return hidden(c, span);
    }
    let error = if c.is_whitespace() || c == '\u{200B}' || c == '\u{FEFF}' {
        Diagnostic::error("E0102", format!("blank U+{:04X} that is not a plain one", u32::from(c)))
    } else {
        Diagnostic::error(
            "E0102",
            format!("found `{c}` (U+{:04X}), which is not part of the language", u32::from(c)),
        )
    };
    let error = error.at(span, "unexpected character");
    match look_alike(c) {
        Some(meant) => error.help(format!("write {meant}")),
        None => error.help("remove it; names are made of letters, digits and `_`"),
    }
}

/// What a writer meant by a character that looks like one of the language.
fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        '×' | '·' | '⋅' | '∗' | '∙' | '•' | '\u{387}' => {
            "`*` for a product (`.*` for one entry by entry)"
        }
        '⊙' | '∘' | '⊗' => "`.*` for a product entry by entry",
        '÷' | '∕' | '⁄' => "`/` for a quotient",
        '⊘' => "`./` for a quotient entry by entry",
        '−' | '–' | '—' | '‐' | '‑' | '‒' | '﹣' | '－' => "`-` for a minus",
        '＋' => "`+` for a sum",
        '∼' | '～' | '˜' | '∝' => "`~` for a distribution",
        '＝' | '≔' | '←' => "`=` with `let` in front",
        '→' => "`->`",
        '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '\'' | '`' | '＂' => {
            "strings in plain double quotes, `\"…\"`"
        }
        '，' | '、' => "`,`",
        '；' => "`;`",
        '：' => "`:`",
        '（' => "`(`",
        '）' => "`)`",
        '≤' | '≥' | '≠' | '≈' | '≡' => "no comparison: there are none in the language",
        '⁰' => "`^0` for a power",
        '¹' => "`^1` for a power",
        '²' => "`^2` for a power",
        '³' => "`^3` for a power",
        '₀'..='₉' => "a plain digit: `w0`, `w1`",
        '′' | 'ᵀ' => "a name of letters, digits and `_`",
        '√' => "`sqrt(…)`",
        '∑' => "`sum(…)`",
        '∈' => "`in`",
        '…' => "the statements out, or remove the dots",
        '\\' => "`/` for a quotient; a line that ends with an operator goes on without a sign",
        c if c.is_whitespace() || c == '\u{200B}' || c == '\u{FEFF}' => "a plain blank",
        _ => return None,
    })
}

fn foreign_operator(written: &str, span: Span) -> Diagnostic {
    let error = |code, message: String, label: &str| Diagnostic::error(code, message).at(span, label);
    match written {
        _ if written.starts_with("==") || matches!(written, "<=" | ">=" | "!=" | ">" | "<>") => {
            error("E0109", format!("found `{written}`, but there are no comparisons"), "no comparison here")
                .help(if written.starts_with("==") {
                    "write one `=` for a named argument or a `let`; `~` for a distribution"
                } else {
                    "a model states quantities, not conditions; prepare such a column in the data"
                })
        }
        ":=" => error("E0108", "found `:=`, expected `=` or `~`".to_owned(), "not a sign of the language")
            .help("write `let y = …` for a value, `y ~ …` for a distribution"),
        "**" => error("E0109", "found `**`, expected `^`".to_owned(), "not an operator here")
            .help("write `^` for a power"),
        ".^" => error("E0109", "found `.^`, expected `^`".to_owned(), "not an operator here")
            .help("write `^`: a power is taken entry by entry"),
        "+=" | "-=" | "*=" | "/=" => {
            error("E0109", format!("found `{written}`, but nothing is reassigned"), "not an operator here")
                .help("every name is defined once; give the new value a new name with `let`")
        }
        "|" => error("E0109", "found `|`, which is not an operator".to_owned(), "not an operator here")
            .help("dependence is read from the right side: `t ~ Normal(phi * w, precision = tau)`"),
        "::" | ".." | "..." => {
            error("E0109", format!("found `{written}`, which is not an operator"), "not an operator here")
                .help("names of a path are joined by one `.`, a type follows one `:`")
        }
        "=>" => error("E0109", "found `=>`, expected `->`".to_owned(), "not an operator here")
            .help("write `->` before the type of a result"),
        _ => error("E0109", format!("found `{written}`, which is not an operator"), "not an operator here")
            .help("the operators are `+ - * / .* ./ ^`"),
    }
}

fn bad_number(written: &str, span: Span) -> Diagnostic {
    if written.starts_with('.') {
        return Diagnostic::error(
            "E0105",
            format!("found `{written}`, expected a digit before the decimal point"),
        )
        .at(span, "a number starts with a digit")
        .help(format!("write `0{written}`"));
    }
    if let Some(number) = written.strip_suffix('.') {
        return Diagnostic::error(
            "E0105",
            format!("found `{written}`, expected a digit after the decimal point"),
        )
        .at(span, "the point ends the number")
        .help(format!("write `{number}.0` or `{number}`"));
    }
    let digits = written.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(written.len());
    let (number, rest) = written.split_at(digits);
    let error = Diagnostic::error("E0105", format!("found `{written}`, expected a number or a name"))
        .at(span, "a number runs into letters");
    match rest {
        _ if rest.starts_with('_') && rest.chars().all(|c| c == '_' || c.is_ascii_digit()) => {
            error.help(format!("write `{number}{}`", rest.replace('_', "")))
        }
        "e" | "E" => error.help(format!("write the exponent, `{number}e-6`")),
        _ => error.help(format!("write `{number} * {rest}` for a product; a name starts with a letter")),
    }
}

fn bad_text(file: FileId, token: Token, written: &str) -> Diagnostic {
    let start = token.start as usize;
    let mut chars = written.char_indices().skip(1);
    let mut wrong_escape = None;
    let mut closed = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => closed = true,
            '\\' => match chars.next() {
                Some((_, '"' | '\\')) | None => {}
                Some((_, c)) => {
                    wrong_escape.get_or_insert((at, c));
                }
            },
            _ => {}
        }
    }
    match wrong_escape {
        Some((at, c)) if closed => Diagnostic::error("E0104", format!("found `\\{c}` in a string"))
            .at(Span::new(file, start + at, start + at + 1 + c.len_utf8()), "not an escape")
            .note("the escapes are `\\\"` and `\\\\`")
            .help(format!("write `\\\\{c}` for a backslash; in a path write `/`")),
        _ => Diagnostic::error("E0104", "found the end of the line, expected `\"`")
            .at(Span::new(file, start, token.end as usize), "this string is not closed")
            .help("close it with `\"` on the same line"),
    }
}
