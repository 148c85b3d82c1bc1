//! Diagnostics drawn: the label stands under what it means, whatever the source is.

use proptest::prelude::*;
use sbl::diag::render::{MOST, RenderOptions, render, to_json};
use sbl::diag::{Diagnostic, codes};
use sbl::source::{FileId, SourceMap, Span, lines};

const PLAIN: RenderOptions = RenderOptions { color: false, unicode: true };

/// The span of the first `what` in a file.
fn of(sources: &SourceMap, file: FileId, what: &str) -> Span {
    let at = sources.text(file).find(what).unwrap();
    Span::new(file, at, at + what.len())
}

fn one(text: &str) -> (SourceMap, FileId) {
    let mut sources = SourceMap::new();
    let file = sources.add("a.sbl", text);
    (sources, file)
}

/// The drawing of one diagnostic with the label `here` on the first `what`.
fn at(text: &str, what: &str) -> String {
    let (sources, file) = one(text);
    let diag = Diagnostic::error("E0201", "wrong").at(of(&sources, file, what), "here");
    render(&[diag], &sources, &PLAIN)
}

#[test]
fn labels_notes_and_help() {
    let (sources, file) = one("data α: real[N]\nlet β = α + γ  # end\n");
    let diag = Diagnostic::error("E0201", "unknown name `γ`")
        .at(of(&sources, file, "γ"), "not declared")
        .also(of(&sources, file, "α"), "the only data")
        .note("names are\ncase sensitive")
        .note("second")
        .help("did you mean `β`?");
    let expected = "\
error[E0201]: unknown name `γ`
   ╭─[ a.sbl:2:13 ]
   │
 1 │ data α: real[N]
   │      ┬
   │      ╰── the only data
 2 │ let β = α + γ  # end
   │             ┬
   │             ╰── not declared
───╯
  note: names are
        case sensitive
  note: second
  help: did you mean `β`?
";
    assert_eq!(render(std::slice::from_ref(&diag), &sources, &PLAIN), expected);
    let ascii = render(&[diag], &sources, &RenderOptions { color: false, unicode: false });
    assert!(ascii.lines().all(|l| !l.contains(['│', '╭', '┬', '╯'])), "{ascii}");
}

#[test]
fn a_label_after_a_wide_or_accented_character() {
    for (text, what) in
        [("let α = x", "x"), ("let e\u{301} = x", "x"), ("let 変 = x", "x"), ("# 👩‍👩‍👧 é\nlet x", "x")]
    {
        let drawn = at(text, what);
        let (code, mark) = drawn
            .lines()
            .skip_while(|l| !l.contains("let"))
            .take(2)
            .fold((None, None), |(a, b), l| if a.is_none() { (Some(l), b) } else { (a, Some(l)) });
        let column = |line: &str, end: char| -> usize {
            let before = line.split_once(end).unwrap().0;
            // as a terminal shows it: accents take no column, wide characters two
            before
                .chars()
                .map(|c| {
                    if c == '\u{301}' {
                        0
                    } else if c == '変' {
                        2
                    } else {
                        1
                    }
                })
                .sum()
        };
        assert_eq!(column(code.unwrap(), 'x'), column(mark.unwrap(), '┬'), "{drawn}");
    }
}

#[test]
fn line_ends() {
    for text in ["let a = 1\nlet b = zz\n", "let a = 1\r\nlet b = zz\r\n", "let a = 1\rlet b = zz\r"] {
        let expected = "\
error[E0201]: wrong
   ╭─[ a.sbl:2:9 ]
   │
 2 │ let b = zz
   │         ─┬
   │          ╰── here
───╯
";
        assert_eq!(at(text, "zz"), expected);
    }
    let split = |text: &str| lines(text).map(|r| text[r].to_owned()).collect::<Vec<_>>();
    assert_eq!(split("a\r\n\rb\n\n"), ["a", "", "b", "", ""]);
    assert_eq!(split(""), [""]);
}

#[test]
fn tabs() {
    let expected = "\
error[E0201]: wrong
   ╭─[ a.sbl:1:8 ]
   │
 1 │     let x   = 1
   │             ┬
   │             ╰── here
───╯
";
    assert_eq!(at("\tlet x\t= 1", "="), expected);
}

