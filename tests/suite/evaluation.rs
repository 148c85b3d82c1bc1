//! Evaluation of deterministic expressions: parts agree with the whole, kernels with their definitions,
//! long chains do not overflow the stack.

use nalgebra::DMatrix;
use sbl::Data;
use sbl::check::typed::{ExprId, Model, NodeKind};
use sbl::design::{Axis, Evaluator, Frozen, Rank, Want};
use sbl::session::bind::bind_training;

use super::linear_forms::{ZOO, data, model};

const MEMORY: usize = 1 << 30;

#[test]
fn parts_agree_with_the_whole() {
    // positions with a gap, a repetition and a step back
    let some = |size: usize| -> Vec<usize> { [size - 1, 0, size / 2, 0].to_vec() };
    let mut parts = 0;
    for text in ZOO {
        let model = model(text);
        let bound = bind_training(&model, &data(0, 7)).unwrap().value;
        let inputs = bound.inputs(&model);
        let (frozen, _) = Frozen::learn(inputs, MEMORY).unwrap();
        for e in (0..model.exprs.len() as u32).map(ExprId) {
            // expressions of latent nodes have no value
            let Ok(whole) = Evaluator::new(inputs, &frozen, MEMORY).eval(e, &Want::all()) else { continue };
            if whole.rank == Rank::Scalar || whole.array.is_empty() {
                continue;
            }
            let rows = some(whole.rows());
            let cols = some(whole.cols());
            let mut wants = vec![Want::rows(Axis::only(&rows)), Want::rows(Axis::only(&[]))];
            if whole.rank == Rank::Matrix {
                wants.push(Want::cols(Axis::only(&cols)));
                wants.push(Want { rows: Axis::only(&rows), cols: Axis::only(&cols) });
                wants.push(Want::cols(Axis::only(&[])));
            }
            for want in wants {
                let found = Evaluator::new(inputs, &frozen, MEMORY).eval(e, &want).unwrap_or_else(|x| {
                    panic!("{text}\n{:?} {want:?}: {x:?}", model.expr(e));
                });
                let rows = want.rows.positions(whole.rows()).unwrap();
                let cols = want.cols.positions(whole.cols()).unwrap();
                let wanted = DMatrix::from_fn(rows.len(), cols.len(), |i, j| whole.array[(rows[i], cols[j])]);
                let close = found.array.shape() == wanted.shape()
                    && found.array.iter().zip(wanted.iter()).all(|(f, w)| (f - w).abs() <= 1e-14 * w.abs());
                assert!(close, "{text}\n{:?} {want:?}\n{}\n{wanted}", model.expr(e), found.array);
                parts += 1;
            }
        }
    }
    assert!(parts > 200, "{parts}");
}

/// The value of `let f = …` over one input matrix.
fn value(expression: &str, uses: &str, x: &DMatrix<f64>) -> DMatrix<f64> {
    let text = format!(
        "{uses}data x: real[N, D]\ndata t: real[N]\nlet f = {expression}\nmu ~ Flat()\nt ~ Normal(mu + sum(f), sd = 1)"
    );
    let model = model(&text);
    let data = Data::new().matrix("x", x).unwrap().vector("t", &vec![0.0; x.nrows()]).unwrap();
    let bound = bind_training(&model, &data).unwrap().value;
    let (frozen, _) = Frozen::learn(bound.inputs(&model), MEMORY).unwrap();
    let mut eval = Evaluator::new(bound.inputs(&model), &frozen, MEMORY);
    eval.eval(value_of(&model, "f"), &Want::all()).unwrap().array.clone()
}

fn value_of(model: &Model, name: &str) -> ExprId {
    match model.node(model.find(name).unwrap()).kind {
        NodeKind::Let { value, .. } => value,
        _ => panic!("{name} is no let"),
    }
}

