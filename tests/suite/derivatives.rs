//! Derivatives of expressions, of linear forms and of scales in reverse, against central differences:
//! every native, every kernel and basis of the library, every linear operation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;
use sbl::check::natives::NATIVES;
use sbl::check::typed::{Elem, ExprId, ExprKind, Model, NodeId, NodeKind};
use sbl::design::{
    Axis, Evaluator, Frozen, Inputs, Restrict, Seed, Starts, Value, Want, affine, affine_seeds, log_linear,
    log_seeds, pull_back,
};
use sbl::session::bind::{Bound, bind_training};

use super::linear_forms::{ZOO, data, model};

const MEMORY: usize = 1 << 30;

/// Numbers without a pattern, the same every time.
fn noise(seed: usize, i: usize) -> f64 {
    let x = (seed as f64 * 4.898 + i as f64 * 7.233 + 0.25).sin() * 43758.5453;
    2.0 * x.fract().abs() - 1.0
}

fn random(seed: usize, rows: usize, cols: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, cols, |i, j| noise(seed, i + rows * j))
}

/// A model whose continuous inputs are what is differentiated.
struct Case {
    text: String,
    model: Model,
    bound: Bound,
    leaves: BTreeSet<NodeId>,
}

impl Case {
    fn new(text: &str) -> Case {
        let model = model(text);
        let bound = bind_training(&model, &data(0, 6)).unwrap_or_else(|e| panic!("{text}\n{e:#?}")).value;
        let continuous = |n: &&sbl::check::typed::Node| {
            let data = matches!(&n.kind, NodeKind::Data(_)) && !n.is_observed();
            data && matches!(n.ty.elem, Elem::Real | Elem::Positive | Elem::Unit)
        };
        let leaves = model.nodes.iter().filter(continuous).map(|n| n.id).collect();
        Case { text: text.to_owned(), model, bound, leaves }
    }

