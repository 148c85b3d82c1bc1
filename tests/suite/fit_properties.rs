//! Properties of whole fits: certificates, invariances, degenerate data, budgets.

use std::ops::ControlFlow;
use std::time::Duration;

use nalgebra::DMatrix;
use sbl::plan::ir::{Options, Schedule, Updates};
use sbl::runtime::evidence::{Budget, solve};
use sbl::runtime::problem::{Hyper, Problem, Scale, WeightPrior};
use sbl::runtime::solution::{Failure, Finding, Solution, Stop};
use sbl::runtime::state::at;

use crate::problems::{Random, ard, dense_evidence, fit, fit_with, predict};

/// A sparse linear problem: every fourth column matters.
fn sparse(n: usize, m: usize, seed: u64) -> (DMatrix<f64>, Vec<f64>) {
    let mut r = Random(seed);
    let phi = r.matrix(n, m);
    let t = (0..n)
        .map(|i| {
            (0..m).step_by(4).map(|j| phi[(i, j)] * (1.0 + j as f64 / 3.0)).sum::<f64>() + 0.3 * r.normal()
        })
        .collect();
    (phi, t)
}

fn exact() -> Options {
    Options { min_gain: 0.0, ..Options::default() }
}

fn close(a: f64, b: f64, rtol: f64) -> bool {
    (a - b).abs() <= rtol * b.abs().max(1e-300)
}

fn same(a: &Solution, b: &Solution, rtol: f64) {
    assert_eq!(a.active, b.active);
    for i in 0..a.mean.len() {
        assert!((a.mean[i] - b.mean[i]).abs() <= rtol * b.mean.amax(), "{} {}", a.mean, b.mean);
    }
    assert!((a.log_evidence - b.log_evidence).abs() <= rtol * (1.0 + b.log_evidence.abs()));
}

/// The certificate, checked by the definition.
fn certify(problem: &Problem, s: &Solution) {
    assert_eq!(s.report.stop, Stop::Converged, "{:?}", s.report);
    assert!(s.report.certificate.gradient < 1e-6, "{:?}", s.report);
    assert!(close(s.log_evidence, dense_evidence(problem, &s.hypers), 1e-8));
}

#[test]
fn orthogonal_design_has_the_closed_form() {
    // columns of a Hadamard-like design: alpha_j = s_j²/(q_j² − s_j) or pruned, at the fitted noise
    let n = 16;
    let phi = DMatrix::from_fn(n, 8, |i, j| {
        if ((i & (2 * j + 1)) as u32).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
    });
    let mut r = Random(5);
    let t: Vec<f64> = (0..n).map(|i| 2.0 * phi[(i, 1)] - 0.7 * phi[(i, 4)] + 0.4 * r.normal()).collect();
    let s = fit_with(&ard(&phi, &t, &[]), &exact());
    let beta = s.hypers[8];
    for j in 0..8 {
        let (sj, qj) = (beta * n as f64, beta * (0..n).map(|i| phi[(i, j)] * t[i]).sum::<f64>());
        if qj * qj > sj {
            assert!(close(s.hypers[j], sj * sj / (qj * qj - sj), 1e-6), "{j}");
        } else {
            assert!(s.hypers[j].is_infinite() && !s.active.contains(&j));
        }
        assert!(close(s.s[j], sj, 1e-9) && close(s.q[j], qj, 1e-9));
    }
    certify(&ard(&phi, &t, &[]), &s);
}

#[test]
fn powers_of_two_scale_exactly() {
    let (phi, t) = sparse(40, 12, 1);
    for flat in [vec![], vec![3]] {
        let base = fit(&ard(&phi, &t, &flat));
        for (up, side) in [(7, -5), (-40, 33), (300, 0), (-300, 200)] {
            let scale = |v: f64, e: i32| v * 2f64.powi(e);
            let t2: Vec<f64> = t.iter().map(|&v| scale(v, up)).collect();
            let phi2 = phi.map(|v| scale(v, side));
            let s = fit(&ard(&phi2, &t2, &flat));
            assert_eq!(s.active, base.active);
            for i in 0..s.mean.len() {
                assert_eq!(s.mean[i], scale(base.mean[i], up - side));
                assert_eq!(s.gamma[i], base.gamma[i]);
            }
            let last = s.hypers.len() - 1;
            if up.abs() < 200 {
                assert_eq!(s.hypers[last], scale(base.hypers[last], -2 * up));
                assert_eq!(s.covariance[(0, 0)], scale(base.covariance[(0, 0)], 2 * (up - side)));
            }
        }
    }
}

