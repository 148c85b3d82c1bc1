//! Ranks, and the tree of plates whose children are moved about until the picture is good.

use super::geometry::{Rect, segments_cross};
use super::layout::{
    EFFORT, GAP, HUGE, LABEL, Layout, PAD, Placed, RADIUS, ROW_GAP, corner, items_hit, labels_hit,
};
use super::names;
use super::picture::{Group, Look, Picture};

/// As late as possible, sinks as early as possible: 0 is the top row.
pub(super) fn ranks(picture: &Picture) -> Vec<usize> {
    let n = picture.items.len();
    let mut parents = vec![Vec::new(); n];
    let mut children = vec![Vec::new(); n];
    for (from, to) in &picture.edges {
        children[*from].push(*to);
        parents[*to].push(*from);
    }
    let mut waiting: Vec<usize> = parents.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..n).filter(|i| waiting[*i] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for child in &children[order[at]] {
            waiting[*child] -= 1;
            if waiting[*child] == 0 {
                order.push(*child);
            }
        }
        at += 1;
    }
    let mut rank = vec![0_usize; n];
    for i in &order {
        rank[*i] = parents[*i].iter().map(|p| rank[*p] + 1).max().unwrap_or(0);
    }
    for i in order.iter().rev() {
        if let Some(lowest) = children[*i].iter().map(|c: &usize| rank[*c]).min() {
            rank[*i] = lowest.saturating_sub(1);
        }
    }
    rank
}

/// The groups as a flat tree, children after parents; `groups[0]` is the whole picture.
pub(super) struct Tree {
    groups: Vec<Node>,
}

struct Node {
    label: String,
    order: Vec<Child>,
    /// First and last rank.
    ranks: (usize, usize),
    /// Items in it, at any depth.
    all: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Child {
    Item(usize),
    Group(usize),
}

/// Where rows are: centre lines, and the room of plates.
pub(super) struct Rows {
    centre: Vec<f64>,
    half: Vec<f64>,
    /// How far the frame of each group reaches above its first and below its last row.
    above: Vec<f64>,
    below: Vec<f64>,
    height: f64,
}

impl Tree {
    pub(super) fn new(picture: &Picture, ranks: &[usize]) -> Tree {
        let mut tree = Tree { groups: Vec::new() };
        tree.add(&picture.root, ranks);
        tree
    }

    fn add(&mut self, group: &Group, ranks: &[usize]) -> usize {
        let id = self.groups.len();
        let all = group.all();
        let span = |f: fn(usize, usize) -> usize| all.iter().map(|i| ranks[*i]).reduce(f).unwrap_or(0);
        let order = group.items.iter().map(|i| Child::Item(*i)).collect();
        let ranks_of = (span(usize::min), span(usize::max));
        self.groups.push(Node { label: group.label.clone(), order, ranks: ranks_of, all });
        for inner in &group.groups {
            let child = self.add(inner, ranks);
            self.groups[id].order.push(Child::Group(child));
        }
        id
    }

    fn items_of(&self, child: Child) -> Vec<usize> {
        match child {
            Child::Item(i) => vec![i],
            Child::Group(g) => self.groups[g].all.clone(),
        }
    }

    fn ranks_of(&self, child: Child, ranks: &[usize]) -> (usize, usize) {
        match child {
            Child::Item(i) => (ranks[i], ranks[i]),
            Child::Group(g) => self.groups[g].ranks,
        }
    }

