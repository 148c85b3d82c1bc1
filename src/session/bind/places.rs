//! Positions in the data, in words.

use super::columns::Taken;
use crate::data::Data;

/// How many positions a message lists.
const SHOWN: usize = 5;

/// The data and the columns that positions refer to.
pub(super) struct Places<'a> {
    pub data: &'a Data,
    pub taken: &'a Taken<'a>,
}

impl Places<'_> {
    /// `row 3 (line 4), column `age``
    pub(super) fn one(&self, (row, column): (usize, usize)) -> String {
        let name = self.taken.columns.get(column).map_or("", |c| &c.name);
        if self.taken.scalar {
            return format!("`{name}`");
        }
        match self.data.line(row) {
            Some(line) => format!("row {} (line {line}), column `{name}`", row + 1),
            None => format!("row {}, column `{name}`", row + 1),
        }
    }

    /// The first five, and how many more.
    pub(super) fn list(&self, places: &[(usize, usize)]) -> String {
        let mut text: Vec<String> = places.iter().take(SHOWN).map(|p| self.one(*p)).collect();
        if places.len() > SHOWN {
            text.push(format!("and {} more ({} in all)", places.len() - SHOWN, places.len()));
        }
        text.join("; ")
    }
}

/// Row numbers from 1, the first five, and how many more.
pub(super) fn rows(data: &Data, rows: &[usize]) -> String {
    let one = |row: &usize| match data.line(*row) {
        Some(line) => format!("row {} (line {line})", row + 1),
        None => format!("row {}", row + 1),
    };
    let mut text: Vec<String> = rows.iter().take(SHOWN).map(one).collect();
    if rows.len() > SHOWN {
        text.push(format!("and {} more ({} in all)", rows.len() - SHOWN, rows.len()));
    }
    text.join(", ")
}

/// Names in backticks, the first few.
pub(super) fn names<S: AsRef<str>>(names: &[S]) -> String {
    const MANY: usize = 12;
    let mut text: Vec<String> = names.iter().take(MANY).map(|n| format!("`{}`", n.as_ref())).collect();
    if names.len() > MANY {
        text.push(format!("… {} in all", names.len()));
    }
    text.join(", ")
}
