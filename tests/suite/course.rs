//! What the tutorial, the course and the README show is what happens: programs compile, commands
//! give the output that is printed.
//!
//! In a page, a block fenced as `sbl` is a program; if its first line is `# NAME.sbl` it is saved under
//! that name. A block fenced as `console` holds commands after `$ ` and what they print, standard error
//! included. They run in one directory for each page, with `examples/` in it. Numbers may differ by one part
//! in a thousand or one unit of the last place shown, counts of iterations by a tenth and one, seconds by any
//! amount; a line `…` stands for any lines. `UPDATE_DOCS=1 cargo test course` prints outputs anew where nothing is left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sbl::Compiler;

use super::cli_run::Place;

/// By how much a count of iterations may differ: processors round differently.
const COUNTS: f64 = 0.1;

/// A command of a page, and the lines that follow it.
struct Shown {
    command: String,
    /// The lines of the page with its output: from, to.
    lines: (usize, usize),
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("docs/tutorial.md")];
    let course = fs::read_dir(root().join("docs/course")).unwrap();
    pages.extend(course.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    pages.sort();
    pages
}

/// A page may be written anew while it is checked.
struct Page {
    name: String,
    lines: Vec<String>,
    problems: Vec<String>,
    place: Place,
}

impl Page {
    fn new(path: &Path) -> Page {
        let place = Place::new();
        fs::create_dir_all(place.path("examples/data")).unwrap();
        for folder in ["examples", "examples/data"] {
            for entry in fs::read_dir(root().join(folder)).unwrap() {
                let from = entry.unwrap().path();
                if from.is_file() {
                    fs::copy(&from, place.path(folder).join(from.file_name().unwrap())).unwrap();
                }
            }
        }
        Page {
            name: path.strip_prefix(root()).unwrap().display().to_string(),
            lines: fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect(),
            problems: Vec::new(),
            place,
        }
    }

    fn problem(&mut self, line: usize, text: &str) {
        self.problems.push(format!("{}:{}: {text}", self.name, line + 1));
    }

    /// Goes through the blocks in order; outputs are replaced from the end, so that places stay.
    fn check(&mut self, update: bool) {
        let mut at = 0;
        let mut replaced: Vec<((usize, usize), Vec<String>)> = Vec::new();
        while at < self.lines.len() {
            let Some(language) = self.lines[at].strip_prefix("```").map(str::to_owned) else {
                at += 1;
                continue;
            };
            let end =
                (at + 1..self.lines.len()).find(|i| self.lines[*i] == "```").unwrap_or(self.lines.len());
            match language.as_str() {
                "sbl" => self.program(at + 1, end),
                "console" => {
                    for shown in self.commands(at + 1, end) {
                        let found = self.output(&shown);
                        let wanted = &self.lines[shown.lines.0..shown.lines.1];
                        let whole = wanted.iter().all(|l| l != "…");
                        if update && whole && same(wanted, &found, 0.0).is_err() {
                            replaced.push((shown.lines, found));
                        } else if let Err((line, why)) = same(wanted, &found, COUNTS) {
                            let found = found.join("\n");
                            self.problem(
                                shown.lines.0 + line,
                                &format!("{why}; `{}` prints\n{found}", shown.command),
                            );
                        }
                    }
                }
                _ => {}
            }
            at = end + 1;
        }
        for ((from, to), found) in replaced.into_iter().rev() {
            self.lines.splice(from..to, found);
        }
    }

    fn program(&mut self, from: usize, to: usize) {
        let text: String = self.lines[from..to].iter().map(|l| format!("{l}\n")).collect();
        let name = self.lines[from].strip_prefix("# ").filter(|n| n.ends_with(".sbl")).map(str::to_owned);
        match Compiler::new().file(&self.name).compile_all(&text) {
            Err(e) => self.problem(from, &e.to_string()),
            Ok(models) => {
                for warning in models.iter().flat_map(|m| m.warnings().to_vec()) {
                    self.problem(from, &warning.message);
                }
            }
        }
        if let Some(name) = name {
            self.place.file(&name, text);
        }
    }

