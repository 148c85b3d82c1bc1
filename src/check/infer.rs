//! What `infer` asks for.

use crate::check::cx::Cx;
use crate::check::typed::{Infer, OptionValue};
use crate::diag::Diagnostic;
use crate::syntax::ast;

/// The statement as data; methods and options are looked at when a plan is made.
pub(crate) fn infer(cx: &mut Cx, stmt: Option<&ast::InferStmt>) -> Infer {
    let Some(stmt) = stmt else { return Infer::default() };
    let mut options: Vec<(String, OptionValue, crate::source::Span)> = Vec::new();
    for arg in &stmt.options {
        let Some(name) = &arg.name else {
            cx.report(
                Diagnostic::error("E0409", "options of `infer` are named")
                    .at(arg.value.span, "no name")
                    .help("write `max_iter = 100`"),
            );
            continue;
        };
        if options.iter().any(|(n, _, _)| *n == name.node) {
            cx.report(
                Diagnostic::error("E0409", format!("option `{}` is given twice", name.node))
                    .at(name.span, "given again")
                    .help("remove one of them"),
            );
            continue;
        }
        match value(&arg.value) {
            Some(v) => options.push((name.node.clone(), v, name.span.to(arg.value.span))),
            None => cx.report(
                Diagnostic::error("E0409", format!("option `{}` is a number or a word", name.node))
                    .at(arg.value.span, "neither")
                    .help("write the number itself, or one of the words its page lists"),
            ),
        }
    }
    let method = (stmt.method.node != "auto").then(|| stmt.method.node.clone());
    Infer { method, options, span: Some(stmt.method.span) }
}

fn value(e: &ast::Expr) -> Option<OptionValue> {
    match &e.kind {
        ast::ExprKind::Number(x, _) => Some(OptionValue::Number(*x)),
        ast::ExprKind::Neg(a) => match value(a)? {
            OptionValue::Number(x) => Some(OptionValue::Number(-x)),
            OptionValue::Word(_) => None,
        },
        ast::ExprKind::Paren(a) => value(a),
        ast::ExprKind::Name(w) | ast::ExprKind::Text(w) => Some(OptionValue::Word(w.clone())),
        _ => None,
    }
}
