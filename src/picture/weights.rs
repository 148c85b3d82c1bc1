//! Weights with their deviations, the surest first.

use super::Kind;
use crate::error::Error;
use crate::scene::figure::{Form, GUIDE, Marker};
use crate::scene::ticks::number;
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::fit::Fit;
use crate::session::result::{NodeResult, Role};

/// Weights of a panel; more cannot be read.
const SHOWN: usize = 24;
const PANELS: usize = 3;

struct Weight {
    label: String,
    mean: f64,
    sd: f64,
    /// Whether the data support it: always, where the others are pruned.
    relevant: bool,
}

pub(super) fn figure(fit: &Fit) -> Result<Figure, Error> {
    let latent: Vec<(String, NodeResult)> = fit
        .result()
        .nodes
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), serde_json::from_value(value.clone()).ok()?)))
        .filter(|(_, node): &(String, NodeResult)| {
            node.role == Role::Latent && node.posterior.as_deref() == Some("normal")
        })
        .collect();
    let (single, many): (Vec<_>, Vec<_>) = latent.into_iter().partition(|(_, node)| node.shape.is_empty());
    let mut groups: Vec<(String, Vec<Weight>)> =
        many.iter().map(|(name, node)| (heading(name, node), weights(name, node))).collect();
    if groups.is_empty() {
        let all = single.iter().flat_map(|(name, node)| weights(name, node)).collect();
        groups.push(("effects".to_owned(), all));
    }
    groups.retain(|(_, w)| !w.is_empty());
    if groups.is_empty() {
        return Err(fit.no_such_picture(Kind::Weights, "no weight is left in the model", Kind::Trace));
    }
    let mut caption = String::from("Posterior mean ± 2 deviations, in the order of |mean| / deviation.");
    if !many.is_empty() && !single.is_empty() {
        let text = |(name, node): &(String, NodeResult)| {
            let (mean, sd) = (node.mean().first()?, node.sd().first()?);
            Some(format!("{name} = {} ± {} (1 deviation)", number(*mean), number(*sd)))
        };
        let list: Vec<String> = single.iter().filter_map(text).collect();
        caption.push_str(&format!(" Beside them: {}.", list.join(", ")));
    }
    if groups.iter().any(|(_, w)| w.iter().any(|w| !w.relevant)) {
        caption.push_str(" Hollow: q² ≤ s, not relevant.");
    }
    let hidden: usize = groups.iter().map(|(_, w)| w.len().saturating_sub(SHOWN)).sum();
    if hidden > 0 {
        caption.push_str(&format!(" {hidden} more weights are not drawn."));
    }
    if groups.len() > PANELS {
        caption.push_str(&format!(" {} more nodes are not drawn.", groups.len() - PANELS));
    }
    groups.truncate(PANELS);
    let longest = groups.iter().map(|(_, w)| w.len().min(SHOWN)).max().unwrap_or(1);
    let columns = groups.len();
    let list: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    Ok(Figure {
        title: format!("{}: weights", fit.model().name()),
        description: format!("{}; each with its posterior mean and deviation.", list.join("; ")),
        caption,
        columns,
        size: (
            if columns == 1 { 520.0 } else { 340.0 * columns as f64 },
            20.0 * longest.max(4) as f64 + 150.0,
        ),
        panels: groups.iter().map(|(title, weights)| panel(title, weights)).collect(),
    })
}

fn heading(name: &str, node: &NodeResult) -> String {
    let all: usize = node.shape.iter().product();
    let kept = node.mean().len();
    match (&node.active, &node.relevant) {
        (Some(_), _) => format!("{name}: {kept} of {all} kept"),
        (None, Some(relevant)) => format!("{name}: {} of {all} relevant", relevant.len()),
        _ => format!("{name}: {all} weights"),
    }
}

fn weights(name: &str, node: &NodeResult) -> Vec<Weight> {
    let kept = node.mean().len();
    let entry = |k: usize| node.active.as_ref().and_then(|a| a.get(k).copied()).unwrap_or(k);
    let label = |k: usize| match node.labels.as_ref().and_then(|l| l.get(k)) {
        Some(label) => label.clone(),
        None if node.shape.is_empty() => name.to_owned(),
        None => format!("{name}[{}]", entry(k) + 1),
    };
    let mut all: Vec<Weight> = (0..kept)
        .map(|k| Weight {
            label: label(k),
            mean: node.mean()[k],
            sd: node.sd().get(k).copied().unwrap_or(f64::NAN),
            relevant: node.relevant.as_ref().is_none_or(|r| r.contains(&entry(k))),
        })
        .collect();
    let size = |w: &Weight| if w.sd > 0.0 { w.mean.abs() / w.sd } else { f64::INFINITY };
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    all
}

fn panel(title: &str, weights: &[Weight]) -> Panel {
    let shown = &weights[..weights.len().min(SHOWN)];
    let at = |k: usize| (shown.len() - k) as f64;
    let names = shown.iter().enumerate().map(|(k, w)| (at(k), w.label.clone())).collect();
    let y = Axis::new("").named(names).within(0.4, shown.len() as f64 + 0.6);
    let mut panel = Panel::new(Axis::new("weight"), y);
    panel.title = title.to_owned();
    panel.draw(Shape::Rule { at: 0.0, upright: true, stroke: GUIDE });
    let whiskers =
        shown.iter().enumerate().map(|(k, w)| (at(k), w.mean - 2.0 * w.sd, w.mean + 2.0 * w.sd)).collect();
    panel.draw(Shape::Whiskers {
        points: whiskers,
        upright: false,
        stroke: Stroke::solid(Colour::BLUE, 1.6),
    });
    for (relevant, form) in [(true, Form::Disc), (false, Form::Hollow)] {
        let some = shown.iter().enumerate().filter(|(_, w)| w.relevant == relevant);
        let points: Vec<(f64, f64)> = some.map(|(k, w)| (w.mean, at(k))).collect();
        if !points.is_empty() {
            let marker = Marker { form, size: 7.0, colour: Colour::BLUE };
            panel.draw(Layer::from(Shape::Points { points, marker }));
        }
    }
    panel
}
