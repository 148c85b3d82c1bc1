//! Every program that is shown to someone: `examples/`, the records of families, `docs/`.

use std::path::{Path, PathBuf};

use sbl::Compiler;
use sbl::dist::FAMILIES;
use serde_json::Value;

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
    for folder in ["docs/course", "docs/reference"] {
        pages.extend(files(folder, "md"));
    }
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

/// Runs the command from the root of the project; the exit code and what it wrote.
fn sbl(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sbl"));
    let output =
        command.args(arguments).current_dir(root()).stdin(std::process::Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// The fit that the head of an example asks for; `None` where this version has no plan for it.
fn fitted(example: &Shown) -> Option<Value> {
    let command = example.text.lines().find_map(|l| l.strip_prefix("#     sbl ")).unwrap();
    let arguments: Vec<&str> = command.split_whitespace().chain(["--format", "json"]).collect();
    let (code, out) = sbl(&arguments);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{}: {e}\n{out}", example.name));
    if code == Some(0) {
        return Some(answer);
    }
    let errors = answer.as_array().unwrap().iter().filter(|d| d["severity"] == "error");
    let codes: Vec<&str> = errors.map(|d| d["code"].as_str().unwrap()).collect();
    assert!(
        code == Some(1) && codes.iter().all(|c| c.starts_with("E06")),
        "{}: {code:?} {codes:?}",
        example.name
    );
    None
}

fn fit_of(name: &str) -> Value {
    let example = examples().into_iter().find(|e| e.name == format!("examples/{name}.sbl")).unwrap();
    fitted(&example).unwrap_or_else(|| panic!("{name} has no plan"))
}

fn numbers(array: &Value) -> Vec<f64> {
    array.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn examples_are_in_the_canonical_layout_and_are_drawn() {
    for example in examples() {
        assert_eq!(sbl(&["fmt", "--check", &example.name]).0, Some(0), "{}: run sbl fmt", example.name);
        for format in ["text", "dot", "mermaid", "svg", "tikz", "json"] {
            let (code, drawing) = sbl(&["graph", &example.name, "--format", format]);
            assert!(code == Some(0) && !drawing.is_empty(), "{} as {format}", example.name);
        }
    }
}

#[test]
fn the_command_of_every_example_fits_or_says_that_no_plan_serves_it() {
    let mut fits = 0;
    for example in examples() {
        let Some(fit) = fitted(&example) else { continue };
        assert_eq!(fit["converged"], true, "{}", example.name);
        assert_trace_ends_at_the_value(&example.name, &fit);
        fits += 1;
    }
    assert!(fits >= 9, "only {fits} examples have a plan");
}

/// The trace is that of the start that is kept: it ends at the value that is reported.
fn assert_trace_ends_at_the_value(name: &str, fit: &Value) {
    let value = fit["objective"]["value"].as_f64().unwrap();
    let trace = numbers(&fit["objective"]["trace"]);
    assert!(value.is_finite(), "{name}");
    let last = trace.last().unwrap_or_else(|| panic!("{name}: no trace"));
    assert!((last - value).abs() <= 1e-9 * (1.0 + value.abs()), "{name}: {last} is not {value}");
}

#[test]
fn traces_end_at_the_value_after_restarts_too() {
    for (name, data, infer) in [
        ("sinc", "sinc.csv", "evidence(restarts = 4)"),
        ("sinc", "sinc.csv", "sequential(restarts = 2)"),
        ("diabetes", "diabetes.csv", "evidence(restarts = 3)"),
        ("group_ard", "groups.json", "evidence(restarts = 2, min_gain = 1)"),
        ("group_ard", "groups.json", "sequential"),
        ("ripley", "classes.csv", "laplace(restarts = 3)"),
        ("counts", "counts.csv", "laplace(restarts = 2, curvature = exact)"),
    ] {
        let (program, data) = (format!("examples/{name}.sbl"), format!("examples/data/{data}"));
        let (code, out) = sbl(&["fit", &program, "--data", &data, "--infer", infer, "--format", "json"]);
        assert_eq!(code, Some(0), "{name} {infer}: {out}");
        assert_trace_ends_at_the_value(&format!("{name} {infer}"), &serde_json::from_str(&out).unwrap());
    }
}

#[test]
fn the_first_restart_beside_parameters_is_the_other_schedule() {
    let objective = |infer: &str| {
        let (code, out) = sbl(&[
            "fit",
            "examples/ordinal.sbl",
            "--data",
            "examples/data/ratings.csv",
            "--infer",
            infer,
            "--format",
            "json",
        ]);
        assert_eq!(code, Some(0), "{infer}: {out}");
        let result: Value = serde_json::from_str(&out).unwrap();
        assert_trace_ends_at_the_value(infer, &result);
        result["objective"]["value"].as_f64().unwrap()
    };
    let [batch, sequential, both] = ["laplace", "sequential", "sequential(restarts = 1)"].map(objective);
    assert!(sequential < batch - 0.1 && both >= batch - 1e-6, "{batch} {sequential} {both}");
}

/// What the generator of the data put in is what the fit finds, within five posterior deviations.
#[test]
fn fits_find_the_truth() {
    let near = |node: &Value, truth: &[(usize, f64)]| {
        let (mean, sd) = (numbers(&node["mean"]), numbers(&node["sd"]));
        let active: Vec<usize> = match &node["active"] {
            Value::Null => (0..mean.len()).collect(),
            active => numbers(active).into_iter().map(|i| i as usize).collect(),
        };
        for (entry, wanted) in truth {
            let at =
                active.iter().position(|a| a == entry).unwrap_or_else(|| panic!("{entry} is pruned: {node}"));
            assert!(
                (mean[at] - wanted).abs() < 5.0 * sd[at],
                "entry {entry}: {} ± {}, not {wanted}",
                mean[at],
                sd[at]
            );
        }
    };

    let twins = fit_of("two_targets");
    near(&twins["nodes"]["w"], &[(0, 1.2), (3, -0.7)]);
    let deviation = |fit: &Value, node: &str| fit["nodes"][node]["value"].as_f64().unwrap().powf(-0.5);
    assert!(
        (deviation(&twins, "tau_fine") - 0.1).abs() < 0.03
            && (deviation(&twins, "tau_coarse") - 1.0).abs() < 0.3
    );

    // W is 8 × 3, column after column
    let channels = fit_of("multi_output");
    near(&channels["nodes"]["W"], &[(1, 2.0), (5, -1.0), (9, -1.0), (13, 0.5), (17, 1.5), (21, 1.0)]);
    assert_eq!(channels["nodes"]["W"]["active"].as_array().unwrap().len(), 6);
    // with point precisions the bound at its best is the evidence, and groups leave by the same rule
    let program = ["fit", "examples/multi_output.sbl", "--data", "examples/data/channels.csv"];
    let (code, field) = sbl(&[&program[..], &["--infer", "variational", "--format", "json"]].concat());
    let field: Value = serde_json::from_str(&field).unwrap();
    assert_eq!((code, &field["nodes"]["W"]["active"]), (Some(0), &channels["nodes"]["W"]["active"]));
    let value = |fit: &Value| fit["objective"]["value"].as_f64().unwrap();
    assert!((value(&field) - value(&channels)).abs() < 1e-7);

    let schools = fit_of("intercepts");
    assert!((deviation(&schools, "tau") - 2.0).abs() < 1.5, "with a few outliers");
    assert_eq!(schools["nodes"]["gain"]["mean"], schools["nodes"]["w"]["mean"][0]);

    let groups = fit_of("group_ard");
    let data: Value =
        serde_json::from_str(&std::fs::read_to_string(root().join("examples/data/groups.json")).unwrap())
            .unwrap();
    let truth = [0.9, -1.1, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.7, 0.8, -0.6];
    let standardised = |j: usize| {
        let column: Vec<f64> =
            data["x"].as_array().unwrap().iter().map(|row| row[j].as_f64().unwrap()).collect();
        let n = column.len() as f64;
        let mean = column.iter().sum::<f64>() / n;
        (j, truth[j] * (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let relevant: Vec<(usize, f64)> = [0, 1, 2, 9, 10, 11].map(standardised).to_vec();
    near(&groups["nodes"]["w"], &relevant);
}

/// A mean and a deviation have everything in closed form.
#[test]
fn location_and_scale_are_the_textbook_ones() {
    let text = std::fs::read_to_string(root().join("examples/data/heights.csv")).unwrap();
    let heights: Vec<f64> = text.lines().skip(1).map(|l| l.parse().unwrap()).collect();
    let n = heights.len() as f64;
    let mean = heights.iter().sum::<f64>() / n;
    let variance = heights.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // −½ [(N − 1) ln 2πs² + ln N + N − 1]
    let evidence = -0.5 * ((n - 1.0) * (std::f64::consts::TAU * variance).ln() + n.ln() + n - 1.0);

    let fit = fit_of("location_scale");
    let close = |got: &Value, wanted: f64| {
        let got = got.as_f64().unwrap();
        assert!((got - wanted).abs() < 1e-9 * wanted.abs(), "{got}, not {wanted}");
    };
    close(&fit["nodes"]["mu"]["mean"], mean);
    close(&fit["nodes"]["mu"]["sd"], (variance / n).sqrt());
    close(&fit["nodes"]["tau"]["value"], 1.0 / variance);
    close(&fit["objective"]["value"], evidence);
}
