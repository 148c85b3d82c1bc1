//! The library as another program sees it: what it gives is what the command gives, its handles go between
//! threads and through serde, and it brings nothing an embedder has no use for.

use std::collections::BTreeSet;

use sbl::{Cancel, Compiler, Data, Error, Fit, Model, Options, Prediction};
use serde_json::Value;

use crate::cli_run::Place;

fn root() -> std::path::PathBuf {
    std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The columns of a table of numbers, read as any program would.
fn table(path: &str) -> Data {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
    names.iter().enumerate().fold(Data::new().named(path), |data, (j, name)| {
        data.vector(name, &rows.iter().map(|r| r[j]).collect::<Vec<_>>()).unwrap()
    })
}

/// The JSON after the header of a fit file, without what differs from run to run.
fn body(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut json: Value = serde_json::from_str(text.splitn(4, '\n').nth(3).unwrap()).unwrap();
    json["result"]["seconds"] = Value::Null;
    json
}

/// Where two values differ: numbers by their bits.
fn differences(at: &str, a: &Value, b: &Value) -> Vec<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys: BTreeSet<&String> = x.keys().chain(y.keys()).collect();
            let of = |key: &String| {
                let (a, b) = (x.get(key).unwrap_or(&Value::Null), y.get(key).unwrap_or(&Value::Null));
                differences(&format!("{at}.{key}"), a, b)
            };
            keys.into_iter().flat_map(of).collect()
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => x
            .iter()
            .zip(y)
            .enumerate()
            .flat_map(|(i, (a, b))| differences(&format!("{at}[{i}]"), a, b))
            .collect(),
        _ if a == b => Vec::new(),
        _ => vec![format!("{at}: {a} against {b}")],
    }
}

/// Three fits of the command, again through the public interface alone: the same bits.
#[test]
fn the_library_gives_what_the_command_gives() {
    let place = Place::new();
    for (name, infer) in [("sinc", None), ("diabetes", None), ("counts", Some("laplace(max_iter = 200)"))] {
        let (program, data) = (format!("examples/{name}.sbl"), format!("examples/data/{name}.csv"));
        let fitted = place.path("m.sblfit");
        let mut args = vec!["fit", &program, "--data", &data, "--format", "json", "-o"];
        args.push(fitted.to_str().unwrap());
        args.extend(infer.iter().flat_map(|i| ["--infer", i]));
        let output = place.command(&args).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

        let source = std::fs::read_to_string(root().join(&program)).unwrap();
        let compiler = Compiler::new().file(&program);
        let compiler = infer.iter().fold(compiler, |c, i| c.infer(i));
        let ours = compiler.compile(&source).unwrap().fit(&table(&data), &Options::default()).unwrap();

        let mut theirs: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut json = ours.to_json();
        theirs["seconds"] = Value::Null;
        json["seconds"] = Value::Null;
        assert_eq!(differences("", &json, &theirs), [] as [String; 0], "{name}");
        let bytes = std::fs::read(&fitted).unwrap();
        let (a, b) = (body(&ours.to_bytes().unwrap()), body(&bytes));
        assert_eq!(differences("", &a, &b), [] as [String; 0], "{name}");

        // and its predictions are those of `sbl predict`
        let predicted = place
            .command(&["predict", fitted.to_str().unwrap(), "--data", &data, "--format", "json"])
            .current_dir(root())
            .output()
            .unwrap();
        let theirs: Value = serde_json::from_slice(&predicted.stdout).unwrap();
        assert_eq!(ours.predict(&table(&data)).unwrap().to_json(), theirs, "{name}");
    }
}

#[test]
fn handles_go_between_threads_and_are_cheap_to_clone() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<Model>();
    shared::<Fit>();
    shared::<Data>();
    shared::<Compiler>();
    shared::<Prediction>();
    shared::<Cancel>();
    shared::<Error>();
    sent::<Options>();
    // one pointer each
    assert_eq!(size_of::<Model>(), size_of::<usize>());
    assert_eq!(size_of::<Fit>(), size_of::<usize>());
}

