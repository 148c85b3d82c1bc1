//! Cases at the edge, for every family under every plan that serves it: moved and rescaled inputs, one
//! class or one value only, a level without rows, more columns than rows, symmetric data.

use sbl::{Data, Fit, Model, Options};

/// A family: the declaration of the target, what else is declared, the likelihood of a predictor F, and the
/// plans.
struct Of {
    name: &'static str,
    target: &'static str,
    beside: &'static str,
    likelihood: &'static str,
    plans: &'static [&'static str],
}

const EXACT: &str = "laplace(curvature = exact)";
const POINT: &[&str] = &["laplace", EXACT, "sequential"];
const ALL: &[&str] = &["laplace", EXACT, "sequential", "variational"];

const FAMILIES: &[Of] = &[
    Of {
        name: "Normal",
        target: "real[N]",
        beside: "tau ~ Gamma(0, 0)\n",
        likelihood: "Normal(F, precision = tau)",
        plans: &["evidence", "laplace", "sequential", "variational"],
    },
    Of {
        name: "StudentT",
        target: "real[N]",
        beside: "tau ~ Gamma(1e-3, 1e-3)\n",
        likelihood: "StudentT(F, dof = 4, precision = tau)",
        plans: &["variational"],
    },
    Of { name: "logit", target: "bool[N]", beside: "", likelihood: "Bernoulli(logit = F)", plans: ALL },
    Of { name: "probit", target: "bool[N]", beside: "", likelihood: "Bernoulli(probit = F)", plans: ALL },
    Of {
        name: "ordered probit",
        target: "ordered{a < b < c}[N]",
        beside: "param cut: increasing[2]\n",
        likelihood: "Ordinal(probit = F, cutpoints = cut)",
        plans: POINT,
    },
    Of {
        name: "ordered logit",
        target: "ordered{a < b < c}[N]",
        beside: "param cut: increasing[2]\n",
        likelihood: "Ordinal(logit = F, cutpoints = cut)",
        plans: POINT,
    },
    Of {
        name: "softmax",
        target: "category{a, b, c}[N]",
        beside: "",
        likelihood: "Categorical(softmax = F)",
        plans: POINT,
    },
    Of { name: "Poisson", target: "count[N]", beside: "", likelihood: "Poisson(log = F)", plans: POINT },
];

impl Of {
    fn is_ordered(&self) -> bool {
        self.target.starts_with("ordered")
    }

    fn has_levels(&self) -> bool {
        self.is_ordered() || self.target.starts_with("category")
    }

    /// A linear predictor of standardised columns, with a precision for each weight.
    fn program(&self, plan: &str, prior: &str) -> String {
        let (phi, size) = match self.name {
            "softmax" => ("[1, standardize(x)]", "cols(phi), levels(y)"),
            _ if self.is_ordered() => ("standardize(x)", "cols(phi)"),
            _ => ("[1, standardize(x)]", "cols(phi)"),
        };
        let likelihood = self.likelihood.replace('F', "phi * w");
        format!(
            "use std.priors.ard\ndata x: real[N, D]\ndata y: {}\nlet phi = {phi}\nw ~ ard({size}{prior})\n{}y ~ {likelihood}\ninfer {plan}\n",
            self.target, self.beside
        )
    }

    /// Targets that follow this score.
    fn targets(&self, score: &[f64], data: Data) -> Data {
        let cut = |s: f64| {
            if s < -0.4 {
                "a"
            } else if s < 0.5 {
                "b"
            } else {
                "c"
            }
        };
        match self.target {
            "real[N]" => data.vector("y", &score.iter().map(|s| 2.0 * s + 1.0).collect::<Vec<_>>()),
            "bool[N]" => data.vector("y", &score.iter().map(|s| f64::from(*s > 0.0)).collect::<Vec<_>>()),
            "count[N]" => {
                data.vector("y", &score.iter().map(|s| (1.2 * s).exp().round()).collect::<Vec<_>>())
            }
            _ => data.words("y", &score.iter().map(|s| cut(*s)).collect::<Vec<_>>()),
        }
        .unwrap()
    }
}

/// Between −1 and 1, without a pattern.
fn noise(i: usize) -> f64 {
    (37.0 * (i as f64 + 1.0).powi(2)).sin()
}

fn inputs(n: usize, d: usize, scale: f64, shift: f64) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..d).map(|j| shift + scale * 1.5 * noise(101 * j + i)).collect()).collect()
}

