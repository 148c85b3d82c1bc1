//! Modules, imports and definitions: which `fn` or `prior` a name means.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::check::library;
use crate::check::{Loader, errors};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{SourceMap, Span};
use crate::syntax::ast;
use crate::syntax::parse::parse;

/// How deep files may import files.
const IMPORT_DEPTH: usize = 64;

/// A module of [`Modules`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleId(usize);

/// A definition of [`Modules`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct DefId(usize);

/// A `fn` or a `prior`.
#[derive(Clone)]
pub(crate) enum Def {
    /// `fn …`
    Fn(Rc<ast::FnDef>),
    /// `prior …`
    Prior(Rc<ast::PriorDef>),
}

impl Def {
    pub(crate) fn name(&self) -> &ast::Ident {
        match self {
            Def::Fn(f) => &f.name,
            Def::Prior(p) => &p.name,
        }
    }

    pub(crate) fn params(&self) -> &[ast::FnParam] {
        match self {
            Def::Fn(f) => &f.params,
            Def::Prior(p) => &p.params,
        }
    }

    pub(crate) fn is_fn(&self) -> bool {
        matches!(self, Def::Fn(_))
    }

    /// `rbf(x, width, centres = …)`
    pub(crate) fn signature(&self) -> String {
        let params: Vec<String> = self
            .params()
            .iter()
            .map(|p| match p.default {
                Some(_) => format!("{} = …", p.name.node),
                None => p.name.node.clone(),
            })
            .collect();
        format!("{}({})", self.name().node, params.join(", "))
    }
}

/// A name seen in a module, and the import that brought it.
#[derive(Clone, Copy)]
struct Seen {
    def: DefId,
    import: Option<usize>,
}

struct Import {
    span: Span,
    text: String,
    used: Cell<bool>,
}

#[derive(Default)]
struct Module {
    /// By name, also `kernels.rbf` after `use std.kernels`.
    names: BTreeMap<String, Vec<Seen>>,
    /// Own definitions, in order.
    own: Vec<DefId>,
    imports: Vec<Import>,
}

/// Every module and definition a file can reach.
#[derive(Default)]
pub(crate) struct Modules {
    modules: Vec<Module>,
    defs: Vec<(Def, ModuleId)>,
    /// `std.kernels` or a file name.
    loaded: BTreeMap<String, ModuleId>,
}

impl Modules {
    /// The definition and the module it stands in.
    pub(crate) fn def(&self, id: DefId) -> (Def, ModuleId) {
        let (def, module) = &self.defs[id.0];
        (def.clone(), *module)
    }

    /// What `name` means in a module: every overload that is a `fn` (or else a `prior`). Marks imports as used.
    pub(crate) fn find(&self, module: ModuleId, name: &str, want_fn: bool) -> Vec<DefId> {
        let m = &self.modules[module.0];
        let mut found: Vec<DefId> = Vec::new();
        for seen in m.names.get(name).into_iter().flatten() {
            if self.defs[seen.def.0].0.is_fn() == want_fn {
                found.push(seen.def);
                if let Some(import) = seen.import {
                    m.imports[import].used.set(true);
                }
            }
        }
        // a full path needs no import
        if found.is_empty()
            && let Some((path, item)) = name.rsplit_once('.')
            && let Some(other) = self.loaded.get(path)
        {
            let own = &self.modules[other.0].own;
            found.extend(own.iter().filter(|d| {
                let def = &self.defs[d.0].0;
                def.is_fn() == want_fn && def.name().node == item
            }));
        }
        found
    }

    /// Every name of that kind a module can use.
    pub(crate) fn names(&self, module: ModuleId, want_fn: bool) -> Vec<&str> {
        let m = &self.modules[module.0];
        let kind = |s: &Seen| self.defs[s.def.0].0.is_fn() == want_fn;
        m.names.iter().filter(|(_, seen)| seen.iter().any(kind)).map(|(n, _)| n.as_str()).collect()
    }

