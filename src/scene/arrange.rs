//! From a figure to a scene: where titles, legends, axes and panels go, and every layer in pixels.

use super::clip::Window;
use super::figure::{Axis, FRAME, Figure, Form, Layer, Marker, Panel, Scale, Shape};
use super::text::{fitted, width, wrapped};
use super::ticks::{self, Tick};
use super::{Anchor, Colour, Dash, Face, Label, Mark, Point, Scene, Stroke};

/// Sizes of texts in pixels: 9 points are 12 pixels, and nothing is smaller.
const SMALL: f64 = 12.0;
const LABEL: f64 = 13.0;
const TITLE: f64 = 15.0;

const MARGIN: f64 = 12.0;
const TICK: f64 = 5.0;
/// Sample of a layer in the legend.
const SAMPLE: f64 = 24.0;

/// The figure on a page of this size; never smaller than what its texts need.
pub fn arrange(figure: &Figure, size: (f64, f64)) -> Scene {
    let sane = |x: f64, least: f64| if x.is_finite() { x.clamp(least, 8000.0) } else { least };
    let (w, h) = (sane(size.0, 240.0), sane(size.1, 180.0));
    let mut marks = Vec::new();
    let mut top = MARGIN;
    for line in wrapped(&figure.title, TITLE * 1.05, w - 2.0 * MARGIN) {
        top += TITLE;
        let label = Label { face: Face::Bold, ..Label::new((MARGIN, top), line, TITLE, Anchor::Start) };
        marks.push(Mark::Text(label));
        top += 6.0;
    }
    let caption = wrapped(&figure.caption, SMALL, w - 2.0 * MARGIN);
    let mut bottom = h - MARGIN - caption.len() as f64 * (SMALL + 3.0);
    for (i, line) in caption.into_iter().enumerate() {
        let y = bottom + SMALL + i as f64 * (SMALL + 3.0);
        let colour = Colour(70, 70, 70);
        marks.push(Mark::Text(Label { colour, ..Label::new((MARGIN, y), line, SMALL, Anchor::Start) }));
    }
    bottom -= 6.0;
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns).max(1);
    let gap = 16.0;
    let cell = (
        (w - 2.0 * MARGIN - gap * (columns as f64 - 1.0)) / columns as f64,
        ((bottom - top - gap * (rows as f64 - 1.0)) / rows as f64).max(60.0),
    );
    let drafts: Vec<Draft<'_>> = figure.panels.iter().map(|p| Draft::new(p, cell)).collect();
    // panels below each other line up
    let left: Vec<f64> = (0..columns)
        .map(|c| drafts.iter().skip(c).step_by(columns).map(|d| d.left).fold(0.0, f64::max))
        .collect();
    let above: Vec<f64> = (0..rows)
        .map(|r| drafts.iter().skip(r * columns).take(columns).map(|d| d.above).fold(0.0, f64::max))
        .collect();
    for (i, draft) in drafts.iter().enumerate() {
        let (c, r) = (i % columns, i / columns);
        let at = (MARGIN + c as f64 * (cell.0 + gap), top + r as f64 * (cell.1 + gap));
        draft.draw(at, cell, left[c], above[r], &mut marks);
    }
    Scene { title: figure.title.clone(), description: figure.description.clone(), width: w, height: h, marks }
}

/// A panel with the room that its texts take.
struct Draft<'a> {
    panel: &'a Panel,
    limits: [(f64, f64); 2],
    y_ticks: Vec<Tick>,
    /// Rows of the legend: each entry with the layers it names.
    legend: Vec<Vec<(&'a str, f64)>>,
    left: f64,
    right: f64,
    above: f64,
    below: f64,
}

