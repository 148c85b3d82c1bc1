//! Fits by every plan, from data in memory to a finished fit, kernel matrix included.
//!
//! ```text
//! cargo bench --bench fits [-- FILTER] [--write DIR]
//! ```
//! Inputs are made here from fixed seeds: sinc regression with a Gaussian kernel (`sinc N`) and linear
//! regression with mostly irrelevant inputs (`linear N×D`), two classes of a mixture of four Gaussians
//! (`classes N`), five ordered levels of a product (`ordered N`), and sinc under mean field (`field N`). `--write DIR` only writes them as CSV, for
//! `benches/peers.py`. Every line: smallest and median time of the repetitions, kept weights, noise,
//! log evidence.

use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use nalgebra::DMatrix;
use sbl::{Compiler, Data, Options};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SINC: &str = "
use std.kernels.rbf
use std.priors.ard
data x: real[N]
data t: real[N]
let phi = [1, rbf(x, width = 3)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

const LINEAR: &str = "
use std.priors.ard
data x: real[N, D]
data t: real[N]
let phi = [1, x]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

const CLASSES: &str = "
use std.kernels.rbf
use std.priors.ard
data x: real[N, D]
data t: bool[N]
let phi = [1, rbf(x, width = 0.5)]
w ~ ard(cols(phi))
t ~ Bernoulli(logit = phi * w)
";

const ORDERED: &str = "
use std.kernels.rbf
use std.priors.ard
data x: real[N, D]
data t: ordered[N]
let phi = rbf(x, width = 1)
w ~ ard(cols(phi))
param cut: increasing[levels(t) - 1]
t ~ Ordinal(probit = phi * w, cutpoints = cut)
";

const FIELD: &str = "
use std.kernels.rbf
use std.priors.ard
data x: real[N]
data t: real[N]
let phi = [1, rbf(x, width = 3)]
w ~ ard(cols(phi), shape = 1e-6, rate = 1e-6)
tau ~ Gamma(1e-6, 1e-6)
t ~ Normal(phi * w, precision = tau)
";

const GAUSSIAN: &[&str] = &["sequential", "evidence"];
const OTHERS: &[&str] = &["sequential", "laplace"];

/// Repetitions stop after this time, or this many.
const ENOUGH: (Duration, usize) = (Duration::from_secs(4), 25);

struct Workload {
    name: String,
    program: &'static str,
    x: DMatrix<f64>,
    t: Vec<f64>,
}

fn main() -> Result<()> {
    let mut filter: Option<String> = None;
    let mut write: Option<String> = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" | "--test" => {}
            "--write" => write = args.next(),
            other => filter = Some(other.to_owned()),
        }
    }
    type Make = fn() -> Workload;
    let sizes: [(&str, &[&str], Make); 13] = [
        ("sinc 100", GAUSSIAN, || sinc(100)),
        ("sinc 1000", GAUSSIAN, || sinc(1000)),
        ("sinc 5000", GAUSSIAN, || sinc(5000)),
        ("sinc 10000", GAUSSIAN, || sinc(10_000)),
        ("sinc 20000", GAUSSIAN, || sinc(20_000)),
        ("linear 1000×100", GAUSSIAN, || linear(1000, 100, 10)),
        ("linear 10000×500", GAUSSIAN, || linear(10_000, 500, 50)),
        ("linear 100000×200", GAUSSIAN, || linear(100_000, 200, 20)),
        ("classes 250", OTHERS, || classes(250)),
        ("classes 1000", OTHERS, || classes(1000)),
        ("ordered 300", &["sequential"], || ordered(300)),
        ("field 100", &["variational"], || field(100)),
        ("field 500", &["variational"], || field(500)),
    ];
    for (name, methods, make) in sizes {
        let wanted =
            |method: &str| filter.as_ref().is_none_or(|f| format!("{name} {method}").contains(f.as_str()));
        if write.is_none() && !methods.iter().any(|m| wanted(m)) {
            continue;
        }
        let workload = make();
        if let Some(dir) = &write {
            std::fs::write(format!("{dir}/{}.csv", workload.name.replace([' ', '×'], "_")), workload.csv()?)?;
            continue;
        }
        for method in methods.iter().copied().filter(|m| wanted(m)) {
            workload.run(&format!("{name} {method}"), method)?;
        }
    }
    Ok(())
}

