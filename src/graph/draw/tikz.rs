//! LaTeX with the tikz library `bayesnet` (Dietz 2010), placed by our own layout.

use super::escape::latex;
use super::layout::layout;
use super::picture::{Look, picture};
use crate::graph::dag::Dag;

/// Pixels of the layout in a centimetre.
const SCALE: f64 = 42.0;

/// A `tikzpicture`; needs `\usetikzlibrary{bayesnet}`.
pub fn tikz(dag: &Dag) -> String {
    let picture = picture(dag);
    let layout = layout(&picture);
    let mut out = String::from("% \\usepackage{tikz} \\usetikzlibrary{bayesnet}\n\\begin{tikzpicture}\n");
    for (i, (item, rect)) in picture.items.iter().zip(&layout.items).enumerate() {
        let (x, y) = rect.centre();
        let style = match item.look {
            Look::Unknown => "latent",
            Look::Param => "latent, dashed",
            Look::Observed => "obs",
            Look::Given => "obs, rectangle, fill=gray!12",
            Look::Derived => "latent, double",
            Look::Dot => "const",
        };
        let label = if item.look == Look::Dot {
            format!("{}\\\\$\\bullet$", latex(&item.label))
        } else {
            latex(&item.label)
        };
        let align = if item.look == Look::Dot { ", align=center" } else { "" };
        out.push_str(&format!(
            "  \\node[{style}{align}] (n{i}) at ({:.2}, {:.2}) {{{label}}};\n",
            x / SCALE,
            -y / SCALE
        ));
    }
    for (from, to) in &picture.edges {
        out.push_str(&format!("  \\edge {{n{from}}} {{n{to}}};\n"));
    }
    for (i, plate) in layout.plates.iter().enumerate() {
        let mut inside: String = plate.items.iter().map(|item| format!("(n{item})")).collect();
        for inner in &plate.inner {
            inside.push_str(&format!("(p{inner}.north west)(p{inner}.south east)"));
        }
        out.push_str(&format!("  \\plate {{p{i}}} {{{inside}}} {{{}}};\n", latex(&plate.label)));
    }
    out.push_str("\\end{tikzpicture}\n");
    out
}
