//! A number against one input: mean, bands of the function and of a new observation, relevance vectors.

use super::ground::{Ground, Part};
use super::{Kind, observed, partial};
use crate::error::Error;
use crate::scene::figure::{Form, Marker};
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::predictive::Forecast;

const STEPS: usize = 201;
/// Panels beyond this are not drawn.
const PANELS: usize = 4;

/// The curve; with more inputs, observed against predicted, or partial curves.
pub(super) fn figure(ground: &Ground<'_>) -> Result<Figure, Error> {
    let other = ground.fit.natural_kind();
    if other != Kind::Fit {
        return Err(ground.fit.no_such_picture(ground.kind, "its targets are levels, not numbers", other));
    }
    let numbers = ground.numbers();
    let (&[input], 1) = (numbers.as_slice(), ground.inputs.len()) else {
        return match &ground.given {
            Some(given) if given.targets => observed::figure(ground),
            _ if !ground.inputs.is_empty() => partial::figure(ground),
            _ => Err(ground.fit.no_rows(ground.kind, "observed against predicted")),
        };
    };
    let x = ground.steps(input, STEPS, 0.0);
    let predictions = ground.made(STEPS, &|_, r| x.get(r).copied())?;
    let parts = ground.parts(&predictions);
    let wanted: Vec<&Part<'_>> =
        parts.iter().filter(|p| matches!(p.forecasts().next(), Some(Forecast::Number(_)))).collect();
    if wanted.is_empty() {
        return Err(ground.fit.no_such_picture(ground.kind, "it predicts no number", Kind::Weights));
    }
    let name = ground.fit.model().name();
    let list: Vec<&str> = wanted.iter().take(PANELS).map(|p| p.name.as_str()).collect();
    let mut caption = String::from("Bands: mean ± 2 deviations. ");
    if ground.count_of_vectors() > 0 {
        caption.push_str("Circled: rows that a kept basis function is centred on. ");
    }
    caption.push_str(&ground.origin());
    if wanted.len() > PANELS {
        caption.push_str(&format!(" {} more targets are not drawn.", wanted.len() - PANELS));
    }
    let several = wanted.len() > 1;
    let panels: Vec<Panel> =
        wanted.into_iter().take(PANELS).map(|part| panel(ground, input, &x, part, several)).collect();
    Ok(Figure {
        title: format!("{name}: {} against {}", list.join(", "), ground.inputs[input].name),
        description: format!(
            "Predictive mean of {} over {} with a band of two deviations for the function and one for a new \
             observation; {} relevance vectors.",
            list.join(", "),
            ground.inputs[input].name,
            ground.count_of_vectors()
        ),
        caption,
        columns: if several { 2 } else { 1 },
        size: if several { (760.0, 340.0 * panels.len().div_ceil(2) as f64 + 60.0) } else { (580.0, 420.0) },
        panels,
    })
}

fn panel(ground: &Ground<'_>, input: usize, x: &[f64], part: &Part<'_>, several: bool) -> Panel {
    let mut panel = Panel::new(Axis::new(&ground.inputs[input].name), Axis::new(&part.name));
    if several {
        panel.title = part.name.clone();
    }
    let (mut line, mut new, mut function) = (Vec::new(), Vec::new(), Vec::new());
    for (x, forecast) in x.iter().zip(part.forecasts()) {
        let Forecast::Number(m) = forecast else { continue };
        line.push((*x, m.mean));
        new.push((*x, m.mean - 2.0 * m.sd, m.mean + 2.0 * m.sd));
        if let Some(sd) = m.sd_mean {
            function.push((*x, m.mean - 2.0 * sd, m.mean + 2.0 * sd));
        }
    }
    panel.draw(Layer::named(
        "new observation",
        Shape::Band { points: new, fill: Colour::SKY.tint(0.28), shade: 1 },
    ));
    if !function.is_empty() {
        panel.draw(Layer::named(
            "function",
            Shape::Band { points: function, fill: Colour::BLUE.tint(0.42), shade: 2 },
        ));
    }
    let vectors = ground.circles(input, part, &|y| y, &line);
    panel.draw(Layer::named("mean", Shape::Line { points: line, stroke: Stroke::solid(Colour::BLUE, 2.0) }));
    let rows: Vec<(f64, f64)> = ground.values(input).into_iter().zip(ground.targets(part)).collect();
    if !rows.is_empty() {
        let size = if rows.len() > 400 { 2.5 } else { 4.0 };
        let marker = Marker { form: Form::Disc, size, colour: Colour::BLACK };
        panel.draw(Layer::named("observed", Shape::Points { points: rows, marker }));
    }
    if !vectors.is_empty() {
        let marker = Marker { form: Form::Ring, size: 11.0, colour: Colour::RED };
        panel.draw(Layer::named("relevance vector", Shape::Points { points: vectors, marker }));
    }
    panel
}
