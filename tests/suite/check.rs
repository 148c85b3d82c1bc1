//! Whole programs through the checker.

use sbl::check::{self, NoFiles, Options, typed::Model};
use sbl::diag::{Diagnostic, Diagnostics};
use sbl::source::SourceMap;
use sbl::syntax::parse::parse;

/// Parses and checks a text.
pub fn check_text(text: &str) -> Result<(Vec<Model>, Diagnostics, SourceMap), (Diagnostics, SourceMap)> {
    check_with(text, &Options::default())
}

/// Parses and checks a text with overrides.
pub fn check_with(
    text: &str,
    options: &Options,
) -> Result<(Vec<Model>, Diagnostics, SourceMap), (Diagnostics, SourceMap)> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.sbl", text);
    let module = match parse(file, text) {
        Ok(m) => m.value,
        Err(d) => return Err((d, sources)),
    };
    match check::check(&mut sources, &module, options, &NoFiles) {
        Ok(w) => Ok((w.value, w.warnings, sources)),
        Err(d) => Err((d, sources)),
    }
}

/// The typed models as text; panics with the diagnostics.
pub fn typed(text: &str) -> String {
    match check_text(text) {
        Ok((models, _, _)) => models.iter().map(check::print_typed).collect::<Vec<_>>().join("\n"),
        Err((d, sources)) => panic!("{}\n{text}", shown(&d, &sources)),
    }
}

/// Diagnostics in short: line, code, message, help.
pub fn shown(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let line = |d: &Diagnostic| {
        let at = d.primary.as_ref().map(|l| l.span);
        let place = at.map_or_else(String::new, |s| {
            let (line, column) = sources.line_column(s.file, s.start);
            format!("{}:{line}:{column}", sources.name(s.file))
        });
        let notes: String = d.notes.iter().map(|n| format!("\n    note: {n}")).collect();
        let also: String = d
            .secondary
            .iter()
            .map(|l| format!("\n    also {:?}: {}", sources.slice(l.span), l.text))
            .collect();
        let primary = at.map_or_else(String::new, |s| format!("\n    at {:?}", sources.slice(s)));
        format!(
            "{} {place} {}{primary}{also}{notes}\n    help: {}",
            d.code,
            d.message,
            d.help.as_deref().unwrap_or("-")
        )
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_of_the_language_page() {
    for name in ["sinc", "sinc_plates", "worked"] {
        let path = format!("{}/tests/programs/{name}.sbl", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        println!("{}", typed(&text));
        let (_, warnings, sources) = check_text(&text).unwrap_or_else(|_| unreachable!());
        println!("{}", shown(&warnings, &sources));
        assert!(warnings.is_empty());
    }
}

#[test]
fn examples_check() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut wrong = Vec::new();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "sbl")) {
        let text = std::fs::read_to_string(path).unwrap();
        match check_text(&text) {
            Ok((_, warnings, sources)) if !warnings.is_empty() => {
                wrong.push(format!("{path:?}\n{}", shown(&warnings, &sources)))
            }
            Ok(_) => {}
            Err((d, sources)) => wrong.push(format!("{path:?}\n{}", shown(&d, &sources))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn family_examples_check() {
    for family in sbl::dist::FAMILIES {
        typed(family.example);
    }
}

#[test]
fn library_checks_by_itself() {
    let found = check::verify_library();
    let text: Vec<String> =
        found.iter().map(|d| format!("{} {} {:?}", d.code, d.message, d.secondary)).collect();
    assert!(text.is_empty(), "{}", text.join("\n"));
}

#[test]
fn library_examples_check() {
    for item in check::library() {
        let name = &item.name;
        assert!(item.doc.contains("Source: "), "{name} has no source");
        let (_, example) =
            item.doc.split_once("Example:\n").unwrap_or_else(|| panic!("{name} has no example"));
        let program: String = example.lines().map(|l| format!("{}\n", l.trim())).collect();
        assert!(program.contains(&format!("use {}.{name}", item.module)), "{name}: {program}");
        let (_, warnings, sources) =
            check_text(&program).unwrap_or_else(|(d, sources)| panic!("{}\n{program}", shown(&d, &sources)));
        assert!(warnings.is_empty(), "{}\n{program}", shown(&warnings, &sources));
    }
}

/// A wrong program, its code, the line, a part of the message, a part of the help.
pub type Wrong = (&'static str, &'static str, usize, &'static str, &'static str);

/// Checks that each program has exactly that error.
pub fn verify_table(table: &[Wrong]) {
    let mut bad = Vec::new();
    for (program, code, line, message, help) in table {
        let (found, sources) = match check_text(program) {
            Ok((_, warnings, sources)) => (warnings, sources),
            Err(found) => found,
        };
        if std::env::var("SBL_SHOW").is_ok() {
            println!("----\n{program}\n{}", shown(&found, &sources));
        }
        let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.is_error()).collect();
        let fine = match errors.as_slice() {
            [d] => {
                let at = d.primary.as_ref().map_or(0, |l| sources.line_column(l.span.file, l.span.start).0);
                d.code == *code
                    && at == *line
                    && d.message.contains(message)
                    && d.help.as_deref().unwrap_or("").contains(help)
                    && !d.message.ends_with('.')
            }
            _ => false,
        };
        if !fine {
            bad.push(format!(
                "{program}\nexpected {code} line {line} {message:?} {help:?}\n{}",
                shown(&found, &sources)
            ));
        }
    }
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), table.len(), bad.join("\n\n"));
}
