//! The data sets and how each is taken.

use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use sbl::{Compiler, CrossOptions, Fit, Model, Options, cross_validate};

use crate::Result;
use crate::programs as of;
use crate::report::Row;
use crate::sets::{Set, Shuffles, Split, folds, splits};
use crate::svm::{self, Target};

/// One row of the table.
pub struct Protocol {
    /// As `--only` looks for it.
    pub name: &'static str,
    /// Whether the data come with the repository.
    pub own: bool,
    /// How it is taken, for the table.
    text: &'static str,
    published: &'static str,
    measure: Measure,
    program: &'static str,
    /// Values of `width` to choose from; one is taken as it is, none means that the program has no width.
    widths: &'static [f64],
    /// Whether the width is chosen on the first training part only.
    once: bool,
    /// Folds of the cross-validation that chooses it.
    folds: usize,
    /// The support vector machine beside it.
    machine: Machine,
    /// Whether the count of vectors is given with the bias too.
    with_bias: bool,
    splits: fn(&Path, usize) -> Result<Vec<Split>>,
}

/// The figure.
#[derive(Clone, Copy, PartialEq)]
enum Measure {
    Rms,
    Mse,
    ErrorRate,
    Wrong,
    /// Zero-one and absolute error.
    Ordered,
}

/// A support vector machine.
#[derive(Clone, Copy)]
enum Machine {
    /// On the inputs as they are.
    Plain,
    /// On standardised inputs.
    Standardized,
    /// That of another row, which takes the same data.
    Of(&'static str),
}

const CURVE_WIDTHS: &[f64] = &[1.0, 1.5, 2.0, 3.0, 4.0];
const WIDTHS: &[f64] = &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0];
/// Four or more standardised inputs; the loss is flat in the width, so it takes many folds to see its minimum.
const BROAD: &[f64] = &[3.0, 4.0, 6.0, 8.0];
const NARROW: &[f64] = &[0.3, 0.5, 0.7, 1.0, 1.5, 2.0];
/// Widths of the benchmark of Rätsch, whose inputs are standardised already.
const IDA: &[f64] = &[1.0, 2.0, 3.0, 5.0, 8.0, 12.0];

const BASE: Protocol = Protocol {
    name: "",
    own: false,
    text: "",
    published: "–",
    measure: Measure::Mse,
    program: "",
    widths: &[],
    once: false,
    folds: 5,
    machine: Machine::Plain,
    with_bias: false,
    splits: |_, _| Ok(Vec::new()),
};

