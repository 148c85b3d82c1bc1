//! What every hyperparameter does, and its internal unit.

use std::f64::consts::LN_2;

use super::core::{Core, Hyper, Role, times_power_of_two};
use super::problem::Hyper as ProblemHyper;
use super::solution::Failure;
use crate::plan::ir::{HyperScale, Options};

/// Roles and internal units of the hyperparameters. The units are chosen so that the known parts of
/// log precisions lose the user's powers of two exactly.
pub(crate) fn describe_hypers(
    core: &mut Core,
    hypers: &[ProblemHyper],
    options: &Options,
    exponents: &[i32],
) -> Result<(), Failure> {
    let e = density_offset(options);
    let count = hypers.len();
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
    for (h, hyper) in hypers.iter().enumerate() {
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

/// What the density scale takes off a Gamma shape: 1, on the log scale 0.
pub(crate) fn density_offset(options: &Options) -> f64 {
    match options.hyper_scale {
        HyperScale::Log => 0.0,
        HyperScale::Density => 1.0,
    }
}
