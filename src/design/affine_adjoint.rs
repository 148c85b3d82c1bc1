//! Linear forms backwards: from adjoints of offset and kept coefficients to adjoints of known parts.
//!
//! A form is read as a matrix of 1 + K columns: its offset, then its coefficients on the K kept innovations
//! of all nodes. Every linear operation acts on all columns alike, out = L x with a known L, so that
//! x̄ = Lᵀ out̄ and L̄ = out̄ xᵀ, of which only the entries that L has are ever formed. A product with a
//! design touches the kept columns of the design alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;

use super::adjoint::{Seed, dependent};
use super::affine::{Affine, Interpreted, Restrict, interpret, operands};
use super::error::{EvalError, Why};
use super::eval::Evaluator;
use super::ops;
use super::picks::{picked, picks};
use super::value::Rank;
use super::walk::Random;
use super::want::{Axis, Want};
use crate::check::typed::{ExprId, ExprKind, Native, NodeId, NodeKind, Op};
use crate::math::product::gemm;

/// Where the kept innovations of each node stand among the columns of an adjoint, offset not counted.
pub type Starts = BTreeMap<NodeId, usize>;

/// The adjoints of the known parts of a linear form, given that of the form: entries × (1 + K), offset
/// first. Parts that do not depend on `leaves` are left out. `restrict` names the kept innovations of
/// every node; nothing is fresh.
///
/// # Errors
/// As [`super::affine()`].
pub fn affine_seeds(
    eval: &mut Evaluator<'_>,
    e: ExprId,
    restrict: &Restrict,
    starts: &Starts,
    adjoint: DMatrix<f64>,
    leaves: &BTreeSet<NodeId>,
) -> Result<Vec<Seed>, EvalError> {
    let inputs = eval.inputs();
    let active = dependent(inputs.model, [e], leaves);
    if !active.contains(&e) {
        return Ok(Vec::new());
    }
    let random = Random::of(&inputs, e);
    let columns = adjoint.ncols();
    let mut back = Backward { eval, starts, columns, active, offsets: BTreeSet::new(), seeds: Vec::new() };
    if !random.is(e) {
        back.known(e, adjoint.column(0).as_slice())?;
        return Ok(back.seeds);
    }
    let forms = interpret(back.eval, e, restrict, random, true)?;
    back.find_offsets(&forms);
    let mut adjoints: BTreeMap<ExprId, DMatrix<f64>> = BTreeMap::from([(e, adjoint)]);
    for e in forms.order.iter().rev().filter(|e| forms.random.is(**e)) {
        let Some(g) = adjoints.remove(e) else { continue };
        if g.nrows() != forms.forms.get(e).map_or(0, |f| f.len()) {
            return Err(EvalError { expr: *e, why: Why::Shape(g.shape(), (0, columns)) });
        }
        for (operand, part) in back.step(*e, &forms, g)? {
            match adjoints.get_mut(&operand) {
                Some(sum) => *sum += part,
                None => {
                    adjoints.insert(operand, part);
                }
            }
        }
    }
    Ok(back.seeds)
}

struct Backward<'e, 'a> {
    eval: &'e mut Evaluator<'a>,
    starts: &'e Starts,
    /// 1 + K
    columns: usize,
    /// Expressions that depend on a leaf.
    active: BTreeSet<ExprId>,
    /// Unknown expressions whose offset depends on a leaf: no entry of it can be taken for zero.
    offsets: BTreeSet<ExprId>,
    seeds: Vec<Seed>,
}

/// Adjoints of unknown operands.
type Parts = Vec<(ExprId, DMatrix<f64>)>;

