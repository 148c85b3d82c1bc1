//! Figures of the literature on its own data, on a few splits; `examples/tables.rs` takes all of them.
//! Data that are not part of this project may be absent: the test says so and passes.

use std::io::Read;
use std::path::PathBuf;

use nalgebra::DMatrix;
use sbl::plan::ir::Options;

use crate::problems::{ard, fit_with, predict};

/// A table of numbers, or `None` with a note.
fn table(name: &str) -> Option<Vec<Vec<f64>>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("SBL_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let own = std::fs::read(root.join("examples/data").join(name));
    let Ok(bytes) = own.or_else(|_| std::fs::read(shared.join("data").join(name))) else {
        println!("skipped: {name} is not here");
        return None;
    };
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    Some(
        text.lines()
            .skip(1)
            .filter(|l| !l.is_empty())
            .map(|l| l.split(',').map(|v| v.trim().parse().unwrap()).collect())
            .collect(),
    )
}

fn matrix(rows: &[&Vec<f64>]) -> DMatrix<f64> {
    let d = rows[0].len() - 1;
    DMatrix::from_fn(rows.len(), d, |i, j| rows[i][j])
}

fn targets(rows: &[&Vec<f64>]) -> Vec<f64> {
    rows.iter().map(|r| r[r.len() - 1]).collect()
}

/// Both scaled by mean and deviation of the first.
fn standardize(train: &DMatrix<f64>, test: &DMatrix<f64>) -> (DMatrix<f64>, DMatrix<f64>) {
    let n = train.nrows() as f64;
    let (mut a, mut b) = (train.clone(), test.clone());
    for j in 0..train.ncols() {
        let mean = train.column(j).sum() / n;
        let sd = (train.column(j).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        a.column_mut(j).iter_mut().chain(b.column_mut(j).iter_mut()).for_each(|v| *v = (*v - mean) / sd);
    }
    (a, b)
}

fn options() -> Options {
    let min_gain = std::env::var("SBL_MIN_GAIN").ok().and_then(|v| v.parse().ok());
    Options { min_gain: min_gain.unwrap_or(Options::default().min_gain), ..Options::default() }
}

struct Average(Vec<f64>);

impl Average {
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

/// Boston, (1 + x·c)³ on standardised inputs: mean squared error, vectors, noise variance, seconds.
fn boston(splits: usize) -> Option<(f64, f64)> {
    let (pool, index) = (table("boston.csv")?, table("boston_test_idx.csv")?);
    let (mut error, mut vectors, mut noise) = (Vec::new(), Vec::new(), Vec::new());
    let started = std::time::Instant::now();
    for split in 0..splits.min(index[0].len()) {
        let test_rows: Vec<usize> = index.iter().map(|r| r[split] as usize).collect();
        let (test, train): (Vec<_>, Vec<_>) = (0..pool.len()).partition(|r| test_rows.contains(r));
        let train: Vec<&Vec<f64>> = train.into_iter().map(|r| &pool[r]).collect();
        let test: Vec<&Vec<f64>> = test.into_iter().map(|r| &pool[r]).collect();
        let (x, xs) = standardize(&matrix(&train), &matrix(&test));
        let kernel = |a: &DMatrix<f64>| (a * x.transpose()).map(|v| (1.0 + v).powi(3)).insert_column(0, 1.0);
        let s = fit_with(&ard(&kernel(&x), &targets(&train), &[]), &options());
        let fitted = predict(&s, &kernel(&xs)).0;
        let t = targets(&test);
        error.push(t.iter().zip(&fitted).map(|(t, f)| (t - f).powi(2)).sum::<f64>() / t.len() as f64);
        vectors.push(s.active.iter().filter(|&&i| i > 0).count() as f64);
        noise.push(1.0 / s.hypers.last().unwrap());
        if split < 3 {
            println!("{:?} {:?} L {}", s.report, started.elapsed(), s.log_evidence);
        }
    }
    let each = started.elapsed().as_secs_f64() / error.len() as f64;
    let (error, vectors) = (Average(error).mean(), Average(vectors).mean());
    println!("boston: mse {error} vectors {vectors} noise {} seconds {each}", Average(noise).mean().sqrt());
    Some((error, vectors))
}

/// Sinc with Gaussian noise, linear-spline kernel: error from the true function, vectors.
fn sinc(sets: usize) -> Option<(f64, f64)> {
    let (train, test) = (table("sinc_gauss100_train.csv.gz")?, table("sinc_test.csv")?);
    let spline = |x: f64, c: f64| {
        let m = x.min(c);
        1.0 + x * c + x * c * m - (x + c) / 2.0 * m * m + m.powi(3) / 3.0
    };
    let (mut error, mut vectors) = (Vec::new(), Vec::new());
    let started = std::time::Instant::now();
    for set in 1..=sets {
        let rows: Vec<&Vec<f64>> = train.iter().filter(|r| r[0] == set as f64).collect();
        let centres: Vec<f64> = rows.iter().map(|r| r[1]).collect();
        let t: Vec<f64> = rows.iter().map(|r| r[2]).collect();
        let design = |x: &[f64]| {
            DMatrix::from_fn(x.len(), centres.len() + 1, |i, j| {
                if j == 0 { 1.0 } else { spline(x[i], centres[j - 1]) }
            })
        };
        let s = fit_with(&ard(&design(&centres), &t, &[]), &options());
        let xs: Vec<f64> = test.iter().map(|r| r[0]).collect();
        let fitted = predict(&s, &design(&xs)).0;
        let squares: f64 = test.iter().zip(&fitted).map(|(r, f)| (r[1] - f).powi(2)).sum();
        error.push((squares / test.len() as f64).sqrt());
        vectors.push(s.active.iter().filter(|&&i| i > 0).count() as f64);
    }
    let each = started.elapsed().as_secs_f64() / error.len() as f64;
    let (error, vectors) = (Average(error).mean(), Average(vectors).mean());
    println!("sinc: rms {error} vectors {vectors} seconds {each}");
    Some((error, vectors))
}

/// Diabetes, linear ARD with a flat intercept, standardised, ten folds.
fn diabetes() -> Option<f64> {
    let pool = table("diabetes.csv")?;
    let mut squares = 0.0;
    for fold in 0..10 {
        let (test, train): (Vec<_>, Vec<_>) = (0..pool.len()).partition(|r| r % 10 == fold);
        let train: Vec<&Vec<f64>> = train.into_iter().map(|r| &pool[r]).collect();
        let test: Vec<&Vec<f64>> = test.into_iter().map(|r| &pool[r]).collect();
        let (x, xs) = standardize(&matrix(&train), &matrix(&test));
        let (x, xs) = (x.insert_column(0, 1.0), xs.insert_column(0, 1.0));
        let s = fit_with(&ard(&x, &targets(&train), &[0]), &options());
        let fitted = predict(&s, &xs).0;
        squares += targets(&test).iter().zip(&fitted).map(|(t, f)| (t - f).powi(2)).sum::<f64>();
    }
    let error = squares / pool.len() as f64;
    println!("diabetes: mse {error}");
    Some(error)
}

#[test]
fn a_few_splits() {
    if let Some((error, vectors)) = sinc(4) {
        assert!(error < 0.045 && (4.0..=11.0).contains(&vectors), "{error} {vectors}");
    }
    if let Some((error, vectors)) = boston(1) {
        assert!(error < 60.0 && (30.0..=60.0).contains(&vectors), "{error} {vectors}");
    }
    if let Some(error) = diabetes() {
        assert!(error <= 3080.0, "{error}");
    }
}
