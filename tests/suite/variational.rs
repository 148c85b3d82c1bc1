//! The mean field: bounds lie below the evidence and never fall, factors agree with the exact Gaussian
//! ones, and programs of every shape that it serves fit through the public interface.

use nalgebra::DMatrix;
use sbl::plan::ir::{Blocks, Options};
use sbl::runtime::problem;
use sbl::runtime::state::at;
use sbl::runtime::variational::cycle::cycle;
use sbl::runtime::variational::problem::{Hyper, Kind, Problem, Product, Row, WeightPrior};
use sbl::{Data, Fit, Model};

use crate::golden_variational::{ard, fit, gamma, link, times};

/// Between −1 and 1, without a pattern.
fn noise(i: usize) -> f64 {
    (37.0 * (i as f64 + 1.0).powi(2)).sin()
}

fn known(precision: f64) -> Product {
    Product { ln_known: precision.ln(), hypers: Vec::new() }
}

fn row(target: f64, noise: Product, term: usize, kind: Kind) -> Row {
    Row { target, offset: 0.0, noise, count: 1.0, term, kind }
}

/// ln ∫ exp f by the trapezoidal rule.
fn ln_integral(from: f64, to: f64, steps: usize, f: &dyn Fn(f64) -> f64) -> f64 {
    let h = (to - from) / steps as f64;
    let values: Vec<f64> = (0..=steps).map(|k| f(from + h * k as f64)).collect();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + (values.iter().map(|v| (v - top).exp()).sum::<f64>() * h).ln()
}

fn ln_normal(x: f64, mean: f64, precision: f64) -> f64 {
    0.5 * (precision / std::f64::consts::TAU).ln() - 0.5 * precision * (x - mean).powi(2)
}

fn inputs(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.5 * noise(i)).collect()
}

/// One weight of known prior: the bound lies below the evidence by quadrature, and not far.
#[test]
fn bounds_lie_below_the_evidence() {
    let x = inputs(12);
    let alpha = 0.5;
    let real: Vec<f64> =
        (0..12).map(|i| 1.3 * x[i] + noise(i + 40) + if i == 3 { 6.0 } else { 0.0 }).collect();
    let binary: Vec<f64> = (0..12).map(|i| f64::from(x[i] + noise(i + 70) > 0.0)).collect();
    let log_density = |name: &str| sbl::dist::family(name).unwrap().log_density;
    let none = f64::NAN;
    type Density = Box<dyn Fn(f64, f64) -> f64>;
    let cases: [(Kind, &[f64], Density, f64); 3] = [
        (
            Kind::Bound { link: link("logit") },
            &binary,
            Box::new(move |y, f| log_density("Bernoulli")(y, &[f, none, none])),
            0.5,
        ),
        (
            Kind::Bound { link: link("probit") },
            &binary,
            Box::new(move |y, f| log_density("Bernoulli")(y, &[none, f, none])),
            1.0,
        ),
        (
            Kind::Mixture { dof: 3.0 },
            &real,
            Box::new(move |y, f| log_density("StudentT")(y, &[f, 3.0, 2.0, none])),
            1.0,
        ),
    ];
    for (kind, targets, density, near) in cases {
        let problem = Problem {
            rows: targets.iter().map(|&t| row(t, known(2.0), 0, kind)).collect(),
            design: DMatrix::from_column_slice(12, 1, &x),
            weights: vec![WeightPrior::Normal(known(alpha))],
            block: vec![0],
            hypers: Vec::new(),
        };
        let s = fit(&problem, &Options::default());
        let exact = ln_integral(-20.0, 20.0, 20_000, &|w| {
            ln_normal(w, 0.0, alpha) + (0..12).map(|n| density(targets[n], x[n] * w)).sum::<f64>()
        });
        assert!(s.log_evidence <= exact, "{kind:?}: {} above {exact}", s.log_evidence);
        assert!(s.log_evidence > exact - near, "{kind:?}: {} far below {exact}", s.log_evidence);
    }
}

