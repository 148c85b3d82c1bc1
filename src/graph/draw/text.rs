//! The graph for a terminal: nodes by plate, each with what it comes from.

use crate::graph::dag::{Dag, Node, NodeId, Role};
use crate::graph::plates::{Frame, frames};

/// One line a node, indented by plate.
///
/// `○` unknown, `●` observed, `■` given, `◇` computed, `·` constant.
pub fn text(dag: &Dag) -> String {
    let shown = |id: NodeId| !dag.node(id).trivial;
    let name_width = dag
        .nodes()
        .iter()
        .filter(|n| shown(n.id))
        .map(|n| 2 * n.plates.len() + n.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut out = format!("model {}\n", dag.model());
    frame(dag, &frames(dag, &shown), 1, name_width, &mut out);
    out.push_str("\n○ unknown  ● observed  ■ given  ◇ computed  · constant\n");
    out
}

fn frame(dag: &Dag, at: &Frame, depth: usize, name_width: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for id in &at.nodes {
        let node = dag.node(*id);
        let symbol = match node.role {
            Role::Hyper | Role::Latent | Role::Param => '○',
            Role::Observed => '●',
            Role::Data => '■',
            Role::Derived => '◇',
            Role::Constant => '·',
        };
        let width = name_width.saturating_sub(2 * (depth - 1)).max(node.name.chars().count());
        let pad = " ".repeat(width - node.name.chars().count());
        let line =
            format!("{indent}{symbol} {}{pad}  {:<8}  {}", node.name, node.role.name(), definition(node));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for inner in &at.frames {
        let label = inner.plate.map(|p| dag.plate(p).label()).unwrap_or_default();
        out.push_str(&format!("{indent}plate {label}\n"));
        frame(dag, inner, depth + 1, name_width, out);
    }
}

/// `~ Normal(mean = phi * w, precision = tau)`, `= [1, x]`, or the type.
fn definition(node: &Node) -> String {
    match (node.family, node.definition.as_str()) {
        (_, "") => node.ty.clone(),
        (Some(_), text) => format!("~ {text}"),
        (None, text) => format!("= {text}"),
    }
}
