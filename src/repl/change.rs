//! What is different between two states of a fit.

use sbl::session::result::{FitResult, NodeResult, Role};

use crate::cli::layout::{number, plural};

/// Entries of one node that are listed, those that changed most first.
const LISTED: usize = 5;
/// Names in a list of what went or came.
const NAMED: usize = 8;

/// One line of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The node.
    pub node: String,
    /// The node or entry, as shown.
    pub what: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
}

/// Everything that changed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Values, node by node in the order of the program.
    pub values: Vec<Change>,
    /// Which entries went and came, one line each.
    pub moves: Vec<Move>,
}

/// Entries of a node that went, or came.
#[derive(Clone, PartialEq, Debug)]
pub struct Move {
    /// The node.
    pub node: String,
    /// What is said of it.
    pub text: String,
}

/// An entry that is there in both states.
struct Entry {
    label: String,
    before: f64,
    after: f64,
    size: f64,
}

/// Everything that changed, node by node in the order of the program.
pub fn changes(before: &FitResult, after: &FitResult) -> Changes {
    let mut all = Changes::default();
    for (name, value) in &after.nodes {
        let (Some(new), Some(old)) = (node(value), before.nodes.get(name).and_then(node)) else { continue };
        if new.role == Role::Observed || new.shape != old.shape {
            continue;
        }
        of_node(name, &old, &new, &mut all);
    }
    all
}

fn node(value: &serde_json::Value) -> Option<NodeResult> {
    serde_json::from_value(value.clone()).ok()
}

fn of_node(name: &str, old: &NodeResult, new: &NodeResult, all: &mut Changes) {
    let change =
        |what: String, before: String, after: String| Change { node: name.to_owned(), what, before, after };
    if new.shape.is_empty() {
        if let (Some(a), Some(b)) = (values(old).first(), values(new).first())
            && a != b
        {
            all.values.push(change(name.to_owned(), number(*a, 5), number(*b, 5)));
        }
        return;
    }
    let (was, is) = (indices(old), indices(new));
    let at = |list: &[usize], i: usize| list.binary_search(&i).ok();
    let mut entries: Vec<Entry> = Vec::new();
    for (k, i) in is.iter().enumerate() {
        let (Some(p), Some(b)) = (at(&was, *i), values(new).get(k)) else { continue };
        let Some(a) = values(old).get(p) else { continue };
        if a != b {
            // weights in units of their deviation, precisions by their ratio
            let size = match (new.sd().get(k), a * b > 0.0) {
                (Some(sd), _) if *sd > 0.0 => (b - a).abs() / sd,
                (None, true) => (b / a).ln().abs(),
                _ => (b - a).abs(),
            };
            entries.push(Entry { label: label(name, new, k), before: *a, after: *b, size });
        }
    }
    // a stable sort: ties stay in order
    entries.sort_by(|a, b| b.size.total_cmp(&a.size));
    for e in entries.iter().take(LISTED) {
        all.values.push(change(format!("{name}  {}", e.label), number(e.before, 5), number(e.after, 5)));
    }
    if entries.len() > LISTED {
        let rest = plural(entries.len() - LISTED, "other");
        all.values.push(change(format!("{name}  {rest}"), "changed less".to_owned(), String::new()));
    }
    let gone: Vec<String> = was
        .iter()
        .enumerate()
        .filter(|(_, i)| at(&is, **i).is_none())
        .map(|(k, _)| label(name, old, k))
        .collect();
    let come: Vec<String> = is
        .iter()
        .enumerate()
        .filter(|(_, i)| at(&was, **i).is_none())
        .map(|(k, _)| label(name, new, k))
        .collect();
    let many = |labels: &[String]| {
        let named = labels.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        if labels.len() > NAMED { format!("{named}, …") } else { named }
    };
    if !gone.is_empty() {
        let text = format!("{name}: {} pruned, {} left: {}", gone.len(), is.len(), many(&gone));
        all.moves.push(Move { node: name.to_owned(), text });
    }
    if !come.is_empty() {
        let text = format!("{name}: {} added, {} now: {}", come.len(), is.len(), many(&come));
        all.moves.push(Move { node: name.to_owned(), text });
    }
}

fn values(node: &NodeResult) -> &[f64] {
    if node.mean.is_some() { node.mean() } else { node.value() }
}

/// The kept entries, ascending.
fn indices(node: &NodeResult) -> Vec<usize> {
    node.active.clone().unwrap_or_else(|| (0..values(node).len()).collect())
}

/// The name of a kept entry.
fn label(name: &str, node: &NodeResult, k: usize) -> String {
    crate::cli::summary::label(name, node, k)
}
