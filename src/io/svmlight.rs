//! svmlight files: a target, then `index:value` pairs of a sparse row; absent entries are 0.
//!
//! Indices count from 1 and ascend, `qid:` groups rows, `#` begins a comment
//! (svmlight.joachims.org; csie.ntu.edu.tw/~cjlin/libsvm). The table has the columns `y` (the targets), the
//! matrix `x`, and `qid` if there is one.

use std::sync::Arc;

use sbl::data::{Column, Data};
use sbl::diag::{Diagnostic, Staged, Warned};

use super::number::{self, Cell};
use super::{ReadOptions, errors};

/// One line with something on it.
struct Row<'a> {
    line: u64,
    target: &'a str,
    qid: Option<f64>,
    entries: Vec<(usize, f64)>,
}

/// Reads a table. The rows are looked at twice, first for their number and width, so that nothing is
/// allocated before it is known to fit.
pub fn parse(text: &str, origin: &str, options: &ReadOptions) -> Staged<Data> {
    let rows = || {
        let lines = (1u64..).zip(text.lines());
        lines.filter_map(|(line, text)| row(line, text, origin, options).transpose())
    };
    let (mut count, mut width, mut words, mut groups) = (0u64, 0usize, false, false);
    for row in rows() {
        let row = row.map_err(|d| vec![d])?;
        count += 1;
        width = width.max(row.entries.last().map_or(0, |(index, _)| *index));
        words |= number::read(row.target, &options.missing) == Cell::Word;
        groups |= row.qid.is_some();
    }
    if count == 0 {
        return Err(vec![errors::no_rows(origin, false)]);
    }
    // the matrix, a target of a shared word, a group and a line
    let wanted = count.saturating_mul(8 * (width as u64).saturating_add(4));
    if wanted > options.max_memory {
        return Err(vec![errors::too_wide(origin, count, width, wanted, options.max_memory)]);
    }
    let (mut targets, mut labels, mut group, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut values = vec![0.0; count as usize * width];
    for (i, row) in rows().filter_map(Result::ok).enumerate() {
        lines.push(row.line);
        let cell = number::read(row.target, &options.missing);
        if words {
            labels.push((cell != Cell::Missing).then(|| Arc::from(row.target)));
        } else if let Cell::Number(value, _) = cell {
            targets.push(value);
        } else {
            targets.push(f64::NAN);
        }
        group.push(row.qid.unwrap_or(f64::NAN));
        for (index, value) in row.entries {
            values[i * width + index - 1] = value;
        }
    }
    let mut data = Data::new().named(origin).with_lines(lines);
    data.insert("y", if words { Column::Words(labels) } else { Column::Numbers(targets) });
    if width > 0 {
        data.insert("x", Column::Matrix { values, width, names: None });
    }
    if groups {
        data.insert("qid", Column::Numbers(group));
    }
    Ok(Warned::new(data, Vec::new()))
}

/// `<target> [qid:<number>] <index>:<value> … # comment`; `None` if nothing is on the line.
fn row<'a>(
    line: u64,
    text: &'a str,
    origin: &str,
    options: &ReadOptions,
) -> Result<Option<Row<'a>>, Diagnostic> {
    let text = text.split('#').next().unwrap_or("");
    let mut tokens = text.split_whitespace();
    let Some(target) = tokens.next() else { return Ok(None) };
    let wrong = |what: String, help: &str| Err(errors::svmlight(origin, line, &what, help));
    if target.contains([':', ',']) {
        let what = format!("found {target:?} where the target stands, expected one number or level");
        return wrong(what, "a line is a target, then pairs: `1 3:0.5 7:2`");
    }
    if number::read(target, &options.missing) == Cell::TooLarge {
        return wrong(format!("the target {target} is too large for double precision"), "change its unit");
    }
    let mut row = Row { line, target, qid: None, entries: Vec::new() };
    for token in tokens {
        let Some((index, value)) = token.split_once(':') else {
            let what = format!("found {token:?}, expected index:value");
            return wrong(what, "a line is a target, then pairs: `1 3:0.5 7:2`");
        };
        if index == "qid" && row.qid.is_none() && row.entries.is_empty() {
            let Some(qid) = value.parse().ok().filter(|q: &f64| q.is_finite()) else {
                return wrong(format!("found {token:?}, expected a number behind qid:"), "number the groups");
            };
            row.qid = Some(qid);
            continue;
        }
        let last = row.entries.last().map_or(0, |(i, _)| *i);
        let index = match index.parse::<usize>() {
            Ok(0) => {
                let help = "write the file with indices from 1: dump_svmlight_file(…, zero_based=False)";
                return wrong(format!("found index 0 in {token:?}, expected indices from 1"), help);
            }
            Ok(index) if index <= last => {
                let what = format!("found index {index} after {last}, expected ascending indices");
                return wrong(what, "sort the pairs of each line, every index once");
            }
            Ok(index) if index < usize::MAX / 16 => index,
            _ => {
                let what = format!("found {index:?} as an index, expected a whole number from 1");
                return wrong(what, "a line is a target, then pairs: `1 3:0.5 7:2`");
            }
        };
        let value = match number::read(value, &options.missing) {
            Cell::Number(value, _) => value,
            Cell::Missing if !value.is_empty() => f64::NAN,
            Cell::TooLarge => {
                let what = format!("the value of {token:?} is too large for double precision");
                return wrong(what, "change the unit of the column");
            }
            _ => {
                return wrong(
                    format!("found {token:?}, expected a number behind the colon"),
                    "correct the value",
                );
            }
        };
        row.entries.push((index, value));
    }
    Ok(Some(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Staged<Data> {
        parse(text, "a.svm", &ReadOptions::default())
    }

    fn message(text: &str) -> String {
        let found = read(text).unwrap_err();
        assert!(found.len() == 1 && found[0].help.is_some(), "{found:?}");
        format!("{}: {}", found[0].code, found[0].message)
    }

    /// As in `tests/data/write.py`, row by row.
    fn matrix() -> Column {
        let values = vec![1.0, 0.0, -2.5, 0.5, 3.0, 0.0, 0.0, 0.0, 1e-3, 4.0, -1.0, 0.25];
        Column::Matrix { values, width: 3, names: None }
    }

    #[test]
    fn files_of_scikit_learn() {
        let y = Column::Numbers(vec![1.5, -2.0, 0.0, 1e6]);
        let plain = read(include_str!("../../tests/data/ones.svm")).unwrap().value;
        assert_eq!(plain.names().collect::<Vec<_>>(), ["y", "x"]);
        assert_eq!((plain.column("y"), plain.column("x")), (Some(&y), Some(&matrix())));
        let grouped = read(include_str!("../../tests/data/groups.svm")).unwrap().value;
        assert_eq!((grouped.column("y"), grouped.column("x")), (Some(&y), Some(&matrix())));
        assert_eq!(grouped.column("qid"), Some(&Column::Numbers(vec![1.0, 1.0, 2.0, 2.0])));
        // four lines of comments before the first row
        assert_eq!((grouped.line(0), grouped.line(3)), (Some(5), Some(8)));
        let zeros = message(include_str!("../../tests/data/zeros.svm"));
        assert_eq!(zeros, "E0772: a.svm, line 1: found index 0 in \"0:1\", expected indices from 1");
    }

    #[test]
    fn targets_may_be_words_or_missing_and_rows_empty() {
        let data = read("spam 2:1 # bought\n\nham\r\nNA 1:nan").unwrap().value;
        assert_eq!(
            data.column("y"),
            Some(&Column::Words(vec![Some("spam".into()), Some("ham".into()), None]))
        );
        let Some(Column::Matrix { values, width: 2, .. }) = data.column("x") else { panic!() };
        assert!(values[..4] == [0.0, 1.0, 0.0, 0.0] && values[4].is_nan() && values[5] == 0.0);
        assert_eq!(data.line(2), Some(4));
        let narrow = read("1\n2\n").unwrap().value;
        assert_eq!(narrow.names().collect::<Vec<_>>(), ["y"]);
        // an explicit 0 sets the width
        let wide = read("1 3:0\n").unwrap().value;
        assert_eq!(wide.column("x"), Some(&Column::Matrix { values: vec![0.0; 3], width: 3, names: None }));
    }

    #[test]
    fn malformed_lines_are_named() {
        for (text, says) in [
            ("", "E0751"),
            ("# nothing\n\n", "E0751"),
            ("1 1:1\n2 1:x\n", "line 2: found \"1:x\", expected a number behind the colon"),
            ("1 1:1\n2 1:\n", "line 2: found \"1:\""),
            ("1 2:1 1:1", "line 1: found index 1 after 2, expected ascending indices"),
            ("1 2:1 2:1", "found index 2 after 2"),
            ("1 -1:1", "found \"-1\" as an index"),
            ("1 1.5:1", "found \"1.5\" as an index"),
            ("1 99999999999999999999999:1", "as an index"),
            ("1 7", "found \"7\", expected index:value"),
            ("1:2 2:3", "found \"1:2\" where the target stands"),
            ("1,4 2:3", "found \"1,4\" where the target stands"),
            ("1e999 1:1", "the target 1e999 is too large"),
            ("1 1:1e999", "the value of \"1:1e999\" is too large"),
            ("1 qid:x 1:1", "found \"qid:x\", expected a number behind qid:"),
            ("1 1:1 qid:2", "found \"qid\" as an index"),
            ("1 qid:1 qid:2", "found \"qid\" as an index"),
            ("1 :1", "found \"\" as an index"),
        ] {
            assert!(message(text).contains(says), "{text:?}: {}", message(text));
        }
    }

    #[test]
    fn a_claimed_width_allocates_nothing() {
        for text in ["1 1000000000000:1\n", "1 1:1\n2 100000000000000000:1\n"] {
            let found = message(text);
            assert!(found.starts_with("E0762") && found.contains("once zeros are filled in"), "{found}");
        }
    }
}
