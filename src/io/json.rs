//! JSON data: an object of columns. Arrays are columns, nested arrays are rows of a matrix,
//! numbers are scalars; so data written for Stan can be read as they are.

use std::fmt;
use std::sync::Arc;

use sbl::data::{Column, Data};
use sbl::diag::{Diagnostic, Diagnostics, Staged, Warned};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::errors;
use super::number::{self, Cell, Loss};
use super::{ReadOptions, names};

/// A parsed value takes at most about this many times the bytes of its text (`1,` is a value of
/// 32 bytes).
const EXPANSION: u64 = 16;

/// Reads an object of columns. `null`, and strings that mean "missing", are missing;
/// `"NaN"`, `"Inf"` and `"-Inf"` are numbers, as in Stan.
pub fn parse(text: &str, origin: &str, options: &ReadOptions) -> Staged<Data> {
    if text.trim().is_empty() {
        return Err(vec![errors::no_rows(origin, false)]);
    }
    let wanted = (text.len() as u64).saturating_mul(EXPANSION);
    if wanted > options.max_memory {
        return Err(vec![errors::too_large(origin, wanted, options.max_memory)]);
    }
    let Entries(entries) = serde_json::from_str(text).map_err(|e| vec![of_syntax(&e, text, origin)])?;
    let mut found = Diagnostics::new();
    let keys: Vec<String> = entries.iter().map(|(k, _)| k.clone()).collect();
    names::verify(&keys, origin, &mut found);
    let mut data = Data::new().named(origin);
    for (name, value) in &entries {
        let reader = Reader { origin, name, options };
        match reader.column(value, &mut found) {
            Ok(Some(column)) => {
                data.insert(name, column);
            }
            Ok(None) => {}
            Err(wrong) => found.push(wrong),
        }
    }
    if data.is_empty() && found.iter().all(|d| !d.is_error()) {
        found.push(errors::no_rows(origin, false));
    }
    if found.iter().any(|d| d.is_error()) { Err(found) } else { Ok(Warned::new(data, found)) }
}

/// One entry of the object, for messages.
struct Reader<'a> {
    origin: &'a str,
    name: &'a str,
    options: &'a ReadOptions,
}

/// What an array has shown itself to hold so far.
#[derive(Default)]
struct Entry {
    numbers: Vec<f64>,
    words: Vec<Option<Arc<str>>>,
    has_word: bool,
}

