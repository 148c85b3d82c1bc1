//! Help, version, wrong command lines, `explain`, `completions`.

use std::process::{Command, Stdio};

use super::cli_run::{Place, sbl};

const COMMANDS: [&str; 17] = [
    "new",
    "check",
    "fmt",
    "graph",
    "plan",
    "emit",
    "fit",
    "predict",
    "plot",
    "score",
    "show",
    "cv",
    "compare",
    "sample",
    "explain",
    "doc",
    "completions",
];

#[test]
fn help_of_every_command() {
    insta::assert_snapshot!("help", sbl(&["--help"]).exits(0).out);
    for command in COMMANDS {
        let ran = sbl(&[command, "--help"]).exits(0);
        assert_eq!(ran.err, "");
        assert!(!ran.out.contains('\x1b'));
        insta::assert_snapshot!(format!("help_{command}"), ran.out);
        assert_eq!(sbl(&["help", command]).exits(0).out, ran.out);
    }
}

#[test]
fn version() {
    assert_eq!(sbl(&["--version"]).exits(0).out, format!("sbl {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage: sbl"),
        (&["fitt"], "'fit'"),
        (&["fit", "m.sbl"], "--data"),
        (&["fit", "m.sbl", "--data", "d", "--set", "width"], "expected NAME=NUMBER"),
        (&["fit", "m.sbl", "--data", "d", "--set", "width=wide"], "expected a finite number"),
        (&["cv", "m.sbl", "--data", "d", "--grid", "width"], "expected NAME=NUMBER"),
        (&["cv", "m.sbl", "--data", "d", "--grid", "width=1,wide"], "expected finite numbers"),
        (&["cv", "m.sbl", "--data", "d", "--folds", "0"], "whole number from 1"),
        (&["compare"], "FILE|FIT"),
        (&["fit", "m.sbl", "--data", "d", "--seed", "-1"], "seed"),
        (&["fit", "m.sbl", "--data", "d", "--threads", "0"], "whole number from 1"),
        (&["fit", "m.sbl", "--data", "d", "--max-time", "0"], "positive number of seconds"),
        (&["fit", "m.sbl", "--data", "d", "--max-memory", "lots"], "500M"),
        (&["fit", "m.sbl", "--data", "d", "--delimiter", "ab"], "one punctuation character"),
        (&["fit", "m.sbl", "--data", "d", "--format", "xml"], "text, json"),
        (&["graph", "m.sbl", "--dsep", "a"], "--dsep"),
        (&["graph", "m.sbl", "--given", "a"], "--dsep"),
        (&["graph", "m.sbl", "--blanket", "a", "--dsep", "a", "b"], "cannot be used with"),
        (&["emit", "tree", "m.sbl"], "tokens, ast, typed, dag, plan"),
        (&["new", "-q", "-v", "--data", "d", "--target", "t"], "cannot be used with"),
        (&["completions", "tcsh"], "bash"),
        (&["check"], "<FILE>"),
        (&["--color", "red", "doc"], "auto, always, never"),
    ];
    for (args, says) in cases {
        let ran = sbl(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(says), "{args:?}: {says:?} is not in\n{}", ran.err);
    }
}

#[test]
fn explain_shows_the_page() {
    let page = sbl(&["explain", "E0753"]).exits(0).out;
    assert!(page.starts_with("# E0753: ") && page.ends_with('\n') && page.contains("--delimiter"));
    for other in ["e0753", "error[E0753]"] {
        assert_eq!(sbl(&["explain", other]).exits(0).out, page);
    }
    assert!(sbl(&["explain"]).exits(0).out.contains("E0753  "));
    // the page of E0780 mentions E9999, and is not asked for
    let ran = sbl(&["explain", "E9999"]).exits(1);
    assert!(ran.out.is_empty() && ran.err.contains("there is no diagnostic \"E9999\""), "{}", ran.err);
    let ran = sbl(&["explain", "E0799"]).exits(1);
    assert!(
        ran.out.is_empty() && ran.err.contains("error[E0780]: there is no diagnostic \"E0799\""),
        "{}",
        ran.err
    );
}

