//! Where everything goes: ranks from top to bottom, plates as rectangles that never overlap.
//!
//! Rows are ranks of the graph (as late as possible, sinks as early as possible). A plate spans the
//! ranks of its members and is a rectangle; what shares a rank with it and is not in it stands
//! beside it. The order from left to right is improved by swapping neighbours as long as fewer
//! edges cross or run through something; then everything moves towards what it is joined to, within
//! the room it has.

use super::geometry::{Rect, segment_meets};
use super::names;
use super::picture::Picture;
use super::tree::{Tree, ranks};

/// Half the height of a circle, in pixels.
pub const RADIUS: f64 = 20.0;
/// Between neighbours in a row.
pub(super) const GAP: f64 = 22.0;
/// Between rows, beside the room that plates take.
pub(super) const ROW_GAP: f64 = 34.0;
/// Inside a plate, around its content.
pub(super) const PAD: f64 = 12.0;
/// Room for the label of a plate.
pub(super) const LABEL: f64 = 16.0;
/// How much work may go into the order: a fraction of a second.
pub(super) const EFFORT: usize = 60_000_000;
/// Above this many items nothing is moved or bent either: nobody reads such a picture.
pub(super) const HUGE: usize = 600;

/// A plate in its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// `n in N`
    pub label: String,
    /// Its frame.
    pub rect: Rect,
    /// Where the label stands: in a lower corner, the right one unless only the left one is free.
    pub label_at: Rect,
    /// The items in it, those of inner plates included.
    pub items: Vec<usize>,
    /// Inner plates, as indices of [`Layout::plates`]; they come before this one.
    pub inner: Vec<usize>,
}

/// A picture with places.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// One an item.
    pub items: Vec<Rect>,
    /// Inner plates before outer ones.
    pub plates: Vec<Placed>,
    /// The whole picture.
    pub size: (f64, f64),
}

/// The places of everything in a picture.
pub fn layout(picture: &Picture) -> Layout {
    let ranks = ranks(picture);
    let mut tree = Tree::new(picture, &ranks);
    if picture.items.len() <= HUGE {
        tree.sort_by_barycentre(picture);
    }
    let rows = tree.rows(picture, &ranks);
    let mut best = tree.place(picture, &ranks, &rows);
    tree.improve(picture, &ranks, &rows, &mut best);
    if picture.items.len() <= HUGE {
        free_labels(picture, &mut best);
    }
    best
}

/// Moves the labels that edges run through to the other corner, if that is free.
fn free_labels(picture: &Picture, layout: &mut Layout) {
    let lines: Vec<_> =
        picture.edges.iter().map(|(a, b)| (layout.items[*a].centre(), layout.items[*b].centre())).collect();
    let hits = |r: &Rect| lines.iter().filter(|(p, q)| segment_meets(*p, *q, r)).count();
    for plate in &mut layout.plates {
        let left = corner(&plate.label, plate.rect, false);
        if hits(&left) < hits(&plate.label_at) {
            plate.label_at = left;
        }
        // where neither is free, the set alone takes less room
        let short = plate.label.split_once(" in ").map(|(_, set)| set.to_owned());
        if let Some(short) = short.filter(|_| hits(&plate.label_at) > 0) {
            let sides = [true, false].map(|side| corner(&short, plate.rect, side));
            if let Some(free) = sides.into_iter().find(|r| hits(r) == 0) {
                (plate.label, plate.label_at) = (short, free);
            }
        }
    }
}

/// The control point that bends an edge around the items in its way; `None` if it runs straight.
pub fn bend(layout: &Layout, from: usize, to: usize) -> Option<(f64, f64)> {
    if layout.items.len() > HUGE {
        return None;
    }
    let (a, b) = (layout.items[from].centre(), layout.items[to].centre());
    let in_the_way = |control: (f64, f64)| {
        let points: Vec<(f64, f64)> = (0..=24)
            .map(|i| {
                let t = f64::from(i) / 24.0;
                let mix =
                    |p: f64, q: f64, r: f64| (1.0 - t) * (1.0 - t) * p + 2.0 * t * (1.0 - t) * q + t * t * r;
                (mix(a.0, control.0, b.0), mix(a.1, control.1, b.1))
            })
            .collect();
        points.windows(2).map(|w| items_hit(layout, from, to, w[0], w[1])).sum::<usize>()
    };
    let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let mut least = in_the_way(middle);
    let mut best = None;
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy).max(1.0);
    for step in 1..=12 {
        for side in [1.0, -1.0] {
            if least == 0 {
                return best;
            }
            let shift = side * 30.0 * f64::from(step);
            let control = (middle.0 - dy / length * shift, middle.1 + dx / length * shift);
            let found = in_the_way(control);
            if found < least {
                (least, best) = (found, Some(control));
            }
        }
    }
    best
}

/// How many items other than its ends a segment runs through.
pub(super) fn items_hit(layout: &Layout, a: usize, b: usize, p: (f64, f64), q: (f64, f64)) -> usize {
    let others = layout.items.iter().enumerate().filter(|(i, _)| *i != a && *i != b);
    others.filter(|(_, r)| segment_meets(p, q, r)).count()
}

/// How many labels of plates a segment runs through.
pub(super) fn labels_hit(layout: &Layout, p: (f64, f64), q: (f64, f64)) -> usize {
    layout.plates.iter().filter(|plate| segment_meets(p, q, &plate.label_at)).count()
}

/// The place of a label in the lower right or left corner of a frame.
pub(super) fn corner(label: &str, r: Rect, right: bool) -> Rect {
    let w = names::width(&names::plate(label), 13.0);
    let x = if right { r.x + r.w - w - 8.0 } else { r.x + 8.0 };
    Rect { x, y: r.y + r.h - LABEL - 2.0, w, h: LABEL - 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::draw::picture::picture;
    use crate::graph::sample::random;

    #[test]
    fn nothing_overlaps_and_plates_hold_exactly_their_own() {
        for seed in 0..120 {
            let dag = random(2 + (seed % 11) as usize, 0.25, 0.2, seed);
            let picture = picture(&dag);
            let layout = layout(&picture);
            for (i, a) in layout.items.iter().enumerate() {
                let page = Rect { x: 0.0, y: 0.0, w: layout.size.0, h: layout.size.1 };
                assert!(page.contains(a), "seed {seed}: item {i} leaves the page");
                for (j, b) in layout.items.iter().enumerate().skip(i + 1) {
                    assert!(!a.overlaps(b), "seed {seed}: items {i} and {j} overlap");
                }
                for plate in &layout.plates {
                    let inside = plate.items.contains(&i);
                    assert_eq!(
                        inside,
                        plate.rect.contains(a),
                        "seed {seed}: item {i}, plate {}",
                        plate.label
                    );
                    assert_eq!(
                        inside,
                        plate.rect.overlaps(a),
                        "seed {seed}: item {i}, plate {}",
                        plate.label
                    );
                }
            }
            for (i, a) in layout.plates.iter().enumerate() {
                for (j, b) in layout.plates.iter().enumerate().skip(i + 1) {
                    let nested = b.inner.contains(&i) || a.rect.overlaps(&b.rect) && b.rect.contains(&a.rect);
                    assert!(nested || !a.rect.overlaps(&b.rect), "seed {seed}: plates {i} and {j} cross");
                }
            }
            for (from, to) in &picture.edges {
                let (a, b) = (layout.items[*from], layout.items[*to]);
                assert!(a.y + a.h < b.y, "seed {seed}: the edge {from} → {to} does not go down");
            }
        }
    }
}
