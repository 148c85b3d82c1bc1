//! Special functions and factorisations.
