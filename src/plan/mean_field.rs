//! The loop body of `variational`: each factor with its formula, its source and its cost.
//!
//! Symbols as in `docs/mathematics.md`: ⟨·⟩ expectations under the mean field, N rows, M weights, Φ design,
//! H row precisions, m and Σ mean and covariance of q(w).

use super::ir::{Block, Blocks, HyperUpdate, Options, RowFactor, RowFactorKind, Step, Term};
use super::obstacles::{rate_of, scale_powers};
use super::updates::is_own;
use super::variational::bounded;
use crate::check::typed::{Model, NodeId};
use crate::dist::bound::LinkBound;
use crate::graph::build::number_text;
use crate::graph::walk::{constant, latents};

/// The steps of one cycle, in order.
pub fn steps(
    model: &Model,
    blocks: &[Block],
    terms: &[Term],
    factors: &[RowFactor],
    hypers: &[HyperUpdate],
    options: &Options,
) -> Vec<Step> {
    let mut steps = Vec::new();
    if blocks.iter().any(|b| b.mean.is_some()) {
        steps.push(step(
            "centre",
            "u = mean(u) + innovation: means of blocks move into Φ",
            "non-centred form of a hierarchical prior",
            "once",
        ));
    }
    let weights = match options.blocks {
        Blocks::Joint => "q(w), all weights together".to_owned(),
        Blocks::Separate => {
            let names: Vec<&str> = blocks.iter().map(|b| b.name.as_str()).collect();
            format!("q(w) of {}, one after another", names.join(", "))
        }
    };
    steps.push(step(
        &weights,
        "Σ = (⟨A⟩ + Φᵀ H Φ)⁻¹ = D B⁻¹ D, D = ⟨A⟩^(−1/2), B = I + D Φᵀ H Φ D; m = Σ Φᵀ H t",
        "Bishop and Tipping (2000), (22)–(24); mathematics §0.1",
        "N M² + M³/3; r² M + r³ at rank r where all rows have one precision",
    ));
    if blocks.iter().any(|b| b.scale.is_none()) {
        steps.push(step(
            "flat effects",
            "a column with α = 0 and no prior factor",
            "Harville (1974); mathematics §1.1",
            "N M k_f",
        ));
    }
    let noise = |h: &&HyperUpdate| terms.iter().any(|t| h.scales.contains(&t.name));
    // children before parents, then what scales rows
    for hyper in hypers.iter().rev().filter(|h| !noise(h)) {
        steps.push(hyper_step(model, hyper, "M"));
    }
    for factor in factors {
        steps.push(match &factor.kind {
            RowFactorKind::Scale { .. } => step(
                &format!("q(λ_n) of {}", factor.name),
                "Gamma(ν/2 + 1/2, ν/2 + ½⟨precision⟩⟨(t_n − f_n)²⟩); H_nn = ⟨precision⟩⟨λ_n⟩",
                "Tipping and Lawrence (2005); mathematics §8",
                "N M",
            ),
            RowFactorKind::Bound { .. } => match link(model, factor.node) {
                Some(link) => step(
                    &format!("bound of {}", factor.name),
                    &format!("{}; {}", link.update, link.formula),
                    link.source,
                    "N M",
                ),
                None => step(&format!("bound of {}", factor.name), "", "", "N M"),
            },
        });
    }
    for hyper in hypers.iter().rev().filter(noise) {
        steps.push(hyper_step(model, hyper, "N"));
    }
    if !hypers.is_empty() || !factors.is_empty() {
        steps.push(step(
            "extrapolate",
            "⟨θ⟩ ← (a + ½Σγ + …)/(b + ½Σm² + …), combined with the last 8 steps; taken only if the bound rises",
            "MacKay (1992); Anderson (1965); mathematics §6",
            "one q(w)",
        ));
    }
    if hypers.iter().any(|h| is_point(model, h) && is_own(model, h.node)) {
        steps.push(step(
            "prune, once the updates have settled",
            "drop i if q_i² ≤ s_i, q_i = m_i/Σ_ii, s_i = 1/Σ_ii − ⟨α_i⟩: the bound rises",
            "Faul and Tipping (2002); mathematics §1",
            "M",
        ));
    }
    steps
}

fn hyper_step(model: &Model, hyper: &HyperUpdate, cost: &str) -> Step {
    let source = match is_point(model, hyper) {
        true => "mathematics §6: the limit a = b = 0 on the log scale",
        false => "Bishop and Tipping (2000), (25)–(28), with N/2 in (26)",
    };
    step(&format!("q({})", hyper.name), &hyper.formula, source, cost)
}