/// Words find what is about them, best first; a slip the closest code or word.
#[test]
fn explain_looks_for_words() {
    let names = |words: &[&str]| -> Vec<String> {
        let ran = sbl(&[&["explain"], words].concat()).exits(0);
        assert!(ran.err.contains("this is about it"), "{}", ran.err);
        ran.out.lines().filter_map(|l| l.trim().split(' ').nth(2).map(str::to_owned)).collect()
    };
    for (words, wanted) in [
        (&["shapes"][..], "E0301"),
        (&["convergence"], "W0808"),
        (&["separation"], "W0812"),
        (&["jitter"], "W0810"),
        (&["missing", "targets"], "W0703"),
        (&["min_gain"], "min_gain"),
    ] {
        assert_eq!(names(words)[0], wanted, "{words:?}");
    }
    // entries stand beside diagnostics
    assert!(names(&["pruned"]).iter().any(|n| n == "min_gain" || n == "ard"), "{:?}", names(&["pruned"]));
    assert_eq!(names(&["noise"]), names(&["NOISE"]));
    let ran = sbl(&["explain", "E03O1"]).exits(1);
    assert!(ran.err.contains("did you mean E0301?"), "{}", ran.err);
    let ran = sbl(&["explain", "seperated"]).exits(1);
    assert!(ran.err.contains("did you mean `sbl explain separated`?"), "{}", ran.err);
    let ran = sbl(&["explain", "xyzzy"]).exits(1);
    assert!(ran.err.contains("error[E0780]") && ran.err.contains("lists all codes"), "{}", ran.err);
}

#[test]
fn every_code_about_files_has_a_page_with_an_example() {
    for code in
        sbl::diag::codes::CODES.iter().filter(|c| c.code[1..].starts_with("07") && &c.code[3..4] >= "5")
    {
        assert!(code.page.starts_with(&format!("# {}: {}\n", code.code, code.title)), "{}", code.code);
        assert!(code.page.contains("```") && code.page.contains("**Fix.**"), "{}", code.code);
    }
}

#[test]
fn completions_are_scripts() {
    for (shell, mark) in [("bash", "complete -F _sbl"), ("zsh", "#compdef sbl"), ("fish", "complete -c sbl")]
    {
        let script = sbl(&["completions", shell]).exits(0).out;
        assert!(script.contains(mark), "{shell}");
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
    let place = Place::new();
    place.file("sbl.bash", sbl(&["completions", "bash"]).out);
    match Command::new("bash").arg("-n").arg(place.path("sbl.bash")).stderr(Stdio::null()).status() {
        Ok(status) => assert!(status.success()),
        Err(_) => eprintln!("skipped: no bash to parse the script"),
    }
}

#[test]
fn colours() {
    let place = Place::new();
    let colored = |command: &mut Command| {
        let ran = super::cli_run::ran(command.output().unwrap());
        ran.err.contains('\x1b')
    };
    let args = ["new", "--data", "none.csv", "--target", "t"];
    assert!(!colored(&mut place.command(&args)));
    assert!(!colored(place.command(&args).env("TERM", "dumb")));
    let always = ["--color", "always", "new", "--data", "none.csv", "--target", "t"];
    assert!(colored(&mut place.command(&always)));
    // The option is the later word.
    assert!(colored(place.command(&always).env("NO_COLOR", "1")));
    assert!(colored(place.command(&args).env("CLICOLOR_FORCE", "1")));
    assert!(!colored(place.command(&args).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")));
    assert!(sbl(&["--color=always", "--help"]).out.contains('\x1b'));
    assert!(sbl(&["--color", "always", "explain"]).out.contains('\x1b'));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::new();
    for args in [&["completions", "bash"][..], &["--help"], &["explain"]] {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = super::cli_run::ran(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_exits_with_4() {
    let place = Place::new();
    for args in [&["completions", "bash"][..], &["explain"], &["--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = super::cli_run::ran(place.command(args).stdout(full).output().unwrap());
        assert_eq!(ran.code, 4, "{args:?}: {}", ran.err);
    }
}
