//! What of lines and outlines lies inside a rectangle.

use super::Point;

/// A rectangle by its corners.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Window {
    /// Whether a point is inside, the edge included.
    pub fn has(&self, (x, y): Point) -> bool {
        x >= self.left - 1e-9 && x <= self.right + 1e-9 && y >= self.top - 1e-9 && y <= self.bottom + 1e-9
    }

    /// The parts of a line that are inside; a point that is no number interrupts it.
    pub fn line(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut parts: Vec<Vec<Point>> = Vec::new();
        let mut joined = false;
        for pair in points.windows(2) {
            let Some((p, q)) = self.segment(pair[0], pair[1]) else {
                joined = false;
                continue;
            };
            match parts.last_mut() {
                Some(part) if joined && part.last() == Some(&p) => part.push(q),
                _ => parts.push(vec![p, q]),
            }
            joined = true;
        }
        parts
    }

    /// Liang–Barsky (1984).
    fn segment(&self, p: Point, q: Point) -> Option<(Point, Point)> {
        if ![p.0, p.1, q.0, q.1].iter().all(|x| x.is_finite()) {
            return None;
        }
        let (dx, dy) = (q.0 - p.0, q.1 - p.1);
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        let sides =
            [(-dx, p.0 - self.left), (dx, self.right - p.0), (-dy, p.1 - self.top), (dy, self.bottom - p.1)];
        for (d, room) in sides {
            if d == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if d < 0.0 {
                from = from.max(room / d);
            } else {
                to = to.min(room / d);
            }
        }
        let at = |t: f64| (p.0 + t * dx, p.1 + t * dy);
        (from <= to).then(|| (if from > 0.0 { at(from) } else { p }, if to < 1.0 { at(to) } else { q }))
    }

    /// Sutherland–Hodgman (1974): what of a closed outline is inside.
    pub fn ring(&self, ring: &[Point]) -> Vec<Point> {
        let mut inside: Vec<Point> =
            ring.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let sides: [(usize, f64, f64); 4] =
            [(0, self.left, 1.0), (0, self.right, -1.0), (1, self.top, 1.0), (1, self.bottom, -1.0)];
        for (axis, edge, sign) in sides {
            let depth = |p: &Point| sign * (if axis == 0 { p.0 } else { p.1 } - edge);
            let mut kept = Vec::with_capacity(inside.len() + 4);
            for (i, p) in inside.iter().enumerate() {
                let q = &inside[(i + 1) % inside.len()];
                let (a, b) = (depth(p), depth(q));
                if a >= 0.0 {
                    kept.push(*p);
                }
                if (a < 0.0) != (b < 0.0) {
                    let t = a / (a - b);
                    kept.push((p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1)));
                }
            }
            inside = kept;
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Window = Window { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };

    #[test]
    fn lines_are_cut_at_the_edge_and_at_what_is_no_number() {
        let parts =
            UNIT.line(&[(-1.0, 0.5), (0.5, 0.5), (0.5, 2.0), (f64::NAN, 0.0), (0.1, 0.1), (0.2, 0.1)]);
        assert_eq!(parts, [vec![(0.0, 0.5), (0.5, 0.5), (0.5, 1.0)], vec![(0.1, 0.1), (0.2, 0.1)]]);
        assert!(UNIT.line(&[(2.0, 2.0), (3.0, 3.0)]).is_empty());
    }

    #[test]
    fn rings_keep_their_area_inside() {
        let ring = UNIT.ring(&[(-1.0, -1.0), (2.0, -1.0), (2.0, 0.5), (-1.0, 0.5)]);
        // shoelace
        let area: f64 = (0..ring.len())
            .map(|i| {
                let (p, q) = (ring[i], ring[(i + 1) % ring.len()]);
                0.5 * (p.0 * q.1 - q.0 * p.1)
            })
            .sum();
        assert!((area.abs() - 0.5).abs() < 1e-12);
        assert!(UNIT.ring(&[(5.0, 5.0), (6.0, 5.0), (6.0, 6.0)]).is_empty());
    }
}
