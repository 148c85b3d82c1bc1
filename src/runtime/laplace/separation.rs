//! Perfect separation: the predictors tell the levels of a target apart without an error. The likelihood
//! alone would send the weights to infinity; only their prior holds them.

use super::problem::{LaplaceProblem, Likelihood};
use crate::dist::Support;
use crate::runtime::solution::Finding;

/// The terms with levels that are separated by the predictors `f`, or by a column of the design alone.
pub(super) fn separations(problem: &LaplaceProblem, f: &[f64]) -> Vec<Finding> {
    let mut first = 0;
    let mut found = Vec::new();
    for (t, term) in problem.terms.iter().enumerate() {
        let rows = first..first + term.len() * term.width;
        first = rows.end;
        let alone: fn(&Likelihood, &[f64]) -> bool = match term.family.support {
            Support::Binary => is_split,
            Support::Ordered => is_ordered,
            Support::Levels => {
                if is_won(term, &f[rows]) {
                    found.push(Finding::Separated(t, None));
                }
                continue;
            }
            Support::Elem(_) => continue,
        };
        let column = (0..problem.design.ncols())
            .find(|j| alone(term, &problem.design.column(*j).as_slice()[rows.clone()]));
        if column.is_some() || alone(term, &f[rows]) {
            found.push(Finding::Separated(t, column));
        }
    }
    found
}

/// Whether the values of every level lie below those of the next one, or above; two levels are there.
fn is_ordered(term: &Likelihood, x: &[f64]) -> bool {
    // least and largest value of each level
    let mut ranges: Vec<(f64, f64)> = Vec::new();
    for ((x, y), count) in x.iter().zip(&term.values).zip(&term.counts) {
        let level = *y as usize;
        if *count > 0.0 {
            if ranges.len() <= level {
                ranges.resize(level + 1, (f64::INFINITY, f64::NEG_INFINITY));
            }
            let (low, high) = &mut ranges[level];
            (*low, *high) = (low.min(*x), high.max(*x));
        }
    }
    ranges.retain(|(low, high)| low <= high);
    let up = ranges.windows(2).all(|w| w[0].1 < w[1].0);
    let down = ranges.windows(2).all(|w| w[1].1 < w[0].0);
    ranges.len() > 1 && (up || down)
}

/// Whether the score of its level is the largest of every observation; two levels are there.
fn is_won(term: &Likelihood, f: &[f64]) -> bool {
    let mut levels: Vec<f64> = Vec::new();
    for ((scores, y), count) in f.chunks(term.width.max(1)).zip(&term.values).zip(&term.counts) {
        let own = scores.get(*y as usize).copied().unwrap_or(f64::NAN);
        let others = scores.iter().enumerate().filter(|(k, _)| *k != *y as usize);
        if *count > 0.0 && !others.map(|(_, s)| *s).all(|s| own > s) {
            return false;
        }
        if *count > 0.0 && !levels.contains(y) {
            levels.push(*y);
        }
    }
    levels.len() > 1
}

/// Whether all values of one level lie below all of the other, and both are there.
fn is_split(term: &Likelihood, x: &[f64]) -> bool {
    let mut range = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    for ((x, y), count) in x.iter().zip(&term.values).zip(&term.counts) {
        if *count > 0.0 {
            let (low, high) = &mut range[usize::from(*y == 1.0)];
            (*low, *high) = (low.min(*x), high.max(*x));
            let [no, yes] = range;
            if no.1 >= yes.0 && yes.1 >= no.0 {
                return false;
            }
        }
    }
    let [no, yes] = range;
    no.0.is_finite() && yes.0.is_finite() && (no.1 < yes.0 || yes.1 < no.0)
}