#[test]
fn kernels_agree_with_their_definitions() {
    let x = DMatrix::from_fn(6, 2, |i, j| (i as f64 * 1.7 + j as f64 * 0.6).sin() + 1.2);
    let d2 = |n: usize, m: usize| (x.row(n) - x.row(m)).norm_squared();
    let d1 = |n: usize, m: usize| (x.row(n) - x.row(m)).iter().map(|d| d.abs()).sum::<f64>();
    let dot = |n: usize, m: usize| x.row(n).dot(&x.row(m));
    let spline = |a: f64, c: f64| {
        let m = a.min(c);
        1.0 + a * c + a * c * m - (a + c) / 2.0 * m * m + m * m * m / 3.0
    };
    type Kernel<'a> = Box<dyn Fn(usize, usize) -> f64 + 'a>;
    let cases: Vec<(&str, Kernel<'_>)> = vec![
        ("rbf(x, width = 0.7)", Box::new(|n, m| (-d2(n, m) / 0.49).exp())),
        (
            "rbf(x, scale = [0.5, 2])",
            Box::new(|n, m| {
                (-(0.5 * (x[(n, 0)] - x[(m, 0)]).powi(2) + 2.0 * (x[(n, 1)] - x[(m, 1)]).powi(2))).exp()
            }),
        ),
        ("laplacian(x, width = 2)", Box::new(|n, m| (-d1(n, m) / 2.0).exp())),
        ("cauchy(x, width = 2)", Box::new(|n, m| 1.0 / (1.0 + d2(n, m) / 4.0))),
        ("polynomial(x, 3)", Box::new(|n, m| (1.0 + dot(n, m)).powi(3))),
        ("linear(x)", Box::new(dot)),
        (
            "matern32(x, width = 2)",
            Box::new(|n, m| {
                let r = 3f64.sqrt() * d2(n, m).sqrt() / 2.0;
                (1.0 + r) * (-r).exp()
            }),
        ),
        (
            "matern52(x, width = 2)",
            Box::new(|n, m| {
                let r = 5f64.sqrt() * d2(n, m).sqrt() / 2.0;
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }),
        ),
        ("linear_spline(x)", Box::new(|n, m| spline(x[(n, 0)], x[(m, 0)]) * spline(x[(n, 1)], x[(m, 1)]))),
    ];
    for (expression, kernel) in cases {
        let name = expression.split('(').next().unwrap();
        let found = value(expression, &format!("use std.kernels.{name}\n"), &x);
        for n in 0..6 {
            for m in 0..6 {
                let wanted = kernel(n, m);
                assert!((found[(n, m)] - wanted).abs() < 1e-13 * wanted.abs(), "{expression} {n} {m}");
            }
        }
    }
}

#[test]
fn scalars_and_reductions() {
    let x = DMatrix::from_row_slice(4, 1, &[1.0, 2.0, 3.0, 6.0]);
    for (expression, wanted) in [
        ("sum(x)", 12.0),
        ("mean(x)", 3.0),
        ("sd(x)", 3.5f64.sqrt()),
        ("min(2, 3) - max(2, 3)", -1.0),
        ("pow(2, 10) + 2^0.5 - sqrt(2)", 1024.0),
        ("abs(-2) * exp(log(3))", 6.0),
        ("rows(x) + cols(x)", 5.0),
        ("-2^2", -4.0),
    ] {
        let found = value(expression, "", &x);
        assert!((found[0] - wanted).abs() < 1e-12, "{expression}: {}", found[0]);
    }
}

#[test]
fn a_long_chain_of_definitions_does_not_overflow_the_stack() {
    // ten thousand steps, in a thread with a small stack
    let mut text =
        "data z: real[N]\ndata t: real[N]\nu ~ Normal(0, sd = 1)\nlet a0 = z\nlet b0 = u + z\n".to_owned();
    for i in 1..=3000 {
        text += &format!("let a{i} = a{} + 1\nlet b{i} = b{} + 1\n", i - 1, i - 1);
    }
    text += "t ~ Normal(a3000 + b3000, sd = 1)";
    let model = model(&text);
    let work = move || {
        let data = Data::new().vector("z", &[1.0, 2.0]).unwrap().vector("t", &[0.0; 2]).unwrap();
        let bound = bind_training(&model, &data).unwrap().value;
        let inputs = bound.inputs(&model);
        let (frozen, _) = Frozen::learn(inputs, MEMORY).unwrap();
        let mean = model.nodes.iter().find(|n| n.is_observed()).unwrap().dist().unwrap().args[0].value;
        let mut eval = Evaluator::new(inputs, &frozen, MEMORY);
        let form = sbl::design::affine(&mut eval, mean, &sbl::design::Restrict::default()).unwrap();
        assert_eq!(form.offset, [6002.0, 6004.0]);
        sbl::design::Labels::of(inputs);
    };
    std::thread::Builder::new().stack_size(128 * 1024).spawn(work).unwrap().join().unwrap();
}
