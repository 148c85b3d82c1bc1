//! The method `laplace`: a Gaussian at the mode, point hyperparameters by the Laplace evidence. Not available yet.

use super::ir::{Options, Plan};
use super::method::{Method, empty, not_available};
use crate::check::typed::Model;
use crate::diag::Diagnostics;
use crate::graph::Dag;

/// `infer laplace`
pub static LAPLACE: Method = Method {
    name: "laplace",
    summary: "a Gaussian at the mode, point hyperparameters by the Laplace evidence",
    options: &["curvature", "schedule"],
    sequential: false,
    obstacles,
    compile,
};

fn obstacles(model: &Model, _: &Dag, _: &Options) -> Diagnostics {
    not_available(model, "laplace")
}

fn compile(_: &Model, _: &Dag, options: Options) -> Plan {
    empty("laplace", options)
}
