//! The commands: one table that serves the engine, `:help`, completion and hints.

use sbl::diag::Diagnostic;
use sbl::diag::suggest::closest;

use super::engine::Engine;
use super::reply::Reply;
use crate::cli::failure::Failure;

/// A command.
pub struct Command {
    /// Without its colon.
    pub name: &'static str,
    /// Its arguments, as shown.
    pub arguments: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What completes its arguments.
    pub takes: Takes,
    /// Whether an open bracket means that the entry goes on in the next line.
    pub spans_lines: bool,
    /// Does it.
    pub run: fn(&mut Engine, &str, &mut Reply) -> Result<(), Failure>,
}

/// What the arguments of a command are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// Files with one of these extensions (folders always).
    Files(&'static [&'static str]),
    /// A node.
    Node,
    /// Nodes, and `given`.
    Nodes,
    /// A method of inference.
    Method,
    /// A format of graphs, or a file.
    Graph,
    /// Anything with documentation.
    Topic,
    /// A constant and its value.
    Setting,
    /// A model of the program.
    Model,
    /// Inputs as relaxed JSON, or a file.
    Inputs,
    /// A number.
    Number,
}

/// Extensions of data.
pub const DATA: &[&str] = &["csv", "tsv", "json", "gz", "npz", "npy", "svm", "libsvm", "parquet", "arrow"];

const fn command(
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    takes: Takes,
    run: fn(&mut Engine, &str, &mut Reply) -> Result<(), Failure>,
) -> Command {
    Command { name, arguments, summary, takes, spans_lines: matches!(takes, Takes::Inputs), run }
}

/// Every command, in the order of `:help`.
pub const COMMANDS: &[Command] = &[
    command(
        "load",
        "FILE",
        "take a program from a file, or a fit with its program",
        Takes::Files(&["sbl", "sblfit"]),
        Engine::load,
    ),
    command("list", "", "show the program", Takes::Nothing, Engine::list),
    command("model", "[NAME]", "choose one of several models", Takes::Model, Engine::choose),
    command(
        "data",
        "[FILE…]",
        "bind data, joined by column; alone: show the columns",
        Takes::Files(DATA),
        Engine::bind,
    ),
    command(
        "set",
        "[NAME = VALUE]",
        "override a constant of the program; alone: show them",
        Takes::Setting,
        Engine::set,
    ),
    command("graph", "[text|dot|mermaid|svg|tikz|json|FILE]", "draw the graph", Takes::Graph, Engine::graph),
    command("blanket", "NODE", "the Markov blanket of a node", Takes::Node, Engine::blanket),
    command("dsep", "A B [given C…]", "whether two nodes are independent", Takes::Nodes, Engine::separation),
    command("plan", "", "how the model will be inferred, and why", Takes::Nothing, Engine::plan),
    command("fit", "[METHOD(…)]", "fit; Ctrl-C stops and keeps what there is", Takes::Method, Engine::fit),
    command("step", "[N]", "make one iteration (or N), and show what changed", Takes::Number, Engine::step),
    command("show", "[NODE]", "the fit, or a node of it", Takes::Node, Engine::show),
    command(
        "why",
        "NODE or NODE[i]",
        "what decides about a node, or why a weight was kept or pruned",
        Takes::Node,
        Engine::why,
    ),
    command("predict", "{x: […]} or FILE", "predict new rows", Takes::Inputs, Engine::predict),
    command(
        "score",
        "[FILE…]",
        "measure the fit on data whose targets are known",
        Takes::Files(DATA),
        Engine::score,
    ),
    command(
        "sample",
        "[N]",
        "draw targets from the posterior, or from the prior without a fit",
        Takes::Number,
        Engine::sample,
    ),
    command(
        "plot",
        "[KIND] [FILE]",
        "a picture of the fit, here or in a file",
        Takes::Files(&["svg", "png"]),
        Engine::plot,
    ),
    command(
        "save",
        "FILE",
        "write the program (.sbl) or the fit (.sblfit)",
        Takes::Files(&["sbl", "sblfit"]),
        Engine::save,
    ),
    command("seed", "[N]", "the seed of everything random", Takes::Number, Engine::seed),
    command("undo", "", "back to the state before the last change", Takes::Nothing, Engine::undo),
    command("help", "[NAME]", "this list, or the documentation of anything", Takes::Topic, Engine::help),
    command("quit", "", "end the session (so does Ctrl-D)", Takes::Nothing, Engine::quit),
];

