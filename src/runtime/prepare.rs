//! From the user's problem to the internal one: checks, row classes, powers of two, flat effects,
//! compression of rows, parallel columns.

use std::f64::consts::{LN_2, PI};

use nalgebra::{DMatrix, DVector};

use super::control::Budget;
use super::core::{Core, LogLinear, RowClass, Weight};
use super::hypers::{density_offset, describe_hypers};
use super::problem::{Hyper, Problem, Scale, WeightPrior};
use super::rows::{Columns, Rows, fold_held};
use super::solution::Failure;
use crate::math::parallel::parallel_groups;
use crate::math::qr;
use crate::plan::ir::Options;

/// Below this fraction of its length, what is left of a column or target outside the flat effects is rounding.
pub(crate) const NOTHING_LEFT: f64 = 1e-12;
/// Columns are merged if their unit vectors differ by no more than this.
const PARALLEL: f64 = 1e-12;
/// Noise precision is capped at this over the variance of the targets.
pub(crate) const NOISE_CAP: f64 = 1e8;
/// Compressing rows is worth at most this many operations.
const COMPRESSION_COST: f64 = 6e9;

/// Checks the problem and brings it to internal form.
pub(crate) fn prepare(problem: &Problem, options: &Options, budget: &Budget) -> Result<Core, Failure> {
    check(problem, options)?;
    check_memory(problem, budget)?;
    let mut rows = Rows::gather(problem);
    let (flat_index, penalised): (Vec<usize>, Vec<usize>) =
        (0..problem.weights.len()).partition(|&i| problem.weights[i] == WeightPrior::Flat);
    let mut flat = Columns::gather(problem, &rows, &flat_index);
    let mut phi = Columns::gather(problem, &rows, &penalised);
    // columns first: a small column over a large target would lose digits
    flat.scale();
    phi.scale();
    rows.scale_by_targets(&mut [&mut flat, &mut phi]);
    flat.scale();
    phi.scale();
    let before = rows.t.norm();
    let (flat_fit, flat_map) = take_out_flat(&flat, &flat_index, &mut rows.t, &mut phi)?;
    let mut flat_fit = flat_fit;
    let mut flat_map = flat_map;
    if rows.t.norm() <= NOTHING_LEFT * before {
        rows.t.fill(0.0);
    }
    rows.scale_by_targets(&mut [&mut flat, &mut phi]);
    let (flat_before, phi_before) = (flat.exponents.clone(), phi.exponents.clone());
    flat.scale();
    phi.scale();
    for g in 0..flat_index.len() {
        let up = flat.exponents[g] - flat_before[g];
        flat_fit[g] = libm::scalbn(flat_fit[g], up);
        for i in 0..penalised.len() {
            flat_map[(g, i)] = libm::scalbn(flat_map[(g, i)], up - (phi.exponents[i] - phi_before[i]));
        }
    }
    // ½ Σ k (ln π − ln 2π) less the part that depends on hyperparameters, flat densities, scalings
    let mut constant = 0.5 * flat_index.len() as f64 * (2.0 * PI).ln();
    for class in &rows.classes {
        constant +=
            class.known - 0.5 * class.count * (2.0 * PI).ln() - class.count * class.exponent as f64 * LN_2;
    }
    constant -= flat.exponents.iter().map(|&e| e as f64).sum::<f64>() * LN_2;

    let variances: Vec<f64> = rows.classes.iter().map(|c| rows.variance(c, !flat_index.is_empty())).collect();
    let classes: Vec<RowClass> = rows
        .classes
        .iter()
        .zip(variances)
        .map(|(c, variance)| RowClass {
            rows: c.start..c.end,
            log: LogLinear { known: c.reference, powers: c.powers.clone() },
            count: c.count,
            terms: c.terms.clone(),
            variance,
        })
        .collect();
    let weights: Vec<Weight> = penalised
        .iter()
        .zip(&phi.exponents)
        .map(|(&index, &exponent)| Weight {
            index,
            log: match &problem.weights[index] {
                WeightPrior::Normal(scale) => fold_held(scale, &problem.hypers),
                WeightPrior::Flat => LogLinear { known: 0.0, powers: Vec::new() },
            },
            exponent,
            own: None,
        })
        .collect();
    let exponents: Vec<i32> = rows.classes.iter().map(|c| c.exponent).collect();
    let mut core = Core {
        t: rows.t,
        phi: phi.values,
        flat: flat.values,
        classes,
        weights,
        hypers: Vec::new(),
        constant,
        usable: vec![true; penalised.len()],
        flat_weights: flat_index.iter().copied().zip(flat.exponents.iter().copied()).collect(),
        flat_fit,
        flat_map,
        merged: Vec::new(),
        total: problem.weights.len(),
    };
    describe_hypers(&mut core, &problem.hypers, options, &exponents)?;
    compress(&mut core);
    merge(&mut core);
    if core.phi.iter().chain(core.t.iter()).chain(core.flat.iter()).any(|v| !v.is_finite()) {
        return Err(Failure::NonFinite { step: "scaling the columns" });
    }
    Ok(core)
}

