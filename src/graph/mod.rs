//! The directed acyclic graph of a typed model.
