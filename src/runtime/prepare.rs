//! From the user's problem to the internal one: checks, row classes, powers of two, flat effects,
//! compression of rows, parallel columns.

use std::collections::BTreeMap;
use std::f64::consts::{LN_2, PI};

use nalgebra::{DMatrix, DVector};

use super::control::Budget;
use super::core::{Core, Hyper, LogLinear, Role, RowClass, Weight, times_power_of_two};
use super::problem::{Problem, Scale, WeightPrior};
use super::solution::Failure;
use crate::math::parallel::parallel_groups;
use crate::math::qr;
use crate::plan::ir::{HyperScale, Options};

/// Below this fraction of its length, what is left of a column or target outside the flat effects is rounding.
const NOTHING_LEFT: f64 = 1e-12;
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
                WeightPrior::Normal(scale) => fold_held(scale, problem),
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
    describe_hypers(&mut core, problem, options, &exponents)?;
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
    let scale_is_good =
        |s: &Scale| s.log_const.is_finite() && s.powers.iter().all(|&(h, p)| h < hypers && p.is_finite());
    let scales = problem.noise.iter().all(scale_is_good)
        && problem.weights.iter().all(|w| match w {
            WeightPrior::Flat => true,
            WeightPrior::Normal(s) => scale_is_good(s),
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
    for (h, hyper) in problem.hypers.iter().enumerate() {
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

fn density_offset(options: &Options) -> f64 {
    match options.hyper_scale {
        HyperScale::Log => 0.0,
        HyperScale::Density => 1.0,
    }
}

/// Puts the held hyperparameters into the known part, joins equal hyperparameters, drops zero powers.
fn fold_held(scale: &Scale, problem: &Problem) -> LogLinear {
    let mut known = scale.log_const;
    let mut powers: BTreeMap<usize, f64> = BTreeMap::new();
    for &(h, power) in &scale.powers {
        match problem.hypers[h].held {
            Some(value) => known += power * value.ln(),
            None => *powers.entry(h).or_insert(0.0) += power,
        }
    }
    LogLinear { known, powers: powers.into_iter().filter(|p| p.1 != 0.0).collect() }
}

/// The rows that count, ordered by class.
struct Rows {
    /// Row of the problem, and factor √(k v).
    source: Vec<(usize, f64)>,
    t: DVector<f64>,
    /// Targets as given, for the variance.
    raw: Vec<f64>,
    classes: Vec<Gathered>,
}

/// Powers of a class; its rows, with the known part of their log precision.
type Members = (Vec<(usize, f64)>, Vec<(usize, f64)>);

struct Gathered {
    start: usize,
    end: usize,
    powers: Vec<(usize, f64)>,
    /// The largest known part of the log precisions.
    reference: f64,
    /// ½ Σ k (known − reference)
    known: f64,
    count: f64,
    terms: Vec<usize>,
    /// Rows are the user's times 2^−exponent.
    exponent: i32,
}

impl Rows {
    fn gather(problem: &Problem) -> Rows {
        let mut index: BTreeMap<Vec<(usize, u64)>, usize> = BTreeMap::new();
        let mut members: Vec<Members> = Vec::new();
        for r in 0..problem.targets.len() {
            if problem.counts[r] > 0.0 {
                let log = fold_held(&problem.noise[r], problem);
                let key = log.powers.iter().map(|&(h, p)| (h, p.to_bits())).collect();
                let class = *index.entry(key).or_insert_with(|| {
                    members.push((log.powers.clone(), Vec::new()));
                    members.len() - 1
                });
                members[class].1.push((r, log.known));
            }
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

    /// Divides the rows of each class by the power of two of its largest target.
    fn scale_by_targets(&mut self, blocks: &mut [&mut Columns]) {
        for class in &mut self.classes {
            let largest = self.t.rows(class.start, class.end - class.start).amax();
            if largest == 0.0 {
                continue;
            }
            let e = libm::ilogb(largest);
            class.exponent += e;
            for r in class.start..class.end {
                self.t[r] = libm::scalbn(self.t[r], -e);
                for block in blocks.iter_mut() {
                    for v in block.values.row_mut(r).iter_mut() {
                        *v = libm::scalbn(*v, -e);
                    }
                }
            }
        }
    }

    /// Variance of the targets of a class, weighted, in internal units; their mean square if they do
    /// not vary, 1 if they are zero.
    fn variance(&self, class: &Gathered, flat: bool) -> f64 {
        let scaled = |r: usize| libm::scalbn(self.raw[r], -class.exponent);
        let weight = |r: usize| self.source[r].1 * self.source[r].1;
        let range = class.start..class.end;
        let total: f64 = range.clone().map(weight).sum();
        let mean = range.clone().map(|r| weight(r) * scaled(r)).sum::<f64>() / total;
        let squares: f64 =
            range.clone().map(|r| weight(r) * scaled(r) * scaled(r)).sum::<f64>() / class.count;
        let largest = range.clone().map(|r| scaled(r).abs()).fold(0.0, f64::max);
        let mut variance =
            range.clone().map(|r| weight(r) * (scaled(r) - mean).powi(2)).sum::<f64>() / class.count;
        if flat {
            variance = variance.min(range.map(|r| self.t[r] * self.t[r]).sum::<f64>() / class.count);
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
struct Columns {
    values: DMatrix<f64>,
    /// The column is the user's times 2^−exponent (besides the scaling of rows).
    exponents: Vec<i32>,
}

impl Columns {
    fn gather(problem: &Problem, rows: &Rows, columns: &[usize]) -> Columns {
        let values = DMatrix::from_fn(rows.source.len(), columns.len(), |r, c| {
            let (row, factor) = rows.source[r];
            factor * problem.design[(row, columns[c])]
        });
        Columns { values, exponents: vec![0; columns.len()] }
    }

    /// Brings every column to a norm between 1 and 2.
    fn scale(&mut self) {
        for (mut column, exponent) in self.values.column_iter_mut().zip(&mut self.exponents) {
            for _ in 0..2 {
                // twice: first by the largest entry if need be
                let largest = column.amax();
                if largest == 0.0 {
                    break;
                }
                // a sum of squares of such entries would overflow
                let norm = if (1e-100..1e100).contains(&largest) { column.norm() } else { largest };
                let e = libm::ilogb(norm);
                *exponent += e;
                column.iter_mut().for_each(|v| *v = libm::scalbn(*v, -e));
            }
        }
    }
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

/// Roles and internal units of the hyperparameters. The units are chosen so that the known parts of
/// log precisions lose the user's powers of two exactly.
fn describe_hypers(
    core: &mut Core,
    problem: &Problem,
    options: &Options,
    exponents: &[i32],
) -> Result<(), Failure> {
    let e = density_offset(options);
    let count = problem.hypers.len();
    // internal ln precision = user's + 2 ln 2 · shift
    let mut shifts: Vec<f64> = exponents.iter().map(|&e| e as f64).collect();
    shifts.extend(core.weights.iter().map(|w| -w.exponent as f64));
    let mut units: Vec<Option<f64>> = vec![None; count];
    let logs = || core.classes.iter().map(|c| &c.log).chain(core.weights.iter().map(|w| &w.log));
    for (log, &shift) in logs().zip(&shifts) {
        let mut rest = shift;
        let mut open = None;
        for &(h, power) in &log.powers {
            match units[h] {
                Some(unit) => rest += power * unit,
                None => open = open.or(Some((h, power))),
            }
        }
        if let Some((h, power)) = open {
            for &(other, _) in &log.powers {
                units[other] = units[other].or(Some(0.0));
            }
            units[h] = Some(-rest / power);
        }
    }
    let units: Vec<f64> = units.into_iter().map(|u| u.unwrap_or(0.0)).collect();
    let known: Vec<f64> = logs()
        .zip(&shifts)
        .map(|(log, &shift)| {
            let rest = shift + log.powers.iter().map(|&(h, power)| power * units[h]).sum::<f64>();
            log.known + rest * 2.0 * LN_2
        })
        .collect();
    for (class, &known) in core.classes.iter_mut().zip(&known) {
        class.log.known = known;
    }
    let rows = core.classes.len();
    for (weight, &known) in core.weights.iter_mut().zip(&known[rows..]) {
        weight.log.known = known;
    }

    let mut in_rows = vec![false; count];
    let mut in_weights: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut signs: Vec<Option<f64>> = vec![None; count];
    let mut share = vec![1.0_f64; count];
    for log in core.classes.iter().map(|c| &c.log).chain(core.weights.iter().map(|w| &w.log)) {
        for &(h, power) in &log.powers {
            let sign = power.signum();
            signs[h] = Some(signs[h].map_or(sign, |s| if s == sign { s } else { 0.0 }));
            share[h] = share[h].max(log.powers.len() as f64);
        }
    }
    for class in &core.classes {
        class.log.powers.iter().for_each(|&(h, _)| in_rows[h] = true);
    }
    for (i, weight) in core.weights.iter().enumerate() {
        weight.log.powers.iter().for_each(|&(h, _)| in_weights[h].push(i));
    }
    for (h, hyper) in problem.hypers.iter().enumerate() {
        let shape = if hyper.held.is_some() { 0.0 } else { hyper.shape - e };
        let rate = if hyper.held.is_some() { 0.0 } else { hyper.rate };
        let used = in_rows[h] || !in_weights[h].is_empty();
        let sign = signs[h].unwrap_or(0.0);
        let improper = shape == 0.0 && rate == 0.0;
        let log2 = 2.0 * units[h];
        let role = if hyper.held.is_some() || !(used || rate > 0.0) {
            Role::Held
        } else if in_rows[h] || !improper || sign == 0.0 {
            if used && rate == 0.0 && shape > 0.0 && !in_rows[h] && sign > 0.0 {
                // the objective rises for ever as the weights vanish
                return Err(Failure::ImproperHyper(h));
            }
            Role::Free
        } else if in_weights[h].len() == 1 {
            Role::Own(in_weights[h][0])
        } else {
            Role::Block(std::mem::take(&mut in_weights[h]))
        };
        if let Role::Own(i) = role {
            let power = core.weights[i].log.powers.iter().find(|p| p.0 == h).map_or(1.0, |p| p.1);
            if core.weights[i].own.is_none() {
                core.weights[i].own = Some((h, power));
            }
        }
        // a second hyperparameter of the same weight alone is redundant: it stays free, harmless
        let role = match role {
            Role::Own(i) if core.weights[i].own.map(|o| o.0) != Some(h) => Role::Free,
            role => role,
        };
        core.hypers.push(Hyper {
            role,
            held: hyper.held,
            log2,
            shape,
            rate: times_power_of_two(rate, log2),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            capped: false,
            sign,
            share: share[h],
        });
    }
    Ok(())
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
fn merge(core: &mut Core) {
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
