//! What a method of inference is, and which there are.

use super::ir::{Options, Plan};
use super::{evidence, laplace, sequential, variational};
use crate::check::typed::Model;
use crate::diag::Diagnostics;
use crate::graph::Dag;

/// A method: what it is called, what stops it, and how it compiles a model.
pub struct Method {
    /// As written after `infer`.
    pub name: &'static str,
    /// One line: what it computes.
    pub summary: &'static str,
    /// The options it understands, beside the common ones.
    pub options: &'static [&'static str],
    /// Whether it can take one basis function at a time: `schedule = sequential`.
    pub sequential: bool,
    /// Everything that stops it, in source order; empty if it can serve. A method that is not built
    /// yet says so.
    pub obstacles: fn(&Model, &Dag, &Options) -> Diagnostics,
    /// The plan of a model without obstacles.
    pub compile: fn(&Model, &Dag, Options) -> Plan,
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every method, in the order in which they are tried and listed.
pub const METHODS: &[&Method] =
    &[&evidence::EVIDENCE, &laplace::LAPLACE, &variational::VARIATIONAL, &sequential::SEQUENTIAL];

/// The method of that name.
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|m| m.name == name)
}
