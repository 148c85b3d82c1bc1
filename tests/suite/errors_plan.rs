//! Wrong requests for inference: code, line, message and help.

use crate::compiled::plan_of;

/// What precedes the line in question where nothing else is said: lines 1 to 5.
const HEAD: &str = "data x: real[N, D]\ndata t: real[N]\ntau ~ Gamma(0, 0)\nw ~ Normal(0, precision = 1) [D]\n\
                    t ~ Normal(x * w, precision = tau)\n";

struct Case {
    /// Appended to `HEAD`, or a program of its own.
    source: String,
    code: &'static str,
    line: usize,
    message: &'static str,
    help: &'static str,
}

fn after_head(
    tail: &str,
    code: &'static str,
    line: usize,
    message: &'static str,
    help: &'static str,
) -> Case {
    Case { source: format!("{HEAD}{tail}\n"), code, line, message, help }
}

fn whole(source: &str, code: &'static str, line: usize, message: &'static str, help: &'static str) -> Case {
    Case { source: source.to_owned(), code, line, message, help }
}

/// A likelihood of classes by `W` with a prior and effects without one.
fn softmax(likelihood: &str, message: &'static str) -> Case {
    let flat = message.rsplit('`').nth(1).unwrap();
    let all = [
        ("b", "b ~ Flat() [levels(c)]"),
        ("V", "V ~ Flat() [D, levels(c)]"),
        ("m", "m ~ Flat()"),
        ("v", "v ~ Flat() [D]"),
        ("u", "u ~ Flat() [levels(g), levels(c)]"),
    ];
    let effect = all.iter().find(|(name, _)| *name == flat).unwrap().1;
    let head = "data x: real[N, D]\ndata c: category[N]\ndata g: category[N]\n";
    let source =
        format!("{head}{effect}\nW ~ Normal(0, precision = 1) [D, levels(c)]\n{likelihood}\ninfer laplace\n");
    Case { source, code: "E0618", line: 4, message, help: "give it a prior" }
}

