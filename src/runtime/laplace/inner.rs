//! The precisions at one held expansion: exact type-II maximum likelihood of the local Gaussian model.
//!
//! With G = ΦᵀHΦ and u = Φᵀδ + G w held, B(x) = P + D G D and
//! L(x) = const − ½ ln|B| + ½ uᵀ D B⁻¹ D u + ln prior: k × k, no rows.
//! dL/d ln α_i = ½(γ_i − w̃_i²), d²L/d ln α_i d ln α_j = ½ [Σ̃_ij² + 2 w̃_i Σ̃_ij w̃_j − δ_ij (Σ̃_ii + w̃_i²)].

use nalgebra::{DMatrix, DVector};

use super::expansion::Expansion;
use super::frame::Frame;
use crate::math::chol::Cholesky;
use crate::runtime::core::Core;

/// Largest step of a log hyperparameter.
const STEP: f64 = 2.0;
/// Newton steps at most.
const MOST: usize = 60;

/// The local Gaussian model of an expansion.
pub(super) struct Local {
    flat: usize,
    active: Vec<usize>,
    /// ΦᵀHΦ, unscaled columns.
    gram: DMatrix<f64>,
    /// Φᵀδ + G w
    linear: DVector<f64>,
}

/// Its posterior at some hyperparameters.
struct State {
    /// L without its constant, with the hyperprior.
    objective: f64,
    mean: DVector<f64>,
    sigma: DMatrix<f64>,
}

impl Local {
    pub fn new(here: &Expansion) -> Local {
        let k = here.d.len();
        let gram = DMatrix::from_fn(k, k, |i, j| here.mode.gram[(i, j)] / (here.d[i] * here.d[j]));
        // at the mode Φ̃ᵀδ = P w̃
        let pulled = &here.mode.gram * &here.mode.mean;
        let linear = DVector::from_fn(k, |i, _| {
            let prior = if i < here.flat { 0.0 } else { here.mode.mean[i] };
            (pulled[i] + prior) / here.d[i]
        });
        Local { flat: here.flat, active: here.active.clone(), gram, linear }
    }

    fn state(&self, core: &Core, x: &[f64], live: &[bool]) -> Option<State> {
        let k = self.linear.len();
        let d: Vec<f64> = (0..k)
            .map(|i| match i.checked_sub(self.flat) {
                Some(at) => (-0.5 * core.weights[self.active[at]].log.at(x)).exp(),
                None => 1.0,
            })
            .collect();
        let mut b = DMatrix::from_fn(k, k, |i, j| d[i] * d[j] * self.gram[(i, j)]);
        (self.flat..k).for_each(|i| b[(i, i)] += 1.0);
        let factor = Cholesky::strict(&b)?;
        let u = DVector::from_fn(k, |i, _| d[i] * self.linear[i]);
        let mean = factor.solve(&u);
        let objective = 0.5 * (u.dot(&mean) - factor.ln_det()) + core.ln_prior(x, live);
        objective.is_finite().then(|| State { objective, sigma: factor.inverse(), mean })
    }

    fn gradient(&self, core: &Core, x: &[f64], state: &State) -> Vec<f64> {
        let mut g = vec![0.0; core.hypers.len()];
        for (at, &i) in self.active.iter().enumerate() {
            let at = at + self.flat;
            let slope = 0.5 * (1.0 - state.sigma[(at, at)] - state.mean[at] * state.mean[at]);
            core.weights[i].log.powers.iter().for_each(|&(h, power)| g[h] += power * slope);
        }
        for (h, hyper) in core.hypers.iter().enumerate().filter(|(_, h)| h.is_free()) {
            g[h] += hyper.shape - hyper.rate * x[h].exp();
        }
        g
    }

