//! Files in and out: what the command line reads becomes [`sbl::data::Data`], what it writes is
//! written whole or not at all.

pub mod bytes;
#[cfg_attr(not(feature = "arrow"), path = "no_columnar.rs")]
pub mod columnar;
pub mod delimited;
pub mod errors;
pub mod json;
pub mod names;
pub mod npy;
pub mod number;
pub mod numpy;
pub mod output;
pub mod png;
pub mod records;
pub mod svmlight;
pub mod write;
pub mod zip;

use std::path::{Path, PathBuf};

use sbl::data::Data;
use sbl::diag::{Diagnostics, Staged, Warned};

/// How to read data files.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Tokens that mean "missing", beside an empty cell, `NA` and `NaN`.
    pub missing: number::Missing,
    /// What separates cells; `None`: a tab in `.tsv` files and a comma in others.
    pub delimiter: Option<u8>,
    /// The most memory that reading may take, in bytes.
    pub max_memory: u64,
}

/// The memory that reading may take unless told otherwise, in bytes.
pub const DEFAULT_MEMORY: u64 = 4 << 30;

impl Default for ReadOptions {
    fn default() -> Self {
        Self { missing: number::Missing::default(), delimiter: None, max_memory: DEFAULT_MEMORY }
    }
}

/// Reads every file and puts their columns side by side. `-` is CSV from standard input.
///
/// Errors: every file is read before any error is returned, so one run shows them all.
pub fn read_data(paths: &[PathBuf], options: &ReadOptions) -> Staged<Data> {
    let mut errors = Diagnostics::new();
    let mut warnings = Diagnostics::new();
    let mut parts: Vec<Data> = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        if is_stdin(path) && paths[..i].iter().any(|p| is_stdin(p)) {
            errors.push(errors::stdin_twice());
            continue;
        }
        match read_one(path, options) {
            Ok(read) => {
                warnings.extend(read.warnings);
                parts.push(read.value);
            }
            Err(found) => errors.extend(found),
        }
    }
    let mut joined = Data::new();
    if errors.is_empty() {
        for part in parts {
            joined = joined.join(part).map_err(|e| e.diagnostics().to_vec())?;
        }
    }
    if errors.iter().any(|d| d.is_error()) {
        errors.extend(warnings);
        return Err(errors);
    }
    Ok(Warned::new(joined, warnings))
}

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a file as shown in messages.
pub fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn read_one(path: &Path, options: &ReadOptions) -> Staged<Data> {
    let origin = shown(path);
    let kind = Kind::of(path);
    if let Kind::Unreadable(what) = kind {
        return Err(vec![errors::unsupported(&origin, what)]);
    }
    if let Kind::Array | Kind::Arrays | Kind::Parquet | Kind::Arrow = kind {
        let bytes = bytes::read_bytes(path, options.max_memory).map_err(|d| vec![d])?;
        return match kind {
            Kind::Parquet => columnar::parse_parquet(bytes, &origin, options),
            Kind::Arrow => columnar::parse_arrow(bytes, &origin, options),
            Kind::Array => numpy::parse_npy(&bytes, &origin, &stem(path), options),
            _ => numpy::parse_npz(&bytes, &origin, options),
        };
    }
    let text = bytes::read_text(path, options.max_memory).map_err(|d| vec![d])?;
    match kind {
        Kind::Sparse => svmlight::parse(&text, &origin, options),
        Kind::Json => json::parse(&text, &origin, options),
        Kind::Tabs => delimited::parse(&text, &origin, options, b'\t'),
        _ => delimited::parse(&text, &origin, options, b','),
    }
}

/// The name of a file without folder and endings: the name of the column that an array is.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

/// What a file is, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Commas,
    Tabs,
    Json,
    /// One NumPy array.
    Array,
    /// An archive of NumPy arrays.
    Arrays,
    /// svmlight.
    Sparse,
    Parquet,
    Arrow,
    Unreadable(&'static str),
}

impl Kind {
    fn of(path: &Path) -> Kind {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, e)| e) {
            Some("json") => Kind::Json,
            Some("tsv" | "tab") => Kind::Tabs,
            Some("parquet" | "pq") => Kind::Parquet,
            Some("arrow" | "feather") => Kind::Arrow,
            Some("npy") => Kind::Array,
            Some("npz") => Kind::Arrays,
            Some("svm" | "libsvm" | "svmlight") => Kind::Sparse,
            Some("xls" | "xlsx" | "ods") => Kind::Unreadable("spreadsheets"),
            Some("zip" | "bz2" | "xz" | "zst" | "7z") => Kind::Unreadable("archives other than .gz"),
            Some("sbl" | "sblfit") => Kind::Unreadable("programs and fits as data"),
            _ => Kind::Commas,
        }
    }
}
