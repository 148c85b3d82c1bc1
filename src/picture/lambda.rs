//! What a weight earns as a function of its precision, and where that is largest (Faul and Tipping 2002).

use super::Kind;
use super::names::Names;
use crate::error::Error;
use crate::scene::figure::{Form, GUIDE, Marker};
use crate::scene::ticks::number;
use crate::scene::{Axis, Colour, Figure, Layer, Panel, Shape, Stroke};
use crate::session::fit::Fit;

const STEPS: usize = 161;
const CAPTION: &str = "ℓ(α) = ½ [ln α − ln(α + s) + q² / (α + s)], everything else as fitted (Faul and Tipping 2002). Its \
                       maximum is at α = s² / (q² − s) if q² > s; if not, it lies at infinity and the weight is pruned. \
                       Dotted: the limit 0 of a weight that is not there.";

struct Entry {
    label: String,
    q: f64,
    s: f64,
    gain: f64,
    kept: bool,
}

/// ℓ(α) = ½ [ln α − ln(α + s) + q² / (α + s)]   (Faul and Tipping 2002, eq. 18)
fn ell(alpha: f64, q: f64, s: f64) -> f64 {
    -0.5 * (s / alpha).ln_1p() + 0.5 * q * q / (alpha + s)
}

/// α = s² / (q² − s) if q² > s, else infinite   (eq. 20)
fn stationary(q: f64, s: f64) -> Option<f64> {
    (q * q > s).then(|| s * s / (q * q - s))
}

pub(super) fn figure(fit: &Fit) -> Result<Figure, Error> {
    let names = Names::of(fit);
    let mut entries: Vec<Entry> = Vec::new();
    for block in &fit.posterior().blocks {
        let node = fit.model().typed().nodes.get(block.node.index()).map_or("", |n| n.name.as_str());
        let labels = fit.node(node).ok().and_then(|n| n.labels);
        for i in 0..block.len {
            let (Some(Some(q)), Some(Some(s))) = (block.q.get(i), block.s.get(i)) else { continue };
            let place = block.active.binary_search(&i).ok();
            let relevant = place.is_some() && (block.active.len() < block.len || q * q > *s);
            let label = match (&labels, place) {
                (Some(labels), Some(k)) => labels.get(k).cloned(),
                (Some(_), None) => names.entry(block.node, i, block.len),
                (None, _) => None,
            };
            let label = label.unwrap_or_else(|| {
                if block.len == 1 { node.to_owned() } else { format!("{node}[{}]", i + 1) }
            });
            let gain = stationary(*q, *s).map_or(q * q - s, |a| ell(a, *q, *s));
            if *s > 0.0 && q.is_finite() && s.is_finite() {
                entries.push(Entry { label, q: *q, s: *s, gain, kept: relevant });
            }
        }
    }
    if entries.is_empty() {
        let why = "no weight has a precision of its own to be estimated";
        return Err(fit.no_such_picture(Kind::Lambda, why, Kind::Weights));
    }
    entries.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let pick = |kept: bool| -> Vec<&Entry> {
        let some: Vec<&Entry> = entries.iter().filter(|e| e.kept == kept).collect();
        match some.as_slice() {
            [] => Vec::new(),
            [one] => vec![one],
            // of the kept the surest and the least sure; of the pruned the nearest to come in and a typical one
            all => vec![all[0], if kept { all[all.len() - 1] } else { all[all.len() / 2] }],
        }
    };
    let chosen: Vec<&Entry> = pick(true).into_iter().chain(pick(false)).collect();
    let panels: Vec<Panel> = chosen.iter().map(|e| panel(e)).collect();
    let kept = entries.iter().filter(|e| e.kept).count();
    let mut caption = CAPTION.to_owned();
    if chosen.iter().any(|e| !e.kept && stationary(e.q, e.s).is_some()) {
        caption.push_str(
            " A pruned weight with q² > s would earn less than `min_gain`, which the plan asks for.",
        );
    }
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns).max(1);
    Ok(Figure {
        title: format!("{}: what a weight earns at precision α", fit.model().name()),
        description: format!(
            "The marginal log evidence of {} weights as a function of their own precision; {kept} of {} weights have \
             q² > s and a finite maximum.",
            panels.len(),
            entries.len()
        ),
        caption,
        columns,
        size: (if columns == 1 { 460.0 } else { 700.0 }, 240.0 * rows as f64 + 100.0),
        panels,
    })
}

