//! Slips of the pen, by what pest found and what it wanted.

use crate::diag::Diagnostic;
use crate::syntax::errors::Site;
use crate::syntax::grammar::Rule;
use crate::syntax::token::TokenKind;
use crate::syntax::words::{is_operand, phrase};

/// One error, seen as a slip of the pen.
pub(crate) struct Slip<'a, 's> {
    pub site: &'a Site<'s>,
    /// The token pest stopped at; the end of the piece if it wanted more.
    pub at: usize,
    pub expected: &'a [Rule],
}

impl Slip<'_, '_> {
    /// The slip, if it has a name.
    pub fn name(&self) -> Option<Diagnostic> {
        self.cut_short()
            .or_else(|| self.reserved())
            .or_else(|| self.import_of_all())
            .or_else(|| self.comparison())
            .or_else(|| self.missing_type())
            .or_else(|| self.wrong_sign())
            .or_else(|| self.blank_before())
            .or_else(|| self.not_a_family())
    }

    /// Found and expected, with what help there is.
    pub fn plain(&self) -> Diagnostic {
        let (site, at) = (self.site, self.at);
        let found = site.found(at);
        let mut label = "not expected here".to_owned();
        if at >= site.piece.end {
            label = "something is missing here".to_owned();
        }
        let error = Diagnostic::error("E0101", format!("found {found}, expected {}", self.wanted()))
            .at(site.span(at), label);
        match self.hint() {
            Some(help) => error.help(help),
            None => error,
        }
    }

    /// `a +` and nothing more.
    fn cut_short(&self) -> Option<Diagnostic> {
        let before = self.site.before(self.at)?;
        if self.at < self.site.piece.end || !self.site.kind(before)?.continues() {
            return None;
        }
        let sign = self.site.word(before);
        let what = if sign == "~" { "a family or prior" } else { "an expression" };
        Some(
            Diagnostic::error("E0117", format!("the statement ends after `{sign}`, expected {what}"))
                .at(self.site.span(before), "nothing follows")
                .help(format!("finish the statement, or remove `{sign}`")),
        )
    }

    /// `data` as a name.
    fn reserved(&self) -> Option<Diagnostic> {
        let site = self.site;
        let names =
            [Rule::ident, Rule::path, Rule::reference, Rule::operand, Rule::expr, Rule::elem, Rule::arg];
        if site.kind(self.at)? != TokenKind::Keyword
            || self.at >= site.piece.end
            || !self.expected.iter().any(|rule| names.contains(rule))
        {
            return None;
        }
        let word = site.word(self.at);
        let first = site.word(site.piece.start);
        // `plate in N`: the name is missing, `in` is in its place.
        if word == "in" && first == "plate" && self.at == site.piece.start + 1 {
            return None;
        }
        let error = Diagnostic::error(
            "E0106",
            format!("found the reserved word `{word}`, expected {}", self.wanted()),
        )
        .at(site.span(self.at), "cannot be a name");
        Some(if first == "data" && self.at == site.piece.start + 1 {
            error.help(format!(
                "choose another name and bind the column: `data {word}_: … from column(\"{word}\")`"
            ))
        } else if let Some(path) = self.plural_module() {
            error.help(format!("modules of the library are named in the plural: `use {path}`"))
        } else if word == "from" {
            error.help("`from column(…)` stands at the end of a `data` statement")
        } else {
            error.help(format!(
                "use another name; a column called `{word}` is bound with `data {word}_: … from column(\"{word}\")`"
            ))
        })
    }

    /// `std.priors.ard` for `use std.prior.ard`: what a module holds may be a reserved word, in the singular.
    fn plural_module(&self) -> Option<String> {
        let (site, start) = (self.site, self.site.piece.start);
        let singular = matches!(site.word(self.at), "prior" | "model");
        if !singular || self.at != start + 3 || site.word(start) != "use" || site.word(start + 1) != "std" {
            return None;
        }
        let rest = &site.text[site.span(self.at).end as usize..site.range().end];
        Some(format!("std.{}s{}", site.word(self.at), rest.trim_end()))
    }

    /// `use std.kernels.*`, `use std.kernels.{*}`
    fn import_of_all(&self) -> Option<Diagnostic> {
        let site = self.site;
        let star = matches!(site.kind(self.at)?, TokenKind::DotStar | TokenKind::Star);
        if !star || self.at >= site.piece.end || site.word(site.piece.start) != "use" {
            return None;
        }
        let names = (site.piece.start + 1..self.at).filter(|&i| site.kind(i) == Some(TokenKind::Word));
        let names: Vec<&str> = names.map(|i| site.word(i)).collect();
        let (path, module) = (names.join("."), *names.last()?);
        Some(
            Diagnostic::error("E0101", format!("found {}, but `use` names what it imports", site.found(self.at)))
                .at(site.span(self.at), "there is no import of everything")
                .note(format!("`sbl doc {path}` lists what it offers"))
                .help(format!(
                    "write `use {path}.NAME` or `use {path}.{{A, B}}` for some of it, or `use {path}` and `{module}.NAME(…)` where it is used"
                )),
        )
    }

