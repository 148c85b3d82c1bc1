//! Small inputs on which other tools go wrong, fitted numerically.

use std::path::Path;

use nalgebra::DMatrix;
use sbl::runtime::solution::{Finding, Solution, Stop};

use crate::problems::{ard, dense_evidence, fit, predict};

/// Columns but the last, and the last.
fn table(name: &str) -> (DMatrix<f64>, Vec<f64>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .filter(|l| !l.is_empty())
        .map(|l| l.split(',').map(|v| v.parse().unwrap()).collect())
        .collect();
    let d = rows[0].len() - 1;
    (DMatrix::from_fn(rows.len(), d, |i, j| rows[i][j]), rows.iter().map(|r| r[d]).collect())
}

/// [1, exp(−0.1 d²)] centred on the rows.
fn rbf(x: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(x.nrows(), x.nrows() + 1, |i, j| match j {
        0 => 1.0,
        _ => (-0.1 * (x.row(i) - x.row(j - 1)).norm_squared()).exp(),
    })
}

fn r2(t: &[f64], fitted: &[f64]) -> f64 {
    let mean = t.iter().sum::<f64>() / t.len() as f64;
    let total: f64 = t.iter().map(|t| (t - mean).powi(2)).sum();
    1.0 - t.iter().zip(fitted).map(|(t, f)| (t - f).powi(2)).sum::<f64>() / total
}

fn is_close(a: f64, b: f64, rtol: f64) -> bool {
    (a - b).abs() <= rtol * b.abs()
}

fn has_evidence(problem: &sbl::runtime::problem::Problem, s: &Solution) {
    let dense = dense_evidence(problem, &s.hypers);
    assert!(is_close(s.log_evidence, dense, 1e-8), "{} against {dense}", s.log_evidence);
}

#[test]
fn c01_units_do_not_change_what_is_relevant() {
    let (x, t) = table("c01_base");
    let base = fit(&ard(&x, &t, &[]));
    assert_eq!(base.active, [0, 2]);
    assert!(is_close(base.mean[0], 0.998, 1e-3) && is_close(base.mean[1], 1.983, 1e-3), "{}", base.mean);
    for (name, c) in [("x_1e-08", 1e8), ("x_0.0001", 1e4), ("x_10000", 1e-4), ("x_1e+08", 1e-8)] {
        let (x, t) = table(&format!("c01_{name}"));
        let s = fit(&ard(&x, &t, &[]));
        assert_eq!(s.active, [0, 2], "{name}");
        for i in 0..2 {
            assert!(is_close(s.mean[i], base.mean[i] * c, 1e-9), "{name}");
        }
        assert!(is_close(s.log_evidence, base.log_evidence, 1e-9));
    }
    for (name, c) in [("y_1e-08", 1e-8), ("y_0.0001", 1e-4), ("y_10000", 1e4), ("y_1e+08", 1e8)] {
        let (x, t) = table(&format!("c01_{name}"));
        let s = fit(&ard(&x, &t, &[]));
        assert_eq!(s.active, [0, 2], "{name}");
        for i in 0..2 {
            assert!(is_close(s.mean[i], base.mean[i] * c, 1e-9), "{name}");
        }
        let fitted = predict(&s, &x).0;
        assert!(r2(&t, &fitted) > 0.9975);
    }
}

#[test]
fn c02_zero_targets_have_nothing_relevant() {
    let (x, t) = table("c02_zero_y");
    let s = fit(&ard(&x, &t, &[]));
    assert!(s.active.is_empty() && s.log_evidence.is_finite());
    assert!(s.report.findings.contains(&Finding::ConstantTarget(0)), "{:?}", s.report);
    assert!(s.report.findings.contains(&Finding::NothingRelevant));
}

#[test]
fn c03_constant_targets_keep_the_intercept_only() {
    for (name, flat) in [("c03_const_y_rbf", vec![]), ("c03_const_y_rbf", vec![0]), ("c03_two_rows", vec![])]
    {
        let (x, t) = table(name);
        let s = fit(&ard(&rbf(&x), &t, &flat));
        assert!(s.active.iter().all(|&i| i == 0), "{name} {flat:?} {:?}", s.active);
        assert!(s.log_evidence.is_finite());
        assert!(s.report.findings.contains(&Finding::ConstantTarget(0)), "{:?}", s.report);
        let fitted = predict(&s, &rbf(&x)).0;
        for (f, t) in fitted.iter().zip(&t) {
            assert!((f - t).abs() < 1e-6);
        }
    }
}

