//! Standard input that is no terminal: a script. It goes on after an error, and says so at the end.

use std::io::{BufRead, stdin};

use super::engine::Engine;
use super::entry::is_complete;
use super::write;
use crate::cli::failure::{Exit, Failure};
use crate::cli::screen::Screen;

/// Answers every entry; exit status 1 if one was wrong.
pub fn run(mut engine: Engine, screen: &Screen) -> Result<Exit, Failure> {
    let mut failed = false;
    let mut open = String::new();
    let mut input = stdin().lock();
    loop {
        let mut bytes = Vec::new();
        let read = input.read_until(b'\n', &mut bytes);
        let at_end = !matches!(read, Ok(1..));
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        // what is still open at the end is answered as it is
        if at_end && open.trim().is_empty() {
            break;
        }
        if !open.is_empty() {
            open.push('\n');
        }
        open.push_str(line);
        if is_complete(&open) || at_end {
            let reply = engine.enter(&std::mem::take(&mut open));
            write::answer(&reply, screen)?;
            failed |= reply.failed;
            if reply.quit || at_end {
                break;
            }
        }
    }
    Ok(if failed { Exit::Wrong } else { Exit::Done })
}
