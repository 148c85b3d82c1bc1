//! The real program in a pseudo-terminal: what a person sees, and every key they may press.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};

const PROMPT: &str = "sbl>";
/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal as far as a line editor needs one: a grid of lines that grows downwards.
#[derive(Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Bytes of an escape sequence or of a character that is not whole yet.
    pending: Vec<u8>,
    /// Whether it was wiped once.
    cleared: bool,
    closed: bool,
}

impl Screen {
    fn feed(&mut self, bytes: &[u8]) {
        self.pending.extend(bytes);
        let text = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.to_owned(),
            Err(e) => String::from_utf8_lossy(&self.pending[..e.valid_up_to()]).into_owned(),
        };
        let mut rest = text.as_str();
        let mut taken = 0;
        while let Some(c) = rest.chars().next() {
            let length = if c == '\u{1b}' {
                match escape(rest) {
                    Some((length, numbers, end)) => {
                        self.control(&numbers, end);
                        length
                    }
                    None => break,
                }
            } else {
                self.put(c);
                c.len_utf8()
            };
            rest = &rest[length..];
            taken += length;
        }
        self.pending.drain(..taken);
    }

    fn put(&mut self, c: char) {
        match c {
            '\n' => self.row += 1,
            '\r' => self.column = 0,
            '\u{8}' => self.column = self.column.saturating_sub(1),
            c if c.is_control() => {}
            c => {
                let column = self.column;
                let line = self.line_mut();
                while line.len() <= column {
                    line.push(' ');
                }
                line[column] = c;
                self.column += 1;
            }
        }
    }

    fn control(&mut self, numbers: &str, end: char) {
        let n: usize = numbers.split(';').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        match end {
            'A' => self.row = self.row.saturating_sub(n.max(1)),
            'B' => self.row += n.max(1),
            'C' => self.column += n.max(1),
            'D' => self.column = self.column.saturating_sub(n.max(1)),
            'G' => self.column = n.max(1) - 1,
            'H' => self.cleared = true,
            'K' | 'J' => {
                let (row, column) = (self.row, self.column);
                let line = self.line_mut();
                line.truncate(if n == 2 { 0 } else { column });
                if end == 'J' {
                    self.lines.truncate(row + 1);
                }
            }
            _ => {}
        }
    }

    fn line_mut(&mut self) -> &mut Vec<char> {
        while self.lines.len() <= self.row {
            self.lines.push(Vec::new());
        }
        &mut self.lines[self.row]
    }

    fn line(&self, row: usize) -> String {
        self.lines.get(row).map(|l| l.iter().collect::<String>().trim_end().to_owned()).unwrap_or_default()
    }

    fn all(&self) -> String {
        (0..self.lines.len()).map(|r| self.line(r) + "\n").collect()
    }
}

/// An escape sequence at the start: its length, its numbers and its last character.
fn escape(text: &str) -> Option<(usize, String, char)> {
    let mut chars = text.char_indices().skip(1);
    match chars.next()? {
        (_, '[') => {
            for (i, c) in chars {
                if ('@'..='~').contains(&c) {
                    return Some((i + c.len_utf8(), text[2..i].to_owned(), c));
                }
            }
            None
        }
        (i, c) => Some((i + c.len_utf8(), String::new(), ' ')),
    }
}

/// The program at a terminal.
struct Session {
    pty: Arc<Pty>,
    child: std::process::Child,
    screen: Arc<(Mutex<Screen>, Condvar)>,
    home: Arc<tempfile::TempDir>,
}

impl Session {
    fn new(arguments: &[&str]) -> Session {
        Session::at_home(Arc::new(tempfile::tempdir().unwrap()), arguments)
    }

