//! `:why`: what decides about a node, and why a weight was kept or pruned.

use sbl::check::typed::NodeId;
use sbl::design::Labels;
use sbl::diag::Diagnostic;
use sbl::graph::dag::{Dag, Role};
use sbl::graph::query::markov_blanket;
use sbl::plan::ir::Plan;
use sbl::session::bind::bind_training;
use sbl::session::result::NodeResult;
use sbl::{Fit, Model};

use super::command::usage;
use super::engine::Engine;
use super::formula::of_node;
use super::reply::Reply;
use super::step::settled;
use crate::cli::failure::Failure;
use crate::cli::layout::number;

impl Engine {
    /// `:why NODE` or `:why NODE[i]`
    pub(super) fn why(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        if arguments.is_empty() {
            return Err(usage("why", "found nothing, expected a node"));
        }
        let (name, index) = parse(arguments)?;
        let model = self.model()?;
        let id = model.dag().find(name)?;
        let lines = match index {
            Some(index) => entry(self.fitted()?, name, id, &index, &self.labels(model, id))?,
            None => self.node(model, id)?,
        };
        reply.result(lines.join("\n"));
        Ok(())
    }

    /// The names of the entries of a node, as far as the data tell them.
    fn labels(&self, model: &Model, id: NodeId) -> Vec<String> {
        let Some(data) = &self.state.data else { return Vec::new() };
        let Ok(bound) = bind_training(model.typed(), data) else { return Vec::new() };
        let labels = Labels::of(bound.value.inputs(model.typed()));
        labels.of_node(id).iter().map(ToString::to_string).collect()
    }

    fn node(&self, model: &Model, id: NodeId) -> Result<Vec<String>, Failure> {
        let dag = model.dag();
        let node = dag.node(id);
        let mut lines = vec![format!("{}: {}, {}", self.style.strong(&node.name), node.role.name(), node.ty)];
        if !node.definition.is_empty() {
            let is = if node.role.is_stochastic() { "~" } else { "" };
            lines.push(format!("  {} {is} {}", node.name, node.definition.trim()).replace("  =", " ="));
        }
        lines.extend(conditional(dag, id));
        lines.extend(blanket(dag, id));
        match &self.state.fit {
            Some(fit) => lines.extend(role(&settled(fit)?, model, id)),
            None => match model.plan() {
                Ok(plan) => lines.extend(role(plan, model, id)),
                Err(_) => lines.push("  no plan serves the model yet; `:plan` says why".to_owned()),
            },
        }
        if let Some(fit) = &self.state.fit
            && let Ok(result) = fit.node(&node.name)
        {
            lines.extend(posterior(&node.name, &result));
        }
        Ok(lines)
    }
}

/// `w[12]`: the name, and indices from 1.
fn parse(text: &str) -> Result<(&str, Option<Vec<usize>>), Failure> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('[') else { return Ok((text, None)) };
    let inside = rest.trim_end().strip_suffix(']');
    let indices: Option<Vec<usize>> =
        inside.and_then(|r| r.split(',').map(|i| i.trim().parse().ok()).collect());
    match indices {
        Some(indices) if indices.iter().all(|i| *i > 0) => Ok((name.trim(), Some(indices))),
        _ => Err(usage(
            "why",
            &format!("found `{text}`, expected an entry by its index from 1, such as `w[12]`"),
        )),
    }
}

/// p(node | everything else), by the factors that hold it: its own and those of its children.
fn conditional(dag: &Dag, id: NodeId) -> Option<String> {
    let node = dag.node(id);
    if !matches!(node.role, Role::Hyper | Role::Latent) {
        return None;
    }
    let factor = |id: NodeId| {
        let parents = markov_blanket(dag, id).parents;
        let names: Vec<&str> = parents.iter().map(|p| dag.node(*p).name.as_str()).collect();
        let given = if names.is_empty() { String::new() } else { format!(" | {}", names.join(", ")) };
        format!("p({}{given})", dag.node(id).name)
    };
    let children = markov_blanket(dag, id).children;
    let factors: Vec<String> = std::iter::once(id).chain(children).map(factor).collect();
    Some(format!("  given everything else: p({} | …) ∝ {}", node.name, factors.join(" · ")))
}

fn blanket(dag: &Dag, id: NodeId) -> Vec<String> {
    let blanket = markov_blanket(dag, id);
    let names =
        |ids: &[NodeId]| ids.iter().map(|id| dag.node(*id).name.as_str()).collect::<Vec<_>>().join(", ");
    let parts: Vec<String> =
        [("parents", &blanket.parents), ("children", &blanket.children), ("coparents", &blanket.coparents)]
            .iter()
            .filter(|(_, ids)| !ids.is_empty())
            .map(|(what, ids)| format!("{what} {}", names(ids)))
            .collect();
    vec![format!(
        "  Markov blanket: {}",
        if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
    )]
}

/// What the plan does with a node.
fn role(plan: &Plan, model: &Model, id: NodeId) -> Vec<String> {
    let name = &model.dag().node(id).name;
    let what = if plan.blocks.iter().any(|b| b.node == id) {
        "a block of weights with a Gaussian posterior".to_owned()
    } else if let Some(h) = plan.hypers.iter().find(|h| h.node == id) {
        format!("a hyperparameter, in the scale of {}", h.scales.join(", "))
    } else if let Some(p) = plan.params.iter().find(|p| p.node == id) {
        match p.held {
            true => "a parameter, held at its start: the data do not determine it".to_owned(),
            false => format!("a parameter, learned as {}", p.coordinate),
        }
    } else if let Some(t) = plan.terms.iter().find(|t| t.node == id) {
        format!("a likelihood term, {} with {} linear in {}", t.family, t.predictor, listed(model, &t.blocks))
    } else {
        "nothing to infer".to_owned()
    };
    let mut lines = vec![format!("  in the plan {} ({}): {what}", plan.method, plan.schedule)];
    if !plan.terms.iter().any(|t| t.node == id)
        && let Some(formula) = of_node(plan, model, name, "")
    {
        lines.push(format!("    {}  ({})", formula.text, formula.of));
    }
    lines
}

