//! How long a fit takes to answer a cancellation, on problems whose matrices are large.
//!
//! ```text
//! cargo run --release --example cancel [-- ROWS [TIMES]]
//! ```
//! Each plan is fitted with a dense kernel of ROWS (default 3000) columns; a second thread cancels at different
//! moments after the start, and the time from there to the answer is printed.

use std::error::Error;
use std::time::{Duration, Instant};

use sbl::{Cancel, Data, Model, Options};

const PLANS: [(&str, &str); 4] = [
    ("evidence", "tau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer evidence"),
    ("laplace", "b ~ Bernoulli(logit = phi * w)\ninfer laplace"),
    ("variational", "tau ~ Gamma(1e-3, 1e-3)\nt ~ Normal(phi * w, precision = tau)\ninfer variational"),
    ("sequential", "tau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\ninfer sequential"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let rows: usize = args.next().map_or(Ok(3000), |n| n.parse())?;
    let times: u32 = args.next().map_or(Ok(6), |n| n.parse())?;
    let data = data(rows)?;
    for (name, rest) in PLANS {
        let target = if rest.contains("b ~") { "data b: bool[N]" } else { "data t: real[N]" };
        // a narrow kernel on many inputs: nothing is of low rank, nothing can be made smaller
        let source = format!(
            "use std.kernels.laplacian\nuse std.priors.ard\ndata x: real[N, D]\n{target}\n\
             let phi = laplacian(x, width = 0.3)\nw ~ ard(cols(phi))\n{rest}\n"
        );
        let model = Model::compile(&source)?;
        let mut worst = Duration::ZERO;
        for i in 0..times {
            let wait = Duration::from_millis(100 + 900 * u64::from(i));
            let cancel = Cancel::new();
            let button = cancel.clone();
            let presser = std::thread::spawn(move || {
                std::thread::sleep(wait);
                let pressed = Instant::now();
                button.cancel();
                pressed
            });
            let answer = model.fit(&data, &Options::default().max_memory(16 << 30).cancel(&cancel));
            let answered = Instant::now();
            let pressed = presser.join().map_err(|_| "the other thread panicked")?;
            match answer {
                Ok(_) => println!("{name} {rows}: finished before {wait:?}"),
                Err(_) => {
                    let took = answered.saturating_duration_since(pressed);
                    worst = worst.max(took);
                    println!("{name} {rows}: cancelled after {wait:?}, answered in {took:.1?}");
                }
            }
        }
        println!("{name} {rows}: slowest answer {worst:.1?}");
    }
    Ok(())
}

fn data(rows: usize) -> Result<Data, sbl::Error> {
    let mut state = 5_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let x: Vec<[f64; 3]> = (0..rows).map(|_| [uniform(), uniform(), uniform()]).collect();
    let t: Vec<f64> = x.iter().map(|x| (7.0 * x[0]).sin() + x[1] * x[2] + 0.3 * (uniform() - 0.5)).collect();
    let b: Vec<f64> = t.iter().map(|t| f64::from(u8::from(*t > 0.3))).collect();
    Data::new().rows("x", &x)?.vector("t", &t)?.vector("b", &b)
}
