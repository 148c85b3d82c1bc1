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
