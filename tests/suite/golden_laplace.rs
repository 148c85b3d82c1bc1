//! Golden cases of the Laplace plans: states, converged fits, through the runtime's own functions.

use std::ops::ControlFlow;

use nalgebra::DMatrix;
use sbl::dist::{Outcome, Support, family};
use sbl::plan::ir::{Options, Schedule};
use sbl::runtime::evidence::Budget;
use sbl::runtime::laplace::problem::{LaplaceProblem, Likelihood};
use sbl::runtime::laplace::solve::solve;
use sbl::runtime::laplace::state::{State, at};
use sbl::runtime::problem::{Hyper, Scale, WeightPrior};
use sbl::runtime::solution::{Solution, Stop};
use sbl::{Compiler, Data};

use crate::golden::{Golden, numbers};

/// One free precision a weight; `args` of one unit, the predictors `width` from `place`.
pub fn problem(
    name: &str,
    args: &[f64],
    place: usize,
    width: usize,
    values: Vec<f64>,
    design: DMatrix<f64>,
) -> LaplaceProblem {
    let (n, m) = (values.len(), design.ncols());
    let likelihood = Likelihood {
        family: family(name).unwrap(),
        place,
        width,
        counts: vec![1.0; n],
        args: (0..n).flat_map(|_| args.to_vec()).collect(),
        stride: args.len(),
        given: vec![true; args.len()],
        precision: None,
        values,
    };
    LaplaceProblem {
        terms: vec![likelihood],
        offset: vec![0.0; n * width],
        design,
        weights: (0..m)
            .map(|i| WeightPrior::Normal(Scale { log_const: 0.0, powers: vec![(i, 1.0)] }))
            .collect(),
        hypers: vec![Hyper { shape: 0.0, rate: 0.0, held: None }; m],
    }
}

/// Bernoulli or Poisson, link in the first or second place.
fn single(golden: &Golden, name: &str, place: usize) -> LaplaceProblem {
    let phi = golden.design(&golden.matrix("X"));
    problem(
        name,
        &[f64::NAN; 3][..if name == "Bernoulli" { 3 } else { 2 }],
        place,
        1,
        golden.vector("y"),
        phi,
    )
}

/// Ordered levels from 1, with these cutpoints and sd.
fn ordinal(golden: &Golden, cutpoints: &[f64], sd: f64) -> LaplaceProblem {
    let phi = golden.design(&golden.matrix("X"));
    let mut args = vec![f64::NAN; 2];
    args.extend(cutpoints);
    args.push(sd);
    problem("Ordinal", &args, 0, 1, golden.vector("y").iter().map(|y| y - 1.0).collect(), phi)
}

/// K classes: unit-major rows, weights class after class.
fn softmax(golden: &Golden) -> LaplaceProblem {
    let phi = golden.design(&golden.matrix("X"));
    let k = golden.number("classes") as usize;
    let (n, m) = phi.shape();
    let design =
        DMatrix::from_fn(n * k, m * k, |r, c| if r % k == c / m { phi[(r / k, c % m)] } else { 0.0 });
    problem("Categorical", &vec![f64::NAN; 2 * k], 0, k, golden.vector("y"), design)
}

/// Softmax of the scores at weights, class after class.
fn check_softmax(golden: &mut Golden, weights: &[f64]) {
    let phi = golden.design(&golden.matrix("X_star"));
    let (m, k) = (phi.ncols(), golden.number("classes") as usize);
    let mut all = Vec::new();
    for row in phi.row_iter() {
        let scores: Vec<f64> = (0..k).map(|c| (0..m).map(|i| row[i] * weights[c * m + i]).sum()).collect();
        let args: Vec<f64> = scores.iter().copied().chain(vec![f64::NAN; k]).collect();
        all.extend((0..k).map(|c| (family("Categorical").unwrap().log_density)(c as f64, &args).exp()));
    }
    golden.check("class_probs_plugin", &all);
}

