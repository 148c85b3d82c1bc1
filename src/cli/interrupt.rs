//! Ctrl-C: a fit stops and keeps what it has; a second Ctrl-C, and one during anything else, stops
//! at once.

use std::process;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use sbl::Cancel;

use super::failure::{Exit, Failure};
use crate::io::write;

/// What a fit listens to.
static CANCEL: Mutex<Option<Cancel>> = Mutex::new(None);
static GRACEFUL: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static KEPT: AtomicBool = AtomicBool::new(false);

/// Installs the handler. Without one (a second handler in the process) Ctrl-C just ends the program.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if KEPT.load(Ordering::SeqCst) {
            ASKED.store(true, Ordering::SeqCst);
        } else if !GRACEFUL.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            write::remove_pending();
            process::exit(i32::from(Exit::Interrupted.code()));
        }
        cancel().stop();
    });
}

/// Runs something that looks at [`asked`] and can stop by itself.
pub fn gracefully<T>(run: impl FnOnce() -> T) -> T {
    // at a prompt, what was asked of an earlier fit is not asked of this one
    if KEPT.load(Ordering::SeqCst)
        && ASKED.swap(false, Ordering::SeqCst)
        && let Ok(mut cancel) = CANCEL.lock()
    {
        *cancel = None;
    }
    GRACEFUL.store(true, Ordering::SeqCst);
    let result = run();
    GRACEFUL.store(false, Ordering::SeqCst);
    result
}

/// From now on Ctrl-C ends nothing but what looks at [`asked`]: a session at a prompt stays.
pub fn keep_the_session() {
    KEPT.store(true, Ordering::SeqCst);
}

/// The token that Ctrl-C uses: the step in progress is abandoned, what there is is kept.
pub fn cancel() -> Cancel {
    match CANCEL.lock() {
        Ok(mut cancel) => cancel.get_or_insert_default().clone(),
        Err(_) => Cancel::new(),
    }
}

/// An error, with the status of an interruption if there was one.
pub fn failure(error: sbl::Error) -> Failure {
    let failure = Failure::from(error);
    if asked() { Failure { exit: Exit::Interrupted, ..failure } } else { failure }
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
