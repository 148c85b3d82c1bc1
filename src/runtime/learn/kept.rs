//! The objective on the kept weights of a fit, by parameters and hyperparameters together: its slopes, climbs, and the point where
//! each follows its own rule.

use nalgebra::{DMatrix, DVector};

use super::at::At;
use super::coordinates::{Coordinates, Values};
use super::{Here, LearnError, Learner};
use crate::design::Restrict;
use crate::design::adjoint::Bars;
use crate::math::lbfgs::{Settings, maximise};
use crate::math::newton::polish;
use crate::math::root::root;
use crate::plan::ir::Options;
use crate::runtime::adjoint::{Adjoint, Slope};
use crate::runtime::control::Budget;
use crate::runtime::solution::{Failure, Step, Stop};

/// Steps of one climb before the weights are chosen again.
const STEPS: usize = 40;
/// Slope at which Newton's method takes over in the last climbs, and steps until then.
const NEAR: f64 = 1e-3;
const NEAR_STEPS: usize = 150;
/// Coordinates up to which the last climbs end by Newton's method, and its steps.
const FEW: usize = 100;
const NEWTON_STEPS: usize = 60;
/// Slope that the last climb leaves.
pub(super) const FLAT: f64 = 1e-7;
/// Largest change of a coordinate in one step.
const REACH: f64 = 2.0;
/// Steps towards the point where parameters and hyperparameters each follow their rule.
const BALANCING: usize = 40;
/// What the rules may cost in nats against the start of these steps.
const LOST: f64 = 0.5;
/// Random sign patterns for the units of reals.
const PATTERNS: u64 = 8;

/// The objective on the kept weights of a fit: what its arguments mean.
struct Climb {
    restrict: Restrict,
    /// Coordinates of parameters come first, then the logarithms of these hyperparameters.
    hypers: Vec<usize>,
    values: Vec<f64>,
}

/// Where parameters and hyperparameters each follow their rule.
pub(super) struct Rest {
    pub params: Values,
    pub hypers: Vec<f64>,
    pub objective: f64,
}

impl Learner<'_, '_> {
    /// Climbs on the kept weights, some way or as far as rounding allows; the parameters and all
    /// hyperparameters where it ended.
    pub(super) fn rise(&mut self, here: &Here, fine: bool) -> Result<(Values, Vec<f64>), LearnError> {
        let z = self.coordinates.of(&here.params);
        let mut climb =
            Climb { restrict: here.restrict(), hypers: Vec::new(), values: here.solution.hypers.clone() };
        let mut bounds = self.coordinates.bounds();
        let (start, limits) = self.first(&mut climb, &here.params)?;
        bounds.extend(limits);
        let x: Vec<f64> = z.iter().copied().chain(start).collect();
        let active = here.solution.active.len();
        let (at, coordinates, options, budget) =
            (&mut self.at, &self.coordinates, &self.options, self.budget);
        // a point that has no value is out of reach; at the start, that is the error
        let (mut broken, mut near) = (None, None);
        let mut f = |x: &[f64]| {
            let found = evaluate(at, coordinates, options, budget, &climb, x, &mut near);
            let found = found.map_err(|error| broken = Some(error)).ok()?;
            Some((found.objective, found.slopes))
        };
        let (trace, on_step, stopped) = (&mut self.trace, &mut *self.on_step, &mut self.stopped);
        let (started, max_time, max_iter) = (self.started, self.budget.max_time, self.options.max_iter);
        let mut told = |value: f64| {
            trace.push(value);
            let step = Step { iteration: trace.len(), objective: value, active, phase: "learn parameters" };
            if on_step(&step).is_break() {
                *stopped = Some(Stop::Interrupted);
            } else if max_time.is_some_and(|t| started.elapsed() >= t) {
                *stopped = Some(Stop::MaxTime);
            } else if trace.len() >= max_iter {
                *stopped = Some(Stop::MaxIter);
            }
            stopped.is_none()
        };
        let newton = fine && x.len() <= FEW;
        let settings = Settings {
            slope: if fine && !newton { FLAT } else { NEAR },
            steps: if fine { NEAR_STEPS } else { STEPS },
            reach: REACH,
        };
        let mut found = maximise(&x, &bounds, &mut f, settings, &mut told);
        let near = found.as_ref().filter(|_| newton).map(|found| found.x.clone());
        if let Some(near) = near {
            let settings = Settings { slope: FLAT, steps: NEWTON_STEPS, reach: REACH };
            found = polish(&near, &bounds, &mut f, settings, &mut told).or(found);
        }
        let Some(found) = found else {
            return Err(broken.unwrap_or(Failure::NonFinite { step: "learning parameters" }.into()));
        };
        let (z, ln) = found.x.split_at(z.len());
        let mut hypers = climb.values.clone();
        climb.hypers.iter().zip(ln).for_each(|(h, ln)| hypers[*h] = ln.exp());
        Ok((self.coordinates.values(z), hypers))
    }

