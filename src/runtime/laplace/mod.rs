//! Laplace's approximation: a Gaussian at the mode of the weights, point hyperparameters by the
//! evidence of that Gaussian (mathematics §4, §5; Tipping 2001, MacKay 1992).

pub mod assemble;
pub mod hindsight;
pub mod problem;
pub mod solve;
pub mod state;

mod adjoint;
mod centre;
mod expansion;
mod factors;
mod finish;
mod frame;
mod inner;
mod mode;
mod rows;
mod search;
mod settle;
mod span;
