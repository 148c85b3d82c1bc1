//! Numbers and tables for the eye.

/// A number with `digits` significant digits, without an exponent where that is readable.
pub fn number(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return if x.is_nan() { "–".to_owned() } else { format!("{x}") };
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        return format!("{x:.*e}", digits.saturating_sub(1));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{x:.decimals$}")
}

/// Numbers of one column with equally many decimals, so that every one has at least `digits`
/// significant digits; each by itself where that would take too many.
pub fn column(values: &[f64], digits: usize) -> Vec<String> {
    let sizes = || values.iter().map(|x| x.abs()).filter(|x| x.is_finite() && *x > 0.0);
    let (small, large) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let decimals = digits as i32 - 1 - small.log10().floor() as i32;
    if large >= 1e7 || !(0..=9).contains(&decimals) || large / small > 1e6 {
        return values.iter().map(|x| number(*x, digits + 1)).collect();
    }
    let decimals = decimals as usize;
    values
        .iter()
        .map(|x| if x.is_finite() { format!("{x:.decimals$}") } else { number(*x, digits) })
        .collect()
}

/// `1 row`, `2 rows`
pub fn plural(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// How a column of a table is aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Lines of equal columns, indented by two blanks, columns two blanks apart.
pub fn table(header: Option<&[&str]>, align: &[Align], rows: &[Vec<String>]) -> Vec<String> {
    let header: Option<Vec<String>> = header.map(|h| h.iter().map(|s| (*s).to_owned()).collect());
    let all: Vec<&Vec<String>> = header.iter().chain(rows).collect();
    let width = |j: usize| all.iter().filter_map(|r| r.get(j)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..align.len()).map(width).collect();
    all.iter()
        .map(|row| {
            let mut line = String::new();
            for ((cell, align), width) in row.iter().zip(align).zip(&widths) {
                let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
                line.push_str("  ");
                match align {
                    Align::Left => line.extend([cell.as_str(), &pad]),
                    Align::Right => line.extend([pad.as_str(), cell]),
                }
            }
            line.trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (x, shown) in [
            (0.0, "0"),
            (1.0, "1.000"),
            (-12.3456, "-12.35"),
            (123456.0, "123456"),
            (0.00012345, "0.0001234"),
            (1.5e-7, "1.500e-7"),
            (1e20, "1.000e20"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(x, 4), shown);
        }
    }

    #[test]
    fn columns_share_their_decimals() {
        assert_eq!(column(&[25.6, -9.743, 0.0], 2), ["25.6", "-9.7", "0.0"]);
        assert_eq!(column(&[0.001, 123.0], 2), ["0.0010", "123.0000"]);
        assert_eq!(column(&[1e-12, 1.0], 2), ["1.00e-12", "1.00"]);
        assert_eq!(column(&[123456.0, f64::NAN], 2), ["123456", "–"]);
        assert_eq!(column(&[], 2), Vec::<String>::new());
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["é".to_owned(), "1.5".to_owned()], vec!["long".to_owned(), "-10".to_owned()]];
        let lines = table(Some(&["name", "x"]), &[Align::Left, Align::Right], &rows);
        assert_eq!(lines, ["  name    x", "  é     1.5", "  long  -10"]);
    }
}
