//! One cell: missing, a number, or a word.

/// Tokens that mean "missing". An empty cell, `NA` and `NaN` always do.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    words: Vec<String>,
    numbers: Vec<f64>,
}

/// What a cell holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell {
    /// Nothing.
    Missing,
    /// A number, with what reading it lost. May be infinite if the cell says so (`inf`).
    Number(f64, Option<Loss>),
    /// A number too large for double precision, such as `1e400`.
    TooLarge,
    /// Anything else.
    Word,
}

/// What the conversion to double precision lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// `1e-400` became 0.
    Underflow,
    /// `9007199254740993` became 9007199254740992.
    Rounded,
}

impl Missing {
    /// These tokens beside the usual ones. A token that is a number matches by value: `-999`
    /// means `-999.0` too.
    pub fn with(tokens: &[String]) -> Self {
        let words: Vec<String> = tokens.iter().map(|t| t.trim().to_owned()).collect();
        let numbers = words.iter().filter_map(|t| t.parse().ok()).filter(|v: &f64| !v.is_nan()).collect();
        Self { words, numbers }
    }

    /// Whether a trimmed text means "missing".
    pub fn is_word(&self, text: &str) -> bool {
        text.is_empty()
            || text == "NA"
            || text.eq_ignore_ascii_case("nan")
            || self.words.iter().any(|w| w == text)
    }

    /// Whether a number means "missing".
    pub fn is_number(&self, value: f64) -> bool {
        value.is_nan() || self.numbers.contains(&value)
    }
}

/// Reads a trimmed cell.
pub fn read(text: &str, missing: &Missing) -> Cell {
    if missing.is_word(text) {
        return Cell::Missing;
    }
    let Ok(value) = text.parse::<f64>() else { return Cell::Word };
    if missing.is_number(value) {
        return Cell::Missing;
    }
    if value.is_infinite() && text.bytes().any(|b| b.is_ascii_digit()) {
        return Cell::TooLarge;
    }
    Cell::Number(value, loss(text, value))
}

/// A number as short as reads back the same.
pub fn shortest(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size.is_finite() && !(1e-5..1e16).contains(&size) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

fn loss(text: &str, value: f64) -> Option<Loss> {
    if value == 0.0 {
        let mantissa = text.split(['e', 'E']).next().unwrap_or("");
        return mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b)).then_some(Loss::Underflow);
    }
    let digits = text.trim_start_matches(['+', '-']);
    // Integers of at most 15 digits are exact.
    if digits.len() > 15 && digits.bytes().all(|b| b.is_ascii_digit()) {
        let exact = format!("{:.0}", value.abs());
        return (exact != digits.trim_start_matches('0')).then_some(Loss::Rounded);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        let plain = Missing::default();
        for text in ["", "NA", "NaN", "nan", "-nan"] {
            assert_eq!(read(text, &plain), Cell::Missing, "{text}");
        }
        for (text, value) in [("1", 1.0), ("+1.", 1.0), (".5", 0.5), ("-1e-3", -0.001), ("1E5", 1e5)] {
            assert_eq!(read(text, &plain), Cell::Number(value, None), "{text}");
        }
        assert_eq!(read("inf", &plain), Cell::Number(f64::INFINITY, None));
        assert_eq!(read("-Infinity", &plain), Cell::Number(f64::NEG_INFINITY, None));
        assert_eq!(read("1e400", &plain), Cell::TooLarge);
        assert_eq!(read("1e-400", &plain), Cell::Number(0.0, Some(Loss::Underflow)));
        assert_eq!(read("0e-400", &plain), Cell::Number(0.0, None));
        assert_eq!(read("9007199254740993", &plain), Cell::Number(9007199254740992.0, Some(Loss::Rounded)));
        assert_eq!(read("0009007199254740992", &plain), Cell::Number(9007199254740992.0, None));
        for text in ["1,5", "1_000", "0x10", "1 2", "é", "NA ", "n/a"] {
            assert_eq!(read(text, &plain), Cell::Word, "{text}");
        }
        let given = Missing::with(&["-999".into(), "n/a".into()]);
        for text in ["-999", "-999.0", "n/a", "", "NA"] {
            assert_eq!(read(text, &given), Cell::Missing, "{text}");
        }
    }

    #[test]
    fn shortest_reads_back() {
        for x in [0.0, -0.0, 0.1, 1.0, 1e300, -1e-300, 1.0 / 3.0, f64::MAX, 5e-324, 1e16, 123456.0] {
            assert_eq!(shortest(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
            assert!(shortest(x).len() < 26);
        }
    }
}