    /// `f` at the values of the data, frozen values learned from them.
    fn at<T>(&self, values: &BTreeMap<NodeId, Arc<Value>>, f: &mut dyn FnMut(&mut Evaluator<'_>) -> T) -> T {
        let inputs = Inputs { values, ..self.bound.inputs(&self.model) };
        let (frozen, _) = Frozen::learn(inputs, MEMORY).unwrap_or_else(|e| panic!("{}\n{e:?}", self.text));
        f(&mut Evaluator::new(inputs, &frozen, MEMORY))
    }

    /// Compares adjoints of the leaves with differences of an objective; how many numbers.
    fn compare(
        &self,
        what: &str,
        objective: &mut dyn FnMut(&mut Evaluator<'_>) -> f64,
        bars: &BTreeMap<NodeId, DMatrix<f64>>,
    ) -> usize {
        let mut count = 0;
        for leaf in &self.leaves {
            for (i, &found) in bars[leaf].iter().enumerate() {
                let mut moved = |h: f64| {
                    let mut values = self.bound.values.clone();
                    Arc::make_mut(values.get_mut(leaf).unwrap()).array[i] += h;
                    self.at(&values, objective)
                };
                // five-point rule: error of order h⁴
                let h = 1e-3;
                let wanted = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
                assert!(
                    (found - wanted).abs() < 2e-6 * (1.0 + wanted.abs()),
                    "{}\n{what}: d/d {}[{i}] is {found}, differences say {wanted}",
                    self.text,
                    self.model.node(*leaf).name
                );
                count += 1;
            }
        }
        count
    }
}

fn value_of(model: &Model, name: &str) -> ExprId {
    match model.node(model.find(name).unwrap()).kind {
        NodeKind::Let { value, .. } => value,
        _ => panic!("{name} is no let"),
    }
}

/// Compares the derivative of one expression, whole and in part.
fn check(expression: &str, uses: &str) -> usize {
    let text = format!(
        "{uses}data x: real[N, D]\ndata z: real[N]\ndata pos: positive[N]\ndata centres: real[M, D]\ndata g: category[N]\ndata k: int[N]\ndata t: real[N]\nlet f = {expression}\nmu ~ Flat()\nt ~ Normal(mu + sum(f) + 0 * (sum(x) + sum(z) + sum(pos) + sum(centres)), sd = 1)"
    );
    let case = Case::new(&text);
    let f = value_of(&case.model, "f");
    let (rows, cols, rank) = case.at(&case.bound.values, &mut |eval| {
        let v = eval.eval(f, &Want::all()).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        (v.rows(), v.cols(), case.model.expr(f).ty.shape.len())
    });
    let mut wants = vec![Want::all()];
    if rank > 0 && rows > 1 {
        wants.push(Want::rows(Axis::only(&[rows - 1, 0])));
    }
    if rank > 1 && cols > 1 {
        wants.push(Want { rows: Axis::only(&[1, 0]), cols: Axis::only(&[cols - 1, 0]) });
        wants.push(Want::cols(Axis::only(&[1])));
    }
    let mut count = 0;
    for (seed, want) in wants.into_iter().enumerate() {
        let shape = (want.rows.len(rows), want.cols.len(cols));
        let adjoint = random(seed, shape.0, shape.1);
        let bars = case.at(&case.bound.values, &mut |eval| {
            let seeds = vec![Seed { expr: f, want: want.clone(), adjoint: adjoint.clone() }];
            pull_back(eval, seeds, &case.leaves).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
        });
        let mut objective = |eval: &mut Evaluator<'_>| eval.eval(f, &want).unwrap().array.dot(&adjoint);
        count += case.compare(expression, &mut objective, &bars);
    }
    count
}

#[test]
fn every_native_has_the_derivative_of_its_value() {
    let calls: &[(&str, &str)] = &[
        ("exp", "exp(z)"),
        ("log", "log(pos)"),
        ("sqrt", "sqrt(pos)"),
        ("abs", "abs(x)"),
        ("min", "min(x, 0.1)"),
        ("max", "max(z, pos)"),
        ("pow", "pow(pos, z)"),
        ("sum", "sum(x) * z"),
        ("mean", "mean(x) * mean(z) - z"),
        ("sd", "sd(x) * z"),
        ("dot", "dot(x, centres)"),
        ("dot", "dot(z, pos)"),
        ("sqdist", "sqdist(x, centres)"),
        ("sqdist", "sqdist(x, centres, [pos[1], z[2], 0.3])"),
        ("sqdist", "sqdist(x, train(x))"),
        ("absdist", "absdist(x, centres)"),
        ("absdist", "absdist(x, centres, [pos[1], z[2], 0.3])"),
        ("spline", "spline(x, centres)"),
        ("spline", "spline(x, train(x))"),
        ("sin", "sin(x)"),
        ("cos", "cos(x)"),
        ("powers", "powers(x, 3)"),
        ("pair_products", "pair_products(x)"),
        ("train", "train(x)"),
        ("train", "dot(train(z), train(pos))"),
        ("standardize", "standardize(x)"),
        ("standardize", "standardize(pos .* z)"),
        // natives without a derivative: what they give is no function of continuous inputs
        ("onehot", "onehot(g) * 2 + x"),
        ("cols", "x * cols(x)"),
        ("rows", "x / rows(x)"),
        ("levels", "x / levels(g)"),
        ("range", "x * range(3)"),
    ];
    let mut count = 0;
    for (_, call) in calls {
        count += check(call, "");
    }
    assert!(count > 1500, "{count}");
    for native in NATIVES {
        assert!(
            calls.iter().any(|(name, _)| *name == native.name),
            "no derivative of {} is tested",
            native.name
        );
    }
}

#[test]
fn every_operation_has_the_derivative_of_its_value() {
    for expression in [
        "-x + 2",
        "x .* x - 3 * x",
        "z * z[1] + z / pos[2]",
        "x ./ (1 + x .* x)",
        "pos ^ 3 - z ^ 2 + 2 ^ z",
        "z * x",
        "x * x[1]",
        "z * z",
        "dot(x, centres) * dot(centres, x)",
        "[z, x, 1, pos[3]]",
        "[z[1], pos[2], 3, z[1]]",
        "x[k]",
        "x[_, 2] + x[_, 3] .* z",
        "x[3] * 2",
        "x * x[_, 1][1]",
        "sum(x) + mean(pos) * z",
    ] {
        check(expression, "");
    }
}

#[test]
fn library_functions_have_the_derivative_of_their_value() {
    // at centres of their own: distances of 0 and the kinks at them are in `train(x)`
    let kernels = [
        "rbf(x, width = pos[1])",
        "rbf(x, scale = [pos[1], pos[2], 0.3])",
        "rbf(x, width = pos[2], centres = centres)",
        "laplacian(x, width = pos[1], centres = centres)",
        "laplacian(x, scale = [pos[1], pos[2], 0.3], centres = centres)",
        "exponential(x, width = pos[1], centres = centres)",
        "cauchy(x, width = pos[1])",
        "cauchy(x, scale = [pos[1], pos[2], 0.3])",
        "matern32(x, width = pos[1])",
        "matern52(x, width = pos[1])",
        "linear(x)",
        "polynomial(x, 3)",
        "polynomial(x, 2, offset = pos[1])",
        "linear_spline(x)",
    ];
    for call in kernels {
        let name = call.split('(').next().unwrap();
        check(call, &format!("use std.kernels.{name}\n"));
    }
    let bases = [
        "polynomial(x, 2)",
        "fourier(z, 2, period = 3 * pos[1])",
        "interactions(x)",
        "quadratic(x)",
        "sigmoids(z, width = pos[1])",
        "indicator(g) + x",
        "hinges(z, centres = [0.1, 0.2])",
    ];
    for call in bases {
        let name = call.split('(').next().unwrap();
        check(call, &format!("use std.bases.{name}\n"));
    }
    let named = |text: &str, known: &[&str]| {
        for line in text.lines().filter_map(|l| l.strip_prefix("fn ")) {
            let name = line.split('(').next().unwrap();
            assert!(known.iter().any(|c| c.starts_with(&format!("{name}("))), "{name} is not tested");
        }
    };
    named(include_str!("../../stdlib/kernels.sbl"), &kernels);
    named(include_str!("../../stdlib/bases.sbl"), &bases);
}

/// The means of all stochastic nodes, with every latent (or every other entry of it) kept.
#[test]
fn linear_forms_have_the_derivatives_of_their_numbers() {
    let more = [
        // offsets that are parameters, and zero by accident
        "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nw ~ Normal(z[1] - z[1], sd = 1) [D]\nt ~ Normal(x * w + mean(z), sd = 1)",
        // a design made of known and unknown factors
        "data x: real[N, D]\ndata pos: positive[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [D]\nt ~ Normal((x * w) .* pos / pos[2] - (x * w) / 3, sd = 1)",
        "data x: real[N, D]\ndata centres: real[M, D]\ndata t: real[N]\nU ~ Normal(0, sd = 1) [M, D]\nt ~ Normal(dot(x, U) * centres[_, 1] + x * U[2], sd = 1)",
        "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [D]\nb ~ Normal(0, sd = 1)\nt ~ Normal(x * (w * z[1]) + b * z + (w * w2) , sd = 1)\nlet w2 = x[3] + z[2]",
    ];
    let mut count = 0;
    for text in ZOO.iter().chain(&more) {
        let case = Case::new(text);
        if case.leaves.is_empty() {
            continue;
        }
        for half in [false, true] {
            let inputs = case.bound.inputs(&case.model);
            let mut restrict = Restrict::default();
            let mut starts = Starts::new();
            let mut total = 0;
            for node in case.model.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Latent(_))) {
                let (_, rows, cols) = inputs.shape(&node.ty).unwrap();
                let kept: Vec<usize> = (0..rows * cols).step_by(if half { 2 } else { 1 }).collect();
                starts.insert(node.id, total);
                total += kept.len();
                restrict.active.insert(node.id, kept);
            }
            for (_, dist) in case.model.stochastic().filter(|(n, _)| n.is_observed()) {
                let mean = dist.args[0].value;
                let mut numbers = |eval: &mut Evaluator<'_>| {
                    let form = affine(eval, mean, &restrict).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
                    let mut all = DMatrix::zeros(form.len(), 1 + total);
                    all.column_mut(0).copy_from_slice(&form.offset);
                    for (node, start) in &starts {
                        if let Some(coef) = form.coef(*node) {
                            coef.add_to(None, &mut all, 0, 1 + start).unwrap();
                        }
                    }
                    all
                };
                let shape = case.at(&case.bound.values, &mut numbers).shape();
                let adjoint = random(3, shape.0, shape.1);
                let bars = case.at(&case.bound.values, &mut |eval| {
                    let seeds = affine_seeds(eval, mean, &restrict, &starts, adjoint.clone(), &case.leaves);
                    let seeds = seeds.unwrap_or_else(|e| panic!("{text}\n{e:?}"));
                    pull_back(eval, seeds, &case.leaves).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
                });
                count += case.compare("mean", &mut |eval| numbers(eval).dot(&adjoint), &bars);
            }
        }
    }
    assert!(count > 700, "{count}");
}

