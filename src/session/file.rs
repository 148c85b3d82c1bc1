//! The fit file: one self-contained, versioned, checksummed text.
//!
//! ```text
//! sblfit 1
//! sha256 <64 hex digits of everything after the third line>
//! bytes <length of everything after the third line>
//! { … JSON … }
//! ```
//! Nothing is allocated from a number in the header, and a damaged byte anywhere is an error.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::unique;
use crate::diag::Diagnostic;

/// The version this program writes.
pub const VERSION: u32 = 1;

const MAGIC: &str = "sblfit ";

/// Wraps a payload, and makes sure that it can be read again: JSON would write what is not finite as null.
pub(crate) fn encode<T: Serialize + DeserializeOwned>(payload: &T) -> Result<Vec<u8>, Diagnostic> {
    let body = serde_json::to_vec(payload)
        .and_then(|body| serde_json::from_slice::<T>(&body).map(|_| body))
        .map_err(|e| {
            Diagnostic::error("E0810", "the fit holds a number that is not finite, which its file cannot hold")
                .note(format!("a mean or a variance beyond 1.8e308 ({e})"))
                .help("bring targets and columns to usual sizes: another unit, `standardize(x)`; see what `sbl fit` prints without `-o`")
        })?;
    let mut bytes = format!("{MAGIC}{VERSION}\nsha256 {}\nbytes {}\n", hex(&body), body.len()).into_bytes();
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// Unwraps a payload after checking version, length and checksum.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], name: &str) -> Result<T, Diagnostic> {
    let damaged = |what: &str| damaged(name, what);
    if !bytes.starts_with(MAGIC.as_bytes()) {
        return Err(foreign(bytes, name));
    }
    let (first, rest) = split_line(bytes).ok_or_else(|| damaged("it ends in its header"))?;
    let version = first.strip_prefix(MAGIC).unwrap_or_default();
    if version != VERSION.to_string() {
        return Err(other_version(version, name));
    }
    let (second, rest) = split_line(rest).ok_or_else(|| damaged("it ends in its header"))?;
    let (third, body) = split_line(rest).ok_or_else(|| damaged("it ends in its header"))?;
    let sum = second.strip_prefix("sha256 ").ok_or_else(|| damaged("the checksum line is missing"))?;
    let length = third.strip_prefix("bytes ").ok_or_else(|| damaged("the length line is missing"))?;
    if length != body.len().to_string() {
        return Err(damaged(&format!(
            "it holds {} bytes where {} were written",
            body.len(),
            shorten(length)
        )));
    }
    if sum != hex(body) {
        return Err(damaged("the checksum does not match"));
    }
    unique::verify(body).and_then(|()| serde_json::from_slice(body)).map_err(|e| damaged(&e.to_string()))
}

/// A file that begins as a fit does and is none.
pub(crate) fn damaged(name: &str, what: &str) -> Diagnostic {
    Diagnostic::error("E0811", format!("`{name}` is damaged: {what}"))
        .help("fit the model again, or copy the file again")
}

/// A file that does not begin as a fit does.
fn foreign(bytes: &[u8], name: &str) -> Diagnostic {
    let found = |what: &str| Diagnostic::error("E0812", format!("`{name}` is no fit file{what}"));
    if bytes.is_empty() {
        return found(": it is empty").help("give a file that `sbl fit … -o` wrote");
    }
    if MAGIC.as_bytes().starts_with(bytes) {
        return found(": it ends in its first line").help("copy the file again, or fit the model again");
    }
    match name.ends_with(".sbl") {
        true => found(": it looks like a program")
            .help(format!("fit it first: `sbl fit {name} --data data.csv -o {name}fit`")),
        false => found("").help("give a file that `sbl fit … -o` wrote"),
    }
}

/// A file of another version of the format, or with a first line that names none.
fn other_version(version: &str, name: &str) -> Diagnostic {
    let shown = shorten(version);
    let found = format!("`{name}` has format version {shown}, this program reads version {VERSION}");
    let newer = version.parse::<u32>().is_ok_and(|v| v > VERSION);
    Diagnostic::error("E0813", found).help(if newer {
        "update sbl, or fit the model again with this version"
    } else {
        "read it with the version of sbl that wrote it, or fit the model again"
    })
}

/// The checksum of bytes that come one after another.
#[derive(Default)]
pub(crate) struct Checksum(Sha256);

impl Checksum {
    /// And these.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// As 64 hex digits.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// The checksum of anything, as 64 hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut sum = Checksum::default();
    sum.add(bytes);
    sum.hex()
}

/// The first line, if it ends and is short, and what follows.
fn split_line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().take(100).position(|b| *b == b'\n')?;
    let (line, rest) = bytes.split_at(end);
    Some((std::str::from_utf8(line).ok()?, rest.get(1..)?))
}

fn shorten(text: &str) -> String {
    text.chars().take(20).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        encode(&vec![1.0f64, 0.1, 1e-300]).unwrap()
    }

    #[test]
    fn round_trip_keeps_every_bit() {
        let back: Vec<f64> = decode(&sample(), "a.sblfit").unwrap();
        assert_eq!(back, [1.0, 0.1, 1e-300]);
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_an_error() {
        let good = sample();
        for end in 0..good.len() {
            assert!(decode::<Vec<f64>>(&good[..end], "a").is_err(), "cut at {end}");
        }
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode::<Vec<f64>>(&bad, "a").is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        assert_eq!(encode(&vec![1.0, f64::NAN]).unwrap_err().code, "E0810");
    }

    #[test]
    fn a_future_version_says_so() {
        let error = decode::<Vec<f64>>(b"sblfit 9\nsha256 x\nbytes 0\n", "a").unwrap_err();
        assert_eq!(error.code, "E0813");
    }
}
