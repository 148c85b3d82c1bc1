//! Right data: which columns are taken, levels, dimensions, missing targets, constants; names of columns.

use nalgebra::DMatrix;
use sbl::Data;
use sbl::check::dim::Atom;
use sbl::check::typed::Model;
use sbl::design::labels::{Labels, columns};
use sbl::design::{Evaluator, Frozen, Want};
use sbl::session::bind::{Bound, Schema, bind_prediction, bind_training, needed};

use super::errors_data::table;
use super::linear_forms::model;

fn bound(model: &Model, data: &Data) -> Bound {
    bind_training(model, data).unwrap_or_else(|e| panic!("{e:#?}")).value
}

fn values(model: &Model, bound: &Bound, name: &str) -> DMatrix<f64> {
    bound.values[&model.find(name).unwrap()].array.clone()
}

fn codes(model: &Model, data: &Data) -> Vec<&'static str> {
    bind_training(model, data).unwrap_or_else(|e| panic!("{e:#?}")).warnings.iter().map(|w| w.code).collect()
}

const X: &str = "data x: real[N, D]\ndata t: real[N]\nw ~ Flat() [D]\nt ~ Normal(x * w, sd = 1)";

#[test]
fn columns_of_a_matrix() {
    let took = |program: &str, data: &Data| {
        let model = model(program);
        bound(&model, data).columns[&model.find("x").unwrap()].clone()
    };
    let from = |clause: &str| X.replace("real[N, D]", &format!("real[N, D] {clause}"));
    let wide = table("id,x,a,b,t\n9,1,2,3,4\n9,5,6,7,8");
    assert_eq!(took(X, &wide), ["x"], "its own name comes first");
    assert_eq!(took(X, &table("x1,a,x2,t,x4\n1,2,3,4,5")), ["x1", "x2"], "then numbers, without a gap");
    assert_eq!(took(X, &table("x.1,t,x.2\n1,2,3")), ["x.1", "x.2"]);
    assert_eq!(took(X, &table("a,t,b\n1,2,3")), ["a", "b"], "then the rest, in the order of the data");
    assert_eq!(took(&from("from columns(\"b\", \"a\")"), &wide), ["b", "a"]);
    assert_eq!(
        took(&from("from except(\"id\")"), &wide),
        ["x", "a", "b"],
        "never a column that another names"
    );
    assert_eq!(took(&from("from column(\"a\")"), &wide), ["a"]);
    // a matrix of the host
    let host = Data::new().matrix("x", &DMatrix::zeros(2, 2)).unwrap().vector("t", &[1.0, 2.0]).unwrap();
    assert_eq!(took(X, &host), ["x.1", "x.2"]);
}

#[test]
fn dimensions_and_constants() {
    let text = "data x: real[N, D]\ndata centres: real[M, D]\ndata scale: positive\ndata t: real[N]\nw ~ Flat() [M]\nt ~ Normal(sqdist(x, centres) * w, sd = scale)";
    let model = model(text);
    let data = Data::new()
        .matrix("x", &DMatrix::from_fn(5, 2, |i, j| (i + j) as f64))
        .unwrap()
        .matrix("centres", &DMatrix::identity(3, 2))
        .unwrap()
        .scalar("scale", 2.0)
        .unwrap()
        .vector("t", &[1.0; 5])
        .unwrap();
    let bound = bound(&model, &data);
    let dim = |s: &str| bound.dims[&Atom::Symbol(s.to_owned())];
    assert_eq!((dim("N"), dim("D"), dim("M"), bound.rows), (5, 2, 3, 5));
    assert_eq!(bound.dims[&Atom::Train("N".to_owned())], 5);
    let constants: Vec<&str> = bound.constants.iter().map(|c| model.node(*c).name.as_str()).collect();
    assert_eq!(constants, ["centres", "scale"]);
    // kept with the fit, through JSON, and not asked for
    let schema: Schema =
        serde_json::from_str(&serde_json::to_string(&bound.schema(&model)).unwrap()).unwrap();
    let new = Data::new().matrix("x", &DMatrix::zeros(7, 2)).unwrap();
    let new = bind_prediction(&model, &schema, &new, false).unwrap().value;
    assert_eq!(new.dims[&Atom::Symbol("N".to_owned())], 7);
    assert_eq!(new.dims[&Atom::Train("N".to_owned())], 5);
    assert_eq!(values(&model, &new, "centres"), DMatrix::identity(3, 2));
    assert_eq!(values(&model, &new, "scale")[0], 2.0);
    // another width is a clash with the fit
    let other = Data::new().matrix("x", &DMatrix::zeros(7, 3)).unwrap();
    let found = bind_prediction(&model, &schema, &other, false).unwrap_err();
    assert_eq!((found[0].code, found[0].message.as_str()), ("E0707", "`x` has 3 columns, expected 2 (`D`)"));
}

