//! Wrong programs: names, imports, calls, arguments.

use crate::check::verify_table;

#[test]
fn names() {
    verify_table(&[
        // (program, code, line, part of the message, part of the help)
        ("data t: real[N]\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)", "E0201", 3, "nothing is called `mu`", "declare it"),
        ("data t: real[N]\ntau ~ Gamma(0, 0)\nt ~ Normal(0, precision = tua)", "E0201", 3, "`tua`", "did you mean `tau`?"),
        ("data x: real[N, D]\nlet phi = rbf(x, width = 2)", "E0202", 2, "no function `rbf`", "add `use std.kernels.rbf`"),
        ("use std.kernels.rbf\ndata x: real[N, D]\nlet phi = rfb(x, width = 2)", "E0202", 3, "no function `rfb`", "did you mean `rbf`?"),
        ("data x: real[N, D]\nlet phi = mattern32(x, width = 2)", "E0202", 2, "`mattern32`", "add `use std.kernels.matern32`"),
        ("w ~ ard(5)", "E0203", 1, "no family or prior `ard`", "add `use std.priors.ard`"),
        ("mu ~ Gaussian(0, sd = 1)", "E0203", 1, "`Gaussian`", "did you mean `Normal`?"),
        ("mu ~ normal(0, sd = 1)", "E0203", 1, "`normal`", "did you mean `Normal`?"),
        ("w ~ exp(2)", "E0203", 1, "`exp`", "write `let` and `="),
        ("data x: real[N]\nlet a = K + 1", "E0204", 2, "no data has a dimension `K`", "data x: real[K]"),
        ("data x: real[N]\ndata x: real[N]", "E0205", 2, "`x` is declared twice", "rename"),
        ("data x: real[N]\nlet x = 2", "E0205", 2, "`x` is declared twice", "`x2`"),
        ("data t: real[N]\nt ~ Normal(0, sd = 1)\nt ~ Normal(1, sd = 1)", "E0205", 3, "observed twice", "one distribution"),
        ("fn f(x: real) -> real = x\nfn f(x: real) -> real = 2 * x\nlet a = f(1)", "E0205", 2, "`f(x)` is declared twice", "other names"),
        ("model a { mu ~ Flat() }\nmodel a { mu ~ Flat() }", "E0205", 2, "`a` is declared twice", "rename"),
        ("data x: real[N]\nplate x in N { w[x] ~ Flat() }", "E0205", 2, "index `x` hides", "another letter"),
        ("data x: real[N]\nplate n in N { plate n in N { w[n] ~ Flat() } }", "E0205", 2, "hides the index", "another letter"),
        ("use std.kernels.rfb\nmu ~ Flat()", "E0206", 1, "`std.kernels` has no `rfb`", "did you mean `rbf`?"),
        ("use std.kernels.ard\nmu ~ Flat()", "E0206", 1, "`std.kernels` has no `ard`", "use std.priors.ard"),
        ("use std.kernel.rbf\nmu ~ Flat()", "E0206", 1, "no module `std.kernel`", "did you mean `std.kernels`?"),
        ("use \"mine.sbl\"\nmu ~ Flat()", "E0207", 1, "cannot import \"mine.sbl\"", "relative to the importing file"),
        ("use std.kernels.rbf\ndata x: real[N]\nlet phi = rbf(x, widht = 2)", "E0209", 3, "no definition of `rbf`", "did you mean `width` for `widht`?"),
        ("use std.kernels.matern32\ndata x: real[N]\nlet phi = matern32(x)", "E0209", 3, "misses its argument `width`", "matern32(x, width, centres = …)"),
        ("use std.kernels.matern32\ndata x: real[N]\nlet phi = matern32(x, 1, 2, 3)", "E0209", 3, "", ""),
        ("use std.priors.ridge\nw ~ ridge(5, 6, 7)", "E0209", 2, "no definition of `ridge`", "candidates"),
        ("use std.priors.group_ard\ndata g: category[D]\nw ~ group_ard(g, 4)", "E0209", 3, "by name only", "write `groups = …`"),
        ("let a = exp(1, 2)", "E0209", 1, "takes 1 argument, found 2", "exp(x)"),
        ("data x: real[N, D]\nlet a = sqdist(x, centres = x)", "E0209", 2, "no argument `centres`", "sqdist(x, c, scale = …)"),
        ("use std.kernels.rbf\ndata x: real[N]\nlet phi = rbf(x, 3)", "E0210", 3, "several definitions of `rbf`", "name the arguments"),
        ("data t: real[N]\nt ~ Normal(0, 1)", "E0211", 2, "without a name", "`precision =`"),
        ("data t: real[N]\nt ~ Normal(0)", "E0211", 2, "needs one of `precision =`, `variance =`, `sd =`", "add one"),
        ("data t: real[N]\nt ~ Normal(0, sd = 1, precision = 1)", "E0211", 2, "exclude each other", "exactly one"),
        ("data t: real[N]\nt ~ Normal(0, presicion = 1)", "E0211", 2, "no argument `presicion`", "did you mean `precision`?"),
        ("data t: real[N]\nt ~ Normal(sd = 1)", "E0211", 2, "misses its argument `mean`", "Normal(mean"),
        ("tau ~ Gamma(1, 1, rate = 2)", "E0211", 1, "given twice", "remove"),
        ("mu ~ Normal(0, sd = 1) weight 2", "E0211", 1, "no case weights", "remove"),
        ("fn exp(x: real) -> real = x\nlet a = exp(1)", "E0213", 1, "built-in function", "another name"),
        ("prior Normal(n) { w ~ Flat() [n]\nreturn w }\nmu ~ Flat()", "E0213", 1, "built-in family", "another name"),
        ("data x: real[N]\nt[n] ~ Normal(0, sd = 1)", "E0214", 2, "`n` is no plate index", "plate n in"),
        ("data t: real[N]\nplate n in N { z ~ Normal(0, sd = 1) }", "E0214", 2, "does not carry that index", "write `z[n]`"),
        ("data x: real[N]\nplate n in N { let y = 2 * x[n] }", "E0214", 2, "changes with the plate index", "let y[n]"),
        ("data t: real[N]\nplate n in N { data y: real[N] }", "E0215", 2, "data inside a plate", "outside"),
        ("data t: real[N]\nplate n in N { param y: real }", "E0215", 2, "`param` inside a plate", "outside"),
        ("data t: real[N]\nt ~ Normal(0, sd = 1)\ninfer evidence\ninfer auto", "E0215", 4, "one `infer`", "remove"),
        ("use std.priors.ard\nw ~ ard(3) [3]", "E0215", 2, "after the prior", "w ~ ard(size)"),
        ("prior p(n) { w ~ Flat() [n]\nreturn v }\nmu ~ Flat()", "E0216", 2, "returns `v`", "return a node"),
        // wrong in a definition that nothing calls
        ("fn f(x: real[N]) -> real[N] = x + y\nmu ~ Flat()", "E0201", 1, "nothing is called `y`", ""),
        ("prior p(n) { w ~ Nrmal(0, sd = 1) [n]\nreturn w }\nmu ~ Flat()", "E0203", 1, "`Nrmal`", "did you mean `Normal`?"),
    ]);
}
