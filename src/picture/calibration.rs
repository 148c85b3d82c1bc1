//! Whether probabilities and intervals hold what they promise, on given rows.

use super::ground::{Ground, Part};
use crate::error::Error;
use crate::scene::figure::{Form, GUIDE, Marker};
use crate::scene::ticks::number;
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::predict::most_probable;
use crate::session::predictive::Forecast;

const BINS: usize = 10;
/// Counts above this are not summed up to.
const COUNTS: f64 = 5000.0;
/// 95 % of a normal distribution lie within this many deviations.
const Z: f64 = 1.959_963_984_540_054;

pub(super) fn figure(ground: &Ground<'_>) -> Result<Figure, Error> {
    let given = ground.rows("predictions beside what happened")?;
    let predictions = ground.at_given(given)?;
    let mut panels = Vec::new();
    let mut caption = String::new();
    let mut list = Vec::new();
    for part in ground.parts(&predictions).iter().take(2) {
        let targets = ground.targets(part);
        let rows: Vec<(usize, f64)> =
            part.entries.clone().zip(targets).filter(|(_, y)| y.is_finite()).collect();
        if rows.is_empty() {
            continue;
        }
        list.push(part.name.clone());
        let levels = matches!(part.forecasts().next(), Some(Forecast::Levels(_)));
        let note = if levels { classes(part, &rows, &mut panels) } else { numbers(part, &rows, &mut panels) };
        if !caption.contains(&note) {
            caption.push_str(&note);
            caption.push(' ');
        }
    }
    if panels.is_empty() {
        return Err(ground.fit.no_rows(ground.kind, "predictions beside what happened"));
    }
    caption.push_str(&ground.origin());
    if given.training {
        caption.push_str(" On rows that were held out the agreement will be less good.");
    }
    let rows = panels.len().div_ceil(2);
    Ok(Figure {
        title: format!("{}: calibration of {}", ground.fit.model().name(), list.join(", ")),
        description: "Predicted probabilities beside observed shares, with 95 % intervals.".to_owned(),
        caption,
        columns: 2.min(panels.len()),
        size: (760.0, 350.0 * rows as f64 + 70.0),
        panels,
    })
}

/// Reliability (Murphy and Winkler 1977): the share that came true against the probability, in bins.
fn classes(part: &Part<'_>, rows: &[(usize, f64)], panels: &mut Vec<Panel>) -> String {
    let two = part.predictive.levels.len() == 2;
    let mut said: Vec<(f64, bool)> = Vec::new();
    for (i, y) in rows {
        let Forecast::Levels(ln_p) = part.predictive.forecast(*i) else { continue };
        let level = if two { 1 } else { most_probable(&ln_p) };
        said.push((ln_p.get(level).map_or(f64::NAN, |p| p.exp()), level as f64 == *y));
    }
    let what = match (two, part.predictive.levels.get(1)) {
        (true, Some(level)) => format!("P({} = {level})", part.name),
        _ => format!("probability of the likeliest {}", part.name),
    };
    let (mut points, mut whiskers, mut bars) = (Vec::new(), Vec::new(), Vec::new());
    for b in 0..BINS {
        let of = |p: f64| ((p * BINS as f64) as usize).min(BINS - 1);
        let inside: Vec<&(f64, bool)> = said.iter().filter(|(p, _)| of(*p) == b).collect();
        let n = inside.len() as f64;
        bars.push((b as f64 / BINS as f64, (b + 1) as f64 / BINS as f64, n));
        if n > 0.0 {
            let predicted = inside.iter().map(|(p, _)| p).sum::<f64>() / n;
            let share = inside.iter().filter(|(_, came)| *came).count() as f64 / n;
            let (low, high) = wilson(share, n);
            points.push((predicted, share));
            whiskers.push((predicted, low, high));
        }
    }
    let mut panel = Panel::new(
        Axis::new(&what).within(-0.02, 1.02),
        Axis::new("share that came true").within(-0.02, 1.02),
    );
    panel.title = format!("reliability, {} rows", said.len());
    panel.draw(Layer::named("perfect", Shape::Line { points: vec![(0.0, 0.0), (1.0, 1.0)], stroke: GUIDE }));
    panel.draw(Shape::Whiskers { points: whiskers, upright: true, stroke: Stroke::solid(Colour::BLUE, 1.4) });
    let marker = Marker { form: Form::Disc, size: 7.0, colour: Colour::BLUE };
    panel.draw(Layer::named("bin, with its 95 % interval", Shape::Points { points, marker }));
    panels.push(panel);
    let mut panel = Panel::new(Axis::new(&what).within(-0.02, 1.02), Axis::new("rows"));
    panel.title = "how often each was said".to_owned();
    panel.draw(Shape::Bars { points: bars, fill: Colour::SKY.tint(0.8) });
    panels.push(panel);
    "Rows in ten bins of the probability; intervals of Wilson (1927).".to_owned()
}

