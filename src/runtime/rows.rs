//! The rows that count, by class, and blocks of columns, both scaled by powers of two.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::core::LogLinear;
use super::prepare::NOTHING_LEFT;
use super::problem::{Hyper, Problem, Scale};
use crate::math::poll::poll;
use crate::math::power::times_two_to;
use crate::math::sums::sum_of_squares;

/// The rows that count, ordered by class.
pub(crate) struct Rows {
    /// Row of the problem, and factor √(k v).
    pub source: Vec<(usize, f64)>,
    pub t: DVector<f64>,
    /// Targets as given, for the variance.
    raw: Vec<f64>,
    pub classes: Vec<Gathered>,
}

/// Powers of a class; its rows, with the known part of their log precision.
type Members = (Vec<(usize, f64)>, Vec<(usize, f64)>);

pub(crate) struct Gathered {
    pub start: usize,
    pub end: usize,
    pub powers: Vec<(usize, f64)>,
    /// The largest known part of the log precisions.
    pub reference: f64,
    /// ½ Σ k (known − reference)
    pub known: f64,
    pub count: f64,
    pub terms: Vec<usize>,
    /// Rows are the user's times 2^−exponent.
    pub exponent: i32,
}

impl Rows {
    pub fn gather(problem: &Problem) -> Rows {
        let mut index: BTreeMap<Vec<(usize, u64)>, usize> = BTreeMap::new();
        let mut members: Vec<Members> = Vec::new();
        // rows of one noise often come one after another
        let mut last: Option<(&Scale, usize, f64)> = None;
        for r in (0..problem.targets.len()).filter(|r| problem.counts[*r] > 0.0) {
            let noise = &problem.noise[r];
            let (class, known) = match last {
                Some((same, class, known)) if same == noise => (class, known),
                _ => {
                    let log = fold_held(noise, &problem.hypers);
                    let key = log.powers.iter().map(|&(h, p)| (h, p.to_bits())).collect();
                    let class = *index.entry(key).or_insert_with(|| {
                        members.push((log.powers, Vec::new()));
                        members.len() - 1
                    });
                    (class, log.known)
                }
            };
            members[class].1.push((r, known));
            last = Some((noise, class, known));
        }
        let mut rows =
            Rows { source: Vec::new(), t: DVector::zeros(0), raw: Vec::new(), classes: Vec::new() };
        for (powers, list) in members {
            let reference = list.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max);
            let mut class = Gathered {
                start: rows.source.len(),
                end: rows.source.len() + list.len(),
                powers,
                reference,
                known: 0.0,
                count: 0.0,
                terms: Vec::new(),
                exponent: 0,
            };
            for (r, known) in list {
                let k = problem.counts[r];
                rows.source.push((r, (k * (known - reference).exp()).sqrt()));
                class.known += 0.5 * k * (known - reference);
                class.count += k;
                if !class.terms.contains(&problem.term[r]) {
                    class.terms.push(problem.term[r]);
                }
            }
            rows.classes.push(class);
        }
        rows.t = DVector::from_iterator(
            rows.source.len(),
            rows.source.iter().map(|&(r, f)| f * problem.targets[r]),
        );
        rows.raw = rows.source.iter().map(|&(r, _)| problem.targets[r]).collect();
        rows
    }

    /// Divides the rows of each class by the power of two of its largest target; ranges of rows and exponents.
    pub fn scale_by_targets(&mut self, flat: &mut Columns) -> Vec<(usize, usize, i32)> {
        let mut done = Vec::new();
        for class in &mut self.classes {
            let largest = self.t.rows(class.start, class.end - class.start).amax();
            if largest == 0.0 {
                continue;
            }
            let e = libm::ilogb(largest);
            class.exponent += e;
            each_times_two_to(&mut self.t.as_mut_slice()[class.start..class.end], -e);
            done.push((class.start, class.end, e));
        }
        flat.scale_rows(&done);
        done
    }

    /// Variance of the targets of a class, weighted, in internal units; their mean square if they do
    /// not vary, 1 if they are zero.
    pub fn variance(&self, class: &Gathered, flat: bool) -> f64 {
        let range = class.start..class.end;
        let mut scaled = self.raw[range.clone()].to_vec();
        each_times_two_to(&mut scaled, -class.exponent);
        let rows = || self.source[range.clone()].iter().map(|(_, factor)| factor * factor).zip(&scaled);
        let total: f64 = rows().map(|(weight, _)| weight).sum();
        let mean = rows().map(|(weight, t)| weight * t).sum::<f64>() / total;
        let squares: f64 = rows().map(|(weight, t)| weight * t * t).sum::<f64>() / class.count;
        let largest = scaled.iter().map(|t| t.abs()).fold(0.0, f64::max);
        let mut variance = rows().map(|(weight, t)| weight * (t - mean).powi(2)).sum::<f64>() / class.count;
        if flat {
            let t = self.t.rows(range.start, range.len());
            variance = variance.min(t.norm_squared() / class.count);
        }
        if variance > NOTHING_LEFT * NOTHING_LEFT * largest * largest {
            variance
        } else if squares > 0.0 {
            squares
        } else {
            1.0
        }
    }
}