/// A Gamma whose rate has its own Gamma: the bound lies below the integral over both.
#[test]
fn a_rate_with_its_own_gamma() {
    let x = inputs(8);
    let t: Vec<f64> = (0..8).map(|i| 0.8 * x[i] + 0.3 * noise(i + 9)).collect();
    let problem = Problem {
        rows: t.iter().map(|&t| row(t, known(4.0), 0, Kind::Gaussian)).collect(),
        design: DMatrix::from_column_slice(8, 1, &x),
        weights: vec![WeightPrior::Normal(times(&[1]))],
        block: vec![0],
        hypers: vec![
            gamma(2.0, 1.0),
            Hyper { shape: 1.5, rate: Product { ln_known: 3f64.ln(), hypers: vec![0] } },
        ],
    };
    let s = fit(&problem, &Options::default());
    // given α: t ~ N(0, I/4 + x xᵀ/α), by the determinant lemma
    let (tt, xt, xx): (f64, f64, f64) =
        (0..8).fold((0.0, 0.0, 0.0), |a, i| (a.0 + t[i] * t[i], a.1 + x[i] * t[i], a.2 + x[i] * x[i]));
    let evidence = |alpha: f64| {
        let ln_det = (1.0 + 4.0 * xx / alpha).ln() - 8.0 * 4f64.ln();
        let quadratic = 4.0 * tt - (4.0 * xt).powi(2) / (alpha + 4.0 * xx);
        -0.5 * (8.0 * std::f64::consts::TAU.ln() + ln_det + quadratic)
    };
    let ln_gamma_density = sbl::dist::family("Gamma").unwrap().log_density;
    // over logarithms, with their Jacobian
    let exact = ln_integral(-12.0, 6.0, 600, &|ln_b| {
        let b: f64 = ln_b.exp();
        ln_gamma_density(b, &[2.0, 1.0, f64::NAN])
            + ln_b
            + ln_integral(-14.0, 8.0, 600, &|ln_a| {
                let a: f64 = ln_a.exp();
                ln_gamma_density(a, &[1.5, 3.0 * b, f64::NAN]) + ln_a + evidence(a)
            })
    });
    assert!(s.log_evidence < exact && s.log_evidence > exact - 0.6, "{} and {exact}", s.log_evidence);
    assert!(s.factors.iter().all(Option::is_some));
    assert!(s.report.certificate.gradient < 1e-6, "{:?}", s.report);
}

/// Every kind of row, of prior and of hyperparameter in one problem.
fn everything(blocks: Blocks) -> (Problem, Options) {
    let n = 40;
    let design = DMatrix::from_fn(n, 6, |i, j| match j {
        0 => 1.0,
        j => noise(97 * j + i) * (1.0 + j as f64),
    });
    let f = |i: usize| 1.0 + 0.9 * design[(i, 1)] - 0.4 * design[(i, 3)];
    // 0, 1: noises; 2: shared by two weights; 3: a point of its own; 4: in a product; 5: the rate of 2
    let rows = (0..n)
        .map(|i| {
            let real = f(i) + 0.3 * noise(i + 500);
            let binary = f64::from(real > 1.0);
            let mut row = match i % 5 {
                0 => row(real, times(&[0]), 0, Kind::Gaussian),
                1 => row(real, Product { ln_known: 0.3 * noise(i), hypers: vec![1] }, 1, Kind::Gaussian),
                2 => row(real, times(&[1, 4]), 2, Kind::Mixture { dof: 4.0 }),
                3 => row(binary, times(&[]), 3, Kind::Bound { link: link("logit") }),
                _ => row(binary, times(&[]), 4, Kind::Bound { link: link("probit") }),
            };
            row.offset = 0.1 * noise(i + 900);
            row.count = 1.0 + f64::from(u8::from(i % 7 == 0));
            row
        })
        .collect();
    let hypers = vec![
        gamma(1.0, 0.1),
        gamma(0.0, 0.0),
        Hyper { shape: 0.5, rate: times(&[5]) },
        gamma(0.0, 0.0),
        gamma(2.0, 1.0),
        gamma(1.0, 2.0),
    ];
    let weights = vec![
        WeightPrior::Flat,
        WeightPrior::Normal(times(&[2])),
        WeightPrior::Normal(Product { ln_known: 0.7, hypers: vec![2] }),
        WeightPrior::Normal(times(&[3])),
        WeightPrior::Normal(times(&[4])),
        WeightPrior::Normal(known(0.5)),
    ];
    let problem = Problem { rows, design, weights, block: vec![0, 1, 1, 2, 2, 3], hypers };
    (problem, Options { blocks, ..Options::default() })
}

