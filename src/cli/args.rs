//! The command line: every command, option and help text.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::io::number::Missing;
use crate::io::{DEFAULT_MEMORY, ReadOptions};

/// Sparse Bayesian models: write one, check it, fit it, predict with error bars.
#[derive(Parser, Debug)]
#[command(
    name = "sbl",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Start with:  sbl new --data data.csv --target t > model.sbl\n             \
                  sbl fit model.sbl --data data.csv -o model.sblfit\n             \
                  sbl predict model.sblfit --data new.csv\n\n\
                  Results go to standard output, everything else to standard error.\n\
                  Exit status: 0 done; 1 the model, the data or an option is wrong; 2 the command line is wrong;\n\
                  3 the fit did not converge; 4 an output could not be written; 130 interrupted."
)]
pub struct Cli {
    /// Use colours: auto (on a terminal, unless NO_COLOR is set), always, never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "General options"
    )]
    pub color: Color,
    /// Print results and errors only
    #[arg(short, long, global = true, help_heading = "General options")]
    pub quiet: bool,
    /// Print more: every weight, how long steps took (twice: even more)
    #[arg(
        short,
        long,
        global = true,
        action = ArgAction::Count,
        conflicts_with = "quiet",
        help_heading = "General options"
    )]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Also into files and pipes.
    Always,
    /// Not at all.
    Never,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Write a commented starter model for a data file
    #[command(after_help = "Example: sbl new --data diabetes.csv --target progression > diabetes.sbl")]
    New(New),
    /// Parse, resolve names, check shapes; with data also types, levels and missing values
    #[command(after_help = "Example: sbl check model.sbl --data data.csv")]
    Check(Check),
    /// Rewrite programs in the one canonical layout
    #[command(after_help = "Example: sbl fmt model.sbl      Use - to format standard input.")]
    Fmt(Fmt),
    /// Draw the graph of a model, or ask it about independence
    #[command(after_help = "Example: sbl graph model.sbl --format svg -o model.svg\n         \
                      sbl graph model.sbl --dsep alpha t --given w")]
    Graph(Graph),
    /// Say how a model will be inferred, and why
    #[command(after_help = "Example: sbl plan model.sbl --infer 'evidence(updates = em)'")]
    Plan(Plan),
    /// Print an intermediate form of a program
    #[command(after_help = "Example: sbl emit typed model.sbl")]
    Emit(Emit),
    /// Fit a model to data
    #[command(after_help = "Example: sbl fit model.sbl --data data.csv -o model.sblfit\n\n\
                      Ctrl-C stops the fit and keeps what it has; a second one stops at once.\n\
                      Exit status 3: the fit did not converge; the partial result is written and says so.")]
    Fit(Fit),
    /// Predict new rows with a fit
    #[command(after_help = "Example: sbl predict model.sblfit --data new.csv -o predictions.csv --keep id")]
    Predict(Predict),
    /// Measure a fit on data whose targets are known
    #[command(after_help = "Example: sbl score model.sblfit --data test.csv")]
    Score(Score),
    /// Show a fit again
    #[command(after_help = "Example: sbl show model.sblfit -v")]
    Show(Show),
    /// Compare settings of a program by what they lose on rows that were held out
    #[command(after_help = "Example: sbl cv model.sbl --data data.csv --folds 5 --grid width=0.5,1,2\n\n\
                      Exit status 3: a fold failed, or its fit did not converge; the table says which.")]
    Cv(Cv),
    /// Put the evidence of programs (fitted first) or of fits side by side
    #[command(after_help = "Example: sbl compare linear.sbl kernel.sbl --data data.csv\n         \
                      sbl compare linear.sblfit kernel.sblfit")]
    Compare(Compare),
    /// Draw a fit, or the graph of a program, into a file or the terminal
    #[command(after_help = "Example: sbl plot model.sblfit --data data.csv -o fit.svg\n         \
                      sbl plot model.sblfit --kind weights\n\n\
                      Kinds: fit, classes, ordinal (the one that suits the model is the default), partial, observed,\n\
                      weights, precisions, lambda, trace, calibration, graph.")]
    Plot(Plot),
    /// Draw targets from the prior of a model, or from the posterior of a fit
    #[command(after_help = "Example: sbl sample model.sblfit --data new.csv -n 100 --seed 1 > draws.csv")]
    Sample(Sample),
    /// Show the page of a diagnostic code, or look for words
    #[command(after_help = "Examples: sbl explain E0301\n          sbl explain separated classes")]
    Explain(Explain),
    /// Show the documentation of a family, function, prior or plan
    #[command(after_help = "Example: sbl doc rbf")]
    Doc(Doc),
    /// Work at a prompt: build a model line by line, fit it, step through it, ask it why
    #[command(
        after_help = "Example: sbl repl examples/sinc.sbl      `:help` lists the commands, Ctrl-D ends it.\n\n\
                      Standard input that is no terminal is a script: the session goes on after an error,\n\
                      and the exit status is 1 at the end if there was one."
    )]
    Repl(Repl),
    /// Print a completion script for a shell
    #[command(after_help = "Example: sbl completions bash > ~/.local/share/bash-completion/completions/sbl")]
    Completions(Completions),
}