#[test]
fn any_scale_keeps_the_support() {
    let (phi, t) = sparse(40, 12, 2);
    let base = fit(&ard(&phi, &t, &[]));
    for c in [1e-8, 1e-3, 3.0, 1e8, 1e150, 1e-150] {
        let scaled: Vec<f64> = t.iter().map(|v| v * c).collect();
        let s = fit(&ard(&phi, &scaled, &[]));
        assert_eq!(s.active, base.active, "{c}");
        for i in 0..s.mean.len() {
            assert!(close(s.mean[i], c * base.mean[i], 1e-9));
        }
        let mixed = DMatrix::from_fn(40, 12, |i, j| phi[(i, j)] * [1.0, 1e12, 1e-12][j % 3] / c);
        let s = fit(&ard(&mixed, &scaled, &[]));
        assert_eq!(s.active, base.active, "{c}");
    }
}

#[test]
fn order_does_not_matter() {
    let (phi, t) = sparse(50, 13, 3);
    let base = fit(&ard(&phi, &t, &[0]));
    let rows: Vec<usize> = (0..50).map(|i| (i * 17) % 50).collect();
    let permuted = phi.select_rows(&rows);
    let t2: Vec<f64> = rows.iter().map(|&r| t[r]).collect();
    same(&fit(&ard(&permuted, &t2, &[0])), &base, 1e-8);
    let columns: Vec<usize> = (0..13).map(|j| (j * 5) % 13).collect();
    let at0 = columns.iter().position(|&c| c == 0).unwrap();
    let s = fit(&ard(&phi.select_columns(&columns), &t, &[at0]));
    let mut back: Vec<usize> = s.active.iter().map(|&j| columns[j]).collect();
    back.sort_unstable();
    assert_eq!(back, base.active);
    assert!(close(s.log_evidence, base.log_evidence, 1e-8));
}

#[test]
fn case_weight_two_is_the_row_twice() {
    let (phi, t) = sparse(30, 9, 4);
    for flat in [vec![], vec![1]] {
        let mut weighted = ard(&phi, &t, &flat);
        (0..30).step_by(3).for_each(|i| weighted.counts[i] = 2.0);
        let again: Vec<usize> = (0..30).chain((0..30).step_by(3)).collect();
        let repeated = ard(&phi.select_rows(&again), &again.iter().map(|&i| t[i]).collect::<Vec<_>>(), &flat);
        same(&fit(&weighted), &fit(&repeated), 1e-9);
        // weight 0 is no row
        let mut without = ard(&phi, &t, &flat);
        (0..10).for_each(|i| without.counts[i] = 0.0);
        let rest: Vec<usize> = (10..30).collect();
        let shorter = ard(&phi.select_rows(&rest), &t[10..], &flat);
        same(&fit(&without), &fit(&shorter), 1e-9);
    }
}

#[test]
fn conflicting_targets_of_equal_rows_leave_finite_noise() {
    let phi = DMatrix::from_fn(8, 2, |i, j| if j == 0 { 1.0 } else { (i / 2) as f64 });
    let t = [0.0, 1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 7.0];
    let s = fit(&ard(&phi, &t, &[0]));
    assert!(s.hypers[1].is_finite() && s.report.stop == Stop::Converged && s.report.findings.is_empty());
}

#[test]
fn copies_and_useless_columns_change_nothing() {
    let (phi, t) = sparse(40, 9, 6);
    let base = fit(&ard(&phi, &t, &[]));
    let mut wide = phi.clone().insert_columns(9, 4, 0.0);
    wide.set_column(9, &phi.column(4).into_owned());
    let nearly = phi.column(0).map(|v| -2.0 * v * (1.0 + 1e-14));
    wide.set_column(10, &nearly);
    // column 11 stays zero; column 12 is an excluded one again, halved
    let out = (0..9).find(|j| !base.active.contains(j)).unwrap();
    wide.set_column(12, &(phi.column(out) * 0.5));
    let s = fit(&ard(&wide, &t, &[]));
    same(&s, &base, 1e-8);
    assert!(s.report.merged.contains(&(0, vec![10])) && s.report.merged.contains(&(4, vec![9])));
    certify(&ard(&wide, &t, &[]), &s);
}

