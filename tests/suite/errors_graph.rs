//! Wrong programs: cycles, recursion, growth.

use crate::check::verify_table;

#[test]
fn graph() {
    verify_table(&[
        ("let a = b\nlet b = a", "E0501", 1, "`a` depends on itself: a → b → a", "break the circle"),
        ("let a = a + 1", "E0501", 1, "a → a", "may not depend on itself"),
        (
            "a ~ Normal(b, sd = 1)\nb ~ Normal(c, sd = 1)\nc ~ Normal(a, sd = 1)",
            "E0501",
            1,
            "a → b → c → a",
            "break",
        ),
        ("a ~ Gamma(1, b)\nb ~ Gamma(1, a)", "E0501", 1, "a → b → a", "break"),
        ("data x: real[cols(z)]\ndata z: real[rows(x), 2]", "E0501", 1, "x → z → x", "break"),
        (
            "data x: real[N]\nplate n in N { w[n] ~ Normal(w[n], sd = 1) }",
            "E0501",
            2,
            "w → w",
            "another entry of itself",
        ),
        (
            "use std.priors.ard\ndata x: real[N, D]\nw ~ ard(cols(phi))\nlet phi = x * w",
            "E0501",
            3,
            "w → phi → w",
            "break",
        ),
        ("data x: real[N]\nparam s: positive = k\nlet k = s", "E0501", 2, "s → k → s", "break"),
        ("plate k in rows(w) { w[k] ~ Flat() }", "E0501", 1, "w → w", ""),
        ("fn f(x: real) -> real = f(x)\nlet a = f(1)", "E0502", 1, "f → f", "not recursive"),
        (
            "fn f(x: real) -> real = g(x)\nfn g(x: real) -> real = f(x)\nmu ~ Flat()",
            "E0502",
            2,
            "f → g → f",
            "not recursive",
        ),
        ("prior p(n) { w ~ p(n)\nreturn w }\nv ~ p(2)", "E0502", 1, "p → p", "not recursive"),
        ("data t: real[N]\nt ~ Normal(t, sd = 1)", "E0503", 1, "t → t", "another column"),
        ("data t: real[N]\nlet z = 2 * t\nt ~ Normal(z, sd = 1)", "E0503", 1, "t → z → t", "another column"),
        (
            "data t: real[N]\ndata s: real[N]\nt ~ Normal(s, sd = 1)\ns ~ Normal(t, sd = 1)",
            "E0503",
            1,
            "t → s → t",
            "another column",
        ),
    ]);
}
