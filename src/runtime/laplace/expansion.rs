//! The Gaussian at the mode, its evidence, and its slope in the log precisions (mathematics §4).

use std::cell::OnceCell;

use nalgebra::{DMatrix, DVector};

use super::frame::{Frame, Term};
use super::mode::{FOUND, Mode, mode};
use super::rows::third;
use crate::math::cross::cross_vector;
use crate::math::product::times;
use crate::runtime::control::Point;
use crate::runtime::core::LogLinear;
use crate::runtime::solution::Failure;

/// Well-determinedness below which 1 − Σ̃_ii loses digits.
const TINY: f64 = 1e-3;

/// The Gaussian at the mode, at one point. Tilde units: w = D w̃. Flat effects come first.
pub(super) struct Expansion {
    pub active: Vec<usize>,
    /// Number of flat effects, f.
    pub flat: usize,
    /// D, f + k.
    pub d: Vec<f64>,
    /// Φ̃ = Φ D, R × (f + k).
    pub phi: DMatrix<f64>,
    pub mode: Mode,
    /// Σ̃ = B⁻¹
    pub sigma: DMatrix<f64>,
    /// γ of the weights, k.
    pub gamma: Vec<f64>,
    /// For each class: Σ τ k Var f, and Σ τ k (y − f)².
    pub leverage: Vec<f64>,
    pub rss: Vec<f64>,
    /// Z = Σ k l − ½ w̃ᵀP w̃ − ½ ln|B|, constants included.
    pub log_evidence: f64,
    /// Φ̃ Σ̃, and [`Expansion::change`], for whoever asks first.
    phi_sigma: OnceCell<DMatrix<f64>>,
    change: OnceCell<DVector<f64>>,
}

impl Expansion {
    /// At a point; `warm` holds the last mode in internal units, flat effects first, then every weight.
    pub fn new(frame: &Frame, point: &Point, warm: &mut [f64]) -> Result<Expansion, Failure> {
        Expansion::to(FOUND, frame, point, warm)
    }

    /// The same, with a mode up to a decrement of `found`.
    pub fn to(found: f64, frame: &Frame, point: &Point, warm: &mut [f64]) -> Result<Expansion, Failure> {
        let core = &frame.core;
        let flat = core.flat.ncols();
        let mut d = vec![1.0; flat];
        d.extend(point.active.iter().map(|&i| (-0.5 * core.weights[i].log.at(&point.x)).exp()));
        if d.iter().any(|v| !(v.is_finite() && *v > 0.0)) {
            return Err(Failure::NonFinite { step: "precisions" });
        }
        let mut phi = frame.columns(&point.active);
        for (mut column, d) in phi.column_iter_mut().zip(&d) {
            column.scale_mut(*d);
        }
        let place = |at: usize| if at < flat { at } else { flat + point.active[at - flat] };
        let start = DVector::from_fn(d.len(), |at, _| warm[place(at)] / d[at]);
        let mode = mode(frame, &point.x, &phi, flat, start, found)?;
        warm.fill(0.0);
        for (at, d) in d.iter().enumerate() {
            warm[place(at)] = d * mode.mean[at];
        }
        let sigma = mode.factor.inverse();
        let gamma = (flat..d.len())
            .map(|i| {
                let gamma = 1.0 - sigma[(i, i)];
                // γ = [Φ̃ᵀHΦ̃ Σ̃]_ii: no cancellation where γ is tiny
                if gamma < TINY { mode.gram.row(i).dot(&sigma.column(i).transpose()) } else { gamma }
            })
            .collect();
        let log_evidence = core.constant + mode.log_joint - 0.5 * mode.factor.ln_det();
        if !log_evidence.is_finite() {
            return Err(Failure::NonFinite { step: "log evidence" });
        }
        let mut here = Expansion {
            active: point.active.clone(),
            flat,
            d,
            phi,
            mode,
            sigma,
            gamma,
            leverage: Vec::new(),
            rss: Vec::new(),
            log_evidence,
            phi_sigma: OnceCell::new(),
            change: OnceCell::new(),
        };
        here.sum_over_classes(frame);
        Ok(here)
    }

    /// The mode before columns and targets were centred, u = u' − A D w̃ + a, f + k.
    pub fn original_mean(&self, frame: &Frame) -> DVector<f64> {
        let mut mean = DMatrix::from_column_slice(self.d.len(), 1, self.mode.mean.as_slice());
        self.uncentre(frame, &mut mean);
        let mut flat = mean.rows_mut(0, self.flat);
        flat += &frame.centre.flat;
        mean.column(0).into_owned()
    }

    /// Takes rows of [u'; w̃] to those of [u; w̃], (f + k) × any.
    pub fn uncentre(&self, frame: &Frame, rows: &mut DMatrix<f64>) {
        if self.flat > 0 {
            let mut map = frame.core.flat_map.select_columns(&self.active);
            map.column_iter_mut().zip(&self.d[self.flat..]).for_each(|(mut part, d)| part *= *d);
            let part = map * rows.rows(self.flat, self.active.len());
            let mut flat = rows.rows_mut(0, self.flat);
            flat -= part;
        }
    }

