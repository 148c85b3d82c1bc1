//! The layout of one statement, and the lines of a program.
//!
//! A statement that fits is one line. Else a list of arguments is broken, one item a line, or a sum or
//! product after its operators, or an `=` before its right side. A comment inside a statement stays
//! behind the token it follows, and its list is broken.

use crate::syntax::token::{Token, TokenKind};

/// Columns of a line.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Lines of a program, one after another.
#[derive(Default)]
pub(crate) struct Writer {
    out: String,
    /// Blanks at the start of a statement.
    indent: usize,
    /// Blanks at the start of the current line.
    line_indent: usize,
    /// Characters on the current line.
    column: usize,
    /// Whether the last line opened a block: no blank line follows it.
    opened: bool,
}

impl Writer {
    /// Whether nothing is written yet.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Starts a line for a statement or comment, after a blank line if wanted and fitting.
    pub fn start_line(&mut self, blank: bool) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if blank && !self.opened {
                self.out.push('\n');
            }
        }
        self.opened = false;
        self.pad(self.indent);
    }

    /// A comment behind the code of the line.
    pub fn comment_behind(&mut self, comment: &str) {
        self.push("  ");
        self.push(comment);
    }

    /// ` {`
    pub fn open_block(&mut self) {
        self.push(" {");
        self.indent += INDENT;
        self.opened = true;
    }

    /// `}`
    pub fn close_block(&mut self) {
        self.indent = self.indent.saturating_sub(INDENT);
        self.start_line(false);
        self.push("}");
    }

    /// Text without line breaks.
    pub fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// The program, with a line break at its end.
    pub fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// One statement, or the head of a block.
    pub fn statement(&mut self, text: &str, tokens: &[Token]) {
        let nodes = nodes(text, tokens);
        let head = tokens.first().map_or("", |t| t.text(text));
        // The `{` of a block follows on the same line.
        let tail = if matches!(head, "model" | "plate" | "prior" | "fn") { 2 } else { 0 };
        if self.fits(&nodes, tail) {
            return self.flat(&nodes, None);
        }
        match nodes.iter().position(|node| node.is(TokenKind::Equals)) {
            // What fits on a line of its own stays whole.
            Some(sign)
                if self.fits(&nodes[..=sign], 0)
                    && !has_comment(&nodes)
                    && WIDTH >= self.indent + INDENT + width(&nodes[sign + 1..], None) =>
            {
                self.sequence(&nodes[..=sign], None, 0);
                self.break_line(self.indent + INDENT);
                self.flat(&nodes[sign + 1..], None);
            }
            _ => self.sequence(&nodes, None, tail),
        }
    }

    /// Nodes that may need more than one line. `before` is the node in front of them, `tail` the columns
    /// that what follows them needs on the last line.
    fn sequence(&mut self, nodes: &[Node<'_>], before: Option<&Node<'_>>, tail: usize) {
        if self.fits(nodes, tail) {
            return self.flat(nodes, before);
        }
        if nodes.iter().any(|node| matches!(node, Node::Comment { .. })) {
            return self.with_comments(nodes, before);
        }
        let sign = |node: &Node<'_>| node.is(TokenKind::Equals) || node.is(TokenKind::Tilde);
        if let Some(at) = nodes.iter().rposition(sign) {
            let rest = &nodes[at + 1..];
            let first = rest.iter().position(|n| n.level().is_some() || matches!(n, Node::Group(_)));
            let behind = match first {
                Some(first) => width(&rest[..first], nodes.get(at)) + 2,
                None => width(rest, nodes.get(at)) + tail,
            };
            self.groups(&nodes[..=at], before, behind);
            self.space(nodes.get(at), rest.first());
            return self.sequence(rest, nodes.get(at), tail);
        }
        let Some(level) = nodes.iter().filter_map(Node::level).min() else {
            return self.groups(nodes, before, tail);
        };
        let indent = self.line_indent + INDENT;
        let mut before = before;
        let mut start = 0;
        while start < nodes.len() {
            // A term with the operator behind it.
            let op = nodes[start..].iter().position(|node| node.level() == Some(level)).map(|i| start + i);
            let end = op.map_or(nodes.len(), |op| op + 1);
            let term = &nodes[start..op.unwrap_or(end)];
            let behind = if let Some(op) = op { nodes[op].text().len() + 1 } else { tail };
            if start > 0 {
                if self.column + 1 + width(term, None) + behind > WIDTH {
                    self.break_line(indent);
                    before = None;
                } else {
                    self.push(" ");
                }
            }
            self.sequence(term, before, behind);
            if let Some(op) = op {
                self.push(" ");
                self.push(nodes[op].text());
                before = nodes.get(op);
            }
            start = end;
        }
    }

    /// Nodes with comments between them: each comment ends its line.
    fn with_comments(&mut self, nodes: &[Node<'_>], before: Option<&Node<'_>>) {
        let indent = self.line_indent + INDENT;
        let mut before = before;
        let mut fresh = true;
        let mut broken = false;
        for node in nodes {
            if let Node::Comment { text, own_line } = node {
                if *own_line && !broken {
                    self.break_line(indent);
                } else if !broken {
                    self.push("  ");
                }
                self.push(text);
                self.break_line(indent);
                broken = true;
                continue;
            }
            if !fresh && !broken {
                self.space(before, Some(node));
            }
            (fresh, broken) = (false, false);
            self.groups(std::slice::from_ref(node), before, 0);
            before = Some(node);
        }
    }

    /// Nodes without a break between them; a bracket that does not fit is broken.
    fn groups(&mut self, nodes: &[Node<'_>], before: Option<&Node<'_>>, tail: usize) {
        let mut before = before;
        for (i, node) in nodes.iter().enumerate() {
            if i > 0 {
                self.space(before, Some(node));
            }
            match node {
                Node::Group(group) => {
                    let rest = &nodes[i + 1..];
                    let until = rest.iter().position(|n| matches!(n, Node::Group(_)));
                    let behind = match until {
                        Some(until) => width(&rest[..until], Some(node)) + 2,
                        None => width(rest, Some(node)) + tail,
                    };
                    if group.has_comment() || self.column + group.width() + behind > WIDTH {
                        self.broken(group);
                    } else {
                        self.flat_group(group);
                    }
                }
                node => self.push(node.text()),
            }
            before = Some(node);
        }
    }

    /// A bracket with one item a line.
    fn broken(&mut self, group: &Group<'_>) {
        self.push(group.open);
        if group.items.is_empty() && group.behind_open.is_none() && group.dangling.is_empty() {
            return self.push(group.close);
        }
        if let Some(comment) = group.behind_open {
            self.comment_behind(comment);
        }
        let outer = self.line_indent;
        let inner = outer + INDENT;
        for (i, item) in group.items.iter().enumerate() {
            for comment in &item.above {
                self.break_line(inner);
                self.push(comment);
            }
            self.break_line(inner);
            let last = i + 1 == group.items.len();
            let separator = match group.kind {
                GroupKind::List => ",",
                GroupKind::Ascending if !last => " <",
                _ => "",
            };
            self.sequence(&item.nodes, None, separator.len());
            self.push(separator);
            if let Some(comment) = item.behind {
                self.comment_behind(comment);
            }
        }
        for comment in &group.dangling {
            self.break_line(inner);
            self.push(comment);
        }
        self.break_line(outer);
        self.push(group.close);
    }

    fn flat(&mut self, nodes: &[Node<'_>], before: Option<&Node<'_>>) {
        let mut before = before;
        for (i, node) in nodes.iter().enumerate() {
            if i > 0 {
                self.space(before, Some(node));
            }
            match node {
                Node::Group(group) => self.flat_group(group),
                node => self.push(node.text()),
            }
            before = Some(node);
        }
    }

    fn flat_group(&mut self, group: &Group<'_>) {
        self.push(group.open);
        for (i, item) in group.items.iter().enumerate() {
            if i > 0 {
                self.push(if group.kind == GroupKind::Ascending { " < " } else { ", " });
            }
            self.flat(&item.nodes, None);
        }
        self.push(group.close);
    }

    fn space(&mut self, before: Option<&Node<'_>>, node: Option<&Node<'_>>) {
        if let (Some(before), Some(node)) = (before, node)
            && spaced(before, node)
        {
            self.push(" ");
        }
    }

    fn fits(&self, nodes: &[Node<'_>], tail: usize) -> bool {
        !has_comment(nodes) && self.column + width(nodes, None) + tail <= WIDTH
    }

    fn break_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.pad(indent);
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
        (self.line_indent, self.column) = (indent, indent);
    }
}

/// A piece of a statement.
enum Node<'s> {
    Token {
        text: &'s str,
        kind: TokenKind,
        role: Role,
    },
    Group(Group<'s>),
    /// A comment, alone on its line or behind something.
    Comment {
        text: &'s str,
        own_line: bool,
    },
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Plain,
    Unary,
    Binary,
}

struct Group<'s> {
    open: &'s str,
    close: &'s str,
    kind: GroupKind,
    /// Whether it stands apart from what it follows: `Flat() [levels(s)]`.
    apart: bool,
    behind_open: Option<&'s str>,
    items: Vec<Item<'s>>,
    /// Comments above the closing bracket.
    dangling: Vec<&'s str>,
    width: usize,
    comment: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum GroupKind {
    /// Items between commas; a last comma is allowed.
    List,
    /// Levels between `<`.
    Ascending,
    /// `(a + b)`
    Paren,
}

#[derive(Default)]
struct Item<'s> {
    above: Vec<&'s str>,
    nodes: Vec<Node<'s>>,
    behind: Option<&'s str>,
}

impl<'s> Node<'s> {
    fn is(&self, wanted: TokenKind) -> bool {
        matches!(self, Node::Token { kind, .. } if *kind == wanted)
    }

    fn text(&self) -> &'s str {
        match self {
            Node::Token { text, .. } | Node::Comment { text, .. } => text,
            Node::Group(group) => group.open,
        }
    }

    /// How loosely a binary operator binds; the line breaks after the loosest. Never after `^`.
    fn level(&self) -> Option<u8> {
        match self {
            Node::Token { kind: TokenKind::Plus | TokenKind::Minus, role: Role::Binary, .. } => Some(1),
            Node::Token { kind: TokenKind::Caret, .. } => None,
            Node::Token { role: Role::Binary, .. } => Some(2),
            _ => None,
        }
    }
}

impl Group<'_> {
    /// Its columns on one line.
    fn width(&self) -> usize {
        self.width
    }

    /// Whether there is a comment inside.
    fn has_comment(&self) -> bool {
        self.comment
    }

    /// Computed once: groups are nested, and each level asks.
    fn measure(&mut self) {
        let between = if self.kind == GroupKind::Ascending { 3 } else { 2 };
        let items: usize = self.items.iter().map(|item| width(&item.nodes, None)).sum();
        self.width = 2 + items + between * self.items.len().saturating_sub(1);
        self.comment = self.behind_open.is_some()
            || !self.dangling.is_empty()
            || self.items.iter().any(|i| !i.above.is_empty() || i.behind.is_some() || has_comment(&i.nodes));
    }
}

