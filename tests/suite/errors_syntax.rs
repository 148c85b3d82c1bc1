//! Wrong programs: code, line and help of what the parser says.

use sbl::diag::Diagnostic;
use sbl::source::{FileId, SourceMap};
use sbl::syntax::parse::parse;

/// One expected error: its code, its line, a part of its message, a part of its help.
type Expected = (&'static str, usize, &'static str, &'static str);

/// Programs and every error they must give, in order.
const WRONG: &[(&str, &[Expected])] = &[
    // found and expected
    ("data x: real[N] frm column(\"age\")", &[("E0101", 1, "found `frm`", "")]),
    ("let a = b c", &[("E0101", 1, "found `c`, expected", "`b * c` for a product")]),
    ("let a = [1, 2 3]", &[("E0101", 1, "found `3`", "or a comma")]),
    ("let a = 2(b + c)", &[("E0101", 1, "found `(` after `2`", "`2 * (…)`")]),
    ("let a = f(x: 1)", &[("E0101", 1, "found `:`", "named argument is written with `=`")]),
    ("let a = + b", &[("E0101", 1, "found `+`, expected an expression", "no unary `+`")]),
    ("let a = [1, , 2]", &[("E0101", 1, "found `,`, expected `]` or an expression", "remove the comma")]),
    ("let a = []", &[("E0101", 1, "found `]`, expected an expression", "")]),
    ("let a", &[("E0101", 1, "found the end of the text, expected `[` or `=`", "")]),
    ("let a\nlet b = 1", &[("E0101", 1, "found the end of the line, expected `[` or `=`", "")]),
    ("var a = 1", &[("E0101", 1, "found `a`", "write `let` instead of `var`")]),
    ("import std.kernels", &[("E0101", 1, "found `std`", "write `use` instead of `import`")]),
    (
        "use std.kernels.*",
        &[(
            "E0101",
            1,
            "found `.*`, but `use` names what it imports",
            "write `use std.kernels.NAME` or `use std.kernels.{A, B}` for some of it, or `use std.kernels` and `kernels.NAME(…)`",
        )],
    ),
    ("use std.priors.{*}", &[("E0101", 1, "found `*`, but `use` names", "`use std.priors.NAME`")]),
    ("use std.prior.ard", &[("E0106", 1, "reserved word `prior`", "in the plural: `use std.priors.ard`")]),
    (
        "use std.model.{rvm}",
        &[("E0106", 1, "reserved word `model`", "in the plural: `use std.models.{rvm}`")],
    ),
    (
        "plate i in 1:5 { z[i] ~ Flat() }",
        &[("E0101", 1, "found `:`", "write the size alone, `plate i in 5`")],
    ),
    ("let a = x[1:3]", &[("E0101", 1, "found `:`", "there are no ranges")]),
    ("t ~ Normal(0, sd: 1)", &[("E0101", 1, "found `:`", "a named argument is written with `=`")]),
    ("data {\n  x: real[N]\n}", &[("E0101", 1, "found `{`", "begin each declaration with `data`")]),
    ("use std.kernels.rbf as k", &[("E0101", 1, "found `as`", "keeps its name")]),
    ("use std.kernels.rbf, std.priors.ard", &[("E0101", 1, "found `,`", "a `use` of its own for each path")]),
    ("from std.kernels import rbf", &[("E0101", 1, "expected `use`", "write `use std.kernels.rbf`")]),
    ("from std.kernels import rbf, cauchy", &[("E0101", 1, "", "write `use std.kernels.{rbf, cauchy}`")]),
    ("use *", &[("E0101", 1, "found `*`", "")]),
    ("hello world", &[("E0101", 1, "found `world`", "a statement begins with data, let")]),
    ("t ~ tau", &[("E0101", 1, "expected `(` and the arguments of `tau`", "one family or prior")]),
    ("t ~ Flat", &[("E0101", 1, "expected `(` and the arguments of `Flat`", "`Flat(…)`")]),
    (
        "t ~ 2 * Normal(0, sd = 1)",
        &[("E0101", 1, "found `2`, expected a family or prior", "compute the parts")],
    ),
    ("t ~ Normal(0, sd = 1) + 1", &[("E0101", 1, "found `+` after the arguments", "one family or prior")]),
    ("w[1] ~ Flat()", &[("E0101", 1, "found `1`, expected a name", "plate index")]),
    (
        "data x: real[N] from column(medv)",
        &[("E0101", 1, "expected a string", "names of columns are strings")],
    ),
    ("data x: real[N] from file(\"a\")", &[("E0101", 1, "found `file`", "`from column(\"a\")`")]),
    ("data x: {a, b}[N]", &[("E0111", 1, "found `{`, expected a type", "element types")]),
    (
        "model a { mu ~ Flat() } model b { mu ~ Flat() }",
        &[("E0101", 1, "found `model` after `}`", "start a new line")],
    ),
    // characters
    ("let a = 2 × x", &[("E0102", 1, "found `×` (U+00D7)", "write `*`")]),
    ("let a = b − c", &[("E0102", 1, "found `−` (U+2212)", "write `-`")]),
    ("t ∼ Flat()", &[("E0102", 1, "found `∼`", "write `~`")]),
    ("let a = phi·w", &[("E0102", 1, "found `·`", "write `*`")]),
    ("let a = x²", &[("E0102", 1, "found `²`", "`^2`")]),
    ("let a = 'b'", &[("E0102", 1, "found `'`", "double quotes")]),
    ("let a =\u{a0}b", &[("E0102", 1, "U+00A0", "plain blank")]),
    ("let a = 1 # \u{202e}b", &[("E0102", 1, "reverses the writing direction", "remove it")]),
    ("let a = \0", &[("E0102", 1, "control character U+0000", "remove it")]),
    // brackets
    (
        "t ~ Normal(phi * w, precision = tau\ninfer evidence",
        &[("E0103", 1, "found a new statement, expected `)`", "`)`")],
    ),
    ("t ~ Normal(phi * w, precision = tau\nw ~ Flat()", &[("E0103", 1, "expected `)`", "`)`")]),
    ("model m {\n  t ~ Normal(a, sd = (2\n}", &[("E0103", 2, "found `}`, expected `)`", "`)`")]),
    ("let a = f(b]", &[("E0103", 1, "found `]`, expected `)`", "write `)`")]),
    ("let a = [f(b]", &[("E0103", 1, "found `]`, expected `)`", "close it with `)`")]),
    ("let a = b)", &[("E0103", 1, "found `)`, but no bracket is open", "remove it")]),
    ("model m {\n  mu ~ Flat()\n", &[("E0103", 3, "the end of the file, expected `}`", "close the block")]),
    ("mu ~ Flat()\n}", &[("E0103", 2, "no block is open", "remove it")]),
    ("let a = [1,\n  2,\n", &[("E0103", 1, "the end of the file, expected `]`", "`]`")]),
    // strings and numbers
    ("data x: real[N] from column(\"medv)", &[("E0104", 1, "end of the line, expected `\"`", "close it")]),
    ("use \"lib\\mine.sbl\"", &[("E0104", 1, "found `\\m` in a string", "write `/`")]),
    ("let a = .5", &[("E0105", 1, "found `.5`", "write `0.5`")]),
    ("let a = 2. * b", &[("E0105", 1, "found `2.`", "write `2.0` or `2`")]),
    ("let a = 2x", &[("E0105", 1, "found `2x`", "write `2 * x`")]),
    ("let a = 1_000", &[("E0105", 1, "found `1_000`", "write `1000`")]),
    ("let a = 1e", &[("E0105", 1, "found `1e`", "exponent")]),
    ("let a = 1e999", &[("E0105", 1, "too large", "unit")]),
    // reserved words
    ("data data: real[N]", &[("E0106", 1, "reserved word `data`", "from column(\"data\")")]),
    ("let a = 2 * model", &[("E0106", 1, "reserved word `model`", "use another name")]),
    ("let in = 2", &[("E0106", 1, "reserved word `in`", "use another name")]),
    ("plate in N { }", &[("E0101", 1, "found `in`, expected a name", "")]),
    ("let a = b from column(\"c\")", &[("E0101", 1, "found `from`", "end of a `data` statement")]),
    // line breaks
    ("let y = a\n  + b", &[("E0107", 2, "found `+`", "move `+` to the end of the line above")]),
    ("u ~ Normal(0, sd = 1)\n  [levels(s)]", &[("E0107", 2, "found `[`", "up to the line above")]),
    ("data x: real[N]\n  from column(\"x\")", &[("E0107", 2, "found `from`", "up to the line above")]),
    ("t ~ Normal(0, sd = 1)\n  weight k", &[("E0107", 2, "found `weight`", "up to the line above")]),
    ("let y = a +\ndata x: real", &[("E0117", 1, "the statement ends after `+`", "finish the statement")]),
    ("let y =", &[("E0117", 1, "the statement ends after `=`", "finish the statement")]),
    ("t ~\n\nlet a = 1", &[("E0117", 1, "after `~`, expected a family or prior", "")]),
    // signs
    ("tau = Gamma(0, 0)", &[("E0108", 1, "found `=`, expected `~`", "write `tau ~ Gamma(…)`")]),
    ("y = 2 * x", &[("E0108", 1, "found `=`, expected `~`", "write `let y = …`")]),
    ("alpha[m] = Gamma(0, 0)", &[("E0108", 1, "found `=`, expected `~`", "write `alpha[m] ~ Gamma(…)`")]),
    ("let w ~ Flat()", &[("E0108", 1, "found `~`, expected `=`", "write `w ~ …`")]),
    ("param s: real ~ Flat()", &[("E0108", 1, "found `~`", "write `s ~ …` without `param`")]),
    ("data t: real[N] ~ Flat()", &[("E0108", 1, "found `~`", "on a line of its own, `t ~ …`")]),
    ("x: real[N]", &[("E0108", 1, "found `:`, expected `~`", "write `data x: …`")]),
    ("y := 2", &[("E0108", 1, "found `:=`", "write `let y = …`")]),
    ("a <- 2", &[("E0109", 1, "found `<`", "write `let y = …`")]),
    // comparisons and other languages
    ("let a = b == c", &[("E0109", 1, "found `==`", "one `=`")]),
    ("let a = b < c", &[("E0109", 1, "found `<`, but there are no comparisons", "prepare such a column")]),
    ("let a = b >= c", &[("E0109", 1, "found `>=`", "prepare such a column")]),
    ("let a = b ** 2", &[("E0109", 1, "found `**`, expected `^`", "write `^`")]),
    ("let a = b && c", &[("E0109", 1, "found `&&`", "the operators are")]),
    ("t ~ Normal(0 | tau)", &[("E0109", 1, "found `|`", "read from the right side")]),
    ("let a = 2 // twice", &[("E0112", 1, "found `//`", "write `#`")]),
    // blocks
    ("model sinc\n{\n  mu ~ Flat()\n}", &[("E0110", 1, "the end of the line, expected `{`", "move `{` up")]),
    ("for n in N {\n  t[n] ~ Flat()\n}", &[("E0110", 1, "only `model`, `plate`", "write `plate n in N {`")]),
    ("parameters {\n  mu ~ Flat()\n}", &[("E0110", 1, "found `{`", "no sections")]),
    ("plate n in N", &[("E0110", 1, "expected `{`", "write `plate … {`")]),
    ("model {\n  mu ~ Flat()\n}", &[("E0101", 1, "found `{`, expected a name", "")]),
    ("model m {\n  use std.priors.ard\n}", &[("E0118", 2, "found `use` inside a block", "move it out")]),
    ("prior p(n) {\n  w ~ Flat() [n]\n}", &[("E0118", 3, "expected `return`", "`return w`")]),
    ("prior p(n) {\n  return w\n  w ~ Flat()\n}", &[("E0118", 2, "before the end", "move it")]),
    ("prior p(n) {\n  return 2 * w\n}", &[("E0101", 2, "found `2`, expected a name", "")]),
    ("prior p(n) {\n  return w * 2\n}", &[("E0101", 2, "found `*`", "names one node")]),
    // types
    ("data x", &[("E0111", 1, "expected `:` and a type", "`x: real[N]`")]),
    (
        "data x\ndata t: real",
        &[("E0111", 1, "found the end of the line, expected `:` and a type", "`x: real[N]`")],
    ),
    ("data x[N]", &[("E0111", 1, "found `[`", "`x: real[…]`")]),
    ("data x real[N]", &[("E0111", 1, "found `real`", "`x: real`")]),
    ("param s = 1", &[("E0111", 1, "found `=`, expected `:` and a type", "`s: real`")]),
    ("data x:", &[("E0111", 1, "expected a type", "element types")]),
    ("data x: [N]", &[("E0111", 1, "found `[`, expected a type", "element types")]),
    ("fn f(x) -> real = x", &[("E0111", 1, "expected `:` and a type", "`x: real`")]),
    ("fn f(x: real) = x", &[("E0111", 1, "found `=`, expected `->`", "-> real[N]")]),
    // blanks
    ("let a = f (x)", &[("E0116", 1, "found a blank before `(`", "write `f(…`")]),
    ("let a = x [1]", &[("E0116", 1, "found a blank before `[`", "write `x[…`")]),
    // one file
    (
        "data t: real[N]\nmodel m {\n  mu ~ Flat()\n}",
        &[("E0115", 1, "outside the models", "move it into a model")],
    ),
    // several at once, each where it is
    (
        "data x\nlet a = b c\n\nmodel m {\n  w = Flat()\n  t ~ Normal(0, sd = 1)\n  let y = 2 × 3\n}\nlet z = )",
        &[
            ("E0111", 1, "", ""),
            ("E0101", 2, "", ""),
            ("E0108", 5, "", ""),
            ("E0102", 7, "", ""),
            ("E0103", 9, "", ""),
        ],
    ),
    (
        "fn f(x: real) -> real {\n  let a = b c\n  let d = = 2\n  a +\n}",
        &[("E0101", 2, "", ""), ("E0101", 3, "", ""), ("E0117", 4, "", "")],
    ),
];

#[test]
fn wrong_programs_say_what_is_wrong_and_what_would_help() {
    let mut failed = Vec::new();
    for (program, expected) in WRONG {
        let mut sources = SourceMap::new();
        let file = sources.add("wrong.sbl", program);
        let errors = parse(file, program).err().unwrap_or_default();
        let fits = errors.len() == expected.len()
            && errors.iter().zip(*expected).all(|(error, &(code, line, message, help))| {
                error.code == code
                    && line_of(&sources, error) == line
                    && error.message.contains(message)
                    && error.help.as_deref().unwrap_or("").contains(help)
            });
        if !fits {
            let got: Vec<_> =
                errors.iter().map(|e| (e.code, line_of(&sources, e), &e.message, &e.help)).collect();
            failed.push(format!("{program}\n   expected {expected:?}\n   got      {got:?}"));
        }
        for error in &errors {
            assert!(sbl::diag::codes::find(error.code).is_some(), "{} has no page", error.code);
            assert!(!error.message.ends_with('.'), "{}", error.message);
        }
    }
    assert!(failed.is_empty(), "{} wrong:\n{}", failed.len(), failed.join("\n"));
}

/// The first program on a page shows the error, unless it would have to be huge.
#[test]
fn pages_show_programs_that_trigger_their_code() {
    for code in
        sbl::diag::codes::CODES.iter().filter(|c| c.code.starts_with("E01") || c.code.starts_with("W01"))
    {
        assert!(code.page.starts_with(&format!("# {}: ", code.code)), "{}", code.code);
        let program = code.page.split("```sbl\n").nth(1).and_then(|rest| rest.split("```").next());
        let program = program.unwrap_or_else(|| panic!("{} has no program", code.code));
        let codes: Vec<&str> = match parse(FileId(0), program) {
            Ok(parsed) => parsed.warnings.iter().map(|w| w.code).collect(),
            Err(errors) => errors.iter().map(|e| e.code).collect(),
        };
        assert!(program.contains("imagine") || codes.contains(&code.code), "{}: {codes:?}", code.code);
    }
}

#[test]
fn a_thousand_errors_are_cut_to_a_hundred() {
    let start = std::time::Instant::now();
    let errors = parse(FileId(0), &"let = 1\n".repeat(1000)).unwrap_err();
    assert_eq!(errors.len(), 101);
    assert_eq!((errors[100].code, errors[100].message.as_str()), ("E0199", "… and 900 more"));
    assert!(start.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn columns_are_right_behind_other_alphabets_and_line_ends() {
    for end in ["\n", "\r\n", "\r"] {
        let program = format!("let α = 1{end}let τ = α α{end}");
        let errors = parse(FileId(0), &program).unwrap_err();
        let span = errors[0].primary.as_ref().unwrap().span;
        assert_eq!(&program[span.start as usize..span.end as usize], "α");
        assert_eq!(span.start as usize, program.rfind('α').unwrap());
    }
}

fn line_of(sources: &SourceMap, error: &Diagnostic) -> usize {
    error.primary.as_ref().map_or(0, |label| sources.line_column(label.span.file, label.span.start).0)
}
