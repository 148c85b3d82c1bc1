//! The three views of a text agree: pest's spans, the tokens, and the pieces.

use pest::Parser;
use pest::iterators::Pair;
use proptest::prelude::*;

use crate::source::FileId;
use crate::syntax::ast::Item;
use crate::syntax::build::Builder;
use crate::syntax::comments::Docs;
use crate::syntax::grammar::{Grammar, Rule};
use crate::syntax::outline::outline;
use crate::syntax::parse::parse;
use crate::syntax::recover::recover;
use crate::syntax::token::{KEYWORDS, TokenKind, lex};

/// Every program of the repository.
fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for folder in ["tests/programs", "stdlib", "examples"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "sbl") {
                let text = std::fs::read_to_string(&path).unwrap();
                // The same with other line ends.
                for (name, end) in [("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r")] {
                    programs.push((format!("{} {name}", path.display()), text.replace('\n', end)));
                }
            }
        }
    }
    assert!(programs.len() >= 12);
    programs
}

fn pieces(text: &str) -> (Vec<Item>, usize) {
    let tokens = lex(text);
    let outline = outline(FileId(0), text, &tokens);
    let solid: Vec<_> =
        tokens.iter().filter(|t| !t.kind.is_trivia() && t.kind != TokenKind::Newline).copied().collect();
    let mut builder = Builder::new(FileId(0), &solid, Docs::collect(text, &tokens));
    let items = recover(text, &outline, &mut builder);
    (items, builder.errors.len() + outline.errors.len())
}

#[test]
fn whole_files_and_pieces_give_the_same_tree() {
    for (name, text) in programs() {
        let whole = parse(FileId(0), &text).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
        let (items, errors) = pieces(&text);
        assert_eq!(errors, 0, "{name}");
        assert_eq!(whole.value.items, items, "{name}");
    }
}

#[test]
fn leaves_of_the_grammar_are_made_of_whole_tokens() {
    for (name, text) in programs() {
        let tokens = lex(&text);
        assert!(
            tokens.iter().all(|t| !t.kind.is_error()),
            "{name}: {:?}",
            tokens.iter().find(|t| t.kind.is_error())
        );
        let starts: Vec<usize> = tokens.iter().map(|t| t.start as usize).chain([text.len()]).collect();
        let mut rest: Vec<Pair<'_, Rule>> = Grammar::parse(Rule::file, &text).unwrap().collect();
        while let Some(pair) = rest.pop() {
            let (rule, span) = (pair.as_rule(), pair.as_span());
            for at in [span.start(), span.end()] {
                assert!(
                    starts.binary_search(&at).is_ok(),
                    "{name}: {rule:?} {:?} cuts a token",
                    span.as_str()
                );
            }
            let inner: Vec<_> = pair.into_inner().collect();
            // `-1` is two tokens and one level.
            if inner.is_empty()
                && !matches!(rule, Rule::EOI | Rule::integer)
                && !span.as_str().trim().is_empty()
            {
                let inside = starts.iter().filter(|&&s| s >= span.start() && s < span.end()).count();
                let blocks = ["{", "("].contains(&&span.as_str()[..1]);
                assert!(inside == 1 || blocks, "{name}: {rule:?} {:?} is {inside} tokens", span.as_str());
            }
            rest.extend(inner);
        }
    }
}

#[test]
fn reserved_words_of_grammar_and_tokens_are_the_same() {
    let grammar = include_str!("../../grammar/sbl.pest");
    let rule = grammar.split("\nreserved = ").nth(1).unwrap().split('~').next().unwrap();
    let mut words: Vec<&str> = rule.split('"').skip(1).step_by(2).collect();
    words.sort_unstable();
    assert_eq!(words, KEYWORDS);
    for word in KEYWORDS {
        assert!(Grammar::parse(Rule::ident, word).is_err());
        assert_eq!(lex(word)[0].kind, TokenKind::Keyword);
    }
}

/// Small programs in every spelling of blanks, brackets and signs.
fn soup() -> impl Strategy<Value = String> {
    let parts: Vec<&'static str> = vec![
        "data ",
        "let ",
        "param ",
        "plate ",
        "infer ",
        "model ",
        "prior ",
        "fn ",
        "use ",
        "return ",
        " in ",
        " from ",
        "x",
        "y",
        "Normal",
        "real",
        "N",
        "1",
        "2.5",
        "-1",
        "\"a\"",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{a < b}",
        "()",
        ",",
        ":",
        "=",
        "~",
        "+",
        "-",
        "*",
        "^",
        ".*",
        "->",
        ".",
        "_",
        "\n",
        "\n",
        ";",
        " ",
        " ",
        "# c\n",
        "## d\n",
        " weight ",
        "x = 1",
        "x ~ Flat()",
        "let x = 1\n",
        "data x: real[N]\n",
    ];
    proptest::collection::vec(proptest::sample::select(parts), 0..24).prop_map(|parts| parts.concat())
}

/// Programs of the repository with up to three tokens removed, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let programs: Vec<String> = programs().into_iter().map(|(_, text)| text).collect();
    let edits = proptest::collection::vec((any::<proptest::sample::Index>(), 0..3u8, soup()), 0..4);
    (proptest::sample::select(programs), edits).prop_map(|(program, edits)| {
        let mut parts: Vec<String> = lex(&program).iter().map(|t| t.text(&program).to_owned()).collect();
        for (at, edit, soup) in edits {
            let at = at.index(parts.len());
            match edit {
                0 => parts[at].clear(),
                1 => parts.insert(at, parts[at].clone()),
                _ => parts[at] = lex(&soup).first().map_or(String::new(), |t| t.text(&soup).to_owned()),
            }
        }
        parts.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// What pest accepts as a whole, the pieces accept, with the same tree; what it refuses, they refuse.
    #[test]
    fn pieces_accept_what_the_whole_accepts(text in soup()) {
        agree(&text)?;
    }

    #[test]
    fn pieces_accept_what_the_whole_accepts_in_real_programs(text in mutated()) {
        agree(&text)?;
    }
}

fn agree(text: &str) -> Result<(), TestCaseError> {
    let text = text.to_owned();
    let whole = Grammar::parse(Rule::file, &text).is_ok();
    let (items, errors) = pieces(&text);
    match parse(FileId(0), &text) {
        Ok(parsed) => {
            prop_assert!(whole);
            prop_assert_eq!(errors, 0);
            prop_assert_eq!(parsed.value.items, items);
        }
        Err(diagnostics) => {
            let lexical = lex(&text).iter().any(|t| t.kind.is_error());
            prop_assert!(whole || lexical || errors > 0, "only the whole is refused: {:?}", diagnostics);
            // Some things only the tree shows, such as statements beside models.
            prop_assert!(
                !whole || diagnostics.iter().all(|d| matches!(d.code, "E0115" | "E0105")),
                "{:?}",
                diagnostics
            );
        }
    }
    if whole {
        prop_assert!(lex(&text).iter().all(|t| !t.kind.is_error()));
    }
    Ok(())
}
