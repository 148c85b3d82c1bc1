//! Options of `infer`: known names, right values, or an error that lists what there is.

use super::ir::{Blocks, Curvature, HyperScale, Options, Schedule, Updates};
use super::method::{METHODS, Method};
use crate::check::typed::{Infer, OptionValue};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::Span;

/// Options that every method understands.
pub const COMMON: &[&str] = &["max_iter", "tol", "restarts", "min_gain"];

/// What is known of an option.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OptionRecord {
    /// As written.
    pub name: &'static str,
    /// One line: what it means.
    pub summary: &'static str,
    /// Its value where none is given, as written.
    pub default: &'static str,
    /// Its values, if they are words; else it is a number.
    pub words: &'static [&'static str],
}

impl OptionRecord {
    /// Its values, for a reader.
    pub fn values(&self) -> String {
        match (self.words, self.name) {
            ([], "max_iter") => "a whole number from 1".to_owned(),
            ([], "restarts") => "a whole number from 0".to_owned(),
            ([], _) => "a number from 0".to_owned(),
            (words, _) => words.join(" | "),
        }
    }
}

const fn number_of(name: &'static str, default: &'static str, summary: &'static str) -> OptionRecord {
    OptionRecord { name, summary, default, words: &[] }
}

const fn word_of(name: &'static str, words: &'static [&'static str], summary: &'static str) -> OptionRecord {
    OptionRecord { name, summary, default: words[0], words }
}

/// Every option, in the order of the reference. The first word is the default.
pub const OPTIONS: &[OptionRecord] = &[
    number_of("max_iter", "10000", "iterations before giving up"),
    number_of("tol", "1e-6", "change of a log precision at which to stop"),
    number_of("min_gain", "0.2", "nats of evidence that a weight must earn"),
    number_of("restarts", "0", "further starts, of which the highest evidence is kept"),
    word_of("schedule", &["batch", "sequential"], "all weights at once, or one basis function at a time"),
    word_of("updates", &["mackay", "em"], "the fixed-point rule of precisions"),
    word_of("hyper_scale", &["log", "density"], "the scale on which a Gamma hyperprior is a density"),
    word_of("curvature", &["fixed", "exact"], "whether precisions see the curvature move with the mode"),
    word_of("blocks", &["joint", "separate"], "one factor of all weights, or one for each node"),
];

/// Checked options, and where a schedule was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// Valid by construction.
    pub options: Options,
    /// The place of the option `schedule`.
    pub schedule: Option<Span>,
}

/// Reads the options of a model for a method; `None`: the method is chosen later, and any option
/// of any method may be meant.
///
/// # Errors
/// E0602 unknown, E0603 a wrong value, E0604 of another method: all of them.
pub fn parse(infer: &Infer, method: Option<&Method>) -> Result<Parsed, Diagnostics> {
    let mut parsed = Parsed { options: Options::default(), schedule: None };
    let mut errors = Vec::new();
    for (name, value, span) in &infer.options {
        let found = known(name, *span, method).and_then(|()| set(&mut parsed, name, value, *span));
        errors.extend(found.err());
    }
    if errors.is_empty() { Ok(parsed) } else { Err(errors) }
}

/// The options that a method understands.
pub fn of(method: &Method) -> Vec<&'static str> {
    COMMON.iter().chain(method.options).copied().collect()
}

fn known(name: &str, span: Span, method: Option<&Method>) -> Result<(), Diagnostic> {
    let mut list: Vec<&str> = match method {
        Some(method) => of(method),
        None => COMMON.iter().chain(METHODS.iter().flat_map(|m| m.options)).copied().collect(),
    };
    list.sort_unstable();
    list.dedup();
    if list.contains(&name) {
        return Ok(());
    }
    let all = list.join(", ");
    let owners: Vec<&str> = METHODS.iter().filter(|m| m.options.contains(&name)).map(|m| m.name).collect();
    if let (Some(method), [first, ..]) = (method, owners.as_slice()) {
        let found = format!("option `{name}` applies to {}, not to {}", owners.join(" and "), method.name);
        return Err(Diagnostic::error("E0604", found)
            .at(span, format!("not an option of {}", method.name))
            .note(format!("options of {} are {all}", method.name))
            .help(format!("remove `{name}`, or write `infer {first}(…)`")));
    }
    let whose = method.map_or("`infer`".to_owned(), |m| format!("`{}`", m.name));
    let found = Diagnostic::error("E0602", format!("{whose} has no option `{name}`"))
        .at(span, "unknown option")
        .note(format!("known options are {all}"));
    Err(match closest(name, list.iter().copied()) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None => found.help("remove it"),
    })
}

