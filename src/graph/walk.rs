//! Walks over expressions that need no recursion: what they mention, and folds from the leaves up.

use std::collections::{BTreeSet, HashMap};

use crate::check::typed::{ExprId, ExprKind, Model, Native, NodeId, NodeKind, Op};

/// Whether a `let` is a leaf, or stands for its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lets {
    /// A leaf.
    Stop,
    /// Its value, which is then the only operand of the node.
    Follow,
}

/// The value of `root`, from its leaves up. `combine` sees each expression once, with the values
/// of its operands; an operand that depends on `root`'s own value (a cycle, which [`super::build()`]
/// refuses) has none.
pub fn fold<T>(
    model: &Model,
    root: ExprId,
    lets: Lets,
    combine: &mut dyn FnMut(ExprId, &[Option<&T>]) -> T,
) -> Option<T> {
    let mut done: HashMap<ExprId, T> = HashMap::new();
    let mut entered: BTreeSet<ExprId> = BTreeSet::new();
    let mut stack = vec![(root, false)];
    while let Some((id, ready)) = stack.pop() {
        if done.contains_key(&id) {
            continue;
        }
        let children = children(model, id, lets);
        if ready {
            let values: Vec<Option<&T>> = children.iter().map(|c| done.get(c)).collect();
            let value = combine(id, &values);
            done.insert(id, value);
        } else if entered.insert(id) {
            stack.push((id, true));
            stack.extend(children.iter().rev().map(|c| (*c, false)));
        }
    }
    done.remove(&root)
}

/// The nodes an expression names, `let`s not followed, ascending.
pub fn mentions(model: &Model, root: ExprId) -> BTreeSet<NodeId> {
    collect(model, root, Lets::Stop, &|_| true)
}

/// The latent nodes an expression depends on, through `let`s.
pub fn latents(model: &Model, root: ExprId) -> BTreeSet<NodeId> {
    collect(model, root, Lets::Follow, &|id| matches!(model.node(id).kind, NodeKind::Latent(_)))
}

/// The `param`s an expression depends on, through `let`s.
pub fn params(model: &Model, root: ExprId) -> BTreeSet<NodeId> {
    collect(model, root, Lets::Follow, &|id| matches!(model.node(id).kind, NodeKind::Param { .. }))
}

/// The data an expression depends on, through `let`s.
pub fn data(model: &Model, root: ExprId) -> BTreeSet<NodeId> {
    collect(model, root, Lets::Follow, &|id| matches!(model.node(id).kind, NodeKind::Data(_)))
}

/// The number that every entry of an expression is, if the program alone says so.
pub fn constant(model: &Model, root: ExprId) -> Option<f64> {
    fold(model, root, Lets::Follow, &mut |id, values: &[Option<&Option<f64>>]| {
        let value = |i: usize| values.get(i).copied().flatten().copied().flatten();
        match &model.expr(id).kind {
            ExprKind::Number(bits) => Some(bits.0),
            ExprKind::Dim(dim) => dim.as_number().map(|n| n as f64),
            ExprKind::Node(node) => match &model.node(*node).kind {
                NodeKind::Let { .. } => value(0),
                _ => None,
            },
            ExprKind::Neg(_) => value(0).map(|a| -a),
            ExprKind::Elementwise(op, ..) => Some(apply(*op, value(0)?, value(1)?)),
            ExprKind::Call(native, args) if args.len() == 1 => elementwise(*native, value(0)?),
            ExprKind::Vector(parts) | ExprKind::Join(parts) => {
                let first = value(0)?;
                (1..parts.len()).all(|i| value(i) == Some(first)).then_some(first)
            }
            ExprKind::Row(..)
            | ExprKind::Column(..)
            | ExprKind::Transpose(_)
            | ExprKind::RepeatColumns(..)
            | ExprKind::RepeatRows(..)
            | ExprKind::AsColumn(_)
            | ExprKind::Train(_)
            | ExprKind::Gather { .. }
            | ExprKind::GatherColumns { .. }
            | ExprKind::GatherPairs { .. } => value(0),
            _ => None,
        }
    })
    .flatten()
}

/// An expression in the notation of the language, if that is short enough to be read at a glance.
pub fn written(model: &Model, root: ExprId) -> Option<String> {
    // written out, shared parts count again and again
    let size = fold(model, root, Lets::Stop, &mut |_, parts: &[Option<&u64>]| {
        parts.iter().copied().flatten().fold(1_u64, |sum, part| sum.saturating_add(*part))
    });
    if size.is_none_or(|n| n > 40) {
        return None;
    }
    let text = crate::check::print::print_expr(model, root);
    (text.chars().count() <= 72).then_some(text)
}

fn children(model: &Model, id: ExprId, lets: Lets) -> Vec<ExprId> {
    match (&model.expr(id).kind, lets) {
        (ExprKind::Node(node), Lets::Follow) => match &model.node(*node).kind {
            NodeKind::Let { value, .. } => vec![*value],
            _ => Vec::new(),
        },
        (kind, _) => kind.operands(),
    }
}

fn collect(model: &Model, root: ExprId, lets: Lets, keep: &dyn Fn(NodeId) -> bool) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    fold(model, root, lets, &mut |id, _: &[Option<&()>]| {
        if let ExprKind::Node(node) = &model.expr(id).kind
            && keep(*node)
        {
            found.insert(*node);
        }
    });
    found
}

fn apply(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::Pow => a.powf(b),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
    }
}

fn elementwise(native: Native, a: f64) -> Option<f64> {
    match native {
        Native::Exp => Some(a.exp()),
        Native::Log => Some(a.ln()),
        Native::Sqrt => Some(a.sqrt()),
        Native::Abs => Some(a.abs()),
        Native::Sin => Some(a.sin()),
        Native::Cos => Some(a.cos()),
        _ => None,
    }
}
