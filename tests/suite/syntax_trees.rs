//! Random syntax trees, for property tests.

use proptest::prelude::*;
use sbl::source::{FileId, Span, Spanned};
use sbl::syntax::ast::*;
use sbl::syntax::print::print_source;
use sbl::syntax::token::{Token, TokenKind, lex};

const FILE: FileId = FileId(0);

fn at<T>(node: T) -> Spanned<T> {
    Spanned::new(node, Span::default())
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "x",
        "y",
        "phi",
        "α",
        "w_1",
        "database",
        "returns",
        "weight",
        "return",
        "column",
        "_a",
        "größe",
        "日本",
        "in_",
        "a_name_that_takes_more_than_a_third_of_the_line",
    ])
    .prop_map(str::to_owned)
}

fn ident() -> impl Strategy<Value = Ident> {
    name().prop_map(at)
}

fn text() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["", "a", "two words", "a \"quote\"", "back\\slash", "#", "é{", "~ \t"])
        .prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = ExprKind> {
    proptest::sample::select(vec!["0", "1", "3.0", "1e-6", "2.5E+3", "007", "12345678901234567890"])
        .prop_map(|text| ExprKind::Number(text.parse().unwrap(), text.to_owned()))
}

/// `inner`, in brackets if its outermost operator is looser than `least`; an independent statement of the
/// table in the language description.
fn closed(inner: Expr, least: u8) -> Expr {
    let tight = match &inner.kind {
        ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) => 1,
        ExprKind::Binary(BinOp::Mul | BinOp::Div | BinOp::ElMul | BinOp::ElDiv, ..) => 2,
        ExprKind::Neg(..) => 3,
        ExprKind::Binary(BinOp::Pow, ..) => 4,
        _ => 5,
    };
    if tight < least { expr(ExprKind::Paren(Box::new(inner))) } else { inner }
}

fn expression() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        number(),
        text().prop_map(ExprKind::Text),
        name().prop_map(ExprKind::Name),
        proptest::collection::vec(ident(), 2..4).prop_map(ExprKind::Path),
    ]
    .prop_map(expr);
    leaf.prop_recursive(5, 40, 4, |inner| {
        let op = proptest::sample::select(vec![
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::Div,
            BinOp::ElMul,
            BinOp::ElDiv,
            BinOp::Pow,
        ]);
        let slot = prop_oneof![1 => Just(None), 3 => inner.clone().prop_map(Some)];
        prop_oneof![
            4 => (op, inner.clone(), inner.clone()).prop_map(|(op, left, right)| {
                let (l, r) = match op {
                    BinOp::Add | BinOp::Sub => (1, 2),
                    BinOp::Pow => (5, 3),
                    _ => (2, 3),
                };
                expr(ExprKind::Binary(op, Box::new(closed(left, l)), Box::new(closed(right, r))))
            }),
            1 => inner.clone().prop_map(|e| expr(ExprKind::Neg(Box::new(closed(e, 3))))),
            1 => inner.clone().prop_map(|e| expr(ExprKind::Paren(Box::new(e)))),
            2 => (ident(), arguments(inner.clone())).prop_map(|(name, args)| expr(ExprKind::Call(name, args))),
            1 => (inner.clone(), proptest::collection::vec(slot, 1..3))
                .prop_map(|(e, slots)| expr(ExprKind::Index(Box::new(closed(e, 5)), slots))),
            1 => proptest::collection::vec(inner, 1..4).prop_map(|items| expr(ExprKind::Join(items))),
        ]
    })
}

fn arguments(value: impl Strategy<Value = Expr>) -> impl Strategy<Value = Vec<Arg>> {
    let arg = (proptest::option::of(ident()), value).prop_map(|(name, value)| Arg { name, value });
    proptest::collection::vec(arg, 0..4)
}

fn type_expr(with_levels: bool) -> impl Strategy<Value = TypeExpr> {
    let level = prop_oneof![
        name(),
        text(),
        Just("-1".to_owned()),
        Just("12".to_owned()),
        Just("data".to_owned()),
        Just("3x".to_owned())
    ];
    let levels = (any::<bool>(), proptest::collection::vec(level.prop_map(at), 1..4)).prop_map(
        |(ascending, names)| Levels { ascending: ascending && names.len() > 1, names, span: Span::default() },
    );
    let levels = proptest::option::of(levels).prop_map(move |levels| levels.filter(|_| with_levels));
    (ident(), levels, proptest::collection::vec(expression(), 0..3))
        .prop_map(|(elem, levels, dims)| TypeExpr { elem, levels, dims, span: Span::default() })
}

fn let_statement() -> impl Strategy<Value = LetStmt> {
    (ident(), proptest::collection::vec(ident(), 0..3), expression())
        .prop_map(|(name, indices, value)| LetStmt { name, indices, value, span: Span::default() })
}

fn doc() -> impl Strategy<Value = Option<String>> {
    proptest::sample::select(vec![
        None,
        None,
        Some("one line".to_owned()),
        Some("two\n\n  lines `x`".to_owned()),
    ])
}

