//! Supports of expressions: what is known about the numbers an expression can take.

use crate::dist::Elem;

/// What kind of quantity the entries are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Number,
    Category,
    Ordered,
    Increasing,
    Simplex,
}

/// A set of numbers, finer than [`Elem`]: a literal `1` is an integer, positive and at most 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    kind: Kind,
    int: bool,
    /// At least 0.
    nonneg: bool,
    /// Above 0; implies `nonneg`.
    pos: bool,
    /// At most 1.
    le1: bool,
    /// At least 1; implies `pos`.
    ge1: bool,
}

impl Set {
    /// The line.
    pub(crate) const REAL: Set =
        Set { kind: Kind::Number, int: false, nonneg: false, pos: false, le1: false, ge1: false };
    /// At least 0.
    pub(crate) const NONNEGATIVE: Set = Set { nonneg: true, ..Set::REAL };
    /// Above 0.
    pub(crate) const POSITIVE: Set = Set { pos: true, ..Set::NONNEGATIVE };
    /// 1, 2, 3 …
    pub(crate) const ORDINAL: Set = Set { int: true, ge1: true, ..Set::POSITIVE };
    /// 0 or 1.
    pub(crate) const BOOL: Set = Set { int: true, le1: true, ..Set::NONNEGATIVE };

    /// The set of an element type.
    pub(crate) fn of(elem: Elem) -> Set {
        match elem {
            Elem::Real => Set::REAL,
            Elem::NonNegative => Set::NONNEGATIVE,
            Elem::Positive => Set::POSITIVE,
            Elem::Unit => Set { le1: true, ..Set::NONNEGATIVE },
            Elem::Int => Set { int: true, ..Set::REAL },
            Elem::Count => Set { int: true, ..Set::NONNEGATIVE },
            Elem::Bool => Set::BOOL,
            Elem::Category => Set { kind: Kind::Category, ..Set::REAL },
            Elem::Ordered => Set { kind: Kind::Ordered, ..Set::REAL },
            Elem::Increasing => Set { kind: Kind::Increasing, ..Set::REAL },
            Elem::Simplex => Set { kind: Kind::Simplex, le1: true, ..Set::NONNEGATIVE },
        }
    }

    /// The set of one number; `whole`: written as a whole number.
    pub(crate) fn number(x: f64, whole: bool) -> Set {
        Set {
            kind: Kind::Number,
            int: whole && x.fract() == 0.0,
            nonneg: x >= 0.0,
            pos: x > 0.0,
            le1: x <= 1.0 && x != 0.0,
            ge1: x >= 1.0,
        }
    }

    /// The nearest element type.
    pub(crate) fn elem(self) -> Elem {
        match self.kind {
            Kind::Category => Elem::Category,
            Kind::Ordered => Elem::Ordered,
            Kind::Increasing => Elem::Increasing,
            Kind::Simplex => Elem::Simplex,
            Kind::Number => match self {
                Set { int: true, nonneg: true, le1: true, pos: false, .. } => Elem::Bool,
                Set { int: true, nonneg: true, .. } => Elem::Count,
                Set { int: true, .. } => Elem::Int,
                Set { pos: true, .. } => Elem::Positive,
                Set { nonneg: true, le1: true, .. } => Elem::Unit,
                Set { nonneg: true, .. } => Elem::NonNegative,
                _ => Elem::Real,
            },
        }
    }

    /// Whether every value of this set is one of `wanted`.
    pub(crate) fn fits(self, wanted: Elem) -> bool {
        if !self.is_number() {
            return self.elem() == wanted;
        }
        match wanted {
            Elem::Real => true,
            Elem::NonNegative => self.nonneg,
            Elem::Positive => self.pos,
            Elem::Unit => self.nonneg && self.le1,
            Elem::Int => self.int,
            Elem::Count => self.int && self.nonneg,
            Elem::Bool => self.int && self.nonneg && self.le1 && self.kind == Kind::Number,
            Elem::Category | Elem::Ordered => false,
            Elem::Increasing => self.kind == Kind::Increasing,
            Elem::Simplex => self.kind == Kind::Simplex,
        }
    }

    /// Whether arithmetic applies: not a category, not ordered levels.
    pub(crate) fn is_number(self) -> bool {
        !matches!(self.kind, Kind::Category | Kind::Ordered)
    }

    /// Whether the values are whole numbers.
    pub(crate) fn is_whole(self) -> bool {
        self.int
    }

    /// Entries of such a vector, one by one: no longer ascending, no longer summing to 1.
    pub(crate) fn entries(self) -> Set {
        match self.kind {
            Kind::Increasing | Kind::Simplex => Set { kind: Kind::Number, ..self },
            _ => self,
        }
    }

    /// What holds of both.
    pub(crate) fn join(self, other: Set) -> Set {
        if self == other {
            return self;
        }
        Set {
            kind: if self.kind == other.kind { self.kind } else { Kind::Number },
            int: self.int && other.int,
            nonneg: self.nonneg && other.nonneg,
            pos: self.pos && other.pos,
            le1: self.le1 && other.le1,
            ge1: self.ge1 && other.ge1,
        }
    }

