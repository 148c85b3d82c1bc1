//! Parquet and Arrow (Feather) files, read and written (with the feature `arrow`).

use std::io::Cursor;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sbl::data::{Data, record_batch};
use sbl::diag::{Diagnostic, Diagnostics, Staged, Warned};

use super::output::{Table, Values};
use super::{ReadOptions, errors, names};

/// Reads a Parquet file.
pub fn parse_parquet(bytes: Vec<u8>, origin: &str, options: &ReadOptions) -> Staged<Data> {
    let read = || {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).map_err(|e| e.to_string())?;
        let rows = reader.metadata().file_metadata().num_rows();
        let width = reader.schema().fields().len() as u64;
        verify_size(u64::try_from(rows).unwrap_or(0).saturating_mul(16 * width), options)?;
        let schema = reader.schema().clone();
        let batches = reader.build().map_err(|e| e.to_string())?.collect::<Result<_, ArrowError>>();
        Ok((schema, batches.map_err(|e| e.to_string())?))
    };
    table(guarded(read), origin, options)
}

/// Reads an Arrow file (version 2 of Feather).
pub fn parse_arrow(bytes: Vec<u8>, origin: &str, options: &ReadOptions) -> Staged<Data> {
    let read = || {
        let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(|e| e.to_string())?;
        let schema = reader.schema();
        Ok((schema, reader.collect::<Result<_, ArrowError>>().map_err(|e| e.to_string())?))
    };
    table(guarded(read), origin, options)
}

/// A table as a Parquet file.
pub fn to_parquet(table: &Table) -> Result<Vec<u8>, Diagnostic> {
    let write = || {
        let batch = batch(table)?;
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
        writer.write(&batch)?;
        writer.into_inner()
    };
    write()
        .map_err(|e: parquet::errors::ParquetError| errors::unwritable("Parquet", &std::io::Error::other(e)))
}

/// A table as an Arrow file.
pub fn to_arrow(table: &Table) -> Result<Vec<u8>, Diagnostic> {
    let write = || {
        let batch = batch(table)?;
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema())?;
        writer.write(&batch)?;
        writer.into_inner()
    };
    write().map_err(|e: ArrowError| errors::unwritable("Arrow", &std::io::Error::other(e)))
}

/// `NaN` is null, as it is an empty cell in CSV.
fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let columns = table.columns().map(|(name, values)| -> (&str, ArrayRef, bool) {
        let array: ArrayRef = match values {
            Values::Numbers(v) => {
                Arc::new(v.iter().map(|x| (!x.is_nan()).then_some(*x)).collect::<Float64Array>())
            }
            Values::Words(v) => Arc::new(v.iter().map(|w| w.as_deref()).collect::<StringArray>()),
        };
        (name, array, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns)
}

type Batches = (SchemaRef, Vec<RecordBatch>);

/// The readers are large and not written for files that lie: a panic in one is an error about the file.
fn guarded(read: impl FnOnce() -> Result<Batches, String>) -> Result<Batches, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    result.unwrap_or_else(|_| Err("the reader gave up on it".to_owned()))
}

fn verify_size(wanted: u64, options: &ReadOptions) -> Result<(), String> {
    let may = options.max_memory;
    match wanted > may {
        true => {
            Err(format!("it needs {} or more, and may take {}", errors::bytes(wanted), errors::bytes(may)))
        }
        false => Ok(()),
    }
}

