//! The text of a starter model: what the columns look like decides what it says.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use sbl::data::{Column, Data};
use sbl::diag::Diagnostic;
use sbl::syntax::token::KEYWORDS;

use super::layout::plural;
use crate::io;

/// A commented model of column `target` on the other columns of `data`.
///
/// # Errors
/// The target has no value at all, or is no column of single values.
pub fn starter(data: &Data, target: &str, files: &[PathBuf]) -> Result<String, Diagnostic> {
    let rows = data.row_count();
    let what = Target::of(data, target)?;
    let mut names = Names::default();
    let t = names.variable(target, "t");
    let inputs = Inputs::of(data, target, rows, &mut names);
    let model = model_name(files);
    let text = write_model(&Page { data, target, rows, what, t, inputs, model, files });
    Ok(sbl::syntax::print::format(&text).unwrap_or(text))
}

struct Page<'a> {
    data: &'a Data,
    target: &'a str,
    rows: usize,
    what: Target,
    t: String,
    inputs: Inputs,
    model: String,
    files: &'a [PathBuf],
}

fn write_model(page: &Page<'_>) -> String {
    let mut s = String::new();
    let Page { t, inputs, what, .. } = page;
    let file = page.files.first().map_or_else(|| "data.csv".to_owned(), |f| io::shown(f));
    let arguments: Vec<String> = page.files.iter().map(|f| format!("--data {}", f.display())).collect();
    let one_line = |s: &str| s.replace(['\n', '\r'], " ");
    // Writing to a string cannot fail.
    let _ = writeln!(
        s,
        "# Starter model for {}: {}, target {}.",
        one_line(&file),
        plural(page.rows, "row"),
        one_line(page.target)
    );
    let _ = writeln!(
        s,
        "#   sbl check {0}.sbl {1}\n#   sbl fit {0}.sbl {1} -o {0}.sblfit",
        page.model,
        one_line(&arguments.join(" "))
    );
    if !inputs.is_empty() {
        s.push_str("use std.priors.ard\n");
    }
    let _ = writeln!(s, "\nmodel {} {{", page.model);
    for line in inputs.declarations() {
        let _ = writeln!(s, "    {line}");
    }
    let column =
        if t == page.target { String::new() } else { format!(" from column({})", quoted(page.target)) };
    let _ = writeln!(s, "    data {t}: {}{column}{}", what.declared(), what.remark(page.data, page.target));
    for (name, why) in &inputs.unused {
        let _ = writeln!(s, "    # not used: {} ({why})", one_line(name));
    }
    s.push('\n');
    let several = matches!(what, Target::Categories);
    if !inputs.is_empty() {
        let parts = inputs.parts();
        let phi = if several { format!("[1, {}]", parts.join(", ")) } else { joined(&parts) };
        let _ =
            writeln!(s, "    # The design: inputs brought to one scale (by training mean and deviation).");
        let _ = writeln!(
            s,
            "    # For a curved relation: use std.kernels.rbf, and let phi = rbf({}, width = 2)",
            joined(&parts)
        );
        let _ = writeln!(s, "    let phi = {phi}\n");
    }
    s.push_str(&distribution(what, t, !inputs.is_empty()));
    s.push_str("}\n");
    s
}

