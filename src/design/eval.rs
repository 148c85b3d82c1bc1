//! Deterministic expressions as numbers, whole or in part.
//!
//! What is wanted of an expression decides what is wanted of its operands, down to the rows of
//! `train(x)`: a prediction with three kept weights evaluates three columns of the design, and
//! needs three rows of the training inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::{EvalError, Why};
use super::frozen::{Asked, Frozen};
use super::natives::{Rule, rule};
use super::value::{Rank, Value};
use super::want::{Axis, Want};
use super::{host, ops};
use crate::check::dim::{Atom, Dim};
use crate::check::typed::{Expr, ExprId, ExprKind, Model, Native, NodeId, NodeKind, Type};
use crate::host::{Form, Function, HostId};
use crate::math::parts::parts;
use crate::math::sums::all_finite;

/// A model with everything that has a value: dimensions, data, and any node that is held.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The model.
    pub model: &'a Model,
    /// What the data bind.
    pub dims: &'a BTreeMap<Atom, usize>,
    /// Values of nodes: data; also latents and `param`s, where they are held at a value.
    pub values: &'a BTreeMap<NodeId, Arc<Value>>,
    /// The levels of categories.
    pub levels: &'a BTreeMap<NodeId, Vec<String>>,
    /// The names of the columns of data.
    pub columns: &'a BTreeMap<NodeId, Vec<String>>,
}

/// Evaluates expressions, each once.
#[derive(Debug)]
pub struct Evaluator<'a> {
    inputs: Inputs<'a>,
    frozen: &'a Frozen,
    memory: usize,
    memo: BTreeMap<Key, Arc<Value>>,
    asked: Asked,
}

/// A part of an expression.
pub(super) type Key = (ExprId, Want);

/// One value to compute, after those it needs.
pub(super) struct Job {
    pub key: Key,
    /// Earlier jobs.
    pub args: Vec<usize>,
    /// How many later jobs need it.
    uses: usize,
}

impl<'a> Inputs<'a> {
    /// The number that a dimension is bound to.
    ///
    /// # Errors
    /// It is not bound.
    pub fn dim(&self, dim: &Dim) -> Result<usize, Why> {
        dim.eval(&|atom| self.dims.get(atom).copied()).ok_or_else(|| {
            let name =
                |id: NodeId| self.model.nodes.get(id.index()).map_or_else(String::new, |n| n.name.clone());
            Why::NoDim(dim.display(&name).to_string())
        })
    }

    /// Rank, rows and columns of a type.
    ///
    /// # Errors
    /// A dimension is not bound.
    pub fn shape(&self, ty: &Type) -> Result<(Rank, usize, usize), Why> {
        match ty.shape.as_slice() {
            [] => Ok((Rank::Scalar, 1, 1)),
            [a] => Ok((Rank::Vector, self.dim(a)?, 1)),
            [a, b, ..] => Ok((Rank::Matrix, self.dim(a)?, self.dim(b)?)),
        }
    }
}

impl<'a> Evaluator<'a> {
    /// An evaluator that allocates at most `memory` bytes at a time. At training, `frozen` is what
    /// [`Frozen::learn`] found in the same inputs.
    pub fn new(inputs: Inputs<'a>, frozen: &'a Frozen, memory: usize) -> Self {
        Evaluator { inputs, frozen, memory, memo: BTreeMap::new(), asked: Asked::default() }
    }

