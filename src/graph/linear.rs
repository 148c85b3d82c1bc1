//! Whether an expression is affine in the unknowns it contains.
//!
//! Purely symbolic. What is known (data, constants, and everything computed from them alone, a
//! `param` included: it is a number while weights are inferred) may be combined in any way; what
//! is unknown only by the linear operations of the typed model.

use std::collections::BTreeSet;

pub use super::scale::{NotLogLinear, scale_form};
use super::walk::{Lets, fold};
use crate::check::typed::{ExprId, ExprKind, Model, Native, NodeId, NodeKind, Op};

/// Where linearity ends, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotLinear {
    /// The innermost expression that is not affine.
    pub expr: ExprId,
    /// A clause: ``multiplies two unknowns, `w` and `v` ``.
    pub why: String,
}

/// The latent nodes in which `e` is jointly affine; empty if `e` is known.
///
/// Affine: `a + b`, `a - b`, `-a`, joins, indexing by known indices, repetition, transposition,
/// sums and means of affine parts; products of a known and an affine part; an affine part divided
/// by a known one.
///
/// # Errors
/// The innermost expression that is not affine.
pub fn affine_in(model: &Model, e: ExprId) -> Result<BTreeSet<NodeId>, NotLinear> {
    let form = fold(model, e, Lets::Follow, &mut |id, operands: &[Option<&Form>]| step(model, id, operands));
    match form {
        Some(Form::Affine(nodes)) => Ok(nodes),
        Some(Form::Not(not)) => Err(not),
        None => Err(own_value(e)),
    }
}

