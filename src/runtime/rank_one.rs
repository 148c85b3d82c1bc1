//! Σ, m, S and Q after one move by a rank-one update, noise and shared precisions held (mathematics §3;
//! Tipping and Faul 2003, appendix). O(n m) a move where a fresh computation takes O(n m k).

use nalgebra::{DMatrix, DVector};

use super::control::Point;
use super::core::Core;
use super::factors::{Action, Factors, Move};
use super::posterior::{Detail, Posterior};
use super::solution::Failure;
use crate::math::cross::cross_vector;
use crate::math::poll::poll;
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
        poll();
        let c = self.sigma.column(j).into_owned();
        let m = self.mean[j];
        let p = self.products(core, &self.phi * &c);
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
        poll();
        let (i, k) = (made.weight, self.active.len());
        let alpha = made.ln_precision.exp();
        let column = self.column(core, i);
        let c = &self.sigma * self.phi.tr_mul(&column);
        let e = &column - &self.phi * &c;
        let p = self.products(core, e);
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
    fn products(&self, core: &Core, mut e: DVector<f64>) -> DVector<f64> {
        for (class, root) in core.classes.iter().zip(&self.roots) {
            e.rows_mut(class.rows.start, class.rows.len()).scale_mut(*root);
        }
        cross_vector(&core.phi, &e)
    }
}

#[cfg(test)]
mod tests {
    use super::super::control::{Budget, Control};
    use super::super::evidence::stored;
    use super::super::greedy::{apply, best_move, greedy};
    use super::super::prepare::prepare;
    use super::super::problem::{Hyper, Problem, Scale, WeightPrior};
    use super::super::start::{Start, set_bounds, start};
    use super::*;
    use crate::plan::ir::Options;