    /// The commands of a block; one goes on while its lines end in a backslash.
    fn commands(&self, from: usize, to: usize) -> Vec<Shown> {
        let mut found: Vec<Shown> = Vec::new();
        let mut at = from;
        while at < to {
            if let Some(command) = self.lines[at].strip_prefix("$ ") {
                let mut command = command.to_owned();
                while command.ends_with('\\') && at + 1 < to {
                    at += 1;
                    command = command.trim_end_matches('\\').to_owned() + self.lines[at].trim_start();
                }
                found.push(Shown { command, lines: (at + 1, at + 1) });
            } else if let Some(last) = found.last_mut() {
                last.lines.1 = at + 1;
            }
            at += 1;
        }
        found
    }

    fn output(&self, shown: &Shown) -> Vec<String> {
        let program = Path::new(env!("CARGO_BIN_EXE_sbl"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut paths = vec![program.parent().unwrap().to_path_buf()];
        paths.extend(std::env::split_paths(&path));
        // the settings of a process in a place of its own
        let plain = self.place.command(&[]);
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec 2>&1; {}", shown.command)).stdin(Stdio::null());
        command.current_dir(self.place.path(""));
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("PATH", std::env::join_paths(paths).unwrap());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim_end().lines().map(|l| l.trim_end().to_owned()).collect()
    }
}

/// Whether an output is the one shown; else the first line of the page that is not.
fn same(wanted: &[String], found: &[String], counts: f64) -> Result<(), (usize, String)> {
    let mut place = 0;
    let mut skipping = false;
    // the last column of a table may be seconds, which are never the same
    let timed = wanted.iter().any(|l| l.ends_with("seconds"));
    let same_line = |a: &str, b: &str| same_line(a, b, timed, counts);
    for (i, line) in wanted.iter().enumerate() {
        if line == "…" {
            skipping = true;
            continue;
        }
        let matching = match skipping {
            true => (place..found.len()).find(|j| same_line(line, &found[*j])),
            false => Some(place).filter(|j| found.get(*j).is_some_and(|l| same_line(line, l))),
        };
        let Some(j) = matching else { return Err((i, format!("the line {line:?} is not there"))) };
        place = j + 1;
        skipping = false;
    }
    if skipping || place == found.len() {
        Ok(())
    } else {
        Err((wanted.len(), "the output goes on".to_owned()))
    }
}

fn same_line(wanted: &str, found: &str, timed: bool, counts: f64) -> bool {
    let (wanted, found) = (parts(wanted), parts(found));
    let pairs = || wanted.iter().zip(&found);
    let is_count = |i: usize| wanted.get(i + 1).is_some_and(|p| p.trim_start().starts_with("iteration"));
    let last = wanted.iter().rposition(|p| p.parse::<f64>().is_ok());
    wanted.len() == found.len()
        && pairs().enumerate().all(|(i, (a, b))| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) if is_count(i) => x == y || (x - y).abs() <= counts * x.max(y) + counts.ceil(),
            (Ok(_), Ok(_)) if timed && Some(i) == last => true,
            (Ok(x), Ok(y)) => {
                // below 1e-9 there is rounding only
                let size = x.abs().max(y.abs());
                size < 1e-9 || (x - y).abs() <= 1e-3 * size + last_place(a)
            }
            _ => a.split_whitespace().eq(b.split_whitespace()),
        })
}

/// One unit of the last decimal that is shown; 0 of a whole number.
fn last_place(number: &str) -> f64 {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let Some((_, decimals)) = digits.split_once('.') else { return 0.0 };
    10f64.powi(exponent.parse::<i32>().unwrap_or(0) - decimals.len() as i32)
}

