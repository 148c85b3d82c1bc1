//! Drawings of the graph, each in its own file.
//!
//! A drawing shows what a textbook shows: unknowns as circles, observed nodes shaded, computed
//! nodes with a double outline, known arguments as solid dots, plates as boxes. Another name of a
//! node, and a constant that is no argument, are left out.

pub mod dot;
pub mod escape;
pub mod geometry;
pub mod json;
pub mod layout;
pub mod mermaid;
pub mod names;
pub mod picture;
pub mod svg;
pub mod text;
pub mod tikz;
mod tree;

use super::dag::Dag;

/// How a graph is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For a terminal.
    Text,
    /// Graphviz, plates as clusters.
    Dot,
    /// Mermaid flowchart, plates as subgraphs.
    Mermaid,
    /// A picture with its own layout.
    Svg,
    /// LaTeX, with the tikz library `bayesnet`.
    Tikz,
    /// Nodes, edges, plates as data.
    Json,
}

impl Format {
    /// Every format with its name.
    pub const ALL: &[(&str, Format)] = &[
        ("text", Format::Text),
        ("dot", Format::Dot),
        ("mermaid", Format::Mermaid),
        ("svg", Format::Svg),
        ("tikz", Format::Tikz),
        ("json", Format::Json),
    ];

    /// The format of that name.
    pub fn of(name: &str) -> Option<Format> {
        Format::ALL.iter().find(|(n, _)| *n == name).map(|(_, format)| *format)
    }
}

/// The graph in that format; ends with a newline.
pub fn draw(dag: &Dag, format: Format) -> String {
    match format {
        Format::Text => text::text(dag),
        Format::Dot => dot::dot(dag),
        Format::Mermaid => mermaid::mermaid(dag),
        Format::Svg => svg::svg(dag),
        Format::Tikz => tikz::tikz(dag),
        Format::Json => json::json(dag),
    }
}
