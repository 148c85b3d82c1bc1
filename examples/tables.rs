//! Regenerates the table of `docs/results.md`.
//!
//! ```text
//! cargo run --release --example tables -- --data DIR [--quick] [--out docs/results.md]
//! ```
//! DIR holds the data sets as CSV files; a set that is not there is left out, and said so. The diabetes set comes with the
//! repository. `--quick` takes 5 repetitions of each set.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use sbl::{Compiler, Data, Fit, Model, Options};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One line of the table.
struct Row {
    set: &'static str,
    protocol: &'static str,
    measure: &'static str,
    published: &'static str,
    errors: Vec<f64>,
    vectors: Vec<f64>,
    noise: Vec<f64>,
    seconds: f64,
}

/// A table of numbers with names for its columns.
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

const SINC: &str = "
use std.kernels.linear_spline
use std.priors.ard
data x: real[N]
data t: real[N]
let phi = [1, linear_spline(x)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

const BOSTON: &str = "
use std.kernels.polynomial
use std.priors.ard
data x: real[N, D]
data t: real[N]
let phi = [1, polynomial(standardize(x), degree = 3)]
w ~ ard(cols(phi))
tau ~ Gamma(0, 0)
t ~ Normal(phi * w, precision = tau)
";

const DIABETES: &str = "
use std.priors.ard
data x: real[N, D]
data t: real[N]
mu ~ Flat()
w ~ ard(D)
tau ~ Gamma(0, 0)
t ~ Normal(mu + standardize(x) * w, precision = tau)
";

fn main() -> Result<()> {
    let mut data: Option<PathBuf> = None;
    let mut out: Option<PathBuf> = None;
    let mut quick = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--data" => data = args.next().map(PathBuf::from),
            "--out" => out = args.next().map(PathBuf::from),
            "--quick" => quick = true,
            other => return Err(format!("unknown argument `{other}`").into()),
        }
    }
    let most = if quick { 5 } else { usize::MAX };
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    let mut rows = Vec::new();
    if let Some(dir) = &data {
        for run in [sinc, boston, boston_sequential] {
            match run(dir, most) {
                Ok(row) => rows.push(row),
                Err(error) => eprintln!("left out: {error}"),
            }
        }
    } else {
        eprintln!("left out without --data DIR: sinc, Boston");
    }
    rows.push(diabetes(&own, most)?);
    let text = render(&rows);
    print!("{text}");
    if let Some(path) = out {
        let page = std::fs::read_to_string(&path)?;
        let (head, rest) = page.split_once("<!-- table -->").ok_or("the page has no `<!-- table -->`")?;
        let tail = rest.split_once("<!-- end -->").map_or("", |(_, tail)| tail);
        std::fs::write(&path, format!("{head}<!-- table -->\n{text}<!-- end -->{tail}"))?;
    }
    Ok(())
}

/// 100 sets of 100 points of sinc with Gaussian noise 0.1, linear spline kernel (Tipping 2001, Table 1).
fn sinc(dir: &Path, most: usize) -> Result<Row> {
    let train = read(&dir.join("sinc_gauss100_train.csv.gz"))?;
    let test = read(&dir.join("sinc_test.csv"))?;
    let model = Model::compile(SINC)?;
    let test_x = Data::new().vector("x", test.column("x")?)?;
    let mut row = Row::new(
        "sinc, N = 100",
        "100 sets, Gaussian noise 0.1, linear spline kernel; RMS error from the true function",
        "RMS",
        "0.0326",
    );
    let sets = train.column("rep")?.iter().fold(0.0, |a: f64, b| a.max(*b)) as usize;
    for set in progress("sinc", sets.min(most)) {
        let rows: Vec<usize> = train.rows_where("rep", (set + 1) as f64)?;
        let data = Data::new()
            .vector("x", &pick(train.column("x")?, &rows))?
            .vector("t", &pick(train.column("t")?, &rows))?;
        let fit = row.fit(&model, &data)?;
        row.errors.push(mse(fit.predict(&test_x)?.mean(), test.column("t")?).sqrt());
    }
    Ok(row)
}

/// 481 training and 25 test rows, kernel (1 + x·c)³ on standardised inputs (Bishop and Tipping 2000, Table 2).
fn boston(dir: &Path, most: usize) -> Result<Row> {
    boston_by(dir, most, "evidence", "Boston housing")
}

/// The same, one basis function at a time, which is what `auto` takes for 482 weights.
fn boston_sequential(dir: &Path, most: usize) -> Result<Row> {
    boston_by(dir, most, "sequential", "Boston housing, sequential")
}

fn boston_by(dir: &Path, most: usize, infer: &str, set: &'static str) -> Result<Row> {
    let pool = read(&dir.join("boston.csv"))?;
    let splits = read(&dir.join("boston_test_idx.csv"))?;
    let model = Compiler::new().infer(infer).compile(BOSTON)?;
    let mut row = Row::new(
        set,
        "100 splits 481/25, kernel (1 + x·c)³ on standardised inputs",
        "MSE",
        "10.17 (other splits)",
    );
    for split in progress("Boston", splits.columns.len().min(most)) {
        let test: Vec<usize> = splits.columns[split].iter().map(|i| *i as usize).collect();
        row.hold_out(&model, &pool, &test)?;
    }
    Ok(row)
}