impl Backward<'_, '_> {
    fn find_offsets(&mut self, forms: &Interpreted) {
        let model = self.eval.inputs().model;
        for e in &forms.order {
            let factor = |x: &ExprId| {
                // a factor is no summand
                matches!(
                    model.expr(*e).kind,
                    ExprKind::MatMul(..)
                        | ExprKind::RowDot(..)
                        | ExprKind::Elementwise(Op::Mul | Op::Div, ..)
                        | ExprKind::Call(..)
                ) && !forms.random.is(*x)
            };
            let found = match forms.random.is(*e) {
                false => self.active.contains(e),
                true => operands(model, *e).iter().any(|x| !factor(x) && self.offsets.contains(x)),
            };
            if found {
                self.offsets.insert(*e);
            }
        }
    }

    /// What the adjoint of a form means for its operands; seeds for the known ones are kept.
    fn step(&mut self, e: ExprId, forms: &Interpreted, g: DMatrix<f64>) -> Result<Parts, EvalError> {
        let model = self.eval.inputs().model;
        let random = |x: &ExprId| forms.random.is(*x);
        let failed = |why| EvalError { expr: e, why };
        let form = |x: ExprId| forms.forms.get(&x).ok_or(EvalError { expr: x, why: Why::Circle });
        let kind = &model.expr(e).kind;
        let minus = |g: &DMatrix<f64>| -g;
        if let Some(base) = picked(kind) {
            let x = form(base)?;
            let out = form(e)?;
            let at = picks(self.eval, kind, (x.rows, x.cols), (out.rows, out.cols))?;
            return Ok(vec![(base, self.lifted(x.len(), at.into_iter().zip(0..), &g))]);
        }
        match kind {
            ExprKind::Node(node) => match &model.node(*node).kind {
                NodeKind::Let { value, .. } => Ok(vec![(*value, g)]),
                // its own innovation is no function of anything
                _ => match operands(model, e).first() {
                    Some(mean) => self.summand(*mean, forms, g),
                    None => Ok(Vec::new()),
                },
            },
            ExprKind::Neg(a) => Ok(vec![(*a, minus(&g))]),
            ExprKind::Elementwise(op @ (Op::Add | Op::Sub), a, b) => {
                let of_b = if *op == Op::Add { g.clone() } else { minus(&g) };
                let mut parts = self.summand(*a, forms, g)?;
                parts.extend(self.summand(*b, forms, of_b)?);
                Ok(parts)
            }
            ExprKind::Elementwise(op @ (Op::Mul | Op::Div), a, b) => {
                let (x, d) = if random(a) { (*a, *b) } else { (*b, *a) };
                self.scale(x, d, *op == Op::Div, form(x)?, &g)
            }
            ExprKind::MatMul(a, b) => {
                let rank = |x: &ExprId| model.expr(*x).ty.shape.len();
                let known_first = random(b);
                let (x, d) = if known_first { (*b, *a) } else { (*a, *b) };
                match (rank(a), rank(b), known_first) {
                    (0, ..) | (_, 0, _) => self.scale(x, d, false, form(x)?, &g),
                    (1, 1, _) => self.inner(x, d, form(x)?, &g),
                    // out_j = Σ_i a_i x_ij
                    (1, _, true) => self.contract(x, d, form(x)?, &g, Contract::VectorTimes),
                    // out_j = Σ_i x_i b_ij
                    (1, _, false) => self.contract(x, d, form(x)?, &g, Contract::TimesMatrixAsRow),
                    (_, _, true) => self.design(x, d, form(x)?, &g),
                    (_, _, false) => self.contract(x, d, form(x)?, &g, Contract::TimesMatrix),
                }
            }
            ExprKind::RowDot(a, b) => {
                let (x, d) = if random(a) { (*a, *b) } else { (*b, *a) };
                self.contract(x, d, form(x)?, &g, Contract::RowByRow)
            }
            ExprKind::Call(native, args) => match (native, args.as_slice()) {
                (Native::Sum | Native::Mean, [a]) => {
                    let n = form(*a)?.len();
                    let each = if *native == Native::Sum { 1.0 } else { 1.0 / n as f64 };
                    Ok(vec![(*a, self.lifted(n, (0..n).map(|i| (i, 0)), &(g * each)))])
                }
                (Native::Dot, [a, b]) if random(a) => self.contract(*a, *b, form(*a)?, &g, Contract::DotLeft),
                (Native::Dot, [a, b]) => self.contract(*b, *a, form(*b)?, &g, Contract::DotRight),
                _ => Err(failed(Why::NotLinear(format!("{native:?}").to_lowercase()))),
            },
            ExprKind::Join(parts) | ExprKind::Vector(parts) => {
                let height = if matches!(kind, ExprKind::Join(_)) { form(e)?.rows } else { 1 };
                let mut at = 0;
                let mut out = Vec::new();
                for part in parts {
                    let shape = self.eval.inputs().shape(&model.expr(*part).ty).map_err(failed)?;
                    let len = if shape.0 == Rank::Scalar { height } else { shape.1 * shape.2 };
                    let rows = g.rows(at, len).into_owned();
                    at += len;
                    out.extend(self.summand(*part, forms, rows)?);
                }
                Ok(out)
            }
            _ => Err(failed(Why::NotLinear("this operation".to_owned()))),
        }
    }

