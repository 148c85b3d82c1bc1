//! The graph as data.

use serde_json::{Value, json};

use crate::graph::dag::Dag;

/// `{"sbl", "schema": 1, "model", "nodes": […], "edges": […], "plates": […], "fixed": […]}`; plates are
/// named by their index letter.
pub fn json(dag: &Dag) -> String {
    let mut text = serde_json::to_string_pretty(&value(dag)).unwrap_or_default();
    text.push('\n');
    text
}

/// The same as a value.
pub fn value(dag: &Dag) -> Value {
    let name = |id| dag.node(id).name.as_str();
    let nodes: Vec<Value> = dag
        .nodes()
        .iter()
        .map(|node| {
            let mut value = serde_json::to_value(node).unwrap_or_default();
            let plates: Vec<&str> = node.plates.iter().map(|p| dag.plate(*p).index.as_str()).collect();
            value["plates"] = json!(plates);
            value
        })
        .collect();
    let edges: Vec<Value> = dag
        .edges()
        .iter()
        .map(|edge| json!({"from": name(edge.from), "to": name(edge.to), "via": edge.via}))
        .collect();
    let fixed: Vec<Value> = dag
        .fixed()
        .iter()
        .map(|f| json!({"node": name(f.node), "argument": f.arg, "value": f.text, "shown": f.shown}))
        .collect();
    json!({
        "sbl": env!("CARGO_PKG_VERSION"),
        "schema": 1,
        "model": dag.model(),
        "nodes": nodes,
        "edges": edges,
        "plates": dag.plates(),
        "fixed": fixed,
    })
}
