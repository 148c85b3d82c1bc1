//! Plans executed: a numeric problem in, a solution out. No name and no expression is left here.
pub mod adjoint;
pub mod assemble;
pub mod execute;
pub mod problem;
pub mod solution;
pub mod source;

pub mod evidence;
pub mod laplace;
pub mod learn;
pub mod state;
pub mod variational;

mod batch;
mod compress;
mod control;
mod core;
mod factors;
mod findings;
mod finish;
mod greedy;
mod hypers;
mod leaving;
mod polish;
mod posterior;
mod prepare;
mod rank_one;
mod reduce;
mod rows;
mod sample;
mod separation;
mod slope;
mod start;
mod swap;
mod treatment;
mod updates;
