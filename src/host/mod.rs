//! Functions and bases that the host program gives to programs of the language.
//!
//! A program calls them like natives. Whatever the form, a registered function is one map from a short
//! vector of inputs to a vector of outputs, with optional slopes. Its calls are guarded, and
//! central differences are taken where no slopes were given.

mod basis;
mod call;
mod function;

use std::sync::Arc;

use crate::dist::Elem;

pub use basis::{Basis, Features, Kernel, Width};
pub use call::Fault;
pub(crate) use call::guarded;
pub use function::Host;

/// A function of a [`Registry`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostId(pub u32);

/// What the entries of its arguments are to a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Entry by entry: the inputs are one entry of each argument, the output is an entry of the result.
    Map,
    /// Row by row: the inputs are a row of the first argument, then the other arguments; the outputs
    /// are a row of features.
    Features(Width),
    /// Pair by pair: a row of the first argument, a row of the centres, then the other arguments; the
    /// output says how close they are.
    Kernel,
}

/// Inputs to outputs; every output must be set.
type Rule = Arc<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// A registered function.
#[derive(Clone)]
pub struct Function {
    /// As a program calls it.
    pub name: String,
    /// Names of its arguments, in order; of a kernel the centres come last, and may be left out.
    pub params: Vec<String>,
    /// What it is a function of.
    pub form: Form,
    /// The set its results lie in.
    pub elem: Elem,
    value: Rule,
    slopes: Option<Rule>,
}

/// Registered functions, cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    all: Arc<Vec<Function>>,
}

impl Function {
    /// How many numbers it takes beside its rows.
    pub fn numbers(&self) -> usize {
        match self.form {
            Form::Map => self.params.len(),
            Form::Features(_) => self.params.len().saturating_sub(1),
            Form::Kernel => self.params.len().saturating_sub(2),
        }
    }

    /// `softplus(x)`, `wavelet(x, width)`, `wave(x, width, centres = …)`
    pub fn signature(&self) -> String {
        let mut params = self.params.clone();
        if self.form == Form::Kernel
            && let Some(last) = params.last_mut()
        {
            last.push_str(" = …");
        }
        format!("{}({})", self.name, params.join(", "))
    }

    /// What it is, whatever it computes: a fit made with one of another kind cannot be read.
    pub fn kind(&self) -> String {
        let form = match self.form {
            Form::Map => "function".to_owned(),
            Form::Features(Width::Columns(n)) => format!("basis of {n} features"),
            Form::Features(Width::PerInput(n)) => format!("basis of {n} features an input"),
            Form::Kernel => "kernel".to_owned(),
        };
        format!("{} {form} {}", self.signature(), self.elem)
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind())
    }
}

impl Registry {
    /// Also this one.
    pub fn with(&self, function: Function) -> Registry {
        let mut all = (*self.all).clone();
        all.push(function);
        Registry { all: Arc::new(all) }
    }

    /// These.
    pub fn of(all: Vec<Function>) -> Registry {
        Registry { all: Arc::new(all) }
    }

    /// In the order of registration.
    pub fn all(&self) -> &[Function] {
        &self.all
    }

    /// The function.
    pub fn get(&self, id: HostId) -> Option<&Function> {
        self.all.get(id.0 as usize)
    }

    /// The function of that name.
    pub fn find(&self, name: &str) -> Option<(HostId, &Function)> {
        let at = self.all.iter().position(|f| f.name == name)?;
        Some((HostId(at as u32), &self.all[at]))
    }
}
