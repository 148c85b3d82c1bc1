//! Pages that are generated from the code are current. `UPDATE_DOCS=1 cargo test` writes them.

use sbl::Compiler;
use sbl::diag::codes::CODES;

fn assert_current(file: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == text, "{file} is not what the code says: run UPDATE_DOCS=1 cargo test");
}

#[test]
fn the_reference() {
    let pages = sbl::help::reference();
    for page in &pages {
        assert_current(&format!("docs/reference/{}", page.file), &page.text);
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(pages.iter().any(|p| p.file == name), "docs/reference/{name} is made by nothing");
    }
}

/// The first program on the page of a code raises it.
#[test]
fn diagnostics_pages_show_what_they_explain() {
    // what takes thousands of lines, what a query, `--set` or `sbl check` raises, and what no program reaches
    // because an earlier stage finds it
    let no_program = ["E0113", "E0114", "E0199", "E0551", "E0550", "E0605", "E0212", "W0601"];
    let mut problems = Vec::new();
    // codes 07 and 08 need data
    let compiled = |code: &str| &code[1..3] <= "06" && !no_program.contains(&code);
    for code in CODES.iter().filter(|c| compiled(c.code)) {
        let Some(program) = code.page.split("\n```sbl\n").nth(1).and_then(|rest| rest.split("```").next())
        else {
            continue;
        };
        let found = raised(program);
        if !found.iter().any(|c| c == code.code) {
            problems.push(format!("{}: its program raises {found:?}", code.code));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The last program on the page of a code that a program raises is the first one repaired: it raises nothing, and
/// has a plan. Other pages say in words what to do.
#[test]
fn diagnostics_pages_end_with_the_repaired_program() {
    let mut problems = Vec::new();
    for code in CODES {
        let programs: Vec<&str> = code.page.split("\n```sbl\n").skip(1).collect();
        let repaired = programs.last().and_then(|rest| rest.split("```").next());
        match (programs.len(), repaired) {
            (2.., Some(program)) => {
                let found = raised(program);
                if !found.is_empty() {
                    problems.push(format!("{}: its last program raises {found:?}", code.code));
                }
            }
            _ if code.page.contains("**Fix.**") => {}
            _ if ["E0208", "E0212"].contains(&code.code) => {}
            _ => problems.push(format!("{}: neither a repaired program nor **Fix.**", code.code)),
        }
        if code.page.lines().count() < 8 {
            problems.push(format!("{}: the page is too short to explain anything", code.code));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The codes that a program raises, on its way to a plan.
fn raised(program: &str) -> Vec<String> {
    let mut found = Vec::new();
    match Compiler::new().compile_all(program) {
        Err(error) => found.extend(error.diagnostics().to_vec()),
        Ok(models) => {
            for model in models {
                found.extend(model.warnings().to_vec());
                found.extend(model.plan().err().map_or(Vec::new(), |e| e.diagnostics().to_vec()));
            }
        }
    }
    found.iter().map(|d| d.code.to_owned()).collect()
}
