//! Learned parameters as unconstrained numbers: each kind of value has coordinates that run over the
//! whole line, in which units do not matter.
//!
//! | values | coordinates |
//! |---|---|
//! | real | (p − start) / unit, the unit one posterior deviation by what the data say of p alone |
//! | positive | ln p |
//! | unit | ln p/(1 − p) |
//! | increasing | first value as a real; ln of each difference |
//! | simplex | ln of each entry over the last |

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use crate::check::typed::NodeId;
use crate::design::adjoint::Bars;
use crate::design::{Rank, Value};
use crate::dist::Elem;

/// How far a logarithm may move from its start, in natural units of the logarithm: 10 decades.
const REACH: f64 = 23.0;

/// A learned parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The node.
    pub node: NodeId,
    /// The set its entries lie in.
    pub elem: Elem,
    /// Scalar, vector or matrix.
    pub rank: Rank,
    /// Rows.
    pub rows: usize,
    /// Columns; the entries of a row of an `increasing` or `simplex` matrix belong together.
    pub cols: usize,
    /// Where it starts, column-major.
    pub start: Vec<f64>,
    /// Whether it stays there, because the data do not determine it.
    pub held: bool,
}

/// Values of parameters, by node, column-major.
pub type Values = BTreeMap<NodeId, Vec<f64>>;

/// The coordinates of some parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Coordinates {
    params: Vec<Param>,
    /// Unit of every entry that is measured like a real.
    units: Vec<Vec<f64>>,
    /// Whether the first of values that increase is measured by their spread.
    by_spread: bool,
}

impl Coordinates {
    /// Coordinates with the unit 1 for reals.
    pub fn new(params: Vec<Param>) -> Coordinates {
        let units = params.iter().map(|p| vec![1.0; p.start.len()]).collect();
        Coordinates { params, units, by_spread: false }
    }

    /// The same, but the first of values that increase is divided by their spread, which is `values`' where
    /// the units are the old ones: values at another scale are near then, on a straight line.
    pub fn by_spread(&self, values: &Values) -> Coordinates {
        let mut scaled = Coordinates { by_spread: true, ..self.clone() };
        for (param, units) in scaled.params.iter().zip(&mut scaled.units) {
            let Some(p) = values.get(&param.node) else { continue };
            for group in param.groups() {
                units[group[0]] /= param.spread(p, &group);
            }
        }
        scaled
    }

    /// What the first of values that increase is measured by, beside its unit.
    fn spread(&self, param: &Param, values: &[f64], group: &[usize]) -> f64 {
        if self.by_spread { param.spread(values, group) } else { 1.0 }
    }

    /// The parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Start values.
    pub fn start(&self) -> Values {
        self.params.iter().map(|p| (p.node, p.start.clone())).collect()
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.free().map(|p| p.start.len() - p.groups().filter(|_| p.elem == Elem::Simplex).count()).sum()
    }

    /// Whether nothing is free.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the units of reals from the information of the data about each entry (the expected square of
    /// d objective / d entry); 0 leaves the unit 1.
    pub fn set_units(&mut self, information: &Bars) {
        for (param, units) in self.params.iter().zip(&mut self.units) {
            let Some(found) = information.get(&param.node) else { continue };
            for (unit, info) in units.iter_mut().zip(found.iter()) {
                if *info > 0.0 && info.is_finite() {
                    *unit = info.sqrt().recip();
                }
            }
        }
    }

