//! The program of a session as text: a statement extends it, or replaces what it defines anew.

use std::collections::BTreeSet;
use std::ops::Range;

use sbl::source::{FileId, SourceMap, Span};
use sbl::syntax::ast::{Item, Module, Statement, StatementKind, UseTarget};
use sbl::syntax::{format, parse};

use crate::cli::failure::{Exit, Failure};

/// The program of a session.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Its text, in the one layout once it was edited.
    pub text: String,
    /// Its name in messages; imports are relative to it.
    pub file: String,
    /// Which of several models is meant.
    pub current: Option<String>,
}

impl Default for Program {
    fn default() -> Self {
        Program { text: String::new(), file: "session".to_owned(), current: None }
    }
}

/// A program after an entry, and what the entry replaced.
#[derive(Clone, PartialEq, Debug)]
pub struct Edited {
    /// The program.
    pub program: Program,
    /// One line each: what is no longer there.
    pub replaced: Vec<String>,
    /// The names of what was stated.
    pub stated: Vec<String>,
}

/// What a statement says of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    /// `data`
    Data,
    /// `let`, `param`
    Value,
    /// `~`
    Draw,
}

/// A change of the text.
struct Change {
    at: Range<usize>,
    by: String,
}

impl Program {
    /// Whether there is anything to compile.
    pub fn has_statements(&self) -> bool {
        self.module()
            .is_some_and(|m| m.items.iter().any(|i| matches!(i, Item::Statement(_) | Item::Model(_))))
    }

    /// The names that its statements define.
    pub fn names(&self) -> BTreeSet<String> {
        let Some(module) = self.module() else { return BTreeSet::new() };
        let body = body(&module, self.current.as_deref());
        body.map(|b| b.statements.into_iter().flat_map(says).map(|(n, _)| n).collect()).unwrap_or_default()
    }

    /// The names of its models.
    pub fn models(&self) -> Vec<String> {
        let name = |item: &Item| match item {
            Item::Model(m) => Some(m.name.node.clone()),
            _ => None,
        };
        self.module().map(|m| m.items.iter().filter_map(name).collect()).unwrap_or_default()
    }

    fn module(&self) -> Option<Module> {
        parse(FileId(0), &self.text).ok().map(|w| w.value)
    }

    /// The program with an entry: one or more statements or declarations.
    ///
    /// # Errors
    /// The entry has a syntax error.
    pub fn with(&self, entry: &str) -> Result<Edited, Failure> {
        let mut sources = SourceMap::new();
        let file = sources.add("input", entry);
        let parsed = match parse(file, sources.text(file)) {
            Ok(parsed) => parsed.value,
            Err(diagnostics) => return Err(Failure { exit: Exit::Wrong, diagnostics, sources }),
        };
        let mut edited = Edited { program: self.clone(), replaced: Vec::new(), stated: Vec::new() };
        for item in &parsed.items {
            edited.take(item, &written(sources.text(file), item))?;
        }
        Ok(edited)
    }
}

impl Edited {
    /// Takes in one item, whose text is `text`.
    fn take(&mut self, item: &Item, text: &str) -> Result<(), Failure> {
        self.program.text = format(&self.program.text)?;
        let module = parse(FileId(0), &self.program.text)?.value;
        let changes = match item {
            Item::Use(_) | Item::Fn(_) | Item::Prior(_) => self.declare(&module, item, text),
            Item::Model(model) => self.model(&module, &model.name.node, text),
            Item::Statement(statement) => self.state(&module, statement, text),
        };
        apply(&mut self.program.text, changes);
        self.program.text = format(&self.program.text)?;
        Ok(())
    }

    /// `use`, `fn`, `prior`: before the statements.
    fn declare(&mut self, module: &Module, item: &Item, text: &str) -> Vec<Change> {
        self.stated.extend(name_of(item));
        for old in &module.items {
            let same = match (item, old) {
                (Item::Use(new), Item::Use(old)) => same_target(&new.target, &old.target),
                (Item::Fn(new), Item::Fn(old)) => {
                    let names = |f: &sbl::syntax::ast::FnDef| -> Vec<String> {
                        f.params.iter().map(|p| p.name.node.clone()).collect()
                    };
                    // functions of one name are told apart by the names of their parameters
                    new.name.node == old.name.node && names(new) == names(old)
                }
                (Item::Prior(new), Item::Prior(old)) => new.name.node == old.name.node,
                _ => false,
            };
            if same {
                return vec![self.replace(span_of(old), text)];
            }
        }
        let last =
            module.items.iter().rev().find(|i| matches!(i, Item::Use(_) | Item::Fn(_) | Item::Prior(_)));
        let at = match last {
            Some(item) => line_end(&self.program.text, span_of(item).end as usize),
            None => 0,
        };
        vec![Change { at: at..at, by: format!("\n{text}\n") }]
    }

