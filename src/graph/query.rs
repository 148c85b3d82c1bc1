//! Questions to the graph: Markov blankets and d-separation.
//!
//! Every answer is about whole arrays: `w` is all its entries, so a statement about single entries
//! (t₁ and t₂ given w) cannot be asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::dag::{Dag, NodeId, Role};

/// What shields a node from all others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blanket {
    /// The node in question.
    pub node: NodeId,
    /// Its parents.
    pub parents: Vec<NodeId>,
    /// Its children.
    pub children: Vec<NodeId>,
    /// Other parents of its children, neither parents nor children themselves.
    pub coparents: Vec<NodeId>,
    /// Deterministic nodes looked through on the way.
    pub through: Vec<NodeId>,
}

impl Blanket {
    /// Parents, children and co-parents, ascending.
    pub fn all(&self) -> Vec<NodeId> {
        let mut all = [self.parents.as_slice(), &self.children, &self.coparents].concat();
        all.sort_unstable();
        all
    }
}

/// The Markov blanket of a node: given it, the node is independent of everything else.
///
/// A deterministic node that depends on an unknown is looked through, so that the answer is the
/// same whether an expression is named by a `let` or not; one computed from data alone counts as
/// data. Constants of the program are left out.
pub fn markov_blanket(dag: &Dag, node: NodeId) -> Blanket {
    let random = depends_on_unknown(dag);
    let looked_through = |id: NodeId| id != node && dag.node(id).deterministic && random.contains(&id);
    let mut through = BTreeSet::new();
    let mut reach = |start: NodeId, next: &dyn Fn(NodeId) -> Vec<NodeId>| -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut stack = next(start);
        while let Some(id) = stack.pop() {
            if !seen.insert(id) || dag.node(id).role == Role::Constant {
                continue;
            }
            if looked_through(id) {
                through.insert(id);
                stack.extend(next(id));
            } else {
                found.insert(id);
            }
        }
        found
    };
    let parents = reach(node, &|id| dag.parents(id));
    let children = reach(node, &|id| dag.children(id));
    let mut coparents = BTreeSet::new();
    for child in &children {
        coparents.extend(reach(*child, &|id| dag.parents(id)));
    }
    coparents.retain(|id| *id != node && !parents.contains(id) && !children.contains(id));
    let parents = parents.difference(&children).copied().collect();
    Blanket {
        node,
        parents,
        children: children.into_iter().collect(),
        coparents: coparents.into_iter().collect(),
        through: through.into_iter().collect(),
    }
}

/// The answer to a question of independence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Separation {
    /// Whether the sets are independent in every distribution with this graph.
    pub separated: bool,
    /// A shortest active path if they are not; if they are, a shortest path, and where it is
    /// blocked. Empty if no path joins them.
    pub path: Vec<NodeId>,
    /// Why that path is active, or where it is blocked: one sentence for every inner node that
    /// matters.
    pub why: Vec<String>,
    /// Nodes that the given ones determine.
    pub determined: Vec<NodeId>,
}

/// Whether `a` and `b` are independent given `given`.
///
/// This is D-separation (Geiger, Verma and Pearl 1990, Networks 20, 507–534): a node that the given
/// nodes determine (a `let` whose parents are all given or determined; a constant always) blocks a
/// path as if it were given. A path is active if every collider on it is given or has a given
/// descendant, and no other inner node is given or determined. Data without a distribution are
/// ordinary nodes without parents: known only if they are among `given`. Nodes of `a` and `b` that
/// are determined are independent of anything.
pub fn d_separated(dag: &Dag, a: &[NodeId], b: &[NodeId], given: &[NodeId]) -> Separation {
    let given: BTreeSet<NodeId> = given.iter().copied().collect();
    let determined = determined_by(dag, &given);
    let ends = |set: &[NodeId]| -> BTreeSet<NodeId> {
        set.iter().copied().filter(|id| !determined.contains(id)).collect()
    };
    let (from, to) = (ends(a), ends(b));
    let ancestors = ancestors_of(dag, &given);
    let path = active_path(dag, &from, &to, &determined, &ancestors);
    let separated = path.is_none();
    let beyond = determined.difference(&given).copied().collect();
    match path {
        Some(path) => {
            let why = inner(dag, &path)
                .map(|(id, collider)| match (collider, given.contains(&id)) {
                    (true, true) => format!("`{}` is a common effect and is given", dag.node(id).name),
                    (true, false) => format!(
                        "`{}` is a common effect whose descendant {} is given",
                        dag.node(id).name,
                        given_descendant(dag, id, &given)
                    ),
                    (false, _) => format!("`{}` is not given", dag.node(id).name),
                })
                .collect();
            Separation { separated, path, why, determined: beyond }
        }
        None => {
            let path = any_path(dag, a, b);
            let blocks = inner(dag, &path).filter(|(id, collider)| {
                if *collider { !ancestors.contains(id) } else { determined.contains(id) }
            });
            let mut why: Vec<String> = blocks
                .map(|(id, collider)| {
                    let name = &dag.node(id).name;
                    if collider {
                        format!(
                            "blocked at `{name}`: a common effect, and neither it nor a descendant is given"
                        )
                    } else if given.contains(&id) {
                        format!("blocked at `{name}`: it is given")
                    } else {
                        format!("blocked at `{name}`: the given nodes determine it")
                    }
                })
                .collect();
            let known =
                |set: &[NodeId]| set.iter().copied().filter(|id| determined.contains(id)).collect::<Vec<_>>();
            for id in known(a).into_iter().chain(known(b)) {
                let how = if given.contains(&id) { "is given" } else { "is determined" };
                why.push(format!(
                    "`{}` {how}, and what is known is independent of everything",
                    dag.node(id).name
                ));
            }
            if path.is_empty() && why.is_empty() {
                why.push("no path joins them".to_owned());
            }
            Separation { separated, path, why, determined: beyond }
        }
    }
}

