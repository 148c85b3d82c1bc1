//! Ordered levels: the latent value and the cutpoints between which each level lies.

use super::classes::{caption, points, probabilities, with_levels};
use super::ground::{Ground, Part};
use super::{Kind, partial};
use crate::error::Error;
use crate::scene::contour::Grid;
use crate::scene::figure::{Form, Marker};
use crate::scene::{Axis, Colour, Dash, Figure, Layer, Panel, Shape, Stroke};

const STEPS: usize = 161;
const SIDE: usize = 61;

/// A curve, a map, or the rows in the order of their latent value.
pub(super) fn figure(ground: &Ground<'_>) -> Result<Figure, Error> {
    let numbers = ground.numbers();
    match (numbers.as_slice(), ground.inputs.len()) {
        (&[x], 1) => curve(ground, x),
        (&[x, y], 2) => map(ground, x, y),
        (_, 0) => {
            Err(ground.fit.no_such_picture(ground.kind, "no column of the data is an input", Kind::Weights))
        }
        _ if ground.given.as_ref().is_some_and(|g| g.targets) => sorted(ground),
        _ => partial::figure(ground),
    }
}

/// The cutpoints of a part whose latent value is known.
fn cutpoints(ground: &Ground<'_>, part: &Part<'_>) -> Result<Vec<f64>, Error> {
    match (part.predictive.cutpoints(), part.predictive.latent(part.entries.start)) {
        (Some(cuts), Some(_)) => Ok(cuts.to_vec()),
        _ => Err(ground.fit.no_such_picture(ground.kind, "its levels are not ordered", Kind::Classes)),
    }
}

fn latent(part: &Part<'_>) -> Vec<(f64, f64)> {
    part.entries.clone().map(|i| part.predictive.latent(i).unwrap_or((f64::NAN, f64::NAN))).collect()
}

/// Rules at the cutpoints, the levels named beside them.
fn bands(panel: &mut Panel, cuts: &[f64], levels: &[String]) {
    let stroke = Stroke::dashed(Colour::BLACK, 1.2, Dash::Dashed);
    for cut in cuts {
        panel.draw(Layer::named("cutpoint", Shape::Rule { at: *cut, upright: false, stroke }));
    }
    for (level, at) in levels.iter().zip(middles(cuts)) {
        panel.draw(Shape::Margin { at, text: level.clone() });
    }
}

/// A height inside the band of each level.
fn middles(cuts: &[f64]) -> Vec<f64> {
    let (Some(first), Some(last)) = (cuts.first(), cuts.last()) else { return vec![0.0] };
    let width = if cuts.len() > 1 { (last - first) / (cuts.len() - 1) as f64 } else { 1.0 };
    let inner = cuts.windows(2).map(|w| (w[0] + w[1]) / 2.0);
    std::iter::once(first - 0.5 * width).chain(inner).chain([last + 0.5 * width]).collect()
}

fn curve(ground: &Ground<'_>, input: usize) -> Result<Figure, Error> {
    let x = ground.steps(input, STEPS, 0.02);
    let predictions = ground.made(STEPS, &|_, r| x.get(r).copied())?;
    let parts = ground.parts(&predictions);
    let part = with_levels(ground, &parts)?;
    let cuts = cutpoints(ground, part)?;
    let levels = &part.predictive.levels;
    let name = &ground.inputs[input].name;
    let mut upper = Panel::new(Axis::new(name), Axis::new(format!("latent value of {}", part.name)));
    upper.title = "latent value and cutpoints".to_owned();
    let f = latent(part);
    let band = x.iter().zip(&f).map(|(x, (m, sd))| (*x, m - 2.0 * sd, m + 2.0 * sd)).collect();
    upper.draw(Layer::named(
        "± 2 deviations",
        Shape::Band { points: band, fill: Colour::BLUE.tint(0.25), shade: 1 },
    ));
    bands(&mut upper, &cuts, levels);
    let line: Vec<(f64, f64)> = x.iter().zip(&f).map(|(x, (m, _))| (*x, *m)).collect();
    let stroke = Stroke::solid(Colour::BLUE, 2.0);
    upper.draw(Layer::named("mean", Shape::Line { points: line.clone(), stroke }));
    let at = middles(&cuts);
    let height = |code: f64| at.get(code as usize).copied().unwrap_or(f64::NAN);
    let rows: Vec<(f64, f64)> =
        ground.values(input).into_iter().zip(ground.targets(part)).map(|(x, y)| (x, height(y))).collect();
    if !rows.is_empty() {
        let marker = Marker { form: Form::Hollow, size: 5.0, colour: Colour::BLACK };
        upper.draw(Layer::named("row, in the band of its level", Shape::Points { points: rows, marker }));
    }
    let vectors = ground.circles(input, part, &height, &line);
    if !vectors.is_empty() {
        let marker = Marker { form: Form::Ring, size: 12.0, colour: Colour::RED };
        upper.draw(Layer::named("relevance vector", Shape::Points { points: vectors, marker }));
    }
    let mut lower = Panel::new(Axis::new(name), Axis::new("probability").within(0.0, 1.0));
    lower.title = "probability of each level, stacked from the lowest".to_owned();
    let p = probabilities(part);
    let below = |row: &[f64], k: usize| row.iter().take(k).sum::<f64>();
    for (k, level) in levels.iter().enumerate() {
        let points = x.iter().zip(&p).map(|(x, row)| (*x, below(row, k), below(row, k + 1))).collect();
        let share = k as f64 / (levels.len().max(2) - 1) as f64;
        let shade = (share * 3.0).round() as u8;
        lower.draw(Layer::named(
            level,
            Shape::Band { points, fill: Colour::BLUE.tint(0.08 + 0.7 * share), shade },
        ));
        if k > 0 {
            let points = x.iter().zip(&p).map(|(x, row)| (*x, below(row, k))).collect();
            lower.draw(Shape::Line { points, stroke: Stroke::solid(Colour::WHITE, 1.5) });
        }
    }
    Ok(Figure {
        title: format!("{}: levels of {} against {name}", ground.fit.model().name(), part.name),
        description: format!(
            "The latent value of {} over {name} with {} cutpoints, and the probability of each level.",
            part.name,
            cuts.len()
        ),
        caption: caption(ground, "A level is likely where the latent value lies between its cutpoints."),
        columns: 1,
        size: (600.0, 640.0),
        panels: vec![upper, lower],
    })
}

