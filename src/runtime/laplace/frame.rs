//! A Laplace problem in the form the loops work on: checked, columns scaled by powers of two, parallel
//! columns merged.

use std::collections::BTreeMap;
use std::f64::consts::{LN_2, PI};
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::centre::{Centre, centre, centre_columns};
use super::problem::{LaplaceProblem, Likelihood};
use crate::dist::Score;
use crate::math::poll::poll;
use crate::math::product::{columns_of, zeros};
use crate::math::sums::all_finite_in_parts;
use crate::plan::ir::Options;
use crate::runtime::control::Budget;
use crate::runtime::core::{Core, LogLinear, RowClass, Weight};
use crate::runtime::hypers::describe_hypers;
use crate::runtime::prepare::{check_hypers, merge, scale_is_good};
use crate::runtime::problem::WeightPrior;
use crate::runtime::rows::{fold_held, scale_columns};
use crate::runtime::solution::Failure;

/// A likelihood, with the rows of its predictors.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub likelihood: Likelihood,
    pub score: &'static Score,
    /// Its first row.
    pub first: usize,
    /// The log precision of each unit, if it has one.
    pub noise: Vec<LogLinear>,
    /// The class (of [`Core::classes`]) of each unit that has a precision.
    pub class: Vec<usize>,
}

impl Term {
    pub fn width(&self) -> usize {
        self.likelihood.width
    }

    /// Whether its predictor is the mean of a Gaussian.
    pub fn is_gaussian(&self) -> bool {
        self.likelihood.family.gaussian.is_some()
    }

    /// Its rows.
    pub fn rows(&self) -> Range<usize> {
        self.first..self.first + self.likelihood.len() * self.width()
    }

    /// How often a unit counts, by the known part of its precision.
    pub fn weight(&self, n: usize) -> f64 {
        self.likelihood.counts[n] * self.noise.get(n).map_or(1.0, |noise| noise.known.exp())
    }

    /// The first row of a unit.
    pub fn row(&self, n: usize) -> usize {
        self.first + n * self.likelihood.width
    }

    /// The arguments of a unit at these hyperparameters and predictors.
    pub fn fill(&self, n: usize, x: &[f64], f: &DVector<f64>, args: &mut [f64]) {
        let Likelihood { stride, place, width, args: given, precision, .. } = &self.likelihood;
        args.copy_from_slice(&given[n * stride..(n + 1) * stride]);
        if let Some((place, _)) = precision {
            args[*place] = self.noise[n].at(x).exp();
        }
        for a in 0..*width {
            args[place + a] = f[self.row(n) + a];
        }
    }
}

/// The problem as the loops see it. `core.t` and the rows of `core.classes` are not used: classes
/// hold which hyperparameters scale which precisions of likelihoods.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub core: Core,
    pub terms: Vec<Term>,
    pub offset: DVector<f64>,
    pub centre: Centre,
}

impl Frame {
    /// [F, Φ_active], R × (f + k).
    pub fn columns(&self, active: &[usize]) -> DMatrix<f64> {
        let f = self.core.flat.ncols();
        let mut columns = zeros(self.offset.len(), f + active.len());
        columns.columns_mut(0, f).copy_from(&self.core.flat);
        for (at, &i) in active.iter().enumerate() {
            columns.column_mut(f + at).copy_from(&self.core.phi.column(i));
            poll();
        }
        columns
    }

    /// The largest predictor that is no mean of a Gaussian: those have no end that is too far.
    pub fn farthest(&self, f: &DVector<f64>) -> f64 {
        let links = self.terms.iter().filter(|term| !term.is_gaussian());
        links.flat_map(|term| &f.as_slice()[term.rows()]).fold(0.0, |far, f| far.max(f.abs()))
    }

    /// Number of units that count.
    pub fn count(&self) -> f64 {
        self.terms.iter().map(|t| t.likelihood.counts.iter().sum::<f64>()).sum()
    }
}

/// Checks the problem and brings it to internal form.
pub(super) fn frame(problem: &LaplaceProblem, options: &Options, budget: &Budget) -> Result<Frame, Failure> {
    let terms = terms(problem)?;
    check(problem, &terms, options)?;
    check_memory(problem, budget)?;
    let (flat_index, penalised): (Vec<usize>, Vec<usize>) =
        (0..problem.weights.len()).partition(|&i| problem.weights[i] == WeightPrior::Flat);
    let mut flat = columns_of(&problem.design, &flat_index);
    let mut phi = columns_of(&problem.design, &penalised);
    let flat_exponents = scale_columns(&mut flat);
    let exponents = scale_columns(&mut phi);
    let weights: Vec<Weight> = penalised
        .iter()
        .zip(&exponents)
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
    // ∫ exp ψ over flat effects in the user's units
    let f = flat_index.len() as f64;
    let constant = 0.5 * f * (2.0 * PI).ln() - flat_exponents.iter().map(|&e| e as f64).sum::<f64>() * LN_2;
    let mut core = Core {
        t: DVector::zeros(0),
        phi,
        flat,
        classes: Vec::new(),
        weights,
        hypers: Vec::new(),
        constant,
        usable: vec![true; penalised.len()],
        flat_weights: flat_index.iter().copied().zip(flat_exponents).collect(),
        flat_fit: DVector::zeros(0),
        flat_map: DMatrix::zeros(flat_index.len(), penalised.len()),
        merged: Vec::new(),
        total: problem.weights.len(),
    };
    let mut terms = terms;
    core.classes = classes(&mut terms);
    let mut offset = DVector::from_column_slice(&problem.offset);
    let centre = centre(&mut core, &mut terms, &mut offset);
    centre_columns(&mut core)?;
    let known: Vec<Vec<f64>> = terms.iter().map(|t| t.noise.iter().map(|n| n.known).collect()).collect();
    let shift = vec![0; core.classes.len()];
    describe_hypers(&mut core, &problem.hypers, options, &shift)?;
    // units of hyperparameters have moved the known parts of the classes: the same for every unit
    for (term, known) in terms.iter_mut().zip(known) {
        for ((noise, class), known) in term.noise.iter_mut().zip(&term.class).zip(known) {
            noise.known = known + core.classes[*class].log.known;
        }
    }
    merge(&mut core);
    Ok(Frame { core, terms, offset, centre })
}

