//! Whatever data meet whatever program: a fit, a prediction, a score or a draw is a result or diagnostics, never
//! a panic, and never a result that is not a number without a word.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sbl::data::Column;
use sbl::{Compiler, Data, Error, Model, Options};

/// Uniform numbers by a multiplicative generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A number: often a plain one.
    fn number(&mut self) -> f64 {
        const ODD: [f64; 18] = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            1e300,
            -1e300,
            1e-300,
            5e-324,
            1e154,
            f64::MAX,
            f64::MIN_POSITIVE,
            1.0,
            2.0,
            3.0,
            -1.0,
            0.5,
            1e16,
        ];
        match self.below(8) {
            0 => self.pick(&ODD),
            1 => 1.0,
            2..=3 => self.below(4) as f64,
            _ => self.below(2001) as f64 / 500.0 - 2.0,
        }
    }

    fn numbers(&mut self, n: usize) -> Vec<f64> {
        match self.below(12) {
            // all the same, all missing, all huge
            0 => vec![self.number(); n],
            1 => vec![f64::NAN; n],
            2 => vec![1e300; n],
            // plain
            3..=8 => (0..n).map(|_| self.below(2001) as f64 / 500.0 - 2.0).collect(),
            _ => (0..n).map(|_| self.number()).collect(),
        }
    }

    fn column(&mut self, n: usize) -> Column {
        let n = if self.below(10) == 0 { self.below(9) } else { n };
        match self.below(10) {
            0 => Column::Scalar(self.number()),
            1..=2 => {
                let words = ["a", "b", "", "1", "NA", "bad", "good", "yes", "\u{202e}x"];
                Column::Words(
                    (0..n)
                        .map(|_| Some(self.pick(&words)).filter(|w| !w.is_empty()).map(Arc::from))
                        .collect(),
                )
            }
            3..=4 => {
                let width = self.below(4);
                let names =
                    (self.below(4) == 0).then(|| (0..self.below(4)).map(|k| format!("c{k}")).collect());
                // sometimes ragged
                let size = n * width + usize::from(self.below(12) == 0);
                Column::Matrix { values: self.numbers(size), width, names }
            }
            5 => Column::Numbers((0..n).map(|i| (i % 3) as f64).collect()),
            _ => Column::Numbers(self.numbers(n)),
        }
    }
}

fn programs() -> Vec<(String, Model)> {
    let mut all = Vec::new();
    for folder in ["examples", "tests/programs"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "sbl")) {
            let text = std::fs::read_to_string(path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // some show what is wrong, or read files
            let Ok(models) = Compiler::new().file(&name).compile_all(&text) else { continue };
            all.extend(models.into_iter().filter(|m| m.plan().is_ok()).map(|m| (name.clone(), m)));
        }
    }
    // every part of the language that computes with data
    for (name, text) in [
        (
            "operations",
            "data x: real[N, D]\ndata z: real[N]\ndata t: real[N]\nlet a = standardize(x)\nw ~ Flat() [D]\nv ~ Normal(0, sd = 1)\ntau ~ Gamma(0, 0)\nt ~ Normal(a * w + log(abs(z)) .* v / (1 + z[1]^2) + min(z, sqrt(abs(z))), precision = tau * exp(z))\n",
        ),
        (
            "levels",
            "data g: category[N]\ndata h: ordered[N]\ndata k: count[N]\nu ~ Normal(0, sd = 1) [levels(g)]\nv ~ Flat()\nk ~ Poisson(log = u[g] + v)\nparam c: increasing[levels(h) - 1]\nh ~ Ordinal(probit = u[g], cutpoints = c)\n",
        ),
        ("indices", "data i: int[N]\ndata t: real[N]\nu ~ Normal(0, sd = 1) [4]\nt ~ Normal(u[i], sd = 1)\n"),
        (
            "shares",
            "data p: unit[N]\ndata s: positive[N]\ndata t: real[N]\nw ~ Normal(0, precision = a)\na ~ Gamma(1, 1)\nt ~ StudentT(p .* w, dof = 4, sd = s)\n",
        ),
        (
            "sums",
            "data x: real[N, D]\ndata t: real[N]\nparam b: real = 0\nw ~ Normal(0, sd = 1) [N]\nt ~ Normal(w + b + mean(x) - sd(x) + sum(x), sd = 1)\n",
        ),
    ] {
        all.push((name.to_owned(), Model::compile(text).unwrap_or_else(|e| panic!("{name}\n{e}"))));
    }
    all
}

fn coded<T>(found: Result<T, Error>) -> Option<T> {
    match found {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(error.diagnostics().iter().any(|d| d.is_error()));
            for d in error.diagnostics() {
                assert!(sbl::diag::codes::find(d.code).is_some(), "{}", d.code);
                assert!(!d.message.is_empty() && !error.to_string().is_empty());
            }
            None
        }
    }
}

/// Everything that can be done with a model and data.
fn everything(model: &Model, data: &Data, new: &Data) -> bool {
    let options = Options::default()
        .max_memory(1 << 26)
        .on_step(|s| if s.iteration > 2 { s.stop() } else { s.go_on() });
    coded(model.sample(data, 2, 1));
    let Some(fit) = coded(model.fit(data, &options)) else { return false };
    assert!(fit.objective().is_finite());
    for data in [data, new] {
        if let Some(p) = coded(fit.predict(data)) {
            let _ = p.to_json().to_string();
            for node in &p.nodes {
                for sd in node.column("sd").unwrap_or(&[]) {
                    assert!(sd.is_nan() || *sd >= 0.0, "{sd}");
                }
            }
        }
        coded(fit.score(data));
        coded(fit.sample(Some(data), 2, 1));
        coded(fit.predict_healed(data, data, 1.0));
    }
    if let Some(bytes) = coded(fit.to_bytes()) {
        let again = coded(sbl::Fit::from_bytes(&bytes, "a.sblfit")).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes);
    }
    true
}

#[test]
fn nothing_panics() {
    let programs = programs();
    let mut dice = Dice(20_240_917);
    let (mut fitted, mut cases) = (0, 0);
    for round in 0..40 {
        for (name, model) in &programs {
            let rows = dice.pick(&[0, 1, 1, 2, 3, 4, 5, 6, 8]);
            let make = |dice: &mut Dice| {
                let mut data = Data::new();
                for node in model.typed().nodes.iter().filter(|n| n.data().is_some()) {
                    if dice.below(25) == 0 {
                        continue;
                    }
                    let matrix = node.ty.shape.len() == 2;
                    let column = match dice.below(3) {
                        // what the declaration asks for, of some size
                        0..=1 if matrix => {
                            Column::Matrix { values: dice.numbers(2 * rows), width: 2, names: None }
                        }
                        0 if node.ty.shape.is_empty() => Column::Scalar(1.0),
                        0 => Column::Numbers((0..rows).map(|i| (i * 7 % 3) as f64).collect()),
                        _ => dice.column(rows),
                    };
                    data.insert(&node.name, column);
                    if dice.below(20) == 0 {
                        let more = dice.column(rows);
                        data.insert(&format!("{}1", node.name), more);
                    }
                }
                data
            };
            let (data, new) = (make(&mut dice), make(&mut dice));
            cases += 1;
            match catch_unwind(AssertUnwindSafe(|| everything(model, &data, &new))) {
                Ok(done) => fitted += usize::from(done),
                Err(_) => panic!("round {round}, {name}, data {data:?}, new {new:?}"),
            }
        }
    }
    // the test is worth something only if many of them get through
    assert!(fitted * 5 > cases, "{fitted} of {cases} were fitted");
}