    /// The coordinates of values.
    pub fn of(&self, values: &Values) -> Vec<f64> {
        let mut z = Vec::with_capacity(self.len());
        for (param, units) in self.params.iter().zip(&self.units).filter(|(p, _)| !p.held) {
            let empty = Vec::new();
            let p = values.get(&param.node).unwrap_or(&empty);
            for group in param.groups() {
                let at = |k: usize| p.get(group[k]).copied().unwrap_or(f64::NAN);
                let real = |k: usize| (at(k) - param.start[group[k]]) / units[group[k]];
                match param.elem {
                    Elem::Positive | Elem::NonNegative => z.push(at(0).ln()),
                    Elem::Unit => z.push((at(0) / (1.0 - at(0))).ln()),
                    Elem::Increasing => {
                        z.push(real(0) / self.spread(param, p, &group));
                        z.extend((1..group.len()).map(|k| (at(k) - at(k - 1)).ln()));
                    }
                    Elem::Simplex => {
                        let last = group.len() - 1;
                        z.extend((0..last).map(|k| (at(k) / at(last)).ln()));
                    }
                    _ => z.push(real(0)),
                }
            }
        }
        z
    }

    /// The values at coordinates.
    pub fn values(&self, z: &[f64]) -> Values {
        let mut z = z.iter().copied();
        let mut next = || z.next().unwrap_or(f64::NAN);
        let mut all = Values::new();
        for (param, units) in self.params.iter().zip(&self.units) {
            let mut p = param.start.clone();
            for group in param.groups().filter(|_| !param.held) {
                match param.elem {
                    Elem::Positive | Elem::NonNegative => p[group[0]] = next().exp(),
                    Elem::Unit => p[group[0]] = 1.0 / (1.0 + (-next()).exp()),
                    Elem::Increasing => {
                        let first = units[group[0]] * next();
                        let steps: Vec<f64> = (1..group.len()).map(|_| next().exp()).collect();
                        let spread =
                            if self.by_spread && !steps.is_empty() { steps.iter().sum() } else { 1.0 };
                        p[group[0]] = param.start[group[0]] + first * spread;
                        for (k, step) in (1..group.len()).zip(steps) {
                            p[group[k]] = p[group[k - 1]] + step;
                        }
                    }
                    Elem::Simplex => {
                        let mut logs: Vec<f64> = (1..group.len()).map(|_| next()).collect();
                        logs.push(0.0);
                        let top = logs.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x));
                        let total: f64 = logs.iter().map(|x| (x - top).exp()).sum();
                        group.iter().zip(&logs).for_each(|(i, x)| p[*i] = (x - top).exp() / total);
                    }
                    _ => p[group[0]] = param.start[group[0]] + units[group[0]] * next(),
                }
            }
            all.insert(param.node, p);
        }
        all
    }

    /// d objective / d coordinate from d objective / d value at these values.
    pub fn slopes(&self, values: &Values, bars: &Bars) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.len());
        for (param, units) in self.params.iter().zip(&self.units).filter(|(p, _)| !p.held) {
            let empty = Vec::new();
            let p = values.get(&param.node).unwrap_or(&empty);
            let zero = DMatrix::zeros(param.rows, param.cols);
            let bar = bars.get(&param.node).unwrap_or(&zero);
            for group in param.groups() {
                let at = |k: usize| p.get(group[k]).copied().unwrap_or(f64::NAN);
                let g = |k: usize| bar[group[k]];
                match param.elem {
                    Elem::Positive | Elem::NonNegative => out.push(g(0) * at(0)),
                    Elem::Unit => out.push(g(0) * at(0) * (1.0 - at(0))),
                    Elem::Increasing => {
                        // a difference moves every later value, and through their spread all of them
                        let later = |k: usize| (k..group.len()).map(g).sum::<f64>();
                        let spread = self.spread(param, p, &group);
                        let first =
                            if self.by_spread { (at(0) - param.start[group[0]]) / spread } else { 0.0 };
                        out.push(units[group[0]] * spread * later(0));
                        out.extend(
                            (1..group.len()).map(|k| (at(k) - at(k - 1)) * (later(k) + first * later(0))),
                        );
                    }
                    Elem::Simplex => {
                        let mean: f64 = (0..group.len()).map(|k| at(k) * g(k)).sum();
                        out.extend((0..group.len() - 1).map(|k| at(k) * (g(k) - mean)));
                    }
                    _ => out.push(units[group[0]] * g(0)),
                }
            }
        }
        out
    }

    /// Lower and upper bounds of the coordinates: 10 decades from the start, none for reals.
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        let start = self.of(&self.start());
        let kinds = self.free().flat_map(|p| {
            p.groups().flat_map(move |group| {
                let real = |k: usize| match p.elem {
                    Elem::Positive | Elem::NonNegative | Elem::Unit | Elem::Simplex => false,
                    Elem::Increasing => k == 0,
                    _ => true,
                };
                let n = group.len() - usize::from(p.elem == Elem::Simplex);
                (0..n).map(real).collect::<Vec<bool>>()
            })
        });
        let bound = |(z, real): (f64, bool)| match real {
            true => (f64::NEG_INFINITY, f64::INFINITY),
            false => (z - REACH, z + REACH),
        };
        start.into_iter().zip(kinds).map(bound).collect()
    }

    /// Whether some coordinate is the logarithm of a value.
    pub fn has_logarithms(&self) -> bool {
        self.free().any(|p| matches!(p.elem, Elem::Positive | Elem::NonNegative))
    }

    /// Whether some coordinate is measured like a real.
    pub fn has_reals(&self) -> bool {
        use Elem::{NonNegative, Positive, Simplex, Unit};
        self.free().any(|p| !matches!(p.elem, Positive | NonNegative | Unit | Simplex))
    }

    /// Another start: coordinates that are logarithms move together, those of reals stay.
    pub fn moved_start(&self, by: f64) -> Values {
        let mut values = self.start();
        for param in self.free().filter(|p| matches!(p.elem, Elem::Positive | Elem::NonNegative)) {
            if let Some(values) = values.get_mut(&param.node) {
                values.iter_mut().for_each(|v| *v *= by.exp());
            }
        }
        values
    }

    fn free(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| !p.held)
    }
}

