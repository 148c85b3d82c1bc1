//! Coefficients of a linear form, with the structure kept where it matters: a design matrix is
//! shared, not copied; a gather is one number per row.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::error::Why;
use super::ops;
use super::value::Value;
use crate::math::poll::poll;
use crate::math::product::gemm;

/// A sparse matrix by rows. The number of columns is known by who uses it.
#[derive(Clone, PartialEq, Debug)]
pub struct Csr {
    /// Where each row starts; one more than there are rows.
    starts: Vec<usize>,
    /// Column and number, ascending by column within a row.
    entries: Vec<(usize, f64)>,
}

/// A dense part of a coefficient matrix.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    row: usize,
    col: usize,
    matrix: Arc<Value>,
}

/// rows × cols coefficients.
#[derive(Clone, PartialEq, Debug)]
pub struct Coef {
    rows: usize,
    cols: usize,
    form: Form,
}

#[derive(Clone, PartialEq, Debug)]
enum Form {
    Sparse(Csr),
    /// Disjoint blocks; 0 elsewhere.
    Blocks(Vec<Block>),
    Dense(DMatrix<f64>),
}

impl Csr {
    /// One row for each, with its columns ascending.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(usize, f64)>>) -> Csr {
        let mut out = Csr { starts: vec![0], entries: Vec::new() };
        for row in rows {
            out.entries.extend(row);
            out.starts.push(out.entries.len());
        }
        out
    }

    /// Row r picks column `columns[r]`, or nothing.
    pub fn picking(columns: impl IntoIterator<Item = Option<usize>>) -> Csr {
        let mut out = Csr { starts: vec![0], entries: Vec::new() };
        for column in columns {
            out.entries.extend(column.map(|c| (c, 1.0)));
            out.starts.push(out.entries.len());
        }
        out
    }

    /// diag(scale)
    pub fn diagonal(scale: &[f64]) -> Csr {
        Csr::from_rows(scale.iter().enumerate().map(|(i, s)| vec![(i, *s)]))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Columns and numbers of a row; empty for a row that is not there.
    pub fn row(&self, r: usize) -> &[(usize, f64)] {
        match (self.starts.get(r), self.starts.get(r + 1)) {
            (Some(from), Some(to)) => &self.entries[*from..*to],
            _ => &[],
        }
    }

    /// self · other; columns of self are rows of other.
    pub fn times(&self, other: &Csr) -> Csr {
        let mut out = Csr { starts: vec![0], entries: Vec::new() };
        let mut row: Vec<(usize, f64)> = Vec::new();
        for r in 0..self.rows() {
            if let [(k, x)] = self.row(r) {
                out.entries.extend(other.row(*k).iter().map(|(c, y)| (*c, x * y)));
            } else {
                row.clear();
                for (k, x) in self.row(r) {
                    row.extend(other.row(*k).iter().map(|(c, y)| (*c, x * y)));
                }
                merge(&mut row);
                out.entries.extend_from_slice(&row);
            }
            out.starts.push(out.entries.len());
        }
        out
    }

    /// self + other, row by row.
    pub fn plus(&self, other: &Csr) -> Csr {
        Csr::from_rows((0..self.rows().max(other.rows())).map(|r| {
            let mut row: Vec<(usize, f64)> = self.row(r).iter().chain(other.row(r)).copied().collect();
            merge(&mut row);
            row
        }))
    }

    /// One above the other.
    pub fn stack<'a>(parts: impl IntoIterator<Item = &'a Csr>) -> Csr {
        let mut out = Csr { starts: vec![0], entries: Vec::new() };
        for part in parts {
            let shift = out.entries.len();
            out.entries.extend_from_slice(&part.entries);
            out.starts.extend(part.starts.iter().skip(1).map(|s| s + shift));
        }
        out
    }

    /// No entry in any of `rows` rows.
    pub fn empty(rows: usize) -> Csr {
        Csr { starts: vec![0; rows + 1], entries: Vec::new() }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Coef {
    /// A sparse matrix of that width.
    pub fn sparse(csr: Csr, cols: usize) -> Coef {
        Coef { rows: csr.rows(), cols, form: Form::Sparse(csr) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The matrix that it is, without a copy; itself if it is of parts, or shared.
    pub fn into_matrix(self) -> Result<DMatrix<f64>, Coef> {
        let Coef { rows, cols, form } = self;
        let form = match form {
            Form::Dense(matrix) => return Ok(matrix),
            Form::Blocks(blocks) => match <[Block; 1]>::try_from(blocks) {
                Ok([Block { row: 0, col: 0, matrix }]) if matrix.array.shape() == (rows, cols) => {
                    match Arc::try_unwrap(matrix) {
                        Ok(value) => return Ok(value.array),
                        Err(matrix) => Form::Blocks(vec![Block { row: 0, col: 0, matrix }]),
                    }
                }
                Ok([block]) => Form::Blocks(vec![block]),
                Err(blocks) => Form::Blocks(blocks),
            },
            form => form,
        };
        Err(Coef { rows, cols, form })
    }

    /// l · self
    ///
    /// # Errors
    /// The result needs more than `memory` bytes.
    pub fn apply(&self, l: &Csr, memory: usize) -> Result<Coef, Why> {
        if let Form::Sparse(csr) = &self.form {
            return Ok(Coef::sparse(l.times(csr), self.cols));
        }
        let from = self.dense(memory)?;
        let mut out = dense_zeros(l.rows(), self.cols, memory)?;
        for (mut to, from) in out.column_iter_mut().zip(from.column_iter()) {
            for (r, o) in to.iter_mut().enumerate() {
                // 0 · NaN cannot arise: coefficients are finite
                *o = l.row(r).iter().map(|(k, x)| x * from.get(*k).copied().unwrap_or(0.0)).sum();
            }
        }
        Ok(Coef { rows: l.rows(), cols: self.cols, form: Form::Dense(out) })
    }

    /// self + other, of the same size.
    ///
    /// # Errors
    /// The result needs more than `memory` bytes, or the sizes differ.
    pub fn plus(&self, other: &Coef, memory: usize) -> Result<Coef, Why> {
        if (self.rows, self.cols) != (other.rows, other.cols) {
            return Err(Why::Shape((other.rows, other.cols), (self.rows, self.cols)));
        }
        if let (Form::Sparse(a), Form::Sparse(b)) = (&self.form, &other.form) {
            return Ok(Coef::sparse(a.plus(b), self.cols));
        }
        let mut out = self.dense(memory)?;
        other.add_to(None, &mut out, 0, 0)?;
        Ok(Coef { rows: self.rows, cols: self.cols, form: Form::Dense(out) })
    }

    /// One above the other; all have `cols` columns.
    ///
    /// # Errors
    /// The result needs more than `memory` bytes.
    pub fn stack(parts: &[&Coef], cols: usize, memory: usize) -> Result<Coef, Why> {
        let rows = parts.iter().map(|p| p.rows).sum();
        let sparse: Option<Vec<&Csr>> = parts
            .iter()
            .map(|p| match &p.form {
                Form::Sparse(csr) => Some(csr),
                _ => None,
            })
            .collect();
        if let Some(sparse) = sparse {
            return Ok(Coef::sparse(Csr::stack(sparse), cols));
        }
        let mut blocks = Vec::new();
        let mut at = 0;
        let mut all_blocks = true;
        for part in parts {
            match &part.form {
                Form::Blocks(b) => blocks.extend(b.iter().map(|b| Block { row: b.row + at, ..b.clone() })),
                Form::Sparse(csr) if csr.is_empty() => {}
                _ => all_blocks = false,
            }
            at += part.rows;
        }
        if all_blocks {
            return Ok(Coef { rows, cols, form: Form::Blocks(blocks) });
        }
        let mut out = dense_zeros(rows, cols, memory)?;
        let mut at = 0;
        for part in parts {
            part.add_to(None, &mut out, at, 0)?;
            at += part.rows;
        }
        Ok(Coef { rows, cols, form: Form::Dense(out) })
    }

    /// (I ⊗ a) · self: the product of `a` (N × B') with an array (B × C) of which these are the
    /// coefficients (column-major). `used` are the B' ≤ B rows of that array that are not all 0.
    ///
    /// # Errors
    /// The result needs more than `memory` bytes.
    pub fn kron_left(&self, a: &Arc<Value>, used: &[usize], b: usize, memory: usize) -> Result<Coef, Why> {
        let n = a.rows();
        let c = self.rows.checked_div(b).unwrap_or(0);
        let rows = n.checked_mul(c).ok_or(Why::Memory(usize::MAX, memory))?;
        if let Form::Sparse(csr) = &self.form {
            let blocks: Option<Vec<Block>> = (0..c)
                .map(|k| {
                    let first = consecutive(csr, used, k * b)?;
                    Some(Block { row: k * n, col: first, matrix: a.clone() })
                })
                .collect();
            if let Some(blocks) = blocks.filter(|_| !used.is_empty()) {
                return Ok(Coef { rows, cols: self.cols, form: Form::Blocks(blocks) });
            }
        }
        let mut out = dense_zeros(rows, self.cols, memory)?;
        match &self.form {
            Form::Sparse(csr) => {
                for k in 0..c {
                    for (column, row) in a.array.column_iter().zip(used) {
                        for (j, x) in csr.row(k * b + row) {
                            for (i, a) in column.iter().enumerate() {
                                out[(k * n + i, *j)] += x * a;
                            }
                        }
                    }
                }
            }
            _ => {
                let all = self.dense(memory)?;
                for k in 0..c {
                    let picked: Vec<usize> = used.iter().map(|r| k * b + r).collect();
                    let part =
                        ops::select(&all, &super::want::Axis::Only(picked.into()), &super::want::Axis::All)?;
                    if !used.is_empty() && n > 0 && self.cols > 0 {
                        gemm(out.rows_mut(k * n, n), 1.0, a.array.as_view(), part.as_view(), 1.0);
                    }
                }
            }
        }
        Ok(Coef { rows, cols: self.cols, form: Form::Dense(out) })
    }

    /// Marks the rows that have an entry.
    pub fn mark_used(&self, used: &mut [bool]) {
        match &self.form {
            Form::Sparse(csr) => {
                for (r, used) in used.iter_mut().enumerate() {
                    *used |= !csr.row(r).is_empty();
                }
            }
            Form::Blocks(_) | Form::Dense(_) => used.fill(true),
        }
    }

    /// The whole matrix.
    ///
    /// # Errors
    /// It needs more than `memory` bytes.
    pub fn dense(&self, memory: usize) -> Result<DMatrix<f64>, Why> {
        let mut out = dense_zeros(self.rows, self.cols, memory)?;
        self.add_to(None, &mut out, 0, 0)?;
        Ok(out)
    }

    /// Adds the coefficients (of these rows, or of all) to the part of `out` that starts at `row`, `col`.
    ///
    /// # Errors
    /// They do not fit there, or a row does not exist.
    pub fn add_to(
        &self,
        rows: Option<&[usize]>,
        out: &mut DMatrix<f64>,
        row: usize,
        col: usize,
    ) -> Result<(), Why> {
        let count = rows.map_or(self.rows, <[usize]>::len);
        if row.saturating_add(count) > out.nrows() || col.saturating_add(self.cols) > out.ncols() {
            return Err(Why::Shape((count, self.cols), out.shape()));
        }
        if let Some(r) = rows.and_then(|rows| rows.iter().find(|r| **r >= self.rows)) {
            return Err(Why::Position(*r, self.rows));
        }
        let source = |i: usize| rows.map_or(i, |rows| rows[i]);
        // rows as they are, the usual case
        let plain = rows.is_none_or(|rows| rows.iter().enumerate().all(|(i, r)| i == *r));
        match &self.form {
            Form::Sparse(csr) => {
                for i in 0..count {
                    for (j, x) in csr.row(source(i)) {
                        out[(row + i, col + j)] += x;
                    }
                }
            }
            Form::Dense(m) => {
                for j in 0..self.cols {
                    poll();
                    for i in 0..count {
                        out[(row + i, col + j)] += m[(source(i), j)];
                    }
                }
            }
            Form::Blocks(blocks) => {
                for block in blocks.iter().filter(|b| plain && b.row.saturating_add(b.matrix.rows()) <= count)
                {
                    for (j, from) in block.matrix.array.column_iter().enumerate() {
                        poll();
                        let mut to = out.column_mut(col + block.col + j);
                        let mut to = to.rows_mut(row + block.row, from.len());
                        to += from;
                    }
                }
                for block in
                    blocks.iter().filter(|b| !(plain && b.row.saturating_add(b.matrix.rows()) <= count))
                {
                    let within: Vec<(usize, usize)> = (0..count)
                        .filter_map(|i| Some((i, source(i).checked_sub(block.row)?)))
                        .filter(|(_, r)| *r < block.matrix.rows())
                        .collect();
                    for j in 0..block.matrix.cols() {
                        poll();
                        for (i, r) in &within {
                            out[(row + i, col + block.col + j)] += block.matrix.array[(*r, j)];
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// If these rows (shifted) pick consecutive columns with factor 1, the first of them.
fn consecutive(csr: &Csr, rows: &[usize], shift: usize) -> Option<usize> {
    let mut first = None;
    for (i, r) in rows.iter().enumerate() {
        let [(column, one)] = csr.row(shift + r) else { return None };
        let start = column.checked_sub(i)?;
        if *one != 1.0 || *first.get_or_insert(start) != start {
            return None;
        }
    }
    first
}

fn dense_zeros(rows: usize, cols: usize, memory: usize) -> Result<DMatrix<f64>, Why> {
    let wanted = ops::size(rows, cols);
    if wanted > memory { Err(Why::Memory(wanted, memory)) } else { ops::zeros(rows, cols) }
}

/// Sorts by column and adds up equal columns.
fn merge(row: &mut Vec<(usize, f64)>) {
    row.sort_by_key(|(c, _)| *c);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}