    fn comparison(&self) -> Option<Diagnostic> {
        (self.site.kind(self.at)? == TokenKind::Less && self.at < self.site.piece.end).then(|| {
            let error = Diagnostic::error("E0109", "found `<`, but there are no comparisons")
                .at(self.site.span(self.at), "no comparison here")
                .note("`<` stands only between the levels of a type: `ordered{poor < fair < good}`");
            if self.site.kind(self.at + 1) == Some(TokenKind::Minus) {
                error.help("write `let y = …` for a value, `y ~ …` for a distribution")
            } else {
                error.help("a model states quantities, not conditions; prepare such a column in the data")
            }
        })
    }

    /// `data x`, `param s = 1`, `fn f(x)`.
    fn missing_type(&self) -> Option<Diagnostic> {
        let site = self.site;
        let first = site.word(site.piece.start);
        if !matches!(first, "data" | "param" | "fn") {
            return None;
        }
        let found = site.found(self.at);
        let error = |message: String| {
            Diagnostic::error("E0111", message).at(site.span(self.at), "the type is missing here")
        };
        if self.expected.contains(&Rule::colon) && !self.in_expression() {
            let name = self.site.before(self.at).map_or("x", |i| site.word(i));
            let error = error(format!("found {found}, expected `:` and a type"));
            return Some(match site.kind(self.at) {
                Some(TokenKind::Word) if self.at < site.piece.end => {
                    error.help(format!("put a colon between: `{name}: {}`", site.word(self.at)))
                }
                Some(TokenKind::OpenBracket) => error.help(format!("write `{name}: real[…]`")),
                _ => error.help(format!(
                    "write `{name}: real` for a number, `{name}: real[N]` for a vector over the rows"
                )),
            });
        }
        let wants_type =
            self.expected.iter().any(|r| matches!(r, Rule::type_expr | Rule::elem | Rule::result_type));
        let after_colon = site.before(self.at).is_some_and(|i| site.kind(i) == Some(TokenKind::Colon));
        if wants_type || after_colon && self.expected.contains(&Rule::ident) {
            return Some(error(format!("found {found}, expected a type")).help(
                "the element types are real, positive, unit, int, count, bool, category and ordered; \
                 a shape follows in brackets",
            ));
        }
        if first == "fn" && self.expected.contains(&Rule::arrow) {
            return Some(
                error(format!("found {found}, expected `->` and the type of the result"))
                    .help("write `fn name(x: real[N]) -> real[N] = …`"),
            );
        }
        None
    }

    /// `=` for `~`, `~` for `=`.
    fn wrong_sign(&self) -> Option<Diagnostic> {
        let site = self.site;
        let kind = site.kind(self.at).filter(|_| self.at < site.piece.end)?;
        let first = site.word(site.piece.start);
        let left = site.text[site.range().start..site.span(self.at).start as usize].trim_end();
        if kind == TokenKind::Equals && self.expected.contains(&Rule::tilde) {
            let error = Diagnostic::error("E0108", "found `=`, expected `~`")
                .at(site.span(self.at), "not a distribution");
            let family = site.kind(self.at + 1) == Some(TokenKind::Word)
                && site.word(self.at + 1).starts_with(char::is_uppercase)
                && site.kind(self.at + 2) == Some(TokenKind::OpenParen);
            return Some(if family {
                error.help(format!("write `{left} ~ {}(…)`", site.word(self.at + 1)))
            } else {
                error.help(format!("write `let {left} = …` for a value, `{left} ~ …` for a distribution"))
            });
        }
        if kind == TokenKind::Tilde
            && self.expected.contains(&Rule::equals)
            && matches!(first, "let" | "param")
        {
            let name = site.word(site.piece.start + 1);
            return Some(
                Diagnostic::error("E0108", "found `~`, expected `=`")
                    .at(site.span(self.at), "a distribution needs no keyword")
                    .help(format!("write `{name} ~ …` without `{first}`")),
            );
        }
        if kind == TokenKind::Tilde && first == "data" {
            let name = site.word(site.piece.start + 1);
            return Some(
                Diagnostic::error("E0108", format!("found `~`, expected {}", self.wanted()))
                    .at(site.span(self.at), "a second statement begins")
                    .help(format!("write `{left}` and, on a line of its own, `{name} ~ …`")),
            );
        }
        if kind == TokenKind::Colon && self.expected.contains(&Rule::tilde) {
            return Some(
                Diagnostic::error("E0108", "found `:`, expected `~`")
                    .at(site.span(self.at), "a type follows only `data` and `param`")
                    .help(format!(
                        "write `data {left}: …` for data, `param {left}: …` for an unknown without a prior"
                    )),
            );
        }
        None
    }

