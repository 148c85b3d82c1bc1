//! Linear forms: value = offset + Σ_b C_b · (innovations of block b), over latent Gaussian nodes.
//!
//! A latent Gaussian node is its prior mean plus an innovation of its own; the mean may be affine
//! in other latent nodes, so that in the end everything is a form in independent innovations.
//! Values of any rank are read as vectors, column-major.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nalgebra::DMatrix;

use super::coef::{Coef, Csr};
use super::error::{EvalError, Why};
use super::eval::Evaluator;
use super::interpret::{Draws, Interpreter};
use super::value::{Rank, Value};
use super::walk::{self, Random};
use super::want::Want;
use crate::check::typed::{Dist, ExprId, ExprKind, Model, NodeId, NodeKind};

/// An expression as offset + Σ C_b · innovations of block b + Σ F_b · fresh draws of block b.
#[derive(Clone, PartialEq, Debug)]
pub struct Affine {
    /// Scalar, vector or matrix.
    pub rank: Rank,
    /// Rows; 1 for a scalar.
    pub rows: usize,
    /// Columns; 1 for a scalar or a vector.
    pub cols: usize,
    /// What it is where every innovation is 0: rows · cols, column-major.
    pub offset: Vec<f64>,
    /// Coefficients of the (active) innovations of each latent node: rows · cols × their number.
    pub(super) parts: BTreeMap<NodeId, Coef>,
    /// Coefficients of draws from the prior that training never saw.
    pub(super) fresh: BTreeMap<NodeId, Csr>,
    /// What these draws are: columns of `fresh`.
    draws: BTreeMap<NodeId, Vec<Draw>>,
}

/// An innovation that is drawn anew at prediction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Draw {
    /// Entry (column-major) of a node with one entry per row, in the dimensions of the new data.
    Entry(usize),
    /// An entry for a level that was not there at training.
    Unseen {
        /// The index that met it.
        at: ExprId,
        /// The row of the index.
        row: usize,
        /// The column of the node, where it is a matrix.
        col: usize,
    },
}

/// Which innovations count.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Restrict {
    /// Per node, the innovations that are kept (entries, column-major, ascending): their
    /// coefficients become columns 0, 1 …; the others are 0. All, for a node that is not here.
    pub active: BTreeMap<NodeId, Vec<usize>>,
    /// Nodes with one entry per row: drawn anew.
    pub fresh: BTreeSet<NodeId>,
}

impl Affine {
    /// Number of entries: rows · cols.
    pub fn len(&self) -> usize {
        self.offset.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.offset.is_empty()
    }

    /// The latent nodes it depends on, ascending.
    pub fn blocks(&self) -> impl Iterator<Item = NodeId> {
        self.parts.keys().copied()
    }

    /// The coefficients of a latent node: rows · cols × its (active) innovations.
    pub fn coef(&self, node: NodeId) -> Option<&Coef> {
        self.parts.get(&node)
    }

    /// The coefficients of a latent node, if they are one matrix that nobody else has and if its rows are just
    /// these entries.
    pub fn take_whole(&mut self, node: NodeId, entries: &[usize]) -> Option<DMatrix<f64>> {
        let plain = entries.len() == self.len() && entries.iter().enumerate().all(|(i, entry)| i == *entry);
        if !plain {
            return None;
        }
        let coef = self.parts.remove(&node)?;
        coef.into_matrix().map_err(|coef| self.parts.insert(node, coef)).ok()
    }

    /// The nodes of which draws are fresh, with the coefficients of these draws and what they are.
    pub fn fresh(&self) -> impl Iterator<Item = (NodeId, &Csr, &[Draw])> {
        self.fresh.iter().map(|(n, c)| (*n, c, self.draws.get(n).map_or(&[][..], Vec::as_slice)))
    }
}

/// The argument that is the mean of a conditionally Gaussian latent node, if it has one.
/// `None` for a node that is not Gaussian.
pub fn gaussian_mean(dist: &Dist) -> Option<Option<ExprId>> {
    dist.family.gaussian.map(|g| g.mean.and_then(|mean| dist.arg(mean)))
}