    /// A first order: children near what they are joined to.
    pub(super) fn sort_by_barycentre(&mut self, picture: &Picture) {
        for _ in 0..4 {
            let mut position = vec![0.0; picture.items.len()];
            self.number(0, &mut 0.0, &mut position);
            for at in 0..self.groups.len() {
                let mut keyed: Vec<(f64, Child)> = self.groups[at]
                    .order
                    .iter()
                    .map(|child| {
                        let own = self.items_of(*child);
                        let joined: Vec<f64> = picture
                            .edges
                            .iter()
                            .filter_map(|(a, b)| match (own.contains(a), own.contains(b)) {
                                (true, false) => Some(position[*b]),
                                (false, true) => Some(position[*a]),
                                _ => None,
                            })
                            .collect();
                        let here = own.iter().map(|i| position[*i]).sum::<f64>() / own.len().max(1) as f64;
                        (
                            if joined.is_empty() {
                                here
                            } else {
                                joined.iter().sum::<f64>() / joined.len() as f64
                            },
                            *child,
                        )
                    })
                    .collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.groups[at].order = keyed.into_iter().map(|(_, child)| child).collect();
            }
        }
    }

    /// Moves one child after the other to where the picture gets better, until nothing helps or the
    /// effort is spent.
    pub(super) fn improve(&mut self, picture: &Picture, ranks: &[usize], rows: &Rows, best: &mut Layout) {
        let (items, edges) = (picture.items.len(), picture.edges.len());
        let mut tries = EFFORT / (24 * items * (items + edges) + edges * edges + 1);
        let mut best_cost = cost(picture, best);
        let mut improved = true;
        while improved {
            improved = false;
            for at in 0..self.groups.len() {
                for i in 0..self.groups[at].order.len() {
                    for j in 0..self.groups[at].order.len() {
                        if i == j {
                            continue;
                        }
                        if tries == 0 {
                            return;
                        }
                        tries -= 1;
                        let before = self.groups[at].order.clone();
                        let child = self.groups[at].order.remove(i);
                        self.groups[at].order.insert(j, child);
                        let tried = self.place(picture, ranks, rows);
                        let tried_cost = cost(picture, &tried);
                        if tried_cost < best_cost - 1e-6 {
                            (*best, best_cost) = (tried, tried_cost);
                            improved = true;
                        } else {
                            self.groups[at].order = before;
                        }
                    }
                }
            }
        }
    }

    fn number(&self, group: usize, next: &mut f64, position: &mut [f64]) {
        for child in &self.groups[group].order {
            match child {
                Child::Item(i) => {
                    position[*i] = *next;
                    *next += 1.0;
                }
                Child::Group(g) => self.number(*g, next, position),
            }
        }
    }

    pub(super) fn rows(&self, picture: &Picture, ranks: &[usize]) -> Rows {
        let count = ranks.iter().max().map_or(1, |m| m + 1);
        let mut half = vec![0.0_f64; count];
        for (i, rank) in ranks.iter().enumerate() {
            half[*rank] = half[*rank].max(item_size(picture, i).1 / 2.0);
        }
        let mut above = vec![0.0; self.groups.len()];
        let mut below = vec![0.0; self.groups.len()];
        let (mut row_above, mut row_below) = (vec![0.0_f64; count], vec![0.0_f64; count]);
        // children come after their parents
        for g in (1..self.groups.len()).rev() {
            let (first, last) = self.groups[g].ranks;
            let inner = |reach: &[f64], edge: &dyn Fn(usize) -> bool| {
                let groups = self.groups[g].order.iter().filter_map(|c| match c {
                    Child::Group(i) if edge(*i) => Some(reach[*i]),
                    _ => None,
                });
                groups.fold(0.0, f64::max)
            };
            above[g] = PAD + inner(&above, &|i| self.groups[i].ranks.0 == first);
            below[g] = PAD + LABEL + inner(&below, &|i| self.groups[i].ranks.1 == last);
            row_above[first] = row_above[first].max(above[g]);
            row_below[last] = row_below[last].max(below[g]);
        }
        let mut centre = Vec::with_capacity(count);
        let mut y = PAD;
        for r in 0..count {
            y += row_above[r] + half[r];
            centre.push(y);
            y += half[r] + row_below[r] + ROW_GAP;
        }
        Rows { centre, half, above, below, height: y - ROW_GAP + PAD }
    }