#[test]
fn a_product_with_a_design_touches_kept_columns_only() {
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nparam s: positive = 1\nlet phi = [1, rbf(x, width = s)]\nw ~ ard(cols(phi))\nt ~ Normal(phi * w, sd = 1)";
    let mut case = Case::new(text);
    let s = case.model.find("s").unwrap();
    case.bound.values.insert(s, Arc::new(Value::scalar(1.3)));
    case.leaves = BTreeSet::from([s]);
    let w = case.model.find("w").unwrap();
    let restrict = Restrict { active: BTreeMap::from([(w, vec![0, 2, 5])]), ..Restrict::default() };
    let mean = case.model.stochastic().find(|(n, _)| n.is_observed()).unwrap().1.args[0].value;
    let seeds = case.at(&case.bound.values, &mut |eval| {
        affine_seeds(eval, mean, &restrict, &Starts::from([(w, 0)]), random(1, 6, 4), &case.leaves).unwrap()
    });
    assert_eq!(seeds.len(), 1);
    assert_eq!(seeds[0].want, Want::cols(Axis::only(&[0, 2, 5])));
    assert_eq!(seeds[0].adjoint.shape(), (6, 3));
    assert!(!matches!(case.model.expr(seeds[0].expr).kind, ExprKind::Number(_)));
}