    /// w̃ of the weights, k.
    pub fn mean(&self, at: usize) -> f64 {
        self.mode.mean[self.flat + at]
    }

    /// Σ̃_ii of a weight.
    pub fn variance(&self, at: usize) -> f64 {
        self.sigma[(self.flat + at, self.flat + at)]
    }

    fn sum_over_classes(&mut self, frame: &Frame) {
        let count = frame.core.classes.len();
        let (mut leverage, mut rss) = (vec![0.0; count], vec![0.0; count]);
        for (term, curvature) in frame.terms.iter().zip(&self.mode.rows.curvature) {
            for (n, &class) in term.class.iter().enumerate() {
                let r = term.row(n);
                let residual = term.likelihood.values[n] - self.mode.f[r];
                leverage[class] += curvature[n] * self.covariance(r, r);
                rss[class] += curvature[n] * residual * residual;
            }
        }
        (self.leverage, self.rss) = (leverage, rss);
    }

    /// Slope in the log precision of each class and weight, with mode and curvature held:
    /// ½ (n − T − rss), ½ (γ − w̃²) – the rule of the papers, which is no derivative of Z.
    pub fn held_slopes(&self, frame: &Frame) -> Vec<f64> {
        let classes = frame.core.classes.iter().enumerate();
        let rows = classes.map(|(c, class)| 0.5 * (class.count - self.leverage[c] - self.rss[c]));
        let weights = (0..self.active.len()).map(|at| 0.5 * (self.gamma[at] - self.mean(at) * self.mean(at)));
        rows.chain(weights).collect()
    }

    /// dZ/d ln precision of each class and weight, exactly:
    /// ½ (γ_i − w̃_i²) + ½ w̃_i [Σ̃ Φ̃ᵀ c]_i, c_n = Σ V dh/df (V: posterior covariance of f).
    pub fn exact_slopes(&self, frame: &Frame, x: &[f64]) -> Vec<f64> {
        let mut slopes = self.held_slopes(frame);
        let change = self.change(frame, x);
        let pull = &self.sigma * cross_vector(&self.phi, change);
        let classes = frame.core.classes.len();
        for at in 0..self.active.len() {
            slopes[classes + at] += 0.5 * self.mean(at) * pull[self.flat + at];
        }
        // a precision of a likelihood moves the mode by Σ Φᵀ dδ/d ln τ, dδ/d ln τ = δ
        for term in &frame.terms {
            for (n, &class) in term.class.iter().enumerate() {
                let r = term.row(n);
                slopes[class] -= 0.5 * self.phi.row(r).transpose().dot(&pull) * self.mode.rows.score[r];
            }
        }
        slopes
    }

    /// Φ̃ Σ̃
    fn phi_sigma(&self) -> &DMatrix<f64> {
        self.phi_sigma.get_or_init(|| times(&self.phi, &self.sigma))
    }

    /// V_ab, the posterior covariance of two predictors.
    pub fn covariance(&self, a: usize, b: usize) -> f64 {
        self.phi_sigma().row(a).dot(&self.phi.row(b))
    }

    /// c = Σ_bc V_bc dh_bc/df of every row, R; `x` as at the start.
    pub fn change(&self, frame: &Frame, x: &[f64]) -> &DVector<f64> {
        self.change.get_or_init(|| {
            third(frame, x, &self.mode.f, &|term: &Term, n: usize, v: &mut [f64]| {
                let (d, r) = (term.width(), term.row(n));
                for b in 0..d {
                    for a in 0..d {
                        v[a + b * d] = self.covariance(r + a, r + b);
                    }
                }
            })
        })
    }

    /// Slopes of classes and weights as slopes of hyperparameters, with their priors.
    pub fn by_hyper(&self, frame: &Frame, x: &[f64], slopes: &[f64]) -> Vec<f64> {
        let core = &frame.core;
        let mut g = vec![0.0; core.hypers.len()];
        for (log, slope) in self.logs(frame).into_iter().zip(slopes) {
            log.powers.iter().for_each(|&(h, power)| g[h] += power * slope);
        }
        for (h, hyper) in core.hypers.iter().enumerate().filter(|(_, h)| h.is_free()) {
            g[h] += hyper.shape - hyper.rate * x[h].exp();
        }
        g
    }

    /// The log precisions in the order of slopes.
    pub fn logs<'a>(&self, frame: &'a Frame) -> Vec<&'a LogLinear> {
        let core = &frame.core;
        let weights = self.active.iter().map(|&i| &core.weights[i].log);
        core.classes.iter().map(|c| &c.log).chain(weights).collect()
    }
}
