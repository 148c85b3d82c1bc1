//! What the numbers say, as diagnostics: E08 for failures, W08 for findings of a finished fit.

use nalgebra::DMatrix;

use crate::check::typed::{Model, NodeId};
use crate::design::Bytes;
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics};
use crate::plan::ir::Plan;
use crate::runtime::assemble::Layout;
use crate::runtime::solution::{Failure, Finding, Solution, Stop};

use super::nodes::Names;

/// What is left of a variance, beside which the rounding of it is seen in predictions.
const CANCELLED: f64 = 1e-13;
/// More weights than these are not looked at.
const MANY: usize = 300;
/// Slope above which it is not rounding that hides the way up.
const STEEP: f64 = 1e-2;

/// Why there is no fit.
pub(crate) fn failure(model: &Model, plan: &Plan, names: &Names, failure: &Failure) -> Diagnostic {
    let term = plan.terms.first().map(|t| model.node(t.node).span);
    let at = |d: Diagnostic| match term {
        Some(span) => d.at(span, "while fitting this"),
        None => d,
    };
    match failure {
        Failure::NotPositiveDefinite { step, pivot } => {
            let (node, name) = names.weight_in_full(*pivot);
            let error =
                Diagnostic::error("E0801", format!("{step}: the matrix is not positive definite in {name}"));
            match node {
                Some(node) => error.at(model.node(node).span, "the data do not determine it"),
                None => at(error),
            }
            .help("columns are linearly dependent: drop one, or give them a prior with a fixed precision")
        }
        Failure::FlatNotIdentified(weights) => {
            let (nodes, list): (Vec<_>, Vec<String>) = weights.iter().map(|w| names.weight_in_full(*w)).unzip();
            let error = Diagnostic::error(
                "E0802",
                format!("flat effects are not determined by the data: {}", list.join(", ")),
            );
            match nodes.last().copied().flatten() {
                Some(node) => error.at(model.node(node).span, "the data do not determine it"),
                None => at(error),
            }
            .note("their columns are linearly dependent (a constant column beside an intercept, a column of zeros, or more effects than rows)")
            .help("drop one of them, or give it a prior: `~ Normal(0, precision = 1e-6)`")
        }
        Failure::NonFinite { step } => {
            at(Diagnostic::error("E0803", format!("{step}: a number overflowed or is not a number"))
                .help("check targets and inputs for values beyond 1e150 in size"))
        }
        Failure::NoMode => at(Diagnostic::error("E0806", "the posterior of the weights has no mode")
            .note("unpenalised effects separate the levels of the data perfectly: their estimates are infinite")
            .help("give them a prior, `~ Normal(0, precision = 1e-2)` for columns of unit size, in place of `Flat()` or a tiny precision")),
        Failure::OutOfMemory(wanted, allowed) => at(Diagnostic::error(
            "E0804",
            format!("the fit needs about {}, {} are allowed", Bytes(*wanted), Bytes(*allowed)),
        )
        .help("allow more with `--max-memory`, or use fewer rows or columns")),
        Failure::ImproperHyper(h) => at(Diagnostic::error(
            "E0805",
            format!("the estimate of {} has no maximum: on the density scale its Gamma prior needs shape > 1/2, or a rate", names.hyper(*h)),
        )
        .help("use `hyper_scale = log` (the default), or a larger shape")),
    }
}

