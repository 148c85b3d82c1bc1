//! Calls of functions that the host program registered: arguments, shapes and supports of their results.

use crate::check::cx::{Cx, Val};
use crate::check::dim::Dim;
use crate::check::elaborate::Spans;
use crate::check::env::Env;
use crate::check::scope::{ModuleId, Modules};
use crate::check::support::Set;
use crate::check::typed::{ExprId, ExprKind, Op};
use crate::diag::{Diagnostic, Diagnostics};
use crate::host::{Form, Function, HostId, Registry, Width};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::token::KEYWORDS;

impl Cx<'_> {
    /// A call of a registered function; `None` in the outer option: there is none of that name. What the
    /// calling module defines or imports is nearer.
    pub(crate) fn host_call(
        &mut self,
        env: &Env,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Option<Val>> {
        if !self.modules.visible(env.module, &name.node).is_empty() {
            return None;
        }
        let hosts = self.hosts.clone();
        let (id, function) = hosts.find(&name.node)?;
        Some(self.host_applied(env, id, function, args, span))
    }

    fn host_applied(
        &mut self,
        env: &Env,
        id: HostId,
        function: &Function,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Val> {
        let params: Vec<&str> = function.params.iter().map(String::as_str).collect();
        let optional = usize::from(function.form == Form::Kernel);
        let name = (function.name.as_str(), function.signature());
        let given = self.matched(env, (name.0, &name.1), &params, optional, args, span)?;
        let mut values: Vec<Option<(Val, Span)>> = Vec::new();
        let mut fine = true;
        for slot in given {
            let value = match slot {
                Some((value, at)) => {
                    let value = value?;
                    fine &= self.wants_number(&value, at);
                    Some((value, at))
                }
                None => None,
            };
            values.push(value);
        }
        if !fine {
            return None;
        }
        match function.form {
            Form::Map => self.host_map(id, function, values.into_iter().flatten().collect(), span),
            Form::Features(width) => self.host_features(id, function, width, &values, span),
            Form::Kernel => self.host_kernel(id, function, &values, span),
        }
    }

    /// Entry by entry; a scalar meets every entry of the others.
    fn host_map(
        &mut self,
        id: HostId,
        function: &Function,
        values: Vec<(Val, Span)>,
        span: Span,
    ) -> Option<Val> {
        let set = Set::of(function.elem);
        let (mut all, mut all_span) = values.first()?.clone();
        for (b, b_span) in &values[1..] {
            let spans = Spans { left: all_span, right: *b_span, whole: span };
            let shape = self.common_shape(&all, b, spans, &function.name)?;
            let plates = self.union(&all.plates, &b.plates);
            all = Val { plates, shape, ..all };
            all_span = *b_span;
        }
        if all.plates.len() + all.shape.len() > 2 {
            return self.too_many_axes(&all.plates, &all.shape, span);
        }
        let mut args = Vec::new();
        for (v, at) in &values {
            args.push(self.lift(v, &all.plates, &all.shape, false, *at)?);
        }
        let mut whole = self.extents(&all.plates);
        whole.extend(all.shape.iter().cloned());
        let expr = self.push(ExprKind::Host(id, args), set, whole, span)?;
        Some(Val { expr, set, plates: all.plates, shape: all.shape, dim: None, levels: None })
    }

    fn host_features(
        &mut self,
        id: HostId,
        function: &Function,
        width: Width,
        values: &[Option<(Val, Span)>],
        span: Span,
    ) -> Option<Val> {
        let (x, x_span) = values.first()?.as_ref()?;
        let rows = self.rows_of(x, &function.name, *x_span)?;
        let width = match width {
            Width::Columns(n) => Dim::number(i64::try_from(n).unwrap_or(i64::MAX)),
            Width::PerInput(n) => {
                let n = Dim::number(i64::try_from(n).unwrap_or(i64::MAX));
                self.dim_op(Op::Mul, &rows.cols, &n)?
            }
        };
        let mut args = vec![rows.expr];
        args.extend(self.host_numbers(function, &values[1..])?);
        let set = Set::of(function.elem);
        let expr = self.push(ExprKind::Host(id, args), set, vec![rows.rows, width], span)?;
        self.arrange(expr, &[rows.label, None], set, span)
    }

    /// Without centres: the rows at training.
    fn host_kernel(
        &mut self,
        id: HostId,
        function: &Function,
        values: &[Option<(Val, Span)>],
        span: Span,
    ) -> Option<Val> {
        let (x, x_span) = values.first()?.clone()?;
        let (c, c_span) = match values.last()?.clone() {
            Some(given) => given,
            None => {
                if !x.plates.is_empty() {
                    return self.fail(
                        Diagnostic::error(
                            "E0303",
                            format!("`{}` inside a plate has no centres of its own", function.name),
                        )
                        .at(x_span, "depends on a plate index")
                        .help("name them outside the plate, `let c = train(x)`, and give `centres = c`"),
                    );
                }
                (self.train(&x, x_span, span)?, x_span)
            }
        };
        let left = self.rows_of(&x, &function.name, x_span)?;
        let right = self.rows_of(&c, &function.name, c_span)?;
        if !self.same_dim(&left.cols, &right.cols, span, Some(x_span)) {
            let (l, r) = (self.show_dim(&left.cols), self.show_dim(&right.cols));
            let found = format!("`{}` compares rows of {l} columns with rows of {r}", function.name);
            return self.fail(
                Diagnostic::error("E0301", found)
                    .at(span, "rows of different length")
                    .also(x_span, format!("{l} columns"))
                    .also(c_span, format!("{r} columns")),
            );
        }
        if left.label.is_some() && left.label == right.label {
            return self.fail(
                Diagnostic::error("E0303", format!("`{}` of two rows of one plate", function.name))
                    .at(span, "row by row")
                    .help("call it outside the plate for all pairs"),
            );
        }
        let mut args = vec![left.expr, right.expr];
        args.extend(self.host_numbers(function, &values[1..values.len() - 1])?);
        let set = Set::of(function.elem);
        let expr = self.push(ExprKind::Host(id, args), set, vec![left.rows, right.rows], span)?;
        self.arrange(expr, &[left.label, right.label], set, span)
    }

    /// The numbers that a basis takes beside its rows.
    fn host_numbers(&mut self, function: &Function, values: &[Option<(Val, Span)>]) -> Option<Vec<ExprId>> {
        let mut numbers = Vec::new();
        for ((v, at), param) in values.iter().flatten().zip(function.params.iter().skip(1)) {
            if !v.is_scalar() || !v.plates.is_empty() {
                let shown = self.describe(&v.shape);
                return self.fail(
                    Diagnostic::error(
                        "E0302",
                        format!("`{param}` of `{}` is a scalar, found {shown}", function.name),
                    )
                    .at(*at, shown)
                    .help("one number for all inputs; scale the inputs for one each"),
                );
            }
            numbers.push(v.expr);
        }
        Some(numbers)
    }
}

/// Reports names that cannot be registered, and those that the root module has given to something else.
pub(crate) fn verify_names(hosts: &Registry, modules: &Modules, root: ModuleId) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (i, function) in hosts.all().iter().enumerate() {
        let name = function.name.as_str();
        let bad = |why: &str| {
            Diagnostic::error("E0217", format!("the registered function `{name}` {why}"))
                .help("register it under another name")
        };
        if !is_word(name) {
            found.push(bad("has a name that a program cannot write"));
        } else if crate::check::natives::is_native(name) || crate::dist::family(name).is_some() {
            found.push(bad("has the name of something built in"));
        } else if hosts.all()[..i].iter().any(|f| f.name == name) {
            found.push(bad("is registered twice"));
        } else if let Some(id) = modules.visible(root, name).first() {
            let (def, _) = modules.def(*id);
            found.push(bad("is defined by the program too").at(def.name().span, "defined here"));
        }
        let twice = |j: usize| function.params[..j].contains(&function.params[j]);
        if let Some(j) = (0..function.params.len()).find(|j| !is_word(&function.params[*j]) || twice(*j)) {
            let param = &function.params[j];
            let why = if twice(j) { "is there twice" } else { "is no name that a program can write" };
            found.push(
                Diagnostic::error(
                    "E0217",
                    format!("argument `{param}` of the registered function `{name}` {why}"),
                )
                .help("register it with other names of arguments"),
            );
        }
        if function.params.is_empty() {
            found.push(
                Diagnostic::error("E0217", format!("the registered function `{name}` has no argument"))
                    .help("give it at least one; a constant is a `let`, set with `Compiler::set`"),
            );
        }
    }
    found
}

fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text != "_"
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&text)
}