    /// `model name { … }` takes the place of loose statements, or of the model of that name.
    fn model(&mut self, module: &Module, name: &str, text: &str) -> Vec<Change> {
        self.program.current = Some(name.to_owned());
        self.stated.push(name.to_owned());
        let mut changes: Vec<Change> = Vec::new();
        for old in &module.items {
            match old {
                Item::Statement(s) => changes.push(self.remove(s)),
                Item::Model(m) if m.name.node == name => {
                    self.replaced.push(format!("model {name}"));
                    return vec![Change { at: range(m.span), by: text.to_owned() }];
                }
                _ => {}
            }
        }
        let end = self.program.text.len();
        changes.push(Change { at: end..end, by: format!("\n{text}\n") });
        changes
    }

    /// A statement of the current model.
    fn state(&mut self, module: &Module, statement: &Statement, text: &str) -> Vec<Change> {
        let new = says(statement);
        self.stated.extend(new.iter().map(|(name, _)| name.clone()));
        let Some(body) = body(module, self.program.current.as_deref()) else {
            let end = self.program.text.len();
            return vec![Change { at: end..end, by: format!("\n{text}\n") }];
        };
        let is_infer = matches!(statement.kind, StatementKind::Infer(_));
        let mut changes: Vec<Change> = Vec::new();
        let mut placed = false;
        for old in &body.statements {
            if is_infer && matches!(old.kind, StatementKind::Infer(_)) {
                changes.push(self.replace(old.span, text));
                placed = true;
            }
            for gone in clashing(old, &new) {
                if std::ptr::eq(gone, *old) && !placed {
                    changes.push(self.replace(gone.span, text));
                    placed = true;
                } else {
                    changes.push(self.remove(gone));
                }
            }
        }
        if !placed {
            // the brace of a model stands on a line of its own
            let inside = self.program.text[..body.end].ends_with('\n');
            let end = line_end(&self.program.text, body.end);
            let by = if inside { format!("{text}\n") } else { format!("\n{text}\n") };
            changes.push(Change { at: end..end, by });
        }
        changes
    }

    /// New text in place of old; a comment behind the old goes with it.
    fn replace(&mut self, span: Span, by: &str) -> Change {
        let at = range(span);
        let end = line_end(&self.program.text, at.end);
        let old = self.program.text.get(at.clone()).unwrap_or_default();
        if old != by {
            self.replaced.push(one_line(old));
        }
        Change { at: at.start..end, by: by.to_owned() }
    }

    fn remove(&mut self, statement: &Statement) -> Change {
        let at = range(statement.span);
        self.replaced.push(one_line(self.program.text.get(at.clone()).unwrap_or_default()));
        let doc_lines = statement.doc.as_ref().map_or(0, |d| d.lines().count().max(1));
        let mut start = at.start;
        for _ in 0..=doc_lines {
            start = self.program.text[..start].trim_end_matches([' ', '\t']).trim_end_matches('\n').len();
            let line = self.program.text[..start].rfind('\n').map_or(0, |i| i + 1);
            if !self.program.text[line..start].trim_start().starts_with("##") {
                break;
            }
            start = line;
        }
        Change { at: start..line_end(&self.program.text, at.end), by: String::new() }
    }
}

/// Where the statements of a model stand.
struct Body<'m> {
    statements: Vec<&'m Statement>,
    /// Where another one goes.
    end: usize,
}

