//! The members of a zip archive, stored or deflated, each checked against its checksum.
//!
//! Written here because an archive of arrays needs fifty lines of the format (APPNOTE 6.3, sections 4.3.7,
//! 4.3.12 and 4.3.16) on top of the decompression that gzipped files need anyway.

use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use sbl::diag::Diagnostic;

use super::errors;

/// A file in an archive.
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its content, unpacked.
    pub content: Vec<u8>,
}

/// The members in the order of the directory; together at most `limit` bytes.
///
/// Errors: the archive is cut or changed, uses what is not read here (encryption, other methods, 4 GB and
/// more), or is too large.
pub fn members(bytes: &[u8], origin: &str, limit: u64) -> Result<Vec<Member>, Diagnostic> {
    let mut budget = limit;
    let mut all = Vec::new();
    for entry in directory(bytes).map_err(|what| errors::damaged_zip(origin, &what))? {
        if u64::from(entry.unpacked) > budget {
            let wanted = limit - budget + u64::from(entry.unpacked);
            return Err(errors::too_large(origin, wanted, limit));
        }
        budget -= u64::from(entry.unpacked);
        let content = content(bytes, &entry)
            .map_err(|what| errors::damaged_zip(origin, &format!("{:?}: {what}", entry.name)))?;
        all.push(Member { name: entry.name, content });
    }
    Ok(all)
}

/// What the directory says of a member.
struct Entry {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    unpacked: u32,
    /// Where its own header stands.
    at: u32,
}

/// The end of the archive, then the entries before it.
fn directory(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    const END: usize = 22;
    let is_end = |at: &usize| {
        let comment = u16_at(bytes, at + 20).map(usize::from);
        bytes[*at..].starts_with(b"PK\x05\x06") && comment == Some(bytes.len() - at - END)
    };
    // a comment of at most 65535 bytes may follow
    let last = bytes.len().checked_sub(END).ok_or("the end of the archive is missing")?;
    let end =
        (last.saturating_sub(0xffff)..=last).rev().find(is_end).ok_or("the end of the archive is missing")?;
    let (count, from) = (u16_at(bytes, end + 10), u32_at(bytes, end + 16));
    let (Some(count), Some(from)) = (count, from) else {
        return Err("the end of the archive is missing".into());
    };
    if count == u16::MAX || from == u32::MAX {
        return Err("archives of 4 GB and more are not read".into());
    }
    let mut at = from as usize;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (entry, next) = entry(bytes, at).ok_or("its directory is damaged")?;
        entries.push(entry);
        at = next;
    }
    if at != end {
        return Err("its directory is damaged".into());
    }
    Ok(entries)
}

fn entry(bytes: &[u8], at: usize) -> Option<(Entry, usize)> {
    if !bytes.get(at..)?.starts_with(b"PK\x01\x02") {
        return None;
    }
    let half = |offset: usize| u16_at(bytes, at + offset);
    let word = |offset: usize| u32_at(bytes, at + offset);
    let name_end = at + 46 + usize::from(half(28)?);
    let entry = Entry {
        name: String::from_utf8(bytes.get(at + 46..name_end)?.to_vec()).ok()?,
        flags: half(8)?,
        method: half(10)?,
        crc: word(16)?,
        packed: word(20)?,
        unpacked: word(24)?,
        at: word(42)?,
    };
    Some((entry, name_end + usize::from(half(30)?) + usize::from(half(32)?)))
}

/// Nothing is allocated from a number in the directory: content grows as it is read.
fn content(bytes: &[u8], entry: &Entry) -> Result<Vec<u8>, String> {
    if entry.flags & 1 == 1 {
        return Err("it is encrypted".into());
    }
    if entry.packed == u32::MAX || entry.unpacked == u32::MAX {
        return Err("archives of 4 GB and more are not read".into());
    }
    let packed = packed(bytes, entry).ok_or("its header is damaged")?;
    let mut content = Vec::new();
    match entry.method {
        0 => content.extend_from_slice(packed),
        8 => {
            let most = u64::from(entry.unpacked) + 1;
            let read = DeflateDecoder::new(packed).take(most).read_to_end(&mut content);
            read.map_err(|e| errors::reason(&e))?;
        }
        method => {
            return Err(format!("compression method {method} is not read, expected stored or deflated"));
        }
    }
    let mut crc = Crc::new();
    crc.update(&content);
    if content.len() != entry.unpacked as usize || crc.sum() != entry.crc {
        return Err("the checksum does not match".into());
    }
    Ok(content)
}

/// The packed bytes behind the header of a member, which repeats its name.
fn packed<'a>(bytes: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let at = entry.at as usize;
    if !bytes.get(at..)?.starts_with(b"PK\x03\x04") {
        return None;
    }
    let name_end = at + 30 + usize::from(u16_at(bytes, at + 26)?);
    if bytes.get(at + 30..name_end)? != entry.name.as_bytes() {
        return None;
    }
    let start = name_end + usize::from(u16_at(bytes, at + 28)?);
    bytes.get(start..start.checked_add(entry.packed as usize)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
