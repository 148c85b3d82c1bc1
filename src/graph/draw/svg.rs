//! A picture of the graph in the style of a textbook, drawn by ourselves.

use super::escape::xml;
use super::geometry::Rect;
use super::layout::{Layout, bend, layout};
use super::picture::{Look, Picture, picture};
use crate::graph::dag::Dag;

/// A standalone SVG document.
pub fn svg(dag: &Dag) -> String {
    let picture = picture(dag);
    let layout = layout(&picture);
    let (w, h) = layout.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" \
         font-family=\"'STIX Two Text','Latin Modern Roman','Times New Roman',serif\" font-size=\"15\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        xml(dag.model())
    );
    for plate in layout.plates.iter().rev() {
        let r = plate.rect;
        out.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"9\" fill=\"none\" stroke=\"#555\"/>\n",
            r.x, r.y, r.w, r.h
        ));
    }
    for (from, to) in &picture.edges {
        edge(&picture, &layout, *from, *to, &mut out);
    }
    // a white halo keeps labels readable where an edge passes
    for plate in &layout.plates {
        let r = plate.label_at;
        out.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"13\" \
             fill=\"#333\" stroke=\"white\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>\n",
            r.x,
            r.y + r.h - 2.0,
            xml(&plate.label)
        ));
    }
    for (i, rect) in layout.items.iter().enumerate() {
        item(&picture, i, *rect, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn item(picture: &Picture, i: usize, r: Rect, out: &mut String) {
    let item = &picture.items[i];
    let (cx, cy) = r.centre();
    out.push_str(&format!("<g><title>{}</title>\n", xml(&item.about)));
    let pill = |grow: f64, rx: f64, style: &str| {
        format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{rx:.1}\" stroke=\"black\" {style}/>\n",
            r.x - grow,
            r.y - grow,
            r.w + 2.0 * grow,
            r.h + 2.0 * grow
        )
    };
    let round = r.h / 2.0;
    match item.look {
        Look::Unknown => out.push_str(&pill(0.0, round, "fill=\"white\"")),
        Look::Param => out.push_str(&pill(0.0, round, "fill=\"white\" stroke-dasharray=\"5 3\"")),
        Look::Observed => out.push_str(&pill(0.0, round, "fill=\"#c8c8c8\"")),
        Look::Given => out.push_str(&pill(-2.0, 0.0, "fill=\"#ebebeb\"")),
        Look::Derived => {
            out.push_str(&pill(0.0, round, "fill=\"white\""));
            out.push_str(&pill(-3.0, round - 3.0, "fill=\"none\""));
        }
        Look::Dot => {
            let (dot_x, dot_y) = dot_centre(r);
            out.push_str(&format!("<circle cx=\"{dot_x:.1}\" cy=\"{dot_y:.1}\" r=\"4\" fill=\"black\"/>\n"));
        }
    }
    let (y, size) = if item.look == Look::Dot { (r.y + 11.0, "13") } else { (cy + 5.0, "15") };
    out.push_str(&format!(
        "<text x=\"{cx:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-style=\"italic\" font-size=\"{size}\">{}</text></g>\n",
        xml(&item.label)
    ));
}

fn edge(picture: &Picture, layout: &Layout, from: usize, to: usize, out: &mut String) {
    let control = bend(layout, from, to);
    let (a, b) = (anchor(picture, layout, from), anchor(picture, layout, to));
    let start = border(picture, layout, from, control.unwrap_or(b));
    let end = border(picture, layout, to, control.unwrap_or(a));
    let before = control.unwrap_or(start);
    let (dx, dy) = (end.0 - before.0, end.1 - before.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    // the line stops inside the arrow head
    let (lx, ly) = (end.0 - 7.0 * ux, end.1 - 7.0 * uy);
    let path = match control {
        Some((cx, cy)) => format!("M{:.1} {:.1}Q{cx:.1} {cy:.1} {lx:.1} {ly:.1}", start.0, start.1),
        None => format!("M{:.1} {:.1}L{lx:.1} {ly:.1}", start.0, start.1),
    };
    out.push_str(&format!("<path d=\"{path}\" fill=\"none\" stroke=\"black\"/>\n"));
    let (bx, by) = (end.0 - 9.0 * ux, end.1 - 9.0 * uy);
    out.push_str(&format!(
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>\n",
        end.0,
        end.1,
        bx - 3.5 * uy,
        by + 3.5 * ux,
        bx + 3.5 * uy,
        by - 3.5 * ux
    ));
}

fn dot_centre(r: Rect) -> (f64, f64) {
    (r.x + r.w / 2.0, r.y + r.h - 5.0)
}

/// The point an edge aims at.
fn anchor(picture: &Picture, layout: &Layout, i: usize) -> (f64, f64) {
    let r = layout.items[i];
    if picture.items[i].look == Look::Dot { dot_centre(r) } else { r.centre() }
}

/// Where the line from the centre of an item towards a point leaves it.
fn border(picture: &Picture, layout: &Layout, i: usize, towards: (f64, f64)) -> (f64, f64) {
    let r = layout.items[i];
    let c = anchor(picture, layout, i);
    let (dx, dy) = (towards.0 - c.0, towards.1 - c.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    let inside = |t: f64| {
        let (x, y) = (t * ux, t * uy);
        match picture.items[i].look {
            Look::Dot => t < 4.0,
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