    /// The adjoint of a summand is that of the sum; that of a scalar, its total.
    fn summand(&mut self, x: ExprId, forms: &Interpreted, g: DMatrix<f64>) -> Result<Parts, EvalError> {
        if !self.active.contains(&x) {
            return Ok(Vec::new());
        }
        let scalar = self.eval.inputs().model.expr(x).ty.shape.is_empty() && g.nrows() != 1;
        let g = if scalar { self.lifted(1, (0..g.nrows()).map(|i| (0, i)), &g) } else { g };
        if forms.random.is(x) {
            return Ok(vec![(x, g)]);
        }
        self.known(x, g.column(0).as_slice())?;
        Ok(Vec::new())
    }

    /// A seed for a whole known expression.
    fn known(&mut self, x: ExprId, adjoint: &[f64]) -> Result<(), EvalError> {
        let inputs = self.eval.inputs();
        let failed = |why| EvalError { expr: x, why };
        let (_, rows, cols) = inputs.shape(&inputs.model.expr(x).ty).map_err(failed)?;
        if rows * cols != adjoint.len() {
            return Err(failed(Why::Shape((adjoint.len(), 1), (rows, cols))));
        }
        self.seed(x, Want::all(), DMatrix::from_column_slice(rows, cols, adjoint));
        Ok(())
    }

    fn seed(&mut self, expr: ExprId, want: Want, adjoint: DMatrix<f64>) {
        if self.active.contains(&expr) {
            self.seeds.push(Seed { expr, want, adjoint });
        }
    }

