//! The tree as an indented list, for `sbl emit ast`: everything but the places.

use crate::syntax::ast::*;

/// One line a node of the tree. Equal trees print equal, whatever their layout was.
pub fn print_ast(module: &Module) -> String {
    let mut dump = Dump::default();
    for item in &module.items {
        match item {
            Item::Use(item) => dump.line(&format!("use {}", target(&item.target))),
            Item::Fn(item) => {
                dump.line(&format!("fn {}", item.name.node));
                dump.inside(|dump| {
                    dump.doc(&item.doc);
                    dump.params(&item.params);
                    dump.ty("result", &item.result);
                    for statement in &item.lets {
                        dump.let_statement(statement);
                    }
                    dump.expr("value", &item.body);
                });
            }
            Item::Prior(item) => {
                dump.line(&format!("prior {}", item.name.node));
                dump.inside(|dump| {
                    dump.doc(&item.doc);
                    dump.params(&item.params);
                    dump.statements(&item.body);
                    dump.line(&format!("return {}", item.result.node));
                });
            }
            Item::Model(item) => {
                dump.line(&format!("model {}", item.name.node));
                dump.inside(|dump| {
                    dump.doc(&item.doc);
                    dump.statements(&item.body);
                });
            }
            Item::Statement(statement) => dump.statements(std::slice::from_ref(statement)),
        }
    }
    dump.out
}

#[derive(Default)]
struct Dump {
    out: String,
    depth: usize,
}

impl Dump {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn inside(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    fn doc(&mut self, doc: &Option<String>) {
        if let Some(doc) = doc {
            self.line(&format!("doc {doc:?}"));
        }
    }

    fn params(&mut self, params: &[FnParam]) {
        for param in params {
            self.line(&format!("parameter {}", param.name.node));
            self.inside(|dump| {
                if let Some(ty) = &param.ty {
                    dump.ty("type", ty);
                }
                if let Some(default) = &param.default {
                    dump.expr("default", default);
                }
            });
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Data { name, ty, from } => {
                    self.line(&format!("data {}", name.node));
                    self.inside(|dump| {
                        dump.doc(&statement.doc);
                        dump.ty("type", ty);
                        if let Some(from) = from {
                            dump.line(&columns(from));
                        }
                    });
                }
                StatementKind::Let(value) => {
                    self.let_statement(value);
                    self.inside(|dump| dump.doc(&statement.doc));
                }
                StatementKind::Param { name, ty, start } => {
                    self.line(&format!("param {}", name.node));
                    self.inside(|dump| {
                        dump.doc(&statement.doc);
                        dump.ty("type", ty);
                        if let Some(start) = start {
                            dump.expr("start", start);
                        }
                    });
                }
                StatementKind::Tilde(tilde) => {
                    self.line(&format!("~ {}{}", tilde.name.node, indices(&tilde.indices)));
                    self.inside(|dump| {
                        dump.doc(&statement.doc);
                        dump.line(&format!("family {}", tilde.family.node));
                        dump.inside(|dump| dump.args(&tilde.args));
                        if let Some(dims) = &tilde.dims {
                            dump.exprs("dims", dims);
                        }
                        if let Some(weight) = &tilde.weight {
                            dump.expr("weight", weight);
                        }
                    });
                }
                StatementKind::Plate { index, extent, body } => {
                    self.line(&format!("plate {}", index.node));
                    self.inside(|dump| {
                        dump.doc(&statement.doc);
                        dump.expr("extent", extent);
                        dump.statements(body);
                    });
                }
                StatementKind::Infer(infer) => {
                    self.line(&format!("infer {}", infer.method.node));
                    self.inside(|dump| {
                        dump.doc(&statement.doc);
                        dump.args(&infer.options);
                    });
                }
            }
        }
    }

    fn let_statement(&mut self, statement: &LetStmt) {
        self.line(&format!("let {}{}", statement.name.node, indices(&statement.indices)));
        self.inside(|dump| dump.expr("value", &statement.value));
    }

