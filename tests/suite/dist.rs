//! What every family promises, checked over `FAMILIES` unasked, and numbers from elsewhere.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sbl::dist::interval::interval;
use sbl::dist::{ArgShape, Elem, FAMILIES, Family, Local, Need, Support, family};
use serde_json::Value;

/// Number of levels of a draw with levels.
const LEVELS: usize = 4;

/// Argument values for a family, in the order of its record.
fn settings(family: &Family) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = (0..3).flat_map(|variant| combinations(family, variant)).collect();
    all.dedup_by(|a, b| format!("{a:?}") == format!("{b:?}"));
    all
}

/// One setting for every choice of alternatives.
fn combinations(family: &Family, variant: usize) -> Vec<Vec<f64>> {
    let mut groups: Vec<&str> = Vec::new();
    for arg in family.args {
        if let Need::OneOf(group) = arg.need
            && !groups.contains(&group)
        {
            groups.push(group);
        }
    }
    let members = |group: &str| -> Vec<&str> {
        let of = |need: Need| matches!(need, Need::OneOf(g) if g == group);
        family.args.iter().filter(|a| of(a.need)).map(|a| a.name).collect()
    };
    let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
    for group in groups {
        choices = choices
            .iter()
            .flat_map(|chosen| {
                members(group).into_iter().map(|name| [&chosen[..], &[name]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    choices
        .iter()
        .map(|chosen| {
            let values = |i: usize| {
                let arg = &family.args[i];
                let there = !matches!(arg.need, Need::OneOf(_)) || chosen.contains(&arg.name);
                values_of(arg.elem, arg.shape, variant + i)
                    .into_iter()
                    .map(move |x| if there { x } else { f64::NAN })
            };
            (0..family.args.len()).flat_map(values).collect()
        })
        .collect()
}

fn values_of(elem: Elem, shape: ArgShape, variant: usize) -> Vec<f64> {
    let one = match elem {
        Elem::Real => [-0.7, 0.4, 2.5],
        Elem::Positive | Elem::NonNegative => [0.3, 1.0, 22.0],
        Elem::Unit => [0.2, 0.7, 0.95],
        Elem::Increasing => [-1.0, 0.3, 1.1],
        other => panic!("no values for an argument that is {}", other.name()),
    };
    match (shape, elem) {
        (ArgShape::Node, _) => vec![one[variant % 3]],
        (ArgShape::Cutpoints, _) => {
            (0..LEVELS - 1).map(|j| -1.0 + (variant + 1) as f64 * 0.6 * j as f64).collect()
        }
        (ArgShape::PerLevel, Elem::Unit) => vec![0.1, 0.4, 0.2, 0.3],
        (ArgShape::PerLevel, _) => (0..LEVELS).map(|k| one[(variant + k) % 3]).collect(),
    }
}

/// The draws of a family that are not a continuum, up to where no probability is left.
fn atoms(support: Support) -> Option<Vec<f64>> {
    let count = match support {
        Support::Binary => 2,
        Support::Levels | Support::Ordered => LEVELS,
        Support::Elem(Elem::Count) => 400_000,
        Support::Elem(_) => return None,
    };
    Some((0..count).map(|k| k as f64).collect())
}

/// The distribution function of a continuous family on a grid, by the double exponential rule: end
/// of each cell and what lies below it.
fn distribution(family: &Family, args: &[f64]) -> Vec<(f64, f64)> {
    let positive = family.support == Support::Elem(Elem::Positive);
    let steps = 40_000;
    let h = 13.2 / f64::from(steps);
    let half_pi = std::f64::consts::FRAC_PI_2;
    let mut below = 0.0;
    let cell = |i: i32, shift: f64| {
        let t = -6.6 + h * (f64::from(i) + shift);
        let s = half_pi * t.sinh();
        if positive {
            (s.exp(), half_pi * t.cosh() * s.exp())
        } else {
            (s.sinh(), half_pi * t.cosh() * s.cosh())
        }
    };
    (0..steps)
        .map(|i| {
            let (y, dy) = cell(i, 0.5);
            let log = (family.log_density)(y, args);
            assert!(!log.is_nan(), "{} at {y} given {args:?}", family.name);
            below += h * (log + dy.ln()).exp();
            (cell(i, 1.0).0, below)
        })
        .collect()
}

fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    move || ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

#[test]
fn records_are_complete() {
    for family in FAMILIES {
        let name = family.name;
        assert!(std::ptr::eq(sbl::dist::family(name).unwrap(), *family), "{name} is not found by its name");
        for (what, text) in [
            ("summary", family.summary),
            ("formula", family.formula),
            ("source", family.source),
            ("example", family.example),
        ] {
            assert!(!text.trim().is_empty(), "{name} has no {what}");
        }
        assert!(family.example.contains(&format!("~ {name}(")), "the example of {name} does not use it");
        assert!(
            family.summary.lines().count() == 1 && !family.summary.ends_with('.'),
            "{name}: one line, no stop"
        );
        let firsts = family.args.iter().take_while(|a| a.positional).count();
        assert!(
            family.args[firsts..].iter().all(|a| !a.positional),
            "{name}: positional arguments come first"
        );
        for (i, arg) in family.args.iter().enumerate() {
            assert!(!arg.doc.is_empty() && !arg.doc.ends_with('.'), "{name}({}) has no doc", arg.name);
            assert!(family.args[..i].iter().all(|a| a.name != arg.name), "{name}({}) twice", arg.name);
            if let Need::OneOf(group) = arg.need {
                let alternatives = family.args.iter().filter(|a| a.need == Need::OneOf(group)).count();
                assert!(alternatives > 1, "{name}({}) has no alternative", arg.name);
            }
        }
        let known = |arg: &str| family.args.iter().any(|a| a.name == arg);
        if let Some(gaussian) = family.gaussian {
            assert!(
                gaussian.mean.into_iter().chain(gaussian.scales.iter().map(|s| s.0)).all(known),
                "{name}"
            );
        }
        if let Some(prior) = family.precision_prior {
            assert!([prior.shape].into_iter().chain(prior.rates.iter().map(|r| r.0)).all(known), "{name}");
        }
    }
    assert!(sbl::dist::family("normal").is_none());
}

#[test]
fn densities_integrate_to_one() {
    for family in FAMILIES {
        for args in settings(family) {
            let total = match atoms(family.support) {
                Some(atoms) => atoms.iter().map(|y| (family.log_density)(*y, &args).exp()).sum(),
                None if (family.sample)(&args, &mut uniforms(1)).is_none() => continue,
                None => distribution(family, &args).last().unwrap().1,
            };
            assert!((total - 1.0_f64).abs() < 1e-9, "{} given {args:?}: {total}", family.name);
        }
    }
}

/// Kolmogorov's distance for a continuum, the largest deviation in standard errors for atoms.
#[test]
fn draws_follow_their_density() {
    const DRAWS: usize = 20_000;
    for family in FAMILIES {
        for (seed, args) in settings(family).into_iter().enumerate() {
            let mut uniform = uniforms(seed as u64);
            let Some(first) = (family.sample)(&args, &mut uniform) else { continue };
            let mut draws = vec![first];
            draws.extend((1..DRAWS).map(|_| (family.sample)(&args, &mut uniform).unwrap()));
            draws.sort_by(f64::total_cmp);
            let n = DRAWS as f64;
            let worst = match atoms(family.support) {
                Some(atoms) => atoms
                    .iter()
                    .take(200)
                    .map(|y| {
                        let p = (family.log_density)(*y, &args).exp();
                        let seen = draws.iter().filter(|d| *d == y).count() as f64;
                        (seen - n * p).abs() / (n * p * (1.0 - p)).sqrt().max(1.0)
                    })
                    .fold(0.0, f64::max),
                None => {
                    let grid = distribution(family, &args);
                    draws
                        .iter()
                        .enumerate()
                        .map(|(i, d)| {
                            let cell = grid.partition_point(|(end, _)| end < d).min(grid.len() - 1);
                            // three times the standardised distance is about as rare as five errors
                            (grid[cell].1 - (i as f64 + 0.5) / n).abs() * n.sqrt() * 5.0 / 2.5
                        })
                        .fold(0.0, f64::max)
                }
            };
            assert!(worst < 5.0, "{} given {args:?}: {worst}", family.name);
        }
    }
}

#[test]
fn no_draw_and_no_density_without_a_distribution() {
    for family in FAMILIES {
        let slots = settings(family)[0].len();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let args = vec![bad; slots];
            if slots > 0 {
                assert!((family.log_density)(1.0, &args).is_nan(), "{} given {bad}", family.name);
            }
            assert_eq!((family.sample)(&args, &mut uniforms(3)), None, "{} given {bad}", family.name);
        }
        if slots > 0 {
            // a missing argument is no panic either
            assert!((family.log_density)(1.0, &[]).is_nan());
        }
        for args in settings(family) {
            assert!((family.log_density)(f64::NAN, &args).is_nan(), "{}", family.name);
            if family.support != Support::Elem(Elem::Real) {
                assert_eq!((family.log_density)(-1.0, &args), f64::NEG_INFINITY, "{}", family.name);
            }
            if atoms(family.support).is_some() {
                assert_eq!((family.log_density)(0.5, &args), f64::NEG_INFINITY, "{}", family.name);
            }
        }
    }
}

/// Second differences of the log density in every location, for every draw.
#[test]
fn concavity_is_as_recorded() {
    for family in FAMILIES {
        let mut most: f64 = 0.0;
        let locations =
            |i: &usize| family.args[*i].elem == Elem::Real && family.args[*i].shape == ArgShape::Node;
        for args in settings(family) {
            for i in (0..family.args.len()).filter(locations).filter(|i| !args[*i].is_nan()) {
                let draws = atoms(family.support).unwrap_or_else(|| vec![-3.0, 0.1, 2.0, 30.0]);
                for (y, f) in
                    draws.iter().take(30).flat_map(|y| (-60..60).map(move |f| (*y, f64::from(f) / 4.0)))
                {
                    let at = |f: f64| {
                        let mut args = args.clone();
                        args[i] = f;
                        (family.log_density)(y, &args)
                    };
                    let rounding = 1e-12 * at(f).abs();
                    most = most.max(at(f - 0.25) - 2.0 * at(f) + at(f + 0.25) - rounding);
                }
            }
        }
        // the shape of Gamma and the levels of Categorical are no locations of this kind
        if family.args.iter().any(|a| a.elem == Elem::Real && a.shape == ArgShape::Node) {
            assert_eq!(most < 1e-9, family.log_concave, "{}: {most}", family.name);
        }
    }
}

/// Score, curvature, its change, and the derivatives by other arguments, against central differences.
#[test]
fn scores_are_derivatives_of_log_densities() {
    for family in FAMILIES {
        let Some(score) = &family.score else { continue };
        assert!(family.log_concave, "{}", family.name);
        for args in settings(family) {
            let places = score.predictors.iter().filter_map(|name| family.places(name, LEVELS));
            let Some(predictors) = places.into_iter().find(|p| !args[p.start].is_nan()) else { continue };
            let d = predictors.len();
            let draws = atoms(family.support).unwrap_or_else(|| vec![-3.0, 0.1, 2.0]);
            for y in draws.into_iter().take(12) {
                let at = |place: usize, step: f64| {
                    let mut args = args.clone();
                    args[place] += step;
                    let mut local = Local::new(d);
                    (score.local)(y, &args, &mut local);
                    local
                };
                let here = at(0, 0.0);
                let what = format!("{} {y} {args:?}", family.name);
                assert_eq!(here.log_density, (family.log_density)(y, &args), "{what}");
                let near = |a: f64, b: f64| {
                    let size = 1.0
                        + here.log_density.abs()
                        + here.curvature.iter().fold(0.0, |m: f64, h| m.max(h.abs()));
                    assert!((a - b).abs() < 3e-8 * size, "{what}: {a} {b}");
                };
                let step = 1e-5;
                let slope = |get: &dyn Fn(&Local) -> f64, place: usize| {
                    (get(&at(place, step)) - get(&at(place, -step))) / (2.0 * step)
                };
                let variance: Vec<f64> = (0..d * d)
                    .map(|i| {
                        if i % (d + 1) == 0 { 1.5 + i as f64 / 10.0 } else { 0.1 * ((i % d) + i / d) as f64 }
                    })
                    .collect();
                let mut third = vec![0.0; d];
                (score.third)(y, &args, &variance, &mut third);
                for (a, change) in third.iter().enumerate() {
                    let place = predictors.start + a;
                    near(here.score[a], slope(&|l| l.log_density, place));
                    near(
                        *change,
                        slope(&|l| l.curvature.iter().zip(&variance).map(|(h, v)| h * v).sum(), place),
                    );
                    for b in 0..d {
                        near(-here.curvature[a + b * d], slope(&|l| l.score[b], place));
                    }
                }
                for place in (0..args.len()).filter(|p| !predictors.contains(p) && !args[*p].is_nan()) {
                    let mut by = Local::new(d);
                    (score.by_arg)(y, &args, place, &mut by);
                    near(by.log_density, slope(&|l| l.log_density, place));
                    near(by.score[0], slope(&|l| l.score[0], place));
                    near(by.curvature[0], slope(&|l| l.curvature[0], place));
                }
            }
        }
    }
}

/// A source of numbers that always says the same must not hang a sampler.
#[test]
fn a_stuck_source_ends() {
    for family in FAMILIES {
        for args in settings(family) {
            for u in [1e-300, 0.5, 1.0 - 1e-16] {
                let _ = (family.sample)(&args, &mut || u);
            }
        }
    }
    // an impossible rate, and one beyond the whole numbers
    let poisson = family("Poisson").unwrap();
    assert_eq!((poisson.sample)(&[800.0, f64::NAN], &mut uniforms(1)), None);
    assert!((poisson.sample)(&[f64::NAN, 1e17], &mut uniforms(1)).unwrap() > 0.9e17);
}

#[test]
fn improper_gamma_is_log_uniform() {
    let gamma = family("Gamma").unwrap();
    assert_eq!((gamma.log_density)(4.0, &[0.0, 0.0, f64::NAN]), -(4.0_f64.ln()));
    assert_eq!((gamma.sample)(&[0.0, 0.0, f64::NAN], &mut uniforms(1)), None);
    // a tiny shape draws below the smallest double, but never 0
    assert!((gamma.sample)(&[1e-6, 1e-6, f64::NAN], &mut uniforms(2)).unwrap() > 0.0);
}

/// Against 60-digit values, far into the tails.
#[test]
fn log_densities_agree_with_high_precision() {
    let table: Value = serde_json::from_str(include_str!("../golden/log_densities.json")).unwrap();
    for case in table["cases"].as_array().unwrap() {
        let family = family(case["family"].as_str().unwrap()).unwrap();
        let args: Vec<f64> = numbers(&case["args"]);
        let value = case["value"].as_f64().unwrap();
        let wanted = case["log_density"].as_f64().unwrap();
        let got = (family.log_density)(value, &args);
        let error = (got - wanted).abs() / wanted.abs().max(1.0);
        assert!(
            error < 5e-14 || got == wanted,
            "{} of {value} given {args:?}: {got}, not {wanted}",
            family.name
        );
    }
}

#[test]
fn golden_interval_probabilities() {
    let golden: Value = serde_json::from_str(include_str!("../golden/O25_ordinal_tail_table.json")).unwrap();
    let (lo, hi) = (numbers(&golden["inputs"]["lo"]), numbers(&golden["inputs"]["hi"]));
    for expected in golden["expected"].as_array().unwrap() {
        let (rtol, atol) = (expected["rtol"].as_f64().unwrap(), expected["atol"].as_f64().unwrap());
        let name = expected["name"].as_str().unwrap();
        for (i, wanted) in numbers(&expected["value"]).into_iter().enumerate() {
            let cut = interval(lo[i], hi[i]);
            let got = match name {
                "log_prob" => cut.log_prob,
                "delta" => cut.mean,
                "h" => cut.curvature,
                "dh_df" => -cut.third,
                other => panic!("nothing answers {other}"),
            };
            let close = (got - wanted).abs() <= atol + rtol * wanted.abs();
            assert!(close, "{name} of {}..{}: {got}, not {wanted}", lo[i], hi[i]);
        }
    }
}

#[test]
fn intervals_meet_where_their_formulas_change() {
    // the cases of the formula: narrow or not, b at −12, one end infinite
    for (lo, hi) in [(-3.5, -3.0), (-12.5, -12.0), (-13.0, -12.0), (-40.0, -12.0), (-1.0, 1.0), (-14.0, 12.0)]
    {
        let step = 1e-9;
        let (a, b) = (interval(lo, hi - step), interval(lo, hi + step));
        assert!((a.log_prob - b.log_prob).abs() < 1e-7, "{lo} {hi}: {a:?} {b:?}");
        assert!((a.mean - b.mean).abs() < 1e-7, "{lo} {hi}: {a:?} {b:?}");
        assert!((a.curvature - b.curvature).abs() < 1e-7, "{lo} {hi}: {a:?} {b:?}");
    }
    // derivatives by finite differences: dl/df = E z, dE z/df = −h, for a location f that moves both ends
    for (lo, hi) in
        [(-0.3, 1.2), (-7.0, -2.0), (3.0, 3.4), (-14.0, -12.5), (20.0, 20.01), (2.0, f64::INFINITY)]
    {
        let at = |f: f64| interval(lo - f, hi - f);
        let h = 1e-5;
        let (below, here, above) = (at(-h), at(0.0), at(h));
        assert!(((above.log_prob - below.log_prob) / (2.0 * h) - here.mean).abs() < 1e-6, "{lo} {hi}");
        assert!(((above.mean - below.mean) / (2.0 * h) + here.curvature).abs() < 1e-6, "{lo} {hi}");
        assert!(((above.curvature - below.curvature) / (2.0 * h) + here.third).abs() < 1e-6, "{lo} {hi}");
    }
    assert!(interval(1.0, 1.0).log_prob.is_nan());
}

#[test]
fn golden_scalars() {
    let golden: Value = serde_json::from_str(include_str!("../golden/O29_scalar_table.json")).unwrap();
    let input = |name: &str| numbers(&golden["inputs"][name]);
    let bernoulli = family("Bernoulli").unwrap();
    let (normal, gamma) = (family("Normal").unwrap(), family("Gamma").unwrap());
    let nan = f64::NAN;
    let logit = |y: f64, f: f64| (bernoulli.log_density)(y, &[f, nan, nan]);
    let probit = |y: f64, f: f64| (bernoulli.log_density)(y, &[nan, f, nan]);
    let average = |mu: f64, v: f64, p: &dyn Fn(f64) -> f64| {
        trapezoid(
            |a| ((normal.log_density)(a, &[mu, nan, v, nan]) + p(a)).exp(),
            mu - 12.0 * v.sqrt(),
            mu + 12.0 * v.sqrt(),
        )
    };
    for expected in golden["expected"].as_array().unwrap() {
        let (rtol, atol) = (expected["rtol"].as_f64().unwrap(), expected["atol"].as_f64().unwrap());
        let name = expected["name"].as_str().unwrap();
        let got: Vec<f64> = match name {
            "log_sigmoid" => input("f").into_iter().map(|f| logit(1.0, f)).collect(),
            "log_one_minus_sigmoid" => input("f").into_iter().map(|f| logit(0.0, f)).collect(),
            "log_ndtr" => input("f").into_iter().map(|f| probit(1.0, f)).collect(),
            // ∫ P(y = 1 | a) N(a | mu, v) da
            "logistic_normal" => input("mu")
                .into_iter()
                .zip(input("v"))
                .map(|(m, v)| average(m, v, &|a| logit(1.0, a)))
                .collect(),
            "probit_normal" => input("mu")
                .into_iter()
                .zip(input("v"))
                .map(|(m, v)| average(m, v, &|a| probit(1.0, a)))
                .collect(),
            // ln ∫ N(w | 0, 1/α) Gamma(α | a, b) dα, over ln α
            "log_weight_marginal" => (input("w").into_iter().zip(input("a")).zip(input("b")))
                .map(|((w, a), b)| {
                    let joint = |l: f64| {
                        let alpha = l.exp();
                        let prior = (gamma.log_density)(alpha, &[a, b, nan]);
                        (prior + (normal.log_density)(w, &[0.0, alpha, nan, nan]) + l).exp()
                    };
                    trapezoid(joint, -80.0, 15.0).ln()
                })
                .collect(),
            // approximations and bounds, no densities
            "mackay" | "lambda" => continue,
            other => panic!("nothing answers {other}"),
        };
        for (got, wanted) in got.into_iter().zip(numbers(&expected["value"])) {
            assert!((got - wanted).abs() <= atol + rtol * wanted.abs(), "{name}: {got}, not {wanted}");
        }
    }
}

/// The integral of a smooth function that vanishes at both ends.
fn trapezoid(f: impl Fn(f64) -> f64, lo: f64, hi: f64) -> f64 {
    let n = 20_000;
    let h = (hi - lo) / f64::from(n);
    (0..=n).map(|i| f(lo + h * f64::from(i))).sum::<f64>() * h
}

/// An array of numbers; `null` is `NaN`, infinities are strings.
fn numbers(array: &Value) -> Vec<f64> {
    let number = |v: &Value| match v {
        Value::String(s) => s.parse().unwrap(),
        other => other.as_f64().unwrap_or(f64::NAN),
    };
    array.as_array().unwrap().iter().map(number).collect()
}
