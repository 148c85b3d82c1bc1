//! Properties of parser and formatter, on random trees and on texts nobody would write.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sbl::diag::Diagnostic;
use sbl::source::FileId;
use sbl::syntax::parse::{is_complete, parse, parse_expr, parse_infer, parse_statement};
use sbl::syntax::print::{format, print_ast, print_source, print_tokens};
use sbl::syntax::token::{classify, lex};

use crate::syntax::programs;
use crate::syntax_format::check_format;
use crate::syntax_trees::{module, shuffled};

const FILE: FileId = FileId(0);

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn printed_trees_parse_to_the_same_tree(module in module()) {
        let source = print_source(&module.0);
        let parsed = parse(FILE, &source);
        prop_assert!(parsed.is_ok(), "{}\n{:?}", source, parsed.err());
        prop_assert_eq!(print_ast(&parsed.unwrap().value), print_ast(&module.0), "{}", source);
        prop_assert_eq!(format(&source).unwrap(), source);
    }

    #[test]
    fn any_layout_of_a_program_formats_to_the_same_program(module in module(), choices in proptest::collection::vec(any::<u8>(), 1..80)) {
        let text = shuffled(&print_source(&module.0), &choices);
        check_format(&text)?;
    }

    #[test]
    fn any_text_is_read_without_panic(text in prop_oneof!["\\PC{0,60}", ".{0,60}", any::<Vec<u8>>().prop_map(|b| String::from_utf8_lossy(&b).into_owned())]) {
        check_any(&text)?;
    }

    #[test]
    fn damaged_programs_are_read_without_panic(which in any::<proptest::sample::Index>(), edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0..4u8, any::<char>()), 1..6)) {
        let programs = programs();
        let mut text: Vec<char> = programs[which.index(programs.len())].1.chars().collect();
        for (at, edit, c) in edits {
            if text.is_empty() {
                text.push(c);
            }
            let at = at.index(text.len());
            match edit {
                0 => { text.remove(at); }
                1 => text.insert(at, c),
                2 => text[at] = c,
                _ => text.truncate(at + 1),
            }
        }
        check_any(&text.into_iter().collect::<String>())?;
    }
}

/// One seed, so that a run repeats; `PROPTEST_RNG_SEED` looks elsewhere.
pub fn fixed(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let rng_seed = if default.rng_seed == RngSeed::Random { RngSeed::Fixed(1) } else { default.rng_seed };
    ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 2000, ..default }
}

/// Nothing is lost, and every place lies in the text.
fn check_any(text: &str) -> Result<(), TestCaseError> {
    let tokens = lex(text);
    prop_assert_eq!(tokens.iter().map(|t| t.text(text)).collect::<String>(), text);
    prop_assert_eq!(classify(text, &tokens).len(), tokens.len());
    prop_assert!(tokens.iter().all(|t| t.end > t.start));
    print_tokens(text);
    is_complete(text);
    let inside = |d: &Diagnostic| {
        let labels = d.primary.iter().chain(&d.secondary);
        labels.into_iter().all(|l| text.get(l.span.start as usize..l.span.end as usize).is_some())
    };
    match parse(FILE, text) {
        Ok(parsed) => {
            prop_assert!(parsed.warnings.iter().all(|d| !d.is_error() && inside(d)));
            prop_assert!(tokens.iter().all(|t| !t.kind.is_error()));
            check_format(text)?;
        }
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.is_error() && inside(&error), "{:?}", error);
                prop_assert!(sbl::diag::codes::find(error.code).is_some());
            }
        }
    }
    for errors in [parse_expr(FILE, text).err(), parse_statement(FILE, text).err(), parse_infer(text).err()] {
        prop_assert!(errors.is_none_or(|e| !e.is_empty() && e.iter().all(inside)));
    }
    Ok(())
}
