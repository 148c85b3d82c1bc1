//! Fits that are ended from outside: at any moment, in any way, from any thread.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sbl::{Cancel, Compiler, CrossOptions, Data, Fit, Model, Options, Setting, cross_validate};

use crate::problems::Random;

/// One program a plan, with a parameter in the last three.
const PROGRAMS: [&str; 7] = [
    "let phi = [1, rbf(x, width = 2)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer evidence",
    "let phi = [1, rbf(x, width = 2)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer sequential",
    "let phi = [1, rbf(x, width = 2)]\nw ~ ard(cols(phi))\ntau ~ Gamma(1e-3, 1e-3)\nt ~ Normal(phi * w, precision = tau)\ninfer variational",
    "let phi = [1, rbf(x, width = 2)]\nw ~ ard(cols(phi))\nb ~ Bernoulli(logit = phi * w)\ninfer laplace",
    "param s: positive = 1\nlet phi = [1, rbf(x, width = s)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)",
    "param s: positive = 1\nlet phi = [1, rbf(x, width = s)]\nw ~ ard(cols(phi))\nb ~ Bernoulli(logit = phi * w)",
    "param s: positive = 1\nlet phi = [1, rbf(x, width = s)]\nw ~ ard(cols(phi))\ntau ~ Gamma(1e-3, 1e-3)\nt ~ Normal(phi * w, precision = tau)\ninfer variational",
];

fn model(body: &str) -> Model {
    let target = if body.contains("b ~") { "data b: bool[N]" } else { "data t: real[N]" };
    let source = format!("use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\n{target}\n{body}\n");
    Model::compile(&source).unwrap_or_else(|e| panic!("{source}\n{e}"))
}

fn data(n: usize) -> Data {
    let mut r = Random(11);
    let x: Vec<f64> = (0..n).map(|i| -6.0 + 12.0 * i as f64 / n as f64).collect();
    let t: Vec<f64> = x.iter().map(|x| x.sin() + 0.2 * r.normal()).collect();
    let b: Vec<f64> = t.iter().map(|t| f64::from(u8::from(*t + 0.5 * r.normal() > 0.0))).collect();
    Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap().vector("b", &b).unwrap()
}

/// Everything about a fit but the time it took.
fn told(fit: &Fit) -> String {
    let mut json = fit.to_json();
    json["seconds"] = 0.into();
    json.to_string()
}

/// Stopped or cancelled at its every iteration, a fit is what it had, or E0821; an error never, a panic never.
#[test]
fn at_every_iteration() {
    let data = data(24);
    for body in PROGRAMS {
        let model = model(body);
        let whole = model.fit(&data, &Options::default()).unwrap();
        let steps = whole.result().iterations;
        assert!(steps > 2, "{body}");
        for at in (1..=steps).step_by(1 + steps / 8) {
            let cancel = Cancel::new();
            let button = cancel.clone();
            let options = Options::default().cancel(&cancel).on_step(move |s| {
                if s.iteration == at {
                    button.cancel();
                }
                s.go_on()
            });
            let error = model.fit(&data, &options).unwrap_err();
            assert_eq!(error.diagnostics()[0].code, "E0821", "{body} {at}");

            let cancel = Cancel::new();
            let button = cancel.clone();
            let options = Options::default().cancel(&cancel).on_step(move |s| {
                if s.iteration == at {
                    button.stop();
                }
                s.go_on()
            });
            let stopped = model.fit(&data, &options).unwrap();
            assert_eq!(stopped.stop(), "interrupted", "{body} {at}");
            assert!(!stopped.converged());
            assert!(stopped.predict(&data).is_ok(), "{body} {at}");
            let options =
                Options::default().on_step(move |s| if s.iteration == at { s.stop() } else { s.go_on() });
            assert_eq!(model.fit(&data, &options).unwrap().stop(), "interrupted");
        }
        // a token that is never used changes no bit
        let quiet = model.fit(&data, &Options::default().cancel(&Cancel::new())).unwrap();
        assert_eq!(told(&quiet), told(&whole));
    }
}

