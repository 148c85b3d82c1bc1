//! The numerical core on random problems of every shape: shared, grouped and known precisions, products
//! of hyperparameters, powers −1 and −2, several noises, case weights, flat effects, more weights than
//! rows. Checked against dense evaluation and finite differences.

use nalgebra::DMatrix;
use sbl::plan::ir::{HyperScale, Options};
use sbl::runtime::problem::{Hyper, Problem, Scale, WeightPrior};
use sbl::runtime::state::at;

use crate::problems::{Random, dense_evidence};

/// What a problem is made of.
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    terms: usize,
    flat: usize,
    own: usize,
    grouped: usize,
    known: usize,
    products: bool,
    cases: bool,
    row_constants: bool,
}

const SHAPES: [Shape; 9] = [
    Shape {
        rows: 12,
        terms: 1,
        flat: 0,
        own: 4,
        grouped: 0,
        known: 0,
        products: false,
        cases: false,
        row_constants: false,
    },
    Shape {
        rows: 14,
        terms: 1,
        flat: 2,
        own: 4,
        grouped: 3,
        known: 1,
        products: false,
        cases: true,
        row_constants: true,
    },
    Shape {
        rows: 15,
        terms: 2,
        flat: 1,
        own: 3,
        grouped: 4,
        known: 1,
        products: false,
        cases: false,
        row_constants: true,
    },
    Shape {
        rows: 15,
        terms: 3,
        flat: 2,
        own: 3,
        grouped: 4,
        known: 0,
        products: true,
        cases: true,
        row_constants: true,
    },
    Shape {
        rows: 7,
        terms: 1,
        flat: 1,
        own: 9,
        grouped: 4,
        known: 1,
        products: false,
        cases: false,
        row_constants: false,
    },
    Shape {
        rows: 9,
        terms: 3,
        flat: 2,
        own: 8,
        grouped: 6,
        known: 1,
        products: true,
        cases: true,
        row_constants: true,
    },
    Shape {
        rows: 90,
        terms: 2,
        flat: 1,
        own: 3,
        grouped: 3,
        known: 1,
        products: true,
        cases: true,
        row_constants: true,
    },
    Shape {
        rows: 20,
        terms: 16,
        flat: 1,
        own: 3,
        grouped: 3,
        known: 0,
        products: false,
        cases: false,
        row_constants: false,
    },
    Shape {
        rows: 10,
        terms: 1,
        flat: 2,
        own: 0,
        grouped: 0,
        known: 0,
        products: false,
        cases: false,
        row_constants: false,
    },
];

/// A random problem, and hyperparameters to look at.
fn random(shape: Shape, seed: u64) -> (Problem, Vec<f64>) {
    let mut r = Random(seed);
    let m = shape.flat + shape.own + shape.grouped + shape.known;
    let mut hypers: Vec<Hyper> = Vec::new();
    let hyper = |hypers: &mut Vec<Hyper>| {
        hypers.push(Hyper { shape: 0.0, rate: 0.0, held: None });
        hypers.len() - 1
    };
    let global = hyper(&mut hypers);
    let noises: Vec<usize> = (0..shape.terms).map(|_| hyper(&mut hypers)).collect();
    let mut weights = Vec::new();
    for i in 0..m {
        let own = hyper(&mut hypers);
        let constant = if i % 3 == 1 { r.next() } else { 0.0 };
        let power = [1.0, 1.0, -1.0, -2.0][i % 4];
        weights.push(match i {
            _ if i < shape.flat => WeightPrior::Flat,
            _ if i < shape.flat + shape.own => {
                let mut powers = vec![(own, power)];
                if shape.products {
                    powers.push((global, 1.0));
                }
                WeightPrior::Normal(Scale { log_const: constant, powers })
            }
            _ if i < m - shape.known => {
                let group = shape.flat + 1 + shape.terms + i % 2;
                let mut powers = vec![(group, 1.0)];
                if shape.products {
                    powers.push((noises[0], 0.5));
                }
                WeightPrior::Normal(Scale { log_const: constant, powers })
            }
            _ => WeightPrior::Normal(Scale { log_const: 0.3, powers: Vec::new() }),
        });
    }
    let mut term: Vec<usize> = (0..shape.rows).map(|i| i * shape.terms / shape.rows).collect();
    term.sort_unstable();
    let noise = term
        .iter()
        .map(|&t| {
            let mut powers = vec![(noises[t], if t == 1 { -2.0 } else { 1.0 })];
            if shape.products && t == 2 {
                powers.push((global, 1.0));
            }
            Scale { log_const: if shape.row_constants { r.next() } else { 0.0 }, powers }
        })
        .collect();
    let design = r.matrix(shape.rows, m);
    let targets = (0..shape.rows).map(|i| 3.0 + 2.0 * r.normal() + design.row(i).sum()).collect();
    let counts =
        (0..shape.rows).map(|i| if shape.cases { [1.0, 2.0, 0.5, 3.0][i % 4] } else { 1.0 }).collect();
    let values = (0..hypers.len()).map(|_| r.next().exp()).collect();
    (Problem { targets, noise, counts, term, design, weights, hypers }, values)
}

