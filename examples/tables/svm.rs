//! A support vector machine with a Gaussian kernel: cost, width (and tube of a regression) by 5-fold
//! cross-validation on the first training part, inputs scaled as for sbl. The machine is that of linfa-svm.

use linfa::Dataset;
use linfa::traits::{Fit, Predict};
use linfa_svm::Svm;
use ndarray::{Array1, Array2};

use crate::Result;
use crate::sets::{Set, Split, shuffled};

/// What is tried.
const COSTS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
const TUBES: [f64; 3] = [0.05, 0.2, 0.5];

/// The settings of a machine: cost, width of the kernel exp(−‖x − c‖²/width²), half tube.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    cost: f64,
    width: f64,
    tube: f64,
}

/// Inputs and targets as numbers; the target of classes is ±1.
struct Numbers {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
}

/// Whether a target has classes, and which is the second one.
#[derive(Clone, Debug)]
pub enum Target {
    /// Regression.
    Number,
    /// Ordered levels, which are whole numbers: regression on them, rounded to the nearest.
    Level,
    /// Classification: the positive level.
    Class(String),
}

impl Target {
    fn numbers(&self, set: &Set) -> Result<Vec<f64>> {
        let of = |cell: &String| match self {
            Target::Number | Target::Level => cell.parse().map_err(Into::into),
            Target::Class(positive) => Ok(if cell == positive { 1.0 } else { -1.0 }),
        };
        set.target().iter().map(of).collect()
    }
}

/// The setting with the least error on held-out fifths.
pub fn choose(train: &Set, target: &Target, standardize: bool, widths: &[f64]) -> Result<Setting> {
    let (costs, tubes): (&[f64], &[f64]) = match target {
        Target::Number => (&COSTS, &TUBES),
        // what is rounded needs no narrow tube, and large costs take long
        Target::Level => (&COSTS[..3], &TUBES[1..]),
        Target::Class(_) => (&COSTS, &[0.0]),
    };
    let order = shuffled(train.rows(), 7);
    let mut best: Option<(f64, Setting)> = None;
    for &width in widths {
        for &cost in costs {
            for &tube in tubes {
                let setting = Setting { cost, width, tube };
                let mut error = 0.0;
                for f in 0..5 {
                    let part = |test: bool| -> Vec<usize> {
                        order
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| (i % 5 == f) == test)
                            .map(|(_, r)| *r)
                            .collect()
                    };
                    let split = Split { train: train.select(&part(false)), test: train.select(&part(true)) };
                    error += run(&split, target, standardize, setting)?.0 * split.test.rows() as f64;
                }
                if best.is_none_or(|(least, _)| error < least) {
                    best = Some((error, setting));
                }
            }
        }
    }
    best.map(|(_, setting)| setting).ok_or_else(|| "nothing to choose from".into())
}

/// Mean squared error, or share of wrong classes, on the test part; and the number of support vectors.
pub fn run(split: &Split, target: &Target, standardize: bool, setting: Setting) -> Result<(f64, f64)> {
    let mut train = Numbers { x: split.train.inputs()?, y: target.numbers(&split.train)? };
    let mut test = Numbers { x: split.test.inputs()?, y: target.numbers(&split.test)? };
    if standardize {
        let columns = moments(&train.x);
        for row in train.x.iter_mut().chain(&mut test.x) {
            row.iter_mut()
                .zip(&columns)
                .for_each(|(x, (m, s))| *x = if *s > 0.0 { (*x - m) / s } else { 0.0 });
        }
    }
    let kernel = setting.width * setting.width;
    match target {
        Target::Class(_) => {
            let labels: Array1<bool> = train.y.iter().map(|y| *y > 0.0).collect();
            let machine = Svm::<f64, bool>::params()
                .pos_neg_weights(setting.cost, setting.cost)
                .gaussian_kernel(kernel)
                .fit(&Dataset::new(matrix(&train.x), labels))?;
            let predicted: Array1<bool> = machine.predict(&matrix(&test.x));
            let wrong = predicted.iter().zip(&test.y).filter(|(p, y)| **p != (**y > 0.0)).count();
            Ok((wrong as f64 / test.y.len() as f64, machine.nsupport() as f64))
        }
        Target::Number | Target::Level => {
            // cost and tube are those of a target of deviation 1
            let rows: Vec<Vec<f64>> = train.y.iter().map(|y| vec![*y]).collect();
            let (mean, sd) = moments(&rows).first().copied().unwrap_or((0.0, 1.0));
            let scaled: Array1<f64> = train.y.iter().map(|y| (y - mean) / sd).collect();
            let machine = Svm::<f64, f64>::params()
                .c_svr(setting.cost, Some(setting.tube))
                .gaussian_kernel(kernel)
                .fit(&Dataset::new(matrix(&train.x), scaled))?;
            let predicted: Array1<f64> = machine.predict(&matrix(&test.x));
            let (low, high) = train
                .y
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(*y), high.max(*y)));
            let loss = |(p, y): (&f64, &f64)| {
                let p = p * sd + mean;
                match target {
                    Target::Level => f64::from(p.round().clamp(low, high) != *y),
                    _ => (p - y).powi(2),
                }
            };
            let losses: f64 = predicted.iter().zip(&test.y).map(loss).sum();
            Ok((losses / test.y.len() as f64, machine.nsupport() as f64))
        }
    }
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    let width = rows.first().map_or(0, Vec::len);
    Array2::from_shape_fn((rows.len(), width), |(i, j)| rows[i][j])
}

/// Mean and deviation of each column.
fn moments(rows: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let n = rows.len() as f64;
    (0..rows.first().map_or(0, Vec::len))
        .map(|j| {
            let mean = rows.iter().map(|r| r[j]).sum::<f64>() / n;
            (mean, (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / n).sqrt())
        })
        .collect()
}
