//! From the internal optimum back to the user's units, with certificate and findings.

use nalgebra::{DMatrix, DVector};

use super::control::{Control, Point};
use super::core::{Core, Role};
use super::factors::{Factors, best_contribution, contribution};
use super::polish::Position;
use super::posterior::Posterior;
use super::problem::{Problem, WeightPrior};
use super::solution::{Certificate, Failure, Finding, Report, Solution, Stop};

/// A slope above this is no optimum.
const STATIONARY: f64 = 1e-5;
/// The noise is not identified if fewer than this share of the observations are left for it.
const IDENTIFIED: f64 = 0.2;
/// Targets whose mean is this many deviations from 0 ask for an intercept.
const FAR: f64 = 10.0;

/// Where a start led.
pub(crate) struct Found {
    pub point: Point,
    /// Whether the noise was held while weights were chosen.
    pub held_first: bool,
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
    found: Found,
    rank: Option<usize>,
    control: Control<'_>,
) -> Result<Solution, Failure> {
    let Found { point, held_first } = found;
    let here = Position::new(core, &point)?;
    let factors = Factors::new(core, &core.roots(&point.x), &here.posterior, &here.detail);
    let weights = weights(core, &here);
    let live = core.live(&point.active);
    let free: Vec<usize> = (0..core.hypers.len())
        .filter(|&h| core.hypers[h].is_free() && live[h] && !is_at_cap(core, &point, &here, h))
        .collect();
    let certificate = Certificate {
        gradient: here.slope(&free),
        max_gain_outside: max_gain_outside(core, &point, &factors),
    };
    let stop = match control.stopped {
        Some(stop) => stop,
        None if certificate.gradient > STATIONARY => Stop::MaxIter,
        None => Stop::Converged,
    };
    let (s, q, gain) = in_user_units(core, &point, &factors);
    let has_prior = core.hypers.iter().any(|h| h.is_free() && (h.shape != 0.0 || h.rate != 0.0));
    let findings = findings(core, problem, &point, &here, rank, held_first, certificate);
    let prunable = (0..core.weights.len()).filter(|i| core.usable[*i]).count();
    let report = Report {
        iterations: control.trace.len(),
        stop,
        pruned: core.weights.len()
            - point.active.len()
            - core.merged.iter().map(|m| m.1.len()).sum::<usize>(),
        merged: core.merged.clone(),
        rank: rank.filter(|r| 2 * r <= prunable),
        jitter: control.jitter.max(here.posterior.jitter()),
        restarts: control.options.restarts,
        certificate,
        findings,
    };
    Ok(Solution {
        active: weights.kept,
        mean: weights.mean,
        covariance: weights.covariance,
        hypers: core.values(&point.x, &point.active),
        log_evidence: here.posterior.log_evidence,
        hyperprior: has_prior.then(|| core.ln_prior(&point.x, &live)),
        trace: control.trace,
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
    // internal units: w = D w̃
    let d = DMatrix::from_diagonal(&DVector::from_column_slice(&p.d));
    let w = DVector::from_fn(k, |i, _| p.d[i] * p.mean[i]);
    let sigma = &d * &here.detail.sigma * &d;
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
        mean: DVector::from_iterator(order.len(), order.iter().map(|o| libm::scalbn(mean[o.3], -o.1))),
        covariance: DMatrix::from_fn(order.len(), order.len(), |i, j| {
            libm::scalbn(covariance[(order[i].3, order[j].3)], -order[i].1 - order[j].1)
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
fn is_at_cap(core: &Core, point: &Point, here: &Position, h: usize) -> bool {
    let (hyper, g) = (&core.hypers[h], here.gradient[h]);
    (point.x[h] >= hyper.upper && g >= 0.0) || (point.x[h] <= hyper.lower && g <= 0.0)
}

fn max_gain_outside(core: &Core, point: &Point, factors: &Factors) -> f64 {
    (0..core.weights.len())
        .filter(|&i| {
            core.usable[i] && core.weights[i].own.is_some() && point.active.binary_search(&i).is_err()
        })
        .map(
            |i| {
                if factors.s[i] > 0.0 {
                    0.5 * (factors.q[i] * factors.q[i] / factors.s[i] - 1.0)
                } else {
                    -0.5
                }
            },
        )
        .fold(f64::NEG_INFINITY, f64::max)
}

/// s, q and gain of every weight of the problem.
fn in_user_units(core: &Core, point: &Point, factors: &Factors) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut s = vec![f64::NAN; core.total];
    let mut q = vec![f64::NAN; core.total];
    let mut gain = vec![f64::NAN; core.total];
    for (i, weight) in core.weights.iter().enumerate() {
        if weight.own.is_none() && !weight.log.powers.is_empty() {
            continue;
        }
        let (si, qi) = (factors.s[i], factors.q[i]);
        s[weight.index] = libm::scalbn(si, 2 * weight.exponent);
        q[weight.index] = libm::scalbn(qi, weight.exponent);
        gain[weight.index] = match point.active.binary_search(&i) {
            Ok(_) => contribution(si, qi, weight.log.at(&point.x)),
            Err(_) if si > 0.0 && core.usable[i] => best_contribution(si, qi),
            Err(_) => 0.0,
        };
    }
    (s, q, gain)
}

fn findings(
    core: &Core,
    problem: &Problem,
    point: &Point,
    here: &Position,
    rank: Option<usize>,
    held_first: bool,
    certificate: Certificate,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for term in target_shapes(problem) {
        if term.is_constant() {
            findings.push(Finding::ConstantTarget(term.index));
        } else if term.mean.abs() > FAR * term.deviation && !takes_up_mean(core, problem, term.index) {
            findings.push(Finding::MeanFarFromZero(term.index));
        }
    }
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
        if free && fitted && (left < IDENTIFIED * class.count || chosen) {
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

struct TargetShape {
    index: usize,
    mean: f64,
    deviation: f64,
    largest: f64,
}

impl TargetShape {
    fn is_constant(&self) -> bool {
        self.deviation <= 1e-12 * self.largest
    }
}

/// Weighted mean and deviation of the targets of each term.
fn target_shapes(problem: &Problem) -> Vec<TargetShape> {
    let mut terms: Vec<usize> = problem.term.clone();
    terms.sort_unstable();
    terms.dedup();
    let mut shapes = Vec::new();
    for index in terms {
        let rows: Vec<usize> = (0..problem.targets.len())
            .filter(|&r| problem.term[r] == index && problem.counts[r] > 0.0)
            .collect();
        let largest = rows.iter().map(|&r| problem.targets[r].abs()).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let total: f64 = rows.iter().map(|&r| problem.counts[r]).sum();
        if rows.is_empty() {
            continue;
        }
        let scaled = |r: usize| problem.targets[r] / unit;
        let mean = rows.iter().map(|&r| problem.counts[r] * scaled(r)).sum::<f64>() / total;
        let squares = rows.iter().map(|&r| problem.counts[r] * (scaled(r) - mean).powi(2)).sum::<f64>();
        let deviation = (squares / total).sqrt();
        shapes.push(TargetShape { index, mean, deviation, largest: largest / unit });
    }
    shapes
}

/// Whether a flat effect, or one of known precision, has a constant column on the rows of this term –
/// or flat effects together fit a constant there.
fn takes_up_mean(core: &Core, problem: &Problem, term: usize) -> bool {
    let rows: Vec<usize> =
        (0..problem.targets.len()).filter(|&r| problem.term[r] == term && problem.counts[r] > 0.0).collect();
    let ones = DVector::from_element(rows.len(), 1.0);
    let mut free: Vec<DVector<f64>> = Vec::new();
    for (i, prior) in problem.weights.iter().enumerate() {
        let unpenalised = match prior {
            WeightPrior::Flat => true,
            WeightPrior::Normal(scale) => scale.powers.iter().all(|&(h, _)| core.hypers[h].held.is_some()),
        };
        if unpenalised {
            free.push(DVector::from_iterator(rows.len(), rows.iter().map(|&r| problem.design[(r, i)])));
        }
        if free.len() > 200 {
            break;
        }
    }
    // Gram-Schmidt: what of the constant is outside these columns
    let mut basis: Vec<DVector<f64>> = Vec::new();
    for mut column in free {
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
    let mut rest = ones.clone();
    for b in &basis {
        let dot = b.dot(&rest);
        rest.axpy(-dot, b, 1.0);
    }
    rest.norm() < 1e-3 * ones.norm()
}
