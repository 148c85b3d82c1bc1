//! Wrong data: code, message (with row, line and column) and help of what binding says.

use nalgebra::DMatrix;
use sbl::Data;
use sbl::data::Column;
use sbl::diag::Diagnostic;
use sbl::session::bind::{bind_inputs, bind_prediction, bind_training};

use super::linear_forms::model;

/// A table as if read from `d.csv`: names, then rows; empty cells are missing. The first row stands
/// on line 2.
pub fn table(text: &str) -> Data {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    let mut data = Data::new().named("d.csv").with_lines((0..rows.len() as u64).map(|i| i + 2).collect());
    for (j, name) in names.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().map(|r| r[j]).collect();
        let number = |c: &&str| if c.is_empty() { Some(f64::NAN) } else { c.parse().ok() };
        let column = match cells.iter().map(number).collect::<Option<Vec<f64>>>() {
            Some(numbers) => Column::Numbers(numbers),
            None => Column::Words(cells.iter().map(|c| (!c.is_empty()).then(|| (*c).into())).collect()),
        };
        assert!(data.insert(name, column));
    }
    data
}

/// Program, data, code, a part of the message or of the notes, a part of the help.
type Wrong = (&'static str, &'static str, &'static str, &'static str, &'static str);

const T: &str = "data t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1)";

const WRONG: &[Wrong] = &[
    // D1: rows
    (T, "t", "E0701", "d.csv has no rows", "at least one row"),
    // columns
    (T, "T\n1", "E0702", "d.csv has no column `t`", "did you mean `T`? write `from column(\"T\")`"),
    (T, "q\n1", "E0702", "its columns: `q`", "`data t: … from column(\"…\")`"),
    ("data t: real[N] from column(\"medv\")\nt ~ Normal(0, sd = 1)", "med\n1", "E0702", "`medv`", "`med`"),
    (
        "data x: real[N, D]\ndata t: real[N]\nt ~ Normal(sum(x), sd = 1)",
        "t\n1",
        "E0702",
        "no column is left for `x`",
        "from columns",
    ),
    (
        "data x: real[N, D] from columns(\"a\", \"b\")\ndata t: real[N]\nt ~ Normal(sum(x), sd = 1)",
        "a,t\n1,1",
        "E0702",
        "`b`",
        "from column",
    ),
    (
        "data x: real[N, D] from except(\"id\")\ndata t: real[N]\nt ~ Normal(sum(x), sd = 1)",
        "a,t\n1,1",
        "E0702",
        "`id`",
        "from column",
    ),
    (
        "data a: real[N, D]\ndata b: real[N, E]\ndata t: real[N]\nt ~ Normal(sum(a) + sum(b), sd = 1)",
        "u,v,t\n1,2,3\n1,2,3",
        "E0716",
        "`a` and `b` both take",
        "from columns",
    ),
    // D4: text, infinite, missing
    (
        "data z: real[N]\ndata t: real[N]\nt ~ Normal(z, sd = 1)",
        "z,t\n1,2\n3,4\nlow,6\n7,8",
        "E0703",
        "found `low` in row 3 (line 4), column `z`, expected a number",
        "--na low",
    ),
    (
        "data x: real[N, D]\ndata t: real[N]\nt ~ Normal(sum(x), sd = 1)",
        "id,a,t\nu1,1,2\nu2,3,4",
        "E0703",
        "found `u1` in row 1 (line 2), column `id`",
        "from except(\"id\")",
    ),
    (
        "data z: real[N]\ndata t: real[N]\nt ~ Normal(z, sd = 1)",
        "z,t\n1,2\ninf,4\n5,6",
        "E0706",
        "1 value of `z` is infinite: row 2 (line 3), column `z`",
        "leave the cell empty",
    ),
    (T, "t\n1\n-inf\n2", "E0706", "1 value of `t` is infinite", "leave the cell empty"),
    (
        "data z: real[N]\ndata t: real[N]\nt ~ Normal(z, sd = 1)",
        "z,t\n,1\n,1\n,1\n,1\n,1\n,1\n,1\n2,1",
        "E0705",
        "row 5 (line 6), column `z`; and 2 more (7 in all)",
        "fill the values in",
    ),
    (
        "data x: real[N, D]\ndata t: real[N]\nt ~ Normal(sum(x), sd = 1)",
        "a,b,t\n1,2,3\n4,,6\n,8,9",
        "E0705",
        "2 values of the input `x` are missing: row 2 (line 3), column `b`",
        "drop these rows",
    ),
    (
        "data k: positive[N]\ndata t: real[N]\nmu ~ Flat()\nt ~ Normal(mu, sd = 1) weight k",
        "k,t\n1,2\n,4",
        "E0705",
        "the input `k`",
        "fill",
    ),
    (T, "t\n\n\n", "E0712", "every value of the target `t` is missing", "at least one row"),
    // D13: counts; the other types
    (
        "data y: count[N]\nmu ~ Normal(0, sd = 1)\ny ~ Poisson(log = mu)",
        "y\n3\n-1\n2.5",
        "E0704",
        "found `-1` in row 2 (line 3), column `y`, expected a whole number of at least 0",
        "declare `real`",
    ),
    (
        "data y: count[N]\nmu ~ Normal(0, sd = 1)\ny ~ Poisson(log = mu)",
        "y\n3\n-1\n2.5",
        "E0704",
        "2 values outside the type: row 2 (line 3), column `y`; row 3 (line 4)",
        "",
    ),
    (
        "data s: positive[N]\ndata t: real[N]\nt ~ Normal(0, sd = s)",
        "s,t\n1,1\n0,1",
        "E0704",
        "found `0` in row 2 (line 3), column `s`, expected a number above 0",
        "",
    ),
    (
        "data p: unit[N]\ndata t: real[N]\nt ~ Normal(p, sd = 1)",
        "p,t\n1.5,1\n0,1",
        "E0704",
        "expected a number from 0 to 1",
        "",
    ),
    ("data k: int[N]\ndata t: real[N]\nt ~ Normal(k, sd = 1)", "k,t\n1.5,1\n0,1", "E0704", "found `1.5`", ""),
    (
        "data b: bool[N]\nmu ~ Normal(0, sd = 1)\nb ~ Bernoulli(logit = mu)",
        "b\nyes\nno\nmaybe",
        "E0704",
        "found `maybe` in row 3 (line 4), column `b`, expected 0 or 1, true or false, yes or no",
        "category with two levels",
    ),
    // indices of the program
    (
        "data x: real[N, D]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x[_, 9] * w, sd = 1)",
        "x1,x2,t\n1,2,3\n2,1,4",
        "E0714",
        "index 9 is outside 1 … 2 (`D`)",
        "write a number from 1 to 2",
    ),
    (
        "data x: real[N, D]\ndata t: real[N]\nw ~ Flat() [D]\nt ~ Normal(x[_, 1] * w[3], sd = 1)",
        "x1,x2,t\n1,2,3\n2,1,4",
        "E0714",
        "index 3 is outside 1 … 2 (`D`)",
        "write a number from 1 to 2",
    ),
    // D11: levels
    (
        "data y: ordered[N]\nparam c: increasing[levels(y) - 1]\nmu ~ Normal(0, sd = 1)\ny ~ Ordinal(probit = mu, cutpoints = c)",
        "y\nlow\nhigh\nmedium\nhigh",
        "E0709",
        "`y` is ordered, but its 3 levels have no stated order",
        "state the order, lowest first, as in `ordered{… < … < …}`; the levels are `low`, `high`, `medium`",
    ),
    (
        "data y: ordered[N]\nparam c: increasing[levels(y) - 1]\nmu ~ Normal(0, sd = 1)\ny ~ Ordinal(probit = mu, cutpoints = c)",
        "y\n1.5\n1\n10\n3",
        "E0709",
        "`y` is ordered, but its 4 levels have no stated order",
        "ordered{1 < \"1.5\" < 3 < 10}",
    ),
    (
        "data y: ordered{low < high}[N]\nparam c: increasing[levels(y) - 1]\nmu ~ Normal(0, sd = 1)\ny ~ Ordinal(probit = mu, cutpoints = c)",
        "y\nlow\nhihg",
        "E0710",
        "found the level `hihg` in row 2 (line 3), column `y`",
        "did you mean `high`?",
    ),
    (
        "data y: category[N]\nmu ~ Normal(0, sd = 1)\ny ~ Bernoulli(logit = mu)",
        "y\na\nb\nc",
        "E0711",
        "`y` has 3 levels, Bernoulli expects two",
        "merge levels",
    ),
    // sizes
    (
        "data x: real[N, 2]\ndata t: real[N]\nt ~ Normal(sum(x), sd = 1)",
        "x1,x2,x3,t\n1,2,3,4",
        "E0707",
        "`x` has 3 columns, expected 2",
        "from columns",
    ),
    (
        "data x: real[N, D]\ndata t: real[N]\nw ~ Flat() [3]\nt ~ Normal(x * w, sd = 1)",
        "x1,x2,t\n1,2,4\n3,4,5",
        "E0708",
        "`D` is 2, 3",
        "",
    ),
    (
        "data width: real\ndata t: real[N]\nt ~ Normal(width, sd = 1)",
        "width,t\n1,1\n1,2",
        "E0713",
        "column `width` holds 2 rows, expected one number",
        "real[N]",
    ),
    // D13 of indices
    (
        "data k: int[N]\ndata t: real[N]\nu ~ Normal(0, sd = 1) [3]\nt ~ Normal(u[k], sd = 1)",
        "k,t\n0,1\n1,2\n4,3",
        "E0714",
        "found index 0 in row 1 (line 2), column `k`, expected 1 to 3",
        "category[N]",
    ),
];

fn matches(d: &Diagnostic, code: &str, part: &str, help: &str) -> bool {
    let text = format!("{}\n{}", d.message, d.notes.join("\n"));
    d.code == code && text.contains(part) && d.help.as_deref().unwrap_or_default().contains(help)
}

#[test]
fn wrong_data() {
    for (program, data, code, part, help) in WRONG {
        let found = bind_training(&model(program), &table(data)).expect_err(program);
        assert!(found.iter().any(|d| matches(d, code, part, help)), "{program}\n{data}\n{found:#?}");
        for d in &found {
            assert!(d.help.is_some(), "no help: {d:#?}");
            assert!(!d.message.ends_with('.') && !d.message.starts_with(char::is_uppercase), "{}", d.message);
        }
    }
}

#[test]
fn all_errors_are_found_at_once() {
    let program = "data a: positive[N]\ndata b: count[N]\ndata c: real[N]\ndata t: real[N]\nt ~ Normal(a + b + c, sd = 1)";
    let found = bind_training(&model(program), &table("a,b,t\n-1,1,1\n1,x,inf")).unwrap_err();
    let codes: Vec<&str> = found.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["E0702", "E0704", "E0703", "E0706"]);
}

