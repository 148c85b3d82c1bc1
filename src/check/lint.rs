//! Warnings about models that are right but probably not meant, and cycles through observed data.

use crate::check::cx::Cx;
use crate::check::env::Env;
use crate::check::finish::each_expr;
use crate::check::order;
use crate::check::typed::{ExprId, ExprKind, NodeKind};
use crate::diag::Diagnostic;

impl Cx<'_> {
    /// Observed data that depend on themselves through the values of other nodes.
    pub(crate) fn verify_acyclic(&mut self) {
        // vertices: nodes, then expressions
        let nodes = self.nodes.len();
        let needs = |v: usize| {
            let mut found = Vec::new();
            if v < nodes {
                each_expr(&self.nodes[v].kind, &mut |e| found.push(nodes + e.index()));
            } else {
                let kind = &self.exprs.get(ExprId((v - nodes) as u32)).kind;
                if let ExprKind::Node(id) = kind {
                    found.push(id.index());
                }
                found.extend(kind.operands().into_iter().map(|e| nodes + e.index()));
            }
            found
        };
        let sorted = order::sort(nodes + self.exprs.len(), &needs);
        let mut told: Vec<usize> = Vec::new();
        for cycle in sorted.cycles {
            let mut members: Vec<usize> = cycle.into_iter().filter(|v| *v < nodes).collect();
            // begin with the observed node
            if let Some(at) = members.iter().position(|v| self.nodes[*v].is_observed()) {
                members.rotate_left(at);
            }
            let Some(first) = members.first().copied() else { continue };
            if told.contains(&first) {
                continue;
            }
            told.push(first);
            let mut way: Vec<&str> = members.iter().map(|v| self.nodes[*v].name.as_str()).collect();
            way.push(&self.nodes[first].name);
            let mut d = Diagnostic::error(
                "E0503",
                format!("`{}` depends on its own value: {}", self.nodes[first].name, way.join(" → ")),
            );
            for (i, v) in members.iter().enumerate() {
                let next = &self.nodes[members[(i + 1) % members.len()]].name;
                let text = format!("`{}` needs `{next}`", self.nodes[*v].name);
                d = if i == 0 { d.at(self.nodes[*v].span, text) } else { d.also(self.nodes[*v].span, text) };
            }
            self.sink.push(d.help("observed data may not enter their own distribution: use another column"));
        }
    }

    /// Names that nothing uses.
    pub(crate) fn unused(&mut self, env: &Env) {
        for (name, slot) in &env.values {
            if slot.used.get() || slot.val.is_none() || name.contains('.') {
                continue;
            }
            let Some(id) = self.nodes.iter().find(|n| n.name == *name && n.span == slot.span).map(|n| n.id)
            else {
                continue;
            };
            let node = &self.nodes[id.index()];
            let help = match &node.kind {
                NodeKind::Data(d) if d.likelihood.is_none() => {
                    "use it or remove it: nothing depends on these columns"
                }
                NodeKind::Let { value, .. } if !self.deps(*value).latent && !self.deps(*value).param => {
                    "use it or remove it"
                }
                NodeKind::Param { .. } => "use it or remove it: the evidence does not depend on it",
                NodeKind::Latent(_) => "use it or remove it: the data say nothing about it",
                _ => continue,
            };
            self.sink.push(
                Diagnostic::warning("W0202", format!("{} `{name}` is never used", slot.what))
                    .at(slot.span, "unused")
                    .help(help),
            );
        }
    }

    /// Quantities that carry the name of a function.
    pub(crate) fn named_like_functions(&mut self, env: &Env) {
        for (name, slot) in &env.values {
            let imported = !name.contains('.') && !self.modules.visible(env.module, name).is_empty();
            if crate::check::natives::is_native(name) || imported {
                self.sink.push(
                    Diagnostic::warning(
                        "W0203",
                        format!("{} `{name}` has the name of a function", slot.what),
                    )
                    .at(slot.span, "a quantity and a function of one name")
                    .help("call it something else, to keep readers from confusion"),
                );
            }
        }
    }

    /// `x * z` of two vectors of data, used where each row wants its own number: `.*` was meant.
    pub(crate) fn dots_of_data(&mut self) {
        let mut found = Vec::new();
        for node in &self.nodes {
            let Some(dist) = node.dist().filter(|_| node.is_observed() && !node.ty.shape.is_empty()) else {
                continue;
            };
            let mut seen = vec![false; self.exprs.len()];
            let mut todo: Vec<ExprId> = dist.args.iter().map(|a| a.value).collect();
            while let Some(e) = todo.pop() {
                if std::mem::replace(&mut seen[e.index()], true) {
                    continue;
                }
                let expr = self.exprs.get(e);
                match &expr.kind {
                    ExprKind::MatMul(a, b)
                        if expr.ty.shape.is_empty()
                            && [a, b].iter().all(|o| {
                                let d = self.deps(**o);
                                d.data && !d.latent && !d.param
                            }) =>
                    {
                        found.push((expr.span, node.name.clone()));
                    }
                    ExprKind::Node(id) => {
                        if let NodeKind::Let { value, .. } = self.nodes[id.index()].kind {
                            todo.push(value);
                        }
                    }
                    kind => todo.extend(kind.operands()),
                }
            }
        }
        for (span, name) in found {
            self.sink.push(
                Diagnostic::warning(
                    "W0301",
                    format!("the dot product of two vectors of data is one number for all rows of `{name}`"),
                )
                .at(span, "a scalar")
                .help("row by row is `.*`"),
            );
        }
    }
}
