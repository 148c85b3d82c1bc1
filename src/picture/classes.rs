//! Probabilities of classes: over one input as curves, over two as a map with the boundary.

use super::ground::{Ground, Part};
use super::{Kind, partial};
use crate::error::Error;
use crate::scene::contour::Grid;
use crate::scene::figure::{Form, Marker};
use crate::scene::{Axis, Colour, Dash, Figure, Layer, Panel, Shape, Stroke};
use crate::session::predictive::Forecast;

/// Points of a curve, and of each side of a map.
const STEPS: usize = 201;
const SIDE: usize = 61;

/// The curve or the map; with more inputs, partial curves.
pub(super) fn figure(ground: &Ground<'_>) -> Result<Figure, Error> {
    let numbers = ground.numbers();
    match (numbers.as_slice(), ground.inputs.len()) {
        (&[x], 1) => curve(ground, x),
        (&[x, y], 2) => map(ground, x, y),
        (_, 0) => {
            Err(ground.fit.no_such_picture(ground.kind, "no column of the data is an input", Kind::Weights))
        }
        _ => {
            let mut figure = partial::figure(ground)?;
            let more = format!("{} inputs are too many for a map. ", ground.inputs.len());
            figure.caption.insert_str(0, &more);
            Ok(figure)
        }
    }
}

/// The first target that has levels.
pub(super) fn with_levels<'a, 'p>(ground: &Ground<'_>, parts: &'a [Part<'p>]) -> Result<&'a Part<'p>, Error> {
    let mut all = parts.iter();
    all.find(|p| matches!(p.forecasts().next(), Some(Forecast::Levels(_))))
        .ok_or_else(|| ground.fit.no_such_picture(ground.kind, "its targets are numbers", Kind::Fit))
}

/// P of every level, for each row.
pub(super) fn probabilities(part: &Part<'_>) -> Vec<Vec<f64>> {
    part.forecasts()
        .map(|f| match f {
            Forecast::Levels(ln_p) => ln_p.iter().map(|p| p.exp()).collect(),
            Forecast::Number(_) => Vec::new(),
        })
        .collect()
}

fn curve(ground: &Ground<'_>, input: usize) -> Result<Figure, Error> {
    let x = ground.steps(input, STEPS, 0.03);
    let predictions = ground.made(STEPS, &|_, r| x.get(r).copied())?;
    let parts = ground.parts(&predictions);
    let part = with_levels(ground, &parts)?;
    let p = probabilities(part);
    let levels = &part.predictive.levels;
    let two = levels.len() == 2;
    let y =
        if two { format!("P({} = {})", part.name, levels[1]) } else { format!("P({} = level)", part.name) };
    let mut panel = Panel::new(Axis::new(&ground.inputs[input].name), Axis::new(&y).within(-0.06, 1.06));
    let curve_of = |k: usize| -> Vec<(f64, f64)> {
        x.iter().zip(&p).map(|(x, p)| (*x, p.get(k).copied().unwrap_or(f64::NAN))).collect()
    };
    if two {
        let stroke = Stroke::dashed(Colour::GREY, 1.0, Dash::Dashed);
        panel.draw(Layer::named("even odds", Shape::Rule { at: 0.5, upright: false, stroke }));
        let stroke = Stroke::solid(Colour::BLUE, 2.0);
        panel.draw(Layer::named(&y, Shape::Line { points: curve_of(1), stroke }));
    } else {
        for (k, level) in levels.iter().enumerate() {
            let stroke = Stroke {
                colour: Colour::SERIES[k % Colour::SERIES.len()],
                width: 2.0,
                dash: Dash::ALL[k % Dash::ALL.len()],
            };
            panel.draw(Layer::named(level, Shape::Line { points: curve_of(k), stroke }));
        }
    }
    // rows on the floor and the ceiling; of more levels on one line each
    let height = |code: f64| {
        let last = levels.len().max(2) as f64 - 1.0;
        if two { code } else { -0.04 + 1.08 * code / last }
    };
    let rows = || ground.values(input).into_iter().zip(ground.targets(part));
    for (k, level) in levels.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            rows().filter(|(_, y)| *y == k as f64).map(|(x, y)| (x, height(y))).collect();
        if !points.is_empty() {
            let form = Form::LEVELS[k % Form::LEVELS.len()];
            let marker = Marker { form, size: 6.0, colour: Colour::BLACK };
            panel.draw(Layer::named(format!("row with {level}"), Shape::Points { points, marker }));
        }
    }
    let curve: Vec<(f64, f64)> = if two { curve_of(1) } else { Vec::new() };
    let vectors = ground.circles(input, part, &height, &curve);
    ring(&mut panel, vectors);
    Ok(Figure {
        title: format!(
            "{}: probability of {} against {}",
            ground.fit.model().name(),
            part.name,
            panel.x.label
        ),
        description: format!("The probability of each level of {} over {}.", part.name, panel.x.label),
        caption: caption(ground, "Probabilities are averaged over the weights."),
        size: (580.0, 400.0),
        panels: vec![panel],
        ..Figure::default()
    })
}