/// Every row, in the order of the table.
pub const ALL: &[Protocol] = &[
    Protocol {
        name: "sinc-50",
        text: "25 sets of 50, Gaussian noise 0.1; RMS error from the true function",
        published: "0.0494, 6.9 vectors (SVM 0.0519)",
        measure: Measure::Rms,
        program: of::CURVE,
        widths: CURVE_WIDTHS,
        splits: |dir, most| repetitions(dir, "sinc_gauss50_train", "sinc_test", 1, 25.min(most)),
        ..BASE
    },
    Protocol {
        name: "sinc-50-variational",
        text: "the same, mean field, width 2",
        published: "0.0494, 7.4 vectors",
        measure: Measure::Rms,
        program: of::CURVE_VARIATIONAL,
        widths: &[2.0],
        machine: Machine::Of("sinc-50"),
        splits: |dir, most| repetitions(dir, "sinc_gauss50_train", "sinc_test", 1, 25.min(most)),
        ..BASE
    },
    Protocol {
        name: "sinc-100",
        text: "100 sets of 100, Gaussian noise 0.1, linear spline kernel; RMS error from the true function",
        published: "0.0326, 6.7 vectors",
        measure: Measure::Rms,
        program: of::SPLINE,
        splits: |dir, most| repetitions(dir, "sinc_gauss100_train", "sinc_test", 1, 100.min(most)),
        ..BASE
    },
    Protocol {
        name: "sinc-100-uniform",
        text: "the same, uniform noise in ±0.1",
        published: "0.0187, 7.0 vectors",
        measure: Measure::Rms,
        program: of::SPLINE,
        splits: |dir, most| repetitions(dir, "sinc_unif100_train", "sinc_test", 1, 100.min(most)),
        ..BASE
    },
    Protocol {
        name: "friedman-1",
        text: "25 sets of 240, one width; MSE from the true function",
        published: "2.80, 59.4 vectors",
        program: of::SURFACE,
        widths: BROAD,
        folds: 10,
        machine: Machine::Standardized,
        splits: |dir, most| repetitions(dir, "friedman1_train", "friedman1_test", 1, 25.min(most)),
        ..BASE
    },
    Protocol {
        name: "friedman-1-scales",
        text: "the same, a scale for each input learned from the evidence",
        published: "0.27, 11.5 vectors",
        program: of::SCALES,
        machine: Machine::Of("friedman-1"),
        splits: |dir, most| repetitions(dir, "friedman1_train", "friedman1_test", 1, 25.min(most)),
        ..BASE
    },
    Protocol {
        name: "friedman-2",
        text: "25 sets of 240; MSE from the true function",
        published: "3505, 6.9 vectors",
        program: of::SURFACE,
        widths: BROAD,
        folds: 20,
        machine: Machine::Standardized,
        splits: |dir, most| repetitions(dir, "friedman2_train", "friedman2_test", 1, 25.min(most)),
        ..BASE
    },
    Protocol {
        name: "friedman-3",
        text: "25 sets of 240; MSE from the true function",
        published: "0.0164, 11.5 vectors",
        program: of::SURFACE,
        widths: BROAD,
        folds: 20,
        machine: Machine::Standardized,
        splits: |dir, most| repetitions(dir, "friedman3_train", "friedman3_test", 1, 25.min(most)),
        ..BASE
    },
    Protocol {
        name: "boston",
        text: "100 splits 481/25, kernel (1 + x·c)³ on standardised inputs, batch",
        published: "10.17, 41.1 vectors (other splits)",
        program: of::CUBIC_BATCH,
        machine: Machine::Standardized,
        splits: |dir, most| {
            splits(&Set::read(dir, "boston")?, &Set::read(dir, "boston_test_idx")?, true, most)
        },
        ..BASE
    },
    Protocol {
        name: "boston-sequential",
        text: "the same, sequential (the default from 400 weights on)",
        published: "10.17, 41.1 vectors (other splits)",
        program: of::CUBIC,
        machine: Machine::Of("boston"),
        splits: |dir, most| {
            splits(&Set::read(dir, "boston")?, &Set::read(dir, "boston_test_idx")?, true, most)
        },
        ..BASE
    },
    Protocol {
        name: "concrete",
        text: "5 folds",
        program: of::SURFACE,
        widths: &[1.0, 1.5, 2.0, 3.0, 4.0],
        once: true,
        machine: Machine::Standardized,
        splits: |dir, most| Ok(folds(&Set::read(dir, "reg_concrete")?, 5, most)),
        ..BASE
    },
    Protocol {
        name: "diabetes",
        own: true,
        text: "10 folds, linear ARD with a flat intercept",
        program: of::LINEAR,
        machine: Machine::Standardized,
        splits: |dir, most| Ok(folds(&Set::read(dir, "diabetes")?, 10, most)),
        ..BASE
    },
    Protocol {
        name: "ripley",
        text: "25 times 100 of the 250 training rows (drawn one after the other from seed 1), width 0.5, 1000 test rows",
        program: of::CLASSES,
        ..RIPLEY
    },
    Protocol {
        name: "ripley-plain",
        text: "the same with min_gain = 0, as published: what is kept has q² > s",
        program: of::CLASSES_PLAIN,
        machine: Machine::Of("ripley"),
        ..RIPLEY
    },
    Protocol {
        name: "ripley-sequential",
        text: "the same, min_gain = 0, one basis function at a time",
        program: of::CLASSES_SEQUENTIAL,
        machine: Machine::Of("ripley"),
        ..RIPLEY
    },
    Protocol {
        name: "ripley-variational",
        text: "the same by the bound of Jaakkola and Jordan",
        published: "9.2 %, 4 vectors",
        program: of::CLASSES_VARIATIONAL,
        machine: Machine::Of("ripley"),
        ..RIPLEY
    },
    Protocol {
        name: "ripley-plain-100",
        text: "ripley-plain on 100 subsets (the 25 and the 75 next ones)",
        program: of::CLASSES_PLAIN,
        splits: |dir, most| ripley(dir, 100.min(most)),
        ..RIPLEY
    },
    Protocol {
        name: "ripley-sequential-100",
        text: "ripley-sequential on the same 100",
        program: of::CLASSES_SEQUENTIAL,
        machine: Machine::Of("ripley-plain-100"),
        splits: |dir, most| ripley(dir, 100.min(most)),
        ..RIPLEY
    },
    Protocol {
        name: "ripley-variational-100",
        text: "ripley-variational on the same 100",
        published: "9.2 %, 4 vectors",
        program: of::CLASSES_VARIATIONAL,
        machine: Machine::Of("ripley-plain-100"),
        splits: |dir, most| ripley(dir, 100.min(most)),
        ..RIPLEY
    },
    Protocol {
        name: "pima",
        text: "200 training, 332 test rows",
        published: "65, 4 vectors (SVM 64, 110)",
        measure: Measure::Wrong,
        program: of::CLASSES_STANDARDIZED,
        widths: WIDTHS,
        machine: Machine::Standardized,
        splits: |dir, _| {
            Ok(vec![Split { train: Set::read(dir, "pima_tr")?, test: Set::read(dir, "pima_te")? }])
        },
        ..BASE
    },
    Protocol {
        name: "banana",
        published: "10.8 %, 11.4 vectors (SVM 10.9 %, 135)",
        widths: NARROW,
        splits: |d, m| ida(d, "banana", m),
        ..IDA_BASE
    },
    Protocol {
        name: "titanic",
        published: "23.0 %, 65.3 vectors (SVM 22.1 %, 94)",
        splits: |d, m| ida(d, "titanic", m),
        ..IDA_BASE
    },
    Protocol {
        name: "waveform",
        published: "10.9 %, 14.6 vectors (SVM 10.3 %, 146)",
        splits: |d, m| ida(d, "waveform", m),
        ..IDA_BASE
    },
    Protocol {
        name: "german",
        published: "22.2 %, 12.5 vectors (SVM 22.6 %, 411)",
        splits: |d, m| ida(d, "german", m),
        ..IDA_BASE
    },
    Protocol {
        name: "image",
        published: "3.9 %, 34.6 vectors (SVM 3.0 %, 167)",
        splits: |d, m| ida(d, "image", m),
        ..IDA_BASE
    },
    Protocol {
        name: "breast-cancer",
        published: "29.9 %, 6.3 vectors (SVM 26.9 %, 117)",
        splits: |d, m| ida(d, "breast_cancer", m),
        ..IDA_BASE
    },
    Protocol { name: "ordinal-toy", splits: |d, m| ordered(d, "toy", "toy", m), ..ORDERED_BASE },
    Protocol {
        name: "ordinal-toy-1000",
        text: "the set of 1,000 rows of Li and de Rijke, 20,000 test rows",
        widths: &[1.0, 1.5, 2.0, 3.0],
        folds: 10,
        splits: |d, _| repetitions(d, "ord_toy1000_train", "ord_toy1000_test", 0, 1),
        ..ORDERED_BASE
    },
    Protocol {
        name: "ordinal-newthyroid",
        splits: |d, m| ordered(d, "newthyroid", "newthyroid", m),
        ..ORDERED_BASE
    },
    Protocol {
        name: "ordinal-machine",
        splits: |d, m| ordered(d, "machine_freq5", "machine", m),
        ..ORDERED_BASE
    },
    Protocol {
        name: "ordinal-autompg",
        splits: |d, m| ordered(d, "autompg_freq5", "autompg", m),
        ..ORDERED_BASE
    },
    Protocol {
        name: "ordinal-boston",
        splits: |d, m| ordered(d, "boston_freq5", "boston", m),
        ..ORDERED_BASE
    },
    Protocol { name: "ordinal-esl", splits: |d, m| ordered(d, "esl", "esl", m), ..ORDERED_BASE },
    Protocol { name: "ordinal-swd", splits: |d, m| ordered(d, "swd", "swd", m), ..ORDERED_BASE },
    Protocol { name: "ordinal-lev", splits: |d, m| ordered(d, "lev", "lev", m), ..ORDERED_BASE },
    Protocol {
        name: "ordinal-stocks",
        splits: |d, m| ordered(d, "stocks_freq5", "stocks", m),
        ..ORDERED_BASE
    },
    Protocol { name: "ordinal-era", splits: |d, m| ordered(d, "era", "era", m), ..ORDERED_BASE },
];