/// What a finished fit has to say.
pub(crate) fn findings(model: &Model, plan: &Plan, names: &Names, solution: &Solution) -> Diagnostics {
    let report = &solution.report;
    let mut found: Diagnostics = report.findings.iter().map(|f| finding(model, plan, names, f)).collect();
    for (kept, dropped) in &report.merged {
        let list: Vec<String> = dropped.iter().map(|d| names.weight(*d)).collect();
        let kept = names.weight(*kept);
        found.push(
            Diagnostic::warning(
                "W0807",
                format!("{kept} and {} are the same column up to a factor", list.join(", ")),
            )
            .note(format!("only the sum of their effects is determined: {kept} carries it, the others are 0"))
            .help("keep one of them"),
        );
    }
    if let Some(weight) = cancelling(solution) {
        found.push(
            Diagnostic::warning(
                "W0816",
                format!(
                    "deviations of predictions lose digits: the effects of {} and of others nearly cancel",
                    names.weight(weight)
                ),
            )
            .note("columns far from 0 beside an intercept that is not penalised do that; means, evidence and what is relevant are right")
            .help("measure inputs from their middle: `standardize(x)`, or subtract a number near their mean"),
        );
    }
    if report.jitter > 0.0 {
        found.push(Diagnostic::warning(
            "W0810",
            format!("a factorisation needed a relative jitter of {:.0e}", report.jitter),
        ));
    }
    match report.stop {
        Stop::Converged => {}
        Stop::Stalled if report.certificate.gradient > STEEP && !plan.params.is_empty() => {
            let params: Vec<&str> = plan.params.iter().map(|p| p.name.as_str()).collect();
            let slope = report.certificate.gradient;
            let told = not_converged(
                &format!("no step leads to a maximum, and the largest slope is {slope:.1e}"),
                &format!(
                    "start elsewhere (`restarts = 2`), or hold {} (`let` in place of `param`) and compare values with `sbl cv`",
                    params.join(", ")
                ),
            );
            found.push(match plan.method.as_str() {
                "laplace" => told.note("under large weights curvatures vanish, and Laplace's approximation finds evidence there"),
                _ => told,
            });
        }
        Stop::Stalled => found.push(not_converged(
            "rounding hides any further progress",
            "bring columns to one scale (`standardize`), add an intercept (`mu ~ Flat()`), or use a narrower kernel: its columns are nearly dependent",
        )),
        Stop::MaxIter => found.push(not_converged(
            "the budget of iterations is used up",
            "allow more: `infer … (max_iter = …)`",
        )),
        Stop::MaxTime => {
            found.push(not_converged("the budget of time is used up", "allow more: `--max-time`"))
        }
        Stop::Interrupted => found.push(not_converged("it was interrupted", "fit again")),
    }
    found
}

/// A weight that the weights before it determine so well, beside flat effects, that variances of predictions cancel.
fn cancelling(solution: &Solution) -> Option<usize> {
    let (k, sigma) = (solution.active.len(), &solution.covariance);
    if solution.flat == 0 || k > MANY {
        return None;
    }
    // Cholesky's factor of the correlations: the square of a pivot is 1 − R² by the weights before
    let sd = sigma.diagonal().map(f64::sqrt);
    let mut l = DMatrix::zeros(k, k);
    for i in 0..k {
        for j in 0..=i {
            let before: f64 = (0..j).map(|m| l[(i, m)] * l[(j, m)]).sum();
            let left = sigma[(i, j)] / (sd[i] * sd[j]) - before;
            if i == j && left < CANCELLED {
                return Some(solution.active[i]);
            }
            l[(i, j)] = if i == j { left.sqrt() } else { left / l[(j, j)] };
        }
    }
    None
}

/// What free cutpoints take over: constant columns of the predictor, and the scale of the latent value.
pub(crate) fn not_identified(model: &Model, plan: &Plan, names: &Names, layout: &Layout) -> Diagnostics {
    let mut found = Diagnostics::new();
    for rows in layout.terms.iter().filter(|rows| !rows.constant.is_empty()) {
        let list: Vec<String> = rows.constant.iter().map(|w| names.weight(*w)).collect();
        found.push(
            Diagnostic::warning(
                "W0813",
                format!(
                    "the columns of {} are constant: the learned cutpoints of `{}` take them up",
                    list.join(", "),
                    names.node(rows.node)
                ),
            )
            .at(model.node(rows.node).span, "its cutpoints take up any shift")
            .help("leave the constant column out"),
        );
    }
    for param in plan.params.iter().filter(|p| p.held) {
        found.push(
            Diagnostic::warning("W0814", format!("`{}` is held at its start: the data do not identify it", param.name))
                .at(model.node(param.node).span, "scales cutpoints and weights together")
                .note("weights, cutpoints and the scale of the latent value can all be multiplied by one number without changing any probability")
                .help(format!("write a number for it, or leave `sd = {}` out", param.name)),
        );
    }
    found
}

fn not_converged(why: &str, help: &str) -> Diagnostic {
    Diagnostic::warning("W0808", format!("the fit did not converge: {why}"))
        .note("the result is the best found so far")
        .help(help)
}

