//! Levels and counts from a data file to predictions, scores and draws.

use super::cli_run::Place;

/// Two classes that overlap, told apart by x; the labels are `yes` and `no`.
fn two_classes() -> Place {
    let place = Place::new();
    let mut data = String::from("x,t\n");
    for i in 0..40 {
        let x = f64::from(i) / 10.0 - 2.0;
        let success = x + 0.9 * (f64::from(i) * 37.0).sin() > 0.0;
        data += &format!("{x},{}\n", if success { "yes" } else { "no" });
    }
    place.file("d.csv", data).file("new.csv", "x\n-3\n0.05\n3\n").file(
        "m.sbl",
        "data x: real[N]\ndata t: bool[N]\nlet X = [1, x]\nw ~ Normal(0, precision = 0.1) [2]\n\
         t ~ Bernoulli(logit = X * w)\n",
    );
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit", "-q"]).exits(0);
    place
}

/// The cells of a CSV without quotes, by row.
fn rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

#[test]
fn two_levels_have_p_and_class() {
    let place = two_classes();
    let csv = rows(&place.run(&["predict", "m.sblfit", "--data", "new.csv"]).exits(0).out);
    assert_eq!(csv[0], ["p", "class", "outside"]);
    assert_eq!([&csv[1][1], &csv[3][1]], ["no", "yes"]);
    let p: Vec<f64> = csv[1..].iter().map(|r| number(&r[0])).collect();
    assert!(p[0] < 0.1 && p[2] > 0.9 && (0.3..0.7).contains(&p[1]), "{p:?}");
    let json = place.run(&["predict", "m.sblfit", "--data", "new.csv", "--format", "json"]).exits(0).json();
    assert_eq!(json["class"].as_array().unwrap()[0], "no");
    assert_eq!(json["p"].as_array().unwrap()[2].as_f64(), Some(p[2]));
    // p is averaged over the weights: nearer to ½ than the p of their means
    let fit = place.run(&["show", "m.sblfit", "--format", "json"]).exits(0).json();
    let w: Vec<f64> = serde_json::from_value(fit["nodes"]["w"]["mean"].clone()).unwrap();
    let plugged = 1.0 / (1.0 + (-w[0] - 3.0 * w[1]).exp());
    assert!(p[2] < plugged - 1e-4, "{} {plugged}", p[2]);
}

#[test]
fn classes_are_scored() {
    let place = two_classes();
    let csv = rows(&place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out);
    let truth = rows(&place.text("d.csv"));
    let both = || csv[1..].iter().zip(&truth[1..]).map(|(p, t)| (number(&p[0]), t[1] == "yes", p[1] == t[1]));
    let ran = place.run(&["score", "m.sblfit", "--data", "d.csv", "--format", "json"]).exits(0).json();
    let score = &ran["nodes"]["t"];
    let near = |name: &str, want: f64| {
        let got = score[name].as_f64().unwrap();
        assert!((got - want).abs() < 1e-12, "{name}: {got} {want}");
    };
    near("error_rate", both().filter(|(_, _, right)| !right).count() as f64 / 40.0);
    near("log_loss", both().map(|(p, yes, _)| -(if yes { p } else { 1.0 - p }).ln()).sum::<f64>() / 40.0);
    near("brier", both().map(|(p, yes, _)| (p - f64::from(yes)).powi(2)).sum::<f64>() / 40.0);
    let bins = score["calibration"].as_array().unwrap();
    assert_eq!(bins.iter().map(|b| b["rows"].as_u64().unwrap()).sum::<u64>(), 40);
    let text = place.run(&["score", "m.sblfit", "--data", "d.csv"]).exits(0).out;
    for says in ["error_rate", "log_loss", "brier", "probability  rows  predicted  observed", "0.9 to 1.0"] {
        assert!(text.contains(says), "{says} is not in\n{text}");
    }
    // far rows that were said to be certain are a finite loss
    let wrong =
        place.file("far.csv", "x,t\n60,no\n").run(&["score", "m.sblfit", "--data", "far.csv"]).exits(0).out;
    assert!(wrong.contains("1.000"), "{wrong}");
}

#[test]
fn draws_of_levels_are_levels() {
    let place = two_classes();
    let out = place.run(&["sample", "m.sblfit", "--data", "new.csv", "-n", "20", "--seed", "1"]).exits(0).out;
    let table = rows(&out);
    let at = table[0].iter().position(|n| n == "t.3").unwrap();
    assert!(table[1..].iter().all(|r| r[at] == "yes" || r[at] == "no"), "{out}");
    assert!(table[1..].iter().filter(|r| r[at] == "yes").count() > 15, "{out}");
}

