//! Problems for the numerical tests.

use std::ops::ControlFlow;

use nalgebra::{DMatrix, DVector};
use sbl::plan::ir::Options;
use sbl::runtime::evidence::{Budget, solve};
use sbl::runtime::problem::{Hyper, Problem, Scale, WeightPrior};
use sbl::runtime::solution::Solution;

/// Which columns are flat; every other weight has a precision of its own (hyperparameters 0 …), the
/// noise is the last hyperparameter.
pub fn ard(phi: &DMatrix<f64>, t: &[f64], flat: &[usize]) -> Problem {
    let m = phi.ncols();
    let penalised = m - flat.len();
    let mut next = 0;
    let weights = (0..m)
        .map(|i| {
            if flat.contains(&i) {
                return WeightPrior::Flat;
            }
            next += 1;
            WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(next - 1, 1.0)] })
        })
        .collect();
    let noise = Scale { log_const: 0.0, powers: vec![(penalised, 1.0)] };
    Problem {
        targets: t.to_vec(),
        noise: vec![noise; t.len()],
        counts: vec![1.0; t.len()],
        term: vec![0; t.len()],
        design: phi.clone(),
        weights,
        hypers: vec![Hyper { shape: 0.0, rate: 0.0, held: None }; penalised + 1],
    }
}

pub fn fit(problem: &Problem) -> Solution {
    fit_with(problem, &Options::default())
}

pub fn fit_with(problem: &Problem, options: &Options) -> Solution {
    solve(problem, options, &Budget::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Predictive mean and variance of the noiseless function.
pub fn predict(s: &Solution, phi: &DMatrix<f64>) -> (Vec<f64>, Vec<f64>) {
    let rows = phi.select_columns(&s.active);
    let mean = &rows * &s.mean;
    let variance = (0..rows.nrows())
        .map(|r| {
            let row = rows.row(r).transpose();
            row.dot(&(&s.covariance * &row))
        })
        .collect();
    (mean.iter().copied().collect(), variance)
}

/// Dense log evidence, log N(t | 0, C), or the flat formula of mathematics §1.1, at given
/// hyperparameters: nothing shared with the library but the definition of the problem.
pub fn dense_evidence(problem: &Problem, hypers: &[f64]) -> f64 {
    let n = problem.targets.len();
    let log_precision =
        |s: &Scale| s.log_const + s.powers.iter().map(|&(h, p)| p * hypers[h].ln()).sum::<f64>();
    let mut c = DMatrix::zeros(n, n);
    let mut known = 0.0;
    for r in 0..n {
        // k observations of one row: one of k-fold precision, and what is left of the constants
        let k = problem.counts[r];
        let ln_pi = log_precision(&problem.noise[r]);
        c[(r, r)] = 1.0 / (k * ln_pi.exp());
        known += 0.5 * (k - 1.0) * (ln_pi - (2.0 * std::f64::consts::PI).ln()) - 0.5 * k.ln();
    }
    let mut flat = Vec::new();
    for (i, prior) in problem.weights.iter().enumerate() {
        match prior {
            WeightPrior::Flat => flat.push(i),
            WeightPrior::Normal(s) => {
                let ln_p = log_precision(s);
                if ln_p.is_finite() {
                    let column = problem.design.column(i);
                    c += column * column.transpose() * (-ln_p).exp();
                }
            }
        }
    }
    let t = DVector::from_column_slice(&problem.targets);
    let chol = c.cholesky().unwrap();
    let ln_det = 2.0 * (0..n).map(|i| chol.l()[(i, i)].ln()).sum::<f64>();
    let f = problem.design.select_columns(&flat);
    let mut quadratic = t.dot(&chol.solve(&t));
    let mut flat_det = 0.0;
    if !flat.is_empty() {
        let cf = chol.solve(&f);
        let fcf = f.transpose() * &cf;
        let inner = fcf.clone().cholesky().unwrap();
        flat_det = 2.0 * (0..flat.len()).map(|i| inner.l()[(i, i)].ln()).sum::<f64>();
        let ct = cf.transpose() * &t;
        quadratic -= ct.dot(&inner.solve(&ct));
    }
    let count = n as f64 - flat.len() as f64;
    known - 0.5 * (count * (2.0 * std::f64::consts::PI).ln() + ln_det + flat_det + quadratic)
}

/// Uniform numbers in (−1, 1), the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Nearly normal: the sum of twelve uniform numbers.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() / 2.0
    }

    pub fn matrix(&mut self, n: usize, m: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, m, |_, _| self.normal())
    }
}