    /// What it evaluates.
    pub fn inputs(&self) -> Inputs<'a> {
        self.inputs
    }

    /// What was frozen at training.
    pub(super) fn frozen(&self) -> &'a Frozen {
        self.frozen
    }

    /// Bytes it may allocate at a time.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Which rows of training values the evaluations so far have used.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The value of an expression, or the wanted part of it; without labels.
    ///
    /// # Errors
    /// The innermost expression that has no value.
    pub fn eval(&mut self, e: ExprId, want: &Want) -> Result<Arc<Value>, EvalError> {
        let key = (e, want.clone());
        if let Some(value) = self.memo.get(&key) {
            return Ok(value.clone());
        }
        let jobs = self.schedule(vec![key.clone()], &|key| match self.memo.contains_key(key) {
            true => Ok(Vec::new()),
            false => self.needs(key),
        })?;
        let value = self.execute(jobs)?;
        self.memo.insert(key, value.clone());
        Ok(value)
    }

    /// The number of a scalar expression.
    ///
    /// # Errors
    /// As [`Evaluator::eval`].
    pub fn scalar(&mut self, e: ExprId) -> Result<f64, EvalError> {
        let value = self.eval(e, &Want::all())?;
        ops::entry(&value).map_err(|why| EvalError { expr: e, why })
    }

    /// As [`Evaluator::eval`], and every entry is finite.
    ///
    /// # Errors
    /// Also the first entry that is not finite, with its row and column in the whole value.
    pub fn finite(&mut self, e: ExprId, want: &Want) -> Result<Arc<Value>, EvalError> {
        let value = self.eval(e, want)?;
        if !all_finite(value.array.as_slice())
            && let Some(at) = value.array.iter().position(|x| !x.is_finite())
        {
            let rows = value.rows().max(1);
            let whole = |axis: &Axis, i: usize| match axis {
                Axis::All => i,
                Axis::Only(p) => p.get(i).copied().unwrap_or(i),
            };
            let (row, col) = (whole(&want.rows, at % rows), whole(&want.cols, at / rows));
            let why = Why::NonFinite { row, col, value: value.array[at] };
            return Err(EvalError { expr: e, why });
        }
        Ok(value)
    }

    /// Everything that the wanted values need, by what each part `needs`, operands first; without
    /// recursion.
    pub(super) fn schedule(
        &self,
        roots: Vec<Key>,
        needs: &dyn Fn(&Key) -> Result<Vec<Key>, Why>,
    ) -> Result<Vec<Job>, EvalError> {
        enum Visit {
            Enter(Key),
            Leave(Key, Vec<Key>),
        }
        let mut jobs: Vec<Job> = Vec::new();
        let mut done: BTreeMap<Key, usize> = BTreeMap::new();
        let mut open: BTreeSet<Key> = BTreeSet::new();
        let mut stack: Vec<Visit> = roots.into_iter().rev().map(Visit::Enter).collect();
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Enter(key) => {
                    if done.contains_key(&key) {
                        continue;
                    }
                    if !open.insert(key.clone()) {
                        return Err(EvalError { expr: key.0, why: Why::Circle });
                    }
                    let needs = needs(&key).map_err(|why| EvalError { expr: key.0, why })?;
                    stack.push(Visit::Leave(key, needs.clone()));
                    stack.extend(needs.into_iter().rev().map(Visit::Enter));
                }
                Visit::Leave(key, needs) => {
                    let args: Vec<usize> = needs.iter().filter_map(|k| done.get(k).copied()).collect();
                    for a in &args {
                        jobs[*a].uses += 1;
                    }
                    open.remove(&key);
                    done.insert(key.clone(), jobs.len());
                    jobs.push(Job { key, args, uses: 0 });
                }
            }
        }
        Ok(jobs)
    }

    /// Computes every job and returns the last; a value goes as soon as nobody needs it.
    fn execute(&mut self, mut jobs: Vec<Job>) -> Result<Arc<Value>, EvalError> {
        let mut values: Vec<Option<Arc<Value>>> = vec![None; jobs.len()];
        let mut live = 0usize;
        for j in 0..jobs.len() {
            let mut args = Vec::with_capacity(jobs[j].args.len());
            for a in std::mem::take(&mut jobs[j].args) {
                jobs[a].uses -= 1;
                let value = if jobs[a].uses == 0 { values[a].take() } else { values[a].clone() };
                args.extend(value);
            }
            let freed: usize = args.iter().filter(|a| Arc::strong_count(a) == 1).map(|a| bytes(a)).sum();
            live = live.saturating_sub(freed);
            let value = match self.memo.get(&jobs[j].key).or_else(|| self.given(&jobs[j].key)) {
                Some(value) => value.clone(),
                None => {
                    let value = self.compute(&jobs[j].key, args, live.saturating_add(freed));
                    let value = value.map_err(|why| EvalError { expr: jobs[j].key.0, why })?;
                    live = live.saturating_add(bytes(&value));
                    Arc::new(value)
                }
            };
            values[j] = Some(value);
        }
        let root = values.pop().flatten();
        root.ok_or(EvalError { expr: ExprId(0), why: Why::Circle })
    }

    /// The whole value of a node that has one: nothing is copied.
    fn given(&self, (e, want): &Key) -> Option<&'a Arc<Value>> {
        match self.inputs.model.expr(*e).kind {
            ExprKind::Node(node) if *want == Want::all() => self.inputs.values.get(&node),
            _ => None,
        }
    }

    /// What is wanted of the operands.
    pub(super) fn needs(&self, (e, want): &Key) -> Result<Vec<Key>, Why> {
        let model = self.inputs.model;
        let rank = |e: ExprId| model.expr(e).ty.shape.len();
        // a scalar is always whole
        let part = |e: ExprId, want: Want| (e, if rank(e) == 0 { Want::all() } else { want });
        let same = |e: ExprId| part(e, want.clone());
        let rows = |e: ExprId| part(e, Want::rows(want.rows.clone()));
        let whole = |e: ExprId| (e, Want::all());
        Ok(match &model.expr(*e).kind {
            ExprKind::Number(_) | ExprKind::Dim(_) | ExprKind::Range(_) | ExprKind::Train(_) => Vec::new(),
            ExprKind::Node(node) => match model.nodes.get(node.index()).map(|n| &n.kind) {
                _ if self.inputs.values.contains_key(node) => Vec::new(),
                Some(NodeKind::Let { value, .. }) => vec![same(*value)],
                _ => return Err(Why::NoValue(*node)),
            },
            ExprKind::Neg(a) | ExprKind::Standardize(a) => vec![same(*a)],
            ExprKind::Elementwise(_, a, b) => vec![same(*a), same(*b)],
            ExprKind::MatMul(a, b) => match (rank(*a), rank(*b)) {
                (0, _) | (_, 0) => vec![same(*a), same(*b)],
                (1, 1) => vec![whole(*a), whole(*b)],
                (1, _) => vec![whole(*a), part(*b, Want::cols(want.rows.clone()))],
                (_, 1) => vec![rows(*a), whole(*b)],
                _ => vec![rows(*a), part(*b, Want::cols(want.cols.clone()))],
            },
            ExprKind::RowDot(a, b) => vec![rows(*a), rows(*b)],
            ExprKind::Call(native, args) => match (rule(*native), args.as_slice()) {
                (Rule::Map(..), [a]) => vec![same(*a)],
                (Rule::Pairs(..), [x, c, scale @ ..]) => {
                    let centres = part(*c, Want::rows(want.cols.clone()));
                    [rows(*x), centres].into_iter().chain(scale.iter().map(|s| whole(*s))).collect()
                }
                (Rule::Monomials(_), [x, rest @ ..]) => {
                    std::iter::once(rows(*x)).chain(rest.iter().map(|e| whole(*e))).collect()
                }
                (_, args) => args.iter().map(|a| whole(*a)).collect(),
            },
            ExprKind::Host(id, args) => match (self.function(*id)?.form, args.as_slice()) {
                (Form::Map, args) => args.iter().map(|a| same(*a)).collect(),
                (Form::Features(_), [x, rest @ ..]) => {
                    std::iter::once(rows(*x)).chain(rest.iter().map(|e| whole(*e))).collect()
                }
                (Form::Kernel, [x, c, rest @ ..]) => {
                    let centres = part(*c, Want::rows(want.cols.clone()));
                    [rows(*x), centres].into_iter().chain(rest.iter().map(|e| whole(*e))).collect()
                }
                (_, args) => args.iter().map(|a| whole(*a)).collect(),
            },
            ExprKind::Join(parts) => self.join_needs(parts, want)?,
            ExprKind::Vector(parts) => {
                ops::positions(&want.rows, parts.len())?.into_iter().map(|i| whole(parts[i])).collect()
            }
            ExprKind::Gather { base, at } => {
                vec![part(*base, Want::cols(want.cols.clone())), rows(*at)]
            }
            ExprKind::GatherColumns { base, at } => {
                vec![rows(*base), part(*at, Want::rows(want.cols.clone()))]
            }
            ExprKind::GatherPairs { base, rows: r, cols } => vec![whole(*base), rows(*r), rows(*cols)],
            ExprKind::Row(a, i) => {
                vec![part(*a, Want { rows: Axis::only(&[*i]), cols: want.rows.clone() })]
            }
            ExprKind::Column(a, j) => {
                vec![part(*a, Want { rows: want.rows.clone(), cols: Axis::only(&[*j]) })]
            }
            ExprKind::Transpose(a) => {
                vec![part(*a, Want { rows: want.cols.clone(), cols: want.rows.clone() })]
            }
            ExprKind::RepeatColumns(a, _) | ExprKind::AsColumn(a) => vec![rows(*a)],
            ExprKind::RepeatRows(a, _) => vec![part(*a, Want::rows(want.cols.clone()))],
            ExprKind::OneHot(a) => vec![rows(*a)],
        })
    }

    /// Of every part of a join the wanted columns; a part of which none is wanted is left out.
    fn join_needs(&self, parts: &[ExprId], want: &Want) -> Result<Vec<Key>, Why> {
        let mut needs = Vec::new();
        for (part, cols) in self.join_columns(parts, want)? {
            let ty = &self.inputs.model.expr(part).ty;
            needs.push(match ty.shape.len() {
                0 => (part, Want::all()),
                1 => (part, Want::rows(want.rows.clone())),
                _ => (part, Want { rows: want.rows.clone(), cols }),
            });
        }
        Ok(needs)
    }

    /// The runs of wanted columns that lie in one part, with their positions in that part.
    fn join_columns(&self, parts: &[ExprId], want: &Want) -> Result<Vec<(ExprId, Axis)>, Why> {
        let Axis::Only(wanted) = &want.cols else {
            return Ok(parts.iter().map(|p| (*p, Axis::All)).collect());
        };
        let mut starts = Vec::with_capacity(parts.len());
        let mut width = 0usize;
        for part in parts {
            starts.push(width);
            width = width.saturating_add(self.inputs.shape(&self.inputs.model.expr(*part).ty)?.2);
        }
        let mut runs: Vec<(usize, Vec<usize>)> = Vec::new();
        for col in wanted.iter() {
            if *col >= width {
                return Err(Why::Position(*col, width));
            }
            // the last part that starts at or before the column; empty parts before it share its start
            let p = starts.partition_point(|s| s <= col).saturating_sub(1);
            let within = col - starts[p];
            match runs.last_mut() {
                // a vector or a scalar has one column: a second demand is a second run
                Some((last, cols)) if *last == p && self.inputs.model.expr(parts[p]).ty.shape.len() > 1 => {
                    cols.push(within);
                }
                _ => runs.push((p, vec![within])),
            }
        }
        Ok(runs.into_iter().map(|(p, cols)| (parts[p], Axis::Only(cols.into()))).collect())
    }

    /// The wanted part of an expression from the wanted parts of its operands.
    pub(super) fn compute(&mut self, key: &Key, args: Vec<Arc<Value>>, live: usize) -> Result<Value, Why> {
        let (e, want) = key;
        let model = self.inputs.model;
        let expr: &Expr = model.expr(*e);
        let (rank, all_rows, all_cols) = self.inputs.shape(&expr.ty)?;
        let (rows, cols) = (want.rows.len(all_rows), want.cols.len(all_cols));
        let needed = live.saturating_add(ops::size(rows, cols));
        if needed > self.memory {
            return Err(Why::Memory(needed, self.memory));
        }
        let mut args = args.into_iter();
        let mut next = || args.next().ok_or(Why::Circle);
        let array = match &expr.kind {
            ExprKind::Number(x) => nalgebra::DMatrix::from_element(1, 1, x.0),
            ExprKind::Dim(d) => nalgebra::DMatrix::from_element(1, 1, self.inputs.dim(d)? as f64),
            ExprKind::Range(_) => {
                let at = ops::positions(&want.rows, all_rows)?;
                let mut out = ops::zeros(rows, 1)?;
                out.iter_mut().zip(at).for_each(|(o, i)| *o = i as f64 + 1.0);
                out
            }
            ExprKind::Node(node) => match self.inputs.values.get(node) {
                Some(value) => ops::select(&value.array, &want.rows, &want.cols)?,
                None => Arc::unwrap_or_clone(next()?).array,
            },
            ExprKind::Neg(_) => {
                let mut out = Arc::unwrap_or_clone(next()?).array;
                out.as_mut_slice().iter_mut().for_each(|x| *x = -*x);
                out
            }
            ExprKind::Elementwise(op, ..) => ops::elementwise(*op, next()?, next()?)?,
            ExprKind::MatMul(..) => {
                let (a, b) = (next()?, next()?);
                if a.rank == Rank::Scalar || b.rank == Rank::Scalar {
                    ops::elementwise(crate::check::typed::Op::Mul, a, b)?
                } else {
                    ops::mat_mul(&a, &b)?
                }
            }
            ExprKind::RowDot(..) => ops::row_dot(&next()?.array, &next()?.array)?,
            ExprKind::Call(native, _) => self.call(*native, args.collect(), want, (rows, cols))?,
            ExprKind::Host(id, _) => {
                let args: Vec<Arc<Value>> = args.collect();
                host::evaluate(self.function(*id)?, &args, &want.cols, (rows, cols))?
            }
            ExprKind::Join(_) => {
                let mut parts: Vec<Arc<Value>> = args.collect();
                match parts.as_slice() {
                    // often all wanted columns lie in one part
                    [one] if one.rank != Rank::Scalar && one.rows() == rows => {
                        Arc::unwrap_or_clone(parts.remove(0)).array
                    }
                    parts => ops::join(parts, rows)?,
                }
            }
            ExprKind::Vector(_) => {
                let mut out = ops::zeros(rows, 1)?;
                for o in out.iter_mut() {
                    *o = ops::entry(&*args.next().ok_or(Why::Circle)?)?;
                }
                out
            }
            ExprKind::Gather { base: _, at } => {
                let (base, at) = (next()?, (next()?, *at));
                let picked = ops::known(ops::indices(&at.0, self.coded(at.1), base.rows())?)?;
                ops::select(&base.array, &Axis::Only(picked.into()), &Axis::All)?
            }
            ExprKind::GatherColumns { base: _, at } => {
                let (base, at) = (next()?, (next()?, *at));
                let picked = ops::known(ops::indices(&at.0, self.coded(at.1), base.cols())?)?;
                ops::select(&base.array, &Axis::All, &Axis::Only(picked.into()))?
            }
            ExprKind::GatherPairs { base: _, rows: r, cols: c } => {
                let (base, at_r, at_c) = (next()?, next()?, next()?);
                let r = ops::known(ops::indices(&at_r, self.coded(*r), base.rows())?)?;
                let c = ops::known(ops::indices(&at_c, self.coded(*c), base.cols())?)?;
                let mut out = ops::zeros(rows, 1)?;
                out.iter_mut().zip(r.into_iter().zip(c)).for_each(|(o, at)| *o = base.array[at]);
                out
            }
            ExprKind::Row(..) | ExprKind::Transpose(_) => next()?.array.transpose(),
            ExprKind::AsColumn(_) if want.cols != Axis::All => {
                ops::select(&next()?.array, &Axis::All, &want.cols)?
            }
            ExprKind::Column(..) | ExprKind::AsColumn(_) => Arc::unwrap_or_clone(next()?).array,
            ExprKind::RepeatColumns(..) => {
                let column = next()?;
                ops::join(&vec![column; cols], rows)?
            }
            ExprKind::RepeatRows(..) => {
                let row = next()?;
                let mut out = ops::zeros(rows, cols)?;
                for (mut column, x) in out.column_iter_mut().zip(row.array.iter()) {
                    column.fill(*x);
                }
                out
            }
            ExprKind::Train(_) => {
                self.asked.add(*e, &want.rows);
                self.frozen.train_part(*e, want)?.array
            }
            ExprKind::Standardize(_) => {
                let mut out = Arc::unwrap_or_clone(next()?).array;
                self.frozen.standardize(*e, &want.cols, &mut out)?;
                out
            }
            ExprKind::OneHot(_) => ops::one_hot(&*next()?, all_cols, &want.cols)?,
        };
        if array.shape() != (rows, cols) {
            return Err(Why::Shape(array.shape(), (rows, cols)));
        }
        Ok(Value { rank, array, labels: Vec::new() })
    }

    fn call(
        &self,
        native: Native,
        args: Vec<Arc<Value>>,
        want: &Want,
        (rows, cols): (usize, usize),
    ) -> Result<nalgebra::DMatrix<f64>, Why> {
        let mut args = args.into_iter();
        let first = args.next().ok_or(Why::Circle)?;
        match rule(native) {
            Rule::Map(_, f, _) => {
                let mut out = Arc::unwrap_or_clone(first).array;
                parts(out.as_mut_slice(), ops::PART, 4, &|_, part| f(part));
                Ok(out)
            }
            Rule::Reduce(f, _) => Ok(nalgebra::DMatrix::from_element(1, 1, f(first.array.as_slice()))),
            Rule::Pairs(f, _) => {
                let c = args.next().ok_or(Why::Circle)?;
                let scale = args.next();
                let d = first.cols();
                if c.cols() != d {
                    return Err(Why::Shape(c.array.shape(), (c.rows(), d)));
                }
                if let Some(s) = scale.as_ref().filter(|s| s.array.len() != d) {
                    return Err(Why::Shape(s.array.shape(), (d, 1)));
                }
                if (first.rows(), c.rows()) != (rows, cols) {
                    return Err(Why::Shape((first.rows(), c.rows()), (rows, cols)));
                }
                let mut out = ops::zeros(rows, cols)?;
                f(&first.array, &c.array, scale.as_ref().map(|s| s.array.as_slice()), &mut out);
                Ok(out)
            }
            Rule::Monomials(f) => {
                let degree = args.next().map(|p| ops::entry(&p)).transpose()?.unwrap_or(0.0);
                let terms = f(first.cols(), degree.clamp(0.0, 1e6) as usize);
                let mut out = ops::zeros(first.rows(), cols)?;
                for (mut column, j) in out.column_iter_mut().zip(ops::positions(&want.cols, terms.len())?) {
                    column.fill(1.0);
                    for (k, power) in &terms[j] {
                        let power = i32::try_from(*power).unwrap_or(i32::MAX);
                        for (o, x) in column.iter_mut().zip(first.array.column(*k).iter()) {
                            *o *= x.powi(power);
                        }
                    }
                }
                Ok(out)
            }
        }
    }

    /// A function of the host program.
    pub(super) fn function(&self, id: HostId) -> Result<&'a Function, Why> {
        self.inputs.model.hosts.get(id).ok_or(Why::Circle)
    }

    pub(super) fn coded(&self, at: ExprId) -> bool {
        ops::is_coded(self.inputs.model.expr(at).ty.elem)
    }
}

pub(super) fn bytes(value: &Value) -> usize {
    ops::size(value.rows(), value.cols())
}
