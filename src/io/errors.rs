//! What can be wrong with a file, in words. Codes E0750–E0799 and W0750–W0799.

use std::fmt;
use std::io;

use sbl::diag::Diagnostic;

/// A few places and how many there are: `lines 3, 7, 9 and 4 more`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    first: Vec<u64>,
    count: u64,
}

impl Places {
    /// Adds the line of a file.
    pub fn push(&mut self, line: u64) {
        if self.first.len() < 5 {
            self.first.push(line);
        }
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.count == 1 { "line " } else { "lines " })?;
        for (i, line) in self.first.iter().enumerate() {
            write!(f, "{}{line}", if i > 0 { ", " } else { "" })?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What the system said, without the number of the error.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown reason".to_owned(),
    }
}

/// `2.1 GB`
pub fn bytes(n: u64) -> String {
    let mut size = n as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if size < 1000.0 {
            return if unit == "bytes" { format!("{n} bytes") } else { format!("{size:.3} {unit}") };
        }
        size /= 1000.0;
    }
    format!("{size:.3} TB")
}

pub(crate) fn unreadable(origin: &str, e: &io::Error) -> Diagnostic {
    let found = Diagnostic::error("E0750", format!("cannot read {origin}: {}", reason(e)));
    match e.kind() {
        io::ErrorKind::NotFound => found.help("check the path; it is relative to the current directory"),
        io::ErrorKind::PermissionDenied => found.help("give yourself the right to read it"),
        _ => found,
    }
}

pub(crate) fn directory(origin: &str) -> Diagnostic {
    Diagnostic::error("E0750", format!("cannot read {origin}: found a directory, expected a file"))
        .help(format!("name a file in it, such as {}/data.csv", origin.trim_end_matches('/')))
}

pub(crate) fn stdin_twice() -> Diagnostic {
    Diagnostic::error("E0750", "standard input (-) is named twice, and can be read once")
        .help("put one of the two into a file")
}

pub(crate) fn no_rows(origin: &str, header: bool) -> Diagnostic {
    let found = if header { "a header and no rows" } else { "an empty file" };
    Diagnostic::error("E0751", format!("{origin} has no rows: found {found}"))
        .help("expected a line of column names and a line for every row")
}

pub(crate) fn utf16(origin: &str) -> Diagnostic {
    Diagnostic::error("E0752", format!("{origin} is not UTF-8: it looks like UTF-16"))
        .help(format!("convert it: iconv -f UTF-16 -t UTF-8 {origin} > converted.csv"))
}

pub(crate) fn nul_byte(origin: &str, line: u64) -> Diagnostic {
    Diagnostic::error("E0752", format!("{origin} is not text: found a zero byte on line {line}"))
        .help("save the table as CSV in UTF-8")
}

pub(crate) fn not_utf8(origin: &str, byte: u8, line: u64) -> Diagnostic {
    Diagnostic::error("E0752", format!("{origin} is not UTF-8: found byte 0x{byte:02X} on line {line}"))
        .note("text in a western European encoding (Latin-1, Windows-1252) has such bytes")
        .help(format!("convert it: iconv -f WINDOWS-1252 -t UTF-8 {origin} > converted.csv"))
}

pub(crate) fn not_text(origin: &str, what: &str) -> Diagnostic {
    let help = match what {
        "a Parquet file" => "give it a name that ends in .parquet",
        "an Arrow file" => "give it a name that ends in .arrow",
        "a NumPy file" => "give it a name that ends in .npy",
        "a zip archive or a spreadsheet" => {
            "save the table as CSV in UTF-8; an archive of NumPy arrays ends in .npz"
        }
        _ => "save the table as CSV in UTF-8",
    };
    Diagnostic::error("E0763", format!("{origin} is not text: it looks like {what}")).help(help)
}

pub(crate) fn unsupported(origin: &str, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0763",
        format!(
            "cannot read {origin}: {what} are not read, expected CSV, TSV, JSON, NumPy or svmlight files"
        ),
    )
    .help("save the table as CSV (it may be gzipped)")
}

/// A Parquet or Arrow file, in a program that knows neither.
#[cfg(not(feature = "arrow"))]
pub(crate) fn without_arrow(what: &str) -> Diagnostic {
    Diagnostic::error("E0773", format!("{what}: this sbl was built without Parquet and Arrow"))
        .help("build it with them, `cargo install sbl --features arrow`, or use CSV: pandas.read_parquet(…).to_csv(…)")
}