fn cases() -> Vec<Case> {
    vec![
        after_head(
            "infer evidense",
            "E0601",
            6,
            "no method of inference is called `evidense`",
            "did you mean `infer evidence`?",
        ),
        after_head("infer mcmc", "E0601", 6, "no method of inference is called `mcmc`", "leave `infer` out"),
        after_head(
            "infer evidence(max_iters = 5)",
            "E0602",
            6,
            "`evidence` has no option `max_iters`",
            "did you mean `max_iter`?",
        ),
        after_head("infer auto(speed = 5)", "E0602", 6, "`infer` has no option `speed`", "remove it"),
        after_head(
            "infer evidence(max_iter = 0)",
            "E0603",
            6,
            "option `max_iter` is 0, expected a whole number from 1",
            "max_iter = 1000",
        ),
        after_head(
            "infer evidence(max_iter = 2.5)",
            "E0603",
            6,
            "option `max_iter` is 2.5",
            "max_iter = 1000",
        ),
        after_head(
            "infer evidence(tol = em)",
            "E0603",
            6,
            "option `tol` is `em`, expected a number",
            "tol = 1e-6",
        ),
        after_head(
            "infer evidence(updates = mckay)",
            "E0603",
            6,
            "option `updates` is `mckay`, expected mackay or em",
            "updates = mackay",
        ),
        after_head(
            "infer evidence(restarts = 1e12)",
            "E0603",
            6,
            "option `restarts` is 1e12",
            "restarts = 4",
        ),
        after_head(
            "infer evidence(curvature = exact)",
            "E0604",
            6,
            "option `curvature` applies to laplace",
            "remove `curvature`",
        ),
        whole(
            "use std.priors.ard\ndata x: real[N, D]\ndata t: count[N]\nw ~ ard(D)\nt ~ Poisson(rate = exp(x * w))\n",
            "E0607",
            5,
            "no plan serves the model `model`",
            "t ~ Poisson(log = …)",
        ),
        whole(
            "data x: real[N]\ndata t: bool[N]\ndata p: unit[N]\nt ~ Bernoulli(p = p)\ninfer laplace\n",
            "E0617",
            4,
            "`laplace` needs a linear predictor of `t`, and Bernoulli is given by `p`",
            "t ~ Bernoulli(logit = …)",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\nw ~ Normal(0, precision = 1)\nt ~ StudentT(x * w, dof = 4, precision = 1)\ninfer laplace\n",
            "E0609",
            4,
            "`laplace` needs a log-concave likelihood, found StudentT for `t`",
            "write `infer variational`, which serves StudentT",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\nw ~ Normal(0, precision = 1)\nt ~ StudentT(x * w, dof = 4, precision = 1)\ninfer sequential\n",
            "E0609",
            4,
            "`laplace` needs a log-concave likelihood, found StudentT for `t`",
            "write `infer variational`, which serves StudentT",
        ),
        whole(
            "model prior_only {\n    w ~ Normal(0, precision = 1)\n    infer evidence\n}\n",
            "E0608",
            1,
            "nothing is observed in the model `prior_only`",
            "data t: real[N]",
        ),
        whole(
            "data k: count[N]\nmu ~ Normal(0, precision = 1)\nk ~ Poisson(log = mu)\ninfer evidence\n",
            "E0609",
            3,
            "needs a Gaussian likelihood, found Poisson for `k`",
            "write `infer laplace`, which serves Poisson",
        ),
        whole(
            "data t: bool[N]\ndata p: unit[N]\nt ~ Bernoulli(p = p)\ninfer evidence\n",
            "E0609",
            3,
            "needs a Gaussian likelihood, found Bernoulli for `t`",
            "write `t ~ Bernoulli(logit = …)` or `(probit = …)`, and `infer laplace`",
        ),
        whole(
            "data t: real[N]\nt ~ Flat()\ninfer evidence\n",
            "E0609",
            2,
            "Flat is no likelihood for the data `t`",
            "t ~ Normal(",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\na ~ Normal(0, precision = 1)\nb ~ Normal(0, precision = 1)\nt ~ Normal(a * b * x, precision = 4)\ninfer evidence\n",
            "E0610",
            5,
            "the mean of `t` is not linear: it multiplies unknowns, `a` and `b`",
            "known factors times unknowns",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\na ~ Normal(0, precision = 1)\nlet f = exp(a) * x\nt ~ Normal(f, precision = 4)\ninfer evidence\n",
            "E0610",
            5,
            "takes `exp` of the unknown `a`",
            "known factors",
        ),
        whole(
            "data t: real[N]\ntau ~ Gamma(1, 1)\nt ~ Normal(tau, precision = 4)\ninfer evidence\n",
            "E0610",
            3,
            "the mean of `t` uses `tau`, which is not Gaussian",
            "Normal or Flat prior",
        ),
        whole(
            "data t: real[N]\ntau ~ Gamma(0, 0)\nt ~ Normal(0, variance = 1 + 1 / tau)\ninfer evidence\n",
            "E0611",
            3,
            "the scale of `t` is a sum with `tau` in it",
            "as a product",
        ),
        whole(
            "data t: real[N]\na ~ Normal(0, precision = 1)\nt ~ Normal(0, precision = exp(a))\ninfer evidence\n",
            "E0611",
            3,
            "takes `exp` of `a`",
            "as a product",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\nw ~ StudentT(0, dof = 4, precision = 1)\nt ~ Normal(x * w, precision = 4)\ninfer evidence\n",
            "E0612",
            3,
            "found StudentT for the latent `w`",
            "w ~ Normal(0",
        ),
        whole(
            "data t: real[N]\nb ~ Gamma(1, 1)\ntau ~ Gamma(1, b)\nt ~ Normal(0, precision = tau)\ninfer evidence\n",
            "E0613",
            3,
            "the rate of `tau` depends on the unknown `b`",
            "write `infer variational`, which serves this model",
        ),
        whole(
            "data t: real[N]\nparam s: positive = 1\ntau ~ Gamma(s, 1)\nt ~ Normal(0, precision = tau)\ninfer evidence\n",
            "E0614",
            3,
            "the shape of `tau` depends on the learned `s`",
            "write a number",
        ),
        whole(
            "data t: real[N]\nparam s: positive = 1\nmu ~ Flat()\nt ~ Normal(mu, precision = 2) weight s\ninfer evidence\n",
            "E0614",
            4,
            "the case weights of `t` depend on the learned `s`",
            "into the precision",
        ),
        whole(
            "data t: real[N]\nparam s: positive[N] = 1\nmu ~ Normal(0, precision = 1)\nt ~ Normal(mu, sd = s)\ninfer evidence\n",
            "E0614",
            2,
            "`s` has a value for each row",
            "`param s … [levels(g)]`",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\nparam s: positive = 1\nmu ~ Flat()\nb ~ Flat()\nt ~ Normal(mu + b * exp(-s * abs(x)), precision = 2)\ninfer evidence\n",
            "E0614",
            6,
            "the coefficient of the flat `b` depends on the learned `s`",
            "`param b: real`",
        ),
        whole(
            "data t: real[N]\nparam s: positive = 1\nm ~ Flat()\nb ~ Normal(m, precision = 1)\nt ~ Normal(s * b, precision = 2)\ninfer variational\n",
            "E0614",
            5,
            "the coefficient of the flat `m` depends on the learned `s`",
            "give `m` a prior",
        ),
        whole(
            "data t: real[N]\nlambda ~ Gamma(0, 0)\nt ~ Normal(0, precision = 2)\ninfer evidence\n",
            "E0615",
            2,
            "`lambda` is the precision of nothing",
            "or remove `lambda`",
        ),
        whole(
            "data t: real[N]\ntau ~ Gamma(1, 1)\nt ~ Normal(0, sd = tau)\ninfer variational\n",
            "E0630",
            3,
            "the precision of `t` has `tau` to the power -2",
            "write `infer evidence`, which serves this model",
        ),
        whole(
            "data t: real[N]\nb ~ Gamma(1, 1)\ntau ~ Gamma(1, b^2)\nt ~ Normal(0, precision = tau)\ninfer variational\n",
            "E0630",
            3,
            "the rate of `tau` has `b` to the power 2",
            "rate = b",
        ),
        whole(
            "data t: real[N]\nb ~ Gamma(1, 1)\ntau ~ Gamma(1, 1 + b)\nt ~ Normal(0, precision = tau)\ninfer variational\n",
            "E0630",
            3,
            "the rate of `tau` is a sum with `b` in it",
            "product",
        ),
        whole(
            "data t: real[N]\nm ~ Normal(0, precision = 1)\ntau ~ Gamma(1, rate = exp(m))\nt ~ Normal(m, precision = tau)\ninfer variational\n",
            "E0630",
            3,
            "the rate of `tau` takes `exp` of",
            "product",
        ),
        whole(
            "data t: real[N]\nb ~ Gamma(1, 1)\ntau ~ Gamma(b, 1)\nt ~ Normal(0, precision = tau)\ninfer variational\n",
            "E0613",
            3,
            "the shape of `tau` depends on the unknown `b`",
            "give a number",
        ),
        whole(
            "data t: real[N]\nnu ~ Gamma(1, 1)\nt ~ StudentT(0, dof = nu, precision = 1)\ninfer variational\n",
            "E0613",
            3,
            "the dof of `t` depends on the unknown `nu`",
            "give a number",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\nw ~ StudentT(0, dof = 4, precision = 1)\nt ~ Normal(x * w, precision = 4)\ninfer variational\n",
            "E0612",
            3,
            "`variational` needs a Gaussian effect",
            "w ~ Normal(0",
        ),
        whole(
            "data x: real[N]\ndata t: real[N]\nalpha ~ Gamma(1, 0)\nw ~ Normal(0, precision = alpha)\nt ~ Normal(x * w, precision = 4)\ninfer variational\n",
            "E0631",
            3,
            "the bound has no maximum",
            "Gamma(0, 0)",
        ),
        whole(
            "data k: count[N]\nmu ~ Normal(0, precision = 1)\nk ~ Poisson(log = mu)\ninfer variational\n",
            "E0632",
            3,
            "found Poisson for `k`",
            "write `infer laplace`, which serves this model",
        ),
        whole(
            "data k: bool[N]\ndata p: unit[N]\nk ~ Bernoulli(p = p)\ninfer variational\n",
            "E0632",
            3,
            "found Bernoulli for `k`",
            "`logit` or `probit`",
        ),
        after_head(
            "mu ~ Flat()\ninfer evidence",
            "E0618",
            6,
            "no data depend on the flat effect `mu`",
            "remove it",
        ),
        after_head(
            "mu ~ Flat()\nz ~ Normal(mu, sd = 1)\ninfer variational",
            "E0618",
            6,
            "no data depend",
            "remove it",
        ),
        softmax(
            "plate n in N { c[n] ~ Categorical(softmax = x[n] * W + b) }",
            "`c` cannot determine the flat effect `b`",
        ),
        softmax("c ~ Categorical(softmax = x * V)", "`c` cannot determine the flat effect `V`"),
        softmax("plate n in N { c[n] ~ Categorical(softmax = x[n] * W + m) }", "the flat effect `m`"),
        softmax("plate n in N { c[n] ~ Categorical(softmax = x[n] * W + x[n] * v) }", "the flat effect `v`"),
        softmax("plate n in N { c[n] ~ Categorical(softmax = x[n] * W - u[g[n]]) }", "the flat effect `u`"),
        after_head(
            "infer evidence(hyper_scale = density)",
            "E0616",
            3,
            "the prior of `tau` has no maximum",
            "Gamma(1, 0)",
        ),
    ]
}

