//! A fit by Laplace's approximation.

use nalgebra::DVector;

use super::finish::finish;
use super::frame::{Frame, frame};
use super::problem::LaplaceProblem;
use super::rows::Rows;
use super::search::{active_set, batch, greedy};
use super::settle::Position;
use crate::plan::ir::{Options, Schedule};
use crate::runtime::control::{Budget, Control, Observer, Point};
use crate::runtime::solution::{Failure, Solution};
use crate::runtime::start::{Start, from_targets, set_bounds_around};

/// Fits a problem.
///
/// The observer sees every iteration and may stop the fit; what is then known is returned.
///
/// # Errors
/// Numbers that are not finite, a posterior without a mode (unpenalised effects that separate the
/// data), a hyperprior without a maximum, an estimate of memory above the budget.
pub fn solve(
    problem: &LaplaceProblem,
    options: &Options,
    budget: &Budget,
    on_step: &mut Observer<'_>,
) -> Result<Solution, Failure> {
    let mut frame = frame(problem, options, budget)?;
    let x = start(&mut frame, Start::default());
    set_bounds_around(&mut frame.core, &x);
    let mut control = Control::new(options, budget, on_step);
    let mut best: Option<(f64, Point, Vec<f64>)> = None;
    for attempt in 0..=options.restarts {
        let (point, mut warm) = run(&mut frame, attempt, &mut control)?;
        let objective = Position::new(&frame, &point, &mut warm, options.curvature)?.objective;
        if best.as_ref().is_none_or(|b| objective > b.0 + 1e-9 * (1.0 + b.0.abs())) {
            best = Some((objective, point, warm));
        }
        if control.stopped.is_some() {
            break;
        }
    }
    match best {
        Some((_, point, warm)) => finish(&frame, point, warm, control),
        None => Err(Failure::NonFinite { step: "starts" }),
    }
}

/// One start: the usual one, then the other schedule, other prior precisions, then random ones.
fn run(frame: &mut Frame, attempt: usize, control: &mut Control<'_>) -> Result<(Point, Vec<f64>), Failure> {
    let kind = match attempt {
        0 | 1 => Start::default(),
        2 => Start { prior: 1e-2, ..Start::default() },
        3 => Start { prior: 1e2, ..Start::default() },
        seed => Start { seed: seed as u64, ..Start::default() },
    };
    let mut point = Point { x: start(frame, kind), active: frame.core.everything() };
    let mut warm = vec![0.0; frame.core.flat.ncols() + frame.core.weights.len()];
    if (attempt == 1) == (control.options.schedule == Schedule::Batch) {
        greedy(frame, &mut point, &mut warm, control)?;
    } else {
        batch(frame, &mut point, &mut warm, control)?;
    }
    active_set(frame, &mut point, &mut warm, control)?;
    Ok((point, warm))
}

/// Start of x: prior precisions at M φᵀHφ/N, so that the predictor has about the variance of one
/// unit of information; precisions of likelihoods at `noise / var y`.
pub(super) fn start(frame: &mut Frame, start: Start) -> Vec<f64> {
    let classes = frame.core.classes.len();
    let mut moments = vec![(0.0, 0.0, 0.0); classes];
    for term in &frame.terms {
        for (n, &class) in term.class.iter().enumerate() {
            let (k, y) = (term.likelihood.counts[n], term.likelihood.values[n]);
            let (count, mean, squares) = &mut moments[class];
            *count += k;
            let d = y - *mean;
            *mean += if *count > 0.0 { k * d / *count } else { 0.0 };
            *squares += k * d * (y - *mean);
        }
    }
    for (class, (count, _, squares)) in frame.core.classes.iter_mut().zip(&moments) {
        class.variance = if *squares > 0.0 { squares / count } else { 1.0 };
    }
    let class_targets: Vec<f64> =
        frame.core.classes.iter().map(|c| (start.noise / c.variance).ln()).collect();
    let mut x = from_targets(&frame.core, &class_targets, &[], start.seed);
    let rows = Rows::new(frame, &x, &DVector::from_column_slice(frame.offset.as_slice()));
    let count = frame.core.everything().len().max(1) as f64 / frame.count().max(1.0);
    let weight_targets: Vec<f64> = (0..frame.core.weights.len())
        .map(|i| (start.prior * count * rows.norm(frame, frame.core.phi.column(i).as_slice())).ln())
        .collect();
    x = from_targets(&frame.core, &class_targets, &weight_targets, start.seed);
    x
}