fn distribution(what: &Target, t: &str, inputs: bool) -> String {
    let mut s = String::new();
    let mean = if inputs { "mu + phi * w" } else { "mu" };
    if let Target::Categories = what {
        if inputs {
            s.push_str("    # One precision for every weight: weights that do not help are pruned.\n");
            let _ = writeln!(s, "    W ~ ard(cols(phi), levels({t}))");
            let _ = writeln!(s, "    {t} ~ Categorical(softmax = phi * W)");
        } else {
            let _ = writeln!(s, "    # One score for every level, the same in every row.");
            s.push_str("    b ~ Normal(0, precision = 0.01)");
            let _ = writeln!(
                s,
                " [levels({t})]\n    plate n in N {{\n        {t}[n] ~ Categorical(softmax = b)\n    }}"
            );
        }
        return s;
    }
    s.push_str("    mu ~ Flat() # intercept, not shrunk\n");
    if inputs {
        s.push_str("    # One precision for every weight: weights that do not help are pruned.\n");
        s.push_str("    w ~ ard(cols(phi))\n");
    }
    if let Target::Binary { .. } = what {
        let _ = writeln!(s, "    {t} ~ Bernoulli(logit = {mean})");
        return s;
    }
    s.push_str("    tau ~ Gamma(0, 0) # noise precision, log-uniform\n");
    let _ = writeln!(s, "    {t} ~ Normal({mean}, precision = tau)");
    match what {
        Target::Steps(levels) => {
            let phi = if inputs { "phi * w" } else { "0" };
            let _ = writeln!(
                s,
                "\n    # {t} has {levels} whole-number values. If they are ordered classes rather than amounts, declare\n    \
                 # {t}: ordered[N], drop mu and tau, and write\n    \
                 #     param cut: increasing[levels({t}) - 1]\n    \
                 #     {t} ~ Ordinal(probit = {phi}, cutpoints = cut)"
            );
        }
        Target::Counts => {
            let _ = writeln!(
                s,
                "\n    # {t} holds whole numbers from 0. If they are counts, declare {t}: count[N], drop tau, and write\n    \
                 #     {t} ~ Poisson(log = {mean})"
            );
        }
        _ => {}
    }
    s
}

/// What the target looks like.
enum Target {
    /// Numbers.
    Real,
    /// A few whole numbers.
    Steps(usize),
    /// Many whole numbers from 0.
    Counts,
    /// Two values; the declared type.
    Binary { declared: String },
    /// More than two words.
    Categories,
}

impl Target {
    fn of(data: &Data, name: &str) -> Result<Target, Diagnostic> {
        let unfit = |what: &str| Diagnostic::error("E0766", format!("the target {name:?} {what}"));
        match data.column(name) {
            Some(Column::Numbers(values)) => {
                let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
                if present.is_empty() {
                    return Err(unfit("has no value").help("name a column with values"));
                }
                Ok(Target::of_numbers(&present))
            }
            Some(Column::Words(values)) => {
                let levels: BTreeSet<&str> = values.iter().flatten().map(|w| &**w).collect();
                let levels: Vec<&str> = levels.into_iter().collect();
                Ok(match levels.as_slice() {
                    [_, _] if is_yes_no(&levels) => Target::Binary { declared: "bool[N]".to_owned() },
                    [a, b] if is_writable(a) && is_writable(b) => {
                        Target::Binary { declared: format!("category{{{}, {}}}[N]", quoted(a), quoted(b)) }
                    }
                    [_] | [_, _] => Target::Binary { declared: "category[N]".to_owned() },
                    _ => Target::Categories,
                })
            }
            _ => {
                Err(unfit("is no column of single values").help("name a column with one value in every row"))
            }
        }
    }

    fn of_numbers(present: &[f64]) -> Target {
        let mut distinct = present.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let whole = distinct.iter().all(|v| v.fract() == 0.0);
        match distinct.as_slice() {
            [0.0, 1.0] => Target::Binary { declared: "bool[N]".to_owned() },
            [_, _] if whole && present.len() >= 10 => Target::Binary { declared: "category[N]".to_owned() },
            _ if !whole => Target::Real,
            d if (3..=10).contains(&d.len()) && present.len() >= 3 * d.len() => Target::Steps(d.len()),
            d if d.len() > 2 && d[0] >= 0.0 => Target::Counts,
            _ => Target::Real,
        }
    }

    fn declared(&self) -> &str {
        match self {
            Target::Binary { declared } => declared,
            Target::Categories => "category[N]",
            _ => "real[N]",
        }
    }