/// Names as a list for messages: `` `w` and `v` ``.
pub fn names(model: &Model, nodes: &BTreeSet<NodeId>) -> String {
    let names: Vec<String> = nodes.iter().map(|n| format!("`{}`", model.node(*n).name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// Affine in these latents; in none: known.
#[derive(Clone, Debug)]
enum Form {
    Affine(BTreeSet<NodeId>),
    Not(NotLinear),
}

fn step(model: &Model, id: ExprId, operands: &[Option<&Form>]) -> Form {
    let mut parts: Vec<&BTreeSet<NodeId>> = Vec::new();
    for operand in operands {
        match operand {
            Some(Form::Affine(nodes)) => parts.push(nodes),
            Some(Form::Not(not)) => return Form::Not(not.clone()),
            None => return Form::Not(own_value(id)),
        }
    }
    let union = || Form::Affine(parts.iter().flat_map(|p| p.iter().copied()).collect());
    let unknown: BTreeSet<NodeId> = parts.iter().flat_map(|p| p.iter().copied()).collect();
    let not = |why: String| Form::Not(NotLinear { expr: id, why });
    match &model.expr(id).kind {
        ExprKind::Node(node) if matches!(model.node(*node).kind, NodeKind::Latent(_)) => {
            Form::Affine(BTreeSet::from([*node]))
        }
        _ if unknown.is_empty() => Form::Affine(unknown),
        ExprKind::Elementwise(Op::Add | Op::Sub, ..)
        | ExprKind::Neg(_)
        | ExprKind::Node(_)
        | ExprKind::Join(_)
        | ExprKind::Vector(_)
        | ExprKind::Row(..)
        | ExprKind::Column(..)
        | ExprKind::Transpose(_)
        | ExprKind::RepeatColumns(..)
        | ExprKind::RepeatRows(..)
        | ExprKind::AsColumn(_)
        | ExprKind::Call(Native::Sum | Native::Mean, _) => union(),
        ExprKind::Elementwise(Op::Mul, ..) | ExprKind::MatMul(..) | ExprKind::RowDot(..) => {
            if parts.iter().filter(|p| !p.is_empty()).count() <= 1 {
                union()
            } else if unknown.len() == 1 {
                not(format!("multiplies the unknown {} by itself", names(model, &unknown)))
            } else {
                not(format!("multiplies unknowns, {}", names(model, &unknown)))
            }
        }
        ExprKind::Elementwise(Op::Div, ..) => match parts.get(1) {
            Some(below) if below.is_empty() => union(),
            Some(below) => not(format!("divides by the unknown {}", names(model, below))),
            None => union(),
        },
        ExprKind::Elementwise(Op::Pow, ..) => {
            not(format!("takes a power with {} in it", names(model, &unknown)))
        }
        ExprKind::Elementwise(Op::Min | Op::Max, ..) => {
            not(format!("takes the smaller or larger of parts with {}", names(model, &unknown)))
        }
        ExprKind::Gather { .. } | ExprKind::GatherColumns { .. } | ExprKind::GatherPairs { .. } => {
            let indices: BTreeSet<NodeId> = parts.iter().skip(1).flat_map(|p| p.iter().copied()).collect();
            if indices.is_empty() {
                union()
            } else {
                not(format!("uses the unknown {} as an index", names(model, &indices)))
            }
        }
        ExprKind::Call(native, _) => {
            not(format!("takes `{}` of the unknown {}", native.name(), names(model, &unknown)))
        }
        ExprKind::Host(id, _) => {
            let name = model.hosts.get(*id).map_or("a function", |f| f.name.as_str());
            not(format!("takes `{name}` of the unknown {}", names(model, &unknown)))
        }
        ExprKind::Train(_) => not(format!("freezes the unknown {} with `train`", names(model, &unknown))),
        ExprKind::Standardize(_) => not(format!("standardizes the unknown {}", names(model, &unknown))),
        ExprKind::OneHot(_) => not(format!("takes `onehot` of the unknown {}", names(model, &unknown))),
        ExprKind::Number(_) | ExprKind::Dim(_) | ExprKind::Range(_) => union(),
    }
}

fn own_value(expr: ExprId) -> NotLinear {
    NotLinear { expr, why: "depends on its own value".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::typed::Bits;
    use crate::graph::sample::Typed;

    #[test]
    fn linear_operations_are_affine_in_what_they_contain() {
        let mut t = Typed::new();
        let (x, w, u, n) = (t.data("x"), t.latent("w"), t.latent("u"), t.number(3.0));
        let id = |t: &Typed, name: &str| t.model.find(name).unwrap();
        let (wid, uid) = (id(&t, "w"), id(&t, "u"));
        let product = t.add(ExprKind::MatMul(x, w));
        let sum = t.add(ExprKind::Elementwise(Op::Add, product, u));
        let scaled = t.add(ExprKind::Elementwise(Op::Div, sum, n));
        let named = t.node_let("f", scaled);
        let cases: Vec<(ExprId, Vec<NodeId>)> = vec![
            (x, vec![]),
            (product, vec![wid]),
            (sum, vec![wid, uid]),
            (named, vec![wid, uid]),
            (t.add(ExprKind::Neg(named)), vec![wid, uid]),
            (t.add(ExprKind::Join(vec![w, x])), vec![wid]),
            (t.add(ExprKind::Gather { base: u, at: x }), vec![uid]),
            (t.add(ExprKind::RowDot(x, w)), vec![wid]),
            (t.add(ExprKind::Call(Native::Mean, vec![w])), vec![wid]),
            (t.add(ExprKind::Transpose(w)), vec![wid]),
            (t.add(ExprKind::Call(Native::Exp, vec![x])), vec![]),
            (t.add(ExprKind::Standardize(x)), vec![]),
        ];
        for (e, expected) in cases {
            let found: Vec<NodeId> = affine_in(&t.model, e).unwrap().into_iter().collect();
            assert_eq!(found, expected, "{:?}", t.model.expr(e).kind);
        }
    }

    #[test]
    fn anything_else_names_the_innermost_place() {
        let mut t = Typed::new();
        let (x, w, u) = (t.data("x"), t.latent("w"), t.latent("u"));
        let product = t.add(ExprKind::Elementwise(Op::Mul, w, u));
        let square = t.add(ExprKind::MatMul(w, w));
        let exp = t.add(ExprKind::Call(Native::Exp, vec![w]));
        let divided = t.add(ExprKind::Elementwise(Op::Div, x, w));
        let index = t.add(ExprKind::Gather { base: x, at: w });
        let frozen = t.add(ExprKind::Train(w));
        for (e, why) in [
            (product, "multiplies unknowns, `w` and `u`"),
            (square, "multiplies the unknown `w` by itself"),
            (exp, "takes `exp` of the unknown `w`"),
            (divided, "divides by the unknown `w`"),
            (index, "uses the unknown `w` as an index"),
            (frozen, "freezes the unknown `w` with `train`"),
        ] {
            let outer = t.add(ExprKind::Elementwise(Op::Add, x, e));
            let not = affine_in(&t.model, outer).unwrap_err();
            assert_eq!((not.expr, not.why.as_str()), (e, why));
        }
    }

    #[test]
    fn scales_are_products_of_powers() {
        let mut t = Typed::new();
        let (x, a, b, two) = (t.data("x"), t.latent("a"), t.latent("b"), t.number(2.0));
        let (ida, idb) = (t.model.find("a").unwrap(), t.model.find("b").unwrap());
        let squared = t.add(ExprKind::Elementwise(Op::Pow, a, two));
        let product = t.add(ExprKind::Elementwise(Op::Mul, squared, b));
        let known = t.add(ExprKind::Elementwise(Op::Mul, x, product));
        let root = t.add(ExprKind::Call(Native::Sqrt, vec![known]));
        let below = t.add(ExprKind::Elementwise(Op::Div, two, root));
        let gathered = t.add(ExprKind::Gather { base: below, at: x });
        let named = t.node_let("s", gathered);
        assert_eq!(scale_form(&t.model, x), Ok(vec![]));
        assert_eq!(scale_form(&t.model, known), Ok(vec![(ida, 2.0), (idb, 1.0)]));
        assert_eq!(scale_form(&t.model, named), Ok(vec![(ida, -1.0), (idb, -0.5)]));
        let list = t.add(ExprKind::Vector(vec![a, b, two]));
        assert_eq!(scale_form(&t.model, list), Ok(vec![(ida, 1.0), (idb, 1.0)]));
        let sum = t.add(ExprKind::Elementwise(Op::Add, a, two));
        let not = scale_form(&t.model, sum).unwrap_err();
        assert_eq!((not.expr, not.why.as_str()), (sum, "is a sum with `a` in it, not a product"));
        let power = t.add(ExprKind::Elementwise(Op::Pow, a, x));
        assert!(scale_form(&t.model, power).unwrap_err().why.contains("not a constant"));
        let exp = t.add(ExprKind::Call(Native::Exp, vec![a]));
        assert!(scale_form(&t.model, exp).unwrap_err().why.contains("`exp` of `a`"));
    }

    #[test]
    fn deep_and_shared_expressions_are_cheap() {
        let mut t = Typed::new();
        let w = t.latent("w");
        let mut e = w;
        for i in 0..20_000 {
            let c = t.add(ExprKind::Number(Bits(f64::from(i))));
            e = t.add(ExprKind::Elementwise(Op::Add, e, if i % 2 == 0 { e } else { c }));
        }
        assert_eq!(affine_in(&t.model, e).unwrap().len(), 1);
    }
}
