//! Bytes of a file, unpacked and decoded, within a budget of memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use sbl::diag::Diagnostic;

use super::{errors, is_stdin, shown};

/// The text of a file or of standard input, without a byte order mark; `.gz` content is unpacked.
///
/// Errors: the file cannot be read, is larger than `limit` bytes (also once unpacked), or is not
/// UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, Diagnostic> {
    let origin = shown(path);
    decode(read_bytes(path, limit)?, &origin)
}

/// The bytes of a file or of standard input, unpacked if they are gzipped.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
    let origin = shown(path);
    let raw = if is_stdin(path) {
        read_limited(io::stdin().lock(), limit, &origin)?
    } else {
        let unreadable = |e: io::Error| errors::unreadable(&origin, &e);
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if about.is_dir() {
            return Err(errors::directory(&origin));
        }
        if about.is_file() && about.len() > limit {
            return Err(errors::too_large(&origin, about.len(), limit));
        }
        read_limited(File::open(path).map_err(unreadable)?, limit, &origin)?
    };
    if raw.starts_with(&[0x1f, 0x8b]) {
        return unpack(&raw, limit, &origin);
    }
    Ok(raw)
}

/// UTF-8 without its byte order mark, or an error that says what the bytes look like.
pub fn decode(bytes: Vec<u8>, origin: &str) -> Result<String, Diagnostic> {
    const MAGIC: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive or a spreadsheet"),
        (b"\xd0\xcf\x11\xe0", "an old spreadsheet"),
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"\x93NUMPY", "a NumPy file"),
        (b"BZh", "a bzip2 archive"),
    ];
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(errors::not_text(origin, what));
    }
    let sample = &bytes[..bytes.len().min(4096)];
    let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|&&b| b == 0).count();
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    // Without a mark: every other byte of plain text in UTF-16 is zero.
    if utf16 || (sample.len() >= 4 && zeros(0).max(zeros(1)) * 4 > sample.len()) {
        return Err(errors::utf16(origin));
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        return Err(errors::nul_byte(origin, line_of(&bytes, at)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            let bytes = e.as_bytes();
            Err(errors::not_utf8(origin, bytes.get(at).copied().unwrap_or(0), line_of(bytes, at)))
        }
    }
}

fn read_limited(from: impl Read, limit: u64, origin: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| errors::unreadable(origin, &e))?;
    if bytes.len() as u64 > limit {
        return Err(errors::too_large(origin, bytes.len() as u64, limit));
    }
    Ok(bytes)
}

fn unpack(packed: &[u8], limit: u64, origin: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    let read = MultiGzDecoder::new(packed).take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| errors::damaged_gzip(origin, &e))?;
    if bytes.len() as u64 > limit {
        return Err(errors::too_large(origin, bytes.len() as u64, limit));
    }
    Ok(bytes)
}

/// The line (from 1) of a byte, counting LF, CRLF and CR as one newline each.
fn line_of(bytes: &[u8], at: usize) -> u64 {
    let before = &bytes[..at.min(bytes.len())];
    let lf = before.iter().filter(|&&b| b == b'\n').count();
    let lone_cr = before.windows(2).filter(|w| w[0] == b'\r' && w[1] != b'\n').count();
    (lf + lone_cr) as u64 + 1
}
