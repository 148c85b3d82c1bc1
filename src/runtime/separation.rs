//! Perfect separation: the predictors tell the levels of a target apart without an error. The likelihood
//! alone would send the weights to infinity; only their prior holds them.

use std::ops::Range;

use nalgebra::DMatrix;

use super::laplace::problem::LaplaceProblem;
use super::solution::Finding;
use crate::dist::Support;

/// The rows of one target with levels.
pub(crate) struct Levels {
    /// Which likelihood.
    pub term: usize,
    /// Their place among the rows of the design.
    pub rows: Range<usize>,
    /// The codes of their levels.
    pub values: Vec<f64>,
    /// Case weights.
    pub counts: Vec<f64>,
}

/// The terms with levels that are separated by the predictors `f`, or by a column of the design alone.
pub(crate) fn separations(problem: &LaplaceProblem, f: &[f64]) -> Vec<Finding> {
    let mut first = 0;
    let mut found = Vec::new();
    for (term, of) in problem.terms.iter().enumerate() {
        let rows = first..first + of.len() * of.width;
        first = rows.end;
        let levels = Levels { term, rows, values: of.values.clone(), counts: of.counts.clone() };
        found.extend(match of.family.support {
            Support::Binary => levels.split(&problem.design, f),
            Support::Ordered => levels.ordered(&problem.design, f),
            Support::Levels => levels.won(f, of.width),
            Support::Elem(_) => None,
        });
    }
    found
}

impl Levels {
    /// Two classes, told apart by a column alone, or by the predictors.
    pub fn split(&self, design: &DMatrix<f64>, f: &[f64]) -> Option<Finding> {
        let part = |j: usize| self.part(design, j);
        let constant = |x: &[f64]| x.first().is_some_and(|c| *c != 0.0 && x.iter().all(|v| v == c));
        // without an intercept, a weight can only turn about 0
        let intercept = (0..design.ncols()).any(|j| constant(part(j)));
        let column = (0..design.ncols()).find(|j| self.is_split(part(*j), intercept));
        let by_all = || self.is_split(&f[self.rows.clone()], intercept);
        (column.is_some() || by_all()).then_some(Finding::Separated(self.term, column))
    }

    /// Levels in order, likewise; their cutpoints are intercepts.
    fn ordered(&self, design: &DMatrix<f64>, f: &[f64]) -> Option<Finding> {
        let part = |j: usize| self.part(design, j);
        let column = (0..design.ncols()).find(|j| self.is_ordered(part(*j)));
        let by_all = || self.is_ordered(&f[self.rows.clone()]);
        (column.is_some() || by_all()).then_some(Finding::Separated(self.term, column))
    }

    /// Its rows of a column.
    fn part<'d>(&self, design: &'d DMatrix<f64>, j: usize) -> &'d [f64] {
        let first = j * design.nrows();
        &design.as_slice()[first + self.rows.start..first + self.rows.end]
    }

    /// Levels with a score each.
    fn won(&self, f: &[f64], width: usize) -> Option<Finding> {
        self.is_won(&f[self.rows.clone()], width).then_some(Finding::Separated(self.term, None))
    }

    /// Whether the values of every level lie below those of the next one, or above; two levels are there.
    fn is_ordered(&self, x: &[f64]) -> bool {
        // least and largest value of each level
        let mut ranges: Vec<(f64, f64)> = Vec::new();
        for ((x, y), count) in x.iter().zip(&self.values).zip(&self.counts) {
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
    fn is_won(&self, f: &[f64], width: usize) -> bool {
        let mut levels: Vec<f64> = Vec::new();
        for ((scores, y), count) in f.chunks(width.max(1)).zip(&self.values).zip(&self.counts) {
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

    /// Whether all values of one class lie below all of the other, on two sides of 0 if there is no intercept, and both
    /// are there.
    fn is_split(&self, x: &[f64], intercept: bool) -> bool {
        let mut range = [(f64::INFINITY, f64::NEG_INFINITY); 2];
        for ((x, y), count) in x.iter().zip(&self.values).zip(&self.counts) {
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
        let between = |low: (f64, f64), high: (f64, f64)| {
            low.1 < high.0 && (intercept || (low.1 < 0.0 && 0.0 < high.0))
        };
        no.0.is_finite() && yes.0.is_finite() && (between(no, yes) || between(yes, no))
    }

    /// Whether such predictors of flat effects have the sign of every class: then they have no finite estimate, and there is no
    /// posterior.
    pub fn runs_away(&self, f: &[f64]) -> bool {
        let mut counted =
            f.iter().zip(&self.values).zip(&self.counts).filter(|(_, count)| **count > 0.0).peekable();
        counted.peek().is_some() && counted.all(|((f, y), _)| if *y == 1.0 { *f > 0.0 } else { *f < 0.0 })
    }
}
