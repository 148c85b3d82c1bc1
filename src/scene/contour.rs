//! Lines and areas of equal height on a grid, by marching squares (Lorensen and Cline 1987, in the plane).

use std::collections::BTreeMap;

use super::Point;

/// Heights on a grid of places.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Grid {
    /// Places of the columns, ascending.
    pub x: Vec<f64>,
    /// Places of the rows, ascending.
    pub y: Vec<f64>,
    /// Row after row; `NaN` counts as low.
    pub height: Vec<f64>,
}

/// An edge between two neighbours of the padded grid: column, row, and whether it runs along y.
type Edge = (usize, usize, bool);

impl Grid {
    /// The outlines of where the height is at least `level`: closed rings for the even-odd rule.
    pub fn area(&self, level: f64) -> Vec<Vec<Point>> {
        let rings = self.rings(level);
        rings.into_iter().map(|ring| ring.into_iter().map(|(_, p)| p).collect()).collect()
    }

    /// The lines where the height is `level`; the edge of the grid is none.
    pub fn lines(&self, level: f64) -> Vec<Vec<Point>> {
        let mut lines = Vec::new();
        for ring in self.rings(level) {
            // starts after a stretch along the edge, if there is one
            let start = ring.iter().position(|(edge, _)| self.is_outer(*edge)).unwrap_or(0);
            let mut line: Vec<Point> = Vec::new();
            let closed = !ring.iter().any(|(edge, _)| self.is_outer(*edge));
            for i in 0..ring.len() {
                let (edge, p) = ring[(start + i) % ring.len()];
                if self.is_outer(edge) {
                    lines.extend((line.len() > 1).then(|| std::mem::take(&mut line)));
                    line.clear();
                } else {
                    line.push(p);
                }
            }
            if closed {
                line.extend(line.first().copied());
            }
            lines.extend((line.len() > 1).then_some(line));
        }
        lines
    }

    /// Height at a place of the padded grid, which is lower than anything outside.
    fn at(&self, i: usize, j: usize) -> f64 {
        let (nx, ny) = (self.x.len(), self.y.len());
        if i == 0 || j == 0 || i > nx || j > ny {
            return f64::NEG_INFINITY;
        }
        let h = self.height.get((j - 1) * nx + i - 1).copied().unwrap_or(f64::NEG_INFINITY);
        if h.is_nan() { f64::NEG_INFINITY } else { h }
    }

    /// Whether an edge joins the grid to what surrounds it.
    fn is_outer(&self, (i, j, along_y): Edge) -> bool {
        let (nx, ny) = (self.x.len(), self.y.len());
        if along_y { j == 0 || j == ny } else { i == 0 || i == nx }
    }

    fn place(&self, i: usize, j: usize) -> Point {
        let clamp = |v: &[f64], k: usize| v.get(k.clamp(1, v.len()) - 1).copied().unwrap_or(0.0);
        (clamp(&self.x, i), clamp(&self.y, j))
    }

