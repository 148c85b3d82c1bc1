//! The programs that are fitted. `width` is set by cross-validation where it stands.

/// A kernel regression on inputs as they are.
pub const CURVE: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 2
data x: real[N, D]
data t: real[N]
let phi = [1, rbf(x, width = width)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

/// The same with proper hyperpriors, by mean field.
pub const CURVE_VARIATIONAL: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 2
data x: real[N, D]
data t: real[N]
let phi = [1, rbf(x, width = width)]
w ~ ard(cols(phi), shape = 1e-6, rate = 1e-6)
tau ~ Gamma(1e-6, 1e-6)
t ~ Normal(phi * w, precision = tau)
infer variational
";

/// A curve of linear splines.
pub const SPLINE: &str = "
use std.kernels.linear_spline
use std.priors.ard
data x: real[N]
data t: real[N]
let phi = [1, linear_spline(x)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

/// A kernel regression on standardised inputs.
pub const SURFACE: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 3
data x: real[N, D]
data t: real[N]
let phi = [1, rbf(standardize(x), width = width)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

/// Input scales learned from the evidence.
pub const SCALES: &str = "
use std.kernels.rbf
use std.priors.ard
data x: real[N, D]
data t: real[N]
param eta: positive[D] = 0.3
let phi = [1, rbf(x, scale = eta)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

/// A cubic kernel on standardised inputs.
pub const CUBIC: &str = "
use std.kernels.polynomial
use std.priors.ard
data x: real[N, D]
data t: real[N]
let phi = [1, polynomial(standardize(x), degree = 3)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

/// A cubic kernel on standardised inputs, all weights at once.
pub const CUBIC_BATCH: &str = "
use std.kernels.polynomial
use std.priors.ard
data x: real[N, D]
data t: real[N]
let phi = [1, polynomial(standardize(x), degree = 3)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
infer evidence
";

/// A linear model with an unpenalised intercept.
pub const LINEAR: &str = "
use std.priors.ard
data x: real[N, D]
data t: real[N]
mu ~ Flat()
w ~ ard(D)
tau ~ Gamma(0, 0)
t ~ Normal(mu + standardize(x) * w, precision = tau)
";

/// Two classes, inputs as they are.
pub const CLASSES: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 0.5
data x: real[N, D]
data t: category[N]
let phi = [1, rbf(x, width = width)]
w ~ ard(cols(phi))
t ~ Bernoulli(logit = phi * w)
";

/// The same, pure evidence maximisation.
pub const CLASSES_PLAIN: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 0.5
data x: real[N, D]
data t: category[N]
let phi = [1, rbf(x, width = width)]
w ~ ard(cols(phi))
t ~ Bernoulli(logit = phi * w)
infer laplace(min_gain = 0)
";

/// The same, one basis function at a time.
pub const CLASSES_SEQUENTIAL: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 0.5
data x: real[N, D]
data t: category[N]
let phi = [1, rbf(x, width = width)]
w ~ ard(cols(phi))
t ~ Bernoulli(logit = phi * w)
infer sequential(min_gain = 0)
";

/// Two classes, inputs as they are, by a bound.
pub const CLASSES_VARIATIONAL: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 0.5
data x: real[N, D]
data t: category[N]
let phi = [1, rbf(x, width = width)]
w ~ ard(cols(phi), shape = 1e-6, rate = 1e-6)
t ~ Bernoulli(logit = phi * w)
infer variational
";

/// Two classes, inputs standardised.
pub const CLASSES_STANDARDIZED: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 4
data x: real[N, D]
data t: category[N]
let phi = [1, rbf(standardize(x), width = width)]
w ~ ard(cols(phi))
t ~ Bernoulli(logit = phi * w)
";

/// Ordered levels, inputs standardised; LEVELS is replaced by the levels.
pub const ORDERED: &str = "
use std.kernels.rbf
use std.priors.ard
let width = 1
data x: real[N, D]
data y: ordered{LEVELS}[N]
let phi = rbf(standardize(x), width = width)
w ~ ard(cols(phi))
param cut: increasing[levels(y) - 1]
y ~ Ordinal(probit = phi * w, cutpoints = cut)
infer sequential
";
