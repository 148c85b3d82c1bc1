//! From the internal optimum back to the user's units, with certificate and findings.

use nalgebra::{DMatrix, DVector};

use super::control::{Control, Point};
use super::core::Core;
use super::factors::{Factors, best_contribution, contribution};
use super::findings::{TakesUp, findings};
use super::greedy::found_little;
use super::polish::Position;
use super::posterior::Posterior;
use super::problem::Problem;
use super::solution::{Certificate, Failure, Report, Solution};
use crate::math::power::times_two_to;
use crate::plan::ir::Schedule;

/// Where a start led.
pub(crate) struct Found {
    pub point: Point,
    /// The objective at its iterations.
    pub trace: Vec<f64>,
    /// Whether the noise was held while weights were chosen.
    pub held_first: bool,
    /// Whether functions were added one at a time.
    pub sequential: bool,
}

/// Mean and covariance of the kept weights in the user's units, ordered as in the problem.
pub(crate) struct Weights {
    pub kept: Vec<usize>,
    pub mean: DVector<f64>,
    pub covariance: DMatrix<f64>,
    pub gamma: Vec<f64>,
}

/// Makes the solution.
pub(crate) fn finish(
    core: &Core,
    problem: &Problem,
    takes_up: &TakesUp,
    found: Found,
    rank: Option<usize>,
    control: Control<'_>,
) -> Result<Solution, Failure> {
    let Found { point, trace, held_first, sequential } = found;
    let here = Position::new(core, &point)?;
    let factors = Factors::new(core, &core.roots(&point.x), &here.posterior, &here.detail);
    let weights = weights(core, &here);
    let live = core.live(&point.active);
    let free = core.movable(&point, &here.gradient, &vec![false; core.hypers.len()]);
    let certificate = Certificate {
        gradient: here.slope(&free),
        max_gain_outside: max_gain_outside(core, &point, &factors),
    };
    let stop = control.stop(certificate.gradient);
    let (s, q, gain) = in_user_units(core, &point, &factors);
    let findings = findings(core, problem, takes_up, &point, &here, rank, (held_first, certificate));
    let prunable = (0..core.weights.len()).filter(|i| core.usable[*i]).count();
    let report = Report {
        iterations: control.trace.len(),
        stop,
        pruned: core.pruned(&point.active),
        merged: core.merged.clone(),
        rank: rank.filter(|r| 2 * r <= prunable),
        jitter: control.jitter.max(here.posterior.jitter()),
        restarts: control.restarts(),
        schedule: Some(Schedule::of(sequential)),
        found_little: sequential && found_little(core, core.t.len(), &point),
        certificate,
        findings,
    };
    Ok(Solution {
        active: weights.kept,
        mean: weights.mean,
        covariance: weights.covariance,
        hypers: core.values(&point.x, &point.active),
        factors: vec![None; core.hypers.len()],
        log_evidence: here.posterior.log_evidence,
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

/// Undoes scaling and the separation of flat effects: u = u' − A w + a.
pub(crate) fn weights(core: &Core, here: &Position) -> Weights {
    let p = &here.posterior;
    let (f, k) = (core.flat_weights.len(), p.active.len());
    let mut mean = DVector::zeros(f + k);
    let mut covariance = DMatrix::zeros(f + k, f + k);
    // internal units: w = D w̃, Σ = D Σ̃ D
    let w = DVector::from_fn(k, |i, _| p.d[i] * p.mean[i]);
    let mut sigma = here.detail.sigma.clone();
    for (j, mut column) in sigma.column_iter_mut().enumerate() {
        column.iter_mut().zip(&p.d).for_each(|(s, d)| *s = d * *s * p.d[j]);
    }
    if f > 0 {
        // u' | w has mean R⁻¹Qᵀ(t̃ − Φ̃w̃), covariance (RᵀR)⁻¹
        let (map, fit, root) = flat_given_weights(core, p);
        let u = &fit - &map * &w;
        mean.rows_mut(0, f).copy_from(&u);
        covariance
            .view_mut((0, 0), (f, f))
            .copy_from(&(&root * root.transpose() + &map * &sigma * map.transpose()));
        let cross = -(&map * &sigma);
        covariance.view_mut((0, f), (f, k)).copy_from(&cross);
        covariance.view_mut((f, 0), (k, f)).copy_from(&cross.transpose());
    }
    mean.rows_mut(f, k).copy_from(&w);
    covariance.view_mut((f, f), (k, k)).copy_from(&sigma);

    let mut order: Vec<(usize, i32, f64, usize)> = Vec::new();
    order.extend(core.flat_weights.iter().enumerate().map(|(at, &(index, e))| (index, e, 1.0, at)));
    order.extend(
        p.active
            .iter()
            .enumerate()
            .map(|(at, &i)| (core.weights[i].index, core.weights[i].exponent, p.gamma[at], f + at)),
    );
    order.sort_unstable_by_key(|o| o.0);
    Weights {
        kept: order.iter().map(|o| o.0).collect(),
        mean: DVector::from_iterator(order.len(), order.iter().map(|o| times_two_to(mean[o.3], -o.1))),
        covariance: DMatrix::from_fn(order.len(), order.len(), |i, j| {
            times_two_to(covariance[(order[i].3, order[j].3)], -order[i].1 - order[j].1)
        }),
        gamma: order.iter().map(|o| o.2).collect(),
    }
}

/// u = fit − map w + root z, z standard normal: in internal units, for the active weights.
fn flat_given_weights(core: &Core, p: &Posterior) -> (DMatrix<f64>, DVector<f64>, DMatrix<f64>) {
    let (f, k) = (core.flat_weights.len(), p.active.len());
    let mut map = core.flat_map.select_columns(&p.active);
    let mut fit = core.flat_fit.clone();
    let mut root = DMatrix::identity(f, f);
    p.r_flat.solve_upper_triangular_mut(&mut root);
    if core.classes.len() > 1 {
        // rows of other precision than the first fit assumed: Φ̃ here is free of flat parts, what was
        // taken out is in p.flat_phi and p.flat_t
        let mut more = p.flat_phi.clone();
        p.r_flat.solve_upper_triangular_mut(&mut more);
        for i in 0..k {
            for g in 0..f {
                map[(g, i)] += more[(g, i)] / p.d[i];
            }
        }
        let mut shift = p.flat_t.clone();
        p.r_flat.solve_upper_triangular_mut(&mut shift);
        fit += shift.column(0);
    }
    (map, fit, root)
}

/// Pressed against the cap of a noise precision (or another bound).
pub(crate) fn is_at_cap(core: &Core, point: &Point, here: &Position, h: usize) -> bool {
    core.is_pressed(&point.x, h, here.gradient[h])
}

pub(crate) fn max_gain_outside(core: &Core, point: &Point, factors: &Factors) -> f64 {
    (0..core.weights.len())
        .filter(|&i| {
            core.usable[i] && core.weights[i].own.is_some() && point.active.binary_search(&i).is_err()
        })
        .map(|i| {
            // λ(x*) = ½(r − 1 − ln r), r = q²/s, if r > 1; else the slope of λ at infinity, per s
            match factors.q[i] * factors.q[i] / factors.s[i] {
                r if r > 1.0 => 0.5 * (r - 1.0 - r.ln()),
                r if r.is_nan() => -0.5,
                r => 0.5 * (r - 1.0),
            }
        })
        .fold(f64::NEG_INFINITY, f64::max)
}

/// s, q and gain of every weight of the problem with a precision of its own, proper or not, or a known one: of tied weights a
/// single column says nothing.
pub(crate) fn in_user_units(core: &Core, point: &Point, factors: &Factors) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut s = vec![f64::NAN; core.total];
    let mut q = vec![f64::NAN; core.total];
    let mut gain = vec![f64::NAN; core.total];
    let mut uses = vec![0_usize; core.hypers.len()];
    for log in core.weights.iter().map(|w| &w.log).chain(core.classes.iter().map(|c| &c.log)) {
        log.powers.iter().for_each(|&(h, _)| uses[h] += 1);
    }
    for (i, weight) in core.weights.iter().enumerate() {
        let powers = &weight.log.powers;
        if !powers.is_empty() && powers.iter().all(|&(h, _)| uses[h] > 1) {
            continue;
        }
        let (si, qi) = (factors.s[i], factors.q[i]);
        s[weight.index] = times_two_to(si, 2 * weight.exponent);
        q[weight.index] = times_two_to(qi, weight.exponent);
        gain[weight.index] = match point.active.binary_search(&i) {
            Ok(_) => contribution(si, qi, weight.log.at(&point.x)),
            Err(_) if si > 0.0 && core.usable[i] => best_contribution(si, qi),
            Err(_) => 0.0,
        };
    }
    (s, q, gain)
}