    /// Where hyperparameters follow a rule of their own: the parameters and hyperparameters at which both
    /// rules rest, with the kept weights. `None` if it was not found.
    pub(super) fn balance(&mut self, here: &Here) -> Result<Option<Rest>, LearnError> {
        if self.joint {
            return Ok(None);
        }
        // what grows does so as a whole: along a straight line, if cutpoints are measured by their spread
        let coordinates = self.coordinates.by_spread(&here.params);
        let z = coordinates.of(&here.params);
        let mut climb =
            Climb { restrict: here.restrict(), hypers: Vec::new(), values: here.solution.hypers.clone() };
        let mut bounds = coordinates.bounds();
        let (start, limits) = self.moving(&mut climb, &here.params)?;
        bounds.extend(limits);
        let x: Vec<f64> = z.iter().copied().chain(start).collect();
        if x.len() > FEW {
            return Ok(None);
        }
        let (at, options, budget) = (&mut self.at, &self.options, self.budget);
        let inside = |x: &[f64]| x.iter().zip(&bounds).all(|(x, (low, high))| low < x && x < high);
        let (mut near, mut objective) = (None, f64::NAN);
        let mut f = |x: &[f64]| {
            let found = evaluate(at, &coordinates, options, budget, &climb, x, &mut near).ok()?;
            objective = found.objective;
            inside(x).then_some(found.rule)
        };
        let found = root(&x, &mut f, FLAT, BALANCING, REACH).filter(|r| r.residual <= FLAT);
        let Some(found) = found.filter(|_| objective > here.objective() - LOST) else { return Ok(None) };
        let (z, ln) = found.x.split_at(z.len());
        let mut hypers = climb.values.clone();
        climb.hypers.iter().zip(ln).for_each(|(h, ln)| hypers[*h] = ln.exp());
        Ok(Some(Rest { params: coordinates.values(z), hypers, objective }))
    }

    /// The hyperparameters that climb too: their logarithms and bounds.
    fn first(&mut self, climb: &mut Climb, params: &Values) -> Result<Start, LearnError> {
        if !self.joint && self.fine {
            return Ok((Vec::new(), Vec::new()));
        }
        self.moving(climb, params)
    }

    /// All hyperparameters that may move: their logarithms and bounds.
    fn moving(&mut self, climb: &mut Climb, params: &Values) -> Result<Start, LearnError> {
        self.at.go(self.coordinates.params(), params)?;
        let (problem, _) = self.at.problem(&climb.restrict)?;
        let slope = problem.slope(&self.options, self.budget, &climb.values, None)?;
        climb.hypers = problem.moving(&climb.values);
        let ln = climb.hypers.iter().map(|h| climb.values[*h].ln()).collect();
        Ok((ln, climb.hypers.iter().map(|h| slope.bounds[*h]).collect()))
    }

    /// The largest slope of a parameter that is not pressed against a bound.
    pub(super) fn slope(&mut self, here: &Here) -> Result<f64, LearnError> {
        let climb =
            Climb { restrict: here.restrict(), hypers: Vec::new(), values: here.solution.hypers.clone() };
        let z = self.coordinates.of(&here.params);
        let (at, of) = (&mut self.at, &self.coordinates);
        let slopes = evaluate(at, of, &self.options, self.budget, &climb, &z, &mut None)?.slopes;
        let pressed = |((z, g), (low, high)): ((&f64, &f64), &(f64, f64))| {
            if (z <= low && *g <= 0.0) || (z >= high && *g >= 0.0) { 0.0 } else { g.abs() }
        };
        Ok(z.iter().zip(&slopes).zip(&self.coordinates.bounds()).map(pressed).fold(0.0, f64::max))
    }

