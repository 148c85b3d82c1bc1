//! Plates: which node repeats over what, index letters, and boxes that can be drawn.
//!
//! A stochastic node repeats over all its dimensions. Data, derived nodes and params repeat over
//! their leading dimension, if some stochastic node repeats over it as well.

use std::collections::{BTreeMap, BTreeSet};

use super::dag::{Dag, Node, NodeId, Plate, PlateId};
use crate::check::dim::{Atom, Dim};
use crate::check::typed::Model;

/// Letters for indices, in order of preference, where the dimension suggests none.
const LETTERS: [&str; 12] = ["m", "k", "j", "i", "l", "g", "h", "p", "q", "r", "s", "u"];

/// What a drawing puts into one frame. Frames nest and never cross: a node in plates `m` and `k`
/// lies in a frame `k` inside the frame `m`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frame {
    /// The plate; none for the whole picture.
    pub plate: Option<PlateId>,
    /// The nodes directly in it, in declaration order.
    pub nodes: Vec<NodeId>,
    /// The frames in it.
    pub frames: Vec<Frame>,
}

/// The frames of the nodes that `keep` holds.
pub fn frames(dag: &Dag, keep: &dyn Fn(NodeId) -> bool) -> Frame {
    let mut root = Frame::default();
    for node in dag.nodes().iter().filter(|n| keep(n.id)) {
        let mut at = &mut root;
        for plate in &node.plates {
            let position = at.frames.iter().position(|f| f.plate == Some(*plate)).unwrap_or_else(|| {
                at.frames.push(Frame { plate: Some(*plate), ..Frame::default() });
                at.frames.len() - 1
            });
            at = &mut at.frames[position];
        }
        at.nodes.push(node.id);
    }
    root
}

/// Finds the plates and puts every node into its own. Outer plates come first: those with more
/// nodes, then those met first.
pub(super) fn assign_plates(model: &Model, nodes: &mut [Node]) -> Vec<Plate> {
    let mut repeats: BTreeSet<Dim> = BTreeSet::new();
    for (node, _) in model.stochastic() {
        repeats.extend(node.ty.shape.iter().filter(|d| d.as_number() != Some(1)).cloned());
    }
    let dims_of = |id: NodeId| -> Vec<&Dim> {
        let node = model.node(id);
        let taken = if node.dist().is_some() { node.ty.shape.len() } else { 1 };
        let mut dims: Vec<&Dim> = node.ty.shape.iter().take(taken).filter(|d| repeats.contains(*d)).collect();
        dims.dedup();
        dims
    };

    let mut members: BTreeMap<&Dim, (usize, usize)> = BTreeMap::new();
    let mut met = 0;
    for node in &model.nodes {
        for dim in dims_of(node.id) {
            let entry = members.entry(dim).or_insert((0, met));
            entry.0 += 1;
            met += 1;
        }
    }
    let mut order: Vec<(&Dim, (usize, usize))> = members.into_iter().collect();
    order.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));

    let dims: Vec<&Dim> = order.into_iter().map(|(dim, _)| dim).collect();
    let sets: BTreeSet<Vec<usize>> = model
        .nodes
        .iter()
        .map(|node| {
            let own = dims_of(node.id);
            (0..dims.len()).filter(|i| own.contains(&dims[*i])).collect()
        })
        .collect();
    let dims: Vec<&Dim> = fewest_frames(dims.len(), &sets).into_iter().map(|i| dims[i]).collect();
    for node in nodes.iter_mut() {
        let own = dims_of(node.id);
        node.plates = (0..dims.len()).filter(|i| own.contains(&dims[*i])).map(PlateId).collect();
    }
    let mut taken: BTreeSet<String> = model.nodes.iter().map(|n| n.name.clone()).collect();
    // letters that a dimension suggests are given first
    let mut letters: Vec<Option<String>> = vec![None; dims.len()];
    for suggested in [true, false] {
        for (dim, letter) in dims.iter().zip(&mut letters).filter(|(_, letter)| letter.is_none()) {
            let wishes: Vec<String> = if suggested {
                suggestion(dim).into_iter().collect()
            } else {
                LETTERS
                    .iter()
                    .map(|l| (*l).to_owned())
                    .chain((1..).map(|i| format!("i{i}")).take(dims.len() + taken.len()))
                    .collect()
            };
            if let Some(free) = wishes.into_iter().find(|l| !taken.contains(l)) {
                taken.insert(free.clone());
                *letter = Some(free);
            }
        }
    }
    dims.iter()
        .zip(letters)
        .map(|(dim, letter)| Plate { index: letter.unwrap_or_default(), extent: extent(model, dim) })
        .collect()
}

/// The order of plates in which frames are fewest, so that what shares a plate shares a frame; among
/// equals the first in lexicographic order. More than six plates keep their order.
fn fewest_frames(count: usize, sets: &BTreeSet<Vec<usize>>) -> Vec<usize> {
    let frames = |order: &[usize]| {
        let mut all: BTreeSet<Vec<usize>> = BTreeSet::new();
        for set in sets {
            let path: Vec<usize> = order.iter().copied().filter(|i| set.contains(i)).collect();
            all.extend((1..=path.len()).map(|n| path[..n].to_vec()));
        }
        all.len()
    };
    let mut order: Vec<usize> = (0..count).collect();
    if count > 6 {
        return order;
    }
    let mut best = (frames(&order), order.clone());
    while next_permutation(&mut order) {
        let found = frames(&order);
        if found < best.0 {
            best = (found, order.clone());
        }
    }
    best.1
}

/// The next one in lexicographic order; `false` after the last.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(i) = (1..order.len()).rev().find(|i| order[i - 1] < order[*i]) else { return false };
    let Some(j) = (i..order.len()).rev().find(|j| order[*j] > order[i - 1]) else { return false };
    order.swap(i - 1, j);
    order[i..].reverse();
    true
}

/// `n` for `N`, `k` for the levels of a category.
fn suggestion(dim: &Dim) -> Option<String> {
    match dim.as_atom() {
        Some(Atom::Symbol(s) | Atom::Train(s)) => s.chars().next().map(|c| c.to_lowercase().collect()),
        Some(Atom::Levels(_)) => Some("k".to_owned()),
        None => None,
    }
}

/// How a person calls it: `N`, `levels(school)`, `cols(phi)`.
fn extent(model: &Model, dim: &Dim) -> String {
    let name = |id: NodeId| model.node(id).name.clone();
    if dim.as_atom().is_none() && dim.as_number().is_none() {
        let axis =
            |i: usize| model.nodes.iter().find(|n| n.dist().is_none() && n.ty.shape.get(i) == Some(dim));
        if let Some(node) = axis(1) {
            return format!("cols({})", node.name);
        }
        if let Some(node) = axis(0) {
            return format!("rows({})", node.name);
        }
    }
    dim.display(&name).to_string()
}
