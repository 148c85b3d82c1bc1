//! Imports, overrides, warnings, limits, and the pages of diagnostics.

use std::collections::BTreeMap;

use sbl::check::{self, Loader, NoFiles, Options, typed::Model};
use sbl::diag::{Diagnostics, codes};
use sbl::source::SourceMap;
use sbl::syntax::parse::parse;

use crate::check::{check_text, check_with, shown, typed};

/// Files by name.
struct Files(BTreeMap<&'static str, &'static str>);

impl Loader for Files {
    fn load(&self, _importing: &str, path: &str) -> Result<(String, String), String> {
        match self.0.get(path) {
            Some(text) => Ok((path.to_owned(), (*text).to_owned())),
            None => Err("no such file".to_owned()),
        }
    }
}

fn with_files(
    text: &str,
    files: &[(&'static str, &'static str)],
) -> Result<(Vec<Model>, Diagnostics), String> {
    let mut sources = SourceMap::new();
    let file = sources.add("main.sbl", text);
    let module = parse(file, text).unwrap_or_else(|_| panic!("{text}")).value;
    match check::check(&mut sources, &module, &Options::default(), &Files(files.iter().copied().collect())) {
        Ok(w) => Ok((w.value, w.warnings)),
        Err(d) => Err(shown(&d, &sources)),
    }
}

#[test]
fn a_file_is_imported() {
    let lib = "use std.kernels.rbf\nfn wide(x: real[N, D]) -> positive[N, train_rows] = rbf(x, width = 9)\nprior mine(n) {\n    w ~ Normal(0, sd = 1) [n]\n    return w\n}";
    let (models, warnings) =
        with_files("use \"lib.sbl\"\ndata x: real[N]\ndata t: real[N]\nlet phi = wide(x)\nw ~ mine(cols(phi))\nt ~ Normal(phi * w, sd = 1)", &[("lib.sbl", lib)]).unwrap();
    assert!(warnings.is_empty());
    let text = check::print_typed(&models[0]);
    assert!(text.contains("exp(-sqdist(column(x), train(column(x))) / 81)"), "{text}");
    // rbf is imported by the library, not by the program
    let wrong =
        with_files("use \"lib.sbl\"\ndata x: real[N]\nlet phi = rbf(x, width = 2)", &[("lib.sbl", lib)])
            .unwrap_err();
    assert!(wrong.contains("E0202"), "{wrong}");
}

#[test]
fn errors_in_an_imported_file_point_there() {
    let wrong = with_files("use \"lib.sbl\"\nmu ~ Flat()", &[("lib.sbl", "\nfn f(x: real) -> real = y")])
        .unwrap_err();
    assert!(wrong.contains("E0201 lib.sbl:2:25"), "{wrong}");
    let wrong = with_files("use \"lib.sbl\"\nmu ~ Flat()", &[("lib.sbl", "mu ~ Flat()")]).unwrap_err();
    assert!(wrong.contains("E0206") && wrong.contains("defines no `fn`"), "{wrong}");
    let wrong = with_files("use \"lib.sbl\"\nmu ~ Flat()", &[("lib.sbl", "fn fn")]).unwrap_err();
    assert!(wrong.contains("lib.sbl:1"), "{wrong}");
}

#[test]
fn import_circles_are_shown() {
    let files = [
        ("a.sbl", "use \"b.sbl\"\nfn f(x: real) -> real = x"),
        ("b.sbl", "use \"a.sbl\"\nfn g(x: real) -> real = x"),
    ];
    let wrong = with_files("use \"a.sbl\"\nmu ~ Flat()", &files).unwrap_err();
    assert!(wrong.contains("E0208 b.sbl:1:1") && wrong.contains("a.sbl → b.sbl → a.sbl"), "{wrong}");
    // one file by two ways is no circle
    let files = [
        ("a.sbl", "use \"c.sbl\"\nfn f(x: real) -> real = h(x)"),
        ("b.sbl", "use \"c.sbl\"\nfn g(x: real) -> real = h(x)"),
        ("c.sbl", "fn h(x: real) -> real = x"),
    ];
    with_files(
        "use \"a.sbl\"\nuse \"b.sbl\"\nlet a = f(1) + g(2)\nmu ~ Normal(a, sd = 1)\nlet b = mu",
        &files,
    )
    .unwrap();
}

