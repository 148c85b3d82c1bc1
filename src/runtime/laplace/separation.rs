//! Perfect separation: a threshold on the predictor tells the two levels of a target apart without an
//! error. The likelihood alone would send the weights to infinity; only their prior holds them.

use super::problem::{LaplaceProblem, Likelihood};
use crate::dist::Support;
use crate::runtime::solution::Finding;

/// The terms of two levels that are separated by the predictors `f` or by a column of the design.
pub(super) fn separations(problem: &LaplaceProblem, f: &[f64]) -> Vec<Finding> {
    let mut first = 0;
    let mut found = Vec::new();
    for (t, term) in problem.terms.iter().enumerate() {
        let rows = first..first + term.len() * term.width;
        first = rows.end;
        if term.family.support != Support::Binary {
            continue;
        }
        let column = (0..problem.design.ncols())
            .find(|j| is_split(term, &problem.design.column(*j).as_slice()[rows.clone()]));
        if column.is_some() || is_split(term, &f[rows]) {
            found.push(Finding::Separated(t, column));
        }
    }
    found
}

/// Whether all values of one level lie below all of the other, and both are there.
fn is_split(term: &Likelihood, x: &[f64]) -> bool {
    let mut range = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    for ((x, y), count) in x.iter().zip(&term.values).zip(&term.counts) {
        if *count > 0.0 {
            let (low, high) = &mut range[usize::from(*y == 1.0)];
            (*low, *high) = (low.min(*x), high.max(*x));
        }
    }
    let [no, yes] = range;
    no.0.is_finite() && yes.0.is_finite() && (no.1 < yes.0 || yes.1 < no.0)
}
