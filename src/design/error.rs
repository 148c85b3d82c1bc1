//! Why an expression has no numeric value. Data, so that the session can point at the source.

use crate::check::typed::{ExprId, Model, NodeId};
use crate::host::Fault;

/// An expression that could not be evaluated, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalError {
    /// The expression: its span is in the model.
    pub expr: ExprId,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Why {
    /// A node that has no value here: a latent, a `param`, or data that were not asked for.
    NoValue(NodeId),
    /// A dimension that is not bound to a number.
    NoDim(String),
    /// An operand does not have the shape that its type promises: found, expected.
    Shape((usize, usize), (usize, usize)),
    /// A position outside an axis of that size, counted from 0.
    Position(usize, usize),
    /// An index in data outside 1 … size. The row is counted from 0.
    Index {
        /// Row of the index vector, from 0.
        row: usize,
        /// What stands there.
        value: f64,
        /// The size of what is indexed.
        size: usize,
    },
    /// A level that was not there at training, where it would have to have a value. Row from 0.
    UnseenLevel(usize),
    /// More memory than allowed: bytes wanted, bytes allowed.
    Memory(usize, usize),
    /// A registered function of the host program, by name, did something wrong.
    Host(String, Fault),
    /// A training value that was not kept, or never stored.
    NotKept,
    /// The definitions go in a circle.
    Circle,
    /// Not affine in Gaussian latent nodes.
    NotLinear(String),
    /// Not a product of powers of hyperparameters.
    NotLogLinear(String),
    /// A scale must be above 0: entry (column-major, from 0) and its value.
    NotPositive(usize, f64),
    /// The start of a `param` outside its set: entry (column-major, from 0), its value, and the set.
    OutsideSet(usize, f64, &'static str),
    /// Not a finite number: row and column from 0, and the value.
    NonFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
        /// What came out.
        value: f64,
    },
}

impl EvalError {
    /// One line, lower case, without a full stop.
    pub fn message(&self, model: &Model) -> String {
        match &self.why {
            Why::NoValue(node) => match model.nodes.get(node.index()) {
                Some(node) => format!("`{}` has no value here", node.name),
                None => "a node has no value here".to_owned(),
            },
            Why::NoDim(dim) => format!("the dimension `{dim}` is not bound by the data"),
            Why::Shape(found, wanted) => {
                format!("found {} × {}, expected {} × {}", found.0, found.1, wanted.0, wanted.1)
            }
            Why::Position(at, size) => format!("position {} lies outside 1 … {size}", at.saturating_add(1)),
            Why::Index { row, value, size } => {
                format!("index {value} in row {} lies outside 1 … {size}", row.saturating_add(1))
            }
            Why::UnseenLevel(row) => {
                format!("row {} has a level that was not there at training", row.saturating_add(1))
            }
            Why::Memory(wanted, allowed) => {
                format!("needs about {} of memory, {} are allowed", Bytes(*wanted), Bytes(*allowed))
            }
            Why::Host(name, fault) => format!("the registered function `{name}`: {fault}"),
            Why::NotKept => "a training value was not kept with the fit".to_owned(),
            Why::Circle => "the definition goes in a circle".to_owned(),
            Why::NotLinear(what) => format!("not linear in the unknowns: {what}"),
            Why::NotLogLinear(what) => format!("not a product of powers of hyperparameters: {what}"),
            Why::NotPositive(entry, value) => {
                format!("entry {} of a scale is {value}, expected a number above 0", entry.saturating_add(1))
            }
            Why::OutsideSet(entry, value, set) => {
                format!("entry {} of the start is {value}, expected `{set}`", entry.saturating_add(1))
            }
            Why::NonFinite { row, col, value } => format!(
                "row {}, column {} is {value}, expected a finite number",
                row.saturating_add(1),
                col.saturating_add(1)
            ),
        }
    }
}

/// A number of bytes, shown as `1.5 GiB`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes(pub usize);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        let mut size = self.0 as f64;
        let mut unit = "bytes";
        for next in UNITS {
            if size >= 1024.0 {
                size /= 1024.0;
                unit = next;
            }
        }
        if unit == "bytes" { write!(f, "{} bytes", self.0) } else { write!(f, "{size:.1} {unit}") }
    }
}