/// Ten folds of the diabetes set, linear model (Efron et al. 2004 for the data).
fn diabetes(dir: &Path, most: usize) -> Result<Row> {
    let pool = read(&dir.join("diabetes.csv"))?;
    let model = Model::compile(DIABETES)?;
    let mut row =
        Row::new("diabetes", "10-fold cross-validation, linear ARD with a flat intercept", "MSE", "–");
    let n = pool.columns[0].len();
    // a fixed shuffle (Knuth's multiplicative generator), so that the table can be made again
    let mut order: Vec<usize> = (0..n).collect();
    let mut state: u64 = 20_010_601;
    for i in (1..n).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    for fold in progress("diabetes", 10.min(most)) {
        let test: Vec<usize> = order.iter().skip(fold).step_by(10).copied().collect();
        row.hold_out(&model, &pool, &test)?;
    }
    Ok(row)
}

impl Row {
    fn new(set: &'static str, protocol: &'static str, measure: &'static str, published: &'static str) -> Row {
        Row {
            set,
            protocol,
            measure,
            published,
            errors: vec![],
            vectors: vec![],
            noise: vec![],
            seconds: 0.0,
        }
    }

    /// Fits, and notes the number of kept weights without a bias, and the noise.
    fn fit(&mut self, model: &Model, data: &Data) -> Result<Fit> {
        let start = Instant::now();
        let fit = model.fit(data, &Options::default())?;
        self.seconds += start.elapsed().as_secs_f64();
        if !fit.converged() {
            return Err(format!("{}: a fit did not converge", self.set).into());
        }
        let w = fit.node("w")?;
        let kept = w.labels.unwrap_or_default().iter().filter(|l| *l != "bias").count();
        self.vectors.push(kept as f64);
        let tau = fit.node("tau")?.value.map_or(f64::NAN, |v| v.as_slice()[0]);
        self.noise.push(tau.powf(-0.5));
        Ok(fit)
    }

    /// Fits on all rows but these, and notes the squared error on these. The last column is the target.
    fn hold_out(&mut self, model: &Model, pool: &Table, test: &[usize]) -> Result<()> {
        let n = pool.columns[0].len();
        let train: Vec<usize> = (0..n).filter(|i| !test.contains(i)).collect();
        let fit = self.fit(model, &pool.data(&train)?)?;
        let target = pool.columns.last().ok_or("no column")?;
        self.errors.push(mse(fit.predict(&pool.data(test)?)?.mean(), &pick(target, test)));
        Ok(())
    }
}

impl Table {
    fn column(&self, name: &str) -> Result<&[f64]> {
        let at = self.names.iter().position(|n| n == name).ok_or_else(|| format!("no column {name}"))?;
        Ok(&self.columns[at])
    }

    fn rows_where(&self, name: &str, value: f64) -> Result<Vec<usize>> {
        let column = self.column(name)?;
        Ok((0..column.len()).filter(|i| column[*i] == value).collect())
    }

    /// These rows as data; the last column is called `t`.
    fn data(&self, rows: &[usize]) -> Result<Data> {
        let mut data = Data::new();
        for (k, (name, column)) in self.names.iter().zip(&self.columns).enumerate() {
            let name = if k + 1 == self.names.len() { "t" } else { name };
            data = data.vector(name, &pick(column, rows))?;
        }
        Ok(data)
    }
}

fn read(path: &Path) -> Result<Table> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut text = String::new();
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes)?;
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for record in reader.records() {
        for (column, cell) in columns.iter_mut().zip(record?.iter()) {
            column.push(cell.parse()?);
        }
    }
    Ok(Table { names, columns })
}

fn pick(column: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|i| column[*i]).collect()
}

fn mse(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len() as f64
}

fn progress(name: &'static str, n: usize) -> impl Iterator<Item = usize> {
    let bar = ProgressBar::new(n as u64).with_message(name);
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    (0..n).inspect(move |_| bar.inc(1))
}

fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| data | protocol | published | ours: mean (sd) | vectors | noise sd | seconds a fit |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        let (mean, sd) = moments(&row.errors);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} {} ({}) | {:.1} | {:.3} | {:.3} |",
            row.set,
            row.protocol,
            row.published,
            row.measure,
            short(mean),
            short(sd),
            moments(&row.vectors).0,
            moments(&row.noise).0,
            row.seconds / row.errors.len() as f64,
        );
    }
    text
}

fn short(x: f64) -> String {
    if x < 1.0 {
        format!("{x:.4}")
    } else if x < 100.0 {
        format!("{x:.2}")
    } else {
        format!("{x:.0}")
    }
}

fn moments(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (mean, (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}