#[test]
fn c05_evidence_is_that_of_a_dense_evaluation() {
    let (x, t) = table("c05_evidence");
    for flat in [vec![], vec![1]] {
        let problem = ard(&x, &t, &flat);
        has_evidence(&problem, &fit(&problem));
    }
}

#[test]
fn c07_more_columns_than_rows_says_that_the_noise_is_not_identified() {
    let (x, t) = table("c07_p_gg_n");
    let s = fit(&ard(&x, &t, &[]));
    println!("{:?} {:?} {:?}", s.active, s.hypers.last().map(|b| b.powf(-0.5)), s.report);
    assert!(
        s.report.findings.iter().any(|f| matches!(f, Finding::NoiseNotIdentified(0, ..))),
        "{:?}",
        s.report
    );
    for real in 0..3 {
        assert!(s.active.contains(&real), "{:?}", s.active);
    }
    assert!(s.hypers[200].powf(-0.5) > 1e-3);
}

#[test]
fn c08_flat_line_has_least_deviation_at_the_data() {
    let (x, t) = table("c08_offset_std");
    let phi = DMatrix::from_fn(x.nrows(), 2, |i, j| if j == 0 { 1.0 } else { x[(i, 0)] });
    let s = fit(&ard(&phi, &t, &[0, 1]));
    let at = DMatrix::from_row_slice(3, 2, &[1.0, 90.0, 1.0, 0.0, 1.0, 180.0]);
    let (_, variance) = predict(&s, &at);
    let sd: Vec<f64> = variance.iter().map(|v| (v + 1.0 / s.hypers[0]).sqrt()).collect();
    for (got, want) in sd.iter().zip([1.1208, 2.6471, 2.6471]) {
        assert!(is_close(*got, want, 1e-3), "{sd:?}");
    }
    has_evidence(&ard(&phi, &t, &[0, 1]), &s);
}

#[test]
fn sinc_in_three_units_and_far_from_zero() {
    let (x, t) = table("sinc_rbf");
    let base = fit(&ard(&rbf(&x), &t, &[]));
    println!("{:?} {:?}", base.active, base.report);
    assert!((5..=8).contains(&base.active.len()), "{:?}", base.active);
    assert!((r2(&t, &predict(&base, &rbf(&x)).0) - 0.945).abs() < 2e-3);
    has_evidence(&ard(&rbf(&x), &t, &[]), &base);
    for name in ["sinc_rbf_y_1e-06", "sinc_rbf_y_1e+06"] {
        let (x, t) = table(name);
        let s = fit(&ard(&rbf(&x), &t, &[]));
        assert_eq!(s.active, base.active, "{name}");
        assert!((r2(&t, &predict(&s, &rbf(&x)).0) - 0.945).abs() < 2e-3);
    }
    let flat = fit(&ard(&rbf(&x), &t, &[0]));
    let (x, t) = table("c11_sinc_plus_1e6");
    let far = fit(&ard(&rbf(&x), &t, &[0]));
    assert_eq!(far.active, flat.active);
    assert!((r2(&t, &predict(&far, &rbf(&x)).0) - 0.945).abs() < 2e-3);
    assert!(is_close(far.log_evidence, flat.log_evidence, 1e-6));
    let inside = fit(&ard(&rbf(&x), &t, &[]));
    assert!(inside.report.findings.contains(&Finding::MeanFarFromZero(0)), "{:?}", inside.report);
    assert!(!far.report.findings.contains(&Finding::MeanFarFromZero(0)));
}

#[test]
fn c12_linear_kernel_of_two_inputs_has_rank_two() {
    let (x, t) = table("c12_linear_kernel");
    let kernel = &x * x.transpose();
    let phi = kernel.insert_column(0, 1.0);
    let start = std::time::Instant::now();
    let s = fit(&ard(&phi, &t, &[]));
    println!("{:?} {:?} {:?}", s.active, start.elapsed(), s.report);
    assert!(s.active.len() <= 3, "{:?}", s.active);
    assert!(r2(&t, &predict(&s, &phi).0) > 0.9945);
    assert!(s.report.findings.iter().any(|f| matches!(f, Finding::LowRank(3, _))), "{:?}", s.report);
}

#[test]
fn c14_copies_are_merged_and_named() {
    let (x, t) = table("c14_dup_cols");
    let s = fit(&ard(&x, &t, &[]));
    assert_eq!(s.report.merged, [(0, vec![1])]);
    assert_eq!(s.active, [0]);
    assert!((s.mean[0] - 3.0).abs() < 0.02, "{}", s.mean);
    assert_eq!(s.report.stop, Stop::Converged);
}
