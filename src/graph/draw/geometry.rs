//! Rectangles and segments.

/// A rectangle in pixels, y downwards.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Its centre.
    pub fn centre(&self) -> (f64, f64) {
        (self.x + self.w / 2.0, self.y + self.h / 2.0)
    }

    /// Whether they share more than an edge.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.x + other.w
            && other.x < self.x + self.w
            && self.y < other.y + other.h
            && other.y < self.y + self.h
    }

    /// Whether `other` lies inside.
    pub fn contains(&self, other: &Rect) -> bool {
        self.x <= other.x
            && self.y <= other.y
            && other.x + other.w <= self.x + self.w
            && other.y + other.h <= self.y + self.h
    }
}

pub(super) fn segments_cross(p: (f64, f64), q: (f64, f64), r: (f64, f64), s: (f64, f64)) -> bool {
    let side =
        |a: (f64, f64), b: (f64, f64), c: (f64, f64)| (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
    side(p, q, r) * side(p, q, s) < 0.0 && side(r, s, p) * side(r, s, q) < 0.0
}

/// Liang–Barsky: whether a segment passes through a rectangle, 3 px around it included.
pub(super) fn segment_meets(p: (f64, f64), q: (f64, f64), r: &Rect) -> bool {
    let (dx, dy) = (q.0 - p.0, q.1 - p.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    let sides = [
        (-dx, p.0 - (r.x - 3.0)),
        (dx, r.x + r.w + 3.0 - p.0),
        (-dy, p.1 - (r.y - 3.0)),
        (dy, r.y + r.h + 3.0 - p.1),
    ];
    for (d, room) in sides {
        if d == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if d < 0.0 {
            from = from.max(room / d);
        } else {
            to = to.min(room / d);
        }
    }
    from < to
}