/// The factor of a hyperparameter, as a formula.
pub fn hyper_formula(model: &Model, hyper: NodeId) -> String {
    let node = model.node(hyper);
    let mut shape: Vec<String> = Vec::new();
    let mut rate: Vec<String> = Vec::new();
    for (child, dist) in model.stochastic() {
        let powers = scale_powers(model, dist);
        if powers.iter().any(|(id, _)| *id == hyper) {
            let (observed, alone) = (child.is_observed(), powers.len() == 1);
            let c = if alone { "" } else { "⟨c⟩" };
            shape.push(match (observed, is_own(model, hyper)) {
                (true, _) => "N/2".to_owned(),
                (false, true) => "1/2".to_owned(),
                (false, false) => "n/2".to_owned(),
            });
            rate.push(match (observed, dist.family.mixture.is_some(), is_own(model, hyper)) {
                (true, false, _) => format!("½{c}⟨|t − f|²⟩"),
                (true, true, _) => format!("½{c}Σ⟨λ_n⟩⟨(t_n − f_n)²⟩"),
                (false, _, true) => format!("½⟨{}_i²⟩", child.name),
                (false, ..) => format!("½Σ c⟨{}_i²⟩", child.name),
            });
        }
        if rate_of(dist).is_some_and(|(_, e, _)| latents(model, e).contains(&hyper)) {
            shape.push(format!("Σ a of {}", child.name));
            rate.push(format!("Σ c⟨{}⟩", child.name));
        }
    }
    let theta = if node.ty.shape.is_empty() { node.name.clone() } else { format!("{}_i", node.name) };
    match node.dist().is_some_and(|d| prior_is_flat(model, d)) {
        true => point_formula(&theta, &shape, &rate),
        false => format!("q({theta}) = Gamma(a + {}, ⟨b⟩ + {})", shape.join(" + "), rate.join(" + ")),
    }
}

/// (Σ shape)/(Σ rate), without the halves where they cancel.
fn point_formula(theta: &str, shape: &[String], rate: &[String]) -> String {
    if let ([shape], [rate]) = (shape, rate)
        && let (Some(n), Some(square)) = (shape.strip_suffix("/2"), rate.strip_prefix('½'))
    {
        return format!("⟨{theta}⟩ = {n} / {square}");
    }
    format!("⟨{theta}⟩ = ({}) / ({})", shape.join(" + "), rate.join(" + "))
}

fn prior_is_flat(model: &Model, dist: &crate::check::typed::Dist) -> bool {
    let Some(prior) = dist.family.precision_prior else { return false };
    let zero = |e| constant(model, e) == Some(0.0);
    dist.arg(prior.shape).is_some_and(zero)
        && rate_of(dist).is_some_and(|(_, e, power)| power > 0.0 && zero(e))
}

fn is_point(model: &Model, hyper: &HyperUpdate) -> bool {
    model.node(hyper.node).dist().is_some_and(|d| prior_is_flat(model, d))
}

fn link(model: &Model, node: NodeId) -> Option<&'static LinkBound> {
    Some(bounded(model.node(node).dist()?)?.0)
}

/// When the loop ends.
pub fn stop(options: &Options) -> String {
    format!(
        "no step of a log precision above {}, and a relative change of the bound below 1e-10; or {} iterations",
        number_text(options.tol),
        options.max_iter
    )
}

/// The summands of the bound.
pub fn objective_terms(
    terms: &[Term],
    factors: &[RowFactor],
    hypers: &[HyperUpdate],
    blocks: &[Block],
) -> Vec<String> {
    let own = |t: &&Term| factors.iter().any(|f| f.node == t.node);
    let mut all = Vec::new();
    if terms.iter().any(|t| !own(&t)) {
        all.push("½ Σ (⟨ln τ⟩ − ln 2π) − ½⟨τ⟩⟨|t − f|²⟩".to_owned());
    }
    for factor in factors {
        match factor.kind {
            RowFactorKind::Scale { .. } => {
                all.push("+ ½ Σ (⟨ln τ⟩ + ⟨ln λ_n⟩ − ln 2π) − ½⟨τ⟩ Σ⟨λ_n⟩⟨(t_n − f_n)²⟩".to_owned());
                all.push("+ Σ ⟨ln Gamma(λ_n | ν/2, ν/2)⟩ − ⟨ln q(λ_n)⟩".to_owned());
            }
            RowFactorKind::Bound { .. } => {
                all.push(format!("+ ⟨the quadratic bound of {}⟩", factor.name));
            }
        }
    }
    if blocks.iter().any(|b| b.scale.is_some()) {
        all.push("+ ½ Σ (⟨ln α_i⟩ − ⟨α_i⟩⟨w_i²⟩ − ln 2π)".to_owned());
    }
    all.push("+ M/2 (1 + ln 2π) + ½ ln|Σ|".to_owned());
    if !hypers.is_empty() {
        all.push("+ Σ ⟨ln Gamma(θ | a, b)⟩ − ⟨ln q(θ)⟩".to_owned());
    }
    all
}

fn step(does: &str, formula: &str, source: &str, cost: &str) -> Step {
    Step {
        does: does.to_owned(),
        formula: formula.to_owned(),
        latex: super::latex::math(formula),
        source: source.to_owned(),
        cost: cost.to_owned(),
    }
}
