//! The entry of a family, from its record.

use super::entry::{Argument, Entry, Kind};
use super::note::{self, Note};
use crate::dist::{Arg, ArgShape, FAMILIES, Family, Need, Support};

const NOTES: &str = include_str!("text/families.md");

/// Every family, in the order of the reference.
pub(super) fn entries() -> Vec<Entry> {
    let notes = note::sections(NOTES);
    FAMILIES.iter().map(|f| entry(f, note::find(&notes, f.name))).collect()
}

fn entry(family: &Family, note: Note) -> Entry {
    let mut text = abilities(family);
    for paragraph in [note.summary.as_str(), note.text.as_str()].iter().filter(|p| !p.is_empty()) {
        text += &format!("\n\n{paragraph}");
    }
    Entry {
        name: family.name.to_owned(),
        aliases: note.aliases,
        kind: Kind::Family,
        signature: format!("{}({})", family.name, signature(family).join(", ")),
        import: None,
        summary: sentence(family.summary),
        formula: family.formula.to_owned(),
        arguments: family.args.iter().map(|a| argument(family, a)).collect(),
        text,
        example: family.example.to_owned(),
        source: format!("{}.", family.source.trim_end_matches('.')),
        see: note.see,
    }
}

/// Its arguments, alternatives in one place: `mean`, `precision = | variance = | sd =`.
fn signature(family: &Family) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    let mut groups: Vec<&str> = Vec::new();
    for arg in family.args {
        match arg.need {
            Need::OneOf(group) if groups.contains(&group) => {
                if let Some(last) = shown.last_mut() {
                    last.push_str(&format!(" | {}", written(arg)));
                }
            }
            Need::OneOf(group) => {
                groups.push(group);
                shown.push(written(arg));
            }
            Need::Default(value) => shown.push(format!("{} = {value}", arg.name)),
            Need::Required => shown.push(written(arg)),
        }
    }
    shown
}

fn written(arg: &Arg) -> String {
    if arg.positional { arg.name.to_owned() } else { format!("{} =", arg.name) }
}

fn argument(family: &Family, arg: &Arg) -> Argument {
    let need = match arg.need {
        Need::Required => "required".to_owned(),
        Need::Default(value) => format!("default {value}"),
        Need::OneOf(group) => {
            let members = family.args.iter().filter(|a| matches!(a.need, Need::OneOf(g) if g == group));
            format!("one of {}", members.map(|a| a.name).collect::<Vec<_>>().join(", "))
        }
    };
    let values = match arg.shape {
        ArgShape::Node => arg.elem.name().to_owned(),
        ArgShape::PerLevel => format!("{}, one a level", arg.elem.name()),
        ArgShape::Cutpoints => format!("{}, one between any two levels", arg.elem.name()),
    };
    Argument { name: written(arg), values, need, meaning: arg.doc.to_owned() }
}

/// What a draw is, and which plans serve it, as data or as an unknown.
fn abilities(family: &Family) -> String {
    let draw = match family.support {
        Support::Elem(elem) => format!("`{}`", elem.name()),
        Support::Binary => "`bool`, or a `category` of two levels of which the second is success".to_owned(),
        Support::Levels => "`category`".to_owned(),
        Support::Ordered => "`ordered`".to_owned(),
    };
    let mut text = format!("A draw is {draw}.");
    if family.gaussian.is_some_and(|g| g.mean.is_some()) {
        text += " Gaussian given its scale: as data, every plan serves it.";
    }
    if family.precision_prior.is_some() {
        text += " A conjugate prior of a precision.";
    }
    if family.score.is_some() && family.log_concave && family.gaussian.is_none() {
        text += " As data, `laplace` expands it around the mode.";
    }
    if family.mixture.is_some() {
        text += " As data, `variational` takes it as a mixture of Gaussians over a scale of each row.";
    }
    if family.bound.is_some() {
        text += " As data, `variational` bounds it by a Gaussian.";
    }
    text
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let text: String = chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect());
    format!("{}.", text.trim_end_matches('.'))
}
