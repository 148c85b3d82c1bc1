//! Which columns of the data each declaration takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::places::names;
use crate::check::typed::{Columns, Model, Node, NodeId};
use crate::data::{Column, Data};
use crate::diag::suggest::closest;
use crate::diag::{Diagnostic, Diagnostics};

/// The columns that a node takes.
pub(super) struct Taken<'d> {
    pub columns: Vec<TakenColumn<'d>>,
    pub rows: usize,
    /// Whether it is one number that belongs to no row.
    pub scalar: bool,
    /// Whether the names of the columns are those of the host, and not only positions.
    pub named: bool,
}

/// One column.
pub(super) struct TakenColumn<'d> {
    pub name: String,
    pub cells: Cells<'d>,
}

/// The entries of a column.
#[derive(Clone, Copy)]
pub(super) enum Cells<'d> {
    Numbers(&'d [f64]),
    Words(&'d [Option<Arc<str>>]),
    /// Column `col` of a row-major matrix.
    Matrix {
        values: &'d [f64],
        width: usize,
        col: usize,
    },
}

/// One entry.
#[derive(Clone, Copy)]
pub(super) enum Cell<'d> {
    Missing,
    Number(f64),
    Word(&'d str),
}

impl<'d> Cells<'d> {
    /// The entry of a row.
    pub(super) fn get(self, row: usize) -> Cell<'d> {
        let number = |x: Option<&f64>| match x {
            Some(x) if !x.is_nan() => Cell::Number(*x),
            _ => Cell::Missing,
        };
        match self {
            Cells::Numbers(v) => number(v.get(row)),
            Cells::Words(v) => match v.get(row) {
                Some(Some(word)) => Cell::Word(word),
                _ => Cell::Missing,
            },
            Cells::Matrix { values, width, col } => number(values.get(row * width + col)),
        }
    }
}

/// Rows at a time when the columns of a row-major matrix are copied: its lines stay in the cache.
const TILE: usize = 64;

/// Copies the first `rows` entries of every column, one column after another, if they are all finite numbers;
/// else `false`.
pub(super) fn copy_finite(columns: &[TakenColumn<'_>], rows: usize, to: &mut [f64]) -> bool {
    for start in (0..rows).step_by(TILE) {
        let end = rows.min(start + TILE);
        for (column, to) in columns.iter().zip(to.chunks_exact_mut(rows)) {
            if !column.cells.copy_finite(start, &mut to[start..end]) {
                return false;
            }
        }
    }
    true
}

impl Cells<'_> {
    /// Copies the entries from a row on if they are all finite numbers, else `false`.
    fn copy_finite(self, start: usize, to: &mut [f64]) -> bool {
        let mut finite = true;
        let mut copy = |to: &mut f64, x: &f64| {
            *to = *x;
            finite &= x.is_finite();
        };
        match self {
            Cells::Numbers(v) if v.len() >= start + to.len() => {
                to.iter_mut().zip(&v[start..]).for_each(|(to, x)| copy(to, x));
            }
            Cells::Matrix { values, width, col }
                if values.len() >= (start + to.len()) * width && col < width =>
            {
                let column = values[start * width + col..].iter().step_by(width);
                to.iter_mut().zip(column).for_each(|(to, x)| copy(to, x));
            }
            _ => return false,
        }
        finite
    }
}

/// Takes the columns of every wanted node by the rules of the language.
pub(super) fn take<'d>(
    model: &Model,
    data: &'d Data,
    wanted: &BTreeSet<NodeId>,
    found: &mut Diagnostics,
) -> BTreeMap<NodeId, Taken<'d>> {
    if let Some(first) = wanted.first().filter(|_| data.names().next().is_none()) {
        found.push(without_data(model.node(*first), wanted.len()));
        return BTreeMap::new();
    }
    let claims = claims(model, data);
    let mut rest_taker: Option<&Node> = None;
    let mut all = BTreeMap::new();
    for node in wanted.iter().map(|id| model.node(*id)) {
        let Some(declared) = node.data() else { continue };
        let taken = match &declared.from {
            Columns::One(name) => one(node, data, name),
            Columns::Named(list) => several(node, data, list),
            Columns::Default if node.ty.shape.len() < 2 || data.column(&node.name).is_some() => {
                one(node, data, &node.name)
            }
            Columns::Default if !numbered(data, &node.name).is_empty() => {
                several(node, data, &numbered(data, &node.name))
            }
            Columns::Default | Columns::Except(_) if node.ty.shape.len() < 2 => Err(except_on_a_vector(node)),
            from => {
                let except: &[String] = if let Columns::Except(list) = from { list } else { &[] };
                let unknown = except.iter().find(|n| data.column(n).is_none());
                match (unknown, rest_taker) {
                    (Some(name), _) => Err(no_column(node, data, name)),
                    (None, Some(other)) => Err(two_takers(node, other)),
                    (None, None) => {
                        rest_taker = Some(node);
                        rest(node, data, &claims, except, found)
                    }
                }
            }
        };
        match taken {
            Ok(taken) => {
                all.insert(node.id, taken);
            }
            Err(error) => found.push(error),
        }
    }
    all
}

