//! Functions and bases of the host program: as natives would be, and named when they fail.

use sbl::{Basis, Compiler, Data, Elem, Error, Fit, Host, Options};

use crate::problems::Random;

fn sinc(n: usize) -> Data {
    let mut r = Random(3);
    let x: Vec<f64> = (0..n).map(|i| -8.0 + 16.0 * i as f64 / (n - 1) as f64).collect();
    let t: Vec<f64> = x.iter().map(|x| (x.sin() / (x + 1e-9)) + 0.1 * r.normal()).collect();
    Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap()
}

fn rbf(x: &[f64], c: &[f64], a: &[f64]) -> f64 {
    (-x.iter().zip(c).map(|(x, c)| (x - c) * (x - c)).sum::<f64>() / (a[0] * a[0])).exp()
}

fn rbf_slopes(x: &[f64], c: &[f64], a: &[f64], slopes: &mut [f64]) {
    let (k, d, w) = (rbf(x, c, a), x.len(), a[0]);
    let mut square = 0.0;
    for i in 0..d {
        let off = x[i] - c[i];
        square += off * off;
        slopes[i] = -2.0 * off / (w * w) * k;
        slopes[d + i] = -slopes[i];
    }
    slopes[2 * d] = 2.0 * square / (w * w * w) * k;
}

/// The kernel of the library, once with its derivative and once without.
fn kernels() -> Compiler {
    let kernel = || Basis::kernel(rbf).argument("width").returns(Elem::Positive);
    Compiler::new().basis("bump", kernel().derivative(rbf_slopes)).basis("plain", kernel())
}

fn fit(compiler: &Compiler, source: &str, data: &Data) -> Fit {
    let model = compiler.compile(source).unwrap_or_else(|e| panic!("{source}\n{e}"));
    model.fit(data, &Options::default()).unwrap_or_else(|e| panic!("{source}\n{e}"))
}

fn regression(phi: &str, rest: &str) -> String {
    format!(
        "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\n{rest}let phi = [1, {phi}]\n\
         w ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\n"
    )
}

fn code(error: &Error) -> &str {
    error.diagnostics()[0].code
}

fn has(error: &Error, code: &str) -> bool {
    error.diagnostics().iter().any(|d| d.code == code)
}

/// A registered kernel is the kernel of the library: same weights kept, same evidence, same predictions.
#[test]
fn a_kernel_is_as_good_as_that_of_the_library() {
    let data = sinc(50);
    let new = Data::new().vector("x", &[-3.3, 0.1, 25.0]).unwrap();
    let native = fit(&Compiler::new(), &regression("rbf(x, width = 3.0)", ""), &data);
    for call in ["bump(x, 3.0)", "plain(x, width = 3.0)", "bump(x, 3.0, centres = train(x))"] {
        let ours = fit(&kernels(), &regression(call, ""), &data);
        assert!((ours.objective() - native.objective()).abs() < 1e-8, "{call}");
        let (a, b) = (ours.node("w").unwrap(), native.node("w").unwrap());
        assert_eq!((&a.active, &a.labels), (&b.active, &b.labels), "{call}");
        let (p, q) = (ours.predict(&new).unwrap(), native.predict(&new).unwrap());
        for i in 0..3 {
            assert!((p.mean()[i] - q.mean()[i]).abs() < 1e-7 && (p.sd()[i] - q.sd()[i]).abs() < 1e-7);
        }
        assert_eq!(p.outside, q.outside);
        // a kernel can be healed like one of the library
        let (p, q) = (
            ours.predict_healed(&new, &data, 1.0).unwrap(),
            native.predict_healed(&new, &data, 1.0).unwrap(),
        );
        assert!((p.sd()[2] - q.sd()[2]).abs() < 1e-7);
    }
}

/// The width that the evidence prefers, by the derivative that was given, and by differences.
#[test]
fn a_parameter_is_learned_through_a_kernel() {
    let data = sinc(30);
    let source = |call: &str| regression(call, "param s: positive = 2\n");
    let width = |compiler: &Compiler, call: &str| {
        let fit = fit(compiler, &source(call), &data);
        assert!(fit.converged(), "{call}");
        (fit.node("s").unwrap().value()[0], fit.objective())
    };
    let (native, best) = width(&Compiler::new(), "rbf(x, width = s)");
    for call in ["bump(x, s)", "plain(x, s)", "bump(x / s, 1, train(x) / s)", "plain(x / s, 1, train(x) / s)"]
    {
        let (ours, evidence) = width(&kernels(), call);
        assert!((ours - native).abs() < 1e-4 * native, "{call}: {ours} {native}");
        assert!((evidence - best).abs() < 1e-6, "{call}");
    }
}