/// A Parquet or Arrow file that its reader refuses.
#[cfg(feature = "arrow")]
pub(crate) fn columnar(origin: &str, what: &str) -> Diagnostic {
    let what = what.lines().next().unwrap_or_default();
    Diagnostic::error("E0774", format!("cannot read {origin}: {what}")).help(
        "the file is damaged or of another kind; write it again, without compression by Zstandard or Brotli",
    )
}

pub(crate) fn fit_for_program(origin: &str) -> Diagnostic {
    Diagnostic::error("E0763", format!("{origin} is a fit, expected a program"))
        .help(format!("use the fit: `sbl show {origin}`, `sbl predict {origin} --data new.csv`"))
}

pub(crate) fn damaged_gzip(origin: &str, e: &io::Error) -> Diagnostic {
    Diagnostic::error("E0764", format!("cannot unpack {origin}: {}", reason(e)))
        .help("the file is damaged or cut short; fetch it again")
}

pub(crate) fn damaged_zip(origin: &str, what: &str) -> Diagnostic {
    Diagnostic::error("E0764", format!("cannot unpack {origin}: {what}"))
        .help("the archive is damaged or of another kind; write it again with numpy.savez(…)")
}

/// A NumPy file, or an array in one, that is not what its header says, or not data.
pub(crate) fn numpy(origin: &str, name: Option<&str>, what: &str) -> Diagnostic {
    let at = name.map(|n| format!(", array {n:?}")).unwrap_or_default();
    Diagnostic::error("E0771", format!("{origin}{at}: {what}"))
        .help("write arrays of numbers or texts: numpy.savez(\"data.npz\", x=x, t=t)")
}

pub(crate) fn no_entries(origin: &str) -> Diagnostic {
    Diagnostic::error("E0751", format!("{origin} has no rows: found no array with an entry"))
        .help("write one array for every column: numpy.savez(\"data.npz\", x=x, t=t)")
}

pub(crate) fn rounded_entries(origin: &str, name: &str, count: usize) -> Diagnostic {
    let what = if count == 1 { "an integer".to_owned() } else { format!("{count} integers") };
    let verb = if count == 1 { "was" } else { "were" };
    Diagnostic::warning("W0752", format!("{origin}, array {name:?}: {what} above 2^53 {verb} rounded"))
        .help("if the array holds identifiers, leave it out of the model")
}

pub(crate) fn svmlight(origin: &str, line: u64, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0772", format!("{origin}, line {line}: {what}")).help(help)
}

/// A sparse file whose dense form is too large.
pub(crate) fn too_wide(origin: &str, rows: u64, width: usize, wanted: u64, limit: u64) -> Diagnostic {
    Diagnostic::error(
        "E0762",
        format!(
            "{origin} is too large: {rows} rows of {width} columns need {} once zeros are filled in, and may take {}",
            bytes(wanted),
            bytes(limit)
        ),
    )
    .help("raise the limit with --max-memory, or keep fewer columns: the largest index is the width")
}

pub(crate) fn too_large(origin: &str, wanted: u64, limit: u64) -> Diagnostic {
    Diagnostic::error(
        "E0762",
        format!("{origin} is too large: it needs {} or more, and may take {}", bytes(wanted), bytes(limit)),
    )
    .help("raise the limit with --max-memory, or keep fewer rows or columns")
}

pub(crate) fn delimiter(origin: &str, header: &str, found: &str, flag: &str) -> Diagnostic {
    let shown: String = header.chars().take(60).collect();
    Diagnostic::error(
        "E0753",
        format!("{origin} has a single column named {shown:?}: the cells seem to be separated by {found}"),
    )
    .help(format!("say so with --delimiter {flag}"))
}

pub(crate) fn empty_name(origin: &str, column: usize) -> Diagnostic {
    Diagnostic::error("E0754", format!("{origin}: column {} has no name in the header", column + 1))
        .help("name every column in the first line, or delete the column (row numbers are not needed)")
}

pub(crate) fn duplicate_name(origin: &str, name: &str, first: usize, second: usize) -> Diagnostic {
    let (first, second) = (first + 1, second + 1);
    Diagnostic::error("E0754", format!("{origin}: columns {first} and {second} are both named {name:?}"))
        .help("give every column a name of its own")
}