#[test]
fn models_and_fits_through_serde() {
    struct Files;
    impl sbl::Loader for Files {
        fn load(&self, _: &str, path: &str) -> Result<(String, String), String> {
            Ok((path.to_owned(), "fn twice(x: real[N]) -> real[N] = 2 * x\n".to_owned()))
        }
    }
    let source = "use \"twice.sbl\"\ndata x: real[N]\ndata t: real[N]\nlet s = 1.0\nw ~ Normal(0, sd = s)\n\
                  t ~ Normal(twice(x) .* w, sd = 1)\n";
    let model = Compiler::new().loader(Files).file("a.sbl").set("s", 3.0).compile(source).unwrap();
    let data = Data::new().vector("x", &[1.0, 2.0]).unwrap().vector("t", &[2.0, 4.5]).unwrap();
    let fit = model.fit(&data, &Options::default()).unwrap();

    let text = serde_json::to_string(&model).unwrap();
    let again: Model = serde_json::from_str(&text).unwrap();
    // the file that it imports and the constant that was set came along
    let refitted = again.fit(&data, &Options::default()).unwrap();
    assert_eq!(refitted.objective().to_bits(), fit.objective().to_bits());
    assert_eq!(serde_json::to_string(&again).unwrap(), text);

    let text = serde_json::to_string(&fit).unwrap();
    let again: Fit = serde_json::from_str(&text).unwrap();
    assert_eq!(again.predict(&data).unwrap(), fit.predict(&data).unwrap());
    assert_eq!(again.to_bytes().unwrap(), fit.to_bytes().unwrap());
    // data and predictions are values too
    let again: Data = serde_json::from_str(&serde_json::to_string(&data).unwrap()).unwrap();
    assert_eq!(again, data);

    // what is damaged is an error
    let broken = text.replace("sha256 ", "sha256 0");
    assert!(serde_json::from_str::<Fit>(&broken).unwrap_err().to_string().contains("E0811"));
    let wrong = r#"{"recipe":{"file":"a","model":null,"set":[],"infer":null},"source":"t ~ x","imports":[]}"#;
    assert!(serde_json::from_str::<Model>(wrong).unwrap_err().to_string().contains("error[E"));
}

/// The crates that a build without default features compiles, by Cargo's own resolution: no terminal, no command
/// line, no file format, no server. ariadne draws diagnostics as text, which is part of the interface
/// (`Error` as `Display`); it brings `unicode-width` and `yansi`, which write strings, not terminals.
#[test]
fn an_embedder_compiles_nothing_of_the_command() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = std::process::Command::new(cargo)
        .args(["tree", "--edges", "normal,build", "--no-default-features", "--prefix", "none", "--offline"])
        .args(["--locked", "--format", "{lib}"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let crates: BTreeSet<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(crates.contains("nalgebra") && crates.contains("ariadne"), "{crates:?}");
    let unwanted = [
        "clap",
        "clap_builder",
        "clap_complete",
        "csv",
        "csv_core",
        "flate2",
        "zip",
        "indicatif",
        "console",
        "anstyle",
        "anstream",
        "crossterm",
        "rustyline",
        "termcolor",
        "terminal_size",
        "ctrlc",
        "nix",
        "arrow",
        "parquet",
        "tiny_skia",
        "resvg",
        "png",
        "axum",
        "hyper",
        "tokio",
        "linfa",
        "rayon",
    ];
    let found: Vec<&&str> = unwanted.iter().filter(|c| crates.contains(**c)).collect();
    assert!(found.is_empty(), "{found:?} of {crates:?}");
    // with those of the compilation itself: macros, and the C compiler of the stack guard of pest
    assert!(crates.len() < 80, "{} crates: {crates:?}", crates.len());
}

/// The library writes to no terminal, opens no file and ends no process.
#[test]
fn the_library_does_no_input_and_no_output() {
    fn walk(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, found),
                false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
                false => {}
            }
        }
    }
    let mut files = Vec::new();
    walk(&root().join("src"), &mut files);
    let command = ["main", "cli", "io", "repl", "plot"];
    for path in files {
        let inside = path.strip_prefix(root().join("src")).unwrap();
        let module = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        if path.ends_with("tests.rs") || command.contains(&module.as_str()) {
            continue;
        }
        for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
            for word in ["println!", "eprint", "print!(", "std::fs", "std::io", "std::process", "std::env::"]
            {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}