/// Every column that some declaration names.
fn claims(model: &Model, data: &Data) -> BTreeSet<String> {
    let mut claims = BTreeSet::new();
    for node in &model.nodes {
        let Some(declared) = node.data() else { continue };
        match &declared.from {
            Columns::One(name) => {
                claims.insert(name.clone());
            }
            Columns::Named(list) => claims.extend(list.iter().cloned()),
            Columns::Default => {
                if data.column(&node.name).is_some() {
                    claims.insert(node.name.clone());
                } else if node.ty.shape.len() == 2 {
                    claims.extend(numbered(data, &node.name));
                }
            }
            Columns::Except(_) => {}
        }
    }
    claims
}

/// `x1 … xD`, or `x.1 … x.D`, as far as they go.
pub(super) fn numbered(data: &Data, name: &str) -> Vec<String> {
    for dot in ["", "."] {
        let of = |i: usize| format!("{name}{dot}{i}");
        let all: Vec<String> = (1..).map(of).take_while(|n| data.column(n).is_some()).collect();
        if !all.is_empty() {
            return all;
        }
    }
    Vec::new()
}

/// One column of the data, which may be a matrix.
pub(super) fn one<'d>(node: &Node, data: &'d Data, name: &str) -> Result<Taken<'d>, Diagnostic> {
    let column = data.column(name).ok_or_else(|| no_column(node, data, name))?;
    if let Column::Matrix { values, width, .. } = column
        && column.rows() * width != values.len()
    {
        let message = format!("matrix `{name}` has {} entries in {width} columns", values.len());
        return Err(Diagnostic::error("E0713", message)
            .at(node.span, "its last row is cut")
            .help("give whole rows"));
    }
    let rank = node.ty.shape.len();
    let single = |cells, rows, scalar| Taken {
        columns: vec![TakenColumn { name: name.to_owned(), cells }],
        rows,
        scalar,
        named: true,
    };
    let taken = match column {
        Column::Numbers(v) => single(Cells::Numbers(v), v.len(), false),
        Column::Words(v) => single(Cells::Words(v), v.len(), false),
        Column::Scalar(x) => single(Cells::Numbers(std::slice::from_ref(x)), 1, true),
        Column::Matrix { values, width, names } => {
            let label = |col: usize| match names.as_ref().and_then(|n| n.get(col)) {
                Some(label) => label.clone(),
                None if *width == 1 => name.to_owned(),
                None => format!("{name}.{}", col + 1),
            };
            let columns = (0..*width)
                .map(|col| TakenColumn {
                    name: label(col),
                    cells: Cells::Matrix { values, width: *width, col },
                })
                .collect();
            Taken { columns, rows: column.rows(), scalar: false, named: true }
        }
    };
    let shape = match (rank, taken.scalar) {
        (0, _) if taken.rows == 1 && taken.columns.len() == 1 => return Ok(Taken { scalar: true, ..taken }),
        (1, false) if taken.columns.len() == 1 => return Ok(taken),
        (2, false) if !taken.columns.is_empty() => return Ok(taken),
        (_, true) => "one number".to_owned(),
        (_, false) if taken.columns.len() == 1 => super::count(taken.rows, "row"),
        (_, false) => format!("{} × {}", taken.rows, taken.columns.len()),
    };
    let expected = ["one number", "one column", "a matrix"].get(rank).copied().unwrap_or("a matrix");
    let error = Diagnostic::error("E0713", format!("column `{name}` holds {shape}, expected {expected}"))
        .at(node.span, format!("`{}` takes column `{name}`", node.name));
    Err(match (rank, taken.scalar) {
        (0, _) => error.help(format!("declare one entry for each row: `{}[N]`", node.ty.elem.name())),
        (1, false) => error.help(format!("declare a matrix: `{}[N, D]`", node.ty.elem.name())),
        _ => error.help(format!("declare one number: `{}`", node.ty.elem.name())),
    })
}

