//! Parquet and Arrow files, in a program without the feature `arrow`: how to get them.

use sbl::data::Data;
use sbl::diag::{Diagnostic, Staged};

use super::output::Table;
use super::{ReadOptions, errors};

/// Parquet files are not read.
pub fn parse_parquet(_: Vec<u8>, origin: &str, _: &ReadOptions) -> Staged<Data> {
    Err(vec![errors::without_arrow(&format!("cannot read {origin}"))])
}

/// Arrow files are not read.
pub fn parse_arrow(bytes: Vec<u8>, origin: &str, options: &ReadOptions) -> Staged<Data> {
    parse_parquet(bytes, origin, options)
}

/// Parquet files are not written.
pub fn to_parquet(_: &Table) -> Result<Vec<u8>, Diagnostic> {
    Err(errors::without_arrow("cannot write Parquet"))
}

/// Arrow files are not written.
pub fn to_arrow(_: &Table) -> Result<Vec<u8>, Diagnostic> {
    Err(errors::without_arrow("cannot write Arrow"))
}