#[test]
fn wrong_requests_say_what_and_where_and_what_to_do() {
    for case in cases() {
        let (_, sources, found) = plan_of(&case.source);
        let errors = match found {
            Err(errors) => errors,
            Ok(plan) => panic!("{}\nhas the plan {}", case.source, plan.method),
        };
        let listed: Vec<String> = errors.iter().map(|e| format!("{} {}", e.code, e.message)).collect();
        let Some(error) = errors.iter().find(|e| e.code == case.code && e.message.contains(case.message))
        else {
            panic!("{}\nexpected {} {:?}, found {listed:#?}", case.source, case.code, case.message);
        };
        let span = error.primary.as_ref().unwrap_or_else(|| panic!("{}: no place", case.source)).span;
        assert_eq!(sources.line_column(span.file, span.start).0, case.line, "{}: {error:#?}", case.source);
        let help = error.help.as_deref().unwrap_or_default();
        assert!(help.contains(case.help), "{}\nhelp is {help:?}", case.source);
        assert!(sbl::diag::codes::find(error.code).is_some(), "{} is not registered", error.code);
    }
}

#[test]
fn all_obstacles_are_reported_at_once() {
    let source = "data x: real[N]\ndata k: count[N]\nparam s: positive = 1\nw ~ StudentT(0, dof = 4, precision = 1)\n\
                  k ~ Poisson(log = x * w * s) weight s\ninfer evidence\n";
    let codes: Vec<&str> = plan_of(source).2.unwrap_err().iter().map(|e| e.code).collect();
    assert_eq!(codes, ["E0609", "E0612", "E0614"]);
}