    /// Where the level is met on an edge.
    fn crossing(&self, (i, j, along_y): Edge, level: f64) -> Point {
        let (k, l) = if along_y { (i, j + 1) } else { (i + 1, j) };
        let (a, b) = (self.at(i, j), self.at(k, l));
        let (p, q) = (self.place(i, j), self.place(k, l));
        let t = match (a.is_finite(), b.is_finite()) {
            (true, true) => ((level - a) / (b - a)).clamp(0.0, 1.0),
            (true, false) => 0.0,
            _ => 1.0,
        };
        (p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1))
    }

    /// Closed rings with the high side on one hand, in a fixed order.
    fn rings(&self, level: f64) -> Vec<Vec<(Edge, Point)>> {
        if self.x.is_empty() || self.y.is_empty() {
            return Vec::new();
        }
        // around a cell: corners (i,j), (i+1,j), (i+1,j+1), (i,j+1); edge k joins corner k and k+1
        let mut next: BTreeMap<Edge, Edge> = BTreeMap::new();
        for j in 0..=self.y.len() {
            for i in 0..=self.x.len() {
                let corners = [self.at(i, j), self.at(i + 1, j), self.at(i + 1, j + 1), self.at(i, j + 1)];
                let high = corners.map(|h| h >= level);
                let edges: [Edge; 4] = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
                // an outline enters a cell where, going round, low follows high, and leaves where high follows low
                let enters: Vec<usize> = (0..4).filter(|k| high[*k] && !high[(k + 1) % 4]).collect();
                let leaves: Vec<usize> = (0..4).filter(|k| !high[*k] && high[(k + 1) % 4]).collect();
                match (enters.as_slice(), leaves.as_slice()) {
                    ([a], [b]) => {
                        next.insert(edges[*a], edges[*b]);
                    }
                    ([a, c], [_, _]) => {
                        // a saddle: the mean of the corners says what is joined in the middle
                        let middle = corners.iter().sum::<f64>() / 4.0 >= level;
                        let turn = |k: usize| if middle { (k + 1) % 4 } else { (k + 3) % 4 };
                        next.insert(edges[*a], edges[turn(*a)]);
                        next.insert(edges[*c], edges[turn(*c)]);
                    }
                    _ => {}
                }
            }
        }
        let mut rings = Vec::new();
        while let Some((first, _)) = next.first_key_value() {
            let mut edge = *first;
            let mut ring = Vec::new();
            while let Some(following) = next.remove(&edge) {
                ring.push((edge, self.crossing(edge, level)));
                edge = following;
            }
            rings.push(ring);
        }
        rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: usize, f: impl Fn(f64, f64) -> f64) -> Grid {
        let x: Vec<f64> = (0..n).map(|i| -1.0 + 2.0 * i as f64 / (n - 1) as f64).collect();
        let height = x.iter().flat_map(|y| x.iter().map(|x| f(*x, *y)).collect::<Vec<_>>()).collect();
        Grid { y: x.clone(), x, height }
    }

    fn area(rings: &[Vec<Point>]) -> f64 {
        let one = |r: &Vec<Point>| {
            (0..r.len())
                .map(|i| {
                    let (p, q) = (r[i], r[(i + 1) % r.len()]);
                    0.5 * (p.0 * q.1 - q.0 * p.1)
                })
                .sum::<f64>()
        };
        rings.iter().map(one).sum::<f64>().abs()
    }

    #[test]
    fn a_disc_and_its_complement() {
        let g = grid(101, |x, y| 0.25 - x * x - y * y);
        let quarter = std::f64::consts::PI * 0.25;
        assert_eq!(g.area(0.0).len(), 1);
        assert!((area(&g.area(0.0)) - quarter).abs() < 1e-3);
        let lines = g.lines(0.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        assert!(lines[0].iter().all(|(x, y)| ((x * x + y * y).sqrt() - 0.5).abs() < 1e-3));
        // the hole turns the other way round, so the signed areas subtract
        let outside = grid(101, |x, y| x * x + y * y - 0.25);
        assert_eq!(outside.area(0.0).len(), 2);
        assert!((area(&outside.area(0.0)) - (4.0 - quarter)).abs() < 1e-3);
        assert_eq!(outside.lines(0.0).len(), 1);
    }

    #[test]
    fn a_plane_ends_at_the_edge() {
        let g = grid(11, |x, _| x - 0.05);
        assert!((area(&g.area(0.0)) - 1.9).abs() < 1e-12);
        let lines = g.lines(0.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|(x, _)| (x - 0.05).abs() < 1e-12));
        assert_eq!((g.area(2.0).len(), g.lines(-5.0).len()), (0, 0));
        assert!((area(&g.area(-5.0)) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn saddles_and_what_is_no_number() {
        let g = grid(10, |x, y| x * y);
        // two squares; in the cell in the middle, of side 2/9, two triangles of 1/8 of it too many (or too few)
        assert!(((area(&g.area(0.0)) - 2.0).abs() - (2.0_f64 / 9.0).powi(2) / 4.0).abs() < 1e-9);
        let hostile = grid(5, |x, y| if x > 0.0 { f64::NAN } else { y / 0.0 });
        for ring in hostile.area(0.0).iter().chain(&hostile.lines(0.0)) {
            assert!(ring.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        }
        assert!(Grid::default().area(0.0).is_empty());
    }
}
