//! What is shown behind the cursor: the type and shape of the name, the arguments of the call, the rest of
//! the command that is being typed.

use sbl::syntax::token::{Token, TokenKind, lex};

use super::command::{self, COMMANDS};
use super::complete::{enclosing_call, used_arguments};
use super::view::View;

/// A hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// As shown.
    pub text: String,
    /// How many bytes of it the right arrow takes over.
    pub taken: usize,
}

/// Longer signatures are cut.
const LONGEST: usize = 90;

/// The hint at the end of a line.
pub fn hint(view: &View, line: &str) -> Option<Hint> {
    if line.trim().is_empty() {
        return None;
    }
    if let Some(rest) = line.trim_start().strip_prefix(':') {
        return of_command(rest);
    }
    let tokens: Vec<Token> = lex(line).into_iter().filter(|t| t.kind != TokenKind::Newline).collect();
    let told = |text: String| Hint { text: format!("   {}", cut(&text)), taken: 0 };
    // the name that ends here, with its points
    let word =
        line.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).next().unwrap_or_default();
    if let Some((name, about)) = view.nodes.iter().find(|(name, _)| name == word) {
        return Some(told(format!("{name}: {about}")));
    }
    if let Some(function) = view.called(word).next().filter(|_| !word.is_empty()) {
        return Some(told(function.signature.clone()));
    }
    let solid: Vec<Token> = tokens.into_iter().filter(|t| !t.kind.is_trivia()).collect();
    let call = enclosing_call(line, &solid)?;
    let overloads: Vec<&str> = view.called(&call).map(|f| f.signature.as_str()).collect();
    // of several, the one that has the arguments named so far
    let named = used_arguments(line, &solid);
    let fits = view.called(&call).find(|f| named.iter().all(|n| f.arguments.contains(n)));
    let signature = fits.map(|f| f.signature.as_str()).or(overloads.first().copied())?;
    Some(told(signature.to_owned()))
}

fn of_command(rest: &str) -> Option<Hint> {
    if let Some((c, arguments)) = command::of(rest) {
        if !arguments.trim().is_empty() {
            return None;
        }
        let shown = format!("{} {}", c.arguments, c.summary);
        let gap = if arguments.is_empty() { " " } else { "" };
        return Some(Hint { text: format!("{gap}{}", cut(shown.trim())), taken: 0 });
    }
    if rest.is_empty() || rest.contains(char::is_whitespace) {
        return None;
    }
    let c = COMMANDS.iter().find(|c| c.name.starts_with(rest))?;
    let tail = c.name.get(rest.len()..)?;
    Some(Hint { text: format!("{tail} {}", c.arguments).trim_end().to_owned(), taken: tail.len() })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::edit::Program;
    use crate::repl::state::State;

    fn text(line: &str) -> String {
        let text = "data x: real[N, D]\nlet phi = [1, x]\n";
        let program = Program { text: text.to_owned(), ..Program::default() };
        let view = View::of(&State::default().with_program(program).unwrap());
        hint(&view, line).map(|h| h.text).unwrap_or_default()
    }

    #[test]
    fn names_show_type_and_shape() {
        assert_eq!(text("mean(x"), "   x: real[N, D], data");
        assert_eq!(text("let a = phi"), "   phi: real[N, D + 1], derived");
        assert_eq!(text("nothing"), "");
        assert_eq!(text(""), "");
    }

    #[test]
    fn calls_show_their_arguments() {
        assert!(text("z ~ Normal(").starts_with("   Normal(mean: real, "), "{}", text("z ~ Normal("));
        assert!(text("let k = rbf(x, ").contains("width: positive"));
        assert!(
            text("let k = rbf(x, scale = 1, ").contains("scale: "),
            "{}",
            text("let k = rbf(x, scale = 1, ")
        );
    }

    #[test]
    fn commands_are_finished() {
        assert_eq!(hint(&View::default(), ":lo"), Some(Hint { text: "ad FILE".to_owned(), taken: 2 }));
        assert_eq!(text(":undo"), " back to the state before the last change");
        assert_eq!(text(":load a"), "");
        assert_eq!(text(":nonsense"), "");
    }
}
