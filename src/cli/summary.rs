//! A fit for the eye.

use sbl::session::result::{FitResult, NodeResult, Role};

use super::layout::{Align, column, number, plural, table};
use super::screen::Screen;

/// Rows of a table of weights unless `-v` asks for all.
const SHOWN: usize = 20;

/// Plan, rows, objective, every node with its posterior, why it stopped.
pub fn summary(fit: &FitResult, screen: &Screen) -> String {
    let mut lines = head(fit, screen);
    let nodes: Vec<(&str, NodeResult)> = fit
        .nodes
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), serde_json::from_value(value.clone()).ok()?)))
        .collect();
    let (single, many): (Vec<_>, Vec<_>) = nodes.iter().partition(|(_, node)| node.shape.is_empty());
    for (name, node) in single.into_iter().chain(nodes.iter().filter(|(_, n)| n.role == Role::Observed)) {
        match node.role {
            Role::Observed => lines.extend(observed(name, node)),
            Role::Hyper => lines.extend(precision(name, node)),
            _ => lines.extend(scalar(name, node, screen)),
        }
    }
    for (name, node) in many {
        // The precisions of weights say the same as the weights.
        let beside = node.role == Role::Hyper && screen.verbose == 0 && is_beside_weights(name, &nodes);
        if node.role != Role::Observed && !beside {
            lines.push(String::new());
            lines.extend(array(name, node, screen));
        }
    }
    lines.push(String::new());
    lines.extend(foot(fit, screen));
    let mut text = lines.join("\n");
    text.push('\n');
    if screen.unicode { text } else { ascii(&text) }
}

fn head(fit: &FitResult, screen: &Screen) -> Vec<String> {
    let state = if fit.converged {
        "converged".to_owned()
    } else {
        screen.alert(&format!("not converged ({})", stop(&fit.report.stop)))
    };
    let mut lines =
        vec![format!("{}: {} in {}", screen.strong(&fit.model), state, plural(fit.iterations, "iteration"))];
    lines.push(format!("plan {}, {} schedule", fit.plan.method, fit.plan.schedule));
    if screen.verbose > 0 {
        lines.extend(fit.plan.why.iter().map(|why| format!("  {}", screen.faint(why))));
        lines.extend(
            fit.plan.rejected.iter().map(|r| screen.faint(&format!("  not {}: {}", r.method, r.because))),
        );
    }
    let name = fit.objective.name.replace('_', " ");
    let mut objective = format!("{}, {name} {}", plural(fit.rows, "row"), number(fit.objective.value, 6));
    if let Some(prior) = fit.objective.hyperprior {
        objective.push_str(&format!(", log hyperprior {}", number(prior, 6)));
    }
    if let Some(flat) = fit.objective.improper {
        objective.push_str(&format!(" (up to the units of {})", plural(flat, "flat effect")));
    }
    lines.push(objective);
    lines
}

fn foot(fit: &FitResult, screen: &Screen) -> Vec<String> {
    let report = &fit.report;
    let mut lines = Vec::new();
    for merged in &report.merged {
        let dropped = merged.dropped.join(", ");
        lines.push(format!("{}: parallel columns, {} stands for {dropped} too", merged.node, merged.kept));
    }
    if report.pruned > 0 {
        lines.push(format!("{} pruned", plural(report.pruned, "weight")));
    }
    lines.extend(other_schedule(fit));
    lines.push(format!("stopped: {}", stop(&report.stop)));
    if screen.verbose > 0 {
        let mut certificate = format!("largest gradient {}", number(report.certificate.gradient, 2));
        if let Some(gain) = report.certificate.max_gain_outside {
            certificate.push_str(&format!(", best gain of a pruned weight {} nats", number(gain, 2)));
        }
        lines.push(certificate);
        if report.jitter > 0.0 {
            lines.push(format!("jitter {}", number(report.jitter, 2)));
        }
        if report.restarts > 0 {
            lines.push(plural(report.restarts, "restart"));
        }
        lines.push(format!("{} s", number(fit.seconds, 3)));
        lines.push(format!(
            "{} by iteration: {}",
            fit.objective.name.replace('_', " "),
            trace(&fit.objective.trace)
        ));
    }
    lines
}

/// How the result was reached, if not by the schedule of the plan.
fn other_schedule(fit: &FitResult) -> Option<String> {
    let schedule = fit.report.schedule.as_ref().filter(|schedule| **schedule != fit.plan.schedule)?;
    let start = if fit.report.restarts > 0 { "best start" } else { "reached" };
    let way = if schedule == "batch" { "all weights at once" } else { "one basis function at a time" };
    Some(format!("{start}: {way}"))
}

/// At most eight values, the first and the last among them.
fn trace(values: &[f64]) -> String {
    let last = values.len().saturating_sub(1);
    let mut picked: Vec<usize> = (0..8).map(|i| i * last / 7).filter(|i| *i < values.len()).collect();
    picked.dedup();
    let texts: Vec<String> =
        picked.iter().map(|&i| format!("{} ({})", number(values[i], 6), i + 1)).collect();
    texts.join(", ")
}

/// Why a fit stopped, in words.
pub fn stop(code: &str) -> &str {
    match code {
        "stalled" => "no step leads further up",
        "max_iter" => "the budget of iterations is used up",
        "max_time" => "the budget of time is used up",
        "interrupted" => "interrupted",
        other => other,
    }
}

