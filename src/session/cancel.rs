//! The token by which a host ends a fit from another thread.

use crate::diag::Diagnostic;
use crate::host::Fault;
use crate::math::poll::{Halt, Signal};

/// Ends fits that were given it ([`Options::cancel`](crate::Options::cancel)), from any thread. Clones are
/// one token.
///
/// ```
/// # let model = sbl::Model::compile("data x: real[N]\ndata t: real[N]\nw ~ Flat()\nt ~ Normal(x .* w, sd = 1)\n")?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0])?.vector("t", &[2.0, 4.0])?;
/// let cancel = sbl::Cancel::new();
/// let button = cancel.clone();
/// std::thread::spawn(move || button.cancel()).join().ok();
/// let error = model.fit(&data, &sbl::Options::default().cancel(&cancel)).unwrap_err();
/// assert_eq!(error.diagnostics()[0].code, "E0821");
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    signal: Signal,
}

impl Cancel {
    /// A token that nobody has used.
    ///
    /// ```
    /// assert!(!sbl::Cancel::new().is_asked());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing is wanted any more: the fit answers E0821, within 0.2 s however large its matrices are.
    ///
    /// ```
    /// let cancel = sbl::Cancel::new();
    /// cancel.cancel();
    /// assert!(cancel.is_asked());
    /// ```
    pub fn cancel(&self) {
        self.signal.cancel();
    }

    /// What there is is wanted: the step in progress is abandoned, and the fit returns what the last
    /// iteration gave, saying so ([`Fit::stop`](crate::Fit::stop) is `interrupted`). Putting the result together
    /// takes about as long as an iteration.
    ///
    /// ```
    /// let cancel = sbl::Cancel::new();
    /// cancel.stop();
    /// assert!(cancel.is_asked());
    /// ```
    pub fn stop(&self) {
        self.signal.stop();
    }

    /// Whether an end was asked for.
    ///
    /// ```
    /// assert!(!sbl::Cancel::new().is_asked());
    /// ```
    pub fn is_asked(&self) -> bool {
        self.signal.asked().is_some()
    }

    pub(crate) fn signal(&self) -> Signal {
        self.signal.clone()
    }
}

/// The callback of progress of a host failed.
pub(crate) fn callback_failed(fault: &Fault) -> Diagnostic {
    Diagnostic::error("E0822", format!("the callback of progress did not return: {fault}"))
        .help("mend the function that is told of progress")
}

/// How a diagnostic says it.
pub(crate) fn said(halt: Halt) -> &'static str {
    match halt {
        Halt::Cancel => "the fit was cancelled",
        Halt::Stop => "the fit was stopped before its first iteration",
        Halt::Time => "the time was over before the first iteration",
    }
}
