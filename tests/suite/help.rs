//! Everything that has a name is documented: formula, source, and an example that runs.

use std::collections::BTreeSet;

use sbl::check::dim::{Atom, Dim};
use sbl::check::typed::{Columns, NodeKind};
use sbl::dist::Elem;
use sbl::help::{Entry, Kind, contents, entries, entry, look_up};
use sbl::syntax::token::KEYWORDS;
use sbl::{Compiler, Data, Model, Options};

use super::cli_run::sbl;

/// Rows, columns and levels of the data on which examples are fitted.
const ROWS: usize = 48;
const COLUMNS: usize = 3;
const LEVELS: [&str; 3] = ["Ash", "Birch", "Cedar"];

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_entry_is_complete() {
    let mut problems = Vec::new();
    let all = entries();
    let names: BTreeSet<&str> = all.iter().map(|e| e.name.as_str()).collect();
    for e in &all {
        let mut missing = |what: &str, there: bool| {
            if !there {
                problems.push(format!("{} ({}): no {what}", e.name, e.kind.noun()));
            }
        };
        missing("signature", !e.signature.is_empty());
        missing("summary that is a sentence", e.summary.ends_with('.') || e.kind == Kind::Function);
        missing("formula", !e.formula.trim().is_empty());
        missing("source", e.source.len() > 8);
        missing("example", e.example.lines().count() > 1 && e.example.ends_with('\n'));
        let in_use = e.kind != Kind::Statement && e.kind != Kind::Plan && e.kind != Kind::Setting;
        missing("example that uses it", !in_use || e.example.contains(&e.name));
        for see in &e.see {
            missing(&format!("entry {see} to see"), names.contains(see.as_str()));
        }
    }
    assert_none(&problems);
}

/// What the compiler knows is what is documented.
#[test]
fn everything_that_has_a_name_has_an_entry() {
    let has = |name: &str, kind: Kind| entry(name).iter().any(|e| e.kind == kind);
    for word in KEYWORDS {
        assert!(has(word, Kind::Statement), "the word {word} is not documented");
    }
    for name in
        ["real", "positive", "unit", "int", "count", "bool", "category", "ordered", "increasing", "simplex"]
    {
        assert!(has(name, Kind::Type), "{name}");
    }
    for native in sbl::check::natives::NATIVES {
        assert!(has(native.name, Kind::Function), "{}", native.name);
    }
    for family in sbl::dist::FAMILIES {
        assert!(has(family.name, Kind::Family), "{}", family.name);
    }
    for item in sbl::check::library() {
        assert!(entry(&item.name).iter().any(|e| e.signature == item.signature), "{}", item.signature);
    }
    let mut known = BTreeSet::new();
    for method in sbl::plan::METHODS {
        assert!(has(method.name, Kind::Plan), "{}", method.name);
        known.extend(sbl::plan::options::of(method));
    }
    for option in &known {
        assert!(has(option, Kind::Setting), "{option}");
    }
    let documented = contents().into_iter().find(|s| s.kind == Kind::Setting).unwrap();
    assert_eq!(documented.entries.len(), known.len(), "an option that no plan knows is documented");
}

/// The notes on what is built in name nothing that is not there.
#[test]
fn no_note_is_about_nothing() {
    for (file, kind) in [
        ("functions", Kind::Function),
        ("plans", Kind::Plan),
        ("options", Kind::Setting),
        ("families", Kind::Family),
    ] {
        let path = format!("{}/src/help/text/{file}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        for name in text.lines().filter_map(|l| l.strip_prefix("## ")) {
            assert!(entry(name).iter().any(|e| e.kind == kind), "{file}.md has a section {name}");
        }
    }
}

/// The default that a page tells is the one that a plan without options has.
#[test]
fn documented_defaults_are_true() {
    let text = "data t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)\n";
    let said = |name: &str| {
        let option = sbl::plan::options::OPTIONS.iter().find(|o| o.name == name).unwrap();
        (option.default, option.words)
    };
    let options = &Model::compile(text).unwrap().plan().unwrap().options.clone();
    assert_eq!(said("max_iter").0.parse(), Ok(options.max_iter));
    assert_eq!(said("tol").0.parse(), Ok(options.tol));
    assert_eq!(said("min_gain").0.parse(), Ok(options.min_gain));
    assert_eq!(said("restarts").0.parse(), Ok(options.restarts));
    for (name, method) in [
        ("schedule", "evidence"),
        ("updates", "evidence"),
        ("hyper_scale", "evidence"),
        ("curvature", "laplace"),
        ("blocks", "variational"),
    ] {
        let with = |word: &str| {
            let asked = Compiler::new().infer(&format!("{method}({name} = {word})")).compile(text);
            format!("{:?}", asked.unwrap_or_else(|e| panic!("{name} = {word}: {e}")).typed().infer.options)
        };
        let (default, words) = said(name);
        assert_eq!(words[0], default);
        for word in words {
            assert!(with(word).contains(word));
        }
    }
}

/// Not random, and without a pattern: the fractional parts of multiples of an irrational number.
fn spread(row: usize, stream: usize) -> f64 {
    let irrational = [2f64.sqrt(), 3f64.sqrt(), 5f64.sqrt(), 7f64.sqrt(), 11f64.sqrt(), 13f64.sqrt()];
    ((row + 1) as f64 * irrational[stream % 6]).fract()
}

