//! Families: one file each, and a record of what each offers.
//!
//! A plan asks for an ability ([`Family::gaussian`], [`Family::precision_prior`] …), never for a
//! family by name.

pub mod alias;
pub mod bernoulli;
pub mod bound;
pub mod categorical;
mod draw;
pub mod elem;
pub mod flat;
pub mod gamma;
pub mod interval;
pub mod logistic_normal;
pub mod marginal;
pub mod mixture;
pub mod normal;
pub mod ordinal;
pub mod poisson;
pub mod score;
mod sobol;
pub mod softmax_normal;
pub mod student_t;

use std::fmt;
use std::ops::Range;

pub use bound::Bound;
pub use elem::Elem;
pub use marginal::{Marginal, Moments, Number, Outcome};
pub use mixture::Mixture;
pub use score::{Latent, Local, Score};

/// What a family is and offers.
pub struct Family {
    /// As written: `Normal`.
    pub name: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// The density or probability, as text.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// A complete program that uses it.
    pub example: &'static str,
    /// What a draw is.
    pub support: Support,
    /// Whether the log density is concave in the linear predictor, so that a draw as data has a
    /// score and a curvature of one sign and the posterior has one mode to expand around.
    pub log_concave: bool,
    /// Its arguments, positional ones first.
    pub args: &'static [Arg],
    /// Conditionally Gaussian in its mean: which arguments are mean and scale.
    pub gaussian: Option<Gaussian>,
    /// A conjugate prior of a precision: the names of its shape and rate.
    pub precision_prior: Option<PrecisionPrior>,
    /// Score and curvature in linear predictors, for an expansion around a mode.
    pub score: Option<Score>,
    /// A mixture of Gaussians over a latent scale.
    pub mixture: Option<Mixture>,
    /// A Gaussian lower bound in the linear predictor.
    pub bound: Option<Bound>,
    /// The predictive distribution under Gaussian linear predictors.
    pub marginal: Option<Marginal>,
    /// One draw from independent uniforms in (0, 1), given argument values as for
    /// [`Family::log_density`]; `None` where there is no draw (an improper or impossible argument).
    pub sample: fn(args: &[f64], uniform: &mut dyn FnMut() -> f64) -> Option<f64>,
    /// Log density of a draw, all constants included. A draw with levels is its code, counted from 0.
    ///
    /// `args` are the values in the order of [`Family::args`]: one number each, K for an argument
    /// [`ArgShape::PerLevel`] of K levels, K − 1 for [`ArgShape::Cutpoints`]; `NaN` in every place of
    /// an absent one, except that one with a default may never be absent. Outside the support the
    /// result is −∞, and `NaN` where the arguments are no distribution.
    pub log_density: fn(value: f64, args: &[f64]) -> f64,
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Family {
    /// The places of an argument among the values of all of them, for a draw of so many levels.
    pub fn places(&self, name: &str, levels: usize) -> Option<Range<usize>> {
        let mut start = 0;
        for arg in self.args {
            let end = start + arg.shape.len(levels);
            if arg.name == name {
                return Some(start..end);
            }
            start = end;
        }
        None
    }
}

/// What a draw of a family is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// One element of this set.
    Elem(Elem),
    /// `bool`, or a category of two levels.
    Binary,
    /// A category.
    Levels,
    /// Ascending levels.
    Ordered,
}

/// One argument of a family.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg {
    /// As written.
    pub name: &'static str,
    /// Whether it may be given without its name.
    pub positional: bool,
    /// What its values must be.
    pub elem: Elem,
    /// Its shape beside that of the node.
    pub shape: ArgShape,
    /// Required, optional, or one of a group.
    pub need: Need,
    /// One line: what it means.
    pub doc: &'static str,
    /// Whether it is the unit in which predictors and cutpoints are measured: all of them multiplied by
    /// one number are the same distribution.
    pub unit: bool,
}

impl Arg {
    /// An argument that must be given, by name, of the shape of the node.
    pub const fn required(name: &'static str, elem: Elem, doc: &'static str) -> Arg {
        Arg { name, positional: false, elem, shape: ArgShape::Node, need: Need::Required, doc, unit: false }
    }

    /// One of several alternatives, given by name, of the shape of the node.
    pub const fn one_of(group: &'static str, name: &'static str, elem: Elem, doc: &'static str) -> Arg {
        Arg {
            name,
            positional: false,
            elem,
            shape: ArgShape::Node,
            need: Need::OneOf(group),
            doc,
            unit: false,
        }
    }

    /// An argument that may be left out, given by name, of the shape of the node.
    pub const fn default(name: &'static str, elem: Elem, value: f64, doc: &'static str) -> Arg {
        Arg {
            name,
            positional: false,
            elem,
            shape: ArgShape::Node,
            need: Need::Default(value),
            doc,
            unit: false,
        }
    }

    /// The same, and it may be given without its name.
    pub const fn positional(self) -> Arg {
        Arg { positional: true, ..self }
    }

    /// The same, and predictors and cutpoints are measured in it.
    pub const fn unit(self) -> Arg {
        Arg { unit: true, ..self }
    }

    /// The same, with another shape beside that of the node.
    pub const fn shaped(self, shape: ArgShape) -> Arg {
        Arg { shape, ..self }
    }
}

/// The shape of an argument beside the shape of the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgShape {
    /// A scalar, or the shape of the node.
    Node,
    /// The shape of the node with a last dimension for its levels.
    PerLevel,
    /// A vector of the levels less one.
    Cutpoints,
}

impl ArgShape {
    /// How many numbers it has for one draw of so many levels.
    pub fn len(self, levels: usize) -> usize {
        match self {
            ArgShape::Node => 1,
            ArgShape::PerLevel => levels,
            ArgShape::Cutpoints => levels.saturating_sub(1),
        }
    }
}

/// Whether an argument must be there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Need {
    /// It must.
    Required,
    /// It has a default.
    Default(f64),
    /// Exactly one of the arguments with this group name must.
    OneOf(&'static str),
}

/// Which arguments make a family Gaussian in its mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gaussian {
    /// The mean; `None`: no prior density at all (flat).
    pub mean: Option<&'static str>,
    /// The scale arguments: the precision is the argument to this power.
    pub scales: &'static [(&'static str, f64)],
}

/// Which arguments make a family a Gamma prior of a precision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PrecisionPrior {
    /// The shape argument.
    pub shape: &'static str,
    /// The rate is one of these arguments to this power.
    pub rates: &'static [(&'static str, f64)],
}

/// Every family, in the order of the reference.
pub const FAMILIES: &[&Family] = &[
    &normal::NORMAL,
    &student_t::STUDENT_T,
    &gamma::GAMMA,
    &flat::FLAT,
    &bernoulli::BERNOULLI,
    &ordinal::ORDINAL,
    &categorical::CATEGORICAL,
    &poisson::POISSON,
];

/// The family of that name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|f| f.name == name)
}

/// Which of some alternatives is there, if exactly one is: its place and value.
fn one_of(alternatives: &[f64]) -> Option<(usize, f64)> {
    let mut present = alternatives.iter().copied().enumerate().filter(|(_, x)| !x.is_nan());
    let first = present.next()?;
    present.next().is_none().then_some(first)
}