const RIPLEY: Protocol = Protocol {
    published: "9.3 %, 4 vectors (SVM 10.6 %, 38)",
    measure: Measure::ErrorRate,
    widths: &[0.5],
    with_bias: true,
    splits: |dir, most| ripley(dir, 25.min(most)),
    ..BASE
};

const IDA_BASE: Protocol = Protocol {
    text: "the first 10 splits of Rätsch's benchmark",
    measure: Measure::ErrorRate,
    program: of::CLASSES,
    widths: IDA,
    once: true,
    ..BASE
};

const ORDERED_BASE: Protocol = Protocol {
    text: "5 splits, 75 % to train",
    measure: Measure::Ordered,
    program: of::ORDERED,
    widths: WIDTHS,
    once: true,
    machine: Machine::Standardized,
    ..BASE
};

/// Sets of a file with a column `rep`, and one test set.
fn repetitions(dir: &Path, train: &str, test: &str, first: usize, most: usize) -> Result<Vec<Split>> {
    let all = Set::read(dir, train)?;
    (first..first + most)
        .map(|r| Ok(Split { train: all.repetition(r), test: Set::read(dir, test)? }))
        .collect()
}

/// Random hundreds of the 250 training rows, by the seeds from 1.
fn ripley(dir: &Path, most: usize) -> Result<Vec<Split>> {
    let all = Set::read(dir, "ripley_tr")?;
    let mut shuffles = Shuffles::from_seed(1);
    (0..most)
        .map(|_| {
            let train = all.select(&shuffles.next(all.rows())[..100]);
            Ok(Split { train, test: Set::read(dir, "ripley_te")? })
        })
        .collect()
}