fn close(a: f64, b: f64, rtol: f64, atol: f64, what: &str) {
    assert!((a - b).abs() <= atol + rtol * b.abs(), "{what}: {a:?} against {b:?}");
}

#[test]
fn evidence_is_the_dense_one() {
    for (s, shape) in SHAPES.into_iter().enumerate() {
        for seed in 0..5 {
            let (problem, hypers) = random(shape, 100 * s as u64 + seed);
            let state = at(&problem, &Options::default(), &hypers).unwrap();
            let dense = dense_evidence(&problem, &hypers);
            close(state.log_evidence, dense, 1e-10, 1e-9, &format!("{shape:?}"));
        }
    }
}

#[test]
fn gradient_and_hessian_are_those_of_finite_differences() {
    for (s, shape) in SHAPES.into_iter().enumerate() {
        for (prior, scale) in [(0.0, HyperScale::Log), (1.5, HyperScale::Log), (1.5, HyperScale::Density)] {
            let (mut problem, hypers) = random(shape, 7 + 100 * s as u64);
            problem.hypers.iter_mut().for_each(|h| (h.shape, h.rate) = (prior, prior / 3.0));
            let options = Options { hyper_scale: scale, ..Options::default() };
            let state = at(&problem, &options, &hypers).unwrap();
            let h = 1e-4;
            let moved = |k: usize, step: f64| {
                let mut values = hypers.clone();
                values[k] *= step.exp();
                at(&problem, &options, &values).unwrap()
            };
            for k in 0..hypers.len() {
                let (up, down) = (moved(k, h), moved(k, -h));
                let slope = (up.objective - down.objective) / (2.0 * h);
                close(state.gradient[k], slope, 1e-6, 1e-6, &format!("slope {k} of {shape:?}"));
                for l in 0..hypers.len() {
                    let bend = (up.gradient[l] - down.gradient[l]) / (2.0 * h);
                    close(state.hessian[(k, l)], bend, 1e-6, 1e-6, &format!("bend {k} {l} of {shape:?}"));
                }
            }
        }
    }
}

#[test]
fn posterior_is_the_dense_one() {
    for (s, shape) in SHAPES.into_iter().enumerate() {
        let (problem, hypers) = random(shape, 31 + 100 * s as u64);
        let state = at(&problem, &Options::default(), &hypers).unwrap();
        let m = problem.weights.len();
        let precision =
            |s: &Scale| (s.log_const + s.powers.iter().map(|&(h, p)| p * hypers[h].ln()).sum::<f64>()).exp();
        let mut lambda = DMatrix::zeros(m, m);
        let mut b = DMatrix::zeros(m, 1);
        for (i, prior) in problem.weights.iter().enumerate() {
            if let WeightPrior::Normal(s) = prior {
                lambda[(i, i)] += precision(s);
            }
        }
        for r in 0..problem.targets.len() {
            let row = problem.design.row(r).transpose();
            let h = problem.counts[r] * precision(&problem.noise[r]);
            lambda += &row * row.transpose() * h;
            b += row * (h * problem.targets[r]);
        }
        let covariance = lambda.try_inverse().unwrap();
        let mean = &covariance * b;
        assert_eq!(state.active.len(), m);
        for i in 0..m {
            close(state.mean[i], mean[(i, 0)], 1e-8, 1e-9, "mean");
            for j in 0..m {
                close(state.covariance[(i, j)], covariance[(i, j)], 1e-8, 1e-9, "covariance");
            }
        }
    }
}

