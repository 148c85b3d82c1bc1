//! Observed against predicted: for numbers that depend on more inputs than can be drawn.

use super::Kind;
use super::ground::{Ground, Part};
use crate::error::Error;
use crate::scene::figure::{Form, GUIDE, Marker};
use crate::scene::ticks::number;
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::predictive::Forecast;

const PANELS: usize = 4;

pub(super) fn figure(ground: &Ground<'_>) -> Result<Figure, Error> {
    let given = ground.rows("observed against predicted")?;
    let predictions = ground.at_given(given)?;
    let parts = ground.parts(&predictions);
    let wanted: Vec<&Part<'_>> =
        parts.iter().filter(|p| matches!(p.forecasts().next(), Some(Forecast::Number(_)))).collect();
    if wanted.is_empty() {
        return Err(ground.fit.no_such_picture(ground.kind, "its targets are levels", Kind::Calibration));
    }
    let name = ground.fit.model().name();
    let mut caption =
        format!("{} inputs are too many for a curve (`partial` draws one a panel). ", ground.inputs.len());
    if ground.kind == Kind::Observed {
        caption.clear();
    }
    caption.push_str(&ground.origin());
    if given.training {
        caption.push_str(" New rows will be predicted less well.");
    }
    let several = wanted.len() > 1;
    let panels: Vec<Panel> = wanted.iter().take(PANELS).map(|p| panel(ground, p)).collect();
    let list: Vec<&str> = wanted.iter().take(PANELS).map(|p| p.name.as_str()).collect();
    Ok(Figure {
        title: format!("{name}: observed against predicted {}", list.join(", ")),
        description: format!(
            "Each row as a point: the predictive mean of {} and its observed value.",
            list.join(", ")
        ),
        caption,
        columns: if several { 2 } else { 1 },
        size: if several { (760.0, 360.0 * panels.len().div_ceil(2) as f64 + 60.0) } else { (560.0, 500.0) },
        panels,
    })
}

fn panel(ground: &Ground<'_>, part: &Part<'_>) -> Panel {
    let mut panel = Panel::new(
        Axis::new(format!("predicted {}", part.name)),
        Axis::new(format!("observed {}", part.name)),
    );
    let (mut points, mut whiskers, mut squares) = (Vec::new(), Vec::new(), Vec::new());
    for (y, forecast) in ground.targets(part).into_iter().zip(part.forecasts()) {
        let Forecast::Number(m) = forecast else { continue };
        if y.is_finite() && m.mean.is_finite() {
            points.push((m.mean, y));
            whiskers.push((m.mean, m.mean - 2.0 * m.sd, m.mean + 2.0 * m.sd));
            squares.push((y - m.mean).powi(2));
        }
    }
    let low = points.iter().map(|p| p.0.min(p.1)).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.0.max(p.1)).fold(f64::NEG_INFINITY, f64::max);
    let rmse = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
    panel.title = format!("{} rows, root mean square error {}", points.len(), number(rmse));
    let fill = Colour::SKY.tint(0.3);
    let name = "± 2 deviations of a new observation";
    let shape = if is_even(&whiskers) {
        whiskers.sort_by(|a, b| a.0.total_cmp(&b.0));
        Shape::Band { points: whiskers, fill, shade: 1 }
    } else {
        Shape::Whiskers { points: whiskers, upright: true, stroke: Stroke::solid(Colour::SKY.tint(0.6), 1.0) }
    };
    panel.draw(Layer::named(name, shape));
    panel.draw(Layer::named(
        "observed = predicted",
        Shape::Line { points: vec![(low, low), (high, high)], stroke: GUIDE },
    ));
    let size = if points.len() > 400 { 3.0 } else { 4.5 };
    let marker = Marker { form: Form::Disc, size, colour: Colour::BLACK };
    panel.draw(Layer::named("row", Shape::Points { points, marker }));
    panel
}

/// Many rows whose intervals are nearly equally long: they make one band.
fn is_even(whiskers: &[(f64, f64, f64)]) -> bool {
    let lengths = || whiskers.iter().map(|(_, low, high)| high - low);
    let (least, most) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
    whiskers.len() > 30 && most < 1.2 * least
}