#[test]
fn modules_and_full_paths() {
    let expected = typed("use std.kernels.matern32\ndata x: real[N]\nlet phi = matern32(x, width = 2)");
    assert_eq!(expected, typed("use std.kernels\ndata x: real[N]\nlet phi = kernels.matern32(x, width = 2)"));
    assert_eq!(expected, typed("data x: real[N]\nlet phi = std.kernels.matern32(x, width = 2)"));
    let priors = typed("use std.priors.ard\ndata t: real[N]\nw ~ ard(N)\nt ~ Normal(w, sd = 1)");
    assert_eq!(priors, typed("use std.priors\ndata t: real[N]\nw ~ priors.ard(N)\nt ~ Normal(w, sd = 1)"));
    assert_eq!(priors, typed("data t: real[N]\nw ~ std.priors.ard(N)\nt ~ Normal(w, sd = 1)"));
}

#[test]
fn constants_are_set_from_outside() {
    let set = |values: &[(&str, f64)]| Options {
        set: values.iter().map(|(n, x)| ((*n).to_owned(), *x)).collect(),
        ..Options::default()
    };
    let program = "use std.kernels.rbf\ndata x: real[N]\nlet width = 3.0\nlet K = 2\nlet twice = 2 * width\nlet phi = rbf(x, width = twice)\nw ~ Flat() [K]\nlet a = w";
    let (models, _, _) = check_with(program, &set(&[("width", 5.0), ("K", 4.0)]))
        .unwrap_or_else(|(d, s)| panic!("{}", shown(&d, &s)));
    let text = check::print_typed(&models[0]);
    for part in [
        "constant width: positive = 5",
        "constant K: count = 4",
        "constant twice: positive = 2 * width",
        "latent w: real[4]",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for (values, message, help) in [
        (&[("widht", 1.0)][..], "no constant `widht`", "did you mean `width`?"),
        (&[("phi", 1.0)], "`phi` cannot be set from outside", "only a constant `let`"),
        (&[("x", 1.0)], "`x` is data", "only a constant `let`"),
        (&[("K", 2.5)], "a dimension is a whole number", "whole number"),
        (&[("width", -1.0)], "is positive", ""),
    ] {
        let (d, sources) = check_with(program, &set(values)).map(|_| ()).unwrap_err();
        let text = shown(&d, &sources);
        assert!(text.contains(message) && text.contains(help), "{values:?}\n{text}");
        assert_eq!(d.iter().filter(|d| d.is_error()).count(), 1, "{text}");
        let settable = matches!(values[0].0, "K" | "width");
        assert_eq!(d[0].code == "E0212", !settable, "{text}");
    }
    // one of several models has the name
    let two =
        "model a { let s = 1.0\nmu ~ Normal(0, sd = s)\nlet z = mu }\nmodel b { mu ~ Flat()\nlet z = mu }";
    assert!(check_with(two, &set(&[("s", 2.0)])).is_ok());
}

#[test]
fn infer_is_overridden() {
    let infer = sbl::syntax::parse::parse_infer("evidence(max_iter = 5)").unwrap();
    let options = Options { infer: Some(infer), ..Options::default() };
    let (models, _, _) = check_with("data t: real[N]\nt ~ Normal(0, sd = 1)\ninfer variational", &options)
        .unwrap_or_else(|_| panic!());
    assert_eq!(models[0].infer.method.as_deref(), Some("evidence"));
    let text = typed("data t: real[N]\nt ~ Normal(0, sd = 1)\ninfer auto(tol = 1e-8, updates = em)");
    assert!(text.contains("infer auto(tol = 1e-8, updates = em)"), "{text}");
}

#[test]
fn several_errors_at_once_and_no_echoes() {
    let program = "data x: real[N, D]\ndata t: real[M]\nlet a = foo(x)\nlet b = a + 1\nlet c = x + t\nw ~ Normal(b, sdd = 1)\nt ~ Normal(c * w, precision = tau)";
    let (d, sources) = check_text(program).map(|_| ()).unwrap_err();
    let codes: Vec<&str> = d.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["E0202", "E0302", "E0211", "E0201"], "{}", shown(&d, &sources));
}

