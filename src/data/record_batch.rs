//! Arrow record batches as data: a field is a column (with the feature `arrow`).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use super::{Column, Data};
use crate::diag::{Diagnostic, Diagnostics};
use crate::error::Error;

impl Data {
    /// The fields of an Arrow record batch: numbers and truth values (1 and 0) are columns of numbers, texts
    /// and dictionaries of texts are words, lists of a fixed number of numbers are a matrix. Null is missing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    ///
    /// let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None]));
    /// let batch = RecordBatch::try_from_iter([("x", x)])?;
    /// let data = sbl::Data::from_record_batch(&batch)?;
    /// assert_eq!(data.row_count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// E0715: a field has another type, or two have one name.
    pub fn from_record_batch(batch: &RecordBatch) -> Result<Data, Error> {
        let mut data = Data::new();
        let mut wrong = Diagnostics::new();
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let name = field.name();
            match column(array.as_ref()) {
                None => wrong.push(
                    Diagnostic::error(
                        "E0715",
                        format!("field `{name}` is {}, expected numbers or texts", field.data_type()),
                    )
                    .help(format!("cast `{name}` to numbers or texts, or leave it out of the batch")),
                ),
                Some(column) => {
                    if !data.insert(name, column) {
                        wrong.push(
                            Diagnostic::error("E0715", format!("column `{name}` is given twice"))
                                .help(format!("give `{name}` once")),
                        );
                    }
                }
            }
        }
        if wrong.is_empty() { Ok(data) } else { Err(wrong.into()) }
    }
}

/// Whether fields of a type are data.
pub fn is_data(of: &DataType) -> bool {
    match of {
        DataType::FixedSizeList(item, width) => *width > 0 && is_number(item.data_type()),
        DataType::Dictionary(_, words) => is_text(words),
        other => is_number(other) || is_text(other) || *other == DataType::Null,
    }
}

fn is_number(of: &DataType) -> bool {
    of.is_integer() || of.is_floating() || *of == DataType::Boolean
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn column(array: &dyn Array) -> Option<Column> {
    Some(match array.data_type() {
        DataType::FixedSizeList(_, width) => {
            let width = usize::try_from(*width).ok().filter(|w| *w > 0)?;
            let list = array.as_fixed_size_list();
            let start = list.value_offset_at(0);
            let entries = list.values().slice(start, list.len().checked_mul(width)?);
            let mut values = numbers(entries.as_ref())?;
            for row in (0..list.len()).filter(|row| list.is_null(*row)) {
                values[row * width..(row + 1) * width].fill(f64::NAN);
            }
            Column::Matrix { values, width, names: None }
        }
        DataType::Dictionary(_, _) | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            Column::Words(words(array)?)
        }
        DataType::Null => Column::Numbers(vec![f64::NAN; array.len()]),
        _ => Column::Numbers(numbers(array)?),
    })
}

/// Null is `NaN`.
fn numbers(array: &dyn Array) -> Option<Vec<f64>> {
    macro_rules! primitive {
        ($type:ty, $cast:expr) => {
            array.as_primitive_opt::<$type>()?.iter().map(|x| x.map_or(f64::NAN, $cast)).collect()
        };
    }
    Some(match array.data_type() {
        DataType::Float64 => primitive!(Float64Type, |x| x),
        DataType::Float32 => primitive!(Float32Type, f64::from),
        DataType::Float16 => primitive!(Float16Type, f64::from),
        DataType::Int8 => primitive!(Int8Type, f64::from),
        DataType::Int16 => primitive!(Int16Type, f64::from),
        DataType::Int32 => primitive!(Int32Type, f64::from),
        DataType::Int64 => primitive!(Int64Type, |x| x as f64),
        DataType::UInt8 => primitive!(UInt8Type, f64::from),
        DataType::UInt16 => primitive!(UInt16Type, f64::from),
        DataType::UInt32 => primitive!(UInt32Type, f64::from),
        DataType::UInt64 => primitive!(UInt64Type, |x| x as f64),
        DataType::Boolean => {
            array.as_boolean().iter().map(|x| x.map_or(f64::NAN, |b| f64::from(u8::from(b)))).collect()
        }
        _ => return None,
    })
}

