//! The `sbl` command: `cli` talks to people, `io` to files; everything else is the library.

mod cli;
mod io;

fn main() -> std::process::ExitCode {
    cli::run()
}
