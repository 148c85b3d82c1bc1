//! sbl: a small declarative language for sparse Bayesian models, its compiler and its runtime.
//!
//! A program states a directed acyclic graph of named quantities; the compiler checks it, chooses an
//! inference plan and says why; one runtime executes the plan.
//!
//! ```
//! let source = "
//!     data x: real[N]
//!     data t: real[N]
//!     mu  ~ Flat()                            # unpenalised intercept
//!     w   ~ Normal(0, precision = alpha)      # one weight …
//!     alpha ~ Gamma(0, 0)                     # … with its own precision
//!     tau ~ Gamma(0, 0)                       # noise precision
//!     t   ~ Normal(mu + x .* w, precision = tau)
//! ";
//! let model = sbl::Model::compile(source)?;
//!
//! let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0).collect();
//! let t: Vec<f64> = x.iter().enumerate().map(|(i, x)| 1.0 + 2.0 * x + 0.1 * (i as f64 * 37.0).sin()).collect();
//! let data = sbl::Data::new().vector("x", &x)?.vector("t", &t)?;
//!
//! let fit = model.fit(&data, &sbl::Options::default())?;
//! assert!(fit.converged());
//!
//! let p = fit.predict(&sbl::Data::new().vector("x", &[0.5])?)?;
//! assert!((p.mean()[0] - 2.0).abs() < 0.1);
//! assert!(p.sd()[0] > p.sd_mean()[0]);
//! assert!((fit.node("w")?.mean()[0] - 2.0).abs() < 0.1);
//! # Ok::<(), sbl::Error>(())
//! ```
//!
//! The items at the root are the interface, with [`data`], [`diag`], [`host`] and [`source`]; [`graph`], [`plan`] and
//! [`session`] hold what a model and a fit can be asked to show. The other modules are the inside of the compiler and
//! the runtime (`ARCHITECTURE.md`): public for the command and for study, not shown here, and free to change.
//!
//! `docs/library.md`, the guide for embedding, is [`guide`].

#[doc(hidden)]
pub mod check;
pub mod data;
#[doc(hidden)]
pub mod design;
pub mod diag;
#[doc(hidden)]
pub mod dist;
mod error;
pub mod graph;
pub mod help;
pub mod host;
#[doc(hidden)]
pub mod math;
pub mod picture;
pub mod plan;
#[doc(hidden)]
pub mod runtime;
pub mod scene;
pub mod session;
pub mod source;
#[doc(hidden)]
pub mod syntax;

#[doc = include_str!("../docs/library.md")]
pub mod guide {}

pub use check::{Loader, NoFiles};
pub use data::Data;
pub use diag::{Diagnostic, Severity};
pub use dist::Elem;
pub use error::Error;
pub use host::{Basis, Host};
pub use session::cancel::Cancel;
pub use session::compare::{Comparison, compare};
pub use session::compile::{Compiler, Model};
pub use session::cross_validate::{CrossOptions, CrossValidation, Setting, cross_validate};
pub use session::fit::Fit;
pub use session::options::{Options, Progress};
pub use session::predict::{NodePrediction, Predicted, Prediction};
pub use session::result::NodeResult;
pub use session::sample::Draws;
pub use session::score::Scores;
