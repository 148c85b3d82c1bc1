//! Every program that is shown to someone: `examples/`, the records of families, `docs/`.

use std::path::{Path, PathBuf};

use sbl::Compiler;
use sbl::dist::FAMILIES;

/// A program, and where it comes from.
struct Shown {
    name: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == extension));
    files.sort();
    files
}

fn read(path: &Path) -> Shown {
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    Shown { name, text: std::fs::read_to_string(path).unwrap() }
}

fn examples() -> Vec<Shown> {
    files("examples", "sbl").iter().map(|p| read(p)).collect()
}

/// The blocks fenced as `sbl` in the README and in `docs/`.
fn documented() -> Vec<Shown> {
    let mut pages = files("docs", "md");
    pages.push(root().join("README.md"));
    let mut blocks = Vec::new();
    for page in pages.iter().filter(|p| p.exists()) {
        let page = read(page);
        for (i, block) in page.text.split("\n```sbl\n").skip(1).enumerate() {
            let text = block.split("\n```").next().unwrap_or_default().to_owned() + "\n";
            blocks.push(Shown { name: format!("{}, block {}", page.name, i + 1), text });
        }
    }
    blocks
}

fn families() -> impl Iterator<Item = Shown> {
    FAMILIES.iter().map(|f| Shown { name: format!("the example of {}", f.name), text: f.example.to_owned() })
}

/// Compiles to a graph, without a warning; a plan may not be available.
#[test]
fn every_shown_program_compiles() {
    let mut problems = Vec::new();
    for shown in examples().into_iter().chain(documented()).chain(families()) {
        match Compiler::new().file(&shown.name).compile_all(&shown.text) {
            Err(error) => problems.push(error.to_string()),
            Ok(models) => {
                for model in models {
                    problems
                        .extend(model.warnings().iter().map(|w| format!("{}: {}", shown.name, w.message)));
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The command in the head of an example names the example and data that are there.
#[test]
fn every_example_says_how_to_run_it() {
    for example in examples() {
        let command = example.text.lines().find_map(|l| l.strip_prefix("#     sbl fit "));
        let words: Vec<&str> = command.unwrap_or_default().split_whitespace().collect();
        let [program, "--data", data, ..] = words[..] else { panic!("{}: no command", example.name) };
        assert_eq!(program, example.name);
        assert!(root().join(data).exists(), "{}: {data} is not there", example.name);
    }
}

#[test]
fn every_data_set_serves_an_example() {
    let all: String = examples().iter().map(|e| e.text.as_str()).collect();
    for data in files("examples/data", "csv").into_iter().chain(files("examples/data", "json")) {
        let name = data.file_name().unwrap().to_string_lossy().into_owned();
        assert!(all.contains(&format!("examples/data/{name}")), "no example uses {name}");
    }
}
