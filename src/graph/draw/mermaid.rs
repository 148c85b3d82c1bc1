//! Mermaid: plates are subgraphs; renders in Markdown on most forges.

use super::escape::mermaid as quote;
use super::picture::{Group, Look, Picture, picture};
use crate::graph::dag::Dag;

/// A `flowchart`.
pub fn mermaid(dag: &Dag) -> String {
    let picture = picture(dag);
    let mut out = String::from("flowchart TD\n");
    let mut plates = 0;
    group(&picture, &picture.root, 1, &mut plates, &mut out);
    for (from, to) in &picture.edges {
        out.push_str(&format!("  n{from} --> n{to}\n"));
    }
    for (look, class, style) in [
        (Look::Observed, "observed", "fill:#cccccc,stroke:#333,color:#000"),
        (Look::Given, "given", "fill:#ececec,stroke:#333,color:#000"),
        (Look::Param, "param", "stroke-dasharray:4 3"),
        (Look::Dot, "dot", "fill:none,stroke:none"),
    ] {
        let members: Vec<String> = (0..picture.items.len())
            .filter(|i| picture.items[*i].look == look)
            .map(|i| format!("n{i}"))
            .collect();
        if !members.is_empty() {
            out.push_str(&format!("  classDef {class} {style}\n  class {} {class}\n", members.join(",")));
        }
    }
    out
}

fn group(picture: &Picture, at: &Group, depth: usize, plates: &mut usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for id in &at.items {
        let item = &picture.items[*id];
        let (open, close) = match item.look {
            Look::Unknown | Look::Param | Look::Observed => ("((", "))"),
            Look::Derived => ("(((", ")))"),
            Look::Given => ("[", "]"),
            Look::Dot => ("(", ")"),
        };
        let label = if item.look == Look::Dot { format!("• {}", item.label) } else { item.label.clone() };
        out.push_str(&format!("{indent}n{id}{open}{}{close}\n", quote(&label)));
    }
    for inner in &at.groups {
        out.push_str(&format!("{indent}subgraph plate{plates}[{}]\n", quote(&inner.label)));
        *plates += 1;
        group(picture, inner, depth + 1, plates, out);
        out.push_str(&format!("{indent}end\n"));
    }
}