#[test]
fn several_levels_have_a_p_each() {
    let place = Place::new();
    let mut data = String::from("x1,x2,c\n");
    for i in 0..60 {
        let (level, angle) =
            (["red", "green", "blue"][i % 3], (i % 3) as f64 * 2.1 + 0.7 * (i as f64 * 37.0).sin());
        data += &format!("{},{},{level}\n", 2.0 * angle.cos(), 2.0 * angle.sin());
    }
    place.file("d.csv", data).file(
        "m.sbl",
        "data x: real[N, D]\ndata c: category[N]\nW ~ Normal(0, precision = 0.5) [D, levels(c)]\n\
         c ~ Categorical(softmax = x * W)\n",
    );
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit", "-q"]).exits(0);
    let csv = rows(&place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out);
    assert_eq!(csv[0], ["p_blue", "p_green", "p_red", "class", "outside"]);
    for row in &csv[1..] {
        let p: Vec<f64> = row[..3].iter().map(|c| number(c)).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
        let best = (0..3).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
        assert_eq!(row[3], ["blue", "green", "red"][best]);
    }
    let score = place.run(&["score", "m.sblfit", "--data", "d.csv", "--format", "json"]).exits(0).json();
    assert!(score["nodes"]["c"]["error_rate"].as_f64().unwrap() < 0.1, "{score}");
    // the same prediction again, to the bit
    let again = rows(&place.run(&["predict", "m.sblfit", "--data", "d.csv"]).exits(0).out);
    assert_eq!(csv, again);
}

#[test]
fn ordered_levels_have_a_latent_value() {
    let place = Place::new();
    let mut data = String::from("x,y\n");
    for i in 0..45 {
        let x = f64::from(i) / 7.5 - 3.0;
        let latent = x + 0.5 * (f64::from(i) * 37.0).sin();
        data += &format!(
            "{x},{}\n",
            if latent < -1.0 {
                "poor"
            } else if latent < 1.0 {
                "fair"
            } else {
                "good"
            }
        );
    }
    place.file("d.csv", data).file("new.csv", "x\n-3\n0\n3\n").file(
        "m.sbl",
        "data x: real[N]\ndata y: ordered{poor < fair < good}[N]\nw ~ Normal(0, precision = 0.1)\n\
         let cut = [-2, 2]\ny ~ Ordinal(probit = x .* w, cutpoints = cut)\n",
    );
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit", "-q"]).exits(0);
    let csv = rows(&place.run(&["predict", "m.sblfit", "--data", "new.csv"]).exits(0).out);
    assert_eq!(csv[0], ["p_poor", "p_fair", "p_good", "class", "mean_latent", "sd_latent", "outside"]);
    assert_eq!([&csv[1][3], &csv[2][3], &csv[3][3]], ["poor", "fair", "good"]);
    let cells: Vec<f64> = csv[3][..3].iter().map(|c| number(c)).collect();
    let (mean, sd) = (number(&csv[3][4]), number(&csv[3][5]));
    // P(y = good) = 1 − Φ((2 − mean)/√(1 + sd²))
    let good = sbl::math::special::normal_cdf((mean - 2.0) / (1.0 + sd * sd).sqrt());
    assert!((cells[2] - good).abs() < 1e-12 && sd > 0.0, "{cells:?} {good}");
    let score = place.run(&["score", "m.sblfit", "--data", "d.csv", "--format", "json"]).exits(0).json();
    let score = score["nodes"]["y"].as_object().unwrap();
    assert_eq!(score.keys().collect::<Vec<_>>(), ["rows", "mae", "error_rate", "log_loss"]);
}

#[test]
fn counts_have_a_mean_and_a_deviation() {
    let place = Place::new();
    let mut data = String::from("x,y\n");
    for i in 0..30 {
        let x = f64::from(i) / 10.0;
        data += &format!("{x},{}\n", (x.exp() + 0.5 + 0.5 * (f64::from(i) * 37.0).sin()).floor());
    }
    place.file("d.csv", data).file("new.csv", "x\n1\n").file(
        "m.sbl",
        "data x: real[N]\ndata y: count[N]\nlet X = [1, x]\nw ~ Normal(0, precision = 0.01) [2]\n\
         y ~ Poisson(log = X * w)\n",
    );
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit", "-q"]).exits(0);
    let csv = rows(&place.run(&["predict", "m.sblfit", "--data", "new.csv"]).exits(0).out);
    assert_eq!(csv[0], ["mean", "sd", "outside"]);
    let (mean, sd) = (number(&csv[1][0]), number(&csv[1][1]));
    // more than the deviation of a Poisson of this mean: the rate is uncertain
    assert!((mean - 1f64.exp()).abs() < 0.7 && sd > mean.sqrt() && sd < 1.3 * mean.sqrt(), "{mean} {sd}");
    let score = place.run(&["score", "m.sblfit", "--data", "d.csv", "--format", "json"]).exits(0).json();
    let score = score["nodes"]["y"].as_object().unwrap();
    assert_eq!(score.keys().collect::<Vec<_>>(), ["rows", "rmse", "mae", "r2", "nlpd", "coverage"]);
    // intervals end on whole numbers: they hold at least their share of rows that were fitted
    let inside = |name: &str| score["coverage"][name].as_f64().unwrap();
    assert!(inside("50") >= 0.5 && inside("90") >= 0.9 && inside("95") >= inside("90"), "{score:?}");
}