impl Reader<'_> {
    /// The column; `None` (with a warning) if the value is no data at all.
    fn column(&self, value: &Value, found: &mut Diagnostics) -> Result<Option<Column>, Diagnostic> {
        match value {
            Value::Array(items) if items.iter().any(Value::is_array) => self.matrix(items, found).map(Some),
            Value::Array(items) => {
                let mut entry = Entry::default();
                for (i, item) in items.iter().enumerate() {
                    self.push(&mut entry, item, &format!("entry {}", i + 1), found)?;
                }
                Ok(Some(if entry.has_word {
                    Column::Words(entry.words)
                } else {
                    Column::Numbers(entry.numbers)
                }))
            }
            Value::Number(_) | Value::Bool(_) => {
                let mut entry = Entry::default();
                self.push(&mut entry, value, "it", found)?;
                Ok(Some(Column::Scalar(match value {
                    Value::Bool(b) => f64::from(u8::from(*b)),
                    _ => entry.numbers.first().copied().unwrap_or(f64::NAN),
                })))
            }
            Value::String(s) => match special(s) {
                Some(x) => Ok(Some(Column::Scalar(x))),
                None => {
                    found.push(errors::ignored(self.origin, self.name, "a text, not data,"));
                    Ok(None)
                }
            },
            Value::Object(_) => {
                found.push(errors::ignored(self.origin, self.name, "an object, not data,"));
                Ok(None)
            }
            Value::Null => {
                found.push(errors::ignored(self.origin, self.name, "null"));
                Ok(None)
            }
        }
    }

    fn matrix(&self, rows: &[Value], found: &mut Diagnostics) -> Result<Column, Diagnostic> {
        let width = rows.iter().find_map(Value::as_array).map_or(0, Vec::len);
        let mut entry = Entry::default();
        for (i, row) in rows.iter().enumerate() {
            let Value::Array(cells) = row else {
                return Err(self.wrong(&format!(
                    "row {} is {}, expected a row of {width}",
                    i + 1,
                    kind(row)
                )));
            };
            if cells.len() != width {
                let (i, n) = (i + 1, cells.len());
                return Err(self.wrong(&format!("row {i} has length {n}, expected {width} as in row 1")));
            }
            for (j, cell) in cells.iter().enumerate() {
                self.push(&mut entry, cell, &format!("row {}, entry {}", i + 1, j + 1), found)?;
            }
        }
        if entry.has_word {
            return Err(self
                .wrong("a matrix holds texts, expected numbers")
                .help("give every column of categories a name of its own"));
        }
        if width == 0 {
            return Err(self.wrong("the rows of the matrix are empty"));
        }
        Ok(Column::Matrix { values: entry.numbers, width, names: None })
    }

    /// Adds one scalar to an array.
    fn push(
        &self,
        entry: &mut Entry,
        value: &Value,
        place: &str,
        found: &mut Diagnostics,
    ) -> Result<(), Diagnostic> {
        let missing = &self.options.missing;
        let (number, word): (f64, Option<Arc<str>>) = match value {
            Value::Null => (f64::NAN, None),
            Value::Number(n) => {
                let text = n.to_string();
                let cell = number::read(&text, missing);
                if let Cell::Number(_, Some(Loss::Rounded)) = cell {
                    found.push(Diagnostic::warning(
                        "W0752",
                        format!(
                            "{}: {:?}, {place}: {text} is above 2^53 and was rounded",
                            self.origin, self.name
                        ),
                    ));
                }
                match cell {
                    Cell::Number(x, _) => (x, Some(text.into())),
                    _ => (f64::NAN, None),
                }
            }
            Value::Bool(b) => {
                entry.has_word = true;
                (f64::from(u8::from(*b)), Some(if *b { "true" } else { "false" }.into()))
            }
            Value::String(s) => match special(s) {
                Some(x) => (x, (!x.is_nan()).then(|| s.as_str().into())),
                None if missing.is_word(s.trim()) => (f64::NAN, None),
                None => {
                    entry.has_word = true;
                    (f64::NAN, Some(s.trim().into()))
                }
            },
            Value::Array(_) => {
                return Err(self.wrong(&format!("{place} is an array, and arrays nest at most twice")));
            }
            Value::Object(_) => return Err(self.wrong(&format!("{place} is an object, expected a number"))),
        };
        entry.numbers.push(number);
        entry.words.push(word);
        Ok(())
    }

    fn wrong(&self, what: &str) -> Diagnostic {
        errors::json_shape(self.origin, &format!("{:?}: {what}", self.name))
    }
}

/// Numbers that JSON cannot write, as Stan spells them.
fn special(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Inf" | "+Inf" | "Infinity" | "+Infinity" => Some(f64::INFINITY),
        "-Inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn of_syntax(e: &serde_json::Error, text: &str, origin: &str) -> Diagnostic {
    let whole = e.to_string();
    let what = whole.split(" at line ").next().unwrap_or(&whole);
    if e.is_data() {
        return errors::json_shape(origin, what)
            .help("write one array for every column: {\"x\": [1, 2], \"t\": [3, 4]}");
    }
    let found = errors::json_syntax(origin, e.line(), e.column(), what);
    if what.contains("out of range") {
        return found.help("the largest number is 1.8e308; change the unit of the column");
    }
    let line = text.split('\n').nth(e.line().saturating_sub(1)).unwrap_or("");
    // The parser stops inside the word, a character or two after its start.
    let near: String = line.chars().skip(e.column().saturating_sub(4)).take(8).collect();
    if near.contains("NaN") || near.contains("Inf") {
        return found.help("JSON has no NaN and no Infinity: write null for a missing value");
    }
    found.help("expected an object of columns: {\"x\": [1, 2], \"t\": [3, 4]}")
}

/// The entries of the outer object in order, duplicates kept so that they can be reported.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of columns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