/// Cycle after cycle from several starts: no update lowers the bound, whatever it is an update of.
#[test]
fn no_update_lowers_the_bound() {
    for blocks in [Blocks::Joint, Blocks::Separate] {
        let (problem, options) = everything(blocks);
        for start in 0..4 {
            let mut hypers: Vec<f64> = (0..6).map(|h| (2.0 * noise(11 * start + h)).exp()).collect();
            let mut rows: Vec<f64> = (0..24).map(|r| 0.2 + noise(31 * start + r).abs()).collect();
            let mut last = f64::NEG_INFINITY;
            for step in 0..60 {
                let c = cycle(&problem, &options, &hypers, &rows).unwrap();
                for bound in c.bounds {
                    // with several factors of w the next cycle makes them from scratch
                    let again = blocks == Blocks::Separate && bound < last;
                    assert!(
                        again || bound >= last - 1e-10 * (1.0 + last.abs()),
                        "{step}: {bound} after {last}"
                    );
                    last = bound;
                }
                hypers = c.hypers.iter().map(|h| h[2]).collect();
                rows = c.rows;
            }
        }
        let s = fit(&problem, &options);
        assert!(s.report.certificate.gradient < 1e-5, "{:?}", s.report);
        assert!(s.trace.windows(2).all(|w| w[1] >= w[0] - 1e-11 * (1.0 + w[0].abs())), "{:?}", s.trace);
    }
}

/// A restriction of the family of q cannot raise the bound.
#[test]
fn separate_factors_are_no_better_than_a_joint_one() {
    let bound = |blocks| {
        let (problem, options) = everything(blocks);
        fit(&problem, &options).log_evidence
    };
    assert!(bound(Blocks::Separate) < bound(Blocks::Joint));
}

/// With point precisions the bound of a Gaussian model is its evidence there, flat effects, case weights
/// and several noises included.
#[test]
fn at_point_precisions_the_bound_is_the_evidence() {
    let n = 30;
    let design = DMatrix::from_fn(n, 5, |i, j| if j == 0 { 1.0 } else { noise(97 * j + i) });
    let t: Vec<f64> = (0..n).map(|i| 5.0 + 2.0 * design[(i, 2)] + 0.5 * noise(i + 500)).collect();
    let counts: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    let problem = Problem {
        rows: (0..n)
            .map(|i| Row {
                count: counts[i],
                ..row(t[i], Product { ln_known: noise(i), hypers: vec![4 + i % 2] }, 0, Kind::Gaussian)
            })
            .collect(),
        design: design.clone(),
        weights: std::iter::once(WeightPrior::Flat)
            .chain((0..4).map(|h| WeightPrior::Normal(times(&[h]))))
            .collect(),
        block: vec![0; 5],
        hypers: vec![gamma(0.0, 0.0); 6],
    };
    let options = Options { min_gain: 0.0, ..Options::default() };
    let s = fit(&problem, &options);
    let scale = |log_const: f64, h: usize| problem::Scale { log_const, powers: vec![(h, 1.0)] };
    let same = problem::Problem {
        targets: t,
        noise: (0..n).map(|i| scale(noise(i), 4 + i % 2)).collect(),
        counts,
        term: vec![0; n],
        design,
        weights: std::iter::once(problem::WeightPrior::Flat)
            .chain((0..4).map(|h| problem::WeightPrior::Normal(scale(0.0, h))))
            .collect(),
        hypers: vec![problem::Hyper { shape: 0.0, rate: 0.0, held: None }; 6],
    };
    let exact = at(&same, &options, &s.hypers).unwrap();
    assert_eq!(exact.active, s.active);
    assert!((exact.log_evidence - s.log_evidence).abs() < 1e-9, "{} {}", exact.log_evidence, s.log_evidence);
    assert!((&exact.mean - &s.mean).amax() < 1e-9);
    assert!((&exact.covariance - &s.covariance).amax() < 1e-9);
    // a maximum of the evidence: the slopes vanish there too
    assert!(exact.gradient.iter().all(|g| g.abs() < 1e-5), "{:?}", exact.gradient);
    for &i in s.active.iter().filter(|i| **i > 0) {
        assert!((exact.s[i] / s.s[i] - 1.0).abs() < 1e-7 && (exact.q[i] / s.q[i] - 1.0).abs() < 1e-7);
    }
}