    pub(super) fn place(&self, picture: &Picture, ranks: &[usize], rows: &Rows) -> Layout {
        // 1. pack from left to right, inside out
        let mut width = vec![0.0; self.groups.len()];
        let mut offsets: Vec<Vec<f64>> = vec![Vec::new(); self.groups.len()];
        for g in (0..self.groups.len()).rev() {
            let size = |child: Child| match child {
                Child::Item(i) => item_size(picture, i).0,
                Child::Group(i) => width[i] + 2.0 * PAD,
            };
            let order = &self.groups[g].order;
            let mut xs: Vec<f64> = Vec::with_capacity(order.len());
            for (i, child) in order.iter().enumerate() {
                let own = self.ranks_of(*child, ranks);
                let x = (0..i)
                    .filter(|j| touch(own, self.ranks_of(order[*j], ranks)))
                    .map(|j| xs[j] + size(order[j]) + GAP)
                    .fold(0.0, f64::max);
                xs.push(x);
            }
            let content = order.iter().zip(&xs).map(|(c, x)| x + size(*c)).fold(0.0, f64::max);
            width[g] = if g == 0 {
                content
            } else {
                content.max(names::width(&names::plate(&self.groups[g].label), 13.0) + 8.0)
            };
            offsets[g] = xs;
        }
        // 2. absolute places: left edge of every child, content span of every group
        let mut item_x = vec![0.0; picture.items.len()];
        let mut span = vec![(0.0, width[0]); self.groups.len()];
        for g in 0..self.groups.len() {
            for (child, x) in self.groups[g].order.iter().zip(&offsets[g]) {
                let left = span[g].0 + x;
                match child {
                    Child::Item(i) => item_x[*i] = left,
                    Child::Group(i) => span[*i] = (left + PAD, left + PAD + width[*i]),
                }
            }
        }
        // 3. move towards neighbours, order and room kept
        for _ in 0..if picture.items.len() <= HUGE { 24 } else { 0 } {
            for g in 0..self.groups.len() {
                self.relax(g, picture, ranks, &mut item_x, &mut span);
            }
        }
        self.finish(picture, ranks, rows, &item_x, &span)
    }

    fn relax(
        &self,
        g: usize,
        picture: &Picture,
        ranks: &[usize],
        item_x: &mut [f64],
        span: &mut [(f64, f64)],
    ) {
        let order = &self.groups[g].order;
        let extent = |child: Child, item_x: &[f64], span: &[(f64, f64)]| match child {
            Child::Item(i) => (item_x[i], item_x[i] + item_size(picture, i).0),
            Child::Group(i) => (span[i].0 - PAD, span[i].1 + PAD),
        };
        for (i, child) in order.iter().enumerate() {
            let own = self.items_of(*child);
            let centre = |i: usize, item_x: &[f64]| item_x[i] + item_size(picture, i).0 / 2.0;
            let mut pull = (0.0, 0.0);
            for (a, b) in &picture.edges {
                let (inside, outside) = match (own.contains(a), own.contains(b)) {
                    (true, false) => (*a, *b),
                    (false, true) => (*b, *a),
                    _ => continue,
                };
                pull = (pull.0 + centre(outside, item_x) - centre(inside, item_x), pull.1 + 1.0);
            }
            if pull.1 == 0.0 {
                continue;
            }
            let (left, right) = extent(*child, item_x, span);
            let ranks_own = self.ranks_of(*child, ranks);
            let bounds = if g == 0 { (f64::NEG_INFINITY, f64::INFINITY) } else { span[g] };
            let (mut low, mut high) = (bounds.0 - left, bounds.1 - right);
            for (j, other) in order.iter().enumerate() {
                if j == i || !touch(ranks_own, self.ranks_of(*other, ranks)) {
                    continue;
                }
                let (l, r) = extent(*other, item_x, span);
                if j < i {
                    low = low.max(r + GAP - left);
                } else {
                    high = high.min(l - GAP - right);
                }
            }
            if low > high {
                continue;
            }
            self.shift(*child, (pull.0 / pull.1).clamp(low, high), item_x, span);
        }
    }

