//! Operations that only move entries: which entry of the operand each entry of the result is.

use super::error::EvalError;
use super::eval::Evaluator;
use super::ops;
use super::want::Want;
use crate::check::typed::{ExprId, ExprKind};

/// Rows and columns of a value.
type Size = (usize, usize);

/// The operand that an expression picks entries from, if that is all it does.
pub(super) fn picked(kind: &ExprKind) -> Option<ExprId> {
    match kind {
        ExprKind::Gather { base, .. }
        | ExprKind::GatherColumns { base, .. }
        | ExprKind::GatherPairs { base, .. } => Some(*base),
        ExprKind::Row(a, _)
        | ExprKind::Column(a, _)
        | ExprKind::Transpose(a)
        | ExprKind::RepeatColumns(a, _)
        | ExprKind::RepeatRows(a, _)
        | ExprKind::AsColumn(a) => Some(*a),
        _ => None,
    }
}

/// For each entry of the result (column-major), the entry of an operand of size `from`.
///
/// # Errors
/// An index that is not known.
pub(super) fn picks(
    eval: &mut Evaluator<'_>,
    kind: &ExprKind,
    from: Size,
    (rows, cols): Size,
) -> Result<Vec<usize>, EvalError> {
    let (height, width) = from;
    let all = |at: &dyn Fn(usize, usize) -> usize| -> Vec<usize> {
        (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| at(i, j)).collect()
    };
    let in_range = |at: &[usize], i: usize| at.get(i).copied().unwrap_or(0);
    Ok(match kind {
        ExprKind::Gather { at, .. } => {
            let at = indices(eval, *at, height)?;
            all(&|i, j| in_range(&at, i) + height * j)
        }
        ExprKind::GatherColumns { at, .. } => {
            let at = indices(eval, *at, width)?;
            all(&|i, j| i + height * in_range(&at, j))
        }
        ExprKind::GatherPairs { rows: r, cols: c, .. } => {
            let (r, c) = (indices(eval, *r, height)?, indices(eval, *c, width)?);
            all(&|i, _| in_range(&r, i) + height * in_range(&c, i))
        }
        // an entry of a vector, or a row of a matrix as a vector
        ExprKind::Row(_, k) => all(&|i, _| k + height * i),
        ExprKind::Column(_, k) => all(&|i, _| i + height * k),
        ExprKind::Transpose(_) => all(&|i, j| j + height * i),
        ExprKind::RepeatRows(..) => all(&|_, j| if height * width == 1 { 0 } else { j }),
        _ => all(&|i, _| i),
    })
}

/// The positions that an index stands for, all of them known.
fn indices(eval: &mut Evaluator<'_>, at: ExprId, size: usize) -> Result<Vec<usize>, EvalError> {
    let coded = eval.coded(at);
    let value = eval.eval(at, &Want::all())?;
    ops::indices(&value, coded, size).and_then(ops::known).map_err(|why| EvalError { expr: at, why })
}
