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
    fn columns_line_up() {
        let rows = vec![vec!["é".to_owned(), "1.5".to_owned()], vec!["long".to_owned(), "-10".to_owned()]];
        let lines = table(Some(&["name", "x"]), &[Align::Left, Align::Right], &rows);
        assert_eq!(lines, ["  name    x", "  é     1.5", "  long  -10"]);
    }
}
