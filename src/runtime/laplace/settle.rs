//! Precisions at a given set of weights, by one of two rules: the papers', with curvature held, or the
//! maximum of the Laplace evidence (mathematics §4).

use nalgebra::{DMatrix, DVector};

use super::expansion::Expansion;
use super::frame::Frame;
use super::inner::Local;
use crate::plan::ir::{Curvature, Updates};
use crate::runtime::control::{Control, Point};
use crate::runtime::factors::contribution;
use crate::runtime::solution::Failure;
use crate::runtime::updates::{Moments, Proposal, propose};

/// Cycles in a row.
const MOST: usize = 200;
/// A slope below this can be rounding: it is if it has not fallen by a tenth in so many cycles.
const SMALL: f64 = 1e-8;
const PATIENCE: usize = 10;
/// Largest step of a log noise precision.
const STEP: f64 = 2.0;
/// So little determined that the slope of the evidence by its log precision keeps its sign from here to ∞.
const FAR: f64 = 1e-3;

/// An expansion with the slopes by both rules.
pub(super) struct Position {
    pub here: Expansion,
    /// By the rule of the plan, one a hyperparameter.
    pub gradient: Vec<f64>,
    /// Log evidence and log hyperprior.
    pub objective: f64,
    pub rule: Curvature,
}

impl Position {
    pub fn new(frame: &Frame, point: &Point, warm: &mut [f64], rule: Curvature) -> Result<Position, Failure> {
        let here = Expansion::new(frame, point, warm)?;
        let slopes = match rule {
            Curvature::Fixed => here.held_slopes(frame),
            Curvature::Exact => here.exact_slopes(frame, &point.x),
        };
        let gradient = here.by_hyper(frame, &point.x, &slopes);
        let prior = frame.core.ln_prior(&point.x, &frame.core.live(&point.active));
        let objective = here.log_evidence + prior;
        Ok(Position { here, gradient, objective, rule })
    }

    /// Whether the weight had better be deleted. With the curvature held: q² ≤ s, that is w̃² ≤ γ Σ̃_ii. By the
    /// evidence itself, whose curvature vanishes where one class is all there is: its precision still grows
    /// where it is as good as infinite.
    fn is_violator(&self, frame: &Frame, at: usize) -> bool {
        let Some((h, power)) = frame.core.weights[self.here.active[at]].own else { return false };
        let (mean, gamma) = (self.here.mean(at), self.here.gamma[at]);
        match self.rule {
            Curvature::Fixed => mean * mean <= gamma * self.here.variance(at),
            Curvature::Exact => gamma < FAR && self.gradient[h] * power >= 0.0,
        }
    }

    /// Places of the violators.
    pub fn violators(&self, frame: &Frame) -> Vec<usize> {
        (0..self.here.active.len()).filter(|&at| self.is_violator(frame, at)).collect()
    }

    /// What the weight at this place earns in the local Gaussian model.
    pub fn earns(&self, frame: &Frame, x: &[f64], at: usize) -> f64 {
        let (d, rest) = (self.here.d[self.here.flat + at], self.here.variance(at));
        let (s, q) = (self.here.gamma[at] / (d * d * rest), self.here.mean(at) / (d * rest));
        contribution(s, q, frame.core.weights[self.here.active[at]].log.at(x))
    }

    /// Free hyperparameters that move: live, not `frozen`, not pressed against a bound, and not of a weight that had
    /// better be deleted.
    pub fn movable(&self, frame: &Frame, point: &Point, frozen: &[bool]) -> Vec<usize> {
        let core = &frame.core;
        let mut held = frozen.to_vec();
        for at in self.violators(frame) {
            if let Some((h, _)) = core.weights[self.here.active[at]].own {
                held[h] = true;
            }
        }
        core.movable(point, &self.gradient, &held)
    }

    /// Largest slope over these hyperparameters.
    pub fn slope(&self, which: &[usize]) -> f64 {
        which.iter().map(|&h| self.gradient[h].abs()).fold(0.0, f64::max)
    }

    /// One fixed-point update of every hyperparameter.
    pub fn proposals(&self, frame: &Frame, x: &[f64], rule: Updates) -> Vec<Proposal> {
        let here = &self.here;
        let variance: Vec<f64> = (0..here.active.len()).map(|at| here.variance(at)).collect();
        let moments = Moments {
            active: &here.active,
            gamma: &here.gamma,
            variance: &variance,
            mean: &here.mode.mean.as_slice()[here.flat..],
            leverage: &here.leverage,
            rss: &here.rss,
        };
        propose(&frame.core, x, &moments, rule)
    }
}

/// Notices that a small slope falls no more: what is left of it is rounding.
#[derive(Default)]
struct Floor {
    least: Option<f64>,
    since: usize,
}

impl Floor {
    /// Whether this slope, and those of the last cycles, are below [`SMALL`] and no less than one before.
    fn is_reached(&mut self, slope: f64) -> bool {
        match self.least {
            Some(least) if slope > 0.9 * least => self.since += 1,
            _ => (self.least, self.since) = (Some(slope), 0),
        }
        slope < SMALL && self.since >= PATIENCE
    }
}

/// Moves the hyperparameters until their slope is below `tolerance`.
pub(super) fn settle(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    frozen: &[bool],
    tolerance: f64,
    control: &mut Control<'_>,
) -> Result<Position, Failure> {
    if control.options.curvature == Curvature::Fixed {
        return held(frame, point, warm, frozen, tolerance, control);
    }
    // the papers' rule is the shorter way, and may lead down or have no fixed point
    let (from, mode) = (point.clone(), warm.to_vec());
    let before = Position::new(frame, point, warm, Curvature::Fixed)?.objective;
    let after = held(frame, point, warm, frozen, tolerance, control)?.objective;
    if after < before {
        *point = from;
        warm.copy_from_slice(&mode);
    }
    exact(frame, point, warm, frozen, tolerance, control)
}

