//! Constants set from outside: `--set width=2`.

use std::cell::Cell;

/// What to set, and whether any model took it.
pub(crate) struct Overrides {
    set: Vec<(String, f64, Cell<bool>)>,
}

impl Overrides {
    pub(crate) fn new(set: &[(String, f64)]) -> Self {
        Self { set: set.iter().map(|(n, x)| (n.clone(), *x, Cell::new(false))).collect() }
    }

    /// The value for a name; the last one given counts.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.set.iter().rev().find(|(n, _, _)| n == name).map(|(_, x, _)| *x)
    }

    /// A model took it.
    pub(crate) fn used(&self, name: &str) {
        self.set.iter().filter(|(n, _, _)| n == name).for_each(|(_, _, seen)| seen.set(true));
    }

    /// A model has the name, and refused, which it has said.
    pub(crate) fn refused(&self, name: &str) {
        self.used(name);
    }

    /// Names that no model knows.
    pub(crate) fn unknown(&self) -> Vec<&str> {
        self.set.iter().filter(|(_, _, seen)| !seen.get()).map(|(n, _, _)| n.as_str()).collect()
    }
}