fn options() -> Options {
    Options { min_gain: 0.0, ..Options::default() }
}

fn fit(problem: &LaplaceProblem, options: &Options) -> Solution {
    let solution = solve(problem, options, &Budget::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(solution.report.stop, Stop::Converged, "{:?}", solution.report);
    solution
}

fn mackay(state: &State) -> Vec<f64> {
    state.gamma.iter().zip(state.mean.iter()).map(|(g, w)| g / (w * w)).collect()
}

fn check_state(golden: &mut Golden, problem: &LaplaceProblem, state: &State) {
    golden.check("mode", state.mean.as_slice());
    golden.check("log_likelihood_at_mode", &[state.log_likelihood]);
    golden.check("log_evidence", &[state.log_evidence]);
    golden.check("delta", state.score.as_slice());
    golden.check("h", &state.curvature[0]);
    golden.check("gamma", &state.gamma);
    golden.check("Sigma", state.covariance.as_slice());
    golden.check("mackay_alpha", &mackay(state));
    golden.check("grad_log_alpha_fixedH", &state.held_gradient);
    golden.check("grad_log_alpha_exact", &state.gradient);
    let latent = check_latent(golden, state.mean.as_slice(), &state.covariance, &state.active);
    check_predictions(golden, problem, &latent);
}

fn check_latent(
    golden: &mut Golden,
    mean: &[f64],
    covariance: &DMatrix<f64>,
    active: &[usize],
) -> [Vec<f64>; 2] {
    let phi = golden.design(&golden.matrix("X_star")).select_columns(active);
    let mu = &phi * nalgebra::DVector::from_column_slice(mean);
    let v: Vec<f64> = phi.row_iter().map(|r| (r * covariance * r.transpose())[(0, 0)]).collect();
    golden.check("latent_mean_star", mu.as_slice());
    golden.check("latent_var_star", &v);
    [mu.as_slice().to_vec(), v]
}

/// Predictions averaged over the weights, and with the weights at their mode.
fn check_predictions(golden: &mut Golden, problem: &LaplaceProblem, [mu, v]: &[Vec<f64>; 2]) {
    let term = &problem.terms[0];
    let marginal = term.family.marginal.unwrap();
    for (averaged, levels, rate) in [
        (true, ["prob_exact", "class_probs_exact"], "rate_mean"),
        (false, ["prob_plugin", "class_probs_plugin"], "rate_plugin"),
    ] {
        let (mut probabilities, mut means) = (Vec::new(), Vec::new());
        for (mu, v) in mu.iter().zip(v) {
            let mut args = term.args[..term.stride].to_vec();
            args[term.place] = *mu;
            let v = if averaged { *v } else { 0.0 };
            match marginal.outcome {
                Outcome::Levels(f) => {
                    probabilities.push(f(&args, &[v]).iter().map(|p| p.exp()).collect::<Vec<_>>())
                }
                Outcome::Number(n) => means.push((n.moments)(&args, &[v]).mean),
            }
        }
        if !means.is_empty() {
            golden.check(rate, &means);
        } else if term.family.support == Support::Binary {
            golden.check(levels[0], &probabilities.iter().map(|p| p[1]).collect::<Vec<_>>());
        } else if golden.has(levels[1]) {
            golden.check(levels[1], &probabilities.concat());
        }
    }
}

/// What is no part of the product: MacKay's approximation, targets of the equivalent regression.
const SKIPPED: [&str; 3] = ["prob_mackay", "t_hat", "log_evidence_7118"];

#[test]
fn states() {
    for (file, name, place) in [
        ("O11_logit_state", "Bernoulli", 0),
        ("O13_logit_separable", "Bernoulli", 0),
        ("O14_probit_state", "Bernoulli", 1),
        ("O16_poisson_state", "Poisson", 0),
    ] {
        let mut golden = Golden::read(file);
        let problem = single(&golden, name, place);
        let state = at(&problem, &options(), &golden.vector("alpha")).unwrap();
        check_state(&mut golden, &problem, &state);
        golden.finish(&SKIPPED);
    }
}

#[test]
fn ordinal_state() {
    let mut golden = Golden::read("O23_ordinal_state");
    let (b1, delta, sd) = (golden.number("b1"), golden.vector("Delta"), golden.number("sigma"));
    let cutpoints = [b1, b1 + delta[0]];
    let problem = ordinal(&golden, &cutpoints, sd);
    let state = at(&problem, &options(), &golden.vector("alpha")).unwrap();
    check_state(&mut golden, &problem, &state);
    golden.check("thresholds", &cutpoints);
    let by = |place: usize| state.adjoint.args[0].iter().skip(place).step_by(5).sum::<f64>();
    // b_1 moves both cutpoints, Delta_2 the second
    golden.check("grad_theta_exact", &[by(2) + by(3), by(3), by(4)]);
    golden.finish(&["grad_theta_explicitH", "grad_theta_fixedH"]);
}

#[test]
fn softmax_state() {
    let mut golden = Golden::read("O27_softmax_state");
    let alpha: Vec<f64> = golden.matrix("alpha").transpose().as_slice().to_vec();
    let state = at(&softmax(&golden), &options(), &alpha).unwrap();
    golden.check("mode", state.mean.as_slice());
    golden.check("Sigma", state.covariance.as_slice());
    golden.check("log_evidence", &[state.log_evidence]);
    golden.check("gamma", &state.gamma);
    golden.check("mackay_alpha", &mackay(&state));
    golden.check("grad_log_alpha_fixedH", &state.held_gradient);
    golden.check("grad_log_alpha_exact", &state.gradient);
    let tied: Vec<f64> = (0..3)
        .map(|i| {
            let over = |f: &dyn Fn(usize) -> f64| (0..3).map(|k| f(3 * k + i)).sum::<f64>();
            over(&|j| state.gamma[j]) / over(&|j| state.mean[j] * state.mean[j])
        })
        .collect();
    golden.check("tied_alpha", &tied);
    check_softmax(&mut golden, state.mean.as_slice());
    golden.finish(&[]);
}

#[test]
fn converged_by_both_schedules() {
    for schedule in [Schedule::Batch, Schedule::Sequential] {
        for (file, name, place) in [
            ("O12_logit_converged", "Bernoulli", 0),
            ("O15_probit_converged", "Bernoulli", 1),
            ("O17_poisson_converged", "Poisson", 0),
        ] {
            let mut golden = Golden::read(file);
            let problem = single(&golden, name, place);
            let solution = fit(&problem, &Options { schedule, ..options() });
            let alpha: Vec<f64> = solution.active.iter().map(|&i| solution.hypers[i]).collect();
            golden.check("active", &solution.active.iter().map(|i| *i as f64).collect::<Vec<_>>());
            golden.check("alpha", &alpha);
            golden.check("mode", solution.mean.as_slice());
            golden.check("log_evidence", &[solution.log_evidence]);
            let latent =
                check_latent(&mut golden, solution.mean.as_slice(), &solution.covariance, &solution.active);
            check_predictions(&mut golden, &problem, &latent);
            golden.finish(&SKIPPED);
        }
    }
}

#[test]
fn softmax_converged() {
    let mut golden = Golden::read("O34_softmax_converged");
    let solution = fit(&softmax(&golden), &options());
    let mut mask = vec![0.0; 15];
    let mut weights = vec![0.0; 15];
    for (at, &i) in solution.active.iter().enumerate() {
        (mask[i], weights[i]) = (1.0, solution.mean[at]);
    }
    let alpha: Vec<f64> = solution.active.iter().map(|&i| solution.hypers[i]).collect();
    golden.check("mask", &mask);
    golden.check("alpha_kept", &alpha);
    golden.check("weights", &weights);
    golden.check("log_evidence", &[solution.log_evidence]);
    check_softmax(&mut golden, &weights);
    golden.finish(&[]);
}

/// At the golden cutpoints the precisions are at their fixed point and the evidence is flat in them.
#[test]
fn ordinal_converged_at_its_cutpoints() {
    let mut golden = Golden::read("O24_ordinal_converged");
    let cutpoints = numbers(golden.expected("thresholds"));
    let problem = ordinal(&golden, &cutpoints, 1.0);
    let solution = fit(&problem, &options());
    let alpha: Vec<f64> = solution.active.iter().map(|&i| solution.hypers[i]).collect();
    golden.check("active", &solution.active.iter().map(|i| *i as f64).collect::<Vec<_>>());
    golden.check("alpha", &alpha);
    golden.check("mode", solution.mean.as_slice());
    golden.check("log_evidence", &[solution.log_evidence]);
    let state = at(&problem, &options(), &solution.hypers).unwrap();
    for place in 2..5 {
        let by: f64 = state.adjoint.args[0].iter().skip(place).step_by(6).sum();
        assert!(by.abs() < 1e-4, "{by}");
    }
    let phi = golden.design(&golden.matrix("X_star")).select_columns(&solution.active);
    let mu = &phi * &solution.mean;
    let v = phi.row_iter().map(|r| (r * &solution.covariance * r.transpose())[(0, 0)]).collect();
    check_predictions(&mut golden, &problem, &[mu.as_slice().to_vec(), v]);
    golden.finish(&["thresholds"]);
}

/// The same by a program. The cutpoints of the file are free beside columns that are not centred, which the language does
/// not have: here they are given, and no step from them raises the evidence.
#[test]
fn ordinal_converged_by_a_program() {
    let mut golden = Golden::read("O24_ordinal_converged");
    let cutpoints = numbers(golden.expected("thresholds"));
    let levels: Vec<String> = golden.vector("y").iter().map(f64::to_string).collect();
    let [x, new] = ["X", "X_star"].map(|name| golden.matrix(name).as_slice().to_vec());
    let data = Data::new().vector("x", &x).unwrap().words("t", &levels).unwrap();
    let fit = |weights: &str, cutpoints: &[f64]| {
        let text = format!(
            "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: ordered[N]\n\
             let phi = rbf(x, centres = [-3, -1, 1, 3], width = 1.5)\n{weights}\n\
             t ~ Ordinal(probit = phi * w, cutpoints = {cutpoints:?})\ninfer laplace\n"
        );
        Compiler::new().compile(&text).unwrap().fit(&data, &sbl::Options::default()).unwrap()
    };
    let here = fit("w ~ ard(cols(phi))", &cutpoints);
    let w = here.node("w").unwrap();
    let alpha = here.node("w.alpha").unwrap().value.unwrap().as_slice().to_vec();
    let active = w.active.clone().unwrap();
    assert_eq!(w.labels.as_deref(), Some(&["at -1".to_owned(), "at 1".to_owned()][..]));
    golden.check("active", &active.iter().map(|i| *i as f64).collect::<Vec<_>>());
    golden.check("alpha", &alpha);
    golden.check("mode", w.mean());
    golden.check("log_evidence", &[here.objective()]);
    let predicted = here.predict(&Data::new().vector("x", &new).unwrap()).unwrap();
    let by_level: Vec<Vec<f64>> =
        (1..=4).map(|level| predicted.node("t").unwrap().probability(&level.to_string()).unwrap()).collect();
    let by_row: Vec<f64> = (0..5).flat_map(|row| by_level.iter().map(move |p| p[row])).collect();
    golden.check("class_probs_exact", &by_row);
    golden.finish(&["thresholds"]);

    let held = |cutpoints: &[f64]| {
        let precision = format!("[1e12, {}, {}, 1e12]", alpha[0], alpha[1]);
        fit(&format!("w ~ Normal(0, precision = {precision})"), cutpoints).objective()
    };
    for j in 0..3 {
        let at = |step: f64| {
            let mut moved = cutpoints.clone();
            moved[j] += step;
            held(&moved)
        };
        assert!((at(1e-3) - at(-1e-3)).abs() < 2e-3 * 1e-4 && at(0.1).max(at(-0.1)) < at(0.0), "{j}");
    }
}

/// The maximum of the Laplace evidence, by its exact gradient, beside the papers' rule.
#[test]
fn exact_maxima() {
    for (file, name, place) in [
        ("O12_logit_converged", "Bernoulli", 0),
        ("O15_probit_converged", "Bernoulli", 1),
        ("O17_poisson_converged", "Poisson", 0),
    ] {
        let golden = Golden::read(file);
        let mut problem = single(&golden, name, place);
        let kept = numbers(golden.expected("active"));
        for (i, hyper) in problem.hypers.iter_mut().enumerate() {
            // on the support of the golden file
            if !kept.contains(&(i as f64)) {
                hyper.held = Some(1e12);
            }
        }
        let options = Options { curvature: sbl::plan::ir::Curvature::Exact, ..options() };
        let solution = fit(&problem, &options);
        let want = golden.expected("log_evidence_exact_maximum").as_f64().unwrap();
        assert!((solution.log_evidence - want).abs() < 1e-6, "{file}: {} {want}", solution.log_evidence);
        for (i, want) in kept.iter().zip(numbers(golden.expected("alpha_exact_maximum"))) {
            let got = solution.hypers[*i as usize];
            assert!((got - want).abs() < 1e-3 * want, "{file}: {got} {want}");
        }
    }
}

/// Derivatives by design, offsets and known precisions, against central differences of the evidence.
#[test]
fn adjoints_are_derivatives() {
    let golden = Golden::read("O23_ordinal_state");
    let alpha = golden.vector("alpha");
    let problem = ordinal(&golden, &[-0.6, 0.7], 0.8);
    let evidence = |p: &LaplaceProblem| at(p, &options(), &alpha).unwrap().log_evidence;
    let adjoint = at(&problem, &options(), &alpha).unwrap().adjoint;
    let near = |got: f64, change: &dyn Fn(&mut LaplaceProblem, f64)| {
        let with = |step: f64| {
            let mut p = problem.clone();
            change(&mut p, step);
            evidence(&p)
        };
        let want = (with(1e-5) - with(-1e-5)) / 2e-5;
        assert!((got - want).abs() < 1e-8, "{got} {want}");
    };
    for r in 0..9 {
        near(adjoint.offset[r], &|p, s| p.offset[r] += s);
        for j in 0..3 {
            near(adjoint.design[(r, j)], &|p, s| p.design[(r, j)] += s);
        }
        for place in 2..5 {
            near(adjoint.args[0][r * 5 + place], &|p, s| p.terms[0].args[r * 5 + place] += s);
        }
    }
    for j in 0..3 {
        near(adjoint.weight_log[j], &|p, s| {
            if let WeightPrior::Normal(scale) = &mut p.weights[j] {
                scale.log_const += s;
            }
        });
    }
    // several predictors a unit
    let golden = Golden::read("O27_softmax_state");
    let alpha: Vec<f64> = golden.matrix("alpha").transpose().as_slice().to_vec();
    let problem = softmax(&golden);
    let adjoint = at(&problem, &options(), &alpha).unwrap().adjoint;
    for (r, j) in [(0, 0), (4, 1), (7, 4), (20, 8)] {
        let with = |step: f64| {
            let mut p = problem.clone();
            p.design[(r, j)] += step;
            at(&p, &options(), &alpha).unwrap().log_evidence
        };
        let want = (with(1e-5) - with(-1e-5)) / 2e-5;
        assert!((adjoint.design[(r, j)] - want).abs() < 1e-8, "{} {want}", adjoint.design[(r, j)]);
    }
}
