//! Levels of categories: stated, frozen, or taken from the data.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::cells::show;
use super::columns::{Cell, Taken};
use super::places::{Places, names};
use super::{Binder, count};
use crate::check::typed::{Elem, ExprKind, Node, NodeId};
use crate::design::walk;
use crate::diag::Diagnostic;
use crate::dist::Support;

/// Levels in the order of their codes.
pub(super) struct Levels {
    pub names: Vec<String>,
    /// Code by text.
    codes: BTreeMap<String, usize>,
    /// Code by number, for levels that are numbers: 1 and 1.0 are the same level.
    numbers: BTreeMap<u64, usize>,
    /// Whether the words of truth count: yes is true is 1.
    truth: bool,
}

impl Levels {
    fn new(names: Vec<String>, truth: bool) -> Levels {
        let codes = names.iter().enumerate().map(|(i, n)| (n.clone(), i)).collect();
        let number = |(i, n): (usize, &String)| Some((key(n.parse().ok()?), i));
        let numbers = names.iter().enumerate().filter_map(number).collect();
        Levels { names, codes, numbers, truth }
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The code of an entry.
    pub(super) fn code(&self, cell: Cell<'_>) -> Option<f64> {
        if self.truth {
            return truth(cell).map(|(code, _)| code as f64);
        }
        let code = match cell {
            Cell::Missing => None,
            Cell::Number(x) => self.numbers.get(&key(x)),
            Cell::Word(word) => self
                .codes
                .get(word)
                .or_else(|| word.trim().parse().ok().and_then(|x| self.numbers.get(&key(x)))),
        };
        code.map(|c| *c as f64)
    }
}

/// 0 and −0 are one number.
fn key(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// 0/1, 0.0/1.0, true/false, yes/no in any case: the code, and both forms as they would be written.
fn truth(cell: Cell<'_>) -> Option<(usize, [String; 2])> {
    const FORMS: [[&str; 2]; 2] = [["false", "true"], ["no", "yes"]];
    match cell {
        Cell::Number(x) if x == 0.0 || x == 1.0 => Some((usize::from(x == 1.0), digits())),
        Cell::Word(word) => {
            let word = word.trim();
            if let Some(x) = word.parse::<f64>().ok().filter(|x| *x == 0.0 || *x == 1.0) {
                return Some((usize::from(x == 1.0), digits()));
            }
            let lower = word.to_lowercase();
            FORMS.iter().find_map(|form| {
                let code = form.iter().position(|f| *f == lower)?;
                Some((code, form.map(|f| in_the_case_of(word, f))))
            })
        }
        _ => None,
    }
}

fn digits() -> [String; 2] {
    ["0".to_owned(), "1".to_owned()]
}

/// `No` for `Yes`, `NO` for `YES`.
fn in_the_case_of(model: &str, word: &str) -> String {
    let mut letters = model.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    let second = letters.next().is_some_and(char::is_uppercase);
    match (first, second) {
        (true, true) => word.to_uppercase(),
        (true, false) => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    }
}

impl Binder<'_> {
    /// The levels of a node, if its type has any; `Err` if they could not be found, which is reported.
    pub(super) fn levels(&mut self, node: &Node, taken: &Taken<'_>) -> Result<Option<Levels>, ()> {
        if !matches!(node.ty.elem, Elem::Category | Elem::Ordered | Elem::Bool) {
            return Ok(None);
        }
        let truth_words = node.ty.elem == Elem::Bool;
        if let Some(frozen) = self.schema.and_then(|s| s.levels.get(&node.id)) {
            return Ok(Some(Levels::new(frozen.clone(), truth_words)));
        }
        let cells = || taken.columns.iter().flat_map(|c| (0..taken.rows).map(|i| c.cells.get(i)));
        if truth_words {
            let mut forms = cells().filter_map(truth);
            let names = forms.next().map_or_else(digits, |(_, form)| form).to_vec();
            let met: BTreeSet<usize> = cells().filter_map(|c| truth(c).map(|(code, _)| code)).collect();
            if node.is_observed() && met.len() == 1 {
                let only = met.first().and_then(|c| names.get(*c)).cloned().unwrap_or_default();
                self.only_one_level(node, &only);
            }
            return Ok(Some(Levels::new(names, true)));
        }
        let stated = node.data().and_then(|d| d.levels.clone());
        let levels = match stated {
            Some(stated) => {
                let levels = Levels::new(stated, false);
                self.warn_of_empty_levels(node, &levels, cells());
                levels
            }
            None => self.levels_met(node, taken, cells())?,
        };
        if levels.names.is_empty() {
            self.found.push(
                Diagnostic::error(
                    "E0712",
                    format!("every value of `{}` is missing: it has no levels", node.name),
                )
                .at(node.span, "takes its levels from the data")
                .help("state its levels, or give at least one row with a value"),
            );
            return Err(());
        }
        if let Some(dist) = node.data().and_then(|d| d.likelihood.as_ref()) {
            let binary = matches!(dist.family.support, Support::Binary);
            if binary && levels.len() > 2 {
                let family = dist.family.name;
                self.found.push(
                    Diagnostic::error(
                        "E0711",
                        format!("`{}` has {}, {family} expects two", node.name, count(levels.len(), "level")),
                    )
                    .at(node.span, format!("the levels are {}", names(&levels.names)))
                    .help("merge levels in the data, or use a family of several levels"),
                );
                return Err(());
            }
            if let [only] = levels.names.as_slice() {
                let only = only.clone();
                self.only_one_level(node, &only);
            }
        }
        Ok(Some(levels))
    }

    /// Numbers ascend; words are sorted for a category and refused for an order.
    fn levels_met<'c>(
        &mut self,
        node: &Node,
        taken: &Taken<'_>,
        cells: impl Iterator<Item = Cell<'c>>,
    ) -> Result<Levels, ()> {
        let mut met: BTreeMap<String, Option<f64>> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for cell in cells {
            let (text, number) = match cell {
                Cell::Missing => continue,
                // reported with the cells
                Cell::Number(x) if !x.is_finite() => continue,
                Cell::Number(x) => (show(cell), Some(x)),
                Cell::Word(word) => {
                    (word.to_owned(), word.trim().parse::<f64>().ok().filter(|x| x.is_finite()))
                }
            };
            if let Entry::Vacant(new) = met.entry(text) {
                order.push(new.key().clone());
                new.insert(number);
            }
        }
        let numbers: Option<Vec<f64>> = met.values().copied().collect();
        if node.ty.elem == Elem::Ordered
            && !numbers.as_ref().is_some_and(|n| n.iter().all(|x| x.fract() == 0.0))
        {
            let places = Places { data: self.data, taken };
            let first = (0..taken.rows)
                .find(|i| taken.columns.first().is_some_and(|c| !matches!(c.cells.get(*i), Cell::Missing)));
            let at = places.one((first.unwrap_or(0), 0));
            let help = match &numbers {
                Some(numbers) => {
                    let mut ascending: Vec<(f64, &String)> =
                        numbers.iter().copied().zip(met.keys()).collect();
                    ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
                    ascending.dedup_by(|b, a| a.0 == b.0);
                    let names: Vec<String> = ascending.into_iter().map(|(_, name)| name.clone()).collect();
                    format!("state the order from low to high: `ordered{{{}}}`", stated(&names))
                }
                // only the user knows it: an order of our own would fit, and mean nothing
                None => format!(
                    "state the order, lowest first, as in `ordered{{… < … < …}}`; the levels are {}",
                    names(&order)
                ),
            };
            self.found.push(
                Diagnostic::error(
                    "E0709",
                    format!(
                        "`{}` is ordered, but its {} have no stated order",
                        node.name,
                        count(order.len(), "level")
                    ),
                )
                .at(node.span, "only whole numbers order themselves")
                .note(format!("found {}, the first in {at}", names(&order)))
                .help(help),
            );
            return Err(());
        }
        let mut names: Vec<(String, Option<f64>)> = met.into_iter().collect();
        if numbers.is_some() {
            names.sort_by(|a, b| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)));
            // 1 and 1.0 are one level, printed as read first in the sorted order
            names.dedup_by(|b, a| a.1 == b.1);
        }
        Ok(Levels::new(names.into_iter().map(|(n, _)| n).collect(), false))
    }

    fn warn_of_empty_levels<'c>(
        &mut self,
        node: &Node,
        levels: &Levels,
        cells: impl Iterator<Item = Cell<'c>>,
    ) {
        let met: BTreeSet<usize> = cells.filter_map(|c| levels.code(c)).map(|c| c as usize).collect();
        let empty: Vec<&str> = levels
            .names
            .iter()
            .enumerate()
            .filter(|(i, _)| !met.contains(i))
            .map(|(_, n)| n.as_str())
            .collect();
        if !empty.is_empty() && !met.is_empty() {
            self.found.push(
                Diagnostic::warning(
                    "W0705",
                    format!("the data have no row of `{}` with {}", node.name, names(&empty)),
                )
                .at(node.span, format!("{} stated", count(levels.len(), "level")))
                .help("nothing but the prior is known about a level without rows"),
            );
        }
    }

    fn only_one_level(&mut self, node: &Node, only: &str) {
        self.found.push(
            Diagnostic::warning("W0705", format!("every value of the target `{}` is `{only}`", node.name))
                .at(node.span, "only one level")
                .help("the fit is the prior's; give rows with another level"),
        );
    }

    /// Whether a category is only used to index latent nodes: an unseen level then has a prior.
    pub(super) fn only_indexes_latents(&self, id: NodeId) -> bool {
        let model = self.model;
        if model.node(id).is_observed() {
            return false;
        }
        let is_it = |mut e| {
            for _ in 0..=model.nodes.len() {
                match &model.expr(e).kind {
                    ExprKind::Node(n) if *n == id => return true,
                    ExprKind::Node(_) => match walk::through_lets(model, e).as_slice() {
                        [value] => e = *value,
                        _ => return false,
                    },
                    _ => return false,
                }
            }
            false
        };
        walk::reachable(model).into_iter().all(|e| match &model.expr(e).kind {
            ExprKind::Gather { base, at } => !is_it(*at) || self.is_latent(*base),
            ExprKind::GatherPairs { base, rows, cols } => {
                !is_it(*cols) && (!is_it(*rows) || self.is_latent(*base))
            }
            ExprKind::Node(_) => true,
            kind => !kind.operands().into_iter().any(is_it),
        })
    }

    fn is_latent(&self, e: crate::check::typed::ExprId) -> bool {
        // no data node is held at a value here: what depends on a latent node is random
        walk::Random::of(&self.bound.inputs(self.model), e).is(e)
    }
}

/// Levels as they are stated: identifiers and integers bare, others quoted.
fn stated(levels: &[String]) -> String {
    let one = |level: &String| {
        let mut letters = level.chars();
        let word = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && letters.all(|c| c.is_alphanumeric() || c == '_');
        if word || level.parse::<i64>().is_ok() { level.clone() } else { format!("{level:?}") }
    };
    levels.iter().take(20).map(one).collect::<Vec<_>>().join(" < ")
}
