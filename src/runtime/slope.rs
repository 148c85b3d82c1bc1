//! First and second derivatives of the objective in ln theta.
//!
//! Let y stack f̃ (rows) and w̃ (weights), W its posterior covariance and ρ = (−r̃, m̃). With η_c the
//! log precision of class c and n_c its count,
//! dL/dη_c = ½ [n_c − T_c − q_c], T_c = Σ_(a∈c) W_aa, q_c = Σ_(a∈c) ρ_a²,
//! d²L/dη_c dη_d = ½ [Σ W_ab² − δ_cd (T_c + q_c) + 2 Σ ρ_a W_ab ρ_b], a ∈ c, b ∈ d.
//! (L = ½ Σ n_c η_c − ½ ln|Λ| − min ½ Σ q_c; Λ = Σ exp(η_c) Λ_c; differentiate twice.)

use nalgebra::DMatrix;

use super::core::{Core, LogLinear};
use super::posterior::{Detail, Posterior};
use crate::math::poll::poll;
use crate::math::product::times;

/// Up to this many row classes, covariances are summed class by class without forming all of W.
const FEW_CLASSES: usize = 12;

/// Slope of each class: rows first, then the active weights.
pub(crate) fn class_slopes(core: &Core, p: &Posterior) -> Vec<f64> {
    let rows =
        core.classes.iter().enumerate().map(|(c, class)| 0.5 * (class.count - p.leverage[c] - p.rss[c]));
    let weights = p.gamma.iter().zip(p.mean.iter()).map(|(gamma, m)| 0.5 * (gamma - m * m));
    rows.chain(weights).collect()
}

/// dJ/dx, one entry a hyperparameter; 0 for held ones and those that scale nothing.
pub(crate) fn gradient(core: &Core, x: &[f64], p: &Posterior) -> Vec<f64> {
    let mut g = vec![0.0; core.hypers.len()];
    for (log, slope) in logs(core, p).into_iter().zip(class_slopes(core, p)) {
        log.powers.iter().for_each(|&(h, power)| g[h] += power * slope);
    }
    for (h, hyper) in core.hypers.iter().enumerate() {
        if hyper.is_free() {
            g[h] += hyper.shape - hyper.rate * x[h].exp();
        }
    }
    g
}

/// d²J/dx dx over the hyperparameters in `which`.
pub(crate) fn hessian(
    core: &Core,
    x: &[f64],
    p: &Posterior,
    detail: &Detail,
    which: &[usize],
) -> DMatrix<f64> {
    let by_class = class_hessian(core, p, detail);
    let mut at = vec![usize::MAX; core.hypers.len()];
    which.iter().enumerate().for_each(|(i, &h)| at[h] = i);
    let mut hessian = DMatrix::zeros(which.len(), which.len());
    let logs = logs(core, p);
    for (a, log_a) in logs.iter().enumerate() {
        poll();
        for &(h, power_h) in log_a.powers.iter().filter(|&&(h, _)| at[h] != usize::MAX) {
            for (b, log_b) in logs.iter().enumerate() {
                for &(l, power_l) in log_b.powers.iter().filter(|&&(l, _)| at[l] != usize::MAX) {
                    hessian[(at[h], at[l])] += power_h * power_l * by_class[(a, b)];
                }
            }
        }
    }
    for (i, &h) in which.iter().enumerate() {
        hessian[(i, i)] -= core.hypers[h].rate * x[h].exp();
    }
    hessian
}

fn logs<'a>(core: &'a Core, p: &Posterior) -> Vec<&'a LogLinear> {
    core.classes.iter().map(|c| &c.log).chain(p.active.iter().map(|&i| &core.weights[i].log)).collect()
}

fn class_hessian(core: &Core, p: &Posterior, detail: &Detail) -> DMatrix<f64> {
    let (c, k) = (core.classes.len(), p.active.len());
    let mut h = DMatrix::zeros(c + k, c + k);
    if c == 1 {
        one_class(p, detail, &mut h);
    } else {
        rows_with_rows(core, p, &mut h);
        rows_with_weights(core, p, detail, &mut h);
    }
    // weights with weights: W = Σ̃
    for j in 0..k {
        poll();
        for i in 0..k {
            let w = detail.sigma[(i, j)];
            h[(c + i, c + j)] = 0.5 * (w * w + 2.0 * p.mean[i] * w * p.mean[j]);
        }
        h[(c + j, c + j)] -= 0.5 * (detail.sigma[(j, j)] + p.mean[j] * p.mean[j]);
    }
    h
}