/// Uniform if the predictive distribution is right (Dawid 1984); of counts the non-randomised form
/// (Czado, Gneiting and Held 2009).
fn numbers(part: &Part<'_>, rows: &[(usize, f64)], panels: &mut Vec<Panel>) -> String {
    let mut ranks: Vec<(f64, f64)> = Vec::new();
    let mut continuous = true;
    let mut left_out = 0;
    for (i, y) in rows {
        match part.predictive.distribution(*i, *y) {
            Some(f) => ranks.push((f, f)),
            None if *y <= COUNTS => {
                continuous = false;
                let p = |k: usize| part.predictive.log_density(*i, k as f64).map_or(f64::NAN, f64::exp);
                let below: f64 = (0..*y as usize).map(p).sum();
                ranks.push((below.min(1.0), (below + p(*y as usize)).min(1.0)));
            }
            None => left_out += 1,
        }
    }
    ranks.retain(|(a, b)| a.is_finite() && b.is_finite());
    let n = ranks.len().max(1) as f64;
    // share of a row's mass below u, uniform between its two ranks
    let below = |u: f64| {
        let one = |(a, b): &(f64, f64)| {
            if b > a { ((u - a) / (b - a)).clamp(0.0, 1.0) } else { f64::from(u8::from(*a <= u)) }
        };
        ranks.iter().map(one).sum::<f64>() / n
    };
    let edge = |b: usize| b as f64 / BINS as f64;
    let bars: Vec<(f64, f64, f64)> = (0..BINS)
        .map(|b| {
            let low = if b == 0 { 0.0 } else { below(edge(b)) };
            (edge(b), edge(b + 1), (below(edge(b + 1)) - low) * BINS as f64)
        })
        .collect();
    let share = 1.0 / BINS as f64;
    let room = Z * (share * (1.0 - share) / n).sqrt() * BINS as f64;
    let mut panel = Panel::new(
        Axis::new(format!("P({0} ≤ observed {0})", part.name)).within(0.0, 1.0),
        Axis::new("density"),
    );
    panel.title = format!("probability integral transform, {} rows", ranks.len());
    panel.draw(Shape::Bars { points: bars, fill: Colour::SKY.tint(0.8) });
    panel.draw(Layer::named(
        "uniform",
        Shape::Rule { at: 1.0, upright: false, stroke: Stroke::solid(Colour::BLACK, 1.2) },
    ));
    for at in [1.0 - room, 1.0 + room] {
        if at > 0.0 {
            panel
                .draw(Layer::named("95 % range of a bar", Shape::Rule { at, upright: false, stroke: GUIDE }));
        }
    }
    panels.push(panel);
    if continuous {
        let steps: Vec<f64> = (0..=50).map(|i| f64::from(i) / 50.0).collect();
        let inside = |c: f64| ranks.iter().filter(|(f, _)| (2.0 * f - 1.0).abs() <= c).count() as f64 / n;
        let range = |c: f64| {
            let half = Z * (c * (1.0 - c) / n).sqrt();
            (c, (c - half).max(0.0), (c + half).min(1.0))
        };
        let mut panel = Panel::new(
            Axis::new("probability of the central interval").within(0.0, 1.0),
            Axis::new("share of rows inside").within(0.0, 1.0),
        );
        panel.title =
            format!("coverage: the 90 % interval holds {} %", number((1000.0 * inside(0.9)).round() / 10.0));
        panel.draw(Layer::named(
            "95 % range",
            Shape::Band {
                points: steps.iter().map(|c| range(*c)).collect(),
                fill: Colour(225, 225, 225),
                shade: 1,
            },
        ));
        panel.draw(Layer::named(
            "perfect",
            Shape::Line { points: vec![(0.0, 0.0), (1.0, 1.0)], stroke: GUIDE },
        ));
        panel.draw(Layer::named(
            "observed",
            Shape::Line {
                points: steps.iter().map(|c| (*c, inside(*c))).collect(),
                stroke: Stroke::solid(Colour::BLUE, 2.0),
            },
        ));
        panels.push(panel);
    }
    let mut note = "If the predictions are right, the left histogram is flat".to_owned();
    note.push_str(if continuous { " and the right curve follows the diagonal." } else { "." });
    if left_out > 0 {
        note.push_str(&format!(" {left_out} rows with counts above {COUNTS} are left out."));
    }
    note
}

/// The 95 % interval of a share (Wilson 1927).
fn wilson(share: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z / n;
    let centre = share + z2 / 2.0;
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n)).sqrt();
    ((centre - half) / (1.0 + z2), (centre + half) / (1.0 + z2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_intervals() {
        // Newcombe (1998), table I, method 3: 81/263 and 0/20
        let (low, high) = wilson(81.0 / 263.0, 263.0);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        let (low, high) = wilson(0.0, 20.0);
        assert!(low.abs() < 1e-15 && (high - 0.1611).abs() < 5e-5, "{high}");
    }
}