    /// a + b
    pub(crate) fn add(self, b: Set) -> Set {
        Set {
            kind: Kind::Number,
            int: self.int && b.int,
            nonneg: self.nonneg && b.nonneg,
            pos: self.nonneg && b.nonneg && (self.pos || b.pos),
            le1: false,
            ge1: self.nonneg && b.nonneg && (self.ge1 || b.ge1),
        }
    }

    /// a − b, and −b
    pub(crate) fn sub(self, b: Set) -> Set {
        Set { int: self.int && b.int, ..Set::REAL }
    }

    /// a b; also a sum of such products
    pub(crate) fn mul(self, b: Set) -> Set {
        let nonneg = self.nonneg && b.nonneg;
        Set {
            kind: Kind::Number,
            int: self.int && b.int,
            nonneg,
            pos: self.pos && b.pos,
            le1: nonneg && self.le1 && b.le1,
            ge1: self.ge1 && b.ge1,
        }
    }

    /// a / b
    pub(crate) fn div(self, b: Set) -> Set {
        Set {
            nonneg: self.nonneg && b.nonneg,
            pos: self.pos && b.pos,
            le1: self.nonneg && self.le1 && b.ge1,
            ..Set::REAL
        }
    }

    /// a ^ b, where `exponent` is the number b if it is one.
    pub(crate) fn pow(self, b: Set, exponent: Option<f64>) -> Set {
        let even = exponent.is_some_and(|e| e % 2.0 == 0.0);
        Set {
            kind: Kind::Number,
            int: self.int && b.int && b.nonneg,
            nonneg: self.nonneg || even,
            pos: self.pos,
            le1: (self.nonneg && self.le1 && b.nonneg) || (self.ge1 && exponent.is_some_and(|e| e < 0.0)),
            ge1: self.ge1 && b.nonneg,
        }
    }

    /// 1 − a
    pub(crate) fn complement(self) -> Set {
        let unit = self.nonneg && self.le1;
        Set { int: self.int, nonneg: unit, le1: unit, ..Set::REAL }
    }

    /// The smaller of two.
    pub(crate) fn min(self, b: Set) -> Set {
        Set { le1: self.le1 || b.le1, ..self.entries().join(b.entries()) }
    }

    /// The larger of two.
    pub(crate) fn max(self, b: Set) -> Set {
        Set {
            kind: Kind::Number,
            int: self.int && b.int,
            nonneg: self.nonneg || b.nonneg,
            pos: self.pos || b.pos,
            le1: self.le1 && b.le1,
            ge1: self.ge1 || b.ge1,
        }
    }

    /// √a
    pub(crate) fn sqrt(self) -> Set {
        Set { pos: self.pos, le1: self.nonneg && self.le1, ge1: self.ge1, ..Set::NONNEGATIVE }
    }

    /// ln a
    pub(crate) fn log(self) -> Set {
        Set { nonneg: self.ge1, ..Set::REAL }
    }

    /// |a|
    pub(crate) fn abs(self) -> Set {
        Set { kind: Kind::Number, nonneg: true, le1: self.nonneg && self.le1, ..self }
    }

    /// A sum of several.
    pub(crate) fn sum(self) -> Set {
        Set { kind: Kind::Number, le1: false, ..self }
    }

    /// A mean of several.
    pub(crate) fn mean(self) -> Set {
        Set { kind: Kind::Number, int: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn propagation() {
        let (real, pos) = (Set::REAL, Set::POSITIVE);
        assert!(pos.mul(pos).fits(Elem::Positive));
        assert!(!pos.mul(real).fits(Elem::NonNegative));
        assert!(real.pow(Set::number(2.0, true), Some(2.0)).fits(Elem::NonNegative));
        assert!(!real.pow(Set::number(3.0, true), Some(3.0)).fits(Elem::NonNegative));
        assert!(pos.add(Set::NONNEGATIVE).fits(Elem::Positive));
        assert!(!pos.sub(pos).fits(Elem::NonNegative));
        let one = Set::number(1.0, true);
        assert!(one.div(one.add(pos)).fits(Elem::Unit));
        assert!(Set::of(Elem::Unit).complement().fits(Elem::Unit));
        assert!(!pos.complement().fits(Elem::NonNegative));
        assert!(Set::number(3.0, true).fits(Elem::Count) && Set::number(3.0, true).fits(Elem::Positive));
        assert!(!Set::number(-3.0, true).fits(Elem::Count));
        assert!(Set::of(Elem::Simplex).fits(Elem::Unit));
        assert!(!Set::of(Elem::Category).fits(Elem::Real));
        for elem in
            [Elem::Real, Elem::NonNegative, Elem::Positive, Elem::Unit, Elem::Int, Elem::Count, Elem::Bool]
        {
            assert_eq!(Set::of(elem).elem(), elem);
            assert!(Set::of(elem).fits(elem));
        }
    }
}