/// t → c t: precisions fall by c², the bound by N ln c, and nothing else changes. Improper priors only:
/// a proper one has units.
#[test]
fn units_do_not_matter() {
    let n = 40;
    let phi = DMatrix::from_fn(n, 12, |i, j| (-(0.25 * i as f64 - 0.8 * j as f64).powi(2) / 2.0).exp());
    let t: Vec<f64> = (0..n).map(|i| (0.2 * i as f64).sin() + 0.1 * noise(i)).collect();
    for kind in [Kind::Gaussian, Kind::Mixture { dof: 5.0 }] {
        let flat = gamma(0.0, 0.0);
        let base = fit(&ard(&phi, &t, kind, flat.clone(), Some(flat.clone())), &Options::default());
        assert!(!base.active.is_empty() && base.active.len() < 12);
        for (c, k) in [(1e-6, 1.0), (1e6, 1e-3), (3.0, 1e4)] {
            let scaled: Vec<f64> = t.iter().map(|t| c * t).collect();
            let s =
                fit(&ard(&(&phi * k), &scaled, kind, flat.clone(), Some(flat.clone())), &Options::default());
            assert_eq!(s.active, base.active);
            let moved = base.log_evidence - n as f64 * c.ln();
            assert!((s.log_evidence - moved).abs() < 1e-7 * moved.abs(), "{} {moved}", s.log_evidence);
            for (a, b) in s.mean.iter().zip(base.mean.iter()) {
                assert!((a * k / c - b).abs() < 1e-4 * base.mean.amax());
            }
        }
    }
}

/// A row with case weight 2 is the row twice, whatever its likelihood.
#[test]
fn case_weights_are_repetitions() {
    let (mut problem, options) = everything(Blocks::Joint);
    let weighted = fit(&problem, &options);
    let mut rows = Vec::new();
    let mut source = Vec::new();
    for (i, row) in problem.rows.iter().enumerate() {
        for _ in 0..row.count as usize {
            rows.push(Row { count: 1.0, ..row.clone() });
            source.push(i);
        }
    }
    problem.design = problem.design.select_rows(&source);
    problem.rows = rows;
    let repeated = fit(&problem, &options);
    assert!((weighted.log_evidence - repeated.log_evidence).abs() < 1e-7);
    assert!((weighted.mean - repeated.mean).amax() < 1e-4);
}