/// What the targets follow, with enough noise that no level is separated.
fn scores(x: &[Vec<f64>], shift: f64, scale: f64) -> Vec<f64> {
    let z = |v: f64| (v - shift) / scale;
    x.iter().enumerate().map(|(i, x)| z(x[0]) - 0.5 * z(x[1]) + 0.9 * noise(i + 5000)).collect()
}

fn table(x: &[Vec<f64>]) -> Data {
    Data::new().rows("x", x).unwrap()
}

fn fit(text: &str, data: &Data) -> Fit {
    let model = Model::compile(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    model.fit(data, &Options::default()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn codes(fit: &Fit) -> Vec<String> {
    fit.result().warnings.iter().filter_map(|w| w["code"].as_str()).map(str::to_owned).collect()
}

/// All numbers of a prediction, row after row; finite, and probabilities where they are that.
fn numbers(of: &Of, fit: &Fit, x: &[Vec<f64>]) -> Vec<f64> {
    let p = fit.predict(&table(x)).unwrap().to_json();
    let column = |name: &str| -> Option<Vec<f64>> {
        p.get(name)?.as_array()?.iter().map(serde_json::Value::as_f64).collect()
    };
    let mut all = Vec::new();
    for name in ["mean", "sd", "p", "p_a", "p_b", "p_c"] {
        let Some(found) = column(name) else { continue };
        if name.starts_with('p') {
            assert!(found.iter().all(|p| (0.0..=1.0).contains(p)), "{}: {name} {found:?}", of.name);
        }
        all.extend(found);
    }
    assert!(!all.is_empty() && all.iter().all(|v| v.is_finite()), "{}: {all:?} {p}", of.name);
    if of.has_levels() {
        let n = x.len();
        (0..n).for_each(|i| assert!((all[i] + all[n + i] + all[2 * n + i] - 1.0).abs() < 1e-12));
    }
    all
}

const PRIORS: [&str; 2] = ["", ", shape = 1e-2, rate = 1e-2"];

#[test]
fn moved_and_rescaled_inputs_give_the_same_answers() {
    for of in FAMILIES {
        for (plan, prior) in of.plans.iter().flat_map(|plan| PRIORS.map(|prior| (plan, prior))) {
            let text = of.program(plan, prior);
            let at = |scale: f64, shift: f64| {
                let x = inputs(36, 3, scale, shift);
                let f = fit(&text, &of.targets(&scores(&x, shift, scale), table(&x)));
                assert!(f.converged(), "{text}\n{scale} {shift}: {:?} {:?}", f.result().report, codes(&f));
                numbers(of, &f, &x[..5])
            };
            let base = at(1.0, 0.0);
            for (scale, shift) in [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e3), (1e-3, -5.0)] {
                for (a, b) in at(scale, shift).iter().zip(&base) {
                    assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{text}\n{scale} {shift}: {a} {b}");
                }
            }
        }
    }
}

/// Columns far from 0 beside an unpenalised intercept (or cutpoints), as they are: evidence and weights stay.
#[test]
fn columns_far_from_zero_beside_an_intercept() {
    for of in FAMILIES.iter().filter(|of| of.name != "softmax") {
        let (intercept, f) = if of.is_ordered() { ("", "x * w") } else { ("mu ~ Flat()\n", "mu + x * w") };
        for plan in of.plans.iter().filter(|plan| **plan != "variational") {
            let text = format!(
                "use std.priors.ard\ndata x: real[N, D]\ndata y: {}\n{intercept}w ~ ard(D)\n{}y ~ {}\ninfer {plan}\n",
                of.target,
                of.beside,
                of.likelihood.replace('F', f)
            );
            // numbers of 47 bits, so that a shift loses none
            let mut x = inputs(36, 3, 1.0, 0.0);
            x.iter_mut().flatten().for_each(|v| *v = (*v * 2f64.powi(20)).round() / 2f64.powi(20));
            let scores = scores(&x, 0.0, 1.0);
            let mut at = |shift: f64| {
                x.iter_mut().flatten().for_each(|v| *v += shift);
                let f = fit(&text, &of.targets(&scores, table(&x)));
                x.iter_mut().flatten().for_each(|v| *v -= shift);
                assert!(f.converged(), "{text}\n{shift}: {:?}", f.result().report);
                (f.objective(), f.node("w").unwrap().mean().to_vec())
            };
            let (base, weights) = at(0.0);
            assert!(!weights.is_empty());
            for shift in [2f64.powi(20), -2f64.powi(26)] {
                let (objective, moved) = at(shift);
                assert!((objective - base).abs() < 1e-6, "{text}\n{shift}: {objective} {base}");
                for (a, b) in moved.iter().zip(&weights) {
                    assert!((a - b).abs() < 1e-6, "{text}\n{shift}: {moved:?} {weights:?}");
                }
            }
        }
    }
}

/// Numbers beside classes in one model: their unit and offset change nothing.
#[test]
fn numbers_in_any_unit_beside_classes() {
    let text = "use std.priors.ard\ndata x: real[N, D]\ndata y: real[N]\ndata c: bool[N]\nmu ~ Flat()\nnu ~ Flat()\n\
                v ~ ard(D)\nw ~ ard(D)\ntau ~ Gamma(0, 0)\ny ~ Normal(mu + x * w, precision = tau)\nc ~ Bernoulli(logit = nu + x * v)\n";
    let x = inputs(40, 2, 1.0, 0.0);
    let scores = scores(&x, 0.0, 1.0);
    let at = |unit: f64, offset: f64| {
        let y: Vec<f64> = scores.iter().map(|s| unit * (2.0 * s + 1.0) + offset).collect();
        let c: Vec<f64> = scores.iter().map(|s| f64::from(*s > 0.0)).collect();
        let f = fit(text, &table(&x).vector("y", &y).unwrap().vector("c", &c).unwrap());
        assert!(f.converged(), "{unit} {offset}: {:?}", f.result().report);
        // a flat intercept takes one observation: the density of the others has their unit
        let evidence = f.objective() + (40.0 - 1.0) * unit.ln();
        let sd = f.node("tau").unwrap().value()[0].powf(-0.5) / unit;
        (evidence, sd, f.node("mu").unwrap().mean()[0])
    };
    let (base, sd, mean) = at(1.0, 0.0);
    for (unit, offset) in [(1e8, 0.0), (1e-8, 0.0), (1.0, 1e6), (1e4, -1e9)] {
        let (evidence, there, mu) = at(unit, offset);
        assert!((evidence - base).abs() < 1e-5, "{unit} {offset}: {evidence} {base}");
        assert!((there - sd).abs() < 1e-6 * sd, "{unit} {offset}: {there} {sd}");
        assert!((mu - offset - unit * mean).abs() < 1e-6 * unit, "{unit} {offset}: {mu} {mean}");
    }
}

/// Targets that are all the same: a finite answer, which says what they are.
#[test]
fn one_class_or_one_value_only() {
    for of in FAMILIES {
        for (plan, prior) in of.plans.iter().flat_map(|plan| PRIORS.map(|prior| (plan, prior))) {
            let text = of.program(plan, prior);
            let x = inputs(30, 3, 1.0, 0.0);
            // real 2.2, true, b, 2
            let f = fit(&text, &of.targets(&[if of.has_levels() { 0.1 } else { 0.6 }; 30], table(&x)));
            let said = codes(&f);
            let expected = if of.has_levels() || of.target == "bool[N]" { "W0705" } else { "W0801" };
            assert!(said.iter().any(|c| c == expected), "{text}\n{said:?}");
            let p = numbers(of, &f, &x[..4]);
            let right = match of.target {
                "real[N]" => (p[0] - 2.2).abs() < 0.1,
                "count[N]" => (p[0] - 2.0).abs() < 0.5,
                // the maximum of 30 ln g(m) − ½ α m² − ½ ln(1 + h/α), by a root search and a sum over a grid
                "bool[N]" if *plan == EXACT && prior == PRIORS[0] => {
                    (p[0] - if of.name == "logit" { 0.821353 } else { 0.895102 }).abs() < 1e-5
                }
                "bool[N]" if *plan == EXACT => p[0] > 0.8,
                "bool[N]" => p[0] > 0.9,
                _ => p[4] > 0.5,
            };
            assert!(right, "{text}\n{p:?}");
        }
    }
}

/// The middle level, or the last one, never occurs: it is told, and has next to no probability.
#[test]
fn a_level_without_rows() {
    for of in FAMILIES.iter().filter(|of| of.has_levels()) {
        for (plan, prior) in of.plans.iter().flat_map(|plan| PRIORS.map(|prior| (plan, prior))) {
            let text = of.program(plan, prior);
            let x = inputs(36, 3, 1.0, 0.0);
            for (missing, place) in [("b", 1), ("c", 2)] {
                let level = |s: &f64| match (missing, *s < 0.0) {
                    (_, true) => "a",
                    ("b", false) => "c",
                    _ => "b",
                };
                let y: Vec<&str> = scores(&x, 0.0, 1.0).iter().map(level).collect();
                let f = fit(&text, &table(&x).words("y", &y).unwrap());
                assert!(codes(&f).iter().any(|c| c == "W0705"), "{text}\n{:?}", codes(&f));
                assert!(f.converged(), "{text}\n{:?}", f.result().report);
                let p = numbers(of, &f, &x[..6]);
                let most = if of.is_ordered() { 1e-3 } else { 0.3 };
                assert!(p[6 * place..6 * place + 6].iter().all(|p| *p < most), "{text}\n{missing}: {p:?}");
            }
        }
    }
}

/// Forty columns in fifteen rows, of which many sets separate any levels: a finite answer. Beside learned
/// cutpoints nothing sets the size of weights and cutpoints together, and a fit may have no end: that is said.
#[test]
fn more_columns_than_rows() {
    let mut drifted = false;
    for of in FAMILIES {
        for plan in of.plans {
            let text = of.program(plan, PRIORS[0]);
            let x = inputs(15, 40, 1.0, 0.0);
            let f = fit(&text, &of.targets(&scores(&x, 0.0, 1.0), table(&x)));
            let said = codes(&f);
            assert!(f.converged() || of.is_ordered(), "{text}\n{:?}", f.result().report);
            assert_eq!(f.converged(), !said.iter().any(|c| c == "W0808"), "{text}\n{said:?}");
            drifted |= said.iter().any(|c| c == "W0815");
            numbers(of, &f, &x[..3]);
        }
    }
    assert!(drifted, "the papers' rule has no fixed point beside these cutpoints, and none said W0815");
}

/// Data that are their own mirror image: the answer is too, whichever half a plan keeps of it.
#[test]
fn symmetric_data_have_symmetric_answers() {
    let half: Vec<f64> = (0..15).map(|i| 0.2 + 1.8 * noise(i + 60).abs()).collect();
    let x: Vec<Vec<f64>> = half.iter().flat_map(|v| [vec![*v], vec![-v]]).collect();
    let flip = |i: usize, s: f64| if i.is_multiple_of(2) { s } else { -s };
    // some on the wrong side
    let scores: Vec<f64> =
        (0..30).map(|i| flip(i, if i / 2 % 5 == 3 { -0.3 } else { half[i / 2] })).collect();
    let new: Vec<Vec<f64>> = [0.3, 1.1, 2.5].iter().flat_map(|v| [vec![*v], vec![-v]]).collect();
    for of in FAMILIES.iter().filter(|of| of.target == "bool[N]" || of.has_levels()) {
        for plan in of.plans {
            // kernels in pairs that share a precision: no half can leave alone
            let size = if of.name == "softmax" { "cols(phi), levels(y)" } else { "cols(phi)" };
            let text = format!(
                "use std.kernels.rbf\ndata x: real[N, D]\ndata y: {}\nlet phi = rbf(x, width = 1.0)\na ~ Gamma(0, 0)\nW ~ Normal(0, precision = a) [{size}]\n{}y ~ {}\ninfer {plan}\n",
                of.target,
                of.beside,
                of.likelihood.replace('F', "phi * W")
            );
            let level = |s: &f64| {
                if *s > 0.6 {
                    "c"
                } else if *s < -0.6 {
                    "a"
                } else {
                    "b"
                }
            };
            let data = match of.target {
                "bool[N]" => of.targets(&scores, table(&x)),
                _ => table(&x).words("y", &scores.iter().map(level).collect::<Vec<_>>()).unwrap(),
            };
            let f = fit(&text, &data);
            assert!(f.converged(), "{text}\n{:?}", f.result().report);
            let p = numbers(of, &f, &new);
            for i in (0..6).step_by(2) {
                // P(true | x) = P(false | −x), and likewise the ends of three levels
                let (here, there) =
                    if of.has_levels() { (p[12 + i], p[i + 1]) } else { (p[i], 1.0 - p[i + 1]) };
                assert!((here - there).abs() < 1e-6, "{text}\n{here} {there}");
            }
        }
    }
}

/// Classes that a column separates: told where a prior holds the weight, refused where nothing does; and a column on one side of 0
/// without an intercept separates nothing.
#[test]
fn separated_classes_under_every_plan() {
    let x: Vec<f64> = (0..30).map(|i| f64::from(i) - 14.5 + 0.3 * noise(i as usize)).collect();
    let y: Vec<f64> = x.iter().map(|x| f64::from(*x > 0.0)).collect();
    let data = |x: &[f64]| Data::new().vector("x", x).unwrap().vector("y", &y).unwrap();
    let positive: Vec<f64> = x.iter().map(|x| x + 20.0).collect();
    for (link, plan) in
        [("logit", "laplace"), ("logit", "variational"), ("probit", "laplace"), ("probit", "variational")]
    {
        let text = |prior: &str| {
            format!(
                "data x: real[N]\ndata y: bool[N]\nb ~ {prior}\ny ~ Bernoulli({link} = b * x)\ninfer {plan}\n"
            )
        };
        let held = text("Normal(0, precision = 0.1)");
        assert!(codes(&fit(&held, &data(&x))).iter().any(|c| c == "W0812"), "{held}");
        assert!(!codes(&fit(&held, &data(&positive))).iter().any(|c| c == "W0812"), "{held}");
        let flat = text("Flat()");
        let failed = Model::compile(&flat).unwrap().fit(&data(&x), &Options::default());
        assert!(failed.unwrap_err().to_string().contains("E0806"), "{flat}");
    }
}

/// Targets that are all 0, and more columns than the noise leaves room for: the same findings, and the same cap of the noise, under
/// every plan.
#[test]
fn nothing_to_explain_and_nothing_left_for_the_noise() {
    let text = |intercept: &str, plan: &str| {
        let mean = if intercept.is_empty() { "x * w" } else { "mu + x * w" };
        format!(
            "use std.priors.ard\ndata x: real[N, D]\ndata y: real[N]\n{intercept}w ~ ard(D)\ntau ~ Gamma(0, 0)\ny ~ Normal({mean}, precision = tau)\ninfer {plan}\n"
        )
    };
    let x = inputs(20, 3, 1.0, 0.0);
    for intercept in ["", "mu ~ Flat()\n"] {
        let fits = ["evidence", "laplace", "variational"].map(|plan| {
            let f = fit(&text(intercept, plan), &table(&x).vector("y", &[0.0; 20]).unwrap());
            for code in ["W0801", "W0802", "W0806"] {
                assert!(codes(&f).iter().any(|c| c == code), "{intercept}{plan}: {:?}", codes(&f));
            }
            f.node("tau").unwrap().value().to_vec()
        });
        assert!(fits.iter().all(|tau| (tau[0] / 1e8 - 1.0).abs() < 1e-9), "{fits:?}");
    }
    let wide = inputs(15, 40, 1.0, 0.0);
    let y = scores(&wide, 0.0, 1.0);
    for plan in ["evidence", "laplace", "variational"] {
        let f = fit(&text("mu ~ Flat()\n", plan), &table(&wide).vector("y", &y).unwrap());
        assert!(codes(&f).iter().any(|c| c == "W0803"), "{plan}: {:?}", codes(&f));
    }
}

/// Two flat effects that are one: refused with both names, whatever the plan.
#[test]
fn flat_effects_that_are_one_are_named() {
    for (target, plan) in [("bool[N]", "laplace"), ("real[N]", "evidence"), ("count[N]", "laplace")] {
        let likelihood = match target {
            "bool[N]" => "Bernoulli(logit = a[c] + b[c])",
            "count[N]" => "Poisson(log = a[c] + b[c])",
            _ => "Normal(a[c] + b[c], precision = 1)",
        };
        let text = format!(
            "data c: category[N]\ndata y: {target}\na ~ Flat() [levels(c)]\nb ~ Flat() [levels(c)]\ny ~ {likelihood}\ninfer {plan}\n"
        );
        let y: Vec<f64> = (0..12).map(|i| f64::from(i % 3 == 0)).collect();
        let c: Vec<&str> = (0..12).map(|i| if i % 2 == 0 { "p" } else { "q" }).collect();
        let data = Data::new().words("c", &c).unwrap().vector("y", &y).unwrap();
        let failed = Model::compile(&text).unwrap().fit(&data, &Options::default()).map(|_| ()).unwrap_err();
        let said = failed.to_string();
        assert!(said.contains("E0802") && said.contains("`a` at p, `b` at p"), "{said}");
    }
}
