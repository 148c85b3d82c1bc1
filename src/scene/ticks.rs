//! Places and texts of ticks: 1, 2 or 5 times a power of ten (Heckbert 1990, "Nice numbers for graph labels").

/// A tick: where it is, and what it says.
pub type Tick = (f64, String);

/// Nice ticks inside `low … high`, about `wanted` of them, at least one gap; empty if the range is.
pub fn linear(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return Vec::new();
    }
    let step = nice_step(span / wanted.max(2) as f64);
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    // counted by whole steps, so that 0.1 + 0.2 never shows
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(first.is_finite() && last.is_finite() && last - first < 100.0) {
        return Vec::new();
    }
    let largest = (first.abs().max(last.abs()) * step).max(step);
    let digits = decimals(step);
    (0..=(last - first) as usize)
        .map(|i| (first + i as f64) * step)
        .map(|x| (x, text(x, step, largest, digits)))
        .collect()
}

/// Powers of ten inside `low … high`, thinned to about `wanted`; with 2 and 5 times them where there are few.
pub fn logarithmic(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Vec::new();
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |x: f64| x >= low * (1.0 - 1e-9) && x <= high * (1.0 + 1e-9);
    let powers: Vec<i32> = (first..=last).filter(|p| inside(power(*p))).collect();
    if powers.len() < 3 {
        let all = (first..=last).flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * power(p)));
        let few: Vec<Tick> = all.filter(|x| inside(*x)).map(|x| (x, number(x))).collect();
        if few.len() >= 2 {
            return few;
        }
    }
    let every = powers.len().div_ceil(wanted.max(2)).max(1) as i32;
    powers.into_iter().filter(|p| p % every == 0).map(|p| (power(p), ten_to(p))).collect()
}

/// A number in few characters: three significant digits, a power of ten where that is shorter.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return if x.is_nan() {
            "–".into()
        } else if x > 0.0 {
            "∞".into()
        } else {
            "−∞".into()
        };
    }
    if x == 0.0 {
        return "0".into();
    }
    let size = x.abs().log10().floor() as i32;
    if !(-4..6).contains(&size) {
        return scientific(x, 2);
    }
    let digits = (2 - size).max(0) as usize;
    let text = format!("{x:.digits$}");
    signed(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
}

/// `10³`
fn ten_to(p: i32) -> String {
    match p {
        0 => "1".into(),
        1 => "10".into(),
        _ => format!("10{}", superscript(p)),
    }
}

/// `1.5×10⁻⁷`
fn scientific(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    match mantissa {
        "1" => ten_to(exponent),
        _ => format!("{}×10{}", signed(mantissa), superscript(exponent)),
    }
}

fn superscript(p: i32) -> String {
    p.to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' => '⁰',
            c => char::from_u32(u32::from('⁴') + u32::from(c) - u32::from('4')).unwrap_or(c),
        })
        .collect()
}

/// A true minus.
fn signed(text: &str) -> String {
    text.replacen('-', "−", 1)
}

fn text(x: f64, step: f64, largest: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if largest >= 1e6 || step < 1e-5 {
        // as many digits as tell neighbours apart
        let apart = (x.abs().log10().floor() - step.log10().floor()).clamp(0.0, 12.0) as usize;
        return scientific(x, apart);
    }
    signed(&format!("{x:.digits$}"))
}

/// 1, 2 or 5 times a power of ten, near `rough`.
fn nice_step(rough: f64) -> f64 {
    let p = rough.log10().floor() as i32;
    let f = rough / power(p);
    let m = if f < 1.5 {
        1.0
    } else if f < 3.0 {
        2.0
    } else if f < 7.0 {
        5.0
    } else {
        10.0
    };
    m * power(p)
}

fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
}

fn power(p: i32) -> f64 {
    // a literal is rounded correctly, a product of tens is not
    format!("1e{p}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|(_, t)| t.as_str()).collect()
    }

    #[test]
    fn ticks_are_nice() {
        assert_eq!(texts(&linear(-10.0, 10.0, 5)), ["−10", "−5", "0", "5", "10"]);
        assert_eq!(texts(&linear(0.0, 1.0, 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&linear(25.0, 346.0, 5)), ["50", "100", "150", "200", "250", "300"]);
        assert_eq!(texts(&linear(0.0, 3e-7, 3)), ["0", "10⁻⁷", "2×10⁻⁷", "3×10⁻⁷"]);
        assert_eq!(texts(&linear(1e8, 1.0002e8, 2)), ["10⁸", "1.0001×10⁸", "1.0002×10⁸"]);
    }

    #[test]
    fn every_range_has_few_ticks_inside_it() {
        for exponent in -300..300 {
            for (a, b) in [(-1.0, 1.0), (0.3, 0.71), (-7.3, -7.1), (0.0, 9.99)] {
                let unit = 10f64.powi(exponent);
                let (low, high) = (a * unit, b * unit);
                let ticks = linear(low, high, 5);
                assert!((2..=11).contains(&ticks.len()), "{low} {high}: {ticks:?}");
                let slack = (high - low) * 1e-6;
                assert!(ticks.iter().all(|(x, _)| *x >= low - slack && *x <= high + slack));
                let mut distinct = texts(&ticks);
                distinct.dedup();
                assert_eq!(distinct.len(), ticks.len(), "{ticks:?}");
            }
        }
    }

    #[test]
    fn no_ticks_where_there_is_no_range() {
        for (low, high) in
            [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)]
        {
            assert!(linear(low, high, 5).is_empty());
        }
        // too fine to be told apart
        assert!(linear(1.0, 1.0 + f64::EPSILON, 5).len() < 12);
    }

    #[test]
    fn powers_of_ten() {
        assert_eq!(texts(&logarithmic(0.005, 2000.0, 8)), ["10⁻²", "10⁻¹", "1", "10", "10²", "10³"]);
        assert_eq!(texts(&logarithmic(1.0, 60.0, 5)), ["1", "2", "5", "10", "20", "50"]);
        assert!(logarithmic(1e-300, 1e300, 6).len() <= 8);
        assert!(logarithmic(0.0, 1.0, 5).is_empty() && logarithmic(-1.0, 1.0, 5).is_empty());
    }

    #[test]
    fn numbers_in_few_characters() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.25, "−0.25"),
            (1234.56, "1235"),
            (0.000123456, "0.000123"),
            (1.5e-7, "1.5×10⁻⁷"),
            (-1e30, "−1×10³⁰"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
        ];
        for (x, expected) in cases {
            assert_eq!(number(x), expected);
        }
    }
}