    /// A comment behind the declaration.
    fn remark(&self, data: &Data, name: &str) -> String {
        let missing = match data.column(name) {
            Some(Column::Numbers(v)) => v.iter().filter(|x| x.is_nan()).count(),
            Some(Column::Words(v)) => v.iter().filter(|x| x.is_none()).count(),
            _ => 0,
        };
        let mut remarks = Vec::new();
        if let Target::Binary { declared } = self
            && declared.starts_with("category")
        {
            remarks.push("the second level is success".to_owned());
        }
        if missing > 0 {
            remarks.push(format!("{} without a value: predicted, not learned from", plural(missing, "row")));
        }
        if remarks.is_empty() { String::new() } else { format!(" # {}", remarks.join("; ")) }
    }
}

/// The columns that explain, sorted by how they enter.
#[derive(Default)]
struct Inputs {
    numbers: Vec<String>,
    /// The name of the matrix that holds them.
    matrix: String,
    /// Variable and column of every category.
    categories: Vec<(String, String)>,
    /// Variable and name of every matrix that the data hold as one.
    matrices: Vec<(String, String)>,
    unused: Vec<(String, String)>,
    /// Every other column of single values, in order.
    others: Vec<String>,
}

impl Inputs {
    fn of(data: &Data, target: &str, rows: usize, names: &mut Names) -> Inputs {
        let mut inputs = Inputs::default();
        let mut kinds = Vec::new();
        for name in data.names().filter(|n| *n != target) {
            let Some(column) = data.column(name) else { continue };
            kinds.push((name.to_owned(), Use::of(name, column, rows)));
        }
        for (name, kind) in kinds {
            match kind {
                Use::Number => inputs.numbers.push(name),
                Use::Category => {
                    let variable = names.variable(&name, "group");
                    inputs.categories.push((variable, name.clone()));
                    inputs.others.push(name);
                }
                Use::Matrix => {
                    let variable = names.variable(&name, "z");
                    inputs.matrices.push((variable, name));
                }
                Use::None(why) => {
                    inputs.others.push(name.clone());
                    inputs.unused.push((name, why));
                }
            }
        }
        inputs.others.push(target.to_owned());
        inputs.matrix = names.variable("x", "x");
        inputs
    }

    fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.categories.is_empty() && self.matrices.is_empty()
    }

    fn declarations(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.numbers.is_empty() {
            // The shorter list is the more readable one; both are exact.
            let exceptable = self.others.iter().all(|n| is_writable(n));
            let (how, list) =
                if exceptable && self.numbers.len() > 60 && self.others.len() < self.numbers.len() {
                    ("except", &self.others)
                } else {
                    ("columns", &self.numbers)
                };
            let list: Vec<String> = list.iter().map(|n| quoted(n)).collect();
            lines.push(format!("data {}: real[N, D] from {how}({})", self.matrix, list.join(", ")));
        }
        for (i, (variable, name)) in self.matrices.iter().enumerate() {
            let from =
                if variable == name { String::new() } else { format!(" from column({})", quoted(name)) };
            lines.push(format!("data {variable}: real[N, D{}]{from}", i + 1));
        }
        for (variable, name) in &self.categories {
            let from =
                if variable == name { String::new() } else { format!(" from column({})", quoted(name)) };
            lines.push(format!("data {variable}: category[N]{from}"));
        }
        lines
    }

    fn parts(&self) -> Vec<String> {
        let numbers = (!self.numbers.is_empty()).then(|| format!("standardize({})", self.matrix));
        let matrices = self.matrices.iter().map(|(v, _)| format!("standardize({v})"));
        let categories = self.categories.iter().map(|(v, _)| format!("onehot({v})"));
        numbers.into_iter().chain(matrices).chain(categories).collect()
    }
}

/// How a column can serve.
enum Use {
    Number,
    Category,
    Matrix,
    None(String),
}