    /// `f (x)`, `x [n]`.
    fn blank_before(&self) -> Option<Diagnostic> {
        let site = self.site;
        let kind = site.kind(self.at).filter(|_| self.at < site.piece.end)?;
        let before = site.before(self.at)?;
        if !matches!(kind, TokenKind::OpenParen | TokenKind::OpenBracket) || !self.after_operand() {
            return None;
        }
        let (open, operand) = (site.word(self.at), site.word(before));
        let touches = site.tokens[before].end == site.tokens[self.at].start;
        let callable = site.kind(before) == Some(TokenKind::Word);
        let what = if kind == TokenKind::OpenParen { "a call" } else { "an index" };
        if !touches && (callable || kind == TokenKind::OpenBracket) {
            return Some(
                Diagnostic::error("E0116", format!("found a blank before `{open}`"))
                    .at(site.span(before).to(site.span(self.at)), format!("{what} touches its operand"))
                    .help(format!("write `{operand}{open}…`, or put an operator or a comma between")),
            );
        }
        (kind == TokenKind::OpenParen).then(|| {
            Diagnostic::error("E0101", format!("found `(` after `{operand}`, expected an operator"))
                .at(site.span(self.at), "only a name can be called")
                .help(format!("write `{operand} * (…)` for a product"))
        })
    }

    /// `t ~ tau`, `t ~ 2 * Normal(…)`, `t ~ Normal(…) + 1`.
    fn not_a_family(&self) -> Option<Diagnostic> {
        let site = self.site;
        let tilde = site.piece.clone().find(|&i| site.kind(i) == Some(TokenKind::Tilde))?;
        let help =
            "the right side of `~` is one family or prior and its arguments; compute the parts with `let`";
        let found = site.found(self.at);
        if site.before(self.at) == Some(tilde) {
            return Some(
                Diagnostic::error("E0101", format!("found {found}, expected a family or prior"))
                    .at(site.span(self.at), "not a distribution")
                    .help(help),
            );
        }
        let after_family = self.expected.contains(&Rule::args) || self.expected.contains(&Rule::open_paren);
        if after_family
            && site
                .piece
                .clone()
                .skip_while(|&i| i <= tilde)
                .take_while(|&i| i < self.at)
                .all(|i| matches!(site.kind(i), Some(TokenKind::Word | TokenKind::Dot | TokenKind::Newline)))
        {
            let family = site.before(self.at).map_or("Normal", |i| site.word(i));
            return Some(
                Diagnostic::error(
                    "E0101",
                    format!("found {found}, expected `(` and the arguments of `{family}`"),
                )
                .at(site.span(self.at), "the arguments are missing")
                .help(if family.starts_with(char::is_uppercase) {
                    format!("write `{family}(…)`")
                } else {
                    format!("{help}; a value is defined with `let … = {family}`")
                }),
            );
        }
        let operator = site.kind(self.at).is_some_and(TokenKind::is_operator) && self.at < site.piece.end;
        if operator && self.expected.contains(&Rule::kw_weight) {
            return Some(
                Diagnostic::error(
                    "E0101",
                    format!("found {found} after the arguments, expected the end of the statement"),
                )
                .at(site.span(self.at), "a distribution is not a number")
                .help(help),
            );
        }
        None
    }