#[test]
fn prediction_asks_for_what_it_needs() {
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata z: real[N]\ndata k: positive[N]\ndata t: real[N]\nlet phi = [1, rbf(x, width = 1), mean(train(z)) * x]\nw ~ ard(cols(phi))\nt ~ Normal(phi * w, sd = 1) weight k";
    let model = model(text);
    let names: Vec<&str> = needed(&model).iter().map(|n| model.node(*n).name.as_str()).collect();
    assert_eq!(names, ["x"], "not the target, not case weights, not what is frozen");
}

#[test]
fn a_model_without_inputs_predicts_as_many_rows_as_there_are() {
    let model = model("data t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1)");
    let schema = bound(&model, &table("t\n1\n2\n3")).schema(&model);
    let new = bind_prediction(&model, &schema, &table("id\n7\n8"), false).unwrap().value;
    assert_eq!((new.rows, new.dims[&Atom::Symbol("N".to_owned())]), (2, 2));
}

#[test]
fn levels() {
    let of = |ty: &str, cells: &str| {
        let model = model(&format!(
            "data g: {ty}[N]\ndata t: real[N]\nu ~ Normal(0, sd = 1) [levels(g)]\nt ~ Normal(u[g], sd = 1)"
        ));
        let rows: Vec<String> = cells.split(' ').map(|c| format!("{c},1")).collect();
        let bound = bound(&model, &table(&format!("g,t\n{}", rows.join("\n"))));
        let g = model.find("g").unwrap();
        (bound.levels[&g].join(" "), bound.values[&g].array.as_slice().to_vec())
    };
    assert_eq!(
        of("category", "b a c a"),
        ("a b c".to_owned(), vec![1.0, 0.0, 2.0, 0.0]),
        "words alphabetically"
    );
    assert_eq!(of("category", "10 9 -1"), ("-1 9 10".to_owned(), vec![2.0, 1.0, 0.0]), "numbers ascending");
    assert_eq!(of("category{b, a}", "a b"), ("b a".to_owned(), vec![1.0, 0.0]), "as stated");
    assert_eq!(of("category{2, 1}", "1 2"), ("2 1".to_owned(), vec![1.0, 0.0]), "numbers as stated");
    assert_eq!(
        of("ordered", "3 1 3 7"),
        ("1 3 7".to_owned(), vec![1.0, 0.0, 1.0, 2.0]),
        "whole numbers ascend"
    );
    assert_eq!(of("ordered{low < mid < high}", "high low mid").1, [2.0, 0.0, 1.0]);
}

