//! Data sets: tables from CSV files, and their division into training and test rows.

use std::io::Read;
use std::path::Path;

use sbl::Data;

use crate::Result;

/// Columns with names; the last one is the target.
pub struct Set {
    names: Vec<String>,
    columns: Vec<Vec<String>>,
}

/// Training data and test data of one repetition.
pub struct Split {
    /// To fit to.
    pub train: Set,
    /// To score on.
    pub test: Set,
}

impl Set {
    /// Reads a file; one that is not there is looked for with `.gz`.
    pub fn read(dir: &Path, name: &str) -> Result<Set> {
        let (plain, packed) = (dir.join(format!("{name}.csv")), dir.join(format!("{name}.csv.gz")));
        let mut text = String::new();
        if plain.exists() {
            text = std::fs::read_to_string(&plain)?;
        } else {
            let file = std::fs::File::open(&packed).map_err(|e| format!("{name}.csv: {e}"))?;
            flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
        }
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let mut columns = vec![Vec::new(); names.len()];
        for record in reader.records() {
            for (column, cell) in columns.iter_mut().zip(record?.iter()) {
                column.push(cell.to_owned());
            }
        }
        Ok(Set { names, columns })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// These rows.
    pub fn select(&self, rows: &[usize]) -> Set {
        let columns = self.columns.iter().map(|c| rows.iter().map(|r| c[*r].clone()).collect()).collect();
        Set { names: self.names.clone(), columns }
    }

    /// The whole numbers of a column, empty cells left out.
    pub fn indices(&self, column: usize) -> Result<Vec<usize>> {
        let cells = self.columns.get(column).ok_or("no such split")?;
        cells.iter().filter(|c| !c.is_empty()).map(|c| Ok(c.parse()?)).collect()
    }

    /// The rows whose first column is this number, without that column.
    pub fn repetition(&self, number: usize) -> Set {
        let wanted = number.to_string();
        let rows: Vec<usize> = (0..self.rows()).filter(|r| self.columns[0][*r] == wanted).collect();
        let mut part = self.select(&rows);
        part.names.remove(0);
        part.columns.remove(0);
        part
    }

    /// The distinct cells of the target, numbers ascending.
    pub fn levels(&self) -> Vec<String> {
        let mut levels = self.target().to_vec();
        levels.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => a.total_cmp(&b),
            _ => a.cmp(b),
        });
        levels.dedup();
        levels
    }

    /// The cells of the target.
    pub fn target(&self) -> &[String] {
        self.columns.last().map_or(&[], Vec::as_slice)
    }

    /// The inputs, row by row.
    pub fn inputs(&self) -> Result<Vec<Vec<f64>>> {
        let inputs = &self.columns[..self.columns.len() - 1];
        let row = |r: usize| inputs.iter().map(|c| Ok(c[r].parse()?)).collect();
        (0..self.rows()).map(row).collect()
    }

    /// A matrix `x` of the inputs, and the target by its own name (`t` or `y`).
    pub fn data(&self) -> Result<Data> {
        let (Some(name), target) = (self.names.last(), self.target()) else { return Err("no column".into()) };
        let data = Data::new().rows("x", &self.inputs()?)?;
        let numbers: std::result::Result<Vec<f64>, _> = target.iter().map(|c| c.parse::<f64>()).collect();
        Ok(match numbers {
            Ok(numbers) => data.vector(name, &numbers)?,
            Err(_) => data.words(name, target)?,
        })
    }
}

/// Parts of a pool: the rows of each list against all others. `held_out` tells which of both the list is.
pub fn splits(pool: &Set, lists: &Set, held_out: bool, most: usize) -> Result<Vec<Split>> {
    (0..lists.width().min(most))
        .map(|s| {
            let listed = lists.indices(s)?;
            let mut is_listed = vec![false; pool.rows()];
            listed.iter().for_each(|r| is_listed[*r] = true);
            let rest: Vec<usize> = (0..pool.rows()).filter(|r| !is_listed[*r]).collect();
            let (train, test) = if held_out { (rest, listed) } else { (listed, rest) };
            Ok(Split { train: pool.select(&train), test: pool.select(&test) })
        })
        .collect()
}

/// Folds of a fixed shuffle: each held out once.
pub fn folds(pool: &Set, k: usize, most: usize) -> Vec<Split> {
    let order = shuffled(pool.rows(), 20_010_601);
    (0..k.min(most))
        .map(|f| {
            let part = |test: bool| -> Vec<usize> {
                order.iter().enumerate().filter(|(i, _)| (i % k == f) == test).map(|(_, r)| *r).collect()
            };
            Split { train: pool.select(&part(false)), test: pool.select(&part(true)) }
        })
        .collect()
}

/// A shuffle by Knuth's multiplicative generator: the same everywhere.
pub fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    Shuffles::from_seed(seed).next(n)
}

/// One shuffle after the other from one seed.
pub struct Shuffles(u64);

impl Shuffles {
    pub fn from_seed(seed: u64) -> Shuffles {
        Shuffles(seed)
    }

    /// The numbers below n (Fisher and Yates; Knuth's multiplicative generator).
    pub fn next(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (self.0 >> 33) as usize % (i + 1));
        }
        order
    }
}