fn check(problem: &Problem, options: &Options) -> Result<(), Failure> {
    let (n, m) = (problem.targets.len(), problem.weights.len());
    let shapes = problem.noise.len() == n
        && problem.counts.len() == n
        && problem.term.len() == n
        && problem.design.nrows() == n
        && problem.design.ncols() == m;
    let hypers = problem.hypers.len();
    let scales = problem.noise.iter().all(|s| scale_is_good(s, hypers))
        && problem.weights.iter().all(|w| match w {
            WeightPrior::Flat => true,
            WeightPrior::Normal(s) => scale_is_good(s, hypers),
        });
    if !shapes {
        return Err(Failure::NonFinite { step: "the shapes of the problem" });
    }
    if !scales {
        return Err(Failure::NonFinite { step: "known precisions" });
    }
    if problem.targets.iter().any(|t| !t.is_finite()) {
        return Err(Failure::NonFinite { step: "targets" });
    }
    if problem.design.iter().any(|v| !v.is_finite()) {
        return Err(Failure::NonFinite { step: "design" });
    }
    if problem.counts.iter().any(|k| !k.is_finite() || *k < 0.0) {
        return Err(Failure::NonFinite { step: "case weights" });
    }
    check_hypers(&problem.hypers, options)
}

/// Whether a precision is a number for `hypers` hyperparameters.
pub(crate) fn scale_is_good(scale: &Scale, hypers: usize) -> bool {
    scale.log_const.is_finite() && scale.powers.iter().all(|&(h, p)| h < hypers && p.is_finite())
}

/// Held values and hyperpriors are numbers, and there is a maximum.
pub(crate) fn check_hypers(hypers: &[Hyper], options: &Options) -> Result<(), Failure> {
    for (h, hyper) in hypers.iter().enumerate() {
        let e = density_offset(options);
        match hyper.held {
            Some(value) if value > 0.0 && value.is_finite() => {}
            Some(_) => return Err(Failure::NonFinite { step: "held hyperparameters" }),
            None if !(hyper.shape.is_finite()
                && hyper.rate.is_finite()
                && hyper.shape >= 0.0
                && hyper.rate >= 0.0) =>
            {
                return Err(Failure::NonFinite { step: "hyperpriors" });
            }
            // density scale: J falls in every ln alpha, there is no maximum (mathematics §2)
            None if e > 0.0 && hyper.rate == 0.0 && hyper.shape <= 0.5 => {
                return Err(Failure::ImproperHyper(h));
            }
            None => {}
        }
    }
    Ok(())
}

fn check_memory(problem: &Problem, budget: &Budget) -> Result<(), Failure> {
    let (n, m) = (problem.targets.len() as u128, problem.weights.len() as u128);
    let prunable = |w: &WeightPrior| matches!(w, WeightPrior::Normal(s) if !s.powers.is_empty());
    let kept = problem.weights.iter().filter(|w| !prunable(w)).count() as u128;
    let square = n.min(m);
    // design, its internal copy, the weighted one and room to move; Gram matrix, factor, inverse
    let wanted = 8 * (4 * n * (m + 1) + 5 * square * square + 3 * kept * kept);
    if wanted > budget.max_memory as u128 {
        return Err(Failure::OutOfMemory(usize::try_from(wanted).unwrap_or(usize::MAX), budget.max_memory));
    }
    Ok(())
}