/// A line as words and numbers by turns.
fn parts(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let chars: Vec<char> = line.chars().collect();
    let mut words = String::new();
    let mut i = 0;
    while i < chars.len() {
        let begins = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
        let inside_word = words.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let signed = chars[i] == '-' && begins(i + 1);
        if !inside_word && (begins(i) || signed) {
            let mut number = String::new();
            while let Some(c) = chars.get(i) {
                let exponent = matches!(c, 'e' | 'E')
                    && (begins(i + 1) || matches!(chars.get(i + 1), Some('-' | '+')) && begins(i + 2));
                let sign = matches!(c, '-' | '+') && (number.is_empty() || number.ends_with(['e', 'E']));
                let point = *c == '.' && begins(i + 1) && !number.contains(['.', 'e', 'E']);
                if !(c.is_ascii_digit() || exponent || sign || point) {
                    break;
                }
                number.push(*c);
                i += 1;
            }
            parts.push(std::mem::take(&mut words));
            parts.push(number);
        } else {
            words.push(chars[i]);
            i += 1;
        }
    }
    parts.push(words);
    parts
}

#[test]
fn what_pages_show_is_what_happens() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let checked: Vec<Page> = std::thread::scope(|scope| {
        let check = |path: PathBuf| {
            let mut page = Page::new(&path);
            page.check(update);
            if update {
                fs::write(&path, page.lines.join("\n") + "\n").unwrap();
            }
            page
        };
        let running: Vec<_> = pages().into_iter().map(|path| scope.spawn(move || check(path))).collect();
        running.into_iter().map(|r| r.join().unwrap()).collect()
    });
    let problems: Vec<String> = checked.into_iter().flat_map(|p| p.problems).collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Links to files of the project lead somewhere, and anchors to a heading.
