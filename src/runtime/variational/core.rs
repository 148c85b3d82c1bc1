//! The problem in the form the cycles work on: rows gathered into classes, and compressed where that
//! is exact.
//!
//! A class is a run of rows with one precision. Gaussian rows whose precisions differ by known factors
//! share one, the factors being folded into the rows; such a class is replaced by its coordinates in
//! an orthonormal basis of its columns. A row with a factor or a bound of its own is a class of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::problem::{Kind, Problem, Product, Row, WeightPrior};
use crate::dist::bound::LinkBound;
use crate::math::poll::poll;
use crate::math::product::{columns_of, zeros};
use crate::math::qr;
use crate::plan::ir::{Blocks, Options};
use crate::runtime::prepare::NOISE_CAP;

/// What is left of a column below this fraction of it is rounding.
const SPANNED: f64 = 1e-12;
/// Compressing rows is worth at most this many operations.
const COMPRESSION_COST: f64 = 4e9;

/// Rows with one precision.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub rows: Range<usize>,
    /// Their precision (its known part is that of the largest; 1 in a bound).
    pub noise: Product,
    /// Sum of the case weights.
    pub count: f64,
    /// Σ k (ln known − ln reference): what the folded factors add to Σ k ln precision.
    pub ln_folded: f64,
    /// Σ of squares of the targets outside the basis of the columns.
    pub rest: f64,
    pub local: Local,
    pub terms: Vec<usize>,
}

/// What a row has of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Local {
    Nothing,
    /// A latent scale with ν/2 = this.
    Scale(f64),
    /// A bound: how, the target, the known part of its argument.
    Bound(&'static LinkBound, f64, f64),
}

/// A hyperparameter, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Hyper {
    pub shape: f64,
    pub rate: Product,
    pub point: bool,
    /// Whether ln normaliser of its prior is finite.
    pub proper: bool,
    pub classes: Vec<usize>,
    pub weights: Vec<usize>,
    /// Hyperparameters in whose rate it is.
    pub children: Vec<usize>,
    /// Its mean stays below this.
    pub cap: f64,
}

impl Hyper {
    /// The one weight that it scales, if it scales nothing else.
    pub fn own(&self) -> Option<usize> {
        match (self.classes.as_slice(), self.weights.as_slice(), self.children.as_slice()) {
            ([], &[one], []) => Some(one),
            _ => None,
        }
    }
}

/// The problem as the cycles see it.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    /// n × M.
    pub x: DMatrix<f64>,
    /// Targets less offsets (without meaning in a bound), n.
    pub y: DVector<f64>,
    pub classes: Vec<Class>,
    /// The prior precision of each weight; `None` is flat.
    pub weights: Vec<Option<Product>>,
    pub hypers: Vec<Hyper>,
    /// Weights that share a factor of q.
    pub groups: Vec<Vec<usize>>,
    /// Hyperparameters in the order of their updates: those of weights, their parents, those of rows.
    pub order: Vec<usize>,
    /// How many of them come before the factors of rows.
    pub before_rows: usize,
    /// Weights left out: zero columns and twins of others that have a point precision of their own.
    pub usable: Vec<bool>,
    /// Kept and dropped weights among the twins.
    pub merged: Vec<(usize, Vec<usize>)>,
}

impl Core {
    pub fn new(problem: &Problem, options: &Options) -> Core {
        let mut core = Core::whole(problem, options);
        core.merge();
        core
    }

    /// The same with every weight in the model, twins and columns of zeros too.
    pub fn whole(problem: &Problem, options: &Options) -> Core {
        let m = problem.weights.len();
        let mut core = Core {
            x: DMatrix::zeros(0, m),
            y: DVector::zeros(0),
            classes: Vec::new(),
            weights: problem
                .weights
                .iter()
                .map(|w| match w {
                    WeightPrior::Flat => None,
                    WeightPrior::Normal(product) => Some(product.clone()),
                })
                .collect(),
            hypers: Vec::new(),
            groups: groups(problem, options),
            order: Vec::new(),
            before_rows: 0,
            usable: vec![true; m],
            merged: Vec::new(),
        };
        core.gather(problem);
        core.describe_hypers(problem);
        core
    }