fn statement() -> impl Strategy<Value = Statement> {
    let columns = || proptest::collection::vec(text().prop_map(at), 1..3);
    let from = prop_oneof![
        text().prop_map(|c| From::Column(at(c))),
        columns().prop_map(From::Columns),
        columns().prop_map(From::Except)
    ];
    let tilde = (
        ident(),
        proptest::collection::vec(ident(), 0..3),
        prop_oneof![name(), Just("std.priors.ard".to_owned())],
        arguments(expression()),
        proptest::option::of(proptest::collection::vec(expression(), 1..3)),
        proptest::option::of(expression()),
    )
        .prop_map(|(name, indices, family, args, dims, weight)| {
            StatementKind::Tilde(TildeStmt { name, indices, family: at(family), args, dims, weight })
        });
    let leaf = prop_oneof![
        (ident(), type_expr(true), proptest::option::of(from))
            .prop_map(|(name, ty, from)| StatementKind::Data { name, ty, from }),
        let_statement().prop_map(StatementKind::Let),
        (ident(), type_expr(true), proptest::option::of(expression()))
            .prop_map(|(name, ty, start)| StatementKind::Param { name, ty, start }),
        tilde,
        (ident(), arguments(expression()))
            .prop_map(|(method, options)| StatementKind::Infer(InferStmt { method, options })),
    ];
    let leaf = (doc(), leaf).prop_map(|(doc, kind)| Statement { doc, kind, span: Span::default() });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (doc(), ident(), expression(), proptest::collection::vec(inner, 0..3)).prop_map(
            |(doc, index, extent, body)| Statement {
                doc,
                kind: StatementKind::Plate { index, extent, body },
                span: Span::default(),
            },
        )
    })
}

fn parameters(typed: bool) -> impl Strategy<Value = Vec<FnParam>> {
    let param = (ident(), type_expr(true), any::<bool>(), proptest::option::of(expression())).prop_map(
        move |(name, ty, keep, default)| FnParam { name, ty: (typed || keep).then_some(ty), default },
    );
    proptest::collection::vec(param, 0..3)
}

fn declaration() -> impl Strategy<Value = Item> {
    let path = || proptest::collection::vec(ident(), 1..4);
    let target = prop_oneof![
        path().prop_map(UseTarget::Path),
        (path(), path()).prop_map(|(path, names)| UseTarget::Names(path, names)),
        text().prop_map(|file| UseTarget::File(at(file))),
    ];
    let span = Span::default();
    prop_oneof![
        target.prop_map(move |target| Item::Use(Use { target, span })),
        (
            doc(),
            ident(),
            parameters(true),
            type_expr(false),
            proptest::collection::vec(let_statement(), 0..3),
            expression()
        )
            .prop_map(move |(doc, name, params, result, lets, body)| Item::Fn(FnDef {
                doc,
                name,
                params,
                result,
                lets,
                body,
                span
            })),
        (doc(), ident(), parameters(false), proptest::collection::vec(statement(), 0..3), ident()).prop_map(
            move |(doc, name, params, body, result)| Item::Prior(PriorDef {
                doc,
                name,
                params,
                body,
                result,
                span
            })
        ),
    ]
}

pub fn module() -> impl Strategy<Value = Shown> {
    let model = (doc(), ident(), proptest::collection::vec(statement(), 0..4))
        .prop_map(|(doc, name, body)| Item::Model(ModelDef { doc, name, body, span: Span::default() }));
    let rest = prop_oneof![
        proptest::collection::vec(model, 0..3),
        proptest::collection::vec(statement().prop_map(Item::Statement), 0..5)
    ];
    (proptest::collection::vec(declaration(), 0..3), rest).prop_map(|(first, rest)| {
        Shown(Module { file: FILE, items: first.into_iter().chain(rest).collect() })
    })
}

/// A tree that a failing test shows as a program.
pub struct Shown(pub Module);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", print_source(&self.0))
    }
}

/// The same tokens with other blanks, line breaks and comments, wherever the language allows them.
pub fn shuffled(text: &str, choices: &[u8]) -> String {
    let mut out = String::new();
    let mut depth: Vec<TokenKind> = Vec::new();
    let mut choice = choices.iter().cycle();
    let tokens: Vec<_> = lex(text).into_iter().collect();
    let mut code = false;
    for (i, token) in tokens.iter().enumerate() {
        let before = tokens[..i].iter().rev().find(|t| t.kind != TokenKind::Blank);
        let c = *choice.next().unwrap();
        match token.kind {
            // A line break at the end of a statement: perhaps with a comment, perhaps twice.
            TokenKind::Newline if depth.is_empty() && !before.is_some_and(|t| t.kind.continues()) => {
                let after_doc = before.is_some_and(|t| t.kind == TokenKind::Doc);
                out.push_str(match c % 8 {
                    _ if after_doc || !code => "\n",
                    0 => "  # behind\n",
                    1 => "\n# above\n",
                    2 => "\n\n\n",
                    3 => ";\n",
                    4 => "#\r\n",
                    _ => "\n",
                });
                code = false;
            }
            TokenKind::Newline => out.push_str(["\n", " ", " # inside\n", "\n\n # alone\n"][c as usize % 4]),
            TokenKind::Blank => out.push_str([" ", "  ", "\t"][c as usize % 3]),
            kind => {
                let list = kind.is_open() && (kind != TokenKind::OpenBrace || opens_list(&tokens, i));
                if kind.is_close() && !depth.is_empty() {
                    if c.is_multiple_of(5) {
                        out.push_str(["\n", " # before close\n", "\n# alone\n"][c as usize % 3]);
                    }
                    depth.pop();
                }
                out.push_str(token.text(text));
                code = kind != TokenKind::Doc;
                if list {
                    depth.push(kind);
                }
                let level = kind == TokenKind::Minus && depth.last() == Some(&TokenKind::OpenBrace);
                let loose = !depth.is_empty() && (list || matches!(kind, TokenKind::Comma | TokenKind::Less));
                if (loose || kind.continues() && !level) && c.is_multiple_of(4) {
                    out.push_str(["\n", " # after\n", "\n\n# alone\n", " "][(c / 4) as usize % 4]);
                }
            }
        }
    }
    out
}

/// In canonical layout the brace of a block follows a blank, that of a list does not.
fn opens_list(tokens: &[Token], at: usize) -> bool {
    at > 0 && tokens[at - 1].kind != TokenKind::Blank
}
