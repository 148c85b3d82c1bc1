//! Bases: features of a row, and kernels of two rows.

use std::sync::Arc;

use super::{Form, Function, Rule};
use crate::dist::Elem;

/// How many features a basis makes of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// So many.
    Columns(usize),
    /// So many for each input.
    PerInput(usize),
}

impl From<usize> for Width {
    fn from(columns: usize) -> Width {
        Width::Columns(columns)
    }
}

impl Width {
    /// For rows of so many inputs.
    pub fn of(self, inputs: usize) -> usize {
        match self {
            Width::Columns(n) => n,
            Width::PerInput(n) => n.saturating_mul(inputs),
        }
    }
}

/// A basis that a host program gives to programs of the language: see
/// [`Compiler::basis`](crate::Compiler::basis). It is made of [`Basis::features`] or [`Basis::kernel`].
///
/// ```
/// let waves = sbl::Basis::features(2, |row, _, out| {
///     out[0] = row[0].sin();
///     out[1] = row[0].cos();
/// });
/// let near = sbl::Basis::kernel(|x, c, a| {
///     let d: f64 = x.iter().zip(c).map(|(x, c)| (x - c).abs()).sum();
///     (-d / a[0]).exp()
/// })
/// .argument("width");
/// let model = sbl::Compiler::new().basis("waves", waves).basis("near", near).compile("
///     data x: real[N, D]
///     data t: real[N]
///     w ~ Normal(0, precision = alpha)
///     alpha ~ Gamma(0, 0) [N + 2]
///     tau ~ Gamma(0, 0)
///     t ~ Normal([waves(x), near(x, 0.5)] * w, precision = tau)
/// ")?;
/// # let _ = model;
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Basis {
    function: Function,
}

/// Features of a row; turns into a [`Basis`].
#[derive(Clone)]
pub struct Features {
    width: Width,
    arguments: Vec<String>,
    elem: Elem,
    value: FeatureRule,
    slopes: Option<FeatureRule>,
}

/// A kernel of two rows; turns into a [`Basis`].
#[derive(Clone)]
pub struct Kernel {
    arguments: Vec<String>,
    elem: Elem,
    value: KernelRule,
    slopes: Option<KernelSlopes>,
}

type FeatureRule = Arc<dyn Fn(&[f64], &[f64], &mut [f64]) + Send + Sync>;
type KernelRule = Arc<dyn Fn(&[f64], &[f64], &[f64]) -> f64 + Send + Sync>;
type KernelSlopes = Arc<dyn Fn(&[f64], &[f64], &[f64], &mut [f64]) + Send + Sync>;