#[test]
fn taking_out_excluded_columns_changes_nothing() {
    let (phi, t) = sparse(40, 16, 8);
    let base = fit(&ard(&phi, &t, &[]));
    let s = fit(&ard(&phi.select_columns(&base.active), &t, &[]));
    assert_eq!(s.active.len(), base.active.len());
    assert!(close(s.log_evidence, base.log_evidence, 1e-9));
}

#[test]
fn shift_of_the_targets_is_absorbed_by_a_flat_intercept() {
    let (phi, t) = sparse(40, 9, 9);
    let phi = phi.insert_column(0, 1.0);
    let base = fit(&ard(&phi, &t, &[0]));
    for shift in [1e3, -1e6, 1e9] {
        let moved: Vec<f64> = t.iter().map(|v| v + shift).collect();
        let s = fit(&ard(&phi, &moved, &[0]));
        assert_eq!(s.active, base.active);
        let tolerance = 1e-14 * shift.abs() + 1e-12;
        assert!((s.mean[0] - base.mean[0] - shift).abs() < 10.0 * tolerance, "{}", s.mean[0]);
        for i in 1..s.mean.len() {
            assert!((s.mean[i] - base.mean[i]).abs() < 100.0 * tolerance);
        }
        assert!((s.log_evidence - base.log_evidence).abs() < 1e4 * tolerance);
    }
}

#[test]
fn one_row_and_two_rows() {
    for n in [1, 2] {
        let (phi, t) = sparse(n, 3, 10);
        for flat in [vec![], vec![0]] {
            let s = fit(&ard(&phi, &t, &flat));
            assert!(s.log_evidence.is_finite() && s.mean.iter().all(|v| v.is_finite()), "{n} {flat:?}");
        }
    }
    // no rows at all: nothing is known, and a flat effect is not determined
    let empty = DMatrix::zeros(0, 2);
    let s = fit(&ard(&empty, &[], &[]));
    assert!(s.active.is_empty());
    let failed =
        solve(&ard(&empty, &[], &[0]), &exact(), &Budget::default(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(failed, Err(Failure::FlatNotIdentified(_))));
}

#[test]
fn many_more_columns_than_rows_equal_the_dense_evaluation() {
    let (phi, t) = sparse(50, 600, 11);
    for prior in ["own", "shared", "held noise"] {
        let mut problem = ard(&phi, &t, &[]);
        if prior == "shared" {
            problem.weights =
                vec![WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(0, 1.0)] }); 600];
        }
        if prior == "held noise" {
            problem.hypers[600].held = Some(10.0);
        }
        let s = fit(&problem);
        assert!(close(s.log_evidence, dense_evidence(&problem, &s.hypers), 1e-8), "{prior}");
        assert_eq!(s.report.stop, Stop::Converged, "{prior}");
        assert!(s.report.certificate.gradient < 1e-6, "{prior} {:?}", s.report);
    }
}

#[test]
fn perfectly_linear_data_reach_the_noise_cap() {
    let phi = DMatrix::from_fn(30, 2, |i, j| if j == 0 { 1.0 } else { i as f64 });
    let t: Vec<f64> = (0..30).map(|i| 3.0 + 0.5 * i as f64).collect();
    for flat in [vec![], vec![0], vec![0, 1]] {
        let s = fit(&ard(&phi, &t, &flat));
        let noise = s.hypers.len() - 1;
        assert!(s.report.findings.contains(&Finding::NoiseFloor(noise)), "{flat:?} {:?}", s.report);
        assert!(s.hypers[noise].is_finite() && s.log_evidence.is_finite());
        let fitted = predict(&s, &phi).0;
        assert!(fitted.iter().zip(&t).all(|(f, t)| (f - t).abs() < 1e-4));
    }
}