fn listed(model: &Model, ids: &[NodeId]) -> String {
    let names: Vec<&str> = ids.iter().map(|id| model.dag().node(*id).name.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn posterior(name: &str, node: &NodeResult) -> Option<String> {
    let total: usize = node.shape.iter().product();
    if node.shape.is_empty() {
        let value = node.mean().first().or(node.value().first())?;
        let sd = node.sd().first().map(|sd| format!(" ± {}", number(*sd, 3))).unwrap_or_default();
        return Some(format!("  now: {name} = {}{sd}", number(*value, 5)));
    }
    let what = match (&node.active, &node.relevant) {
        (Some(active), _) => format!("{} of {total} kept", active.len()),
        (None, Some(relevant)) => format!("{} of {total} relevant (q² > s)", relevant.len()),
        (None, None) => return None,
    };
    Some(format!("  now: {what}; `:why {name}[i]` tells why"))
}

/// Why an entry of a block was kept or pruned.
fn entry(
    fit: &Fit,
    name: &str,
    id: NodeId,
    index: &[usize],
    labels: &[String],
) -> Result<Vec<String>, Failure> {
    let wrong = |what: String, help: &str| Failure::from(Diagnostic::error("E0791", what).help(help));
    let node = fit.node(name)?;
    let at = match (node.shape.as_slice(), index) {
        ([n], [i]) if i <= n => i - 1,
        // column-major
        ([rows, cols], [i, j]) if i <= rows && j <= cols => (i - 1) + (j - 1) * rows,
        (shape, _) => {
            let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
            let shape =
                if shape.is_empty() { "a scalar".to_owned() } else { format!("[{}]", shape.join(", ")) };
            let index: Vec<String> = index.iter().map(ToString::to_string).collect();
            let what = format!("`{name}` has no entry [{}]: it is {shape}", index.join(", "));
            return Err(wrong(what, "indices count from 1"));
        }
    };
    let Some(block) = fit.posterior().block(id).filter(|b| b.len == node.shape.iter().product::<usize>())
    else {
        return Err(wrong(
            format!("`{name}` has no weights that are kept or pruned"),
            "ask for an entry of a latent node",
        ));
    };
    let get = |v: &[Option<f64>]| v.get(at).copied().flatten();
    let (q, s, gain) = (get(&block.q), get(&block.s), get(&block.gain));
    let kept = block.active.binary_search(&at).ok();
    let shown: Vec<String> = index.iter().map(ToString::to_string).collect();
    let label = labels.get(at).map(|l| format!(" ({l})")).unwrap_or_default();
    let mut lines = vec![format!(
        "{name}[{}]{label}: {}",
        shown.join(", "),
        if kept.is_some() { "kept" } else { "pruned" }
    )];
    if let Some(k) = kept {
        let n = fit.posterior().mean.len();
        let i = block.start + k;
        let mean = fit.posterior().mean.get(i).copied().unwrap_or(f64::NAN);
        let sd = fit.posterior().covariance.get(i + n * i).copied().unwrap_or(f64::NAN).sqrt();
        lines.push(format!("  {name}[{}] = {} ± {}", shown.join(", "), number(mean, 4), number(sd, 3)));
    }
    let merged = fit.result().report.merged.iter().find(|m| m.node == name);
    let (Some(q), Some(s)) = (q, s) else {
        lines.push(match merged {
            Some(m) if kept.is_none() => format!(
                "  its column is parallel to that of {}, which stands for {} too",
                m.kept,
                m.dropped.join(", ")
            ),
            _ => "  it has no precision of its own, so nothing can prune it".to_owned(),
        });
        return Ok(lines);
    };
    let (q2, ratio) = (q * q, q * q / s);
    lines.push(format!(
        "  quality q² = {}, sparsity s = {}, q²/s = {}",
        number(q2, 4),
        number(s, 4),
        number(ratio, 3)
    ));
    let min_gain = fit.model().plan().map_or(0.0, |p| p.options.min_gain);
    match (kept.is_some(), q2 > s) {
        (true, true) => {
            // Tipping and Faul (2003), (20)
            lines.push(format!(
                "  q² > s: the evidence has a maximum at the precision s²/(q² − s) = {}",
                number(s * s / (q2 - s), 4)
            ));
            lines.extend(gain.map(|g| format!("  it earns {} nats of evidence", number(g, 3))));
        }
        (false, true) => {
            // ½ (r − 1 − ln r), r = q²/s
            let would = gain.unwrap_or(0.5 * (ratio - 1.0 - ratio.ln()));
            lines.push(format!(
                "  q² > s, but it would earn {} nats, and min_gain asks for {}",
                number(would, 3),
                number(min_gain, 3)
            ));
        }
        (false, false) => {
            lines.push(
                "  q² ≤ s: the evidence rises all the way as its precision goes to ∞, so the weight is 0"
                    .to_owned(),
            );
        }
        (true, false) => {
            lines.push("  q² ≤ s: it is not relevant, and stays with a finite precision because its prior is proper, or the fit is not finished".to_owned());
        }
    }
    Ok(lines)
}
