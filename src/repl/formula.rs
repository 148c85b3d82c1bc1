//! Which formula of the plan changes a node.

use sbl::Model;
use sbl::plan::ir::{Plan, Step};

/// A formula of the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Formula {
    /// As text.
    pub text: String,
    /// The step and its source.
    pub of: String,
}

/// The formula by which an iteration of that phase changes a node; without a phase, that of the loop.
pub fn of_node(plan: &Plan, model: &Model, node: &str, phase: &str) -> Option<Formula> {
    if plan.blocks.iter().any(|b| b.name == node) {
        return step(plan, |does| does == "posterior" || does == "mode" || does.starts_with("q(w)"));
    }
    if let Some(hyper) = plan.hypers.iter().find(|h| h.name == node) {
        let own = sbl::plan::updates::is_own(model.typed(), hyper.node);
        let special = match phase {
            "one function at a time" if own => step(plan, |does| does == "the move of largest gain"),
            "one function at a time" => step(plan, |does| does.starts_with("noise and shared")),
            "Newton steps" => step(plan, |does| does == "polish"),
            "learn parameters" => step(plan, |does| does.starts_with("learn ")),
            _ => None,
        };
        let named =
            |does: &str| does.ends_with(&format!(": {node}")) || does.ends_with(&format!(" of {node}"));
        let of = plan
            .steps
            .iter()
            .find(|s| named(&s.does) || s.does == format!("q({node})"))
            .map_or_else(|| "update of precisions".to_owned(), |s| format!("{}; {}", s.does, s.source));
        return special.or_else(|| Some(Formula { text: hyper.formula.clone(), of }));
    }
    if plan.params.iter().any(|p| p.name == node) {
        return step(plan, |does| does.starts_with("learn "))
            .or_else(|| step(plan, |does| does.starts_with("derivative")));
    }
    // a quantity computed from unknowns follows them
    let id = model.typed().find(node)?;
    let dag = model.dag().node(id);
    dag.deterministic
        .then(|| Formula { text: format!("{node} {}", dag.definition), of: "by its definition".to_owned() })
}

/// The formula by which entries of a node went or came.
pub fn of_move(plan: &Plan, model: &Model, node: &str, phase: &str) -> Option<Formula> {
    let pruned = || step(plan, |does| does.starts_with("prune"));
    if phase == "one function at a time" { of_node(plan, model, node, phase) } else { pruned() }
}

fn step(plan: &Plan, is: impl Fn(&str) -> bool) -> Option<Formula> {
    let step: &Step = plan.steps.iter().find(|s| is(&s.does))?;
    Some(Formula { text: step.formula.clone(), of: format!("{}; {}", step.does, step.source) })
}