/// What a linear form is made of: the operands; of a `let` its value; of a latent node its prior mean.
pub(super) fn operands(model: &Model, e: ExprId) -> Vec<ExprId> {
    match &model.expr(e).kind {
        ExprKind::Node(node) => match model.nodes.get(node.index()).map(|n| &n.kind) {
            Some(NodeKind::Latent(dist)) => gaussian_mean(dist).flatten().into_iter().collect(),
            _ => walk::through_lets(model, e),
        },
        kind => kind.operands(),
    }
}

/// Writes an expression as a linear form.
///
/// # Errors
/// It is not linear in Gaussian latent nodes, or a known part has no finite value.
pub fn affine(eval: &mut Evaluator<'_>, e: ExprId, restrict: &Restrict) -> Result<Affine, EvalError> {
    let inputs = eval.inputs();
    let random = Random::of(&inputs, e);
    if !random.is(e) {
        return known(eval, e);
    }
    let Interpreted { mut forms, draws, .. } = interpret(eval, e, restrict, random, false)?;
    let form = forms.remove(&e).ok_or(EvalError { expr: e, why: Why::Circle })?;
    let mut form = Arc::unwrap_or_clone(form);
    form.draws =
        draws.into_iter().map(|(n, d)| (n, d.list)).filter(|(n, _)| form.fresh.contains_key(n)).collect();
    Ok(form)
}

/// The forms under an unknown expression.
pub(super) struct Interpreted {
    /// Operands before what they are used in.
    pub order: Vec<ExprId>,
    /// Which are unknown.
    pub random: Random,
    /// Forms of the unknown ones: all, or only that of the whole.
    pub forms: BTreeMap<ExprId, Arc<Affine>>,
    draws: BTreeMap<NodeId, Draws>,
}

/// Interprets everything under `e`, and keeps all forms or only the last.
pub(super) fn interpret(
    eval: &mut Evaluator<'_>,
    e: ExprId,
    restrict: &Restrict,
    mut random: Random,
    keep: bool,
) -> Result<Interpreted, EvalError> {
    let inputs = eval.inputs();
    let next = |e: ExprId| operands(inputs.model, e);
    // the means of latent nodes may be random too
    let order = walk::post_order([e], |e| {
        if !random.is(e) && !random.extend(&inputs, e) {
            return Vec::new();
        }
        next(e)
    });
    // how often each form is still needed: a form goes when nobody needs it
    let mut uses: BTreeMap<ExprId, usize> = BTreeMap::new();
    for e in order.iter().filter(|e| random.is(**e)) {
        uses.entry(*e).or_insert(usize::from(keep));
        for a in next(*e) {
            *uses.entry(a).or_insert(usize::from(keep)) += 1;
        }
    }
    let mut interpreter =
        Interpreter { eval, restrict, random, forms: BTreeMap::new(), uses, draws: BTreeMap::new() };
    for e in &order {
        if interpreter.random.is(*e) {
            let form = interpreter.step(*e).map_err(|failed| failed.at(*e))?;
            interpreter.forms.insert(*e, Arc::new(form));
        }
    }
    let Interpreter { random, forms, draws, .. } = interpreter;
    Ok(Interpreted { order, random, forms, draws })
}

/// An expression that has a value: only an offset.
pub(super) fn known(eval: &mut Evaluator<'_>, e: ExprId) -> Result<Affine, EvalError> {
    let value = eval.finite(e, &Want::all())?;
    Ok(Affine::constant(&value))
}

impl Affine {
    pub(super) fn constant(value: &Value) -> Affine {
        Affine {
            rank: value.rank,
            rows: value.rows(),
            cols: value.cols(),
            offset: value.array.as_slice().to_vec(),
            parts: BTreeMap::new(),
            fresh: BTreeMap::new(),
            draws: BTreeMap::new(),
        }
    }