/// A path as text: `w → t ← tau`.
pub fn path_text(dag: &Dag, path: &[NodeId]) -> String {
    let mut text = String::new();
    for (i, id) in path.iter().enumerate() {
        if i > 0 {
            text.push_str(if dag.parents(*id).contains(&path[i - 1]) { " → " } else { " ← " });
        }
        text.push_str(&dag.node(*id).name);
    }
    text
}

/// The given nodes, and all that they determine.
fn determined_by(dag: &Dag, given: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut known = given.clone();
    for id in dag.topological() {
        if dag.node(id).deterministic && dag.parents(id).iter().all(|p| known.contains(p)) {
            known.insert(id);
        }
    }
    known
}

/// The nodes themselves and everything above them.
fn ancestors_of(dag: &Dag, nodes: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut all = BTreeSet::new();
    let mut stack: Vec<NodeId> = nodes.iter().copied().collect();
    while let Some(id) = stack.pop() {
        if all.insert(id) {
            stack.extend(dag.parents(id));
        }
    }
    all
}

/// Nodes that are unknown, or computed from one.
fn depends_on_unknown(dag: &Dag) -> BTreeSet<NodeId> {
    let mut random = BTreeSet::new();
    for id in dag.topological() {
        let node = dag.node(id);
        let own = node.role.is_stochastic() || node.role == Role::Param;
        if own || dag.parents(id).iter().any(|p| random.contains(p)) {
            random.insert(id);
        }
    }
    random
}

/// A shortest active path, by breadth-first search over (node, came from a parent).
///
/// A shortest active walk repeats no node: a loop could be cut out, and where cutting turns a node
/// into a collider, the loop below it had an open collider, whose given descendant opens it as well.
fn active_path(
    dag: &Dag,
    from: &BTreeSet<NodeId>,
    to: &BTreeSet<NodeId>,
    determined: &BTreeSet<NodeId>,
    ancestors: &BTreeSet<NodeId>,
) -> Option<Vec<NodeId>> {
    type State = (NodeId, bool);
    let mut before: BTreeMap<State, Option<State>> = BTreeMap::new();
    let mut queue: VecDeque<State> = VecDeque::new();
    for id in from {
        before.insert((*id, false), None);
        queue.push_back((*id, false));
    }
    while let Some(state @ (id, from_parent)) = queue.pop_front() {
        if to.contains(&id) {
            let mut path = vec![id];
            let mut at = state;
            while let Some(Some(earlier)) = before.get(&at) {
                path.push(earlier.0);
                at = *earlier;
            }
            path.reverse();
            return Some(path);
        }
        let mut next: Vec<State> = Vec::new();
        if !determined.contains(&id) {
            next.extend(dag.children(id).into_iter().map(|c| (c, true)));
        }
        let up = if from_parent { ancestors.contains(&id) } else { !determined.contains(&id) };
        if up {
            next.extend(dag.parents(id).into_iter().map(|p| (p, false)));
        }
        for state_next in next {
            before.entry(state_next).or_insert_with(|| {
                queue.push_back(state_next);
                Some(state)
            });
        }
    }
    None
}

