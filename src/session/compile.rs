//! From text to a compiled model: one `let` per stage.

use std::sync::{Arc, Mutex};

use super::bind::Bound;
use crate::check::{self, Loader, NoFiles, typed};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::graph::{self, Dag};
use crate::plan::{self, ir::Plan};
use crate::source::SourceMap;
use crate::syntax;

/// Settings of a compilation. [`Model::compile`] uses the defaults.
#[derive(Clone)]
pub struct Compiler {
    recipe: Recipe,
    loader: Arc<dyn Loader + Send + Sync>,
}

/// What a compilation depends on beside the source: kept with a fit.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Recipe {
    /// Name of the file, for messages.
    pub file: String,
    /// Which model of the file.
    pub model: Option<String>,
    /// Overrides of constants.
    pub set: Vec<(String, f64)>,
    /// Override of `infer`.
    pub infer: Option<String>,
}

/// A file that a compilation has read.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Import {
    importing: String,
    path: String,
    name: String,
    text: String,
}

/// The files of an earlier compilation.
pub(crate) struct Imports(pub Vec<Import>);

impl Loader for Imports {
    fn load(&self, importing: &str, path: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|i| i.importing == importing && i.path == path);
        found
            .map(|i| (i.name.clone(), i.text.clone()))
            .ok_or_else(|| "it was not kept with the fit".to_owned())
    }
}

/// A loader that notes what it reads.
struct Recording<'a> {
    loader: &'a (dyn Loader + Send + Sync),
    imports: Mutex<Vec<Import>>,
}

impl Loader for Recording<'_> {
    fn load(&self, importing: &str, path: &str) -> Result<(String, String), String> {
        let (name, text) = self.loader.load(importing, path)?;
        if let Ok(mut imports) = self.imports.lock() {
            let (importing, path) = (importing.to_owned(), path.to_owned());
            imports.push(Import { importing, path, name: name.clone(), text: text.clone() });
        }
        Ok((name, text))
    }
}

/// A compiled model: cheap to clone, immutable, `Send + Sync`.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Compiled>,
}

struct Compiled {
    recipe: Recipe,
    source: String,
    imports: Vec<Import>,
    sources: SourceMap,
    module: syntax::ast::Module,
    typed: typed::Model,
    dag: Dag,
    plan: Result<Plan, Diagnostics>,
    warnings: Diagnostics,
}

impl Default for Compiler {
    fn default() -> Self {
        Self { recipe: Recipe { file: "model".to_owned(), ..Recipe::default() }, loader: Arc::new(NoFiles) }
    }
}

impl Compiler {
    /// No loader, no overrides, a file called `model`.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of the source in messages; `use "…"` is relative to it.
    pub fn file(mut self, name: &str) -> Self {
        name.clone_into(&mut self.recipe.file);
        self
    }

    /// Reads the files that `use "…"` names. Default: there are none.
    pub fn loader(mut self, loader: impl Loader + Send + Sync + 'static) -> Self {
        self.loader = Arc::new(loader);
        self
    }

    /// Which model, where the source holds several.
    pub fn model(mut self, name: &str) -> Self {
        self.recipe.model = Some(name.to_owned());
        self
    }

    /// Overrides a constant `let` of the program.
    pub fn set(mut self, name: &str, value: f64) -> Self {
        self.recipe.set.push((name.to_owned(), value));
        self
    }

    /// Overrides `infer`: `evidence(max_iter = 100)`.
    pub fn infer(mut self, method: &str) -> Self {
        self.recipe.infer = Some(method.to_owned());
        self
    }

    pub(crate) fn with_recipe(mut self, recipe: Recipe) -> Self {
        self.recipe = recipe;
        self
    }

    /// The one model of a source, or the one asked for.
    ///
    /// # Errors
    /// Every error of the first stage that has any.
    pub fn compile(&self, source: &str) -> Result<Model, Error> {
        let mut models = self.compile_all(source)?;
        let names: Vec<&str> = models.iter().map(Model::name).collect();
        let chosen = match &self.recipe.model {
            Some(wanted) => names.iter().position(|n| n == wanted),
            None if models.len() == 1 => Some(0),
            None => None,
        };
        match chosen {
            Some(i) => Ok(models.swap_remove(i)),
            None => Err(no_such_model(self.recipe.model.as_deref(), &names, &self.recipe.file).into()),
        }
    }

    /// Every model of a source.
    ///
    /// # Errors
    /// Every error of the first stage that has any.
    pub fn compile_all(&self, source: &str) -> Result<Vec<Model>, Error> {
        let mut sources = SourceMap::new();
        self.compile_stages(source, &mut sources).map_err(|diagnostics| Error::new(diagnostics, sources))
    }

