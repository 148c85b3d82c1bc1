//! From the user's problem to the internal one: checks, row classes, powers of two, flat effects,
//! compression of rows, parallel columns.

use std::f64::consts::{LN_2, PI};
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::compress::{BLOCK, Reduced, compress, low_rank};
use super::control::{Budget, Point};
use super::core::{Core, LogLinear, RowClass, Weight};
use super::hypers::{density_offset, describe_hypers};
use super::problem::{Hyper, Problem, Scale, WeightPrior};
use super::rows::{Columns, Rows, fold_held};
use super::solution::Failure;
use super::source::Source;
use super::treatment::{Treatment, treat_rows};
use crate::math::parallel::parallel_groups;
use crate::math::poll::poll;
use crate::math::product::columns_of;
use crate::math::sums::all_finite_in_parts;
use crate::plan::ir::Options;

/// Below this fraction of its length, what is left of a column or target outside the flat effects is rounding.
pub(crate) const NOTHING_LEFT: f64 = 1e-12;
/// Columns are merged if their unit vectors differ by no more than this.
const PARALLEL: f64 = 1e-12;
/// Noise precision is capped at this over the variance of the targets.
pub(crate) const NOISE_CAP: f64 = 1e8;
/// Fewer rows than these are not worth a reduction.
const LEAST_ROWS: usize = 64;
/// More classes of rows than these are not reduced.
const FEW_CLASSES: usize = 12;

/// A core, and what it takes to look at the same problem without reduction.
pub(crate) struct Prepared {
    pub core: Core,
    /// Where the rows of the core are coordinates in a basis of low rank.
    pub exact: Option<Exact>,
    /// Whether all weights at once would need more memory than there is.
    pub too_large: bool,
}

/// The rows as they were before the reduction.
pub(crate) struct Exact {
    t: DVector<f64>,
    flat: DMatrix<f64>,
    rows: Vec<Range<usize>>,
    treatment: Treatment,
}