/// Rows of one precision are compressed where that is exact: the same numbers as row by row.
#[test]
fn many_rows_are_compressed_exactly() {
    let n = 300;
    let phi = DMatrix::from_fn(n, 30, |i, j| (-(0.05 * i as f64 - 0.5 * j as f64).powi(2) / 8.0).exp());
    let t: Vec<f64> = (0..n).map(|i| (0.05 * i as f64).sin() + 0.1 * noise(i)).collect();
    let prior = gamma(1e-3, 1e-3);
    let problem = ard(&phi, &t, Kind::Gaussian, prior.clone(), Some(prior.clone()));
    let hypers: Vec<f64> = (0..31).map(|h| (2.0 * noise(h)).exp()).collect();
    let short = cycle(&problem, &Options::default(), &hypers, &[]).unwrap();
    // many degrees of freedom make a Gaussian of every row, but leave the rows alone
    let apart = ard(&phi, &t, Kind::Mixture { dof: 1e12 }, prior.clone(), Some(prior));
    let long = cycle(&apart, &Options::default(), &hypers, &vec![1.0; n]).unwrap();
    assert!((&short.mean - &long.mean).amax() < 1e-8);
    assert!((&short.covariance - &long.covariance).amax() < 1e-8);
    assert!((short.hypers[30][1] / long.hypers[30][1] - 1.0).abs() < 1e-8);
}

fn model(source: &str) -> Model {
    Model::compile(source).unwrap()
}

fn fitted(source: &str, data: &Data) -> Fit {
    let fit = model(source).fit(data, &sbl::Options::default()).unwrap();
    assert_eq!(fit.result().plan.method, "variational");
    assert_eq!(fit.result().objective.name, "elbo");
    assert!(fit.converged(), "{:?}", fit.result().report);
    fit
}

fn regression(n: usize, d: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let x: Vec<Vec<f64>> = (0..n).map(|i| (0..d).map(|j| noise(101 * j + i)).collect()).collect();
    let t = (0..n).map(|i| 2.0 * x[i][0] - x[i][1] + 0.2 * noise(i + 7000)).collect();
    (x, t)
}

#[test]
fn a_program_with_a_rate_of_a_rate() {
    let (x, t) = regression(60, 4);
    let data = Data::new().rows("x", &x).unwrap().vector("t", &t).unwrap();
    let fit = fitted(
        "data x: real[N, D]\ndata t: real[N]\nb ~ Gamma(1, 1)\nalpha ~ Gamma(1, rate = 2 * b) [D]\n\
         w ~ Normal(0, precision = alpha) [D]\ntau ~ Gamma(1, 0.1)\nt ~ Normal(x * w, precision = tau)\n\
         let variance = 1 / tau\n",
        &data,
    );
    let b = fit.node("b").unwrap();
    assert_eq!(b.posterior.as_deref(), Some("gamma"));
    // a + Σ a of the children
    assert!((b.gamma_shape.unwrap().as_slice()[0] - 5.0).abs() < 1e-12);
    let w = fit.node("w").unwrap();
    assert!((w.mean()[0] - 2.0).abs() < 0.2 && (w.mean()[1] + 1.0).abs() < 0.2);
    assert!(w.active.is_none() && w.relevant.unwrap().starts_with(&[0, 1]));
    let tau = fit.node("tau").unwrap();
    let (shape, rate) = (tau.gamma_shape.unwrap().as_slice()[0], tau.rate.unwrap().as_slice()[0]);
    assert!((shape - 31.0).abs() < 1e-12 && (tau.mean.unwrap().as_slice()[0] - shape / rate).abs() < 1e-9);
    // a function of a hyperparameter: from draws of its factor
    let variance = fit.node("variance").unwrap();
    assert!((variance.mean()[0] / (rate / (shape - 1.0)) - 1.0).abs() < 0.02 && variance.sd()[0] > 0.0);
    // the variance of a new observation has ⟨1/τ⟩ = d~/(c~ − 1)
    let p = fit.predict(&Data::new().rows("x", &x[..3]).unwrap()).unwrap();
    for i in 0..3 {
        let noise = p.sd()[i].powi(2) - p.sd_mean()[i].powi(2);
        assert!((noise / (rate / (shape - 1.0)) - 1.0).abs() < 1e-9);
    }
    // and comes back from a file
    let again = Fit::from_bytes(&fit.to_bytes().unwrap(), "fit").unwrap();
    assert_eq!(again.predict(&Data::new().rows("x", &x[..3]).unwrap()).unwrap().sd(), p.sd());
}