/// `sbl new`
#[derive(Args, Debug)]
pub struct New {
    #[command(flatten)]
    pub data: RequiredData,
    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    pub target: String,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `sbl check`
#[derive(Args, Debug)]
pub struct Check {
    /// Programs
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub data: OptionalData,
    /// How diagnostics are printed: text, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: TextOrJson,
}

/// `sbl fmt`
#[derive(Args, Debug)]
pub struct Fmt {
    /// Programs; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file is not in the canonical layout
    #[arg(long)]
    pub check: bool,
}

/// `sbl graph`
#[derive(Args, Debug)]
pub struct Graph {
    #[command(flatten)]
    pub program: Program,
    /// What to write: text, dot, mermaid, svg, tikz, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: GraphFormat,
    /// Print the Markov blanket of a node
    #[arg(long, value_name = "NODE", conflicts_with = "dsep")]
    pub blanket: Option<String>,
    /// Ask whether two nodes are independent
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub dsep: Option<Vec<String>>,
    /// The nodes that are known, for --dsep
    #[arg(long, num_args = 1.., value_name = "NODE", requires = "dsep")]
    pub given: Vec<String>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `sbl plan`
#[derive(Args, Debug)]
pub struct Plan {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub data: OptionalData,
    /// How the plan is printed: text, json, latex
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: PlanFormat,
}

/// `sbl emit`
#[derive(Args, Debug)]
pub struct Emit {
    /// tokens, ast, typed, dag or plan
    #[arg(value_name = "FORM", hide_possible_values = true)]
    pub stage: Stage,
    #[command(flatten)]
    pub program: Program,
}

/// `sbl fit`
#[derive(Args, Debug)]
pub struct Fit {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub data: RequiredData,
    /// Write the fit to this file
    #[arg(short, long, value_name = "FIT")]
    pub output: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// Threads to use; the same number gives the same bits
    #[arg(long, value_name = "T", default_value = "1", allow_negative_numbers = true, value_parser = parse_count)]
    pub threads: usize,
    /// Stop after this many seconds with what there is
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    pub max_time: Option<f64>,
    /// Write one line for every iteration to this CSV file
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// How the result is printed: text, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: TextOrJson,
}

/// `sbl predict`
#[derive(Args, Debug)]
pub struct Predict {
    /// A fit, as written by sbl fit -o
    #[arg(value_name = "FIT")]
    pub fit: PathBuf,
    #[command(flatten)]
    pub data: RequiredData,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Columns of the data to pass through, in front
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Add a basis function of this prior precision at every test point, so that the deviation grows
    /// away from the data (needs --train)
    #[arg(long, value_name = "ALPHA", requires = "train")]
    pub heal: Option<f64>,
    /// The rows of the fit, for --heal: a fit does not keep them
    #[arg(long, value_name = "FILE", requires = "heal")]
    pub train: Vec<PathBuf>,
    /// How predictions are written: csv, json; parquet and arrow where sbl was built with them
    #[arg(long, value_name = "FORMAT", default_value = "csv", hide_possible_values = true)]
    pub format: TableFormat,
}

/// `sbl score`
#[derive(Args, Debug)]
pub struct Score {
    /// A fit, as written by sbl fit -o
    #[arg(value_name = "FIT")]
    pub fit: PathBuf,
    #[command(flatten)]
    pub data: RequiredData,
    /// How the measures are printed: text, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: TextOrJson,
}

/// `sbl cv`
#[derive(Args, Debug)]
pub struct Cv {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub data: RequiredData,
    /// Parts into which the rows are divided; each is held out once
    #[arg(long, value_name = "K", default_value = "5", allow_negative_numbers = true, value_parser = parse_count)]
    pub folds: usize,
    /// Values of a constant of the program to try; of several all combinations (repeatable)
    #[arg(long, value_name = "NAME=V1,V2,…", value_parser = parse_grid)]
    pub grid: Vec<(String, Values)>,
    /// Seed of the division into folds, and of the fits
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// Fits at a time; their number changes nothing in the result [default: one a core]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = parse_count)]
    pub threads: Option<usize>,
    /// How the table is printed: text, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: TextOrJson,
}

/// The values of one `--grid`.
pub type Values = Vec<f64>;

/// `sbl compare`
#[derive(Args, Debug)]
pub struct Compare {
    /// Programs, which are fitted to the data, or fits, as written by sbl fit -o
    #[arg(required = true, value_name = "FILE|FIT")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub data: OptionalData,
    /// Seed of everything random in the fits
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// How the table is printed: text, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: TextOrJson,
}

/// `sbl show`
#[derive(Args, Debug)]
pub struct Show {
    /// A fit, as written by sbl fit -o
    #[arg(value_name = "FIT")]
    pub fit: PathBuf,
    /// How the fit is printed: text, json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub format: TextOrJson,
}

/// `sbl plot`
#[derive(Args, Debug)]
pub struct Plot {
    /// A fit, as written by sbl fit -o, or a program (its graph)
    #[arg(value_name = "FIT|FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub data: OptionalData,
    /// Write to this file, .svg or .png, instead of drawing in the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to draw [default: what suits the model]
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    pub kind: Option<Kind>,
    /// Width of the page in pixels, 96 to an inch [default: what suits the picture]
    #[arg(long, value_name = "PIXELS", value_parser = super::plot::parse_side)]
    pub width: Option<f64>,
    /// Height of the page in pixels
    #[arg(long, value_name = "PIXELS", value_parser = super::plot::parse_side)]
    pub height: Option<f64>,
    /// Pixels of a .png for each pixel of the page
    #[arg(long, value_name = "N", default_value = "2", value_parser = super::plot::parse_scale)]
    pub scale: f64,
    #[command(flatten)]
    pub settings: Settings,
}

/// A kind of picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind(pub sbl::picture::Kind);

fn parse_kind(text: &str) -> Result<Kind, String> {
    let names: Vec<&str> = sbl::picture::Kind::ALL.iter().map(|(name, _)| *name).collect();
    let near = sbl::diag::suggest::closest(text, names.iter().copied());
    let near = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    sbl::picture::Kind::of(text).map(Kind).ok_or_else(|| format!("the kinds are {}{near}", names.join(", ")))
}

/// `sbl sample`
#[derive(Args, Debug)]
pub struct Sample {
    /// A program (draws from the prior) or a fit (draws from the posterior)
    #[arg(value_name = "FILE|FIT")]
    pub file: PathBuf,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub data: OptionalData,
    /// Number of draws
    #[arg(short = 'n', long = "draws", value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = parse_count)]
    pub draws: usize,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `sbl explain`
#[derive(Args, Debug)]
pub struct Explain {
    /// A code such as E0301, or words to look for; without any, all codes are listed
    #[arg(value_name = "CODE")]
    pub words: Vec<String>,
}

/// `sbl doc`
#[derive(Args, Debug)]
pub struct Doc {
    /// A name such as Normal, rbf or evidence; without one, all names are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `sbl completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}

/// A program and how it is compiled.
#[derive(Args, Debug)]
pub struct Program {
    /// A program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub settings: Settings,
}

/// How a program is compiled.
#[derive(Args, Debug)]
pub struct Settings {
    /// Which model, where the file holds several
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Override a constant of the program (repeatable)
    #[arg(long, value_name = "NAME=NUMBER", value_parser = parse_setting)]
    pub set: Vec<(String, f64)>,
    /// Override the infer statement: evidence, 'evidence(max_iter = 100)', auto …
    #[arg(long, value_name = "METHOD")]
    pub infer: Option<String>,
}

/// Data that must be given.
#[derive(Args, Debug)]
pub struct RequiredData {
    /// CSV, TSV (also .gz), JSON, NumPy (.npz, .npy) or svmlight (.svm); - is CSV from standard input; several
    /// are joined by column
    #[arg(id = "data", long = "data", required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Data that may be given.
#[derive(Args, Debug)]
pub struct OptionalData {
    /// CSV, TSV (also .gz), JSON, NumPy (.npz, .npy) or svmlight (.svm); - is CSV from standard input; several
    /// are joined by column
    #[arg(id = "data", long = "data", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// How data are read.
#[derive(Args, Debug)]
pub struct Reading {
    /// Tokens that mean "missing", beside an empty cell, NA and NaN
    #[arg(long, value_name = "TOKEN,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub na: Vec<String>,
    /// What separates cells: a character, or tab
    #[arg(long, value_name = "C", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
    /// The most memory to use, such as 500M or 16G
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub max_memory: Option<u64>,
}

impl Reading {
    /// As the reader takes it.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            missing: Missing::with(&self.na),
            delimiter: self.delimiter,
            max_memory: self.max_memory.unwrap_or(DEFAULT_MEMORY),
        }
    }
}

/// `--format text|json`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextOrJson {
    /// For people
    Text,
    /// For programs
    Json,
}

/// How a table is written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableFormat {
    Csv,
    Json,
    Parquet,
    Arrow,
}

/// `--format` of `sbl graph`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphFormat {
    /// A list of nodes with their parents
    Text,
    /// Graphviz
    Dot,
    /// Mermaid, for Markdown
    Mermaid,
    /// A picture
    Svg,
    /// LaTeX
    Tikz,
    /// For programs
    Json,
}

/// `--format` of `sbl plan`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// The formulas, typeset
    Latex,
}

