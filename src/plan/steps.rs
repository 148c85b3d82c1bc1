//! The loop body of `evidence`: each step with its formula, its source and its cost.
//!
//! Symbols as in `docs/mathematics.md`: N rows, k kept weights, Φ design, A and H diagonal
//! precisions of weights and rows, m and Σ posterior mean and covariance, γ well-determinedness.

use super::ir::{Block, HyperScale, HyperUpdate, Options, Schedule, Step, Term, Updates};
use super::updates::is_own;
use crate::check::typed::Model;
use crate::graph::build::number_text;
use crate::graph::walk::constant;

/// Starts the objective term that is reported apart: the log hyperprior of a MAP estimate.
pub const APART: &str = "apart, the log hyperprior: ";

/// The steps of one iteration, in order.
pub fn evidence_steps(
    model: &Model,
    blocks: &[Block],
    terms: &[Term],
    hypers: &[HyperUpdate],
    options: &Options,
) -> Vec<Step> {
    let mut steps = vec![
        step(
            "factorise",
            "B = I + D Φᵀ H Φ D = L Lᵀ, D = A^(−1/2)",
            r"B = I + D \Phi^\top H \Phi D = L L^\top,\quad D = A^{-1/2}",
            "mathematics §0.1",
            "N k² + k³/3; N² k + N³/3 if k > N",
        ),
        step(
            "posterior",
            "Σ = D B⁻¹ D, m = Σ Φᵀ H (t − offset)",
            r"\Sigma = D B^{-1} D,\quad m = \Sigma \Phi^\top H (t - \mathrm{offset})",
            "Tipping (2001), (12)–(13)",
            "N k + k²",
        ),
        step(
            "well-determinedness",
            "γ_i = 1 − α_i Σ_ii = [B⁻¹(B − I)]_ii",
            r"\gamma_i = 1 - \alpha_i \Sigma_{ii} = [B^{-1}(B - I)]_{ii}",
            "Tipping (2001), (17)",
            "k³/3",
        ),
    ];
    if blocks.iter().any(|b| b.mean.is_some()) {
        steps.insert(
            0,
            step(
                "centre",
                "u = mean(u) + innovation: means of blocks move into Φ",
                r"u = \mathrm{mean}(u) + \varepsilon_u",
                "non-centred form of a hierarchical prior",
                "once",
            ),
        );
    }
    if blocks.iter().any(|b| b.scale.is_none()) {
        steps.push(step(
            "flat effects",
            "a column with α = 0; γ = 1 for each",
            r"\alpha_f = 0,\quad \gamma_f = 1",
            "Harville (1974); mathematics §1.1",
            "N k k_f",
        ));
    }
    let rule = match (options.updates, hypers.iter().any(|h| !is_flat(model, h))) {
        (Updates::MacKay, false) => ("MacKay update", "MacKay (1992); Tipping (2001), (16), (18)"),
        (Updates::MacKay, true) => ("MacKay update, MAP", "mathematics §2; MacKay (1992)"),
        (Updates::Em, false) => ("EM update", "Tipping (2001), appendix A"),
        (Updates::Em, true) => ("EM update, MAP", "mathematics §2"),
    };
    let one_at_a_time = options.schedule == Schedule::Sequential;
    if one_at_a_time {
        steps.extend(super::sequential::moves());
    }
    // on the sequential schedule the moves update precisions that a weight has to itself
    let moved = |h: &HyperUpdate| one_at_a_time && is_own(model, h.node) && is_flat(model, h);
    for hyper in hypers.iter().filter(|h| !moved(h)) {
        let noise = terms.iter().any(|t| hyper.scales.contains(&t.name));
        let cost = if noise { "N k" } else { "k" };
        steps.push(step(
            &format!("{} of {}", rule.0, hyper.name),
            &hyper.formula,
            &super::latex::math(&hyper.formula),
            rule.1,
            cost,
        ));
    }
    steps.push(step(
        "evidence",
        "L = N/2 ln β − N/2 ln 2π − ½ ln|B| − β/2 rss − ½ mᵀ A m",
        r"L = \tfrac N2 \ln\beta - \tfrac N2 \ln 2\pi - \tfrac12 \ln|B| - \tfrac\beta2\,\mathrm{rss} - \tfrac12 m^\top A m",
        "Tipping (2001), (15); mathematics §1",
        "N k",
    ));
    if hypers.iter().any(|h| is_own(model, h.node) && !is_proper(model, h)) {
        steps.push(step(
            if one_at_a_time {
                "prune, once no move has gain"
            } else {
                "prune, once the updates have settled"
            },
            "drop i if q_i² ≤ s_i, q_i = m_i/Σ_ii, s_i = 1/Σ_ii − α_i; one at a time, then try to add back",
            r"q_i^2 \le s_i,\quad q_i = m_i/\Sigma_{ii},\quad s_i = 1/\Sigma_{ii} - \alpha_i",
            "Faul and Tipping (2002); mathematics §1",
            "k per test, N M per search outside",
        ));
    }
    if !hypers.is_empty() {
        steps.push(step(
            "polish",
            "Newton in ln θ on the kept weights until |dL/d ln θ| < 1e-9",
            r"\ln\theta \leftarrow \ln\theta - H^{-1} g",
            "mathematics §1",
            "k³ per step",
        ));
        steps.push(step(
            "certificate",
            "max |dL/d ln θ|; outside, the most a weight would earn: ½(r − 1 − ln r), r = q_j²/s_j",
            r"\max|\partial L/\partial\ln\theta|,\quad \max_j \tfrac12(r_j - 1 - \ln r_j),\ r_j = q_j^2/s_j",
            "Faul and Tipping (2002); mathematics §1",
            "N M + M k²",
        ));
    }
    steps
}

