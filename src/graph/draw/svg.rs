//! A picture of the graph in the style of a textbook, drawn by ourselves.

use super::geometry::Rect;
use super::layout::{Layout, bend, layout};
use super::names::{self, Run};
use super::picture::{Look, Picture, picture};
use crate::graph::dag::Dag;
use crate::scene::{self, Anchor, Colour, Dash, Face, Label, Mark, Point, Scene, Stroke};

/// Size of names, and of what stands beside dots and plates: 12 pixels are 9 points.
const NAME: f64 = 16.0;
const SMALL: f64 = 13.0;
/// Radius of a solid dot.
const DOT: f64 = 4.0;

const LINE: Stroke = Stroke::solid(Colour::BLACK, 1.2);
const PLATE: Stroke = Stroke::solid(Colour(90, 90, 90), 1.0);

/// A standalone SVG document.
pub fn svg(dag: &Dag) -> String {
    scene::svg(&scene(dag))
}

/// The graph as marks in pixels.
pub fn scene(dag: &Dag) -> Scene {
    let picture = picture(dag);
    let layout = layout(&picture);
    let mut marks = Vec::new();
    for plate in layout.plates.iter().rev() {
        let r = plate.rect;
        marks.push(Mark::Box {
            at: (r.x, r.y),
            size: (r.w, r.h),
            radius: 9.0,
            fill: None,
            stroke: Some(PLATE),
        });
    }
    for (from, to) in &picture.edges {
        edge(&picture, &layout, *from, *to, &mut marks);
    }
    // a white rim keeps labels readable where an edge passes
    for plate in &layout.plates {
        let r = plate.label_at;
        let runs = names::plate(&plate.label);
        let start = r.x + (r.w - names::width(&runs, SMALL)) / 2.0;
        write(&runs, (start, r.y + r.h - 2.0), SMALL, true, &mut marks);
    }
    for (i, rect) in layout.items.iter().enumerate() {
        item(&picture, i, *rect, &mut marks);
    }
    Scene {
        title: dag.model().to_owned(),
        description: describe(&picture),
        width: layout.size.0.round(),
        height: layout.size.1.round(),
        marks,
    }
}

/// The edges in words.
fn describe(picture: &Picture) -> String {
    let name = |i: usize| picture.items[i].label.as_str();
    let edges: Vec<String> =
        picture.edges.iter().map(|(a, b)| format!("{} → {}", name(*a), name(*b))).collect();
    format!("The graph of the model: {}. Shaded nodes are observed, solid dots are fixed.", edges.join(", "))
}

fn item(picture: &Picture, i: usize, r: Rect, marks: &mut Vec<Mark>) {
    let item = &picture.items[i];
    marks.push(Mark::Begin(item.about.clone()));
    let pill = |grow: f64, radius: f64, fill: Option<Colour>, dash: Dash| Mark::Box {
        at: (r.x - grow, r.y - grow),
        size: (r.w + 2.0 * grow, r.h + 2.0 * grow),
        radius,
        fill,
        stroke: Some(Stroke { dash, ..LINE }),
    };
    let round = r.h / 2.0;
    match item.look {
        Look::Unknown => marks.push(pill(0.0, round, Some(Colour::WHITE), Dash::Solid)),
        Look::Param => marks.push(pill(0.0, round, Some(Colour::WHITE), Dash::Dashed)),
        Look::Observed => marks.push(pill(0.0, round, Some(Colour(200, 200, 200)), Dash::Solid)),
        Look::Given => marks.push(pill(-2.0, 0.0, Some(Colour(232, 232, 232)), Dash::Solid)),
        Look::Derived => {
            marks.push(pill(0.0, round, Some(Colour::WHITE), Dash::Solid));
            marks.push(pill(-3.0, round - 3.0, None, Dash::Solid));
        }
        Look::Dot => marks.push(Mark::Circle {
            at: dot_centre(r),
            radius: DOT,
            fill: Some(Colour::BLACK),
            stroke: None,
        }),
    }
    let (runs, size, y) = match item.look {
        Look::Dot => (names::argument(&item.label), SMALL, r.y + 11.0),
        _ => (names::name(&item.label), NAME, r.centre().1 + 5.0),
    };
    let start = r.centre().0 - names::width(&runs, size) / 2.0;
    write(&runs, (start, y), size, false, marks);
    marks.push(Mark::End);
}

/// Runs of text side by side.
fn write(runs: &[Run], (x, y): Point, size: f64, halo: bool, marks: &mut Vec<Mark>) {
    // every rim before every letter: the rim of one run would cut into the run before it
    for halo in if halo { &[true, false][..] } else { &[false] } {
        let mut x = x;
        for run in runs {
            let face = if run.upright { Face::Serif } else { Face::Math };
            let place = (x, y + size * run.drop);
            let label = Label::new(place, &run.text, size * run.scale, Anchor::Start);
            marks.push(Mark::Text(Label { face, halo: *halo, ..label }));
            x += names::width(std::slice::from_ref(run), size);
        }
    }
}

fn edge(picture: &Picture, layout: &Layout, from: usize, to: usize, marks: &mut Vec<Mark>) {
    let control = bend(layout, from, to);
    let (a, b) = (anchor(picture, layout, from), anchor(picture, layout, to));
    let start = border(picture, layout, from, control.unwrap_or(b));
    let end = border(picture, layout, to, control.unwrap_or(a));
    let before = control.unwrap_or(start);
    let (dx, dy) = (end.0 - before.0, end.1 - before.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    // the line stops inside the arrow head
    let line_end = (end.0 - 7.0 * ux, end.1 - 7.0 * uy);
    marks.push(match control {
        Some(control) => Mark::Bend { points: [start, control, line_end], stroke: LINE },
        None => Mark::Line { points: vec![start, line_end], stroke: LINE, closed: false },
    });
    let back = (end.0 - 10.0 * ux, end.1 - 10.0 * uy);
    let head = vec![end, (back.0 - 3.6 * uy, back.1 + 3.6 * ux), (back.0 + 3.6 * uy, back.1 - 3.6 * ux)];
    marks.push(Mark::Area { rings: vec![head], fill: Colour::BLACK });
}

fn dot_centre(r: Rect) -> Point {
    (r.x + r.w / 2.0, r.y + r.h - 5.0)
}

/// The point an edge aims at.
fn anchor(picture: &Picture, layout: &Layout, i: usize) -> Point {
    let r = layout.items[i];
    if picture.items[i].look == Look::Dot { dot_centre(r) } else { r.centre() }
}

/// Where the line from the centre of an item towards a point leaves it.
fn border(picture: &Picture, layout: &Layout, i: usize, towards: Point) -> Point {
    let r = layout.items[i];
    let c = anchor(picture, layout, i);
    let (dx, dy) = (towards.0 - c.0, towards.1 - c.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    let inside = |t: f64| {
        let (x, y) = (t * ux, t * uy);
        match picture.items[i].look {
            Look::Dot => t < DOT,
            Look::Given => x.abs() < r.w / 2.0 - 2.0 && y.abs() < r.h / 2.0 - 2.0,
            // a stadium: a segment with a disc at each end
            _ => {
                let half = (r.w - r.h) / 2.0;
                (x.abs() - half).max(0.0).hypot(y) < r.h / 2.0
            }
        }
    };
    // bisection on the distance from the centre
    let (mut low, mut high) = (0.0, r.w + r.h);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if inside(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (c.0 + high * ux, c.1 + high * uy)
}