impl<'a> Draft<'a> {
    fn new(panel: &'a Panel, cell: Point) -> Draft<'a> {
        let limits = panel.limits();
        let mut entries: Vec<&str> = Vec::new();
        for name in panel.layers.iter().filter_map(|l| l.name.as_deref()) {
            if !entries.contains(&name) {
                entries.push(name);
            }
        }
        let mut legend: Vec<Vec<(&str, f64)>> = Vec::new();
        for name in entries {
            let wide = SAMPLE + 6.0 + width(name, SMALL) + 14.0;
            let used = legend.last().map_or(f64::INFINITY, |row| row.iter().map(|(_, w)| w).sum());
            match legend.last_mut() {
                Some(row) if used + wide <= cell.0 - 40.0 => row.push((name, wide)),
                _ => legend.push(vec![(name, wide)]),
            }
        }
        let title = if panel.title.is_empty() { 4.0 } else { LABEL + 7.0 };
        let above = title + legend.len() as f64 * 17.0 + 3.0;
        let below = TICK + SMALL + 4.0 + if panel.x.label.is_empty() { 2.0 } else { LABEL + 5.0 };
        let y_ticks = tick_list(&panel.y, limits[1], ((cell.1 - above - below) / 34.0) as usize);
        let widest = y_ticks.iter().map(|(_, t)| width(t, SMALL)).fold(0.0, f64::max).min(0.4 * cell.0);
        let left = widest + TICK + 5.0 + if panel.y.label.is_empty() { 0.0 } else { LABEL + 5.0 };
        let margin = panel.layers.iter().filter_map(|l| match &l.shape {
            Shape::Margin { text, .. } => Some(width(text, SMALL) + 8.0),
            _ => None,
        });
        let right = margin.fold(14.0, f64::max).min(0.35 * cell.0);
        Draft { panel, limits, y_ticks, legend, left, right, above, below }
    }

    fn draw(&self, at: Point, cell: Point, left: f64, above: f64, marks: &mut Vec<Mark>) {
        let mut window = Window {
            left: at.0 + left,
            top: at.1 + above,
            right: at.0 + cell.0 - self.right,
            bottom: at.1 + cell.1 - self.below,
        };
        window.right = window.right.max(window.left + 20.0);
        window.bottom = window.bottom.max(window.top + 20.0);
        if self.panel.square {
            self.square(&mut window);
        }
        let view = View { window, limits: self.limits, panel: self.panel };
        self.head(at, cell, &window, marks);
        for layer in &self.panel.layers {
            view.layer(&layer.shape, marks);
        }
        self.axes(at, &view, marks);
        view.margins(marks);
    }

    /// Makes a unit of x as long as one of y.
    fn square(&self, window: &mut Window) {
        let [(x0, x1), (y0, y1)] = self.limits;
        let (w, h) = (window.right - window.left, window.bottom - window.top);
        let unit = (w / (x1 - x0)).min(h / (y1 - y0));
        window.right = window.left + unit * (x1 - x0);
        window.top = window.bottom - unit * (y1 - y0);
    }

    /// Title and legend.
    fn head(&self, at: Point, cell: Point, window: &Window, marks: &mut Vec<Mark>) {
        let mut y = window.top - self.legend.len() as f64 * 17.0 - 3.0;
        if !self.panel.title.is_empty() {
            let text = fitted(&self.panel.title, LABEL * 1.05, at.0 + cell.0 - window.left);
            let label = Label::new((window.left, y - 6.0), text, LABEL, Anchor::Start);
            marks.push(Mark::Text(Label { face: Face::Bold, ..label }));
        }
        for row in &self.legend {
            let mut x = window.left;
            for (name, wide) in row {
                let middle = y + 8.0;
                for layer in self.panel.layers.iter().filter(|l| l.name.as_deref() == Some(*name)) {
                    sample(layer, (x, middle), marks);
                }
                let place = (x + SAMPLE + 6.0, middle + 4.0);
                marks.push(Mark::Text(Label::new(place, *name, SMALL, Anchor::Start)));
                x += wide;
            }
            y += 17.0;
        }
    }

    fn axes(&self, at: Point, view: &View<'_>, marks: &mut Vec<Mark>) {
        let w = &view.window;
        let line = |a: Point, b: Point| Mark::Line { points: vec![a, b], stroke: FRAME, closed: false };
        marks.push(Mark::Line {
            points: vec![(w.left, w.top), (w.left, w.bottom), (w.right, w.bottom)],
            stroke: FRAME,
            closed: false,
        });
        let wanted = ((w.right - w.left) / 62.0) as usize;
        let mut last = f64::NEG_INFINITY;
        for (value, text) in tick_list(&self.panel.x, self.limits[0], wanted) {
            let x = view.x(value);
            if !w.has((x, w.bottom)) {
                continue;
            }
            marks.push(line((x, w.bottom), (x, w.bottom + TICK)));
            let half = width(&text, SMALL) / 2.0;
            if x - half > last + 5.0 {
                let place = (x, w.bottom + TICK + SMALL);
                marks.push(Mark::Text(Label::new(place, text, SMALL, Anchor::Middle)));
                last = x + half;
            }
        }
        let mut last = f64::INFINITY;
        let room = w.left - TICK - 4.0 - at.0 - if self.panel.y.label.is_empty() { 0.0 } else { LABEL + 4.0 };
        for (value, text) in &self.y_ticks {
            let y = view.y(*value);
            if !w.has((w.left, y)) {
                continue;
            }
            marks.push(line((w.left - TICK, y), (w.left, y)));
            if (last - y).abs() > SMALL + 1.0 {
                let place = (w.left - TICK - 4.0, y + 4.0);
                marks.push(Mark::Text(Label::new(place, fitted(text, SMALL, room), SMALL, Anchor::End)));
                last = y;
            }
        }
        if !self.panel.x.label.is_empty() {
            let text = fitted(&self.panel.x.label, LABEL, w.right - w.left + 30.0);
            let place = ((w.left + w.right) / 2.0, w.bottom + TICK + SMALL + LABEL + 6.0);
            marks.push(Mark::Text(Label::new(place, text, LABEL, Anchor::Middle)));
        }
        if !self.panel.y.label.is_empty() {
            let text = fitted(&self.panel.y.label, LABEL, w.bottom - w.top + 30.0);
            let widest = self.y_ticks.iter().map(|(_, t)| width(t, SMALL)).fold(0.0, f64::max).min(room);
            let x = (w.left - TICK - 4.0 - widest - 7.0).max(at.0 + LABEL - 3.0);
            let label = Label::new((x, (w.top + w.bottom) / 2.0), text, LABEL, Anchor::Middle);
            marks.push(Mark::Text(Label { upwards: true, ..label }));
        }
    }
}

/// The ticks of an axis inside its limits.
pub(crate) fn tick_list(axis: &Axis, (low, high): (f64, f64), wanted: usize) -> Vec<Tick> {
    let wanted = wanted.clamp(2, 9);
    match (&axis.names, axis.scale) {
        (Some(names), _) => names.clone(),
        (None, Scale::Linear) => ticks::linear(low, high, wanted),
        (None, Scale::Log) => ticks::logarithmic(low, high, wanted),
    }
}

/// The share of an axis at which a value stands.
pub(crate) fn share(scale: Scale, (low, high): (f64, f64), value: f64) -> f64 {
    match scale {
        Scale::Linear => (value - low) / (high - low),
        Scale::Log => (value / low).ln() / (high / low).ln(),
    }
}

/// The units of the data in pixels.
struct View<'a> {
    window: Window,
    limits: [(f64, f64); 2],
    panel: &'a Panel,
}