    /// The functions a name means, without marking imports as used.
    pub(crate) fn visible(&self, module: ModuleId, name: &str) -> Vec<DefId> {
        let seen = self.modules[module.0].names.get(name).into_iter().flatten();
        seen.map(|s| s.def).filter(|d| self.defs[d.0].0.is_fn()).collect()
    }

    /// Every definition outside the library, in the order in which it was read.
    pub(crate) fn by_the_user(&self) -> Vec<DefId> {
        let library = |m: ModuleId| self.loaded.iter().any(|(n, id)| *id == m && library::is_module(n));
        (0..self.defs.len()).filter(|d| !library(self.defs[*d].1)).map(DefId).collect()
    }

    /// Every definition.
    pub(crate) fn all(&self) -> Vec<DefId> {
        (0..self.defs.len()).map(DefId).collect()
    }

    /// A warning for each import of a module that nothing used.
    pub(crate) fn unused_imports(&self, module: ModuleId) -> Diagnostics {
        let unused = self.modules[module.0].imports.iter().filter(|i| !i.used.get());
        unused
            .map(|i| {
                Diagnostic::warning("W0201", format!("`{}` is imported and never used", i.text))
                    .at(i.span, "unused import")
                    .help("remove it")
            })
            .collect()
    }
}

/// Reads modules into [`Modules`].
pub(crate) struct ModuleLoader<'a> {
    pub(crate) sources: &'a mut SourceMap,
    pub(crate) loader: &'a dyn Loader,
    pub(crate) diagnostics: &'a mut Diagnostics,
    /// The files being read, with the `use` that asked for each.
    stack: Vec<String>,
    modules: Modules,
}

impl<'a> ModuleLoader<'a> {
    pub(crate) fn new(
        sources: &'a mut SourceMap,
        loader: &'a dyn Loader,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self { sources, loader, diagnostics, stack: Vec::new(), modules: Modules::default() }
    }

    /// Reads the root module and all it imports.
    pub(crate) fn load(mut self, root: &ast::Module) -> (Modules, ModuleId) {
        let name = self.sources.name(root.file).to_owned();
        self.load_paths(root);
        let id = self.module(&name, root);
        (self.modules, id)
    }

    /// Modules named by a full path (`std.kernels.rbf(x, …)`) without `use`: all of the library
    /// whose path the text mentions.
    fn load_paths(&mut self, root: &ast::Module) {
        let text = self.sources.text(root.file).to_owned();
        for (name, _) in library::MODULES {
            let path = format!("std.{name}");
            if text.contains(&format!("{path}.")) {
                self.std_module(&path);
            }
        }
    }

    fn module(&mut self, name: &str, ast: &ast::Module) -> ModuleId {
        let id = ModuleId(self.modules.modules.len());
        self.modules.modules.push(Module::default());
        self.modules.loaded.insert(name.to_owned(), id);
        self.stack.push(name.to_owned());
        for item in &ast.items {
            match item {
                ast::Item::Fn(f) => self.define(id, Def::Fn(Rc::new(f.clone()))),
                ast::Item::Prior(p) => self.define(id, Def::Prior(Rc::new(p.clone()))),
                _ => {}
            }
        }
        for item in &ast.items {
            if let ast::Item::Use(u) = item {
                self.import(id, name, u);
            }
        }
        self.stack.pop();
        id
    }

    fn define(&mut self, module: ModuleId, def: Def) {
        let name = def.name().clone();
        if def.is_fn() && crate::check::natives::is_native(&name.node) {
            self.diagnostics.push(
                Diagnostic::error("E0213", format!("`{}` is a built-in function", name.node))
                    .at(name.span, "defined again here")
                    .help("choose another name"),
            );
            return;
        }
        if !def.is_fn() && crate::dist::family(&name.node).is_some() {
            self.diagnostics.push(
                Diagnostic::error("E0213", format!("`{}` is a built-in family", name.node))
                    .at(name.span, "defined again here")
                    .help("choose another name"),
            );
            return;
        }
        let mut seen_params: BTreeMap<&str, Span> = BTreeMap::new();
        for p in def.params() {
            if let Some(first) = seen_params.insert(&p.name.node, p.name.span) {
                self.diagnostics.push(errors::declared_twice(&p.name.node, first, p.name.span));
            }
        }
        let id = DefId(self.modules.defs.len());
        self.modules.defs.push((def, module));
        if self.see(module, &name.node, id, None, name.span) {
            self.modules.modules[module.0].own.push(id);
        }
    }