fn words(array: &dyn Array) -> Option<Vec<Option<Arc<str>>>> {
    fn picked<K: ArrowDictionaryKeyType>(array: &dyn Array) -> Option<Vec<Option<Arc<str>>>> {
        let dictionary = array.as_dictionary_opt::<K>()?;
        let levels = words(dictionary.values().as_ref())?;
        let level = |key: Option<usize>| levels.get(key?).cloned().flatten();
        Some((0..dictionary.len()).map(|row| level(dictionary.key(row))).collect())
    }
    let shared = |word: Option<&str>| word.map(Arc::from);
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().iter().map(shared).collect()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().iter().map(shared).collect()),
        DataType::Utf8View => Some(array.as_string_view().iter().map(shared).collect()),
        DataType::Dictionary(keys, _) => match keys.as_ref() {
            DataType::Int8 => picked::<Int8Type>(array),
            DataType::Int16 => picked::<Int16Type>(array),
            DataType::Int32 => picked::<Int32Type>(array),
            DataType::Int64 => picked::<Int64Type>(array),
            DataType::UInt8 => picked::<UInt8Type>(array),
            DataType::UInt16 => picked::<UInt16Type>(array),
            DataType::UInt32 => picked::<UInt32Type>(array),
            DataType::UInt64 => picked::<UInt64Type>(array),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float64Array, Int64Array, StringArray,
        TimestampSecondArray,
    };

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
    }

    #[test]
    fn fields_are_columns() {
        let levels: DictionaryArray<Int32Type> = [Some("b"), None, Some("b")].into_iter().collect();
        let rows = [Some(vec![Some(1), Some(2)]), None, Some(vec![Some(5), None])];
        let matrix = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(rows, 2);
        let data = Data::from_record_batch(&batch(vec![
            ("x", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(-2.0)]))),
            ("n", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            ("yes", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
            ("g", Arc::new(StringArray::from(vec![Some("a"), None, Some("é")]))),
            ("level", Arc::new(levels)),
            ("m", Arc::new(matrix)),
        ]))
        .unwrap();
        assert_eq!(data.names().collect::<Vec<_>>(), ["x", "n", "yes", "g", "level", "m"]);
        let shown = |name: &str| format!("{:?}", data.column(name).unwrap());
        assert_eq!(shown("x"), "Numbers([1.5, NaN, -2.0])");
        assert_eq!(shown("n"), "Numbers([1.0, 2.0, 3.0])");
        assert_eq!(shown("yes"), "Numbers([1.0, 0.0, NaN])");
        assert_eq!(shown("g"), r#"Words([Some("a"), None, Some("é")])"#);
        assert_eq!(shown("level"), r#"Words([Some("b"), None, Some("b")])"#);
        assert_eq!(shown("m"), "Matrix { values: [1.0, 2.0, NaN, NaN, 5.0, NaN], width: 2, names: None }");
        // a part of a batch is the same part of its columns
        let whole = batch(vec![("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0])))]);
        let part = Data::from_record_batch(&whole.slice(1, 2)).unwrap();
        assert_eq!(part.column("x"), Some(&Column::Numbers(vec![2.0, 3.0])));
    }

    #[test]
    fn other_types_are_errors() {
        let times = batch(vec![("when", Arc::new(TimestampSecondArray::from(vec![0, 1])))]);
        let error = Data::from_record_batch(&times).unwrap_err();
        assert_eq!(error.diagnostics()[0].message, "field `when` is Timestamp(s), expected numbers or texts");
        assert!(!is_data(&DataType::Date32) && is_data(&DataType::Utf8View));
    }
}