/// All rows in one class: W = Φ̃Σ̃Φ̃ᵀ + QQᵀ of the rows, and Φ̃ᵀΦ̃ = Σ̃⁻¹ − I, Φ̃ᵀr̃ = m̃, Qᵀr̃ = 0, so that no row is looked at:
/// Σ W_ab² = |I − Σ̃|² + f, Σ r_a W_ab r_b = m̃ᵀΣ̃m̃, Σ_a W_ai² = [(I − Σ̃)Σ̃]_ii, −Σ_a r_a W_ai = −[Σ̃m̃]_i.
fn one_class(p: &Posterior, detail: &Detail, h: &mut DMatrix<f64>) {
    let pull = &detail.sigma * &p.mean;
    let mut total = p.q_flat.ncols() as f64;
    for (i, column) in detail.sigma.column_iter().enumerate() {
        poll();
        let mut squares = 0.0;
        for (j, w) in column.iter().enumerate() {
            let rest = if i == j { 1.0 - w } else { -w };
            total += rest * rest;
            squares += rest * w;
        }
        let value = 0.5 * (squares - 2.0 * pull[i] * p.mean[i]);
        h[(0, 1 + i)] = value;
        h[(1 + i, 0)] = value;
    }
    h[(0, 0)] = 0.5 * (total + 2.0 * p.mean.dot(&pull)) - 0.5 * (p.leverage[0] + p.rss[0]);
}

/// W = Φ̃ Σ̃
fn rows_with_weights(core: &Core, p: &Posterior, detail: &Detail, h: &mut DMatrix<f64>) {
    let (c, phi_sigma) = (core.classes.len(), p.phi_sigma(detail));
    for (a, class) in core.classes.iter().enumerate() {
        for i in 0..p.active.len() {
            let (mut squares, mut bilinear) = (0.0, 0.0);
            for r in class.rows.clone() {
                let w = phi_sigma[(r, i)];
                squares += w * w;
                bilinear -= p.residual[r] * w;
            }
            let value = 0.5 * (squares + 2.0 * bilinear * p.mean[i]);
            h[(a, c + i)] = value;
            h[(c + i, a)] = value;
        }
    }
}

fn rows_with_rows(core: &Core, p: &Posterior, h: &mut DMatrix<f64>) {
    let classes = &core.classes;
    if classes.len() <= FEW_CLASSES && !p.dual {
        // Σ (u_r·u_s)² = ⟨U_cᵀU_c, U_dᵀU_d⟩; Σ r_r (u_r·u_s) r_s = (U_cᵀr_c)·(U_dᵀr_d)
        let u = p.row_factor();
        let parts: Vec<_> = classes
            .iter()
            .map(|class| {
                let rows = u.rows(class.rows.start, class.rows.len());
                let transposed = rows.transpose();
                let residual = p.residual.rows(class.rows.start, class.rows.len());
                (times(&transposed, &rows.into_owned()), &transposed * residual)
            })
            .collect();
        for (a, x) in parts.iter().enumerate() {
            for (b, y) in parts.iter().enumerate() {
                h[(a, b)] = 0.5 * (x.0.dot(&y.0) + 2.0 * x.1.dot(&y.1));
            }
        }
    } else {
        let v = p.row_covariance();
        let mut class_of = vec![0; v.nrows()];
        for (c, class) in classes.iter().enumerate() {
            class.rows.clone().for_each(|r| class_of[r] = c);
        }
        for s in 0..v.ncols() {
            poll();
            for r in 0..v.nrows() {
                let w = v[(r, s)];
                h[(class_of[r], class_of[s])] += 0.5 * (w * w + 2.0 * p.residual[r] * w * p.residual[s]);
            }
        }
    }
    for c in 0..classes.len() {
        h[(c, c)] -= 0.5 * (p.leverage[c] + p.rss[c]);
    }
}
