//! The `sbl` command.

mod io;

fn main() {}
