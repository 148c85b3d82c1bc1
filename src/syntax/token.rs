//! The lossless token layer: every byte of the text belongs to exactly one token.
//!
//! pest alone decides structure (`grammar/sbl.pest`). Tokens serve everything around it: lexical
//! errors, limits, statement boundaries, comments for the formatter, colours, and whether the input
//! at a prompt is complete.

use logos::Logos;
use serde::{Deserialize, Serialize};

/// Words that cannot be names. A column of such a name is bound with `from column("data")`.
pub const KEYWORDS: &[&str] =
    &["data", "fn", "from", "in", "infer", "let", "model", "param", "plate", "prior", "use"];

/// A token: what it is and which bytes it covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Token {
    /// The bytes it covers.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Its text.
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }
}

/// The kinds of token. The wrong ones are tokens too, so that nothing is lost.
#[derive(Logos, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum TokenKind {
    /// Blanks and tabs, and a byte order mark at the start of the text.
    #[regex(r"[ \t]+")]
    Blank,
    /// `\n`, `\r\n` or `\r`
    #[regex(r"\n|\r\n|\r")]
    Newline,
    /// `# …` to the end of the line
    #[regex(r"#[^\n\r]*", priority = 2, allow_greedy = true)]
    Comment,
    /// `## …`: documentation of the declaration on the next line
    #[regex(r"##([^#\n\r][^\n\r]*)?", priority = 3, allow_greedy = true)]
    Doc,

    /// One of [`KEYWORDS`].
    Keyword,
    /// `phi`, `α`
    #[regex(r"[\p{XID_Start}_][\p{XID_Continue}--[·\u{387}]]*")]
    Word,
    /// `_` alone
    #[token("_", priority = 10)]
    All,
    /// `3`, `3.0`, `1e-6`
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", priority = 10)]
    Number,
    /// `"medv"`
    #[regex(r#""([^"\\\n\r]|\\["\\])*""#, priority = 10)]
    Text,

    /// `(`
    #[token("(")]
    OpenParen,
    /// `)`
    #[token(")")]
    CloseParen,
    /// `[`
    #[token("[")]
    OpenBracket,
    /// `]`
    #[token("]")]
    CloseBracket,
    /// `{`
    #[token("{")]
    OpenBrace,
    /// `}`
    #[token("}")]
    CloseBrace,
    /// `,`
    #[token(",")]
    Comma,
    /// `:`
    #[token(":")]
    Colon,
    /// `;`
    #[token(";")]
    Semicolon,
    /// `.` between the names of a path
    #[token(".")]
    Dot,
    /// `=`
    #[token("=")]
    Equals,
    /// `~`
    #[token("~")]
    Tilde,
    /// `->`
    #[token("->")]
    Arrow,
    /// `<` between ordered levels
    #[token("<")]
    Less,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `.*`
    #[token(".*")]
    DotStar,
    /// `./`
    #[token("./")]
    DotSlash,
    /// `^`
    #[token("^")]
    Caret,

    /// An operator of another language: `==`, `<=`, `>=`, `!=`, `>`, `:=`, `**`, `&&`, `||`, `%`, `!`, `|`, `+=` …
    #[regex(r"==+|<=|>=|!=|:=|\*\*|&&?|\|\|?|>|%|!|@|\$|\?|\|>|\+=|-=|\*=|/=|\.\^|<>|=>|::|\.\.+")]
    ForeignOperator,
    /// `// …`, `/* … */`, `--`: a comment of another language; only its first sign
    #[regex(r"//|/\*")]
    ForeignComment,
    /// `2x`, `.5`
    #[regex(
        r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?[\p{XID_Start}_][\p{XID_Continue}--[·\u{387}]]*",
        priority = 5
    )]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?", priority = 5)]
    BadNumber,
    /// A string that does not end in its line, or holds a wrong escape.
    #[regex(r#""([^"\\\n\r]|\\[^\n\r])*\\?"#, priority = 5)]
    #[regex(r#""([^"\\\n\r]|\\[^\n\r])*""#, priority = 6)]
    BadText,
    /// Characters that mean nothing here.
    Unknown,
}

impl TokenKind {
    /// Whether it carries no meaning for the grammar: blanks and comments, but not line breaks.
    pub fn is_trivia(self) -> bool {
        matches!(self, TokenKind::Blank | TokenKind::Comment | TokenKind::Doc)
    }

    /// Whether it is a wrong token.
    pub fn is_error(self) -> bool {
        use TokenKind::*;
        matches!(self, ForeignOperator | ForeignComment | BadNumber | BadText | Unknown)
    }