fn map(ground: &Ground<'_>, first: usize, second: usize) -> Result<Figure, Error> {
    let (x, y) = (ground.steps(first, SIDE, 0.05), ground.steps(second, SIDE, 0.05));
    let predictions = ground.made(SIDE * SIDE, &|i, r| {
        if i == first { x.get(r % SIDE).copied() } else { y.get(r / SIDE).copied() }
    })?;
    let parts = ground.parts(&predictions);
    let part = with_levels(ground, &parts)?;
    let p = probabilities(part);
    let grid = |height: &dyn Fn(&[f64]) -> f64| Grid {
        x: x.clone(),
        y: y.clone(),
        height: p.iter().map(|p| height(p)).collect(),
    };
    let levels = &part.predictive.levels;
    let mut panel = Panel::new(
        Axis::new(&ground.inputs[first].name).within(x[0], x[SIDE - 1]),
        Axis::new(&ground.inputs[second].name).within(y[0], y[SIDE - 1]),
    );
    let mut text;
    if levels.len() == 2 {
        let p = grid(&|p| p.get(1).copied().unwrap_or(f64::NAN));
        // light enough for black marks, and darker step by step without colour too
        for step in 1..10 {
            let level = f64::from(step) / 10.0;
            let fill = Colour::BLUE.tint(0.06 * f64::from(step));
            let name = match step {
                1 => Some("10 %".to_owned()),
                5 => Some("50 %".to_owned()),
                9 => Some(format!("90 % for {}", levels[1])),
                _ => None,
            };
            panel.draw(Layer {
                name,
                shape: Shape::Region { grid: p.clone(), level, fill, shade: (step / 3) as u8 },
            });
        }
        for level in [0.25, 0.75] {
            let stroke = Stroke::dashed(Colour::BLACK, 1.0, Dash::Dashed);
            panel.draw(Layer::named("P = ¼ and ¾", Shape::Contour { grid: p.clone(), level, stroke }));
        }
        let stroke = Stroke::solid(Colour::BLACK, 2.0);
        panel.draw(Layer::named("P = ½", Shape::Contour { grid: p, level: 0.5, stroke }));
        text = format!(
            "Shading: P({} = {}), averaged over the weights, in steps of a tenth.",
            part.name, levels[1]
        );
    } else {
        text = format!(
            "Shading: the most probable level of {}, probabilities averaged over the weights.",
            part.name
        );
        for (k, level) in levels.iter().enumerate() {
            // how much more probable than the best of the others
            let lead = grid(&|p| {
                let others = p.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, p)| *p);
                p.get(k).copied().unwrap_or(f64::NAN) - others.fold(f64::NEG_INFINITY, f64::max)
            });
            let fill = Colour::SERIES[k % Colour::SERIES.len()].as_light_as(0.93 - 0.09 * (k % 4) as f64);
            let shade = (k % 4) as u8;
            panel.draw(Layer::named(level, Shape::Region { grid: lead.clone(), level: 0.0, fill, shade }));
            let stroke = Stroke::solid(Colour::BLACK, 1.4);
            panel.draw(Shape::Contour { grid: lead, level: 0.0, stroke });
        }
    }
    points(ground, part, first, second, &mut panel);
    text = caption(ground, &text);
    Ok(Figure {
        title: format!("{}: classes of {}", ground.fit.model().name(), part.name),
        description: format!(
            "A map of the probability of {} over {} and {}, with the boundary, the rows and {} relevance vectors.",
            part.name,
            panel.x.label,
            panel.y.label,
            ground.count_of_vectors()
        ),
        caption: text,
        size: (560.0, 540.0),
        panels: vec![panel],
        ..Figure::default()
    })
}

/// Rows by level, and relevance vectors, in the plane.
pub(super) fn points(ground: &Ground<'_>, part: &Part<'_>, first: usize, second: usize, panel: &mut Panel) {
    let (x, y, t) = (ground.values(first), ground.values(second), ground.targets(part));
    for (k, level) in part.predictive.levels.iter().enumerate() {
        let rows = x.iter().zip(&y).zip(&t).filter(|(_, t)| **t == k as f64);
        let points: Vec<(f64, f64)> = rows.map(|((x, y), _)| (*x, *y)).collect();
        if !points.is_empty() {
            let form = Form::LEVELS[k % Form::LEVELS.len()];
            let marker = Marker { form, size: 5.5, colour: Colour::BLACK };
            panel.draw(Layer::named(format!("{} = {level}", part.name), Shape::Points { points, marker }));
        }
    }
    ring(panel, ground.vectors(first).into_iter().zip(ground.vectors(second)).collect());
}

fn ring(panel: &mut Panel, vectors: Vec<(f64, f64)>) {
    if !vectors.is_empty() {
        let marker = Marker { form: Form::Ring, size: 13.0, colour: Colour::RED };
        panel.draw(Layer::named("relevance vector", Shape::Points { points: vectors, marker }));
    }
}

/// The text, what the rings are, and where the rows come from.
pub(super) fn caption(ground: &Ground<'_>, text: &str) -> String {
    let rings = match ground.count_of_vectors() {
        0 => "",
        _ => " Circled: rows that a kept basis function is centred on.",
    };
    format!("{text}{rings} {}", ground.origin())
}