fn terms(problem: &LaplaceProblem) -> Result<Vec<Term>, Failure> {
    let mut first = 0;
    let mut terms = Vec::new();
    for likelihood in &problem.terms {
        let score =
            likelihood.family.score.as_ref().ok_or(Failure::NonFinite { step: "the family has no score" })?;
        let noise = match &likelihood.precision {
            Some((_, scales)) => scales.iter().map(|s| fold_held(s, &problem.hypers)).collect(),
            None => Vec::new(),
        };
        terms.push(Term { likelihood: likelihood.clone(), score, first, noise, class: Vec::new() });
        first += likelihood.len() * likelihood.width;
    }
    Ok(terms)
}

/// Units whose precisions have the same powers, whatever their known parts.
fn classes(terms: &mut [Term]) -> Vec<RowClass> {
    let mut index: BTreeMap<Vec<(usize, u64)>, usize> = BTreeMap::new();
    let mut classes: Vec<RowClass> = Vec::new();
    for (t, term) in terms.iter_mut().enumerate() {
        for (noise, count) in term.noise.iter().zip(&term.likelihood.counts) {
            let key: Vec<(usize, u64)> = noise.powers.iter().map(|&(h, p)| (h, p.to_bits())).collect();
            let class = *index.entry(key).or_insert_with(|| {
                let log = LogLinear { known: 0.0, powers: noise.powers.clone() };
                classes.push(RowClass { rows: 0..0, log, count: 0.0, terms: Vec::new(), variance: 1.0 });
                classes.len() - 1
            });
            term.class.push(class);
            classes[class].count += count;
            if !classes[class].terms.contains(&t) {
                classes[class].terms.push(t);
            }
        }
    }
    classes
}

fn check(problem: &LaplaceProblem, terms: &[Term], options: &Options) -> Result<(), Failure> {
    let rows: usize = terms.iter().map(|t| t.likelihood.len() * t.width()).sum();
    let m = problem.weights.len();
    let shapes = problem.offset.len() == rows
        && problem.design.nrows() == rows
        && problem.design.ncols() == m
        && problem.terms.iter().all(|t| {
            t.counts.len() == t.len()
                && t.args.len() == t.len() * t.stride
                && t.given.len() >= t.stride
                && t.place + t.width <= t.stride
                && t.precision.as_ref().is_none_or(|(place, s)| *place < t.stride && s.len() == t.len())
        });
    if !shapes {
        return Err(Failure::NonFinite { step: "the shapes of the problem" });
    }
    let count = problem.hypers.len();
    let scales = problem.terms.iter().flat_map(|t| t.precision.iter().flat_map(|p| &p.1));
    let priors = problem.weights.iter().filter_map(|w| match w {
        WeightPrior::Normal(scale) => Some(scale),
        WeightPrior::Flat => None,
    });
    if !scales.chain(priors).all(|s| scale_is_good(s, count)) {
        return Err(Failure::NonFinite { step: "known precisions" });
    }
    if ![problem.design.as_slice(), &problem.offset].into_iter().all(all_finite_in_parts) {
        return Err(Failure::NonFinite { step: "design" });
    }
    for term in &problem.terms {
        if term.values.iter().any(|v| !v.is_finite()) {
            return Err(Failure::NonFinite { step: "targets" });
        }
        if term.counts.iter().any(|k| !k.is_finite() || *k < 0.0) {
            return Err(Failure::NonFinite { step: "case weights" });
        }
    }
    check_hypers(&problem.hypers, options)
}

fn check_memory(problem: &LaplaceProblem, budget: &Budget) -> Result<(), Failure> {
    let (rows, m) = (problem.offset.len() as u128, problem.weights.len() as u128);
    // design, its internal copy, the weighted one and room to move
    let wanted = 8 * 4 * rows * (m + 1);
    if wanted > budget.max_memory as u128 {
        return Err(Failure::OutOfMemory(usize::try_from(wanted).unwrap_or(usize::MAX), budget.max_memory));
    }
    Ok(())
}
