//! What the host decides about a fit, beside the model and the data.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

/// Budgets, seed and progress of a fit.
///
/// ```
/// let options = sbl::Options::default().seed(1).max_memory(1 << 30).on_step(|s| s.go_on());
/// # let _ = options;
/// ```
pub struct Options {
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) max_time: Option<Duration>,
    pub(crate) max_memory: usize,
    pub(crate) max_iter: Option<usize>,
    pub(crate) on_step: Option<OnStep>,
}

type OnStep = Mutex<Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>>;

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, threads: 1, max_time: None, max_memory: 8 << 30, max_iter: None, on_step: None }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("seed", &self.seed)
            .field("threads", &self.threads)
            .field("max_time", &self.max_time)
            .field("max_memory", &self.max_memory)
            .field("max_iter", &self.max_iter)
            .field("on_step", &self.on_step.is_some())
            .finish()
    }
}

impl Options {
    /// Seed of everything random (restarts, sampling). Default 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Threads that may be used, at least 1 (this version computes in one). Same seed and threads: same bits. Default 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Stop after this time with what there is (`stop` says `max_time`). Default: no limit.
    pub fn max_time(mut self, time: Duration) -> Self {
        self.max_time = Some(time);
        self
    }

    /// Refuse, before allocating, what is estimated to need more bytes. Default 8 GiB.
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = bytes;
        self
    }

    /// Stop after this many iterations with what there is (`stop` says `max_iter`); 0 gives the start
    /// values. Default: what the plan says.
    pub fn max_iter(mut self, iterations: usize) -> Self {
        self.max_iter = Some(iterations);
        self
    }

    /// Called after every iteration; answer [`Progress::go_on`] or [`Progress::stop`].
    pub fn on_step(mut self, f: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'static) -> Self {
        self.on_step = Some(Mutex::new(Box::new(f)));
        self
    }
}

/// One iteration, as the host sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// From 1.
    pub iteration: usize,
    /// The objective after it, in nats.
    pub objective: f64,
    /// How many weights are still in the model.
    pub active: usize,
    /// What the iteration did: a step of the plan.
    pub phase: &'static str,
}

impl Progress {
    /// Goes on.
    pub fn go_on(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Stops; the fit so far is returned and says so.
    pub fn stop(&self) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Options {
    /// Tells the host; a host that panicked before is not asked again.
    pub(crate) fn tell(&self, progress: &Progress) -> ControlFlow<()> {
        match self.on_step.as_ref().map(Mutex::lock) {
            Some(Ok(mut f)) => f(progress),
            _ => ControlFlow::Continue(()),
        }
    }
}
