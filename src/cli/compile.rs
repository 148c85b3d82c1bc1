//! Programs compiled as the options say, with imports read from the disk.

use std::path::{Component, Path, PathBuf};

use sbl::check::Loader;
use sbl::diag::Diagnostic;
use sbl::{Compiler, Model};

use super::args::{Program, Settings};
use super::failure::Failure;
use super::load;
use super::report;
use super::screen::Screen;

/// The model of a program: the only one, or the one that `--model` names. Warnings are printed.
pub fn model(program: &Program, screen: &Screen) -> Result<Model, Failure> {
    let model = quietly(&program.file, &program.settings)?;
    report::print(screen, model.warnings(), model.sources());
    Ok(model)
}

/// The same without printing warnings.
pub fn quietly(file: &Path, settings: &Settings) -> Result<Model, Failure> {
    text(&load::program(file)?, file, settings)
}

/// The same for a text that is read already.
pub fn text(text: &str, file: &Path, settings: &Settings) -> Result<Model, Failure> {
    Ok(compiler(file, settings).compile(text)?)
}

/// A fit holds its program as it was compiled then: settings would change nothing.
pub fn refuse_for_a_fit(settings: &Settings, file: &Path) -> Result<(), Failure> {
    if settings.model.is_none() && settings.infer.is_none() && settings.set.is_empty() {
        return Ok(());
    }
    let found = format!("{} is a fit, and --model, --set and --infer apply to programs", load::shown(file));
    Err(Diagnostic::error("E0768", found).help("leave them out, or name the program").into())
}

/// Every model of a program; with `--model` only that one.
pub fn all(file: &Path, settings: &Settings) -> Result<Vec<Model>, Failure> {
    let text = load::program(file)?;
    let compiler = compiler(file, settings);
    if settings.model.is_some() {
        return Ok(vec![compiler.compile(&text)?]);
    }
    Ok(compiler.compile_all(&text)?)
}

/// What compiles a program as the options say.
pub fn compiler(file: &Path, settings: &Settings) -> Compiler {
    let mut compiler = Compiler::new().file(&name(file)).loader(Disk);
    if let Some(name) = &settings.model {
        compiler = compiler.model(name);
    }
    for (name, value) in &settings.set {
        compiler = compiler.set(name, *value);
    }
    if let Some(method) = &settings.infer {
        compiler = compiler.infer(method);
    }
    compiler
}

/// The name under which a file is compiled.
pub fn name(file: &Path) -> String {
    tidy(Path::new(&load::shown(file)))
}

/// Reads `use "lib/mine.sbl"` relative to the importing file.
pub struct Disk;

impl Loader for Disk {
    fn load(&self, importing: &str, path: &str) -> Result<(String, String), String> {
        let file = match Path::new(importing).parent() {
            Some(directory) => directory.join(path),
            None => Path::new(path).to_owned(),
        };
        // One file has one name, whichever way leads to it.
        let name = tidy(&file);
        let text = load::program(&file).map_err(|f| {
            f.diagnostics
                .first()
                .map_or_else(|| format!("cannot read {}", file.display()), |d| d.message.clone())
        })?;
        Ok((name, text))
    }
}

/// A path without `.` and without `x/..`.
fn tidy(path: &Path) -> String {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.iter().collect::<PathBuf>().display().to_string()
}