#[test]
fn both_declarations_are_named_when_sizes_clash() {
    let program = "data x: real[N]\ndata c: real[N]\ndata t: real[N]\nt ~ Normal(x + c, sd = 1)";
    let data = Data::new()
        .vector("x", &[1.0, 2.0])
        .unwrap()
        .vector("c", &[1.0; 3])
        .unwrap()
        .vector("t", &[1.0; 2])
        .unwrap();
    let model = model(program);
    let found = bind_training(&model, &data).unwrap_err();
    assert_eq!(found[0].code, "E0707");
    assert_eq!(found[0].message, "`c` has 3 rows, expected 2 (`N`)");
    assert_eq!(found[0].secondary[0].text, "`x` has 2 rows");
    assert_eq!(found[0].secondary[0].span, model.node(model.find("x").unwrap()).span);
}

#[test]
fn wrong_data_at_prediction() {
    let program = "data x: real[N, D]\ndata g: category[N]\ndata h: category[N]\ndata t: real[N]\nlet phi = [x, onehot(h)]\nw ~ Flat() [cols(phi)]\nu ~ Normal(0, sd = 1) [levels(g)]\nt ~ Normal(phi * w + u[g], sd = 1)";
    let model = model(program);
    let training = table("a,b,g,h,t\n1,2,p,u,1\n3,4,q,v,2\n5,6,p,v,3");
    let bound = bind_training(&model, &training).unwrap();
    assert_eq!(bound.warnings.iter().map(|w| w.code).collect::<Vec<_>>(), ["W0701"]);
    assert_eq!(bound.warnings[0].notes, ["`a`, `b`"]);
    let schema = bound.value.schema(&model);
    for (data, code, part) in [
        ("a,g,h\n1,p,u", "E0702", "d.csv has no column `b`"),
        ("a,b,g,h\n1,2,p,u\n1,,p,u", "E0705", "row 2 (line 3), column `b`"),
        ("a,b,g,h\n1,2,p,u\n1,2,p,w", "E0710", "found the level `w` in row 2 (line 3), column `h`"),
        ("a,b,g,h", "E0701", "d.csv has no rows"),
    ] {
        let found = bind_prediction(&model, &schema, &table(data), false).unwrap_err();
        assert!(found.iter().any(|d| matches(d, code, part, "")), "{data}\n{found:#?}");
    }
    // a level that only indexes an effect is a warning, with its rows
    let new = bind_prediction(&model, &schema, &table("b,a,more,h,g\n1,2,0,u,p\n1,2,0,u,z"), false).unwrap();
    assert_eq!(new.warnings[0].code, "W0704");
    assert!(new.warnings[0].notes[0].contains("row 2 (line 3), column `g`"));
    assert_eq!(new.value.rows, 2);
    let x = &new.value.values[&model.find("x").unwrap()];
    assert_eq!(
        x.array,
        DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 2.0, 1.0]),
        "columns by name, not by place"
    );
    // the target is not asked for, unless it is scored
    assert!(!new.value.values.contains_key(&model.find("t").unwrap()));
    assert_eq!(
        bind_prediction(&model, &schema, &table("a,b,g,h\n1,2,p,u"), true).unwrap_err()[0].code,
        "E0702"
    );
}

