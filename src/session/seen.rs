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
        let (mut keys, low, high) = match all_finite(values) {
            true => keys(values),
            false => keys(&values.iter().copied().filter(|x| x.is_finite()).collect::<Vec<_>>()),
        };
        if keys.is_empty() {
            return Spread { low: 0.0, middle: 0.0, high: 0.0 };
        }
        let (low, high) = (of_key(low), of_key(high));
        if levels {
            return Spread { low, middle: most_frequent(&mut keys), high };
        }
        let half = (keys.len() - 1) / 2;
        let median = of_key(*keys.select_nth_unstable(half).1);
        // the largest power of ten that is at most a hundredth of the range; inwards, where the model was defined
        let digits = 2_i32.saturating_sub((high - low).log10().floor() as i32);
        let (low, high) = (at_digit(low, digits, f64::ceil), at_digit(high, digits, f64::floor));
        let middle = at_digit(median, digits, f64::round).clamp(low, high);
        Spread { low, middle, high }
    }
}

/// The key of each number, the lowest and the highest.
fn keys(values: &[f64]) -> (Vec<i64>, i64, i64) {
    let mut keys = vec![0; values.len()];
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    widest(
        #[inline(always)]
        || {
            for (to, x) in keys.iter_mut().zip(values) {
                *to = key(*x);
                low = low.min(*to);
                high = high.max(*to);
            }
        },
    );
    (keys, low, high)
}

/// A whole number in the order of the numbers: whole numbers are compared and selected faster.
#[inline(always)]
fn key(x: f64) -> i64 {
    let bits = (x + 0.0).to_bits() as i64;
    // the bits of negative numbers, but for the sign, the other way round
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

fn of_key(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63) as u64 >> 1) as i64) as u64)
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

fn most_frequent(codes: &mut [i64]) -> f64 {
    codes.sort_unstable();
    let mut best = (0, 0);
    for run in codes.chunk_by(|a, b| a == b) {
        if run.len() > best.0 {
            best = (run.len(), run[0]);
        }
    }
    of_key(best.1)
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
    }
}