    /// Sets the units of real parameters: with random signs ξ, E (ξᵀ H^½ df/dp)² is the information of the
    /// data about p alone, and likewise for the logarithms of precisions, of information ½ each.
    pub(super) fn measure(&mut self, here: &Here) -> Result<(), LearnError> {
        if !self.coordinates.has_reals() {
            return Ok(());
        }
        self.at.go(self.coordinates.params(), &here.params)?;
        let restrict = here.restrict();
        let (problem, layout) = self.at.problem(&restrict)?;
        let slope = problem.slope(&self.options, self.budget, &here.solution.hypers, None)?;
        let mut information = Bars::new();
        for pattern in 0..PATTERNS {
            for (node, bar) in self.at.pull(&signed(&slope, pattern), &layout, &restrict)? {
                let square = bar.map(|g| g * g / PATTERNS as f64);
                match information.get_mut(&node) {
                    Some(sum) => *sum += square,
                    None => {
                        information.insert(node, square);
                    }
                }
            }
        }
        self.coordinates.set_units(&information);
        Ok(())
    }
}

/// Where hyperparameters start to climb: logarithms and their bounds.
type Start = (Vec<f64>, Vec<(f64, f64)>);

/// The objective at coordinates of parameters, then logarithms of hyperparameters.
struct Value {
    objective: f64,
    slopes: Vec<f64>,
    /// What vanishes where each follows its rule.
    rule: Vec<f64>,
}

/// At these coordinates; the mode of the weights is searched from `near`, which becomes the new one.
fn evaluate(
    at: &mut At<'_>,
    coordinates: &Coordinates,
    options: &Options,
    budget: &Budget,
    climb: &Climb,
    x: &[f64],
    near: &mut Option<DVector<f64>>,
) -> Result<Value, LearnError> {
    let (z, ln) = x.split_at(coordinates.len().min(x.len()));
    let params = coordinates.values(z);
    let mut hypers = climb.values.clone();
    climb.hypers.iter().zip(ln).for_each(|(h, ln)| hypers[*h] = ln.exp());
    at.go(coordinates.params(), &params)?;
    let (problem, layout) = at.kept(&climb.restrict)?;
    let slope = problem.slope(options, budget, &hypers, near.as_ref())?;
    let bars = at.pull(&slope.adjoint, &layout, &climb.restrict)?;
    let mut slopes = coordinates.slopes(&params, &bars);
    let mut rule = slopes.clone();
    slopes.extend(climb.hypers.iter().map(|h| slope.hypers[*h]));
    rule.extend(climb.hypers.iter().map(|h| slope.rule[*h]));
    *near = Some(slope.mean);
    Ok(Value { objective: slope.objective, slopes, rule })
}

/// Random signs on everything a parameter can move, each by the root of its information.
fn signed(slope: &Slope, pattern: u64) -> Adjoint {
    let mut state = pattern.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut sign = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 0 { 1.0 } else { -1.0 }
    };
    let offset: Vec<f64> = slope.information.iter().map(|h| sign() * h.max(0.0).sqrt()).collect();
    let (n, of) = (offset.len().max(1) as f64, &slope.adjoint);
    // arguments beside the predictor are taken to be as informative as it is
    let typical = (slope.information.iter().map(|h| h.max(0.0)).sum::<f64>() / n).sqrt();
    let half = 0.5f64.sqrt();
    let mut signs = |count: usize, each: f64| (0..count).map(|_| sign() * each).collect::<Vec<f64>>();
    Adjoint {
        design: DMatrix::from_fn(offset.len(), slope.mean.len(), |row, i| offset[row] * slope.mean[i]),
        noise_log: signs(of.noise_log.len(), half),
        weight_log: signs(of.weight_log.len(), half),
        args: of.args.iter().map(|a| signs(a.len(), typical)).collect(),
        offset,
    }
}