/// Checks the problem and brings it to internal form. With `reduce` off, columns of low rank stay as they are.
pub(crate) fn prepare(
    problem: &Problem,
    source: &mut dyn Source,
    options: &Options,
    budget: &Budget,
    reduce: bool,
) -> Result<Prepared, Failure> {
    check(problem, options)?;
    let mut rows = Rows::gather(problem);
    let (flat_index, penalised): (Vec<usize>, Vec<usize>) =
        (0..problem.weights.len()).partition(|&i| problem.weights[i] == WeightPrior::Flat);
    let mut flat = Columns::gather(&rows, &flat_columns(source, &flat_index, problem.targets.len())?);
    // columns first: a small column over a large target would lose digits
    let (flat_fit, treatment) = treat_rows(&mut rows, &mut flat, &flat_index)?;

    let n = rows.t.len();
    let wanted = memory(problem);
    let too_much = wanted > budget.max_memory as u128;
    let out_of_memory =
        || Failure::OutOfMemory(usize::try_from(wanted).unwrap_or(usize::MAX), budget.max_memory);
    let limit = rank_limit(n, penalised.len(), budget.max_memory);
    let reduced = match (reduce || too_much) && limit > 0 && rows.classes.len() <= FEW_CLASSES {
        true => low_rank(source, &treatment, &rows, &flat, &penalised, limit)?,
        false => None,
    };
    if reduced.is_none() && too_much {
        return Err(out_of_memory());
    }
    let is_reduced = reduced.is_some();
    let Reduced { t, flat: flat_values, phi, ranges } = match reduced {
        Some(reduced) => reduced,
        None => {
            let phi = treatment.apply(source.columns(&penalised)?)?;
            let ranges = rows.classes.iter().map(|c| c.start..c.end).collect();
            Reduced { t: rows.t.clone(), flat: flat.values.clone(), phi, ranges }
        }
    };

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
        .zip(ranges)
        .map(|((c, variance), rows)| RowClass {
            rows,
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
        t,
        phi: phi.values,
        flat: flat_values,
        classes,
        weights,
        hypers: Vec::new(),
        constant,
        usable: vec![true; penalised.len()],
        flat_weights: flat_index.iter().copied().zip(flat.exponents.iter().copied()).collect(),
        flat_fit,
        flat_map: phi.map,
        merged: Vec::new(),
        total: problem.weights.len(),
    };
    describe_hypers(&mut core, &problem.hypers, options, &exponents)?;
    if !is_reduced {
        compress(&mut core);
    }
    merge(&mut core);
    let parts = [core.phi.as_slice(), core.t.as_slice(), core.flat.as_slice()];
    if !parts.into_iter().all(all_finite_in_parts) {
        return Err(Failure::NonFinite { step: "scaling the columns" });
    }
    let exact = is_reduced.then(|| Exact {
        t: rows.t,
        flat: flat.values,
        rows: rows.classes.iter().map(|c| c.start..c.end).collect(),
        treatment,
    });
    Ok(Prepared { core, exact, too_large: too_much })
}

impl Exact {
    /// The point of a reduced core, on a core of the true rows and of the columns of its weights only.
    pub fn at(&self, core: &Core, point: &Point, source: &mut dyn Source) -> Result<(Core, Point), Failure> {
        let which: Vec<usize> = point.active.iter().map(|&i| core.weights[i].index).collect();
        let columns = if which.is_empty() {
            DMatrix::zeros(self.t.len(), 0)
        } else {
            self.treatment.apply(source.columns(&which)?)?.values
        };
        let mut classes = core.classes.clone();
        for (class, rows) in classes.iter_mut().zip(&self.rows) {
            class.rows = rows.clone();
        }
        let exact = Core {
            t: self.t.clone(),
            phi: columns,
            flat: self.flat.clone(),
            classes,
            weights: point.active.iter().map(|&i| core.weights[i].clone()).collect(),
            hypers: core.hypers.clone(),
            flat_weights: core.flat_weights.clone(),
            flat_fit: core.flat_fit.clone(),
            flat_map: core.flat_map.select_columns(&point.active),
            usable: vec![true; which.len()],
            merged: Vec::new(),
            ..*core
        };
        Ok((exact, Point { x: point.x.clone(), active: (0..which.len()).collect() }))
    }
}

fn flat_columns(source: &mut dyn Source, index: &[usize], n: usize) -> Result<DMatrix<f64>, Failure> {
    if index.is_empty() {
        return Ok(DMatrix::zeros(n, 0));
    }
    let raw = source.columns(index)?;
    match raw.iter().all(|v| v.is_finite()) {
        true => Ok(raw),
        false => Err(Failure::NonFinite { step: "design" }),
    }
}

/// How many vectors may stand for `m` columns of `n` rows: 0 where a reduction is not worth its while.
fn rank_limit(n: usize, m: usize, bytes: usize) -> usize {
    if n < LEAST_ROWS || m + m / 4 < n {
        return 0;
    }
    // basis and its transpose, coordinates (twice), blocks of columns
    let blocks = 4 * n.saturating_mul(BLOCK);
    let affordable = (bytes / 8).saturating_sub(blocks) / (2 * n + 2 * m);
    affordable.min(n / 3)
}

fn check(problem: &Problem, options: &Options) -> Result<(), Failure> {
    let n = problem.targets.len();
    let shapes = problem.noise.len() == n && problem.counts.len() == n && problem.term.len() == n;
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

/// Bytes of the whole design with everything that the loops need.
fn memory(problem: &Problem) -> u128 {
    let (n, m) = (problem.targets.len() as u128, problem.weights.len() as u128);
    let prunable = |w: &WeightPrior| matches!(w, WeightPrior::Normal(s) if !s.powers.is_empty());
    let kept = problem.weights.iter().filter(|w| !prunable(w)).count() as u128;
    let square = n.min(m);
    // design, its internal copy, the weighted one and room to move; Gram matrix, factor, inverse
    8 * (4 * n * (m + 1) + 5 * square * square + 3 * kept * kept)
}

/// Takes out zero columns and all but the first of parallel ones, where the weight has a free
/// precision of its own: only the sum of 1/precision over parallel columns would matter.
pub(crate) fn merge(core: &mut Core) {
    let alone = |w: &Weight| w.own.is_some() && w.log.powers.len() == 1;
    for i in 0..core.weights.len() {
        poll();
        if core.weights[i].own.is_some() && core.phi.column(i).iter().all(|v| *v == 0.0) {
            core.usable[i] = false;
        }
    }
    let candidates: Vec<usize> =
        (0..core.weights.len()).filter(|&i| core.usable[i] && alone(&core.weights[i])).collect();
    if candidates.len() < 2 {
        return;
    }
    let some = (candidates.len() < core.phi.ncols()).then(|| columns_of(&core.phi, &candidates));
    for (first, others) in parallel_groups(some.as_ref().unwrap_or(&core.phi), PARALLEL) {
        let dropped: Vec<usize> = others.iter().map(|&c| candidates[c]).collect();
        dropped.iter().for_each(|&i| core.usable[i] = false);
        core.merged.push((
            core.weights[candidates[first]].index,
            dropped.iter().map(|&i| core.weights[i].index).collect(),
        ));
    }
}
