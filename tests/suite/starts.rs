//! Where fits start, by where they end.

use sbl::{Data, Fit, Model, Options};

/// Uniform numbers by Knuth's generator.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn fit(text: &str, data: &Data) -> Fit {
    let model = Model::compile(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    model.fit(data, &Options::default()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

#[test]
fn wide_kernels_do_not_leave_their_work_to_the_noise() {
    // the first problem of Friedman (1991), noise 1; a kernel so wide that its columns are much alike
    let mut u = Uniform(1);
    let (mut x, mut t) = (Vec::new(), Vec::new());
    for _ in 0..240 {
        let row: Vec<f64> = (0..10).map(|_| u.next()).collect();
        let noise = (0..12).map(|_| u.next()).sum::<f64>() - 6.0;
        let bent = 20.0 * (row[2] - 0.5).powi(2) + 10.0 * row[3] + 5.0 * row[4];
        t.push(10.0 * (std::f64::consts::PI * row[0] * row[1]).sin() + bent + noise);
        x.push(row);
    }
    let data = Data::new().rows("x", &x).unwrap().vector("t", &t).unwrap();
    let text = |infer: &str| {
        format!(
            "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\n\
             let phi = [1, rbf(standardize(x), width = 8)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
             t ~ Normal(phi * w, precision = tau)\ninfer {infer}\n"
        )
    };
    let (usual, best) = (fit(&text("evidence"), &data), fit(&text("evidence(restarts = 6)"), &data));
    assert!(usual.converged() && best.objective() >= usual.objective() - 1e-9);
    // from narrower priors, with the noise free at once, it ends 36 nats below
    assert!(usual.objective() > best.objective() - 15.0, "{} {}", usual.objective(), best.objective());
}

#[test]
fn cutpoints_of_separable_levels_come_to_rest() {
    // the toy problem of Herbrich, Graepel and Obermayer (2000) without noise: the scale grows and grows
    let mut u = Uniform(2);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..120 {
        let (a, b) = (u.next(), u.next());
        let f = 10.0 * (a - 0.5) * (b - 0.5);
        y.push((1 + [-1.0, -0.1, 0.25, 1.0].iter().filter(|c| f > **c).count()).to_string());
        x.push(vec![a, b]);
    }
    let data = Data::new().rows("x", &x).unwrap().words("y", &y).unwrap();
    let text = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N, D]\ndata y: ordered{1 < 2 < 3 < 4 < 5}[N]\n\
                let phi = rbf(standardize(x), width = 1.5)\nw ~ ard(cols(phi))\nparam cut: increasing[4]\n\
                y ~ Ordinal(probit = phi * w, cutpoints = cut)\ninfer sequential\n";
    let f = fit(text, &data);
    assert!(f.converged(), "{:?}", f.result().report);
    let scores = f.score(&data).unwrap();
    assert!(scores.nodes["y"]["error_rate"].as_f64().unwrap() < 0.03, "{:?}", scores.nodes);
}

#[test]
fn functions_that_explain_only_together_are_found_one_at_a_time_too() {
    // an oscillation under a wide kernel: no single function has gain
    let mut u = Uniform(3);
    let (mut x, mut t) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let at = 6.0 * u.next() - 3.0;
        x.push(at);
        t.push(f64::from(u.next() < 1.0 / (1.0 + (-4.0 * (3.0 * at).sin()).exp())));
    }
    let data = Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap();
    let text = |infer: &str| {
        format!(
            "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: bool[N]\n\
             let phi = [1, rbf(x, width = 1.5)]\nw ~ ard(cols(phi))\nt ~ Bernoulli(logit = phi * w)\ninfer {infer}\n"
        )
    };
    let (all, one) = (fit(&text("laplace"), &data), fit(&text("sequential"), &data));
    assert!(all.node("w").unwrap().mean().len() > 3);
    assert!((one.objective() - all.objective()).abs() < 1e-6, "{} {}", one.objective(), all.objective());
    // and it is said
    let report = &one.result().report;
    assert_eq!((one.result().plan.schedule.as_str(), report.restarts), ("sequential", 1));
    assert_eq!(report.schedule.as_deref(), Some("batch"));
    assert_eq!((all.result().report.restarts, all.result().report.schedule.as_deref()), (0, Some("batch")));
}

