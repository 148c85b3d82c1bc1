//! One step of the linear interpreter: the form of an expression from those of its operands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;

use super::affine::{Affine, Draw, Restrict, Shape, affine, gaussian_mean, known};
use super::coef::{Coef, Csr};
use super::error::{EvalError, Why};
use super::eval::Evaluator;
use super::ops;
use super::value::{Rank, Value};
use super::walk::Random;
use super::want::{Axis, Want};
use crate::check::typed::{ExprId, ExprKind, Native, NodeId, NodeKind, Op};

/// Forms of the expressions met so far.
pub(super) struct Interpreter<'e, 'a> {
    pub eval: &'e mut Evaluator<'a>,
    pub restrict: &'e Restrict,
    pub random: Random,
    pub forms: BTreeMap<ExprId, Arc<Affine>>,
    /// How often each form is still needed.
    pub uses: BTreeMap<ExprId, usize>,
    pub draws: BTreeMap<NodeId, Draws>,
}

/// Fresh draws of a node in the order in which they were met: the columns of their coefficients.
#[derive(Default)]
pub(super) struct Draws {
    pub list: Vec<Draw>,
    at: BTreeMap<Draw, usize>,
}

/// An error here, or one that knows its expression already.
pub(super) enum Failed {
    Here(Why),
    Inner(EvalError),
}

impl From<Why> for Failed {
    fn from(why: Why) -> Failed {
        Failed::Here(why)
    }
}

impl From<EvalError> for Failed {
    fn from(error: EvalError) -> Failed {
        Failed::Inner(error)
    }
}

impl Failed {
    pub(super) fn at(self, expr: ExprId) -> EvalError {
        match self {
            Failed::Here(why) => EvalError { expr, why },
            Failed::Inner(error) => error,
        }
    }
}