    fn compile_stages(&self, source: &str, sources: &mut SourceMap) -> Result<Vec<Model>, Diagnostics> {
        let file = sources.add(&self.recipe.file, source);
        let text = sources.text(file).to_owned();
        let infer = self.recipe.infer.as_deref().map(syntax::parse_infer).transpose()?;

        let module = syntax::parse(file, &text)?;
        let options = check::Options { set: self.recipe.set.clone(), infer };
        let recording = Recording { loader: &*self.loader, imports: Mutex::default() };
        let typed = check::check(sources, &module.value, &options, &recording)?;
        let imports = recording.imports.into_inner().unwrap_or_default();

        let mut shared = module.warnings;
        shared.extend(typed.warnings);
        let mut models = Vec::new();
        let mut errors = Vec::new();
        for typed in typed.value {
            match graph::build(&typed) {
                Err(found) => errors.extend(found),
                Ok(dag) => {
                    let mut warnings = shared.clone();
                    warnings.extend(dag.warnings);
                    let plan = plan::plan(&typed, &dag.value).map(|plan| {
                        warnings.extend(plan.warnings);
                        plan.value
                    });
                    let recipe = Recipe { model: Some(typed.name.clone()), ..self.recipe.clone() };
                    let (sources, module, dag) = (sources.clone(), module.value.clone(), dag.value);
                    let (imports, source) = (imports.clone(), text.clone());
                    let compiled =
                        Compiled { recipe, source, imports, sources, module, typed, dag, plan, warnings };
                    models.push(Model { inner: Arc::new(compiled) });
                }
            }
        }
        if errors.is_empty() { Ok(models) } else { Err(errors) }
    }
}

impl Model {
    /// Compiles a source that holds one model, with no file to import.
    ///
    /// # Errors
    /// Every error of the first stage that has any.
    pub fn compile(source: &str) -> Result<Model, Error> {
        Compiler::new().compile(source)
    }

    /// Its name; `model` if it is anonymous.
    pub fn name(&self) -> &str {
        &self.inner.typed.name
    }

    /// What it was compiled from.
    pub fn sources(&self) -> &SourceMap {
        &self.inner.sources
    }

    /// Warnings of all stages.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.inner.warnings
    }

    /// The syntax tree of the whole file.
    pub fn module(&self) -> &syntax::ast::Module {
        &self.inner.module
    }

    /// The typed model.
    pub fn typed(&self) -> &typed::Model {
        &self.inner.typed
    }

    /// The graph.
    pub fn dag(&self) -> &Dag {
        &self.inner.dag
    }

    /// The plan.
    ///
    /// # Errors
    /// The obstacles, if no plan serves the model.
    pub fn plan(&self) -> Result<&Plan, Error> {
        self.inner.plan.as_ref().map_err(|found| Error::new(found.clone(), self.inner.sources.clone()))
    }

    /// The plan that a fit to these data takes: its schedule, where the program leaves it open, goes by the
    /// number of weights.
    ///
    /// # Errors
    /// As [`Model::plan`].
    pub fn plan_for(&self, bound: &Bound) -> Result<Plan, Error> {
        Ok(self.settled(self.plan()?, bound))
    }

    pub(crate) fn settled(&self, plan: &Plan, bound: &Bound) -> Plan {
        let inputs = bound.inputs(self.typed());
        let entries = |node| match inputs.shape(&self.typed().node(node).ty) {
            Ok((_, rows, cols)) => rows.saturating_mul(cols),
            Err(_) => 0,
        };
        plan::settle(plan, self.typed(), self.dag(), &entries)
    }

    /// The text of the main file.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    pub(crate) fn imports(&self) -> Vec<Import> {
        self.inner.imports.clone()
    }

    /// Checksum of the typed model, as it is printed: a fit belongs to one meaning of its source.
    pub(crate) fn fingerprint(&self) -> String {
        super::file::hex(check::print_typed(self.typed()).as_bytes())
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.inner.recipe
    }

    /// Errors of a later stage, with the sources of this model.
    pub(crate) fn error(&self, diagnostics: impl Into<Diagnostics>) -> Error {
        Error::new(diagnostics.into(), self.inner.sources.clone())
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("name", &self.name()).finish_non_exhaustive()
    }
}

fn no_such_model(wanted: Option<&str>, names: &[&str], file: &str) -> Diagnostic {
    let list = names.join(", ");
    match wanted {
        _ if names.is_empty() => Diagnostic::error("E0216", format!("`{file}` holds no model"))
            .help("write statements, or `model name { … }`"),
        Some(wanted) => {
            let found =
                Diagnostic::error("E0216", format!("`{file}` holds no model `{wanted}`; it holds {list}"));
            match closest(wanted, names.iter().copied()) {
                Some(near) => found.help(format!("did you mean `--model {near}`?")),
                None => found.help(format!("choose one of {list}")),
            }
        }
        None => Diagnostic::error("E0216", format!("`{file}` holds several models: {list}"))
            .help(format!("choose one: `--model {}`", names[0])),
    }
}