#[test]
fn warnings() {
    let warned = |text: &str| {
        let (_, warnings, sources) = check_text(text).unwrap_or_else(|(d, s)| panic!("{}", shown(&d, &s)));
        warnings
            .iter()
            .map(|w| {
                format!(
                    "{} {}",
                    w.code,
                    sources
                        .line_column(
                            w.primary.as_ref().unwrap().span.file,
                            w.primary.as_ref().unwrap().span.start
                        )
                        .0
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        warned(
            "use std.kernels.{rbf, cauchy}\ndata x: real[N]\ndata t: real[N]\nw ~ Flat() [N]\nt ~ Normal(x .* w, sd = 1)"
        ),
        ["W0201 1", "W0201 1"]
    );
    assert_eq!(
        warned(
            "data x: real[N]\ndata t: real[N]\nlet k = 2\nparam s: positive\nz ~ Flat()\nt ~ Normal(0, sd = 1)"
        ),
        ["W0202 1", "W0202 3", "W0202 4", "W0202 5"]
    );
    // sizes are uses, derived quantities are reported
    assert_eq!(
        warned(
            "data x: real[N, D]\ndata t: real[N]\nw ~ Flat() [cols(x)]\nlet d = w[1] - w[2]\nt ~ Normal(0, sd = 1)"
        ),
        [""; 0]
    );
    assert_eq!(warned("data sum: real[N]\nsum ~ Normal(0, sd = 1)"), ["W0203 1"]);
    assert_eq!(
        warned(
            "data x: real[N]\ndata z: real[N]\ndata t: real[N]\nb ~ Flat()\nt ~ Normal(b * (x * z), sd = 1)"
        ),
        ["W0301 5"]
    );
    assert_eq!(
        warned("data x: real[N]\ndata z: real[N]\ndata t: real[N]\nlet m = x * z\nt ~ Normal(m, sd = 1)"),
        ["W0301 4"]
    );
}

#[test]
fn constraints_wait_for_data() {
    let (models, _, _) = check_text("data x: real[N, D]\ndata z: real[N, M]\ndata y: category[N]\nw ~ Flat() [3]\nv ~ Flat() [M + 1]\ny ~ Bernoulli(logit = x * w + [1, z] * v)").unwrap_or_else(|(d, s)| panic!("{}", shown(&d, &s)));
    let text = check::print_typed(&models[0]);
    assert!(text.contains("constraint D = 3\n"), "{text}");
    assert!(text.contains("constraint levels(y) = 2\n"), "{text}");
    assert_eq!(models[0].constraints.len(), 2);
}

#[test]
fn deep_and_huge_programs_end() {
    // each level calls the one below twice: two to the thirtieth calls
    let mut doubling = String::from("fn f0(x: real) -> real = x + 1\n");
    for i in 1..31 {
        doubling += &format!("fn f{i}(x: real) -> real = min(f{0}(x), f{0}(x))\n", i - 1);
    }
    doubling += "mu ~ Flat()\nlet a = f30(mu)";
    // a long expression by calls of calls
    let mut long = String::from("fn g0(x: real) -> real = x .* x\n");
    for i in 1..8 {
        long += &format!("fn g{i}(x: real) -> real = g{0}(g{0}(g{0}(g{0}(x))))\n", i - 1);
    }
    long += "mu ~ Flat()\nlet a = g7(mu)";
    let chain: String = (0..120).map(|i| format!("fn h{}(x: real) -> real = h{i}(x) + 1\n", i + 1)).collect();
    let chain = format!("fn h0(x: real) -> real = x\n{chain}mu ~ Flat()\nlet a = h120(mu)");
    let nested = format!("mu ~ Flat()\nlet a = {}mu{}", "exp(".repeat(200), ")".repeat(200));
    let sum = format!("mu ~ Flat()\nlet a = {}", vec!["mu"; 400].join(" + "));
    let reversed: String = (0..3000).rev().map(|i| format!("let a{} = a{i} + 1\n", i + 1)).collect();
    let reversed = format!("{reversed}a0 ~ Flat()\n");
    let plates: String = "plate i%d in 2 {\n".to_owned();
    let plates = (0..100).map(|i| plates.replace("%d", &i.to_string())).collect::<String>()
        + "w ~ Flat()\n"
        + &"}\n".repeat(100);
    let priors: String =
        (1..200).map(|i| format!("prior p{i}(n) {{\nw ~ p{}(n)\nreturn w\n}}\n", i - 1)).collect();
    let priors = format!("prior p0(n) {{\nw ~ Flat() [n]\nreturn w\n}}\n{priors}w ~ p199(2)\nlet z = w");
    let deeper: String =
        (0..600).map(|i| format!("fn h{}(x: real) -> real = (h{i}(x) + 1)\n", i + 1)).collect();
    let deeper = format!("fn h0(x: real) -> real = x\n{deeper}mu ~ Flat()\nlet a = h600(mu)");
    let deeper_priors: String = (1..600)
        .map(|i| format!("prior p{i}(n) {{\nplate k in 1 {{\nw[k] ~ p{}(n)\n}}\nreturn w\n}}\n", i - 1))
        .collect();
    let deeper_priors =
        format!("prior p0(n) {{\nw ~ Flat()\nreturn w\n}}\n{deeper_priors}w ~ p599(2)\nlet z = w");
    for (name, program, code) in [
        ("doubling", &doubling, Some("E0504")),
        ("long", &long, Some("E0504")),
        ("chain", &chain, None),
        ("nested", &nested, None),
        ("sum", &sum, None),
        ("reversed", &reversed, None),
        ("plates", &plates, Some("E0214")),
        ("priors", &priors, None),
        ("deeper chain", &deeper, Some("E0504")),
        ("deeper priors", &deeper_priors, Some("E0504")),
    ] {
        let start = std::time::Instant::now();
        match (check_text(program), code) {
            (Ok((models, _, _)), None) => drop(check::print_typed(&models[0])),
            (Err((d, _)), Some(code)) => assert!(d.iter().any(|d| d.code == code), "{name}: {:?}", d.first()),
            (Ok(_), Some(_)) => panic!("{name} is accepted"),
            // beyond a limit it ends in a diagnostic, never in an overflow
            (Err((d, s)), None) => {
                assert!(d.iter().all(|d| d.code == "E0504" || d.code == "E0113"), "{name}: {}", shown(&d, &s))
            }
        }
        assert!(start.elapsed().as_secs() < 20, "{name}: {:?}", start.elapsed());
        println!("{name}: {:?}", start.elapsed());
    }
}

#[test]
fn pages_show_programs_that_trigger_their_code() {
    for code in codes::CODES {
        let stage = &code.code[..3];
        if !matches!(stage, "E02" | "E03" | "E04" | "E05" | "W02" | "W03")
            || code.code >= "E0550" && stage == "E05"
        {
            continue;
        }
        let mut blocks = code.page.split("```sbl\n").skip(1);
        // the circle of files, the command line and the host program are in tests of their own
        if matches!(code.code, "E0208" | "E0212" | "E0217") {
            continue;
        }
        let program = blocks
            .next()
            .and_then(|b| b.split("```").next())
            .unwrap_or_else(|| panic!("{} shows no program", code.code));
        let (found, sources) = match check_text(program) {
            Ok((_, warnings, sources)) => (warnings, sources),
            Err(found) => found,
        };
        assert!(found.iter().any(|d| d.code == code.code), "{}: {}", code.code, shown(&found, &sources));
        // and a later block is right
        for fixed in blocks.filter_map(|b| b.split("```").next()) {
            typed(fixed);
        }
    }
}

#[test]
fn no_files_by_default() {
    assert!(NoFiles.load("a", "b").is_err());
}

/// Swaps, drops and repeats words of right programs: whatever comes out, checking it ends without a panic,
/// and every span lies in its file.
#[test]
fn mangled_programs_end_in_a_diagnostic() {
    let mut words: Vec<Vec<String>> = Vec::new();
    for dir in ["examples", "tests/programs"] {
        let dir = format!("{}/{dir}", env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "sbl")) {
            let text = std::fs::read_to_string(path).unwrap();
            let mut list = vec![String::new()];
            let mut kind = 0;
            for c in text.chars() {
                let k = if c.is_alphanumeric() || c == '_' || c == '.' { 1 } else { 2 };
                if k == 2 || k != kind {
                    list.push(String::new());
                }
                kind = k;
                list.last_mut().unwrap().push(c);
            }
            words.push(list);
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let mut accepted = 0;
    for _ in 0..4000 {
        let mut list = words[random(words.len())].clone();
        for _ in 0..1 + random(3) {
            let (i, j) = (random(list.len()), random(list.len()));
            match random(4) {
                0 => drop(list.remove(i)),
                1 => list.swap(i, j),
                2 => list[i] = list[j].clone(),
                _ => {
                    let other = &words[random(words.len())];
                    list.insert(i, other[random(other.len())].clone());
                }
            }
        }
        let text = list.concat();
        let (found, sources) = match check_text(&text) {
            Ok((models, warnings, sources)) => {
                accepted += 1;
                models.iter().for_each(|m| drop(check::print_typed(m)));
                (warnings, sources)
            }
            Err(found) => found,
        };
        for label in found.iter().flat_map(|d| d.primary.iter().chain(&d.secondary)) {
            let file = sources.text(label.span.file);
            assert!(
                file.is_char_boundary(label.span.start as usize)
                    && file.is_char_boundary(label.span.end as usize),
                "{text}"
            );
        }
    }
    assert!(accepted > 100, "{accepted}");
}
