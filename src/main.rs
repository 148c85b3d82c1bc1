//! The `sbl` command: `cli` talks to people, `io` to files, `repl` is the prompt; everything else is the library.

mod cli;
mod io;
mod repl;

fn main() -> std::process::ExitCode {
    cli::run()
}
