//! From the tree back to a program.

use crate::syntax::ast::*;
use crate::syntax::print::format;

/// A program that parses to this tree, in canonical layout. Brackets are added where precedence needs
/// them and the tree has none.
pub fn print_source(module: &Module) -> String {
    let mut out = String::new();
    for (i, item) in module.items.iter().enumerate() {
        let groups = |item: &Item| matches!(item, Item::Statement(_) | Item::Use(_));
        if i > 0 && !(groups(item) && groups(&module.items[i - 1])) {
            out.push('\n');
        }
        write_item(&mut out, item);
    }
    format(&out).unwrap_or(out)
}

/// One expression, on one line.
pub fn print_expr(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, 0);
    out
}

fn write_item(out: &mut String, item: &Item) {
    match item {
        Item::Use(item) => {
            out.push_str("use ");
            match &item.target {
                UseTarget::Path(path) => out.push_str(&names(path, ".")),
                UseTarget::Names(path, imported) => {
                    out.push_str(&names(path, "."));
                    out.push_str(".{");
                    out.push_str(&names(imported, ", "));
                    out.push('}');
                }
                UseTarget::File(file) => write_text(out, &file.node),
            }
            out.push('\n');
        }
        Item::Fn(item) => {
            write_doc(out, item.doc.as_deref());
            out.push_str("fn ");
            out.push_str(&item.name.node);
            write_params(out, &item.params);
            out.push_str(" -> ");
            write_type(out, &item.result);
            if item.lets.is_empty() {
                out.push_str(" = ");
                write_expr(out, &item.body, 0);
                out.push('\n');
            } else {
                out.push_str(" {\n");
                for statement in &item.lets {
                    write_let(out, statement);
                    out.push('\n');
                }
                write_expr(out, &item.body, 0);
                out.push_str("\n}\n");
            }
        }
        Item::Prior(item) => {
            write_doc(out, item.doc.as_deref());
            out.push_str("prior ");
            out.push_str(&item.name.node);
            write_params(out, &item.params);
            out.push_str(" {\n");
            write_statements(out, &item.body);
            out.push_str("return ");
            out.push_str(&item.result.node);
            out.push_str("\n}\n");
        }
        Item::Model(item) => {
            write_doc(out, item.doc.as_deref());
            out.push_str("model ");
            out.push_str(&item.name.node);
            out.push_str(" {\n");
            write_statements(out, &item.body);
            out.push_str("}\n");
        }
        Item::Statement(statement) => write_statements(out, std::slice::from_ref(statement)),
    }
}

fn write_doc(out: &mut String, doc: Option<&str>) {
    for line in doc.iter().flat_map(|doc| doc.split('\n')) {
        out.push_str(if line.is_empty() { "##" } else { "## " });
        out.push_str(line);
        out.push('\n');
    }
}

fn write_statements(out: &mut String, statements: &[Statement]) {
    for statement in statements {
        write_doc(out, statement.doc.as_deref());
        match &statement.kind {
            StatementKind::Data { name, ty, from } => {
                out.push_str("data ");
                out.push_str(&name.node);
                out.push_str(": ");
                write_type(out, ty);
                if let Some(from) = from {
                    write_from(out, from);
                }
            }
            StatementKind::Let(statement) => write_let(out, statement),
            StatementKind::Param { name, ty, start } => {
                out.push_str("param ");
                out.push_str(&name.node);
                out.push_str(": ");
                write_type(out, ty);
                if let Some(start) = start {
                    out.push_str(" = ");
                    write_expr(out, start, 0);
                }
            }
            StatementKind::Tilde(statement) => write_tilde(out, statement),
            StatementKind::Plate { index, extent, body } => {
                out.push_str("plate ");
                out.push_str(&index.node);
                out.push_str(" in ");
                write_expr(out, extent, 0);
                out.push_str(" {\n");
                write_statements(out, body);
                out.push('}');
            }
            StatementKind::Infer(infer) => {
                out.push_str("infer ");
                out.push_str(&infer.method.node);
                if !infer.options.is_empty() {
                    write_args(out, &infer.options);
                }
            }
        }
        out.push('\n');
    }
}

fn write_let(out: &mut String, statement: &LetStmt) {
    out.push_str("let ");
    out.push_str(&statement.name.node);
    write_indices(out, &statement.indices);
    out.push_str(" = ");
    write_expr(out, &statement.value, 0);
}

fn write_tilde(out: &mut String, statement: &TildeStmt) {
    out.push_str(&statement.name.node);
    write_indices(out, &statement.indices);
    out.push_str(" ~ ");
    out.push_str(&statement.family.node);
    write_args(out, &statement.args);
    if let Some(dims) = &statement.dims {
        out.push(' ');
        write_list(out, '[', dims, ']');
    }
    if let Some(weight) = &statement.weight {
        out.push_str(" weight ");
        write_expr(out, weight, 0);
    }
}

