//! Symbolic dimensions: polynomials with rational coefficients over what the data will bind.
//!
//! `N + 1`, `levels(y) - 1`, `D * (D - 1) / 2`. The form is canonical, so two dimensions are the
//! same exactly if they are equal.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::check::typed::NodeId;

/// What a dimension is made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Atom {
    /// A capital letter, or another name bound by the shape of data: `N`.
    Symbol(String),
    /// The same, frozen at training: the rows of `train(x)`.
    Train(String),
    /// The number of levels of a categorical or ordered node.
    Levels(NodeId),
}

/// A monomial: its atoms, sorted, with repetition.
type Monomial = Vec<Atom>;

/// A rational coefficient in lowest terms, the denominator positive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
struct Ratio(i64, i64);

/// A symbolic non-negative integer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Dim {
    /// Sorted by monomial, no zero coefficient; the empty monomial is the constant.
    terms: Vec<(Monomial, Ratio)>,
}

impl Dim {
    /// A known number.
    pub fn number(n: i64) -> Dim {
        Dim::from_terms([(Vec::new(), Ratio(n, 1))])
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Dim {
        Dim::from_terms([(vec![atom], Ratio(1, 1))])
    }

    /// `N`
    pub fn symbol(name: &str) -> Dim {
        Dim::atom(Atom::Symbol(name.to_owned()))
    }

    /// The number, if no symbol is left and it is whole.
    pub fn as_number(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(m, Ratio(n, 1))] if m.is_empty() => Some(*n),
            _ => None,
        }
    }

    /// The atom, if it is one plain atom.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self.terms.as_slice() {
            [(m, Ratio(1, 1))] if m.len() == 1 => m.first(),
            _ => None,
        }
    }

    /// Whether it is above 0 whatever its atoms are, which are at least 1: `N + 1`, but not `N - 1`.
    pub fn is_positive(&self) -> bool {
        // rising in every atom, it is least where all are 1
        let rises = self.terms.iter().all(|(monomial, ratio)| monomial.is_empty() || ratio.0 > 0);
        rises && self.terms.iter().fold(Ratio(0, 1), |sum, (_, ratio)| sum.add(*ratio)).0 > 0
    }

    /// How many terms the polynomial has.
    pub fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Every atom in it, sorted, once each.
    pub fn atoms(&self) -> Vec<&Atom> {
        let mut atoms: Vec<&Atom> = self.terms.iter().flat_map(|(m, _)| m).collect();
        atoms.sort();
        atoms.dedup();
        atoms
    }

    /// `self + other`
    pub fn add(&self, other: &Dim) -> Dim {
        Dim::from_terms(self.terms.iter().chain(&other.terms).cloned())
    }

    /// `self - other`
    pub fn sub(&self, other: &Dim) -> Dim {
        self.add(&other.scale(Ratio(-1, 1)))
    }

    /// `self * other`
    pub fn mul(&self, other: &Dim) -> Dim {
        let mut terms = Vec::new();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial: Monomial = a.iter().chain(b).cloned().collect();
                monomial.sort();
                terms.push((monomial, x.mul(*y)));
            }
        }
        Dim::from_terms(terms)
    }

    /// `self / n`, exact when bound; `None` if `n` is 0.
    pub fn div(&self, n: i64) -> Option<Dim> {
        (n != 0).then(|| self.scale(Ratio(1, n).reduced()))
    }

    /// Replaces every atom by what `f` says.
    pub fn map(&self, f: &mut dyn FnMut(&Atom) -> Dim) -> Dim {
        let mut sum = Dim::default();
        for (monomial, ratio) in &self.terms {
            let mut product = Dim::from_terms([(Vec::new(), *ratio)]);
            for atom in monomial {
                product = product.mul(&f(atom));
            }
            sum = sum.add(&product);
        }
        sum
    }

    /// The number once every atom has one; `None` if an atom has none, or the value is not a whole
    /// number of at least 0.
    pub fn eval(&self, value: &dyn Fn(&Atom) -> Option<usize>) -> Option<usize> {
        let mut sum = Ratio(0, 1);
        for (monomial, ratio) in &self.terms {
            let mut product = *ratio;
            for atom in monomial {
                product = product.mul(Ratio(i64::try_from(value(atom)?).ok()?, 1));
            }
            sum = sum.add(product);
        }
        match sum {
            Ratio(n, 1) => usize::try_from(n).ok(),
            _ => None,
        }
    }

    /// The dimension as it is at training: every plain symbol becomes its frozen twin.
    pub fn frozen(&self) -> Dim {
        self.map(&mut |atom| match atom {
            Atom::Symbol(s) => Dim::atom(Atom::Train(s.clone())),
            other => Dim::atom(other.clone()),
        })
    }

    /// Written with the names of nodes: `levels(y) - 1`.
    pub fn display<'a>(&'a self, name: &'a dyn Fn(NodeId) -> String) -> impl fmt::Display + 'a {
        Shown { dim: self, name }
    }

    fn scale(&self, r: Ratio) -> Dim {
        Dim::from_terms(self.terms.iter().map(|(m, x)| (m.clone(), x.mul(r))))
    }

    fn from_terms(terms: impl IntoIterator<Item = (Monomial, Ratio)>) -> Dim {
        let mut sum: BTreeMap<Monomial, Ratio> = BTreeMap::new();
        for (m, r) in terms {
            let entry = sum.entry(m).or_insert(Ratio(0, 1));
            *entry = entry.add(r);
        }
        Dim { terms: sum.into_iter().filter(|(_, r)| r.0 != 0).collect() }
    }
}

impl Ratio {
    fn reduced(self) -> Ratio {
        fn gcd(a: i64, b: i64) -> i64 {
            if b == 0 { a.abs().max(1) } else { gcd(b, a % b) }
        }
        let g = gcd(self.0, self.1);
        let sign = if self.1 < 0 { -1 } else { 1 };
        Ratio(sign * self.0 / g, sign * self.1 / g)
    }

    fn mul(self, other: Ratio) -> Ratio {
        Ratio(self.0.saturating_mul(other.0), self.1.saturating_mul(other.1)).reduced()
    }

    fn add(self, other: Ratio) -> Ratio {
        Ratio(
            self.0.saturating_mul(other.1).saturating_add(other.0.saturating_mul(self.1)),
            self.1.saturating_mul(other.1),
        )
        .reduced()
    }
}

struct Shown<'a> {
    dim: &'a Dim,
    name: &'a dyn Fn(NodeId) -> String,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dim.terms.is_empty() {
            return f.write_str("0");
        }
        // constants last, as in `N + 1`
        let (constants, symbols): (Vec<_>, Vec<_>) = self.dim.terms.iter().partition(|(m, _)| m.is_empty());
        for (i, (monomial, ratio)) in symbols.into_iter().chain(constants).enumerate() {
            let Ratio(n, d) = *ratio;
            match (i, n < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let factors: Vec<String> = monomial
                .iter()
                .map(|atom| match atom {
                    Atom::Symbol(s) => s.clone(),
                    Atom::Train(s) => format!("train({s})"),
                    Atom::Levels(node) => format!("levels({})", (self.name)(*node)),
                })
                .collect();
            if n.abs() != 1 || factors.is_empty() {
                write!(f, "{}", n.abs())?;
                if !factors.is_empty() {
                    f.write_str("*")?;
                }
            }
            f.write_str(&factors.join("*"))?;
            if d != 1 {
                write!(f, "/{d}")?;
            }
        }
        Ok(())
    }
}