impl Param {
    /// The entries that are constrained together.
    fn groups(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let together = matches!(self.elem, Elem::Increasing | Elem::Simplex);
        let count = match (together, self.rank) {
            _ if self.start.is_empty() => 0,
            (true, Rank::Matrix) => self.rows,
            (true, _) => 1,
            (false, _) => self.start.len(),
        };
        (0..count).map(move |i| match (together, self.rank) {
            (true, Rank::Matrix) => (0..self.cols).map(|j| i + self.rows * j).collect(),
            (true, _) => (0..self.start.len()).collect(),
            (false, _) => vec![i],
        })
    }

    /// From the first to the last of values that increase; 1 where that is nothing.
    fn spread(&self, values: &[f64], group: &[usize]) -> f64 {
        match group {
            [first, .., last] if self.elem == Elem::Increasing => values[*last] - values[*first],
            _ => 1.0,
        }
    }

    /// Start values where the program gives none.
    pub fn default_start(elem: Elem, rank: Rank, rows: usize, cols: usize) -> Vec<f64> {
        let width = if rank == Rank::Matrix { cols } else { rows };
        let height = if rank == Rank::Matrix { rows } else { 1 };
        (0..rows * cols)
            .map(|i| match elem {
                Elem::Positive | Elem::NonNegative => 1.0,
                Elem::Unit => 0.5,
                // quantiles of the standard normal distribution
                Elem::Increasing => {
                    let k = if rank == Rank::Matrix { i / height } else { i };
                    crate::math::special::normal_quantile((k + 1) as f64 / (width + 1) as f64)
                }
                Elem::Simplex => 1.0 / width as f64,
                _ => 0.0,
            })
            .collect()
    }

    /// The first entry that lies outside the set, if one does.
    pub fn outside(&self) -> Option<usize> {
        let p = &self.start;
        let good = |group: &[usize], k: usize| {
            let x = p[group[k]];
            x.is_finite()
                && match self.elem {
                    Elem::Positive | Elem::NonNegative => x > 0.0,
                    Elem::Unit => x > 0.0 && x < 1.0,
                    Elem::Increasing => k == 0 || x > p[group[k - 1]],
                    Elem::Simplex => {
                        let sum: f64 = group.iter().map(|i| p[*i]).sum();
                        x > 0.0 && (sum - 1.0).abs() < 1e-9
                    }
                    _ => true,
                }
        };
        for group in self.groups() {
            if let Some(k) = (0..group.len()).find(|k| !good(&group, *k)) {
                return Some(group[k]);
            }
        }
        None
    }

