//! Names, shapes and supports: from the syntax tree to the typed model.
//!
//! [`check`] reads the imports of a file, resolves names, expands functions, priors and plates, and
//! returns each model with every node typed. All errors are collected; a wrong quantity silences what
//! follows from it.

pub mod dim;
pub mod library;
pub mod natives;
pub mod print;
pub mod typed;

mod call;
mod cx;
mod definition;
mod elaborate;
mod env;
mod errors;
mod expand;
mod family;
mod finish;
mod host;
mod index;
mod infer;
mod lint;
mod nodes;
mod order;
mod overrides;
mod scope;
mod support;
mod tilde;
mod types;

use crate::check::cx::{Cx, Sink};
use crate::check::env::Env;
use crate::check::expand::Place;
use crate::check::overrides::Overrides;
use crate::check::scope::{ModuleId, ModuleLoader, Modules};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics, Staged, Warned};
use crate::host::Registry;
use crate::source::{SourceMap, Span};
use crate::syntax::ast;

pub use library::{LibraryItem, library};
pub use print::print_typed;

/// What is decided outside the program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of constant `let`s.
    pub set: Vec<(String, f64)>,
    /// The plan to ask for instead of the one the program asks for.
    pub infer: Option<ast::InferStmt>,
    /// Functions of the host program.
    pub hosts: Registry,
}

/// Reads the files that a program imports.
///
/// ```
/// /// Definitions that live in a table of the host.
/// struct Table;
///
/// impl sbl::Loader for Table {
///     fn load(&self, _importing: &str, path: &str) -> Result<(String, String), String> {
///         match path {
///             "double.sbl" => Ok((path.to_owned(), "fn double(x: real[N]) -> real[N] = 2 * x\n".to_owned())),
///             _ => Err("there is no such file".to_owned()),
///         }
///     }
/// }
///
/// let source = "use \"double.sbl\"\ndata x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(double(x) .* w, sd = 1)\n";
/// assert!(sbl::Compiler::new().loader(Table).compile(source).is_ok());
/// ```
pub trait Loader {
    /// Name and text of the file `path`, imported by the file named `importing`. The name tells files
    /// apart: one file has one name, however it is reached. An error says why it cannot be read.
    fn load(&self, importing: &str, path: &str) -> Result<(String, String), String>;
}

/// There are no files: every import of one is an error.
///
/// ```
/// let source = "use \"other.sbl\"\ndata t: real[N]\nt ~ Normal(0, sd = 1)\n";
/// let error = sbl::Compiler::new().loader(sbl::NoFiles).compile(source).unwrap_err();
/// assert_eq!(error.diagnostics()[0].code, "E0207");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _importing: &str, _path: &str) -> Result<(String, String), String> {
        Err("files cannot be imported here".to_owned())
    }
}

/// Every model of a file, typed. A file of loose statements is one model called `model`.
pub fn check(
    sources: &mut SourceMap,
    module: &ast::Module,
    options: &Options,
    loader: &dyn Loader,
) -> Staged<Vec<typed::Model>> {
    let mut loading = Diagnostics::new();
    let (modules, root) = ModuleLoader::new(sources, loader, &mut loading).load(module);
    let mut sink = Sink::default();
    loading.into_iter().for_each(|d| sink.push(d));
    host::verify_names(&options.hosts, &modules, root).into_iter().for_each(|d| sink.push(d));
    for id in modules.by_the_user() {
        definition::verify_definition(&modules, &options.hosts, id, &mut sink);
        // one definition that grows beyond all measure is enough to know
        if sink.all.iter().any(|d| d.code == "E0504") {
            break;
        }
    }
    let overrides = Overrides::new(&options.set);
    let mut models = Vec::new();
    for source in model_sources(module, &mut sink) {
        models.extend(check_model(&modules, root, &source, options, &overrides, &mut sink));
    }
    verify_overrides(&overrides, &models, &mut sink);
    if !sink.has_errors() {
        modules.unused_imports(root).into_iter().for_each(|d| sink.push(d));
    }
    let mut all = sink.all;
    all.sort_by_key(|d| d.primary.as_ref().map_or(Span::default(), |l| l.span));
    if all.iter().any(Diagnostic::is_error) { Err(all) } else { Ok(Warned::new(models, all)) }
}

/// One model as written.
struct ModelSource {
    name: String,
    doc: Option<String>,
    span: Span,
    statements: Vec<ast::Statement>,
}

