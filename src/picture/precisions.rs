//! Precisions on a logarithmic scale, the pruned ones at the edge.

use super::Kind;
use super::names::Names;
use crate::check::typed::NodeId;
use crate::error::Error;
use crate::scene::figure::{Form, Marker};
use crate::scene::ticks::number;
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape};
use crate::session::fit::Fit;
use crate::session::result::NodeResult;

const PANELS: usize = 3;

pub(super) fn figure(fit: &Fit) -> Result<Figure, Error> {
    let typed = fit.model().typed();
    let name = |id: NodeId| typed.nodes.get(id.index()).map_or("", |n| n.name.as_str());
    let names = Names::of(fit);
    let mut single = Vec::new();
    let mut panels = Vec::new();
    let mut unnamed = 0;
    for (id, values) in &fit.posterior().hypers {
        match (values.as_slice(), typed.nodes.get(id.index()).is_some_and(|n| n.ty.shape.is_empty())) {
            ([Some(value)], true) => single.push(format!("{} = {}", name(*id), number(*value))),
            (_, true) => {}
            (values, false) if panels.len() < PANELS => {
                panels.push(panel(fit, (*id, name(*id)), values, &names));
            }
            _ => unnamed += 1,
        }
    }
    if panels.is_empty() {
        let why = "no node of precisions has more than one entry";
        return Err(fit.no_such_picture(Kind::Precisions, why, Kind::Weights));
    }
    let gamma = !fit.posterior().factors.is_empty();
    let mut caption = String::from(if gamma {
        "Posterior means of precisions. A large precision holds its weight at 0."
    } else {
        "Estimates of precisions. At the edge: pruned, the evidence grows as the precision goes to infinity."
    });
    if !single.is_empty() {
        caption.push_str(&format!(" Beside them: {}.", single.join(", ")));
    }
    if unnamed > 0 {
        caption.push_str(&format!(" {unnamed} more nodes are not drawn."));
    }
    let columns = panels.len();
    Ok(Figure {
        title: format!("{}: precisions", fit.model().name()),
        description: "Each precision on a logarithmic scale; those of pruned weights at the upper edge."
            .to_owned(),
        caption,
        columns,
        size: (if columns == 1 { 560.0 } else { 380.0 * columns as f64 }, 380.0),
        panels,
    })
}

fn panel(fit: &Fit, (id, name): (NodeId, &str), values: &[Option<f64>], names: &Names) -> Panel {
    let kept: Vec<(f64, f64)> =
        values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (i as f64 + 1.0, v))).collect();
    let pruned: Vec<usize> = (0..values.len()).filter(|i| values[*i].is_none()).collect();
    let low = kept.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let high = kept.iter().map(|p| p.1).fold(0.0, f64::max);
    let (low, high) = if low.is_finite() && low > 0.0 { (low, high) } else { (1.0, 1.0) };
    // a decade of room, and one for those at infinity
    let top = (high * 30.0).min(1e307);
    let mut y = Axis::new(format!("precision {name}")).log();
    y.range = Some((low / 3.0, if pruned.is_empty() { (high * 3.0).min(1e307) } else { top * 2.0 }));
    let n = values.len() as f64;
    let mut x = Axis::new(format!("entry of {name}")).within(0.5 - 0.02 * n, n + 0.5 + 0.02 * n);
    if values.len() <= 12 {
        // by its name; an entry that has none, or is pruned and forgotten, by its number
        let node = fit.node(name).ok();
        let label = |k: usize| node.as_ref().and_then(|n: &NodeResult| n.labels.as_ref()?.get(k).cloned());
        let is_named = node.as_ref().is_some_and(|n| n.labels.is_some());
        let shown = (0..values.len()).map(|i| {
            let place = kept.iter().position(|(at, _)| *at == i as f64 + 1.0);
            let pruned = || names.entry(id, i, values.len()).filter(|_| is_named);
            (i as f64 + 1.0, place.and_then(label).or_else(pruned).unwrap_or_else(|| (i + 1).to_string()))
        });
        x = x.named(shown.collect());
    }
    let mut panel = Panel::new(x, y);
    panel.title = format!("{name}: {} of {} finite", kept.len(), values.len());
    if !pruned.is_empty() {
        let points = pruned.iter().map(|i| (*i as f64 + 1.0, top)).collect();
        let size = if values.len() > 60 { 5.0 } else { 8.0 };
        let marker = Marker { form: Form::Cross, size, colour: Colour::GREY };
        panel.draw(Layer::named("pruned (infinite)", Shape::Points { points, marker }));
        panel.draw(Shape::Margin { at: top, text: "∞".to_owned() });
    }
    let marker = Marker { form: Form::Disc, size: 7.0, colour: Colour::BLUE };
    panel.draw(Layer::named(
        if pruned.is_empty() { "precision" } else { "kept" },
        Shape::Points { points: kept, marker },
    ));
    panel
}