    fn shift(&self, child: Child, by: f64, item_x: &mut [f64], span: &mut [(f64, f64)]) {
        for i in self.items_of(child) {
            item_x[i] += by;
        }
        let mut groups: Vec<usize> = match child {
            Child::Item(_) => Vec::new(),
            Child::Group(g) => vec![g],
        };
        while let Some(g) = groups.pop() {
            span[g] = (span[g].0 + by, span[g].1 + by);
            groups.extend(self.groups[g].order.iter().filter_map(|c| match c {
                Child::Group(i) => Some(*i),
                Child::Item(_) => None,
            }));
        }
    }

    fn finish(
        &self,
        picture: &Picture,
        ranks: &[usize],
        rows: &Rows,
        item_x: &[f64],
        span: &[(f64, f64)],
    ) -> Layout {
        let lefts = item_x.iter().copied().chain(span.iter().skip(1).map(|s| s.0 - PAD));
        let left = lefts.fold(f64::INFINITY, f64::min);
        let shift = if left.is_finite() { PAD - left } else { 0.0 };
        let items: Vec<Rect> = (0..picture.items.len())
            .map(|i| {
                let (w, h) = item_size(picture, i);
                Rect { x: item_x[i] + shift, y: rows.centre[ranks[i]] - h / 2.0, w, h }
            })
            .collect();
        let count = self.groups.len();
        let plates: Vec<Placed> = (1..count)
            .rev()
            .map(|g| {
                let group = &self.groups[g];
                let top = rows.centre[group.ranks.0] - rows.half[group.ranks.0] - rows.above[g];
                let bottom = rows.centre[group.ranks.1] + rows.half[group.ranks.1] + rows.below[g];
                let (x, w) = (span[g].0 - PAD + shift, span[g].1 - span[g].0 + 2.0 * PAD);
                let inner = group.order.iter().filter_map(|c| match c {
                    Child::Group(i) => Some(count - 1 - i),
                    Child::Item(_) => None,
                });
                let rect = Rect { x, y: top, w, h: bottom - top };
                Placed {
                    label: group.label.clone(),
                    rect,
                    label_at: corner(&group.label, rect, true),
                    items: group.all.clone(),
                    inner: inner.collect(),
                }
            })
            .collect();
        let rights = items.iter().chain(plates.iter().map(|p| &p.rect)).map(|r| r.x + r.w);
        let width = rights.fold(0.0, f64::max) + PAD;
        Layout { items, plates, size: (width, rows.height) }
    }
}

fn touch(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

fn item_size(picture: &Picture, i: usize) -> (f64, f64) {
    let item = &picture.items[i];
    match item.look {
        // the label stands above the dot
        Look::Dot => (names::width(&names::argument(&item.label), 13.0).max(10.0), 26.0),
        _ => ((names::width(&names::name(&item.label), 16.0) + 18.0).max(2.0 * RADIUS), 2.0 * RADIUS),
    }
}

/// Smaller is better: edges through things, crossings, then length.
fn cost(picture: &Picture, layout: &Layout) -> f64 {
    let centre = |i: usize| layout.items[i].centre();
    let mut cost = 0.25 * layout.size.0;
    for (k, (a, b)) in picture.edges.iter().enumerate() {
        let (p, q) = (centre(*a), centre(*b));
        cost += (p.0 - q.0).abs();
        cost += 1000.0 * items_hit(layout, *a, *b, p, q) as f64 + 60.0 * labels_hit(layout, p, q) as f64;
        for (c, d) in picture.edges.iter().skip(k + 1) {
            if a != c && a != d && b != c && b != d && segments_cross(p, q, centre(*c), centre(*d)) {
                cost += 120.0;
            }
        }
    }
    cost
}
