//! What a picture needs of the training rows: the spread of every input, and the rows that carry weight.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::bind::{self, Bound, Schema};
use super::nodes::Names;
use super::posterior::Posterior;
use crate::check::typed::{Elem, Model, NodeId};
use crate::design::Label;
use crate::math::sums::all_finite;
use crate::math::wide::widest;

/// With more inputs than this no row can be placed in a picture.
const DRAWN: usize = 2;

/// Numbers that are looked at together.
const LANES: usize = 8;
const BLOCK: usize = 512;
/// A range has fewer cells than these.
const CELLS: usize = 1 << 10;

/// Kept with a fit. Categories are codes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The columns of every input that has a value in each row.
    pub spreads: BTreeMap<NodeId, Vec<Spread>>,
    /// Training rows that a relevant weight is centred on, from 0, ascending.
    pub rows: Vec<usize>,
    /// Inputs of these rows, column-major; empty where there are too many.
    pub at: BTreeMap<NodeId, Vec<Option<f64>>>,
}

/// The values of one column. Of numbers to two digits of their range, so that it repeats no row's.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// The lowest.
    pub low: f64,
    /// The (lower) median of numbers, the most frequent level (the first of several).
    pub middle: f64,
    /// The highest.
    pub high: f64,
}

impl Seen {
    /// What was seen at training.
    pub fn new(model: &Model, bound: &Bound, posterior: &Posterior, names: &Names) -> Seen {
        let mut seen = Seen { rows: centres(posterior, names), ..Seen::default() };
        for id in inputs(model, bound) {
            let Some(value) = bound.values.get(&id) else { continue };
            let levels = matches!(model.node(id).ty.elem, Elem::Bool | Elem::Category | Elem::Ordered);
            let columns = value.array.as_slice().chunks(value.rows().max(1));
            let spreads = columns.map(|c| Spread::of(c, levels));
            seen.spreads.insert(id, spreads.collect());
        }
        if seen.spreads.values().map(Vec::len).sum::<usize>() <= DRAWN {
            for id in seen.spreads.keys().copied().collect::<Vec<_>>() {
                let Some(value) = bound.values.get(&id) else { continue };
                let entry = |column: usize, row: &usize| {
                    value.array.get((*row, column)).copied().filter(|x| x.is_finite())
                };
                let entries = (0..value.cols()).flat_map(|c| seen.rows.iter().map(move |r| entry(c, r)));
                let entries = entries.collect();
                seen.at.insert(id, entries);
            }
        }
        seen
    }

    /// What cannot be, in words: columns that the model does not have, codes beyond the levels.
    pub fn fault(&self, model: &Model, schema: &Schema) -> Option<String> {
        let has = |id: &NodeId| model.nodes.get(id.index()).is_some_and(|n| n.data().is_some());
        let width = |id: &NodeId| schema.columns.get(id).map_or(0, Vec::len);
        let level = |id: &NodeId, x: f64| match schema.levels.get(id) {
            Some(levels) => x >= 0.0 && x < levels.len().max(2) as f64,
            None => x.is_finite(),
        };
        let spread = |(id, columns): (&NodeId, &Vec<Spread>)| {
            let fits = |s: &Spread| [s.low, s.middle, s.high].iter().all(|x| level(id, *x));
            has(id) && columns.len() == width(id) && columns.iter().all(fits)
        };
        let rows = |(id, values): (&NodeId, &Vec<Option<f64>>)| {
            has(id) && self.rows.len().checked_mul(width(id)) == Some(values.len())
        };
        let fits = self.spreads.iter().all(spread) && self.at.iter().all(rows);
        (!fits).then(|| "a memory of rows that its columns do not have".to_owned())
    }
}

impl Spread {
    /// Of values that are not missing; all 0 if there are none.
    pub fn of(values: &[f64], levels: bool) -> Spread {
        if !all_finite(values) {
            return Spread::of(&values.iter().copied().filter(|x| x.is_finite()).collect::<Vec<_>>(), levels);
        }
        if values.is_empty() {
            return Spread { low: 0.0, middle: 0.0, high: 0.0 };
        }
        let (low, high) = range(values);
        if levels || low == high {
            return Spread { low, middle: if levels { most_frequent(values) } else { low }, high };
        }
        // the largest power of ten that is at most a hundredth of the range; inwards, where the model was defined
        let digits = 2_i32.saturating_sub((high - low).log10().floor() as i32);
        let middle = median(values, low, high, digits);
        let (low, high) = (at_digit(low, digits, f64::ceil), at_digit(high, digits, f64::floor));
        Spread { low, middle: middle.clamp(low, high), high }
    }
}

/// The lowest and the highest.
fn range(values: &[f64]) -> (f64, f64) {
    widest(
        #[inline(always)]
        || {
            let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
            let (chunks, rest) = values.as_chunks::<LANES>();
            for chunk in chunks {
                for lane in 0..LANES {
                    low[lane] = if chunk[lane] < low[lane] { chunk[lane] } else { low[lane] };
                    high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
                }
            }
            let (low, high) = (low.iter().chain(rest), high.iter().chain(rest));
            // of a zero without its sign
            (
                low.fold(f64::INFINITY, |a, b| a.min(*b)) + 0.0,
                high.fold(f64::NEG_INFINITY, |a, b| a.max(*b)) + 0.0,
            )
        },
    )
}