#[test]
fn programs_with_grouped_precisions_two_targets_and_missing_ones() {
    let (x, mut t) = regression(60, 6);
    let coarse: Vec<f64> = (0..60).map(|i| 2.0 * x[i][0] - x[i][1] + 2.0 * noise(i + 9000)).collect();
    t[5] = f64::NAN;
    let data = Data::new()
        .rows("x", &x)
        .unwrap()
        .vector("fine", &t)
        .unwrap()
        .vector("coarse", &coarse)
        .unwrap()
        .words("group", &["a", "a", "b", "b", "c", "c"])
        .unwrap();
    let fit = fitted(
        "data x: real[N, D]\ndata group: category[D]\ndata fine: real[N]\ndata coarse: real[N]\n\
         plate g in levels(group) {\n    alpha[g] ~ Gamma(1e-3, 1e-3)\n}\n\
         plate d in D {\n    w[d] ~ Normal(0, precision = alpha[group[d]])\n}\nmu ~ Flat()\n\
         tau_fine ~ Gamma(1e-3, 1e-3)\ntau_coarse ~ Gamma(1e-3, 1e-3)\n\
         fine ~ Normal(mu + x * w, precision = tau_fine)\ncoarse ~ Normal(mu + x * w, precision = tau_coarse)\n",
        &data,
    );
    let mean = |node: &str| fit.node(node).unwrap().mean.unwrap().as_slice().to_vec();
    assert!((mean("w")[0] - 2.0).abs() < 0.1 && (mean("w")[1] + 1.0).abs() < 0.1);
    assert!(mean("alpha")[0] < mean("alpha")[1] && mean("alpha")[0] < mean("alpha")[2]);
    assert!(mean("tau_fine")[0] > 20.0 * mean("tau_coarse")[0]);
    assert_eq!(fit.result().objective.improper, Some(1));
    assert_eq!(fit.node("fine").unwrap().missing, Some(vec![5]));
    // 59 observations, each half, beside the prior
    let shape = fit.node("tau_fine").unwrap().gamma_shape.unwrap().as_slice()[0];
    assert!((shape - 29.501).abs() < 1e-9);
}

#[test]
fn outliers_do_not_move_a_fit_with_heavy_tails() {
    let (x, mut t) = regression(60, 2);
    (t[3], t[30]) = (40.0, -55.0);
    let data = Data::new().rows("x", &x).unwrap().vector("t", &t).unwrap();
    let program = |family: &str| {
        format!(
            "data x: real[N, D]\ndata t: real[N]\nw ~ Normal(0, precision = 1e-2) [D]\ntau ~ Gamma(1e-3, 1e-3)\n\
             t ~ {family}\ninfer variational\n"
        )
    };
    let robust = fitted(&program("StudentT(x * w, dof = 3, precision = tau)"), &data);
    let w = robust.node("w").unwrap().mean().to_vec();
    assert!((w[0] - 2.0).abs() < 0.1 && (w[1] + 1.0).abs() < 0.1, "{w:?}");
    let plain = fitted(&program("Normal(x * w, precision = tau)"), &data);
    let far = plain.node("w").unwrap().mean().to_vec();
    assert!((far[0] - 2.0).abs() > 0.3 || (far[1] + 1.0).abs() > 0.3, "{far:?}");
    // ν/(ν − 2) ⟨1/τ⟩
    let tau = robust.node("tau").unwrap();
    let (shape, rate) = (tau.gamma_shape.unwrap().as_slice()[0], tau.rate.unwrap().as_slice()[0]);
    let p = robust.predict(&Data::new().rows("x", &x[..2]).unwrap()).unwrap();
    let noise = p.sd()[0].powi(2) - p.sd_mean()[0].powi(2);
    assert!((noise / (3.0 * rate / (shape - 1.0)) - 1.0).abs() < 1e-9);
}

