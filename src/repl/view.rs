//! What completion and hints know of a session: names with their types, columns, functions with their
//! arguments. Made anew after every entry.

use std::sync::LazyLock;

use sbl::check::library;
use sbl::check::natives::NATIVES;
use sbl::check::typed::NodeKind;
use sbl::dist::FAMILIES;
use sbl::plan::{METHODS, options};
use sbl::source::FileId;
use sbl::syntax::ast::{FnParam, Item};
use sbl::syntax::parse;

use super::state::State;

/// A snapshot of the names of a session.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Nodes with type and role: `w`, `real[N + 1], latent`.
    pub nodes: Vec<(String, String)>,
    /// Data nodes.
    pub inputs: Vec<String>,
    /// Constants that can be set.
    pub constants: Vec<String>,
    /// Columns of the data.
    pub columns: Vec<String>,
    /// Models of the program.
    pub models: Vec<String>,
    /// `fn`s and `prior`s of the program.
    pub functions: Vec<Function>,
    /// Whether there is a fit to ask.
    pub fitted: bool,
}

/// Something that can be called.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Names of its arguments.
    pub arguments: Vec<String>,
    /// As shown: `rbf(x: real[N, D], width: positive)`.
    pub signature: String,
    /// Where it may stand.
    pub kind: FunctionKind,
}

/// Where a function may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// In an expression.
    Function,
    /// Behind `~`.
    Draw,
    /// Behind `infer`.
    Plan,
}

/// Families, plans, natives and the standard library.
static KNOWN: LazyLock<Vec<Function>> = LazyLock::new(known);

impl View {
    /// Of a state.
    pub fn of(state: &State) -> View {
        let mut view =
            View { fitted: state.fit.is_some(), models: state.program.models(), ..View::default() };
        if let Some(model) = &state.model {
            for node in model.dag().nodes() {
                view.nodes.push((node.name.clone(), format!("{}, {}", node.ty, node.role.name())));
            }
            for node in &model.typed().nodes {
                match node.kind {
                    NodeKind::Data(_) => view.inputs.push(node.name.clone()),
                    NodeKind::Let { constant: true, .. } => view.constants.push(node.name.clone()),
                    _ => {}
                }
            }
        }
        if let Some(data) = &state.data {
            view.columns = data.names().map(str::to_owned).collect();
        }
        view.functions = written(&state.program.text);
        view
    }

    /// Everything that can be called, what the program defines first.
    pub fn callables(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().chain(KNOWN.iter())
    }

    /// What can be called by that name; several if it is overloaded.
    pub fn called<'v>(&'v self, name: &'v str) -> impl Iterator<Item = &'v Function> {
        let bare = name.rsplit('.').next().unwrap_or(name);
        self.callables().filter(move |f| f.name == bare)
    }
}

fn known() -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    for f in FAMILIES {
        let arguments: Vec<String> = f.args.iter().map(|a| a.name.to_owned()).collect();
        let shown: Vec<String> = f
            .args
            .iter()
            .map(|a| {
                if a.positional {
                    format!("{}: {}", a.name, a.elem.name())
                } else {
                    format!("{} = {}", a.name, a.elem.name())
                }
            })
            .collect();
        let signature = format!("{}({})", f.name, shown.join(", "));
        all.push(Function { name: f.name.to_owned(), arguments, signature, kind: FunctionKind::Draw });
    }
    for item in library() {
        let signature = item.signature.trim_start_matches("fn ").trim_start_matches("prior ").to_owned();
        let kind = if item.kind == "prior" { FunctionKind::Draw } else { FunctionKind::Function };
        all.push(Function { name: item.name, arguments: arguments(&signature), signature, kind });
    }
    for f in NATIVES {
        let arguments = f.params.iter().map(|p| (*p).to_owned()).collect();
        let signature = format!("{}({})", f.name, f.params.join(", "));
        all.push(Function { name: f.name.to_owned(), arguments, signature, kind: FunctionKind::Function });
    }
    for m in METHODS {
        let arguments: Vec<String> = options::of(m).into_iter().map(str::to_owned).collect();
        let signature = format!("{}({})", m.name, arguments.join(", "));
        all.push(Function { name: m.name.to_owned(), arguments, signature, kind: FunctionKind::Plan });
    }
    all
}

/// The names of the arguments in a signature.
fn arguments(signature: &str) -> Vec<String> {
    let Some((_, rest)) = signature.split_once('(') else { return Vec::new() };
    let mut names = Vec::new();
    let (mut depth, mut start) = (0_i32, true);
    let mut name = String::new();
    for c in rest.chars() {
        match c {
            ')' if depth == 0 => break,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                start = true;
                continue;
            }
            ':' | '=' if depth == 0 => start = false,
            _ => {}
        }
        if start && (c.is_alphanumeric() || c == '_') {
            name.push(c);
        }
    }
    names.push(name);
    names.retain(|n| !n.is_empty());
    names
}

/// The definitions of a program.
fn written(text: &str) -> Vec<Function> {
    let Ok(module) = parse(FileId(0), text) else { return Vec::new() };
    let names = |params: &[FnParam]| -> Vec<String> { params.iter().map(|p| p.name.node.clone()).collect() };
    let function = |item: &Item| {
        let (name, params, kind) = match item {
            Item::Fn(f) => (&f.name.node, names(&f.params), FunctionKind::Function),
            Item::Prior(p) => (&p.name.node, names(&p.params), FunctionKind::Draw),
            _ => return None,
        };
        let signature = format!("{name}({})", params.join(", "));
        Some(Function { name: name.clone(), arguments: params, signature, kind })
    };
    module.value.items.iter().filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_signatures() {
        let text = "rbf(x: real[N, D], width: positive, centres: real[M, D] = train(x)) -> positive[N, M]";
        assert_eq!(arguments(text), ["x", "width", "centres"]);
        assert_eq!(arguments("ard(n, k, shape = 0, rate = 0)"), ["n", "k", "shape", "rate"]);
        assert_eq!(arguments("f()"), Vec::<String>::new());
        assert_eq!(arguments("f"), Vec::<String>::new());
    }

    #[test]
    fn what_everyone_uses_is_known() {
        let view = View::default();
        for (name, argument) in [
            ("Normal", "precision"),
            ("ard", "shape"),
            ("rbf", "width"),
            ("sqdist", "x"),
            ("evidence", "updates"),
        ] {
            assert!(
                view.called(name).any(|f| f.arguments.iter().any(|a| a == argument)),
                "{name} {argument}"
            );
        }
    }
}