impl View<'_> {
    fn x(&self, value: f64) -> f64 {
        let w = &self.window;
        w.left + share(self.panel.x.scale, self.limits[0], value) * (w.right - w.left)
    }

    fn y(&self, value: f64) -> f64 {
        let w = &self.window;
        w.bottom - share(self.panel.y.scale, self.limits[1], value) * (w.bottom - w.top)
    }

    fn at(&self, (x, y): (f64, f64)) -> Point {
        (self.x(x), self.y(y))
    }

    fn line(&self, points: &[Point], stroke: Stroke, marks: &mut Vec<Mark>) {
        let lines = self.window.line(points);
        marks.extend(lines.into_iter().map(|points| Mark::Line { points, stroke, closed: false }));
    }

    fn area(&self, rings: Vec<Vec<Point>>, fill: Colour, marks: &mut Vec<Mark>) {
        let rings: Vec<_> = rings.iter().map(|r| self.window.ring(r)).filter(|r| r.len() > 2).collect();
        if !rings.is_empty() {
            marks.push(Mark::Area { rings, fill });
        }
    }

    fn layer(&self, shape: &Shape, marks: &mut Vec<Mark>) {
        let w = &self.window;
        match shape {
            Shape::Band { points, fill, .. } => {
                for run in finite_runs(points) {
                    let upper = run.iter().map(|(x, _, high)| self.at((*x, *high)));
                    let lower = run.iter().rev().map(|(x, low, _)| self.at((*x, *low)));
                    self.area(vec![upper.chain(lower).collect()], *fill, marks);
                }
            }
            Shape::Line { points, stroke } => {
                let points: Vec<Point> = points.iter().map(|p| self.at(*p)).collect();
                self.line(&points, *stroke, marks);
            }
            Shape::Points { points, marker: look } => {
                let places = points.iter().map(|p| self.at(*p)).filter(|p| w.has(*p));
                places.for_each(|p| marker(p, *look, marks));
            }
            Shape::Whiskers { points, upright, stroke } => {
                for (at, low, high) in points {
                    let ends = match upright {
                        true => [self.at((*at, *low)), self.at((*at, *high))],
                        false => [self.at((*low, *at)), self.at((*high, *at))],
                    };
                    self.line(&ends, *stroke, marks);
                }
            }
            Shape::Rule { at, upright, stroke } => {
                let ends = match upright {
                    true => [(self.x(*at), w.bottom), (self.x(*at), w.top)],
                    false => [(w.left, self.y(*at)), (w.right, self.y(*at))],
                };
                self.line(&ends, *stroke, marks);
            }
            Shape::Region { grid, level, fill, .. } => {
                let rings = grid.area(*level).into_iter();
                self.area(rings.map(|r| r.into_iter().map(|p| self.at(p)).collect()).collect(), *fill, marks);
            }
            Shape::Contour { grid, level, stroke } => {
                for line in grid.lines(*level) {
                    let points: Vec<Point> = line.into_iter().map(|p| self.at(p)).collect();
                    self.line(&points, *stroke, marks);
                }
            }
            Shape::Bars { points, fill } => {
                for (from, to, height) in points {
                    let (a, b) = (self.at((*from, 0.0)), self.at((*to, *height)));
                    let ring = self.window.ring(&[a, (b.0, a.1), b, (a.0, b.1)]);
                    if ring.len() > 2 {
                        marks.push(Mark::Area { rings: vec![ring.clone()], fill: *fill });
                        let stroke = Stroke::solid(Colour::WHITE, 1.0);
                        marks.push(Mark::Line { points: ring, stroke, closed: true });
                    }
                }
            }
            Shape::Note { at, lines, right } => {
                let x = w.left + at.0 * (w.right - w.left);
                let y = w.bottom - at.1 * (w.bottom - w.top);
                let anchor = if *right { Anchor::End } else { Anchor::Start };
                for (i, line) in lines.iter().enumerate() {
                    let place = (x, y + i as f64 * (SMALL + 3.0));
                    marks.push(Mark::Text(Label { halo: true, ..Label::new(place, line, SMALL, anchor) }));
                }
            }
            Shape::Margin { .. } => {}
        }
    }

    /// Texts at the right edge, pushed apart.
    fn margins(&self, marks: &mut Vec<Mark>) {
        let w = &self.window;
        let mut texts: Vec<(f64, &str)> = Vec::new();
        for layer in &self.panel.layers {
            if let Shape::Margin { at, text } = &layer.shape {
                let y = self.y(*at);
                if y.is_finite() {
                    texts.push((y.clamp(w.top, w.bottom), text));
                }
            }
        }
        texts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let apart = SMALL + 1.0;
        for i in 1..texts.len() {
            texts[i].0 = texts[i].0.max(texts[i - 1].0 + apart);
        }
        // and back up where the last ones left the panel
        let mut limit = w.bottom + 4.0;
        for (y, _) in texts.iter_mut().rev() {
            *y = y.min(limit);
            limit = *y - apart;
        }
        for (y, text) in texts {
            marks.push(Mark::Text(Label::new((w.right + 6.0, y + 4.0), text, SMALL, Anchor::Start)));
        }
    }
}