#[test]
fn constant_columns_and_collinear_flat_effects() {
    let (phi, t) = sparse(20, 4, 12);
    let mut phi = phi.insert_columns(4, 2, 2.5);
    // column 4 flat, column 5 a copy of it: nothing is left of that one
    let s = fit(&ard(&phi, &t, &[4]));
    assert!(!s.active.contains(&5) && s.active.contains(&4));
    let sum = phi.column(0) + phi.column(1);
    phi.set_column(5, &sum);
    let failed =
        solve(&ard(&phi, &t, &[0, 1, 5]), &exact(), &Budget::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(failed, Err(Failure::FlatNotIdentified(vec![0, 1, 5])));
}

#[test]
fn group_of_shared_precision_stays_or_leaves_together() {
    let mut r = Random(13);
    let phi = r.matrix(60, 10);
    let t: Vec<f64> =
        (0..60).map(|i| (0..5).map(|j| phi[(i, j)] * 0.5).sum::<f64>() + 0.5 * r.normal()).collect();
    let noise = |h| Scale { log_const: 0.0, powers: vec![(h, 1.0)] };
    for power in [1.0, -1.0, -2.0] {
        let mut problem = ard(&phi, &t, &[]);
        problem.weights = (0..10)
            .map(|j| WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(j / 5, power)] }))
            .collect();
        problem.hypers.truncate(3);
        problem.noise = vec![noise(2); 60];
        let s = fit_with(&problem, &exact());
        assert!(s.active == [0, 1, 2, 3, 4], "{power} {:?} {:?}", s.active, s.hypers);
        assert_eq!(s.hypers[1], if power > 0.0 { f64::INFINITY } else { 0.0 });
        assert_eq!(s.report.stop, Stop::Converged);
        // what has left does not keep the rest from settling
        assert!(s.report.iterations < 60, "{power} {}", s.report.iterations);
        // from the other start, and from more of them
        let other = Options { schedule: Schedule::Sequential, restarts: 3, ..exact() };
        let again = fit_with(&problem, &other);
        assert_eq!((&again.active, again.report.stop), (&s.active, Stop::Converged));
        assert!(close(again.log_evidence, s.log_evidence, 1e-9));
        // without the block, the evidence is the same at the same hyperparameters, and no precision of
        // the block raises it
        let base = s.log_evidence;
        for e in -4..8 {
            let mut hypers = s.hypers.clone();
            hypers[1] = (10f64.powi(e)).powf(1.0 / power);
            assert!(at(&problem, &exact(), &hypers).unwrap().log_evidence <= base + 1e-9, "{power} {e}");
        }
    }
}

#[test]
fn shared_noise_and_two_terms_with_their_own() {
    // two outputs share weights; the second has another noise and another unit
    let mut r = Random(14);
    let phi = r.matrix(120, 6);
    let term: Vec<usize> = (0..120).map(|i| i / 60).collect();
    let t: Vec<f64> = (0..120)
        .map(|i| phi[(i, 0)] * 2.0 - phi[(i, 3)] + if term[i] == 0 { 0.1 } else { 1.0 } * r.normal())
        .collect();
    let mut problem = ard(&phi, &t, &[]);
    problem.hypers.push(Hyper { shape: 0.0, rate: 0.0, held: None });
    problem.noise = term.iter().map(|&k| Scale { log_const: 0.0, powers: vec![(6 + k, 1.0)] }).collect();
    problem.term = term;
    let s = fit(&problem);
    assert_eq!(s.active, [0, 3]);
    assert!(
        (s.hypers[6].powf(-0.5) - 0.1).abs() < 0.03 && (s.hypers[7].powf(-0.5) - 1.0).abs() < 0.3,
        "{:?}",
        s.hypers
    );
    certify(&problem, &s);
}

#[test]
fn known_precisions_are_never_pruned_and_proper_priors_prune_nothing() {
    let (phi, t) = sparse(40, 8, 15);
    let mut problem = ard(&phi, &t, &[]);
    problem.weights[1] = WeightPrior::Normal(Scale { log_const: 20.0, powers: Vec::new() });
    problem.hypers[2].held = Some(1e9);
    let s = fit(&problem);
    assert!(s.active.contains(&1) && s.active.contains(&2));
    let mut proper = ard(&phi, &t, &[]);
    proper.hypers.iter_mut().for_each(|h| (h.shape, h.rate) = (1e-3, 1e-3));
    let s = fit(&proper);
    assert_eq!(s.active.len(), 8);
    assert_eq!(s.report.stop, Stop::Converged, "{:?}", s.report);
    assert!(s.hyperprior.is_some());
}