#[test]
fn functions_and_features_agree_with_natives() {
    let compiler = Compiler::new()
        .function("wave", Host::elementwise(f64::sin).derivative(f64::cos))
        .function("swell", Host::elementwise(f64::sin))
        .function("times", Host::of(&["a", "b"], |x| x[0] * x[1]))
        .function(
            "mul",
            Host::of(&["a", "b"], |x| x[0] * x[1]).gradient(|x, slopes| {
                (slopes[0], slopes[1]) = (x[1], x[0]);
            }),
        )
        .function("grow", Host::elementwise(f64::exp).returns(Elem::Positive))
        .basis(
            "waves",
            Basis::features(2, |row, a, out| {
                (out[0], out[1]) = ((a[0] * row[0]).sin(), (a[0] * row[0]).cos())
            })
            .argument("s")
            .derivative(|row, a, d| {
                let (sin, cos) = (a[0] * row[0]).sin_cos();
                d.copy_from_slice(&[a[0] * cos, row[0] * cos, -a[0] * sin, -row[0] * sin]);
            }),
        )
        .basis(
            "swells",
            Basis::features(2, |row, a, out| {
                (out[0], out[1]) = ((a[0] * row[0]).sin(), (a[0] * row[0]).cos())
            })
            .argument("s"),
        );
    let data = sinc(40);
    let source = |phi: &str, noise: &str| {
        format!(
            "data x: real[N]\ndata t: real[N]\nparam s: positive = 1.5\nlet phi = {phi}\n\
             w ~ Normal(0, sd = 1) [cols(phi)]\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = {noise})\n"
        )
    };
    let native = fit(&Compiler::new(), &source("[1, sin(s * x), cos(s * x)]", "tau"), &data);
    let best = native.node("s").unwrap().value()[0];
    for phi in [
        "[1, wave(s * x), cos(s * x)]",
        "[1, swell(s * x), cos(s * x)]",
        "[1, wave(times(s, x)), cos(mul(x, s))]",
        "[1, waves(x, s)]",
        "[1, swells(x, s = s)]",
        "[1, waves(x * s, 1)]",
    ] {
        let ours = fit(&compiler, &source(phi, "tau"), &data);
        assert!((ours.objective() - native.objective()).abs() < 1e-7, "{phi}");
        assert!((ours.node("s").unwrap().value()[0] - best).abs() < 1e-5, "{phi}");
    }
    // the set that was declared lets it stand where a precision is asked for
    let scaled = fit(&compiler, &source("[1, x]", "tau * grow(x / 8)"), &data);
    let native = fit(&Compiler::new(), &source("[1, x]", "tau * exp(x / 8)"), &data);
    assert!((scaled.objective() - native.objective()).abs() < 1e-8);
    // features have names
    let fit = fit(&compiler, &source("[1, waves(x, 1)]", "tau"), &data);
    assert_eq!(fit.node("w").unwrap().labels, Some(vec!["bias".into(), "waves 1".into(), "waves 2".into()]));
}

#[test]
fn in_plates_definitions_and_of_matrices() {
    let compiler = kernels().function("twice", Host::elementwise(|x| 2.0 * x)).basis(
        "squares",
        Basis::features(sbl::host::Width::PerInput(2), |row, _, out| {
            for (k, x) in row.iter().enumerate() {
                (out[2 * k], out[2 * k + 1]) = (*x, x * x);
            }
        }),
    );
    let source = "
        fn lifted(x: real[N, D]) -> real[N, 2 * D] = squares(twice(x))
        data z: real[N, D]
        data t: real[N]
        let phi = lifted(z)
        w ~ Normal(0, sd = 1) [2 * cols(z)]
        tau ~ Gamma(0, 0)
        plate n in N {
            t[n] ~ Normal(twice(phi[n] * w), precision = tau)
        }";
    let model = compiler.compile(source);
    // linear to us, opaque to the compiler: a function of an unknown is not a linear form
    assert!(has(&model.unwrap().plan().unwrap_err(), "E0607"));
    let model =
        compiler.compile(&source.replace("twice(phi[n] * w)", "squares(phi)[n] * [w, w] + twice(z[n, 1])"));
    assert!(model.is_err());
    let good = compiler.compile(&source.replace("twice(phi[n] * w)", "phi[n] * w + twice(z[n, 1])")).unwrap();
    let mut r = Random(9);
    let (z, t) = (r.matrix(25, 2), r.matrix(25, 1));
    let data = Data::new().matrix("z", &z).unwrap().vector("t", t.as_slice()).unwrap();
    let fit = good.fit(&data, &Options::default()).unwrap();
    assert_eq!(fit.node("w").unwrap().mean().len(), 4);
}