/// The (lower) median of numbers between these two at so many decimals, by how many of them round to each number of so many.
fn median(values: &[f64], low: f64, high: f64, digits: i32) -> f64 {
    let half = (values.len() - 1) / 2;
    let scale = 10_f64.powi(digits.abs());
    let first = cell(low, scale, digits);
    let cells = cell(high, scale, digits) - first + 1.0;
    if !(scale.is_finite() && first.is_finite() && cells <= CELLS as f64) {
        let mut values = values.to_vec();
        return at_digit(*values.select_nth_unstable_by(half, f64::total_cmp).1, digits, f64::round);
    }
    let mut counts = [0_u32; CELLS];
    let mut which = [0_u16; BLOCK];
    for part in values.chunks(BLOCK) {
        widest(
            #[inline(always)]
            || which.iter_mut().zip(part).for_each(|(to, x)| *to = (cell(*x, scale, digits) - first) as u16),
        );
        which[..part.len()].iter().for_each(|at| counts[usize::from(*at) % CELLS] += 1);
    }
    let mut below = 0;
    let middle = counts.iter().position(|count| {
        below += *count as usize;
        below > half
    });
    let middle = first + middle.unwrap_or_default() as f64;
    if digits >= 0 { middle / scale } else { middle * scale }
}

/// x in units of its last decimal.
#[inline(always)]
fn cell(x: f64, scale: f64, digits: i32) -> f64 {
    if digits >= 0 { (x * scale).round() } else { (x / scale).round() }
}

/// x cut behind so many decimals (before so many zeros, if negative); x itself where that is no number.
fn at_digit(x: f64, digits: i32, cut: fn(f64) -> f64) -> f64 {
    let scale = 10_f64.powi(digits.abs());
    let y = if digits >= 0 { cut(x * scale) / scale } else { cut(x / scale) * scale };
    if y.is_finite() { y } else { x }
}

/// The data nodes with a value in each row that prediction reads.
pub(crate) fn inputs(model: &Model, bound: &Bound) -> Vec<NodeId> {
    let needed = bind::needed(model);
    needed.into_iter().filter(|id| !bound.constants.contains(id) && !model.node(*id).is_observed()).collect()
}

/// Rows that relevant weights are centred on. Where nothing is pruned, those with q² > s.
fn centres(posterior: &Posterior, names: &Names) -> Vec<usize> {
    let mut rows = BTreeSet::new();
    for block in &posterior.blocks {
        let pruned = block.active.len() < block.len;
        let relevant = |i: usize| match (block.q[i], block.s[i]) {
            (Some(q), Some(s)) if !pruned => q * q > s,
            _ => true,
        };
        for i in block.active.iter().copied().filter(|i| relevant(*i)) {
            if let Some(Label::Centre(row)) = names.entries(block.node).and_then(|l| l.get(i)) {
                rows.insert(*row);
            }
        }
    }
    rows.into_iter().collect()
}

fn most_frequent(codes: &[f64]) -> f64 {
    let mut codes = codes.to_vec();
    codes.sort_unstable_by(f64::total_cmp);
    let mut best = (0, 0.0);
    for run in codes.chunk_by(|a, b| a == b) {
        if run.len() > best.0 {
            best = (run.len(), run[0]);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        let of = |v: &[f64], levels| Spread::of(v, levels);
        assert_eq!(of(&[3.0, 1.0, 2.0, 9.0], false), Spread { low: 1.0, middle: 2.0, high: 9.0 });
        let wide = of(&[-1234.5678, 1.2345, 8765.4321], false);
        assert_eq!(wide, Spread { low: -1230.0, middle: 0.0, high: 8760.0 });
        let narrow = of(&[0.0123456, 0.0234567, 0.0345678], false);
        assert_eq!(narrow, Spread { low: 0.0124, middle: 0.0235, high: 0.0345 });
        assert_eq!(of(&[7.5; 3], false), Spread { low: 7.5, middle: 7.5, high: 7.5 });
        assert_eq!(of(&[-1e308, 1e308], false), Spread { low: -1e308, middle: -1e308, high: 1e308 });
        assert_eq!(of(&[1.0, 2.0, 0.0, 2.0], true).middle, 2.0);
        assert_eq!(of(&[f64::NAN], false).high, 0.0);
        // medians by counting are those by sorting
        for (count, scale, offset) in
            [(2, 1.0, 0.0), (999, 3e-7, 5.0), (1000, 700.0, -1e6), (1731, 1e200, 0.0)]
        {
            let values: Vec<f64> =
                (0..count).map(|i| ((i * i) as f64).sin().powi(3) * scale + offset).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let (low, high) = (sorted[0], sorted[count - 1]);
            let digits = 2 - (high - low).log10().floor() as i32;
            let median = at_digit(sorted[(count - 1) / 2], digits, f64::round);
            assert_eq!(super::median(&values, low, high, digits), median, "{count} {scale}");
        }
    }
}