/// All batches one below the other; fields that are no data are left out with a warning.
fn table(read: Result<Batches, String>, origin: &str, options: &ReadOptions) -> Staged<Data> {
    let damaged = |what: &str| vec![errors::columnar(origin, what)];
    let (schema, batches) = read.map_err(|what| damaged(&what))?;
    let mut found = Diagnostics::new();
    let all: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    names::verify(&all, origin, &mut found);
    let mut kept = Vec::new();
    for (i, field) in schema.fields().iter().enumerate() {
        if record_batch::is_data(field.data_type()) {
            kept.push(i);
        } else {
            found.push(errors::ignored(origin, field.name(), &format!("{}, no data,", field.data_type())));
        }
    }
    let whole =
        arrow_select::concat::concat_batches(&schema, &batches).and_then(|batch| batch.project(&kept));
    let whole = whole.map_err(|e| damaged(&e.to_string()))?;
    if whole.num_rows() == 0 || kept.is_empty() {
        found.push(errors::no_entries(origin));
    }
    verify_size(16 * whole.num_rows() as u64 * kept.len() as u64, options).map_err(|what| damaged(&what))?;
    if found.iter().any(Diagnostic::is_error) {
        return Err(found);
    }
    let data = Data::from_record_batch(&whole).map_err(|e| e.diagnostics().to_vec())?;
    Ok(Warned::new(data.named(origin), found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::default();
        table.push("mean", Values::Numbers(vec![1.5, f64::NAN, -1e300]));
        table.push("class", Values::Words(vec![Some("é".into()), None, Some("b".into())]));
        table
    }

    fn shown(data: &Data) -> String {
        data.names().map(|n| format!("{n}: {:?}\n", data.column(n).unwrap())).collect()
    }

    #[test]
    fn what_is_written_reads_back() {
        let expected = "mean: Numbers([1.5, NaN, -1e300])\nclass: Words([Some(\"é\"), None, Some(\"b\")])\n";
        let options = ReadOptions::default();
        let parquet = parse_parquet(to_parquet(&sample()).unwrap(), "a.parquet", &options).unwrap();
        assert_eq!(shown(&parquet.value), expected);
        let arrow = parse_arrow(to_arrow(&sample()).unwrap(), "a.arrow", &options).unwrap();
        assert_eq!(shown(&arrow.value), expected);
    }

    #[test]
    fn files_of_pandas() {
        let expected = "x1: Numbers([1.0, 0.5, 0.0, 4.0])\nx2: Numbers([0.0, 3.0, 0.0, -1.0])\n\
                        x3: Numbers([-2.5, 0.0, 0.001, 0.25])\nt: Numbers([1.5, -2.0, NaN, 1000000.0])\n\
                        g: Words([Some(\"low\"), Some(\"high\"), Some(\"höher\"), None])\n\
                        n: Numbers([1.0, 2.0, 3.0, 4.0])\nlevel: Words([Some(\"a\"), Some(\"b\"), Some(\"a\"), None])\n";
        let options = ReadOptions::default();
        let parquet = include_bytes!("../../tests/data/table.parquet").to_vec();
        assert_eq!(shown(&parse_parquet(parquet, "a", &options).unwrap().value), expected);
        let arrow = include_bytes!("../../tests/data/table.arrow").to_vec();
        assert_eq!(shown(&parse_arrow(arrow, "a", &options).unwrap().value), expected);
    }

    #[test]
    fn damaged_files_are_errors() {
        let options = ReadOptions { max_memory: 1 << 20, ..ReadOptions::default() };
        let (parquet, arrow) = (to_parquet(&sample()).unwrap(), to_arrow(&sample()).unwrap());
        for end in 0..parquet.len() {
            assert_eq!(parse_parquet(parquet[..end].to_vec(), "a", &options).unwrap_err()[0].code, "E0774");
        }
        for end in 0..arrow.len() {
            assert_eq!(parse_arrow(arrow[..end].to_vec(), "a", &options).unwrap_err()[0].code, "E0774");
        }
        // a changed bit may change a number; it may not end the program
        for i in (0..parquet.len()).rev() {
            let mut bad = parquet.clone();
            bad[i] ^= 1 << (i % 8);
            let _ = parse_parquet(bad, "a", &options);
        }
        for i in 0..arrow.len() {
            let mut bad = arrow.clone();
            bad[i] ^= 1 << (i % 8);
            let _ = parse_arrow(bad, "a", &options);
        }
    }
}
