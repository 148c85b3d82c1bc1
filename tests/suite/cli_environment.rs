//! Environments that a program meets: narrow and dumb terminals, other locales, closed streams, pipes for files.

use std::process::Command;

use super::cli_run::{Place, Ran, ran};

fn place() -> Place {
    let place = Place::new();
    place
        .file(
            "m.sbl",
            "use std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nw ~ ard(D)\nmu ~ Flat()\n\
                        tau ~ Gamma(0, 0)\nt ~ Normal(mu + x * w, precision = tau)\n",
        )
        .file("d.csv", "x1,x2,t\n0,1,0.1\n1,0,1.2\n2,2,1.9\n3,1,3.2\n4,0,3.9\n")
        .file("wrong.sbl", "data t: real[N]\nt ~ Normal(mö, sd = 1)\n");
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    place
}

fn shell(place: &Place, script: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("SBL", env!("CARGO_BIN_EXE_sbl")).env("LANG", "C.UTF-8");
    ran(command.current_dir(place.path(".")).output().unwrap())
}

/// Without UTF-8 nothing but ASCII leaves the program by itself, and the result is the same.
#[test]
fn a_locale_without_unicode_gets_ascii() {
    let place = place();
    for args in [&["show", "m.sblfit"][..], &["check", "wrong.sbl"], &["fit", "m.sbl", "--data", "d.csv"]] {
        for (name, value) in [("LANG", "C"), ("LC_ALL", "POSIX")] {
            let ran = ran(place.command(args).env(name, value).output().unwrap());
            let own = ran.err.replace('ö', "o");
            assert!(ran.out.is_ascii() && own.is_ascii(), "{args:?}, {name}={value}: {ran:?}");
        }
    }
}

/// Narrow or dumb terminals, and no environment at all: the same results, no control characters.
#[test]
fn any_terminal_gets_the_same_results() {
    let place = place();
    let plain = place.run(&["show", "m.sblfit"]).exits(0).out;
    for (name, value) in
        [("COLUMNS", "20"), ("COLUMNS", "0"), ("COLUMNS", "x"), ("TERM", "dumb"), ("TERM", "")]
    {
        let ran = ran(place.command(&["show", "m.sblfit"]).env(name, value).output().unwrap()).exits(0);
        assert_eq!(ran.out, plain, "{name}={value}");
        let help = place.command(&["fit", "--help"]).env(name, value).output().unwrap();
        assert!(super::cli_run::ran(help).exits(0).out.contains("--data"));
    }
    let bare = ran(place.command(&["show", "m.sblfit"]).env_clear().output().unwrap()).exits(0);
    assert_eq!(bare.out.replace("+-", "±"), plain);
    assert!(!bare.out.contains('\u{1b}'));
}

#[cfg(unix)]
#[test]
fn closed_streams_are_no_panic() {
    let place = place();
    for (script, code) in [
        ("exec \"$SBL\" show m.sblfit >&-", 0),
        ("exec \"$SBL\" show m.sblfit 2>&-", 0),
        ("exec \"$SBL\" check wrong.sbl 2>&-", 1),
        ("exec \"$SBL\" show m.sblfit <&-", 0),
        ("exec \"$SBL\" predict m.sblfit --data - <&-", 1),
        ("exec \"$SBL\" predict m.sblfit --data - </dev/null", 1),
        ("exec \"$SBL\" predict m.sblfit --data d.csv >&- 2>&- <&-", 0),
    ] {
        let ran = shell(&place, script);
        assert_eq!(ran.code, code, "{script}: {ran:?}");
        assert!(!ran.err.contains("panic"), "{script}: {}", ran.err);
    }
    let empty = shell(&place, "exec \"$SBL\" predict m.sblfit --data - </dev/null");
    assert!(empty.err.contains("standard input has no rows: found an empty file"), "{}", empty.err);
}

#[cfg(unix)]
#[test]
fn pipes_serve_as_files() {
    let place = place();
    let expected = place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out;
    let script =
        "mkfifo pipe.csv && { cat d.csv > pipe.csv & exec \"$SBL\" predict m.sblfit --data pipe.csv; }";
    assert_eq!(shell(&place, script).exits(0).out, expected);
    assert_eq!(
        shell(&place, "cat d.csv | \"$SBL\" predict m.sblfit --data /dev/stdin").exits(0).out,
        expected
    );
    // a fit through a pipe, and a fit written into one
    let script = "cat m.sblfit | \"$SBL\" predict /dev/stdin --data d.csv";
    assert_eq!(shell(&place, script).exits(0).out, expected);
    let written = shell(&place, "\"$SBL\" -q fit m.sbl --data d.csv -o /dev/stderr >/dev/null");
    assert!(written.err.starts_with("sblfit 1\nsha256 "), "{}", written.err);
}

/// Wide tables and long lines end in a table or in an error, in a moment.
#[test]
fn wide_tables_and_long_lines() {
    let place = place();
    let started = std::time::Instant::now();
    let names: Vec<String> = (0..100_000).map(|j| format!("v{j}")).collect();
    let row = vec!["0.5"; 100_000].join(",");
    place.file("wide.csv", format!("{}\n{row}\n{row}\n", names.join(",")));
    place.file("one.sbl", "data v7: real[N]\nmu ~ Flat()\nv7 ~ Normal(mu, sd = 1)\n");
    place.run(&["fit", "one.sbl", "--data", "wide.csv"]).exits(0);
    let capped = place.run(&["fit", "one.sbl", "--data", "wide.csv", "--max-memory", "3M"]).exits(1);
    assert!(capped.err.contains("E0762") && capped.err.contains("--max-memory"), "{}", capped.err);
    place.file("long.csv", format!("v7\n\"{}\"\n", "x".repeat(20_000_000)));
    let long = place.run(&["fit", "one.sbl", "--data", "long.csv"]).exits(1);
    assert!(long.err.len() < 10_000 && long.err.contains("E0703"), "{} bytes", long.err.len());
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}