#[test]
fn classes_by_logit_and_by_probit() {
    let n = 80;
    let x: Vec<Vec<f64>> = (0..n).map(|i| vec![2.0 * noise(i), noise(i + 300), noise(i + 900)]).collect();
    let y: Vec<f64> = (0..n).map(|i| f64::from(x[i][0] - x[i][1] + 0.5 * noise(i + 4000) > 0.0)).collect();
    let data = Data::new().rows("x", &x).unwrap().vector("y", &y).unwrap();
    for link in ["logit", "probit"] {
        let fit = fitted(
            &format!(
                "use std.priors.ard\ndata x: real[N, D]\ndata y: bool[N]\nw ~ ard(D)\n\
                 y ~ Bernoulli({link} = x * w)\ninfer variational\n"
            ),
            &data,
        );
        // the third column is irrelevant, and pruned
        let w = fit.node("w").unwrap();
        assert_eq!(w.active, Some(vec![0, 1]), "{link}");
        assert!(w.mean()[0] > 0.0 && w.mean()[1] < 0.0);
        assert_eq!(fit.node("w.alpha").unwrap().posterior.as_deref(), Some("point"));
    }
}

/// The points of contact of rows far from 0 move by factors, not by steps.
#[test]
fn classes_converge_in_any_unit_of_the_inputs() {
    let x = [
        [26.0, 295.0, 183.0, -870.0],
        [-1169.0, 344.0, 430.0, 1904.0],
        [-611.0, 410.0, 173.0, -218.0],
        [-1285.0, -1475.0, 1953.0, -485.0],
        [2029.0, 714.0, -617.0, 461.0],
        [-1499.0, -459.0, 33.0, 339.0],
        [-489.0, -997.0, -132.0, 131.0],
        [-348.0, -113.0, 1010.0, 1371.0],
        [1374.0, -719.0, -333.0, 660.0],
        [442.0, 1629.0, 34.0, 1006.0],
        [-414.0, -558.0, -275.0, 1208.0],
        [-1770.0, -560.0, -1124.0, -131.0],
        [843.0, 574.0, 544.0, -1306.0],
        [420.0, 1480.0, 381.0, 1350.0],
        [-1134.0, 310.0, 1089.0, -61.0],
    ];
    let y = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    for unit in [1e-3, 1.0] {
        let rows: Vec<Vec<f64>> = x.iter().map(|row| row.iter().map(|v: &f64| unit * v).collect()).collect();
        let data = Data::new().rows("x", &rows).unwrap().vector("y", &y).unwrap();
        let fit = fitted(
            "use std.priors.ard\ndata x: real[N, D]\ndata y: bool[N]\nw ~ ard(D, shape = 1e-3, rate = 1e-3)\n\
             y ~ Bernoulli(logit = x * w)\ninfer variational\n",
            &data,
        );
        assert!(fit.converged() && fit.result().iterations < 1000, "{unit}: {}", fit.result().iterations);
    }
}

fn said(source: &str, data: &Data) -> Vec<String> {
    let fit = model(source).fit(data, &sbl::Options::default()).unwrap();
    fit.result().warnings.iter().filter_map(|w| w["code"].as_str()).map(str::to_owned).collect()
}