#[test]
fn links_lead_somewhere() {
    let mut problems = Vec::new();
    let mut all = pages();
    for folder in ["docs", "docs/reference"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        all.extend(entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let there =
                target.exists() && (anchor.is_empty() || anchors(&target).iter().any(|a| a == anchor));
            if !there {
                problems.push(format!("{}: {link} leads nowhere", page.display()));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

fn anchors(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let headings = text.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings.map(|h| h.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

/// What a page of the course says, in the numbers that its formulas give.
fn says(page: &str, numbers: &[(f64, usize)]) {
    let text = fs::read_to_string(root().join("docs/course").join(page)).unwrap().replace('−', "-");
    for (number, decimals) in numbers {
        let shown = format!("{number:.decimals$}");
        assert!(text.contains(&shown), "{page} does not say {shown}");
    }
}

fn column(file: &str, j: usize) -> Vec<f64> {
    let text = fs::read_to_string(root().join("examples/data").join(file)).unwrap();
    text.lines().skip(1).map(|l| l.split(',').nth(j).unwrap().parse().unwrap()).collect()
}

/// ln of the integral of exp(f) over a grid, and the mean and variance of the density.
fn integrated(from: f64, to: f64, f: impl Fn(f64) -> f64) -> (f64, f64, f64) {
    let steps = 200_000;
    let h = (to - from) / f64::from(steps);
    let at = |i: i32| from + h * f64::from(i);
    let logs: Vec<f64> = (0..=steps).map(|i| f(at(i))).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass: Vec<f64> = logs.iter().map(|l| (l - top).exp()).collect();
    let total: f64 = mass.iter().sum();
    let moment = |g: &dyn Fn(f64) -> f64| {
        mass.iter().enumerate().map(|(i, m)| m * g(at(i as i32))).sum::<f64>() / total
    };
    let mean = moment(&|x| x);
    (top + (total * h).ln(), mean, moment(&|x| (x - mean).powi(2)))
}

/// ln Γ of a half or whole number, by the recurrence.
fn ln_gamma(x: f64) -> f64 {
    let (mut value, mut at) =
        if x.fract() == 0.0 { (0.0, 1.0) } else { (std::f64::consts::PI.ln() / 2.0, 0.5) };
    while at < x {
        value += f64::ln(at);
        at += 1.0;
    }
    value
}

#[test]
fn conjugate_posteriors_are_those_of_the_formulas() {
    let heights = column("heights.csv", 0);
    let n = heights.len() as f64;
    let (sum, ln_2pi) = (heights.iter().sum::<f64>(), std::f64::consts::TAU.ln());
    // a mean
    let precision = 1.0 / 400.0 + n / 64.0;
    let mean = (170.0 / 400.0 + sum / 64.0) / precision;
    says("1-conjugacy.md", &[(precision, 5), (mean, 4), (precision.powf(-0.5), 4)]);
    // a precision
    let about = |m: f64| heights.iter().map(|h| (h - m).powi(2)).sum::<f64>();
    let (a, b) = (2.0, 100.0);
    let (shape, rate) = (a + n / 2.0, b + about(172.0) / 2.0);
    let given =
        |rate: f64| -n / 2.0 * ln_2pi + a * f64::ln(b) - ln_gamma(a) + ln_gamma(shape) - shape * rate.ln();
    says("1-conjugacy.md", &[(rate, 2), (shape / rate, 6), ((rate / shape).sqrt(), 3), (given(rate), 3)]);
    // both: the precision in closed form, the mean on a grid
    let joint =
        |m: f64| given(b + about(m) / 2.0) - 0.5 * (ln_2pi + 400f64.ln()) - (m - 170.0).powi(2) / 800.0;
    let (evidence, mean, variance) = integrated(150.0, 195.0, joint);
    says("1-conjugacy.md", &[(evidence, 4), (mean, 4), (variance.sqrt(), 4)]);
    says("5-four-plans.md", &[(evidence, 3), (mean, 4), (variance.sqrt(), 4)]);
}

/// Under a proper prior nothing is pruned, and q² > s tells x1 from x2.
#[test]
fn relevance_is_told_where_nothing_is_pruned() {
    let text = "use std.priors.ard\ndata x: real[N, D]\ndata t: real[N]\nw ~ ard(D, shape = 1e-3, rate = 1e-3)\n\
                t ~ Normal(x * w, sd = 1)\ninfer evidence\n";
    let t = [2.1, -1.4, 0.9, -2.6, 1.2, -0.3, 1.7, -1.0];
    let rows: Vec<[f64; 2]> =
        (0..8).map(|i| [1.0 - 2.0 * f64::from(i % 2), 1.0 - 2.0 * f64::from(i / 2 % 2)]).collect();
    let data = sbl::Data::new().rows("x", &rows).unwrap().vector("t", &t).unwrap();
    let fit = sbl::Model::compile(text).unwrap().fit(&data, &sbl::Options::default()).unwrap();
    let answer = fit.to_json();
    assert_eq!(answer["nodes"]["w"]["relevant"], serde_json::json!([0]), "{}", answer["nodes"]["w"]);
    assert!(answer["nodes"]["w"]["active"].is_null());
}

/// The posterior of two causes has the precision matrix [[5, 4], [4, 5 + r]], r = 1 where a report was heard.
#[test]
fn an_earthquake_explains_an_alarm_away() {
    let burglary = |report: f64| {
        let (alarm, determinant) = (2.0, 5.0 * 6.0 - 16.0);
        (6.0 * 4.0 * alarm - 4.0 * (4.0 * alarm + report)) / determinant
    };
    let shown: Vec<(f64, usize)> = [0.0, 1.0, 2.0, 3.0].map(|r| (burglary(r), 2)).to_vec();
    says("3-d-separation.md", &shown);
    // without a report: b = (5 · 8 − 4 · 8)/9, and the deviations
    says("3-d-separation.md", &[(8.0 / 9.0, 3), ((6.0f64 / 14.0).sqrt(), 4), ((5.0f64 / 9.0).sqrt(), 4)]);
}

/// With flat effects a line is least squares; a prior of deviation 1 pulls its slope by the ratio of precisions.
#[test]
fn the_first_line_of_the_tutorial_is_least_squares() {
    let (x, t) = (column("diabetes.csv", 2), column("diabetes.csv", 10));
    let n = x.len() as f64;
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (mx, mt) = (mean(&x), mean(&t));
    let sxx: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let slope = x.iter().zip(&t).map(|(x, t)| (x - mx) * (t - mt)).sum::<f64>() / sxx;
    let rss: f64 = x.iter().zip(&t).map(|(x, t)| (t - mt - slope * (x - mx)).powi(2)).sum();
    let sigma = (rss / (n - 2.0)).sqrt();
    says("../tutorial.md", &[(slope, 2), (sigma / sxx.sqrt(), 3), (sigma, 2), (mt - slope * mx, 1)]);
    let error = 64.18 / sxx.sqrt();
    says("../tutorial.md", &[(error, 3), (slope / (1.0 + error * error), 2)]);
}

#[test]
fn exact_answers_beside_the_plans_are_integrals() {
    let x = [-2.5, -2.0, -1.5, -1.0, -0.5, -0.2, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5];
    let y = [-1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0];
    let joint = |b: f64| {
        let likelihood: f64 = x.iter().zip(y).map(|(x, s)| -(-s * b * x).exp().ln_1p()).sum();
        likelihood - 0.5 * (std::f64::consts::TAU * 4.0).ln() - b * b / 8.0
    };
    let (evidence, mean, variance) = integrated(-15.0, 15.0, joint);
    let (success, _, _) = integrated(-15.0, 15.0, |b| joint(b) - (-2.0 * b).exp().ln_1p());
    says(
        "5-four-plans.md",
        &[(evidence, 4), (mean, 4), (variance.sqrt(), 4), ((success - evidence).exp(), 4)],
    );
}

#[test]
fn a_kept_and_a_pruned_weight_are_those_of_the_formulas() {
    let (s, t) = (8.0, [2.1, -1.4, 0.9, -2.6, 1.2, -0.3, 1.7, -1.0]);
    let q: f64 = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0].iter().zip(t).map(|(x, t)| x * t).sum();
    let (r, alpha) = (q * q / s, s * s / (q * q - s));
    let gain = 0.5 * (r - 1.0 - r.ln());
    let empty = -0.5 * (8.0 * std::f64::consts::TAU.ln() + t.iter().map(|t| t * t).sum::<f64>());
    let posterior = alpha + s;
    says(
        "4-sparsity.md",
        &[(q, 1), (r, 2), (alpha, 5), (gain, 4), (empty, 4), (empty + gain, 4), (q / posterior, 4)],
    );
    says("4-sparsity.md", &[(posterior.powf(-0.5), 4), (posterior, 5)]);
    // λ along the precisions that the page walks through
    let lambda = |a: f64, q: f64| 0.5 * (a.ln() - (a + s).ln() + q * q / (a + s));
    let walked = [0.01, 0.1, 0.545, 5.0, 50.0, 1e9].map(|a| (empty + lambda(a, q), 4));
    says("4-sparsity.md", &walked);
    let at = empty + lambda(0.545, q);
    says("4-sparsity.md", &[0.01, 0.1, 1.0, 10.0, 100.0].map(|a| (at + lambda(a, 2.6), 4)));
}

#[test]
fn outputs_are_compared_by_their_numbers() {
    let same = |a: &str, b: &str| {
        let lines = |t: &str| t.lines().map(str::to_owned).collect::<Vec<_>>();
        super::course::same(&lines(a), &lines(b), COUNTS).is_ok()
    };
    assert!(same("w  1.500 ± 0.10", "w 1.501  ± 0.11"));
    assert!(!same("w  1.500 ± 0.10", "w 1.501  ± 0.13"));
    assert!(!same("w = 1.5", "v = 1.5"));
    assert!(same("converged in 3 iterations", "converged in 4 iterations"));
    assert!(same("converged in 72 iterations", "converged in 66 iterations"));
    assert!(!same("converged in 72 iterations", "converged in 56 iterations"));
    assert!(!same("4 weights pruned", "5 weights pruned"));
    assert!(!same("x1 3 kept", "x2 3 kept"));
    assert!(same("a\n…\nd", "a\nb\nc\nd") && !same("a\n…\nd", "a\nb") && !same("a", "a\nb"));
    assert!(same("1.2e-7", "1.3e-7") && !same("1.2e-7", "1.2e-6"));
    assert!(same("-2398.84 nats", "-2398.8399 nats"));
}