/// A token that was used before: nothing begins.
#[test]
fn before_it_begins() {
    let data = data(20);
    for body in PROGRAMS {
        for cancel in [Cancel::cancel as fn(&Cancel), Cancel::stop] {
            let token = Cancel::new();
            cancel(&token);
            let error = model(body).fit(&data, &Options::default().cancel(&token)).unwrap_err();
            assert_eq!(error.diagnostics()[0].code, "E0821", "{body}");
        }
    }
}

/// A time that is over at once still gives what there is, of every plan.
#[test]
fn no_time_at_all() {
    let data = data(30);
    for body in PROGRAMS {
        let fit = model(body).fit(&data, &Options::default().max_time(Duration::from_nanos(1))).unwrap();
        assert_eq!(fit.stop(), "max_time", "{body}");
        assert!(fit.predict(&data).is_ok(), "{body}");
    }
    let fit = model(PROGRAMS[0]).fit(&data, &Options::default().max_time(Duration::MAX)).unwrap();
    assert!(fit.converged());
}

/// A token ends a fit at a random moment from another thread.
#[test]
fn from_another_thread() {
    let data = data(60);
    let model = model(PROGRAMS[2]);
    for wait in [0, 1, 3, 10, 30] {
        let cancel = Cancel::new();
        let button = cancel.clone();
        let presser = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(wait));
            button.cancel();
        });
        match model.fit(&data, &Options::default().cancel(&cancel)) {
            Ok(fit) => assert!(fit.converged()),
            Err(error) => assert_eq!(error.diagnostics()[0].code, "E0821"),
        }
        presser.join().unwrap();
    }
}

/// In the middle of large matrices an answer takes no longer than 0.2 s. A machine that runs tests is busy with others,
/// so the quickest of some answers counts; `examples/cancel.rs` prints each of them.
#[test]
fn within_a_fifth_of_a_second() {
    const ROWS: usize = 1500;
    let mut r = Random(5);
    let x: Vec<[f64; 3]> = (0..ROWS).map(|_| [r.normal(), r.normal(), r.normal()]).collect();
    let t: Vec<f64> = x.iter().map(|x| (2.0 * x[0]).sin() + x[1] * x[2] + 0.2 * r.normal()).collect();
    let b: Vec<f64> = t.iter().map(|t| f64::from(u8::from(*t > 0.0))).collect();
    let data = Data::new().rows("x", &x).unwrap().vector("t", &t).unwrap().vector("b", &b).unwrap();
    for rest in [
        "data t: real[N]\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer evidence",
        "data b: bool[N]\nb ~ Bernoulli(logit = phi * w)\ninfer laplace",
        "data t: real[N]\ntau ~ Gamma(1e-3, 1e-3)\nt ~ Normal(phi * w, precision = tau)\ninfer variational",
    ] {
        // a narrow kernel on several inputs: nothing is of low rank, nothing can be made smaller
        let source = format!(
            "use std.kernels.laplacian\nuse std.priors.ard\ndata x: real[N, D]\n\
             let phi = laplacian(x, width = 0.3)\nw ~ ard(cols(phi))\n{rest}\n"
        );
        let model = Model::compile(&source).unwrap();
        let mut quickest = Duration::MAX;
        for wait in [200, 500, 900, 1400] {
            let cancel = Cancel::new();
            let button = cancel.clone();
            let presser = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(wait));
                let pressed = Instant::now();
                button.cancel();
                pressed
            });
            let error = model.fit(&data, &Options::default().cancel(&cancel)).unwrap_err();
            let answered = Instant::now();
            assert_eq!(error.diagnostics()[0].code, "E0821");
            quickest = quickest.min(answered.saturating_duration_since(presser.join().unwrap()));
        }
        assert!(quickest < Duration::from_millis(200), "{quickest:?}: {rest}");
    }
}

/// The panic of a callback ends the fit, and nothing else: the same options serve again.
#[test]
fn a_callback_that_panics() {
    let data = data(20);
    for body in PROGRAMS {
        let model = model(body);
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        let options = Options::default().on_step(move |s| {
            assert!(count.fetch_add(1, Ordering::SeqCst) != 1, "second call");
            s.go_on()
        });
        let error = model.fit(&data, &options).unwrap_err();
        assert_eq!(error.diagnostics()[0].code, "E0822", "{body}");
        assert!(error.to_string().contains("it panicked: second call"), "{error}");
        assert_eq!(calls.load(Ordering::SeqCst), 2);
        assert!(model.fit(&data, &options).unwrap().converged() || body.contains("param"), "{body}");
    }
}

