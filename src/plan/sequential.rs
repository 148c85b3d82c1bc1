//! The method `sequential`: evidence or laplace, one basis function at a time. Not available yet.

use super::ir::{Options, Plan};
use super::method::{Method, empty, not_available};
use crate::check::typed::Model;
use crate::diag::Diagnostics;
use crate::graph::Dag;

/// `infer sequential`
pub static SEQUENTIAL: Method = Method {
    name: "sequential",
    summary: "evidence or laplace, one basis function at a time",
    options: &["curvature"],
    obstacles,
    compile,
};

fn obstacles(model: &Model, _: &Dag, _: &Options) -> Diagnostics {
    not_available(model, "sequential")
}

fn compile(_: &Model, _: &Dag, options: Options) -> Plan {
    empty("sequential", options)
}