/// Short names.
const ALIASES: &[(&str, &str)] = &[("q", "quit"), ("h", "help"), ("?", "help")];

/// The command that a text behind a colon names, and its arguments.
pub fn of(text: &str) -> Option<(&'static Command, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(text.len());
    let (word, arguments) = text.split_at(end);
    let name = ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, name)| name);
    COMMANDS.iter().find(|c| c.name == name).map(|c| (c, arguments))
}

/// There is no such command; what may have been meant.
pub fn unknown(text: &str) -> Failure {
    let word = text.split_whitespace().next().unwrap_or_default();
    let unknown = Diagnostic::error("E0790", format!("there is no command `:{word}`"));
    match closest(word, COMMANDS.iter().map(|c| c.name)) {
        Some(near) => unknown.help(format!("did you mean `:{near}`? `:help` lists all commands")),
        None => unknown.help("`:help` lists all commands"),
    }
    .into()
}

/// Words separated by blanks; quotes hold one together.
pub fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => all.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

/// The one word that a command takes.
pub fn one<'a>(name: &str, words: &'a [String]) -> Result<&'a str, Failure> {
    match words {
        [one] => Ok(one),
        _ => Err(usage(name, &format!("found {} words, expected one", words.len()))),
    }
}

/// A command that takes nothing.
pub fn no_arguments(name: &str, arguments: &str) -> Result<(), Failure> {
    if arguments.is_empty() {
        Ok(())
    } else {
        Err(usage(name, &format!("found `{arguments}`, expected nothing")))
    }
}

/// The number that a command takes, from `least` on; `default` if there is none.
pub fn number<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    name: &str,
    arguments: &str,
    default: T,
    least: T,
) -> Result<T, Failure> {
    if arguments.is_empty() {
        return Ok(default);
    }
    match arguments.parse::<T>() {
        Ok(n) if n >= least => Ok(n),
        _ => Err(usage(name, &format!("found `{arguments}`, expected a whole number from {least} on"))),
    }
}

/// The arguments of a command are wrong.
pub fn usage(name: &str, what: &str) -> Failure {
    let wrong = Diagnostic::error("E0791", format!("`:{name}`: {what}"));
    match COMMANDS.iter().find(|c| c.name == name) {
        Some(c) => wrong.help(format!("write `:{} {}`", c.name, c.arguments).trim_end().to_owned()),
        None => wrong,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found() {
        let name = |text| of(text).map(|(c, rest)| (c.name, rest));
        assert_eq!(name("load a.sbl"), Some(("load", " a.sbl")));
        assert_eq!(name("q"), Some(("quit", "")));
        assert_eq!(name("predict{x: [1]}"), Some(("predict", "{x: [1]}")));
        assert_eq!(name("nonsense"), None);
        assert_eq!(name(""), None);
    }

    #[test]
    fn words_and_quotes() {
        assert_eq!(words(" a  'b c' \"d\"e "), ["a", "b c", "de"]);
        assert_eq!(words(""), Vec::<String>::new());
        assert_eq!(words("'open"), ["open"]);
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(number("step", "", 1_usize, 1).unwrap(), 1);
        assert_eq!(number("step", "3", 1_usize, 1).unwrap(), 3);
        for wrong in ["0", "-1", "x", "1.5", "99999999999999999999999"] {
            assert_eq!(
                number("step", wrong, 1_usize, 1).unwrap_err().diagnostics[0].code,
                "E0791",
                "{wrong}"
            );
        }
    }
}