fn write_indices(out: &mut String, indices: &[Ident]) {
    if !indices.is_empty() {
        out.push('[');
        out.push_str(&names(indices, ", "));
        out.push(']');
    }
}

fn write_from(out: &mut String, from: &From) {
    let (word, columns) = match from {
        From::Column(column) => ("column", std::slice::from_ref(column)),
        From::Columns(columns) => ("columns", columns.as_slice()),
        From::Except(columns) => ("except", columns.as_slice()),
    };
    out.push_str(" from ");
    out.push_str(word);
    out.push('(');
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_text(out, &column.node);
    }
    out.push(')');
}

fn write_params(out: &mut String, params: &[FnParam]) {
    out.push('(');
    for (i, param) in params.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&param.name.node);
        if let Some(ty) = &param.ty {
            out.push_str(": ");
            write_type(out, ty);
        }
        if let Some(default) = &param.default {
            out.push_str(" = ");
            write_expr(out, default, 0);
        }
    }
    out.push(')');
}

fn write_type(out: &mut String, ty: &TypeExpr) {
    out.push_str(&ty.elem.node);
    if let Some(levels) = &ty.levels {
        out.push('{');
        for (i, level) in levels.names.iter().enumerate() {
            if i > 0 {
                out.push_str(if levels.ascending { " < " } else { ", " });
            }
            write_level(out, &level.node);
        }
        out.push('}');
    }
    if !ty.dims.is_empty() {
        write_list(out, '[', &ty.dims, ']');
    }
}

/// A level without quotes if it is a word or an integer.
fn write_level(out: &mut String, level: &str) {
    use crate::syntax::token::{TokenKind, lex};
    let digits = level.strip_prefix('-').unwrap_or(level);
    let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let word =
        matches!(lex(level).as_slice(), [only] if matches!(only.kind, TokenKind::Word | TokenKind::Keyword));
    if integer || word {
        out.push_str(level);
    } else {
        write_text(out, level);
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

fn write_list(out: &mut String, open: char, exprs: &[Expr], close: char) {
    out.push(open);
    for (i, expr) in exprs.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_expr(out, expr, 0);
    }
    out.push(close);
}

fn write_args(out: &mut String, args: &[Arg]) {
    out.push('(');
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        if let Some(name) = &arg.name {
            out.push_str(&name.node);
            out.push_str(" = ");
        }
        write_expr(out, &arg.value, 0);
    }
    out.push(')');
}

/// How tight the outermost operator binds: `+ -` 1, `* /` 2, unary `-` 3, `^` 4, anything closed 5.
fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) => 1,
        ExprKind::Binary(BinOp::Pow, ..) => 4,
        ExprKind::Binary(..) => 2,
        ExprKind::Neg(_) => 3,
        _ => 5,
    }
}

/// Writes an expression that must bind at least as tight as `least`.
fn write_expr(out: &mut String, expr: &Expr, least: u8) {
    if level(expr) < least {
        out.push('(');
        write_expr(out, expr, 0);
        out.push(')');
        return;
    }
    match &expr.kind {
        ExprKind::Number(_, text) => out.push_str(text),
        ExprKind::Text(text) => write_text(out, text),
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::Path(path) => out.push_str(&names(path, ".")),
        ExprKind::Neg(inner) => {
            out.push('-');
            write_expr(out, inner, 3);
        }
        ExprKind::Binary(op, left, right) => {
            // Left of `^` only what is closed; right of it a minus may stand: `a^-b`.
            let (below_left, below_right) = match op {
                BinOp::Add | BinOp::Sub => (1, 2),
                BinOp::Pow => (5, 3),
                _ => (2, 3),
            };
            write_expr(out, left, below_left);
            if *op == BinOp::Pow {
                out.push('^');
            } else {
                out.push(' ');
                out.push_str(op.symbol());
                out.push(' ');
            }
            write_expr(out, right, below_right);
        }
        ExprKind::Call(name, args) => {
            out.push_str(&name.node);
            write_args(out, args);
        }
        ExprKind::Index(inner, slots) => {
            write_expr(out, inner, 5);
            out.push('[');
            for (i, slot) in slots.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                match slot {
                    Some(expr) => write_expr(out, expr, 0),
                    None => out.push('_'),
                }
            }
            out.push(']');
        }
        ExprKind::Join(items) => write_list(out, '[', items, ']'),
        ExprKind::Paren(inner) => {
            out.push('(');
            write_expr(out, inner, 0);
            out.push(')');
        }
    }
}

fn names(names: &[Ident], between: &str) -> String {
    names.iter().map(|name| name.node.as_str()).collect::<Vec<_>>().join(between)
}
