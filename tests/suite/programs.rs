//! Programs that several topics test: those of the language's description, and general graphs.

/// Name, source, and what `auto` (or the program's own `infer`) comes to: a method, or the code of
/// the error.
pub const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "sinc",
        "use std.kernels.rbf
use std.priors.ard

model sinc {
    data x: real[N]
    data t: real[N]
    let phi = [1, rbf(x, width = 3.0)]
    w   ~ ard(cols(phi))
    tau ~ Gamma(shape = 0, rate = 0)
    t   ~ Normal(phi * w, precision = tau)
}
",
        "evidence",
    ),
    (
        "sinc_plates",
        "use std.kernels.rbf

model sinc_plates {
    data x: real[N]
    data t: real[N]
    let phi = [1, rbf(x, width = 3.0)]

    tau ~ Gamma(1e-6, 1e-6)
    plate m in cols(phi) {
        alpha[m] ~ Gamma(1e-6, 1e-6)
        w[m]     ~ Normal(0, precision = alpha[m])
    }
    plate n in N {
        t[n] ~ Normal(phi[n] * w, precision = tau)
    }
    infer variational
}
",
        "variational",
    ),
    (
        "ripley",
        "use std.kernels.rbf
use std.priors.ard

model ripley {
    data x: real[N, 2]
    data t: bool[N]
    let phi = [1, rbf(x, width = 0.5)]
    w ~ ard(cols(phi))
    t ~ Bernoulli(logit = phi * w)
}
",
        "laplace",
    ),
    (
        "ordinal",
        "use std.kernels.rbf
use std.priors.ard

model ordinal {
    data x: real[N, D]
    data y: ordered[N]
    let phi = rbf(standardize(x), width = 1.0)
    w ~ ard(cols(phi))
    param cut: increasing[levels(y) - 1]
    param sigma: positive = 1
    y ~ Ordinal(probit = phi * w, cutpoints = cut, sd = sigma)
    infer sequential
}
",
        "laplace",
    ),
    (
        "friedman",
        "use std.kernels.rbf
use std.priors.ard

model friedman {
    data x: real[N, D]
    data t: real[N]
    param eta: positive[D] = 0.1
    let phi = [1, rbf(x, scale = eta)]
    w ~ ard(cols(phi))
    tau ~ Gamma(0, 0)
    t ~ Normal(phi * w, precision = tau)
}
",
        "evidence",
    ),
    (
        "digits",
        "use std.kernels.rbf
use std.priors.ard

model digits {
    data x: real[N, D]
    data c: category[N]
    let phi = [1, rbf(standardize(x), width = 4.0)]
    W ~ ard(cols(phi), levels(c))
    c ~ Categorical(softmax = phi * W)
}
",
        "laplace",
    ),
    (
        "schools",
        "use std.priors.ard

model schools {
    data x: real[N, D]
    data school: category[N]
    data score: real[N]
    w   ~ ard(D)
    lambda ~ Gamma(1e-3, 1e-3)
    u   ~ Normal(0, precision = lambda) [levels(school)]
    mu  ~ Normal(0, precision = 1e-6)
    tau ~ Gamma(1e-3, 1e-3)
    score ~ StudentT(mu + standardize(x) * w + u[school], dof = 4, precision = tau)
}
",
        "variational",
    ),
    (
        "two_blocks",
        "use std.priors.ard

model two_blocks {
    data x: real[N, D]
    data z: real[N, P]
    data t: real[N]
    v   ~ ard(D)
    lambda ~ Gamma(0, 0)
    w   ~ Normal(0, precision = lambda) [P]
    tau ~ Gamma(0, 0)
    t   ~ Normal(x * v + z * w, precision = tau)
}
",
        "evidence",
    ),
    (
        "grouped",
        "model grouped {
    data x: real[N, M]
    data group: category[M]
    data t: real[N]
    tau ~ Gamma(0, 0)
    plate g in levels(group) { alpha[g] ~ Gamma(0, 0) }
    plate m in M { w[m] ~ Normal(0, precision = alpha[group[m]]) }
    t ~ Normal(x * w, precision = tau)
}
",
        "evidence",
    ),
    (
        "rate_of_a_rate",
        "model rate_of_a_rate {
    data x: real[N, D]
    data t: real[N]
    b   ~ Gamma(1, 1)
    alpha ~ Gamma(1, b) [D]
    w   ~ Normal(0, precision = alpha)
    tau ~ Gamma(0, 0)
    t   ~ Normal(x * w, precision = tau)
}
",
        "variational",
    ),
    (
        "two_targets",
        "use std.priors.ard

model two_targets {
    data x: real[N, D]
    data y: real[N]
    data z: real[N]
    w   ~ ard(D)
    tau_y ~ Gamma(0, 0)
    tau_z ~ Gamma(0, 0)
    y   ~ Normal(x * w, precision = tau_y)
    z   ~ Normal(2 * (x * w), precision = tau_z)
}
",
        "evidence",
    ),
    (
        "intercepts",
        "use std.priors.ard

model intercepts {
    data x: real[N, D]
    data school: category[N]
    data score: real[N]
    w   ~ ard(D)
    lambda ~ Gamma(0, 0)
    mu  ~ Flat()
    u   ~ Normal(mu, precision = lambda) [levels(school)]
    tau ~ Gamma(0, 0)
    let fitted = standardize(x) * w + u[school]
    let effect = u[2] - u[1]
    score ~ Normal(fitted, precision = tau)
}
",
        "evidence",
    ),
    (
        "shared_relevance",
        "model shared_relevance {
    data x: real[N, M]
    data y: real[N, K]
    tau ~ Gamma(0, 0)
    plate m in M {
        alpha[m] ~ Gamma(0, 0)
        plate k in K { W[m, k] ~ Normal(0, precision = alpha[m]) }
    }
    y ~ Normal(x * W, precision = tau)
}
",
        "evidence",
    ),
    (
        "known_precisions",
        "model known_precisions {
    data x: real[N]
    data offset: real[N]
    data error: positive[N]
    data t: real[N]
    data copies: count[N]
    a ~ Flat()
    b ~ Normal(0, sd = 2)
    t ~ Normal(offset + a + b * x, sd = error) weight copies
}
",
        "evidence",
    ),
    (
        "location_scale",
        "model location_scale {
    data t: real[N]
    mu  ~ Flat()
    tau ~ Gamma(0, 0)
    t   ~ Normal(mu, precision = tau)
}
",
        "evidence",
    ),
    (
        "several_families",
        "model several_families {
    data x: real[N, D]
    data t: real[N]
    data k: count[N]
    alpha ~ Gamma(0, 0)
    w   ~ Normal(0, precision = alpha) [D]
    tau ~ Gamma(0, 0)
    t   ~ Normal(x * w, precision = tau)
    k   ~ Poisson(log = x * w)
}
",
        "laplace",
    ),
];
