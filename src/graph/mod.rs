//! The directed acyclic graph of a typed model.
//!
//! [`build()`] turns a model into a [`Dag`]: one node for every named quantity, an edge wherever one
//! quantity is an argument of another, plates where quantities repeat. The graph answers questions
//! ([`query`]), tells plans which expressions are linear ([`linear`]) and draws itself ([`draw()`]).

pub mod build;
pub mod cycle;
pub mod dag;
pub mod draw;
pub mod linear;
pub mod plates;
pub mod query;
#[cfg(test)]
pub(crate) mod sample;
pub mod scale;
pub mod walk;

pub use build::build;
pub use dag::{Dag, Edge, Fixed, Node, Plate, PlateId, Role};
pub use draw::{Format, draw};