pub(crate) fn invisible_in_name(origin: &str, name: &str, column: usize, c: char) -> Diagnostic {
    let (column, code) = (column + 1, u32::from(c));
    Diagnostic::error(
        "E0754",
        format!(
            "{origin}: the name of column {column}, {name:?}, holds the invisible character U+{code:04X}"
        ),
    )
    .help("type the name again in the header")
}

pub(crate) fn twin_names(origin: &str, name: &str, first: usize, second: usize) -> Diagnostic {
    let (first, second) = (first + 1, second + 1);
    Diagnostic::warning(
        "W0755",
        format!("{origin}: columns {first} and {second} look alike, {name:?}, and are spelled with different characters"),
    )
    .help("use one spelling of accented letters (NFC), and different names for different columns")
}

pub(crate) fn ragged(origin: &str, expected: usize, found: usize, places: &Places) -> Diagnostic {
    Diagnostic::error(
        "E0755",
        format!("{origin}, {places}: found {}, expected {expected} as in the header", cells(found, places)),
    )
    .help("a cell that holds the delimiter must be quoted; an absent value is an empty cell or NA")
}

fn cells(found: usize, places: &Places) -> String {
    let first = if places.count() > 1 { " on the first of them" } else { "" };
    format!("{found} cell{}{first}", if found == 1 { "" } else { "s" })
}

pub(crate) fn blank_lines(origin: &str, one_column: bool, places: &Places) -> Diagnostic {
    let verb = if places.count() == 1 { "is" } else { "are" };
    Diagnostic::error("E0756", format!("{origin}, {places}: {verb} blank")).help(if one_column {
        "write NA where a value is missing, and delete lines that mean nothing"
    } else {
        "delete blank lines; a row without values still has its delimiters"
    })
}

pub(crate) fn trailing_blank(origin: &str, places: &Places) -> Diagnostic {
    let verb = if places.count() == 1 { "is" } else { "are" };
    Diagnostic::warning(
        "W0750",
        format!("{origin}, {places}: {verb} blank, after the last row, and not read"),
    )
}

pub(crate) fn unterminated_quote(origin: &str, line: u64) -> Diagnostic {
    Diagnostic::error("E0757", format!("{origin}, line {line}: a quoted cell opens here and never closes"))
        .help("close it with \"; a quote inside a quoted cell is written twice, \"\"")
}

pub(crate) fn after_quote(origin: &str, line: u64, c: char) -> Diagnostic {
    Diagnostic::error(
        "E0757",
        format!("{origin}, line {line}: found {c:?} after a closing quote, expected a delimiter or the end of the line"),
    )
    .help("a quote inside a quoted cell is written twice, \"\"")
}

pub(crate) fn too_large_number(origin: &str, column: &str, places: &Places) -> Diagnostic {
    Diagnostic::error(
        "E0758",
        format!(
            "{origin}, column {column:?}, {places}: the number is too large for double precision (1.8e308)"
        ),
    )
    .help("change the unit of the column")
}

pub(crate) fn underflow(origin: &str, column: &str, places: &Places) -> Diagnostic {
    Diagnostic::warning(
        "W0753",
        format!("{origin}, column {column:?}, {places}: the number is too small for double precision and was read as 0"),
    )
    .help("change the unit of the column")
}

pub(crate) fn rounded(origin: &str, column: &str, places: &Places) -> Diagnostic {
    Diagnostic::warning(
        "W0752",
        format!("{origin}, column {column:?}, {places}: an integer above 2^53 was rounded"),
    )
    .help("if the column is an identifier, leave it out of the model")
}

pub(crate) fn header_of_numbers(origin: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0751",
        format!("{origin}: every column name is a number, so the first row may be data"),
    )
    .help("put a line of column names on top")
}

pub(crate) fn json_syntax(origin: &str, line: usize, column: usize, what: &str) -> Diagnostic {
    Diagnostic::error("E0759", format!("{origin}, line {line}, column {column}: {what}"))
}

pub(crate) fn json_shape(origin: &str, what: &str) -> Diagnostic {
    Diagnostic::error("E0760", format!("{origin}: {what}"))
}

pub(crate) fn ignored(origin: &str, key: &str, what: &str) -> Diagnostic {
    Diagnostic::warning("W0754", format!("{origin}: {key:?} is {what} and was not read"))
}

/// An output that could not be written (exit status 4).
pub fn unwritable(target: &str, e: &io::Error) -> Diagnostic {
    Diagnostic::error("E0770", format!("cannot write {target}: {}", reason(e)))
}