    /// With the history of a former session.
    fn at_home(home: Arc<tempfile::TempDir>, arguments: &[&str]) -> Session {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(50, 250)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_sbl"))
            .arg("repl")
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("SBL_HISTORY", home.path().join("history"))
            .spawn(pts)
            .unwrap();
        let pty = Arc::new(pty);
        let screen: Arc<(Mutex<Screen>, Condvar)> = Arc::default();
        let (from, to) = (Arc::clone(&pty), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            let mut reader: &Pty = &from;
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                to.0.lock().unwrap().feed(&buffer[..n]);
                to.1.notify_all();
            }
            to.0.lock().unwrap().closed = true;
            to.1.notify_all();
        });
        let session = Session { pty, child, screen, home };
        session.wait("the first prompt", |s| s.line(s.row) == PROMPT);
        session
    }

    fn send(&self, text: &str) {
        let mut writer: &Pty = &self.pty;
        writer.write_all(text.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    #[track_caller]
    fn wait(&self, what: &str, ready: impl Fn(&Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut screen = self.screen.0.lock().unwrap();
        while !ready(&screen) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !screen.closed, "waited for {what}; the screen:\n{}", screen.all());
            screen = self.screen.1.wait_timeout(screen, left).unwrap().0;
        }
    }

    fn row(&self) -> usize {
        self.screen.0.lock().unwrap().row
    }

    /// Types an entry, and gives what is shown before the next prompt.
    #[track_caller]
    fn enter(&self, entry: &str) -> String {
        let from = self.row();
        self.send(&entry.replace('\n', "\r"));
        self.send("\r");
        let behind = from + entry.lines().count().max(1);
        self.wait(&format!("the prompt after {entry:?}"), |s| s.row >= behind && s.line(s.row) == PROMPT);
        let screen = self.screen.0.lock().unwrap();
        (behind..screen.row).map(|r| screen.line(r) + "\n").collect()
    }

    /// Ctrl-C at the prompt.
    #[track_caller]
    fn clear(&self) {
        let row = self.row();
        self.send("\u{3}");
        self.wait("a new prompt", |s| s.row > row && s.line(s.row) == PROMPT);
    }

    /// Waits until the line at the cursor is this one.
    #[track_caller]
    fn sees(&self, line: &str) {
        self.wait(&format!("{line:?}"), |s| s.line(s.row) == line);
    }

    /// Kills it, as nothing can prevent.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its exit status, once it has ended.
    #[track_caller]
    fn ends(mut self) -> i32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(Instant::now() < end, "the session did not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Entries and what is answered: lines behind `sbl> ` are entries, lines behind `   | ` go on.
fn transcript(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(entry) = line.strip_prefix("sbl> ") {
            all.push((entry.to_owned(), String::new()));
        } else if let Some((entry, answer)) = all.last_mut() {
            match line.strip_prefix("   | ") {
                Some(more) if answer.is_empty() => {
                    entry.push('\n');
                    entry.push_str(more);
                }
                _ => {
                    answer.push_str(line);
                    answer.push('\n');
                }
            }
        }
    }
    all
}

/// Equal word by word, numbers to a thousandth; of a curve that there is one, as its dots may turn with the last
/// digit of a number.
#[track_caller]
fn assert_alike(entry: &str, shown: &str, expected: &str) {
    let words = |text: &str| -> Vec<String> {
        let drawn = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c) || "░▒•◯".contains(c);
        let mut all: Vec<String> = Vec::new();
        for word in text.split(|c: char| c.is_whitespace() || c == '\u{2800}').filter(|w| !w.is_empty()) {
            if !word.contains(drawn) {
                all.push(word.to_owned());
            } else if all.last().is_none_or(|last| last != "drawn") {
                all.push("drawn".to_owned());
            }
        }
        all
    };
    let (a, b) = (words(shown), words(expected));
    let alike = |(a, b): (&String, &String)| {
        let number = |w: &str| w.trim_matches(|c| "[](),+:;".contains(c)).parse::<f64>();
        match (number(a), number(b)) {
            (Ok(x), Ok(y)) => (x - y).abs() <= 1e-3 * x.abs().max(y.abs()) + 1e-9,
            _ => a == b,
        }
    };
    assert!(
        a.len() == b.len() && a.iter().zip(&b).all(alike),
        "{entry}\nshown:\n{shown}\nexpected:\n{expected}"
    );
}

fn lecture_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lecture.txt")
}

