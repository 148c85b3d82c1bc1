//! The colours, each for one role, in messages and at the prompt alike.

use anstyle::{AnsiColor, Style};
use sbl::syntax::token::Class;

/// What is wrong.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What deserves a look.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// What is set off from the rest.
pub const STRONG: Style = Style::new().bold();
/// What matters less than the rest.
pub const FAINT: Style = Style::new().dimmed();
/// `data`, `let`, `:fit`
pub const KEYWORD: Style = AnsiColor::Blue.on_default().bold();
/// `rbf(`
pub const FUNCTION: Style = AnsiColor::Cyan.on_default();
/// `real`
pub const TYPE: Style = AnsiColor::Magenta.on_default();
/// `3.0`
pub const NUMBER: Style = AnsiColor::Green.on_default();
/// The prompt.
pub const PROMPT: Style = AnsiColor::Cyan.on_default().bold();

/// The colour of a token.
pub fn of(class: Class) -> Style {
    match class {
        Class::Plain | Class::Name | Class::Operator | Class::Punctuation => Style::new(),
        Class::Comment | Class::Doc => FAINT,
        Class::Keyword => KEYWORD,
        Class::Function => FUNCTION,
        Class::Type => TYPE,
        Class::Number | Class::Text => NUMBER,
        Class::Error => ERROR,
    }
}
