//! The update of one hyperparameter, as a formula.
//!
//! Sources: MacKay (1992), Neural Computation 4(3), 415–447; Tipping (2001), JMLR 1, 211–244,
//! (16)–(18) and appendix A; tied precisions: `docs/mathematics.md` §1.1; hyperpriors: §2.

use super::ir::{HyperScale, Options, Updates};
use super::obstacles::{scale_of, scale_powers};
use crate::check::typed::{ExprKind, Model, NodeId};
use crate::graph::linear::scale_form;

/// How a hyperparameter enters the scales.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The precision of every weight is its own entry.
    Own,
    /// Several weights share an entry.
    Shared,
    /// The precision of data.
    Noise,
}

/// The uses of a hyperparameter, or `None` if some scale is a product with another one or another
/// power than the precision itself: then no fixed-point rule has a closed form.
pub fn uses(model: &Model, hyper: NodeId) -> Option<Vec<Use>> {
    let mut all = Vec::new();
    for (node, dist) in model.stochastic() {
        let powers = scale_powers(model, dist);
        if !powers.iter().any(|(id, _)| *id == hyper) {
            continue;
        }
        if powers.as_slice() != [(hyper, 1.0)] {
            return None;
        }
        let direct = scale_of(dist).is_some_and(|s| matches!(model.expr(s.value).kind, ExprKind::Node(_)));
        all.push(if node.is_observed() {
            Use::Noise
        } else if direct && node.ty.shape == model.node(hyper).ty.shape {
            Use::Own
        } else {
            Use::Shared
        });
    }
    Some(all)
}

/// Whether a weight has this precision to itself, so that it alone can be pruned.
pub fn is_own(model: &Model, hyper: NodeId) -> bool {
    uses(model, hyper).is_some_and(|u| u == [Use::Own])
}

/// The update of `hyper`; `flat`: its prior is flat on the scale of the estimate.
///
/// With θ the hyperparameter, a and b its shape and rate (§2), e = 1 on the density scale:
/// MacKay `θ = (Σγ + 2a − 2e) / (Σ c m² + 2b)`, EM `θ = (n + 2a − 2e) / (Σ c (m² + Σ_ii) + 2b)`,
/// noise `θ = (N − Σγ + 2a − 2e) / (rss + 2b)`.
pub fn formula(model: &Model, hyper: NodeId, flat: bool, options: &Options) -> String {
    let name = &model.node(hyper).name;
    let vector = !model.node(hyper).ty.shape.is_empty();
    let theta = if vector { format!("{name}_i") } else { name.clone() };
    let em = options.updates == Updates::Em;
    let uses = match uses(model, hyper) {
        Some(uses) if !uses.is_empty() => uses,
        _ => {
            return format!(
                "ln {theta} += −g/H, g and H the first two derivatives of the objective in ln {theta}"
            );
        }
    };
    let mut above: Vec<&str> = Vec::new();
    let mut below: Vec<&str> = Vec::new();
    for each in &uses {
        let (top, bottom) = match (each, em) {
            (Use::Own, false) => ("γ_i", "m_i²"),
            (Use::Own, true) => ("1", "m_i² + Σ_ii"),
            (Use::Shared, false) => ("Σ γ_j", "Σ c_j m_j²"),
            (Use::Shared, true) => ("n", "Σ c_j (m_j² + Σ_jj)"),
            (Use::Noise, false) if uses.len() == 1 && !several_noises(model) => ("N − Σ γ_j", "rss"),
            (Use::Noise, false) => ("N − θ tr VΦΣΦᵀ", "rss"),
            (Use::Noise, true) => ("N", "rss + tr VΦΣΦᵀ"),
        };
        above.push(top);
        below.push(bottom);
    }
    if !flat {
        above.push("2a");
        below.push("2b");
    }
    let mut top = above.join(" + ");
    if options.hyper_scale == HyperScale::Density {
        top.push_str(" − 2");
    }
    let sum = |text: String, parts: bool| if parts { format!("({text})") } else { text };
    let bottom = below.join(" + ");
    let is_sum = |text: &str| text.contains(" + ") || text.contains(" − ");
    let (wide_top, wide_bottom) = (is_sum(&top), is_sum(&bottom));
    format!("{theta} = {} / {}", sum(top, wide_top), sum(bottom, wide_bottom))
}

/// Whether N − Σγ would mix the noises of several likelihoods.
fn several_noises(model: &Model) -> bool {
    let mut scales: Vec<_> = model
        .stochastic()
        .filter(|(n, _)| n.is_observed())
        .filter_map(|(_, d)| scale_of(d))
        .map(|s| (s.value, scale_form(model, s.value).unwrap_or_default()))
        .collect();
    scales.dedup();
    let vector = |id: &NodeId| !model.node(*id).ty.shape.is_empty();
    scales.len() > 1 || scales.iter().any(|(_, powers)| powers.iter().any(|(id, _)| vector(id)))
}