/// The entries with the folder for files that are written, which a transcript calls `out`.
fn placed(entry: &str, folder: &Path) -> String {
    entry.replace(" out/", &format!(" {}/", folder.display()))
}

fn unplaced(text: &str, folder: &Path) -> String {
    text.replace(&format!("{}/", folder.display()), "out/")
}

#[test]
fn the_lecture_at_a_terminal() {
    let text = std::fs::read_to_string(lecture_file()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(&[]);
    let mut out = text.split_inclusive('\n').take_while(|l| !l.starts_with(PROMPT)).collect::<String>();
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    for (entry, expected) in transcript(&text) {
        let shown = unplaced(&session.enter(&placed(&entry, folder.path())), folder.path());
        if update {
            out.push_str(&format!("sbl> {}\n{shown}", entry.replace('\n', "\n   | ")));
        } else {
            assert_alike(&entry, &shown, &expected);
        }
    }
    if update {
        std::fs::write(lecture_file(), out).unwrap();
    }
    for name in ["sinc.sbl", "sinc.sblfit"] {
        assert!(folder.path().join(name).exists(), "{name} was not written");
    }
    session.send("\u{4}");
    assert_eq!(session.ends(), 0);
}

#[test]
fn the_lecture_as_a_script() {
    let text = std::fs::read_to_string(lecture_file()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let entries = transcript(&text);
    let script: String = entries.iter().map(|(e, _)| placed(e, folder.path()) + "\n").collect();
    let file = folder.path().join("script");
    std::fs::write(&file, script).unwrap();
    // one file for both streams keeps their order
    let shown = folder.path().join("shown");
    let target = std::fs::File::create(&shown).unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_sbl"))
        .arg("repl")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("LC_ALL", "C.UTF-8")
        .env_remove("CLICOLOR_FORCE")
        .stdin(std::fs::File::open(&file).unwrap())
        .stdout(target.try_clone().unwrap())
        .stderr(target)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    let shown = unplaced(&std::fs::read_to_string(&shown).unwrap(), folder.path());
    let expected: String = entries.iter().map(|(_, a)| a.as_str()).collect();
    assert_alike("the whole script", &shown, &expected);
}

#[test]
fn a_script_goes_on_after_an_error_and_says_so_at_the_end() {
    use std::process::{Command, Stdio};
    let run = |script: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sbl"))
            .args(["repl", "-q"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        (out.status.code(), String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    let (code, out, err) = run(":nothing\n1 + 1\n:quit\n2 + 2\n");
    assert_eq!((code, out.as_str()), (Some(1), "2  count\n"));
    assert!(err.contains("error[E0790]"), "{err}");
    let (code, _, err) = run(":load examples/sinc.sbl\nmean(w)\n");
    assert!(code == Some(1) && err.contains("error[E0793]"), "{err}");
    assert_eq!(run("1 + 1").0, Some(0));
    assert_eq!(run("").0, Some(0));
    // what is open at the end is an error of its own
    assert_eq!(run("let a = (1,").0, Some(1));
    assert_eq!(run("\u{0}\n3\n").1, "3  count\n");
}

/// Every key that `:help keys` lists is pressed by `keys` or `keys_that_edit` below, and none else.
const PRESSED: [&str; 13] = [
    "Enter",
    "Tab",
    "Up, Down",
    "Ctrl-R",
    "Left, Right",
    "Home, End",
    "Backspace",
    "Ctrl-W",
    "Ctrl-U, Ctrl-K",
    "Ctrl-Y",
    "Ctrl-L",
    "Ctrl-C",
    "Ctrl-D",
];

/// The first column of a list: what stands before two blanks.
fn first_column(list: &str) -> Vec<&str> {
    list.lines().filter_map(|l| l.strip_prefix("  ")?.split("  ").next()).collect()
}

#[test]
fn keys() {
    let session = Session::new(&["examples/sinc.sbl"]);
    // the tabulator completes a command, a file, a name, an argument
    session.send(":da\t");
    session.wait("the command", |s| s.line(s.row).starts_with("sbl> :data"));
    session.send("examples/data/sin\t");
    session.wait("the file", |s| s.line(s.row).starts_with("sbl> :data examples/data/sinc.csv"));
    // Ctrl-C clears the line and keeps the session
    let row = session.row();
    session.send("\u{3}");
    session.wait("a new prompt", |s| s.row > row && s.line(s.row) == PROMPT);
    assert!(session.enter(":data").contains("error[E0792]"), "Ctrl-C ran the line");
    session.send("let k = rbf(x, wid\t");
    session.wait("the candidates", |s| s.line(s.row).contains("rbf(x, width"));
    session.send("\u{3}");
    session.wait("a new prompt", |s| s.line(s.row) == PROMPT);
    let listed = session.enter(":help keys");
    assert_eq!(first_column(&listed), PRESSED);
    // a hint shows the type; it is no part of the line
    session.send("phi");
    session.wait("the hint", |s| s.line(s.row).contains("phi: positive[N, train(N) + 1], derived"));
    session.send("\u{15}");
    session.sees(PROMPT);
    // lines go on until brackets close
    assert!(session.enter("let a = [1,\n2,\n3]").contains("a: "));
    assert!(session.enter("a").starts_with("[1, 2, 3]"));
    // the arrow up brings entries back, also those of several lines
    session.send("\u{1b}[A");
    session.wait("the last entry", |s| s.line(s.row).starts_with("sbl> a"));
    let row = session.row();
    session.send("\r");
    session.wait("its answer", |s| s.row > row + 1 && s.line(s.row) == PROMPT);
    assert!(session.screen.0.lock().unwrap().line(row + 1).starts_with("[1, 2, 3]"));
    // Ctrl-D on a line with text deletes, on an empty one it ends the session
    let row = session.row();
    session.send("1\u{4}");
    session.send("\r");
    session.wait("the answer", |s| s.row > row + 1 && s.line(s.row) == PROMPT);
    let home = Arc::clone(&session.home);
    session.send("\u{4}");
    assert_eq!(session.ends(), 0);
    // the next session remembers
    let next = Session::at_home(home, &[]);
    next.send("\u{1b}[A\u{1b}[A");
    next.wait("an entry of the former session", |s| s.line(s.row).starts_with("sbl> a"));
    next.send("\u{3}");
    next.wait("a new prompt", |s| s.line(s.row) == PROMPT);
    next.send(":quit\r");
    assert_eq!(next.ends(), 0);
}

/// The editing keys, on one line.
#[test]
fn keys_that_edit() {
    let session = Session::new(&[]);
    session.enter("let alpha = 2");
    session.enter("1 + 10");
    session.enter("2 + 20");
    let press = |keys: &str, line: &str| {
        session.send(keys);
        session.wait(&format!("{line:?} after {keys:?}"), |s| s.line(s.row) == line);
    };
    press("30 + 3", "sbl> 30 + 3");
    press("\u{7f}4", "sbl> 30 + 4");
    // Home and End, as letters and as keys of their own; Left and Right
    press("\u{1}1", "sbl> 130 + 4");
    press("\u{5}5", "sbl> 130 + 45");
    press("\u{1b}[H2", "sbl> 2130 + 45");
    press("\u{1b}[F6", "sbl> 2130 + 456");
    press("\u{1b}[D\u{1b}[D\u{1b}[D7\u{1b}[C8", "sbl> 2130 + 74856");
    press("\u{3}", PROMPT);
    // a word, the rest of the line, all before; and back again
    press("10 + 20", "sbl> 10 + 20");
    press("\u{17}", "sbl> 10 +");
    press("\u{19}", "sbl> 10 + 20");
    press("\u{1b}[D\u{1b}[D\u{b}", "sbl> 10 +");
    press("7\u{15}", PROMPT);
    press("\u{19}", "sbl> 10 + 7");
    // Ctrl-D deletes under the cursor
    press("\u{1}\u{4}", "sbl> 0 + 7");
    press("\u{3}", PROMPT);
    // Up and Down among former entries
    press("\u{1b}[A", "sbl> 2 + 20");
    press("\u{1b}[A", "sbl> 1 + 10");
    press("\u{1b}[B", "sbl> 2 + 20");
    press("\u{3}", PROMPT);
    // Ctrl-R searches; again: the one before
    session.send("\u{12}");
    session.wait("the search", |s| s.line(s.row).contains("reverse-i-search"));
    session.send("+");
    session.wait("the last entry with it", |s| s.line(s.row).contains("2 + 20"));
    session.send("\u{12}");
    session.wait("the one before", |s| s.line(s.row).contains("1 + 10"));
    let row = session.row();
    session.send("\r");
    session.wait("its answer", |s| s.row > row && s.line(s.row) == PROMPT);
    assert!(session.screen.0.lock().unwrap().all().contains("11  count"));
    // the right arrow takes the rest of a command over
    press(":bla\u{1b}[C", "sbl> :blanket NODE the Markov blanket of a node");
    press("\u{3}", PROMPT);
    // Ctrl-L clears the screen and keeps the line
    session.send("1 + 1");
    session.send("\u{c}");
    session.wait("an empty screen", |s| s.cleared && s.line(s.row) == "sbl> 1 + 1");
    press("\u{3}", PROMPT);
    session.send("\u{4}");
    assert_eq!(session.ends(), 0);
}

#[test]
fn every_command_at_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let session = Session::new(&[]);
    let entries = [
        (":load examples/sinc.sbl".to_owned(), "model sinc"),
        (":list".to_owned(), "model sinc {"),
        (":model".to_owned(), "sinc"),
        (":data examples/data/sinc.csv".to_owned(), "100 rows"),
        (":set".to_owned(), "nothing is set"),
        (":graph".to_owned(), "● t"),
        (":blanket w".to_owned(), "children: t"),
        (":dsep w.alpha t given w".to_owned(), "are independent"),
        (":plan".to_owned(), "plan evidence"),
        (":step 2".to_owned(), "iterations 1 to 2"),
        (":fit".to_owned(), "converged"),
        (":show tau".to_owned(), "tau ="),
        (":why w[1]".to_owned(), "q²/s"),
        (":predict {x: [0]}".to_owned(), "sd_mean"),
        (":score examples/data/sinc.csv".to_owned(), "rmse"),
        (":sample".to_owned(), "t"),
        (":plot trace".to_owned(), "iteration"),
        (format!(":save {}", at("a.sblfit")), "written"),
        (":seed".to_owned(), "0"),
        (":undo".to_owned(), "undone: :fit"),
        (":help".to_owned(), ":predict"),
        (":help rbf".to_owned(), "rbf("),
        (":nonsense".to_owned(), "error[E0790]"),
    ];
    let listed = session.enter(":help");
    let commands: Vec<&str> =
        first_column(&listed).into_iter().filter_map(|c| c.strip_prefix(':')?.split(' ').next()).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands.iter().filter(|c| **c != "quit") {
        let typed = entries.iter().any(|(entry, _)| entry[1..].split(' ').next() == Some(command));
        assert!(typed, "`:{command}` is not typed below");
    }
    for (entry, shown) in entries {
        let answer = session.enter(&entry);
        assert!(answer.contains(shown), "{entry}: expected {shown}\n{answer}");
    }
    session.send(":quit\r");
    assert_eq!(session.ends(), 0);
}

/// The examples of `docs/commands.md` are one session, and what they show is what they print: lines up to the
/// first `…`. `UPDATE_DOCS=1` writes it again.
#[test]
fn the_examples_of_the_commands() {
    const SHOWN: usize = 8;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(&[]);
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut out = String::new();
    for (i, part) in text.split("```").enumerate() {
        let Some(example) = part.strip_prefix("console\n").filter(|_| i % 2 == 1) else {
            out.push_str(part);
            continue;
        };
        out.push_str("```console\n");
        for (entry, expected) in transcript(example) {
            out.push_str(&format!("sbl> {entry}\n"));
            if entry == ":quit" {
                continue;
            }
            let shown = unplaced(&session.enter(&placed(&entry, folder.path())), folder.path());
            let mut lines: Vec<&str> = shown.lines().collect();
            if lines.len() > SHOWN {
                lines.truncate(SHOWN - 1);
                lines.push("…");
            }
            let shown: String = lines.iter().map(|l| format!("{l}\n")).collect();
            if !update {
                assert_alike(&entry, &shown, &expected);
            }
            out.push_str(&shown);
        }
        out.push_str("```");
    }
    if update {
        std::fs::write(&file, out).unwrap();
    }
    session.send(":quit\r");
    assert_eq!(session.ends(), 0);
}

#[test]
fn interrupted_fits_keep_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(&["examples/sinc.sbl"]);
    session.enter(&format!(":data {}", slow(folder.path())));
    // slow updates, so that there is time
    session.enter("infer evidence(updates = em)");
    let row = session.row();
    session.send(":fit\r");
    session.wait("progress", |s| s.row > row && s.line(s.row).contains("iteration"));
    session.send("\u{3}");
    session.wait("the prompt", |s| s.row > row + 1 && s.line(s.row) == PROMPT);
    assert!(session.screen.0.lock().unwrap().all().contains("interrupted: this is the fit so far"));
    assert!(session.enter("tau").contains("positive"));
    // again, with more than one Ctrl-C, and some when nothing runs any more
    let row = session.row();
    session.send(":fit\r");
    session.wait("progress", |s| s.row > row && s.line(s.row).contains("iteration"));
    session.send("\u{3}\u{3}\u{3}");
    session.wait("the prompt", |s| s.row > row + 1 && s.line(s.row) == PROMPT);
    session.clear();
    session.clear();
    assert!(session.enter("tau").contains("positive"));
    assert!(session.enter("1 + 1").contains("2  count"));
    session.send("\u{4}");
    assert_eq!(session.ends(), 0);
}

/// Killed in the middle of a fit, a session has remembered every entry; killed while it writes a fit, it leaves
/// the old file or the new one.
#[test]
fn a_killed_session_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(&["examples/sinc.sbl"]);
    session.enter(&format!(":data {}", slow(folder.path())));
    session.enter("infer evidence(updates = em)");
    let row = session.row();
    session.send(":fit\r");
    session.wait("progress", |s| s.row > row && s.line(s.row).contains("iteration"));
    session.kill();
    let next = Session::at_home(Arc::clone(&session.home), &[]);
    next.send("\u{1b}[A");
    next.wait("the entry of the killed fit", |s| s.line(s.row).starts_with("sbl> :fit"));
    next.send("\u{1b}[A");
    next.wait("the one before", |s| s.line(s.row).starts_with("sbl> infer evidence(updates = em)"));
    next.clear();
    next.send("\u{4}");
    assert_eq!(next.ends(), 0);

    let file = folder.path().join("m.sblfit");
    let mut session = Session::new(&["examples/sinc.sbl", "--data", "examples/data/sinc.csv"]);
    session.enter(":fit");
    session.enter(&format!(":save {}", file.display()));
    for milliseconds in [0, 5, 20] {
        session.send(&format!(":save {}\r", file.display()).repeat(20));
        std::thread::sleep(Duration::from_millis(milliseconds));
        session.kill();
        let bytes = std::fs::read(&file).unwrap();
        assert!(sbl::Fit::from_bytes(&bytes, "m.sblfit").is_ok());
        session = Session::at_home(Arc::clone(&session.home), &[file.to_str().unwrap()]);
    }
    // the next save takes what was left away
    session.enter(&format!(":save {}", file.display()));
    let names = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
    let left: Vec<_> = names.filter(|n| n.to_string_lossy().contains(".tmp-")).collect();
    assert!(left.is_empty() || !cfg!(target_os = "linux"), "{left:?}");
}

/// Data whose fit takes a while with slow updates.
fn slow(folder: &Path) -> String {
    let data = folder.join("d.csv");
    let rows: String =
        (0..500).map(|i| format!("{},{}\n", f64::from(i) / 25.0, (f64::from(i) / 9.0).sin())).collect();
    std::fs::write(&data, format!("x,t\n{rows}")).unwrap();
    data.display().to_string()
}
