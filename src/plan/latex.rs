//! The plan as LaTeX, for a handout.

use super::ir::Plan;
use super::text::{mean_text, scale_text, shape_text};
use crate::check::typed::Model;
use crate::graph::draw::escape::{greek, latex as escape};

/// A fragment for a document that loads `amsmath`: weights, likelihoods, steps.
pub fn latex(plan: &Plan, model: &Model) -> String {
    let mut out = format!(
        "\\paragraph{{Plan of {}: {}, {} schedule.}}\n",
        escape(&model.name),
        escape(&plan.method),
        escape(&plan.schedule)
    );
    for why in &plan.why {
        out.push_str(&format!("{}.\n", escape_text(why)));
    }
    out.push_str("\\begin{itemize}\n");
    for block in &plan.blocks {
        let (shape, mean) = (shape_text(model, &block.shape), mean_text(model, block.mean));
        let scale = scale_text(model, block.scale);
        out.push_str(&format!(
            "  \\item weights {} ({}): mean {}, {}\n",
            escape(&block.name),
            escape_text(&shape),
            escape_text(&mean),
            escape_text(&scale)
        ));
    }
    for term in &plan.terms {
        out.push_str(&format!(
            "  \\item likelihood {}: {}, mean {}, {}\n",
            escape(&term.name),
            escape(&term.family),
            escape_text(&mean_text(model, Some(term.mean))),
            escape_text(&scale_text(model, Some(term.scale)))
        ));
    }
    out.push_str("\\end{itemize}\n\\begin{enumerate}\n");
    for step in &plan.steps {
        out.push_str(&format!(
            "  \\item {}: \\( {} \\) \\hfill {{\\small cost \\( {} \\); {}}}\n",
            escape_text(&step.does),
            step.latex,
            math(&step.cost),
            escape_text(&step.source)
        ));
    }
    out.push_str("\\end{enumerate}\n\\[\n");
    let terms: Vec<String> = plan.objective_terms.iter().map(|t| math(t)).collect();
    out.push_str(&format!("  {}\n\\]\n", terms.join(" ")));
    for (title, text) in [("Prune", &plan.prune), ("Stop", &plan.stop)] {
        out.push_str(&format!("\\textbf{{{title}}} {}.\n", escape_text(text)));
    }
    out
}

/// A formula of the text form in LaTeX mathematics: Greek letters, indices, powers; words upright.
pub fn math(formula: &str) -> String {
    let chars: Vec<char> = formula.chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let run = chars[i..].iter().take_while(|c| c.is_ascii_alphabetic()).count();
        if run > 1 {
            let word: String = chars[i..i + run].iter().collect();
            out.push_str(&format!("\\mathrm{{{word}}}"));
            i += run;
            continue;
        }
        i += 1;
        match c {
            '_' => {
                let index: String = chars[i..].iter().take_while(|c| c.is_alphanumeric()).collect();
                i += index.chars().count();
                out.push_str(&format!("_{{{}}}", math(&index)));
            }
            '²' => out.push_str("^2"),
            '³' => out.push_str("^3"),
            '⁻' => out.push_str("^{-1}"),
            // the rest of ⁻¹
            '¹' => {}
            'ᵀ' => out.push_str("^\\top "),
            '−' => out.push('-'),
            '·' => out.push_str("\\cdot "),
            '×' => out.push_str("\\times "),
            '≤' => out.push_str("\\le "),
            '½' => out.push_str("\\tfrac12 "),
            '%' | '#' | '&' | '$' | '{' | '}' | '\\' | '~' => out.push_str(&escape(&c.to_string())),
            ' ' => out.push_str("\\ "),
            c => match greek(c) {
                Some(name) => out.push_str(&format!("\\{name} ")),
                None => out.push(c),
            },
        }
    }
    out
}

/// Text with mathematical signs in it.
fn escape_text(text: &str) -> String {
    let mut out = escape(text);
    for (sign, tex) in [
        ("²", "\\(^2\\)"),
        ("³", "\\(^3\\)"),
        ("≤", "\\(\\le\\)"),
        ("×", "\\(\\times\\)"),
        ("·", "\\(\\cdot\\)"),
        ("∝", "\\(\\propto\\)"),
        ("−", "\\(-\\)"),
        ("½", "\\(\\tfrac12\\)"),
        ("`", ""),
    ] {
        out = out.replace(sign, tex);
    }
    out
}
