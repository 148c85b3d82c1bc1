//! From text to a compiled model: one `let` per stage.

use std::sync::{Arc, Mutex, OnceLock};

use super::bind::Bound;
use crate::check::{self, Loader, NoFiles, typed};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::graph::{self, Dag};
use crate::host::{Basis, Function, Host, Registry, guarded};
use crate::plan::{self, ir::Plan};
use crate::session::fit::Fit;
use crate::source::SourceMap;
use crate::syntax;

/// Settings of a compilation. [`Model::compile`] uses the defaults.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
/// let model = sbl::Compiler::new().file("line.sbl").compile(source)?;
/// assert_eq!(model.name(), "model");
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone)]
pub struct Compiler {
    recipe: Recipe,
    loader: Arc<dyn Loader + Send + Sync>,
    hosts: Registry,
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
    /// What the functions of the host program are that it uses; a compilation must find them registered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
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
        let loaded = guarded(|| self.loader.load(importing, path));
        let (name, text) = loaded.map_err(|fault| format!("the loader did not return: {fault}"))??;
        if let Ok(mut imports) = self.imports.lock() {
            let (importing, path) = (importing.to_owned(), path.to_owned());
            imports.push(Import { importing, path, name: name.clone(), text: text.clone() });
        }
        Ok((name, text))
    }
}

/// A compiled model: cheap to clone, immutable, `Send + Sync`.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
/// let model = sbl::Model::compile(source)?;
/// let same = model.clone();
/// std::thread::spawn(move || same.name().to_owned()).join().ok();
/// # Ok::<(), sbl::Error>(())
/// ```
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
    /// Of the typed model, once it has been asked for.
    fingerprint: OnceLock<String>,
    typed: typed::Model,
    dag: Dag,
    plan: Result<Plan, Diagnostics>,
    warnings: Diagnostics,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            recipe: Recipe { file: "model".to_owned(), ..Recipe::default() },
            loader: Arc::new(NoFiles),
            hosts: Registry::default(),
        }
    }
}

impl Compiler {
    /// No loader, no overrides, a file called `model`.
    ///
    /// ```
    /// let _ = sbl::Compiler::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of the source in messages; `use "…"` is relative to it.
    ///
    /// ```
    /// let error = sbl::Compiler::new().file("line.sbl").compile("data x real[N]\n").unwrap_err();
    /// assert!(error.to_string().contains("line.sbl:1"));
    /// ```
    pub fn file(mut self, name: &str) -> Self {
        name.clone_into(&mut self.recipe.file);
        self
    }

    /// Reads the files that `use "…"` names. Default: there are none.
    ///
    /// ```
    /// let compiler = sbl::Compiler::new().loader(sbl::NoFiles);
    /// # let _ = compiler;
    /// ```
    pub fn loader(mut self, loader: impl Loader + Send + Sync + 'static) -> Self {
        self.loader = Arc::new(loader);
        self
    }

