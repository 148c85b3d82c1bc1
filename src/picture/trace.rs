//! The evidence or bound by iteration, and how far it still has to go.

use super::Kind;
use crate::error::Error;
use crate::scene::figure::{Form, Marker};
use crate::scene::ticks::number;
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::fit::Fit;

pub(super) fn figure(fit: &Fit) -> Result<Figure, Error> {
    let result = fit.result();
    let trace = &result.objective.trace;
    if trace.is_empty() {
        return Err(fit.no_such_picture(Kind::Trace, "the fit has no iterations", Kind::Weights));
    }
    let name = match result.objective.name.as_str() {
        "elbo" => "evidence lower bound".to_owned(),
        "log_evidence_laplace" => "log evidence (Laplace)".to_owned(),
        other => other.replace('_', " "),
    };
    let stroke = Stroke::solid(Colour::BLUE, 1.8);
    let marker =
        Marker { form: Form::Disc, size: if trace.len() > 60 { 3.0 } else { 5.0 }, colour: Colour::BLUE };
    let steps = || (1..).map(f64::from);
    let mut value = Panel::new(Axis::new("iteration"), Axis::new(format!("{name}, nats")));
    value.title = "value".to_owned();
    let points: Vec<(f64, f64)> = steps().zip(trace.iter().copied()).collect();
    value.draw(Shape::Line { points: points.clone(), stroke });
    value.draw(Layer::from(Shape::Points { points, marker }));
    let best = trace.iter().copied().filter(|x| x.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    // differences below the rounding of the value say nothing
    let floor = best.abs().max(1.0) * 1e-14;
    let gaps: Vec<(f64, f64)> =
        steps().zip(trace.iter().map(|x| best - x)).filter(|(_, gap)| *gap > floor).collect();
    let mut panels = vec![value];
    if gaps.len() > 2 {
        let mut gap = Panel::new(Axis::new("iteration"), Axis::new("below the highest, nats").log());
        gap.title = "to go".to_owned();
        gap.draw(Shape::Line { points: gaps.clone(), stroke });
        gap.draw(Layer::from(Shape::Points { points: gaps, marker }));
        gap.x.range = Some((0.0, trace.len() as f64 + 1.0));
        panels[0].x.range = gap.x.range;
        panels.push(gap);
    }
    let state = if result.converged { "converged" } else { "did not converge" };
    Ok(Figure {
        title: format!("{}: {name} by iteration", result.model),
        description: format!(
            "From {} to {} nats in {} iterations; the fit {state}.",
            number(trace[0]),
            number(trace[trace.len() - 1]),
            trace.len()
        ),
        caption: format!(
            "The fit {state} in {} iterations; last value {} nats ({} plan, {} schedule). The right panel shows the \
             distance to the highest value on a logarithmic scale: a straight line is a constant rate.",
            result.iterations,
            full(trace[trace.len() - 1]),
            result.plan.method,
            result.plan.schedule
        ),
        columns: 2,
        size: (720.0, 340.0),
        panels,
    })
}

/// Two decimals: nats are compared by differences.
fn full(x: f64) -> String {
    if x.abs() < 1e9 { format!("{x:.2}").replacen('-', "−", 1) } else { number(x) }
}
