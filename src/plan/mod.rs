//! Which inference, and why.
//!
//! [`plan`] reads what the graph and the families offer and chooses a [`Method`]: the one the
//! program asks for, or the first of the `auto` rule that can serve. The result is an [`ir::Plan`],
//! plain data that prints itself .

pub mod choose;
pub mod evidence;
pub mod flat;
pub mod ir;
pub mod json;
pub mod laplace;
pub mod latex;
pub mod mean_field;
pub mod method;
pub mod obstacles;
pub mod options;
pub mod params;
mod scaled;
pub mod sequential;
pub mod steps;
pub mod text;
pub mod updates;
pub mod variational;

pub use choose::plan;
pub use json::json;
pub use latex::latex;
pub use method::{METHODS, Method};
pub use sequential::settle;
pub use text::text;