    /// Weights with a precision of their own, one flat effect, two noises if asked for.
    fn problem(phi: &DMatrix<f64>, t: &[f64], noises: usize, flat: bool) -> Problem {
        let (n, m) = phi.shape();
        let own = |i| WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(i, 1.0)] });
        let weights = (0..m).map(|i| if flat && i == 0 { WeightPrior::Flat } else { own(i) }).collect();
        let noise = |r| Scale { log_const: 0.0, powers: vec![(m + r % noises, 1.0)] };
        let hyper = Hyper { shape: 0.0, rate: 0.0, held: None };
        Problem {
            targets: t.to_vec(),
            noise: (0..n).map(noise).collect(),
            counts: vec![1.0; n],
            term: vec![0; n],
            design: phi.clone(),
            weights,
            hypers: vec![hyper; m + noises],
        }
    }

    fn kernel(n: usize) -> (DMatrix<f64>, Vec<f64>) {
        let x = |i: usize| 20.0 * i as f64 / n as f64 - 10.0;
        let phi = DMatrix::from_fn(n, n + 1, |i, j| match j {
            0 => 1.0,
            j => (-((x(i) - x(j - 1)) / 2.0).powi(2)).exp(),
        });
        (phi, (0..n).map(|i| x(i).sin() + 0.2 * ((37 * i * i) as f64).sin()).collect())
    }

    #[test]
    fn rank_one_is_fresh_after_every_kind_of_move() {
        let (phi, t) = kernel(50);
        for (noises, flat) in [(1, false), (1, true), (2, false), (2, true)] {
            let problem = problem(&phi, &t, noises, flat);
            let options = Options::default();
            let mut source = stored(&problem).unwrap();
            let mut core = prepare(&problem, &mut source, &options, &Budget::default(), true).unwrap().core;
            set_bounds(&mut core);
            let mut point = Point { x: start(&core, Start::default()), active: core.without_own() };
            let mut state = RankOne::new(&core, &point).unwrap();
            let mut kinds = [0; 3];
            for step in 0..60 {
                // now and then the worst function leaves, whatever it earns
                let best = match (step % 7, point.active.first()) {
                    (6, Some(&weight)) => {
                        let ln_alpha = core.weights[weight].log.at(&point.x);
                        let (s, q) = (state.factors.s[weight], state.factors.q[weight]);
                        let gain = -super::super::factors::contribution(s, q, ln_alpha);
                        Move { weight, action: Action::Delete, ln_precision: f64::INFINITY, gain }
                    }
                    _ => match best_move(&core, &point, &state.factors, |m| m.gain > 1e-7) {
                        Some(best) => best,
                        None => break,
                    },
                };
                kinds[best.action as usize] += 1;
                apply(&core, &mut point, best);
                assert!(state.apply(&core, best));
                let fresh = RankOne::new(&core, &point).unwrap();
                // each move raises the evidence by its gain
                assert!(
                    (state.log_evidence - fresh.log_evidence).abs() < 1e-8 * (1.0 + fresh.log_evidence.abs())
                );
                let (a, b) = (&state.factors, &fresh.factors);
                let size = b.norm.iter().copied().fold(0.0, f64::max);
                for i in 0..core.weights.len() {
                    assert!((a.big_s[i] - b.big_s[i]).abs() < 1e-10 * size, "S {step} {i}");
                    assert!((a.big_q[i] - b.big_q[i]).abs() < 1e-9 * size, "Q {step} {i}");
                }
                for (at, &i) in state.active.iter().enumerate() {
                    let there = fresh.active.iter().position(|&j| j == i).unwrap();
                    assert!((state.mean[at] - fresh.mean[there]).abs() < 1e-9);
                    assert!((state.sigma[(at, at)] / fresh.sigma[(there, there)] - 1.0).abs() < 1e-7);
                    assert!(
                        (a.s[i] / b.s[i] - 1.0).abs() < 1e-6
                            && (a.q[i] - b.q[i]).abs() < 1e-6 * b.s[i].sqrt()
                    );
                }
            }
            assert!(kinds.iter().all(|k| *k > 2), "{kinds:?}");
        }
    }

    /// Golden case O09: the actions of the greedy algorithm at fixed noise.
    #[test]
    fn greedy_takes_the_golden_path() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/O09_sequential_path.json");
        let golden: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let numbers = |v: &serde_json::Value| -> Vec<f64> {
            v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(f64::INFINITY)).collect()
        };
        let inputs = &golden["inputs"];
        let column = |v: &serde_json::Value| -> Vec<f64> {
            v.as_array().unwrap().iter().map(|x| x[0].as_f64().unwrap()).collect()
        };
        let (x, centres) = (column(&inputs["X"]), column(&inputs["basis"]["centres"]));
        let width = inputs["basis"]["width"].as_f64().unwrap();
        let phi = DMatrix::from_fn(x.len(), centres.len() + 1, |i, j| match j {
            0 => 1.0,
            j => (-((x[i] - centres[j - 1]) / width).powi(2)).exp(),
        });
        let mut problem = problem(&phi, &numbers(&inputs["t"]), 1, false);
        problem.hypers.last_mut().unwrap().held = inputs["beta"].as_f64();
        let options = Options { min_gain: 0.0, ..Options::default() };
        let budget = Budget::default();
        let mut source = stored(&problem).unwrap();
        let mut core = prepare(&problem, &mut source, &options, &budget, true).unwrap().core;
        set_bounds(&mut core);
        let mut point = Point { x: start(&core, Start::default()), active: core.without_own() };
        let mut on_step = |_: &super::super::solution::Step| std::ops::ControlFlow::Continue(());
        let mut control = Control::new(&options, &budget, &mut on_step);
        let held = vec![false; core.hypers.len()];
        let moves = greedy(&core, &mut point, &held, 1e-6, &mut control).unwrap();
        let expected = |name: &str| {
            golden["expected"].as_array().unwrap().iter().find(|e| e["name"] == name).unwrap()["value"]
                .clone()
        };
        assert_eq!(moves[0].weight as u64, expected("first_index").as_u64().unwrap());
        let moves = &moves[1..];
        assert_eq!(moves.iter().map(|m| m.weight as f64).collect::<Vec<_>>(), numbers(&expected("indices")));
        let words: Vec<&str> = moves
            .iter()
            .map(|m| match m.action {
                Action::Add => "add",
                Action::ReEstimate => "re-estimate",
                Action::Delete => "delete",
            })
            .collect();
        assert_eq!(serde_json::json!(words), expected("actions"));
        for (m, gain) in moves.iter().zip(numbers(&expected("gains"))) {
            assert!((m.gain - gain).abs() <= 1e-8 + 1e-5 * gain, "{m:?} {gain}");
        }
        for (m, alpha) in moves.iter().zip(numbers(&expected("alphas"))).filter(|p| p.1.is_finite()) {
            let unit = core.hypers[m.weight].log2 * std::f64::consts::LN_2;
            let x = m.ln_precision - core.weights[m.weight].log.known;
            assert!(((x + unit).exp() / alpha - 1.0).abs() < 1e-6, "{m:?} {alpha}");
        }
    }
}
