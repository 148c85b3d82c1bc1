//! From the internal optimum back to the user's units, with certificate and findings.

use nalgebra::{DMatrix, DVector};

use super::expansion::Expansion;
use super::factors::factors;
use super::frame::Frame;
use super::problem::LaplaceProblem;
use super::settle::Position;
use crate::dist::Support;
use crate::math::power::times_two_to;
use crate::plan::ir::Schedule;
use crate::runtime::control::{Control, Point};
use crate::runtime::core::Role;
use crate::runtime::findings::{Observation, TakesUp, of_targets, uses_up_noise};
use crate::runtime::finish::{Weights, in_user_units, max_gain_outside};
use crate::runtime::greedy::found_little;
use crate::runtime::problem::WeightPrior;
use crate::runtime::separation::separations;
use crate::runtime::solution::{Certificate, Failure, Finding, Report, Solution};

/// Where a start led.
pub(super) struct Found {
    pub point: Point,
    pub mode: Vec<f64>,
    /// The objective at its iterations.
    pub trace: Vec<f64>,
    /// Whether functions were added one at a time.
    pub sequential: bool,
}

/// Makes the solution.
pub(super) fn finish(
    frame: &Frame,
    problem: &LaplaceProblem,
    found: Found,
    control: Control<'_>,
) -> Result<Solution, Failure> {
    let core = &frame.core;
    let Found { point, mut mode, trace, sequential } = found;
    let position = Position::new(frame, &point, &mut mode, control.options.curvature)?;
    let factors = factors(frame, &position.here);
    let weights = weights(frame, &position.here);
    let live = core.live(&point.active);
    let free = core.movable(&point, &position.gradient, &vec![false; core.hypers.len()]);
    let certificate = Certificate {
        gradient: position.slope(&free),
        max_gain_outside: max_gain_outside(core, &point, &factors),
    };
    let stop = control.stop(certificate.gradient);
    let (s, q, gain) = in_user_units(core, &point, &factors);
    let mut findings = numbers(problem);
    for (h, hyper) in core.hypers.iter().enumerate() {
        if hyper.capped && core.is_pressed(&point.x, h, position.gradient[h]) {
            findings.push(Finding::NoiseFloor(h));
        }
    }
    for (c, class) in core.classes.iter().enumerate() {
        let left = class.count - position.here.leverage[c];
        if !class.log.powers.is_empty() && !point.active.is_empty() && uses_up_noise(left, class.count) {
            findings.extend(class.terms.iter().map(|&t| Finding::NoiseNotIdentified(t, left, class.count)));
        }
    }
    let prunable = |i: usize| {
        core.weights[i].own.is_some()
            || core.weights[i].log.powers.iter().any(|&(h, _)| matches!(core.hypers[h].role, Role::Block(_)))
    };
    if (0..core.weights.len()).any(prunable) && !point.active.iter().any(|&i| prunable(i)) {
        findings.push(Finding::NothingRelevant);
    }
    findings.extend(separations(problem, position.here.mode.f.as_slice()));
    let report = Report {
        iterations: control.trace.len(),
        stop,
        pruned: core.pruned(&point.active),
        merged: core.merged.clone(),
        rank: None,
        jitter: control.jitter.max(position.here.mode.factor.jitter()),
        restarts: control.restarts(),
        schedule: Some(Schedule::of(sequential)),
        found_little: sequential && found_little(core, frame.offset.len(), &point),
        certificate,
        findings,
    };
    Ok(Solution {
        active: weights.kept,
        mean: weights.mean,
        covariance: weights.covariance,
        factors: vec![None; core.hypers.len()],
        hypers: core.values(&point.x, &point.active),
        log_evidence: position.here.log_evidence,
        hyperprior: core.has_prior().then(|| core.ln_prior(&point.x, &live)),
        trace,
        q,
        s,
        gain,
        gamma: weights.gamma,
        flat: core.flat_weights.len(),
        report,
    })
}

/// Numbers that do not vary, or – Gaussian ones – lie far from 0 with nothing to take that up.
fn numbers(problem: &LaplaceProblem) -> Vec<Finding> {
    let unpenalised = |prior: &WeightPrior| match prior {
        WeightPrior::Flat => true,
        WeightPrior::Normal(scale) => scale.powers.iter().all(|&(h, _)| problem.hypers[h].held.is_some()),
    };
    let which: Vec<usize> =
        (0..problem.weights.len()).filter(|&i| unpenalised(&problem.weights[i])).take(201).collect();
    let takes_up = TakesUp { columns: problem.design.select_columns(&which) };
    let (mut row, mut all) = (0, Vec::new());
    for (term, of) in problem.terms.iter().enumerate() {
        if matches!(of.family.support, Support::Elem(_)) {
            all.extend((0..of.len()).map(|n| Observation {
                term,
                row: row + n,
                target: of.values[n]
                    - if of.family.gaussian.is_some() { problem.offset[row + n] } else { 0.0 },
                count: of.counts[n],
            }));
        }
        row += of.len() * of.width;
    }
    let gaussian = |t: usize| problem.terms[t].family.gaussian.is_some();
    let mut found = of_targets(&all, &takes_up);
    found.retain(|f| !matches!(f, Finding::MeanFarFromZero(t) if !gaussian(*t)));
    found
}

/// Mean and covariance of the kept weights in the user's units, ordered as in the problem.
pub(super) fn weights(frame: &Frame, here: &Expansion) -> Weights {
    let core = &frame.core;
    let mut order: Vec<(usize, i32, f64, usize)> = Vec::new();
    order.extend(core.flat_weights.iter().enumerate().map(|(at, &(index, e))| (index, e, 1.0, at)));
    order.extend(
        here.active.iter().enumerate().map(|(at, &i)| {
            (core.weights[i].index, core.weights[i].exponent, here.gamma[at], here.flat + at)
        }),
    );
    order.sort_unstable_by_key(|o| o.0);
    let (k, mean) = (order.len(), here.original_mean(frame));
    // T Σ Tᵀ
    let mut sigma = here.sigma.clone();
    here.uncentre(frame, &mut sigma);
    sigma.transpose_mut();
    here.uncentre(frame, &mut sigma);
    Weights {
        kept: order.iter().map(|o| o.0).collect(),
        mean: DVector::from_iterator(k, order.iter().map(|o| times_two_to(here.d[o.3] * mean[o.3], -o.1))),
        covariance: DMatrix::from_fn(k, k, |i, j| {
            let (a, b) = (&order[i], &order[j]);
            times_two_to(here.d[a.3] * here.d[b.3] * sigma[(a.3, b.3)], -a.1 - b.1)
        }),
        gamma: order.iter().map(|o| o.2).collect(),
    }
}