/// The statements of the model that is meant, or the loose ones; `None` if there are none yet.
fn body<'m>(module: &'m Module, current: Option<&str>) -> Option<Body<'m>> {
    let models: Vec<_> =
        module.items.iter().filter_map(|i| if let Item::Model(m) = i { Some(m) } else { None }).collect();
    let wanted = models.iter().find(|m| Some(m.name.node.as_str()) == current).or(models.first());
    if let Some(model) = wanted {
        let end = (model.span.end as usize).saturating_sub(1);
        return Some(Body { statements: model.body.iter().collect(), end });
    }
    let loose: Vec<&Statement> =
        module.items.iter().filter_map(|i| if let Item::Statement(s) = i { Some(s) } else { None }).collect();
    let end = loose.last()?.span.end as usize;
    Some(Body { statements: loose, end })
}

/// What a statement says of which names.
fn says(statement: &Statement) -> Vec<(String, Says)> {
    match &statement.kind {
        StatementKind::Data { name, .. } => vec![(name.node.clone(), Says::Data)],
        StatementKind::Let(l) => vec![(l.name.node.clone(), Says::Value)],
        StatementKind::Param { name, .. } => vec![(name.node.clone(), Says::Value)],
        StatementKind::Tilde(t) => vec![(t.name.node.clone(), Says::Draw)],
        StatementKind::Plate { body, .. } => body.iter().flat_map(says).collect(),
        StatementKind::Infer(_) => Vec::new(),
    }
}

/// The statements, inside plates too, that cannot stand beside new ones. `data t` and `t ~ …` can.
fn clashing<'m>(old: &'m Statement, new: &[(String, Says)]) -> Vec<&'m Statement> {
    let clash = |(name, old): &(String, Says)| {
        new.iter().any(|(n, new)| {
            n == name && !matches!((old, new), (Says::Data, Says::Draw) | (Says::Draw, Says::Data))
        })
    };
    match &old.kind {
        StatementKind::Plate { body, .. } => {
            let all: Vec<(String, Says)> = says(old);
            if !all.is_empty() && all.iter().all(clash) {
                return vec![old];
            }
            body.iter().flat_map(|s| clashing(s, new)).collect()
        }
        _ if says(old).iter().any(clash) => vec![old],
        _ => Vec::new(),
    }
}

fn same_target(a: &UseTarget, b: &UseTarget) -> bool {
    let names =
        |path: &[sbl::syntax::ast::Ident]| -> Vec<String> { path.iter().map(|i| i.node.clone()).collect() };
    match (a, b) {
        (UseTarget::Path(a), UseTarget::Path(b)) => names(a) == names(b),
        (UseTarget::Names(a, x), UseTarget::Names(b, y)) => names(a) == names(b) && names(x) == names(y),
        (UseTarget::File(a), UseTarget::File(b)) => a.node == b.node,
        _ => false,
    }
}

/// The text of an item with its documentation and the comment behind it.
fn written(text: &str, item: &Item) -> String {
    let span = range(span_of(item));
    let doc = match item {
        Item::Fn(f) => f.doc.as_deref(),
        Item::Prior(p) => p.doc.as_deref(),
        Item::Model(m) => m.doc.as_deref(),
        Item::Statement(s) => s.doc.as_deref(),
        Item::Use(_) => None,
    };
    let doc: String = doc.unwrap_or_default().lines().map(|l| format!("## {l}\n")).collect();
    let end = line_end(text, span.end);
    format!("{doc}{}", text.get(span.start..end).unwrap_or_default())
}

fn name_of(item: &Item) -> Option<String> {
    match item {
        Item::Fn(f) => Some(f.name.node.clone()),
        Item::Prior(p) => Some(p.name.node.clone()),
        Item::Model(m) => Some(m.name.node.clone()),
        Item::Use(_) | Item::Statement(_) => None,
    }
}

fn span_of(item: &Item) -> Span {
    match item {
        Item::Use(i) => i.span,
        Item::Fn(i) => i.span,
        Item::Prior(i) => i.span,
        Item::Model(i) => i.span,
        Item::Statement(i) => i.span,
    }
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Behind the comment that follows on the same line, if there is nothing else.
fn line_end(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    if line.trim_start().starts_with('#') { from + line.trim_end().len() } else { from }
}

fn one_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { format!("{first} …") } else { first }
}