/// The forms a program goes through.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// What the lexer sees
    Tokens,
    /// The syntax tree
    Ast,
    /// Names resolved, library expanded, shapes and supports known
    Typed,
    /// The graph
    Dag,
    /// The plan
    Plan,
}

fn parse_setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=NUMBER, such as width=2")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("expected a name before =, such as width=2".to_owned());
    }
    match value.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((name.to_owned(), x)),
        _ => Err(format!("found {value:?} after =, expected a finite number")),
    }
}

/// `width=0.5,1,2`
fn parse_grid(text: &str) -> Result<(String, Values), String> {
    let (name, values) = text.split_once('=').ok_or("expected NAME=NUMBER,…, such as width=0.5,1,2")?;
    let name = name.trim();
    if name.is_empty() {
        return Err("expected a name before =, such as width=0.5,1,2".to_owned());
    }
    let values: Values = values
        .split(',')
        .map(|v| match v.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!("found {:?} among the values, expected finite numbers", v.trim())),
        })
        .collect::<Result<_, _>>()?;
    Ok((name.to_owned(), values))
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" | "\t" => return Ok(b'\t'),
        "space" => return Ok(b' '),
        "comma" => return Ok(b','),
        "semicolon" => return Ok(b';'),
        _ => {}
    }
    match text.as_bytes() {
        [b] if b.is_ascii_punctuation() && *b != b'"' || *text.as_bytes() == [b' '] => Ok(*b),
        _ => Err("expected one punctuation character other than \", or tab".to_owned()),
    }
}