fn model_sources(module: &ast::Module, sink: &mut Sink) -> Vec<ModelSource> {
    let mut models: Vec<(ModelSource, Span)> = Vec::new();
    let mut loose: Vec<ast::Statement> = Vec::new();
    for item in &module.items {
        match item {
            ast::Item::Model(m) => {
                if let Some((_, first)) = models.iter().find(|(o, _)| o.name == m.name.node) {
                    sink.push(errors::declared_twice(&m.name.node, *first, m.name.span));
                    continue;
                }
                let source = ModelSource {
                    name: m.name.node.clone(),
                    doc: m.doc.clone(),
                    span: m.span,
                    statements: m.body.clone(),
                };
                models.push((source, m.name.span));
            }
            ast::Item::Statement(s) => loose.push(s.clone()),
            _ => {}
        }
    }
    if let (Some(first), Some((_, model))) = (loose.first(), models.first()) {
        sink.push(
            Diagnostic::error("E0215", "a file has either loose statements or `model` blocks")
                .at(first.span, "outside any model")
                .also(*model, "a model block")
                .help("move the statement into a `model { … }`"),
        );
    } else if let Some(span) = loose.iter().map(|s| s.span).reduce(Span::to) {
        return vec![ModelSource { name: "model".to_owned(), doc: None, span, statements: loose }];
    }
    models.into_iter().map(|(m, _)| m).collect()
}

fn check_model(
    modules: &Modules,
    root: ModuleId,
    source: &ModelSource,
    options: &Options,
    overrides: &Overrides,
    sink: &mut Sink,
) -> Option<typed::Model> {
    let before = sink.all.iter().filter(|d| d.is_error()).count();
    let mut cx = Cx::new(modules, sink);
    cx.hosts = options.hosts.clone();
    let place = Place { lead: Vec::new(), order: Vec::new(), prior: None, overrides: Some(overrides) };
    let body = cx.body(Env::new(root), &source.statements, &place);
    let asked = options.infer.as_ref().or(body.infer.first().copied());
    let infer = infer::infer(&mut cx, asked);
    cx.verify_acyclic();
    if cx.sink.all.iter().filter(|d| d.is_error()).count() > before {
        return None;
    }
    cx.unused(&body.env);
    cx.named_like_functions(&body.env);
    cx.dots_of_data();
    Some(cx.finish(source.name.clone(), source.doc.clone(), source.span, infer))
}

/// Reports overrides that no model took.
fn verify_overrides(overrides: &Overrides, models: &[typed::Model], sink: &mut Sink) {
    let nodes = || models.iter().flat_map(|m| &m.nodes);
    let constant = |n: &&typed::Node| matches!(n.kind, typed::NodeKind::Let { constant: true, .. });
    for name in overrides.unknown() {
        let d = match nodes().find(|n| n.name == name) {
            Some(node) => Diagnostic::error(
                "E0212",
                format!("`{name}` is {}, it cannot be set from outside", print::role(node)),
            )
            .at(node.span, "declared here")
            .help("only a constant `let`, such as `let width = 3.0`, can be set"),
            // with other errors about, the model may have it
            None if sink.has_errors() => continue,
            None => {
                let d = Diagnostic::error("E0212", format!("there is no constant `{name}` to set"));
                let known: Vec<&str> = nodes().filter(constant).map(|n| n.name.as_str()).collect();
                match closest(name, known.iter().copied()) {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None if known.is_empty() => d.help(format!("declare it: `let {name} = …`")),
                    None => d.help(format!("constants are {}", known.join(", "))),
                }
            }
        };
        sink.push(d);
    }
}

/// Checks every definition of the standard library by itself: no findings, or the library is wrong.
pub fn verify_library() -> Diagnostics {
    let mut sources = SourceMap::new();
    let text: String = library::MODULES.iter().map(|(name, _)| format!("use std.{name}\n")).collect();
    let file = sources.add("library", &text);
    let mut found = Diagnostics::new();
    match crate::syntax::parse::parse(file, &text) {
        Ok(module) => {
            let (modules, _) = ModuleLoader::new(&mut sources, &NoFiles, &mut found).load(&module.value);
            let mut sink = Sink::default();
            for id in modules.all() {
                definition::verify_definition(&modules, &Registry::default(), id, &mut sink);
            }
            found.extend(sink.all);
        }
        Err(errors) => found.extend(errors),
    }
    found
}
