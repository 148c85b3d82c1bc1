//! Plans executed: a numeric problem in, a solution out. No name and no expression is left here.
pub mod assemble;
pub mod execute;
pub mod problem;
pub mod solution;

pub mod evidence;
pub mod laplace;
pub mod state;

mod batch;
mod control;
mod core;
mod factors;
mod findings;
mod finish;
mod greedy;
mod hypers;
mod polish;
mod posterior;
mod prepare;
mod rows;
mod slope;
mod start;
mod updates;
