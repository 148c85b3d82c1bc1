//! Plate style and vector style of one model give the same typed model.

use crate::check::{check_text, shown, typed};

/// Asserts that programs have one typed form.
fn same(head: &str, programs: &[&str]) {
    let first = typed(&format!("{head}\n{}", programs[0]));
    for other in &programs[1..] {
        assert_eq!(first, typed(&format!("{head}\n{other}")), "{}\n{other}", programs[0]);
    }
}

#[test]
fn regression() {
    same(
        "data x: real[N, M]\ndata t: real[N]",
        &[
            "alpha ~ Gamma(0, 0) [M]\nw ~ Normal(0, precision = alpha)\ntau ~ Gamma(0, 0)\nt ~ Normal(x * w, precision = tau)",
            "plate m in M {\nalpha[m] ~ Gamma(0, 0)\nw[m] ~ Normal(0, precision = alpha[m])\n}\ntau ~ Gamma(0, 0)\nplate n in N { t[n] ~ Normal(x[n] * w, precision = tau) }",
            "plate j in cols(x) {\nalpha[j] ~ Gamma(0, 0)\nw[j] ~ Normal(0, precision = alpha[j])\n}\ntau ~ Gamma(0, 0)\nplate n in rows(t) { t[n] ~ Normal(w * x[n], precision = tau) }",
        ],
    );
}

#[test]
fn several_outputs() {
    let priors = "alpha ~ Gamma(0, 0) [M]\ntau ~ Gamma(0, 0)\nplate m in M { plate k in K { W[m, k] ~ Normal(0, precision = alpha[m]) } }\n";
    let turned = "alpha ~ Gamma(0, 0) [M]\ntau ~ Gamma(0, 0)\nplate k in K { plate m in M { W[m, k] ~ Normal(0, precision = alpha[m]) } }\n";
    same(
        "data x: real[N, M]\ndata y: real[N, K]",
        &[
            &format!("{priors}y ~ Normal(x * W, precision = tau)"),
            &format!("{turned}y ~ Normal(x * W, precision = tau)"),
            &format!("{priors}plate n in N {{ y[n] ~ Normal(x[n] * W, precision = tau) }}"),
            &format!(
                "{priors}plate n in N {{ plate k in K {{ y[n, k] ~ Normal(x[n] * W[_, k], precision = tau) }} }}"
            ),
            &format!(
                "{turned}plate k in K {{ plate n in N {{ y[n, k] ~ Normal(x[n] * W[_, k], precision = tau) }} }}"
            ),
        ],
    );
    // the library's prior is the same graph
    let library = typed(
        "use std.priors.shared_ard\ndata x: real[N, M]\ndata y: real[N, K]\nW ~ shared_ard(M, K)\ntau ~ Gamma(0, 0)\ny ~ Normal(x * W, precision = tau)",
    );
    assert!(
        library.contains("latent W: real[M, K] ~ Normal(mean = 0, precision = repeat_columns(W.alpha, K))"),
        "{library}"
    );
}

#[test]
fn categories_and_offsets() {
    same(
        "data x: real[N, D]\ndata school: category[N]\ndata o: real[N]\ndata s: positive[N]\ndata t: real[N]\nw ~ Flat() [D]\nu ~ Normal(0, sd = 1) [levels(school)]\nmu ~ Flat()\ntau ~ Gamma(0, 0)",
        &[
            "t ~ Normal(mu + x * w + u[school] + o, precision = tau .* s)",
            "plate n in N { t[n] ~ Normal(mu + x[n] * w + u[school[n]] + o[n], precision = tau * s[n]) }",
        ],
    );
    same(
        "data g: category[M]\ndata x: real[N, M]\ndata t: real[N]\nalpha ~ Gamma(0, 0) [levels(g)]\ntau ~ Gamma(0, 0)",
        &[
            "w ~ Normal(0, precision = alpha[g])\nt ~ Normal(x * w, precision = tau)",
            "plate m in M { w[m] ~ Normal(0, precision = alpha[g[m]]) }\nt ~ Normal(x * w, precision = tau)",
        ],
    );
}