#[test]
fn truth_has_many_forms() {
    let model = model("data b: bool[N]\nmu ~ Normal(0, sd = 1)\nb ~ Bernoulli(logit = mu)");
    let b = model.find("b").unwrap();
    for (cells, levels) in [
        ("0\n1", ["0", "1"]),
        ("0.0\n1.0", ["0", "1"]),
        ("false\ntrue", ["false", "true"]),
        ("No\nYES", ["No", "Yes"]),
        ("NO\nyes", ["NO", "YES"]),
    ] {
        let bound = bound(&model, &table(&format!("b\n{cells}")));
        assert_eq!(bound.values[&b].array.as_slice(), [0.0, 1.0], "{cells}");
        assert_eq!(bound.levels[&b], levels, "{cells}");
    }
    assert_eq!(codes(&model, &table("b\n1\n1\n1")), ["W0705"], "one label: the fit is the prior's");
}

#[test]
fn missing_targets_are_kept_and_reported() {
    let model = model(X);
    let warned = bind_training(&model, &table("x1,t\n1,2\n3,\n5,6\n7,")).unwrap();
    assert_eq!(warned.value.missing[&model.find("t").unwrap()], [1, 3]);
    assert_eq!(warned.value.rows, 4);
    let w = &warned.warnings[0];
    assert_eq!(w.code, "W0703");
    assert!(w.message.starts_with("2 values of the target `t` are missing"), "{}", w.message);
    assert_eq!(w.notes, ["row 2 (line 3), column `t`; row 4 (line 5), column `t`"]);
    // a target that is also read must be complete
    let lagged = super::linear_forms::model(
        "data t: real[N]\ndata s: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1)\ns ~ Normal(t, sd = 1)",
    );
    let found = bind_training(&lagged, &table("t,s\n1,2\n,3")).unwrap_err();
    assert_eq!(found[0].code, "E0705");
}

#[test]
fn few_rows_and_empty_levels_are_told() {
    let model = model(X);
    assert_eq!(codes(&model, &table("x1,t\n1,2")), ["W0706"]);
    assert_eq!(codes(&model, &table("x1,t\n1,2\n3,4\n5,6")), [""; 0]);
    let ordinal = super::linear_forms::model(
        "data y: ordered{low < mid < high}[N]\nparam c: increasing[levels(y) - 1]\nmu ~ Normal(0, sd = 1)\ny ~ Ordinal(probit = mu, cutpoints = c)",
    );
    let warned = bind_training(&ordinal, &table("y\nlow\nhigh\nhigh")).unwrap();
    assert_eq!(warned.warnings[0].message, "the data have no row of `y` with `mid`");
    assert_eq!(warned.value.levels[&ordinal.find("y").unwrap()].len(), 3);
}

#[test]
fn counts_may_be_large() {
    let model = model("data y: count[N]\nmu ~ Normal(0, sd = 1)\ny ~ Poisson(log = mu)");
    assert_eq!(values(&model, &bound(&model, &table("y\n1000000000\n0\n2")), "y")[0], 1e9);
}

#[test]
fn frozen_statistics_are_those_of_training() {
    let model =
        model("data x: real[N, D]\ndata t: real[N]\nw ~ Flat() [D]\nt ~ Normal(standardize(x) * w, sd = 1)");
    let training = bound(&model, &table("a,b,t\n1,7,1\n2,7,2\n3,7,2\n6,7,2"));
    let (frozen, notices) = Frozen::learn(training.inputs(&model), 1 << 20).unwrap();
    assert_eq!(notices.len(), 1);
    let new =
        bind_prediction(&model, &training.schema(&model), &table("a,b\n3,7\n10,9"), false).unwrap().value;
    let standardized = model.nodes.iter().find(|n| n.is_observed()).unwrap().dist().unwrap().args[0].value;
    let sbl::check::typed::ExprKind::MatMul(x, _) = model.expr(standardized).kind else {
        panic!("{:?}", model.expr(standardized))
    };
    let value = Evaluator::new(new.inputs(&model), &frozen, 1 << 20).eval(x, &Want::all()).unwrap();
    // a: mean 3, variance (4 + 1 + 0 + 9) / 4; b: constant, so 0 whatever comes
    let sd = 3.5f64.sqrt();
    let wanted = DMatrix::from_row_slice(2, 2, &[0.0, 0.0, 7.0 / sd, 0.0]);
    assert!((&value.array - wanted).amax() < 1e-15, "{}", value.array);
}

