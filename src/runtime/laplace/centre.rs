//! Offsets and shifts cost no digits (mathematics §4): a flat prior does not feel them,
//! f = F u + Φ w = F (u + A w) + Φ⊥ w, and a Gaussian sees its predictor only beside its target, which becomes what the known
//! part and flat effects of its own leave.

use nalgebra::DVector;

use super::frame::Term;
use crate::math::chol::Cholesky;
use crate::math::cross::{cross, cross_vector, times_vector};
use crate::math::power::times_two_to;
use crate::math::qr::{orthonormal, project_out};
use crate::runtime::core::Core;
use crate::runtime::prepare::NOTHING_LEFT;
use crate::runtime::rows::scale_columns;
use crate::runtime::solution::Failure;
use crate::runtime::treatment::collinear;

/// What was taken from the targets of Gaussian likelihoods.
#[derive(Clone, Debug)]
pub(super) struct Centre {
    /// From each row, R; 0 in rows of other likelihoods.
    pub rows: DVector<f64>,
    /// The part of it in each flat effect, in units of the scaled columns.
    pub flat: DVector<f64>,
}

/// Takes their part in the flat columns from the penalised ones.
///
/// # Errors
/// Flat effects that the data do not determine.
pub(super) fn centre_columns(core: &mut Core) -> Result<(), Failure> {
    if core.flat.ncols() == 0 {
        return Ok(());
    }
    let index: Vec<usize> = core.flat_weights.iter().map(|w| w.0).collect();
    let (q, r) = orthonormal(&core.flat)
        .map_err(|column| Failure::FlatNotIdentified(collinear(&core.flat, column, &index)))?;
    let norms: Vec<f64> = core.phi.column_iter().map(|c| c.norm()).collect();
    let mut map = project_out(&q, &mut core.phi);
    for (mut column, norm) in core.phi.column_iter_mut().zip(norms) {
        if column.norm() <= NOTHING_LEFT * norm {
            column.fill(0.0);
        }
    }
    r.solve_upper_triangular_mut(&mut map);
    let exponents = scale_columns(&mut core.phi);
    for ((weight, mut part), e) in core.weights.iter_mut().zip(map.column_iter_mut()).zip(exponents) {
        weight.exponent += e;
        part.apply(|v| *v = times_two_to(*v, -e));
    }
    core.flat_map = map;
    Ok(())
}

/// Centres the Gaussian targets, and notes the variance of the targets of each class.
pub(super) fn centre(core: &mut Core, terms: &mut [Term], offset: &mut DVector<f64>) -> Centre {
    let mut centre = Centre { rows: DVector::zeros(offset.len()), flat: DVector::zeros(core.flat.ncols()) };
    let mut own = vec![true; core.flat.ncols()];
    for term in terms.iter_mut() {
        let rows = term.rows();
        if term.is_gaussian() {
            take(term, offset, &mut centre);
            offset.rows_mut(rows.start, rows.len()).fill(0.0);
        } else {
            (own.iter_mut().zip(core.flat.column_iter()))
                .for_each(|(own, column)| *own &= column.as_slice()[rows.clone()].iter().all(|v| *v == 0.0));
        }
    }
    let before = moments(terms, core.classes.len());
    let own: Vec<usize> = (0..own.len()).filter(|&j| own[j]).collect();
    let mut targets = DVector::zeros(offset.len());
    let mut columns = core.flat.select_columns(&own);
    for term in terms.iter() {
        for (n, row) in term.rows().enumerate() {
            if term.is_gaussian() {
                let root = term.weight(n).sqrt();
                targets[row] = root * term.likelihood.values[n];
                columns.row_mut(row).scale_mut(root);
            }
        }
    }
    // flat effects that the data do not determine are told of next
    if let Ok(factor) = Cholesky::new(&cross(&columns, &columns)) {
        let fit = factor.solve(&cross_vector(&columns, &targets));
        let along = times_vector(&core.flat.select_columns(&own), &fit);
        own.iter().zip(fit.iter()).for_each(|(&j, w)| centre.flat[j] = *w);
        terms.iter_mut().filter(|term| term.is_gaussian()).for_each(|term| take(term, &along, &mut centre));
    }
    let after = moments(terms, core.classes.len());
    for ((class, before), after) in core.classes.iter_mut().zip(before).zip(after) {
        class.variance = before.variance(&after);
    }
    centre
}

/// Takes the values of its rows from the targets of a likelihood.
fn take(term: &mut Term, part: &DVector<f64>, centre: &mut Centre) {
    for (n, row) in term.rows().enumerate() {
        let value = &mut term.likelihood.values[n];
        let left = *value - part[row];
        *value = if left.abs() <= NOTHING_LEFT * value.abs() { 0.0 } else { left };
        centre.rows[row] += part[row];
    }
}

/// Targets of one class: count and sum of weights, mean, sum of squares about the mean and about 0, largest size.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    weight: f64,
    mean: f64,
    about_mean: f64,
    squares: f64,
    largest: f64,
}

impl Moments {
    /// That of the targets, by what is left of them beside the flat effects; of targets that do not vary, their mean square.
    fn variance(&self, left: &Moments) -> f64 {
        let variance = self.about_mean.min(left.squares) / self.count;
        let squares = self.squares / self.count;
        if variance > NOTHING_LEFT * NOTHING_LEFT * self.largest * self.largest {
            variance
        } else if squares > 0.0 {
            squares
        } else {
            1.0
        }
    }
}

/// Moments of each class.
fn moments(terms: &[Term], classes: usize) -> Vec<Moments> {
    let mut moments = vec![Moments::default(); classes];
    for term in terms {
        for (n, &class) in term.class.iter().enumerate() {
            let (weight, y, m) = (term.weight(n), term.likelihood.values[n], &mut moments[class]);
            if weight > 0.0 {
                m.count += term.likelihood.counts[n];
                m.weight += weight;
                let d = y - m.mean;
                m.mean += weight * d / m.weight;
                m.about_mean += weight * d * (y - m.mean);
                m.squares += weight * y * y;
                m.largest = m.largest.max(y.abs());
            }
        }
    }
    moments
}