/// Some columns of the design, scaled.
pub(crate) struct Columns {
    pub values: DMatrix<f64>,
    /// The column is the user's times 2^−exponent (besides the scaling of rows).
    pub exponents: Vec<i32>,
}

impl Columns {
    /// The rows that count of columns of the problem, N × b.
    pub fn gather(rows: &Rows, raw: &DMatrix<f64>) -> Columns {
        let values = DMatrix::from_fn(rows.source.len(), raw.ncols(), |r, c| {
            let (row, factor) = rows.source[r];
            factor * raw[(row, c)]
        });
        Columns { values, exponents: vec![0; raw.ncols()] }
    }

    /// Brings every column to a norm between 1 and 2.
    pub fn scale(&mut self) {
        for (exponent, e) in self.exponents.iter_mut().zip(scale_columns(&mut self.values)) {
            *exponent += e;
        }
    }

    /// Divides these ranges of rows by these powers of two.
    pub fn scale_rows(&mut self, ranges: &[(usize, usize, i32)]) {
        for mut column in self.values.column_iter_mut() {
            for &(start, end, e) in ranges {
                each_times_two_to(&mut column.as_mut_slice()[start..end], -e);
            }
        }
    }
}

/// Each v · 2^e.
fn each_times_two_to(values: &mut [f64], e: i32) {
    if e != 0 {
        values.iter_mut().for_each(|v| *v = times_two_to(*v, e));
    }
}

/// Brings every column to a norm between 1 and 2: the exponents of the powers of two taken out.
pub(crate) fn scale_columns(values: &mut DMatrix<f64>) -> Vec<i32> {
    let mut exponents = vec![0; values.ncols()];
    for (mut column, exponent) in values.column_iter_mut().zip(&mut exponents) {
        poll();
        for _ in 0..2 {
            let squares = sum_of_squares(column.as_slice());
            let plain = (1e-200..1e200).contains(&squares);
            // twice where squares overflow or vanish: first by the largest entry
            let norm = if plain { squares.sqrt() } else { column.amax() };
            if norm == 0.0 {
                break;
            }
            let e = libm::ilogb(norm);
            *exponent += e;
            each_times_two_to(column.as_mut_slice(), -e);
            if plain {
                break;
            }
        }
    }
    exponents
}

/// Puts the held hyperparameters into the known part, joins equal hyperparameters, drops zero powers.
pub(crate) fn fold_held(scale: &Scale, hypers: &[Hyper]) -> LogLinear {
    let mut known = scale.log_const;
    let mut powers: BTreeMap<usize, f64> = BTreeMap::new();
    for &(h, power) in &scale.powers {
        match hypers[h].held {
            Some(value) => known += power * value.ln(),
            None => *powers.entry(h).or_insert(0.0) += power,
        }
    }
    LogLinear { known, powers: powers.into_iter().filter(|p| p.1 != 0.0).collect() }
}