#[test]
fn a_very_long_line_is_seen_through_a_window() {
    let text = format!("let a = {}zeta{}\n", "1 + ".repeat(300_000), " + 2".repeat(300_000));
    let drawn = at(&text, "zeta");
    assert!(drawn.contains("a.sbl:1:1200009 ]"), "{drawn}");
    assert!(drawn.lines().all(|l| l.chars().count() < 200), "{drawn}");
    let rows: Vec<&str> = drawn.lines().collect();
    let byte = rows[3].find("zeta").unwrap();
    let columns = |s: &str| s.chars().count();
    assert_eq!(columns(&rows[3][..byte]) + 2, columns(rows[4].split_once('┬').unwrap().0), "{drawn}");
    assert!(rows[3].contains("│ …") && rows[3].ends_with('…'));
    // two labels farther apart than a window: both are there
    let (sources, file) = one(&text);
    let end = text.len() - 2;
    let both = Diagnostic::error("E0201", "wrong")
        .at(Span::new(file, end, end + 1), "far")
        .also(Span::new(file, 0, 3), "near");
    let drawn = render(&[both], &sources, &PLAIN);
    assert!(drawn.contains("far") && drawn.contains("near") && drawn.len() < 4000, "{drawn}");
}

#[test]
fn the_end_of_the_file() {
    let expected = "\
error[E0101]: found the end
   ╭─[ a.sbl:2:1 ]
   │
 2 │
   │ ┬
   │ ╰── expected `}`
───╯
";
    let (sources, file) = one("model m {\n");
    for (start, end) in [(10, 10), (10, 11), (999, 1000)] {
        let diag =
            Diagnostic::error("E0101", "found the end").at(Span::new(file, start, end), "expected `}`");
        assert_eq!(render(&[diag], &sources, &PLAIN), expected);
    }
    let (empty, file) = one("");
    let diag = Diagnostic::error("E0101", "found the end").at(Span::new(file, 0, 0), "expected a statement");
    assert!(render(&[diag], &empty, &PLAIN).contains("a.sbl:1:1"));
    // behind the last character of a line, and a line end alone
    let (sources, file) = one("let a =\nlet b = 2\n");
    let diag = Diagnostic::error("E0101", "x").at(Span::new(file, 7, 8), "expected an expression");
    assert!(render(&[diag], &sources, &PLAIN).contains(" 1 │ let a =\n   │        ┬\n"));
}

#[test]
fn several_files_and_several_lines() {
    let mut sources = SourceMap::new();
    let library = sources.add("<std>/kernels.sbl", "## é\r\nfn rbf(x) = x\r\nfn b() = 1\r\n");
    let model = sources.add("m.sbl", "let α = rbf(\n  x,\n  y)\n");
    let diag = Diagnostic::error("E0301", "shapes differ")
        .at(of(&sources, model, "rbf(\n  x,\n  y)"), "called here")
        .also(of(&sources, library, "b()"), "and there")
        .also(of(&sources, library, "rbf"), "declared here");
    let expected = "\
error[E0301]: shapes differ
   ╭─[ m.sbl:1:9 ]
   │
 1 │ ╭─▶ let α = rbf(
   ┆ ┆
 3 │ ├─▶   y)
   │ │
   │ ╰─────────── called here
   │
   ├─[ <std>/kernels.sbl:3:4 ]
   │
 2 │ fn rbf(x) = x
   │    ─┬─
   │     ╰─── declared here
 3 │ fn b() = 1
   │    ─┬─
   │     ╰─── and there
───╯
";
    assert_eq!(render(&[diag], &sources, &PLAIN), expected);
}

#[test]
fn no_source_no_snippet() {
    let diag = Diagnostic::warning("W0701", "3 rows have no target").help("they are predicted");
    let drawn = render(&[diag], &SourceMap::new(), &PLAIN);
    assert_eq!(drawn, "warning[W0701]: 3 rows have no target\n  help: they are predicted\n");
    // a place in a file that is not there is left out, the rest stays
    let lost = Diagnostic::error("E0201", "wrong").at(Span::new(FileId(7), 3, 4), "here");
    assert_eq!(render(&[lost], &SourceMap::new(), &PLAIN), "error[E0201]: wrong\n");
}

