//! The sequential schedule: where it ends, against gains computed densely; its start; rank-one against fresh is
//! tested beside the code.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use sbl::plan::ir::{Options, Schedule};
use sbl::runtime::problem::Problem;
use sbl::runtime::solution::{Solution, Stop};

use crate::golden::Golden;
use crate::problems::{Random, ard, dense_evidence, fit_with};

fn sequential() -> Options {
    Options { schedule: Schedule::Sequential, ..Options::default() }
}

/// The n × n covariance of the targets without a weight (with all of them if there is none of this index), factorised.
fn covariance(problem: &Problem, s: &Solution, without: usize) -> Cholesky<f64, Dyn> {
    let (n, m) = problem.design.shape();
    let mut c = DMatrix::identity(n, n) / s.hypers[m];
    for (j, column) in problem.design.column_iter().enumerate() {
        if j != without && s.hypers[j].is_finite() {
            c += column * column.transpose() / s.hypers[j];
        }
    }
    c.cholesky().unwrap()
}

/// What weight i adds to the evidence under a covariance that does not have it: at its best precision, and at this one.
fn adds(problem: &Problem, c: &Cholesky<f64, Dyn>, i: usize, alpha: f64) -> (f64, f64) {
    let (phi, t) = (problem.design.column(i), DVector::from_column_slice(&problem.targets));
    let solved = c.solve(&phi);
    let (s, q) = (phi.dot(&solved), t.dot(&solved));
    let lambda = |x: f64| 0.5 * ((x / (x + s)).ln() + q * q / (x + s));
    let best = if q * q > s { lambda(s * s / (q * q - s)) } else { 0.0 };
    (best, if alpha.is_finite() { lambda(alpha) } else { 0.0 })
}

/// The gain of the best move of every weight.
fn dense_gains(problem: &Problem, s: &Solution) -> Vec<f64> {
    let m = problem.design.ncols();
    let all = covariance(problem, s, m);
    (0..m)
        .map(|i| {
            let own = s.hypers[i].is_finite().then(|| covariance(problem, s, i));
            let (best, here) = adds(problem, own.as_ref().unwrap_or(&all), i, s.hypers[i]);
            best - here
        })
        .collect()
}

/// The largest gain of putting one function, at its best precision, in the place of another.
fn dense_exchange(problem: &Problem, s: &Solution) -> f64 {
    let outside = |j: &usize| !s.active.contains(j);
    let gain = |&i: &usize| {
        let without = covariance(problem, s, i);
        let (_, loses) = adds(problem, &without, i, s.hypers[i]);
        let best = |j| adds(problem, &without, j, f64::INFINITY).0 - loses;
        (0..problem.design.ncols()).filter(outside).map(best).fold(f64::NEG_INFINITY, f64::max)
    };
    s.active.iter().map(gain).fold(f64::NEG_INFINITY, f64::max)
}

fn kernel(x: &[f64], width: f64) -> DMatrix<f64> {
    DMatrix::from_fn(x.len(), x.len() + 1, |i, j| match j {
        0 => 1.0,
        j => (-((x[i] - x[j - 1]) / width).powi(2)).exp(),
    })
}

fn sinc(n: usize) -> (DMatrix<f64>, Vec<f64>) {
    let mut random = Random(7 + n as u64);
    let x: Vec<f64> = (0..n).map(|_| 10.0 * random.next()).collect();
    let t = x.iter().map(|x| x.sin() / x + 0.1 * random.normal()).collect();
    (kernel(&x, 3.0), t)
}

#[test]
fn no_single_move_gains_where_it_ends() {
    let (phi, t) = sinc(60);
    let mut random = Random(3);
    let wide = random.matrix(40, 30);
    let y: Vec<f64> = (0..40).map(|i| 2.0 * wide[(i, 3)] - wide[(i, 17)] + 0.3 * random.normal()).collect();
    for (phi, t) in [(phi, t), (wide, y)] {
        let problem = ard(&phi, &t, &[]);
        for min_gain in [0.0, 1.0] {
            let s = fit_with(&problem, &Options { min_gain, ..sequential() });
            assert_eq!(s.report.stop, Stop::Converged);
            let gains = dense_gains(&problem, &s);
            let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(most <= min_gain + 1e-8, "{most} {min_gain}");
            // precisions in the model are at their maximum, and earn what was asked for
            assert!(s.active.iter().all(|&i| gains[i].abs() < 1e-8));
            assert!(s.active.iter().all(|&i| s.gain[i] > min_gain));
            assert!((s.log_evidence - dense_evidence(&problem, &s.hypers)).abs() < 1e-7);
        }
    }
}

