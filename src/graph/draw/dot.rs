//! Graphviz: plates are clusters (`dot -Tsvg`).

use super::escape::dot as quote;
use super::picture::{Group, Look, Picture, picture};
use crate::graph::dag::Dag;

/// A `digraph`.
pub fn dot(dag: &Dag) -> String {
    let picture = picture(dag);
    let mut out = format!("digraph {} {{\n", quote(dag.model()));
    out.push_str("  graph [rankdir=TB, fontname=\"sans-serif\", newrank=true]\n");
    out.push_str("  node [shape=ellipse, fontname=\"sans-serif\", margin=0.05]\n");
    let mut clusters = 0;
    group(&picture, &picture.root, 1, &mut clusters, &mut out);
    for (from, to) in &picture.edges {
        out.push_str(&format!("  n{from} -> n{to}\n"));
    }
    out.push_str("}\n");
    out
}

fn group(picture: &Picture, at: &Group, depth: usize, clusters: &mut usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for id in &at.items {
        let item = &picture.items[*id];
        let style = match item.look {
            Look::Unknown => "",
            Look::Param => ", style=dashed",
            Look::Observed => ", style=filled, fillcolor=gray80",
            Look::Given => ", shape=box, style=filled, fillcolor=gray92",
            Look::Derived => ", peripheries=2",
            Look::Dot => ", shape=point, width=0.08",
        };
        let label = if item.look == Look::Dot { "xlabel" } else { "label" };
        let (text, about) = (quote(&item.label), quote(&item.about));
        out.push_str(&format!("{indent}n{id} [{label}={text}, tooltip={about}{style}]\n"));
    }
    for inner in &at.groups {
        out.push_str(&format!("{indent}subgraph cluster_{clusters} {{\n"));
        *clusters += 1;
        out.push_str(&format!(
            "{indent}  label={}; labeljust=r; labelloc=b; style=rounded\n",
            quote(&inner.label)
        ));
        group(picture, inner, depth + 1, clusters, out);
        out.push_str(&format!("{indent}}}\n"));
    }
}
