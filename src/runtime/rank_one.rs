//! Σ, m, S and Q after one move by a rank-one update, noise and shared precisions held (mathematics §3;
//! Tipping and Faul 2003, appendix). O(n m) a move where a fresh computation takes O(n m k).

use nalgebra::{DMatrix, DVector};

use super::control::Point;
use super::core::Core;
use super::factors::{Action, Factors, Move};
use super::posterior::{Detail, Posterior};
use super::solution::Failure;
use crate::math::qr;

/// The state between two moves, in the units of the noise: rows times the root of their precision, flat
/// effects projected out.
pub(crate) struct RankOne {
    /// Sparsity and quality of every weight at this state.
    pub factors: Factors,
    /// Log evidence.
    pub log_evidence: f64,
    /// Jitter that the last factorisation needed.
    pub jitter: f64,
    /// Weights in the model, in the order in which they came; their precisions.
    active: Vec<usize>,
    alpha: Vec<f64>,
    /// Their columns, n × k.
    phi: DMatrix<f64>,
    /// Covariance (k × k) and mean (k) of their weights.
    sigma: DMatrix<f64>,
    mean: DVector<f64>,
    /// Basis of the flat effects, n × f; empty where `core.phi` has no flat part.
    q_flat: DMatrix<f64>,
    roots: Vec<f64>,
}

impl RankOne {
    /// The state at a point, computed afresh.
    pub fn new(core: &Core, point: &Point) -> Result<RankOne, Failure> {
        let mut posterior = Posterior::new(core, point, None)?;
        let detail = posterior.detail();
        posterior.sharpen(&detail);
        Ok(RankOne::from_posterior(core, point, posterior, &detail))
    }

    fn from_posterior(core: &Core, point: &Point, p: Posterior, detail: &Detail) -> RankOne {
        let roots = core.roots(&point.x);
        let factors = Factors::new(core, &roots, &p, detail);
        let (k, jitter) = (p.active.len(), p.jitter());
        // back from w̃ = w/d to w
        let mut phi = p.phi;
        for (mut column, d) in phi.column_iter_mut().zip(&p.d) {
            column.unscale_mut(*d);
        }
        let one_class = core.classes.len() == 1;
        RankOne {
            factors,
            log_evidence: p.log_evidence,
            jitter,
            alpha: p.d.iter().map(|d| 1.0 / (d * d)).collect(),
            phi,
            sigma: DMatrix::from_fn(k, k, |i, j| p.d[i] * detail.sigma[(i, j)] * p.d[j]),
            mean: DVector::from_fn(k, |i, _| p.d[i] * p.mean[i]),
            q_flat: if one_class { DMatrix::zeros(core.t.len(), 0) } else { p.q_flat },
            active: p.active,
            roots,
        }
    }

    /// Makes a move; `false` if rounding has eaten the state, which then has to be computed afresh.
    pub fn apply(&mut self, core: &Core, made: Move) -> bool {
        let at = self.active.iter().position(|&i| i == made.weight);
        let kept = match (made.action, at) {
            (Action::Add, None) => self.add(core, made),
            (Action::ReEstimate, Some(j)) => {
                // κ = 1/(Σ_jj + 1/(α_new − α_old))
                let alpha = made.ln_precision.exp();
                let change = alpha - self.alpha[j];
                self.alpha[j] = alpha;
                change == 0.0 || self.take_out(core, j, 1.0 / (self.sigma[(j, j)] + 1.0 / change))
            }
            (Action::Delete, Some(j)) => {
                // the same with α_new = ∞
                let kept = self.take_out(core, j, 1.0 / self.sigma[(j, j)]);
                self.active.remove(j);
                self.alpha.remove(j);
                self.remove(j);
                kept
            }
            _ => false,
        };
        self.log_evidence += made.gain;
        kept && self.leave_one_out()
    }

    /// Σ −= κ c cᵀ, m −= κ m_j c, S += κ p², Q += κ m_j p; c = Σ_·j, p = Φ_allᵀ Φ c.
    fn take_out(&mut self, core: &Core, j: usize, kappa: f64) -> bool {
        let c = self.sigma.column(j).into_owned();
        let m = self.mean[j];
        let p = self.products(core, &(&self.phi * &c));
        self.sigma.ger(-kappa, &c, &c, 1.0);
        self.mean.axpy(-kappa * m, &c, 1.0);
        for (i, p) in p.iter().enumerate() {
            self.factors.big_s[i] += kappa * p * p;
            self.factors.big_q[i] += kappa * m * p;
        }
        kappa.is_finite() && c[j] > 0.0
    }