fn observed(name: &str, node: &NodeResult) -> Option<String> {
    let missing = node.missing.as_deref().filter(|m| !m.is_empty())?;
    let rows: Vec<String> = missing.iter().take(5).map(|r| (r + 1).to_string()).collect();
    let more = if missing.len() > rows.len() { " …" } else { "" };
    Some(format!("{name}: no value in {} ({}{more})", plural(missing.len(), "row"), rows.join(", ")))
}

fn precision(name: &str, node: &NodeResult) -> Option<String> {
    let value = single(node)?;
    Some(format!("{name} = {} (as a deviation {})", number(value, 4), number(value.powf(-0.5), 4)))
}

fn scalar(name: &str, node: &NodeResult, screen: &Screen) -> Option<String> {
    let value = single(node)?;
    let sd = node.sd.as_ref().and_then(|s| s.as_slice().first());
    let held = if node.held == Some(true) {
        screen.alert(" (held: the data do not determine it)")
    } else {
        String::new()
    };
    Some(match sd {
        Some(sd) => format!("{name} = {} ± {}{held}", number(value, 4), number(*sd, 3)),
        None => format!("{name} = {}{held}", number(value, 4)),
    })
}

fn single(node: &NodeResult) -> Option<f64> {
    node.mean.as_ref().or(node.value.as_ref())?.as_slice().first().copied()
}

/// One node of a fit: its value, or a table of its entries.
pub fn node(name: &str, node: &NodeResult, screen: &Screen) -> Vec<String> {
    let lines: Vec<String> = match (node.shape.is_empty(), node.role) {
        (_, Role::Observed) => observed(name, node).into_iter().collect(),
        (true, Role::Hyper) => precision(name, node).into_iter().collect(),
        (true, _) => scalar(name, node, screen).into_iter().collect(),
        (false, _) => array(name, node, screen),
    };
    if screen.unicode { lines } else { lines.iter().map(|l| ascii(l)).collect() }
}

/// A table of the entries, those that matter most first.
fn array(name: &str, node: &NodeResult, screen: &Screen) -> Vec<String> {
    let Some(values) = node.mean.as_ref().or(node.value.as_ref()).map(|v| v.as_slice()) else {
        return Vec::new();
    };
    let sds = node.sd.as_ref().map(|v| v.as_slice());
    let total: usize = node.shape.iter().product();
    let mut order: Vec<usize> = (0..values.len()).collect();
    if let Some(sds) = sds {
        let weight = |k: usize| values[k].abs() / sds.get(k).copied().unwrap_or(f64::NAN);
        // A stable sort: ties stay in order.
        order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
    }
    let kept = if values.len() < total {
        format!("{} of {total} kept", values.len())
    } else {
        plural(total, "entry").replace("entrys", "entries")
    };
    let relevant = node.relevant.as_ref().map(|r| format!(", {} relevant", r.len())).unwrap_or_default();
    let mut lines = vec![format!("{}: {kept}{relevant}", screen.strong(name))];
    let shown = if screen.verbose > 0 { order.len() } else { SHOWN };
    let picked: Vec<usize> = order.iter().take(shown).copied().collect();
    let of = |all: &[f64]| -> Vec<f64> {
        picked.iter().map(|&k| all.get(k).copied().unwrap_or(f64::NAN)).collect()
    };
    let (means, deviations) = (of(values), of(sds.unwrap_or_default()));
    // Means are known no better than their deviations say.
    let digits = if sds.is_some() { &deviations } else { &means };
    let texts = column(&[digits.as_slice(), &means].concat(), if sds.is_some() { 2 } else { 4 });
    let (sd_texts, mean_texts) = texts.split_at(digits.len());
    let rows: Vec<Vec<String>> = picked
        .iter()
        .enumerate()
        .map(|(i, &k)| {
            let mut row = vec![label(name, node, k), mean_texts[i].clone()];
            if sds.is_some() {
                row.push(format!("± {}", sd_texts[i]));
                row.push(number(means[i].abs() / deviations[i], 3));
            }
            row
        })
        .collect();
    if !rows.is_empty() {
        let header: &[&str] = if sds.is_some() { &["", "mean", "sd", "|mean|/sd"] } else { &["", "value"] };
        let align = [Align::Left, Align::Right, Align::Left, Align::Right];
        let mut body = table(Some(header), &align[..header.len()], &rows).into_iter();
        lines.extend(body.next().map(|head| screen.faint(&head)));
        lines.extend(body);
    }
    if order.len() > shown {
        lines.push(screen.faint(&format!("  … and {} more (-v shows all)", order.len() - shown)));
    }
    lines
}

/// The name of an entry: its label, or its index from 1 as in the language.
pub fn label(name: &str, node: &NodeResult, k: usize) -> String {
    let given = node.labels.as_ref().and_then(|l| l.get(k));
    if let Some(label) = given {
        return label.clone();
    }
    let entry = node.active.as_ref().and_then(|a| a.get(k)).copied().unwrap_or(k);
    match node.shape.as_slice() {
        // Column-major.
        [rows, _] if *rows > 0 => format!("{name}[{}, {}]", entry % rows + 1, entry / rows + 1),
        _ => format!("{name}[{}]", entry + 1),
    }
}

/// `w.alpha` beside `w`.
fn is_beside_weights(name: &str, nodes: &[(&str, NodeResult)]) -> bool {
    name.rsplit_once('.').is_some_and(|(owner, _)| nodes.iter().any(|(n, _)| *n == owner))
}

fn ascii(text: &str) -> String {
    text.replace('±', "+-").replace('…', "...").replace('–', "-")
}
