//! To the optimum: Newton's method in ln theta on the weights in the model, and an active set over
//! which weights these are – delete by the exact test, one at a time, add back what has gain.

use nalgebra::{DMatrix, DVector};

use super::control::{Control, Point};
use super::core::{Core, Role};
use super::factors::{Action, Factors};
use super::greedy::{apply, best_move};
use super::leaving::{Leaving, TooLittle};
use super::posterior::{Detail, Gram, Posterior};
use super::slope::{gradient, hessian};
use super::solution::Failure;
use super::swap::{Inside, best_swap, swap};
use crate::math::chol::Cholesky;

/// Largest step of a log hyperparameter.
const STEP: f64 = 2.0;
/// Newton steps in a row.
const MOST: usize = 200;
/// Changes of the objective, relative to it, that its rounding may hide.
const HIDDEN: f64 = 1e-9;
/// Slope at which the exact test may judge.
const NEAR: f64 = 0.02;
/// Gain in nats that makes adding worth while: below, the optimum is flat to rounding.
const LEAST: f64 = 1e-9;
/// How often one function may be added; then it stays out, which breaks cycles.
const ADDITIONS: u8 = 3;
/// The posterior at a point, with everything that steps and tests need.
pub(crate) struct Position {
    pub posterior: Posterior,
    pub detail: Detail,
    pub gradient: Vec<f64>,
    /// Log evidence and log hyperprior.
    pub objective: f64,
}

impl Position {
    pub fn new(core: &Core, point: &Point) -> Result<Position, Failure> {
        Position::with(core, point, None)
    }

    /// The same, with products of columns that other points have needed.
    fn with(core: &Core, point: &Point, gram: Option<&mut Gram>) -> Result<Position, Failure> {
        let mut posterior = Posterior::new(core, point, gram)?;
        let detail = posterior.detail();
        posterior.sharpen(&detail);
        let gradient = gradient(core, &point.x, &posterior);
        let objective = posterior.log_evidence + core.ln_prior(&point.x, &core.live(&point.active));
        Ok(Position { posterior, detail, gradient, objective })
    }

    /// Whether q² ≤ s for the weight at this place: m̃² ≤ γ Σ̃_ii.
    fn is_violator(&self, core: &Core, at: usize) -> bool {
        let p = &self.posterior;
        core.weights[p.active[at]].own.is_some()
            && p.mean[at] * p.mean[at] <= p.gamma[at] * self.detail.sigma[(at, at)]
    }

    /// Places of the violators.
    fn violators(&self, core: &Core) -> Vec<usize> {
        (0..self.posterior.active.len()).filter(|&at| self.is_violator(core, at)).collect()
    }

    /// Free hyperparameters that Newton moves: live, not frozen, not pressed against a bound, and not
    /// of a weight that had better be deleted.
    fn movable(&self, core: &Core, point: &Point, frozen: &[bool]) -> Vec<usize> {
        let mut held = frozen.to_vec();
        for at in self.violators(core) {
            if let Some((h, _)) = core.weights[self.posterior.active[at]].own {
                held[h] = true;
            }
        }
        core.movable(point, &self.gradient, &held)
    }

    /// Largest slope over these hyperparameters.
    pub fn slope(&self, which: &[usize]) -> f64 {
        which.iter().map(|&h| self.gradient[h].abs()).fold(0.0, f64::max)
    }
}