    /// Which model, where the source holds several.
    ///
    /// ```
    /// let source = "model a {\n    data t: real[N]\n    t ~ Normal(0, sd = 1)\n}\nmodel b {\n    data t: real[N]\n    t ~ Normal(1, sd = 1)\n}\n";
    /// assert_eq!(sbl::Compiler::new().model("b").compile(source)?.name(), "b");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn model(mut self, name: &str) -> Self {
        self.recipe.model = Some(name.to_owned());
        self
    }

    /// Overrides a constant `let` of the program.
    ///
    /// ```
    /// let source = "data t: real[N]\nlet scale = 1.0\nt ~ Normal(0, sd = scale)\n";
    /// let model = sbl::Compiler::new().set("scale", 2.0).compile(source)?;
    /// # let _ = model;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn set(mut self, name: &str, value: f64) -> Self {
        self.recipe.set.push((name.to_owned(), value));
        self
    }

    /// Overrides `infer`: `evidence(max_iter = 100)`.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Compiler::new().infer("evidence(max_iter = 100)").compile(source)?;
    /// assert_eq!(model.plan()?.method, "evidence");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn infer(mut self, method: &str) -> Self {
        self.recipe.infer = Some(method.to_owned());
        self
    }

    /// Registers a function of numbers, which programs then call like a native.
    ///
    /// ```
    /// let model = sbl::Compiler::new()
    ///     .function("softplus", sbl::Host::elementwise(|x| x.exp().ln_1p()).returns(sbl::Elem::Positive))
    ///     .compile("data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(softplus(x) .* w, sd = 1)\n")?;
    /// # let _ = model;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn function(mut self, name: &str, function: Host) -> Self {
        self.hosts = self.hosts.with(function.named(name));
        self
    }

    /// Registers a basis: features of a row, or a kernel of two rows.
    ///
    /// ```
    /// let model = sbl::Compiler::new()
    ///     .basis("square", sbl::Basis::features(1, |row, _, out| out[0] = row[0] * row[0]))
    ///     .compile("data x: real[N]\ndata t: real[N]\nw ~ Flat() [1]\nt ~ Normal(square(x) * w, sd = 1)\n")?;
    /// # let _ = model;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn basis(mut self, name: &str, basis: impl Into<Basis>) -> Self {
        self.hosts = self.hosts.with(basis.into().named(name));
        self
    }

    /// Reads a fit file that was made with the functions registered here; `name` is for messages.
    /// [`Fit::from_bytes`](crate::Fit::from_bytes) is enough for a fit that uses none.
    ///
    /// # Errors
    /// As [`Fit::from_bytes`](crate::Fit::from_bytes); E0820 says which functions must be registered.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(double(x) .* w, sd = 1)\n";
    /// let compiler = sbl::Compiler::new().function("double", sbl::Host::elementwise(|x| 2.0 * x));
    /// let data = sbl::Data::new().vector("x", &[1.0, 2.0])?.vector("t", &[2.0, 4.0])?;
    /// let bytes = compiler.compile(source)?.fit(&data, &sbl::Options::default())?.to_bytes()?;
    /// assert!(sbl::Fit::from_bytes(&bytes, "my.sblfit").is_err());
    /// let fit = compiler.load(&bytes, "my.sblfit")?;
    /// assert!((fit.node("w")?.mean()[0] - 1.0).abs() < 1e-12);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn load(&self, bytes: &[u8], name: &str) -> Result<Fit, Error> {
        Fit::read(bytes, name, &self.hosts)
    }

    pub(crate) fn with_hosts(mut self, hosts: Registry) -> Self {
        self.hosts = hosts;
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
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Compiler::new().compile(source)?;
    /// # let _ = model;
    /// # Ok::<(), sbl::Error>(())
    /// ```
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
    ///
    /// ```
    /// let source = "model a {\n    data t: real[N]\n    t ~ Normal(0, sd = 1)\n}\nmodel b {\n    data t: real[N]\n    t ~ Normal(1, sd = 1)\n}\n";
    /// let models = sbl::Compiler::new().compile_all(source)?;
    /// assert!(models.iter().map(sbl::Model::name).eq(["a", "b"]));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn compile_all(&self, source: &str) -> Result<Vec<Model>, Error> {
        let mut sources = SourceMap::new();
        self.compile_stages(source, &mut sources).map_err(|diagnostics| Error::new(diagnostics, sources))
    }

    fn compile_stages(&self, source: &str, sources: &mut SourceMap) -> Result<Vec<Model>, Diagnostics> {
        let file = sources.add(&self.recipe.file, source);
        let text = sources.text(file).to_owned();
        let infer = self.recipe.infer.as_deref().map(syntax::parse_infer).transpose()?;

        let module = syntax::parse(file, &text)?;
        let options = check::Options { set: self.recipe.set.clone(), infer, hosts: self.hosts.clone() };
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
                    let hosts = typed.hosts.all().iter().map(Function::kind).collect();
                    let recipe = Recipe { model: Some(typed.name.clone()), hosts, ..self.recipe.clone() };
                    let (sources, module, dag) = (sources.clone(), module.value.clone(), dag.value);
                    let (imports, source) = (imports.clone(), text.clone());
                    let compiled = Compiled {
                        recipe,
                        source,
                        imports,
                        sources,
                        module,
                        fingerprint: OnceLock::new(),
                        typed,
                        dag,
                        plan,
                        warnings,
                    };
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
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// # let _ = model;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn compile(source: &str) -> Result<Model, Error> {
        Compiler::new().compile(source)
    }

    /// Its name; `model` if it is anonymous.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// assert_eq!(sbl::Model::compile(source)?.name(), "model");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.inner.typed.name
    }

    /// What it was compiled from.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// let texts = model.sources();
    /// # let _ = texts;
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn sources(&self) -> &SourceMap {
        &self.inner.sources
    }

    /// Warnings of all stages.
    ///
    /// ```
    /// let source = "data x: real[N]\ndata t: real[N]\nt ~ Normal(0, sd = 1)\n";
    /// assert_eq!(sbl::Model::compile(source)?.warnings()[0].code, "W0202");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.inner.warnings
    }

    /// The syntax tree of the whole file.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// assert_eq!(sbl::Model::compile(source)?.module().items.len(), 4);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn module(&self) -> &syntax::ast::Module {
        &self.inner.module
    }

    /// The typed model.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// let names: Vec<&str> = model.typed().nodes.iter().map(|n| n.name.as_str()).collect();
    /// assert_eq!(names, ["x", "t", "w"]);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn typed(&self) -> &typed::Model {
        &self.inner.typed
    }

    /// The graph.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// assert_eq!(model.dag().topological().len(), 3);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn dag(&self) -> &Dag {
        &self.inner.dag
    }

    /// The plan.
    ///
    /// # Errors
    /// The obstacles, if no plan serves the model.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// let plan = model.plan()?;
    /// println!("{}, because {}", plan.method, plan.why.join("; "));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn plan(&self) -> Result<&Plan, Error> {
        self.inner.plan.as_ref().map_err(|found| Error::new(found.clone(), self.inner.sources.clone()))
    }

    /// The plan that a fit to these data takes: its schedule, where the program leaves it open, goes by the
    /// number of weights.
    ///
    /// # Errors
    /// As [`Model::plan`].
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// let model = sbl::Model::compile(source)?;
    /// let data = sbl::Data::new().vector("x", &[1.0, 2.0])?.vector("t", &[2.0, 4.0])?;
    /// let bound = sbl::session::bind::bind_training(model.typed(), &data)?.value;
    /// assert_eq!(model.plan_for(&bound)?.method, "evidence");
    /// # Ok::<(), sbl::Error>(())
    /// ```
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
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    /// assert_eq!(sbl::Model::compile(source)?.source(), source);
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    pub(crate) fn imports(&self) -> Vec<Import> {
        self.inner.imports.clone()
    }

    /// Checksum of the typed model, as it is printed: a fit belongs to one meaning of its source.
    pub(crate) fn fingerprint(&self) -> String {
        let of_text = || super::file::hex(check::print_typed(self.typed()).as_bytes());
        self.inner.fingerprint.get_or_init(of_text).clone()
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
