//! Linear and log-linear forms of real programs, against plain evaluation at given innovations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;
use sbl::Data;
use sbl::check::typed::{ExprId, Model, NodeId, NodeKind};
use sbl::design::affine::gaussian_mean;
use sbl::design::{Draw, Evaluator, Frozen, Inputs, Restrict, Value, Want, Why, affine, log_linear};
use sbl::session::bind::{Bound, bind_prediction, bind_training, is_per_row};
use sbl::source::SourceMap;

const MEMORY: usize = 1 << 30;

pub fn model(text: &str) -> Model {
    let mut sources = SourceMap::new();
    let file = sources.add("test", text);
    let module = sbl::syntax::parse::parse(file, text).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
    let checked = sbl::check::check(&mut sources, &module.value, &Default::default(), &sbl::check::NoFiles);
    checked.unwrap_or_else(|e| panic!("{text}\n{e:#?}")).value.remove(0)
}

/// Numbers without a pattern, the same every time.
fn noise(seed: usize, i: usize) -> f64 {
    let x = (seed as f64 * 12.9898 + i as f64 * 78.233 + 0.5).sin() * 43758.5453;
    2.0 * x.fract().abs() - 1.0
}

fn column(seed: usize, n: usize) -> Vec<f64> {
    (0..n).map(|i| noise(seed, i)).collect()
}