#[test]
fn sparsity_factors_and_gains_are_those_of_leaving_out_and_putting_in() {
    for shape in [SHAPES[0], SHAPES[1], SHAPES[2], SHAPES[4]] {
        let (problem, hypers) = random(shape, 77);
        let state = at(&problem, &Options::default(), &hypers).unwrap();
        for (i, prior) in problem.weights.iter().enumerate() {
            let WeightPrior::Normal(scale) = prior else { continue };
            let Some((action, value, gain)) = state.moves[i] else { continue };
            let own = scale.powers[0].0;
            let mut after = hypers.clone();
            after[own] = value;
            // a variance or deviation that goes to 0 is a precision that goes to infinity
            if value == 0.0 || value.is_infinite() {
                continue;
            }
            let moved = at(&problem, &Options::default(), &after).unwrap();
            close(moved.log_evidence - state.log_evidence, gain, 1e-7, 1e-8, &format!("{action:?} {i}"));
            close(moved.gradient[own], 0.0, 0.0, 1e-7, "the best precision is stationary");
        }
    }
}

#[test]
fn em_never_lowers_the_evidence() {
    for (s, shape) in SHAPES.into_iter().enumerate().filter(|(_, s)| !s.products) {
        let (problem, mut hypers) = random(shape, 55 + 100 * s as u64);
        let mut last = f64::NEG_INFINITY;
        for cycle in 0..30 {
            let state = at(&problem, &Options::default(), &hypers).unwrap();
            assert!(state.log_evidence >= last - 1e-9 * last.abs(), "{shape:?} cycle {cycle}");
            last = state.log_evidence;
            // a noise-free fit may run off: the bound is not this test's business
            if state.em.iter().any(|v| !(1e-12..1e12).contains(v)) {
                break;
            }
            hypers = state.em;
        }
    }
}

#[test]
fn both_fixed_points_are_where_the_slope_vanishes() {
    let (problem, mut hypers) = random(SHAPES[6], 3);
    for _ in 0..3000 {
        hypers = at(&problem, &Options::default(), &hypers)
            .unwrap()
            .em
            .iter()
            .map(|v| v.clamp(1e-6, 1e6))
            .collect();
    }
    let state = at(&problem, &Options::default(), &hypers).unwrap();
    for (h, g) in state.gradient.iter().enumerate() {
        if (1e-5..1e5).contains(&hypers[h]) {
            close(*g, 0.0, 0.0, 1e-3, "slope at the EM fixed point");
        }
    }
}

#[test]
fn fits_of_every_shape_end_at_a_certified_optimum() {
    for (s, shape) in SHAPES.into_iter().enumerate() {
        for seed in 0..3 {
            let (problem, _) = random(shape, 500 + 10 * s as u64 + seed);
            let fit = crate::problems::fit(&problem);
            let what = format!("{shape:?} seed {seed}: {:?}", fit.report);
            assert_eq!(fit.report.stop, sbl::runtime::solution::Stop::Converged, "{what}");
            assert!(fit.report.certificate.gradient < 1e-5, "{what}");
            assert!(fit.report.iterations < 1500, "{what}");
            // no known or flat weight is lost
            for (i, prior) in problem.weights.iter().enumerate() {
                let permanent = match prior {
                    WeightPrior::Flat => true,
                    WeightPrior::Normal(s) => s.powers.is_empty(),
                };
                assert!(!permanent || fit.active.contains(&i), "{what}");
            }
            let dense =
                dense_evidence(&problem, &fit.hypers.iter().map(|h| h.max(1e-300)).collect::<Vec<_>>());
            close(fit.log_evidence, dense, 1e-7, 1e-6, &what);
        }
    }
}