    /// Makes a definition visible; `false` if an equal signature is already there.
    fn see(&mut self, module: ModuleId, name: &str, def: DefId, import: Option<usize>, span: Span) -> bool {
        let new = &self.modules.defs[def.0].0;
        let names = |d: &Def| {
            let mut names: Vec<String> = d.params().iter().map(|p| p.name.node.clone()).collect();
            names.sort();
            names
        };
        let entry = self.modules.modules[module.0].names.entry(name.to_owned()).or_default();
        for old in entry.iter() {
            if old.def == def {
                return true;
            }
            let other = &self.modules.defs[old.def.0].0;
            if other.is_fn() == new.is_fn() && names(other) == names(new) {
                let first = other.name().span;
                self.diagnostics.push(
                    Diagnostic::error("E0205", format!("`{}` is declared twice", new.signature()))
                        .at(span, "declared again here")
                        .also(first, "first declared here")
                        .help("rename one of them, or give its parameters other names"),
                );
                return false;
            }
        }
        entry.push(Seen { def, import });
        true
    }

    fn import(&mut self, into: ModuleId, importing: &str, u: &ast::Use) {
        match &u.target {
            ast::UseTarget::File(path) => self.import_file(into, importing, path, u.span),
            ast::UseTarget::Names(path, names) => {
                if let Some(first) = names.first()
                    && let Some((module, shown)) = self.std_path(path, first)
                {
                    for name in names {
                        self.import_name(into, module, &shown, name, name.span);
                    }
                }
            }
            ast::UseTarget::Path(path) => {
                let whole = joined(path);
                if library::is_module(&whole) {
                    if let Some(module) = self.std_module(&whole) {
                        self.import_qualified(into, module, &whole, u.span);
                    }
                } else if let Some((last, before)) = path.split_last()
                    && let Some((module, shown)) = self.std_path(before, last)
                {
                    self.import_name(into, module, &shown, last, u.span);
                }
            }
        }
    }

    /// `use std.kernels`: its names as `kernels.rbf`.
    fn import_qualified(&mut self, into: ModuleId, module: ModuleId, path: &str, span: Span) {
        let import = self.add_import(into, span, path.to_owned());
        let short = path.rsplit('.').next().unwrap_or(path).to_owned();
        for def in self.modules.modules[module.0].own.clone() {
            let name = format!("{short}.{}", self.modules.defs[def.0].0.name().node);
            self.see(into, &name, def, Some(import), span);
        }
    }

    fn import_name(&mut self, into: ModuleId, from: ModuleId, path: &str, name: &ast::Ident, span: Span) {
        let own = &self.modules.modules[from.0].own;
        let found: Vec<DefId> =
            own.iter().copied().filter(|d| self.modules.defs[d.0].0.name().node == name.node).collect();
        if found.is_empty() {
            let known: Vec<&str> =
                own.iter().map(|d| self.modules.defs[d.0].0.name().node.as_str()).collect();
            let mut d = Diagnostic::error("E0206", format!("`{path}` has no `{}`", name.node))
                .at(name.span, "not found");
            let elsewhere = library::find(&name.node);
            d = match (closest(&name.node, known.iter().copied()), elsewhere.first()) {
                (_, Some(item)) => d.help(format!("write `use {}.{}`", item.module, item.name)),
                (Some(near), None) => d.help(format!("did you mean `{near}`?")),
                (None, None) => {
                    let mut known: Vec<&str> = known;
                    known.dedup();
                    d.note(format!("`{path}` offers {}", known.join(", ")))
                }
            };
            self.diagnostics.push(d);
            return;
        }
        let import = self.add_import(into, span, format!("{path}.{}", name.node));
        for def in found {
            self.see(into, &name.node, def, Some(import), span);
        }
    }

