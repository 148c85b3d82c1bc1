//! A function of numbers, applied entry by entry.

use std::sync::Arc;

use super::{Form, Function, Rule};
use crate::dist::Elem;

/// A function that a host program gives to programs of the language: see
/// [`Compiler::function`](crate::Compiler::function).
///
/// It must be pure: the same inputs give the same output, whenever and from whichever thread it is called.
/// One that panics, or is not a number where its inputs are numbers, ends a fit with E0840.
///
/// ```
/// let softplus = sbl::Host::elementwise(|x| x.max(0.0) + (-x.abs()).exp().ln_1p())
///     .derivative(|x| 1.0 / (1.0 + (-x).exp()))
///     .returns(sbl::Elem::Positive);
/// let model = sbl::Compiler::new().function("softplus", softplus).compile("
///     data x: real[N]
///     data t: real[N]
///     w ~ Normal(0, precision = alpha)
///     alpha ~ Gamma(0, 0)
///     tau ~ Gamma(0, 0)
///     t ~ Normal(softplus(x) .* w, precision = tau)
/// ")?;
/// # let _ = model;
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone)]
pub struct Host {
    params: Vec<String>,
    elem: Elem,
    value: Rule,
    slopes: Option<Rule>,
}

impl Host {
    /// A function of one number.
    ///
    /// ```
    /// let _ = sbl::Host::elementwise(f64::tanh);
    /// ```
    pub fn elementwise(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Host {
        let value = move |x: &[f64], out: &mut [f64]| {
            if let ([x], [y]) = (x, out) {
                *y = f(*x);
            }
        };
        Host { params: vec!["x".to_owned()], elem: Elem::Real, value: Arc::new(value), slopes: None }
    }

    /// A function of several numbers, by the names of its arguments; scalars meet every entry of the others.
    ///
    /// ```
    /// let _ = sbl::Host::of(&["x", "sharpness"], |a| (a[0] * a[1]).tanh());
    /// ```
    pub fn of(params: &[&str], f: impl Fn(&[f64]) -> f64 + Send + Sync + 'static) -> Host {
        let value = move |x: &[f64], out: &mut [f64]| out.fill(f(x));
        let params = params.iter().map(|p| (*p).to_owned()).collect();
        Host { params, elem: Elem::Real, value: Arc::new(value), slopes: None }
    }

    /// The derivative of a function of one number; without one, central differences are taken where a
    /// `param` needs it.
    ///
    /// ```
    /// let _ = sbl::Host::elementwise(f64::sin).derivative(f64::cos);
    /// ```
    pub fn derivative(self, df: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Host {
        self.gradient(move |x, slopes| {
            for (slope, x) in slopes.iter_mut().zip(x) {
                *slope = df(*x);
            }
        })
    }

    /// The derivatives of a function of several numbers, one an argument.
    ///
    /// ```
    /// let _ = sbl::Host::of(&["a", "b"], |x| x[0] * x[1]).gradient(|x, slopes| {
    ///     slopes[0] = x[1];
    ///     slopes[1] = x[0];
    /// });
    /// ```
    pub fn gradient(mut self, df: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Host {
        self.slopes = Some(Arc::new(df));
        self
    }

    /// The set its results lie in, so that it may stand where the language asks for it: a precision is
    /// positive. Results are checked. Default: the line.
    ///
    /// ```
    /// let _ = sbl::Host::elementwise(f64::exp).returns(sbl::Elem::Positive);
    /// ```
    pub fn returns(mut self, elem: Elem) -> Host {
        self.elem = elem;
        self
    }

    pub(crate) fn named(self, name: &str) -> Function {
        let Host { params, elem, value, slopes } = self;
        Function { name: name.to_owned(), params, form: Form::Map, elem, value, slopes }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Host({})", self.params.join(", "))
    }
}
