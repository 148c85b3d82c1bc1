//! The closest known name.