/// When the loop ends.
pub fn stop(hypers: &[HyperUpdate], options: &Options) -> String {
    if hypers.is_empty() {
        return "after one solve: no hyperparameter is free".to_owned();
    }
    format!(
        "no change of a log precision or of the log evidence above {}, and nothing left to prune or add; or {} iterations",
        number_text(options.tol),
        options.max_iter
    )
}

/// When a weight goes.
pub fn prune(model: &Model, hypers: &[HyperUpdate], options: &Options) -> String {
    let own: Vec<&HyperUpdate> = hypers.iter().filter(|h| is_own(model, h.node)).collect();
    let free: Vec<&str> = own.iter().filter(|h| !is_proper(model, h)).map(|h| h.name.as_str()).collect();
    let kept: Vec<&str> = own.iter().filter(|h| is_proper(model, h)).map(|h| h.name.as_str()).collect();
    let mut parts = Vec::new();
    if !free.is_empty() {
        let gain = if options.min_gain > 0.0 {
            format!(", or if it earns less than {} nats", number_text(options.min_gain))
        } else {
            String::new()
        };
        parts.push(format!("a weight of {} goes if q² ≤ s{gain}", free.join(", ")));
    }
    if !kept.is_empty() {
        parts.push(format!(
            "{} never reaches infinity (proper rate): nothing is pruned, q² > s tells relevance",
            kept.join(", ")
        ));
    }
    let latent = |name: &String| model.nodes.iter().any(|n| n.name == *name && !n.is_observed());
    let tied = |h: &&HyperUpdate| !is_own(model, h.node) && is_flat(model, h) && h.scales.iter().any(latent);
    let tied: Vec<&str> = hypers.iter().filter(tied).map(|h| h.name.as_str()).collect();
    if !tied.is_empty() {
        parts.push(format!(
            "weights that share a precision of {} go together, when it reaches infinity",
            tied.join(", ")
        ));
    }
    if parts.is_empty() {
        parts.push("nothing is pruned: no weight has a free precision of its own".to_owned());
    }
    parts.join("; ")
}

/// The summands of the objective.
pub fn objective_terms(model: &Model, flat: bool, hypers: &[HyperUpdate], options: &Options) -> Vec<String> {
    let mut terms = vec![
        "N/2 ln β − N/2 ln 2π".to_owned(),
        "− ½ ln|B|".to_owned(),
        "− ½ Σ_n β_n (t_n − φ_n·m)²".to_owned(),
        "− ½ mᵀ A m".to_owned(),
    ];
    if flat {
        terms.push("+ k_f/2 ln 2π − ½ ln|Fᵀ C⁻¹ F|".to_owned());
    }
    terms.extend(apart(model, hypers, options));
    terms
}

/// The log hyperprior of a MAP estimate, if there is one.
pub(super) fn apart(model: &Model, hypers: &[HyperUpdate], options: &Options) -> Option<String> {
    let density = options.hyper_scale == HyperScale::Density;
    (density || hypers.iter().any(|h| !is_flat(model, h)))
        .then(|| format!("{APART}Σ {} ln θ − b θ", if density { "(a − 1)" } else { "a" }))
}

/// Whether the hyperprior is Gamma(0, 0).
pub(super) fn is_flat(model: &Model, hyper: &HyperUpdate) -> bool {
    constant(model, hyper.shape) == Some(0.0) && !is_proper(model, hyper)
}

/// Whether its rate is above 0, so that the precision stays finite.
pub(super) fn is_proper(model: &Model, hyper: &HyperUpdate) -> bool {
    hyper.rate_power < 0.0 || constant(model, hyper.rate) != Some(0.0)
}

pub(super) fn step(does: &str, formula: &str, latex: &str, source: &str, cost: &str) -> Step {
    Step {
        does: does.to_owned(),
        formula: formula.to_owned(),
        latex: latex.to_owned(),
        source: source.to_owned(),
        cost: cost.to_owned(),
    }
}
