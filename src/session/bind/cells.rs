//! Entries of the data as numbers, by the element type of the declaration.

use std::collections::BTreeMap;

use super::columns::{Cell, Taken};
use super::levels::Levels;
use super::places::{Places, names};
use super::{Binder, are, count};
use crate::check::typed::{Elem, Node};
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;

/// What is wrong with an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Wrong {
    Missing,
    Infinite,
    /// Text where a number is expected.
    Text(String),
    /// A number outside its type, as text.
    Outside(String),
    /// A level that is not one of those known.
    Level(String),
}

/// Positions of what is wrong, by kind. A position is (row, column).
#[derive(Default)]
pub(super) struct Findings {
    pub missing: Vec<(usize, usize)>,
    infinite: Vec<(usize, usize)>,
    text: Vec<((usize, usize), String)>,
    outside: Vec<((usize, usize), String)>,
    levels: Vec<((usize, usize), String)>,
}

impl Findings {
    pub(super) fn add(&mut self, what: Wrong, row: usize, column: usize) {
        let at = (row, column);
        match what {
            Wrong::Missing => self.missing.push(at),
            Wrong::Infinite => self.infinite.push(at),
            Wrong::Text(t) => self.text.push((at, t)),
            Wrong::Outside(t) => self.outside.push((at, t)),
            Wrong::Level(t) => self.levels.push((at, t)),
        }
    }
}

/// The number of an entry; codes from 0 for levels.
pub(super) fn number(cell: Cell<'_>, elem: Elem, levels: Option<&Levels>) -> Result<f64, Wrong> {
    let x = match cell {
        Cell::Missing => return Err(Wrong::Missing),
        Cell::Number(x) if x.is_infinite() => return Err(Wrong::Infinite),
        cell => {
            if let Some(levels) = levels {
                return levels.code(cell).ok_or_else(|| match elem {
                    Elem::Bool => Wrong::Outside(show(cell)),
                    _ => Wrong::Level(show(cell)),
                });
            }
            match cell {
                Cell::Number(x) => x,
                // a column of a file is words as soon as one of its cells is
                Cell::Word(word) => match word.trim().parse::<f64>() {
                    Ok(x) if x.is_nan() => return Err(Wrong::Missing),
                    Ok(x) if x.is_infinite() => return Err(Wrong::Infinite),
                    Ok(x) => x,
                    Err(_) => return Err(Wrong::Text(show(cell))),
                },
                Cell::Missing => return Err(Wrong::Missing),
            }
        }
    };
    let inside = match elem {
        Elem::Positive => x > 0.0,
        Elem::NonNegative => x >= 0.0,
        Elem::Unit => (0.0..=1.0).contains(&x),
        Elem::Int => x.fract() == 0.0,
        Elem::Count => x.fract() == 0.0 && x >= 0.0,
        _ => true,
    };
    if inside { Ok(x) } else { Err(Wrong::Outside(show(cell))) }
}

/// The most characters of a cell that a message repeats.
const SHOWN: usize = 60;

/// As read; a long text up to its first characters.
pub(super) fn show(cell: Cell<'_>) -> String {
    match cell {
        Cell::Word(word) if word.len() > SHOWN && word.chars().nth(SHOWN).is_some() => {
            word.chars().take(SHOWN).chain(['…']).collect()
        }
        Cell::Missing => "nothing".to_owned(),
        Cell::Word(word) => word.to_owned(),
        Cell::Number(0.0) => "0".to_owned(),
        Cell::Number(x) => x.to_string(),
    }
}

/// `0.095` for `0,095`; of a comma that may separate thousands, both readings.
fn decimal_comma(text: &str) -> Option<String> {
    let (whole, rest) = text.trim().split_once(',')?;
    let read = |number: String| number.parse::<f64>().is_ok_and(f64::is_finite).then_some(number);
    let digits = rest.bytes().all(|b| b.is_ascii_digit());
    let number =
        read(format!("{whole}.{rest}")).filter(|_| rest.starts_with(|c: char| c.is_ascii_digit()))?;
    let thousands = digits && rest.len() == 3 && !whole.trim_start_matches(['-', '+', '0']).is_empty();
    Some(match thousands {
        true => format!("write `{number}`, or `{whole}{rest}` if the comma separates thousands"),
        false => format!("write `{number}`"),
    })
}

/// What a declaration expects, in words.
fn expected(elem: Elem) -> &'static str {
    match elem {
        Elem::Positive => "a number above 0",
        Elem::NonNegative => "a number of at least 0",
        Elem::Unit => "a number from 0 to 1",
        Elem::Int => "a whole number",
        Elem::Count => "a whole number of at least 0",
        Elem::Bool => "0 or 1, true or false, yes or no",
        _ => "a number",
    }
}

