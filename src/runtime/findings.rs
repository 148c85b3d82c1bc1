//! What the user should know about a fit: constant targets, noise that is not identified, a mean far
//! from zero, low rank, nothing relevant.

use nalgebra::{DMatrix, DVector};

use super::control::Point;
use super::core::{Core, Role};
use super::finish::is_at_cap;
use super::polish::Position;
use super::problem::{Problem, WeightPrior};
use super::solution::{Certificate, Failure, Finding};
use super::source::Source;

/// The noise is not identified if fewer than this share of the observations are left for it.
const IDENTIFIED: f64 = 0.2;
/// Targets whose mean is this many deviations from 0 ask for an intercept.
const FAR: f64 = 10.0;

/// All findings, in the order of their kinds.
pub(crate) fn findings(
    core: &Core,
    problem: &Problem,
    takes_up: &TakesUp,
    point: &Point,
    here: &Position,
    rank: Option<usize>,
    (held_first, certificate): (bool, Certificate),
) -> Vec<Finding> {
    let mut findings = of_targets(&observations(problem), takes_up);
    for (h, hyper) in core.hypers.iter().enumerate() {
        if hyper.capped && is_at_cap(core, point, here, h) {
            findings.push(Finding::NoiseFloor(h));
        }
    }
    for (c, class) in core.classes.iter().enumerate() {
        let left = class.count - here.posterior.leverage[c];
        let free = !class.log.powers.is_empty();
        let chosen = held_first && certificate.max_gain_outside > 0.0;
        let fitted = !point.active.is_empty();
        if free && fitted && (uses_up_noise(left, class.count) || chosen) {
            findings.extend(class.terms.iter().map(|&t| Finding::NoiseNotIdentified(t, left, class.count)));
        }
    }
    let own = core.weights.iter().filter(|w| w.own.is_some()).count();
    if let Some(rank) = rank {
        findings.push(Finding::LowRank(rank, own));
    }
    let blocks = core.hypers.iter().any(|h| matches!(h.role, Role::Block(_)));
    let prunable = |i: usize| {
        core.weights[i].own.is_some()
            || core.weights[i].log.powers.iter().any(|&(h, _)| matches!(core.hypers[h].role, Role::Block(_)))
    };
    if (own > 0 || blocks) && !point.active.iter().any(|&i| prunable(i)) {
        findings.push(Finding::NothingRelevant);
    }
    findings
}

/// Whether too few of the observations are left for the noise.
pub(crate) fn uses_up_noise(left: f64, count: f64) -> bool {
    left < IDENTIFIED * count
}

/// An observed number: which likelihood it belongs to, its row in the design, itself, its case weight.
pub(crate) struct Observation {
    pub term: usize,
    pub row: usize,
    pub target: f64,
    pub count: f64,
}

fn observations(problem: &Problem) -> Vec<Observation> {
    (0..problem.targets.len())
        .map(|row| Observation {
            term: problem.term[row],
            row,
            target: problem.targets[row],
            count: problem.counts[row],
        })
        .collect()
}

/// Targets that do not vary, and those whose mean nothing takes up.
pub(crate) fn of_targets(all: &[Observation], takes_up: &TakesUp) -> Vec<Finding> {
    let mut terms: Vec<usize> = all.iter().map(|o| o.term).collect();
    terms.sort_unstable();
    terms.dedup();
    let mut findings = Vec::new();
    for index in terms {
        let of_term: Vec<&Observation> = all.iter().filter(|o| o.term == index && o.count > 0.0).collect();
        if of_term.is_empty() {
            continue;
        }
        let shape = TargetShape::new(&of_term);
        let rows: Vec<usize> = of_term.iter().map(|o| o.row).collect();
        if shape.is_constant() {
            findings.push(Finding::ConstantTarget(index));
        } else if shape.mean.abs() > FAR * shape.deviation && !takes_up.mean_of(&rows) {
            findings.push(Finding::MeanFarFromZero(index));
        }
    }
    findings
}

/// Weighted mean and deviation of some targets, in units of the largest.
struct TargetShape {
    mean: f64,
    deviation: f64,
    largest: f64,
}

impl TargetShape {
    fn new(all: &[&Observation]) -> TargetShape {
        let largest = all.iter().map(|o| o.target.abs()).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let total: f64 = all.iter().map(|o| o.count).sum();
        let mean = all.iter().map(|o| o.count * o.target / unit).sum::<f64>() / total;
        let squares = all.iter().map(|o| o.count * (o.target / unit - mean).powi(2)).sum::<f64>();
        TargetShape { mean, deviation: (squares / total).sqrt(), largest: largest / unit }
    }

    fn is_constant(&self) -> bool {
        self.deviation <= 1e-12 * self.largest
    }
}

/// The effects whose columns take up the mean of the targets.
pub(crate) struct TakesUp {
    /// Columns of flat effects and of those of known precision, N × some.
    pub columns: DMatrix<f64>,
}

impl TakesUp {
    /// At most 200 of them.
    pub fn new(core: &Core, problem: &Problem, source: &mut dyn Source) -> Result<TakesUp, Failure> {
        let unpenalised = |prior: &WeightPrior| match prior {
            WeightPrior::Flat => true,
            WeightPrior::Normal(scale) => scale.powers.iter().all(|&(h, _)| core.hypers[h].held.is_some()),
        };
        let which: Vec<usize> =
            (0..problem.weights.len()).filter(|&i| unpenalised(&problem.weights[i])).take(201).collect();
        let columns = match which.as_slice() {
            [] => DMatrix::zeros(problem.targets.len(), 0),
            which => source.columns(which)?,
        };
        Ok(TakesUp { columns })
    }

    /// Whether one of them has a constant column on these rows – or together they fit a constant there.
    fn mean_of(&self, rows: &[usize]) -> bool {
        let mut rest = DVector::from_element(rows.len(), 1.0);
        // Gram-Schmidt: what of the constant is outside these columns
        let mut basis: Vec<DVector<f64>> = Vec::new();
        for column in self.columns.column_iter() {
            let mut column = DVector::from_iterator(rows.len(), rows.iter().map(|&r| column[r]));
            let before = column.amax();
            if before == 0.0 {
                continue;
            }
            column /= before;
            let length = column.norm();
            for b in &basis {
                let dot = b.dot(&column);
                column.axpy(-dot, b, 1.0);
            }
            let norm = column.norm();
            if norm > 1e-10 * length {
                basis.push(column / norm);
            }
        }
        let whole = rest.norm();
        for b in &basis {
            let dot = b.dot(&rest);
            rest.axpy(-dot, b, 1.0);
        }
        rest.norm() < 1e-3 * whole
    }
}
