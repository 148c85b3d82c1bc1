//! The choice of a method: the one asked for, or the `auto` rule.
//!
//! The rule, in the order in which it is read:
//! 1. a `param` → point plans: `evidence` if every likelihood is Gaussian, else `laplace`;
//! 2. a likelihood that only `variational` serves → `variational`;
//! 3. a proper prior of a free precision → `variational`;
//! 4. `evidence` if every likelihood is Gaussian, else `laplace`.
//!
//! If the method so chosen has an obstacle, the next one is taken, and the plan says why. From 400
//! prunable weights on the schedule is sequential, where the method has it. `infer sequential` is
//! `evidence` or `laplace`, by the same test of the likelihoods, on that schedule.

use super::flat::undetermined;
use super::ir::{Options, Plan, Rejected, Schedule};
use super::method::{METHODS, Method, method};
use super::options::{self, Parsed};
use super::sequential;
use crate::check::typed::{Dist, Model, Node, NodeKind};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics, Staged, Warned};
use crate::graph::walk::constant;
use crate::graph::{Dag, Role};

/// Obstacles of a plan, not of the model: another plan may serve it.
const OF_THE_PLAN: &[&str] = &["E0613", "E0630", "E0632"];

/// The plan of a model: by the method it asks for, or by the rule above.
///
/// # Errors
/// E06: an unknown method or option, everything that stops the method asked for, or (E0607) the
/// first obstacle of each method.
pub fn plan(model: &Model, dag: &Dag) -> Staged<Plan> {
    let asked_for = match model.infer.method.as_deref() {
        None | Some("auto") => None,
        Some(name) => Some(method(name).ok_or_else(|| vec![unknown_method(model, name)])?),
    };
    // no method determines what the data do not
    let undetermined = undetermined(model, dag);
    if !undetermined.is_empty() {
        return Err(undetermined);
    }
    match asked_for {
        None => automatic(model, dag),
        Some(method) => asked(model, dag, method),
    }
}

/// What the rule says, before obstacles: the methods in the order in which they are tried, and why.
pub fn rule(model: &Model, dag: &Dag) -> (Vec<&'static Method>, String) {
    let gaussian = |dist: &Dist| dist.family.gaussian.is_some();
    let observed = || model.stochastic().filter(|(n, _)| n.is_observed());
    let point = if observed().all(|(_, d)| gaussian(d)) { "evidence" } else { "laplace" };
    let likelihoods = match observed().find(|(_, d)| !gaussian(d)) {
        Some((node, dist)) => {
            format!("the likelihood of `{}` is {}, not Gaussian", node.name, dist.family.name)
        }
        None => "every likelihood is Gaussian".to_owned(),
    };

    let param = dag.nodes().iter().find(|n| n.role == Role::Param);
    let only_variational = observed().find(|(_, d)| !gaussian(d) && !d.family.log_concave);
    let (first, why) = if let Some(param) = param {
        (point, format!("rule 1: `{}` is a param, which a point plan learns; {likelihoods}", param.name))
    } else if let Some((node, dist)) = only_variational {
        let why = format!(
            "rule 2: only `variational` serves {}, the likelihood of `{}`",
            dist.family.name, node.name
        );
        ("variational", why)
    } else if let Some((node, dist)) = model.stochastic().find(|(n, d)| is_proper_free(model, n, d)) {
        let why =
            format!("rule 3: the free precision `{}` has a proper {} prior", node.name, dist.family.name);
        ("variational", why)
    } else {
        (point, format!("rule 4: {likelihoods}, there is no param and no proper prior of a precision"))
    };
    let mut order: Vec<&'static Method> = method(first).into_iter().collect();
    order.extend(METHODS.iter().filter(|m| m.name != first && m.name != sequential::SEQUENTIAL.name));
    (order, why)
}

fn automatic(model: &Model, dag: &Dag) -> Staged<Plan> {
    let (order, why) = rule(model, dag);
    let any = options::parse(&model.infer, None)?;
    let mut tried: Vec<(&'static Method, Diagnostic)> = Vec::new();
    for method in &order {
        match obstacles(model, dag, method, &any).into_iter().next() {
            Some(first) => tried.push((*method, first)),
            None => {
                let parsed = options::parse(&model.infer, Some(method))?;
                let mut reasons = vec![why];
                for (earlier, obstacle) in &tried {
                    reasons.push(format!(
                        "{} comes first by that rule, but {}; {} is next and has no obstacle",
                        earlier.name, obstacle.message, method.name
                    ));
                }
                return Ok(Warned::new(by_size(model, dag, method, parsed, reasons), Vec::new()));
            }
        }
    }
    Err(vec![none_serves(model, &tried)])
}

fn asked(model: &Model, dag: &Dag, method: &'static Method) -> Staged<Plan> {
    let mut parsed = options::parse(&model.infer, Some(method))?;
    let mut why = format!("`infer {}` asks for it", method.name);
    let mut method = method;
    if method.name == sequential::SEQUENTIAL.name {
        method = sequential::meant(model);
        parsed.options.schedule = Schedule::Sequential;
        let likelihoods = match method.name {
            "evidence" => "every likelihood is Gaussian",
            _ => "some likelihood is not Gaussian",
        };
        why.push_str(&format!("; {likelihoods}: {}, one basis function at a time", method.name));
        // the options that it does not share with the other point plan
        options::parse(&model.infer, Some(method))?;
    }
    let mut found = obstacles(model, dag, method, &parsed);
    if !found.is_empty() {
        let serves = other_that_serves(model, dag, method);
        found.iter_mut().filter(|d| OF_THE_PLAN.contains(&d.code)).for_each(|d| advise(d, serves));
        return Err(found);
    }
    Ok(Warned::new(finish(model, dag, method, parsed, vec![why]), Vec::new()))
}

/// The first other method that has no obstacle.
fn other_that_serves(model: &Model, dag: &Dag, asked: &Method) -> Option<&'static Method> {
    let others = METHODS.iter().filter(|m| m.name != asked.name && m.name != sequential::SEQUENTIAL.name);
    others.copied().find(|m| (m.obstacles)(model, dag, &Options::default()).is_empty())
}

