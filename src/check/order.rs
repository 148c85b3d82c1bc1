//! The order in which declarations are checked, and the cycles among them.

use crate::syntax::ast;

/// Calls `f` with every name an expression mentions; called functions are not among them.
pub(crate) fn mentions(e: &ast::Expr, f: &mut dyn FnMut(&str)) {
    let mut todo = vec![e];
    while let Some(e) = todo.pop() {
        match &e.kind {
            ast::ExprKind::Number(..) | ast::ExprKind::Text(_) => {}
            ast::ExprKind::Name(name) => f(name),
            ast::ExprKind::Path(path) => {
                if let Some(first) = path.first() {
                    f(&first.node);
                }
            }
            ast::ExprKind::Neg(a) | ast::ExprKind::Paren(a) => todo.push(a),
            ast::ExprKind::Binary(_, a, b) => todo.extend([b.as_ref(), a.as_ref()]),
            ast::ExprKind::Call(_, args) => todo.extend(args.iter().rev().map(|a| &a.value)),
            ast::ExprKind::Index(base, indices) => {
                todo.extend(indices.iter().rev().flatten());
                todo.push(base);
            }
            ast::ExprKind::Join(items) => todo.extend(items.iter().rev()),
        }
    }
}

/// An order in which everything comes after what it needs, and the cycles that stand in its way.
pub(crate) struct Sorted {
    /// Every vertex once.
    pub(crate) order: Vec<usize>,
    /// Each as a path, its first vertex not repeated.
    pub(crate) cycles: Vec<Vec<usize>>,
}

/// Depth-first, without recursion; vertices and their needs in the order given.
pub(crate) fn sort(n: usize, needs: &dyn Fn(usize) -> Vec<usize>) -> Sorted {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; n];
    let mut sorted = Sorted { order: Vec::new(), cycles: Vec::new() };
    for root in 0..n {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        let mut stack = vec![(root, needs(root), 0)];
        while let Some((v, list, next)) = stack.last_mut() {
            let Some(w) = list.get(*next).copied() else {
                marks[*v] = Mark::Done;
                sorted.order.push(*v);
                stack.pop();
                continue;
            };
            *next += 1;
            match marks[w] {
                Mark::Done => {}
                Mark::New => {
                    marks[w] = Mark::Open;
                    stack.push((w, needs(w), 0));
                }
                Mark::Open => {
                    let start = stack.iter().position(|(u, _, _)| *u == w).unwrap_or(0);
                    sorted.cycles.push(stack[start..].iter().map(|(u, _, _)| *u).collect());
                }
            }
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_cycles() {
        // 0 needs 1, 1 needs 2, 2 needs 1, 3 needs itself
        let needs = |v: usize| vec![vec![1], vec![2], vec![1], vec![3]][v].clone();
        let sorted = sort(4, &needs);
        assert_eq!(sorted.order, [2, 1, 0, 3]);
        assert_eq!(sorted.cycles, [vec![1, 2], vec![3]]);
    }

    #[test]
    fn long_chain_needs_no_stack() {
        let n = 200_000;
        let sorted = sort(n, &|v| if v + 1 < n { vec![v + 1] } else { Vec::new() });
        assert_eq!(sorted.order.first(), Some(&(n - 1)));
        assert!(sorted.cycles.is_empty());
    }
}