/// Makes changes that do not overlap.
fn apply(text: &mut String, mut changes: Vec<Change>) {
    changes.sort_by_key(|c| std::cmp::Reverse(c.at.start));
    for change in changes {
        if text.is_char_boundary(change.at.start) && text.is_char_boundary(change.at.end) {
            text.replace_range(change.at, &change.by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        Program { text: text.to_owned(), ..Program::default() }
    }

    fn with(program: &Program, entry: &str) -> Edited {
        program.with(entry).unwrap()
    }

    #[test]
    fn statements_extend_the_program() {
        let mut p = Program::default();
        assert!(!p.has_statements());
        for entry in ["data x: real[N]  # inputs", "use std.priors.ard", "let a = 2*x", "use std.kernels.rbf"]
        {
            p = with(&p, entry).program;
        }
        assert_eq!(
            p.text,
            "use std.priors.ard\nuse std.kernels.rbf\n\ndata x: real[N]  # inputs\nlet a = 2 * x\n"
        );
        assert_eq!(p.names().into_iter().collect::<Vec<_>>(), ["a", "x"]);
    }

    #[test]
    fn a_name_stated_anew_replaces_the_old_statement() {
        let p = program("data t: real[N]\n\nlet a = 1  # one\nt ~ Normal(a, sd = 1)\n");
        let edited = with(&p, "let a = 2");
        assert_eq!(edited.program.text, "data t: real[N]\n\nlet a = 2\nt ~ Normal(a, sd = 1)\n");
        assert_eq!(edited.replaced, ["let a = 1"]);
        // data and their distribution stand side by side
        let edited = with(&p, "t ~ Normal(a, sd = 2)");
        assert_eq!(edited.replaced, ["t ~ Normal(a, sd = 1)"]);
        assert!(edited.program.text.contains("data t: real[N]"));
        // a value is neither
        let edited = with(&p, "let t = 3");
        assert_eq!(edited.replaced.len(), 2);
        // the same again changes nothing
        assert!(with(&p, "let a = 1").replaced.is_empty());
    }

    #[test]
    fn models_are_edited_inside() {
        let p = program("use std.priors.ard\nmodel m {\n    data x: real[N]\n    infer evidence\n}\n");
        let edited = with(&p, "let a = x");
        assert!(
            edited.program.text.contains("    infer evidence\n    let a = x\n}\n"),
            "{}",
            edited.program.text
        );
        let edited = with(&edited.program, "infer variational");
        assert_eq!(edited.replaced, ["infer evidence"]);
        let other = with(&edited.program, "model other { data y: real[N] }");
        assert_eq!(other.program.models(), ["m", "other"]);
        assert_eq!(other.program.current.as_deref(), Some("other"));
        assert_eq!(other.program.names().into_iter().collect::<Vec<_>>(), ["y"]);
    }

    #[test]
    fn a_model_takes_the_place_of_loose_statements() {
        let edited = with(&program("## inputs\ndata x: real[N]\nlet a = 1\n"), "model m { data y: real[N] }");
        assert_eq!(edited.program.text, "model m {\n    data y: real[N]\n}\n");
        assert_eq!(edited.replaced, ["data x: real[N]", "let a = 1"]);
    }

    #[test]
    fn statements_inside_plates_are_replaced() {
        let text = "plate n in N {\n    a[n] ~ Normal(0, sd = 1)\n    b[n] ~ Normal(0, sd = 1)\n}\n";
        let edited = with(&program(text), "let a = 2");
        assert_eq!(edited.program.text, "plate n in N {\n    b[n] ~ Normal(0, sd = 1)\n}\nlet a = 2\n");
        let edited = with(&edited.program, "b ~ Normal(0, sd = 2) [N]");
        assert_eq!(edited.program.text, "b ~ Normal(0, sd = 2) [N]\nlet a = 2\n");
    }

    #[test]
    fn functions_are_told_apart_by_their_parameters() {
        let p = program("fn f(a: real) -> real = a\n");
        let p = with(&p, "fn f(b: real) -> real = b").program;
        let edited = with(&p, "fn f(a: real) -> real = 2*a");
        assert_eq!(edited.replaced, ["fn f(a: real) -> real = a"]);
        assert_eq!(edited.program.text.matches("fn f").count(), 2);
    }

    #[test]
    fn a_syntax_error_points_into_the_entry() {
        let failure = program("let a = 1\n").with("let = 3").unwrap_err();
        assert_eq!(failure.sources.name(FileId(0)), "input");
        assert!(failure.diagnostics[0].code.starts_with("E01"));
    }
}
