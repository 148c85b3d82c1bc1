//! Plans executed: a numeric problem in, a solution out. No name and no expression is left here.
pub mod assemble;
pub mod problem;
pub mod solution;

pub mod evidence;
pub mod state;

mod batch;
mod control;
mod core;
mod factors;
mod finish;
mod greedy;
mod polish;
mod posterior;
mod prepare;
mod slope;
mod start;
mod updates;
