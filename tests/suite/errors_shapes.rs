//! Wrong programs: shapes and dimensions.

use crate::check::verify_table;

#[test]
fn shapes() {
    verify_table(&[
        ("data x: real[N]\ndata z: real[M]\nlet a = x + z", "E0301", 3, "`+` needs two of one shape, found [N] and [M]", "write one letter"),
        ("data x: real[N, D]\ndata w: real[K]\nlet a = x * w", "E0301", 3, "cannot multiply [N, D] by [K]", "write one letter"),
        ("data x: real[N, 3]\nw ~ Flat() [4]\ndata t: real[N]\nt ~ Normal(x * w, sd = 1)", "E0301", 4, "cannot multiply [N, 3] by [4]", ""),
        ("data x: real[N, D]\nw ~ Flat() [N + 1]\nlet z = [x, 1]\nlet e = w + x * x[1]", "E0301", 4, "[N + 1] and [N]", ""),
        ("data x: real[N]\ndata z: real[M]\nlet a = [x, z]", "E0301", 3, "columns of different length", "write one letter"),
        ("use std.kernels.rbf\ndata x: real[N, D]\ndata c: real[M, K]\nlet phi = rbf(x, width = 1, centres = c)", "E0301", 4, "argument `centres` of `rbf`", "write one letter"),
        ("use std.kernels.rbf\ndata x: real[N, D]\nparam eta: positive[N]\nlet phi = rbf(x, scale = eta)", "E0301", 4, "argument `scale` of `rbf`", ""),
        ("data x: real[N]\nw ~ Flat() [M]\ndata z: real[M]\nplate n in N { let a[n] = w[n] }", "E0301", 4, "`n` runs over N, this axis has M", "write one letter"),
        ("data x: real[N]\ndata t: real[M]\nplate n in N { t[n] ~ Normal(x[n], sd = 1) }", "E0301", 3, "`n` runs over N, `t` has M", "write one letter"),
        ("data g: category{a, b}[N]\nu ~ Flat() [3]\nlet a = u[g]", "E0301", 3, "`g` has levels(g) = 2", "[levels(g)]"),
        ("data x: real[N, 2] from columns(\"a\", \"b\", \"c\")", "E0301", 1, "`x` has 2 columns", "as many columns"),
        ("data x: real[N]\ndata z: real[N, D]\nlet a = x + z", "E0302", 3, "found a vector [N] and a matrix [N, D]", "plates"),
        ("data x: real[N]\nlet k = cols(x)", "E0302", 2, "`cols` wants a matrix", "`[x]`"),
        ("fn f(x: real[N, D]) -> real[N] = x\nmu ~ Flat()", "E0302", 1, "the result of `f` is a vector", ""),
        ("fn f(x: real[N]) -> real = sum(x)\ndata z: real[N, D]\nlet a = f(z)", "E0302", 3, "argument `x` of `f` is a vector, found a matrix", ""),
        ("param cut: increasing", "E0302", 1, "one dimension", "increasing[K]"),
        ("data x: real[N] from columns(\"a\", \"b\")", "E0302", 1, "several columns make a matrix", "real[N, D]"),
        ("data x: real[N, D]\ndata z: real[K]\nplate k in K { plate n in N { let a[n, k] = x[n] * z[k] } }", "E0303", 3, "3 axes", "outside the plate"),
        ("data x: real[A, B, C]", "E0303", 1, "3 axes", ""),
        ("data x: real[N]\nplate n in N { let a[n] = train(x[n]) }", "E0303", 2, "`train` inside a plate", "outside the plate"),
        ("data N: int\ndata x: real[N]", "E0304", 2, "found data `N`", "constant `let`"),
        ("let k = 2.5\nw ~ Flat() [k]", "E0304", 2, "found constant `k`", "whole number"),
        ("data x: real[N]\nw ~ Flat() [x]", "E0304", 2, "found data `x`", ""),
        ("w ~ Flat() [2 - 3]", "E0304", 1, "at least 0, found -1", ""),
        ("data x: real[N, 3]\nlet a = x[_, 4]", "E0305", 2, "index 4 is outside 1 … 3", "count from 1"),
        ("data x: real[N]\nlet a = x[0]", "E0305", 2, "index 0 is outside 1 … N", "count from 1"),
        ("data x: real[N]\nlet a = x[1, 2]", "E0305", 2, "2 indices for a vector", "one index per dimension"),
        ("let a = 2\nlet b = a[1]", "E0305", 2, "1 index for a scalar", "remove the index"),
        ("data x: real[N]\ndata u: real[K]\nlet a = u[x]", "E0305", 3, "an index is a whole number or a level", "category[N]"),
        ("data t: real[N]\ndata x: real[M]\nt ~ Normal(x, sd = 1)", "E0306", 3, "`t` is a vector [N], `mean` of `Normal` is a vector [M]", "write one letter"),
        ("data t: real[N]\ndata x: real[N, D]\nw ~ Flat() [D]\nt ~ Normal(x, sd = 1)", "E0306", 4, "is a matrix [N, D]", "shape of the node"),
        ("data t: real[N]\ndata x: real[N]\nplate n in N { t[n] ~ Normal(x, sd = 1) }", "E0306", 3, "`mean` of `Normal` is a vector [N]", "write the index"),
        ("data a: real[N]\ndata b: positive[M]\nw ~ Normal(a, sd = b)", "E0306", 3, "differ in shape", "write one letter"),
        ("data t: real[N]\nt ~ Normal(0, sd = 1) [N]", "E0306", 2, "`t` is data", "remove the brackets"),
        ("data y: ordered{a < b < c}[N]\nparam cut: increasing[3]\ny ~ Ordinal(probit = 0, cutpoints = cut)", "E0306", 3, "vector [levels(y) - 1]", "increasing[levels(y) - 1]"),
        ("data x: real[N, D]\ndata c: category[N]\nw ~ Flat() [D]\nc ~ Categorical(softmax = x * w)", "E0306", 4, "one column per level", "levels(c)"),
        ("param s: positive[3] = [1, 2]", "E0306", 1, "its start is a vector [2]", ""),
        ("data x: real[N]\nlet a = 1 / x", "E0308", 2, "`/` divides by a scalar", "`./`"),
        ("data x: real[N]\nlet a = x\ndata z: real[M]\nlet b = a .* z", "E0301", 4, "[N] and [M]", "write one letter"),
    ]);
}
