//! The program run as a process, in a directory of its own, with a plain environment.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    /// Exit status; -1 if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// Fails unless the status is this one.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "\nstdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}:\n{}", self.out))
    }
}

/// A directory to work in.
pub struct Place {
    dir: TempDir,
}

impl Place {
    /// An empty one.
    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Place {
        fs::write(self.path(name), content).unwrap();
        self
    }

    /// The text of a file.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sbl"));
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "LC_ALL", "LC_CTYPE"] {
            command.env_remove(name);
        }
        command.env("LANG", "C.UTF-8").env("TERM", "xterm").env("COLUMNS", "100");
        command
    }

    /// Runs it with nothing on standard input.
    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    /// Runs it with this on standard input.
    pub fn pipe(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        // The program may end before it has read everything.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        ran(output)
    }
}

/// Runs the program in an empty directory.
pub fn sbl(args: &[&str]) -> Ran {
    Place::new().run(args)
}

/// What a finished process left behind.
pub fn ran(output: std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
