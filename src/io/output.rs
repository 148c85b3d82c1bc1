//! Tables that leave the program: CSV and JSON, numbers as short as read back the same.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::number::shortest;

/// Columns of equal length, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    columns: Vec<(String, Values)>,
}

/// One column of a [`Table`].
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// `NaN` is written as an empty cell, and as null in JSON.
    Numbers(Vec<f64>),
    /// `None` likewise.
    Words(Vec<Option<Arc<str>>>),
}

impl Table {
    /// Adds a column.
    pub fn push(&mut self, name: impl Into<String>, values: Values) {
        self.columns.push((name.into(), values));
    }

    /// Names and values, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.columns.iter().map(|(name, values)| (name.as_str(), values))
    }

    /// Number of rows of the longest column.
    pub fn rows(&self) -> usize {
        self.columns.iter().map(|(_, v)| v.len()).max().unwrap_or(0)
    }

    /// A header and one line a row.
    pub fn to_csv(&self) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        let header = self.columns.iter().map(|(name, _)| name.as_str());
        // Writing to memory cannot fail.
        let _ = writer.write_record(header);
        for row in 0..self.rows() {
            let _ = writer.write_record(self.columns.iter().map(|(_, v)| v.cell(row)));
        }
        writer.into_inner().unwrap_or_default()
    }

    /// An object of arrays.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        for (name, values) in &self.columns {
            object.insert(name.clone(), values.to_json());
        }
        Value::Object(object)
    }
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(v) => v.len(),
            Values::Words(v) => v.len(),
        }
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Values::Numbers(v) => match v.get(row) {
                Some(x) if !x.is_nan() => shortest(*x),
                _ => String::new(),
            },
            Values::Words(v) => v.get(row).cloned().flatten().map(|w| w.to_string()).unwrap_or_default(),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Values::Numbers(v) => Value::Array(v.iter().map(number).collect()),
            Values::Words(v) => Value::Array(v.iter().map(|w| json!(w.as_deref())).collect()),
        }
    }
}

/// Whole numbers without a fraction, as in CSV; what is not finite is null.
fn number(x: &f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e15 && !(*x == 0.0 && x.is_sign_negative()) {
        json!(*x as i64)
    } else {
        json!(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_and_missing() {
        let mut table = Table::default();
        table.push("a,b", Values::Numbers(vec![1.5, f64::NAN, 1e300]));
        table.push("c", Values::Words(vec![Some("x\"y".into()), None, Some("é".into())]));
        let csv = String::from_utf8(table.to_csv()).unwrap();
        assert_eq!(csv, "\"a,b\",c\n1.5,\"x\"\"y\"\n,\n1e300,é\n");
        assert_eq!(table.to_json().to_string(), r#"{"a,b":[1.5,null,1e+300],"c":["x\"y",null,"é"]}"#);
    }
}