    /// −d²L/dx² over the hyperparameters in `which`.
    fn curvature(&self, core: &Core, x: &[f64], state: &State, which: &[usize]) -> DMatrix<f64> {
        let mut at_of = vec![usize::MAX; core.hypers.len()];
        which.iter().enumerate().for_each(|(at, &h)| at_of[h] = at);
        let mut c = DMatrix::zeros(which.len(), which.len());
        let logs: Vec<Vec<(usize, f64)>> = self
            .active
            .iter()
            .map(|&i| {
                let powers = core.weights[i].log.powers.iter();
                powers.filter(|p| at_of[p.0] != usize::MAX).map(|&(h, p)| (at_of[h], p)).collect()
            })
            .collect();
        for (i, a) in logs.iter().enumerate() {
            for (j, b) in logs.iter().enumerate() {
                let w = state.sigma[(self.flat + i, self.flat + j)];
                let (mi, mj) = (state.mean[self.flat + i], state.mean[self.flat + j]);
                let mut value = 0.5 * (w * w + 2.0 * mi * w * mj);
                if i == j {
                    value -= 0.5 * (w + mi * mi);
                }
                for &(g, power_g) in a {
                    for &(h, power_h) in b {
                        c[(g, h)] -= power_g * power_h * value;
                    }
                }
            }
        }
        for (at, &h) in which.iter().enumerate() {
            c[(at, at)] += core.hypers[h].rate * x[h].exp();
        }
        c
    }

    /// (−d²L/dx²)⁻¹, made positive definite: a metric for steps on the evidence.
    pub fn metric(&self, frame: &Frame, x: &[f64], which: &[usize]) -> DMatrix<f64> {
        let core = &frame.core;
        let identity = DMatrix::identity(which.len(), which.len());
        let Some(state) = self.state(core, x, &core.live(&self.active)) else { return identity };
        let mut curvature = self.curvature(core, x, &state, which);
        for i in 0..which.len() {
            if curvature.row(i).amax() == 0.0 {
                curvature[(i, i)] = 1.0;
            }
        }
        let mut damping = 1e-3;
        while damping < 1e3 {
            if let Some(factor) = Cholesky::strict(&(&curvature + &identity * damping)) {
                return factor.inverse();
            }
            damping *= 10.0;
        }
        identity
    }

    /// Newton's method with Levenberg-Marquardt damping over the hyperparameters in `which`, from x.
    pub fn maximise(&self, frame: &Frame, x: &mut Vec<f64>, which: &[usize], tolerance: f64) {
        let core = &frame.core;
        let live = core.live(&self.active);
        let Some(mut state) = self.state(core, x, &live) else { return };
        let mut damping = 0.0;
        for _ in 0..MOST {
            let gradient = self.gradient(core, x, &state);
            let g = DVector::from_iterator(which.len(), which.iter().map(|&h| gradient[h]));
            if g.is_empty() || g.amax() <= tolerance {
                return;
            }
            let curvature = self.curvature(core, x, &state, which);
            let mut moved = false;
            for _ in 0..12 {
                if let Some(step) = damped(&curvature, &g, damping) {
                    let mut next = x.clone();
                    for (&h, s) in which.iter().zip(step.iter()) {
                        next[h] = (next[h] + s).clamp(core.hypers[h].lower, core.hypers[h].upper);
                    }
                    if let Some(there) = self.state(core, &next, &live)
                        && there.objective > state.objective
                    {
                        (*x, state, moved) = (next, there, true);
                        break;
                    }
                }
                damping = if damping == 0.0 { 1e-4 } else { damping * 10.0 };
            }
            if !moved {
                return;
            }
            damping = if damping < 1e-3 { 0.0 } else { damping * 0.03 };
        }
    }
}

/// (C + λ I)⁻¹ g, cut to the largest step; `None` if the matrix is not positive definite.
fn damped(curvature: &DMatrix<f64>, g: &DVector<f64>, damping: f64) -> Option<DVector<f64>> {
    let mut c = curvature.clone();
    (0..c.nrows()).for_each(|i| c[(i, i)] += damping);
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
