//! Commands about files and settings: programs and data in, programs and fits out.

use std::path::{Path, PathBuf};

use sbl::Fit;
use sbl::data::{Column, Data};
use sbl::diag::Diagnostic;
use sbl::diag::suggest::closest;

use super::command::{no_arguments, number, one, usage, words};
use super::edit::Program;
use super::engine::{Engine, nothing_yet};
use super::reply::Reply;
use super::state::State;
use crate::cli::binding;
use crate::cli::failure::Failure;
use crate::cli::layout::{Align, number as shown_number, plural, table};
use crate::cli::load;
use crate::io::{self, ReadOptions};

impl Engine {
    /// `:load FILE`
    pub(super) fn load(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let path = PathBuf::from(one("load", &words(arguments))?);
        self.open(&path, reply)
    }

    /// Takes a program or a fit from a file.
    pub fn open(&mut self, path: &Path, reply: &mut Reply) -> Result<(), Failure> {
        verify_file(path)?;
        let bytes = load::fit_bytes(path)?;
        if load::is_fit(&bytes) {
            let fit = Fit::from_bytes(&bytes, &load::shown(path))?;
            let model = fit.model().clone();
            let program = Program {
                text: model.source().to_owned(),
                file: load::shown(path),
                current: (model.module().items.len() > 1).then(|| model.name().to_owned()),
            };
            reply.note(format!("{}: a fit of {}", load::shown(path), model.name()));
            let next = State { program, model: Some(model), fit: Some(fit), ..State::default() };
            self.commit(State { seed: self.state.seed, ..next });
            return Ok(());
        }
        let text = load::text(bytes, &load::shown(path))?;
        let mut program = Program { text, file: crate::cli::compile::name(path), current: None };
        let models = program.models();
        if models.len() > 1 {
            program.current = models.first().cloned();
        }
        let next = State { set: Vec::new(), ..self.state.clone() }.with_program(program)?;
        let Some(model) = &next.model else {
            // a file without a model is an error of its own kind
            next.compile(None)?;
            return Ok(());
        };
        reply.warn(model.warnings(), model.sources());
        reply.note(format!("{}: model {}", load::shown(path), model.name()));
        if models.len() > 1 {
            reply.note(format!("of {}; `:model NAME` chooses another", models.join(", ")));
        }
        self.commit(next);
        self.remark_on_data(reply);
        Ok(())
    }

    /// `:list`
    pub(super) fn list(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        no_arguments("list", arguments)?;
        if self.state.program.text.trim().is_empty() {
            return Err(nothing_yet("the program is empty", "state something: `data x: real[N]`"));
        }
        reply.result(self.state.program.text.clone());
        Ok(())
    }

    /// `:model [NAME]`
    pub(super) fn choose(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let models = self.state.program.models();
        if arguments.is_empty() {
            let name = self.model()?.name().to_owned();
            let others: Vec<&str> = models.iter().map(String::as_str).filter(|m| *m != name).collect();
            let others =
                if others.is_empty() { String::new() } else { format!(" (others: {})", others.join(", ")) };
            reply.result(format!("{name}{others}"));
            return Ok(());
        }
        if !models.iter().any(|m| m == arguments) {
            let unknown = Diagnostic::error("E0791", format!("the program has no model `{arguments}`"));
            return Err(match closest(arguments, models.iter().map(String::as_str)) {
                Some(near) => unknown.help(format!("did you mean `:model {near}`?")),
                None if models.is_empty() => unknown.help("it is one model of loose statements"),
                None => unknown.help(format!("it has {}", models.join(", "))),
            }
            .into());
        }
        let program = Program { current: Some(arguments.to_owned()), ..self.state.program.clone() };
        let next = self.state.with_program(program)?;
        self.commit(next);
        Ok(())
    }

    /// `:data [FILE…]`
    pub(super) fn bind(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let words = words(arguments);
        if words.is_empty() {
            reply.result(columns(&*self.data()?));
            self.remark_on_data(reply);
            return Ok(());
        }
        let read = read(&words)?;
        reply.warn(&read.warnings, &sbl::source::SourceMap::new());
        let (rows, count) = (read.value.row_count(), read.value.names().count());
        reply.note(format!("{}: {}, {}", read.value.origin(), plural(rows, "row"), plural(count, "column")));
        if self.state.fit.is_some() {
            reply.note("the fit was to other data; `:undo` brings both back");
        }
        let next = self.state.with_data(read.value);
        self.commit(next);
        self.remark_on_data(reply);
        Ok(())
    }

    /// What the model takes of the data; or why it cannot, which is no error until it is fitted.
    fn remark_on_data(&self, reply: &mut Reply) {
        let (Some(model), Some(data)) = (&self.state.model, &self.state.data) else { return };
        match binding::bind(model, data) {
            Ok(bound) => {
                reply.warn(&bound.warnings, model.sources());
                for line in binding::remarks(model, &bound.value).into_iter().skip(1) {
                    reply.note(line);
                }
            }
            Err(failure) => {
                for d in failure.diagnostics.iter().filter(|d| d.is_error()) {
                    reply.note(format!("the model cannot take the data yet: {} ({})", d.message, d.code));
                }
            }
        }
    }