#[test]
fn many_are_counted() {
    let (sources, file) = one("let a = 1\n");
    let diag = Diagnostic::error("E0201", "wrong").at(of(&sources, file, "a"), "here");
    let drawn = render(&vec![diag; MOST + 900], &sources, &PLAIN);
    assert_eq!(drawn.matches("error[E0201]").count(), MOST);
    assert!(drawn.ends_with("\n… and 900 more\n"));
    assert_eq!(render(&[], &sources, &PLAIN), "");
}

#[test]
fn colours_only_on_request_and_no_tricks() {
    let (sources, file) = one("let a = \u{1b}[2J\u{202e}evil");
    let diag = Diagnostic::error("E0101", "stray \u{1b}[31m")
        .at(of(&sources, file, "evil"), "\u{7}here")
        .note("\u{8}");
    let plain = render(std::slice::from_ref(&diag), &sources, &PLAIN);
    assert!(
        !plain.contains(|c: char| c.is_control() && c != '\n') && !plain.contains('\u{202e}'),
        "{plain:?}"
    );
    let coloured = render(&[diag], &sources, &RenderOptions { color: true, unicode: true });
    assert!(coloured.starts_with("\u{1b}[1;31merror[E0101]\u{1b}[0m: stray"), "{coloured:?}");
}

#[test]
fn as_data() {
    let (sources, file) = one("data α: real\nlet β = γ\n");
    let diag = Diagnostic::error("E0201", "unknown name `γ`")
        .at(of(&sources, file, "γ"), "not declared")
        .also(of(&sources, file, "α"), "near")
        .note("a fact")
        .help("declare it");
    let data = Diagnostic::warning("W0701", "row 3 has no target");
    let expected = serde_json::json!([
        {
            "code": "E0201", "severity": "error", "message": "unknown name `γ`", "file": "a.sbl",
            "span": {"start": 23, "end": 25, "line": 2, "column": 9},
            "labels": [
                {"file": "a.sbl", "span": {"start": 23, "end": 25, "line": 2, "column": 9},
                 "text": "not declared", "primary": true},
                {"file": "a.sbl", "span": {"start": 5, "end": 7, "line": 1, "column": 6},
                 "text": "near", "primary": false},
            ],
            "notes": ["a fact"], "help": "declare it",
        },
        {
            "code": "W0701", "severity": "warning", "message": "row 3 has no target", "file": null,
            "span": null, "labels": [], "notes": [], "help": null,
        },
    ]);
    assert_eq!(to_json(&[diag, data], &sources), expected);
}

#[test]
fn codes_are_found_in_any_case() {
    for code in codes::CODES {
        assert_eq!(codes::find(&code.code.to_lowercase()).map(|c| c.code), Some(code.code));
    }
    assert!(codes::find("E9999").is_none());
}

proptest! {
    #![proptest_config(crate::syntax_properties::fixed(256))]

    /// Any text, any span: no panic, the message and every label are there.
    #[test]
    fn any_source_and_any_span(
        text in "(\\PC|[\t\r\n\u{b}\u{c}\u{85}\u{2028}éα]){0,60}",
        a in 0usize..200, b in 0usize..200, c in 0usize..200, d in 0usize..200,
    ) {
        let mut sources = SourceMap::new();
        let first = sources.add("a.sbl", &text);
        let second = sources.add("b.sbl", &text);
        let diag = Diagnostic::error("E0101", "wrong")
            .at(Span::new(first, a, b), "first")
            .also(Span::new(second, c, d), "second")
            .also(Span::new(first, d, a), "third");
        let drawn = render(&[diag], &sources, &PLAIN);
        for text in ["first", "second", "third", "a.sbl:", "b.sbl:"] {
            prop_assert!(drawn.contains(text), "{}", drawn);
        }
        let (line, _) = sources.line_column(first, a as u32);
        prop_assert!(line <= lines(&text).count());
    }
}