#[test]
fn scales_have_the_derivatives_of_their_logarithms() {
    let scales = [
        "precision = pos",
        "precision = tau .* pos",
        "sd = 1 ./ sqrt(tau .* pos ^ 3) ",
        "variance = pos / (tau * pos[2])",
        "precision = tau * pos[1]",
        "precision = v[g] .* pos",
        "precision = (pos .* exp(z)) * tau ^ 2",
        "sd = abs(pos) .* sqrt(1 / tau)",
        "precision = lambda",
    ];
    let mut count = 0;
    for scale in scales {
        let text = format!(
            "data pos: positive[N]\ndata z: real[N]\ndata g: category[N]\ndata t: real[N]\ntau ~ Gamma(1, 1)\nv ~ Gamma(1, 1) [levels(g)]\nlet lambda = pos[2] * tau\nmu ~ Flat()\nt ~ Normal(mu + 0 * (sum(pos) + sum(z)), {scale})"
        );
        let case = Case::new(&text);
        let e = case.model.stochastic().find(|(n, _)| n.is_observed()).unwrap().1.args[1].value;
        let mut logs = |eval: &mut Evaluator<'_>| {
            let form = log_linear(eval, e).unwrap_or_else(|x| panic!("{text}\n{x:?}"));
            form.entries.iter().map(|x| x.log_const).collect::<Vec<f64>>()
        };
        let n = case.at(&case.bound.values, &mut logs).len();
        let adjoint: Vec<f64> = (0..n).map(|i| noise(5, i)).collect();
        let bars = case.at(&case.bound.values, &mut |eval| {
            let seeds = log_seeds(eval, e, adjoint.clone(), &case.leaves).unwrap();
            pull_back(eval, seeds, &case.leaves).unwrap()
        });
        let mut objective =
            |eval: &mut Evaluator<'_>| logs(eval).iter().zip(&adjoint).map(|(l, a)| l * a).sum();
        count += case.compare(scale, &mut objective, &bars);
    }
    assert!(count > 80, "{count}");
}
