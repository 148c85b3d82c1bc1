//! Predictive distributions under Gaussian linear predictors, over every family that has one: against
//! brute-force quadrature, with themselves, and against golden values.

use sbl::dist::{ArgShape, FAMILIES, Family, Marginal, Outcome, Support, family};
use sbl::math::special::{ln_phi, log_sum_exp};

use super::golden::Golden;

/// Argument values with a predictor of this mean; every other one has a plain value.
fn args(family: &Family, predictor: &str, mean: f64) -> Vec<f64> {
    let mut args = Vec::new();
    let link = |name: &str| family.marginal.is_some_and(|m| m.predictors.contains(&name));
    for arg in family.args {
        match (arg.name, arg.shape) {
            (name, ArgShape::PerLevel) if name == predictor => args.extend([mean, 0.4, -0.3]),
            (_, ArgShape::PerLevel) => args.extend([f64::NAN; 3]),
            (_, ArgShape::Cutpoints) => args.extend([-1.0, -0.99, 2.5]),
            (name, _) if name == predictor => args.push(mean),
            (name, _) if link(name) => args.push(f64::NAN),
            ("precision", _) => args.push(4.0),
            ("dof", _) => args.push(3.0),
            ("sd", _) if family.support == Support::Ordered => args.push(0.8),
            _ => args.push(f64::NAN),
        }
    }
    args
}

/// Every family with a marginal, and each of its predictors that is one number.
fn cases() -> impl Iterator<Item = (&'static Family, Marginal, &'static str)> {
    FAMILIES.iter().filter_map(|f| f.marginal.map(|m| (*f, m))).flat_map(|(f, m)| {
        let single =
            |name: &&'static str| f.args.iter().any(|a| a.name == *name && a.shape == ArgShape::Node);
        m.predictors.iter().copied().filter(single).map(move |p| (f, m, p)).collect::<Vec<_>>()
    })
}

/// ln ∫ exp g(f) N(f | mean, v) df by a trapezoidal rule far finer than needed.
fn brute(mean: f64, v: f64, g: impl Fn(f64) -> f64) -> f64 {
    // a wide Gaussian needs small steps, a narrow one is far from where the values pull it
    let (sd, step, most) = if v > 1.0 { (v.sqrt(), 0.002, 12_000) } else { (v.sqrt(), 0.01, 15_000) };
    let terms: Vec<f64> = (-most..=most)
        .map(|i| f64::from(i) * step)
        .map(|z| g(mean + sd * z) + step.ln() + ln_phi(z))
        .collect();
    log_sum_exp(&terms)
}

fn values(family: &Family) -> Vec<f64> {
    match family.support {
        Support::Binary => vec![0.0, 1.0],
        Support::Levels | Support::Ordered => vec![0.0, 1.0, 2.0, 3.0],
        Support::Elem(sbl::dist::Elem::Count) => vec![0.0, 1.0, 3.0, 40.0, 2000.0],
        Support::Elem(_) => vec![-30.0, -1.0, 0.1, 0.5, 2.0, 70.0],
    }
}

fn log_predictive(marginal: &Marginal, value: f64, args: &[f64], variance: &[f64]) -> f64 {
    match marginal.outcome {
        Outcome::Levels(f) => f(args, variance)[value as usize],
        Outcome::Number(n) => (n.log_density)(value, args, variance),
    }
}

#[test]
fn families_with_linear_predictors_have_marginals() {
    for name in ["Normal", "StudentT", "Bernoulli", "Ordinal", "Categorical", "Poisson"] {
        assert!(family(name).unwrap().marginal.is_some(), "{name}");
    }
}

#[test]
fn averaged_over_the_predictor() {
    for (family, marginal, predictor) in cases() {
        for mean in [-3.0, 0.2, 4.0] {
            for v in [0.01, 1.0, 30.0] {
                let at = args(family, predictor, mean);
                for value in values(family) {
                    let got = log_predictive(&marginal, value, &at, &[v]);
                    let want = brute(mean, v, |f| (family.log_density)(value, &args(family, predictor, f)));
                    let what = format!("{} {predictor} {mean} {v} {value}", family.name);
                    assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{what}: {got} {want}");
                }
            }
        }
    }
}

#[test]
fn without_variance_the_density_itself() {
    for (family, marginal, predictor) in cases() {
        let at = args(family, predictor, 0.7);
        for value in values(family) {
            let want = (family.log_density)(value, &at);
            for variance in [&[0.0][..], &[]] {
                let got = log_predictive(&marginal, value, &at, variance);
                assert!(
                    (got - want).abs() < 1e-12 * want.abs().max(1.0),
                    "{} {value}: {got} {want}",
                    family.name
                );
            }
        }
    }
}

/// Levels sum to 1, numbers have the moments that they state, and distributions are integrals of densities.
#[test]
fn sums_and_moments() {
    for (family, marginal, predictor) in cases() {
        for (mean, v) in [(-1.0, 0.3), (0.5, 6.0)] {
            let at = args(family, predictor, mean);
            match marginal.outcome {
                Outcome::Levels(f) => {
                    let total: f64 = f(&at, &[v]).iter().map(|p| p.exp()).sum();
                    assert!((total - 1.0).abs() < 1e-12, "{} {predictor}: {total}", family.name);
                }
                Outcome::Number(n) => {
                    let moments = (n.moments)(&at, &[v]);
                    let is_count = family.support == Support::Elem(sbl::dist::Elem::Count);
                    if is_count {
                        continue;
                    }
                    assert_eq!(moments.mean, mean);
                    assert_eq!(moments.sd_mean, Some(v.sqrt()));
                    let (step, cdf) = (0.01, n.distribution.unwrap());
                    let mut total = 0.0;
                    for i in 0..1000 {
                        let y = mean - 5.0 + step * (f64::from(i) + 0.5);
                        total += step * (n.log_density)(y, &at, &[v]).exp();
                    }
                    let want = cdf(mean + 5.0, &at, &[v]) - cdf(mean - 5.0, &at, &[v]);
                    assert!((total - want).abs() < 1e-5, "{}: {total} {want}", family.name);
                    assert!((cdf(mean, &at, &[v]) - 0.5).abs() < 1e-10, "{}", family.name);
                }
            }
        }
    }
}