/// The papers' rule: the precisions of the local Gaussian model at its optimum, a new mode, and again.
/// A cycle that turns back is shortened.
fn held(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    frozen: &[bool],
    tolerance: f64,
    control: &mut Control<'_>,
) -> Result<Position, Failure> {
    let noise = frame.core.is_noise();
    let mut last: Vec<f64> = Vec::new();
    let mut share = 1.0;
    let mut position = Position::new(frame, point, warm, Curvature::Fixed)?;
    let mut floor = Floor::default();
    for _ in 0..MOST {
        let which = position.movable(frame, point, frozen);
        let slope = position.slope(&which);
        if slope <= tolerance || floor.is_reached(slope) || !control.may_go_on() {
            break;
        }
        let (rows, weights): (Vec<usize>, Vec<usize>) = which.into_iter().partition(|&h| noise[h]);
        let mut next = point.x.clone();
        Local::new(&position.here).maximise(frame, &mut next, &weights, 0.1 * tolerance);
        if !rows.is_empty() {
            let updates = position.proposals(frame, &point.x, Updates::MacKay);
            for h in rows {
                let hyper = &frame.core.hypers[h];
                next[h] = (point.x[h] + updates[h].step(STEP)).clamp(hyper.lower, hyper.upper);
            }
        }
        let step: Vec<f64> = next.iter().zip(&point.x).map(|(a, b)| a - b).collect();
        let turns: f64 = step.iter().zip(&last).map(|(a, b)| a * b).sum();
        if turns < 0.0 {
            share = f64::max(0.25, 0.7 * share);
        } else {
            share = f64::min(1.0, 1.2 * share);
        }
        for (x, s) in point.x.iter_mut().zip(&step) {
            *x += share * s;
        }
        last = step;
        position = Position::new(frame, point, warm, Curvature::Fixed)?;
        control.note(&frame.core, point, position.here.log_evidence, 0.0, "precisions at a held curvature");
    }
    Ok(position)
}

/// The maximum of the Laplace evidence: quasi-Newton steps (BFGS) from the curvature of the local
/// Gaussian model, with a line search on the evidence.
fn exact(
    frame: &Frame,
    point: &mut Point,
    warm: &mut [f64],
    frozen: &[bool],
    tolerance: f64,
    control: &mut Control<'_>,
) -> Result<Position, Failure> {
    let core = &frame.core;
    let mut position = Position::new(frame, point, warm, Curvature::Exact)?;
    let mut inverse: Option<(Vec<usize>, DMatrix<f64>)> = None;
    for _ in 0..MOST {
        let which = position.movable(frame, point, frozen);
        if position.slope(&which) <= tolerance || !control.may_go_on() {
            break;
        }
        let g = DVector::from_iterator(which.len(), which.iter().map(|&h| position.gradient[h]));
        let metric = match inverse.take() {
            Some((old, metric)) if old == which => metric,
            _ => Local::new(&position.here).metric(frame, &point.x, &which),
        };
        let mut step = &metric * &g;
        if step.dot(&g) <= 0.0 {
            step = g.clone();
        }
        let largest = step.amax();
        if largest > STEP {
            step *= STEP / largest;
        }
        let mut accepted = None;
        for _ in 0..30 {
            let mut next = point.clone();
            for (&h, s) in which.iter().zip(step.iter()) {
                next.x[h] = (next.x[h] + s).clamp(core.hypers[h].lower, core.hypers[h].upper);
            }
            let mut warmer = warm.to_vec();
            if let Ok(there) = Position::new(frame, &next, &mut warmer, Curvature::Exact) {
                let slack = 1e-13 * (position.objective.abs() + frame.count());
                let rise = there.objective - position.objective;
                if rise > 1e-4 * step.dot(&g)
                    || (rise > -slack && there.slope(&which) < position.slope(&which))
                {
                    warm.copy_from_slice(&warmer);
                    accepted = Some((next, there));
                    break;
                }
            }
            step *= 0.3;
        }
        let Some((next, there)) = accepted else { break };
        let moved = DVector::from_iterator(which.len(), which.iter().map(|&h| next.x[h] - point.x[h]));
        let change = DVector::from_iterator(
            which.len(),
            which.iter().map(|&h| position.gradient[h] - there.gradient[h]),
        );
        inverse = Some((which, bfgs(metric, &moved, &change)));
        (*point, position) = (next, there);
        control.note(core, point, position.here.log_evidence, 0.0, "steps on the Laplace evidence");
    }
    Ok(position)
}

/// The inverse Hessian after a step s with change y of the (negative) gradient; unchanged where y·s ≤ 0.
fn bfgs(metric: DMatrix<f64>, s: &DVector<f64>, y: &DVector<f64>) -> DMatrix<f64> {
    let ys = y.dot(s);
    if ys <= 1e-12 * y.norm() * s.norm() {
        return metric;
    }
    // H ← (I − s yᵀ/yᵀs) H (I − y sᵀ/yᵀs) + s sᵀ/yᵀs
    let left = DMatrix::identity(s.len(), s.len()) - s * y.transpose() / ys;
    &left * metric * left.transpose() + s * s.transpose() / ys
}

/// A slope that counts as zero.
pub(super) fn flat_slope(frame: &Frame, tol: f64) -> f64 {
    1e-3 * tol + 1e-13 * frame.count()
}
