//! The plan as text (`sbl plan`).

use super::ir::{Block, Blocks, HyperScale, HyperUpdate, Param, Plan, ScaleExpr, Term, Updates};
use super::options;
use crate::check::dim::Dim;
use crate::check::typed::{ExprId, Model, NodeId, NodeKind};
use crate::graph::build::number_text;
use crate::graph::linear::{affine_in, scale_form};
use crate::graph::walk::{constant, latents, written};

/// The whole plan, for reading.
pub fn text(plan: &Plan, model: &Model) -> String {
    let mut out = format!("plan {}, schedule {}, for the model {}\n", plan.method, plan.schedule, model.name);
    section(&mut out, "why", &plan.why);
    let rejected: Vec<String> =
        plan.rejected.iter().map(|r| format!("{}: {}", r.method, r.because)).collect();
    section(&mut out, "why not", &rejected);
    let blocks: Vec<String> = plan.blocks.iter().map(|b| block_text(model, b)).collect();
    section(&mut out, "weights", &blocks);
    let terms: Vec<String> = plan.terms.iter().map(|t| term_text(model, t)).collect();
    section(&mut out, "likelihood", &terms);
    let hypers: Vec<String> = plan.hypers.iter().map(|h| hyper_text(model, h)).collect();
    section(&mut out, "hyperparameters", &hypers);
    let params: Vec<String> = plan.params.iter().map(|p| param_text(model, p)).collect();
    section(&mut out, "learned parameters", &params);
    if !plan.steps.is_empty() {
        out.push_str("\nloop\n");
        let does = plan.steps.iter().map(|s| s.does.chars().count()).max().unwrap_or(0);
        for (i, step) in plan.steps.iter().enumerate() {
            let number = i + 1;
            out.push_str(&format!("  {number:>2}. {:<does$}  {}\n", step.does, step.formula));
            out.push_str(&format!("      {:<does$}  cost {}; {}\n", "", step.cost, step.source));
        }
    }
    section(&mut out, "objective", &[format!("{} =", plan.objective)]);
    for term in &plan.objective_terms {
        out.push_str(&format!("    {term}\n"));
    }
    section(&mut out, "prune", std::slice::from_ref(&plan.prune));
    section(&mut out, "stop", std::slice::from_ref(&plan.stop));
    section(&mut out, "options", &[options_text(plan)]);
    out
}

/// `N + 1` or `K × M`; `1` for a scalar.
pub fn shape_text(model: &Model, shape: &[Dim]) -> String {
    let name = |id: NodeId| model.node(id).name.clone();
    let dims: Vec<String> = shape.iter().map(|d| d.display(&name).to_string()).collect();
    if dims.is_empty() { "1".to_owned() } else { dims.join(" × ") }
}

/// As in the program: `precision = w.alpha`, `sd = 1 / sqrt(tau)`; a long one by what is in it,
/// `precision ∝ tau · lambda`.
pub fn scale_text(model: &Model, scale: Option<ScaleExpr>) -> String {
    let Some(scale) = scale else { return "flat".to_owned() };
    let name = match scale.power {
        1.0 => "precision",
        -1.0 => "variance",
        -2.0 => "sd",
        _ => "scale",
    };
    if let Some(text) = written(model, scale.value) {
        return format!("{name} = {text}");
    }
    let powers = scale_form(model, scale.value).unwrap_or_default();
    let factors: Vec<String> = powers
        .iter()
        .map(|(id, power)| match *power {
            1.0 => model.node(*id).name.clone(),
            power => format!("{}^{}", model.node(*id).name, number_text(power)),
        })
        .collect();
    if factors.is_empty() { format!("{name} known") } else { format!("{name} ∝ {}", factors.join(" · ")) }
}

/// The scale of a Gaussian likelihood; the other arguments of any other.
pub fn term_scale_text(model: &Model, term: &Term) -> String {
    if let Some(scale) = term.scale {
        return scale_text(model, Some(scale));
    }
    let known = |e: ExprId| written(model, e).unwrap_or_else(|| "known".to_owned());
    let args: Vec<String> = term.args.iter().map(|(name, e)| format!("{name} = {}", known(*e))).collect();
    if args.is_empty() { "no scale".to_owned() } else { args.join(", ") }
}

