//! What the tabulator offers: commands, names, arguments inside a call, columns, files.

use std::path::Path;

use sbl::check::library;
use sbl::diag::codes::CODES;
use sbl::dist::Elem;
use sbl::graph::Format;
use sbl::syntax::token::{KEYWORDS, Token, TokenKind, lex};

use super::command::{self, COMMANDS, Takes};
use super::view::{FunctionKind, View};

/// Candidates for the text from `start` to the cursor.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Candidates {
    /// Where the replaced text begins.
    pub start: usize,
    /// Whole replacements, sorted.
    pub words: Vec<String>,
}

/// Words for the answer of the fit at the prompt.
const OF_THE_FIT: &[&str] = &["evidence", "relevant("];

/// What may stand at the cursor; `line` ends there.
pub fn complete(view: &View, line: &str) -> Candidates {
    let trimmed = line.trim_start();
    if let Some(rest) = trimmed.strip_prefix(':') {
        let begin = line.len() - rest.len();
        return match command::of(rest) {
            Some((c, arguments)) if !arguments.is_empty() => of_command(view, c.takes, line, arguments),
            _ => {
                let names = COMMANDS.iter().map(|c| match c.takes {
                    Takes::Nothing => c.name.to_owned(),
                    _ => format!("{} ", c.name),
                });
                among(begin, rest, names)
            }
        };
    }
    of_program(view, line)
}

fn of_command(view: &View, takes: Takes, line: &str, arguments: &str) -> Candidates {
    let word = arguments.rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = line.len() - word.len();
    let nodes = || view.nodes.iter().map(|(n, _)| n.clone());
    match takes {
        Takes::Nothing | Takes::Number => Candidates { start: line.len(), words: Vec::new() },
        Takes::Files(extensions) => files(start, word, extensions),
        Takes::Node => among(start, word, nodes()),
        Takes::Nodes => among(start, word, nodes().chain(["given".to_owned()])),
        Takes::Method => of_method(view, line, arguments),
        Takes::Graph => {
            let formats = among(start, word, Format::ALL.iter().map(|(n, _)| (*n).to_owned()));
            if formats.words.is_empty() {
                files(start, word, &["svg", "dot", "mmd", "tex", "json", "txt"])
            } else {
                formats
            }
        }
        Takes::Topic => {
            let commands = COMMANDS.iter().map(|c| format!(":{}", c.name));
            let known = sbl::help::entries().into_iter().map(|e| e.name).chain(["keys".to_owned()]);
            let codes = CODES.iter().map(|c| c.code.to_owned());
            among(start, word, commands.chain(known).chain(codes).chain(nodes()))
        }
        Takes::Setting => among(start, word, view.constants.iter().map(|c| format!("{c} = "))),
        Takes::Model => among(start, word, view.models.iter().cloned()),
        Takes::Inputs if arguments.trim_start().starts_with('{') => {
            let word = arguments.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
            among(line.len() - word.len(), word, view.inputs.iter().map(|n| format!("{n}: [")))
        }
        Takes::Inputs => files(start, word, command::DATA),
    }
}

/// `evidence(updates = …)`
fn of_method(view: &View, line: &str, arguments: &str) -> Candidates {
    let word = arguments.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
    let start = line.len() - word.len();
    match arguments.split_once('(') {
        Some((method, _)) => {
            let own = view.called(method.trim()).filter(|f| f.kind == FunctionKind::Plan);
            among(start, word, own.flat_map(|f| f.arguments.iter().map(|a| format!("{a} = "))))
        }
        None => {
            let plans = view.callables().filter(|f| f.kind == FunctionKind::Plan);
            among(start, word, plans.map(|f| f.name.clone()).chain(["auto".to_owned()]))
        }
    }
}