/// Entries of a column: inputs in streams of their own, targets that depend on the first input.
fn numbers(elem: Elem, observed: bool, rows: usize, stream: usize) -> Vec<f64> {
    let input = |row: usize| 4.0 * spread(row, 0) - 2.0;
    let noise = |row: usize| spread(row, 5) + spread(row, 4) + spread(row, 3) - 1.5;
    let real = |row: usize| match (observed, stream) {
        (true, _) => 1.0 + 2.0 * (1.5 * input(row)).sin() + 0.4 * noise(row),
        (false, 0) => input(row),
        (false, _) => 4.0 * spread(row, stream) - 2.0,
    };
    let entry = |row: usize| match elem {
        Elem::Positive => 0.2 + spread(row, stream + 1),
        Elem::Unit => 0.1 + 0.8 * spread(row, stream + 1),
        Elem::Count => (1.5 + input(row) + noise(row)).exp().min(30.0).floor(),
        Elem::Bool => f64::from(input(row) + 2.0 * noise(row) > 0.0),
        Elem::Ordered | Elem::Category => {
            let latent = input(row) + 2.0 * noise(row);
            1.0 + f64::from(latent > -0.8) + f64::from(latent > 0.8)
        }
        Elem::Int => 2000.0 + (row % 7) as f64,
        _ => real(row),
    };
    (0..rows).map(entry).collect()
}

/// Columns for all data that a model declares.
fn data_for(model: &Model) -> Data {
    let size = |d: &Dim| {
        let value = |atom: &Atom| match atom {
            Atom::Symbol(name) if name == "N" => Some(ROWS),
            _ => Some(COLUMNS),
        };
        d.eval(&value).unwrap()
    };
    let mut data = Data::new().vector("id", &numbers(Elem::Int, false, ROWS, 0)).unwrap();
    for node in &model.typed().nodes {
        let NodeKind::Data(declared) = &node.kind else { continue };
        let name = match &declared.from {
            Columns::One(column) => column.clone(),
            _ => node.name.clone(),
        };
        let observed = declared.likelihood.is_some();
        let of = |stream: usize, rows: usize| numbers(node.ty.elem, observed, rows, stream);
        let levels = matches!(node.ty.elem, Elem::Category);
        data = match node.ty.shape.as_slice() {
            [rows] if levels => {
                let words: Vec<&str> = of(0, size(rows)).iter().map(|x| LEVELS[*x as usize - 1]).collect();
                data.words(&name, &words).unwrap()
            }
            [rows] => data.vector(&name, &of(0, size(rows))).unwrap(),
            [rows, cols] => (0..size(cols))
                .fold(data, |data, j| data.vector(&format!("{name}{}", j + 1), &of(j, size(rows))).unwrap()),
            shape => panic!("no data of shape {shape:?}"),
        };
    }
    data
}

/// Compiles without a warning, fits, converges, and predicts its own rows.
#[test]
fn every_example_runs() {
    let mut problems = Vec::new();
    for Entry { name, kind, example, .. } in entries() {
        let place = format!("{} {name}", kind.noun());
        let model = match Compiler::new().file(&place).compile(&example) {
            Ok(model) => model,
            Err(e) => {
                problems.push(format!("{place}: {e}"));
                continue;
            }
        };
        problems.extend(model.warnings().iter().map(|w| format!("{place}: {}", w.message)));
        let data = data_for(&model);
        match model.fit(&data, &Options::default()) {
            Err(e) => problems.push(format!("{place}: {e}")),
            Ok(fit) => {
                if !fit.converged() {
                    problems.push(format!("{place}: not converged"));
                }
                if let Err(e) = fit.predict(&data) {
                    problems.push(format!("{place}: {e}"));
                }
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn names_are_found_as_people_write_them() {
    let names = |wanted: &str| entry(wanted).iter().map(|e| e.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("rbf"), ["rbf", "rbf"]);
    assert_eq!(names("std.kernels.rbf"), ["rbf", "rbf"]);
    assert_eq!(names("normal"), ["Normal"]);
    assert_eq!(names("`~`"), ["tilde"]);
    assert_eq!(names("return"), ["prior"]);
    // a kernel and a basis
    assert_eq!(entry("polynomial").iter().map(|e| e.kind).collect::<Vec<_>>(), [Kind::Kernel, Kind::Basis]);
    assert!(
        names("std.kernels").contains(&"matern52".to_owned()) && names("kernels") == names("std.kernels")
    );
    assert_eq!(names("types").len(), 10);
    for nothing in ["", "  ", "\u{1b}[2J", "no such thing"] {
        assert!(entry(nothing).is_empty(), "{nothing:?}");
        assert_eq!(look_up(nothing).unwrap_err().code, "E0781");
    }
    let help = |name: &str| look_up(name).unwrap_err().help.unwrap();
    assert_eq!(help("Nromal"), "did you mean Normal?");
    assert_eq!(help("std.kernels.rfb"), "did you mean rbf?");
    assert!(help("E0301").contains("sbl explain E0301"));
}

#[test]
fn the_command_prints_the_entry() {
    for (name, says) in [
        ("rbf", "exp(−‖x − c‖² / width²)"),
        ("Ordinal", "cutpoints ="),
        ("variational", "What can go wrong"),
        ("min_gain", "14 %"),
        ("auto", "any param"),
        ("plate", "Buntine (1994)"),
    ] {
        let out = sbl(&["doc", name]).exits(0).out;
        assert!(out.contains(says) && out.contains("Example:") && out.contains("Source: "), "{out}");
        assert!(!out.contains('\x1b'));
    }
    let list = sbl(&["doc"]).exits(0).out;
    for section in contents() {
        assert!(list.contains(section.kind.title()), "{}", section.kind.title());
        for e in section.entries {
            assert!(list.lines().any(|l| l.trim_start().starts_with(&e.name)), "{}", e.name);
        }
    }
}