/// Folds too: a token ends them in the middle of a fit, and the panic of a callback or a loader stays an error.
#[test]
fn folds_and_loaders() {
    let data = data(40);
    let settings = [Setting { set: Vec::new(), model: model(PROGRAMS[0]) }];
    let cancel = Cancel::new();
    cancel.cancel();
    let options = CrossOptions { cancel, ..CrossOptions::default() };
    assert!(!cross_validate(&settings, &data, &options).unwrap().complete);
    let options = CrossOptions {
        threads: 2,
        on_fold: Some(Box::new(
            |done, _| if done > 1 { panic!("no bar") } else { ControlFlow::Continue(()) },
        )),
        ..CrossOptions::default()
    };
    let error = cross_validate(&settings, &data, &options).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "E0822");
    assert!(error.to_string().contains("no bar"), "{error}");

    struct Broken;
    impl sbl::Loader for Broken {
        fn load(&self, _: &str, path: &str) -> Result<(String, String), String> {
            panic!("no {path}")
        }
    }
    let source = "use \"a.sbl\"\ndata t: real[N]\nt ~ Normal(0, sd = 1)\n";
    let error = Compiler::new().loader(Broken).compile(source).unwrap_err();
    assert!(error.to_string().contains("it panicked: no a.sbl"), "{error}");
}

/// Any number of threads gives the same bits.
#[test]
fn threads_change_nothing() {
    let data = data(260);
    for body in PROGRAMS {
        let model = model(body);
        let few = |threads: usize| {
            let options = Options::default()
                .threads(threads)
                .on_step(|s| if s.iteration < 8 { s.go_on() } else { s.stop() });
            told(&model.fit(&data, &options).unwrap())
        };
        assert_eq!(few(3), few(1), "{body}");
    }
}

/// Many fits on two threads are what they are on one, and a fit inside the callback of another too.
#[test]
fn side_by_side_and_inside_each_other() {
    let data = data(24);
    let models: Vec<Model> = PROGRAMS.iter().map(|body| model(body)).collect();
    let alone: Vec<String> =
        models.iter().map(|m| told(&m.fit(&data, &Options::default()).unwrap())).collect();
    std::thread::scope(|scope| {
        for turn in 0..2 {
            let (models, data, alone) = (&models, &data, &alone);
            scope.spawn(move || {
                for i in 0..models.len() {
                    let i = (i + turn * 3) % models.len();
                    let fit = models[i].fit(data, &Options::default()).unwrap();
                    assert_eq!(told(&fit), alone[i]);
                }
            });
        }
    });
    let (inner, inner_data, expected) = (models[1].clone(), data.clone(), alone[1].clone());
    let outer = Cancel::new();
    let options = Options::default().cancel(&outer).on_step(move |s| {
        if s.iteration == 2 {
            let token = Cancel::new();
            token.cancel();
            assert!(inner.fit(&inner_data, &Options::default().cancel(&token)).is_err());
            assert_eq!(told(&inner.fit(&inner_data, &Options::default()).unwrap()), expected);
        }
        s.go_on()
    });
    assert_eq!(told(&models[0].fit(&data, &options).unwrap()), alone[0]);
}

/// A thread that drops its model, data and options in the middle of a fit on clones of them.
#[test]
fn dropped_in_the_middle() {
    let (model, data) = (model(PROGRAMS[0]), data(60));
    let cancel = Cancel::new();
    let (other_model, other_data, token) = (model.clone(), data.clone(), cancel.clone());
    let fitting = std::thread::spawn(move || {
        let options = Options::default().cancel(&token);
        other_model.fit(&other_data, &options).map(|fit| fit.objective())
    });
    drop((model, data));
    cancel.cancel();
    drop(cancel);
    let _ = fitting.join().unwrap();
}
