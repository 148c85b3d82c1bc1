//! The reference page of a family, from its record.

use super::{ArgShape, Elem, Family, Need, Support};

/// The page as Markdown: title, summary, formula, arguments, example, source.
pub fn page(family: &Family) -> String {
    let mut out =
        format!("## {}\n\n{}.\n\n    {}\n\n", family.name, sentence(family.summary), family.formula);
    out += &format!("A draw is {}.", draw(family.support));
    if family.gaussian.is_some_and(|g| g.mean.is_some()) {
        out += " Gaussian given its scale.";
    }
    if family.precision_prior.is_some() {
        out += " A conjugate prior of a precision.";
    }
    out += "\n\n";
    if family.args.is_empty() {
        out += "It takes no argument.\n";
    } else {
        out += "| argument | is | needed | meaning |\n|---|---|---|---|\n";
    }
    for arg in family.args {
        let need = match arg.need {
            Need::Required => "yes".to_owned(),
            Need::Default(value) => format!("no, {value}"),
            Need::OneOf(group) => format!("one of {}", alternatives(family, group)),
        };
        let name = if arg.positional { format!("`{}`", arg.name) } else { format!("`{} =`", arg.name) };
        out += &format!("| {name} | {} | {need} | {} |\n", values(arg.elem, arg.shape), arg.doc);
    }
    out += &format!("\n```sbl\n{}```\n\nSource: {}.\n", family.example, family.source);
    out
}

fn draw(support: Support) -> String {
    match support {
        Support::Elem(elem) => format!("`{}`", elem.name()),
        Support::Binary => "`bool`, or a `category` of two levels of which the second is success".to_owned(),
        Support::Levels => "`category`".to_owned(),
        Support::Ordered => "`ordered`".to_owned(),
    }
}

fn values(elem: Elem, shape: ArgShape) -> String {
    match shape {
        ArgShape::Node => format!("`{}`", elem.name()),
        ArgShape::PerLevel => format!("`{}`, one a level", elem.name()),
        ArgShape::Cutpoints => format!("`{}`, one between any two levels", elem.name()),
    }
}

fn alternatives(family: &Family, group: &str) -> String {
    let members = family.args.iter().filter(|a| matches!(a.need, Need::OneOf(g) if g == group));
    members.map(|a| format!("`{}`", a.name)).collect::<Vec<_>>().join(", ")
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