impl Binder<'_> {
    /// One diagnostic for each kind of finding, with the first five positions and the count.
    pub(super) fn report(&mut self, node: &Node, taken: &Taken<'_>, bad: Findings, levels: Option<&Levels>) {
        let places = Places { data: self.data, taken };
        let first = |at: &[(usize, usize)]| at.first().map(|p| places.one(*p)).unwrap_or_default();
        let mut found = Vec::new();
        if !node.is_observed() && !bad.missing.is_empty() {
            let n = bad.missing.len();
            found.push(
                Diagnostic::error(
                    "E0705",
                    format!(
                        "{} of the input `{}` {} missing: {}",
                        count(n, "value"),
                        node.name,
                        are(n),
                        first(&bad.missing)
                    ),
                )
                .at(node.span, "inputs must be complete; only targets may be missing")
                .note(places.list(&bad.missing))
                .help("drop these rows or columns, or fill the values in"),
            );
        }
        if !bad.infinite.is_empty() {
            let n = bad.infinite.len();
            found.push(
                Diagnostic::error(
                    "E0706",
                    format!(
                        "{} of `{}` {} infinite: {}",
                        count(n, "value"),
                        node.name,
                        are(n),
                        first(&bad.infinite)
                    ),
                )
                .at(node.span, "expected finite numbers")
                .note(places.list(&bad.infinite))
                .help("leave the cell empty if the value is unknown, or drop the row"),
            );
        }
        if let Some((at, text)) = bad.text.first() {
            let all: Vec<(usize, usize)> = bad.text.iter().map(|(p, _)| *p).collect();
            let error = Diagnostic::error(
                "E0703",
                format!("found `{text}` in {}, expected {}", places.one(*at), expected(node.ty.elem)),
            )
            .at(node.span, format!("declared `{}`", node.ty.elem.name()))
            .note(format!("{} no number: {}", is_no_number(all.len()), places.list(&all)));
            let column = taken.columns.get(at.1).map_or("", |c| &c.name);
            let everywhere = all.iter().filter(|p| p.1 == at.1).count() * 2 > taken.rows;
            found.push(if let Some(edit) = decimal_comma(text) {
                error.help(format!("numbers have a decimal point and no comma: {edit}"))
            } else if everywhere && node.ty.shape.len() == 2 {
                error.help(format!(
                    "leave the column out: `from except({column:?})`, or declare it as a category"
                ))
            } else if everywhere {
                error.help(format!("declare a category: `data {}: category[N]`", node.name))
            } else {
                error.help(format!(
                    "correct the cell, or if it means missing, read the data with `--na {text}`"
                ))
            });
        }
        if let Some((at, text)) = bad.outside.first() {
            let all: Vec<(usize, usize)> = bad.outside.iter().map(|(p, _)| *p).collect();
            found.push(
                Diagnostic::error(
                    "E0704",
                    format!("found `{text}` in {}, expected {}", places.one(*at), expected(node.ty.elem)),
                )
                .at(node.span, format!("declared `{}`", node.ty.elem.name()))
                .note(format!("{} outside the type: {}", count(all.len(), "value"), places.list(&all)))
                .help(outside_help(node.ty.elem)),
            );
        }
        if !bad.levels.is_empty() {
            self.report_levels(node, taken, &bad.levels, levels, &mut found);
        }
        self.found.extend(found);
    }

    /// Levels that are not known: an error, or a warning where they only index a latent node.
    fn report_levels(
        &self,
        node: &Node,
        taken: &Taken<'_>,
        unknown: &[((usize, usize), String)],
        levels: Option<&Levels>,
        found: &mut Vec<Diagnostic>,
    ) {
        let places = Places { data: self.data, taken };
        let Some((at, text)) = unknown.first() else { return };
        let known: &[String] = levels.map_or(&[], |l| &l.names);
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, text) in unknown {
            *kinds.entry(text).or_default() += 1;
        }
        let all: Vec<(usize, usize)> = unknown.iter().map(|(p, _)| *p).collect();
        let list: Vec<&str> = kinds.keys().copied().collect();
        if self.schema.is_some() && self.only_indexes_latents(node.id) {
            found.push(
                Diagnostic::warning(
                    "W0704",
                    format!(
                        "{} of `{}` not met at training: {}",
                        if list.len() == 1 { "a level" } else { "levels" },
                        node.name,
                        names(&list)
                    ),
                )
                .note(format!("its effect is drawn from the prior in {}", places.list(&all))),
            );
            return;
        }
        let when = if self.schema.is_some() { "the levels of the fit" } else { "the stated levels" };
        let error = Diagnostic::error(
            "E0710",
            format!("found the level `{text}` in {}, expected one of {when}", places.one(*at)),
        )
        .at(node.span, format!("the levels are {}", names(known)))
        .note(format!("{} with other levels: {}", count(all.len(), "value"), places.list(&all)));
        found.push(match closest(text, known.iter().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if self.schema.is_some() => {
                error.help("drop these rows, or fit again with data that have the level")
            }
            None => error.help(format!("state it too: `{{…, {text}}}`, or correct the data")),
        });
    }
}

fn is_no_number(n: usize) -> String {
    if n == 1 { "1 value is".to_owned() } else { format!("{n} values are") }
}

fn outside_help(elem: Elem) -> &'static str {
    match elem {
        Elem::Count | Elem::Int => "correct the value, or declare `real`",
        Elem::Positive | Elem::Unit | Elem::NonNegative => "correct the value, or declare `real`",
        Elem::Bool => "recode the column, or declare a category with two levels",
        _ => "correct the value",
    }
}
