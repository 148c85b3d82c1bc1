//! Curves over one input each, the others held at their medians: no picture of interactions, and says so.

use super::Kind;
use super::ground::{Ground, Part};
use crate::error::Error;
use crate::scene::figure::{Form, Marker};
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::predictive::Forecast;

const STEPS: usize = 61;
/// Inputs that are drawn: those along which the curve moves most.
const PANELS: usize = 6;

/// Value, and low and high of its band where it has one.
type Height = (f64, Option<(f64, f64)>);

pub(super) fn figure(ground: &Ground<'_>) -> Result<Figure, Error> {
    if ground.inputs.is_empty() {
        let why = "no column of the data is an input";
        return Err(ground.fit.no_such_picture(ground.kind, why, Kind::Weights));
    }
    let mut curves: Vec<(f64, Panel)> = Vec::new();
    let mut target = String::new();
    for input in 0..ground.inputs.len() {
        let levels = ground.inputs[input].levels.as_ref().map(Vec::len);
        let x: Vec<f64> = match levels {
            Some(n) => (0..n).map(|k| k as f64).collect(),
            None => ground.steps(input, STEPS, 0.0),
        };
        let predictions = ground.made(x.len(), &|i, r| if i == input { x.get(r).copied() } else { None })?;
        let parts = ground.parts(&predictions);
        let Some(part) = parts.first() else { continue };
        target = height_name(part);
        let heights: Vec<(f64, Height)> = x.iter().copied().zip(heights(part)).collect();
        let all = heights.iter().map(|(_, h)| h.0).filter(|h| h.is_finite());
        let span = all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min);
        curves.push((span, panel(ground, input, &target, &heights)));
    }
    let total = curves.len();
    curves.sort_by(|a, b| b.0.total_cmp(&a.0));
    curves.truncate(PANELS);
    // one scale for all: a flat curve must look flat
    let [low, high] = curves
        .iter()
        .map(|(_, p)| p.limits()[1])
        .fold([f64::INFINITY, f64::NEG_INFINITY], |m, l| [m[0].min(l.0), m[1].max(l.1)]);
    let panels: Vec<Panel> = curves
        .into_iter()
        .map(|(_, mut panel)| {
            panel.y.range = Some((low, high));
            panel
        })
        .collect();
    let mut caption = "Each panel moves one input from its lowest to its highest value, the others at their \
                       medians (categories at their most frequent level): interactions do not show. Bands: mean ± 2 \
                       deviations of the function."
        .to_owned();
    if total > panels.len() {
        caption
            .push_str(&format!(" The {} of {total} inputs along which the curve moves most.", panels.len()));
    }
    let columns = if panels.len() == 1 { 1 } else { panels.len().div_ceil(2).clamp(2, 3) };
    let rows = panels.len().div_ceil(columns).max(1);
    Ok(Figure {
        title: format!("{}: {target} along one input at a time", ground.fit.model().name()),
        description: format!("{} curves of {target}, one for each input, with bands.", panels.len()),
        caption,
        columns,
        size: (250.0 * columns as f64 + 60.0, 230.0 * rows as f64 + 90.0),
        panels,
    })
}

fn height_name(part: &Part<'_>) -> String {
    match (part.forecasts().next(), part.predictive.latent(0)) {
        (Some(Forecast::Levels(_)), Some(_)) => format!("latent value of {}", part.name),
        (Some(Forecast::Levels(p)), None) if p.len() == 2 => {
            let level = part.predictive.levels.get(1).map_or("", String::as_str);
            format!("P({} = {level})", part.name)
        }
        (Some(Forecast::Levels(_)), None) => {
            let level = part.predictive.levels.first().map_or("", String::as_str);
            format!("P({} = {level})", part.name)
        }
        _ => part.name.clone(),
    }
}

fn heights(part: &Part<'_>) -> Vec<Height> {
    part.entries
        .clone()
        .map(|i| match (part.predictive.forecast(i), part.predictive.latent(i)) {
            (Forecast::Number(m), _) => {
                let sd = m.sd_mean;
                (m.mean, sd.map(|sd| (m.mean - 2.0 * sd, m.mean + 2.0 * sd)))
            }
            (Forecast::Levels(_), Some((mean, sd))) => (mean, Some((mean - 2.0 * sd, mean + 2.0 * sd))),
            (Forecast::Levels(ln_p), None) => {
                let level = usize::from(ln_p.len() == 2);
                (ln_p.get(level).map_or(f64::NAN, |p| p.exp()), None)
            }
        })
        .collect()
}

fn panel(ground: &Ground<'_>, input: usize, target: &str, heights: &[(f64, Height)]) -> Panel {
    let input = &ground.inputs[input];
    let mut x = Axis::new(&input.name);
    let line: Vec<(f64, f64)> = heights.iter().map(|(x, h)| (*x, h.0)).collect();
    let band: Vec<(f64, f64, f64)> =
        heights.iter().filter_map(|(x, h)| h.1.map(|(low, high)| (*x, low, high))).collect();
    if let Some(levels) = &input.levels {
        x = x.named(levels.iter().enumerate().map(|(k, l)| (k as f64, l.clone())).collect());
        x.range = Some((-0.5, levels.len() as f64 - 0.5));
    }
    let mut panel = Panel::new(x, Axis::new(target));
    match &input.levels {
        Some(_) => {
            let stroke = Stroke::solid(Colour::BLUE, 1.6);
            panel.draw(Shape::Whiskers { points: band, upright: true, stroke });
            let marker = Marker { form: Form::Disc, size: 6.0, colour: Colour::BLUE };
            panel.draw(Shape::Points { points: line, marker });
        }
        None => {
            panel.draw(Layer::from(Shape::Band { points: band, fill: Colour::BLUE.tint(0.3), shade: 1 }));
            panel.draw(Shape::Line { points: line, stroke: Stroke::solid(Colour::BLUE, 1.8) });
        }
    }
    panel
}