/// Least-squares fit of targets and penalised columns on the flat ones; both are replaced by what is
/// left. Exact, because a flat prior does not feel a shift: t = F u + Φ w = F (u + A w − a) + Φ⊥ w + F a.
fn take_out_flat(
    flat: &Columns,
    index: &[usize],
    t: &mut DVector<f64>,
    phi: &mut Columns,
) -> Result<(DVector<f64>, DMatrix<f64>), Failure> {
    let f = flat.values.ncols();
    if f == 0 {
        return Ok((DVector::zeros(0), DMatrix::zeros(0, phi.values.ncols())));
    }
    let (q, r) = qr::orthonormal(&flat.values)
        .map_err(|column| Failure::FlatNotIdentified(collinear(&flat.values, column, index)))?;
    let mut targets = DMatrix::from_column_slice(t.len(), 1, t.as_slice());
    let mut fit = qr::project_out(&q, &mut targets);
    t.copy_from(&targets.column(0));
    let norms: Vec<f64> = phi.values.column_iter().map(|c| c.norm()).collect();
    let mut map = qr::project_out(&q, &mut phi.values);
    for (mut column, norm) in phi.values.column_iter_mut().zip(norms) {
        if column.norm() <= NOTHING_LEFT * norm {
            column.fill(0.0);
        }
    }
    r.solve_upper_triangular_mut(&mut fit);
    r.solve_upper_triangular_mut(&mut map);
    Ok((fit.column(0).into_owned(), map))
}

/// The flat columns that column `last` is a combination of, and itself.
fn collinear(flat: &DMatrix<f64>, last: usize, index: &[usize]) -> Vec<usize> {
    let mut list = vec![index[last]];
    let before = flat.columns(0, last).into_owned();
    if let Ok((q, r)) = qr::orthonormal(&before) {
        let mut c = q.transpose() * flat.column(last);
        if r.solve_upper_triangular_mut(&mut c) {
            let largest = c.amax();
            list.extend(
                (0..last).filter(|&j| c[j].abs() > 1e-8 * largest && largest > 0.0).map(|j| index[j]),
            );
        }
    }
    list.sort_unstable();
    list
}

/// Replaces the rows of each class by the triangular factor of [F, Φ, t] where that is shorter.
fn compress(core: &mut Core) {
    let (f, m) = (core.flat.ncols(), core.phi.ncols());
    let width = f + m + 1;
    let mut rows = 0;
    let mut plan = Vec::new();
    for class in &core.classes {
        let n = class.rows.len();
        let cost = 2.0 * n as f64 * (width * width) as f64;
        let worth = n > width + width / 4 + 8 && cost <= COMPRESSION_COST;
        plan.push(worth);
        rows += if worth { width } else { n };
    }
    if !plan.contains(&true) {
        return;
    }
    let mut all = DMatrix::zeros(rows, width);
    let mut at = 0;
    for (class, worth) in core.classes.iter_mut().zip(plan) {
        let (start, n) = (class.rows.start, class.rows.len());
        let mut part = DMatrix::zeros(n, width);
        part.columns_mut(0, f).copy_from(&core.flat.rows(start, n));
        part.columns_mut(f, m).copy_from(&core.phi.rows(start, n));
        part.column_mut(f + m).copy_from(&core.t.rows(start, n));
        if worth {
            part = qr::triangle(&part);
        }
        all.rows_mut(at, part.nrows()).copy_from(&part);
        class.rows = at..at + part.nrows();
        at += part.nrows();
    }
    core.flat = all.columns(0, f).into_owned();
    core.phi = all.columns(f, m).into_owned();
    core.t = all.column(f + m).into_owned();
}

/// Takes out zero columns and all but the first of parallel ones, where the weight has a free
/// precision of its own: only the sum of 1/precision over parallel columns would matter.
pub(crate) fn merge(core: &mut Core) {
    let alone = |w: &Weight| w.own.is_some() && w.log.powers.len() == 1;
    for i in 0..core.weights.len() {
        if core.weights[i].own.is_some() && core.phi.column(i).amax() == 0.0 {
            core.usable[i] = false;
        }
    }
    let candidates: Vec<usize> =
        (0..core.weights.len()).filter(|&i| core.usable[i] && alone(&core.weights[i])).collect();
    if candidates.len() < 2 {
        return;
    }
    let phi = core.phi.select_columns(&candidates);
    for (first, others) in parallel_groups(&phi, PARALLEL) {
        let dropped: Vec<usize> = others.iter().map(|&c| candidates[c]).collect();
        dropped.iter().for_each(|&i| core.usable[i] = false);
        core.merged.push((
            core.weights[candidates[first]].index,
            dropped.iter().map(|&i| core.weights[i].index).collect(),
        ));
    }
}
