//! A problem in the form the numerical loops work on: scaled, flat effects taken out, rows compressed.
//!
//! Rows are grouped into classes whose precision has the same powers of the free hyperparameters.
//! Every scaling is a power of two and sits in the known parts of the log precisions, so that the
//! internal numbers do not depend on the units of the user.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::control::Point;
use super::evidence::Warm;
use crate::math::power::times_two_to;

/// `ln precision = known + Σ power · x_h` over free hyperparameters only.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LogLinear {
    pub known: f64,
    pub powers: Vec<(usize, f64)>,
}

impl LogLinear {
    /// The log precision at `x`.
    pub fn at(&self, x: &[f64]) -> f64 {
        self.known + self.powers.iter().map(|&(h, power)| power * x[h]).sum::<f64>()
    }
}

/// Rows whose precisions differ by known factors only; these are folded into the rows.
#[derive(Clone, Debug)]
pub(crate) struct RowClass {
    pub rows: Range<usize>,
    pub log: LogLinear,
    /// Sum of the case weights: the number of observations.
    pub count: f64,
    /// The terms it belongs to.
    pub terms: Vec<usize>,
    /// Variance of the targets (or the scale that stands for it), in internal units.
    pub variance: f64,
}

/// A weight with a normal prior.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    /// Its index in the problem.
    pub index: usize,
    pub log: LogLinear,
    /// The internal column is the user's times 2^−exponent.
    pub exponent: i32,
    /// Its own hyperparameter: free, improper, and scaling this weight alone.
    pub own: Option<(usize, f64)>,
}

/// What a hyperparameter does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Role {
    /// Held, or unused: not estimated.
    Held,
    /// Improper, scales one weight alone: it can be pruned by the exact test.
    Own(usize),
    /// Improper, scales these weights, all with powers of this sign: they can be pruned together.
    Block(Vec<usize>),
    /// Anything else that is free.
    Free,
}

/// A hyperparameter: `theta = exp(x) · 2^log2`.
#[derive(Clone, Debug)]
pub(crate) struct Hyper {
    pub role: Role,
    pub held: Option<f64>,
    pub log2: f64,
    /// Gamma shape on the log scale.
    pub shape: f64,
    /// Gamma rate of `exp(x)`.
    pub rate: f64,
    pub lower: f64,
    pub upper: f64,
    /// Whether `upper` or `lower` is the cap of a noise precision.
    pub capped: bool,
    /// Sign of its powers (0 if mixed): it goes to +∞ or to 0 when its weights vanish.
    pub sign: f64,
    /// The largest number of free hyperparameters in any precision it takes part in.
    pub share: f64,
}

impl Hyper {
    /// Whether it is estimated.
    pub fn is_free(&self) -> bool {
        self.role != Role::Held
    }

    /// In the user's units.
    pub fn value(&self, x: f64) -> f64 {
        match self.held {
            Some(value) => value,
            None => times_power_of_two(x.exp(), self.log2),
        }
    }
}

/// The problem as the loops see it.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    /// Targets without their flat part, n.
    pub t: DVector<f64>,
    /// Penalised columns without their flat part, n × m.
    pub phi: DMatrix<f64>,
    /// Flat columns, n × f.
    pub flat: DMatrix<f64>,
    pub classes: Vec<RowClass>,
    pub weights: Vec<Weight>,
    pub hypers: Vec<Hyper>,
    /// What the scalings and the constants add to the log evidence.
    pub constant: f64,
    /// Which weights can be in the model at all (not merged, not zero), m.
    pub usable: Vec<bool>,
    /// Flat weights: index in the problem, and exponent of the column.
    pub flat_weights: Vec<(usize, i32)>,
    /// Flat part of the targets, f.
    pub flat_fit: DVector<f64>,
    /// Flat part of the penalised columns, f × m.
    pub flat_map: DMatrix<f64>,
    /// Merged weights: kept and dropped indices in the problem.
    pub merged: Vec<(usize, Vec<usize>)>,
    /// Number of weights in the problem.
    pub total: usize,
}

impl Core {
    /// Ln hyperprior of the free hyperparameters in `live`, without its constants, in the user's units.
    pub fn ln_prior(&self, x: &[f64], live: &[bool]) -> f64 {
        let mut sum = 0.0;
        for (h, hyper) in self.hypers.iter().enumerate() {
            if hyper.is_free() && live[h] && (hyper.shape != 0.0 || hyper.rate != 0.0) {
                // (a − e) ln θ − b θ
                sum += hyper.shape * (x[h] + hyper.log2 * std::f64::consts::LN_2) - hyper.rate * x[h].exp();
            }
        }
        sum
    }