fn ida(dir: &Path, name: &str, most: usize) -> Result<Vec<Split>> {
    let (pool, lists) = (format!("ida_{name}"), format!("ida_{name}_train_idx"));
    splits(&Set::read(dir, &pool)?, &Set::read(dir, &lists)?, false, most)
}

fn ordered(dir: &Path, pool: &str, lists: &str, most: usize) -> Result<Vec<Split>> {
    let (pool, lists) = (format!("ord_{pool}"), format!("ord_{lists}_train_idx"));
    splits(&Set::read(dir, &pool)?, &Set::read(dir, &lists)?, false, 5.min(most))
}

impl Protocol {
    /// Takes at most so many repetitions.
    pub fn run(&self, dir: &Path, most: usize) -> Result<Row> {
        let splits = (self.splits)(dir, most)?;
        let first = splits.first().ok_or("no split")?;
        let program = match self.measure {
            Measure::Ordered => self.program.replace("LEVELS", &levels(&splits).join(" < ")),
            _ => self.program.to_owned(),
        };
        let mut row = Row {
            name: self.name,
            protocol: self.text.to_owned(),
            measure: match self.measure {
                Measure::Rms => "RMS",
                Measure::Mse => "MSE",
                Measure::ErrorRate | Measure::Ordered => "error",
                Measure::Wrong => "wrong",
            },
            published: self.published,
            ..Row::default()
        };
        let compile = |width: Option<f64>| -> Result<Model> {
            let compiler = Compiler::new();
            Ok(width.map_or(compiler.clone(), |w| compiler.set("width", w)).compile(&program)?)
        };
        if compile(self.widths.first().copied())?.plan().is_err() {
            return Ok(row);
        }
        let bar = progress(self.name, splits.len());
        let mut width = match self.widths {
            [] => None,
            [one] => Some(*one),
            _ if self.once => Some(self.choose(&program, first)?),
            _ => None,
        };
        let target = self.target(first);
        let standardize = match self.machine {
            Machine::Plain => Some(false),
            Machine::Standardized => Some(true),
            Machine::Of(other) => {
                row.machine_of = Some(other);
                None
            }
        };
        // hundreds of machines a choice: once, on the first training part
        let choose = |standardize| svm::choose(&first.train, &target, standardize, self.machine_widths());
        let setting = standardize.map(choose).transpose()?;
        let mut widths = Vec::new();
        for split in &splits {
            if !self.once && self.widths.len() > 1 {
                width = Some(self.choose(&program, split)?);
            }
            widths.extend(width);
            self.take(&compile(width)?, split, &mut row)?;
            if let (Some(setting), Some(standardize)) = (setting, standardize) {
                let (error, support) = svm::run(split, &target, standardize, setting)?;
                row.machine.push((self.figure(error, split), support));
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        if self.widths.len() > 1 {
            let (least, most) =
                widths.iter().fold((f64::INFINITY, 0.0f64), |(a, b), w| (a.min(*w), b.max(*w)));
            let chosen = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            let part =
                if self.once && splits.len() > 1 { "the first training part" } else { "the training part" };
            row.protocol += &format!("; width {chosen} by {}-fold cross-validation on {part}", self.folds);
        }
        Ok(row)
    }

    /// Fits, scores, and notes the number of vectors and the noise.
    fn take(&self, model: &Model, split: &Split, row: &mut Row) -> Result<()> {
        let (train, test) = (split.train.data()?, split.test.data()?);
        let start = Instant::now();
        let fit = model.fit(&train, &Options::default())?;
        row.seconds += start.elapsed().as_secs_f64();
        row.unfinished += usize::from(!fit.converged());
        let (vectors, with_bias) = vectors(&fit)?;
        row.vectors.push(vectors);
        row.with_bias.extend(self.with_bias.then_some(with_bias));
        row.noise.extend(noise(&fit));
        let scores = fit.score(&test)?;
        let (_, score) = scores.nodes.iter().next().ok_or("no score")?;
        let number = |name: &str| score[name].as_f64().ok_or_else(|| format!("no {name}"));
        match self.measure {
            Measure::Rms | Measure::Mse => row.errors.push(self.figure(number("rmse")?.powi(2), split)),
            Measure::ErrorRate | Measure::Wrong => row.errors.push(self.figure(number("error_rate")?, split)),
            Measure::Ordered => {
                row.errors.push(number("error_rate")?);
                row.second.push(number("mae")?);
            }
        }
        Ok(())
    }

    /// A mean squared error or an error rate as the figure of the table.
    fn figure(&self, error: f64, split: &Split) -> f64 {
        match self.measure {
            Measure::Rms => error.sqrt(),
            Measure::Wrong => (error * split.test.rows() as f64).round(),
            _ => error,
        }
    }

    fn target(&self, split: &Split) -> Target {
        match self.measure {
            Measure::Rms | Measure::Mse => Target::Number,
            Measure::Ordered => Target::Level,
            _ => Target::Class(split.train.levels().pop().unwrap_or_default()),
        }
    }

    /// A machine always has a width to choose.
    fn machine_widths(&self) -> &'static [f64] {
        match (self.widths, self.measure, self.machine) {
            ([_, _, ..], ..) => self.widths,
            (_, Measure::Rms, _) => CURVE_WIDTHS,
            (.., Machine::Standardized) => WIDTHS,
            _ => NARROW,
        }
    }

    /// The width with the least loss in 5-fold cross-validation on a training part.
    fn choose(&self, program: &str, split: &Split) -> Result<f64> {
        let settings = Compiler::new().grid(program, &[("width".to_owned(), self.widths.to_vec())])?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options = CrossOptions { folds: self.folds, threads, ..CrossOptions::default() };
        let validated = cross_validate(&settings, &split.train.data()?, &options)?;
        let best = validated.settings.iter().position(|s| s.best).ok_or("cross-validation chose no width")?;
        self.widths.get(best).copied().ok_or_else(|| "no such width".into())
    }
}

/// The levels of all rows, whichever part they are in.
fn levels(splits: &[Split]) -> Vec<String> {
    let Some(Split { train, test }) = splits.first() else { return Vec::new() };
    let mut all = train.levels();
    all.extend(test.levels());
    all.sort_by_key(|l| l.parse::<i64>().unwrap_or(0));
    all.dedup();
    all
}

/// Kept weights, or those with q² > s where nothing is pruned: without a bias, and with it.
fn vectors(fit: &Fit) -> Result<(f64, f64)> {
    let w = fit.node("w")?;
    let labels = w.labels.unwrap_or_default();
    let is_vector = |l: Option<&String>| l.is_none_or(|l| l != "bias");
    Ok(match &w.relevant {
        Some(relevant) => {
            let vectors = relevant.iter().filter(|i| is_vector(labels.get(**i))).count();
            (vectors as f64, relevant.len() as f64)
        }
        None => (labels.iter().filter(|l| is_vector(Some(l))).count() as f64, labels.len() as f64),
    })
}

/// The deviation of Gaussian noise.
fn noise(fit: &Fit) -> Option<f64> {
    let tau = fit.node("tau").ok()?;
    let precision = tau.value().first().or(tau.mean().first())?;
    Some(precision.powf(-0.5))
}

fn progress(name: &'static str, n: usize) -> ProgressBar {
    let bar = ProgressBar::new(n as u64).with_message(name);
    if let Ok(style) = ProgressStyle::with_template("{msg:22} {bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.tick();
    bar
}