/// A plan that serves the model as it stands comes before every edit of the model.
fn advise(obstacle: &mut Diagnostic, serves: Option<&Method>) {
    if let Some(method) = serves {
        obstacle.help = Some(format!("write `infer {}`, which serves this model", method.name));
    } else if obstacle.help.is_none() {
        obstacle.help = Some("no plan serves this model; use another prior here".to_owned());
    }
}

fn obstacles(model: &Model, dag: &Dag, method: &Method, parsed: &Parsed) -> Diagnostics {
    let mut found = (method.obstacles)(model, dag, &parsed.options);
    if parsed.options.schedule == Schedule::Sequential && !method.sequential && found.is_empty() {
        let what = format!("option `schedule` applies to point plans, and `{}` is none", method.name);
        let refused = Diagnostic::error("E0604", what);
        found.push(
            match parsed.schedule.or(model.infer.span) {
                Some(span) => refused.at(span, "asked for here"),
                None => refused,
            }
            .help("write `schedule = batch`, or leave `schedule` out"),
        );
    }
    found
}

/// The plan with the schedule that the program asks for, or the one that the number of weights asks for.
fn by_size(model: &Model, dag: &Dag, method: &'static Method, mut parsed: Parsed, why: Vec<String>) -> Plan {
    if !method.sequential || parsed.schedule.is_some() {
        return finish(model, dag, method, parsed, why);
    }
    let hypers = (method.compile)(model, dag, parsed.options.clone()).hypers;
    let (schedule, said) = sequential::by_size(model, &hypers);
    parsed.options.schedule = schedule;
    finish(model, dag, method, parsed, why.into_iter().chain(said).collect())
}

fn finish(model: &Model, dag: &Dag, method: &'static Method, parsed: Parsed, why: Vec<String>) -> Plan {
    let mut plan = (method.compile)(model, dag, parsed.options);
    plan.why = why;
    // `sequential` is a schedule of the others
    for other in METHODS.iter().filter(|m| m.name != method.name && m.name != sequential::SEQUENTIAL.name) {
        let because = match (other.obstacles)(model, dag, &plan.options).into_iter().next() {
            Some(first) => clause(other, &first),
            None => format!("{} comes first by the rule", method.name),
        };
        plan.rejected.push(Rejected { method: other.name.to_owned(), because });
    }
    plan
}

/// An obstacle after the name of its method: ``laplace: needs a log-concave likelihood``.
fn clause(method: &Method, obstacle: &Diagnostic) -> String {
    let message = obstacle.message.as_str();
    let own = message.strip_prefix(&format!("`{}` ", method.name)).unwrap_or(message);
    own.strip_prefix("is ").unwrap_or(own).to_owned()
}

/// A latent precision whose prior is proper: shape and rate above 0, or known only with data.
fn is_proper_free(model: &Model, node: &Node, dist: &Dist) -> bool {
    let Some(prior) = dist.family.precision_prior else { return false };
    let zero = |name: &str| dist.arg(name).and_then(|e| constant(model, e)) == Some(0.0);
    matches!(node.kind, NodeKind::Latent(_))
        && !zero(prior.shape)
        && !prior.rates.iter().any(|(name, _)| zero(name))
}

fn none_serves(model: &Model, tried: &[(&'static Method, Diagnostic)]) -> Diagnostic {
    let mut found = Diagnostic::error("E0607", format!("no plan serves the model `{}`", model.name));
    for (method, obstacle) in tried {
        found = found.note(format!("{}: {}", method.name, clause(method, obstacle)));
    }
    // the place and the edit of a method that exists, if one has any
    let best = tried.first().map(|(_, o)| o);
    if let Some(best) = best {
        found.primary.clone_from(&best.primary);
        found.secondary.clone_from(&best.secondary);
        found.help.clone_from(&best.help);
    }
    if found.primary.is_none() {
        found = found.at(model.span, "this model");
    }
    found
}

fn unknown_method(model: &Model, name: &str) -> Diagnostic {
    let names = || METHODS.iter().map(|m| m.name).chain(["auto"]);
    let found = Diagnostic::error("E0601", format!("no method of inference is called `{name}`"))
        .note(format!("methods are {}", names().collect::<Vec<_>>().join(", ")));
    let found = match model.infer.span {
        Some(span) => found.at(span, "unknown method"),
        None => found,
    };
    match closest(name, names()) {
        Some(near) => found.help(format!("did you mean `infer {near}`?")),
        None => found.help("leave `infer` out and let the compiler choose"),
    }
}
