//! The sequential schedule: one basis function at a time, added, re-estimated or deleted, by the exact
//! gain in evidence (Tipping and Faul 2003; the formulas are in `docs/mathematics.md` §3).
//!
//! It is a schedule of the point plans; `infer sequential` is `evidence` or `laplace` with it, by the
//! likelihood.

use super::evidence::EVIDENCE;
use super::ir::{HyperUpdate, Options, Plan, Schedule, Step};
use super::laplace::LAPLACE;
use super::method::{Method, method};
use super::steps::{is_flat, is_proper, step};
use super::updates::is_own;
use crate::check::dim::Dim;
use crate::check::typed::{Model, NodeId};
use crate::diag::Diagnostics;
use crate::graph::Dag;

/// From how many prunable weights on `auto` prefers the sequential schedule.
pub const SEQUENTIAL_FROM: usize = 400;

/// `infer sequential`
pub static SEQUENTIAL: Method = Method {
    name: "sequential",
    summary: "evidence or laplace, one basis function at a time",
    options: &["updates", "hyper_scale", "curvature"],
    sequential: true,
    obstacles,
    compile,
};

/// The method that `infer sequential` stands for.
pub fn meant(model: &Model) -> &'static Method {
    let gaussian = |(_, dist): (_, &crate::check::typed::Dist)| dist.family.gaussian.is_some();
    if model.stochastic().filter(|(n, _)| n.is_observed()).all(gaussian) { &EVIDENCE } else { &LAPLACE }
}

fn obstacles(model: &Model, dag: &Dag, options: &Options) -> Diagnostics {
    (meant(model).obstacles)(model, dag, options)
}

fn compile(model: &Model, dag: &Dag, options: Options) -> Plan {
    (meant(model).compile)(model, dag, options)
}

/// The hyperparameters whose weights can be added and deleted one at a time: each weight has an entry of
/// its own, flat on the log scale.
pub fn prunable(model: &Model, hypers: &[HyperUpdate]) -> Vec<NodeId> {
    hypers
        .iter()
        .filter(|h| is_own(model, h.node) && is_flat(model, h) && !is_proper(model, h))
        .map(|h| h.node)
        .collect()
}

/// What `auto` makes of the number of weights, where that is known; and what it says about it.
pub fn by_size(model: &Model, hypers: &[HyperUpdate]) -> (Schedule, Option<String>) {
    let nodes = prunable(model, hypers);
    let count = nodes
        .iter()
        .map(|id| model.node(*id).ty.shape.iter().fold(Dim::number(1), |size, dim| size.mul(dim)))
        .fold(Dim::default(), |sum, size| sum.add(&size));
    match count.as_number() {
        Some(n) => {
            let n = usize::try_from(n).unwrap_or(0);
            let schedule = by_count(n);
            (schedule, (schedule == Schedule::Sequential).then(|| reason(n, schedule)))
        }
        None => {
            let name = |id| model.node(id).name.clone();
            let count = count.display(&name).to_string();
            let text = format!(
                "{count} weights that can be pruned: below {SEQUENTIAL_FROM} the schedule is batch, which is shown here, \
                 from {SEQUENTIAL_FROM} on sequential; the data decide"
            );
            (Schedule::Auto, Some(text))
        }
    }
}

/// The plan with its schedule settled, once data are bound; `size` is the number of entries of a node.
pub fn settle(plan: &Plan, model: &Model, dag: &Dag, size: &dyn Fn(NodeId) -> usize) -> Plan {
    let Some(method) = method(&plan.method).filter(|_| plan.options.schedule == Schedule::Auto) else {
        return plan.clone();
    };
    let count = prunable(model, &plan.hypers).into_iter().map(size).sum();
    let schedule = by_count(count);
    let options = Options { schedule, ..plan.options.clone() };
    // the steps are those of the schedule
    let mut settled = (method.compile)(model, dag, options);
    settled.why.clone_from(&plan.why);
    settled.rejected.clone_from(&plan.rejected);
    if let Some(last) = settled.why.last_mut() {
        *last = reason(count, schedule);
    }
    settled
}

fn by_count(n: usize) -> Schedule {
    if n < SEQUENTIAL_FROM { Schedule::Batch } else { Schedule::Sequential }
}

fn reason(n: usize, schedule: Schedule) -> String {
    let side = if schedule == Schedule::Batch { "below" } else { "from" };
    let on = if schedule == Schedule::Batch { "" } else { " on" };
    let plural = if n == 1 { "" } else { "s" };
    format!(
        "{n} weight{plural} that can be pruned: {side} {SEQUENTIAL_FROM}{on} the schedule is {}",
        schedule.name()
    )
}

/// The steps that take the place of the all-at-once updates: factors, the best move, its rank-one update.
pub fn moves() -> Vec<Step> {
    vec![
        step(
            "sparsity and quality",
            "S_i = φ_iᵀHφ_i − φ_iᵀHΦΣΦᵀHφ_i, Q_i = φ_iᵀH(t − Φm); s_i = α_i S_i/(α_i − S_i), q_i = α_i Q_i/(α_i − S_i)",
            r"S_i = \phi_i^\top H \phi_i - \phi_i^\top H \Phi \Sigma \Phi^\top H \phi_i,\quad Q_i = \phi_i^\top H (t - \Phi m),\quad s_i = \frac{\alpha_i S_i}{\alpha_i - S_i},\ q_i = \frac{\alpha_i Q_i}{\alpha_i - S_i}",
            "Tipping and Faul (2003); mathematics §3",
            "N M k fresh, N M by rank one",
        ),
        step(
            "the move of largest gain",
            "q_i² > s_i: add or re-estimate, α_i = s_i²/(q_i² − s_i); else delete; gain = λ_i(new) − λ_i(old), λ_i(α) = ½[ln α − ln(α + s_i) + q_i²/(α + s_i)]",
            r"\alpha_i = \frac{s_i^2}{q_i^2 - s_i}\ (q_i^2 > s_i),\quad \lambda_i(\alpha) = \tfrac12\Bigl[\ln\alpha - \ln(\alpha + s_i) + \frac{q_i^2}{\alpha + s_i}\Bigr]",
            "Faul and Tipping (2002); mathematics §3",
            "M",
        ),
        step(
            "rank-one update",
            "Σ −= κ c cᵀ, m −= κ m_j c, S += κ p², Q += κ m_j p, c = Σ_·j, p = Φ_allᵀHΦc, κ = 1/(Σ_jj + 1/Δα_j); an addition likewise",
            r"\Sigma \leftarrow \Sigma - \kappa c c^\top,\ m \leftarrow m - \kappa m_j c,\ S \leftarrow S + \kappa p^2,\ Q \leftarrow Q + \kappa m_j p",
            "Tipping and Faul (2003), appendix; mathematics §3",
            "N M + k²",
        ),
        step(
            "noise and shared precisions, on a schedule",
            "held for 10 moves, then at every 5th and whenever no move has gain",
            r"\text{held for 10 moves, then at every 5th and whenever no move has gain}",
            "mathematics §3",
            "N k² + k³",
        ),
    ]
}
