//! What names mean inside a model, a prior or a function.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::check::cx::{Cx, PlateId, Val};
use crate::check::dim::Dim;
use crate::check::library;
use crate::check::scope::ModuleId;
use crate::check::support::Set;
use crate::check::typed::ExprKind;
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::source::Span;

/// One declared name.
#[derive(Clone)]
pub(crate) struct Slot {
    /// `None`: it is wrong, and that has been said.
    pub(crate) val: Option<Val>,
    pub(crate) span: Span,
    /// `data`, `let`, `parameter` …
    pub(crate) what: &'static str,
    pub(crate) used: Cell<bool>,
}

/// The names one place can see.
#[derive(Clone)]
pub(crate) struct Env {
    /// Where functions and priors are looked up.
    pub(crate) module: ModuleId,
    pub(crate) values: BTreeMap<String, Slot>,
    /// Dimension symbols: those of the data in a model, those of the parameter types in a function.
    pub(crate) dims: BTreeMap<String, Dim>,
    /// Plate indices by name, outer first.
    pub(crate) plates: Vec<(String, PlateId)>,
}

impl Env {
    pub(crate) fn new(module: ModuleId) -> Self {
        Self { module, values: BTreeMap::new(), dims: BTreeMap::new(), plates: Vec::new() }
    }

    /// Declares a name.
    pub(crate) fn set(&mut self, name: &str, val: Option<Val>, span: Span, what: &'static str) {
        self.values.insert(name.to_owned(), Slot { val, span, what, used: Cell::new(false) });
    }

    /// The plate index of that name.
    pub(crate) fn plate(&self, name: &str) -> Option<PlateId> {
        self.plates.iter().rev().find(|(n, _)| n == name).map(|(_, p)| *p)
    }
}

impl Cx<'_> {
    /// The value of a name.
    pub(crate) fn name(&mut self, env: &Env, name: &str, span: Span) -> Option<Val> {
        if let Some(plate) = env.plate(name) {
            let extent = self.plates[plate.0].extent.clone();
            let expr = self.push(ExprKind::Range(extent.clone()), Set::ORDINAL, vec![extent], span)?;
            return Some(Val {
                expr,
                set: Set::ORDINAL,
                plates: vec![plate],
                shape: Vec::new(),
                dim: None,
                levels: None,
            });
        }
        if let Some(slot) = env.values.get(name) {
            slot.used.set(true);
            return slot.val.clone();
        }
        if let Some(dim) = env.dims.get(name) {
            return self.dim_value(dim.clone(), span);
        }
        let d = self.unknown_name(env, name, span);
        self.fail(d)
    }

    fn unknown_name(&self, env: &Env, name: &str, span: Span) -> Diagnostic {
        if name == "_" {
            return Diagnostic::error("E0201", "`_` stands only inside an index: `x[_, j]`")
                .at(span, "not a value");
        }
        let capital = name.chars().count() == 1 && name.chars().all(char::is_uppercase);
        let d = if capital {
            Diagnostic::error("E0204", format!("no data has a dimension `{name}`"))
                .at(span, "unknown dimension")
        } else {
            Diagnostic::error("E0201", format!("nothing is called `{name}`")).at(span, "unknown name")
        };
        let plates = env.plates.iter().map(|(n, _)| n.as_str());
        let known = env.values.keys().chain(env.dims.keys()).map(String::as_str).chain(plates);
        if let Some(near) = closest(name, known) {
            return d.help(format!("did you mean `{near}`?"));
        }
        let host = self.hosts.find(name).is_some();
        if host
            || crate::check::natives::is_native(name)
            || !self.modules.find(env.module, name, true).is_empty()
        {
            return d.help(format!("`{name}` is a function: call it, `{name}(…)`"));
        }
        if let Some(item) = library::find(name).first() {
            return d.help(format!(
                "`{name}` is a {} of the library: add `use {}.{name}`",
                item.kind, item.module
            ));
        }
        if capital {
            d.help(format!("a dimension is bound where data are declared: `data x: real[{name}]`"))
        } else if name.chars().count() == 1 {
            d.help(format!("declare it, or repeat the statement over it: `plate {name} in … {{ … }}`"))
        } else {
            d.help(format!("declare it: `data {name}: real[N]`, `let {name} = …` or `{name} ~ …`"))
        }
    }
}