fn of_program(view: &View, line: &str) -> Candidates {
    let tokens = lex(line);
    // inside an open string: a column
    if let Some(last) = tokens.last()
        && last.kind == TokenKind::BadText
    {
        let start = last.start as usize + 1;
        let word = line.get(start..).unwrap_or_default();
        return among(start, word, view.columns.iter().map(|c| format!("{c}\"")));
    }
    if tokens.last().is_some_and(|t| matches!(t.kind, TokenKind::Comment | TokenKind::Doc)) {
        return Candidates { start: line.len(), words: Vec::new() };
    }
    let word = line.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
    let start = line.len() - word.len();
    let before: Vec<Token> = tokens
        .into_iter()
        .filter(|t| !t.kind.is_trivia() && (t.end as usize) <= start && t.kind != TokenKind::Newline)
        .collect();
    let text = |t: &Token| t.text(line);
    let last = before.last();
    match last.map(|t| (t.kind, text(t))) {
        Some((TokenKind::Keyword, "use")) => return among(start, word, importable()),
        Some((TokenKind::Keyword, "infer")) => return of_method(view, line, word),
        Some((TokenKind::Keyword, "data" | "param" | "let" | "model" | "fn" | "prior" | "plate")) => {
            return Candidates { start, words: Vec::new() };
        }
        Some((TokenKind::Keyword, "from")) => {
            return among(start, word, ["column(\"", "columns(\"", "except(\""].map(str::to_owned));
        }
        Some((TokenKind::Colon, _)) => return among(start, word, elements()),
        Some((TokenKind::Tilde, _)) => {
            let draws = view.callables().filter(|f| f.kind == FunctionKind::Draw);
            return among(start, word, draws.map(|f| format!("{}(", f.name)));
        }
        _ => {}
    }
    let mut words: Vec<String> = Vec::new();
    if before.is_empty() || matches!(last.map(|t| t.kind), Some(TokenKind::OpenBrace | TokenKind::Semicolon))
    {
        words.extend(KEYWORDS.iter().filter(|k| !["from", "in"].contains(k)).map(|k| format!("{k} ")));
    }
    if let Some(call) = enclosing_call(line, &before) {
        let used = used_arguments(line, &before);
        let fits = view.called(&call).flat_map(|f| f.arguments.iter());
        words.extend(fits.filter(|a| !used.contains(a)).map(|a| format!("{a} = ")));
    }
    words.extend(view.nodes.iter().map(|(n, _)| n.clone()));
    let functions = view.callables().filter(|f| f.kind == FunctionKind::Function);
    words.extend(functions.map(|f| format!("{}(", f.name)));
    if view.fitted {
        words.extend(OF_THE_FIT.iter().map(|w| (*w).to_owned()));
    }
    among(start, word, words)
}

/// The name of the call whose brackets are open at the end.
pub fn enclosing_call(line: &str, tokens: &[Token]) -> Option<String> {
    let mut depth = 0_i32;
    for (i, token) in tokens.iter().enumerate().rev() {
        if token.kind.is_close() {
            depth += 1;
        } else if token.kind.is_open() {
            depth -= 1;
            if depth < 0 {
                let callee = tokens.get(i.checked_sub(1)?)?;
                let touches = callee.kind == TokenKind::Word && callee.end == token.start;
                return (token.kind == TokenKind::OpenParen && touches).then(|| callee.text(line).to_owned());
            }
        }
    }
    None
}

/// The arguments that the open call at the end names already.
pub fn used_arguments(line: &str, tokens: &[Token]) -> Vec<String> {
    let mut depth = 0_i32;
    let inside = tokens.iter().rposition(|t| {
        depth += i32::from(t.kind.is_close()) - i32::from(t.kind.is_open());
        depth < 0
    });
    tokens
        .get(inside.map_or(0, |i| i + 1)..)
        .unwrap_or_default()
        .windows(2)
        .filter(|w| w[0].kind == TokenKind::Word && w[1].kind == TokenKind::Equals)
        .map(|w| w[0].text(line).to_owned())
        .collect()
}

/// `std.kernels.rbf`
fn importable() -> Vec<String> {
    library().into_iter().map(|i| format!("{}.{}", i.module, i.name)).collect()
}

/// Element types.
fn elements() -> Vec<String> {
    let shown = [
        Elem::Real,
        Elem::Positive,
        Elem::Unit,
        Elem::Int,
        Elem::Count,
        Elem::Bool,
        Elem::Category,
        Elem::Ordered,
    ];
    shown.iter().map(|e| e.name().to_owned()).chain(["increasing".to_owned(), "simplex".to_owned()]).collect()
}

/// Names may have points inside: `w.alpha`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The words that begin with what is there.
fn among(start: usize, prefix: &str, words: impl IntoIterator<Item = String>) -> Candidates {
    let mut words: Vec<String> = words.into_iter().filter(|w| w.starts_with(prefix)).collect();
    words.sort_unstable();
    words.dedup();
    Candidates { start, words }
}

