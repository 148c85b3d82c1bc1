//! Too much of everything: a diagnostic, in time, never a stack overflow.

use std::time::{Duration, Instant};

use sbl::source::FileId;
use sbl::syntax::parse::parse;
use sbl::syntax::print::{format, print_ast, print_source};

const FILE: FileId = FileId(0);

/// Runs in a thread with the stack of a worker, 2 MiB, and tells how long it took.
fn small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> (T, Duration) {
    let start = Instant::now();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap();
    (thread.join().unwrap(), start.elapsed())
}

#[test]
fn huge_and_deep_texts_end_in_a_diagnostic() {
    let million = 1_000_000;
    let texts = [
        ("brackets", format!("let a = {}1{}", "(".repeat(million), ")".repeat(million)), "E0114"),
        ("brackets in size", format!("let a = {}1{}", "(".repeat(300_000), ")".repeat(300_000)), "E0113"),
        ("open brackets", "[".repeat(500_000), "E0113"),
        ("signs", format!("let a = {}1", "-".repeat(1_000_000)), "E0114"),
        ("some signs", format!("let a = {}1", "-".repeat(9_000)), "E0113"),
        ("powers", format!("let a = 2{}", "^2".repeat(500_000)), "E0114"),
        ("some powers", format!("let a = 2{}", "^2".repeat(9_000)), "E0113"),
        ("sums", format!("let a = 2{}", " + 2".repeat(9_999)), "E0113"),
        ("indices", format!("let a = x{}", "[1]".repeat(9_000)), "E0113"),
        ("plates", "plate n in N {\n".repeat(50_000), "E0113"),
        ("statements", "w ~ Flat()\n".repeat(million), "E0114"),
        ("100 MB", "let a = 1\n".repeat(10 * million), "E0114"),
        ("a long string", format!("let a = \"{}", "b".repeat(1_000_000)), "E0104"),
    ];
    for (name, text, code) in texts {
        let (errors, time) = small_stack(move || parse(FILE, &text).unwrap_err());
        assert_eq!(errors[0].code, code, "{name}: {:?}", errors[0]);
        assert!(errors.len() <= 2, "{name}: {}", errors.len());
        assert!(time < Duration::from_secs(1), "{name}: {time:?}");
    }
}

#[test]
fn texts_at_the_limits_are_read() {
    let deep = |open: &str, n: usize, close: &str| format!("let a = {}1{}", open.repeat(n), close.repeat(n));
    let texts = [
        ("brackets", deep("(", 255, ")")),
        ("joins", deep("[", 255, "]")),
        ("calls", deep("f(", 255, ")")),
        ("named arguments", deep("f(x = ", 255, ")")),
        ("indices", deep("x[", 255, "]")),
        ("sums", format!("let a = 1{}", " + 1".repeat(255))),
        ("plates", format!("{}{}", "plate n in N {\n".repeat(256), "}".repeat(256))),
        ("many arguments", format!("let a = [1{}]", ", 1 + 2".repeat(9_999))),
        ("many statements", "w ~ Flat()\n".repeat(90_000)),
        ("one comment", "#".repeat(1_000_000)),
        ("many comments", "#\n".repeat(500_000)),
        ("blanks", " ".repeat(1_000_000)),
    ];
    for (name, text) in texts {
        let (result, time) = small_stack(move || {
            let parsed = parse(FILE, &text).map(|p| p.value);
            if let Ok(module) = &parsed {
                assert_eq!(module, &module.clone());
                assert!(!print_ast(module).contains('\u{0}'));
                let source = print_source(module);
                assert_eq!(print_ast(&parse(FILE, &source).unwrap().value), print_ast(module));
                format(&text).unwrap();
                assert!(!format!("{module:?}").is_empty());
            }
            parsed.map(drop)
        });
        assert!(result.is_ok(), "{name}: {:?}", result.err().map(|e| e[0].clone()));
        assert!(time < Duration::from_secs(20), "{name}: {time:?}");
    }
}

/// Twice as deep must not take exponentially longer: no alternatives that share a prefix.
#[test]
fn time_grows_with_the_length() {
    type Probe = (&'static str, Box<dyn Fn(usize) -> String>);
    let probes: Vec<Probe> = vec![
        ("parens", Box::new(|n| format!("let a = {}1{}", "(".repeat(n), ")".repeat(n)))),
        ("joins", Box::new(|n| format!("let a = {}1{}", "[".repeat(n), "]".repeat(n)))),
        ("calls", Box::new(|n| format!("let a = {}1{}", "f(x = ".repeat(n), ")".repeat(n)))),
        ("mixed", Box::new(|n| format!("let a = {}1{}", "f(-(x[[".repeat(n / 4), "]]))".repeat(n / 4)))),
        ("plates", Box::new(|n| format!("{}{}", "plate n in N {\n".repeat(n), "}\n".repeat(n)))),
        ("dims", Box::new(|n| format!("u ~ Flat() {}1{}", "[levels(".repeat(n / 2), ")]".repeat(n / 2)))),
        ("unclosed", Box::new(|n| format!("let a = {}", "(".repeat(n)))),
        ("wrong inside", Box::new(|n| format!("let a = {}b c{}", "f(x, ".repeat(n), ")".repeat(n)))),
    ];
    for (name, text) in probes {
        let time = |n: usize| {
            let text = text(n);
            let best = (0..15).map(|_| {
                let start = Instant::now();
                for _ in 0..4 {
                    let _ = parse(FILE, &text);
                }
                start.elapsed()
            });
            best.min().unwrap()
        };
        let (single, double) = (time(60), time(120));
        // a busy machine stretches both; exponential growth would still be seen by far
        assert!(double < single * 60 + Duration::from_millis(50), "{name}: {single:?}, then {double:?}");
    }
}