/// Columns by name, side by side.
pub(super) fn several<'d>(node: &Node, data: &'d Data, list: &[String]) -> Result<Taken<'d>, Diagnostic> {
    if let [name] = list {
        return one(node, data, name);
    }
    let mut columns: Vec<TakenColumn<'d>> = Vec::with_capacity(list.len());
    let mut rows: Option<(usize, &str)> = None;
    for name in list {
        let column = data.column(name).ok_or_else(|| no_column(node, data, name))?;
        let cells = match column {
            Column::Numbers(v) => Cells::Numbers(v),
            Column::Words(v) => Cells::Words(v),
            Column::Matrix { .. } | Column::Scalar(_) => {
                let what = if matches!(column, Column::Scalar(_)) { "one number" } else { "a matrix" };
                return Err(Diagnostic::error(
                    "E0713",
                    format!("column `{name}` holds {what}, expected one entry for each row"),
                )
                .at(node.span, format!("one of the columns of `{}`", node.name))
                .help(format!("leave `{name}` out, or take it alone: `from column(\"{name}\")`")));
            }
        };
        match rows {
            Some((n, first)) if n != column.rows() => {
                return Err(Diagnostic::error(
                    "E0713",
                    format!(
                        "column `{name}` has {}, column `{first}` has {n}",
                        super::count(column.rows(), "row")
                    ),
                )
                .at(node.span, format!("`{}` takes both", node.name))
                .help("give columns of one length"));
            }
            _ => rows = rows.or(Some((column.rows(), name))),
        }
        columns.push(TakenColumn { name: name.clone(), cells });
    }
    if node.ty.shape.len() < 2 {
        return Err(Diagnostic::error(
            "E0713",
            format!("`{}` takes {}, expected one", node.name, super::count(list.len(), "column")),
        )
        .at(node.span, "not a matrix")
        .help(format!("declare a matrix: `{}[N, D]`", node.ty.elem.name())));
    }
    Ok(Taken { columns, rows: rows.map_or(0, |r| r.0), scalar: false, named: true })
}

/// Every column that no other declaration names, and a word about it.
fn rest<'d>(
    node: &Node,
    data: &'d Data,
    claims: &BTreeSet<String>,
    except: &[String],
    found: &mut Diagnostics,
) -> Result<Taken<'d>, Diagnostic> {
    let rows = data.row_count();
    let list: Vec<String> = data
        .names()
        .filter(|n| !claims.contains(*n) && !except.iter().any(|e| e == n))
        .filter(|n| {
            data.column(n)
                .is_some_and(|c| matches!(c, Column::Numbers(_) | Column::Words(_)) && c.rows() == rows)
        })
        .map(str::to_owned)
        .collect();
    if list.is_empty() {
        return Err(Diagnostic::error("E0702", format!("no column is left for `{}`", node.name))
            .at(node.span, "takes every column that no other declaration names")
            .note(format!("{} has the columns {}", data.origin(), names(&data.names().collect::<Vec<_>>())))
            .help(format!(
                "name its columns: `from columns(\"…\")`, or call them `{0}1`, `{0}2` …",
                node.name
            )));
    }
    let taken = several(node, data, &list)?;
    found.push(
        Diagnostic::warning(
            "W0701",
            format!("`{}` takes {} of {}", node.name, super::count(list.len(), "column"), data.origin()),
        )
        .at(node.span, "takes every column that no other declaration names")
        .note(names(&list))
        .help(format!("to fix the choice: `from columns({})`", quoted(&list))),
    );
    Ok(taken)
}

/// There is no table at all.
fn without_data(first: &Node, declarations: usize) -> Diagnostic {
    let count = super::count(declarations, "declaration");
    let verb = if declarations == 1 { "binds" } else { "bind" };
    Diagnostic::error("E0702", format!("there are no data, and {count} {verb} columns of them"))
        .at(first.span, "bound by data")
        .help("give the data: `--data data.csv`")
}

/// The column is not there; the closest one is proposed.
pub(super) fn no_column(node: &Node, data: &Data, name: &str) -> Diagnostic {
    let all: Vec<&str> = data.names().collect();
    let error = Diagnostic::error("E0702", format!("{} has no column `{name}`", data.origin()))
        .at(node.span, format!("`{}` takes column `{name}`", node.name))
        .note(format!("its columns: {}", names(&all)));
    match closest(name, all.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`? write `from column(\"{near}\")`")),
        None => error.help(format!("say which column it is: `data {}: … from column(\"…\")`", node.name)),
    }
}

fn except_on_a_vector(node: &Node) -> Diagnostic {
    Diagnostic::error("E0713", format!("`{}` takes all columns but some, expected one", node.name))
        .at(node.span, "not a matrix")
        .help(format!("name the column: `from column(\"{}\")`", node.name))
}

fn two_takers(node: &Node, other: &Node) -> Diagnostic {
    Diagnostic::error(
        "E0716",
        format!("`{}` and `{}` both take the columns that no other declaration names", other.name, node.name),
    )
    .at(node.span, "takes the rest")
    .also(other.span, "takes the rest too")
    .help(format!("name the columns of one of them: `data {}: … from columns(\"…\")`", node.name))
}

fn quoted(list: &[String]) -> String {
    const MANY: usize = 12;
    let mut text: Vec<String> = list.iter().take(MANY).map(|n| format!("{n:?}")).collect();
    if list.len() > MANY {
        text.push("…".to_owned());
    }
    text.join(", ")
}