/// Stretches of a band without a hole.
fn finite_runs(points: &[(f64, f64, f64)]) -> Vec<Vec<(f64, f64, f64)>> {
    let finite = |p: &(f64, f64, f64)| p.0.is_finite() && p.1.is_finite() && p.2.is_finite();
    points.split(|p| !finite(p)).filter(|run| run.len() > 1).map(<[_]>::to_vec).collect()
}

/// A layer as the legend shows it, from the left end of the sample.
fn sample(layer: &Layer, (x, y): Point, marks: &mut Vec<Mark>) {
    let line = |stroke: &Stroke| Mark::Line {
        points: vec![(x, y), (x + SAMPLE, y)],
        stroke: *stroke,
        closed: false,
    };
    let block = |fill: Colour| Mark::Box {
        at: (x, y - 5.5),
        size: (SAMPLE, 11.0),
        radius: 0.0,
        fill: Some(fill),
        stroke: Some(Stroke::solid(Colour(150, 150, 150), 0.5)),
    };
    match &layer.shape {
        Shape::Band { fill, .. } | Shape::Region { fill, .. } | Shape::Bars { fill, .. } => {
            marks.push(block(*fill))
        }
        Shape::Line { stroke, .. }
        | Shape::Whiskers { stroke, .. }
        | Shape::Rule { stroke, .. }
        | Shape::Contour { stroke, .. } => marks.push(line(stroke)),
        Shape::Points { marker: look, .. } => marker((x + SAMPLE / 2.0, y), *look, marks),
        Shape::Note { .. } | Shape::Margin { .. } => {}
    }
}