/// As in the program: `phi * w`; a long one by what is in it, `linear in w, u`; `0` if there is none.
pub fn mean_text(model: &Model, mean: Option<ExprId>) -> String {
    let Some(mean) = mean else { return "0".to_owned() };
    if let Some(text) = written(model, mean) {
        return text;
    }
    let unknown = affine_in(model, mean).unwrap_or_else(|_| latents(model, mean));
    let names: Vec<&str> = unknown.iter().map(|id| model.node(*id).name.as_str()).collect();
    if names.is_empty() { "known".to_owned() } else { format!("linear in {}", names.join(", ")) }
}

/// Shape and rate of a hyperparameter as text.
pub fn prior_text(model: &Model, hyper: &HyperUpdate) -> (String, String) {
    let value = |e: ExprId| match constant(model, e) {
        Some(x) => number_text(x),
        None if latents(model, e).is_empty() => "known".to_owned(),
        None => written(model, e).unwrap_or_else(|| "unknown".to_owned()),
    };
    let rate = value(hyper.rate);
    (value(hyper.shape), if hyper.rate_power < 0.0 { format!("1/{rate}") } else { rate })
}

fn block_text(model: &Model, block: &Block) -> String {
    let shape = shape_text(model, &block.shape);
    match block.scale {
        None => format!("{} ({shape}): flat, integrated out", block.name),
        scale => format!(
            "{} ({shape}): Gaussian, mean {}, {}",
            block.name,
            mean_text(model, block.mean),
            scale_text(model, scale)
        ),
    }
}

fn term_text(model: &Model, term: &Term) -> String {
    let weight = if term.weight.is_some() { ", with case weights" } else { "" };
    format!(
        "{} ({}): {}, {} {}, {}{weight}",
        term.name,
        shape_text(model, &model.node(term.node).ty.shape),
        term.family,
        term.predictor,
        mean_text(model, Some(term.mean)),
        term_scale_text(model, term)
    )
}

fn hyper_text(model: &Model, hyper: &HyperUpdate) -> String {
    let (a, b) = prior_text(model, hyper);
    let shape = shape_text(model, &model.node(hyper.node).ty.shape);
    let prior = if a == "0" && b == "0" {
        "flat on the log scale".to_owned()
    } else {
        format!("prior a = {a}, b = {b}")
    };
    format!(
        "{} ({shape}): in the scale of {}, {prior}; {}",
        hyper.name,
        hyper.scales.join(", "),
        hyper.formula
    )
}

/// Where the search for a parameter starts: as written, or `default`.
pub fn start_text(model: &Model, param: NodeId) -> String {
    match model.node(param).kind {
        NodeKind::Param { start: Some(start) } => {
            written(model, start).unwrap_or_else(|| "as given".to_owned())
        }
        _ => "default".to_owned(),
    }
}

fn param_text(model: &Model, param: &Param) -> String {
    let shape = shape_text(model, &model.node(param.node).ty.shape);
    let search = if param.held {
        "held at its start: the data do not determine it".to_owned()
    } else {
        format!("searched as {}", param.coordinate)
    };
    format!(
        "{} ({shape}): {}, in the distribution of {}, start {}; {search}",
        param.name,
        param.set,
        param.enters.join(", "),
        start_text(model, param.node)
    )
}

fn options_text(plan: &Plan) -> String {
    let o = &plan.options;
    let updates = if o.updates == Updates::Em { "em" } else { "mackay" };
    let scale = if o.hyper_scale == HyperScale::Density { "density" } else { "log" };
    let mut parts = vec![
        format!("max_iter = {}", o.max_iter),
        format!("tol = {}", number_text(o.tol)),
        format!("restarts = {}", o.restarts),
        format!("min_gain = {}", number_text(o.min_gain)),
    ];
    let own = super::method::method(&plan.method).map(options::of).unwrap_or_default();
    let blocks = if o.blocks == Blocks::Separate { "separate" } else { "joint" };
    for (name, value) in [("updates", updates), ("hyper_scale", scale), ("blocks", blocks)] {
        if own.contains(&name) {
            parts.push(format!("{name} = {value}"));
        }
    }
    parts.join(", ")
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.iter().all(String::is_empty) {
        return;
    }
    out.push_str(&format!("\n{title}\n"));
    for line in lines {
        out.push_str(&format!("  {line}\n"));
    }
}