    /// `+ - * / .* ./ ^`
    pub fn is_operator(self) -> bool {
        use TokenKind::*;
        matches!(self, Plus | Minus | Star | Slash | DotStar | DotSlash | Caret)
    }

    /// Whether a statement goes on in the next line after it: operators, `=` and `~`.
    pub fn continues(self) -> bool {
        self.is_operator() || matches!(self, TokenKind::Equals | TokenKind::Tilde)
    }

    /// `( [ {`
    pub fn is_open(self) -> bool {
        matches!(self, TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace)
    }

    /// `) ] }`
    pub fn is_close(self) -> bool {
        matches!(self, TokenKind::CloseParen | TokenKind::CloseBracket | TokenKind::CloseBrace)
    }

    /// The partner of a bracket; anything else is its own.
    pub fn partner(self) -> TokenKind {
        match self {
            TokenKind::OpenParen => TokenKind::CloseParen,
            TokenKind::OpenBracket => TokenKind::CloseBracket,
            TokenKind::OpenBrace => TokenKind::CloseBrace,
            TokenKind::CloseParen => TokenKind::OpenParen,
            TokenKind::CloseBracket => TokenKind::OpenBracket,
            TokenKind::CloseBrace => TokenKind::OpenBrace,
            other => other,
        }
    }
}

/// How a token is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Blanks and line breaks.
    Plain,
    /// `# …`
    Comment,
    /// `## …`
    Doc,
    /// `data`, `let` …
    Keyword,
    /// `phi`
    Name,
    /// A name followed by `(`.
    Function,
    /// A name after `:` or `->`.
    Type,
    /// `3.0`
    Number,
    /// `"medv"`
    Text,
    /// Operators, `=` and `~`.
    Operator,
    /// Brackets, commas and the like.
    Punctuation,
    /// Wrong tokens.
    Error,
}

/// Cuts the text into tokens; their texts joined are the text.
pub fn lex(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 3);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - body.len();
    if skipped > 0 {
        tokens.push(Token { kind: TokenKind::Blank, start: 0, end: skipped as u32 });
    }
    for (kind, range) in TokenKind::lexer(body).spanned() {
        let (start, end) = ((range.start + skipped) as u32, (range.end + skipped) as u32);
        let kind = match kind {
            Ok(TokenKind::Word) if KEYWORDS.contains(&&text[start as usize..end as usize]) => {
                TokenKind::Keyword
            }
            Ok(kind) => kind,
            Err(()) => TokenKind::Unknown,
        };
        match tokens.last_mut() {
            // `2.` without a digit behind: the point belongs to the number. `2.*x` was cut before.
            Some(last) if kind == TokenKind::Dot && last.kind == TokenKind::Number => {
                (last.kind, last.end) = (TokenKind::BadNumber, end);
            }
            // One complaint for a run of strange characters.
            Some(last) if kind == TokenKind::Unknown && last.kind == kind => last.end = end,
            _ => tokens.push(Token { kind, start, end }),
        }
    }
    tokens
}

/// Colours for highlighting, one a token.
pub fn classify(text: &str, tokens: &[Token]) -> Vec<Class> {
    let mut classes = Vec::with_capacity(tokens.len());
    let mut before = None;
    for (i, token) in tokens.iter().enumerate() {
        let class = match token.kind {
            TokenKind::Blank | TokenKind::Newline => Class::Plain,
            TokenKind::Comment => Class::Comment,
            TokenKind::Doc => Class::Doc,
            TokenKind::Keyword => Class::Keyword,
            TokenKind::Word => word_class(text, tokens, i, before),
            TokenKind::All => Class::Name,
            TokenKind::Number => Class::Number,
            TokenKind::Text => Class::Text,
            kind if kind.is_error() => Class::Error,
            kind if kind.continues() => Class::Operator,
            _ => Class::Punctuation,
        };
        classes.push(class);
        if !token.kind.is_trivia() && token.kind != TokenKind::Newline {
            before = Some(token.kind);
        }
    }
    classes
}

fn word_class(text: &str, tokens: &[Token], i: usize, before: Option<TokenKind>) -> Class {
    let next = tokens.get(i + 1).map(|t| t.kind);
    match before {
        Some(TokenKind::Colon | TokenKind::Arrow) => Class::Type,
        _ if next == Some(TokenKind::OpenParen) => Class::Function,
        None
        | Some(
            TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseParen | TokenKind::CloseBracket,
        ) if matches!(tokens[i].text(text), "weight" | "return") => Class::Keyword,
        _ => Class::Name,
    }
}