/// Files with one of these extensions, and folders.
fn files(start: usize, word: &str, extensions: &[&str]) -> Candidates {
    let (folder, prefix) = match word.rfind('/') {
        Some(at) => (&word[..=at], &word[at + 1..]),
        None => ("", word),
    };
    let Ok(entries) = std::fs::read_dir(if folder.is_empty() { "." } else { folder }) else {
        return Candidates { start, words: Vec::new() };
    };
    let mut words = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let hidden = name.starts_with('.') && !prefix.starts_with('.');
        if hidden || !name.starts_with(prefix) || name.contains(char::is_whitespace) {
            continue;
        }
        let extension = Path::new(&name).extension().map(|e| e.to_string_lossy().to_lowercase());
        if entry.path().is_dir() {
            words.push(format!("{folder}{name}/"));
        } else if extension.is_some_and(|e| extensions.contains(&e.as_str())) {
            words.push(format!("{folder}{name}"));
        }
    }
    words.sort_unstable();
    Candidates { start, words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::edit::Program;
    use crate::repl::state::State;

    fn view() -> View {
        let text = "use std.priors.ard\ndata x: real[N]\ndata t: real[N]\nlet width = 2\n\
                    let phi = [1, x / width]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
                    t ~ Normal(phi * w, precision = tau)\n";
        let program = Program { text: text.to_owned(), ..Program::default() };
        let mut state = State::default().with_program(program).unwrap();
        state =
            state.with_data(sbl::Data::new().vector("age", &[1.0]).unwrap().vector("bmi", &[1.0]).unwrap());
        state.model = state.compile(None).ok();
        View::of(&state)
    }

    fn words(line: &str) -> Vec<String> {
        complete(&view(), line).words
    }

    #[test]
    fn commands() {
        assert_eq!(words(":lo"), ["load "]);
        assert_eq!(words(":p"), ["plan", "plot ", "predict "]);
        assert_eq!(complete(&view(), "  :un"), Candidates { start: 3, words: vec!["undo".to_owned()] });
        assert!(words(":undo ").is_empty());
    }

    #[test]
    fn arguments_of_commands() {
        assert_eq!(words(":why ta"), ["tau"]);
        assert_eq!(words(":help min"), ["min", "min_gain"]);
        assert_eq!(words(":help E080").first().map(String::as_str), Some("E0801"));
        assert_eq!(words(":dsep x t gi"), ["given"]);
        assert_eq!(words(":fit lap"), ["laplace"]);
        assert_eq!(words(":fit evidence(upd"), ["updates = "]);
        assert_eq!(words(":graph mer"), ["mermaid"]);
        assert_eq!(words(":set "), ["width = "]);
        assert_eq!(words(":predict {"), ["t: [", "x: ["]);
        assert!(words(":help rb").contains(&"rbf".to_owned()));
        assert!(words(":load Car").is_empty(), "no program");
        assert_eq!(words(":load examples/sin"), ["examples/sinc.sbl", "examples/sinc_plates.sbl"]);
        assert_eq!(words(":data examples/data/sin"), ["examples/data/sinc.csv"]);
    }

    #[test]
    fn names_types_and_arguments() {
        assert_eq!(words("let a = ph"), ["phi"]);
        assert_eq!(words("mean(ta"), ["tau"]);
        assert_eq!(
            words("w."),
            ["w.alpha"].to_vec().into_iter().filter(|w| w.starts_with("w.")).collect::<Vec<_>>()
        );
        assert_eq!(words("data z: cat"), ["category"]);
        assert_eq!(words("z ~ Stu"), ["StudentT("]);
        assert_eq!(words("z ~ Normal(0, pre"), ["precision = "]);
        assert!(words("z ~ Normal(0, precision = 1, pre").is_empty());
        assert_eq!(words("let k = rbf(x, wid"), ["width", "width = "]);
        assert_eq!(words("use std.kernels.rb"), ["std.kernels.rbf"]);
        assert_eq!(words("infer vari"), ["variational"]);
        assert_eq!(words("pla"), ["plate "]);
        assert_eq!(words("data z: real[N] from column(\"a"), ["age\""]);
        assert!(words("data ").is_empty() && words("# re").is_empty());
        // what only a fit knows
        assert!(words("evid").is_empty());
    }

    #[test]
    fn any_prefix_of_anything_is_safe() {
        for line in
            ["α ~ Normal(β[1], sd = \"é", ":data ünï/cödé", ")))(((", ":predict {α: [", "fit(:", "\"", ":"]
        {
            for end in (0..=line.len()).filter(|i| line.is_char_boundary(*i)) {
                let found = complete(&view(), &line[..end]);
                assert!(found.start <= end && line.is_char_boundary(found.start), "{line} {end}");
            }
        }
    }
}
