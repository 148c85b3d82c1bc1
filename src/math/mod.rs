//! Numerical tools: special functions with stable tails, factorisations that report what they did,
//! parallel columns, numerical rank. What takes long polls between blocks ([`poll`]).
pub mod chol;
pub mod cross;
mod differences;
pub mod exp;
pub mod gram;
pub mod lbfgs;
pub mod newton;
mod panels;
pub mod parallel;
pub mod parts;
pub mod poll;
pub mod power;
pub mod product;
pub mod qr;
pub mod quadrature;
pub mod root;
pub mod special;
pub mod sums;
pub mod wide;