/// Newton's method with Levenberg-Marquardt damping until the slope is below `tolerance`. Only steps that
/// are no trial are iterations of the fit.
fn newton(
    core: &Core,
    point: &mut Point,
    frozen: &[bool],
    (tolerance, trial): (f64, bool),
    gram: &mut Gram,
    control: &mut Control<'_>,
) -> Result<Position, Failure> {
    let mut here = Position::with(core, point, Some(gram))?;
    let mut damping = 0.0;
    for _ in 0..MOST {
        let which = here.movable(core, point, frozen);
        if here.slope(&which) <= tolerance || !control.may_go_on() {
            break;
        }
        let curvature = -hessian(core, &point.x, &here.posterior, &here.detail, &which);
        let g = DVector::from_iterator(which.len(), which.iter().map(|&h| here.gradient[h]));
        // of the size of the slope: where the evidence is flat, a step is about 1
        let least = g.amax().min(1e-4);
        let mut accepted = None;
        for _ in 0..14 {
            let step = damped_step(&curvature, &g, damping);
            if let Some(step) = step {
                let mut next = point.clone();
                for (&h, s) in which.iter().zip(step.iter()) {
                    next.x[h] = (next.x[h] + s).clamp(core.hypers[h].lower, core.hypers[h].upper);
                }
                // far-off trial points may fail; then damp more
                if let Ok(there) = Position::with(core, &next, Some(gram)) {
                    let size = here.objective.abs() + core.count();
                    let (before, after) = (here.slope(&which), there.slope(&which));
                    let rise = there.objective - here.objective;
                    // where the noise has all but gone, rounding of the objective hides a step that its slope shows
                    let is_flat = damping == 0.0 && g.dot(&step).max(-rise) < HIDDEN * size;
                    if rise > 0.0
                        || (rise > -1e-13 * size && after < before)
                        || (is_flat && after < 0.1 * before)
                    {
                        accepted = Some((next, there));
                        break;
                    }
                }
            }
            damping = if damping == 0.0 { least } else { damping * 10.0 };
        }
        match accepted {
            Some((next, there)) => {
                *point = next;
                here = there;
                damping = if damping < 1e-3 { 0.0 } else { damping * 0.03 };
                if !trial {
                    control.record(core, point, &here.posterior, "Newton steps");
                }
            }
            // nothing rises: the optimum to rounding
            None => break,
        }
    }
    Ok(here)
}

/// (C + λ I)⁻¹ g, cut to the largest step; `None` if the matrix is not positive definite.
fn damped_step(curvature: &DMatrix<f64>, g: &DVector<f64>, damping: f64) -> Option<DVector<f64>> {
    let mut c = curvature.clone();
    for i in 0..c.nrows() {
        c[(i, i)] += damping;
    }
    let mut step = Cholesky::strict(&c)?.solve(g);
    let largest = step.amax();
    if !largest.is_finite() {
        return None;
    }
    if largest > STEP {
        step *= STEP / largest;
    }
    Some(step)
}

/// Slope that counts as zero: a Newton step from there changes ln θ by about 1e-3 tol; rounding grows with the number of observations.
pub(crate) fn flat_slope(core: &Core, tol: f64) -> f64 {
    1e-3 * tol + 1e-14 * core.count()
}

/// Finds a point at which no single change of the set of weights, no exchange of two, and no change of precisions, helps.
/// With `additions` off, weights only leave.
pub(crate) fn active_set(
    core: &Core,
    point: &mut Point,
    frozen: &[bool],
    additions: bool,
    control: &mut Control<'_>,
) -> Result<(), Failure> {
    let mut added = vec![0_u8; core.weights.len()];
    let mut block_added = vec![0_u8; core.hypers.len()];
    let min_gain = control.options.min_gain;
    let flat = flat_slope(core, control.options.tol);
    let mut gram = Gram::default();
    // while functions still enter, precisions need not settle in between
    let mut enters = false;
    'again: while control.may_go_on() {
        let mut here = None;
        // while many are to leave, that is known long before the slope is flat
        let stages = [(NEAR, TooLittle::near(min_gain)), (flat, TooLittle::settled(min_gain))];
        for (tolerance, too_little) in &stages[..if enters { 1 } else { 2 }] {
            let near = newton(core, point, frozen, (*tolerance, false), &mut gram, control)?;
            if control.stopped.is_some() {
                return Ok(());
            }
            if leave(core, point, &near, *too_little) {
                continue 'again;
            }
            here = Some(near);
        }
        let Some(here) = here else { return Ok(()) };
        if !enters && remove_block(core, point, frozen, &here, &mut gram, control)? {
            continue;
        }
        if !additions {
            return Ok(());
        }
        let factors = Factors::with_pull(core, &core.roots(&point.x), &here.posterior, &here.detail);
        let may_enter = |i: usize| added[i] < ADDITIONS;
        let entered = enter(core, point, &here, &factors, min_gain, may_enter);
        if let Some(i) = entered {
            added[i] += 1;
        } else if !enters && !add_block(core, point, &here, &mut block_added, min_gain)? {
            return Ok(());
        }
        enters = entered.is_some();
    }
    Ok(())
}