impl Use {
    fn of(name: &str, column: &Column, rows: usize) -> Use {
        let none = |why: &str| Use::None(why.to_owned());
        if !is_writable(name) {
            return none("its name cannot be written in a program");
        }
        if column.rows() != rows {
            return none(&format!("{} instead of {rows}", plural(column.rows(), "row")));
        }
        match column {
            Column::Scalar(_) => none("a single number"),
            Column::Numbers(v) | Column::Matrix { values: v, .. } => {
                let missing = v.iter().filter(|x| x.is_nan()).count();
                if missing > 0 {
                    return none(&format!("{} missing", plural(missing, "value")));
                }
                if v.iter().any(|x| x.is_infinite()) {
                    return none("infinite values");
                }
                match column {
                    Column::Matrix { .. } => Use::Matrix,
                    _ if v.windows(2).all(|w| w[0] == w[1]) => none("the same value in every row"),
                    _ => Use::Number,
                }
            }
            Column::Words(v) => {
                let missing = v.iter().filter(|x| x.is_none()).count();
                let levels: BTreeSet<&str> = v.iter().flatten().map(|w| &**w).collect();
                match levels.len() {
                    _ if missing > 0 => none(&format!("{} missing", plural(missing, "value"))),
                    0 | 1 => none("the same value in every row"),
                    n if n * 2 > rows => none(&format!("{n} different words in {}", plural(rows, "row"))),
                    _ => Use::Category,
                }
            }
        }
    }
}

/// Names of the program, each used once.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// The column's own name if it can be one, else `fallback`, made different from all others.
    fn variable(&mut self, column: &str, fallback: &str) -> String {
        let first = if is_variable(column) { column } else { fallback };
        let mut name = first.to_owned();
        let mut i = 2;
        while self.taken.contains(&name) {
            name = format!("{first}_{i}");
            i += 1;
        }
        self.taken.insert(name.clone());
        name
    }
}

/// Whether a column name can be a name of the starter model: an identifier that means nothing else.
fn is_variable(name: &str) -> bool {
    /// Words of the language that are not reserved, and names that the starter model uses.
    const USED: [&str; 24] = [
        "column",
        "columns",
        "except",
        "weight",
        "return",
        "real",
        "positive",
        "unit",
        "int",
        "count",
        "bool",
        "category",
        "ordered",
        "increasing",
        "simplex",
        "std",
        "ard",
        "rbf",
        "mu",
        "w",
        "tau",
        "phi",
        "n",
        "cut",
    ];
    // Single capitals, perhaps with a number, are dimensions.
    let dimension = name.chars().next().is_some_and(char::is_uppercase)
        && name.chars().skip(1).all(|c| c.is_ascii_digit() || c == '_');
    let family = sbl::dist::FAMILIES.iter().any(|f| f.name == name);
    let native = sbl::check::natives::NATIVES.iter().any(|f| f.name == name);
    let used = KEYWORDS.contains(&name) || USED.contains(&name) || dimension || family || native;
    is_identifier(name) && !used
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic()) && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a text can be written as a string of the language.
fn is_writable(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(io::names::is_invisible)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_yes_no(levels: &[&str]) -> bool {
    let lower: BTreeSet<String> = levels.iter().map(|l| l.to_lowercase()).collect();
    let is = |a: &str, b: &str| lower.contains(a) && lower.contains(b);
    is("yes", "no") || is("true", "false")
}

/// Columns side by side.
fn joined(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        _ => format!("[{}]", parts.join(", ")),
    }
}

/// The name of the data file as the name of a model.
fn model_name(files: &[PathBuf]) -> String {
    let stem = files.iter().find(|f| !io::is_stdin(f)).and_then(|f| f.file_name());
    let stem = stem.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or("");
    let mut name: String =
        stem.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !is_identifier(&name) {
        name = format!("model_{name}");
    }
    if is_variable(&name) { name.trim_end_matches('_').to_owned() } else { format!("{name}_model") }
}
