//! The layout of one statement, and the lines of a program.
//!
//! A statement that fits is one line. Else a list of arguments is broken, one item a line, or a sum or
//! product after its operators, or an `=` before its right side. A comment inside a statement stays
//! behind the token it follows, and its list is broken.

use crate::syntax::nodes::{Group, GroupKind, Node, has_comment, nodes, spaced, width};
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