    fn ty(&mut self, label: &str, ty: &TypeExpr) {
        let levels = ty.levels.as_ref().map_or(String::new(), |levels| {
            let between = if levels.ascending { " < " } else { ", " };
            let names: Vec<String> = levels.names.iter().map(|name| format!("{:?}", name.node)).collect();
            format!(" {{{}}}", names.join(between))
        });
        self.line(&format!("{label} {}{levels}", ty.elem.node));
        self.inside(|dump| {
            if !ty.dims.is_empty() {
                dump.exprs("dims", &ty.dims);
            }
        });
    }

    fn exprs(&mut self, label: &str, exprs: &[Expr]) {
        self.line(label);
        self.inside(|dump| {
            for expr in exprs {
                dump.expr("", expr);
            }
        });
    }

    fn args(&mut self, args: &[Arg]) {
        for arg in args {
            match &arg.name {
                Some(name) => self.expr(&format!("{} =", name.node), &arg.value),
                None => self.expr("", &arg.value),
            }
        }
    }

    fn expr(&mut self, label: &str, expr: &Expr) {
        let label = if label.is_empty() { String::new() } else { format!("{label} ") };
        match &expr.kind {
            ExprKind::Number(value, text) => {
                let read = format!("{value:?}");
                let note = if read == *text { String::new() } else { format!(" ({read})") };
                self.line(&format!("{label}number {text}{note}"));
            }
            ExprKind::Text(text) => self.line(&format!("{label}text {text:?}")),
            ExprKind::Name(name) => self.line(&format!("{label}name {name}")),
            ExprKind::Path(path) => self.line(&format!("{label}path {}", names(path, "."))),
            ExprKind::Neg(inner) => {
                self.line(&format!("{label}negative"));
                self.inside(|dump| dump.expr("", inner));
            }
            ExprKind::Binary(op, left, right) => {
                self.line(&format!("{label}{}", op.symbol()));
                self.inside(|dump| {
                    dump.expr("", left);
                    dump.expr("", right);
                });
            }
            ExprKind::Call(name, args) => {
                self.line(&format!("{label}call {}", name.node));
                self.inside(|dump| dump.args(args));
            }
            ExprKind::Index(inner, slots) => {
                self.line(&format!("{label}index"));
                self.inside(|dump| {
                    dump.expr("of", inner);
                    for slot in slots {
                        match slot {
                            Some(expr) => dump.expr("at", expr),
                            None => dump.line("at _"),
                        }
                    }
                });
            }
            ExprKind::Join(items) => self.exprs(&format!("{label}join"), items),
            ExprKind::Paren(inner) => {
                self.line(&format!("{label}paren"));
                self.inside(|dump| dump.expr("", inner));
            }
        }
    }
}

fn target(target: &UseTarget) -> String {
    match target {
        UseTarget::Path(path) => names(path, "."),
        UseTarget::Names(path, imported) => format!("{}.{{{}}}", names(path, "."), names(imported, ", ")),
        UseTarget::File(file) => format!("{:?}", file.node),
    }
}

fn columns(from: &From) -> String {
    let list = |columns: &[crate::source::Spanned<String>]| {
        columns.iter().map(|column| format!("{:?}", column.node)).collect::<Vec<_>>().join(", ")
    };
    match from {
        From::Column(column) => format!("from column {:?}", column.node),
        From::Columns(columns) => format!("from columns {}", list(columns)),
        From::Except(columns) => format!("from except {}", list(columns)),
    }
}

fn indices(indices: &[Ident]) -> String {
    if indices.is_empty() { String::new() } else { format!("[{}]", names(indices, ", ")) }
}

fn names(names: &[Ident], between: &str) -> String {
    names.iter().map(|name| name.node.as_str()).collect::<Vec<_>>().join(between)
}
