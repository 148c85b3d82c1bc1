//! The parser on programs: what is read, where it stands, what is warned about.

use sbl::source::{FileId, Span};
use sbl::syntax::ast::*;
use sbl::syntax::parse::{is_complete, parse, parse_expr, parse_infer, parse_statement};
use sbl::syntax::print::print_expr;
use sbl::syntax::token::{classify, lex};

const FILE: FileId = FileId(0);

#[test]
fn programs_of_the_language_description_parse() {
    for (name, text) in programs() {
        let parsed = parse(FILE, &text);
        assert!(parsed.as_ref().is_ok_and(|p| p.warnings.is_empty()), "{name}: {parsed:#?}");
    }
}

/// When the description of the language lies beside the repository, its programs are taken from there.
#[test]
fn the_description_beside_the_repository_parses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/design/language.md");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no {path}");
        return;
    };
    let programs: Vec<&str> =
        text.split("```sbl\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(programs.len() >= 3);
    for program in programs {
        assert!(parse(FILE, program).is_ok(), "{program}");
    }
}

#[test]
fn precedence_is_that_of_the_blackboard() {
    for (written, read) in [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a / b * c", "(a / b) * c"),
        ("a .* b ./ c * d", "((a .* b) ./ c) * d"),
        ("-a^2", "-(a^2)"),
        ("a^b^c", "a^(b^c)"),
        ("a^-b^c", "a^(-(b^c))"),
        ("a^-b * c", "(a^(-b)) * c"),
        ("-a * b", "(-a) * b"),
        ("a * -b + c", "(a * (-b)) + c"),
        ("--a", "-(-a)"),
        ("2.*x", "2 .* x"),
        ("2 .*x./y", "(2 .* x) ./ y"),
        ("x[1]^2", "(x[1])^2"),
        ("f(x)[_, j] + 1", "(f(x)[_, j]) + 1"),
        ("a\n", "a"),
        ("a *\n\n  b", "a * b"),
        ("(a\n + b)", "(a + b)"),
    ] {
        let parsed = |text: &str| parse_expr(FILE, text).unwrap_or_else(|e| panic!("{text}: {e:#?}")).value;
        assert_eq!(bare(parsed(written)), bare(parsed(read)), "{written}");
    }
}

/// A tree without brackets and places.
fn bare(expr: Expr) -> String {
    fn walk(expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Paren(inner) => walk(inner),
            ExprKind::Neg(inner) => format!("(- {})", walk(inner)),
            ExprKind::Binary(op, left, right) => format!("({} {} {})", op.symbol(), walk(left), walk(right)),
            ExprKind::Index(inner, slots) => {
                let slots: Vec<String> = slots.iter().map(|s| s.as_ref().map_or("_".into(), walk)).collect();
                format!("({}[{}])", walk(inner), slots.join(" "))
            }
            _ => print_expr(expr),
        }
    }
    walk(&expr)
}

#[test]
fn spans_cover_what_was_written() {
    let text = "## doc\nmodel m {  # c\n  t ~ Normal(a + b , sd = 1) [N]  # c\n  let y = (x)[1] # d\n}\n";
    let module = parse(FILE, text).unwrap().value;
    let Item::Model(model) = &module.items[0] else { panic!() };
    let slice = |span: Span| &text[span.start as usize..span.end as usize];
    assert_eq!(model.doc.as_deref(), Some("doc"));
    assert!(slice(model.span).starts_with("model m {") && slice(model.span).ends_with('}'));
    assert_eq!(slice(model.body[0].span), "t ~ Normal(a + b , sd = 1) [N]");
    let StatementKind::Tilde(t) = &model.body[0].kind else { panic!() };
    assert_eq!(slice(t.args[0].value.span), "a + b");
    let StatementKind::Let(y) = &model.body[1].kind else { panic!() };
    assert_eq!((slice(y.span), slice(y.value.span)), ("let y = (x)[1]", "(x)[1]"));
}

#[test]
fn pieces_parse_alone() {
    let infer = parse_infer("evidence(max_iter = 5, updates = em)").unwrap();
    assert_eq!((infer.method.node.as_str(), infer.options.len()), ("evidence", 2));
    assert_eq!(parse_infer(" auto ").unwrap().method.node, "auto");
    for wrong in ["", "evidence(max_iter==5)", "evidence(", "evidence auto", "infer auto", "2"] {
        assert!(!parse_infer(wrong).unwrap_err().is_empty(), "{wrong}");
    }
    assert!(matches!(parse_statement(FILE, "let a = 1\n").unwrap().value, Item::Statement(_)));
    assert!(matches!(parse_statement(FILE, "model m {\n mu ~ Flat() }").unwrap().value, Item::Model(_)));
    for wrong in ["", "# nothing", "let a = 1; let b = 2", "1 + 2"] {
        assert!(!parse_statement(FILE, wrong).unwrap_err().is_empty(), "{wrong}");
    }
    for wrong in ["", "1 +", "let a = 1", "a b", "(a", "a; b"] {
        assert!(!parse_expr(FILE, wrong).unwrap_err().is_empty(), "{wrong}");
    }
}

#[test]
fn a_prompt_knows_when_to_read_on() {
    for open in [
        "model m {",
        "t ~ Normal(0,",
        "let a =",
        "let a = b +",
        "t ~ # c",
        "x = [1\n",
        "model m {\n a ~ Flat()\n",
    ] {
        assert!(!is_complete(open), "{open}");
    }
    for done in
        ["", "let a = 1", "model m { }", "let a = )", "let a = \"b", "let a = (]", "# c {", "let a = 2x ("]
    {
        assert!(is_complete(done), "{done}");
    }
}

#[test]
fn documentation_without_a_declaration_is_a_warning() {
    let text = "## kept\nlet a = 1  ## stray\n## lost\n\nlet b = 2\n## gone\n";
    let parsed = parse(FILE, text).unwrap();
    let Item::Statement(first) = &parsed.value.items[0] else { panic!() };
    assert_eq!(first.doc.as_deref(), Some("kept"));
    let found: Vec<_> =
        parsed.warnings.iter().map(|w| (w.code, w.primary.as_ref().unwrap().span.start)).collect();
    assert_eq!(found, [("W0101", 19), ("W0101", 28), ("W0101", 47)]);
    assert_eq!(parse(FILE, "let a = 1e-400").unwrap().warnings[0].code, "W0102");
}

#[test]
fn words_are_coloured_by_what_they_are() {
    let text = "data x: real[N] # c\nlet y = rbf(x, 2.0)\nt ~ Normal(y, sd = 1) weight k";
    let tokens = lex(text);
    let classes = classify(text, &tokens);
    let class = |word: &str| {
        let at = tokens.iter().position(|t| t.text(text) == word).unwrap();
        format!("{:?}", classes[at])
    };
    let expected = [
        ("data", "Keyword"),
        ("x", "Name"),
        ("real", "Type"),
        ("# c", "Comment"),
        ("rbf", "Function"),
        ("2.0", "Number"),
        ("~", "Operator"),
        ("weight", "Keyword"),
        ("k", "Name"),
        ("(", "Punctuation"),
    ];
    for (word, wanted) in expected {
        assert_eq!(class(word), wanted, "{word}");
    }
}

/// Every program under `tests/programs`.
pub fn programs() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    programs.sort();
    assert!(programs.len() >= 4);
    programs
}