    /// Classes of rows: Gaussian ones by their hyperparameters, the others one by one.
    fn gather(&mut self, problem: &Problem) {
        let mut shared: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        let mut single: Vec<usize> = Vec::new();
        for (r, row) in problem.rows.iter().enumerate().filter(|(_, row)| row.count > 0.0) {
            match row.kind {
                Kind::Gaussian => shared.entry(&row.noise.hypers).or_default().push(r),
                _ => single.push(r),
            }
        }
        let mut blocks: Vec<(DMatrix<f64>, DVector<f64>)> = Vec::new();
        let mut start = 0;
        for (hypers, rows) in &shared {
            let known = |r: usize| problem.rows[r].noise.ln_known;
            let reference = rows.iter().map(|&r| known(r)).fold(f64::NEG_INFINITY, f64::max);
            let factor: Vec<f64> =
                rows.iter().map(|&r| (problem.rows[r].count * (known(r) - reference).exp()).sqrt()).collect();
            let x = DMatrix::from_fn(rows.len(), self.weights.len(), |i, j| {
                if i == 0 {
                    poll();
                }
                factor[i] * problem.design[(rows[i], j)]
            });
            let y = DVector::from_fn(rows.len(), |i, _| {
                let row: &Row = &problem.rows[rows[i]];
                factor[i] * (row.target - row.offset)
            });
            let (x, y, rest) = compress(x, y);
            let mut terms: Vec<usize> = rows.iter().map(|&r| problem.rows[r].term).collect();
            terms.dedup();
            let count = rows.iter().map(|&r| problem.rows[r].count).sum();
            self.classes.push(Class {
                rows: start..start + x.nrows(),
                noise: Product { ln_known: reference, hypers: hypers.to_vec() },
                count,
                ln_folded: rows.iter().map(|&r| problem.rows[r].count * (known(r) - reference)).sum(),
                rest,
                local: Local::Nothing,
                terms,
            });
            start += x.nrows();
            blocks.push((x, y));
        }
        for r in single {
            let row = &problem.rows[r];
            let local = match row.kind {
                Kind::Gaussian => Local::Nothing,
                Kind::Mixture { dof } => Local::Scale(0.5 * dof),
                Kind::Bound { link } => Local::Bound(link, row.target, row.offset),
            };
            self.classes.push(Class {
                rows: start..start + 1,
                noise: row.noise.clone(),
                count: row.count,
                ln_folded: 0.0,
                rest: 0.0,
                local,
                terms: vec![row.term],
            });
            start += 1;
            blocks.push((
                DMatrix::from_fn(1, self.weights.len(), |_, j| problem.design[(r, j)]),
                DVector::from_element(1, row.target - row.offset),
            ));
        }
        self.x = zeros(start, self.weights.len());
        self.y = DVector::zeros(start);
        let mut at = 0;
        for (x, y) in blocks {
            for (mut to, from) in self.x.rows_mut(at, x.nrows()).column_iter_mut().zip(x.column_iter()) {
                to.copy_from(&from);
                poll();
            }
            self.y.rows_mut(at, y.len()).copy_from(&y);
            at += y.len();
        }
    }

    fn describe_hypers(&mut self, problem: &Problem) {
        let count = problem.hypers.len();
        let mut classes = vec![Vec::new(); count];
        for (c, class) in self.classes.iter().enumerate().filter(|(_, class)| is_scaled(class)) {
            for &h in &class.noise.hypers {
                classes[h].push(c);
            }
        }
        let mut weights = vec![Vec::new(); count];
        for (i, weight) in self.weights.iter().enumerate() {
            for &h in weight.iter().flat_map(|p| &p.hypers) {
                weights[h].push(i);
            }
        }
        let mut children = vec![Vec::new(); count];
        for (k, hyper) in problem.hypers.iter().enumerate() {
            for &h in &hyper.rate.hypers {
                children[h].push(k);
            }
        }
        let noisy: Vec<bool> = classes.iter().map(|c| !c.is_empty()).collect();
        self.hypers = problem
            .hypers
            .iter()
            .enumerate()
            .map(|(h, hyper)| Hyper {
                shape: hyper.shape,
                rate: hyper.rate.clone(),
                point: hyper.is_point(),
                proper: hyper.shape > 0.0 && hyper.rate.ln_known > f64::NEG_INFINITY,
                classes: std::mem::take(&mut classes[h]),
                weights: std::mem::take(&mut weights[h]),
                children: std::mem::take(&mut children[h]),
                cap: f64::INFINITY,
            })
            .collect();
        self.cap_noise(problem);
        let levels: Vec<usize> = (0..count).map(|h| self.level(h, 0)).collect();
        self.order = (0..count).collect();
        self.order.sort_by_key(|&h| (noisy[h], levels[h], h));
        self.before_rows = noisy.iter().filter(|n| !**n).count();
    }

