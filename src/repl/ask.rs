//! Commands about the graph and the plan.

use std::path::Path;

use sbl::graph::{Format, draw};
use sbl::plan;

use super::command::{no_arguments, one, usage, words};
use super::engine::Engine;
use super::files::verify_file;
use super::reply::Reply;
use crate::cli::args::GraphFormat;
use crate::cli::binding;
use crate::cli::failure::Failure;
use crate::cli::{graph, load};

impl Engine {
    /// `:graph [FORMAT|FILE]`
    pub(super) fn graph(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let dag = self.model()?.dag();
        let words = words(arguments);
        if words.is_empty() {
            reply.result(draw(dag, Format::Text));
            return Ok(());
        }
        let word = one("graph", &words)?;
        if let Some(format) = Format::of(word) {
            reply.result(draw(dag, format));
            return Ok(());
        }
        let path = Path::new(word);
        verify_file(path)?;
        let Some(format) = of_file(path) else {
            let what = format!(
                "found `{word}`, expected a format, or a file that ends in .svg, .dot, .mmd, .tex, .json or .txt"
            );
            return Err(usage("graph", &what));
        };
        load::write(path, draw(dag, format).as_bytes())?;
        reply.note(format!("written: {word}"));
        Ok(())
    }

    /// `:blanket NODE`
    pub(super) fn blanket(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let words = words(arguments);
        let node = one("blanket", &words)?;
        reply.result(graph::blanket(self.model()?.dag(), node, GraphFormat::Text)?);
        Ok(())
    }

    /// `:dsep A B [given C…]`
    pub(super) fn separation(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let spaced = arguments.replace([',', '|'], " ");
        let words: Vec<String> = words(&spaced).into_iter().filter(|w| w != "and").collect();
        let (ends, given) = match words.iter().position(|w| w == "given" || w == "--given") {
            Some(at) => (&words[..at], &words[at + 1..]),
            None => (&words[..words.len().min(2)], &words[words.len().min(2)..]),
        };
        let [a, b] = ends else {
            return Err(usage("dsep", &format!("found {} nodes, expected two", ends.len())));
        };
        reply.result(graph::separation(self.model()?.dag(), a, b, given, GraphFormat::Text)?);
        Ok(())
    }

    /// `:plan`
    pub(super) fn plan(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        no_arguments("plan", arguments)?;
        let model = self.model()?;
        // data decide about the schedule; data that the model cannot take yet decide nothing
        let bound = self.state.data.as_ref().and_then(|data| binding::bind(model, data).ok());
        let plan = match bound {
            Some(bound) => model.plan_for(&bound.value)?,
            None => model.plan()?.clone(),
        };
        reply.result(plan::text(&plan, model.typed()));
        Ok(())
    }
}

fn of_file(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    Some(match extension.as_str() {
        "svg" => Format::Svg,
        "dot" | "gv" => Format::Dot,
        "mmd" | "mermaid" => Format::Mermaid,
        "tex" => Format::Tikz,
        "json" => Format::Json,
        "txt" => Format::Text,
        _ => return None,
    })
}
