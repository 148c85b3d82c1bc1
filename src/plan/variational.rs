//! The method `variational`: a factor for every unknown, by coordinate ascent on a bound. Not available yet.

use super::ir::{Options, Plan};
use super::method::{Method, empty, not_available};
use crate::check::typed::Model;
use crate::diag::Diagnostics;
use crate::graph::Dag;

/// `infer variational`
pub static VARIATIONAL: Method = Method {
    name: "variational",
    summary: "a factor for every unknown, by coordinate ascent on a bound",
    options: &["blocks"],
    sequential: false,
    obstacles,
    compile,
};

fn obstacles(model: &Model, _: &Dag, _: &Options) -> Diagnostics {
    not_available(model, "variational")
}

fn compile(_: &Model, _: &Dag, options: Options) -> Plan {
    empty("variational", options)
}
