//! Whether to go on computing: asked between the blocks of every long operation.
//!
//! A factorisation of thousands of rows lies under line searches that take any failure for a point out of
//! reach, so a request to stop must not look like one. It is thrown, as a panic that no hook sees
//! ([`resume_unwind`]), through everything that is in progress, and caught by whoever knows the last good
//! state ([`attempt`]) or by the session ([`watched`]). Where panics abort the process nothing is thrown, and
//! loops notice the request between iterations.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// Why computing ends early.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Halt {
    /// The time is over: what there is counts.
    Time,
    /// The host wants what there is.
    Stop,
    /// The host wants nothing any more.
    Cancel,
}

/// A request of the host, shared by its threads.
#[derive(Clone, Debug, Default)]
pub struct Signal(Arc<AtomicU8>);

/// What a computation listens to.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The requests of the host.
    pub signal: Option<Signal>,
    /// When its time is over.
    pub deadline: Option<Instant>,
    /// How many threads it may use; 0 is one.
    threads: usize,
    /// Whether only [`Halt::Cancel`] counts: what there is is being put together.
    shielded: bool,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    static POLLS: Cell<u64> = const { Cell::new(0) };
}

impl Signal {
    /// Asks for what there is.
    pub fn stop(&self) {
        self.0.fetch_max(1, Ordering::SeqCst);
    }

    /// Asks for an end at once.
    pub fn cancel(&self) {
        self.0.store(2, Ordering::SeqCst);
    }

    /// What was asked for.
    pub fn asked(&self) -> Option<Halt> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            1 => Some(Halt::Stop),
            _ => Some(Halt::Cancel),
        }
    }
}

impl Watch {
    /// Listens to these requests.
    pub fn of(signal: Option<Signal>) -> Watch {
        Watch { signal, ..Watch::default() }
    }

    /// The same with so many threads.
    pub fn with_threads(self, threads: usize) -> Watch {
        Watch { threads, ..self }
    }

    /// The same for one thread of several.
    pub fn alone(self) -> Watch {
        self.with_threads(1)
    }

    /// Why computing must end, if it must.
    pub fn halt(&self) -> Option<Halt> {
        let asked = self.signal.as_ref().and_then(Signal::asked);
        let late = || self.deadline.is_some_and(|d| Instant::now() >= d).then_some(Halt::Time);
        match asked {
            Some(Halt::Cancel) => asked,
            _ if self.shielded => None,
            _ => asked.or_else(late),
        }
    }
}

/// Between two blocks: returns if computing may go on.
pub fn poll() {
    POLLS.with(|n| n.set(n.get().wrapping_add(1)));
    if cfg!(panic = "unwind")
        && let Some(halt) = halt()
    {
        throw(halt);
    }
}

/// Why computing on this thread must end, if it must.
pub fn halt() -> Option<Halt> {
    WATCH.with(|w| w.borrow().as_ref().and_then(Watch::halt))
}

/// How many threads may work on what this thread does, itself included.
pub fn threads() -> usize {
    WATCH.with(|w| w.borrow().as_ref().map_or(1, |w| w.threads.max(1)))
}

/// How often this thread has polled. For tests.
pub fn count() -> u64 {
    POLLS.with(Cell::get)
}

/// What this thread listens to, for threads that work for it.
pub fn current() -> Option<Watch> {
    WATCH.with(|w| w.borrow().clone())
}

/// Runs something that listens to the host; the halt that ended it, if one did.
///
/// # Errors
/// The halt.
pub fn watched<T>(watch: Option<Watch>, run: impl FnOnce() -> T) -> Result<T, Halt> {
    let before = WATCH.with(|w| w.replace(watch));
    let found = catch_unwind(AssertUnwindSafe(run));
    WATCH.with(|w| w.replace(before));
    found.or_else(|payload| caught(payload, |_| true))
}

/// Runs a step whose interruption leaves something to return. After a stop, what follows on this
/// thread is shielded from all but a cancellation.
///
/// # Errors
/// The halt, but for a cancellation, which goes on.
pub fn attempt<T>(run: impl FnOnce() -> T) -> Result<T, Halt> {
    let found = catch_unwind(AssertUnwindSafe(run));
    found.or_else(|payload| caught(payload, |halt| halt != Halt::Cancel)).inspect_err(|_| shield())
}

/// From here on this thread has until then, if it listens at all.
pub fn until(deadline: Instant) {
    WATCH.with(|w| w.borrow_mut().iter_mut().for_each(|w| w.deadline = Some(deadline)));
}

/// From here on this thread puts together what there is: only a cancellation ends it.
pub fn shield() {
    WATCH.with(|w| w.borrow_mut().iter_mut().for_each(|w| w.shielded = true));
}

/// The same while `run` runs.
pub fn shielded<T>(run: impl FnOnce() -> T) -> T {
    let set = |on: bool| {
        WATCH.with(|w| w.borrow_mut().as_mut().map(|w| std::mem::replace(&mut w.shielded, on)).unwrap_or(on))
    };
    let before = set(true);
    let result = run();
    set(before);
    result
}

/// Ends what is in progress.
pub fn throw(halt: Halt) -> ! {
    resume_unwind(Box::new(halt))
}

/// The halt that was thrown, if it is one to catch; anything else goes on.
fn caught<T>(payload: Box<dyn Any + Send>, mine: impl FnOnce(Halt) -> bool) -> Result<T, Halt> {
    match payload.downcast::<Halt>() {
        Ok(halt) if mine(*halt) => Err(*halt),
        Ok(halt) => resume_unwind(halt),
        Err(other) => resume_unwind(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening(signal: &Signal) -> Option<Watch> {
        Some(Watch { signal: Some(signal.clone()), ..Watch::default() })
    }

    #[test]
    fn a_stop_is_caught_by_whoever_has_something_and_a_cancellation_by_nobody_below() {
        let signal = Signal::default();
        let run = |signal: &Signal| {
            watched(listening(signal), || {
                let step = attempt(poll);
                // shielded from here on
                poll();
                step
            })
        };
        assert_eq!(run(&signal), Ok(Ok(())));
        signal.stop();
        assert_eq!(run(&signal), Ok(Err(Halt::Stop)));
        assert_eq!(watched(listening(&signal), || shielded(poll)), Ok(()));
        assert_eq!(watched(listening(&signal), poll), Err(Halt::Stop));
        signal.cancel();
        signal.stop();
        assert_eq!(run(&signal), Err(Halt::Cancel));
        assert_eq!(watched(listening(&signal), || shielded(poll)), Err(Halt::Cancel));
        // nobody listens here
        poll();
    }

    #[test]
    fn time_and_other_panics() {
        let late = Some(Watch { deadline: Some(Instant::now()), ..Watch::default() });
        assert_eq!(watched(late, poll), Err(Halt::Time));
        let other = catch_unwind(|| watched(None, || resume_unwind(Box::new("host"))));
        assert_eq!(other.unwrap_err().downcast_ref::<&str>(), Some(&"host"));
    }
}