#[test]
fn no_exchange_of_two_functions_gains_where_it_ends() {
    for n in [40, 60] {
        let (phi, t) = sinc(n);
        let problem = ard(&phi, &t, &[]);
        for schedule in [Schedule::Sequential, Schedule::Batch] {
            for min_gain in [0.0, 0.2] {
                let s = fit_with(&problem, &Options { min_gain, schedule, ..Options::default() });
                let most = dense_exchange(&problem, &s);
                assert!(most <= 0.01 + 1e-8, "{n} {schedule:?} {min_gain}: {most}");
            }
        }
    }
}

#[test]
fn both_schedules_end_at_the_same_evidence_on_the_golden_dictionaries() {
    for name in ["O04_gauss_converged_a", "O05_gauss_converged_b"] {
        let g = Golden::read(name);
        let problem = ard(&g.design(&g.matrix("X")), &g.vector("t"), &[]);
        let (one, all) = (fit_with(&problem, &sequential()), fit_with(&problem, &Options::default()));
        assert_eq!(one.active, all.active, "{name}");
        assert!((one.log_evidence - all.log_evidence).abs() < 1e-9, "{name}");
    }
}

#[test]
fn the_better_of_several_starts_is_kept() {
    let g = Golden::read("O10_full_dictionary");
    let problem = ard(&g.design(&g.matrix("X")), &g.vector("t"), &[]);
    let one = fit_with(&problem, &sequential()).log_evidence;
    let all = fit_with(&problem, &Options::default()).log_evidence;
    for schedule in [Schedule::Batch, Schedule::Sequential] {
        let kept = fit_with(&problem, &Options { restarts: 2, schedule, ..Options::default() }).log_evidence;
        assert!(kept >= one.max(all) - 1e-9, "{kept} {one} {all}");
    }
}

#[test]
fn copies_of_columns_are_one_function() {
    let (phi, t) = sinc(50);
    let twice = DMatrix::from_fn(50, 102, |i, j| phi[(i, j / 2)] * if j % 2 == 0 { 1.0 } else { -3.0 });
    let (one, two) =
        (fit_with(&ard(&phi, &t, &[]), &sequential()), fit_with(&ard(&twice, &t, &[]), &sequential()));
    assert_eq!(one.active.iter().map(|i| 2 * i).collect::<Vec<_>>(), two.active);
    assert_eq!(two.report.merged.len(), 51);
    assert!((one.log_evidence - two.log_evidence).abs() < 1e-9);
}

#[test]
fn a_kernel_of_low_rank_gives_what_dense_algebra_gives() {
    // 200 rows become some 30; two noises, a flat effect and case weights on the way
    let (phi, t) = sinc(200);
    let mut problem = ard(&phi.insert_column(0, 1.0), &t, &[0]);
    let m = problem.hypers.len();
    problem.hypers.push(problem.hypers[m - 1].clone());
    for r in 0..200 {
        problem.counts[r] = 1.0 + (r % 3) as f64;
        if r % 4 == 0 {
            problem.noise[r].powers = vec![(m, 1.0)];
            problem.targets[r] += 0.3 * ((r * r) as f64).sin();
        }
    }
    for options in [sequential(), Options::default()] {
        let s = fit_with(&problem, &options);
        assert_eq!(s.report.stop, Stop::Converged);
        assert!(s.active.len() > 3 && s.active.len() < 20);
        let dense = dense_evidence(&problem, &s.hypers);
        assert!((s.log_evidence - dense).abs() < 1e-7, "{} {dense}", s.log_evidence);
    }
}

#[test]
fn a_kernel_larger_than_the_budget_of_memory_is_fitted_all_the_same() {
    let program = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\n\
                   w ~ ard(cols(phi))\nlet phi = [1, rbf(x, width = 3)]\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\n";
    let n = 1500;
    let mut random = Random(11);
    let x: Vec<f64> = (0..n).map(|_| 10.0 * random.next()).collect();
    let t: Vec<f64> = x.iter().map(|x| x.sin() / x + 0.1 * random.normal()).collect();
    let data = sbl::Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap();
    let model = sbl::Model::compile(program).unwrap();
    // the kernel alone has 18 MB
    let fit = model.fit(&data, &sbl::Options::default().max_memory(9 << 20)).unwrap();
    assert!(fit.converged());
    assert_eq!(fit.result().plan.schedule, "sequential");
    assert!(fit.result().plan.why[1].starts_with("1501 weights that can be pruned: from 400 on"));
    let roomy = model.fit(&data, &sbl::Options::default()).unwrap();
    assert_eq!(fit.objective().to_bits(), roomy.objective().to_bits());
}