impl Interpreter<'_, '_> {
    /// The form of an expression, from those of its operands.
    pub(super) fn step(&mut self, e: ExprId) -> Result<Affine, Failed> {
        let inputs = self.eval.inputs();
        let model = inputs.model;
        let memory = self.eval.memory();
        let (rank, rows, cols) = inputs.shape(&model.expr(e).ty)?;
        let shape = Shape { rank, rows, cols };
        // offsets and one number per entry
        let wanted = ops::size(rows, cols).saturating_mul(4);
        if wanted > memory {
            return Err(Why::Memory(wanted, memory).into());
        }
        let not = |what: &str| Failed::from(Why::NotLinear(what.to_owned()));
        match &model.expr(e).kind {
            ExprKind::Node(node) => self.node(*node, shape),
            ExprKind::Neg(a) => {
                let a = self.take(*a)?;
                Ok(a.apply(&Csr::diagonal(&vec![-1.0; a.len()]), shape, memory)?)
            }
            ExprKind::Elementwise(op @ (Op::Add | Op::Sub), a, b) => {
                let sign = if *op == Op::Add { 1.0 } else { -1.0 };
                let (a, b) = (self.take(*a)?, self.take(*b)?);
                Ok(a.plus(sign, &b, shape, memory)?)
            }
            ExprKind::Elementwise(Op::Mul, a, b) => match (self.random.is(*a), self.random.is(*b)) {
                (true, true) => Err(not("a product of two unknowns")),
                (true, false) => self.scale(*a, *b, false, shape),
                _ => self.scale(*b, *a, false, shape),
            },
            ExprKind::Elementwise(Op::Div, a, b) => {
                if self.random.is(*b) {
                    return Err(not("a division by an unknown"));
                }
                self.scale(*a, *b, true, shape)
            }
            ExprKind::Elementwise(op, ..) => Err(not(&format!("{op:?} of an unknown").to_lowercase())),
            ExprKind::MatMul(a, b) => match (self.random.is(*a), self.random.is(*b)) {
                (true, true) => Err(not("a product of two unknowns")),
                (false, true) => self.mat_mul_right(*a, *b, shape),
                _ => self.mat_mul_left(*a, *b, shape),
            },
            ExprKind::RowDot(a, b) => {
                let (x, known) = match (self.random.is(*a), self.random.is(*b)) {
                    (true, true) => return Err(not("a dot product of two unknowns")),
                    (true, false) => (*a, *b),
                    _ => (*b, *a),
                };
                let x = self.take(x)?;
                let used = x.used_cols();
                let d = self.eval.finite(known, &Want::cols(some(&used, x.cols)))?;
                fits(&d, x.rows, used.len())?;
                // out_n = Σ_k d_nk x_nk
                let l = Csr::from_rows((0..x.rows).map(|n| {
                    used.iter().enumerate().map(|(i, k)| (n + x.rows * k, d.array[(n, i)])).collect()
                }));
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::Call(native, args) => match (native, args.as_slice()) {
                (Native::Sum | Native::Mean, [a]) => {
                    let a = self.take(*a)?;
                    let each = if *native == Native::Sum { 1.0 } else { 1.0 / a.len() as f64 };
                    let l = Csr::from_rows([(0..a.len()).map(|i| (i, each)).collect()]);
                    Ok(a.apply(&l, shape, memory)?)
                }
                (Native::Dot, [a, b]) => self.dot(*a, *b, shape),
                _ => Err(not(&format!("{native:?} of an unknown").to_lowercase())),
            },
            ExprKind::Join(parts) | ExprKind::Vector(parts) => {
                let height = if matches!(model.expr(e).kind, ExprKind::Join(_)) { rows } else { 1 };
                self.stack(parts, height, shape)
            }
            ExprKind::Gather { base, at } => self.gather(*base, *at, shape),
            ExprKind::GatherColumns { base, at } => {
                let x = self.take(*base)?;
                let at = self.indices(*at, x.cols)?;
                let l = Csr::picking(
                    at.iter()
                        .flat_map(|j| (0..x.rows).map(move |i| (i, j)))
                        .map(|(i, j)| Some(i + x.rows * j)),
                );
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::GatherPairs { base, rows: r, cols: c } => self.gather_pairs(*base, *r, *c, shape),
            ExprKind::Row(a, i) => {
                let x = self.take(*a)?;
                let l = Csr::picking((0..x.cols).map(|j| Some(i + x.rows * j)));
                inside(*i, x.rows)?;
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::Column(a, j) => {
                let x = self.take(*a)?;
                inside(*j, x.cols)?;
                let l = Csr::picking((0..x.rows).map(|i| Some(i + x.rows * j)));
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::Transpose(a) => {
                let x = self.take(*a)?;
                let l = Csr::picking(
                    (0..x.rows)
                        .flat_map(|i| (0..x.cols).map(move |j| (i, j)))
                        .map(|(i, j)| Some(i + x.rows * j)),
                );
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::RepeatColumns(a, _) => {
                let x = self.take(*a)?;
                let l = Csr::picking((0..cols).flat_map(|_| (0..x.len()).map(Some)));
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::RepeatRows(a, _) => {
                let x = self.take(*a)?;
                let l = Csr::picking((0..x.len()).flat_map(|j| std::iter::repeat_n(Some(j), rows)));
                Ok(x.apply(&l, shape, memory)?)
            }
            ExprKind::AsColumn(a) => {
                let x = self.take(*a)?;
                Ok(x.broadcast(shape, memory)?)
            }
            ExprKind::Host(..) => Err(not("a function of the host program")),
            ExprKind::Train(_) => Err(not("train(…) of an unknown")),
            ExprKind::Standardize(_) => Err(not("standardize(…) of an unknown")),
            ExprKind::OneHot(_) => Err(not("onehot(…) of an unknown")),
            ExprKind::Number(_) | ExprKind::Dim(_) | ExprKind::Range(_) => Err(Why::Circle.into()),
        }
    }

    /// A `let`, or a latent node: its mean plus its own innovation.
    fn node(&mut self, node: NodeId, shape: Shape) -> Result<Affine, Failed> {
        let model = self.eval.inputs().model;
        let memory = self.eval.memory();
        let node_of = model.nodes.get(node.index());
        let dist = match node_of.map(|n| &n.kind) {
            Some(NodeKind::Let { value, .. }) => return Ok(Arc::unwrap_or_clone(self.take(*value)?)),
            Some(NodeKind::Latent(dist)) => dist,
            _ => return Err(Why::NoValue(node).into()),
        };
        let Some(mean) = gaussian_mean(dist) else {
            let name = node_of.map_or("", |n| &n.name);
            return Err(Why::NotLinear(format!("`{name}` is not Gaussian")).into());
        };
        let n = shape.len();
        let mut own = shape.form(vec![0.0; n], BTreeMap::new(), BTreeMap::new())?;
        if self.restrict.fresh.contains(&node) {
            let draws: Vec<Option<usize>> =
                (0..n).map(|i| Some(draw(&mut self.draws, node, Draw::Entry(i)))).collect();
            own.fresh.insert(node, Csr::picking(draws));
        } else if let Some(active) = self.restrict.active.get(&node) {
            let mut position = vec![None; n];
            for (at, entry) in active.iter().enumerate() {
                *position.get_mut(*entry).ok_or(Why::Position(*entry, n))? = Some(at);
            }
            own.parts.insert(node, Coef::sparse(Csr::picking(position), active.len()));
        } else {
            own.parts.insert(node, Coef::sparse(Csr::picking((0..n).map(Some)), n));
        }
        match mean {
            None => Ok(own),
            Some(mean) => {
                let mean = self.take(mean)?;
                Ok(mean.plus(1.0, &own, shape, memory)?)
            }
        }
    }

    /// x · d or x / d, elementwise.
    fn scale(&mut self, x: ExprId, d: ExprId, divide: bool, shape: Shape) -> Result<Affine, Failed> {
        let memory = self.eval.memory();
        let x = self.take(x)?.broadcast(shape, memory)?;
        let used = x.used_cols();
        let scalar = self.eval.inputs().model.expr(d).ty.shape.is_empty();
        // only the columns that meet an entry that is not 0
        let want = if scalar || shape.rank != Rank::Matrix {
            Want::all()
        } else {
            Want::cols(some(&used, shape.cols))
        };
        let d = self.eval.finite(d, &want)?;
        let mut factors = vec![0.0; shape.len()];
        if scalar {
            factors.fill(ops::entry(&d)?);
        } else {
            let cols = want.cols.positions(shape.cols).unwrap_or_default();
            fits(&d, shape.rows, cols.len())?;
            for (i, c) in cols.iter().enumerate() {
                for r in 0..shape.rows {
                    factors[r + shape.rows * c] = d.array[(r, i)];
                }
            }
        }
        if divide {
            let used = x.used();
            for (i, f) in factors.iter_mut().enumerate() {
                *f = if used[i] { f.recip() } else { 0.0 };
                if !f.is_finite() {
                    let (row, col) = (i % shape.rows.max(1), i / shape.rows.max(1));
                    return Err(Why::NonFinite { row, col, value: *f }.into());
                }
            }
        }
        Ok(x.apply(&Csr::diagonal(&factors), shape, memory)?)
    }

    /// a · x: only the columns of a that meet an entry of x that is not 0 are evaluated.
    fn mat_mul_right(&mut self, a: ExprId, x: ExprId, shape: Shape) -> Result<Affine, Failed> {
        let rank = |e: ExprId| self.eval.inputs().model.expr(e).ty.shape.len();
        let memory = self.eval.memory();
        match (rank(a), rank(x)) {
            (0, _) | (_, 0) => self.scale(x, a, false, shape),
            (1, _) => {
                // out_j = Σ_i a_i x_ij
                let x = self.take(x)?;
                let a = self.eval.finite(a, &Want::all())?;
                fits(&a, x.rows, 1)?;
                let used = x.used_rows();
                let l = Csr::from_rows(
                    (0..x.cols).map(|j| used.iter().map(|i| (i + x.rows * j, a.array[*i])).collect()),
                );
                Ok(x.apply(&l, shape, memory)?)
            }
            _ => {
                let x = self.take(x)?;
                let used = x.used_rows();
                let a = self.eval.finite(a, &Want::cols(some(&used, x.rows)))?;
                fits(&a, a.rows(), used.len())?;
                product(&a, &x, &used, shape, memory)
            }
        }
    }

    /// x · b
    fn mat_mul_left(&mut self, x: ExprId, b: ExprId, shape: Shape) -> Result<Affine, Failed> {
        let rank = |e: ExprId| self.eval.inputs().model.expr(e).ty.shape.len();
        let memory = self.eval.memory();
        match (rank(x), rank(b)) {
            (0, _) | (_, 0) => self.scale(x, b, false, shape),
            (1, 1) => {
                let x = self.take(x)?;
                let b = self.eval.finite(b, &Want::all())?;
                fits(&b, x.len(), 1)?;
                let l = Csr::from_rows([x.used_rows().iter().map(|i| (*i, b.array[*i])).collect()]);
                Ok(x.apply(&l, shape, memory)?)
            }
            (1, _) => {
                // xᵀ b = (bᵀ x)ᵀ
                let x = self.take(x)?;
                let used = x.used_rows();
                let b = self.eval.finite(b, &Want::rows(some(&used, x.rows)))?;
                fits(&b, used.len(), b.cols())?;
                let transposed = Arc::new(Value::matrix(b.array.transpose()));
                product(&transposed, &x, &used, shape, memory)
            }
            _ => {
                // out_nc = Σ_k x_nk b_kc
                let x = self.take(x)?;
                let used = x.used_cols();
                let rank_b = rank_of(self.eval, b);
                let want = Want::rows(some(&used, x.cols));
                let b = self.eval.finite(b, &want)?;
                let width = if rank_b == 1 { 1 } else { b.cols() };
                fits(&b, used.len(), width)?;
                let l = Csr::from_rows((0..width).flat_map(|c| (0..x.rows).map(move |n| (n, c))).map(
                    |(n, c)| {
                        used.iter().enumerate().map(|(i, k)| (n + x.rows * k, b.array[(i, c)])).collect()
                    },
                ));
                Ok(x.apply(&l, shape, memory)?)
            }
        }
    }

    /// a · bᵀ
    fn dot(&mut self, a: ExprId, b: ExprId, shape: Shape) -> Result<Affine, Failed> {
        let memory = self.eval.memory();
        match (self.random.is(a), self.random.is(b)) {
            (true, true) => Err(Why::NotLinear("a dot product of two unknowns".to_owned()).into()),
            (true, false) => {
                let x = self.take(a)?;
                let used = x.used_cols();
                let b = self.eval.finite(b, &Want::cols(some(&used, x.cols)))?;
                fits(&b, b.rows(), used.len())?;
                // out_nm = Σ_k x_nk b_mk
                let l = Csr::from_rows((0..b.rows()).flat_map(|m| (0..x.rows).map(move |n| (n, m))).map(
                    |(n, m)| {
                        used.iter().enumerate().map(|(i, k)| (n + x.rows * k, b.array[(m, i)])).collect()
                    },
                ));
                Ok(x.apply(&l, shape, memory)?)
            }
            _ => {
                let x = self.take(b)?;
                let used = x.used_cols();
                let a = self.eval.finite(a, &Want::cols(some(&used, x.cols)))?;
                fits(&a, a.rows(), used.len())?;
                // out_nm = Σ_k a_nk x_mk
                let n = a.rows();
                let l =
                    Csr::from_rows((0..x.rows).flat_map(|m| (0..n).map(move |n| (n, m))).map(|(n, m)| {
                        used.iter().enumerate().map(|(i, k)| (m + x.rows * k, a.array[(n, i)])).collect()
                    }));
                Ok(x.apply(&l, shape, memory)?)
            }
        }
    }

    /// Entries one after the other: the columns of a join, the entries of a vector.
    fn stack(&mut self, parts: &[ExprId], height: usize, shape: Shape) -> Result<Affine, Failed> {
        let memory = self.eval.memory();
        let mut forms = Vec::with_capacity(parts.len());
        for part in parts {
            let form = self.take(*part)?;
            forms.push(if form.rank == Rank::Scalar && height != 1 {
                let column = Shape { rank: Rank::Vector, rows: height, cols: 1 };
                Arc::new(form.broadcast(column, memory)?)
            } else {
                form
            });
        }
        let offset = forms.iter().flat_map(|f| f.offset.iter().copied()).collect();
        let nodes: BTreeSet<NodeId> = forms.iter().flat_map(|f| f.parts.keys().copied()).collect();
        let mut stacked = BTreeMap::new();
        for node in nodes {
            let cols = forms.iter().find_map(|f| f.parts.get(&node)).map_or(0, Coef::cols);
            let all: Vec<Coef> = forms
                .iter()
                .map(|f| {
                    f.parts.get(&node).cloned().unwrap_or_else(|| Coef::sparse(Csr::empty(f.len()), cols))
                })
                .collect();
            stacked.insert(node, Coef::stack(&all.iter().collect::<Vec<_>>(), cols, memory)?);
        }
        let nodes: BTreeSet<NodeId> = forms.iter().flat_map(|f| f.fresh.keys().copied()).collect();
        let mut fresh = BTreeMap::new();
        for node in nodes {
            let all: Vec<Csr> = forms
                .iter()
                .map(|f| f.fresh.get(&node).cloned().unwrap_or_else(|| Csr::empty(f.len())))
                .collect();
            fresh.insert(node, Csr::stack(&all));
        }
        Ok(shape.form(offset, stacked, fresh)?)
    }

    /// Entries or rows at known indices; a level that was not there at training is a fresh draw.
    fn gather(&mut self, base: ExprId, at: ExprId, shape: Shape) -> Result<Affine, Failed> {
        self.refuse_random(at)?;
        let memory = self.eval.memory();
        let x = self.take(base)?;
        let index = self.raw_indices(at, x.rows)?;
        let width = if x.rank == Rank::Matrix { x.cols } else { 1 };
        let base_rows = x.rows;
        let l =
            Csr::picking((0..width).flat_map(|j| index.iter().map(move |i| i.map(|i| i + base_rows * j))));
        let mut out = x.apply(&l, shape, memory)?;
        let unseen: Vec<usize> = (0..index.len()).filter(|n| index[*n].is_none()).collect();
        if let Some(first) = unseen.first() {
            // a new entry of the node itself: its mean, if that is one number, plus a draw
            let node = self.exchangeable(base).ok_or(Why::UnseenLevel(*first))?;
            let mean = self.common_mean(node)?.ok_or(Why::UnseenLevel(*first))?;
            let mut draws = vec![None; shape.len()];
            for j in 0..width {
                for n in &unseen {
                    let new = Draw::Unseen { at, row: *n, col: j };
                    draws[n + shape.rows * j] = Some(draw(&mut self.draws, node, new));
                }
            }
            let ones = draws.iter().map(|d| d.map(|_| 0));
            let mean = mean.apply(&Csr::picking(ones), shape, memory)?;
            let own = BTreeMap::from([(node, Csr::picking(draws))]);
            let own = shape.form(vec![0.0; shape.len()], BTreeMap::new(), own)?;
            out = out.plus(1.0, &mean, shape, memory)?.plus(1.0, &own, shape, memory)?;
        }
        Ok(out)
    }

    fn gather_pairs(&mut self, base: ExprId, at: ExprId, c: ExprId, shape: Shape) -> Result<Affine, Failed> {
        self.refuse_random(at)?;
        let memory = self.eval.memory();
        let x = self.take(base)?;
        let c_at = self.indices(c, x.cols)?;
        let index = self.raw_indices(at, x.rows)?;
        let l = Csr::picking(index.iter().zip(&c_at).map(|(r, c)| r.map(|r| r + x.rows * c)));
        let mut out = x.apply(&l, shape, memory)?;
        if let Some(first) = index.iter().position(Option::is_none) {
            let node = self.exchangeable(base).ok_or(Why::UnseenLevel(first))?;
            let mean = self.common_mean(node)?.ok_or(Why::UnseenLevel(first))?;
            let mut draws = Vec::with_capacity(index.len());
            for (row, (r, col)) in index.iter().zip(&c_at).enumerate() {
                draws.push(match r {
                    Some(_) => None,
                    None => Some(draw(&mut self.draws, node, Draw::Unseen { at, row, col: *col })),
                });
            }
            let ones = draws.iter().map(|d| d.map(|_| 0));
            let mean = mean.apply(&Csr::picking(ones), shape, memory)?;
            let own = BTreeMap::from([(node, Csr::picking(draws))]);
            let own = shape.form(vec![0.0; shape.len()], BTreeMap::new(), own)?;
            out = out.plus(1.0, &mean, shape, memory)?.plus(1.0, &own, shape, memory)?;
        }
        Ok(out)
    }

    /// The latent node that an expression is, through `let`s.
    fn exchangeable(&self, mut e: ExprId) -> Option<NodeId> {
        let model = self.eval.inputs().model;
        // a chain of lets is never longer than the nodes
        for _ in 0..=model.nodes.len() {
            let ExprKind::Node(node) = &model.expr(e).kind else { return None };
            match &model.nodes.get(node.index())?.kind {
                NodeKind::Let { value, .. } => e = *value,
                NodeKind::Latent(_) => return Some(*node),
                _ => return None,
            }
        }
        None
    }

    /// The prior mean of a node, if it is one number for all entries (0, where there is none).
    fn common_mean(&mut self, node: NodeId) -> Result<Option<Affine>, Failed> {
        let model = self.eval.inputs().model;
        let Some(NodeKind::Latent(dist)) = model.nodes.get(node.index()).map(|n| &n.kind) else {
            return Ok(None);
        };
        match gaussian_mean(dist).flatten() {
            None => Ok(Some(Affine::constant(&Value::scalar(0.0)))),
            Some(mean) if model.expr(mean).ty.shape.is_empty() => {
                let mean = affine(self.eval, mean, self.restrict)?;
                // its draws would be counted apart from these
                Ok(mean.fresh.is_empty().then_some(mean))
            }
            Some(_) => Ok(None),
        }
    }

    /// The form of an operand; a known one is only an offset.
    fn take(&mut self, e: ExprId) -> Result<Arc<Affine>, Failed> {
        if !self.random.is(e) {
            return Ok(Arc::new(known(self.eval, e)?));
        }
        let left = self.uses.get_mut(&e).map_or(1, |n| {
            *n = n.saturating_sub(1);
            *n
        });
        let form = if left == 0 { self.forms.remove(&e) } else { self.forms.get(&e).cloned() };
        Ok(form.ok_or(Why::Circle)?)
    }

    fn refuse_random(&self, at: ExprId) -> Result<(), Why> {
        if self.random.is(at) { Err(Why::NotLinear("an index that is unknown".to_owned())) } else { Ok(()) }
    }

    fn raw_indices(&mut self, at: ExprId, size: usize) -> Result<Vec<Option<usize>>, Failed> {
        let coded = ops::is_coded(self.eval.inputs().model.expr(at).ty.elem);
        let value = self.eval.eval(at, &Want::all())?;
        Ok(ops::indices(&value, coded, size)?)
    }

    fn indices(&mut self, at: ExprId, size: usize) -> Result<Vec<usize>, Failed> {
        self.refuse_random(at)?;
        Ok(ops::known(self.raw_indices(at, size)?)?)
    }
}

/// a · x for a [N, used] and x [B, C]
fn product(
    a: &Arc<Value>,
    x: &Affine,
    used: &[usize],
    shape: Shape,
    memory: usize,
) -> Result<Affine, Failed> {
    let (n, b) = (a.rows(), x.rows);
    let offsets = DMatrix::from_fn(used.len(), x.cols, |i, c| x.offset[used[i] + b * c]);
    let offset = if offsets.iter().all(|o| *o == 0.0) {
        vec![0.0; n * x.cols]
    } else {
        ops::mat_mul(&Value::matrix(a.array.clone()), &Value::matrix(offsets))?.as_slice().to_vec()
    };
    let mut parts = BTreeMap::new();
    for (node, coef) in &x.parts {
        parts.insert(*node, coef.kron_left(a, used, b, memory)?);
    }
    let mut fresh = BTreeMap::new();
    if !x.fresh.is_empty() {
        let l = Csr::from_rows(
            (0..x.cols)
                .flat_map(|c| (0..n).map(move |i| (i, c)))
                .map(|(i, c)| used.iter().enumerate().map(|(k, r)| (r + b * c, a.array[(i, k)])).collect()),
        );
        for (node, csr) in &x.fresh {
            fresh.insert(*node, l.times(csr));
        }
    }
    Ok(shape.form(offset, parts, fresh)?)
}

/// The column of a draw: the same draw is the same column.
fn draw(draws: &mut BTreeMap<NodeId, Draws>, node: NodeId, new: Draw) -> usize {
    let Draws { list, at } = draws.entry(node).or_default();
    *at.entry(new.clone()).or_insert_with(|| {
        list.push(new);
        list.len() - 1
    })
}

/// All of an axis of that size, if all are used.
fn some(used: &[usize], size: usize) -> Axis {
    if used.len() == size { Axis::All } else { Axis::only(used) }
}

fn fits(value: &Value, rows: usize, cols: usize) -> Result<(), Why> {
    let found = value.array.shape();
    if found == (rows, cols) { Ok(()) } else { Err(Why::Shape(found, (rows, cols))) }
}

fn inside(at: usize, size: usize) -> Result<(), Why> {
    if at < size { Ok(()) } else { Err(Why::Position(at, size)) }
}

fn rank_of(eval: &Evaluator<'_>, e: ExprId) -> usize {
    eval.inputs().model.expr(e).ty.shape.len()
}