/// The tree of brackets of a statement.
fn nodes<'s>(text: &'s str, tokens: &[Token]) -> Vec<Node<'s>> {
    let mut reader = Reader { text, tokens, at: 0, tilde: false };
    let mut nodes = Vec::new();
    let mut own_line = false;
    while let Some(node) = reader.node(&nodes, &mut own_line, true) {
        nodes.push(node);
    }
    nodes
}

struct Reader<'s, 't> {
    text: &'s str,
    tokens: &'t [Token],
    at: usize,
    /// Between `~` and `weight`, where `[` behind `)` holds dimensions and is no index.
    tilde: bool,
}

impl<'s> Reader<'s, '_> {
    /// The next node; `None` at the end. `own_line` says whether a line break was met.
    fn node(&mut self, before: &[Node<'s>], own_line: &mut bool, outermost: bool) -> Option<Node<'s>> {
        let last = before.iter().rev().find(|node| !matches!(node, Node::Comment { .. }));
        loop {
            let token = *self.tokens.get(self.at)?;
            let text = token.text(self.text);
            self.at += 1;
            match token.kind {
                TokenKind::Newline => *own_line = true,
                TokenKind::Comment | TokenKind::Doc => {
                    let node = Node::Comment { text: text.trim_end(), own_line: *own_line };
                    *own_line = false;
                    return Some(node);
                }
                kind if kind.is_open() => {
                    *own_line = false;
                    return Some(Node::Group(self.group(token, last, outermost)));
                }
                kind => {
                    *own_line = false;
                    let mut kind = kind;
                    // A word behind a bracket is `weight`, which is a keyword there.
                    if kind == TokenKind::Word && matches!(last, Some(Node::Group(_))) {
                        kind = TokenKind::Keyword;
                    }
                    if outermost {
                        self.tilde = kind == TokenKind::Tilde || self.tilde && kind != TokenKind::Keyword;
                    }
                    let role = match last {
                        _ if !kind.is_operator() => Role::Plain,
                        Some(Node::Group(_)) => Role::Binary,
                        Some(Node::Token { kind, .. }) if is_operand(*kind) => Role::Binary,
                        _ => Role::Unary,
                    };
                    return Some(Node::Token { text, kind, role });
                }
            }
        }
    }

    fn group(&mut self, open: Token, last: Option<&Node<'s>>, outermost: bool) -> Group<'s> {
        let called = matches!(last, Some(Node::Token { kind: TokenKind::Word, .. }));
        let mut group = Group {
            open: open.text(self.text),
            close: "",
            kind: if open.kind == TokenKind::OpenParen && !called {
                GroupKind::Paren
            } else {
                GroupKind::List
            },
            apart: outermost
                && self.tilde
                && open.kind == TokenKind::OpenBracket
                && matches!(last, Some(Node::Group(g)) if g.open == "("),
            behind_open: None,
            items: Vec::new(),
            dangling: Vec::new(),
            width: 0,
            comment: false,
        };
        let mut item = Item::default();
        let mut own_line = false;
        let mut opened = true;
        loop {
            let kind = self.peek(&mut own_line);
            let Some(kind) = kind.filter(|kind| !kind.is_close()) else { break };
            if kind == TokenKind::Comma || kind == TokenKind::Less {
                self.at += 1;
                if kind == TokenKind::Less {
                    group.kind = GroupKind::Ascending;
                }
                let rest = item.settle();
                group.items.push(std::mem::take(&mut item));
                item.above = rest;
                own_line = false;
                opened = false;
                continue;
            }
            let Some(node) = self.node(&item.nodes, &mut own_line, false) else { break };
            match node {
                Node::Comment { text, own_line } if item.nodes.is_empty() => match group.items.last_mut() {
                    _ if own_line || !item.above.is_empty() => item.above.push(text),
                    None if opened && group.behind_open.is_none() => group.behind_open = Some(text),
                    Some(before) if before.behind.is_none() => before.behind = Some(text),
                    _ => item.above.push(text),
                },
                node => item.nodes.push(node),
            }
        }
        group.close = self.tokens.get(self.at).map_or("", |t| t.text(self.text));
        self.at += 1;
        let rest = item.settle();
        if item.nodes.is_empty() {
            group.dangling = item.above;
        } else {
            group.items.push(item);
        }
        group.dangling.extend(rest);
        group.measure();
        group
    }

    /// The kind of the next token that is no line break.
    fn peek(&mut self, own_line: &mut bool) -> Option<TokenKind> {
        while self.tokens.get(self.at)?.kind == TokenKind::Newline {
            *own_line = true;
            self.at += 1;
        }
        Some(self.tokens.get(self.at)?.kind)
    }
}

impl<'s> Item<'s> {
    /// Takes the comments off the end: the first stays behind the item if it was on its line, the others
    /// go to what follows.
    fn settle(&mut self) -> Vec<&'s str> {
        let mut rest = Vec::new();
        while let Some(Node::Comment { text, own_line }) = self.nodes.last() {
            rest.push((*text, *own_line));
            self.nodes.pop();
        }
        rest.reverse();
        if self.behind.is_none()
            && let Some(&(text, false)) = rest.first()
        {
            self.behind = Some(text);
            rest.remove(0);
        }
        rest.into_iter().map(|(text, _)| text).collect()
    }
}

fn has_comment(nodes: &[Node<'_>]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Comment { .. } => true,
        Node::Group(group) => group.has_comment(),
        Node::Token { .. } => false,
    })
}

/// Columns of nodes on one line, with the blank in front if `before` wants one.
fn width(nodes: &[Node<'_>], before: Option<&Node<'_>>) -> usize {
    let mut before = before;
    let mut width = 0;
    for node in nodes {
        width += usize::from(before.is_some_and(|before| spaced(before, node)));
        width += match node {
            Node::Group(group) => group.width(),
            node => node.text().chars().count(),
        };
        before = Some(node);
    }
    width
}

/// Whether a value may end with this token.
fn is_operand(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Word | TokenKind::All | TokenKind::Number | TokenKind::Text)
}

/// Whether a blank stands between two nodes.
fn spaced(before: &Node<'_>, node: &Node<'_>) -> bool {
    use TokenKind::*;
    match (before, node) {
        (Node::Token { role: Role::Unary, .. }, _) => false,
        (Node::Token { kind: Dot | Caret, .. }, _) | (_, Node::Token { kind: Dot | Caret | Colon, .. }) => {
            false
        }
        (Node::Token { kind: Word, .. } | Node::Group(_), Node::Group(group)) => group.apart,
        (Node::Token { kind: Number | Text | All, .. }, Node::Group(_)) => false,
        _ => true,
    }
}
