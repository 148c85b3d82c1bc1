//! Wrong programs: element types, supports, levels.

use crate::check::verify_table;

#[test]
fn supports() {
    verify_table(&[
        ("data x: reel[N]", "E0401", 1, "no type `reel`", "did you mean `real`?"),
        ("data x: float[N]", "E0401", 1, "no type `float`", "did you mean `real`?"),
        ("data c: string[N]", "E0401", 1, "no type `string`", "did you mean `category`?"),
        ("data x: real{a, b}[N]", "E0402", 1, "`real` has no levels", "category{a, b}"),
        ("data y: ordered{a, b}[N]", "E0402", 1, "ascending, found commas", "ordered{a < b}"),
        ("data y: category{a < b}[N]", "E0402", 1, "no order", "commas"),
        ("data y: category{a, b, a}[N]", "E0402", 1, "level `a` is stated twice", "remove"),
        ("data y: increasing[K]", "E0403", 1, "a type of `param` only", ""),
        ("param k: int = 2", "E0403", 1, "cannot be `int`", "increasing[K]"),
        (
            "data s: real[N]\ndata t: real[N]\nt ~ Normal(0, precision = s)",
            "E0404",
            3,
            "`precision` of `Normal` is positive, found real",
            "declare `s` as positive",
        ),
        (
            "data t: real[N]\nlet k = N - 1\nt ~ Normal(0, sd = k)",
            "E0404",
            3,
            "`sd` of `Normal` is positive, found count",
            "",
        ),
        ("mu ~ Normal(0, precision = 0)", "E0404", 1, "is positive, found 0", ""),
        ("tau ~ Gamma(-1, 1)", "E0404", 1, "found -1", ""),
        ("mu ~ Flat()\ndata t: real[N]\nt ~ Normal(0, sd = mu)", "E0404", 3, "found real", "exp(…)"),
        (
            "use std.kernels.rbf\ndata x: real[N]\nlet phi = rbf(x, width = -1)",
            "E0404",
            3,
            "argument `width` of `rbf` is positive, found -1",
            "",
        ),
        ("param s: positive = -1", "E0404", 1, "its start is -1", "inside its set"),
        (
            "data t: real[N]\ndata k: real[N]\nt ~ Normal(0, sd = 1) weight k",
            "E0404",
            3,
            "case weights are at least 0",
            "count[N]",
        ),
        (
            "fn f(x: real) -> positive = x\nmu ~ Flat()",
            "E0404",
            1,
            "the result of `f` is positive, found real",
            "",
        ),
        (
            "data y: real[N]\ny ~ Bernoulli(logit = 0)",
            "E0405",
            2,
            "bool data or a category of two levels",
            "`bool`",
        ),
        ("data y: category{a, b, c}[N]\ny ~ Bernoulli(logit = 0)", "E0405", 2, "category of 3 levels", ""),
        (
            "data y: int[N]\nparam c: increasing[3]\ny ~ Ordinal(probit = 0, cutpoints = c)",
            "E0405",
            3,
            "observes ordered data",
            "`ordered`",
        ),
        ("data y: real[N]\ny ~ Poisson(rate = 2)", "E0405", 2, "observes count data", "`count`"),
        ("data y: category[N]\ny ~ Normal(0, sd = 1)", "E0405", 2, "observes real data", ""),
        ("use std.priors.ard\ndata t: real[N]\nt ~ ard(N)", "E0405", 3, "`t` is data", "Normal(…)"),
        (
            "data c: category[N]\nlet a = c + 1",
            "E0406",
            2,
            "arithmetic with a quantity that is category",
            "onehot",
        ),
        ("data c: ordered[N]\nlet a = exp(c)", "E0406", 2, "ordered", "onehot"),
        ("data x: real[N]\nw ~ Flat() [N]\nlet a = train(w)", "E0407", 3, "`train` freezes data", ""),
        ("data x: real[N]\nparam s: positive\nlet a = standardize(s * x)", "E0407", 3, "of a `param`", ""),
        ("data x: real[N]\nlet k = levels(x)", "E0408", 2, "`levels` wants categorical", "category[N]"),
        ("data x: real[N]\nlet k = onehot(x)", "E0408", 2, "`onehot` wants", "category[N]"),
        (
            "data t: real[N]\nt ~ Normal(0, sd = 1)\ninfer evidence(max_iter = 2 * 3)",
            "E0409",
            3,
            "a number or a word",
            "",
        ),
        ("data t: real[N]\nt ~ Normal(0, sd = 1)\ninfer evidence(5)", "E0409", 3, "are named", "max_iter"),
        ("z ~ Bernoulli(p = 0.5)", "E0410", 1, "unknown and discrete", "data z: bool[N]"),
        ("let a = \"b\"", "E0411", 1, "a text is not a value", "columns"),
    ]);
}

/// A dimension is at least 1, so what grows with it from there is positive.
#[test]
fn dimensions_are_positive_numbers() {
    for scale in ["N", "N + 1", "k", "2 * N - 1", "cols([1, x]) + 1", "N * cols(x)", "sqrt(N + 1) / 2"] {
        let program = format!(
            "data x: real[N, D]\ndata t: real[N]\nlet k = N + D\nmu ~ Flat()\nt ~ Normal(mu, sd = {scale})"
        );
        crate::check::typed(&program);
    }
}
