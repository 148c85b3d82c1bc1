//! The habits of the code that no compiler checks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sbl::diag::codes::CODES;
use sbl::dist::FAMILIES;

/// Which modules of the library each module may name. ARCHITECTURE.md has the reasons.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("math", &[]),
    ("scene", &[]),
    ("diag", &["source"]),
    ("error", &["source", "diag"]),
    ("data", &["diag", "error"]),
    ("syntax", &["source", "diag"]),
    ("dist", &["math"]),
    ("host", &["dist"]),
    ("check", &["source", "diag", "syntax", "dist", "host"]),
    ("graph", &["source", "scene", "diag", "check", "dist"]),
    ("plan", &["source", "diag", "check", "graph", "dist"]),
    ("design", &["source", "diag", "math", "data", "host", "check"]),
    ("runtime", &["math", "data", "dist", "check", "design", "plan"]),
    (
        "session",
        &[
            "source", "math", "scene", "diag", "error", "data", "syntax", "dist", "host", "check", "graph",
            "plan", "design", "runtime",
        ],
    ),
    ("picture", &["scene", "diag", "error", "data", "dist", "check", "graph", "design", "session"]),
    ("help", &["diag", "dist", "check", "plan"]),
];

/// Folders and files of the command: they see the library as `sbl::` like any other program.
const COMMAND: &[&str] = &["main", "cli", "io", "repl", "plot"];

/// Where each dependency may be named: a module, or a file. Empty: everywhere.
const OWNERS: &[(&str, &[&str])] = &[
    ("pest", &["syntax"]),
    ("pest_derive", &["syntax"]),
    ("logos", &["syntax"]),
    ("ariadne", &["diag/render.rs"]),
    ("petgraph", &["graph"]),
    ("nalgebra", &[]),
    ("statrs", &["math"]),
    ("libm", &[]),
    ("rand_chacha", &["session"]),
    ("serde", &[]),
    ("serde_json", &[]),
    ("sha2", &["session"]),
    ("xxhash_rust", &["session/bind/schema.rs"]),
    ("clap", &["main", "cli"]),
    ("clap_complete", &["main", "cli"]),
    ("csv", &["io"]),
    ("flate2", &["io"]),
    ("indicatif", &["main", "cli"]),
    ("anstyle", &["main", "cli", "repl"]),
    ("anstream", &["main", "cli"]),
    ("ctrlc", &["main", "cli"]),
    ("terminal_size", &["main", "cli"]),
    ("tiny_skia", &["io"]),
    ("ttf_parser", &["io"]),
    ("rustyline", &["repl"]),
    ("arrow_array", &["data", "io"]),
    ("arrow_schema", &["data", "io"]),
    ("arrow_select", &["io"]),
    ("arrow_ipc", &["io"]),
    ("parquet", &["io"]),
    // the module io::bytes has the same name
    ("bytes", &["io", "cli"]),
];

const LONGEST_FILE: usize = 700;

struct File {
    /// From the root, with `/`.
    path: String,
    text: String,
}

impl File {
    /// The module a file of `src` belongs to: `diag` for `src/diag/render.rs`.
    fn module(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs")
    }

    /// Without comments and without its own tests, which may name anything.
    fn code(&self) -> String {
        let text = self.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code =
            |line: &str| if line.trim_start().starts_with("//") { String::new() } else { line.to_owned() };
        text.lines().map(|line| code(line) + "\n").collect()
    }