    /// `:set [NAME = VALUE]`
    pub(super) fn set(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        if arguments.is_empty() {
            let set: String =
                self.state.set.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
            reply.result(if set.is_empty() { "nothing is set\n".to_owned() } else { set });
            return Ok(());
        }
        let parsed = arguments.split_once('=').and_then(|(name, value)| {
            let name = name.trim();
            let value: f64 = value.trim().parse().ok()?;
            (!name.is_empty() && value.is_finite()).then(|| (name.to_owned(), value))
        });
        let Some((name, value)) = parsed else {
            return Err(usage("set", &format!("found `{arguments}`, expected a name, `=` and a number")));
        };
        self.model()?;
        let mut next = State { fit: None, walk: None, ..self.state.clone() };
        next.set.retain(|(n, _)| *n != name);
        next.set.push((name, value));
        next.model = Some(next.compile(None)?);
        self.commit(next);
        Ok(())
    }

    /// `:seed [N]`
    pub(super) fn seed(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        if arguments.is_empty() {
            reply.result(self.state.seed.to_string());
            return Ok(());
        }
        let next = State { seed: number("seed", arguments, 0, 0)?, walk: None, ..self.state.clone() };
        self.commit(next);
        Ok(())
    }

    /// `:save FILE`
    pub(super) fn save(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let words = words(arguments);
        let path = PathBuf::from(one("save", &words)?);
        verify_file(&path)?;
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let bytes = match extension.as_deref() {
            Some("sbl") => {
                self.model()?;
                self.state.program.text.clone().into_bytes()
            }
            Some("sblfit") => self.fitted()?.to_bytes()?,
            _ => {
                return Err(usage(
                    "save",
                    &format!("found `{}`, expected a name that ends in .sbl or .sblfit", path.display()),
                ));
            }
        };
        load::write(&path, &bytes)?;
        reply.note(format!("written: {}", path.display()));
        Ok(())
    }

    /// `:quit`
    pub(super) fn quit(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        no_arguments("quit", arguments)?;
        reply.quit = true;
        Ok(())
    }
}

/// Data files joined by column.
pub(super) fn read(words: &[String]) -> Result<sbl::diag::Warned<Data>, Failure> {
    let paths: Vec<PathBuf> = words.iter().map(PathBuf::from).collect();
    paths.iter().try_for_each(|p| verify_file(p))?;
    Ok(io::read_data(&paths, &ReadOptions::default())?)
}

/// Standard input is the session itself.
pub(super) fn verify_file(path: &Path) -> Result<(), Failure> {
    if io::is_stdin(path) {
        return Err(Diagnostic::error("E0791", "found `-`, expected the name of a file")
            .help("standard input is the session itself; write the data to a file")
            .into());
    }
    Ok(())
}

/// One line for every column of data.
fn columns(data: &Data) -> String {
    let rows: Vec<Vec<String>> =
        data.names().filter_map(|name| Some(about(name, data.column(name)?))).collect();
    let align = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
    let lines = table(Some(&["column", "", "rows", "missing", "values"]), &align, &rows);
    format!("{}\n{}\n", data.origin(), lines.join("\n"))
}

fn about(name: &str, column: &Column) -> Vec<String> {
    let range = |values: &[f64]| {
        let known = || values.iter().copied().filter(|x| !x.is_nan());
        match (known().reduce(f64::min), known().reduce(f64::max)) {
            (Some(low), Some(high)) => format!("{} to {}", shown_number(low, 4), shown_number(high, 4)),
            _ => String::new(),
        }
    };
    let missing = |values: &[f64]| values.iter().filter(|x| x.is_nan()).count();
    let (kind, gone, values) = match column {
        Column::Numbers(v) => ("numbers".to_owned(), missing(v), range(v)),
        Column::Scalar(x) => ("a number".to_owned(), 0, shown_number(*x, 4)),
        Column::Matrix { values, width, .. } => {
            (format!("a matrix of {}", plural(*width, "column")), missing(values), range(values))
        }
        Column::Words(words) => {
            let mut levels: Vec<&str> = words.iter().flatten().map(|w| &**w).collect();
            levels.sort_unstable();
            levels.dedup();
            let shown = levels.iter().take(6).copied().collect::<Vec<_>>().join(", ");
            let more = if levels.len() > 6 {
                format!(", … ({})", plural(levels.len(), "level"))
            } else {
                String::new()
            };
            ("words".to_owned(), words.iter().filter(|w| w.is_none()).count(), format!("{shown}{more}"))
        }
    };
    let gone = if gone == 0 { String::new() } else { gone.to_string() };
    vec![name.to_owned(), kind, column.rows().to_string(), gone, values]
}