#[test]
fn elementwise_and_joins() {
    let head = "data x: real[N]\ndata z: real[N, D]\ndata y: real[N, D]\ndata c: real[D]\ndata t: real[N]";
    let cases: &[(&str, &str)] = &[
        ("let a = x .* x + 1", "plate n in N { let a[n] = x[n] * x[n] + 1 }"),
        ("let a = exp(-x ./ (1 + x^2))", "plate n in N { let a[n] = exp(-x[n] / (1 + x[n]^2)) }"),
        ("let a = [1, x]", "plate n in N { let a[n] = [1, x[n]] }"),
        ("let a = [1, x, z]", "plate n in N { let a[n] = [1, x[n], z[n]] }"),
        ("let a = z + y", "plate n in N { let a[n] = z[n] + y[n] }"),
        ("let a = z + y", "plate n in N { plate d in D { let a[n, d] = z[n, d] + y[n, d] } }"),
        ("let a = z + y", "plate d in D { plate n in N { let a[n, d] = z[n, d] + y[n, d] } }"),
        ("let a = z + y", "plate d in D { plate n in N { let a[n, d] = z[_, d][n] + y[n][d] } }"),
        ("let a = z * c", "plate n in N { let a[n] = z[n] * c }"),
        ("let a = z * c", "plate n in N { let a[n] = c * z[n] }"),
        ("let a = z[_, 2]", "plate n in N { let a[n] = z[n, 2] }"),
        ("let a = z[_, 2]", "plate n in N { let a[n] = z[n][2] }"),
        ("let a = z[3]", "plate d in D { let a[d] = z[3, d] }"),
        ("let a = standardize(z)", "plate n in N { let a[n] = standardize(z)[n] }"),
        ("let a = standardize(z)", "plate n in N { let a[n] = standardize(z[n]) }"),
        ("let a = 2 * range(N)", "plate n in N { let a[n] = 2 * n }"),
        ("let a = max(x, 0)", "plate n in N { let a[n] = max(0, x[n]) }"),
        ("let a = sqdist(z, z)", "plate n in N { let a[n] = sqdist(z[n], z) }"),
        ("let a = sqdist(z, z)", "plate n in N { plate m in N { let a[n, m] = sqdist(z[n], z[m]) } }"),
        ("let a = dot(z, z)", "plate m in N { plate n in N { let a[n, m] = dot(z[n], z[m]) } }"),
    ];
    for (vector, plate) in cases {
        let (v, p) = (typed(&format!("{head}\n{vector}")), typed(&format!("{head}\n{plate}")));
        if vector.contains("max") {
            // the order of two operands is kept
            assert_eq!(v.replace("max(x, 0)", "max(0, x)"), p);
        } else {
            assert_eq!(v, p, "{vector}\n{plate}");
        }
    }
}

#[test]
fn plates_without_a_vector_form() {
    let head = "data z: real[N, D]\ndata y: real[N, D]\ndata x: real[N]\ndata v: real[K]\ndata g: category[N]\ndata h: category[N]\nW ~ Flat() [levels(g), levels(h)]";
    let cases: &[(&str, &str)] = &[
        ("plate n in N { let a[n] = z[n] * y[n] }", "derived a: real[N] = row_dot(z, y)"),
        ("plate n in N { let a[n] = W[g[n], h[n]] }", "derived a: real[N] = W[g, h]"),
        (
            "plate n in N { plate k in K { let a[n, k] = x[n] + v[k] } }",
            "= repeat_columns(x, K) + repeat_rows(v, N)",
        ),
        (
            "plate k in K { plate n in N { let a[n, k] = x[n] + v[k] } }",
            "= repeat_columns(x, K) + repeat_rows(v, N)",
        ),
        (
            "plate k in K { plate n in N { let a[k, n] = x[n] + v[k] } }",
            "derived a: real[K, N] = repeat_rows(x, K) + repeat_columns(v, N)",
        ),
        ("plate n in N { let a[n] = z[n] + x[n] }", "= z + repeat_columns(x, D)"),
        ("plate n in N { let a[n] = sum(z[n]) }", "derived a: real[N] = z * repeat_rows(1, D)"),
        ("plate n in N { let a[n] = mean(z[n]) }", "derived a: real[N] = z * repeat_rows(1, D) / D"),
        ("plate n in N { let a[n] = z[n] / (1 + n) }", "= z ./ repeat_columns(1 + range(N), D)"),
        ("plate n in N { let a[n] = 2 }", "a: count[N] = repeat_rows(2, N)"),
        ("plate n in N { let a[n] = W[g[n]] }", "derived a: real[N, levels(h)] = W[g, _]"),
        ("plate n in N { let a[n] = W[_, h[n]] }", "derived a: real[N, levels(g)] = transpose(W[_, h])"),
        ("plate n in N { let a[n] = onehot(g[n]) * W[_, 1] }", "derived a: real[N] = onehot(g) * W[_, 1]"),
    ];
    for (program, expected) in cases {
        let text = typed(&format!("{head}\n{program}"));
        assert!(text.contains(expected), "{program}\n{expected}\n{text}");
    }
}