    /// The form whose entries are l · self.
    pub(super) fn apply(&self, l: &Csr, shape: Shape, memory: usize) -> Result<Affine, Why> {
        let mut parts = BTreeMap::new();
        for (node, coef) in &self.parts {
            parts.insert(*node, coef.apply(l, memory)?);
        }
        let fresh = self.fresh.iter().map(|(node, csr)| (*node, l.times(csr))).collect();
        let offset = (0..l.rows())
            .map(|r| l.row(r).iter().map(|(k, x)| x * self.offset.get(*k).copied().unwrap_or(0.0)).sum())
            .collect();
        shape.form(offset, parts, fresh)
    }

    /// self + sign · other, of the same shape; a scalar goes with everything.
    pub(super) fn plus(&self, sign: f64, other: &Affine, shape: Shape, memory: usize) -> Result<Affine, Why> {
        let (a, b) = (self.broadcast(shape, memory)?, other.broadcast(shape, memory)?);
        let b = if sign == 1.0 {
            b
        } else {
            let minus = Csr::diagonal(&vec![sign; shape.len()]);
            b.apply(&minus, shape, memory)?
        };
        let offset = a.offset.iter().zip(&b.offset).map(|(x, y)| x + y).collect();
        let mut parts = a.parts;
        for (node, coef) in b.parts {
            let sum = match parts.remove(&node) {
                Some(mine) => mine.plus(&coef, memory)?,
                None => coef,
            };
            parts.insert(node, sum);
        }
        let mut fresh = a.fresh;
        for (node, csr) in b.fresh {
            let sum = match fresh.remove(&node) {
                Some(mine) => mine.plus(&csr),
                None => csr,
            };
            fresh.insert(node, sum);
        }
        shape.form(offset, parts, fresh)
    }

    pub(super) fn broadcast(&self, shape: Shape, memory: usize) -> Result<Affine, Why> {
        if (self.rows, self.cols) == (shape.rows, shape.cols) {
            Ok(Affine { rank: shape.rank, ..self.clone() })
        } else if self.rank == Rank::Scalar {
            self.apply(&Csr::picking(vec![Some(0); shape.len()]), shape, memory)
        } else {
            Err(Why::Shape((self.rows, self.cols), (shape.rows, shape.cols)))
        }
    }

    /// Which rows of it, read as a matrix, are not all 0.
    pub(super) fn used_rows(&self) -> Vec<usize> {
        let used = self.used();
        (0..self.rows).filter(|r| (0..self.cols).any(|c| used[r + self.rows * c])).collect()
    }

    /// Which of its columns are not all 0.
    pub(super) fn used_cols(&self) -> Vec<usize> {
        let used = self.used();
        (0..self.cols).filter(|c| (0..self.rows).any(|r| used[r + self.rows * c])).collect()
    }

    pub(super) fn used(&self) -> Vec<bool> {
        let mut used: Vec<bool> = self.offset.iter().map(|x| *x != 0.0).collect();
        for coef in self.parts.values() {
            coef.mark_used(&mut used);
        }
        for csr in self.fresh.values() {
            for (r, used) in used.iter_mut().enumerate() {
                *used |= !csr.row(r).is_empty();
            }
        }
        used
    }
}

/// Rank, rows and columns of a form.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub rank: Rank,
    pub rows: usize,
    pub cols: usize,
}

impl Shape {
    pub(super) fn len(self) -> usize {
        self.rows * self.cols
    }

    pub(super) fn form(
        self,
        offset: Vec<f64>,
        parts: BTreeMap<NodeId, Coef>,
        fresh: BTreeMap<NodeId, Csr>,
    ) -> Result<Affine, Why> {
        let ok = offset.len() == self.len()
            && parts.values().all(|c| c.rows() == self.len())
            && fresh.values().all(|c| c.rows() == self.len());
        if !ok {
            return Err(Why::Shape((offset.len(), 1), (self.rows, self.cols)));
        }
        let Shape { rank, rows, cols } = self;
        Ok(Affine { rank, rows, cols, offset, parts, fresh, draws: BTreeMap::new() })
    }
}