    /// Which free hyperparameters still scale a row or one of the `active` weights, or have a prior.
    pub fn live(&self, active: &[usize]) -> Vec<bool> {
        let mut live: Vec<bool> =
            self.hypers.iter().map(|h| h.is_free() && (h.shape != 0.0 || h.rate != 0.0)).collect();
        for class in &self.classes {
            class.log.powers.iter().for_each(|&(h, _)| live[h] = true);
        }
        for &i in active {
            self.weights[i].log.powers.iter().for_each(|&(h, _)| live[h] = true);
        }
        live
    }

    /// Roots of the precisions of the row classes.
    pub fn roots(&self, x: &[f64]) -> Vec<f64> {
        self.classes.iter().map(|c| (0.5 * c.log.at(x)).exp()).collect()
    }

    /// Number of observations.
    pub fn count(&self) -> f64 {
        self.classes.iter().map(|c| c.count).sum()
    }

    /// Which free hyperparameters scale rows.
    pub fn is_noise(&self) -> Vec<bool> {
        let mut noise = vec![false; self.hypers.len()];
        for class in &self.classes {
            class.log.powers.iter().for_each(|&(h, _)| noise[h] = true);
        }
        noise
    }

    /// Every usable weight.
    pub fn everything(&self) -> Vec<usize> {
        (0..self.weights.len()).filter(|&i| self.usable[i]).collect()
    }

    /// The usable weights except those with a precision of their own.
    pub fn without_own(&self) -> Vec<usize> {
        self.everything().into_iter().filter(|&i| self.weights[i].own.is_none()).collect()
    }

    /// Internal log hyperparameters of values in the user's units; 0 for infinite ones.
    pub fn at_values(&self, values: &[f64]) -> Vec<f64> {
        let x = |(h, value): (usize, &f64)| match self.hypers.get(h) {
            Some(hyper) if value.is_finite() && *value > 0.0 => {
                (value.ln() - hyper.log2 * std::f64::consts::LN_2).clamp(hyper.lower, hyper.upper)
            }
            _ => 0.0,
        };
        values.iter().enumerate().map(x).collect()
    }

    /// Where a fit begins that goes on from an earlier one: with what was kept there, and what nothing
    /// can prune.
    pub fn resumed(&self, warm: &Warm) -> Point {
        let stays = |i: &usize| {
            let weight = &self.weights[*i];
            let finite = |&(h, _): &(usize, f64)| warm.hypers.get(h).is_some_and(|v| v.is_finite());
            warm.active.binary_search(&weight.index).is_ok()
                || (weight.own.is_none() && weight.log.powers.iter().all(finite))
        };
        let active = self.everything().into_iter().filter(stays).collect();
        Point { x: self.at_values(&warm.hypers), active }
    }

    /// Between which values each ln theta may move, in the user's units.
    pub fn user_bounds(&self) -> Vec<(f64, f64)> {
        let ln_unit = |hyper: &Hyper| hyper.log2 * std::f64::consts::LN_2;
        self.hypers.iter().map(|h| (h.lower + ln_unit(h), h.upper + ln_unit(h))).collect()
    }

    /// Pressed against a bound by its slope `g`.
    pub fn is_pressed(&self, x: &[f64], h: usize, g: f64) -> bool {
        (x[h] >= self.hypers[h].upper && g >= 0.0) || (x[h] <= self.hypers[h].lower && g <= 0.0)
    }

    /// Free hyperparameters that are live, not `held`, and not pressed against a bound.
    pub fn movable(&self, point: &Point, gradient: &[f64], held: &[bool]) -> Vec<usize> {
        let live = self.live(&point.active);
        (0..self.hypers.len())
            .filter(|&h| {
                self.hypers[h].is_free() && live[h] && !held[h] && !self.is_pressed(&point.x, h, gradient[h])
            })
            .collect()
    }

    /// How many weights are neither in the model nor merged into another.
    pub fn pruned(&self, active: &[usize]) -> usize {
        self.weights.len() - active.len() - self.merged.iter().map(|m| m.1.len()).sum::<usize>()
    }

    /// Whether some free hyperparameter has a prior that is not flat.
    pub fn has_prior(&self) -> bool {
        self.hypers.iter().any(|h| h.is_free() && (h.shape != 0.0 || h.rate != 0.0))
    }

    /// Sets the log precision of a weight by its own hyperparameter.
    pub fn set_own(&self, x: &mut [f64], i: usize, ln_precision: f64) {
        if let Some((h, power)) = self.weights[i].own {
            let rest = self.weights[i].log.at(x) - power * x[h];
            x[h] = ((ln_precision - rest) / power).clamp(self.hypers[h].lower, self.hypers[h].upper);
        }
    }
}

/// v · 2^log2, exact where `log2` is an integer.
pub(crate) fn times_power_of_two(v: f64, log2: f64) -> f64 {
    match v == 0.0 || log2.fract() == 0.0 {
        true => times_two_to(v, log2 as i32),
        false => v * log2.exp2(),
    }
}