#[test]
fn priors_inside_plates() {
    let text = typed(
        "use std.priors.ard\ndata x: real[N, M]\ndata y: real[N, K]\nplate k in K { W[k] ~ ard(M)\ntau[k] ~ Gamma(0, 0)\nplate n in N { y[n, k] ~ Normal(x[n] * W[k], precision = tau[k]) } }",
    );
    for part in [
        "latent W.alpha: positive[K, M] ~ Gamma(shape = 0, rate = 0)",
        "latent W: real[K, M] ~ Normal(mean = 0, precision = W.alpha)",
        "observed y: real[N, K] ~ Normal(mean = x * transpose(W), precision = repeat_rows(tau, N))",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = typed(
        "prior hyper(n) {\nr ~ Gamma(1, 1)\na ~ Gamma(1, r) [n]\nw ~ Normal(0, precision = a)\nreturn w\n}\nprior twice(n) {\nb ~ hyper(n)\nw ~ Normal(b, sd = 1)\nreturn w\n}\ndata t: real[N]\nplate k in 3 { W[k] ~ twice(N) }\nt ~ Normal(W[1], sd = 1)\nlet r = W.b.r",
    );
    for part in [
        "latent W.b.r: positive[3] ~ Gamma(shape = 1, rate = 1)",
        "latent W.b.a: positive[3, N] ~ Gamma(shape = 1, rate = repeat_columns(W.b.r, N))",
        "latent W.b: real[3, N] ~ Normal(mean = 0, precision = W.b.a)",
        "latent W: real[3, N] ~ Normal(mean = W.b, sd = 1)",
        "derived r: positive[3] = W.b.r",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn functions_of_scalars_act_on_entries() {
    let head = "fn sq(a: real, b: real = 1) -> real = (a + b)^2\ndata x: real[N]\ndata z: real[N, D]";
    for (program, expected) in [
        ("let a = sq(x)", "derived a: non-negative[N] = (x + 1)^2"),
        ("let a = sq(z, 2)", "derived a: non-negative[N, D] = (z + 2)^2"),
        ("let a = sq(x, x)", "derived a: non-negative[N] = (x + x)^2"),
        ("let a = sq(2, x)", "derived a: non-negative[N] = (2 + x)^2"),
        (
            "plate n in N { let a[n] = sq(z[n], x[n]) }",
            "derived a: non-negative[N, D] = (z + repeat_columns(x, D))^2",
        ),
    ] {
        let text = typed(&format!("{head}\n{program}"));
        assert!(text.contains(expected), "{program}\n{expected}\n{text}");
    }
}

#[test]
fn empty_plates_warn() {
    let (_, warnings, sources) = check_text("data t: real[N]\nt ~ Normal(0, sd = 1)\nplate n in N { }")
        .unwrap_or_else(|(d, s)| panic!("{}", shown(&d, &s)));
    assert_eq!(
        warnings.iter().map(|w| w.code).collect::<Vec<_>>(),
        ["W0204"],
        "{}",
        shown(&warnings, &sources)
    );
}
