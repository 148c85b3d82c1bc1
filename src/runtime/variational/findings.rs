//! What the user should know about a mean-field fit.

use nalgebra::DVector;

use super::core::{Core, Local};
use super::problem::{Kind, Problem, WeightPrior};
use super::state::State;
use crate::math::parallel::parallel_groups;
use crate::runtime::evidence::small_rank;
use crate::runtime::findings::{Observation, TakesUp, of_targets, uses_up_noise};
use crate::runtime::separation::Levels;
use crate::runtime::solution::Finding;

/// Columns that leave less than this of one another are the same.
const SAME: f64 = 1e-12;

/// All findings, in the order of their kinds, given the weights in the model and the capped noises.
pub(super) fn findings(
    core: &Core,
    problem: &Problem,
    state: &State,
    active: &[usize],
    capped: &[usize],
) -> Vec<Finding> {
    let mut findings = targets(problem);
    findings.extend(capped.iter().map(|h| Finding::NoiseFloor(*h)));
    for (c, class) in core.classes.iter().enumerate() {
        // tr(H Φ Σ Φᵀ) degrees of freedom are used up
        let left = class.count - state.row_precision(core, c) * state.spread(c);
        let shared = matches!(class.local, Local::Nothing) && !class.noise.hypers.is_empty();
        if shared && !active.is_empty() && uses_up_noise(left, class.count) {
            findings.extend(class.terms.iter().map(|&t| Finding::NoiseNotIdentified(t, left, class.count)));
        }
    }
    findings.extend(separations(problem, &state.mean));
    let own = |i: &usize| core.usable[*i] && core.is_judged(*i);
    let judged: Vec<usize> = (0..core.weights.len()).filter(own).collect();
    // the rows as they are: compressed ones are no more than the rank
    if let Some(rank) = small_rank(&problem.design.select_columns(&judged)) {
        findings.push(Finding::LowRank(rank, judged.len()));
    }
    // where a precision is a point, only one of them has stayed
    let columns = core.x.select_columns(&judged);
    for (first, others) in parallel_groups(&columns, SAME) {
        let all = std::iter::once(first).chain(others);
        findings.push(Finding::Parallel(all.map(|at| judged[at]).collect()));
    }
    let prunable =
        |i: &usize| core.weights[*i].as_ref().is_some_and(|p| p.hypers.iter().any(|&h| core.hypers[h].point));
    if (0..core.weights.len()).any(|i| prunable(&i)) && !active.iter().any(prunable) {
        findings.push(Finding::NothingRelevant);
    }
    findings
}

/// The targets with two classes, one after the other.
fn classes(problem: &Problem) -> Vec<Levels> {
    let mut terms: Vec<Levels> = Vec::new();
    for (n, row) in problem.rows.iter().enumerate() {
        if !matches!(row.kind, Kind::Bound { .. }) {
            continue;
        }
        if terms.last().is_none_or(|last| last.term != row.term) {
            terms.push(Levels { term: row.term, rows: n..n, values: Vec::new(), counts: Vec::new() });
        }
        if let Some(last) = terms.last_mut() {
            last.rows.end = n + 1;
            last.values.push(row.target);
            last.counts.push(row.count);
        }
    }
    terms
}

/// Those of them that the predictors, or a column alone, tell apart without an error.
fn separations(problem: &Problem, mean: &[f64]) -> Vec<Finding> {
    let offset = problem.rows.iter().map(|row| row.offset);
    let f = DVector::from_iterator(problem.rows.len(), offset)
        + &problem.design * DVector::from_column_slice(&mean[..problem.weights.len()]);
    classes(problem).iter().filter_map(|levels| levels.split(&problem.design, f.as_slice())).collect()
}

/// Whether flat effects of a target with two classes tell them apart: then the bound grows without end.
pub(super) fn runs_away(problem: &Problem, mean: &[f64]) -> bool {
    classes(problem).iter().any(|levels| {
        let rows = &levels.rows;
        let elsewhere = |n: usize, x: &f64| *x == 0.0 || rows.contains(&n);
        let own = (0..problem.weights.len())
            .filter(|&i| problem.weights[i] == WeightPrior::Flat)
            .filter(|&i| problem.design.column(i).iter().enumerate().all(|(n, x)| elsewhere(n, x)));
        let mut f = DVector::zeros(rows.len());
        own.for_each(|i| f.axpy(mean[i], &problem.design.column(i).rows_range(rows.clone()), 1.0));
        levels.runs_away(f.as_slice())
    })
}

/// Numbers that do not vary, or lie far from 0 with nothing to take that up.
fn targets(problem: &Problem) -> Vec<Finding> {
    let unpenalised = |prior: &WeightPrior| match prior {
        WeightPrior::Flat => true,
        WeightPrior::Normal(product) => product.hypers.is_empty(),
    };
    let which: Vec<usize> =
        (0..problem.weights.len()).filter(|&i| unpenalised(&problem.weights[i])).take(201).collect();
    let takes_up = TakesUp { columns: problem.design.select_columns(&which) };
    let numbers = problem.rows.iter().enumerate().filter(|(_, r)| !matches!(r.kind, Kind::Bound { .. }));
    let observations: Vec<Observation> = numbers
        .map(|(row, r)| Observation { term: r.term, row, target: r.target - r.offset, count: r.count })
        .collect();
    of_targets(&observations, &takes_up)
}
