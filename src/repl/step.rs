//! `:step`: one iteration at a time, as a table of what changed and by which formula.
//!
//! A step is no machinery of its own. The fit is run again from its start and stopped one iteration later:
//! the same input gives the same bits, so these are exactly the iterations that `:fit` makes, and every
//! state on the way is a fit that can be looked at, asked and saved.

use std::sync::{Arc, Mutex};

use sbl::plan::ir::Plan;
use sbl::{Fit, Options, Progress};

use super::change::changes;
use super::command::number;
use super::engine::Engine;
use super::formula::{Formula, of_move, of_node};
use super::reply::Reply;
use super::state::{State, Walk};
use crate::cli::failure::Failure;
use crate::cli::layout::{Align, number as shown, plural, table};
use crate::cli::summary::stop;

/// The most iterations of one `:step`.
const MOST: usize = 10_000;
/// Iterations that are listed one by one.
const LISTED: usize = 25;

/// What a fit says while it runs.
#[derive(Default)]
struct Seen {
    count: usize,
    steps: Vec<Progress>,
}

impl Engine {
    /// `:step [N]`
    pub(super) fn step(&mut self, arguments: &str, reply: &mut Reply) -> Result<(), Failure> {
        let n: usize = number("step", arguments, 1, 1)?;
        let model = self.model()?.clone();
        model.plan()?;
        let data = self.data()?;
        let from = match &self.state.walk {
            Some(walk) if walk.ended => {
                reply.note(ended(&walk.fit, walk.taken));
                return Ok(());
            }
            Some(walk) => walk.clone(),
            None => {
                // no iteration at all: the start values
                let options = Options::default().seed(self.state.seed).max_iter(0);
                Walk { taken: 0, fit: model.fit(&data, &options)?, ended: false }
            }
        };
        let target = from.taken + n.min(MOST);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let fit = {
            let (seen, taken) = (Arc::clone(&seen), from.taken);
            self.run(&model, &data, move |step| {
                let Ok(mut seen) = seen.lock() else { return false };
                seen.count += 1;
                if seen.count > taken && seen.count <= target {
                    seen.steps.push(step.clone());
                }
                seen.count < target
            })?
        };
        let (count, steps) = match seen.lock() {
            Ok(seen) => (seen.count.min(target), seen.steps.clone()),
            Err(_) => (from.taken, Vec::new()),
        };
        let ended_now = fit.result().report.stop != "interrupted";
        if !steps.is_empty() {
            let plan = settled(&fit)?;
            let phase = steps.last().map_or("", |s| s.phase);
            if n > 1 {
                reply.result(self.listed(from.taken, &steps, &fit));
            }
            reply.result(self.changed(&from, count, &fit, phase, &plan));
        }
        if ended_now {
            reply.note(ended(&fit, count));
        } else if count < target {
            reply.note(format!("interrupted after iteration {count}"));
        }
        let walk = Walk { taken: count, fit: fit.clone(), ended: ended_now };
        let next = State { fit: Some(fit), walk: Some(walk), ..self.state.clone() };
        self.commit(next);
        Ok(())
    }

    /// One line for every iteration.
    fn listed(&self, before: usize, steps: &[Progress], fit: &Fit) -> String {
        let rows: Vec<Vec<String>> = steps
            .iter()
            .take(LISTED)
            .enumerate()
            .map(|(i, s)| {
                vec![
                    (before + i + 1).to_string(),
                    s.phase.to_owned(),
                    shown(s.objective, 6),
                    s.active.to_string(),
                ]
            })
            .collect();
        let objective = fit.result().objective.name.replace('_', " ");
        let header = ["iteration", "what it does", objective.as_str(), "weights"];
        let align = [Align::Right, Align::Left, Align::Right, Align::Right];
        let mut lines = table(Some(&header), &align, &rows);
        if steps.len() > LISTED {
            lines
                .push(self.style.faint(&format!("  and {} more", plural(steps.len() - LISTED, "iteration"))));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// The table of what changed.
    fn changed(&self, from: &Walk, count: usize, fit: &Fit, phase: &str, plan: &Plan) -> String {
        let style = &self.style;
        let title = if count == from.taken + 1 {
            format!("iteration {count}: {phase}")
        } else {
            format!("iterations {} to {count}", from.taken + 1)
        };
        let (old, new) = (from.fit.objective(), fit.objective());
        let name = fit.result().objective.name.replace('_', " ");
        let arrow = if style.unicode { "→" } else { "->" };
        let rise = if new >= old { "+" } else { "" };
        let mut lines = vec![
            style.strong(&title),
            format!("{name} {} {arrow} {} ({rise}{})", shown(old, 6), shown(new, 6), shown(new - old, 3)),
        ];
        let mut legend: Vec<Formula> = Vec::new();
        let (mut rows, mut moves) = (Vec::new(), Vec::new());
        let found = changes(from.fit.result(), fit.result());
        let mut by = |formula: Option<Formula>| {
            let Some(formula) = formula else { return String::new() };
            let at = legend.iter().position(|l| *l == formula).unwrap_or_else(|| {
                legend.push(formula);
                legend.len() - 1
            });
            letter(at)
        };
        for change in &found.values {
            let by = by(of_node(plan, fit.model(), &change.node, phase));
            rows.push(vec![change.what.clone(), change.before.clone(), change.after.clone(), by]);
        }
        for moved in &found.moves {
            let by = by(of_move(plan, fit.model(), &moved.node, phase));
            moves.push(format!("  {}  {by}", moved.text).trim_end().to_owned());
        }
        if rows.is_empty() && moves.is_empty() {
            lines.push("  nothing changed".to_owned());
            return lines.join("\n");
        }
        lines.extend(moves);
        if !rows.is_empty() {
            let align = [Align::Left, Align::Right, Align::Right, Align::Left];
            let mut body = table(Some(&["", "before", "after", "by"]), &align, &rows).into_iter();
            lines.extend(body.next().map(|head| style.faint(&head)));
            lines.extend(body);
        }
        for (i, formula) in legend.iter().enumerate() {
            lines.push(format!(
                "  {}  {}  {}",
                letter(i),
                formula.text,
                style.faint(&format!("({})", formula.of))
            ));
        }
        lines.join("\n")
    }
}

fn letter(i: usize) -> String {
    char::from_u32('a' as u32 + i as u32).map(String::from).unwrap_or_default()
}

/// Why nothing goes on.
fn ended(fit: &Fit, count: usize) -> String {
    format!("the fit has ended after {}: {}", plural(count, "iteration"), stop(&fit.result().report.stop))
}

/// The plan with its schedule settled, as the fit executed it.
pub(super) fn settled(fit: &Fit) -> Result<sbl::plan::ir::Plan, Failure> {
    let model = fit.model();
    let size = |node| fit.posterior().hypers.get(&node).map_or(0, Vec::len);
    Ok(sbl::plan::settle(model.plan()?, model.typed(), model.dag(), &size))
}
