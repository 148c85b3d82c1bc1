//! The library in a program of your own: compile a model, fit it, predict, and keep the fit.
//!
//! ```text
//! cargo run --example embed
//! ```

use std::error::Error;

/// A model is text. It could stand in a file, or be written by your users.
const SOURCE: &str = "
use std.kernels.rbf
use std.priors.ard

data x: real[N]                            # inputs, one a row
data t: real[N]                            # targets

let phi = [1, rbf(x, width = 3.0)]         # a constant, and one bump a training point …
w ~ ard(cols(phi))                         # … of which only the relevant ones survive
tau ~ Gamma(0, 0)                          # the precision of the noise, estimated
t ~ Normal(phi * w, precision = tau)
";

fn main() -> Result<(), Box<dyn Error>> {
    // 1. Text to a checked model. An error prints like one of a compiler, or is read as data.
    let model = sbl::Model::compile(SOURCE)?;

    // 2. Data by name. Slices and rows of slices are copied; NaN is a missing value.
    let x: Vec<f64> = (0..100).map(|i| -10.0 + 0.2 * f64::from(i)).collect();
    let t: Vec<f64> = x.iter().map(|x| sinc(*x) + 0.05 * (x * 1e4).sin()).collect();
    let data = sbl::Data::new().vector("x", &x)?.vector("t", &t)?;

    // 3. A fit. Everything in the options may be left out. The callback sees every iteration, and may stop
    //    the fit; a `Cancel` does so from another thread.
    let cancel = sbl::Cancel::new();
    let options = sbl::Options::default()
        .max_memory(1 << 30)
        .cancel(&cancel)
        .on_step(|step| if step.iteration > 10_000 { step.stop() } else { step.go_on() });
    let fit = model.fit(&data, &options)?;
    println!("{}: log evidence {:.3}", fit.stop(), fit.objective());

    // 4. What was learned, by the names of the program.
    let w = fit.node("w")?;
    let tau = fit.node("tau")?.value()[0];
    println!("{} of {} weights are relevant; noise {:.4}", w.mean().len(), w.shape[0], tau.sqrt().recip());

    // 5. Predictions: a mean, how sure it is, and how far a new observation will be from it.
    let p = fit.predict(&sbl::Data::new().vector("x", &[0.0, 2.5, 30.0])?)?;
    for (i, x) in [0.0, 2.5, 30.0].iter().enumerate() {
        let far = if p.outside[i] { "  (far from all training points)" } else { "" };
        println!("x = {x:>4}: {:+.3} ± {:.3}{far}", p.mean()[i], p.sd()[i]);
    }

    // 6. A fit is bytes: all that a prediction needs, and a checksum.
    let bytes = fit.to_bytes()?;
    let again = sbl::Fit::from_bytes(&bytes, "sinc.sblfit")?;
    assert_eq!(again.predict(&data)?.mean(), fit.predict(&data)?.mean());
    println!("{} bytes keep the fit", bytes.len());

    // 7. What is wrong is said with its place, and a way out of it.
    if let Err(error) = sbl::Model::compile(&SOURCE.replace("rbf(x, width", "rfb(x, width")) {
        println!("{error}");
    }
    Ok(())
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.sin() / x }
}
