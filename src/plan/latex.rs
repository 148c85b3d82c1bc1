//! The plan as LaTeX, for a handout.

use super::ir::Plan;
use super::steps::APART;
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
            escape_text(&super::text::term_scale_text(model, term))
        ));
    }
    out.push_str("\\end{itemize}\n\\begin{enumerate}\n");
    for step in &plan.steps {
        out.push_str(&format!(
            "  \\item {}: \\( {} \\) \\hfill {{\\small cost {}; {}}}\n",
            escape_text(&step.does),
            step.latex,
            escape_text(&step.cost),
            escape_text(&step.source)
        ));
    }
    out.push_str("\\end{enumerate}\n");
    let (apart, sum): (Vec<&String>, Vec<&String>) =
        plan.objective_terms.iter().partition(|t| t.starts_with(APART));
    let terms: Vec<String> = sum.iter().map(|t| format!("  &{}", math(t))).collect();
    out.push_str(&format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", terms.join(" \\\\\n")));
    for term in apart {
        let formula = math(term.trim_start_matches(APART));
        out.push_str(&format!("\\textbf{{Apart}} the log hyperprior: \\( {formula} \\).\n"));
    }
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
        // names of nodes may hold dots: w.alpha
        let run = chars[i..].iter().take_while(|c| c.is_ascii_alphabetic() || **c == '.').count();
        if run > 1 && c != '.' {
            let word: String = chars[i..i + run].iter().collect();
            out.push_str(&match word.as_str() {
                "ln" => "\\ln".to_owned(),
                "alpha" | "beta" | "gamma" | "delta" | "lambda" | "mu" | "sigma" | "tau" => {
                    format!("\\{word}")
                }
                word => format!("\\mathrm{{{word}}}"),
            });
            i += run;
            continue;
        }
        i += 1;
        let next = chars.get(i).copied();
        match c {
            '_' => {
                let index: String = chars[i..].iter().take_while(|c| c.is_ascii_alphanumeric()).collect();
                i += index.chars().count();
                out.push_str(&format!("_{{{index}}}"));
            }
            'Σ' if next == Some(' ') || next == Some('_') && chars.get(i + 2) == Some(&' ') => {
                out.push_str("\\sum")
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
            ' ' => out.push_str("\\,"),
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