    fn import_file(&mut self, into: ModuleId, importing: &str, path: &ast::Ident, span: Span) {
        let (name, text) = match self.loader.load(importing, &path.node) {
            Ok(found) => found,
            Err(why) => {
                self.diagnostics.push(
                    Diagnostic::error("E0207", format!("cannot import \"{}\": {why}", path.node))
                        .at(path.span, "asked for here")
                        .help("the path is relative to the importing file"),
                );
                return;
            }
        };
        if let Some(start) = self.stack.iter().position(|n| *n == name) {
            let mut way: Vec<&str> = self.stack[start..].iter().map(String::as_str).collect();
            way.push(&name);
            self.diagnostics.push(
                Diagnostic::error(
                    "E0208",
                    format!("files import each other in a circle: {}", way.join(" → ")),
                )
                .at(span, "this import closes the circle")
                .help("move what both need into a third file"),
            );
            return;
        }
        if self.stack.len() >= IMPORT_DEPTH {
            self.diagnostics.push(
                Diagnostic::error("E0207", format!("imports are nested deeper than {IMPORT_DEPTH}"))
                    .at(span, "one import too many"),
            );
            return;
        }
        let module = match self.modules.loaded.get(&name) {
            Some(id) => *id,
            None => {
                let file = self.sources.add(&name, &text);
                let text = self.sources.text(file).to_owned();
                match parse(file, &text) {
                    Ok(parsed) => {
                        self.diagnostics.extend(parsed.warnings);
                        self.module(&name, &parsed.value)
                    }
                    Err(found) => {
                        self.diagnostics.extend(found);
                        return;
                    }
                }
            }
        };
        let own = self.modules.modules[module.0].own.clone();
        if own.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("E0206", format!("\"{}\" defines no `fn` and no `prior`", path.node))
                    .at(path.span, "nothing to import")
                    .note("models of an imported file are not imported"),
            );
            return;
        }
        let import = self.add_import(into, span, path.node.clone());
        for def in own {
            let name = self.modules.defs[def.0].0.name().node.clone();
            self.see(into, &name, def, Some(import), span);
        }
    }

    fn add_import(&mut self, into: ModuleId, span: Span, text: String) -> usize {
        let imports = &mut self.modules.modules[into.0].imports;
        imports.push(Import { span, text, used: Cell::new(false) });
        imports.len() - 1
    }

    /// The library module of a path, or a diagnostic; `name` is what is wanted of it.
    fn std_path(&mut self, path: &[ast::Ident], name: &ast::Ident) -> Option<(ModuleId, String)> {
        let whole = joined(path);
        if library::is_module(&whole) {
            return self.std_module(&whole).map(|id| (id, whole));
        }
        let known: Vec<String> = library::MODULES.iter().map(|(n, _)| format!("std.{n}")).collect();
        // `use rbf`: the only name stands where a module must
        let whole = if path.is_empty() { name.node.clone() } else { whole };
        let span = path.iter().map(|i| i.span).reduce(Span::to).unwrap_or(name.span);
        let d = Diagnostic::error("E0206", format!("there is no module `{whole}`")).at(span, "not found");
        let offered = library::find(&name.node);
        self.diagnostics.push(match (offered.first(), closest(&whole, known.iter().map(String::as_str))) {
            (Some(item), _) => d.help(format!("write `use {}.{}`", item.module, item.name)),
            (None, Some(near)) => d.help(format!("did you mean `{near}`?")),
            (None, None) => d.help(format!("the library is {}", known.join(", "))),
        });
        None
    }

    fn std_module(&mut self, path: &str) -> Option<ModuleId> {
        if let Some(id) = self.modules.loaded.get(path) {
            return Some(*id);
        }
        let (file_name, text) = library::text(path)?;
        let file = self.sources.add(&file_name, text);
        match parse(file, text) {
            Ok(parsed) => Some(self.module(path, &parsed.value)),
            Err(found) => {
                self.diagnostics.extend(found);
                None
            }
        }
    }
}

/// `std.kernels.rbf`
pub(crate) fn joined(path: &[ast::Ident]) -> String {
    path.iter().map(|i| i.node.as_str()).collect::<Vec<_>>().join(".")
}