    /// 0 for what scales weights or rows only, 1 for its parents …
    fn level(&self, h: usize, depth: usize) -> usize {
        if depth > self.hypers.len() {
            return depth;
        }
        self.hypers[h].children.iter().map(|&k| 1 + self.level(k, depth + 1)).max().unwrap_or(0)
    }

    /// A noise precision of improper prior has no upper bound where the targets are interpolated.
    fn cap_noise(&mut self, problem: &Problem) {
        let variances = variances(problem, &self.classes);
        for h in 0..self.hypers.len() {
            if self.hypers[h].rate.ln_known > f64::NEG_INFINITY {
                continue;
            }
            let alone = |&&c: &&usize| self.classes[c].noise.hypers.len() == 1;
            let caps = self.hypers[h].classes.iter().filter(alone);
            let cap = caps.map(|&c| NOISE_CAP / variances[c] / self.classes[c].noise.ln_known.exp());
            self.hypers[h].cap = cap.fold(f64::INFINITY, f64::min);
        }
    }

    /// Zero columns and parallel ones, where the weight has a point precision of its own and no other:
    /// only the sum of 1/precision over parallel columns would matter.
    fn merge(&mut self) {
        let alone: Vec<usize> = (0..self.weights.len()).filter(|&i| self.prunable(i).is_some()).collect();
        for &i in &alone {
            if self.x.column(i).amax() == 0.0 {
                self.usable[i] = false;
            }
        }
        let candidates: Vec<usize> = alone
            .into_iter()
            .filter(|&i| self.usable[i] && self.weights[i].as_ref().is_some_and(|p| p.hypers.len() == 1))
            .collect();
        if candidates.len() < 2 {
            return;
        }
        let columns = columns_of(&self.x, &candidates);
        for (first, others) in crate::math::parallel::parallel_groups(&columns, SPANNED) {
            let dropped: Vec<usize> = others.iter().map(|&c| candidates[c]).collect();
            dropped.iter().for_each(|&i| self.usable[i] = false);
            self.merged.push((candidates[first], dropped));
        }
    }

    /// The point precision that a weight has to itself: then it can be pruned by the exact test.
    pub fn prunable(&self, i: usize) -> Option<usize> {
        let product = self.weights[i].as_ref()?;
        product.hypers.iter().copied().find(|&h| self.hypers[h].point && self.hypers[h].own() == Some(i))
    }

    /// Whether the exact test tells the relevance of a weight: it has a precision of its own, or a
    /// known one.
    pub fn is_judged(&self, i: usize) -> bool {
        self.weights[i].as_ref().is_some_and(|product| {
            product.hypers.is_empty() || product.hypers.iter().any(|&h| self.hypers[h].own() == Some(i))
        })
    }

    /// A point precision that several weights share, and nothing else has: they are pruned together.
    pub fn is_block(&self, h: usize) -> bool {
        let hyper = &self.hypers[h];
        hyper.point && hyper.classes.is_empty() && hyper.children.is_empty() && hyper.weights.len() > 1
    }

    /// Whether all rows have one precision and nothing of their own.
    pub fn is_plain(&self) -> bool {
        matches!(self.classes.as_slice(), [Class { local: Local::Nothing, .. }])
    }

    /// Number of observations.
    pub fn count(&self) -> f64 {
        self.classes.iter().map(|c| c.count).sum()
    }
}

fn is_scaled(class: &Class) -> bool {
    !matches!(class.local, Local::Bound(..))
}

fn groups(problem: &Problem, options: &Options) -> Vec<Vec<usize>> {
    let all = 0..problem.weights.len();
    if options.blocks == Blocks::Joint {
        return vec![all.collect()];
    }
    let mut blocks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    all.for_each(|i| blocks.entry(problem.block[i]).or_default().push(i));
    blocks.into_values().collect()
}

/// [`variance`] of each class.
pub(crate) fn variances(problem: &Problem, classes: &[Class]) -> Vec<f64> {
    let mut known: BTreeMap<&[usize], f64> = BTreeMap::new();
    classes.iter().map(|c| *known.entry(&c.terms).or_insert_with(|| variance(problem, &c.terms))).collect()
}