#[test]
fn moments_of_a_count_with_an_uncertain_rate() {
    let family = family("Poisson").unwrap();
    let Outcome::Number(n) = family.marginal.unwrap().outcome else { panic!() };
    let at = args(family, "log", 0.4);
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for y in 0..3000 {
        let p = (n.log_density)(f64::from(y), &at, &[0.5]).exp();
        sum += p;
        first += p * f64::from(y);
        second += p * f64::from(y).powi(2);
    }
    let moments = (n.moments)(&at, &[0.5]);
    assert!((sum - 1.0).abs() < 1e-10, "{sum}");
    assert!((moments.mean - first).abs() < 1e-8 && (moments.mean - 0.65f64.exp()).abs() < 1e-14);
    assert!((moments.sd - (second - first * first).sqrt()).abs() < 1e-6, "{}", moments.sd);
    // a rate that is certain to be large: the integrand is much narrower than the Gaussian
    let far = args(family, "log", 300.0);
    assert!((n.log_density)(0.0, &far, &[1.0]).is_finite());
}

/// The deviation of heavy tails, honestly: none at all, infinite, finite.
#[test]
fn deviations_of_heavy_tails() {
    let family = family("StudentT").unwrap();
    let Outcome::Number(n) = family.marginal.unwrap().outcome else { panic!() };
    let sd = |dof: f64| (n.moments)(&[1.0, dof, 4.0, f64::NAN], &[0.5]).sd;
    assert!(sd(1.0).is_nan());
    assert_eq!(sd(2.0), f64::INFINITY);
    assert!((sd(4.0) - 1.0).abs() < 1e-15);
    // with many degrees of freedom the normal
    let normal = (family_of("Normal").log_density)(2.5, &[1.0, f64::NAN, 0.75, f64::NAN]);
    let student = (n.log_density)(2.5, &[1.0, 1e7, 4.0, f64::NAN], &[0.5]);
    assert!((normal - student).abs() < 1e-6, "{normal} {student}");
}

fn family_of(name: &str) -> &'static Family {
    family(name).unwrap()
}

/// Two levels of a softmax are a logit; two ordered levels are a Bernoulli.
#[test]
fn families_agree_on_two_levels() {
    let levels = |name: &str, args: &[f64], variance: &[f64]| {
        let Outcome::Levels(f) = family_of(name).marginal.unwrap().outcome else { panic!() };
        f(args, variance)
    };
    let nan = f64::NAN;
    let softmax = levels("Categorical", &[0.3, 1.5, nan, nan], &[2.0, 0.5, 0.5, 1.0]);
    let logit = levels("Bernoulli", &[1.2, nan, nan], &[2.0]);
    assert_eq!(softmax, logit);
    for (at, v) in [(0, 3.0), (1, 50.0)] {
        let mut bernoulli = [nan; 3];
        bernoulli[at] = -0.8;
        // Ordinal lists the probit first
        let mut ordinal = [nan, nan, 0.0, 1.0];
        ordinal[1 - at] = -0.8;
        let (a, b) = (levels("Bernoulli", &bernoulli, &[v]), levels("Ordinal", &ordinal, &[v]));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
    }
    // a probability that is given has nothing to average
    assert_eq!(levels("Bernoulli", &[nan, nan, 0.25], &[]), [0.75f64.ln(), 0.25f64.ln()]);
}

#[test]
fn golden_logistic_and_probit() {
    let mut case = Golden::read("O29_scalar_table");
    let (mu, v) = (case.vector("mu"), case.vector("v"));
    let Outcome::Levels(f) = family_of("Bernoulli").marginal.unwrap().outcome else { panic!() };
    let p = |at: usize| -> Vec<f64> {
        let one = |(m, v): (&f64, &f64)| {
            let mut args = [f64::NAN; 3];
            args[at] = *m;
            f(&args, &[*v])[1].exp()
        };
        mu.iter().zip(&v).map(one).collect()
    };
    let (logistic, probit) = (p(0), p(1));
    case.check("logistic_normal", &logistic);
    case.check("probit_normal", &probit);
    // the rest are special functions, checked elsewhere
    case.finish(&[
        "mackay",
        "lambda",
        "log_weight_marginal",
        "log_sigmoid",
        "log_one_minus_sigmoid",
        "log_ndtr",
    ]);
}

/// P(y ≤ k) of a count is the sum of the probabilities up to k.
#[test]
fn distribution_of_a_count_is_the_sum_of_its_probabilities() {
    let family = family("Poisson").unwrap();
    let Outcome::Number(n) = family.marginal.unwrap().outcome else { panic!() };
    let distribution = n.distribution.unwrap();
    for mean in [-3.0, 0.4, 4.5] {
        for v in [0.0, 1e-4, 0.3, 6.0] {
            let at = args(family, "log", mean);
            let mut sum = 0.0;
            for y in 0..200 {
                sum += (n.log_density)(f64::from(y), &at, &[v]).exp();
                let got = distribution(f64::from(y), &at, &[v]);
                assert!((got - sum).abs() < 1e-8, "{mean} {v} {y}: {got} {sum}");
            }
            assert_eq!(distribution(-1.0, &at, &[v]), 0.0);
        }
    }
}