    /// What tests of this file say.
    fn tests(&self) -> &str {
        match self.path.starts_with("tests/") {
            true => &self.text,
            false => self.text.split_once("#[cfg(test)]\nmod tests").map_or("", |(_, tests)| tests),
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every text file below `folder` with one of these extensions, sorted; nothing hidden, nothing built.
fn files(folder: &str, extensions: &[&str]) -> Vec<File> {
    fn walk(folder: &Path, extensions: &[&str], found: &mut Vec<File>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                walk(&path, extensions, found);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                let path_in = path.strip_prefix(root()).unwrap().components();
                let path_in: Vec<_> = path_in.map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
                found.push(File { path: path_in.join("/"), text: std::fs::read_to_string(&path).unwrap() });
            }
        }
    }
    let mut found = Vec::new();
    if root().join(folder).is_dir() {
        walk(&root().join(folder), extensions, &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The words that follow `prefix` in code: `crate::a`, and each of `crate::{a::b, c}`.
fn named(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let word = |text: &str| {
            text.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
        };
        let Some(group) = rest.strip_prefix('{') else {
            names.extend(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut start = 0;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    names.extend(word(&group[start..i]));
                    start = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names.remove("");
    names
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn modules_name_only_what_they_may() {
    let mut problems = Vec::new();
    let modules: Vec<&str> = MAY_NAME.iter().map(|(m, _)| *m).collect();
    for file in files("src", &["rs"]) {
        let module = file.module();
        let inside = named(&file.code(), "crate::");
        if module == "lib" {
            continue;
        }
        if COMMAND.contains(&module) {
            for name in inside.iter().filter(|n| modules.contains(&n.as_str())) {
                problems.push(format!("{}: say sbl::…, not crate::{name}", file.path));
            }
            continue;
        }
        let Some((_, may)) = MAY_NAME.iter().find(|(m, _)| *m == module) else {
            problems.push(format!("{}: the table of tests/suite/tidy.rs has no module {module}", file.path));
            continue;
        };
        for name in inside.iter().filter(|n| modules.contains(&n.as_str()) && **n != module) {
            if !may.contains(&name.as_str()) {
                problems.push(format!("{}: {module} may not name {name}, only {may:?}", file.path));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn the_order_of_modules_has_no_cycle() {
    // each module names only what stands before it in the table
    for (i, (module, may)) in MAY_NAME.iter().enumerate() {
        for name in *may {
            assert!(
                MAY_NAME[..i].iter().any(|(m, _)| m == name),
                "{module} names {name}, which stands below it"
            );
        }
    }
}

/// The table of ARCHITECTURE.md is the one that is checked.
#[test]
fn the_order_of_modules_is_documented() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (module, may) in MAY_NAME {
        let row = text.lines().find(|l| l.starts_with(&format!("| `{module}` |")));
        let cell = row.and_then(|r| r.split('|').nth(3)).map(str::trim);
        let all = MAY_NAME.iter().take_while(|(m, _)| m != module).map(|(m, _)| *m);
        let expected =
            if may.iter().copied().eq(all) && may.len() > 5 { "all above".into() } else { may.join(", ") };
        assert_eq!(cell, Some(expected.as_str()), "ARCHITECTURE.md, row {module}");
    }
}

#[test]
fn crates_are_named_by_their_owners() {
    let mut problems = Vec::new();
    for file in files("src", &["rs"]) {
        let inside = file.path.strip_prefix("src/").unwrap();
        for (name, owners) in OWNERS {
            let prefix = format!("{name}::");
            let mine = owners.is_empty() || owners.iter().any(|o| *o == inside || *o == file.module());
            if !mine && !named(&file.code(), &prefix).is_empty() {
                problems.push(format!("{}: {name} belongs to {owners:?}", file.path));
            }
        }
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    for line in dependencies.lines().filter(|l| !l.starts_with('#')) {
        if let Some((name, _)) = line.split_once(" = ")
            && !OWNERS.iter().any(|(n, _)| *n == name.replace('-', "_"))
        {
            problems.push(format!("Cargo.toml: {name} has no owner in tests/suite/tidy.rs"));
        }
    }
    assert_none(&problems);
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut problems = Vec::new();
    for file in ["src", "tests", "examples"].iter().flat_map(|f| files(f, &["rs"])) {
        if !file.text.starts_with("//! ") {
            problems.push(format!("{}: does not start with //!", file.path));
        }
        let lines = file.text.lines().count();
        if lines > LONGEST_FILE {
            problems.push(format!("{}: {lines} lines; is it one concept?", file.path));
        }
    }
    for file in files("stdlib", &["sbl"]) {
        if !file.text.starts_with('#') {
            problems.push(format!("{}: does not start with a comment", file.path));
        }
    }
    assert_none(&problems);
}

/// A plan asks for what a family offers, never for its name.
#[test]
fn families_are_named_in_dist_only() {
    let mut problems = Vec::new();
    for file in files("src", &["rs"]).iter().filter(|f| f.module() != "dist") {
        for (i, line) in file.code().lines().enumerate() {
            for family in FAMILIES {
                let name = format!("\"{}\"", family.name);
                let decided =
                    [format!("{name} =>"), format!("{name} |"), format!("= {name}"), format!("y({name})")];
                if decided.iter().any(|d| line.contains(d.as_str())) {
                    problems.push(format!("{}:{}: asks for {} by name", file.path, i + 1, family.name));
                }
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn every_family_has_an_example_program() {
    let examples: String = files("examples", &["sbl"]).iter().map(|f| f.text.as_str()).collect();
    for family in FAMILIES {
        assert!(
            examples.contains(&format!("~ {}(", family.name)),
            "no program in examples/ uses {}",
            family.name
        );
    }
}

#[test]
fn codes_have_pages_and_tests() {
    let mut problems = Vec::new();
    for pair in CODES.windows(2) {
        if pair[0].code >= pair[1].code {
            problems.push(format!("{} stands before {}", pair[0].code, pair[1].code));
        }
    }
    let mut tested: Vec<File> = files("tests", &["rs", "sbl", "md", "txt", "snap", "json"]);
    tested.extend(files("src", &["rs"]));
    tested.retain(|f| !f.path.ends_with("tidy.rs"));
    let used = codes_in_source();
    for code in CODES {
        let heading = format!("# {}: {}", code.code, code.title);
        if code.page.lines().next() != Some(heading.as_str()) {
            problems.push(format!("docs/diagnostics/{}.md: the first line is not `{heading}`", code.code));
        }
        if code.page.matches("```").count() < 2 {
            problems.push(format!("docs/diagnostics/{}.md: no program or data that shows it", code.code));
        }
        if !tested.iter().any(|f| f.tests().contains(code.code)) {
            problems.push(format!("{}: no test mentions it", code.code));
        }
        if !used.iter().any(|(_, used)| used == code.code) {
            problems.push(format!("{}: nothing raises it", code.code));
        }
    }
    for page in files("docs/diagnostics", &["md"]) {
        let name = page.path.trim_start_matches("docs/diagnostics/").trim_end_matches(".md");
        if !CODES.iter().any(|c| c.code == name) {
            problems.push(format!("{}: no such code", page.path));
        }
    }
    assert_none(&problems);
}

#[test]
fn codes_that_are_raised_are_registered() {
    let unknown = |code: &String| !CODES.iter().any(|c| c.code == code);
    let used = codes_in_source();
    let problems: Vec<String> = used
        .iter()
        .filter(|(_, c)| unknown(c))
        .map(|(path, code)| format!("{path}: {code} is not registered"))
        .collect();
    assert_none(&problems);
}

/// Every literal like `"E0201"` in the code, with the file it stands in.
fn codes_in_source() -> BTreeSet<(String, String)> {
    let mut codes = BTreeSet::new();
    for file in files("src", &["rs"]).iter().filter(|f| f.path != "src/diag/codes.rs") {
        for literal in file.code().split('"').skip(1) {
            let digits = literal.strip_prefix(['E', 'W']).unwrap_or("");
            if digits.len() == 4 && digits.chars().all(|c| c.is_ascii_digit()) {
                codes.insert((file.path.clone(), literal.to_owned()));
            }
        }
    }
    codes
}

/// The project stands alone, and nothing is left for later.
#[test]
fn nothing_foreign_and_nothing_unfinished() {
    let mut problems = Vec::new();
    let machine = ["work", "root", "home", "Users"].map(|top| format!("/{top}/"));
    let later = ["TO DO", "FIX ME", "to do!(", "un implemented!(", "d bg!("].map(|w| w.replace(' ', ""));
    let neighbour = ["..", "shared"].join("/");
    for file in files(".", &["rs", "md", "sbl", "pest", "toml", "py", "json", "yml"]) {
        for (i, line) in file.text.lines().enumerate() {
            let place = format!("{}:{}", file.path, i + 1);
            if machine.iter().any(|path| line.contains(path.as_str())) {
                problems.push(format!("{place}: a path of some machine"));
            }
            if line.contains(&neighbour) && !file.path.starts_with("tests/") {
                problems.push(format!("{place}: names a folder outside the project"));
            }
            if let Some(word) = later.iter().find(|w| line.contains(w.as_str())) {
                problems.push(format!("{place}: {word}"));
            }
        }
    }
    assert_none(&problems);
}

/// `mathematics §1.1` in a comment or a formula's source is a section that is there.
#[test]
fn quoted_sections_of_the_mathematics_exist() {
    let text = std::fs::read_to_string(root().join("docs/mathematics.md")).unwrap();
    let heading = |line: &str| {
        line.trim_start_matches('#').trim().split(' ').next().map(|n| n.trim_end_matches('.').to_owned())
    };
    let sections: BTreeSet<String> =
        text.lines().filter(|l| l.starts_with("##")).filter_map(heading).collect();
    let mut problems = Vec::new();
    for file in files("src", &["rs", "md"]).into_iter().chain(files("stdlib", &["sbl"])) {
        for line in file.text.lines() {
            for (at, _) in line.match_indices("mathematics") {
                // `mathematics.md` §1, §1.1: every number until the words change
                let rest = line[at..]
                    .trim_start_matches("mathematics")
                    .trim_start_matches(".md")
                    .trim_start_matches('`');
                for part in rest.split(',').map_while(|p| p.trim().strip_prefix('§')) {
                    let number: String =
                        part.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                    if !sections.contains(number.trim_end_matches('.')) {
                        problems.push(format!("{}: docs/mathematics.md has no section {number}", file.path));
                    }
                }
            }
        }
    }
    assert_none(&problems);
}

/// The public surface is what `lib.rs` gives at the root: each item of it, and each function on it, shows how it
/// is used, and the example is run.
#[test]
fn public_items_have_examples() {
    let root_text = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for line in root_text.lines().filter_map(|l| l.strip_prefix("pub use ")) {
        let last = line.trim_end_matches(';').rsplit("::").next().unwrap();
        let group = line.split_once('{').map_or(last, |(_, group)| group.trim_end_matches(['}', ';']));
        names.extend(group.split(',').map(|n| n.trim().to_owned()));
    }
    // modules with types of the same names that are not given at the root
    let other = ["src/check/typed.rs", "src/runtime/", "src/plan/", "src/repl/", "src/cli/", "src/io/"];
    let shown = |lines: &[&str], at: usize| {
        let before = lines[..at].iter().rev().map(|l| l.trim());
        let mut docs = before.take_while(|l| l.starts_with("///") || l.starts_with("#["));
        docs.any(|l| l.contains("```"))
    };
    let mut problems = Vec::new();
    for file in files("src", &["rs"]) {
        if other.iter().any(|o| file.path.starts_with(o)) {
            continue;
        }
        let text = file.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let word =
            |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
        let mut inside = false;
        for (i, line) in lines.iter().enumerate() {
            let kind = ["pub struct ", "pub enum ", "pub trait ", "pub fn "];
            let item = kind.iter().find_map(|k| line.strip_prefix(k)).map(word);
            if item.is_some_and(|n| {
                names.contains(&n) && n != "Options"
                    || n == "Options" && line.ends_with("Options {") && file.module() == "session"
            }) && !shown(&lines, i)
            {
                problems.push(format!("{}:{}: {line}", file.path, i + 1));
            }
            if let Some(of) = line.strip_prefix("impl ").filter(|l| l.ends_with('{') && !l.contains(" for "))
            {
                inside = names.contains(&word(of));
            } else if *line == "}" {
                inside = false;
            }
            if inside
                && (line.starts_with("    pub fn ") || line.starts_with("    pub const fn "))
                && !shown(&lines, i)
            {
                problems.push(format!("{}:{}: {}", file.path, i + 1, line.trim()));
            }
        }
    }
    assert!(names.len() > 15, "{names:?}");
    assert_none(&problems);
}
