//! `sbl graph`: the graph drawn, and questions to it.

use sbl::graph::query::{d_separated, markov_blanket, path_text};
use sbl::graph::{Dag, Format, draw};
use serde_json::json;

use super::args::{Graph, GraphFormat};
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::{compile, load};

/// Draws the graph, or answers `--blanket` or `--dsep`.
pub fn run(args: &Graph, screen: &Screen) -> Result<Exit, Failure> {
    let model = compile::model(&args.program, screen)?;
    let dag = model.dag();
    let text = match (&args.blanket, args.dsep.as_deref()) {
        (Some(node), _) => blanket(dag, node, args.format)?,
        (None, Some([a, b])) => separation(dag, a, b, &args.given, args.format)?,
        _ => draw(dag, format(args.format)),
    };
    match &args.output {
        Some(path) => load::write_or_print(path, text.as_bytes(), screen)?,
        None => screen.result(text.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// The Markov blanket of a node as text.
pub fn blanket(dag: &Dag, node: &str, format: GraphFormat) -> Result<String, Failure> {
    let blanket = markov_blanket(dag, dag.find(node)?);
    let names = |ids: &[sbl::check::typed::NodeId]| -> Vec<String> {
        ids.iter().map(|id| dag.node(*id).name.clone()).collect()
    };
    let all = names(&blanket.all());
    let parts = [
        ("parents", names(&blanket.parents)),
        ("children", names(&blanket.children)),
        ("coparents", names(&blanket.coparents)),
        ("through", names(&blanket.through)),
    ];
    if format == GraphFormat::Json {
        let mut object = serde_json::Map::new();
        object.insert("node".to_owned(), json!(node));
        object.insert("blanket".to_owned(), json!(all));
        object.extend(parts.iter().map(|(what, names)| ((*what).to_owned(), json!(names))));
        return Ok(format!("{:#}\n", serde_json::Value::Object(object)));
    }
    let mut text = format!("blanket of {node}: {}\n", listed(&all));
    for (what, names) in parts.iter().filter(|(_, names)| !names.is_empty()) {
        text.push_str(&format!("  {what}: {}\n", names.join(", ")));
    }
    Ok(text)
}

/// Whether two nodes are independent, as text.
pub fn separation(
    dag: &Dag,
    a: &str,
    b: &str,
    given: &[String],
    format: GraphFormat,
) -> Result<String, Failure> {
    let known = given.iter().map(|name| dag.find(name)).collect::<Result<Vec<_>, _>>()?;
    let answer = d_separated(dag, &[dag.find(a)?], &[dag.find(b)?], &known);
    let path: Vec<&str> = answer.path.iter().map(|id| dag.node(*id).name.as_str()).collect();
    if format == GraphFormat::Json {
        let value = json!({
            "a": a, "b": b, "given": given, "separated": answer.separated, "path": path, "why": answer.why,
        });
        return Ok(format!("{value:#}\n"));
    }
    let condition = if given.is_empty() { String::new() } else { format!(" given {}", given.join(", ")) };
    let verdict = if answer.separated { "are independent" } else { "can depend on each other" };
    let mut text = format!("{a} and {b} {verdict}{condition}\n");
    if !answer.path.is_empty() {
        let what = if answer.separated { "blocked path" } else { "path" };
        text.push_str(&format!("  {what}: {}\n", path_text(dag, &answer.path)));
    }
    for why in &answer.why {
        text.push_str(&format!("  {why}\n"));
    }
    Ok(text)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn format(format: GraphFormat) -> Format {
    match format {
        GraphFormat::Text => Format::Text,
        GraphFormat::Dot => Format::Dot,
        GraphFormat::Mermaid => Format::Mermaid,
        GraphFormat::Svg => Format::Svg,
        GraphFormat::Tikz => Format::Tikz,
        GraphFormat::Json => Format::Json,
    }
}