fn finding(model: &Model, plan: &Plan, names: &Names, finding: &Finding) -> Diagnostic {
    let node = |t: usize| plan.terms.get(t).map(|t| t.node);
    let at = |d: Diagnostic, t: usize, text: &str| match node(t) {
        Some(id) => d.at(model.node(id).span, text),
        None => d,
    };
    let name = |t: usize| node(t).map_or_else(String::new, |id: NodeId| names.node(id));
    match finding {
        Finding::ConstantTarget(t) => at(
            Diagnostic::warning("W0801", format!("the target `{}` is constant: nothing can be relevant", name(*t)))
                .help("check that the right column was taken"),
            *t,
            "does not vary",
        ),
        Finding::NoiseFloor(h) => Diagnostic::warning(
            "W0802",
            format!("the noise precision {} ran into its cap: the data leave no noise", names.hyper(*h)),
        )
        .note("the evidence has no upper bound where the model interpolates the targets")
        .help(format!("give it a proper prior: `{} ~ Gamma(1e-2, 1e-4)`, or state a known precision", names.hyper(*h))),
        Finding::NoiseNotIdentified(t, left, n) => at(
            Diagnostic::warning(
                "W0803",
                format!("the noise of `{}` is not identified: the weights use up all but {left:.1} of {n} degrees of freedom", name(*t)),
            )
            .note("the model comes close to interpolating: predictive deviations are too small, and weights may be spurious")
            .help("state the noise (`precision = …`), give it a proper prior (`tau ~ Gamma(1, …)`), use fewer columns, or `infer evidence(min_gain = 3)`"),
            *t,
            "this target",
        ),
        Finding::MeanFarFromZero(t) => at(
            Diagnostic::warning("W0804", format!("the mean of `{}` is far from 0, and no unpenalised intercept takes it up", name(*t)))
                .note("a bias inside `ard` is shrunk and may be pruned: the answer then depends on the offset of the target")
                .help(format!("add `mu ~ Flat()` and write the mean as `mu + …`: `{} ~ Normal(mu + …)`", name(*t))),
            *t,
            "this target",
        ),
        Finding::LowRank(rank, columns) => Diagnostic::warning(
            "W0805",
            format!("the {columns} columns of the design have rank {rank}: few of them can stand for all"),
        )
        .note("many sets of columns give the same function; one of the smallest was kept"),
        Finding::Parallel(weights) => {
            let list: Vec<String> = weights.iter().map(|w| names.weight(*w)).collect();
            Diagnostic::warning("W0807", format!("{} are the same column up to a factor", list.join(", ")))
                .note("only the sum of their effects is determined: their prior shares it out")
                .help("keep one of them")
        }
        Finding::Drift => Diagnostic::warning(
            "W0815",
            "with the curvature held, precisions and parameters drift apart: the exact gradient was followed",
        )
        .note("the papers' rule for precisions and the slope of the evidence by a parameter are no slopes of one objective; here they have no common fixed point")
        .help(format!("write `infer {}(curvature = exact)`, which does the same without a detour", match plan.schedule.as_str() {
            "sequential" => "sequential",
            _ => plan.method.as_str(),
        })),
        Finding::Separated(t, weight) => {
            let by = weight.map_or_else(|| "the predictor".to_owned(), |w| names.weight(w));
            at(
                Diagnostic::warning("W0812", format!("the classes of `{}` are perfectly separated by {by}", name(*t)))
                    .note(if plan.blocks.is_empty() {
                        "nothing holds the parameters: their estimates are infinite, and these are where the search ended"
                    } else {
                        "the likelihood alone would make its weight infinite: the size of the estimate comes from the prior"
                    })
                    .help(if plan.blocks.is_empty() {
                        "give the coefficients a prior, as `b ~ Normal(0, precision = 1e-2)`, in place of `param b`"
                    } else {
                        "read probabilities near 0 and 1 with care; more data near the boundary would tell"
                    }),
                *t,
                "separated without an error",
            )
        }
        Finding::NothingRelevant => {
            let told = Diagnostic::warning(
                "W0806",
                "no weight is relevant: the data support only the part of the model without them",
            );
            let free: Vec<&str> = plan.params.iter().filter(|p| !p.held).map(|p| p.name.as_str()).collect();
            match free.is_empty() {
                true => told,
                // with no weight, nothing says where a parameter should go
                false => told.help(format!(
                    "without weights the data may say nothing about {}: start elsewhere, as `restarts = 2` does",
                    free.join(", ")
                )),
            }
        }
    }
}

/// A node that the fit does not have.
pub(crate) fn no_such_node<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Diagnostic {
    let found = Diagnostic::error("E0815", format!("the fit has no node `{name}`"));
    match closest(name, known.clone()) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None => found.help(format!("it has {}", known.collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every failure has its code, a place, and a way out.
    #[test]
    fn failures_say_what_to_do() {
        let model = crate::Model::compile("data t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1)\n").unwrap();
        let plan = model.plan().unwrap();
        for (why, code) in [
            (Failure::NotPositiveDefinite { step: "posterior", pivot: 0 }, "E0801"),
            (Failure::FlatNotIdentified(vec![0]), "E0802"),
            (Failure::NonFinite { step: "posterior" }, "E0803"),
            (Failure::OutOfMemory(1 << 40, 1 << 30), "E0804"),
            (Failure::ImproperHyper(0), "E0805"),
        ] {
            let found = failure(model.typed(), plan, &Names::default(), &why);
            assert_eq!(found.code, code);
            assert!(found.primary.is_some() && found.help.is_some(), "{found:?}");
        }
    }
}
