//! `sbl doc`: families, library functions and priors, plans.

use sbl::check::natives::{NATIVES, NativeFn};
use sbl::check::{LibraryItem, library};
use sbl::diag::Diagnostic;
use sbl::diag::suggest::closest;
use sbl::dist::{Arg, ArgShape, FAMILIES, Family, Need, Support};
use sbl::plan::{METHODS, Method};

use super::args::Doc;
use super::explain::ending_in_newline;
use super::failure::{Exit, Failure};
use super::layout::{Align, table};
use super::screen::Screen;

/// Prints one page, or the list of all names.
pub fn run(args: &Doc, screen: &Screen) -> Result<Exit, Failure> {
    let library = library();
    let text = match &args.name {
        None => contents(&library, screen),
        Some(name) => page(name.trim(), &library, screen)?,
    };
    screen.result(ending_in_newline(&text).as_bytes())?;
    Ok(Exit::Done)
}

/// One page.
pub fn text(name: &str, screen: &Screen) -> Result<String, Failure> {
    page(name.trim(), &library(), screen)
}

fn contents(library: &[LibraryItem], screen: &Screen) -> String {
    let mut sections: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let families = FAMILIES.iter().map(|f| (f.name.to_owned(), f.summary.to_owned())).collect();
    sections.push(("Families".to_owned(), families));
    for item in library {
        let module = item.module.clone();
        if sections.last().is_none_or(|(title, _)| *title != module) {
            sections.push((module, Vec::new()));
        }
        if let Some((_, list)) = sections.last_mut() {
            // Overloads share a name and stand one after the other.
            if list.last().is_none_or(|(name, _)| *name != item.name) {
                list.push((item.name.clone(), first_line(&item.doc).to_owned()));
            }
        }
    }
    let natives = NATIVES.iter().map(|f| (f.name.to_owned(), f.summary.to_owned())).collect();
    sections.push(("Native functions".to_owned(), natives));
    let methods = METHODS.iter().map(|m| (m.name.to_owned(), m.summary.to_owned())).collect();
    sections.push(("Plans".to_owned(), methods));
    let mut text = String::new();
    for (title, list) in sections.iter().filter(|(_, list)| !list.is_empty()) {
        let rows: Vec<Vec<String>> =
            list.iter().map(|(name, line)| vec![name.clone(), line.clone()]).collect();
        let lines = table(None, &[Align::Left, Align::Left], &rows);
        text.push_str(&format!("{}\n{}\n\n", screen.strong(title), lines.join("\n")));
    }
    text
}

fn page(name: &str, library: &[LibraryItem], screen: &Screen) -> Result<String, Failure> {
    // `std.kernels.rbf` and `std.kernels` are found too.
    let bare = name.rsplit('.').next().unwrap_or(name);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(FAMILIES.iter().filter(|f| f.name.eq_ignore_ascii_case(bare)).map(|f| family(f, screen)));
    let items: Vec<&LibraryItem> = library
        .iter()
        .filter(|i| i.name == bare && (bare == name || format!("{}.{bare}", i.module) == name))
        .collect();
    parts.extend(items.iter().map(|i| item(i, screen)));
    parts.extend(METHODS.iter().filter(|m| m.name == bare).map(|m| method(m, screen)));
    parts.extend(NATIVES.iter().filter(|f| f.name == bare).map(|f| native(f, screen)));
    let module: Vec<&LibraryItem> =
        library.iter().filter(|i| i.module == name || i.module == format!("std.{name}")).collect();
    parts.extend(module.iter().map(|i| item(i, screen)));
    if !parts.is_empty() {
        return Ok(parts.join("\n\n"));
    }
    let unknown = Diagnostic::error("E0781", format!("there is no documentation of {name:?}"));
    let known = FAMILIES.iter().map(|f| f.name).chain(METHODS.iter().map(|m| m.name));
    let known = known.chain(NATIVES.iter().map(|f| f.name));
    let known = known.chain(library.iter().map(|i| i.name.as_str()));
    Err(Failure::from(match closest(bare, known) {
        Some(near) => unknown.help(format!("did you mean {near}? `sbl doc` lists all names")),
        None => unknown.help("`sbl doc` lists all names; for a diagnostic, `sbl explain CODE`"),
    }))
}

fn family(family: &Family, screen: &Screen) -> String {
    let arguments: Vec<&str> = family.args.iter().map(|a| a.name).collect();
    let rows: Vec<Vec<String>> = family.args.iter().map(argument_row).collect();
    let mut lines = vec![
        format!("{}({})", screen.strong(family.name), arguments.join(", ")),
        String::new(),
        format!("{}. A draw is {}.", capital(family.summary), support(family.support)),
        String::new(),
        format!("    {}", family.formula),
    ];
    if !rows.is_empty() {
        lines.push(String::new());
        lines.extend(table(None, &[Align::Left; 4], &rows));
    }
    lines.extend([String::new(), "Example:".to_owned(), String::new()]);
    lines.extend(family.example.trim_end().lines().map(|l| format!("    {l}")));
    lines.extend([String::new(), screen.faint(&format!("Source: {}", family.source))]);
    lines.join("\n")
}

fn argument_row(arg: &Arg) -> Vec<String> {
    let need = match arg.need {
        Need::Required => "required".to_owned(),
        Need::Default(x) => format!("default {x}"),
        Need::OneOf(group) => format!("one of the {group} arguments"),
    };
    let shape = match arg.shape {
        ArgShape::Node => "a scalar, or one for every draw",
        ArgShape::PerLevel => "one for every draw and level",
        ArgShape::Cutpoints => "one fewer than there are levels",
    };
    let name = if arg.positional { arg.name.to_owned() } else { format!("{} =", arg.name) };
    vec![name, arg.elem.name().to_owned(), need, shape.to_owned()]
}

fn support(support: Support) -> String {
    match support {
        Support::Elem(e) => e.name().to_owned(),
        Support::Binary => "bool, or a category of two levels".to_owned(),
        Support::Levels => "category".to_owned(),
        Support::Ordered => "ordered".to_owned(),
    }
}

fn item(item: &LibraryItem, screen: &Screen) -> String {
    let mut lines = vec![screen.strong(&item.signature), String::new()];
    lines.extend(item.doc.trim_end().lines().map(|l| format!("    {l}").trim_end().to_owned()));
    lines.extend([String::new(), screen.faint(&format!("use {}.{}", item.module, item.name))]);
    lines.join("\n")
}

fn native(native: &NativeFn, screen: &Screen) -> String {
    let required = native.params.len() - native.optional.min(native.params.len());
    let mut call = native.params.iter().take(required).copied().collect::<Vec<_>>().join(", ");
    for optional in native.params.iter().skip(required) {
        call.push_str(&format!("[, {optional}]"));
    }
    format!("{}({call})\n\n    {}", screen.strong(native.name), native.summary)
}

fn method(method: &Method, screen: &Screen) -> String {
    let options: Vec<&str> = sbl::plan::options::of(method);
    [
        format!("infer {}", screen.strong(method.name)),
        String::new(),
        capital(method.summary),
        format!("Options: {}", options.join(", ")),
    ]
    .join("\n")
}

fn first_line(doc: &str) -> &str {
    doc.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