    /// Advice for errors without a name of their own.
    fn hint(&self) -> Option<String> {
        let site = self.site;
        let first = site.word(site.piece.start);
        let kind = site.kind(self.at).filter(|_| self.at < site.piece.end);
        let before = site.before(self.at);
        let word = site.word(self.at);
        if before == Some(site.piece.start) && self.expected.contains(&Rule::tilde) {
            let instead = match first {
                "var" | "val" | "const" | "set" | "local" | "auto" => Some("let"),
                "def" | "func" | "function" => Some("fn"),
                "import" | "include" | "require" | "library" | "using" => Some("use"),
                "for" | "foreach" | "repeat" => Some("plate"),
                "parameter" | "parameters" | "free" => Some("param"),
                "observe" | "observed" | "obs" | "input" | "target" => Some("data"),
                "inference" | "method" => Some("infer"),
                _ => None,
            };
            if let Some(instead) = instead {
                return Some(format!("write `{instead}` instead of `{first}`"));
            }
            if first == "return" {
                return Some("`return` ends the block of a `prior`".to_owned());
            }
            return Some(
                "a statement begins with data, let, param, plate or infer, or is `name ~ Family(…)`"
                    .to_owned(),
            );
        }
        if first == "use" && kind.is_some() {
            match word {
                "as" => return Some("a definition keeps its name; it is imported without `as`".to_owned()),
                "," => {
                    return Some(
                        "write a `use` of its own for each path, or `use std.kernels.{rbf, cauchy}` for several of one module"
                            .to_owned(),
                    );
                }
                _ => {}
            }
        }
        if first == "return" && self.at > site.piece.start + 1 {
            return Some("`return` names one node; compute it before, and return its name".to_owned());
        }
        match kind {
            Some(TokenKind::Plus) if self.expected.iter().any(|r| is_operand(*r)) => {
                Some("there is no unary `+`; remove it".to_owned())
            }
            Some(TokenKind::Colon) if self.expected.contains(&Rule::equals) || self.after_operand() => {
                match self.innermost() {
                    Some(TokenKind::OpenParen) => Some("a named argument is written with `=`".to_owned()),
                    Some(TokenKind::OpenBracket) => {
                        Some("there are no ranges: an index is a number, a plate index or data".to_owned())
                    }
                    None if first == "plate" => Some(
                        "a plate runs from 1 to a size: write the size alone, `plate i in 5`, or a dimension, `plate n in N`"
                            .to_owned(),
                    ),
                    _ => None,
                }
            }
            Some(TokenKind::OpenBrace)
                if matches!(first, "data" | "let" | "param") && self.at == site.piece.start + 1 =>
            {
                Some(format!("`{first}` has no block: begin each declaration with `{first}`, on a line of its own"))
            }
            Some(TokenKind::Equals) if self.after_operand() => {
                Some("`=` follows the name of an argument, or the name in a `let`".to_owned())
            }
            Some(TokenKind::Tilde) if first == "param" => {
                Some("a `param` has no prior; write the name and `~` without `param`".to_owned())
            }
            Some(TokenKind::Keyword) if word == "from" => {
                Some("`from` stands at the end of a `data` statement".to_owned())
            }
            Some(TokenKind::Word | TokenKind::Number | TokenKind::Text) if self.after_operand() => {
                let left = before.map_or("", |i| site.word(i));
                let comma = if self.expected.contains(&Rule::comma) { ", or a comma" } else { "" };
                Some(format!("write `{left} * {word}` for a product{comma}"))
            }
            Some(TokenKind::OpenBrace) if before.is_some_and(|i| site.kind(i) == Some(TokenKind::Colon)) => {
                Some("name the element type before the levels: `category{a, b}`".to_owned())
            }
            Some(TokenKind::Comma) if self.expected.iter().any(|r| is_operand(*r)) => {
                Some("remove the comma, or put what is missing before it".to_owned())
            }
            Some(TokenKind::Number) if self.expected.contains(&Rule::ident) => Some(
                "an index on the left is the name of a plate index: `plate n in N { t[n] ~ … }`".to_owned(),
            ),
            _ if first == "data" && self.expected.contains(&Rule::text) => {
                Some("names of columns are strings: `from column(\"medv\")`".to_owned())
            }
            _ if first == "data" && self.expected.contains(&Rule::from_except) => Some(
                "write `from column(\"a\")`, `from columns(\"a\", \"b\")` or `from except(\"a\")`".to_owned(),
            ),
            _ => None,
        }
    }

    /// The innermost bracket that is open here.
    fn innermost(&self) -> Option<TokenKind> {
        let mut closed = 0;
        for kind in (self.site.piece.start..self.at).rev().filter_map(|i| self.site.kind(i)) {
            if kind.is_close() {
                closed += 1;
            } else if kind.is_open() {
                if closed == 0 {
                    return Some(kind);
                }
                closed -= 1;
            }
        }
        None
    }

    /// Whether pest stood behind a complete operand.
    fn after_operand(&self) -> bool {
        self.expected.contains(&Rule::mul)
    }

    /// Whether pest stood in an expression, where `:` is not the colon of a type.
    fn in_expression(&self) -> bool {
        self.expected.iter().any(|rule| is_operand(*rule)) || self.after_operand()
    }

    /// `a, b or c`, in the words of the language.
    fn wanted(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        // After an operand everything that may go on is an operator, and the rest is what may end it.
        for rule in self.expected {
            let word = phrase(*rule);
            if !word.is_empty() && !words.contains(&word) {
                words.push(word);
            }
        }
        if words.contains(&"an expression") {
            words.retain(|w| !matches!(*w, "a name" | "`-`" | "a number" | "a string"));
        }
        if words.contains(&"a statement") {
            words.retain(|w| matches!(*w, "a statement" | "`}`" | "the end of the statement" | "`return`"));
        }
        match words.as_slice() {
            [] => "something else".to_owned(),
            [only] => (*only).to_owned(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
        }
    }
}