/// `1500`, `500M`, `16G`, `4GiB`
fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("found {text:?}, expected a number of bytes such as 2000000, 500M, 16G or 4GiB");
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let scale = match unit.trim().to_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    // Far below 2^64, and `as` saturates beyond.
    Ok((number * scale) as u64)
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("expected a whole number from 1".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // A duration holds no more than 2^64 seconds.
        Ok(s) if s > 0.0 && s < 1e15 => Ok(s),
        _ => Err("expected a positive number of seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("0", 0), ("1500", 1500), ("500M", 500_000_000), ("1.5 kB", 1500), ("4GiB", 4 << 30)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1X", "1e9"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn delimiters_and_settings() {
        assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
        assert_eq!(parse_delimiter(";"), Ok(b';'));
        for text in ["", "\"", "\n", "é", "ab", "a", "1"] {
            assert!(parse_delimiter(text).is_err(), "{text:?}");
        }
        assert_eq!(parse_setting("width = 2"), Ok(("width".to_owned(), 2.0)));
        for text in ["width", "=2", "width=", "width=inf", "width=NaN", "a=b=2"] {
            assert!(parse_setting(text).is_err(), "{text:?}");
            assert!(parse_grid(text).is_err(), "{text:?}");
        }
        assert_eq!(parse_grid("w = 1, 2.5,-3"), Ok(("w".to_owned(), vec![1.0, 2.5, -3.0])));
        assert!(parse_grid("w=1,,2").is_err() && parse_grid("w=1,x").is_err());
    }
}

/// `sbl repl`
#[derive(Args, Debug)]
pub struct Repl {
    /// A program, or a fit, to begin with
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Data to begin with: column by column if there are several
    #[arg(long, value_name = "FILE")]
    pub data: Vec<PathBuf>,
}