/// Adds the function of largest gain, or puts it in the place of another; which one it was.
fn enter(
    core: &Core,
    point: &mut Point,
    here: &Position,
    factors: &Factors,
    min_gain: f64,
    may_enter: impl Fn(usize) -> bool,
) -> Option<usize> {
    // precisions in the model are optimal: only additions can have gain
    let addition = best_move(core, point, factors, |m| m.action == Action::Add && may_enter(m.weight));
    if let Some(best) = addition.filter(|best| best.gain > min_gain.max(LEAST)) {
        apply(core, point, best);
        return Some(best.weight);
    }
    let inside = Inside {
        active: &here.posterior.active,
        variance: here.detail.sigma.diagonal().as_slice().to_vec(),
        mean: here.posterior.mean.as_slice(),
        pull: &factors.pull,
    };
    let better = best_swap(core, &point.x, &inside, factors, may_enter)?;
    swap(core, point, better);
    Some(better.into)
}

/// Deletes violators; if there are none, weights that earn too little. Whether any went.
fn leave(core: &Core, point: &mut Point, here: &Position, too_little: TooLittle) -> bool {
    let p = &here.posterior;
    let mut left = Leaving::new(core, &p.active, &p.gamma, p.mean.as_slice(), here.detail.sigma.clone());
    left.violators();
    if left.gone.is_empty() {
        left.unearning(too_little);
    }
    point.active.retain(|i| !left.gone.contains(i));
    !left.gone.is_empty()
}

/// Removes a block of weights that share a precision if the model without it, refitted, is as good.
fn remove_block(
    core: &Core,
    point: &mut Point,
    frozen: &[bool],
    here: &Position,
    gram: &mut Gram,
    control: &mut Control<'_>,
) -> Result<bool, Failure> {
    let min_gain = control.options.min_gain;
    for (h, hyper) in core.hypers.iter().enumerate() {
        let Role::Block(list) = &hyper.role else { continue };
        if frozen[h] || !list.iter().any(|i| point.active.binary_search(i).is_ok()) {
            continue;
        }
        let mut without = point.clone();
        without.active.retain(|i| list.binary_search(i).is_err());
        let there = Position::with(core, &without, Some(gram))?;
        // refitting helps only so much: try where the block earns little, or has no optimum
        let mut objective = there.objective;
        if objective < here.objective - min_gain && here.objective - objective < 3.0 + min_gain {
            let tolerance = flat_slope(core, control.options.tol);
            objective = newton(core, &mut without, frozen, (tolerance, true), gram, control)?.objective;
        }
        if objective >= here.objective - min_gain.max(1e-9) {
            *point = without;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts a removed block back at the best of some precisions, if that has gain.
fn add_block(
    core: &Core,
    point: &mut Point,
    here: &Position,
    added: &mut [u8],
    min_gain: f64,
) -> Result<bool, Failure> {
    for (h, hyper) in core.hypers.iter().enumerate() {
        let Role::Block(list) = &hyper.role else { continue };
        let missing: Vec<usize> = list
            .iter()
            .copied()
            .filter(|i| core.usable[*i] && point.active.binary_search(i).is_err())
            .collect();
        if missing.len() < list.len() || added[h] >= ADDITIONS {
            continue;
        }
        let mut with = point.clone();
        with.active.extend(missing);
        with.active.sort_unstable();
        let start = super::start::start(core, super::start::Start::default())[h];
        let mut gram = Gram::default();
        let mut best = (here.objective + min_gain.max(LEAST), None);
        for step in -6..=12 {
            with.x[h] = (start + 1.5 * f64::from(step) * hyper.sign).clamp(hyper.lower, hyper.upper);
            let posterior = Posterior::new(core, &with, Some(&mut gram))?;
            let objective = posterior.log_evidence + core.ln_prior(&with.x, &core.live(&with.active));
            if objective > best.0 {
                best = (objective, Some(with.x[h]));
            }
        }
        if let (_, Some(x)) = best {
            with.x[h] = x;
            added[h] += 1;
            *point = with;
            return Ok(true);
        }
    }
    Ok(false)
}