/// Classes of an oscillation, and a kernel whose width is learned.
fn oscillation(seed: u64, frequency: f64, infer: &str) -> Fit {
    let mut u = Uniform(seed);
    let (mut x, mut t) = (Vec::new(), Vec::new());
    for _ in 0..48 {
        let at = 6.0 * u.next() - 3.0;
        x.push(at);
        t.push(f64::from(u.next() < 1.0 / (1.0 + (-4.0 * (frequency * at).sin()).exp())));
    }
    let data = Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap();
    let text = format!(
        "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: bool[N]\nparam s: positive = 1.2\n\
         let phi = [1, rbf(x, width = s)]\nw ~ ard(cols(phi))\nt ~ Bernoulli(logit = phi * w)\ninfer {infer}\n"
    );
    fit(&text, &data)
}

#[test]
fn restarts_never_lower_the_evidence_where_a_width_is_learned() {
    for (seed, frequency) in [(2, 1.5), (6, 1.5), (9, 3.0)] {
        for plan in ["laplace", "sequential"] {
            let fits: Vec<Fit> =
                (0..3).map(|k| oscillation(seed, frequency, &format!("{plan}(restarts = {k})"))).collect();
            for pair in fits.windows(2) {
                let (fewer, more) = (pair[0].objective(), pair[1].objective());
                assert!(more >= fewer - 1e-6, "{seed} {plan}: {more} below {fewer}");
                assert!(pair[1].converged(), "{seed} {plan}: {:?}", pair[1].result().report);
            }
        }
    }
}

#[test]
fn a_width_is_learned_where_no_single_function_has_gain() {
    let (one, all) = (oscillation(10, 3.0, "sequential"), oscillation(10, 3.0, "laplace"));
    assert!(one.objective() >= all.objective() - 1e-6, "{} {}", one.objective(), all.objective());
    assert_eq!(one.result().report.schedule.as_deref(), Some("batch"));
}

#[test]
fn the_evidence_itself_leads_no_lower_than_the_rule_of_the_papers() {
    let text = |infer: &str| {
        format!(
            "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: category{{0, 1, 2}}[N]\nlet phi = [1, rbf(x, width = 0.7)]\n\
             w ~ ard(cols(phi), levels(t))\nt ~ Categorical(softmax = phi * w)\ninfer {infer}\n"
        )
    };
    for seed in [6, 7, 18, 22] {
        let mut u = Uniform(seed);
        let (mut x, mut t) = (Vec::new(), Vec::new());
        for _ in 0..50 {
            let at = 6.0 * u.next() - 3.0;
            x.push(at);
            let s = 3.0 * (2.0 * at).sin();
            let p = [1.0, s.exp(), (-s).exp()];
            let z = u.next() * p.iter().sum::<f64>();
            t.push(if z < p[0] {
                "0"
            } else if z < p[0] + p[1] {
                "1"
            } else {
                "2"
            });
        }
        let data = Data::new().vector("x", &x).unwrap().words("t", &t).unwrap();
        let (papers, exact) = (fit(&text("laplace"), &data), fit(&text("laplace(curvature = exact)"), &data));
        assert!(exact.converged(), "{seed}: {:?}", exact.result().report);
        assert!(
            exact.objective() > papers.objective(),
            "{seed}: {} {}",
            exact.objective(),
            papers.objective()
        );
    }
}

#[test]
fn a_width_at_which_nothing_is_relevant_is_told_how_to_go_on() {
    let (one, more) = (oscillation(11, 3.0, "sequential"), oscillation(11, 3.0, "sequential(restarts = 2)"));
    let told = one.result().warnings.iter().find(|w| w["code"] == "W0806").unwrap();
    assert!(told["help"].as_str().unwrap().contains("restarts = 2"), "{told}");
    assert!(more.objective() > one.objective() + 10.0, "{} {}", more.objective(), one.objective());
}
