//! What a session knows: an immutable snapshot, cheap to clone, so that an error leaves it as it was and
//! `:undo` restores the one before.

use std::sync::Arc;

use sbl::data::Data;
use sbl::{Compiler, Fit, Model};

use super::edit::Program;
use crate::cli::compile::Disk;
use crate::cli::failure::Failure;

/// A snapshot.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The program as text.
    pub program: Program,
    /// The same, compiled; `None` while it has no statement.
    pub model: Option<Model>,
    /// The data.
    pub data: Option<Arc<Data>>,
    /// The fit, finished or at the last step.
    pub fit: Option<Fit>,
    /// Where `:step` stands, if the fit is stepped through.
    pub walk: Option<Walk>,
    /// Overrides of constants.
    pub set: Vec<(String, f64)>,
    /// Seed of everything random.
    pub seed: u64,
}

/// A fit on its way.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Iterations made so far.
    pub taken: usize,
    /// The fit there.
    pub fit: Fit,
    /// Whether it has ended by itself.
    pub ended: bool,
}

impl State {
    /// The same with another program, compiled; what was fitted to the former one goes.
    ///
    /// # Errors
    /// Every error of the first stage that has any.
    pub fn with_program(&self, program: Program) -> Result<State, Failure> {
        let mut next = State { program, model: None, fit: None, walk: None, ..self.clone() };
        // a constant that was set from outside is what the program says once it is stated again
        let names = next.program.names();
        next.set.retain(|(name, _)| names.contains(name));
        if next.program.has_statements() {
            next.model = Some(next.compile(None)?);
        }
        Ok(next)
    }

    /// The program compiled; `method` overrides its `infer`.
    ///
    /// # Errors
    /// Every error of the first stage that has any.
    pub fn compile(&self, method: Option<&str>) -> Result<Model, Failure> {
        let mut compiler = Compiler::new().file(&self.program.file).loader(Disk);
        if let Some(name) = &self.program.current {
            compiler = compiler.model(name);
        }
        for (name, value) in &self.set {
            compiler = compiler.set(name, *value);
        }
        if let Some(method) = method {
            compiler = compiler.infer(method);
        }
        Ok(compiler.compile(&self.program.text)?)
    }

    /// The same with other data.
    pub fn with_data(&self, data: Data) -> State {
        State { data: Some(Arc::new(data)), fit: None, walk: None, ..self.clone() }
    }
}
