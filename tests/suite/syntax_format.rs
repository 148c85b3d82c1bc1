//! The formatter: one layout, the same program, the same comments.

use proptest::prelude::*;
use sbl::source::FileId;
use sbl::syntax::parse::parse;
use sbl::syntax::print::{format, print_ast};
use sbl::syntax::token::{TokenKind, lex};

use crate::syntax::programs;

const FILE: FileId = FileId(0);

#[test]
fn formatting_is_canonical() {
    for (written, wanted) in [
        ("let a=b+c*-d^2 ;let e=[1,2 ,x[1 , _]]", "let a = b + c * -d^2\nlet e = [1, 2, x[1, _]]\n"),
        ("\n\n\nlet a=1\n\n\n\nlet b=2", "let a = 1\n\nlet b = 2\n"),
        ("model m{\n\nmu~Flat()\n\n}# end", "model m {\n    mu ~ Flat()\n}  # end\n"),
        ("plate n in N{t[n]~Flat()}", "plate n in N {\n    t[n] ~ Flat()\n}\n"),
        ("u~Normal(0,sd=1)[levels (s)]", ""),
        ("u~Normal(0,sd=1)[levels(s)]weight (k)", "u ~ Normal(0, sd = 1) [levels(s)] weight (k)\n"),
        ("u~Normal(0,sd=1) weight f(k)[1]", "u ~ Normal(0, sd = 1) weight f(k)[1]\n"),
        ("data y :ordered {a<-1<\"b c\",}", ""),
        (
            "data y :ordered {a<-1<\"b c\"} [N]from column( \"y\" )",
            "data y: ordered{a < -1 < \"b c\"}[N] from column(\"y\")\n",
        ),
        ("use std.priors . {ard,\nridge,}", "use std.priors.{ard, ridge}\n"),
        ("let a = 1 # c  \n#d\n  ## e\nlet b = 2", "let a = 1  # c\n#d\n## e\nlet b = 2\n"),
        (
            "let a = f(\n1,# one\n# above two\n2\n# below\n)",
            "let a = f(\n    1,  # one\n    # above two\n    2,\n    # below\n)\n",
        ),
        ("let a = 1 + # one\n2", "let a = 1 +  # one\n    2\n"),
        ("let a =\n# why\n1", "let a =\n    # why\n    1\n"),
        ("model m {}", "model m {\n}\n"),
        ("", ""),
        ("# only a comment", "# only a comment\n"),
        ("\u{feff}let a = 1\r\nlet b = 2\r", "let a = 1\nlet b = 2\n"),
    ] {
        assert_eq!(format(written).unwrap_or_default(), wanted, "{written}");
    }
}

#[test]
fn long_statements_are_broken_where_it_reads_well() {
    let text = "t ~ Normal(first_long_name * second_long_name + third_long_name, precision = fourth_long_name * fifth_name)
let y = a_rather_long_name(x) + another_long_name(y) + a_third_long_name(z) + a_fourth_long_name(u) + last(v)
fn kernel(x: real[N, D], c: real[M, D] = train(x), width: positive = 1) -> real[N, M] = exp(-sqdist(x, c) / width^2)
let z = [f(one_argument_that_is_long, another_argument_that_is_long), g(a_third_argument_that_is_long), 1, 2, 3, 4]
";
    let wanted = "t ~ Normal(
    first_long_name * second_long_name + third_long_name,
    precision = fourth_long_name * fifth_name,
)
let y = a_rather_long_name(x) + another_long_name(y) + a_third_long_name(z) +
    a_fourth_long_name(u) + last(v)
fn kernel(x: real[N, D], c: real[M, D] = train(x), width: positive = 1) -> real[N, M] =
    exp(-sqdist(x, c) / width^2)
let z = [
    f(one_argument_that_is_long, another_argument_that_is_long),
    g(a_third_argument_that_is_long),
    1,
    2,
    3,
    4,
]
";
    let got = format(text).unwrap();
    assert_eq!(got, wanted);
    assert!(got.lines().all(|line| line.chars().count() <= 100), "{got}");
}

#[test]
fn formatting_keeps_programs_and_comments() {
    for (name, text) in programs() {
        check_format(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// The formatted program has the same tree, the same comments, and stays as it is.
pub fn check_format(text: &str) -> Result<String, TestCaseError> {
    let once = format(text).map_err(|e| TestCaseError::fail(format!("{text}\ndoes not format: {e:?}")))?;
    let twice = format(&once).map_err(|e| TestCaseError::fail(format!("{text}\nbecomes\n{once}\n{e:?}")))?;
    prop_assert_eq!(&twice, &once, "not stable");
    let tree = |text: &str| print_ast(&parse(FILE, text).unwrap().value);
    prop_assert_eq!(tree(&once), tree(text), "another program:\n{}", once);
    let comments = |text: &str| -> Vec<String> {
        let comment = |k: TokenKind| matches!(k, TokenKind::Comment | TokenKind::Doc);
        lex(text).iter().filter(|t| comment(t.kind)).map(|t| t.text(text).trim_end().to_owned()).collect()
    };
    prop_assert_eq!(comments(&once), comments(text), "other comments:\n{}", once);
    prop_assert!(once.lines().all(|line| line.trim_end() == line), "blanks at line ends:\n{}", once);
    Ok(once)
}