/// What the other plans say of targets and columns, the mean field says too.
#[test]
fn warnings_of_targets_and_columns() {
    let (x, t) = regression(40, 3);
    let head = "use std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\n";
    for (prior, family) in [
        ("", "Normal(F, precision = tau)"),
        (", shape = 1e-3, rate = 1e-3", "Normal(F, precision = tau)"),
        ("", "StudentT(F, dof = 4, precision = tau)"),
    ] {
        let program = |f: &str, mu: &str| {
            format!(
                "{head}{mu}w ~ ard(D{prior})\ntau ~ Gamma(1e-3, 1e-3)\nt ~ {}\ninfer variational\n",
                family.replace('F', f)
            )
        };
        let with = |x: &[Vec<f64>], t: &[f64]| Data::new().rows("x", x).unwrap().vector("t", t).unwrap();
        let plain = said(&program("x * w", ""), &with(&x, &t));
        assert!(
            !plain.iter().any(|c| c == "W0801" || c == "W0804" || c == "W0805" || c == "W0807"),
            "{plain:?}"
        );
        let constant = said(&program("x * w", ""), &with(&x, &[3.0; 40]));
        assert!(constant.contains(&"W0801".to_owned()), "{constant:?}");
        let far: Vec<f64> = t.iter().map(|t| t + 1e3).collect();
        assert!(said(&program("x * w", ""), &with(&x, &far)).contains(&"W0804".to_owned()));
        let taken = said(&program("mu + x * w", "mu ~ Flat()\n"), &with(&x, &far));
        assert!(!taken.contains(&"W0804".to_owned()), "{taken:?}");
        let twins: Vec<Vec<f64>> = x.iter().map(|x| vec![x[0], x[1], -2.0 * x[0], x[2]]).collect();
        let found = said(&program("x * w", ""), &with(&twins, &t));
        assert!(found.contains(&"W0807".to_owned()), "{found:?}");
        // eight columns in two directions
        let flat: Vec<Vec<f64>> =
            x.iter().map(|x| (0..8).map(|j| x[0] + (0.3 + j as f64) * x[1]).collect()).collect();
        let found = said(&program("x * w", ""), &with(&flat, &t));
        assert!(found.contains(&"W0805".to_owned()), "{found:?}");
    }
}

/// Precisions of groups and of single weights, weights in one factor or in one for each block: the same
/// answer where columns are orthogonal, a lower bound and near answers where they are not.
#[test]
fn shared_precisions_in_joint_and_separate_factors() {
    let (x, t) = regression(60, 4);
    let program = |blocks: &str| {
        format!(
            "data x: real[N, D]\ndata group: category[D]\ndata t: real[N]\nalpha ~ Gamma(1e-2, 1e-2) [levels(group)]\n\
             l ~ Gamma(1e-2, 1e-2)\nw ~ Normal(0, precision = alpha[group]) [D]\nv ~ Normal(0, precision = l) [D]\nmu ~ Normal(0, precision = 1e-2)\n\
             tau ~ Gamma(1e-2, 1e-2)\nt ~ Normal(mu + x * w + (x .* x) * v, precision = tau)\ninfer variational(blocks = {blocks})\n"
        )
    };
    let data = Data::new()
        .rows("x", &x)
        .unwrap()
        .vector("t", &t)
        .unwrap()
        .words("group", &["a", "a", "b", "b"])
        .unwrap();
    let (joint, separate) = (fitted(&program("joint"), &data), fitted(&program("separate"), &data));
    assert!(
        separate.objective() <= joint.objective() + 1e-9,
        "{} {}",
        separate.objective(),
        joint.objective()
    );
    for node in ["w", "v", "alpha"] {
        let (a, b) = (joint.node(node).unwrap(), separate.node(node).unwrap());
        for (a, b) in a.mean().iter().zip(b.mean()) {
            assert!((a - b).abs() < 0.05 * (1.0 + b.abs()), "{node}: {a} {b}");
        }
    }
    // factors of their own have no covariance: deviations are smaller
    let sd = |f: &Fit| f.node("mu").unwrap().sd()[0];
    assert!(sd(&separate) <= sd(&joint) + 1e-12);
    // two weights a group, half an observation each
    let shape = joint.node("alpha").unwrap().gamma_shape.unwrap().as_slice().to_vec();
    assert!(shape.iter().all(|s| (s - 1.01).abs() < 1e-12), "{shape:?}");
}

/// Counts have no Gaussian form: the mean field says so, and names a plan's way out.
#[test]
fn counts_are_refused_with_a_way_out() {
    let source = "data x: real[N]\ndata k: count[N]\nw ~ Normal(0, precision = 1)\nk ~ Poisson(log = x * w)\ninfer variational\n";
    let told = model(source).plan().unwrap_err().to_string();
    assert!(told.contains("E0632") && told.contains("Poisson") && told.contains("infer laplace"), "{told}");
}