fn set(parsed: &mut Parsed, name: &str, value: &OptionValue, span: Span) -> Result<(), Diagnostic> {
    let options = &mut parsed.options;
    match name {
        "max_iter" => options.max_iter = whole(name, value, span, 1)?,
        "restarts" => options.restarts = whole(name, value, span, 0)?,
        "tol" => options.tol = number(name, value, span)?,
        "min_gain" => options.min_gain = number(name, value, span)?,
        "updates" => {
            options.updates = if word(name, value, span)? == "em" { Updates::Em } else { Updates::MacKay };
        }
        "hyper_scale" => {
            let density = word(name, value, span)? == "density";
            options.hyper_scale = if density { HyperScale::Density } else { HyperScale::Log };
        }
        "curvature" => {
            let exact = word(name, value, span)? == "exact";
            options.curvature = if exact { Curvature::Exact } else { Curvature::Fixed };
        }
        "blocks" => {
            let separate = word(name, value, span)? == "separate";
            options.blocks = if separate { Blocks::Separate } else { Blocks::Joint };
        }
        "schedule" => {
            let one_at_a_time = word(name, value, span)? == "sequential";
            options.schedule = if one_at_a_time { Schedule::Sequential } else { Schedule::Batch };
            parsed.schedule = Some(span);
        }
        // options of methods that are not built yet: their values are checked all the same
        _ => {
            word(name, value, span)?;
        }
    }
    Ok(())
}

fn whole(name: &str, value: &OptionValue, span: Span, least: usize) -> Result<usize, Diagnostic> {
    match value {
        OptionValue::Number(x) if x.fract() == 0.0 && *x >= least as f64 && *x <= 1e9 => Ok(*x as usize),
        _ => Err(wrong(name, value, span, &format!("a whole number from {least} to 1e9"))
            .help(format!("write `{name} = {}`", if least == 0 { 4 } else { 1000 }))),
    }
}

fn number(name: &str, value: &OptionValue, span: Span) -> Result<f64, Diagnostic> {
    match value {
        OptionValue::Number(x) if x.is_finite() && *x >= 0.0 => Ok(*x),
        _ => {
            let example = if name == "tol" { "1e-6" } else { "0.5" };
            Err(wrong(name, value, span, "a number of at least 0")
                .help(format!("write `{name} = {example}`")))
        }
    }
}

fn word(name: &str, value: &OptionValue, span: Span) -> Result<String, Diagnostic> {
    let words = OPTIONS.iter().find(|o| o.name == name).map_or(&[][..], |o| o.words);
    match value {
        OptionValue::Word(given) if words.contains(&given.as_str()) => Ok(given.clone()),
        _ => {
            let list = words.join(" or ");
            let near = match value {
                OptionValue::Word(given) => closest(given, words.iter().copied()),
                OptionValue::Number(_) => None,
            };
            let near = near.or(words.first().copied()).unwrap_or_default();
            Err(wrong(name, value, span, &list).help(format!("write `{name} = {near}`")))
        }
    }
}

fn wrong(name: &str, value: &OptionValue, span: Span, expected: &str) -> Diagnostic {
    let given = match value {
        OptionValue::Number(x) => crate::graph::build::number_text(*x),
        OptionValue::Word(w) => format!("`{w}`"),
    };
    Diagnostic::error("E0603", format!("option `{name}` is {given}, expected {expected}"))
        .at(span, format!("expected {expected}"))
}