#[test]
fn a_decimal_comma_is_told() {
    for (cell, help) in [
        ("0,095", "numbers have a decimal point and no comma: write `0.095`"),
        ("-1,5e3", "write `-1.5e3`"),
        ("1,234", "write `1.234`, or `1234` if the comma separates thousands"),
    ] {
        let mut data = Data::new();
        assert!(data.insert("t", Column::Words(vec![Some(cell.into()), Some("2".into())])));
        let error = &bind_training(&model(T), &data).unwrap_err()[0];
        assert_eq!(error.code, "E0703");
        assert!(error.help.as_deref().unwrap_or_default().contains(help), "{error:?}");
    }
}

/// One error for all declarations, where there is no table at all.
#[test]
fn without_data_the_data_are_asked_for() {
    let model = model("data x: real[N]\ndata t: real[N]\nt ~ Normal(x, sd = 1)");
    let errors = bind_inputs(&model, &Data::new()).unwrap_err();
    let [only] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!((only.code, only.help.as_deref()), ("E0702", Some("give the data: `--data data.csv`")));
}

#[test]
fn what_evaluation_meets_is_told_in_the_words_of_the_data() {
    use sbl::design::{Evaluator, Frozen, Restrict, Want, affine, log_linear};
    use sbl::session::bind::{diagnose, warn};
    let text = "data z: real[N]\ndata v: real[N]\ndata t: real[N]\nw ~ Flat() [2]\nt ~ Normal([1, 1 ./ z] * w, variance = exp(v))";
    let model = model(text);
    let data = table("z,v,t\n1,1,1\n0,-1000,2");
    let bound = bind_training(&model, &data).unwrap().value;
    let frozen = Frozen::default();
    let dist = model.nodes.iter().find(|n| n.is_observed()).unwrap().dist().unwrap().clone();
    let (mean, scale) = (dist.args[0].value, dist.args[1].value);
    let mut eval = Evaluator::new(bound.inputs(&model), &frozen, 1 << 20);
    let told = diagnose(&model, Some(&data), &affine(&mut eval, mean, &Restrict::default()).unwrap_err());
    assert_eq!(
        (told.code, told.message.as_str()),
        ("E0717", "found inf in row 2 (line 3), column 2, expected a finite number")
    );
    let told = diagnose(&model, Some(&data), &log_linear(&mut eval, scale).unwrap_err());
    assert_eq!(told.code, "E0719");
    let mut small = Evaluator::new(bound.inputs(&model), &frozen, 10);
    let told = diagnose(&model, Some(&data), &small.eval(scale, &Want::all()).unwrap_err());
    assert_eq!(told.code, "E0718");
    // a latent has no value
    let mut eval = Evaluator::new(bound.inputs(&model), &frozen, 1 << 20);
    let told = diagnose(&model, Some(&data), &eval.eval(mean, &Want::all()).unwrap_err());
    assert_eq!((told.code, told.message.as_str()), ("E0720", "`w` has no value here"));
    // a constant column
    let text = "data x: real[N, D]\ndata t: real[N]\nw ~ Flat() [D]\nt ~ Normal(standardize(x) * w, sd = 1)";
    let model = super::linear_forms::model(text);
    let bound = bind_training(&model, &table("a,b,t\n1,7,1\n2,7,2\n3,7,2")).unwrap().value;
    let (_, notices) = Frozen::learn(bound.inputs(&model), 1 << 20).unwrap();
    let told: Vec<Diagnostic> = notices.iter().map(|n| warn(bound.inputs(&model), n)).collect();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].code, told[0].message.as_str()), ("W0702", "`b` is constant (7): standardised to 0"));
}

#[test]
fn data_of_the_host() {
    let twice = Data::new().vector("t", &[1.0]).unwrap().vector("t", &[1.0]).unwrap_err();
    assert_eq!(twice.diagnostics()[0].code, "E0715");
}