#[test]
fn em_and_mackay_reach_optima_of_the_same_kind() {
    let (phi, t) = sparse(60, 20, 16);
    let mackay = fit_with(&ard(&phi, &t, &[]), &exact());
    let em = fit_with(&ard(&phi, &t, &[]), &Options { updates: Updates::Em, ..exact() });
    for s in [&mackay, &em] {
        certify(&ard(&phi, &t, &[]), s);
        assert!(s.report.certificate.max_gain_outside < 1e-4);
        for j in (0..20).step_by(4) {
            assert!(s.active.contains(&j));
        }
    }
}

#[test]
fn least_gain_is_respected() {
    let (phi, t) = sparse(40, 30, 17);
    let all = fit_with(&ard(&phi, &t, &[]), &exact());
    let few = fit_with(&ard(&phi, &t, &[]), &Options { min_gain: 5.0, ..exact() });
    assert!(few.active.len() < all.active.len());
    for &i in &few.active {
        assert!(few.gain[i] >= 5.0);
    }
    for i in (0..30).filter(|i| !few.active.contains(i)) {
        assert!(few.gain[i] <= 5.0, "{}", few.gain[i]);
    }
}

#[test]
fn restarts_keep_the_highest_evidence() {
    let x = DMatrix::from_fn(60, 1, |i, _| i as f64 / 6.0 - 5.0);
    let phi = DMatrix::from_fn(60, 61, |i, j| if j == 0 { 1.0 } else { (-(x[i] - x[j - 1]).powi(2)).exp() });
    let mut r = Random(18);
    let t: Vec<f64> = (0..60).map(|i| x[i].sin() + 0.2 * r.normal()).collect();
    let mut last = f64::NEG_INFINITY;
    for restarts in [0, 1, 3, 6] {
        let s = fit_with(&ard(&phi, &t, &[]), &Options { restarts, ..exact() });
        assert!(s.log_evidence >= last - 1e-9);
        last = s.log_evidence;
        certify(&ard(&phi, &t, &[]), &s);
    }
}

#[test]
fn budgets_and_the_observer_stop_with_what_is_known() {
    let (phi, t) = sparse(60, 40, 19);
    let problem = ard(&phi, &t, &[]);
    for max_iter in [0, 1, 5] {
        let s = fit_with(&problem, &Options { max_iter, ..exact() });
        assert_eq!((s.report.stop, s.report.iterations), (Stop::MaxIter, max_iter));
        assert!(s.log_evidence.is_finite() && s.mean.len() == s.active.len());
    }
    let mut seen = 0;
    let s = solve(&problem, &exact(), &Budget::default(), &mut |step| {
        seen = step.iteration;
        if step.iteration == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!((s.report.stop, s.report.iterations, seen), (Stop::Interrupted, 3, 3));
    let now = Budget { max_time: Some(Duration::ZERO), ..Budget::default() };
    let s = solve(&problem, &exact(), &now, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(s.report.stop, Stop::MaxTime);
    let small = Budget { max_memory: 1000, ..Budget::default() };
    let failed = solve(&problem, &exact(), &small, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(failed, Err(Failure::OutOfMemory(_, 1000))));
    for tol in [0.0, f64::NAN] {
        assert_eq!(fit_with(&problem, &Options { tol, ..exact() }).report.stop, Stop::Converged);
    }
}

#[test]
fn same_problem_same_bits() {
    let (phi, t) = sparse(60, 40, 20);
    let problem = ard(&phi, &t, &[2]);
    let (a, b) = (fit(&problem), fit(&problem));
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

#[test]
fn numbers_that_are_none_are_refused() {
    let (phi, t) = sparse(10, 3, 21);
    let good = ard(&phi, &t, &[]);
    let refused = |p: &Problem| {
        matches!(
            solve(p, &exact(), &Budget::default(), &mut |_| ControlFlow::Continue(())),
            Err(Failure::NonFinite { .. })
        )
    };
    assert!(!refused(&good));
    let mut bad = good.clone();
    bad.targets[3] = f64::NAN;
    assert!(refused(&bad));
    let mut bad = good.clone();
    bad.design[(2, 1)] = f64::INFINITY;
    assert!(refused(&bad));
    let mut bad = good.clone();
    bad.counts[0] = -1.0;
    assert!(refused(&bad));
    let mut bad = good.clone();
    bad.hypers[0].held = Some(0.0);
    assert!(refused(&bad));
    let mut bad = good;
    bad.targets.pop();
    assert!(refused(&bad));
}