fn panel(entry: &Entry) -> Panel {
    let Entry { label, q, s, kept, .. } = entry;
    let best = stationary(*q, *s);
    let centre = best.unwrap_or(*s).max(1e-300);
    let spread = match best {
        Some(a) => (s / a).max(1.0).sqrt() * 300.0,
        None => 1000.0,
    };
    let (from, to) = ((centre / spread).max(1e-305).ln(), (centre * spread).min(1e305).ln());
    let points: Vec<(f64, f64)> = (0..STEPS)
        .map(|i| (from + (to - from) * i as f64 / (STEPS - 1) as f64).exp())
        .map(|a| (a, ell(a, *q, *s)))
        .collect();
    let top = best.map_or(0.0, |a| ell(a, *q, *s));
    let scale = top.max(0.3);
    let mut y = Axis::new("ℓ(α), nats");
    y.range = Some((top.min(0.0) - 1.1 * scale, top.max(0.0) + 0.25 * scale));
    let mut panel = Panel::new(Axis::new("α").log().within(from.exp(), to.exp()), y);
    let verdict = if *kept { "kept" } else { "pruned" };
    let sign = if q * q > *s { ">" } else { "≤" };
    panel.title = format!("{label}, {verdict}: q² = {} {sign} s = {}", number(q * q), number(*s));
    panel.draw(Shape::Rule {
        at: 0.0,
        upright: false,
        stroke: Stroke { dash: crate::scene::Dash::Dotted, ..GUIDE },
    });
    let colour = if *kept { Colour::BLUE } else { Colour::RED };
    panel.draw(Layer::from(Shape::Line { points, stroke: Stroke::solid(colour, 2.0) }));
    if let Some(a) = best {
        panel.draw(Shape::Rule { at: a, upright: true, stroke: GUIDE });
        let marker = Marker { form: Form::Disc, size: 8.0, colour };
        panel.draw(Layer::named(
            format!("maximum {} nats at α = {}", number(top), number(a)),
            Shape::Points { points: vec![(a, top)], marker },
        ));
    } else {
        panel.draw(Layer::named(
            "grows towards 0 at α = ∞",
            Shape::Line { points: vec![], stroke: Stroke::solid(colour, 2.0) },
        ));
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_is_where_the_slope_is_zero() {
        for (q, s) in [(3.0, 1.0), (2.0, 3.9), (1e3, 1e-2)] {
            let a = stationary(q, s).unwrap();
            let h = 1e-4;
            let slope = (ell(a * (1.0 + h), q, s) - ell(a * (1.0 - h), q, s)) / (2.0 * h);
            assert!(slope.abs() < 1e-4 * ell(a, q, s).abs().max(1.0), "{q} {s}: {slope}");
            assert!(
                ell(a, q, s) > 0.0 && ell(a, q, s) > ell(a * 3.0, q, s) && ell(a, q, s) > ell(a / 3.0, q, s)
            );
        }
        assert_eq!(stationary(1.0, 1.0), None);
        // ℓ(∞) = 0; at α = s, by hand: −½ ln 2 + q²/(4 s)
        assert!(ell(1e300, 2.0, 3.0).abs() < 1e-200);
        assert!((ell(3.0, 2.0, 3.0) - (-0.5 * 2f64.ln() + 1.0 / 3.0)).abs() < 1e-15);
    }
}