/// A shortest path that ignores directions; empty if there is none.
fn any_path(dag: &Dag, a: &[NodeId], b: &[NodeId]) -> Vec<NodeId> {
    let mut before: BTreeMap<NodeId, Option<NodeId>> = a.iter().map(|id| (*id, None)).collect();
    let mut queue: VecDeque<NodeId> = before.keys().copied().collect();
    while let Some(id) = queue.pop_front() {
        if b.contains(&id) {
            let mut path = vec![id];
            while let Some(Some(earlier)) = path.last().and_then(|at| before.get(at)) {
                path.push(*earlier);
            }
            path.reverse();
            return path;
        }
        for next in dag.children(id).into_iter().chain(dag.parents(id)) {
            before.entry(next).or_insert_with(|| {
                queue.push_back(next);
                Some(id)
            });
        }
    }
    Vec::new()
}

/// The inner nodes of a path, and whether each is a collider on it.
fn inner<'a>(dag: &'a Dag, path: &'a [NodeId]) -> impl Iterator<Item = (NodeId, bool)> + 'a {
    path.windows(3).map(|w| {
        let parents = dag.parents(w[1]);
        (w[1], parents.contains(&w[0]) && parents.contains(&w[2]))
    })
}

fn given_descendant(dag: &Dag, id: NodeId, given: &BTreeSet<NodeId>) -> String {
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([id]);
    while let Some(at) = queue.pop_front() {
        if given.contains(&at) {
            return format!("`{}`", dag.node(at).name);
        }
        if seen.insert(at) {
            queue.extend(dag.children(at));
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::graph::sample::{Random, dag, random};

    fn ids(all: &[usize]) -> Vec<NodeId> {
        all.iter().map(|i| NodeId(*i as u32)).collect()
    }

    /// Every simple path, by depth-first search; active if each inner node lets it through.
    fn brute_force(dag: &Dag, a: &[NodeId], b: &[NodeId], given: &[NodeId]) -> bool {
        let given: BTreeSet<NodeId> = given.iter().copied().collect();
        // the closure written as the definition says: repeat until nothing changes
        let mut known = given.clone();
        loop {
            let more: Vec<NodeId> = dag
                .nodes()
                .iter()
                .filter(|n| n.deterministic && !known.contains(&n.id))
                .filter(|n| dag.parents(n.id).iter().all(|p| known.contains(p)))
                .map(|n| n.id)
                .collect();
            if more.is_empty() {
                break;
            }
            known.extend(more);
        }
        fn has_given_descendant(dag: &Dag, id: NodeId, given: &BTreeSet<NodeId>) -> bool {
            given.contains(&id) || dag.children(id).iter().any(|c| has_given_descendant(dag, *c, given))
        }
        fn walk(
            dag: &Dag,
            path: &mut Vec<NodeId>,
            goal: &[NodeId],
            given: &BTreeSet<NodeId>,
            known: &BTreeSet<NodeId>,
        ) -> bool {
            let at = *path.last().unwrap();
            if goal.contains(&at) && !known.contains(&at) {
                return path.windows(3).all(|w| {
                    let parents = dag.parents(w[1]);
                    if parents.contains(&w[0]) && parents.contains(&w[2]) {
                        has_given_descendant(dag, w[1], given)
                    } else {
                        !known.contains(&w[1])
                    }
                });
            }
            for next in dag.children(at).into_iter().chain(dag.parents(at)) {
                if !path.contains(&next) {
                    path.push(next);
                    if walk(dag, path, goal, given, known) {
                        return true;
                    }
                    path.pop();
                }
            }
            false
        }
        !a.iter().filter(|id| !known.contains(id)).any(|id| walk(dag, &mut vec![*id], b, &given, &known))
    }

    /// A random question: disjoint a, b, given.
    fn question(n: usize, random: &mut Random) -> (Vec<NodeId>, Vec<NodeId>, Vec<NodeId>) {
        let (mut a, mut b, mut given) = (vec![0], vec![1 % n], Vec::new());
        (a[0], b[0]) = (random.below(n), random.below(n));
        while b[0] == a[0] {
            b[0] = random.below(n);
        }
        for i in (0..n).filter(|i| *i != a[0] && *i != b[0]).collect::<Vec<_>>() {
            match random.below(8) {
                0 => a.push(i),
                1 => b.push(i),
                2..=4 => given.push(i),
                _ => {}
            }
        }
        (ids(&a), ids(&b), ids(&given))
    }

    #[test]
    fn separation_agrees_with_the_enumeration_of_paths() {
        let mut counts = [0, 0];
        for seed in 0..3000 {
            let n = 2 + (seed % 7) as usize;
            let deterministic = if seed % 2 == 0 { 0.0 } else { 0.4 };
            let dag = random(n, 0.2 + 0.1 * (seed % 4) as f64, deterministic, seed);
            let mut source = Random(seed ^ 0xabc);
            let (a, b, given) = question(n, &mut source);
            let answer = d_separated(&dag, &a, &b, &given);
            assert_eq!(
                answer.separated,
                brute_force(&dag, &a, &b, &given),
                "seed {seed}: {a:?} {b:?} | {given:?}"
            );
            assert_eq!(
                answer.separated,
                d_separated(&dag, &b, &a, &given).separated,
                "not symmetric, seed {seed}"
            );
            counts[usize::from(answer.separated)] += 1;
            if !answer.separated {
                let mut seen = answer.path.clone();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), answer.path.len(), "the path repeats a node, seed {seed}");
                assert_eq!(answer.why.len(), answer.path.len().saturating_sub(2));
            } else {
                assert!(!answer.why.is_empty(), "no reason, seed {seed}");
            }
        }
        assert!(counts.iter().all(|c| *c > 500), "questions are one-sided: {counts:?}");
    }

    /// In a linear Gaussian model with generic coefficients and noise everywhere, nodes are
    /// d-separated exactly if their partial covariance vanishes.
    #[test]
    fn separation_agrees_with_partial_covariances() {
        let mut counts = [0, 0];
        for seed in 0..600 {
            let n = 3 + (seed % 6) as usize;
            let dag = random(n, 0.35, 0.0, seed + 7);
            let mut source = Random(seed);
            // x = B x + e, so cov = (I − B)⁻¹ (I − B)⁻ᵀ
            let mut system = DMatrix::<f64>::identity(n, n);
            for edge in dag.edges() {
                system[(edge.to.index(), edge.from.index())] = -(0.4 + source.unit());
            }
            let inverse = system.try_inverse().unwrap();
            let cov = &inverse * inverse.transpose();
            let (a, b, given) = question(n, &mut source);
            let pick = |rows: &[NodeId], cols: &[NodeId]| {
                DMatrix::from_fn(rows.len(), cols.len(), |i, j| cov[(rows[i].index(), cols[j].index())])
            };
            let mut partial = pick(&a, &b);
            if !given.is_empty() {
                let within = pick(&given, &given).try_inverse().unwrap();
                partial -= pick(&a, &given) * within * pick(&given, &b);
            }
            let separated = d_separated(&dag, &a, &b, &given).separated;
            assert_eq!(separated, partial.amax() < 1e-9, "seed {seed}: {}", partial.amax());
            counts[usize::from(separated)] += 1;
        }
        assert!(counts.iter().all(|c| *c > 100), "questions are one-sided: {counts:?}");
    }

    #[test]
    fn a_blanket_separates_its_node_from_everything_else() {
        for seed in 0..400 {
            let n = 3 + (seed % 7) as usize;
            let dag = random(n, 0.35, 0.3, seed + 99);
            for node in dag.nodes().iter().filter(|n| !n.deterministic) {
                let blanket = markov_blanket(&dag, node.id).all();
                let rest: Vec<NodeId> = dag
                    .nodes()
                    .iter()
                    .filter(|n| n.id != node.id && !n.deterministic && !blanket.contains(&n.id))
                    .map(|n| n.id)
                    .collect();
                assert!(
                    d_separated(&dag, &[node.id], &rest, &blanket).separated,
                    "seed {seed}, {}",
                    node.name
                );
                // and no member can be left out
                for left_out in &blanket {
                    let fewer: Vec<NodeId> = blanket.iter().copied().filter(|id| id != left_out).collect();
                    let mut others = rest.clone();
                    others.push(*left_out);
                    let still = d_separated(&dag, &[node.id], &others, &fewer).separated;
                    assert!(!still, "seed {seed}, {}: {left_out:?} is not needed", node.name);
                }
            }
        }
    }

    #[test]
    fn a_computed_node_blocks_when_its_parents_are_given() {
        // x → f → t, f computed from x: given x, f is known
        let dag = dag(
            &[
                ("x", Role::Data, &[], &[]),
                ("f", Role::Derived, &[0], &[]),
                ("u", Role::Latent, &[1], &[]),
                ("t", Role::Observed, &[1], &[]),
            ],
            &[],
        );
        let open = d_separated(&dag, &ids(&[2]), &ids(&[3]), &[]);
        assert_eq!((open.separated, path_text(&dag, &open.path)), (false, "u ← f → t".to_owned()));
        assert_eq!(open.why, ["`f` is not given"]);
        let closed = d_separated(&dag, &ids(&[2]), &ids(&[3]), &ids(&[0]));
        assert!(closed.separated);
        assert_eq!(closed.determined, ids(&[1]));
        assert_eq!(closed.why, ["blocked at `f`: the given nodes determine it"]);
    }
}
