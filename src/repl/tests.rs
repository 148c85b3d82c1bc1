//! Tests of the session without a terminal: every command, and that errors change nothing.

use std::sync::{Arc, Mutex};

use super::command::COMMANDS;
use super::engine::{Engine, Host, Nobody, Watch};
use super::help::usage;
use super::keys::KEYS;
use super::reply::Reply;
use crate::cli::screen::Screen;

const STYLE: Screen =
    Screen { color_out: false, color_err: false, unicode: true, quiet: false, verbose: 0, animate: false };

/// The model of the lecture, statement by statement.
const SINC: &str = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\n\
                    let phi = [1, rbf(x, width = 3.0)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
                    t ~ Normal(phi * w, precision = tau)";

fn engine() -> Engine {
    Engine::new(STYLE, Box::new(Nobody))
}

/// A session with the model of the lecture and its data.
fn lecture() -> Engine {
    let mut e = engine();
    ok(&mut e, SINC);
    ok(&mut e, ":data examples/data/sinc.csv");
    e
}

fn ok(engine: &mut Engine, text: &str) -> String {
    let reply: Reply = engine.enter(text);
    assert!(!reply.failed, "{text}\n{}", reply.text());
    reply.text()
}

/// An error with this code, after which the session is as before.
fn wrong(engine: &mut Engine, text: &str, code: &str) -> String {
    let before =
        (engine.state().program.clone(), engine.state().fit.is_some(), engine.state().data.is_some());
    let reply = engine.enter(text);
    let shown = reply.text();
    assert!(reply.failed && shown.contains(&format!("error[{code}]")), "{text}: expected {code}\n{shown}");
    let after = (engine.state().program.clone(), engine.state().fit.is_some(), engine.state().data.is_some());
    assert_eq!(before, after, "{text} changed the session");
    shown
}

/// The bits of everything a fit says but the time it took.
fn bits(engine: &Engine) -> serde_json::Value {
    let mut json = engine.state().fit.as_ref().unwrap().to_json();
    json["seconds"] = 0.into();
    json
}

#[test]
fn statements_expressions_and_undo() {
    let mut e = engine();
    assert!(ok(&mut e, "data x: real[N]").contains("x: real[N], data"));
    assert!(ok(&mut e, "let a = 2").contains("a: "));
    assert_eq!(ok(&mut e, "1 + a"), "3  count\n");
    assert!(ok(&mut e, "let a = 5").contains("replaced: let a = 2"));
    assert_eq!(ok(&mut e, "a"), "5  count\n");
    assert_eq!(ok(&mut e, ":undo"), "undone: let a = 5\n");
    assert_eq!(ok(&mut e, "a"), "2  count\n");
    assert_eq!(ok(&mut e, "[1, 2.5]"), "[1, 2.5000]  positive[2]\n");
    wrong(&mut e, "let b = c", "E0201");
    wrong(&mut e, "a +* 2", "E0101");
    assert!(wrong(&mut e, "mean(x)", "E0793").contains(":data FILE"));
    ok(&mut e, ":undo\n:undo");
    wrong(&mut e, ":undo", "E0792");
    assert!(ok(&mut e, "").is_empty() && ok(&mut e, "# remark").is_empty());
}

#[test]
fn a_pasted_program_may_stand_in_any_order() {
    let mut e = engine();
    let lines: Vec<&str> = SINC.lines().rev().collect();
    ok(&mut e, &lines.join("\n"));
    assert!(ok(&mut e, ":list").contains("t ~ Normal(phi * w, precision = tau)"));
    // one entry, one step back
    ok(&mut e, ":undo");
    wrong(&mut e, ":list", "E0792");
}

#[test]
fn commands_about_the_graph() {
    let mut e = lecture();
    assert!(ok(&mut e, ":graph").contains("● t"));
    assert!(ok(&mut e, ":graph dot").starts_with("digraph"));
    assert!(ok(&mut e, ":blanket w").contains("children: t"));
    assert!(ok(&mut e, ":dsep w.alpha t given w").contains("are independent given w"));
    assert!(ok(&mut e, ":dsep w tau given t").contains("can depend"));
    assert!(ok(&mut e, ":plan").contains("plan evidence, schedule batch"));
    wrong(&mut e, ":blanket nobody", "E0551");
    wrong(&mut e, ":dsep w", "E0791");
    wrong(&mut e, ":graph out.xyz", "E0791");
    wrong(&mut engine(), ":graph", "E0792");
}

#[test]
fn data_are_bound_and_inspected() {
    let mut e = engine();
    assert!(ok(&mut e, ":data examples/data/sinc.csv").contains("100 rows, 2 columns"));
    let shown = ok(&mut e, ":data");
    assert!(shown.contains("x") && shown.contains("-10.00 to 10.00"), "{shown}");
    wrong(&mut e, ":data nowhere.csv", "E0750");
    wrong(&mut e, ":data -", "E0791");
    // what the model cannot take is said, and no error yet
    assert!(ok(&mut e, "data z: real[N]\n:data examples/data/sinc.csv").contains("cannot take the data yet"));
}

#[test]
fn the_fit_is_asked() {
    let mut e = lecture();
    wrong(&mut e, ":show", "E0792");
    wrong(&mut e, "mean(w)", "E0793");
    wrong(&mut e, "evidence", "E0793");
    assert!(ok(&mut e, ":fit").contains("model: converged"));
    // the same numbers as through the library
    let fit = e.state().fit.clone().unwrap();
    let tau = fit.node("tau").unwrap().value()[0];
    assert_eq!(ok(&mut e, "tau"), format!("{tau:.2}  positive\n"));
    assert_eq!(ok(&mut e, "evidence"), format!("{:.3}  real\n", fit.objective()));
    let w = fit.node("w").unwrap();
    let active = w.active.clone().unwrap();
    let indices: Vec<String> = active.iter().map(|i| (i + 1).to_string()).collect();
    assert_eq!(ok(&mut e, "relevant(w)"), format!("[{}]  count[{}]\n", indices.join(", "), active.len()));
    let i = active[0] + 1;
    assert!(ok(&mut e, &format!("w[{i}]")).ends_with("at posterior means\n"));
    let shown: f64 = ok(&mut e, &format!("sd(w[{i}])")).split_whitespace().next().unwrap().parse().unwrap();
    assert!((shown / w.sd()[0] - 1.0).abs() < 1e-4, "{shown} {}", w.sd()[0]);
    assert!(ok(&mut e, "phi * w").contains("real[100]"));
    assert!(ok(&mut e, "w.alpha").contains("inf"));
    wrong(&mut e, "sd(tau)", "E0793");
    wrong(&mut e, "w[1000]", "E0305");
    assert!(ok(&mut e, ":show w").contains("|mean|/sd"));
    assert!(ok(&mut e, ":score examples/data/sinc.csv").contains("rmse"));
    // a changed program has no fit
    ok(&mut e, "let width = 3");
    wrong(&mut e, "tau", "E0793");
    ok(&mut e, ":undo");
    ok(&mut e, "tau");
}

#[test]
fn why_speaks_of_nodes_and_weights() {
    let mut e = lecture();
    assert!(ok(&mut e, ":why w").contains("p(w | …) ∝ p(w | w.alpha) · p(t | phi, w, tau)"));
    wrong(&mut e, ":why w[3]", "E0792");
    ok(&mut e, ":fit");
    let fit = e.state().fit.clone().unwrap();
    let block = fit.posterior().blocks[0].clone();
    for i in 0..block.len {
        let shown = ok(&mut e, &format!(":why w[{}]", i + 1));
        let kept = block.active.contains(&i);
        assert!(shown.contains(if kept { ": kept" } else { ": pruned" }), "{shown}");
        if let (Some(q), Some(s)) = (block.q[i], block.s[i]) {
            assert_eq!(shown.contains("q² > s"), q * q > s, "{shown}");
        }
    }
    assert!(ok(&mut e, ":why w[1]").contains("(bias)"));
    assert!(ok(&mut e, ":why tau").contains("tau = (N − Σ γ_j) / rss"));
    assert!(ok(&mut e, ":why t").contains("likelihood term"));
    wrong(&mut e, ":why w[0]", "E0791");
    wrong(&mut e, ":why w[102]", "E0791");
    wrong(&mut e, ":why", "E0791");
    wrong(&mut e, ":why nobody", "E0551");
}

/// The iterations of `:step` are those of `:fit`, and a fit after steps is the same to the bit.
#[test]
fn steps_are_those_of_the_fit() {
    for infer in
        ["", "auto", "evidence", "sequential", "variational", "evidence(updates = em, max_iter = 60)"]
    {
        let stated = |e: &mut Engine| {
            if !infer.is_empty() {
                ok(e, &format!("infer {infer}"));
            }
        };
        let mut e = lecture();
        stated(&mut e);
        ok(&mut e, ":fit");
        let whole = bits(&e);
        let trace = e.state().fit.as_ref().unwrap().result().objective.trace.clone();
        let mut stepped = lecture();
        stated(&mut stepped);
        let first = ok(&mut stepped, ":step");
        // what changed, and by which formula
        assert!(first.contains("iteration 1: ") && first.contains("\n  a  "), "{infer}: {first}");
        let more = ok(&mut stepped, ":step 4");
        assert!(more.contains("iterations 2 to 5"), "{infer}: {more}");
        let walk = stepped.state().walk.clone().unwrap();
        assert_eq!(walk.taken, 5);
        let so_far = &walk.fit.result().objective.trace;
        assert_eq!(so_far.as_slice(), &trace[..so_far.len()], "{infer}");
        // five at once are one and four
        let mut at_once = lecture();
        stated(&mut at_once);
        ok(&mut at_once, ":step 5");
        assert_eq!(bits(&at_once), bits(&stepped), "{infer}");
        ok(&mut stepped, ":fit");
        assert_eq!(bits(&stepped), whole, "{infer}");
    }
}

/// A step is made by the method that `:fit` takes: that of the program, or of `auto`, whatever it chooses for the
/// model at hand; a method given to `:fit` alone is for that fit only.
#[test]
fn steps_follow_the_method_of_the_program() {
    let phase = |e: &mut Engine| {
        let shown = ok(e, ":step");
        shown.lines().next().unwrap().to_owned()
    };
    let mut e = lecture();
    assert_eq!(phase(&mut e), "iteration 1: update precisions (MacKay)");
    ok(&mut e, "infer evidence(updates = em)");
    assert_eq!(phase(&mut e), "iteration 1: update precisions (EM)");
    ok(&mut e, "infer sequential");
    assert_eq!(phase(&mut e), "iteration 1: one function at a time");
    ok(&mut e, "infer auto");
    assert_eq!(phase(&mut e), "iteration 1: update precisions (MacKay)");
    ok(&mut e, ":fit sequential");
    assert_eq!(phase(&mut e), "iteration 1: update precisions (MacKay)");
    // what comes has its formula as what changes has
    ok(&mut e, "infer sequential");
    let shown = ok(&mut e, ":step");
    assert!(
        shown.contains("added, 1 now: ") && shown.contains("  a  q_i² > s_i: add or re-estimate"),
        "{shown}"
    );
    ok(&mut e, "infer auto");
    // auto goes with the model
    ok(&mut e, "tau ~ Gamma(1e-3, 1e-3)");
    ok(&mut e, ":fit");
    assert_eq!(e.state().fit.as_ref().unwrap().result().plan.method, "variational");
    ok(&mut e, ":step");
    assert_eq!(e.state().fit.as_ref().unwrap().result().plan.method, "variational");
}

#[test]
fn steps_of_a_laplace_fit_and_their_end() {
    let mut e = engine();
    ok(
        &mut e,
        "data x: real[N]\ndata t: bool[N]\nw ~ Normal(0, precision = a)\na ~ Gamma(1, 1)\n\
                t ~ Bernoulli(logit = x .* w)\ninfer laplace",
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.json");
    std::fs::write(&file, "{\"x\": [-2, -1, 1, 2, 3], \"t\": [0, 1, 0, 1, 1]}").unwrap();
    ok(&mut e, &format!(":data {}", file.display()));
    let shown = ok(&mut e, ":step");
    assert!(shown.contains("w* ← w* + D B⁻¹ D"), "{shown}");
    let shown = ok(&mut e, ":step 1000");
    assert!(shown.contains("the fit has ended after"), "{shown}");
    assert!(ok(&mut e, ":step").contains("the fit has ended after"));
    let stepped = bits(&e);
    ok(&mut e, ":fit");
    assert_eq!(bits(&e), stepped);
}

#[test]
fn undo_goes_back_to_the_step_before() {
    let mut e = lecture();
    ok(&mut e, ":step");
    let one = bits(&e);
    ok(&mut e, ":step");
    assert_ne!(bits(&e), one);
    ok(&mut e, ":undo");
    assert_eq!(bits(&e), one);
    assert_eq!(e.state().walk.as_ref().unwrap().taken, 1);
}

#[test]
fn predictions_of_what_is_typed() {
    let mut e = lecture();
    wrong(&mut e, ":predict {x: [1]}", "E0792");
    ok(&mut e, ":fit");
    let shown = ok(&mut e, ":predict {x: [0,\n 1.5]}");
    let data = sbl::Data::new().vector("x", &[0.0, 1.5]).unwrap();
    let p = e.state().fit.as_ref().unwrap().predict(&data).unwrap();
    let line = shown.lines().nth(2).unwrap();
    let mean: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((mean - p.mean()[1]).abs() < 1e-4, "{shown}");
    wrong(&mut e, ":predict", "E0791");
    wrong(&mut e, ":predict {x: [1}", "E0759");
    wrong(&mut e, ":predict {y: [1]}", "E0702");
    assert!(ok(&mut e, ":sample 2").lines().count() >= 3);
    wrong(&mut e, ":sample 0", "E0791");
}

#[test]
fn pictures_here_and_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut e = lecture();
    wrong(&mut e, ":plot", "E0792");
    assert!(ok(&mut e, ":plot graph").contains("tau"));
    ok(&mut e, ":fit");
    let shown = ok(&mut e, ":plot");
    assert!(shown.lines().count() <= 24 && shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
    assert_ne!(ok(&mut e, ":plot trace"), shown);
    ok(&mut e, &format!(":plot {}\n:plot weights {}", path("fit.svg"), path("w.png")));
    assert!(std::fs::read_to_string(path("fit.svg")).unwrap().starts_with("<svg"));
    assert!(std::fs::read(path("w.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(wrong(&mut e, ":plot wieghts", "E0791").contains("weights"));
    wrong(&mut e, ":plot fit.pdf", "E0769");
    wrong(&mut e, ":plot fit a.svg b.svg", "E0791");
}

#[test]
fn files_settings_and_models() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut e = lecture();
    wrong(&mut e, ":save x.csv", "E0791");
    wrong(&mut e, &format!(":save {}", path("no/such/place.sbl")), "E0770");
    ok(&mut e, ":fit");
    let whole = bits(&e);
    ok(&mut e, &format!(":save {}\n:save {}", path("m.sbl"), path("m.sblfit")));
    ok(&mut e, &format!(":graph {}", path("g.svg")));
    assert!(std::fs::read_to_string(path("g.svg")).unwrap().contains("<svg"));
    // a program, and a fit with its program, come back
    let mut again = engine();
    ok(&mut again, &format!(":load {}\n:data examples/data/sinc.csv\n:fit", path("m.sbl")));
    assert_eq!(bits(&again)["nodes"], whole["nodes"]);
    let mut kept = engine();
    ok(&mut kept, &format!(":load {}", path("m.sblfit")));
    assert_eq!(bits(&kept), whole);
    assert!(ok(&mut kept, "tau").contains("positive"));
    assert!(ok(&mut kept, "mean(w)").contains("real[101]"));
    wrong(&mut kept, "mean(x)", "E0793");
    // several models
    std::fs::write(path("two.sbl"), "model a {\n    let k = 1\n}\nmodel b {\n    let k = 2\n}\n").unwrap();
    ok(&mut e, &format!(":load {}", path("two.sbl")));
    assert_eq!(ok(&mut e, "k"), "1  count\n");
    ok(&mut e, ":model b");
    assert_eq!(ok(&mut e, "k"), "2  count\n");
    assert_eq!(ok(&mut e, ":model"), "b (others: a)\n");
    wrong(&mut e, ":model c", "E0791");
    // constants from outside
    ok(&mut e, ":set k = 7");
    assert_eq!(ok(&mut e, "k"), "7  count\n");
    assert_eq!(ok(&mut e, ":set"), "k = 7\n");
    ok(&mut e, "let k = 3");
    assert_eq!(ok(&mut e, "k"), "3  count\n");
    wrong(&mut e, ":set q = 7", "E0212");
    wrong(&mut e, ":set k", "E0791");
    ok(&mut e, ":seed 4");
    assert_eq!(ok(&mut e, ":seed"), "4\n");
    wrong(&mut e, ":seed x", "E0791");
    wrong(&mut e, ":load nowhere.sbl", "E0750");
}

#[test]
fn help_and_unknown_commands() {
    let mut e = engine();
    let list = ok(&mut e, ":help");
    for c in COMMANDS {
        assert!(list.contains(&format!(":{}", c.name)), "{}", c.name);
        let page = ok(&mut e, &format!(":help :{}", c.name));
        let (head, text) = page.split_once("\n\n").unwrap();
        assert_eq!(head, usage(c));
        assert!(text.lines().next().unwrap().len() > 60, "`:{}` is not explained: {text}", c.name);
        assert!(text.contains(&format!("    sbl> :{}", c.name)), "`:{}` has no example: {text}", c.name);
        assert!(!text.contains("```") && text.lines().all(|l| l.chars().count() <= 130), "{text}");
    }
    assert_eq!(ok(&mut e, ":help :q"), ok(&mut e, ":help :quit"));
    assert!(wrong(&mut e, ":help :fti", "E0790").contains("did you mean `:fit`?"));
    for (key, does) in KEYS {
        assert!(ok(&mut e, ":help keys").contains(&format!("  {key}  ")), "{key}");
        let row = format!("| {key} | {does} |");
        assert!(include_str!("../../docs/repl.md").contains(&row), "docs/repl.md has no line {row}");
    }
    // everything that `sbl doc` and `sbl explain` show
    for entry in sbl::help::entries() {
        let page = ok(&mut e, &format!(":help {}", entry.name));
        assert!(page.contains(&entry.signature) && page.contains("Example:"), "{}: {page}", entry.name);
    }
    for code in sbl::diag::codes::CODES {
        assert_eq!(ok(&mut e, &format!(":help {}", code.code)).trim_end(), code.page.trim_end());
    }
    assert!(ok(&mut e, ":help data").contains("`:help :data` is about the command"));
    assert!(ok(&mut e, ":help convergence").contains(":help W0808"));
    assert!(ok(&mut e, ":help Normal").contains("precision"));
    assert!(ok(&mut e, ":help E0790").contains("# E0790"));
    wrong(&mut e, ":help nothing_of_the_kind", "E0781");
    assert!(wrong(&mut e, ":fti", "E0790").contains("did you mean `:fit`?"));
    assert!(wrong(&mut e, "quit", "E0201").contains("`:quit`"));
    let reply = e.enter(":quit");
    assert!(reply.quit && !reply.failed);
}

/// Stops a fit after so many iterations, as Ctrl-C does.
struct Impatient(usize);

impl Host for Impatient {
    fn watch(&self, run: &mut dyn FnMut(Watch, &sbl::Cancel)) {
        let left = Mutex::new(self.0);
        let watch: Watch = Arc::new(move |_| {
            let Ok(mut left) = left.lock() else { return false };
            *left = left.saturating_sub(1);
            *left > 0
        });
        run(watch, &sbl::Cancel::new());
    }
}

#[test]
fn an_interrupted_fit_is_kept() {
    let mut e = Engine::new(STYLE, Box::new(Impatient(3)));
    ok(&mut e, SINC);
    ok(&mut e, ":data examples/data/sinc.csv");
    assert!(ok(&mut e, ":fit").contains("interrupted: this is the fit so far"));
    ok(&mut e, "tau");
    let shown = ok(&mut e, ":step 10");
    assert!(shown.contains("interrupted after iteration 3"), "{shown}");
    assert_eq!(e.state().walk.as_ref().unwrap().taken, 3);
}

/// Whatever is typed, the session answers and goes on.
#[test]
fn no_line_ends_the_session() {
    let mut e = lecture();
    ok(&mut e, ":fit");
    let pieces = [
        ":",
        "::",
        ":fit )(",
        ":predict {",
        ":predict {x: ",
        "w[",
        "w[1",
        "w[-1]",
        "w[1, 2, 3]",
        "mean()",
        "mean(w, w)",
        "sd(w",
        "relevant(x)",
        "\u{0}",
        "\u{feff}",
        "🙂",
        "let",
        "let =",
        "~",
        "t ~",
        "infer",
        "infer nothing",
        "model",
        "use",
        "use std.nothing",
        "1/0",
        "log(-1)",
        "x[101]",
        "x[_, 1]",
        "[[1]]",
        "[]",
        "()",
        "\"",
        "'",
        ":why w[",
        ":why []",
        ":why w[1,1]",
        ":set = =",
        ":set x = nan",
        ":step 99999999999999999999",
        ":dsep given",
        ":model",
        ":save",
        ":load",
        ":plot",
        ":graph a b",
        "plate n in N {\n}",
        "fn f(a: real) -> real = f(a)\nf(1)",
        "mean(w)[w]",
        "evidence[1]",
        "onehot(x)",
        "train(w)",
        "standardize(w)",
        "w + x",
        "levels(x)",
        "cols(w)",
        ":score",
        ":help :",
        ":seed -1",
    ];
    for text in pieces {
        let reply = e.enter(text);
        assert!(!reply.quit, "{text}");
    }
    let long = format!("1{}", " + 1".repeat(20_000));
    assert!(!e.enter(&long).quit);
    let deep = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(!e.enter(&deep).quit);
    // whatever pieces of the language, of commands and of noise are put together
    let words = [
        ":fit",
        ":step",
        ":predict",
        ":help",
        ":why",
        ":undo",
        ":graph",
        ":plot",
        ":list",
        ":model",
        ":data",
        ":set",
        ":seed",
        ":score",
        ":sample",
        ":show",
        ":blanket",
        ":dsep",
        ":plan",
        ":load",
        ":save",
        "quit",
        ":q!",
        ":quit now",
        "w",
        "x",
        "t",
        "tau",
        "phi",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "~",
        "=",
        ":",
        ";",
        ",",
        "Normal",
        "ard",
        "let",
        "data",
        "plate",
        "infer",
        "1",
        "-2.5",
        "1e400",
        "\"",
        "'",
        "\t",
        "\u{1b}[A",
        "\u{3}",
        "\u{4}",
        "\u{0}",
        "🙂",
        "#",
        "##",
        "\\",
        "/",
        "given",
        "evidence",
    ];
    let mut state = 7_u64;
    let mut any = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut fresh = lecture();
    for _ in 0..400 {
        let count = 1 + any(7);
        let line: Vec<&str> = (0..count).map(|_| words[any(words.len())]).collect();
        let line = line.join(if any(2) == 0 { " " } else { "" });
        // what they ask for may be a file, which nothing here may write
        if line.contains(":save") || line.contains(":plot") || line.contains(":graph") {
            continue;
        }
        let quits = super::command::of(line.trim().trim_start_matches(':')).is_some_and(|(c, rest)| {
            line.trim().starts_with(':') && c.name == "quit" && rest.trim().is_empty()
        });
        assert_eq!(fresh.enter(&line).quit, quits, "{line:?}");
    }
    // and prefixes of a whole session
    let session = format!("{SINC}\n:data examples/data/sinc.csv\nmean(w[50]) + sd(phi)");
    for end in (0..session.len()).filter(|i| session.is_char_boundary(*i)).step_by(7) {
        assert!(!e.enter(&session[..end]).quit);
    }
}
