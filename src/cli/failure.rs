//! How a command ends.

use sbl::diag::{Diagnostic, Diagnostics};
use sbl::source::SourceMap;

/// Exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// 0
    Done,
    /// 1: the model, the data or an option is wrong.
    Wrong,
    /// 3: the fit did not converge, or had to give up.
    NotConverged,
    /// 4: an output could not be written.
    Unwritable,
    /// 130: Ctrl-C.
    Interrupted,
}

impl Exit {
    /// As a number. 2, a wrong command line, never gets here.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Wrong => 1,
            Exit::NotConverged => 3,
            Exit::Unwritable => 4,
            Exit::Interrupted => 130,
        }
    }
}

/// Why a command has no result: what to print and with which status to end.
#[derive(Debug)]
pub struct Failure {
    /// The status.
    pub exit: Exit,
    /// What to print.
    pub diagnostics: Diagnostics,
    /// What the diagnostics point into.
    pub sources: SourceMap,
}

impl Failure {
    /// Diagnostics that point into no source.
    pub fn wrong(diagnostics: Diagnostics) -> Self {
        Self { exit: Exit::Wrong, diagnostics, sources: SourceMap::new() }
    }

    /// An output that could not be written.
    pub fn unwritable(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Unwritable, diagnostics: vec![diagnostic], sources: SourceMap::new() }
    }

    /// The reader of standard output went away: nothing to say, nothing wrong.
    pub fn quiet() -> Self {
        Self { exit: Exit::Done, diagnostics: Vec::new(), sources: SourceMap::new() }
    }
}

impl From<sbl::Error> for Failure {
    fn from(error: sbl::Error) -> Self {
        Self {
            exit: Exit::Wrong,
            diagnostics: error.diagnostics().to_vec(),
            sources: error.sources().clone(),
        }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::wrong(vec![diagnostic])
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::wrong(diagnostics)
    }
}