/// Weighted variance of the targets of some terms; their mean square if they do not vary, 1 if they
/// are zero.
fn variance(problem: &Problem, terms: &[usize]) -> f64 {
    let rows = || problem.rows.iter().filter(|r| r.count > 0.0 && terms.contains(&r.term));
    let total: f64 = rows().map(|r| r.count).sum();
    let mean = rows().map(|r| r.count * (r.target - r.offset)).sum::<f64>() / total;
    let about = |c: f64| rows().map(|r| r.count * (r.target - r.offset - c).powi(2)).sum::<f64>() / total;
    let (variance, square) = (about(mean), about(0.0));
    match variance > 1e-24 * square {
        true => variance,
        false if square > 0.0 => square,
        false => 1.0,
    }
}

/// Coordinates of columns and targets in an orthonormal basis of the columns, and the square of the
/// targets outside it; the rows themselves where the basis is not much smaller.
fn compress(x: DMatrix<f64>, y: DVector<f64>) -> (DMatrix<f64>, DVector<f64>, f64) {
    let (n, m) = x.shape();
    if n > m + m / 4 + 8 && 2.0 * n as f64 * (m as f64).powi(2) <= COMPRESSION_COST {
        let mut all = DMatrix::zeros(n, m + 1);
        all.columns_mut(0, m).copy_from(&x);
        all.column_mut(m).copy_from(&y);
        let r = qr::triangle(&all);
        let rest = r[(m, m)].powi(2);
        let (x, y) = (r.view((0, 0), (m, m)).into_owned(), r.view((0, m), (m, 1)).column(0).into_owned());
        return match reduce(&x, &y, m / 2) {
            Some((x, y, more)) => (x, y, rest + more),
            None => (x, y, rest),
        };
    }
    let limit = n.min(m) / 2;
    if n < 16 || 4.0 * (n * m) as f64 * limit as f64 > COMPRESSION_COST {
        return (x, y, 0.0);
    }
    reduce(&x, &y, limit).unwrap_or((x, y, 0.0))
}

/// Pivoted Gram-Schmidt; `None` if more than `limit` directions are needed.
fn reduce(x: &DMatrix<f64>, y: &DVector<f64>, limit: usize) -> Option<(DMatrix<f64>, DVector<f64>, f64)> {
    let m = x.ncols();
    let norms: Vec<f64> = x.column_iter().map(|c| c.norm_squared()).collect();
    let mut left = norms.clone();
    let (mut rest, mut target) = (x.clone(), y.clone());
    let mut basis: Vec<DVector<f64>> = Vec::new();
    let (mut rows, mut coordinates): (Vec<DVector<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
    loop {
        poll();
        let ratio = |j: usize, left: &[f64]| if norms[j] > 0.0 { left[j] / norms[j] } else { 0.0 };
        let mut best = 0;
        for j in 1..m {
            if ratio(j, &left) > ratio(best, &left) {
                best = j;
            }
        }
        // the running norms lose digits: look again before the end
        if m == 0 || ratio(best, &left) < 1e-12 {
            for (j, column) in rest.column_iter().enumerate() {
                left[j] = column.norm_squared();
            }
            for j in 0..m {
                if ratio(j, &left) > ratio(best, &left) {
                    best = j;
                }
            }
            if m == 0 || ratio(best, &left) <= SPANNED * SPANNED {
                break;
            }
        }
        if basis.len() == limit {
            return None;
        }
        let mut q = rest.column(best).into_owned();
        for _ in 0..2 {
            for b in &basis {
                let dot = b.dot(&q);
                q.axpy(-dot, b, 1.0);
            }
        }
        let norm = q.norm();
        if norm.is_nan() || norm <= 0.0 {
            return None;
        }
        q.unscale_mut(norm);
        let row = rest.tr_mul(&q);
        rest.ger(-1.0, &q, &row, 1.0);
        for (left, dot) in left.iter_mut().zip(row.iter()) {
            *left = (*left - dot * dot).max(0.0);
        }
        let dot = q.dot(&target);
        target.axpy(-dot, &q, 1.0);
        basis.push(q);
        rows.push(row);
        coordinates.push(dot);
    }
    let r = rows.len();
    let compressed = DMatrix::from_fn(r, m, |i, j| rows[i][j]);
    Some((compressed, DVector::from_vec(coordinates), target.norm_squared()))
}