fn map(ground: &Ground<'_>, first: usize, second: usize) -> Result<Figure, Error> {
    let (x, y) = (ground.steps(first, SIDE, 0.05), ground.steps(second, SIDE, 0.05));
    let predictions = ground.made(SIDE * SIDE, &|i, r| {
        if i == first { x.get(r % SIDE).copied() } else { y.get(r / SIDE).copied() }
    })?;
    let parts = ground.parts(&predictions);
    let part = with_levels(ground, &parts)?;
    let cuts = cutpoints(ground, part)?;
    let levels = &part.predictive.levels;
    let mut panel = Panel::new(
        Axis::new(&ground.inputs[first].name).within(x[0], x[SIDE - 1]),
        Axis::new(&ground.inputs[second].name).within(y[0], y[SIDE - 1]),
    );
    let grid = Grid { x, y, height: latent(part).into_iter().map(|(m, _)| m).collect() };
    for (k, level) in levels.iter().enumerate() {
        let from = if k == 0 { f64::MIN } else { cuts.get(k - 1).copied().unwrap_or(f64::INFINITY) };
        let share = k as f64 / (levels.len().max(2) - 1) as f64;
        let (fill, shade) = (Colour::BLUE.tint(0.04 + 0.5 * share), (share * 3.0).round() as u8);
        let shape = Shape::Region { grid: grid.clone(), level: from, fill, shade };
        panel.draw(Layer::named(format!("band of {level}"), shape));
    }
    for cut in &cuts {
        let stroke = Stroke::solid(Colour::BLACK, 1.6);
        panel.draw(Layer::named("cutpoint", Shape::Contour { grid: grid.clone(), level: *cut, stroke }));
    }
    points(ground, part, first, second, &mut panel);
    Ok(Figure {
        title: format!("{}: levels of {}", ground.fit.model().name(), part.name),
        description: format!(
            "The plane of {} and {} in bands, one for each level of {}, where the latent mean lies between its cutpoints.",
            panel.x.label, panel.y.label, part.name
        ),
        caption: caption(
            ground,
            "Bands: where the mean of the latent value lies between the cutpoints of a level.",
        ),
        size: (580.0, 580.0),
        panels: vec![panel],
        ..Figure::default()
    })
}

/// Many inputs: the given rows in the order of their latent value.
fn sorted(ground: &Ground<'_>) -> Result<Figure, Error> {
    let given = ground.rows("rows in the order of their latent value")?;
    let predictions = ground.at_given(given)?;
    let parts = ground.parts(&predictions);
    let part = with_levels(ground, &parts)?;
    let cuts = cutpoints(ground, part)?;
    let levels = &part.predictive.levels;
    let mut rows: Vec<((f64, f64), f64)> = latent(part).into_iter().zip(ground.targets(part)).collect();
    rows.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let mut panel = Panel::new(
        Axis::new("rows in the order of their latent value"),
        Axis::new(format!("latent value of {}", part.name)),
    );
    let at = |i: usize| i as f64 + 1.0;
    let whiskers =
        rows.iter().enumerate().map(|(i, ((m, sd), _))| (at(i), m - 2.0 * sd, m + 2.0 * sd)).collect();
    let stroke = Stroke::solid(Colour::SKY.tint(0.6), 1.0);
    panel.draw(Layer::named("± 2 deviations", Shape::Whiskers { points: whiskers, upright: true, stroke }));
    bands(&mut panel, &cuts, levels);
    for (k, level) in levels.iter().enumerate() {
        let some = rows.iter().enumerate().filter(|(_, (_, y))| *y == k as f64);
        let points: Vec<(f64, f64)> = some.map(|(i, ((m, _), _))| (at(i), *m)).collect();
        if !points.is_empty() {
            let form = Form::LEVELS[k % Form::LEVELS.len()];
            let marker = Marker { form, size: 5.5, colour: Colour::BLACK };
            panel.draw(Layer::named(format!("{} = {level}", part.name), Shape::Points { points, marker }));
        }
    }
    Ok(Figure {
        title: format!("{}: levels of {}", ground.fit.model().name(), part.name),
        description: format!(
            "Rows by their latent value, between {} cutpoints, marked by observed level.",
            cuts.len()
        ),
        caption: format!(
            "{} inputs are too many for a curve or a map: each row stands at its latent value, marked by the level \
             that was observed; the bands are named at the right. {}",
            ground.inputs.len(),
            ground.origin()
        ),
        size: (640.0, 460.0),
        panels: vec![panel],
        ..Figure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_a_height_in_its_band() {
        assert_eq!(middles(&[-1.0, 1.0, 2.0]), [-1.75, 0.0, 1.5, 2.75]);
        assert_eq!(middles(&[0.3]), [-0.2, 0.8]);
        assert_eq!(middles(&[]), [0.0]);
    }
}
