//! Files written whole or not at all: a temporary file in the same directory, flushed to the disk,
//! then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The temporary file being written, so that an interrupt can remove it.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Writes `bytes` to `path`. Whatever happens, `path` then holds the old content or the new.
///
/// A link is followed, so that it stays one; a device or a pipe is written to directly. Temporary
/// files left behind by a killed run of this program are removed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
    }
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        return OpenOptions::new().write(true).open(&target)?.write_all(bytes);
    }
    let Some(name) = target.file_name().map(|n| n.to_string_lossy().into_owned()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    };
    let directory = match target.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_owned(),
        _ => PathBuf::from("."),
    };
    remove_stale(&directory, &name);
    let temporary = directory.join(format!(".{name}.tmp-{}", std::process::id()));
    set_pending(Some(temporary.clone()));
    let written = write_and_rename(&temporary, &target, bytes, existing.map(|m| m.permissions()));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    set_pending(None);
    written?;
    // The rename itself must reach the disk; not every file system can flush a directory.
    if let Ok(handle) = File::open(&directory) {
        let _ = handle.sync_all();
    }
    Ok(())
}

/// Removes the temporary file of a write in progress; called on the way out after an interrupt.
pub fn remove_pending() {
    if let Ok(mut pending) = PENDING.try_lock()
        && let Some(path) = pending.take()
    {
        let _ = fs::remove_file(path);
    }
}

fn write_and_rename(
    temporary: &Path,
    target: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)
}

fn set_pending(path: Option<PathBuf>) {
    if let Ok(mut pending) = PENDING.lock() {
        *pending = path;
    }
}

/// Removes `.NAME.tmp-PID` where no process PID is left.
fn remove_stale(directory: &Path, name: &str) {
    let prefix = format!(".{name}.tmp-");
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let Some(pid) = file.to_str().and_then(|f| f.strip_prefix(&prefix)?.parse::<u32>().ok()) else {
            continue;
        };
        if is_dead(pid, &entry) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a process is gone: by `/proc` where there is one, else if the file is an hour old.
fn is_dead(pid: u32, entry: &fs::DirEntry) -> bool {
    if Path::new("/proc/self").exists() {
        return !Path::new("/proc").join(pid.to_string()).exists();
    }
    let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    age.is_some_and(|a| a.as_secs() > 3600)
}
