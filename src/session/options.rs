//! What the host decides about a fit, beside the model and the data.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use super::cancel::Cancel;
use crate::host::{Fault, guarded};
use crate::math::poll::Watch;

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
    pub(crate) cancel: Option<Cancel>,
    pub(crate) on_step: Option<OnStep>,
    /// What the callback said when it panicked.
    pub(crate) broken: Mutex<Option<Fault>>,
}

type OnStep = Mutex<Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>>;

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 1,
            max_time: None,
            max_memory: 8 << 30,
            max_iter: None,
            cancel: None,
            on_step: None,
            broken: Mutex::new(None),
        }
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
            .field("cancel", &self.cancel.is_some())
            .field("on_step", &self.on_step.is_some())
            .finish()
    }
}

impl Options {
    /// Seed of everything random (restarts, sampling). Default 0.
    ///
    /// ```
    /// let options = sbl::Options::default().seed(7);
    /// # let _ = options;
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Threads that may be used, at least 1: for kernels and products of large matrices. Their number changes no
    /// bit of the result. Default 1.
    ///
    /// ```
    /// let options = sbl::Options::default().threads(2);
    /// # let _ = options;
    /// ```
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Stop after this time with what there is (`stop` says `max_time`). Default: no limit.
    ///
    /// ```
    /// let options = sbl::Options::default().max_time(std::time::Duration::from_secs(60));
    /// # let _ = options;
    /// ```
    pub fn max_time(mut self, time: Duration) -> Self {
        self.max_time = Some(time);
        self
    }

    /// Refuse, before allocating, what is estimated to need more bytes. Default 8 GiB.
    ///
    /// ```
    /// let options = sbl::Options::default().max_memory(512 << 20);
    /// # let _ = options;
    /// ```
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = bytes;
        self
    }

    /// Stop after this many iterations with what there is (`stop` says `max_iter`); 0 gives the start
    /// values. Default: what the plan says.
    ///
    /// ```
    /// let options = sbl::Options::default().max_iter(100);
    /// # let _ = options;
    /// ```
    pub fn max_iter(mut self, iterations: usize) -> Self {
        self.max_iter = Some(iterations);
        self
    }

    /// Ends the fit when the token says so, from any thread. Default: nothing ends it.
    ///
    /// ```
    /// let cancel = sbl::Cancel::new();
    /// let options = sbl::Options::default().cancel(&cancel);
    /// # let _ = options;
    /// ```
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Called after every iteration; answer [`Progress::go_on`] or [`Progress::stop`].
    ///
    /// ```
    /// let options = sbl::Options::default().on_step(|step| {
    ///     println!("{}: {:.4}", step.iteration, step.objective);
    ///     step.go_on()
    /// });
    /// # let _ = options;
    /// ```
    pub fn on_step(mut self, f: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'static) -> Self {
        self.on_step = Some(Mutex::new(Box::new(f)));
        self
    }
}

/// One iteration, as the host sees it.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// let shown = |step: &sbl::Progress| format!("{} weights after iteration {}", step.active, step.iteration);
/// let options = sbl::Options::default().on_step(move |step| {
///     println!("{}", shown(step));
///     step.go_on()
/// });
/// model.fit(&data, &options)?;
/// # Ok::<(), sbl::Error>(())
/// ```
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
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// let fit = model.fit(&data, &sbl::Options::default().on_step(|step| step.go_on()))?;
    /// assert!(fit.converged());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn go_on(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Stops; the fit so far is returned and says so.
    ///
    /// ```
    /// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
    /// # let model = sbl::Model::compile(source)?;
    /// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
    /// let fit = model.fit(&data, &sbl::Options::default().on_step(|step| step.stop()))?;
    /// assert_eq!(fit.stop(), "interrupted");
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn stop(&self) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Options {
    /// Tells the host; a callback that panics ends the fit, which [`Options::fault`] then explains.
    pub(crate) fn tell(&self, progress: &Progress) -> ControlFlow<()> {
        let Some(Ok(mut f)) = self.on_step.as_ref().map(Mutex::lock) else {
            return ControlFlow::Continue(());
        };
        guarded(|| f(progress)).unwrap_or_else(|fault| {
            if let Ok(mut broken) = self.broken.lock() {
                *broken = Some(fault);
            }
            ControlFlow::Break(())
        })
    }

    /// What the callback did wrong, if it did; asked once.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.broken.lock().ok().and_then(|mut broken| broken.take())
    }

    /// What a fit listens to.
    pub(crate) fn watch(&self) -> Watch {
        Watch::of(self.cancel.as_ref().map(Cancel::signal)).with_threads(self.threads)
    }
}