impl Basis {
    /// Features of a row: `f(row, arguments, out)` sets every entry of `out`. In a program, `name(x, …)`
    /// is a matrix of `width` columns.
    ///
    /// ```
    /// let hinges = sbl::Basis::features(3, |row, _, out| {
    ///     for (out, knot) in out.iter_mut().zip([0.25, 0.5, 0.75]) {
    ///         *out = (row[0] - knot).max(0.0);
    ///     }
    /// });
    /// # let _ = hinges;
    /// ```
    pub fn features(
        width: impl Into<Width>,
        f: impl Fn(&[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Features {
        Features {
            width: width.into(),
            arguments: Vec::new(),
            elem: Elem::Real,
            value: Arc::new(f),
            slopes: None,
        }
    }

    /// A kernel of two rows: `f(x, centre, arguments)`. In a program, `name(x, …)` has one column a
    /// training row, and `name(x, …, centres = c)` one a row of `c`.
    ///
    /// ```
    /// let linear = sbl::Basis::kernel(|x, c, _| x.iter().zip(c).map(|(x, c)| x * c).sum());
    /// # let _ = linear;
    /// ```
    pub fn kernel(f: impl Fn(&[f64], &[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Kernel {
        Kernel { arguments: Vec::new(), elem: Elem::Real, value: Arc::new(f), slopes: None }
    }

    pub(crate) fn named(self, name: &str) -> Function {
        Function { name: name.to_owned(), ..self.function }
    }
}

impl Features {
    /// One more number that a call gives, after the rows: `wavelet(x, width)`.
    ///
    /// ```
    /// let _ = sbl::Basis::features(1, |row, a, out| out[0] = (row[0] / a[0]).sin()).argument("width");
    /// ```
    pub fn argument(mut self, name: &str) -> Features {
        self.arguments.push(name.to_owned());
        self
    }

    /// Derivatives: `df(row, arguments, slopes)` sets those of the first feature by every input of the
    /// row and then by every argument, then those of the second feature, and so on. Without them, central
    /// differences are taken where a `param` needs them.
    ///
    /// ```
    /// let _ = sbl::Basis::features(1, |row, _, out| out[0] = row[0].sin())
    ///     .derivative(|row, _, slopes| slopes[0] = row[0].cos());
    /// ```
    pub fn derivative(mut self, df: impl Fn(&[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Features {
        self.slopes = Some(Arc::new(df));
        self
    }

    /// The set its features lie in; they are checked. Default: the line.
    ///
    /// ```
    /// let _ = sbl::Basis::features(1, |row, _, out| out[0] = row[0].exp()).returns(sbl::Elem::Positive);
    /// ```
    pub fn returns(mut self, elem: Elem) -> Features {
        self.elem = elem;
        self
    }
}

impl Kernel {
    /// One more number that a call gives, after the rows: `near(x, width)`.
    ///
    /// ```
    /// let _ = sbl::Basis::kernel(|x, c, a| (-(x[0] - c[0]).powi(2) / a[0]).exp()).argument("width");
    /// ```
    pub fn argument(mut self, name: &str) -> Kernel {
        self.arguments.push(name.to_owned());
        self
    }

    /// Derivatives: `df(x, centre, arguments, slopes)` sets those by every input of x, then of the centre,
    /// then by every argument. Without them, central differences are taken where a `param` needs them.
    ///
    /// ```
    /// let _ = sbl::Basis::kernel(|x, c, _| x[0] * c[0]).derivative(|x, c, _, slopes| {
    ///     slopes[0] = c[0];
    ///     slopes[1] = x[0];
    /// });
    /// ```
    pub fn derivative(
        mut self,
        df: impl Fn(&[f64], &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Kernel {
        self.slopes = Some(Arc::new(df));
        self
    }

    /// The set its values lie in; they are checked. Default: the line.
    ///
    /// ```
    /// let _ = sbl::Basis::kernel(|x, c, _| (x[0] - c[0]).abs()).returns(sbl::Elem::NonNegative);
    /// ```
    pub fn returns(mut self, elem: Elem) -> Kernel {
        self.elem = elem;
        self
    }
}

impl From<Features> for Basis {
    fn from(basis: Features) -> Basis {
        let Features { width, arguments, elem, value, slopes } = basis;
        let count = arguments.len();
        let split = move |f: FeatureRule| -> Rule {
            Arc::new(move |inputs, out| {
                let (row, arguments) = inputs.split_at(inputs.len().saturating_sub(count));
                f(row, arguments, out);
            })
        };
        let mut params = vec!["x".to_owned()];
        params.extend(arguments);
        let (value, slopes) = (split(value), slopes.map(split));
        Basis {
            function: Function {
                name: String::new(),
                params,
                form: Form::Features(width),
                elem,
                value,
                slopes,
            },
        }
    }
}

impl From<Kernel> for Basis {
    fn from(kernel: Kernel) -> Basis {
        let Kernel { arguments, elem, value, slopes } = kernel;
        let count = arguments.len();
        let pair = move |inputs: &[f64]| {
            let rows = inputs.len().saturating_sub(count);
            (rows / 2, rows)
        };
        let value: Rule = Arc::new(move |inputs, out| {
            let (half, rows) = pair(inputs);
            out.fill(value(&inputs[..half], &inputs[half..rows], &inputs[rows..]));
        });
        let slopes = slopes.map(|f| -> Rule {
            Arc::new(move |inputs, out| {
                let (half, rows) = pair(inputs);
                f(&inputs[..half], &inputs[half..rows], &inputs[rows..], out);
            })
        });
        let mut params = vec!["x".to_owned()];
        params.extend(arguments);
        params.push("centres".to_owned());
        Basis { function: Function { name: String::new(), params, form: Form::Kernel, elem, value, slopes } }
    }
}

impl std::fmt::Debug for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Features").field("width", &self.width).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}