    /// Zeros of n rows, to which rows of `g` are added: (to, from).
    fn lifted(&self, n: usize, rows: impl Iterator<Item = (usize, usize)>, g: &DMatrix<f64>) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(n, self.columns);
        for (to, from) in rows.filter(|(to, _)| *to < n) {
            for c in 0..self.columns {
                out[(to, c)] += g[(from, c)];
            }
        }
        out
    }

    /// These rows of a form as a matrix of 1 + K columns.
    fn rows_of(&self, x: &Affine, rows: &[usize]) -> Result<DMatrix<f64>, Why> {
        let mut out = ops::zeros(rows.len(), self.columns)?;
        for (i, row) in rows.iter().enumerate() {
            out[(i, 0)] = x.offset.get(*row).copied().unwrap_or(0.0);
        }
        for node in x.blocks() {
            if let (Some(coef), Some(start)) = (x.coef(node), self.starts.get(&node)) {
                coef.add_to(Some(rows), &mut out, 0, 1 + start)?;
            }
        }
        Ok(out)
    }

    fn used_rows(&self, x: ExprId, form: &Affine) -> Vec<usize> {
        if self.offsets.contains(&x) { (0..form.rows).collect() } else { form.used_rows() }
    }

    fn used_cols(&self, x: ExprId, form: &Affine) -> Vec<usize> {
        if self.offsets.contains(&x) { (0..form.cols).collect() } else { form.used_cols() }
    }

    /// out = d .* x or x ./ d: x̄ = d .* out̄, d̄_i = Σ_c out̄_ic x_ic; with 1/d, d̄ = −(…)/d².
    fn scale(
        &mut self,
        x: ExprId,
        d: ExprId,
        divide: bool,
        form: &Affine,
        g: &DMatrix<f64>,
    ) -> Result<Parts, EvalError> {
        let failed = |why| EvalError { expr: d, why };
        let n = g.nrows();
        let of = |i: usize| if form.len() == 1 { 0 } else { i };
        let value = self.eval.eval(d, &Want::all())?;
        let entry = |i: usize| {
            let v = value.array.as_slice();
            if v.len() == 1 { v[0] } else { v.get(i).copied().unwrap_or(0.0) }
        };
        if self.active.contains(&d) {
            let rows: Vec<usize> = (0..n).map(of).collect();
            let x_rows = self.rows_of(form, &rows).map_err(failed)?;
            let mut bar = vec![0.0; value.array.len()];
            for i in 0..n {
                let mut along = g.row(i).dot(&x_rows.row(i));
                if divide && along != 0.0 {
                    along /= -(entry(i) * entry(i));
                }
                let at = if bar.len() == 1 { 0 } else { i };
                if let Some(bar) = bar.get_mut(at) {
                    *bar += along;
                }
            }
            self.known(d, &bar)?;
        }
        if !self.active.contains(&x) {
            return Ok(Vec::new());
        }
        let mut scaled = g.clone();
        for i in 0..n {
            // x is 0 where d cannot divide
            let factor = if divide { entry(i).recip() } else { entry(i) };
            let factor = if factor.is_finite() { factor } else { 0.0 };
            scaled.row_mut(i).scale_mut(factor);
        }
        Ok(vec![(x, self.lifted(form.len(), (0..n).map(|i| (of(i), i)), &scaled))])
    }

    /// out = Σ_i x_i d_i
    fn inner(&mut self, x: ExprId, d: ExprId, form: &Affine, g: &DMatrix<f64>) -> Result<Parts, EvalError> {
        let failed = |why| EvalError { expr: d, why };
        let used = self.used_rows(x, form);
        let rows = Want::rows(some(&used, form.rows));
        if self.active.contains(&d) {
            let bar = self.rows_of(form, &used).map_err(failed)? * g.transpose();
            self.seed(d, rows.clone(), bar);
        }
        if !self.active.contains(&x) {
            return Ok(Vec::new());
        }
        let value = self.eval.eval(d, &rows)?;
        let scaled = &value.array * g;
        Ok(vec![(x, self.lifted(form.len(), used.iter().copied().zip(0..), &scaled))])
    }

    /// out = A x for a design A [N,B] and x [B] or [B,C]: Ā_nb = Σ out̄ x, over the rows of x that are used.
    fn design(&mut self, x: ExprId, a: ExprId, form: &Affine, g: &DMatrix<f64>) -> Result<Parts, EvalError> {
        let failed = |why| EvalError { expr: a, why };
        let used = self.used_rows(x, form);
        let n = g.nrows().checked_div(form.cols).unwrap_or(0);
        let want = Want::cols(some(&used, form.rows));
        let value = match self.active.contains(&x) {
            true => Some(self.eval.eval(a, &want)?),
            false => None,
        };
        let mut bar = DMatrix::zeros(n, used.len());
        let mut parts = DMatrix::zeros(if value.is_some() { form.len() } else { 0 }, self.columns);
        for c in 0..form.cols {
            let block = g.rows(c * n, n);
            let rows: Vec<usize> = used.iter().map(|b| b + form.rows * c).collect();
            if self.active.contains(&a) && !used.is_empty() {
                let x_rows = self.rows_of(form, &rows).map_err(failed)?;
                gemm(bar.as_view_mut(), 1.0, block.as_view(), x_rows.transpose().as_view(), 1.0);
            }
            if let Some(value) = &value
                && !used.is_empty()
            {
                let back = value.array.transpose() * block;
                rows.iter().zip(back.row_iter()).for_each(|(to, row)| parts.set_row(*to, &row));
            }
        }
        self.seed(a, want, bar);
        Ok(if value.is_some() { vec![(x, parts)] } else { Vec::new() })
    }

    /// Products that are seldom large, entry by entry: out_o = Σ d_k x_i over triples (o, k, i).
    fn contract(
        &mut self,
        x: ExprId,
        d: ExprId,
        form: &Affine,
        g: &DMatrix<f64>,
        how: Contract,
    ) -> Result<Parts, EvalError> {
        let failed = |why| EvalError { expr: d, why };
        let used = match how {
            Contract::VectorTimes | Contract::TimesMatrixAsRow => self.used_rows(x, form),
            _ => self.used_cols(x, form),
        };
        let size = match how {
            Contract::VectorTimes | Contract::TimesMatrixAsRow => form.rows,
            _ => form.cols,
        };
        let part = some(&used, size);
        let want = match how {
            Contract::VectorTimes | Contract::TimesMatrixAsRow | Contract::TimesMatrix => Want::rows(part),
            Contract::RowByRow | Contract::DotLeft | Contract::DotRight => Want::cols(part),
        };
        let value: Arc<_> = self.eval.eval(d, &want)?;
        let d_array = &value.array;
        let all: Vec<usize> = (0..form.len()).collect();
        let x_rows = self.rows_of(form, &all).map_err(failed)?;
        let mut bar = DMatrix::zeros(d_array.nrows(), d_array.ncols());
        let mut out = DMatrix::zeros(form.len(), self.columns);
        let rows = form.rows;
        let mut term = |o: usize, k: (usize, usize), i: usize| {
            bar[k] += g.row(o).dot(&x_rows.row(i));
            for c in 0..g.ncols() {
                out[(i, c)] += d_array[k] * g[(o, c)];
            }
        };
        for (u, k) in used.iter().enumerate() {
            match how {
                Contract::VectorTimes => (0..form.cols).for_each(|j| term(j, (u, 0), k + rows * j)),
                Contract::TimesMatrixAsRow => (0..d_array.ncols()).for_each(|j| term(j, (u, j), *k)),
                Contract::TimesMatrix => {
                    for c in 0..d_array.ncols() {
                        (0..rows).for_each(|n| term(n + rows * c, (u, c), n + rows * k));
                    }
                }
                Contract::RowByRow => (0..rows).for_each(|n| term(n, (n, u), n + rows * k)),
                Contract::DotLeft => {
                    for m in 0..d_array.nrows() {
                        (0..rows).for_each(|n| term(n + rows * m, (m, u), n + rows * k));
                    }
                }
                Contract::DotRight => {
                    let height = d_array.nrows();
                    for m in 0..rows {
                        (0..height).for_each(|n| term(n + height * m, (n, u), m + rows * k));
                    }
                }
            }
        }
        self.seed(d, want, bar);
        Ok(if self.active.contains(&x) { vec![(x, out)] } else { Vec::new() })
    }
}

/// Which product of an unknown x and a known d.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contract {
    /// out_j = Σ_k d_k x_kj
    VectorTimes,
    /// out_j = Σ_k x_k d_kj
    TimesMatrixAsRow,
    /// out_nc = Σ_k x_nk d_kc
    TimesMatrix,
    /// out_n = Σ_k d_nk x_nk
    RowByRow,
    /// out_nm = Σ_k x_nk d_mk
    DotLeft,
    /// out_nm = Σ_k d_nk x_mk
    DotRight,
}

/// All of an axis of that size, if all are used.
fn some(used: &[usize], size: usize) -> Axis {
    if used.len() == size { Axis::All } else { Axis::only(used) }
}
