//! The keys of the prompt, as `:help keys` and `docs/repl.md` list them. A test at a terminal presses each.

/// A key, and what it does.
pub const KEYS: &[(&str, &str)] = &[
    ("Enter", "takes the entry; where a bracket is open or a sign wants more, goes on in the next line"),
    ("Tab", "completes commands, names, arguments inside a call, columns and files"),
    ("Up, Down", "bring former entries back, also those of former sessions"),
    ("Ctrl-R", "searches former entries for what is typed next; again: the one before"),
    ("Left, Right", "move; at the end of a line, Right takes the rest of a command over"),
    ("Home, End", "go to the beginning and the end of the line (so do Ctrl-A and Ctrl-E)"),
    ("Backspace", "deletes what is left of the cursor"),
    ("Ctrl-W", "deletes the word left of the cursor"),
    ("Ctrl-U, Ctrl-K", "delete all that is left, or right, of the cursor"),
    ("Ctrl-Y", "puts back what was deleted last"),
    ("Ctrl-L", "clears the screen"),
    ("Ctrl-C", "clears the line; stops a running fit, which is kept as far as it went"),
    ("Ctrl-D", "deletes what is under the cursor; ends the session on an empty line"),
];