impl Workload {
    fn run(&self, name: &str, method: &str) -> Result<()> {
        let model = Compiler::new().infer(method).compile(self.program)?;
        let x = match self.x.ncols() {
            1 => Data::new().vector("x", self.x.as_slice())?,
            _ => Data::new().matrix("x", &self.x)?,
        };
        let data = x.vector("t", &self.t)?;
        let mut times = Vec::new();
        let started = Instant::now();
        loop {
            let start = Instant::now();
            let fit = model.fit(&data, &Options::default())?;
            times.push(start.elapsed());
            if started.elapsed() >= ENOUGH.0 || times.len() >= ENOUGH.1 {
                times.sort();
                let (min, median) = (times[0], times[times.len() / 2]);
                let kept = fit.node("w")?.mean().len();
                let tau = fit.node("tau").ok().and_then(|node| node.value.or(node.mean));
                let tau = tau.map_or(f64::NAN, |v| v.as_slice()[0]);
                println!(
                    "{name:<28} min {:>9.2} ms  median {:>9.2} ms  kept {kept:>4}  noise sd {:.5}  log evidence {:.3}  {} iterations{}",
                    1e3 * min.as_secs_f64(),
                    1e3 * median.as_secs_f64(),
                    tau.powf(-0.5),
                    fit.objective(),
                    fit.result().iterations,
                    if fit.converged() { "" } else { "  NOT CONVERGED" },
                );
                return Ok(());
            }
        }
    }

    /// Columns x1 … and t, with all digits.
    fn csv(&self) -> Result<String> {
        let mut out = String::new();
        for j in 0..self.x.ncols() {
            write!(out, "x{},", j + 1)?;
        }
        out.push_str("t\n");
        for i in 0..self.t.len() {
            for j in 0..self.x.ncols() {
                write!(out, "{},", self.x[(i, j)])?;
            }
            writeln!(out, "{}", self.t[i])?;
        }
        Ok(out)
    }
}

/// x uniform on (−10, 10), t = sin(x)/x + N(0, 0.1²)
fn sinc(n: usize) -> Workload {
    let mut random = Random(1000 + n as u64);
    let x = DMatrix::from_fn(n, 1, |_, _| 20.0 * random.uniform() - 10.0);
    let f = |x: f64| if x == 0.0 { 1.0 } else { x.sin() / x };
    let t = x.iter().map(|x| f(*x) + 0.1 * random.normal()).collect();
    Workload { name: format!("sinc {n}"), program: SINC, x, t }
}

/// x and noise standard normal, k of d weights uniform on ±(0.5, 2), the others 0
fn linear(n: usize, d: usize, k: usize) -> Workload {
    let mut random = Random(2000 + (n + d + k) as u64);
    let x = DMatrix::from_fn(n, d, |_, _| random.normal());
    let w: Vec<f64> = (0..k)
        .map(|_| {
            let size = 0.5 + 1.5 * random.uniform();
            if random.uniform() < 0.5 { size } else { -size }
        })
        .collect();
    // the relevant ones spread over all
    let t = (0..n).map(|i| (0..k).map(|j| w[j] * x[(i, j * d / k)]).sum::<f64>() + random.normal()).collect();
    Workload { name: format!("linear {n}×{d}"), program: LINEAR, x, t }
}

/// Two classes, each of two Gaussians of variance 0.03 (Ripley 1994)
fn classes(n: usize) -> Workload {
    let mut random = Random(3000 + n as u64);
    let centres = [[(-0.7, 0.3), (0.3, 0.3)], [(-0.3, 0.7), (0.4, 0.7)]];
    let mut x = DMatrix::zeros(n, 2);
    let mut t = Vec::new();
    for i in 0..n {
        let (y, c) = (usize::from(random.uniform() < 0.5), usize::from(random.uniform() < 0.5));
        let (a, b) = centres[y][c];
        x[(i, 0)] = a + 0.03f64.sqrt() * random.normal();
        x[(i, 1)] = b + 0.03f64.sqrt() * random.normal();
        t.push(y as f64);
    }
    Workload { name: format!("classes {n}"), program: CLASSES, x, t }
}

/// 10 (x₁ − ½)(x₂ − ½) + N(0, 0.125²) cut at −1, −0.1, 0.25, 1; inputs of deviation 1 (Chu and Ghahramani 2005)
fn ordered(n: usize) -> Workload {
    let mut random = Random(4000 + n as u64);
    let u = DMatrix::from_fn(n, 2, |_, _| random.uniform() - 0.5);
    let level = |f: f64| 1.0 + [-1.0, -0.1, 0.25, 1.0].iter().filter(|b| f > **b).count() as f64;
    let t = (0..n).map(|i| level(10.0 * u[(i, 0)] * u[(i, 1)] + 0.125 * random.normal())).collect();
    Workload { name: format!("ordered {n}"), program: ORDERED, x: u * 12f64.sqrt(), t }
}

/// The sinc curve under mean field.
fn field(n: usize) -> Workload {
    Workload { name: format!("field {n}"), program: FIELD, ..sinc(n) }
}

/// Splitmix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}