#[test]
fn names_of_columns_and_weights() {
    let data = table("age,bmi,z,g,h,t\n1,2,3,p,u,1\n4,5,6,q,v,2\n7,8,1,p,w,3\n2,1,2,q,u,4");
    let head = "use std.kernels.{rbf, linear}\nuse std.bases.{polynomial, interactions, quadratic, fourier}\ndata x: real[N, D] from columns(\"age\", \"bmi\")\ndata z: real[N]\ndata g: category[N]\ndata h: category[N]\ndata t: real[N]\n";
    let weights = |design: &str| {
        let model = model(&format!(
            "{head}let phi = {design}\nw ~ Normal(0, sd = 1) [cols(phi)]\nt ~ Normal(phi * w, sd = 1)"
        ));
        let bound = bound(&model, &data);
        let labels = Labels::of(bound.inputs(&model));
        labels
            .of_node(model.find("w").unwrap())
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" | ")
    };
    assert_eq!(weights("[1, x, z]"), "bias | age | bmi | z");
    assert_eq!(weights("[1, standardize(x)]"), "bias | age | bmi");
    assert_eq!(weights("[1, rbf(x, width = 2)]"), "bias | row 1 | row 2 | row 3 | row 4");
    assert_eq!(weights("linear(standardize(x))"), "row 1 | row 2 | row 3 | row 4");
    assert_eq!(weights("[onehot(g), x]"), "p | q | age | bmi");
    assert_eq!(weights("polynomial(x, 2)"), "age | age^2 | bmi | bmi^2");
    assert_eq!(weights("quadratic(x)"), "age | age^2 | bmi | bmi^2 | age*bmi");
    assert_eq!(weights("[x ^ 2, x .* x, log(z ^ 2 + 1)]"), "age^2 | bmi^2 | age^2 | bmi^2 | log(z^2 + 1)");
    assert_eq!(weights("[sin(2 * z), z / 10, -z, (z - 1) ^ 2]"), "sin(2 z) | z/10 | -z | (z - 1)^2");
    // entries of matrices, effects, precisions
    let text = format!(
        "{head}W ~ Normal(0, sd = 1) [D, levels(g)]\nl ~ Gamma(1, 1)\nu ~ Normal(0, precision = l) [levels(h)]\na ~ Gamma(1, 1) [D]\nv ~ Normal(0, precision = a)\nplate n in N {{\n t[n] ~ Normal(x[n] * W[_, g[n]] + u[h[n]] + x[n] * v, sd = 1)\n}}"
    );
    let model = model(&text.replace("x[n] * W[_, g[n]] + ", ""));
    let bound = bound(&model, &data);
    let labels = Labels::of(bound.inputs(&model));
    let of = |name: &str| {
        labels
            .of_node(model.find(name).unwrap())
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" | ")
    };
    assert_eq!(of("u"), "u | v | w");
    assert_eq!(of("v"), "age | bmi");
    assert_eq!(of("a"), "age | bmi");
    assert_eq!(of("l"), "");
}

#[test]
fn columns_of_an_expression_have_names() {
    let model = model(
        "data x: real[N, D] from columns(\"a\", \"b\")\ndata t: real[N]\nlet f = 2 * x\nw ~ Flat() [D]\nt ~ Normal(f * w, sd = 1)",
    );
    let bound = bound(&model, &table("a,b,t\n1,2,3"));
    let sbl::check::typed::NodeKind::Let { value, .. } = model.node(model.find("f").unwrap()).kind else {
        panic!()
    };
    let names: Vec<String> = columns(bound.inputs(&model), value).iter().map(ToString::to_string).collect();
    assert_eq!(names, ["2 a", "2 b"]);
}