/// A flat effect that changes some probability, or that other data determine, has a plan.
#[test]
fn flat_effects_of_a_softmax_that_something_determines_are_served() {
    let head = "data x: real[N, D]\ndata c: category{p, q}[N]\ndata t: real[N]\nW ~ Normal(0, precision = 1) [D, levels(c)]\n";
    for rest in [
        // only one of the levels has it
        "b ~ Flat() [D]\nc ~ Categorical(softmax = x * W + [x * b, x[_, 1]])\nt ~ Normal(0, sd = 1)\n",
        // a second target sees it
        "b ~ Flat()\nplate n in N { c[n] ~ Categorical(softmax = x[n] * W + b) }\nt ~ Normal(b, sd = 1)\n",
        // the mean of weights with a prior
        "b ~ Flat() [levels(c)]\nV ~ Normal(b, precision = 1)\nplate n in N { c[n] ~ Categorical(softmax = x[n] * W + V) }\n",
    ] {
        let found = plan_of(&format!("{head}{rest}infer laplace\n")).2;
        assert!(found.is_ok(), "{rest}{:#?}", found.err());
    }
}

/// What stops a chain of hyperparameters is said once, and no link of it is called the precision of nothing.
#[test]
fn a_chain_of_hyperparameters_has_one_obstacle() {
    let chain = "data x: real[N, D]\ndata t: real[N]\nc ~ Gamma(1, 1)\nb ~ Gamma(1, c)\nalpha ~ Gamma(1, b) [D]\n\
                 w ~ Normal(0, precision = alpha)\ntau ~ Gamma(1, 1)\nt ~ Normal(x * w, precision = tau)\n";
    for method in ["evidence", "laplace", "sequential"] {
        let errors = plan_of(&format!("{chain}infer {method}\n")).2.unwrap_err();
        let [only] = errors.as_slice() else { panic!("{method}: {errors:#?}") };
        assert_eq!(
            (only.code, only.message.as_str()),
            ("E0613", "the rate of `alpha` depends on the unknown `b`")
        );
        assert_eq!(only.help.as_deref(), Some("write `infer variational`, which serves this model"));
    }
}

/// Where the prior of a library stops a plan, another plan is named, or that there is none; the library is not edited.
#[test]
fn no_edit_of_a_library_is_proposed() {
    for (likelihood, help) in [
        (
            "data t: real[N]\nt ~ Normal(x * w, precision = 4)\n",
            "write `infer evidence`, which serves this model",
        ),
        ("data t: bool[N]\nt ~ Bernoulli(logit = x * w)\n", "write `infer laplace`, which serves this model"),
        (
            "data t: real[N]\nt ~ StudentT(x * w, dof = 4, precision = 1)\n",
            "no plan serves this model; use another prior here",
        ),
    ] {
        let head = "use std.priors.lasso\ndata x: real[N, D]\nw ~ lasso(D)\n";
        let errors = plan_of(&format!("{head}{likelihood}infer variational\n")).2.unwrap_err();
        let [only] = errors.as_slice() else { panic!("{errors:#?}") };
        assert_eq!((only.code, only.help.as_deref()), ("E0630", Some(help)));
        // and the program is shown beside the library
        assert!(only.secondary.iter().any(|l| l.text == "in this call"), "{only:?}");
    }
}

#[test]
fn when_no_plan_serves_each_method_says_why() {
    let source =
        "data x: real[N]\ndata k: count[N]\nw ~ Normal(0, precision = 1)\nk ~ Poisson(rate = exp(x * w))\n";
    let errors = plan_of(source).2.unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].notes,
        [
            "laplace: needs a linear predictor of `k`, and Poisson is given by `rate`",
            "evidence: needs a Gaussian likelihood, found Poisson for `k`",
            "variational: needs a likelihood that is Gaussian, a mixture of Gaussians or bounded by one, found Poisson for `k`",
        ]
    );
}
