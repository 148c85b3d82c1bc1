//! The parser on whole programs.

use sbl::source::FileId;
use sbl::syntax::parse::parse;

#[test]
fn programs_of_the_language_description_parse() {
    for (name, text) in crate::syntax::programs() {
        let parsed = parse(FileId(0), &text);
        assert!(parsed.as_ref().is_ok_and(|p| p.warnings.is_empty()), "{name}: {parsed:#?}");
    }
}

/// Every program under `tests/programs`.
pub fn programs() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    programs.sort();
    assert!(programs.len() >= 3);
    programs
}