    /// v = 1/(α + S_i), μ = v Q_i, c = Σ Φᵀ φ_i, e = φ_i − Φ c, p = Φ_allᵀ e:
    /// Σ = [Σ + v c cᵀ, −v c; −v cᵀ, v], m = [m − μ c; μ], S −= v p², Q −= μ p.
    fn add(&mut self, core: &Core, made: Move) -> bool {
        let (i, k) = (made.weight, self.active.len());
        let alpha = made.ln_precision.exp();
        let column = self.column(core, i);
        let c = &self.sigma * self.phi.tr_mul(&column);
        let e = &column - &self.phi * &c;
        let p = self.products(core, &e);
        let v = 1.0 / (alpha + self.factors.big_s[i]);
        let mu = v * self.factors.big_q[i];
        let mut sigma = std::mem::replace(&mut self.sigma, DMatrix::zeros(0, 0));
        sigma.ger(v, &c, &c, 1.0);
        sigma = sigma.resize(k + 1, k + 1, 0.0);
        for a in 0..k {
            sigma[(a, k)] = -v * c[a];
            sigma[(k, a)] = -v * c[a];
        }
        sigma[(k, k)] = v;
        self.sigma = sigma;
        self.mean.axpy(-mu, &c, 1.0);
        self.mean = std::mem::replace(&mut self.mean, DVector::zeros(0)).push(mu);
        self.phi = std::mem::replace(&mut self.phi, DMatrix::zeros(0, 0)).insert_column(k, 0.0);
        self.phi.set_column(k, &column);
        for (a, p) in p.iter().enumerate() {
            self.factors.big_s[a] -= v * p * p;
            self.factors.big_q[a] -= mu * p;
        }
        self.active.push(i);
        self.alpha.push(alpha);
        v > 0.0 && v.is_finite()
    }

    fn remove(&mut self, j: usize) {
        let take = |m: &mut DMatrix<f64>| std::mem::replace(m, DMatrix::zeros(0, 0));
        self.sigma = take(&mut self.sigma).remove_row(j).remove_column(j);
        self.phi = take(&mut self.phi).remove_column(j);
        self.mean = std::mem::replace(&mut self.mean, DVector::zeros(0)).remove_row(j);
    }

    /// s and q from S and Q: the same outside the model, α S/(α − S) and α Q/(α − S) in it.
    fn leave_one_out(&mut self) -> bool {
        let f = &mut self.factors;
        f.s.copy_from_slice(&f.big_s);
        f.q.copy_from_slice(&f.big_q);
        for i in 0..f.s.len() {
            if f.is_in_span(i) {
                f.q[i] = 0.0;
            }
        }
        let mut sound = true;
        for (at, &i) in self.active.iter().enumerate() {
            let alpha = self.alpha[at];
            let rest = alpha - f.big_s[i];
            sound &= rest > 0.0 && self.sigma[(at, at)] > 0.0;
            f.s[i] = alpha * f.big_s[i] / rest;
            f.q[i] = alpha * f.big_q[i] / rest;
        }
        sound && self.log_evidence.is_finite()
    }

    /// Column i in the units of the noise, without its flat part.
    fn column(&self, core: &Core, i: usize) -> DVector<f64> {
        let mut column = core.phi.column(i).into_owned();
        for (class, root) in core.classes.iter().zip(&self.roots) {
            column.rows_mut(class.rows.start, class.rows.len()).scale_mut(*root);
        }
        if self.q_flat.ncols() == 0 {
            return column;
        }
        let mut one = DMatrix::from_column_slice(column.len(), 1, column.as_slice());
        qr::project_out(&self.q_flat, &mut one);
        one.column(0).into_owned()
    }

    /// Φ_allᵀ e for an e without flat part: then it does not matter that Φ_all has one.
    fn products(&self, core: &Core, e: &DVector<f64>) -> DVector<f64> {
        let mut scaled = e.clone();
        for (class, root) in core.classes.iter().zip(&self.roots) {
            scaled.rows_mut(class.rows.start, class.rows.len()).scale_mut(*root);
        }
        core.phi.tr_mul(&scaled)
    }
}
