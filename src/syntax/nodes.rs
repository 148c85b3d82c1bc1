//! A statement as a tree of brackets, with its comments, for the formatter.
//!
//! A comment belongs to the item it stands behind, or above; the rest stay where they are and end a line.

use crate::syntax::token::{Token, TokenKind};

/// A piece of a statement.
pub(crate) enum Node<'s> {
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
pub(crate) enum Role {
    Plain,
    Unary,
    Binary,
}

pub(crate) struct Group<'s> {
    pub open: &'s str,
    pub close: &'s str,
    pub kind: GroupKind,
    /// Whether it stands apart from what it follows: `Flat() [levels(s)]`.
    pub apart: bool,
    pub behind_open: Option<&'s str>,
    pub items: Vec<Item<'s>>,
    /// Comments above the closing bracket.
    pub dangling: Vec<&'s str>,
    pub width: usize,
    pub comment: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum GroupKind {
    /// Items between commas; a last comma is allowed.
    List,
    /// Levels between `<`.
    Ascending,
    /// `(a + b)`
    Paren,
}

#[derive(Default)]
pub(crate) struct Item<'s> {
    pub above: Vec<&'s str>,
    pub nodes: Vec<Node<'s>>,
    pub behind: Option<&'s str>,
}

impl<'s> Node<'s> {
    pub fn is(&self, wanted: TokenKind) -> bool {
        matches!(self, Node::Token { kind, .. } if *kind == wanted)
    }

    pub fn text(&self) -> &'s str {
        match self {
            Node::Token { text, .. } | Node::Comment { text, .. } => text,
            Node::Group(group) => group.open,
        }
    }

    /// How loosely a binary operator binds; the line breaks after the loosest. Never after `^`.
    pub fn level(&self) -> Option<u8> {
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
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether there is a comment inside.
    pub fn has_comment(&self) -> bool {
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
pub(crate) fn nodes<'s>(text: &'s str, tokens: &[Token]) -> Vec<Node<'s>> {
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

pub(crate) fn has_comment(nodes: &[Node<'_>]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Comment { .. } => true,
        Node::Group(group) => group.has_comment(),
        Node::Token { .. } => false,
    })
}

/// Columns of nodes on one line, with the blank in front if `before` wants one.
pub(crate) fn width(nodes: &[Node<'_>], before: Option<&Node<'_>>) -> usize {
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
pub(crate) fn spaced(before: &Node<'_>, node: &Node<'_>) -> bool {
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