/// A point in its form.
fn marker(at: Point, look: Marker, marks: &mut Vec<Mark>) {
    let r = look.size / 2.0;
    let colour = look.colour;
    let ring = |points: &[Point]| -> Vec<Point> {
        points.iter().map(|(x, y)| (at.0 + r * x, at.1 + r * y)).collect()
    };
    let area = |points: &[Point]| Mark::Area { rings: vec![ring(points)], fill: colour };
    let stroke = Stroke { colour, width: 1.4, dash: Dash::Solid };
    let line = |points: &[Point]| Mark::Line { points: ring(points), stroke, closed: false };
    match look.form {
        Form::Disc => marks.push(Mark::Circle { at, radius: r, fill: Some(colour), stroke: None }),
        Form::Ring => marks.push(Mark::Circle { at, radius: r, fill: None, stroke: Some(stroke) }),
        Form::Hollow => {
            let stroke = Some(Stroke::solid(colour, 1.2));
            marks.push(Mark::Circle { at, radius: r, fill: Some(Colour::WHITE), stroke });
        }
        Form::Triangle => marks.push(area(&[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)])),
        Form::Square => marks.push(area(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)])),
        Form::Diamond => marks.push(area(&[(0.0, -1.25), (1.0, 0.0), (0.0, 1.25), (-1.0, 0.0)])),
        Form::Cross => {
            marks.push(line(&[(-0.9, -0.9), (0.9, 0.9)]));
            marks.push(line(&[(-0.9, 0.9), (0.9, -0.9)]));
        }
        Form::Plus => {
            marks.push(line(&[(-1.1, 0.0), (1.1, 0.0)]));
            marks.push(line(&[(0.0, -1.1), (0.0, 1.1)]));
        }
    }
}