    /// As the value of its node.
    pub fn value(&self, entries: Vec<f64>) -> Value {
        Value {
            rank: self.rank,
            array: DMatrix::from_iterator(self.rows, self.cols, entries),
            labels: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(elem: Elem, rank: Rank, rows: usize, cols: usize) -> Param {
        let start = Param::default_start(elem, rank, rows, cols);
        Param { node: NodeId(elem as u32), elem, rank, rows, cols, start, held: false }
    }

    fn all() -> Coordinates {
        Coordinates::new(vec![
            param(Elem::Real, Rank::Vector, 2, 1),
            param(Elem::Positive, Rank::Matrix, 2, 2),
            param(Elem::Unit, Rank::Scalar, 1, 1),
            param(Elem::Increasing, Rank::Matrix, 2, 3),
            param(Elem::Simplex, Rank::Vector, 4, 1),
        ])
    }

    #[test]
    fn values_and_coordinates_are_inverse_and_inside_their_sets() {
        let c = all();
        assert_eq!(c.len(), 2 + 4 + 1 + 6 + 3);
        assert_eq!(c.bounds().len(), c.len());
        let z: Vec<f64> = (0..c.len()).map(|i| (i as f64 * 1.7).sin()).collect();
        let values = c.values(&z);
        let back = c.of(&values);
        assert!(z.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{z:?} {back:?}");
        for p in c.params() {
            let at = Param { start: values[&p.node].clone(), ..p.clone() };
            assert_eq!(at.outside(), None, "{p:?}");
        }
    }

    #[test]
    fn by_their_spread_values_at_another_scale_differ_in_logarithms_alone() {
        let start = vec![0.0, 1.0, 3.0];
        let param = Param { start, ..param(Elem::Increasing, Rank::Vector, 3, 1) };
        let node = param.node;
        let at = |scale: f64| Values::from([(node, [-1.0, 1.0, 2.0].map(|v| scale * v).to_vec())]);
        let plain = Coordinates::new(vec![param]);
        let c = plain.by_spread(&at(1.0));
        let (here, there) = (c.of(&at(1.0)), c.of(&at(10.0)));
        assert_eq!(plain.of(&at(1.0)), here);
        assert_eq!(here[0], there[0]);
        assert!((1..3).all(|k| (there[k] - here[k] - 10f64.ln()).abs() < 1e-14), "{here:?} {there:?}");
        let back = c.values(&there);
        assert!(back[&node].iter().zip([-10.0, 10.0, 20.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?}");
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let plain = all();
        let c = plain.by_spread(&plain.start());
        differences(&plain);
        differences(&c);
    }

    fn differences(c: &Coordinates) {
        let z: Vec<f64> = (0..c.len()).map(|i| (i as f64 * 0.9).cos()).collect();
        // f = Σ sin(i + 1) p_i² over all entries
        let f = |z: &[f64]| -> f64 {
            c.values(z)
                .values()
                .flat_map(|p| p.iter().enumerate().map(|(i, x)| (i as f64 + 1.0).sin() * x * x))
                .sum()
        };
        let values = c.values(&z);
        let bars: Bars = c
            .params()
            .iter()
            .map(|p| {
                let g = values[&p.node].iter().enumerate().map(|(i, x)| 2.0 * (i as f64 + 1.0).sin() * x);
                (p.node, DMatrix::from_iterator(p.rows, p.cols, g))
            })
            .collect();
        for (i, slope) in c.slopes(&values, &bars).into_iter().enumerate() {
            let moved = |h: f64| {
                let mut z = z.clone();
                z[i] += h;
                f(&z)
            };
            let wanted = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - wanted).abs() < 1e-8 * (1.0 + wanted.abs()), "{i}: {slope} {wanted}");
        }
    }
}