/// A fit file says what it needs, and what is registered beside that does not matter.
#[test]
fn a_fit_file_asks_for_its_functions() {
    let data = sinc(40);
    let source = regression("bump(x, 3.0)", "");
    let fit = fit(&kernels(), &source, &data);
    let bytes = fit.to_bytes().unwrap();
    let new = Data::new().vector("x", &[-1.0, 2.5]).unwrap();

    let error = Fit::from_bytes(&bytes, "sinc.sblfit").unwrap_err();
    assert_eq!(code(&error), "E0820");
    assert!(error.to_string().contains("`bump(x, width, centres = …) kernel positive`"), "{error}");
    // another function of that name
    let other = Compiler::new().function("bump", Host::elementwise(f64::exp));
    assert_eq!(code(&other.load(&bytes, "sinc.sblfit").unwrap_err()), "E0820");

    let more = Compiler::new().function("first", Host::elementwise(f64::sin));
    let more = more.basis("plain", Basis::kernel(rbf).argument("width").returns(Elem::Positive));
    let more = more.basis("bump", Basis::kernel(rbf).argument("width").returns(Elem::Positive));
    for compiler in [kernels(), more] {
        let read = compiler.load(&bytes, "sinc.sblfit").unwrap();
        assert_eq!(read.predict(&new).unwrap(), fit.predict(&new).unwrap());
        assert_eq!(read.to_bytes().unwrap(), bytes);
    }
    // a fit that uses none asks for none
    let plain = self::fit(&kernels(), &regression("rbf(x, width = 3.0)", ""), &data).to_bytes().unwrap();
    assert!(Fit::from_bytes(&plain, "plain.sblfit").is_ok());
}

#[test]
fn failures_are_named() {
    let data = sinc(20);
    let try_it = |f: Host, text: &str| {
        let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(f(x) .* w, sd = 1)\n";
        let model = Compiler::new().function("f", f).compile(source).unwrap();
        let error = model.fit(&data, &Options::default()).unwrap_err();
        assert_eq!(code(&error), "E0840");
        assert!(error.to_string().contains("the registered function `f`"), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    try_it(Host::elementwise(|_| panic!("out of cheese")), "out of cheese");
    try_it(Host::elementwise(f64::sqrt), "found no number for the inputs -8");
    try_it(
        Host::elementwise(|x| x).returns(Elem::Positive),
        "found -8 for the inputs -8, expected `positive`",
    );
    let try_basis = |basis: Basis, text: &str| {
        let source = "data x: real[N]\ndata t: real[N]\nlet phi = b(x)\nw ~ Normal(0, sd = 1) [cols(phi)]\n\
                      t ~ Normal(phi * w, sd = 1)\n";
        let model = Compiler::new().basis("b", basis).compile(source).unwrap();
        let error = model.fit(&data, &Options::default()).unwrap_err();
        assert_eq!(code(&error), "E0840");
        assert!(error.to_string().contains(text), "{error}");
    };
    // fewer features than declared; more than declared
    try_basis(Basis::features(3, |_, _, out| out[0] = 1.0).into(), "found no number in feature 2");
    try_basis(Basis::features(1, |_, _, out| out[1] = 1.0).into(), "it panicked: index out of bounds");
    try_basis(Basis::kernel(|x, c, _| if x == c { f64::NAN } else { 1.0 }).into(), "found no number");
    // a derivative that fails
    let source = regression("k(x, s)", "param s: positive = 2\n");
    let kernel = Basis::kernel(rbf).argument("s").derivative(|_, _, _, slopes| slopes[0] = 1.0);
    let model = Compiler::new().basis("k", kernel).compile(&source).unwrap();
    let error = model.fit(&data, &Options::default()).unwrap_err();
    assert_eq!(code(&error), "E0840");
    assert!(error.to_string().contains("a derivative that is no number"), "{error}");
}

#[test]
fn names_that_cannot_be_registered() {
    let program = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n";
    let defined = format!("fn mine(x: real[N]) -> real[N] = x\n{program}");
    let f = || Host::elementwise(f64::sin);
    let refused = |compiler: Compiler, source: &str, text: &str| {
        let error = compiler.compile(source).unwrap_err();
        assert!(has(&error, "E0217"), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    for name in ["exp", "Normal"] {
        refused(Compiler::new().function(name, f()), program, "something built in");
    }
    for name in ["", "a b", "data", "1st", "naïve"] {
        refused(Compiler::new().function(name, f()), program, "a program cannot write");
    }
    refused(Compiler::new().function("mine", f()).function("mine", f()), program, "registered twice");
    refused(Compiler::new().function("mine", f()), &defined, "defined by the program too");
    refused(Compiler::new().function("mine", Host::of(&["a", "a"], |x| x[0])), program, "is there twice");
    refused(Compiler::new().function("mine", Host::of(&[], |_| 0.0)), program, "has no argument");
    // a name of the library is free until the program imports it
    let compiler = Compiler::new().basis("rbf", Basis::kernel(rbf).argument("width"));
    refused(compiler.clone(), &regression("rbf(x, 3)", ""), "defined by the program too");
    let own = regression("rbf(x, 3)", "").replace("use std.kernels.rbf\n", "");
    assert!(compiler.compile(&own).is_ok());
    // and a slip in the name of one is recognised
    let error =
        kernels().compile(&regression("bumb(x, 3)", "").replace("use std.kernels.rbf\n", "")).unwrap_err();
    assert!(error.to_string().contains("did you mean `bump`?"), "{error}");
    // wrong arguments are told as those of a native
    let error = kernels().compile(&regression("bump(x, breadth = 3)", "")).unwrap_err();
    assert_eq!(code(&error), "E0209");
    assert!(error.to_string().contains("it is `bump(x, width, centres = …)`"), "{error}");
    let error = kernels().compile(&regression("bump(x, x)", "")).unwrap_err();
    assert_eq!(code(&error), "E0302");
}