/// Data that serve every program below.
pub fn data(seed: usize, n: usize) -> Data {
    let matrix = |seed, rows, cols| DMatrix::from_vec(rows, cols, column(seed, rows * cols));
    let pick = |seed, levels: &[&'static str]| -> Vec<&'static str> {
        // every level at least once
        (0..n)
            .map(|i| {
                if i < levels.len() {
                    levels[i]
                } else {
                    levels[(noise(seed, i).abs() * 99.0) as usize % levels.len()]
                }
            })
            .collect()
    };
    Data::new()
        .matrix_with_names("x", &matrix(seed + 1, n, 3), &["age", "bmi", "bp"])
        .unwrap()
        .vector("z", &column(seed + 2, n))
        .unwrap()
        .vector("t", &column(seed + 3, n))
        .unwrap()
        .vector("s", &column(seed + 4, n))
        .unwrap()
        .matrix("y", &matrix(seed + 5, n, 2))
        .unwrap()
        .words("g", &pick(seed + 6, &["p", "q", "r"]))
        .unwrap()
        .words("h", &pick(seed + 7, &["u", "v"]))
        .unwrap()
        .vector("k", &(0..n).map(|i| 1.0 + (i % 3) as f64).collect::<Vec<_>>())
        .unwrap()
        .vector("pos", &column(seed + 8, n).iter().map(|x| x.abs() + 0.1).collect::<Vec<_>>())
        .unwrap()
        .matrix("centres", &matrix(seed + 9, 4, 3))
        .unwrap()
}

/// Programs whose mean is linear in latent nodes in every way the language has.
pub const ZOO: &[&str] = &[
    // kernel and bias
    "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nlet phi = [1, rbf(x, width = 1.5)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)",
    // plates
    "data x: real[N, D]\ndata t: real[N]\nlet phi = [1, x]\nplate m in cols(phi) {\n a[m] ~ Gamma(1, 1)\n w[m] ~ Normal(0, precision = a[m])\n}\nplate n in N {\n t[n] ~ Normal(phi[n] * w, precision = 2)\n}",
    // several blocks, offset, intercept, effects by level
    "use std.priors.ard\ndata x: real[N, D]\ndata z: real[N]\ndata g: category[N]\ndata t: real[N]\nw ~ ard(D)\nl ~ Gamma(1, 1)\nu ~ Normal(0, precision = l) [levels(g)]\nmu ~ Flat()\nt ~ Normal(mu + standardize(x) * w - u[g] / 2 + 3 * z, sd = 1)",
    // a mean that is affine in other latents: hierarchy
    "data g: category[N]\ndata h: category[N]\ndata t: real[N]\nm ~ Normal(1, sd = 2)\nv ~ Normal(m, sd = 3) [levels(h)]\nu ~ Normal(2 * m - 1, sd = 1) [levels(g)]\nt ~ Normal(u[g] + v[h] - m, sd = 1)",
    // a mean that is a vector of other latents
    "data x: real[N, D]\ndata t: real[N]\nb ~ Normal(0, sd = 1) [D]\nw ~ Normal(3 * b + 1, sd = 1)\nt ~ Normal(x * w - x * b, sd = 1)",
    // several outputs that share relevance
    "data x: real[N, D]\ndata y: real[N, K]\nplate d in D {\n a[d] ~ Gamma(0, 0)\n plate k in K {\n W[d, k] ~ Normal(0, precision = a[d])\n }\n}\nlet f = x * W\ny ~ Normal(f, sd = 1)",
    // the same in plates
    "data x: real[N, D]\ndata y: real[N, K]\nW ~ Normal(0, sd = 1) [D, K]\nplate n in N {\n plate k in K {\n y[n, k] ~ Normal(x[n] * W[_, k], sd = 1)\n }\n}",
    // random slopes
    "data x: real[N, D]\ndata g: category[N]\ndata t: real[N]\nU ~ Normal(0, sd = 1) [levels(g), D]\nplate n in N {\n t[n] ~ Normal(x[n] * U[g[n]], sd = 1)\n}",
    // pairs of levels
    "data g: category[N]\ndata h: category[N]\ndata t: real[N]\nU ~ Normal(0, sd = 1) [levels(g), levels(h)]\nplate n in N {\n t[n] ~ Normal(U[g[n], h[n]], sd = 1)\n}",
    // integer indices, single entries, sums, means
    "data k: int[N]\ndata z: real[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [3]\nt ~ Normal(w[k] + z * (w[1] - w[3]) + mean(w) - sum(w), sd = 1)",
    // one entry per row, scaled row by row
    "data z: real[N]\ndata t: real[N]\ne ~ Normal(0, sd = 2) [N]\nt ~ Normal(z .* e + e ./ (1 + z^2), sd = 1)",
    // a one-hot design, interactions, a fourier basis
    "use std.bases.{interactions, fourier}\ndata x: real[N, D]\ndata z: real[N]\ndata g: category[N]\ndata t: real[N]\nlet phi = [onehot(g), interactions(x), fourier(z, 2, period = 3)]\nw ~ Normal(0, sd = 1) [cols(phi)]\nt ~ Normal(phi * w, sd = 1)",
    // a vector of scalars as weights; a join of latents
    "data x: real[N, 3]\ndata t: real[N]\na ~ Normal(0, sd = 1)\nb ~ Normal(a, sd = 1)\nlet w = [a, -b, 2 * a + b]\nt ~ Normal(x * w, sd = 1)",
    // weights on the left
    "data x: real[N, D]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [D]\nplate n in N {\n t[n] ~ Normal(w * x[n], sd = 1)\n}",
    // given centres
    "use std.kernels.rbf\ndata x: real[N, D]\ndata centres: real[M, D]\ndata t: real[N]\nlet phi = rbf(x, width = 1, centres = centres)\nw ~ Normal(0, sd = 1) [M]\nt ~ Normal(phi * w, sd = 1)",
    // location and scale
    "data t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(mu, precision = tau)",
    // a join of an effect and a constant, multiplied from the left
    "data z: real[N]\ndata t: real[N]\nu ~ Normal(0, sd = 1) [N]\nlet f = [u, 1, z] * [2, 3, -1]\nt ~ Normal(f, sd = 1)",
    // dense and sparse coefficients side by side, of different nodes and of the same
    "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [D]\ne ~ Normal(0, sd = 1) [N]\nlet f = [x * w, e, z]\nt ~ Normal(f * [1, 2, 3], sd = 1)",
    "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [D]\nlet f = [x * w, w[1] * z, 2 * (x * w)]\nt ~ Normal(f * [1, 2, 3] + mean(x * w) - 0.5 * (x * w), sd = 1)",
];

struct Case {
    model: Model,
    bound: Bound,
    frozen: Frozen,
}

fn case(text: &str) -> Case {
    let model = model(text);
    let bound = bind_training(&model, &data(0, 7)).unwrap_or_else(|e| panic!("{text}\n{e:#?}")).value;
    let (frozen, _) = Frozen::learn(bound.inputs(&model), MEMORY).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    Case { model, bound, frozen }
}

fn gaussian_latents(model: &Model) -> Vec<(NodeId, Option<ExprId>)> {
    let latent = |n: &sbl::check::typed::Node| match &n.kind {
        NodeKind::Latent(dist) => gaussian_mean(dist).map(|mean| (n.id, mean)),
        _ => None,
    };
    model.nodes.iter().filter_map(latent).collect()
}

/// Values of all Gaussian latents at these innovations, by plain evaluation of their means.
fn at_innovations(
    inputs: Inputs<'_>,
    frozen: &Frozen,
    z: &BTreeMap<NodeId, DMatrix<f64>>,
) -> BTreeMap<NodeId, Arc<Value>> {
    let mut values = inputs.values.clone();
    let mut open = gaussian_latents(inputs.model);
    while !open.is_empty() {
        let before = open.len();
        open.retain(|(id, mean)| {
            let (rank, rows, cols) = inputs.shape(&inputs.model.node(*id).ty).unwrap();
            let array = match mean {
                None => DMatrix::zeros(rows, cols),
                Some(mean) => {
                    let inputs = Inputs { values: &values, ..inputs };
                    match Evaluator::new(inputs, frozen, MEMORY).eval(*mean, &Want::all()) {
                        Ok(m) if m.array.len() == 1 => DMatrix::from_element(rows, cols, m.array[0]),
                        Ok(m) => m.array.clone(),
                        Err(_) => return true,
                    }
                }
            };
            values.insert(*id, Arc::new(Value { rank, array: array + &z[id], labels: Vec::new() }));
            false
        });
        assert!(open.len() < before, "a circle");
    }
    values
}

fn innovations(inputs: Inputs<'_>, fill: &dyn Fn(NodeId, usize) -> f64) -> BTreeMap<NodeId, DMatrix<f64>> {
    let one = |(id, _): (NodeId, Option<ExprId>)| {
        let (_, rows, cols) = inputs.shape(&inputs.model.node(id).ty).unwrap();
        (id, DMatrix::from_fn(rows, cols, |i, j| fill(id, i + rows * j)))
    };
    gaussian_latents(inputs.model).into_iter().map(one).collect()
}

fn means(model: &Model) -> Vec<ExprId> {
    let observed = model.nodes.iter().filter(|n| n.is_observed());
    observed.filter_map(|n| gaussian_mean(n.dist()?).flatten()).collect()
}

#[test]
fn forms_agree_with_plain_evaluation() {
    for text in ZOO {
        let Case { model, bound, frozen } = case(text);
        let inputs = bound.inputs(&model);
        for e in means(&model) {
            let mut eval = Evaluator::new(inputs, &frozen, MEMORY);
            let form = affine(&mut eval, e, &Restrict::default()).unwrap_or_else(|x| panic!("{text}\n{x:?}"));
            let plain = |z: &BTreeMap<NodeId, DMatrix<f64>>| {
                let values = at_innovations(inputs, &frozen, z);
                let inputs = Inputs { values: &values, ..inputs };
                Evaluator::new(inputs, &frozen, MEMORY).eval(e, &Want::all()).unwrap().array.clone()
            };
            let zero = innovations(inputs, &|_, _| 0.0);
            let offset = plain(&zero);
            close(offset.as_slice(), &form.offset, text);
            // one innovation at a time
            for (node, _) in gaussian_latents(&model) {
                for i in 0..zero[&node].len() {
                    let mut z = zero.clone();
                    z.get_mut(&node).unwrap()[i] = 1.0;
                    let slope = plain(&z) - &offset;
                    let found = match form.coef(node) {
                        Some(coef) => coef.dense(MEMORY).unwrap().column(i).as_slice().to_vec(),
                        None => vec![0.0; form.len()],
                    };
                    close(slope.as_slice(), &found, text);
                }
            }
            // all at once
            let z = innovations(inputs, &|n, i| noise(n.index() + 40, i));
            let mut sum = form.offset.clone();
            for node in form.blocks() {
                let z = DMatrix::from_column_slice(z[&node].len(), 1, z[&node].as_slice());
                let part = form.coef(node).unwrap().dense(MEMORY).unwrap() * z;
                sum.iter_mut().zip(part.iter()).for_each(|(s, p)| *s += p);
            }
            close(plain(&z).as_slice(), &sum, text);
        }
    }
}

#[test]
fn kept_innovations_have_the_same_columns_and_need_only_their_training_rows() {
    for text in ZOO {
        let Case { model, bound, frozen } = case(text);
        let new = {
            let schema = bound.schema(&model);
            let schema = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
            bind_prediction(&model, &schema, &data(100, 5), false)
                .unwrap_or_else(|e| panic!("{text}\n{e:#?}"))
                .value
        };
        let fresh: BTreeSet<NodeId> =
            model.nodes.iter().map(|n| n.id).filter(|n| is_per_row(&model, *n)).collect();
        let inputs = new.inputs(&model);
        let mut restrict = Restrict { active: BTreeMap::new(), fresh };
        for e in means(&model) {
            let full = affine(&mut Evaluator::new(inputs, &frozen, MEMORY), e, &restrict).unwrap();
            for node in full.blocks() {
                // every second entry is kept
                let all = full.coef(node).unwrap().cols();
                restrict.active.insert(node, (0..all).filter(|i| i % 2 == 0).collect());
            }
            let mut eval = Evaluator::new(inputs, &frozen, MEMORY);
            let some = affine(&mut eval, e, &restrict).unwrap();
            let mut pruned = frozen.clone();
            pruned.prune(eval.asked());
            assert!(pruned.len() <= frozen.len());
            let read: Frozen = serde_json::from_str(&serde_json::to_string(&pruned).unwrap()).unwrap();
            assert_eq!(read, pruned);
            let again = affine(&mut Evaluator::new(inputs, &read, MEMORY), e, &restrict).unwrap();
            assert_eq!(again, some, "{text}");
            close(&some.offset, &full.offset, text);
            for node in full.blocks() {
                let (full, some) = (full.coef(node).unwrap(), some.coef(node).unwrap());
                let (full, some) = (full.dense(MEMORY).unwrap(), some.dense(MEMORY).unwrap());
                for (k, i) in restrict.active[&node].iter().enumerate() {
                    close(some.column(k).as_slice(), full.column(*i).as_slice(), text);
                }
            }
        }
    }
}

#[test]
fn a_kernel_keeps_only_the_rows_of_kept_weights() {
    let Case { model, bound, frozen } = case(ZOO[0]);
    let inputs = bound.inputs(&model);
    let w = model.find("w").unwrap();
    let restrict = Restrict { active: BTreeMap::from([(w, vec![0, 3, 6])]), fresh: BTreeSet::new() };
    let mut eval = Evaluator::new(inputs, &frozen, MEMORY);
    affine(&mut eval, means(&model)[0], &restrict).unwrap();
    let mut pruned = frozen.clone();
    pruned.prune(eval.asked());
    // two centres of three inputs each; entry 0 is the bias
    assert_eq!((frozen.len(), pruned.len()), (7 * 3, 2 * 3));
    // what was not kept is an error, not a number
    let all = affine(&mut Evaluator::new(inputs, &pruned, MEMORY), means(&model)[0], &Restrict::default());
    assert_eq!(all.unwrap_err().why, Why::NotKept);
}

#[test]
fn fresh_draws_of_rows_and_of_unseen_levels() {
    // one entry per row
    let Case { model, bound, frozen } = case(ZOO[10]);
    let e = model.find("e").unwrap();
    assert!(is_per_row(&model, e));
    let new = bind_prediction(&model, &bound.schema(&model), &data(50, 4), false).unwrap().value;
    let restrict = Restrict { active: BTreeMap::new(), fresh: BTreeSet::from([e]) };
    let mut eval = Evaluator::new(new.inputs(&model), &frozen, MEMORY);
    let form = affine(&mut eval, means(&model)[0], &restrict).unwrap();
    let (node, csr, draws) = form.fresh().next().unwrap();
    assert_eq!((node, draws.len()), (e, 4));
    for n in 0..4 {
        let z = new.values[&model.find("z").unwrap()].array[n];
        let [(k, coef)] = csr.row(n) else { panic!("one draw in each row") };
        assert_eq!(draws[*k], Draw::Entry(n));
        assert!((coef - (z + 1.0 / (1.0 + z * z))).abs() < 1e-15);
    }
    // a level that training never saw: its common mean m and a draw of its own
    let text = "data g: category[N]\ndata t: real[N]\nm ~ Normal(1, sd = 2)\nu ~ Normal(2 * m + 1, sd = 1) [levels(g)]\nt ~ Normal(3 * u[g], sd = 1)";
    let Case { model, bound, frozen } = case(text);
    let new = Data::new().words("g", &["q", "new", "p", "new"]).unwrap();
    let new = bind_prediction(&model, &bound.schema(&model), &new, false).unwrap();
    assert_eq!(new.warnings[0].code, "W0704");
    let mut eval = Evaluator::new(new.value.inputs(&model), &frozen, MEMORY);
    let form = affine(&mut eval, means(&model)[0], &Restrict::default()).unwrap();
    let dense = |name: &str| form.coef(model.find(name).unwrap()).unwrap().dense(MEMORY).unwrap();
    assert_eq!(form.offset, [9.0, 9.0, 9.0, 9.0]);
    assert_eq!(dense("m").as_slice(), [6.0, 6.0, 6.0, 6.0]);
    assert_eq!(dense("u").row(1).iter().copied().collect::<Vec<_>>(), [0.0, 0.0, 0.0]);
    let (_, csr, draws) = form.fresh().next().unwrap();
    assert_eq!(draws.len(), 2);
    assert_eq!((csr.row(0).len(), csr.row(1)[0].1, csr.row(3)[0].1), (0, 3.0, 3.0));
}

#[test]
fn what_is_not_linear_says_why() {
    for (mean, why) in [
        ("a * b", "a product of two unknowns"),
        ("z / a", "a division by an unknown"),
        ("exp(a)", "exp of an unknown"),
        ("a ^ 2", "pow of an unknown"),
        ("max(a, 0)", "max of an unknown"),
        ("a + l", "`l` is not Gaussian"),
    ] {
        let text = format!(
            "data z: real[N]\ndata t: real[N]\nl ~ Gamma(1, 1)\na ~ Normal(0, sd = 1)\nb ~ Normal(0, precision = l)\nt ~ Normal({mean}, sd = 1)"
        );
        let Case { model, bound, frozen } = case(&text);
        let mut eval = Evaluator::new(bound.inputs(&model), &frozen, MEMORY);
        let error = affine(&mut eval, means(&model)[0], &Restrict::default()).unwrap_err();
        assert_eq!(error.why, Why::NotLinear(why.to_owned()), "{mean}");
    }
}

#[test]
fn scales_agree_with_plain_evaluation() {
    for scale in [
        "precision = tau",
        "precision = 3 * tau * pos",
        "sd = sqrt(pos) / tau",
        "variance = 1 ./ (tau * pos)",
        "precision = a[g]",
        "precision = a[g] .* b[h] ./ pos",
        "sd = (2 * a[g])^(-0.5) / tau",
        "precision = pos",
        "precision = a[1] * tau^2",
        "precision = exp(2) * tau",
    ] {
        let text = format!(
            "data g: category[N]\ndata h: category[N]\ndata pos: positive[N]\ndata t: real[N]\ntau ~ Gamma(1, 1)\na ~ Gamma(1, 1) [levels(g)]\nb ~ Gamma(1, 1) [levels(h)]\nmu ~ Normal(a[1] * 0 * pos[1], precision = b[1] * tau * a[1])\nt ~ Normal(mu, {scale})"
        );
        let text = text.replace("a[1] * 0 * pos[1]", "0");
        let Case { model, bound, frozen } = case(&text);
        let t = model.nodes.iter().find(|n| n.is_observed()).unwrap();
        let e = t.dist().unwrap().args[1].value;
        let mut eval = Evaluator::new(bound.inputs(&model), &frozen, MEMORY);
        let form = log_linear(&mut eval, e).unwrap_or_else(|x| panic!("{scale} {x:?}"));
        let mut values = bound.values.clone();
        for name in ["tau", "a", "b"] {
            let id = model.find(name).unwrap();
            let (rank, rows, cols) = bound.inputs(&model).shape(&model.node(id).ty).unwrap();
            let array = DMatrix::from_fn(rows, cols, |i, _| 1.5 + noise(id.index(), i));
            values.insert(id, Arc::new(Value { rank, array, labels: Vec::new() }));
        }
        let inputs = Inputs { values: &values, ..bound.inputs(&model) };
        let plain = Evaluator::new(inputs, &frozen, MEMORY).eval(e, &Want::all()).unwrap();
        for i in 0..plain.array.len() {
            let entry = form.entry(i).unwrap();
            let power = |(node, k, p): &(NodeId, usize, f64)| p * values[node].array[*k].ln();
            let ln = entry.log_const + entry.powers.iter().map(power).sum::<f64>();
            assert!((ln.exp() / plain.array[i] - 1.0).abs() < 1e-13, "{scale}");
            assert!(entry.powers.is_sorted_by_key(|(n, k, _)| (*n, *k)));
        }
    }
}

#[test]
fn what_is_no_scale_says_why() {
    for (scale, why) in [
        ("precision = tau + rho", Why::NotLogLinear("a sum of scales".to_owned())),
        ("precision = exp(tau)", Why::NotLogLinear("Exp of a scale".to_owned())),
        ("precision = 0 * tau", Why::NotPositive(0, 0.0)),
    ] {
        let text = format!("data t: real[N]\ntau ~ Gamma(1, 1)\nrho ~ Gamma(1, 1)\nt ~ Normal(0, {scale})");
        let mut sources = SourceMap::new();
        let file = sources.add("test", &text);
        let module = sbl::syntax::parse::parse(file, &text).unwrap();
        // the checker refuses some of these by their support
        let Ok(checked) =
            sbl::check::check(&mut sources, &module.value, &Default::default(), &sbl::check::NoFiles)
        else {
            continue;
        };
        let model = &checked.value[0];
        let bound = bind_training(model, &data(0, 5)).unwrap().value;
        let frozen = Frozen::default();
        let e = model.nodes.iter().find(|n| n.is_observed()).unwrap().dist().unwrap().args[1].value;
        let error = log_linear(&mut Evaluator::new(bound.inputs(model), &frozen, MEMORY), e).unwrap_err();
        assert_eq!(error.why, why, "{scale}");
    }
}

#[test]
fn a_value_that_is_too_large_is_refused_before_it_is_made() {
    let Case { model, bound, frozen } = case(ZOO[0]);
    let mut eval = Evaluator::new(bound.inputs(&model), &frozen, 200);
    let error = affine(&mut eval, means(&model)[0], &Restrict::default()).unwrap_err();
    assert!(matches!(error.why, Why::Memory(wanted, 200) if wanted > 200), "{error:?}");
}

#[test]
fn what_is_not_finite_names_row_and_column() {
    let text = "data z: real[N]\ndata t: real[N]\nw ~ Normal(0, sd = 1) [2]\nlet phi = [1, log(z)]\nt ~ Normal(phi * w, sd = 1)";
    let model = model(&text.replace("log(z)", "1 ./ z"));
    let data = Data::new().vector("z", &[1.0, 2.0, 0.0]).unwrap().vector("t", &[0.0; 3]).unwrap();
    let bound = bind_training(&model, &data).unwrap().value;
    let frozen = Frozen::default();
    let mut eval = Evaluator::new(bound.inputs(&model), &frozen, MEMORY);
    let error = affine(&mut eval, means(&model)[0], &Restrict::default()).unwrap_err();
    assert_eq!(error.why, Why::NonFinite { row: 2, col: 1, value: f64::INFINITY });
}

fn close(found: &[f64], wanted: &[f64], text: &str) {
    assert_eq!(found.len(), wanted.len(), "{text}");
    for (f, w) in found.iter().zip(wanted) {
        assert!((f - w).abs() <= 1e-12 * (1.0 + w.abs()), "{text}\n{found:?}\n{wanted:?}");
    }
}
